//! A model of a kernel as a picture: what it says, what was measured, and how far the two are apart.

use hpcast_units::count;

use crate::cloud::cloud;
use crate::curves::{BAND, Curves, argument_scale, band, band_key, draw_row, line_key, side_by_side};
use crate::frame::{Area, KEY, Legend, Page, left_of, line, room_down};
use crate::plot::COLOURS;
use crate::scale::{Quantity, Scale, Spacing};
use crate::svg::Element;

/// A model, with measured calls or without.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FitPlot {
    /// What it shows.
    pub title: String,
    /// Small print below.
    pub notes: Vec<String>,
    /// What the model says. With calls: over the one product of arguments that it depends on, or nothing.
    pub curves: Vec<Curves>,
    /// The arguments of calls.
    pub arguments: Vec<String>,
    /// Measured calls.
    pub calls: Vec<FitPoint>,
    /// Modelled durations, in order, and between which parts of them most calls should be.
    pub noise: Vec<(f64, [f64; 2])>,
}

/// A measured call.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FitPoint {
    /// The product of arguments that the model depends on.
    pub x: f64,
    /// The arguments.
    pub arguments: Vec<f64>,
    /// What it took, in seconds.
    pub measured: f64,
    /// What the model expects.
    pub modelled: f64,
}

impl FitPoint {
    fn error(&self) -> f64 {
        self.measured / self.modelled - 1.0
    }
}

const TOP_HEIGHT: f64 = 240.0;
const ERROR_HEIGHT: f64 = 180.0;
const ROW_HEIGHT: f64 = 130.0;
/// Between areas: room for the axis of the one above.
const GAP: f64 = 62.0;
/// Places of a mean error, at most, and calls that it needs.
const PLACES: usize = 30;
const FEWEST: usize = 5;
/// Places next to each other are at most so far apart.
const GAP_PLACES: usize = 4;
/// The axis of errors reaches from zero twice as far as this part of the calls at either end.
const END: f64 = 0.02;

const CALLS: &str = COLOURS[4];
const MODEL: &str = COLOURS[1];
const MEAN: &str = COLOURS[6];

const NAMES: [&str; 4] = ["measured calls", "model", "95 % of calls, says the model", "mean of calls"];

impl FitPlot {
    /// The picture as an SVG file.
    pub fn svg(&self) -> String {
        let mut page = Page::new(&self.title);
        let legend = Legend::width(NAMES.into_iter());
        if self.calls.is_empty() {
            let area = draw_row(&mut page, TOP_HEIGHT + 60.0, &self.curves, legend);
            self.draw_legend(&mut page, &area, false);
            return page.svg(&area, &self.notes);
        }
        let top = match &self.curves[..] {
            [curves, ..] => self.draw_over_argument(&mut page, curves, legend),
            [] => self.draw_measured_over_modelled(&mut page, legend),
        };
        self.draw_legend(&mut page, &top, true);
        let shown: Vec<&FitPoint> = self.calls.iter().filter(|call| call.modelled > 0.0).collect();
        let y = self.error_scale(&shown);
        let middle = self.draw_errors(&mut page, &shown, &y, top.bottom() + GAP);
        let lowest = self.draw_errors_by_argument(&mut page, &shown, &y, middle.bottom() + GAP);
        let mut notes = self.notes.clone();
        let beyond = shown.iter().filter(|call| !(y.low..=y.high).contains(&call.error())).count();
        if beyond > 0 {
            let calls = if beyond == 1 { "1 call is".into() } else { format!("{} calls are", count(beyond as u64)) };
            notes.push(format!("{calls} further off than the axis of errors, and drawn at its end."));
        }
        if shown.len() < self.calls.len() {
            let hidden = count((self.calls.len() - shown.len()) as u64);
            notes.push(format!("The model expects no time for {hidden} calls: they have no relative error."));
        }
        page.svg(&lowest, &notes)
    }

    fn draw_legend(&self, page: &mut Page, area: &Area, with_calls: bool) {
        let mut legend = Legend::beside(area);
        if with_calls {
            legend.add(page, NAMES[0], |left, middle| vec![cloud(&[(left + KEY / 2.0, middle)], CALLS)]);
        }
        legend.add(page, NAMES[1], line_key(MODEL));
        if self.curves.iter().flat_map(|curves| &curves.curves).any(|curve| curve.colour.is_none()) {
            legend.add(page, "its processors", |left, middle| {
                vec![Element::new("g").num("opacity", 0.35).with(line(
                    &[(left, middle), (left + KEY, middle)],
                    "#888888",
                    "",
                ))]
            });
        }
        if !self.noise.is_empty() || self.curves.iter().any(Curves::is_noisy) {
            legend.add(page, NAMES[2], band_key);
        }
        if with_calls {
            legend.add(page, NAMES[3], line_key(MEAN));
        }
    }

