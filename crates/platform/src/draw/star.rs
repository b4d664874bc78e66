//! One switch in the middle of its nodes.

use std::f64::consts::TAU;

use hpcast_units::{Bandwidth, count};

use super::canvas::{Canvas, Point, Style};
use super::colour;
use super::paint::{Cable, Paint};
use super::slots::{Slot, slots};
use super::{LABEL, Picture};
use crate::topology::{LinkId, Topology};

/// Nodes to draw at most.
const NODES: u32 = 72;

/// Draws a crossbar.
pub fn draw(topology: &dyn Topology, backbone: Option<LinkId>, paint: &mut Paint) -> Picture {
    let nodes = topology.nodes();
    let slots = slots(nodes, NODES);
    // Several places for a gap, so that its text has room.
    let places: usize = slots.iter().map(|slot| if matches!(slot, Slot::One(_)) { 1 } else { 4 }).sum();
    let radius = (places as f64 * 26.0 / TAU).clamp(120.0, 320.0);
    let centre = (radius + 60.0, radius + 40.0);
    let node_radius = (radius * TAU / places as f64 * 0.36).clamp(5.0, 13.0);
    let point = |place: f64, radius: f64| -> Point {
        let angle = TAU * (place / places as f64 - 0.25);
        (centre.0 + radius * angle.cos(), centre.1 + radius * angle.sin())
    };

    let mut canvas = Canvas::default();
    let mut cables = Vec::new();
    let mut vertices = Canvas::default();
    let mut place = 0.0;
    for slot in slots {
        match slot {
            Slot::One(node) => {
                let at = point(place, radius);
                let mut links = vec![node];
                // Links down follow the links up, unless they are the same.
                if !topology.is_shared(node) {
                    links.push(nodes + node);
                }
                cables.push(Cable { line: (centre, at), links, width: 1.6 });
                vertices.disc(at, node_radius, paint.node());
                if node_radius >= 7.0 {
                    let style = Style { anchor: "middle", size: node_radius * 0.95, colour: "#fff", bold: false };
                    vertices.text((at.0, at.1 + node_radius * 0.34), style, &node.to_string());
                }
                place += 1.0;
            }
            Slot::More(more) => {
                for dot in [0.5, 1.5, 2.5] {
                    vertices.disc(point(place + dot, radius), 2.4, colour::MUTED);
                }
                let (x, y) = point(place + 1.5, radius + 14.0);
                let style = Style { anchor: "end", ..LABEL };
                vertices.text((x, y - 2.0), style, &format!("{} more", count(more as u64)));
                place += 4.0;
            }
        }
    }
    paint.cables(&mut canvas, &cables, 0.8);
    if let Some(id) = backbone {
        let colour = paint.colour([id]);
        canvas.disc(centre, 44.0, "#fff");
        canvas.ring(centre, 44.0, colour.as_deref().unwrap_or(colour::CABLE), 7.0);
    }
    canvas.place((0.0, 0.0), vertices);
    canvas.rounded(centre, (64.0, 34.0), 6.0, colour::SWITCH);
    let style = Style { anchor: "middle", size: 13.0, colour: "#fff", bold: true };
    canvas.text((centre.0, centre.1 + 4.5), style, "switch");

    let notes = backbone.map(|id| {
        let bandwidth = Bandwidth::new(topology.link(id).bandwidth).human();
        format!("The ring around the switch is its backbone: {bandwidth}, shared by all messages.")
    });
    Picture { canvas, width: 2.0 * centre.0, height: 2.0 * centre.1, notes: notes.into_iter().collect() }
}
