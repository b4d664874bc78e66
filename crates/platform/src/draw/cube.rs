//! Hypercubes: three bits of a number make a cube in oblique projection, the next ones copies of it side by side.

use super::canvas::{Canvas, Point, Style};
use super::paint::{Cable, Paint};
use super::{LABEL, Picture};
use crate::topology::{LinkId, Topology, Vertex};

/// Where the neighbour is that differs in each bit. No two point the same way, so that no cable hides another.
const STEPS: [Point; 8] = [
    (46.0, 0.0),
    (0.0, 46.0),
    (19.0, -23.0),
    (112.0, 8.0),
    (-8.0, 122.0),
    (236.0, -13.0),
    (13.0, 262.0),
    (486.0, 17.0),
];
/// Room for nodes at the edges, and for their numbers.
const EDGE: f64 = 36.0;
/// Numbers have room at the nodes of cubes of so many dimensions.
const NAMED: u32 = 5;

/// Draws a hypercube.
pub fn draw(topology: &dyn Topology, dimension: u32, paint: &mut Paint) -> Picture {
    let shown = dimension.min(STEPS.len() as u32);
    let place = |node: u32| -> Point {
        let bits = STEPS.iter().enumerate().filter(|(bit, _)| node >> bit & 1 == 1);
        bits.fold((0.0, 0.0), |(x, y), (_, step)| (x + step.0, y + step.1))
    };
    let places: Vec<Point> = (0..1 << shown).map(place).collect();
    let range = |of: fn(&Point) -> f64| {
        let values = || places.iter().map(of);
        (values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max))
    };
    let ((left, right), (top, bottom)) = (range(|place| place.0), range(|place| place.1));
    let at = |node: u32| {
        let (x, y) = places[node as usize];
        (x - left + EDGE, y - top + EDGE)
    };

    let mut canvas = Canvas::default();
    let cables = cables(topology, shown).into_iter();
    let cables: Vec<Cable> = cables.map(|((a, b), links)| Cable { line: (at(a), at(b)), links, width: 1.3 }).collect();
    paint.cables(&mut canvas, &cables, 0.8);
    for node in 0..1 << shown {
        let (x, y) = at(node);
        canvas.disc((x, y), 5.0, paint.node());
        if dimension <= NAMED {
            let name = topology.vertex_name(Vertex::Node(node));
            canvas.text_on_lines((x, y + 14.0), Style { size: 8.5, ..LABEL }, &name);
        }
    }
    let mut notes = Vec::new();
    if shown < dimension {
        notes.push(format!(
            "Of {dimension} dimensions the first {shown} are drawn: the nodes whose other bits are all 0."
        ));
    }
    Picture { canvas, width: right - left + 2.0 * EDGE, height: bottom - top + 2.0 * EDGE, notes }
}

/// Links between nodes that are drawn, by their lower and their upper end.
fn cables(topology: &dyn Topology, shown: u32) -> std::collections::BTreeMap<(u32, u32), Vec<LinkId>> {
    let mut cables: std::collections::BTreeMap<_, Vec<LinkId>> = Default::default();
    for id in 0..topology.links() {
        if let (Vertex::Node(a), Vertex::Node(b)) = topology.ends(id)
            && a.max(b) >> shown == 0
        {
            cables.entry((a.min(b), a.max(b))).or_default().push(id);
        }
    }
    cables
}
