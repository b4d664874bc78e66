//! Line plots as SVG files that need nothing else: latency over sizes, speed over ranks.

use crate::scale::Scale;
pub use crate::scale::{Quantity, Spacing};
use crate::svg::{Element, number, text_width, wrap};

/// What one axis shows.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// Its name for people; the unit is added.
    pub label: String,
    /// What it measures.
    pub quantity: Quantity,
    /// Linear or logarithmic.
    pub spacing: Spacing,
}

impl Axis {
    /// An axis.
    pub fn new(label: impl Into<String>, quantity: Quantity, spacing: Spacing) -> Axis {
        Axis { label: label.into(), quantity, spacing }
    }
}

/// A line with a mark at every point.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    /// Its name in the legend.
    pub name: String,
    /// The points in base units, in the order in which they are joined.
    pub points: Vec<(f64, f64)>,
}

/// A plot.
#[derive(Clone, Debug, PartialEq)]
pub struct Plot {
    /// What it shows.
    pub title: String,
    /// The horizontal axis.
    pub x: Axis,
    /// The vertical axis.
    pub y: Axis,
    /// The lines. With more than one there is a legend.
    pub series: Vec<Series>,
    /// Small print below: where the figures come from.
    pub note: String,
}

const WIDTH: f64 = 760.0;
const PLOT_HEIGHT: f64 = 340.0;
const SMALL: f64 = 12.0;
const TITLE: f64 = 16.0;
const MARGIN: f64 = 16.0;
/// Room of a label on the horizontal and the vertical axis.
const LABEL: (f64, f64) = (58.0, 34.0);
/// Width of the line and the mark before a name in the legend, and of a name before it is broken.
const KEY: f64 = 30.0;
const LEGEND: f64 = 170.0;

/// Colours that people with any kind of colour vision can tell apart (Okabe and Ito, Color Universal Design, 2008),
/// without the yellow that is too pale on white.
const COLOURS: [&str; 7] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#000000"];

/// Where the plot's area is on the page.
struct Area {
    left: f64,
    top: f64,
    width: f64,
    height: f64,
}

impl Plot {
    /// The plot as an SVG file.
    pub fn svg(&self) -> String {
        let title = wrap(&self.title, TITLE, WIDTH - 2.0 * MARGIN);
        let top = MARGIN + title.len() as f64 * 1.3 * TITLE + 14.0;
        let points = || self.series.iter().flat_map(|series| &series.points);
        let y_room = (PLOT_HEIGHT / LABEL.1) as usize;
        let y = Scale::of(self.y.quantity, self.y.spacing, points().map(|point| point.1), y_room);
        let widest = y.ticks.iter().filter_map(|tick| tick.label.as_deref());
        let widest = widest.map(|label| text_width(label, SMALL)).fold(0.0, f64::max);
        let legend = self.legend();
        let left = MARGIN + 2.0 * SMALL + widest + 8.0;
        let names = legend.iter().flatten().map(|line| text_width(line, SMALL));
        let legend_width = names.reduce(f64::max).map_or(0.0, |widest| KEY + widest);
        let area = Area { left, top, width: WIDTH - left - MARGIN - 8.0 - legend_width, height: PLOT_HEIGHT };
        let x_room = (area.width / LABEL.0) as usize;
        let x = Scale::of(self.x.quantity, self.x.spacing, points().map(|point| point.0), x_room);

        let notes = self.notes(&x, &y);
        let bottom = area.top + area.height + 52.0;
        let height = bottom + notes.len() as f64 * 1.3 * SMALL + MARGIN / 2.0;
        let mut page = Element::page(WIDTH, height, &self.title);
        for (line, text) in title.iter().enumerate() {
            let y = MARGIN + (line as f64 * 1.3 + 1.0) * TITLE;
            page.push(Element::label(MARGIN, y, TITLE, "start", text).set("font-weight", "bold").set("fill", "#222"));
        }
        page.push(self.axes(&area, &x, &y));
        for (place, series) in self.series.iter().enumerate() {
            page.push(line(&area, &x, &y, place, series));
        }
        self.draw_legend(&mut page, &area, &legend);
        for (line, text) in notes.iter().enumerate() {
            let y = bottom + line as f64 * 1.3 * SMALL;
            page.push(Element::label(MARGIN, y, SMALL - 1.0, "start", text).set("fill", "#666"));
        }
        page.document()
    }

