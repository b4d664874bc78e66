//! A comparison as a picture: forecasts as lines and what they are compared with as rings, and below how far they are off.

use crate::comparison::{Bound, ComparedLine, ComparedPoint, Comparison, signed_percent};
use crate::frame::{Area, KEY, Legend, MARGIN, Page, SMALL, WIDTH, left_of, room_down};
use crate::plot::{COLOURS, mark};
use crate::scale::{Quantity, Scale, Spacing};
use crate::svg::{Element, points, text_width};

const SPEEDS: f64 = 300.0;
const OFFS: f64 = 150.0;
const GAP: f64 = 22.0;
/// Height of a case in a list of cases.
const ROW: f64 = 20.0;
/// Where speeds differ by more than this, equal ratios look equal.
const WIDE: f64 = 20.0;

/// The picture; `None` if there is nothing to draw.
pub fn svg(comparison: &Comparison) -> Option<String> {
    let mut points = comparison.lines.iter().flat_map(|line| &line.points);
    match (comparison.axis.as_deref(), points.all(|point| point.x.is_some())) {
        _ if comparison.lines.iter().all(|line| line.points.is_empty()) => None,
        (Some(axis), true) => Some(over_axis(comparison, axis)),
        _ => Some(list(comparison)),
    }
}

/// Speeds over the axis, and differences below them.
fn over_axis(comparison: &Comparison, axis: &str) -> String {
    let all = || comparison.lines.iter().flat_map(|line| &line.points);
    let speeds: Vec<f64> = all().flat_map(|point| speeds_of(comparison, point)).collect();
    let (low, high) = speeds.iter().fold((f64::INFINITY, 0.0f64), |(low, high), &v| (low.min(v), high.max(v)));
    let spacing = if high > WIDE * low { Spacing::Logarithmic } else { Spacing::Linear };
    let y = Scale::of(Quantity::FlopRate, spacing, speeds.into_iter(), room_down(SPEEDS));
    let offs = all().filter_map(ComparedPoint::difference).chain(bounds(comparison));
    let off = Scale::of(Quantity::Share, Spacing::Linear, offs, room_down(OFFS));
    let width = Legend::width(names(comparison));
    let mut page = Page::new(&comparison.title);
    let left = left_of(&y).max(left_of(&off));
    let above = Area::between(left, width, page.top(), SPEEDS);
    let below = Area::between(left, width, above.bottom() + GAP, OFFS);
    let x = Scale::of(Quantity::Count, Spacing::Linear, all().filter_map(|point| point.x), above.room_across());
    page.push(above.grid(&x, &y));
    page.push(above.axes((None, &x), ("speed", &y)));
    page.push(below.grid(&x, &off));
    push_bounds(&mut page, &below, &off, comparison);
    page.push(below.axes((Some(axis), &x), ("difference", &off)));
    for (place, line) in comparison.lines.iter().enumerate() {
        page.push(references(comparison, &above, &x, &y, line));
        let speed = |point: &ComparedPoint| point.speeds(comparison.measure).1;
        page.push(forecasts(&above, &x, &y, place, line, |point| Some(speed(point))));
        page.push(forecasts(&below, &x, &off, place, line, ComparedPoint::difference));
    }
    push_legend(&mut page, &above, comparison);
    page.svg(&below, &[note(comparison)])
}

/// A line a case, with a mark where its difference is.
fn list(comparison: &Comparison) -> String {
    let cases: Vec<(usize, &ComparedPoint)> = comparison
        .lines
        .iter()
        .enumerate()
        .flat_map(|(place, line)| line.points.iter().map(move |point| (place, point)))
        .filter(|(_, point)| !point.reference.is_empty())
        .collect();
    let name = |place: usize, point: &ComparedPoint| {
        let line = &comparison.lines[place].name;
        if point.case.is_empty() { line.clone() } else { format!("{line}, {}", point.case) }
    };
    let widest = cases.iter().map(|(place, point)| text_width(&name(*place, point), SMALL)).fold(0.0, f64::max);
    let mut page = Page::new(&comparison.title);
    let left = (MARGIN + widest + 12.0).min(0.7 * WIDTH);
    let area = Area::between(left, 60.0, page.top(), ROW * cases.len().max(1) as f64);
    let offs = cases.iter().filter_map(|(_, point)| point.difference()).chain(bounds(comparison));
    let x = Scale::of(Quantity::Share, Spacing::Linear, offs, area.room_across());
    // The vertical axis has no figures: each case writes its own name.
    let mut y = Scale::linear(Quantity::Count, 0.0, 1.0, 1);
    y.ticks.clear();
    page.push(area.grid(&x, &y));
    page.push(area.axes((Some("difference"), &x), ("", &y)));
    for (row, (place, point)) in cases.iter().enumerate() {
        let middle = area.top + (row as f64 + 0.5) * ROW;
        page.push(Element::label(area.left - 8.0, middle + 0.35 * SMALL, SMALL, "end", &name(*place, point)));
        let (Some(off), Some(bound)) = (point.difference(), Some(&comparison.lines[*place].bound)) else { continue };
        if let Some((from, to)) = worst(bound).and_then(|worst| Some((area.x(&x, -worst)?, area.x(&x, worst)?))) {
            page.push(Element::rect(from, middle - 0.35 * ROW, to - from, 0.7 * ROW).set("fill", "#dff0e4"));
        }
        if let Some(across) = area.x(&x, off) {
            page.push(mark(*place, across, middle));
        }
        let end = area.left + area.width + 8.0;
        page.push(Element::label(end, middle + 0.35 * SMALL, SMALL, "start", &signed_percent(off)).set("fill", "#222"));
    }
    page.svg(&area, &[note(comparison)])
}

