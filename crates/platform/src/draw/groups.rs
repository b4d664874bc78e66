//! Networks whose switches form groups: the groups on a large circle, the switches of each on a small one.
//!
//! Where some switches of a group face the other groups, they stand in a row on the inner side, the others in a row
//! on the outer side. Nodes are counted on their switches.

use std::collections::BTreeMap;
use std::f64::consts::TAU;

use hpcast_units::count;

use super::canvas::{Canvas, Point, Style, text_width};
use super::colour;
use super::paint::{Cable, Paint};
use super::slots::{Slot, slots};
use super::{LABEL, Picture};
use crate::topology::{LinkId, Topology, Vertex};

/// Groups to draw at most, and switches on a circle or in a row.
const GROUPS: u32 = 24;
const SWITCHES: u32 = 20;
const ROW: u32 = 10;
/// Pixels from switch to switch.
const PITCH: f64 = 25.0;
/// Between the switches of different groups.
const GAP: f64 = 56.0;
/// Pixels from a switch to the number of its nodes.
const BADGE: f64 = 17.0;

/// Draws a network of groups of `size` switches, of which the last `inner` face the other groups.
pub fn draw(topology: &dyn Topology, size: u32, inner: u32, paint: &mut Paint) -> Picture {
    let groups = slots(topology.switches() / size.max(1), GROUPS);
    let shape = Shape::new(size, inner);
    // A group alone stands in the middle.
    let radius = match groups.len() {
        1 => 0.0,
        groups => (groups as f64 * (2.0 * shape.reach + GAP) / TAU).max(shape.reach + GAP),
    };
    let edge = radius + shape.reach + BADGE + 24.0;
    let mut picture = Parts::default();
    for (place, group) in groups.iter().enumerate() {
        let angle = TAU * (place as f64 / groups.len() as f64 - 0.25);
        let centre = (edge + radius * angle.cos(), edge + radius * angle.sin());
        match group {
            Slot::One(group) => shape.place(group * size, centre, angle, &mut picture),
            Slot::More(more) => picture.gaps.push((centre, format!("{} more", count(*more as u64)))),
        }
    }
    let (cables, on_switch) = links(topology, &picture.switches);

    let mut canvas = Canvas::default();
    let at = |switch: &u32| picture.switches[switch].at;
    let lines: Vec<Cable> = cables
        .into_iter()
        .map(|((a, b), links)| {
            let directions = if topology.is_shared(links[0]) { 1 } else { 2 };
            let width = 0.7 + 0.4 * (links.len() / directions).clamp(1, 6) as f64;
            Cable { line: (at(&a), at(&b)), links, width }
        })
        .collect();
    paint.cables(&mut canvas, &lines, if lines.len() > 1500 { 0.4 } else { 0.75 });
    for (switch, Placed { at, badge }) in &picture.switches {
        canvas.rounded(*at, (12.0, 12.0), 3.0, colour::SWITCH);
        if let Some((nodes, links)) = on_switch.get(switch) {
            draw_badge(*badge, *nodes, links, paint, &mut canvas);
        }
    }
    for ((x, y), text) in &picture.gaps {
        canvas.text_on_lines((*x, *y + 4.0), Style { size: 10.0, ..LABEL }, text);
    }
    let load = if paint.shows_load() { ", in the colour of the fullest of their cables" } else { "" };
    let notes = vec![format!("Boxes are switches; the number beside one counts the nodes that hang on it{load}.")];
    Picture { canvas, width: 2.0 * edge, height: 2.0 * edge, notes }
}

/// Where a switch is, and the number of its nodes.
struct Placed {
    at: Point,
    badge: Point,
}

/// What is drawn so far.
#[derive(Default)]
struct Parts {
    switches: BTreeMap<u32, Placed>,
    gaps: Vec<(Point, String)>,
}

/// How each group looks.
struct Shape {
    outer: Vec<Slot>,
    /// Those that face the other groups; numbers count on from the outer ones.
    inner: Vec<Slot>,
    first_inner: u32,
    /// Farthest switch from the middle of the group.
    reach: f64,
}