    fn axes(&self, area: &Area, x: &Scale, y: &Scale) -> Element {
        let mut axes = Element::new("g").num("font-size", SMALL).set("fill", "#333");
        let bottom = area.top + area.height;
        for tick in &x.ticks {
            let Some(place) = area.x(x, tick.value) else { continue };
            let length = if tick.label.is_some() { 6.0 } else { 3.0 };
            axes.push(Element::line(place, bottom, place, bottom + length).set("stroke", "#333"));
            if let Some(label) = &tick.label {
                axes.push(Element::line(place, area.top, place, bottom).set("stroke", "#ddd"));
                axes.push(Element::label(place, bottom + 8.0 + SMALL, SMALL, "middle", label));
            }
        }
        for tick in &y.ticks {
            let Some(place) = area.y(y, tick.value) else { continue };
            let length = if tick.label.is_some() { 6.0 } else { 3.0 };
            axes.push(Element::line(area.left - length, place, area.left, place).set("stroke", "#333"));
            if let Some(label) = &tick.label {
                axes.push(Element::line(area.left, place, area.left + area.width, place).set("stroke", "#ddd"));
                axes.push(Element::label(area.left - 9.0, place + 0.35 * SMALL, SMALL, "end", label));
            }
        }
        let frame = Element::rect(area.left, area.top, area.width, area.height);
        axes.push(frame.set("fill", "none").set("stroke", "#333"));
        let middle = area.left + area.width / 2.0;
        axes.push(Element::label(middle, bottom + 38.0, SMALL + 1.0, "middle", &named(&self.x.label, x)));
        let (across, down) = (MARGIN + SMALL, area.top + area.height / 2.0);
        let turned = format!("rotate(-90 {} {})", number(across), number(down));
        let label = Element::label(across, down, SMALL + 1.0, "middle", &named(&self.y.label, y));
        axes.push(label.set("transform", &turned));
        axes
    }

    /// The lines of each name in the legend; empty if there is nothing to tell apart.
    fn legend(&self) -> Vec<Vec<String>> {
        if self.series.len() < 2 {
            return Vec::new();
        }
        self.series.iter().map(|series| wrap(&series.name, SMALL, LEGEND)).collect()
    }

    fn draw_legend(&self, page: &mut Element, area: &Area, legend: &[Vec<String>]) {
        let left = area.left + area.width + 14.0;
        let mut y = area.top + SMALL;
        for (place, lines) in legend.iter().enumerate() {
            let colour = COLOURS[place % COLOURS.len()];
            let middle = y - 0.35 * SMALL;
            let key = Element::line(left, middle, left + 22.0, middle).set("stroke", colour);
            page.push(key.num("stroke-width", 2.0));
            page.push(mark(place, left + 11.0, middle));
            for line in lines {
                page.push(Element::label(left + KEY, y, SMALL, "start", line).set("fill", "#222"));
                y += 1.25 * SMALL;
            }
            y += 0.4 * SMALL;
        }
    }

    /// What stands below the plot: the caller's note, and points that could not be shown.
    fn notes(&self, x: &Scale, y: &Scale) -> Vec<String> {
        let mut notes = wrap(&self.note, SMALL - 1.0, WIDTH - 2.0 * MARGIN);
        let points = self.series.iter().flat_map(|series| &series.points);
        let hidden = points.filter(|point| x.position(point.0).is_none() || y.position(point.1).is_none()).count();
        if hidden > 0 {
            let points = if hidden == 1 { "1 point is".into() } else { format!("{hidden} points are") };
            notes.push(format!("{points} not shown: a logarithmic axis has no place for zero."));
        }
        notes
    }
}

impl Area {
    fn x(&self, scale: &Scale, value: f64) -> Option<f64> {
        scale.position(value).map(|position| self.left + position * self.width)
    }