fn note(comparison: &Comparison) -> String {
    format!("Difference: forecast relative to {}. {}", comparison.against, comparison.origin)
}

fn worst(bound: &Bound) -> Option<f64> {
    bound.worst.or(bound.mean)
}

/// Both ends of every bound, so that the axis covers them.
fn bounds(comparison: &Comparison) -> impl Iterator<Item = f64> {
    comparison.lines.iter().filter_map(|line| worst(&line.bound)).flat_map(|bound| [-bound, bound])
}

/// What differences are allowed: the widest of all lines.
fn push_bounds(page: &mut Page, area: &Area, off: &Scale, comparison: &Comparison) {
    let Some(bound) = bounds(comparison).reduce(f64::max) else { return };
    let (Some(top), Some(bottom)) = (area.y(off, bound), area.y(off, -bound)) else { return };
    page.push(Element::rect(area.left, top, area.width, bottom - top).set("fill", "#dff0e4"));
}

/// The speed of every run that is compared with, and the mean of the forecast's.
fn speeds_of(comparison: &Comparison, point: &ComparedPoint) -> Vec<f64> {
    let single = |value: f64| ComparedPoint { reference: vec![value], ..point.clone() }.speeds(comparison.measure).0;
    let mut speeds: Vec<f64> = point.reference.iter().filter_map(|value| single(*value)).collect();
    speeds.push(point.speeds(comparison.measure).1);
    speeds
}

/// A ring for every run that is compared with.
fn references(comparison: &Comparison, area: &Area, x: &Scale, y: &Scale, line: &ComparedLine) -> Element {
    let mut group = Element::new("g").set("fill", "none").set("stroke", "#000");
    for point in &line.points {
        let mut speeds = speeds_of(comparison, point);
        speeds.pop();
        for speed in speeds {
            if let (Some(across), Some(down)) = (point.x.and_then(|value| area.x(x, value)), area.y(y, speed)) {
                group.push(ring(across, down));
            }
        }
    }
    group
}

fn ring(x: f64, y: f64) -> Element {
    Element::new("circle").num("cx", x).num("cy", y).num("r", 4.5)
}

/// Marks, joined where each place of the axis has one of them.
fn forecasts(
    area: &Area,
    x: &Scale,
    y: &Scale,
    place: usize,
    line: &ComparedLine,
    value: impl Fn(&ComparedPoint) -> Option<f64>,
) -> Element {
    let place_of = |point: &ComparedPoint| Some((area.x(x, point.x?)?, area.y(y, value(point)?)?));
    let shown: Vec<(f64, f64)> = line.points.iter().filter_map(place_of).collect();
    let mut group = Element::new("g").with(Element::new("title").text(&line.name));
    if shown.is_sorted_by(|one, other| one.0 < other.0) {
        let joined = Element::new("polyline").set("points", &points(&shown)).set("fill", "none");
        group.push(joined.set("stroke", COLOURS[place % COLOURS.len()]).num("stroke-width", 1.5));
    }
    shown.into_iter().for_each(|(across, down)| group.push(mark(place, across, down)));
    group
}

/// The reference, then the forecasts.
fn names(comparison: &Comparison) -> impl Iterator<Item = &str> {
    std::iter::once(comparison.against.as_str()).chain(comparison.lines.iter().map(|line| line.name.as_str()))
}

fn push_legend(page: &mut Page, area: &Area, comparison: &Comparison) {
    let mut legend = Legend::beside(area);
    for (number, name) in names(comparison).enumerate() {
        legend.add(page, name, |left, middle| match number.checked_sub(1) {
            None => vec![ring(left + 0.5 * KEY, middle).set("fill", "none").set("stroke", "#000")],
            Some(place) => {
                let colour = COLOURS[place % COLOURS.len()];
                let line = Element::line(left, middle, left + KEY, middle).set("stroke", colour);
                vec![line.num("stroke-width", 1.5), mark(place, left + 0.5 * KEY, middle)]
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::comparison::tests::example;

    #[test]
    fn runs_are_rings_and_forecasts_are_lines() {
        let svg = svg(&example()).unwrap();
        // Three runs and the legend's; marks are circles of another size.
        assert_eq!(svg.matches("r=\"4.5\"").count(), 4);
        assert_eq!(svg.matches("<polyline").count(), 2);
        for text in [">measured<", ">difference (%)<", "two runs &amp; their &lt;forecasts&gt;"] {
            assert!(svg.contains(text), "{text}");
        }
        assert!(!svg.contains("NaN") && !svg.contains("inf"));
    }

    #[test]
    fn cases_without_an_axis_are_listed() {
        let mut comparison = example();
        comparison.axis = None;
        let svg = svg(&comparison).unwrap();
        assert!(svg.contains(">a, N = 1,000<") && svg.contains(">+1.00 %<") && svg.contains(">-1.00 %<"), "{svg}");
    }

    #[test]
    fn points_at_the_same_place_are_not_joined() {
        let mut comparison = example();
        comparison.lines[0].points[1].x = Some(1e3);
        assert_eq!(svg(&comparison).unwrap().matches("<polyline").count(), 0);
        comparison.lines.clear();
        assert_eq!(svg(&comparison), None);
    }
}