impl Shape {
    fn new(size: u32, inner: u32) -> Shape {
        let limit = if inner == 0 { SWITCHES } else { ROW };
        let (outer, row) = (slots(size - inner, limit), slots(inner, limit));
        let reach = match inner {
            0 if size == 1 => 8.0,
            0 => (outer.len() as f64 * PITCH / TAU).max(PITCH),
            _ => (outer.len().max(row.len()) as f64 * PITCH / 2.0).max(PITCH),
        };
        Shape { outer, inner: row, first_inner: size - inner, reach }
    }

    /// Places a group around a centre that lies in this direction from the middle of the picture.
    fn place(&self, first: u32, (x, y): Point, angle: f64, parts: &mut Parts) {
        let (out, along) = ((angle.cos(), angle.sin()), (-angle.sin(), angle.cos()));
        let mut row = |slots: &[Slot], first: u32, depth: f64| {
            for (place, slot) in slots.iter().enumerate() {
                let side = (place as f64 - (slots.len() as f64 - 1.0) / 2.0) * PITCH;
                let at = (x + out.0 * depth + along.0 * side, y + out.1 * depth + along.1 * side);
                parts.add(*slot, first, at, (at.0 + out.0 * BADGE, at.1 + out.1 * BADGE));
            }
        };
        if !self.inner.is_empty() {
            row(&self.outer, first, PITCH);
            row(&self.inner, first + self.first_inner, -PITCH);
            return;
        }
        if self.outer.len() == 1 {
            return row(&self.outer, first, 0.0);
        }
        for (place, slot) in self.outer.iter().enumerate() {
            let turn = angle + TAU * place as f64 / self.outer.len() as f64;
            let point = |radius: f64| (x + radius * turn.cos(), y + radius * turn.sin());
            parts.add(*slot, first, point(self.reach), point(self.reach + BADGE));
        }
    }
}

impl Parts {
    fn add(&mut self, slot: Slot, first: u32, at: Point, badge: Point) {
        match slot {
            Slot::One(switch) => drop(self.switches.insert(first + switch, Placed { at, badge })),
            Slot::More(more) => self.gaps.push((at, format!("{} more", count(more as u64)))),
        }
    }
}

/// Cables by the two switches that they join.
type Joined = BTreeMap<(u32, u32), Vec<LinkId>>;
/// How many nodes a switch has, and their links.
type OnSwitch = BTreeMap<u32, (u32, Vec<LinkId>)>;

/// The links between switches that are drawn, and those of the nodes on them.
fn links(topology: &dyn Topology, drawn: &BTreeMap<u32, Placed>) -> (Joined, OnSwitch) {
    let (mut cables, mut on_switch) = (Joined::new(), OnSwitch::new());
    for id in 0..topology.links() {
        match topology.ends(id) {
            (Vertex::Switch(a), Vertex::Switch(b)) if drawn.contains_key(&a) && drawn.contains_key(&b) => {
                cables.entry((a.min(b), a.max(b))).or_default().push(id);
            }
            (Vertex::Node(_), Vertex::Switch(switch)) if drawn.contains_key(&switch) => {
                let (nodes, links) = on_switch.entry(switch).or_default();
                *nodes += 1;
                links.push(id);
            }
            (Vertex::Switch(switch), Vertex::Node(_)) if drawn.contains_key(&switch) => {
                on_switch.entry(switch).or_default().1.push(id);
            }
            _ => {}
        }
    }
    (cables, on_switch)
}

fn draw_badge(at: Point, nodes: u32, links: &[LinkId], paint: &mut Paint, canvas: &mut Canvas) {
    let fill = paint.colour(links.iter().copied());
    let text = count(nodes as u64);
    canvas.rounded(at, (text_width(&text, 8.0) + 8.0, 12.0), 6.0, fill.as_deref().unwrap_or(colour::NODE));
    // White on the dark half of the scale only.
    let dark = !paint.shows_load() || paint.highest(links.iter().copied()) > 0.5;
    let ink = if dark { "#fff" } else { colour::INK };
    canvas.text((at.0, at.1 + 2.9), Style { size: 8.0, colour: ink, ..LABEL }, &text);
}
