//! Durations over message sizes: averages, and lines through them.

use hpcast_models::network::RangeFit;
use hpcast_platform::Piecewise;
use hpcast_platform::protocol::{Mode, Piece};
use hpcast_stats::piecewise::{self, Objective};

use super::errors::{Point, covariance};
use super::{NetworkError, Recipe};
use crate::kernel::mean;

/// A range is off if its sizes are, on the mean, by this part.
const OFF: f64 = 0.15;

/// Calls of one size.
#[derive(Clone, Debug)]
pub(super) struct Size {
    pub bytes: f64,
    /// Mean of the durations.
    pub seconds: f64,
    pub calls: Vec<f64>,
}

/// Calls by size, the smallest first.
#[derive(Clone, Debug, Default)]
pub(super) struct Sizes(pub Vec<Size>);

impl Sizes {
    pub fn new(calls: &[(f64, f64)]) -> Sizes {
        let mut sorted = calls.to_vec();
        sorted.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
        let same = |a: &(f64, f64), b: &(f64, f64)| a.0 == b.0;
        let size = |calls: &[(f64, f64)]| {
            let calls_alone: Vec<f64> = calls.iter().map(|call| call.1).collect();
            Size { bytes: calls[0].0, seconds: mean(calls_alone.iter().copied()), calls: calls_alone }
        };
        Sizes(sorted.chunk_by(same).map(size).collect())
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn below(self, end: u64) -> Sizes {
        Sizes(self.0.into_iter().filter(|size| size.bytes < end as f64).collect())
    }

    pub fn from(self, start: u64) -> Sizes {
        Sizes(self.0.into_iter().filter(|size| size.bytes >= start as f64).collect())
    }

    /// The sizes of a line.
    pub fn within(&self, line: &Line) -> Sizes {
        let holds = |size: &&Size| size.bytes >= line.from && size.bytes <= line.to;
        Sizes(self.0.iter().filter(holds).cloned().collect())
    }

    /// How well a function fits, and how sure its figures are.
    pub fn how_well(
        &self,
        name: &str,
        above: u64,
        covariance: Option<[f64; 3]>,
        function: impl Fn(f64) -> f64,
    ) -> RangeFit {
        let centre = mean(self.0.iter().map(|size| size.seconds));
        let all: f64 = self.0.iter().map(|size| (size.seconds - centre).powi(2)).sum();
        let left: f64 = self.0.iter().map(|size| (size.seconds - function(size.bytes)).powi(2)).sum();
        // What took no time at all has no relative error.
        let timed = self.0.iter().filter(|size| size.seconds > 0.0);
        let relative: Vec<f64> = timed.map(|size| (function(size.bytes) / size.seconds - 1.0).abs()).collect();
        RangeFit {
            function: name.into(),
            above,
            points: self.0.iter().map(|size| size.calls.len() as u64).sum(),
            sizes: self.0.len() as u64,
            r_squared: if all > 0.0 { 1.0 - left / all } else { 1.0 },
            relative_error: if relative.is_empty() { 0.0 } else { mean(relative.into_iter()) },
            covariance,
        }
    }

    /// What single calls differ by from a line. Empty if no size was measured again and again.
    pub fn residuals(&self, line: &Line) -> Vec<f64> {
        let repeated = self.0.iter().filter(|size| size.calls.len() > 2);
        repeated.flat_map(|size| size.calls.iter().map(|call| call - line.at(size.bytes))).collect()
    }
}

/// A line over sizes from the first to the last that belong to it.
#[derive(Clone, Debug)]
pub(super) struct Line {
    pub from: f64,
    pub to: f64,
    pub intercept: f64,
    pub slope: f64,
    /// How sure intercept and slope are: lower triangle, if that is known.
    pub covariance: Option<[f64; 3]>,
    pub modes: Vec<Mode>,
}

impl Line {
    pub fn at(&self, bytes: f64) -> f64 {
        self.intercept + self.slope * bytes
    }
}

/// Lines over neighbouring ranges of sizes.
#[derive(Clone, Debug)]
pub(super) struct Curve {
    pub lines: Vec<Line>,
}

impl Curve {
    pub fn fit(sizes: &Sizes, recipe: &Recipe, name: &str) -> Result<Curve, NetworkError> {
        // An empty message is like one of a byte: where errors are relative, sizes have to be above 0.
        let points: Vec<(f64, f64)> = sizes.0.iter().map(|size| (size.bytes.max(1.0), size.seconds)).collect();
        let found = piecewise::fit(&points, recipe.objective, recipe.strategy);
        let found = found.map_err(|error| NetworkError::Fit { function: name.into(), error })?;
        let line = |segment: &piecewise::Segment| {
            // Only the logarithmic objective keeps lines above zero by itself.
            let (intercept, slope) = (segment.intercept.max(0.0), segment.slope.max(0.0));
            let point = |&(bytes, seconds): &(f64, f64)| {
                let weight = match recipe.objective {
                    Objective::Ordinary => 1.0,
                    Objective::Weighted => bytes.powi(-2),
                    // An error of the logarithm is one relative to the line.
                    Objective::Logarithmic => (intercept + slope * bytes).powi(-2),
                };
                Point { bytes, seconds, weight }
            };
            let own = points.iter().filter(|(bytes, _)| (segment.from..=segment.to).contains(bytes));
            let own: Vec<Point> = own.map(point).collect();
            Line {
                from: if segment.from <= 1.0 { 0.0 } else { segment.from },
                to: segment.to,
                intercept,
                slope,
                covariance: covariance(&own, [intercept, slope], [intercept > 0.0, slope > 0.0]),
                modes: Vec::new(),
            }
        };
        Ok(Curve { lines: found.segments.iter().map(line).collect() })
    }

    /// The value at a size; the outer lines go on.
    pub fn at(&self, bytes: f64) -> f64 {
        let place = self.lines.partition_point(|line| line.to < bytes).min(self.lines.len() - 1);
        self.lines[place].at(bytes)
    }

    /// As pieces; the last one is given where other rules begin.
    pub fn into_piecewise(self, rest: Option<Piece>) -> Piecewise {
        let aboves = thresholds(&self.lines);
        let piece = |(line, above): (Line, u64)| match line.modes.is_empty() {
            true => Piece { above, base: line.intercept, per_byte: line.slope, modes: Vec::new() },
            false => Piece::noisy(above, line.slope, line.modes),
        };
        Piecewise::new(self.lines.into_iter().zip(aboves).map(piece).chain(rest).collect())
    }

    /// How well each line fits.
    pub fn how_well(&self, sizes: &Sizes, name: &str) -> Vec<RangeFit> {
        let lines = self.lines.iter().zip(thresholds(&self.lines));
        let how_well = |(line, above): (&Line, u64)| {
            sizes.within(line).how_well(name, above, line.covariance, |bytes| line.at(bytes))
        };
        lines.map(how_well).collect()
    }

    /// Warnings, in sentences.
    pub fn misses(&self, sizes: &Sizes, name: &str) -> Vec<String> {
        let ranges = self.how_well(sizes, name);
        let off = self.lines.iter().zip(ranges).filter(|(_, range)| range.relative_error > OFF);
        off.map(|(line, range)| {
            let percent = 100.0 * range.relative_error;
            format!("{name}: sizes of {} to {} B are off by {percent:.0} % on the mean", line.from, line.to)
        })
        .collect()
    }
}

/// What sizes each line begins above: the last size of the one before.
pub(super) fn thresholds(lines: &[Line]) -> Vec<u64> {
    let ends = lines.iter().map(|line| line.to as u64);
    [0].into_iter().chain(ends).take(lines.len()).collect()
}
