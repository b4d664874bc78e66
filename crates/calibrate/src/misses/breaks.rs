//! Jumps and bends: places where the duration does what a smooth model cannot.
//!
//! Sizes are ordered by an argument, or by their duration. On both sides of each place a line is fitted to the relative
//! errors of a window of sizes. Where the lines reach the place at different heights there is a jump, where they have
//! different slopes there is a bend. The lines are over ranks, so that no size that is far from all others decides.

use std::ops::Range;

use crate::kernel::{Fitted, mean};

use super::OFF;

/// Sizes in a window: this part of all, within limits.
const JUMP_WINDOW: (usize, usize, usize) = (6, 12, 100);
const BEND_WINDOWS: [(usize, usize, usize); 2] = [(4, 12, usize::MAX), (8, 12, usize::MAX)];
/// Different values of the argument in a window, at least: with fewer there is no line.
const PLACES: usize = 5;
/// A break is so many standard errors large. There are thousands of places, and chance must not look like a break at any.
const SURE: f64 = 6.0;
/// What a bend changes over a window, at least.
const BENT: f64 = 2.0 * OFF;

/// What is further off than this is so for other reasons.
const FAR: f64 = 1.0;
const ROUNDING: f64 = 1e-12;

/// A break, with how many standard errors large it is.
struct Break {
    sure: f64,
    says: String,
}

/// The clearest of them: a bend looks a little like a jump from nearby, and a jump like a bend from afar.
pub(super) fn find(fitted: &[Fitted], names: &[&str]) -> Option<String> {
    let courses = courses(fitted, names);
    let found = courses.iter().flat_map(|course| course.jump().into_iter().chain(course.bends()));
    found.max_by(|a, b| a.sure.total_cmp(&b.sure)).map(|found| found.says)
}

/// One along each argument, and one along the duration.
fn courses(fitted: &[Fitted], names: &[&str]) -> Vec<Course> {
    let sizes = sizes(fitted);
    let along = |name: Option<&str>, of: &dyn Fn(&Averaged) -> f64| {
        Course::new(name.map(String::from), sizes.iter().map(|size| (of(size), size.error)).collect())
    };
    let mut courses = vec![along(None, &|size| size.model)];
    courses.extend(names.iter().enumerate().map(|(i, name)| along(Some(name), &|size| size.arguments[i])));
    courses
}

/// A size, on the mean of all processors: what is odd about it is odd on all of them, and counts once.
struct Averaged<'s> {
    arguments: &'s [f64],
    model: f64,
    /// Measured over modelled duration, less one.
    error: f64,
}

fn sizes<'s>(fitted: &'s [Fitted]) -> Vec<Averaged<'s>> {
    let mut order: Vec<&Fitted> = fitted.iter().filter(|one| one.model > 0.0).collect();
    let arguments = |one: &Fitted<'s>| one.size.arguments.as_slice();
    order.sort_by(|a, b| arguments(a).partial_cmp(arguments(b)).unwrap_or(std::cmp::Ordering::Equal));
    let same = order.chunk_by(|a, b| arguments(a) == arguments(b));
    same.map(|same| Averaged {
        arguments: arguments(same[0]),
        model: mean(same.iter().map(|one| one.model)),
        error: mean(same.iter().map(|one| (one.size.seconds / one.model - 1.0).min(FAR))),
    })
    .collect()
}

/// Relative errors along an argument.
struct Course {
    /// The argument; none for the duration.
    name: Option<String>,
    /// Its values, in order.
    values: Vec<f64>,
    /// Of all points before each: x is the rank, y the error.
    sums: Vec<Sums>,
}

#[derive(Clone, Copy, Default)]
struct Sums {
    points: f64,
    places: usize,
    x: f64,
    xx: f64,
    y: f64,
    xy: f64,
    yy: f64,
}

/// A line of errors over a window.
struct Line {
    x: f64,
    y: f64,
    slope: f64,
    points: f64,
    /// Sum of (x - mean)^2.
    spread: f64,
    /// Of the errors around it.
    variance: f64,
}

impl Line {
    /// Height at a place, and the variance of that.
    fn at(&self, x: f64) -> (f64, f64) {
        let away = x - self.x;
        (self.y + self.slope * away, self.variance * (1.0 / self.points + away * away / self.spread))
    }
}

