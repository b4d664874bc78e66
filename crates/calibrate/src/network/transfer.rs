//! The time on the network, from ping-pongs: half of one, less what the two ends are busy with.

use hpcast_platform::protocol::Piece;
use hpcast_platform::{Piecewise, Protocol};

use super::curve::{Curve, Line, Size, Sizes, thresholds};
use super::{Fitter, NetworkError, Operation, Place, noise};

/// Sizes of the shortest range.
const SHORTEST: usize = 4;
/// Overheads that exceed half a ping-pong by this part are worth a warning.
const TOO_MUCH: f64 = 0.1;

impl Fitter<'_> {
    /// Latency and bandwidth factor of the protocol, whose overheads are known.
    pub(super) fn transfer(&mut self, protocol: &mut Protocol) -> Result<(), NetworkError> {
        let half = |calls: &[(f64, f64)]| calls.iter().map(|(bytes, seconds)| (*bytes, seconds / 2.0)).collect();
        let round_trips: Vec<(f64, f64)> = half(self.measured.of(self.place, Operation::PingPong));
        let is_half = !round_trips.is_empty();
        let calls = if is_half { round_trips } else { self.measured.of(self.place, Operation::Transfer).to_vec() };
        if calls.is_empty() {
            return Ok(());
        }
        let sizes = Sizes::new(&calls);
        let bandwidth = self.recipe.bandwidth[usize::from(self.place == Place::Inside)];
        let busy = |bytes: f64| {
            let at = |function: &Piecewise| function.at(bytes as u64).unwrap_or(0.0);
            at(&protocol.receive) + if self.recipe.less_send { at(&protocol.send) } else { 0.0 }
        };
        let end = self.recipe.detached_below;
        let (detached, synchronous) = (sizes.clone().below(end), sizes.from(end));
        self.warn_of_busy_ends(&detached, protocol, bandwidth);
        let mut lines = Vec::new();
        if !detached.is_empty() {
            let kinks = [&protocol.receive, &protocol.send];
            let kinks = kinks.iter().flat_map(|function| function.pieces()).map(|piece| piece.above as f64).collect();
            lines.extend(self.lines(&detached, kinks, bandwidth, busy)?);
        }
        let first_synchronous = lines.len();
        if !synchronous.is_empty() {
            lines.extend(self.lines(&synchronous, Vec::new(), bandwidth, |_| 0.0)?);
        }
        if self.recipe.modes > 0 {
            for line in &mut lines[first_synchronous..] {
                let residuals = synchronous.within(line).residuals(line);
                let modes = noise::modes(&residuals, line.intercept, self.recipe.modes);
                line.modes = if is_half { noise::of_one_in_two(modes) } else { modes };
            }
        }
        let mut aboves = thresholds(&lines);
        if let (Some(above), true) = (aboves.get_mut(first_synchronous), first_synchronous > 0) {
            *above = end - 1;
        }
        let factor = |line: &Line| 1.0 / (line.slope * bandwidth);
        let factors = lines.iter().zip(&aboves);
        let factors = factors.map(|(line, &above)| Piece { above, base: factor(line), ..Piece::default() });
        protocol.bandwidth_factor = Piecewise::new(factors.collect());
        let latencies = lines.into_iter().zip(aboves).map(|(line, above)| match line.modes.is_empty() {
            true => Piece { above, base: line.intercept, ..Piece::default() },
            false => Piece::noisy(above, 0.0, line.modes),
        });
        protocol.latency = Piecewise::new(latencies.collect());
        Ok(())
    }

    /// Lines through what is left of half a ping-pong. Ranges end where those of the ping-pong do, and at kinks of what was
    /// taken off.
    fn lines(
        &mut self,
        sizes: &Sizes,
        mut ends: Vec<f64>,
        bandwidth: f64,
        busy: impl Fn(f64) -> f64,
    ) -> Result<Vec<Line>, NetworkError> {
        let name = self.name("transfer");
        let curve = Curve::fit(sizes, self.recipe, &name)?;
        ends.extend(curve.lines.iter().map(|line| line.to));
        ends.sort_by(f64::total_cmp);
        ends.dedup();
        let mut ranges: Vec<Vec<&Size>> = vec![Vec::new()];
        let mut end = ends.iter().copied().peekable();
        for (number, size) in sizes.0.iter().enumerate() {
            let mut new = false;
            while end.next_if(|end| *end < size.bytes).is_some() {
                new = true;
            }
            let enough = ranges.last().is_some_and(|range| range.len() >= SHORTEST);
            if new && enough && sizes.0.len() - number >= SHORTEST {
                ranges.push(Vec::new());
            }
            ranges.last_mut().expect("there is a range").push(size);
        }
        let mut lines = Vec::new();
        for range in ranges {
            let (intercept, slope) = line_above(&range, 1.0 / bandwidth, &busy);
            let (from, to) = (range[0].bytes, range[range.len() - 1].bytes);
            let line = Line { from, to, intercept, slope, modes: Vec::new() };
            lines.push(line);
        }
        // How well the whole of it fits: with what the ends are busy with.
        let mut whole = Vec::new();
        for (line, above) in lines.iter().zip(thresholds(&lines)) {
            let left = |size: &Size| Size { seconds: size.seconds - busy(size.bytes), ..size.clone() };
            let net = Sizes(sizes.within(line).0.iter().map(left).collect());
            let mut range = line.how_well(&net, &name, above);
            let relative = sizes.within(line).0.iter().map(|size| {
                ((busy(size.bytes) + line.at(size.bytes)) / size.seconds - 1.0).abs()
            }).collect::<Vec<f64>>();
            range.relative_error = relative.iter().sum::<f64>() / relative.len() as f64;
            whole.push(range);
        }
        self.findings.ranges.extend(whole);
        Ok(lines)
    }

    /// Where the two ends alone are busy for longer than half a ping-pong takes, a simulated one takes longer than a real one.
    fn warn_of_busy_ends(&mut self, sizes: &Sizes, protocol: &Protocol, bandwidth: f64) {
        let at = |function: &Piecewise, bytes: f64| function.at(bytes as u64).unwrap_or(0.0);
        let least = |bytes: f64| at(&protocol.send, bytes) + at(&protocol.receive, bytes) + bytes / bandwidth;
        let beyond = sizes.0.iter().filter(|size| least(size.bytes) > (1.0 + TOO_MUCH) * size.seconds);
        let beyond: Vec<&Size> = beyond.collect();
        let [first, .., last] = &beyond[..] else { return };
        let mean = beyond.iter().map(|size| least(size.bytes) / size.seconds - 1.0).sum::<f64>() / beyond.len() as f64;
        self.findings.warnings.push(format!(
            "{}: of messages of {} to {} B, send and receive alone take longer than half a ping-pong, for {} sizes by {:.0} % on the \
             mean; so much a simulated ping-pong is slower",
            self.place.word(),
            first.bytes,
            last.bytes,
            beyond.len(),
            100.0 * mean,
        ));
    }
}

/// The line through the durations, less what is busy, with the least squares of relative errors of the whole; with no negative
/// intercept and no slope below the least.
fn line_above(sizes: &[&Size], least_slope: f64, busy: impl Fn(f64) -> f64) -> (f64, f64) {
    // Weighted sums of 1, x, x^2, y, x y.
    let mut sums = [0.0; 5];
    for size in sizes {
        let (x, y) = (size.bytes, size.seconds - busy(size.bytes) - least_slope * size.bytes);
        let weight = size.seconds.max(f64::MIN_POSITIVE).powi(-2);
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
            line_above(&sizes.iter().collect::<Vec<_>>(), least, |_| 0.0)
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
