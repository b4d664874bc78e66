//! Two models of a kernel as a picture: what both say, and how processors changed.

use crate::curves::{Curves, band_key, draw_row, line_key};
use crate::frame::{Area, Legend, Page, SMALL, left_of, room_down};
use crate::plot::COLOURS;
use crate::scale::{Quantity, Scale, Spacing};
use crate::svg::Element;

/// Two models of a kernel.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ComparisonPlot {
    /// What it shows.
    pub title: String,
    /// What the two are called.
    pub names: [String; 2],
    /// Small print below.
    pub notes: Vec<String>,
    /// What both say, argument by argument.
    pub curves: Vec<Curves>,
    /// In order; empty if all are alike.
    pub processors: Vec<ProcessorRatio>,
}

/// How a processor changed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ProcessorRatio {
    /// Node and socket.
    pub processor: (u32, u32),
    /// The second model's durations over the first one's.
    pub ratio: f64,
    /// Between which ratios it is, if that is known.
    pub interval: Option<[f64; 2]>,
}

const HEIGHT: f64 = 230.0;
const RATIO_HEIGHT: f64 = 200.0;
const GAP: f64 = 64.0;
/// Sockets of a node, one after the other.
const SOCKETS: [&str; 2] = [COLOURS[0], COLOURS[2]];

impl ComparisonPlot {
    /// The picture as an SVG file.
    pub fn svg(&self) -> String {
        let mut page = Page::new(&self.title);
        let noise = "95 % of calls";
        let sockets = ["even socket", "odd socket"];
        let names = self.names.iter().map(String::as_str).chain([noise]).chain(sockets);
        let width = Legend::width(names);
        let mut area = draw_row(&mut page, HEIGHT, &self.curves, width);
        let mut legend = Legend::beside(&area);
        legend.add(&mut page, &self.names[0], line_key(COLOURS[0]));
        legend.add(&mut page, &self.names[1], line_key(COLOURS[1]));
        if self.curves.iter().any(Curves::is_noisy) {
            legend.add(&mut page, noise, band_key);
        }
        if !self.processors.is_empty() {
            area = self.draw_processors(&mut page, area.bottom() + GAP, width);
            let mut legend = Legend::beside(&area);
            for (name, colour) in sockets.into_iter().zip(SOCKETS) {
                legend.add(&mut page, name, |left, middle| vec![dot(left + 11.0, middle, colour)]);
            }
            legend.remark(&mut page, "above 0: slower");
        }
        page.svg(&area, &self.notes)
    }

    fn draw_processors(&self, page: &mut Page, top: f64, legend: f64) -> Area {
        let changes = self.processors.iter().flat_map(|processor| {
            let [low, high] = processor.interval.unwrap_or([processor.ratio; 2]);
            [low - 1.0, processor.ratio - 1.0, high - 1.0]
        });
        let y = Scale::of(Quantity::Share, Spacing::Linear, changes, room_down(RATIO_HEIGHT));
        let area = Area::between(left_of(&y), legend, top, RATIO_HEIGHT);
        let nodes = self.processors.iter().map(|one| f64::from(one.processor.0));
        let (first, last) = (nodes.clone().fold(f64::INFINITY, f64::min), nodes.fold(0.0, f64::max));
        let x = Scale::linear(Quantity::Count, first - 0.5, last + 0.5, area.room_across());
        page.push(area.grid(&x, &y));
        let sockets = 1 + self.processors.iter().map(|one| one.processor.1).max().unwrap_or(0);
        for one in &self.processors {
            let (node, socket) = one.processor;
            let value = f64::from(node) + 0.6 * ((f64::from(socket) + 0.5) / f64::from(sockets) - 0.5);
            let colour = SOCKETS[socket as usize % 2];
            let height = |ratio: f64| area.y(&y, ratio - 1.0);
            let (Some(across), Some(middle)) = (area.x(&x, value), height(one.ratio)) else { continue };
            if let Some((low, high)) = one.interval.and_then(|[low, high]| height(low).zip(height(high))) {
                page.push(Element::line(across, low, across, high).set("stroke", colour).num("stroke-width", 1.2));
            }
            let says = format!("node {node}, socket {socket}: {:+.1} %", 100.0 * (one.ratio - 1.0));
            page.push(dot(across, middle, colour).with(Element::new("title").text(&says)));
        }
        if let Some(none) = area.y(&y, 0.0) {
            page.push(Element::line(area.left, none, area.left + area.width, none).set("stroke", "#333"));
        }
        page.push(area.axes((Some("node"), &x), ("duration, changed by", &y)));
        area
    }
}

fn dot(x: f64, y: f64, colour: &str) -> Element {
    Element::new("circle").num("cx", x).num("cy", y).num("r", 0.28 * SMALL).set("fill", colour)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_processor_is_there() {
        let one = |node, socket, ratio, interval| ProcessorRatio { processor: (node, socket), ratio, interval };
        let plot = ComparisonPlot {
            title: "dgemm".into(),
            names: ["spring".into(), "autumn".into()],
            processors: vec![one(1, 0, 1.0, None), one(1, 1, 1.12, Some([1.1, 1.14])), one(2, 0, 0.97, None)],
            ..ComparisonPlot::default()
        };
        let svg = plot.svg();
        assert_eq!(svg.matches("<circle").count(), 3 + 2, "and the legend");
        assert!(svg.contains("node 1, socket 1: +12.0 %") && svg.contains(">autumn<") && !svg.contains("NaN"));
        assert!(ComparisonPlot::default().svg().ends_with("</svg>\n"));
    }
}