    fn y(&self, scale: &Scale, value: f64) -> Option<f64> {
        scale.position(value).map(|position| self.top + (1.0 - position) * self.height)
    }
}

/// The name of an axis with the unit of its labels.
fn named(label: &str, scale: &Scale) -> String {
    match scale.unit {
        Some(unit) => format!("{label} ({unit})"),
        None => label.into(),
    }
}

fn line(area: &Area, x: &Scale, y: &Scale, place: usize, series: &Series) -> Element {
    let shown: Vec<(f64, f64)> =
        series.points.iter().filter_map(|point| Some((area.x(x, point.0)?, area.y(y, point.1)?))).collect();
    let points: Vec<String> = shown.iter().map(|(x, y)| format!("{},{}", number(*x), number(*y))).collect();
    let line = Element::new("polyline").set("points", &points.join(" ")).set("fill", "none");
    let line = line.set("stroke", COLOURS[place % COLOURS.len()]).num("stroke-width", 2.0);
    let mut group = Element::new("g").with(Element::new("title").text(&series.name));
    group.push(line.set("stroke-linejoin", "round"));
    for (x, y) in shown {
        group.push(mark(place, x, y));
    }
    group
}

/// Four shapes and seven colours: 28 series before a combination comes again.
fn mark(place: usize, x: f64, y: f64) -> Element {
    let colour = COLOURS[place % COLOURS.len()];
    let shape = match place % 4 {
        0 => Element::new("circle").num("cx", x).num("cy", y).num("r", 3.5),
        1 => Element::rect(x - 3.2, y - 3.2, 6.4, 6.4),
        2 => polygon(&[(x, y - 4.4), (x + 4.2, y + 3.2), (x - 4.2, y + 3.2)]),
        _ => polygon(&[(x, y - 4.6), (x + 4.6, y), (x, y + 4.6), (x - 4.6, y)]),
    };
    shape.set("fill", colour).set("stroke", "white").num("stroke-width", 0.8)
}

fn polygon(corners: &[(f64, f64)]) -> Element {
    let corners: Vec<String> = corners.iter().map(|(x, y)| format!("{},{}", number(*x), number(*y))).collect();
    Element::new("polygon").set("points", &corners.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plot(series: Vec<Series>) -> Plot {
        Plot {
            title: "allreduce on <Frontera> & co".into(),
            x: Axis::new("size", Quantity::Size, Spacing::Logarithmic),
            y: Axis::new("latency", Quantity::Seconds, Spacing::Logarithmic),
            series,
            note: String::new(),
        }
    }

    fn series(name: &str, points: &[(f64, f64)]) -> Series {
        Series { name: name.into(), points: points.to_vec() }
    }

    #[test]
    fn every_series_and_axis_is_there() {
        let svg = plot(vec![series("ring", &[(8.0, 1e-6), (1024.0, 1e-5)]), series("a<b", &[(8.0, 2e-6)])]).svg();
        assert_eq!(svg.matches("<polyline").count(), 2);
        // Once as a tooltip, once in the legend.
        assert_eq!(svg.matches(">ring<").count(), 2);
        assert_eq!(svg.matches(">a&lt;b<").count(), 2);
        for text in [">size<", ">latency<", ">1 KiB<", ">10 us<", "allreduce on &lt;Frontera&gt; &amp; co"] {
            assert!(svg.contains(text), "{text}");
        }
        assert!(!svg.contains("NaN") && !svg.contains("inf"));
    }

    #[test]
    fn one_series_needs_no_legend() {
        let svg = plot(vec![series("ring", &[(8.0, 1e-6), (1024.0, 1e-5)])]).svg();
        assert_eq!(svg.matches(">ring<").count(), 1);
    }

    #[test]
    fn what_is_not_shown_is_said() {
        let svg = plot(vec![series("ring", &[(0.0, 1e-6), (8.0, 1e-6)])]).svg();
        assert!(svg.contains("1 point is not shown"));
        assert_eq!(svg.matches("<circle").count(), 1);
    }

    #[test]
    fn a_plot_of_nothing_is_still_a_plot() {
        assert!(plot(Vec::new()).svg().ends_with("</svg>\n"));
    }
}
