//! A run of HPL as a picture: above, how fast it is from the first panel to the last; below, what the time goes to.

use hpcast_apps::hpl::Phase;
use hpcast_units::{FlopRate, count};

use crate::frame::{Area, KEY, Legend, Page, SMALL, left_of, line, room_down};
use crate::hpl::HplReport;
use crate::hpl_curve::HplCurve;
use crate::scale::{Quantity, Scale, Spacing};
use crate::svg::{Element, points, text_width};

const SPEED_HEIGHT: f64 = 250.0;
const SPLIT_HEIGHT: f64 = 220.0;
/// Above them, for the axis of time.
const TIMES: f64 = 14.0;
/// Between the two areas.
const GAP: f64 = 26.0;
const LEGEND: f64 = 168.0;
/// A peak so many times as high as the curves would press them to the floor.
const MOST_ABOVE: f64 = 2.5;
/// Of the colour of a phase, where it waits.
const PALE: f64 = 0.4;

const NOW: &str = "#56b4e9";
const MEAN: &str = "#000000";
const PEAK: &str = "#888888";

/// From the bottom to the top: what should be large is where it is easiest to compare.
const STACK: [Phase; 5] = [Phase::Update, Phase::Swap, Phase::Broadcast, Phase::Factorisation, Phase::Solve];

/// Colours that people with any kind of colour vision can tell apart (Okabe and Ito, Color Universal Design, 2008).
fn colour(phase: Phase) -> &'static str {
    match phase {
        Phase::Update => "#0072b2",
        Phase::Swap => "#009e73",
        Phase::Broadcast => "#e69f00",
        Phase::Factorisation => "#d55e00",
        Phase::Solve => "#cc79a7",
    }
}

/// The picture of the fastest run as an SVG file, if there is a run.
pub fn svg(report: &HplReport) -> Option<String> {
    let curve = report.curve.as_ref()?;
    let mut page = Page::new(&title(report, curve));
    let speed = speed_scale(report, curve);
    let share = Scale::linear(Quantity::Share, 0.0, 1.0, room_down(SPLIT_HEIGHT));
    let left = left_of(&speed).max(left_of(&share));
    let above = Area::between(left, LEGEND, page.top() + TIMES, SPEED_HEIGHT);
    let below = Area::between(left, LEGEND, above.bottom() + GAP, SPLIT_HEIGHT);
    let panels = curve.panel.last().copied().unwrap_or(0) as f64;
    let panels = Scale::linear(Quantity::Count, 0.0, panels, above.room_across());

    let chart = Chart { curve, area: &above, x: &panels, y: &speed };
    page.push(above.grid(&panels, &speed));
    chart.draw_speed(&mut page, shown_peak(report, curve));
    page.push(above.axes((None, &panels), ("speed", &speed)));
    page.push(chart.times());
    let chart = Chart { curve, area: &below, x: &panels, y: &share };
    chart.draw_split(&mut page);
    page.push(below.axes((Some("panels done"), &panels), ("share of the time", &share)));
    Some(page.svg(&below, &notes(report, curve)))
}

fn title(report: &HplReport, curve: &HplCurve) -> String {
    let speed = curve.mean_gflops.last().map_or_else(String::new, |speed| FlopRate::new(speed * 1e9).human());
    let (n, nb) = (count(curve.n), count(curve.nb));
    format!("HPL on {}: {speed} with N {n}, NB {nb}, {} x {} processes", report.run.machine.name, curve.p, curve.q)
}

fn notes(report: &HplReport, curve: &HplCurve) -> Vec<String> {
    let run = &report.run;
    let runs = run.table.rows().len();
    let which = if runs > 1 { format!("The fastest of {} runs: ", count(runs as u64)) } else { String::new() };
    let mut notes = vec![format!("{which}{}, seed {}, network model {}.", curve.variant, curve.seed, run.network)];
    if curve.is_sampled() {
        notes.push("Circles: panels that were simulated. What lies between them is interpolated.".into());
    }
    notes.push("The time is that of a mean rank. The triangular solve follows the last panel.".into());
    notes
}

