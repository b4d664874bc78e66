//! What the levels of a factor do, as a picture, where they are names and no numbers: a line a level.

use crate::frame::{Area, MARGIN, Page, SMALL, WIDTH};
use crate::plot::{COLOURS, mark};
use crate::scale::{Quantity, Scale};
use crate::svg::{Element, text_width};

/// Height of a level.
const ROW: f64 = 22.0;
/// What is left free beyond the values, as a part of what they span.
const PADDING: f64 = 0.05;

/// Levels one below the other.
#[derive(Clone, Debug, PartialEq)]
pub struct LevelsPlot {
    /// What it shows.
    pub title: String,
    /// The name of what was measured.
    pub response: String,
    /// What that is.
    pub quantity: Quantity,
    /// The levels, from the top down.
    pub levels: Vec<PlottedLevel>,
    /// Small print below.
    pub note: String,
}

/// A level.
#[derive(Clone, Debug, PartialEq)]
pub struct PlottedLevel {
    /// What people call it.
    pub name: String,
    /// The mean of its values.
    pub mean: f64,
    /// Where the mean lies, if that is known.
    pub interval: Option<(f64, f64)>,
    /// The least and the greatest value.
    pub extremes: (f64, f64),
}

impl PlottedLevel {
    /// All that must be on the axis.
    fn values(&self) -> impl Iterator<Item = f64> {
        let interval = self.interval.into_iter().flat_map(|(low, high)| [low, high]);
        [self.mean, self.extremes.0, self.extremes.1].into_iter().chain(interval)
    }
}

impl LevelsPlot {
    /// The plot as an SVG file.
    pub fn svg(&self) -> String {
        let widest = self.levels.iter().map(|level| text_width(&level.name, SMALL)).fold(0.0, f64::max);
        let mut page = Page::new(&self.title);
        let left = (MARGIN + widest + 12.0).min(0.6 * WIDTH);
        let area = Area::between(left, 0.0, page.top(), ROW * self.levels.len().max(1) as f64);
        let x = self.scale(area.room_across());
        // The vertical axis has no figures: each level writes its own name.
        let mut y = Scale::linear(Quantity::Count, 0.0, 1.0, 1);
        y.ticks.clear();
        page.push(area.grid(&x, &y));
        page.push(area.axes((Some(&self.response), &x), ("", &y)));
        for (row, level) in self.levels.iter().enumerate() {
            let middle = area.top + (row as f64 + 0.5) * ROW;
            page.push(Element::label(area.left - 8.0, middle + 0.35 * SMALL, SMALL, "end", &level.name));
            let mut group = Element::new("g").with(Element::new("title").text(&level.name));
            if let (Some(from), Some(to)) = (area.x(&x, level.extremes.0), area.x(&x, level.extremes.1)) {
                group.push(Element::line(from, middle, to, middle).set("stroke", "#999"));
            }
            let interval = level.interval.and_then(|(low, high)| Some((area.x(&x, low)?, area.x(&x, high)?)));
            if let Some((from, to)) = interval {
                let band = Element::rect(from, middle - 0.2 * ROW, to - from, 0.4 * ROW);
                group.push(band.set("fill", COLOURS[0]).num("fill-opacity", 0.25));
            }
            if let Some(mean) = area.x(&x, level.mean) {
                group.push(mark(0, mean, middle));
            }
            page.push(group);
        }
        page.svg(&area, std::slice::from_ref(&self.note))
    }

    /// Covers the values and not zero: levels are compared by where their marks are.
    fn scale(&self, room: usize) -> Scale {
        let values = || self.levels.iter().flat_map(PlottedLevel::values);
        let (low, high) = (values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max));
        if low > high {
            return Scale::linear(self.quantity, 0.0, 1.0, room);
        }
        let span = if high > low { high - low } else { low.abs().max(1e-12) };
        let quantity = if self.quantity == Quantity::Count { Quantity::Number } else { self.quantity };
        Scale::linear(quantity, low - PADDING * span, high + PADDING * span, room)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn level(name: &str, mean: f64) -> PlottedLevel {
        PlottedLevel {
            name: name.into(),
            mean,
            interval: Some((mean - 1.0, mean + 1.0)),
            extremes: (mean - 2.0, mean + 2.0),
        }
    }

    #[test]
    fn every_level_has_its_line() {
        let mut plot = LevelsPlot {
            title: "gflops by bcast".into(),
            response: "gflops".into(),
            quantity: Quantity::Count,
            levels: vec![level("1ring", 100.0), level("a<b", 120.0)],
            note: "12 runs".into(),
        };
        let svg = plot.svg();
        for text in [">1ring</text>", ">a&lt;b</text>", ">gflops</text>", "12 runs", ">110<"] {
            assert!(svg.contains(text), "{text}\n{svg}");
        }
        assert_eq!(svg.matches("<circle").count(), 2);
        // Zero is far away.
        assert!(!svg.contains(">0</text>") && !svg.contains("NaN"), "{svg}");
        plot.levels = vec![PlottedLevel { interval: None, extremes: (5.0, 5.0), ..level("one", 5.0) }];
        assert!(!plot.svg().contains("NaN"));
        plot.levels.clear();
        assert!(!plot.svg().contains("NaN") && !plot.svg().contains("inf"));
    }
}
