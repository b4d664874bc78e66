//! The load of links over time: as CSV, and as a map of time and links.

use std::fmt::Write;

use hpcast_models::network::Timeline;
use hpcast_platform::Interconnect;
use hpcast_platform::draw::colour_of_load;

use crate::csv::line;
use crate::frame::{Area, MARGIN, Page, SMALL, WIDTH};
use crate::scale::{Quantity, Scale};
use crate::svg::Element;

/// So many of the busiest links have a row of their own in the picture.
const LINKS: usize = 30;
/// Height of a row, and room for names.
const ROW: f64 = 14.0;
const NAMES: f64 = 230.0;

/// Every link that carried something, in every bin in which it did.
pub fn csv(timeline: &Timeline, interconnect: &Interconnect) -> String {
    let mut text = String::new();
    line(&mut text, ["link", "name", "kind", "from_seconds", "to_seconds", "bytes", "load"].into_iter());
    let width = timeline.width().as_secs();
    for id in 0..interconnect.links() {
        let Some(bins) = timeline.link(id) else { continue };
        let (name, kind) = (interconnect.link_name(id), interconnect.link_kind(id));
        for (bin, &bytes) in bins.iter().enumerate().filter(|(_, bytes)| **bytes > 0.0) {
            let from = bin as f64 * width;
            let to = (from + width).min(timeline.end().as_secs());
            let load = bytes / interconnect.capacity(id) / (to - from);
            let numbers = [from, to, bytes, load].map(|number| format!("{number:?}"));
            let id = id.to_string();
            line(&mut text, [id.as_str(), &name, &kind].into_iter().chain(numbers.iter().map(String::as_str)));
        }
    }
    text
}

/// A row of the picture: a name and a load for every bin.
struct Row {
    name: String,
    loads: Vec<f64>,
}

/// Time to the right, kinds of links and the busiest links below each other, loads as colours.
pub fn svg(timeline: &Timeline, interconnect: &Interconnect, title: &str) -> String {
    let mut page = Page::new(title);
    let kinds = kinds(timeline, interconnect);
    let (links, all) = busiest(timeline, interconnect);
    let gap = ROW;
    let height = ROW * (kinds.len() + links.len()) as f64 + gap;
    let area = Area { left: MARGIN + NAMES, top: page.top(), width: WIDTH - NAMES - 2.0 * MARGIN - 8.0, height };
    let time = Scale::linear(Quantity::Seconds, 0.0, timeline.end().as_secs(), area.room_across());
    let mut top = area.top;
    for (rows, what) in [(&kinds, "mean of"), (&links, "")] {
        for row in rows {
            push_row(&mut page, &area, timeline, row, what, top);
            top += ROW;
        }
        top += gap;
    }
    page.push(area.time_axis("time", &time));
    let shown = format!(
        "Above: the mean load of all links of a kind. Below: the {} busiest of {all} links that carried something.",
        links.len()
    );
    let mut key = String::from("Load from idle to full; a step of time is ");
    let _ = write!(key, "{}.", hpcast_units::Seconds::new(timeline.width().as_secs()).human());
    page.svg(&area, &[shown, key])
}

fn push_row(page: &mut Page, area: &Area, timeline: &Timeline, row: &Row, what: &str, top: f64) {
    let name = if what.is_empty() { row.name.clone() } else { format!("{what} {}", row.name) };
    page.push(Element::label(area.left - 8.0, top + 0.75 * ROW, SMALL - 2.0, "end", &name));
    let per_bin = area.width * timeline.width().as_secs() / timeline.end().as_secs();
    for (bin, &load) in row.loads.iter().enumerate() {
        let left = area.left + bin as f64 * per_bin;
        let width = per_bin.min(area.left + area.width - left);
        let cell = Element::rect(left, top, width, ROW - 1.0).set("fill", &colour_of_load(load));
        page.push(cell.with(Element::new("title").text(&format!("{name}: {:.1} %", 100.0 * load))));
    }
}

