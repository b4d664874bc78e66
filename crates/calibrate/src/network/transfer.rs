//! The time on the network, from ping-pongs: half of one, less what the two ends are busy with.

use hpcast_platform::protocol::Piece;
use hpcast_platform::{Piecewise, Protocol};

use super::curve::{Curve, Line, Size, Sizes, thresholds};
use super::errors::{Point, covariance};
use super::{Fitter, NetworkError, Operation, Place, noise};

/// Sizes of the shortest range.
const SHORTEST: usize = 4;
/// What noise may add to the expectation, as a part of the whole, because nothing takes less than no time.
const UNNOTICED: f64 = 0.01;
/// Ends that have to be shortened by this part are worth a warning.
const TOO_MUCH: f64 = 0.1;
/// What the ends have of half a ping-pong, at least: a message that takes no longer than its bytes need was measured badly.
const LEAST: f64 = 0.01;

impl Fitter<'_> {
    /// Latency and bandwidth factor of the protocol, whose overheads are known.
    pub(super) fn transfer(&mut self, protocol: &mut Protocol) -> Result<(), NetworkError> {
        let (calls, is_half) = self.halves();
        if calls.is_empty() {
            return Ok(());
        }
        let sizes = Sizes::new(&calls);
        let less_send = !self.recipe.as_smpi;
        let busy = |bytes: f64| {
            let at = |function: &Piecewise| function.at(bytes as u64).unwrap_or(0.0);
            at(&protocol.receive) + if less_send { at(&protocol.send) } else { 0.0 }
        };
        let end = self.recipe.detached_below;
        let (detached, synchronous) = (sizes.clone().below(end), sizes.from(end));
        let kinks = [&protocol.receive, &protocol.send];
        let kinks = kinks.iter().flat_map(|function| function.pieces()).map(|piece| piece.above as f64).collect();
        let mut lines = self.lines(&detached, 0, kinks, busy)?;
        let first = if lines.is_empty() { 0 } else { end - 1 };
        let mut others = self.lines(&synchronous, first, Vec::new(), |_| 0.0)?;
        if self.recipe.modes > 0 {
            self.add_noise(others.iter_mut().map(|(_, line)| line), &synchronous, is_half);
        }
        lines.extend(others);
        let bandwidth = self.bandwidth();
        let factor = |(above, line): &(u64, Line)| Piece {
            above: *above,
            base: 1.0 / (line.slope * bandwidth),
            ..Piece::default()
        };
        protocol.bandwidth_factor = Piecewise::new(lines.iter().map(factor).collect());
        let latency = |(above, line): (u64, Line)| match line.modes.is_empty() {
            true => Piece { above, base: line.intercept, ..Piece::default() },
            false => Piece::noisy(above, 0.0, line.modes),
        };
        protocol.latency = Piecewise::new(lines.into_iter().map(latency).collect());
        Ok(())
    }

    fn bandwidth(&self) -> f64 {
        self.recipe.bandwidth[usize::from(self.place == Place::Inside)]
    }

    /// Lines through what is left of half a ping-pong, and the sizes that they begin above. Ranges end where those of the
    /// ping-pong do, and at kinks of what was taken off.
    fn lines(
        &mut self,
        sizes: &Sizes,
        first: u64,
        mut ends: Vec<f64>,
        busy: impl Fn(f64) -> f64,
    ) -> Result<Vec<(u64, Line)>, NetworkError> {
        if sizes.is_empty() {
            return Ok(Vec::new());
        }
        let name = self.name("transfer");
        ends.extend(Curve::fit(sizes, self.recipe, &name)?.lines.iter().map(|line| line.to));
        ends.sort_by(f64::total_cmp);
        let mut lines: Vec<Line> = Vec::new();
        let least_slope = 1.0 / self.bandwidth();
        for range in cut(&sizes.0, &ends) {
            let (intercept, slope) = line_above(range, least_slope, &busy);
            let (from, to) = (range[0].bytes, range[range.len() - 1].bytes);
            match lines.last_mut() {
                Some(last) if (last.intercept, last.slope) == (intercept, slope) => last.to = to,
                _ => lines.push(Line { from, to, intercept, slope, covariance: None, modes: Vec::new() }),
            }
        }
        for line in &mut lines {
            let point = |size: &Size| {
                let seconds = size.seconds - busy(size.bytes);
                Point { bytes: size.bytes, seconds, weight: weight(size) }
            };
            let points: Vec<Point> = sizes.within(line).0.iter().map(point).collect();
            let is_free = [line.intercept > 0.0, line.slope > least_slope];
            line.covariance = covariance(&points, [line.intercept, line.slope], is_free);
        }
        let mut aboves = thresholds(&lines);
        aboves[0] = first;
        for (line, &above) in lines.iter().zip(&aboves) {
            // The whole of it was measured, with what the ends are busy with.
            let whole = |bytes: f64| busy(bytes) + line.at(bytes);
            // Model files have the slope in those of the links: one over the factor of their bandwidth.
            let per_link = |[first, both, second]: [f64; 3]| [first, both / least_slope, second / least_slope.powi(2)];
            let sure = line.covariance.map(per_link).filter(|found| found.iter().all(|number| number.is_finite()));
            self.findings.ranges.push(sizes.within(line).how_well(&name, above, sure, whole));
        }
        Ok(aboves.into_iter().zip(lines).collect())
    }

    /// Noise of the latency, unless what varies is much more than that: a bandwidth, which the latency cannot stand for.
    fn add_noise<'l>(&mut self, lines: impl Iterator<Item = &'l mut Line>, sizes: &Sizes, is_half: bool) {
        let mut left_out: Vec<(f64, f64)> = Vec::new();
        for line in lines {
            let modes = noise::modes(&sizes.within(line).residuals(line), line.intercept, self.recipe.modes);
            let modes = if is_half { noise::of_one_in_two(modes) } else { modes };
            if noise::excess(&modes) > UNNOTICED * line.at(line.from) {
                left_out.push((line.from, line.to));
            } else {
                line.modes = modes;
            }
        }
        if let (Some((from, _)), Some((_, to))) = (left_out.first(), left_out.last()) {
            let (place, count) = (self.place.word(), left_out.len());
            self.findings.warnings.push(format!(
                "{place}: messages of {from} to {to} B vary by more than their latency ({count} ranges); that noise is left \
                 out"
            ));
        }
    }

    /// Size and seconds of half ping-pongs, or else of messages one way; and whether they are halves.
    fn halves(&self) -> (Vec<(f64, f64)>, bool) {
        let round_trips = self.calls(Operation::PingPong);
        if round_trips.is_empty() {
            return (self.calls(Operation::Transfer).to_vec(), false);
        }
        (round_trips.iter().map(|(bytes, seconds)| (*bytes, seconds / 2.0)).collect(), true)
    }

    /// Shortens sends and receives of detached messages in proportion where the two take longer than half a ping-pong.
    pub(super) fn shorten(&mut self, ends: &mut [Sizes; 2]) -> Result<(), NetworkError> {
        let halves = Sizes::new(&self.halves().0).below(self.recipe.detached_below);
        if halves.is_empty() || ends.iter().all(Sizes::is_empty) {
            return Ok(());
        }
        let bandwidth = self.bandwidth();
        let half = Curve::fit(&halves, self.recipe, &self.name("transfer"))?;
        let mut busy = Vec::new();
        for (sizes, name) in ends.iter().zip(["send", "receive"]).filter(|(sizes, _)| !sizes.is_empty()) {
            busy.push(Curve::fit(sizes, self.recipe, &self.name(name))?);
        }
        // What the ends may take, as a part of what they do.
        let part = |bytes: f64| {
            let busy: f64 = busy.iter().map(|curve| curve.at(bytes)).sum();
            (half.at(bytes) - bytes / bandwidth).max(LEAST * half.at(bytes)) / busy
        };
        self.warn_of_busy_ends(&halves, part);
        if !self.recipe.as_smpi {
            for size in ends.iter_mut().flat_map(|sizes| &mut sizes.0) {
                let part = part(size.bytes).min(1.0);
                size.seconds *= part;
                size.calls.iter_mut().for_each(|call| *call *= part);
            }
        }
        Ok(())
    }

    fn warn_of_busy_ends(&mut self, halves: &Sizes, part: impl Fn(f64) -> f64) {
        let parts = halves.0.iter().map(|size| (size.bytes, part(size.bytes)));
        let beyond: Vec<(f64, f64)> = parts.filter(|(_, part)| *part < 1.0 - TOO_MUCH).collect();
        let [(first, _), .., (last, _)] = &beyond[..] else { return };
        let percent = 100.0 * (beyond.iter().map(|(_, part)| 1.0 / part).sum::<f64>() / beyond.len() as f64 - 1.0);
        let (place, some, all) = (self.place.word(), beyond.len(), halves.0.len());
        let what = match self.recipe.as_smpi {
            true => "so much a simulated ping-pong is slower",
            false => "both are shortened, so that a simulated ping-pong takes as long as a real one",
        };
        self.findings.warnings.push(format!(
            "{place}: for {some} of {all} sizes from {first} to {last} B, a send and a receive take {percent:.0} % longer than \
             half a ping-pong leaves to them; {what}"
        ));
    }
}