/// The peak of the nodes in Gflop/s, if the curves can still be told apart below it.
fn shown_peak(report: &HplReport, curve: &HplCurve) -> Option<f64> {
    report.peak_gflops.filter(|peak| *peak < MOST_ABOVE * fastest(curve))
}

fn fastest(curve: &HplCurve) -> f64 {
    curve.gflops.iter().chain(&curve.mean_gflops).copied().fold(0.0, f64::max)
}

fn speed_scale(report: &HplReport, curve: &HplCurve) -> Scale {
    let highest = fastest(curve).max(shown_peak(report, curve).unwrap_or(0.0));
    Scale::of(Quantity::FlopRate, Spacing::Linear, [1e9 * highest].into_iter(), room_down(SPEED_HEIGHT))
}

/// A curve in an area.
struct Chart<'c> {
    curve: &'c HplCurve,
    area: &'c Area,
    x: &'c Scale,
    y: &'c Scale,
}

impl Chart<'_> {
    fn place(&self, (panel, value): (f64, f64)) -> Option<(f64, f64)> {
        Some((self.area.x(self.x, panel)?, self.area.y(self.y, value)?))
    }

    /// Where the panels of each point lie in the middle, and the point's values there.
    fn middles<'v>(&self, values: &'v [f64]) -> impl Iterator<Item = (f64, f64)> + use<'_, 'v> {
        let before = std::iter::once(&0).chain(&self.curve.panel);
        let middles = before.zip(&self.curve.panel).map(|(first, end)| 0.5 * (first + end) as f64);
        middles.zip(values.iter().copied())
    }

    fn draw_speed(&self, page: &mut Page, peak: Option<f64>) {
        let flops = |(panel, gflops): (f64, f64)| self.place((panel, 1e9 * gflops));
        let now: Vec<(f64, f64)> = self.middles(&self.curve.gflops).filter_map(flops).collect();
        let ends = self.curve.panel.iter().map(|panel| *panel as f64);
        let mean: Vec<(f64, f64)> = ends.zip(self.curve.mean_gflops.iter().copied()).filter_map(flops).collect();
        let mut legend = Legend::beside(self.area);
        if let Some(across) = peak.and_then(|peak| self.area.y(self.y, 1e9 * peak)) {
            let right = self.area.left + self.area.width;
            let dashes = |line: Element| line.set("stroke", PEAK).set("stroke-dasharray", "6 4");
            page.push(dashes(Element::line(self.area.left, across, right, across)));
            legend.add(page, "peak of the nodes", |left, middle| {
                vec![dashes(Element::line(left, middle, left + KEY, middle))]
            });
        }
        page.push(line(&now, NOW, "speed at the time"));
        page.push(line(&mean, MEAN, "mean speed so far"));
        let key = |colour: &'static str| {
            move |left: f64, middle: f64| vec![line(&[(left, middle), (left + KEY, middle)], colour, "")]
        };
        legend.add(page, "at the time", key(NOW));
        legend.add(page, "mean so far", key(MEAN));
        if self.curve.is_sampled() {
            for (x, y) in self.simulated(&now) {
                page.push(circle(x, y));
            }
            legend.add(page, "simulated panels", |left, middle| vec![circle(left + KEY / 2.0, middle)]);
        }
    }

    /// On a line over the panels, the places of those in the middle of what was simulated.
    fn simulated(&self, line: &[(f64, f64)]) -> Vec<(f64, f64)> {
        let middles = self.curve.simulated_panels.iter().map(|(first, last)| 0.5 * (first - 1 + last) as f64);
        middles.filter_map(|panel| self.area.x(self.x, panel)).filter_map(|x| Some((x, height_at(line, x)?))).collect()
    }

    /// The axis on top: when the panels are done. Most of them take little time.
    fn times(&self) -> Element {
        let (area, curve) = (self.area, self.curve);
        let mut axis = Element::new("g").set("fill", "#333");
        let ends = std::iter::once(0).chain(curve.panel.iter().copied());
        let seconds = std::iter::once(0.0).chain(curve.seconds.iter().copied());
        let place = |(seconds, panels): (f64, u64)| Some((seconds, area.x(self.x, panels as f64)?));
        let places: Vec<(f64, f64)> = seconds.zip(ends).filter_map(place).collect();
        let end = curve.seconds.last().copied().unwrap_or(0.0);
        let scale = Scale::linear(Quantity::Seconds, 0.0, end, area.room_across());
        let mut free = f64::NEG_INFINITY;
        for tick in &scale.ticks {
            let (Some(x), Some(label)) = (height_at(&places, tick.value), &tick.label) else { continue };
            axis.push(Element::line(x, area.top - 6.0, x, area.top).set("stroke", "#333"));
            if x >= free {
                axis.push(Element::label(x, area.top - 10.0, SMALL, "middle", label));
                free = x + 1.5 * text_width(label, SMALL) + SMALL;
            }
        }
        let unit = scale.unit.unwrap_or_default();
        let right = area.left + area.width + 14.0;
        axis.push(Element::label(right, area.top - 10.0, SMALL, "start", &format!("time ({unit})")));
        axis
    }

    fn draw_split(&self, page: &mut Page) {
        let whole: f64 = self.curve.phase_seconds.0.iter().flatten().sum();
        let mut stacked = vec![0.0; self.curve.panel.len()];
        let mut legend = Legend::beside(self.area);
        for phase in STACK {
            let (spent, waited) =
                (&self.curve.phase_seconds.0[phase as usize], &self.curve.waiting_seconds.0[phase as usize]);
            let worked: Vec<f64> = spent.iter().zip(waited).map(|(spent, waited)| spent - waited).collect();
            let percent = |seconds: &[f64]| 100.0 * seconds.iter().sum::<f64>() / whole.max(f64::MIN_POSITIVE);
            let says = format!(
                "{}: {:.1} % of the time of the run, of which waiting {:.1} %",
                phase.name(),
                percent(spent),
                percent(waited)
            );
            let mut group = Element::new("g").set("fill", colour(phase)).with(Element::new("title").text(&says));
            group.push(self.layer(&mut stacked, &worked));
            group.push(self.layer(&mut stacked, waited).num("fill-opacity", PALE));
            page.push(group);
        }
        for phase in STACK.into_iter().rev() {
            legend.add(page, phase.name(), |left, middle| swatch(left, middle, colour(phase)));
        }
        legend.remark(page, "pale: ranks wait");
    }

    /// An area on top of what is stacked so far; `seconds` are those of each point.
    fn layer(&self, stacked: &mut [f64], seconds: &[f64]) -> Element {
        let lower = self.outline(stacked);
        for (place, sum) in stacked.iter_mut().enumerate() {
            let all: f64 = self.curve.phase_seconds.0.iter().map(|phase| phase[place]).sum();
            *sum += if all > 0.0 { seconds[place] / all } else { 0.0 };
        }
        let mut corners = self.outline(stacked);
        corners.extend(lower.into_iter().rev());
        Element::new("polygon").set("points", &points(&corners))
    }

    /// A line from the left edge to the right one.
    fn outline(&self, shares: &[f64]) -> Vec<(f64, f64)> {
        // Sums of shares may be above one by a rounding error.
        let mut line: Vec<(f64, f64)> =
            self.middles(shares).filter_map(|(panel, share)| self.place((panel, share.min(1.0)))).collect();
        if let ([first, ..], [.., last]) = (&line[..], &line[..]) {
            let (first, last) = ((self.area.left, first.1), (self.area.left + self.area.width, last.1));
            line.insert(0, first);
            line.push(last);
        }
        line
    }
}