impl Course {
    fn new(name: Option<String>, mut points: Vec<(f64, f64)>) -> Course {
        points.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
        let mut sums = vec![Sums::default()];
        for same in points.chunk_by(|a, b| a.0 == b.0) {
            // In the middle of those with the same value, counted from the middle of all.
            let x = (sums.len() - 1) as f64 + 0.5 * same.len() as f64 - 0.5 * points.len() as f64;
            for (i, &(_, y)) in same.iter().enumerate() {
                let s = sums[sums.len() - 1];
                sums.push(Sums {
                    points: s.points + 1.0,
                    places: s.places + usize::from(i == 0),
                    x: s.x + x,
                    xx: s.xx + x * x,
                    y: s.y + y,
                    xy: s.xy + x * y,
                    yy: s.yy + y * y,
                });
            }
        }
        Course { name, values: points.into_iter().map(|(value, _)| value).collect(), sums }
    }

    /// The line through the errors of these points, if they are at enough places.
    fn line(&self, points: Range<usize>) -> Option<Line> {
        let (a, b) = (self.sums[points.start], self.sums[points.end]);
        let n = b.points - a.points;
        if b.places - a.places < PLACES {
            return None;
        }
        let (x, y) = ((b.x - a.x) / n, (b.y - a.y) / n);
        let spread = b.xx - a.xx - n * x * x;
        let slope = (b.xy - a.xy - n * x * y) / spread;
        let left = b.yy - a.yy - n * y * y - slope * slope * spread;
        // Of sums of many numbers, so small a part is rounding.
        let variance = left.max(ROUNDING * b.yy).max(f64::MIN_POSITIVE) / (n - 2.0);
        (spread > ROUNDING * b.xx).then_some(Line { x, y, slope, points: n, spread, variance })
    }

    /// The clearest break: `large` gives its size, its variance, and whether it matters, for the lines on both sides.
    fn clearest(
        &self,
        (part, least, most): (usize, usize, usize),
        large: impl Fn(&Line, &Line, f64) -> (f64, f64, bool),
        says: impl Fn(f64, String) -> String,
    ) -> Option<Break> {
        let window = (self.values.len() / part).clamp(least, most);
        let cuts = window..(self.values.len() + 1).saturating_sub(window);
        let mut best: Option<(f64, f64, usize)> = None;
        for cut in cuts.filter(|&cut| self.values[cut - 1] < self.values[cut]) {
            let (Some(left), Some(right)) = (self.line(cut - window..cut), self.line(cut..cut + window)) else {
                continue;
            };
            let place = cut as f64 - 0.5 * self.values.len() as f64;
            let (size, variance, matters) = large(&left, &right, place);
            let sure = size.abs() / variance.sqrt();
            if matters && sure > best.map_or(SURE, |(sure, ..)| sure) {
                best = Some((sure, size, cut));
            }
        }
        best.map(|(sure, size, cut)| Break { sure, says: says(size, self.place(cut)) })
    }

    fn jump(&self) -> Option<Break> {
        let large = |left: &Line, right: &Line, place: f64| {
            let ((before, doubt), (after, more_doubt)) = (left.at(place), right.at(place));
            (after - before, doubt + more_doubt, (after - before).abs() > OFF)
        };
        self.clearest(JUMP_WINDOW, large, |size, place| {
            let which = if size > 0.0 { "longer" } else { "shorter" };
            format!("where {place}, calls get {:.0} % {which} at once: there is a jump", 100.0 * size.abs())
        })
    }

    fn bends(&self) -> impl Iterator<Item = Break> {
        let large = |left: &Line, right: &Line, _: f64| {
            let bend = right.slope - left.slope;
            let doubt = left.variance / left.spread + right.variance / right.spread;
            (bend, doubt, (bend * left.points).abs() > BENT)
        };
        let says = |size: f64, place: String| {
            let which = if size > 0.0 { "faster" } else { "more slowly" };
            format!("where {place}, durations begin to grow {which} than the model's terms: there is a bend")
        };
        BEND_WINDOWS.into_iter().filter_map(move |window| self.clearest(window, large, says))
    }

    /// Where a cut is, for people.
    fn place(&self, cut: usize) -> String {
        let value = (self.values[cut - 1] * self.values[cut]).sqrt();
        match &self.name {
            None => format!("calls take about {value:.1e} s"),
            Some(name) => {
                let digits = (2 - value.log10().floor() as i32).clamp(0, 6) as usize;
                format!("{name} is about {value:.digits$}")
            }
        }
    }
}