    /// Durations over what they depend on.
    fn draw_over_argument(&self, page: &mut Page, curves: &Curves, legend: f64) -> Area {
        let seconds = self.calls.iter().map(|call| call.measured).chain(curves.seconds());
        let y = Scale::of(Quantity::Seconds, Spacing::Logarithmic, seconds, room_down(TOP_HEIGHT));
        let area = Area::between(left_of(&y), legend, page.top(), TOP_HEIGHT);
        let x = argument_scale(self.calls.iter().map(|call| call.x).chain(curves.xs()), area.room_across());
        page.push(area.grid(&x, &y));
        curves.draw_bands(page, &area, &x, &y);
        let place = |call: &FitPoint| Some((area.x(&x, call.x)?, area.y(&y, call.measured)?));
        page.push(cloud(&self.calls.iter().filter_map(place).collect::<Vec<_>>(), CALLS));
        curves.draw_lines(page, &area, &x, &y);
        page.push(area.axes((Some(&curves.argument), &x), ("duration", &y)));
        area
    }

    /// Where the model depends on several things: a call on the diagonal is as the model says.
    fn draw_measured_over_modelled(&self, page: &mut Page, legend: f64) -> Area {
        let both = self.calls.iter().flat_map(|call| [call.measured, call.modelled]);
        let y = Scale::of(Quantity::Seconds, Spacing::Logarithmic, both.clone(), room_down(TOP_HEIGHT));
        let area = Area::between(left_of(&y), legend, page.top(), TOP_HEIGHT);
        let x = Scale::of(Quantity::Seconds, Spacing::Logarithmic, both, area.room_across());
        page.push(area.grid(&x, &y));
        let place = |call: &FitPoint| Some((area.x(&x, call.modelled)?, area.y(&y, call.measured)?));
        page.push(cloud(&self.calls.iter().filter_map(place).collect::<Vec<_>>(), CALLS));
        let ends = [x.low, x.high].map(|end| area.x(&x, end).zip(area.y(&y, end)));
        page.push(line(&ends.into_iter().flatten().collect::<Vec<_>>(), MODEL, NAMES[1]));
        page.push(area.axes((Some("modelled duration"), &x), ("measured duration", &y)));
        area
    }

    /// Covers nearly all errors: a few that are far off must not press the others to the floor.
    fn error_scale(&self, shown: &[&FitPoint]) -> Scale {
        let mut errors: Vec<f64> = shown.iter().map(|call| call.error()).collect();
        errors.sort_by(f64::total_cmp);
        let at = |part: f64| errors.get((part * errors.len() as f64) as usize).or(errors.last()).copied();
        let ends = at(END).map(|low| (2.0 * low).max(-1.0)).into_iter().chain(at(1.0 - END).map(|high| 2.0 * high));
        Scale::of(Quantity::Share, Spacing::Linear, ends, room_down(ERROR_HEIGHT))
    }

    fn draw_errors(&self, page: &mut Page, shown: &[&FitPoint], y: &Scale, top: f64) -> Area {
        let area = Area::between(left_of(y), 0.0, top, ERROR_HEIGHT);
        let modelled = shown.iter().map(|call| call.modelled);
        let x = Scale::of(Quantity::Seconds, Spacing::Logarithmic, modelled, area.room_across());
        page.push(area.grid(&x, y));
        let edge = |which: usize| {
            let place = |(seconds, parts): &(f64, [f64; 2])| {
                Some((area.x(&x, *seconds)?, area.y(y, (parts[which] - 1.0).clamp(y.low, y.high))?))
            };
            self.noise.iter().filter_map(place).collect::<Vec<_>>()
        };
        let (upper, lower) = (edge(1), edge(0));
        page.push(band(&upper.iter().chain(lower.iter().rev()).copied().collect::<Vec<_>>()));
        draw_error_cloud(page, &area, &x, y, shown, |call| call.modelled);
        // Its edges show through any cloud.
        page.extend([upper, lower].map(|edge| line(&edge, BAND, NAMES[2])));
        page.push(area.axes((Some("modelled duration"), &x), ("measured / modelled - 1", y)));
        area
    }

    fn draw_errors_by_argument(&self, page: &mut Page, shown: &[&FitPoint], y: &Scale, top: f64) -> Area {
        let y = Scale::linear(Quantity::Share, y.low, y.high, room_down(ROW_HEIGHT));
        let areas = side_by_side(&y, top, ROW_HEIGHT, self.arguments.len(), 0.0);
        for (place, (name, area)) in self.arguments.iter().zip(&areas).enumerate() {
            let values = shown.iter().map(|call| call.arguments[place]);
            let x = argument_scale(values, area.room_across());
            page.push(area.grid(&x, &y));
            draw_error_cloud(page, area, &x, &y, shown, |call| call.arguments[place]);
            page.push(area.axes_of_row((Some(name), &x), ("error", &y), place == 0));
        }
        let last = areas.into_iter().next_back();
        last.unwrap_or_else(|| Area::between(left_of(&y), 0.0, top - GAP, 0.0))
    }
}

