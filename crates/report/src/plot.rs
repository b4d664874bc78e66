//! Line plots as SVG files that need nothing else: latency over sizes, speed over ranks.

use crate::frame::{self, Area, KEY, Legend, Page, left_of, room_down};
use crate::scale::Scale;
pub use crate::scale::{Quantity, Spacing};
use crate::svg::{Element, points};

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
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Series {
    /// Its name in the legend.
    pub name: String,
    /// The points in base units, in the order in which they are joined.
    pub points: Vec<(f64, f64)>,
    /// Where the line may lie as well: x, from, to; empty if that is not known.
    pub band: Vec<(f64, f64, f64)>,
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

const HEIGHT: f64 = 340.0;

/// Colours that people with any kind of colour vision can tell apart (Okabe and Ito, Color Universal Design, 2008),
/// without the yellow that is too pale on white.
pub(crate) const COLOURS: [&str; 7] = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#000000"];

impl Plot {
    /// The plot as an SVG file.
    pub fn svg(&self) -> String {
        let points = || self.series.iter().flat_map(|series| &series.points);
        let bands = self.series.iter().flat_map(|series| &series.band);
        let heights = points().map(|point| point.1).chain(bands.flat_map(|&(_, low, high)| [low, high]));
        let y = Scale::of(self.y.quantity, self.y.spacing, heights, room_down(HEIGHT));
        // Only one needs no name.
        let named = if self.series.len() > 1 { &self.series[..] } else { &[] };
        let legend_width = Legend::width(named.iter().map(|series| series.name.as_str()));
        let mut page = Page::new(&self.title);
        let area = Area::between(left_of(&y), legend_width, page.top(), HEIGHT);
        let x = Scale::of(self.x.quantity, self.x.spacing, points().map(|point| point.0), area.room_across());
        page.push(area.grid(&x, &y));
        page.push(area.axes((Some(&self.x.label), &x), (&self.y.label, &y)));
        for (place, series) in self.series.iter().enumerate() {
            page.push(line(&area, &x, &y, place, series));
        }
        let mut legend = Legend::beside(&area);
        for (place, series) in named.iter().enumerate() {
            legend.add(&mut page, &series.name, |left, middle| {
                let key = Element::line(left, middle, left + KEY, middle).set("stroke", COLOURS[place % COLOURS.len()]);
                vec![key.num("stroke-width", 2.0), mark(place, left + KEY / 2.0, middle)]
            });
        }
        page.svg(&area, &self.notes(&x, &y))
    }

    /// What stands below the plot: the caller's note, and points that could not be shown.
    fn notes(&self, x: &Scale, y: &Scale) -> Vec<String> {
        let mut notes = vec![self.note.clone()];
        let points = self.series.iter().flat_map(|series| &series.points);
        let hidden = points.filter(|point| x.position(point.0).is_none() || y.position(point.1).is_none()).count();
        if hidden > 0 {
            let points = if hidden == 1 { "1 point is".into() } else { format!("{hidden} points are") };
            notes.push(format!("{points} not shown: a logarithmic axis has no place for zero."));
        }
        notes
    }
}

fn line(area: &Area, x: &Scale, y: &Scale, place: usize, series: &Series) -> Element {
    let shown: Vec<(f64, f64)> =
        series.points.iter().filter_map(|point| Some((area.x(x, point.0)?, area.y(y, point.1)?))).collect();
    let colour = COLOURS[place % COLOURS.len()];
    let mut group = Element::new("g");
    let there = series.band.iter().map(|&(at, low, _)| (at, low));
    let back = series.band.iter().rev().map(|&(at, _, high)| (at, high));
    let around: Vec<(f64, f64)> =
        there.chain(back).filter_map(|at| Some((area.x(x, at.0)?, area.y(y, at.1)?))).collect();
    if !around.is_empty() {
        group.push(polygon(&around).set("fill", colour).num("fill-opacity", 0.15));
    }
    group.push(frame::line(&shown, colour, &series.name));
    for (x, y) in shown {
        group.push(mark(place, x, y));
    }
    group
}

/// Four shapes and seven colours: 28 series before a combination comes again.
pub(crate) fn mark(place: usize, x: f64, y: f64) -> Element {
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
    Element::new("polygon").set("points", &points(corners))
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
        Series { name: name.into(), points: points.to_vec(), ..Series::default() }
    }

    #[test]
    fn a_band_lies_behind_its_line() {
        let mut ring = series("ring", &[(8.0, 1e-6), (1024.0, 1e-5)]);
        assert!(!plot(vec![ring.clone()]).svg().contains("fill-opacity"));
        ring.band = vec![(8.0, 0.5e-6, 2e-6), (1024.0, 0.8e-5, 2e-5)];
        let svg = plot(vec![ring]).svg();
        let (band, line) = (svg.find("fill-opacity"), svg.find("<polyline"));
        assert!(band.is_some() && band < line, "{svg}");
        // The axis has room for all of it.
        assert!(svg.contains("20 us"), "{svg}");
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