/// The height of a line at a place between its ends.
fn height_at(line: &[(f64, f64)], x: f64) -> Option<f64> {
    let after = line.partition_point(|point| point.0 < x);
    let (right, left) = (line.get(after).or(line.last())?, line[after.saturating_sub(1)]);
    let part = if right.0 > left.0 { ((x - left.0) / (right.0 - left.0)).clamp(0.0, 1.0) } else { 0.0 };
    Some(left.1 + part * (right.1 - left.1))
}

fn circle(x: f64, y: f64) -> Element {
    let circle = Element::new("circle").num("cx", x).num("cy", y).num("r", 3.5);
    circle.set("fill", "white").set("stroke", "#0072b2").num("stroke-width", 1.5)
}

/// Both tones of a phase.
fn swatch(left: f64, middle: f64, colour: &str) -> Vec<Element> {
    let half = |left: f64| Element::rect(left, middle - 5.0, KEY / 2.0, 10.0).set("fill", colour);
    vec![half(left), half(left + KEY / 2.0).num("fill-opacity", PALE)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hpl::tests::example as report;
    use crate::hpl_curve::tests::example as curve;

    fn drawn() -> String {
        svg(&HplReport { curve: Some(curve()), peak_gflops: Some(0.2), ..report() }).unwrap()
    }

    #[test]
    fn everything_has_a_name_and_a_unit() {
        let svg = drawn();
        for text in [
            ">HPL on Frontera: 66.8 Mflop/s with N 1,000, NB 10, 2 x 4 processes<",
            ">speed (Mflop/s)<",
            ">share of the time (%)<",
            ">panels done<",
            ">time (s)<",
            ">at the time<",
            ">peak of the nodes<",
            ">panel factorisation<",
            ">triangular solve<",
            ">pale: ranks wait<",
            "row swaps: 20.0 % of the time of the run, of which waiting 5.0 %",
            "The fastest of 3 runs: WR11C2R4, seed 3, network model flow.",
        ] {
            assert!(svg.contains(text), "{text} is missing in\n{svg}");
        }
        assert!(!svg.contains("NaN") && !svg.contains("inf"));
    }

    #[test]
    fn what_was_simulated_is_marked_unless_it_is_everything() {
        let svg = drawn();
        assert_eq!(svg.matches("<circle").count(), 2 + 1, "two stretches and the legend");
        let mut whole = curve();
        whole.simulated_panels = vec![(1, 100)];
        let svg = super::svg(&HplReport { curve: Some(whole), ..report() }).unwrap();
        assert!(!svg.contains("<circle") && !svg.contains("Circles"));
    }

    #[test]
    fn a_peak_far_above_is_left_out() {
        let far = HplReport { curve: Some(curve()), peak_gflops: Some(20.0), ..report() };
        assert!(!svg(&far).unwrap().contains("peak of the nodes"));
    }

    #[test]
    fn no_run_has_no_picture_and_one_point_is_no_trouble() {
        assert_eq!(svg(&HplReport { curve: None, ..report() }), None);
        let mut one = curve();
        for values in [&mut one.seconds, &mut one.gflops, &mut one.mean_gflops] {
            values.truncate(1);
        }
        one.phase_seconds.0.iter_mut().chain(&mut one.waiting_seconds.0).for_each(|values| values.truncate(1));
        one.panel.truncate(1);
        let svg = svg(&HplReport { curve: Some(one), ..report() }).unwrap();
        assert!(svg.ends_with("</svg>\n") && !svg.contains("NaN"));
    }

    #[test]
    fn heights_lie_on_the_line() {
        let line = [(0.0, 10.0), (4.0, 20.0), (6.0, 0.0)];
        let heights: Vec<f64> = [-1.0, 0.0, 2.0, 5.0, 6.0, 9.0].iter().filter_map(|x| height_at(&line, *x)).collect();
        assert_eq!(heights, [10.0, 10.0, 15.0, 10.0, 0.0, 0.0]);
        assert_eq!(height_at(&[], 1.0), None);
    }
}