/// Errors over something, with their mean and a line at none.
fn draw_error_cloud(
    page: &mut Page,
    area: &Area,
    x: &Scale,
    y: &Scale,
    calls: &[&FitPoint],
    of: impl Fn(&FitPoint) -> f64,
) {
    let mut points: Vec<(f64, f64)> = calls.iter().map(|call| (of(call), call.error())).collect();
    points.retain(|(value, _)| x.position(*value).is_some());
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    let place = |(value, error): (f64, f64)| Some((area.x(x, value)?, area.y(y, error.clamp(y.low, y.high))?));
    page.push(cloud(&points.iter().filter_map(|point| place(*point)).collect::<Vec<_>>(), CALLS));
    page.extend(place((x.low, 0.0)).zip(place((x.high, 0.0))).map(|(a, b)| line(&[a, b], MODEL, NAMES[1])));
    // A line over where nothing was measured would say too much.
    for stretch in means(&points, x, y).chunk_by(|(a, _), (b, _)| b - a <= GAP_PLACES) {
        let corners: Vec<(f64, f64)> = stretch.iter().filter_map(|(_, point)| place(*point)).collect();
        page.push(line(&corners, MEAN, NAMES[3]));
    }
}

/// Mean errors of calls that are near each other on an axis. One that lies beyond the axis of errors counts as at its end,
/// so that a single call does not hide the others. With the number of each place.
fn means(points: &[(f64, f64)], x: &Scale, y: &Scale) -> Vec<(usize, (f64, f64))> {
    let column = |value: f64| x.position(value).map_or(0, |position| (position * PLACES as f64) as usize);
    let groups = points.chunk_by(|a, b| column(a.0) == column(b.0)).filter(|group| group.len() >= FEWEST);
    let mean = |group: &[(f64, f64)]| {
        let errors = group.iter().map(|(_, error)| error.clamp(y.low, y.high));
        let middle = group[group.len() / 2].0;
        (column(middle), (middle, errors.sum::<f64>() / group.len() as f64))
    };
    groups.map(mean).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::curves::{Curve, CurvePoint};

    fn plot(calls: usize, arguments: usize) -> FitPlot {
        let call = |i: usize| {
            let x = 1.0 + i as f64;
            FitPoint { x, arguments: vec![x; arguments], measured: 1.1e-6 * x, modelled: 1e-6 * x }
        };
        FitPlot {
            title: "dgemm & co".into(),
            notes: vec!["From calls.csv.".into()],
            arguments: (0..arguments).map(|i| format!("A{i}")).collect(),
            calls: (0..calls).map(call).collect(),
            noise: vec![(1e-6, [0.9, 1.1]), (1e-3, [0.95, 1.05])],
            curves: Vec::new(),
        }
    }

    fn curves(argument: &str) -> Curves {
        let point = |i: i32| {
            let seconds = 1e-6 * f64::from(i);
            CurvePoint { x: f64::from(i), seconds, calls: [0.9 * seconds, 1.2 * seconds] }
        };
        let curve = Curve { name: "all".into(), colour: Some(1), points: (1..50).map(point).collect() };
        let pale = Curve { name: "node 1".into(), colour: None, ..curve.clone() };
        Curves { argument: argument.into(), curves: vec![curve, pale] }
    }

    #[test]
    fn calls_are_drawn_beside_what_the_model_says() {
        let svg = plot(1000, 3).svg();
        for text in
            ["dgemm &amp; co", ">modelled duration<", ">measured duration<", "measured / modelled - 1 (%)", ">A2<"]
        {
            assert!(svg.contains(text), "{text} is missing");
        }
        assert!(!svg.contains("NaN") && !svg.contains("inf"));
        let svg = FitPlot { curves: vec![curves("M*N")], ..plot(100, 1) }.svg();
        assert!(svg.contains(">M*N<") && svg.contains(">its processors<") && !svg.contains("measured duration"));
    }

    #[test]
    fn a_model_without_calls_is_drawn_alone() {
        let svg = FitPlot { curves: vec![curves("M"), curves("N")], ..plot(0, 2) }.svg();
        assert!(svg.contains(">M<") && svg.contains(">N<") && !svg.contains("measured calls"));
        assert!(FitPlot::default().svg().ends_with("</svg>\n"));
    }

    #[test]
    fn what_is_far_off_is_said() {
        let mut far = plot(1000, 1);
        far.calls[500].measured *= 50.0;
        far.calls[3].modelled = -1e-6;
        let svg = far.svg();
        assert!(svg.contains("1 call is further off") && svg.contains("expects no time for 1 calls"));
    }

    #[test]
    fn many_calls_make_a_small_file() {
        let mut many = plot(128_000, 3);
        for (i, call) in many.calls.iter_mut().enumerate() {
            call.measured *= 1.0 + (i * 7919 % 1000) as f64 / 2e3;
            call.arguments = [i * 31 % 4999, i * 17 % 4999, i * 13 % 4999].map(|x| 1.0 + x as f64).to_vec();
        }
        let length = many.svg().len();
        assert!(length < 500_000, "{length}");
    }
}
