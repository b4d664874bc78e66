//! What models say: durations over an argument, with the range of single calls.

use crate::frame::{Area, Page, line};
use crate::plot::COLOURS;
use crate::scale::{Quantity, Scale, Spacing};
use crate::svg::{Element, points};

/// Models over one argument, or over a product of arguments.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Curves {
    /// The argument, with what holds for the others.
    pub argument: String,
    /// The models.
    pub curves: Vec<Curve>,
}

/// What one model says.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Curve {
    /// Whose it is.
    pub name: String,
    /// Its colour, by number; none for one of many, which is drawn thin and pale.
    pub colour: Option<usize>,
    /// From left to right.
    pub points: Vec<CurvePoint>,
}

/// A model at one value of its argument.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CurvePoint {
    /// The value.
    pub x: f64,
    /// The expected duration.
    pub seconds: f64,
    /// Between which durations most calls are.
    pub calls: [f64; 2],
}

pub(crate) const BAND: &str = "#e69f00";

/// The axis of an argument: orders of magnitude, if there are any.
pub(crate) fn argument_scale(values: impl Iterator<Item = f64> + Clone, room: usize) -> Scale {
    let low = values.clone().fold(f64::INFINITY, f64::min);
    let high = values.clone().fold(0.0, f64::max);
    let spacing = if low > 0.0 && high > 10.0 * low { Spacing::Logarithmic } else { Spacing::Linear };
    // Powers of ten are short words.
    let room = if spacing == Spacing::Logarithmic { 2 * room } else { room };
    Scale::of(Quantity::Count, spacing, values, room)
}

impl Curves {
    pub(crate) fn xs(&self) -> impl Iterator<Item = f64> + Clone {
        self.curves.iter().flat_map(|curve| &curve.points).map(|point| point.x)
    }

    pub(crate) fn seconds(&self) -> impl Iterator<Item = f64> + Clone {
        self.curves.iter().flat_map(|curve| &curve.points).map(|point| point.seconds)
    }

    /// Whether any model has noise.
    pub(crate) fn is_noisy(&self) -> bool {
        self.curves.iter().flat_map(|curve| &curve.points).any(|point| point.calls[0] < point.calls[1])
    }

    /// Where most calls are, for models that have a colour: drawn below all else.
    pub(crate) fn draw_bands(&self, page: &mut Page, area: &Area, x: &Scale, y: &Scale) {
        for curve in self.curves.iter().filter(|curve| curve.colour.is_some()) {
            let edge = |which: usize| {
                let place = move |point: &CurvePoint| {
                    // Below the axis there is no place on a logarithmic one.
                    Some((area.x(x, point.x)?, area.y(y, point.calls[which].max(y.low))?))
                };
                curve.points.iter().filter_map(place)
            };
            let corners: Vec<(f64, f64)> = edge(1).chain(edge(0).collect::<Vec<_>>().into_iter().rev()).collect();
            page.push(band(&corners));
        }
    }

    pub(crate) fn draw_lines(&self, page: &mut Page, area: &Area, x: &Scale, y: &Scale) {
        let pale_first = |curve: &&Curve| curve.colour.is_some();
        let mut curves: Vec<&Curve> = self.curves.iter().collect();
        curves.sort_by_key(pale_first);
        for curve in curves {
            let place = |point: &CurvePoint| Some((area.x(x, point.x)?, area.y(y, point.seconds)?));
            let corners: Vec<(f64, f64)> = curve.points.iter().filter_map(place).collect();
            page.push(match curve.colour {
                Some(colour) => line(&corners, COLOURS[colour % COLOURS.len()], &curve.name),
                None => Element::new("g").num("opacity", 0.35).with(line(&corners, "#888888", &curve.name)),
            });
        }
    }
}

/// An area where calls are.
pub(crate) fn band(corners: &[(f64, f64)]) -> Element {
    Element::new("polygon").set("points", &points(corners)).set("fill", BAND).num("fill-opacity", 0.3)
}

/// What stands for a band in a legend.
pub(crate) fn band_key(left: f64, middle: f64) -> Vec<Element> {
    let key = Element::rect(left, middle - 5.0, crate::frame::KEY, 10.0);
    vec![key.set("fill", BAND).num("fill-opacity", 0.3)]
}

/// What stands for a line in a legend.
pub(crate) fn line_key(colour: &'static str) -> impl Fn(f64, f64) -> Vec<Element> {
    move |left, middle| vec![line(&[(left, middle), (left + crate::frame::KEY, middle)], colour, "")]
}

/// Panels side by side at the top, which share their vertical axis; returns the last one's area.
pub(crate) fn draw_row(page: &mut Page, height: f64, panels: &[Curves], legend: f64) -> Area {
    let top = page.top();
    let seconds = panels.iter().flat_map(Curves::seconds);
    let y = Scale::of(Quantity::Seconds, Spacing::Logarithmic, seconds, crate::frame::room_down(height));
    let areas = side_by_side(&y, top, height, panels.len(), legend);
    for (place, (panel, area)) in panels.iter().zip(&areas).enumerate() {
        let x = argument_scale(panel.xs(), area.room_across());
        page.push(area.grid(&x, &y));
        panel.draw_bands(page, area, &x, &y);
        panel.draw_lines(page, area, &x, &y);
        page.push(area.axes_of_row((Some(&panel.argument), &x), ("duration", &y), place == 0));
    }
    let last = areas.into_iter().next_back();
    last.unwrap_or_else(|| Area::between(crate::frame::left_of(&y), legend, top, height))
}

/// Areas of the same size in a row, with the vertical axis at the left of the first.
pub(crate) fn side_by_side(y: &Scale, top: f64, height: f64, count: usize, legend: f64) -> Vec<Area> {
    const GAP: f64 = 26.0;
    let all = Area::between(crate::frame::left_of(y), legend, top, height);
    let width = (all.width - GAP * (count.max(1) - 1) as f64) / count.max(1) as f64;
    (0..count).map(|i| Area { left: all.left + i as f64 * (width + GAP), top, width, height }).collect()
}
