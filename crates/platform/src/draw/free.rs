//! Any network: vertices placed by forces along its cables.
//!
//! Where there are many, nodes that hang on one switch are not drawn but counted on it.

use std::collections::BTreeMap;

use hpcast_units::count;

use super::canvas::{Canvas, Point, Style, text_width};
use super::colour;
use super::force::layout;
use super::paint::{Cable, Paint};
use super::{LABEL, Picture};
use crate::topology::{LinkId, Topology, Vertex};

/// Vertices to draw one by one.
const VERTICES: usize = 140;
/// Vertices to write names at.
const NAMES: usize = 70;

/// Draws any network.
pub fn draw(topology: &dyn Topology, paint: &mut Paint) -> Picture {
    let nodes = topology.nodes() as usize;
    let all = nodes + topology.switches() as usize;
    let index = |vertex| match vertex {
        Vertex::Node(node) => node as usize,
        Vertex::Switch(switch) => nodes + switch as usize,
    };
    let mut joined: BTreeMap<(usize, usize), Vec<LinkId>> = BTreeMap::new();
    for id in 0..topology.links() {
        let (a, b) = topology.ends(id);
        let (a, b) = (index(a), index(b));
        if a != b {
            joined.entry((a.min(b), a.max(b))).or_default().push(id);
        }
    }

    // Nodes with a single neighbour, a switch, are folded into it where there are too many.
    let mut folded: Vec<Option<usize>> = vec![None; all];
    if all > VERTICES {
        let mut neighbours = vec![Vec::new(); all];
        joined.keys().for_each(|&(a, b)| {
            neighbours[a].push(b);
            neighbours[b].push(a);
        });
        for (node, list) in neighbours.iter().enumerate().take(nodes) {
            folded[node] = (list.len() == 1 && list[0] >= nodes).then(|| list[0]);
        }
    }
    let drawn: Vec<usize> = (0..all).filter(|&vertex| folded[vertex].is_none()).collect();
    let place_of: BTreeMap<usize, usize> = drawn.iter().enumerate().map(|(at, &vertex)| (vertex, at)).collect();
    let mut edges = Vec::new();
    let mut bundles = Vec::new();
    let mut on_switch: BTreeMap<usize, (u32, Vec<LinkId>)> = BTreeMap::new();
    for (&(a, b), links) in &joined {
        match (place_of.get(&a), place_of.get(&b)) {
            (Some(&a), Some(&b)) => {
                edges.push((a, b));
                bundles.push(links);
            }
            // The node has the lower number.
            _ => {
                let folded = on_switch.entry(b).or_default();
                folded.0 += 1;
                folded.1.extend(links);
            }
        }
    }
    let short = |a: usize, b: usize| if drawn[a] < nodes || drawn[b] < nodes { 0.7 } else { 2.2 };
    let (places, width, height) = fit(layout(drawn.len(), &edges, short));

    let mut canvas = Canvas::default();
    let bundles = edges.iter().zip(bundles).map(|(&(a, b), links)| {
        let cables =
            links.iter().filter(|&&id| index(topology.ends(id).0) == drawn[a] || topology.is_shared(id)).count();
        Cable { line: (places[a], places[b]), links: links.clone(), width: 1.2 + 0.5 * cables.clamp(1, 6) as f64 }
    });
    paint.cables(&mut canvas, &bundles.collect::<Vec<_>>(), 0.8);
    let named = drawn.len() <= NAMES;
    for (&vertex, &(x, y)) in drawn.iter().zip(&places) {
        if vertex < nodes {
            canvas.disc((x, y), if named { 8.0 } else { 5.0 }, paint.node());
            if named {
                let name = brief(&topology.vertex_name(Vertex::Node(vertex as u32)));
                canvas.text_on_lines((x, y + 20.0), Style { size: 10.0, ..LABEL }, &name);
            }
            continue;
        }
        let mut size = (14.0, 11.0);
        let mut name = String::new();
        if named {
            name = brief(&topology.vertex_name(Vertex::Switch((vertex - nodes) as u32)));
            size = (text_width(&name, 10.0).max(14.0) + 12.0, 18.0);
        }
        if let Some((nodes, links)) = on_switch.get(&vertex) {
            let fill = paint.colour(links.iter().copied());
            let text = count(*nodes as u64);
            let width = text_width(&text, 9.0) + 10.0;
            let at = (x, y + size.1 / 2.0 + 6.0);
            canvas.rounded(at, (width + 2.0, 15.0), 7.5, "#fff");
            canvas.rounded(at, (width, 13.0), 6.5, fill.as_deref().unwrap_or(colour::NODE));
            // White on the dark half of the scale only.
            let dark = !paint.shows_load() || paint.highest(links.iter().copied()) > 0.5;
            let ink = if dark { "#fff" } else { colour::INK };
            canvas.text((at.0, at.1 + 3.3), Style { size: 9.0, colour: ink, ..LABEL }, &text);
        }
        canvas.rounded((x, y), size, 4.0, colour::SWITCH);
        canvas.text((x, y + 3.5), Style { size: 10.0, colour: "#fff", ..LABEL }, &name);
    }

    let mut notes = vec!["Boxes are switches, discs are nodes; thicker lines are several cables.".to_string()];
    if !on_switch.is_empty() {
        let load = if paint.shows_load() { ", in the colour of the fullest of their cables" } else { "" };
        notes.push(format!("A number on a switch counts the nodes that hang on it{load}."));
    }
    Picture { canvas, width, height, notes }
}

/// Long names are those of real machines: what tells them apart is at the front.
fn brief(name: &str) -> String {
    match name.char_indices().nth(14) {
        Some((end, _)) => format!("{}…", &name[..end]),
        None => name.into(),
    }
}

/// Scales places to pixels, with room at the edges; gives the size of the picture, too.
fn fit(places: Vec<Point>) -> (Vec<Point>, f64, f64) {
    let range = |of: fn(&Point) -> f64| {
        let low = places.iter().map(of).fold(f64::INFINITY, f64::min);
        let high = places.iter().map(of).fold(f64::NEG_INFINITY, f64::max);
        if low <= high { (low, high - low) } else { (0.0, 0.0) }
    };
    let ((left, width), (top, height)) = (range(|place| place.0), range(|place| place.1));
    // So many pixels a unit that the vertices have room, and the picture a screen.
    let scale = (900.0 / width.max(height).max(1e-9)).min(84.0);
    let edge = 50.0;
    let to_pixels = |&(x, y): &Point| (edge + (x - left) * scale, edge + (y - top) * scale);
    let size = |length: f64| length * scale + 2.0 * edge;
    (places.iter().map(to_pixels).collect(), size(width), size(height))
}