/// The mean load of each kind, in the order of the links.
fn kinds(timeline: &Timeline, interconnect: &Interconnect) -> Vec<Row> {
    let (mut names, mut sums): (Vec<String>, Vec<(f64, Vec<f64>)>) = Default::default();
    for id in 0..interconnect.links() {
        let kind = interconnect.link_kind(id);
        let at = names.iter().position(|name| *name == kind).unwrap_or_else(|| {
            names.push(kind);
            sums.push((0.0, vec![0.0; timeline.bins()]));
            names.len() - 1
        });
        let (capacity, bytes) = &mut sums[at];
        *capacity += interconnect.capacity(id);
        for (sum, more) in bytes.iter_mut().zip(timeline.link(id).unwrap_or_default()) {
            *sum += more;
        }
    }
    let row =
        |(name, (capacity, bytes)): (String, (f64, Vec<f64>))| Row { name, loads: loads(timeline, &bytes, capacity) };
    names.into_iter().zip(sums).map(row).collect()
}

/// The links that carried most of what they could, and how many carried anything.
fn busiest(timeline: &Timeline, interconnect: &Interconnect) -> (Vec<Row>, usize) {
    let total = |id: u32| {
        let bytes: f64 = timeline.link(id)?.iter().sum();
        Some((id, bytes / interconnect.capacity(id)))
    };
    let mut busy: Vec<(u32, f64)> = (0..interconnect.links()).filter_map(total).collect();
    let all = busy.len();
    busy.sort_by(|one, other| other.1.total_cmp(&one.1));
    busy.truncate(LINKS);
    let row = |(id, _): (u32, f64)| {
        let bytes = timeline.link(id).unwrap_or_default();
        Row { name: interconnect.link_name(id), loads: loads(timeline, bytes, interconnect.capacity(id)) }
    };
    (busy.into_iter().map(row).collect(), all)
}

/// The last bin may be shorter than the others.
fn loads(timeline: &Timeline, bytes: &[f64], capacity: f64) -> Vec<f64> {
    let (width, end) = (timeline.width().as_secs(), timeline.end().as_secs());
    let length = |bin: usize| (end - bin as f64 * width).min(width).max(f64::MIN_POSITIVE);
    bytes.iter().enumerate().map(|(bin, bytes)| bytes / capacity / length(bin)).collect()
}

#[cfg(test)]
mod tests {
    use hpcast_platform::interconnect::Loopback;
    use hpcast_platform::topology::{Duplex, FatTree, Link};
    use hpcast_units::Time;

    use super::*;

    const LINK: Link = Link { bandwidth: 1e9, latency: 1e-6 };

    fn watched() -> (Timeline, Interconnect) {
        let tree = FatTree::new("2;2,2;1,1;1,1".parse().unwrap(), &[LINK; 2], Duplex::Split).unwrap();
        let interconnect = Interconnect::new(Box::new(tree), Loopback::Unshared(LINK), None);
        let mut timeline = Timeline::new(interconnect.links());
        // Half of what it can carry in 4 us, and all of it in the last of them.
        timeline.add(0, Time::ZERO, Time::from_ps(4_000_000), 2000.0);
        timeline.add(5, Time::from_ps(3_000_000), Time::from_ps(4_000_000), 1000.0);
        (timeline, interconnect)
    }

    #[test]
    fn a_line_for_each_link_and_bin() {
        let (timeline, interconnect) = watched();
        let text = csv(&timeline, &interconnect);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 1 + 125 + 32, "125 bins of 32 ns; the last microsecond touches 32 of them: {text}");
        assert!(lines[1].starts_with("0,node 0 -> leaf 0,level-1,0.0,") && lines[1].ends_with(",0.5"), "{}", lines[1]);
        let last: f64 = lines.last().unwrap().rsplit(',').next().unwrap().parse().unwrap();
        assert!((last - 1.0).abs() < 1e-9, "{text}");
    }

    #[test]
    fn the_picture_shows_kinds_and_links() {
        let (timeline, interconnect) = watched();
        let picture = svg(&timeline, &interconnect, "test");
        assert!(
            picture.contains("leaf 0 -&gt; core 0: 100.0 %") || picture.contains("leaf 1 -&gt; core 0: 100.0 %"),
            "{picture}"
        );
        assert!(picture.contains("node 0 -&gt; leaf 0: 50.0 %"));
        assert!(picture.contains("mean of"));
        let (rows, all) = busiest(&timeline, &interconnect);
        assert_eq!((rows[0].name.as_str(), all), ("node 0 -> leaf 0", 2));
    }
}