/// Cuts sizes after each of the ends, but into no range that is too short.
fn cut<'s>(sizes: &'s [Size], ends: &[f64]) -> Vec<&'s [Size]> {
    let mut ranges = Vec::new();
    let mut start = 0;
    for end in ends {
        let next = sizes.partition_point(|size| size.bytes <= *end);
        if next >= start + SHORTEST && sizes.len() - next >= SHORTEST {
            ranges.push(&sizes[start..next]);
            start = next;
        }
    }
    ranges.push(&sizes[start..]);
    ranges
}

/// Errors count relative to the whole.
fn weight(size: &Size) -> f64 {
    size.seconds.max(f64::MIN_POSITIVE).powi(-2)
}

/// The line through the durations, less what is busy, with the least squares of relative errors of the whole; with no
/// negative intercept and no slope below the least.
fn line_above(sizes: &[Size], least_slope: f64, busy: impl Fn(f64) -> f64) -> (f64, f64) {
    // Weighted sums of 1, x, x^2, y, x y.
    let mut sums = [0.0; 5];
    for size in sizes {
        let (x, y) = (size.bytes, size.seconds - busy(size.bytes) - least_slope * size.bytes);
        let weight = weight(size);
        for (sum, term) in sums.iter_mut().zip([1.0, x, x * x, y, x * y]) {
            *sum += weight * term;
        }
    }
    let [one, x, xx, y, xy] = sums;
    let determinant = one * xx - x * x;
    let error = |(a, b): (f64, f64)| a * a * one + b * b * xx + 2.0 * (a * b * x - a * y - b * xy);
    let both = ((y * xx - x * xy) / determinant, (one * xy - x * y) / determinant);
    let candidates = [both, (y / one, 0.0), (0.0, xy / xx), (0.0, 0.0)];
    let possible = candidates.into_iter().filter(|(a, b)| a.is_finite() && b.is_finite() && *a >= 0.0 && *b >= 0.0);
    let (intercept, slope) = possible.min_by(|a, b| error(*a).total_cmp(&error(*b))).unwrap_or_default();
    (intercept, slope + least_slope)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_respect_their_bounds() {
        let size = |bytes: f64, seconds: f64| Size { bytes, seconds, calls: vec![seconds] };
        let fit = |points: &[(f64, f64)], least: f64| {
            let sizes: Vec<Size> = points.iter().map(|(bytes, seconds)| size(*bytes, *seconds)).collect();
            line_above(&sizes, least, |_| 0.0)
        };
        let close = |(a, b): (f64, f64), (c, d): (f64, f64)| (a - c).abs() < 1e-9 && (b - d).abs() < 1e-9;
        assert!(close(fit(&[(1.0, 3.0), (2.0, 5.0), (3.0, 7.0)], 0.0), (1.0, 2.0)));
        // Through the origin, where the intercept would be negative.
        let (intercept, slope) = fit(&[(1.0, 1.0), (2.0, 3.0), (3.0, 5.0)], 0.0);
        assert!(intercept == 0.0 && (1.0..2.0).contains(&slope), "{slope}");
        // No faster than the link.
        let (intercept, slope) = fit(&[(1.0, 10.0), (2.0, 10.0), (3.0, 10.0)], 0.5);
        assert!(slope == 0.5 && (8.5..10.0).contains(&intercept), "{intercept}");
    }
}
