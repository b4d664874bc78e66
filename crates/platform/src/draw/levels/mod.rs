//! Fat trees: nodes at the bottom, a row for each level of switches above.
//!
//! Of a large tree the first subtrees and the last one are drawn at each level, and the first and last switches of a
//! subtree's top; a gap says how many are not.

mod plan;

use hpcast_units::count;

use super::canvas::{Canvas, Line, Point, Style};
use super::colour;
use super::paint::{Cable, Paint};
use super::slots::{Slot, ones};
use super::{LABEL, Picture};
use crate::topology::{FatTreeShape, Topology};
use plan::{Plan, Subtree};

const ON_DARK: Style = Style { anchor: "middle", size: 10.0, colour: "#fff", bold: false };

/// Draws a fat tree.
pub fn draw(topology: &dyn Topology, shape: &FatTreeShape, paint: &mut Paint) -> Picture {
    let plan = Plan::new(shape);
    let root = plan.root();
    let mut sheet = Sheet { topology, plan: &plan, canvas: Canvas::default(), cables: Vec::new(), bottom: 0.0 };
    sheet.connect(&root);
    // Few cables may be bold, many must be fine.
    let opacity = if sheet.cables.len() > 200 { 0.45 } else { 0.75 };
    paint.cables(&mut sheet.canvas, &sheet.cables, opacity);
    sheet.vertices(&root, paint);
    sheet.labels();

    let mut notes = Vec::new();
    if shape.parallel.iter().any(|&parallel| parallel > 1) {
        notes.push("A thicker line stands for parallel cables.".into());
    }
    if !sheet.plan.spread {
        let load = if paint.shows_load() { ", in the colour of its cables" } else { "" };
        notes.push(format!("Each small square is a node{load}."));
    }
    Picture { canvas: sheet.canvas, width: root.left + root.width, height: sheet.bottom + 8.0, notes }
}

struct Sheet<'a> {
    topology: &'a dyn Topology,
    plan: &'a Plan<'a>,
    canvas: Canvas,
    cables: Vec<Cable>,
    /// The lowest point so far.
    bottom: f64,
}

impl Sheet<'_> {
    /// Collects the cables of a subtree, and draws dots where there are more.
    fn connect(&mut self, subtree: &Subtree) {
        let Some(number) = subtree.number else { return };
        let parents = self.plan.tops(subtree);
        let level = subtree.height - 1;
        let plan = self.plan;
        if level == 0 && plan.spread {
            for (at, digit) in (0..).zip(ones(&plan.nodes)) {
                self.join(0, number * plan.shape.down[0] + digit, plan.node(subtree, at), &parents);
            }
        }
        for child in &subtree.children {
            if let Some(number) = child.number {
                for (slot, (x, y)) in plan.tops(child) {
                    if let Slot::One(top) = slot {
                        self.join(level, number * plan.shape.tops(level) + top, (x, y - 8.0), &parents);
                    }
                }
            } else {
                let at = (child.middle(), plan.y(level) - 12.0);
                for (_, (x, y)) in parents.iter().filter(|(slot, _)| matches!(slot, Slot::One(_))) {
                    self.canvas.dotted(at, (*x, y + 8.0), colour::MORE);
                }
            }
            self.connect(child);
        }
    }

    /// Cables from a vertex to those of the parents that are drawn.
    fn join(&mut self, level: usize, position: u32, at: Point, parents: &[(Slot, Point)]) {
        let tops = self.plan.shape.tops(level);
        let width = match self.plan.shape.parallel[level] {
            1 => 1.0,
            parallel => 0.7 + 0.4 * parallel.min(6) as f64,
        };
        for &(slot, (x, y)) in parents {
            // The parents of a switch are those that agree with it in all but the highest digit.
            if let Slot::One(parent) = slot
                && parent % tops == position % tops
            {
                let links = self.plan.links(self.topology, level, position, parent / tops);
                self.cables.push(Cable { line: (at, (x, y + 8.0)), links, width });
            }
        }
    }

    /// Draws switches, nodes and gaps.
    fn vertices(&mut self, subtree: &Subtree, paint: &mut Paint) {
        let Some(number) = subtree.number else {
            self.gap((subtree.middle(), self.plan.y(subtree.height)), subtree.stands_for);
            return;
        };
        for child in &subtree.children {
            self.vertices(child, paint);
        }
        let places = self.plan.tops(subtree);
        if subtree.height == 1 {
            self.nodes(subtree, number, &places, paint);
        }
        let tops = self.plan.shape.tops(subtree.height);
        for (slot, at) in places {
            match slot {
                Slot::One(top) => {
                    self.canvas.rounded(at, self.plan.box_size(), 4.0, colour::SWITCH);
                    self.canvas.text((at.0, at.1 + 3.5), ON_DARK, &(number * tops + top).to_string());
                }
                Slot::More(count) => self.gap(at, count),
            }
        }
    }

    /// Draws the nodes below the lowest switches.
    fn nodes(&mut self, subtree: &Subtree, number: u32, switches: &[(Slot, Point)], paint: &mut Paint) {
        let (_, pitch) = self.plan.block();
        if !self.plan.spread {
            let end = (subtree.middle(), self.plan.nodes_y());
            let trunks: Vec<Line> = switches.iter().map(|&(_, at)| (at, end)).collect();
            self.canvas.lines(&trunks, colour::CABLE, 2.0, 0.9);
        }
        for (at, digit) in (0..).zip(ones(&self.plan.nodes)) {
            let (x, y) = self.plan.node(subtree, at);
            let position = number * self.plan.shape.down[0] + digit;
            let parents = 0..self.plan.shape.up[0];
            let loaded = paint.colour(parents.flat_map(|parent| self.plan.links(self.topology, 0, position, parent)));
            if self.plan.spread {
                self.canvas.disc((x, y), 8.5, paint.node());
                self.canvas.text((x, y + 3.2), Style { size: 9.0, ..ON_DARK }, &position.to_string());
            } else {
                self.canvas.rounded((x, y), (6.5, 6.5), 1.5, loaded.as_deref().unwrap_or(colour::NODE));
            }
            self.bottom = self.bottom.max(y + pitch / 2.0);
        }
        if let Some(Slot::More(more)) = self.plan.nodes.iter().find(|slot| matches!(slot, Slot::More(_))) {
            let rows = ones(&self.plan.nodes).count().div_ceil(self.plan.block().0 as usize);
            let y = self.plan.nodes_y() + rows as f64 * pitch + 14.0;
            let text = format!("+ {}", count(*more as u64));
            self.canvas.text((subtree.middle(), y), Style { size: 10.0, ..LABEL }, &text);
            self.bottom = self.bottom.max(y + 4.0);
        }
    }

    /// Three dots, and how many things they stand for.
    fn gap(&mut self, (x, y): Point, stands_for: u32) {
        for dot in [-8.0, 0.0, 8.0] {
            self.canvas.disc((x + dot, y), 2.2, colour::MUTED);
        }
        let text = format!("{} more", count(stands_for as u64));
        self.canvas.text_on_lines((x, y + 18.0), Style { size: 10.0, ..LABEL }, &text);
    }

    /// Says at the left what each row is.
    fn labels(&mut self) {
        let shape = self.plan.shape;
        for level in 1..=shape.levels() {
            let vertices = shape.vertices(level);
            let noun = match level {
                _ if level == 1 && shape.levels() > 1 => "leaf switch",
                _ if level == shape.levels() && level > 1 => "core switch",
                _ => "switch",
            };
            let plural = if vertices == 1 { "" } else { "es" };
            let down = count((shape.down[level - 1] * shape.parallel[level - 1]) as u64);
            let detail = match shape.ports_up(level) {
                0 => format!("{down} ports down"),
                up => format!("{down} ports down, {} up", count(up as u64)),
            };
            let mut title = format!("{} {noun}{plural}", count(vertices as u64));
            let missing = self.topology.missing_switches();
            if level == shape.levels() && missing > 0 {
                title += &format!(", {} missing", count(missing as u64));
            }
            self.label(self.plan.y(level), &title, &detail);
        }
        let (nodes, ports) = (shape.nodes(), shape.ports_up(0));
        let plural = |count: u32| if count == 1 { "" } else { "s" };
        let detail = format!("{ports} port{} each", plural(ports));
        let title = format!("{} node{}", count(nodes as u64), plural(nodes));
        self.label(self.plan.nodes_y() + 12.0, &title, &detail);
    }

    fn label(&mut self, y: f64, title: &str, detail: &str) {
        let style = Style { anchor: "start", size: 14.0, colour: colour::INK, bold: true };
        self.canvas.text((0.0, y), style, title);
        self.canvas.text((0.0, y + 16.0), Style { anchor: "start", size: 11.0, ..LABEL }, detail);
        self.bottom = self.bottom.max(y + 20.0);
    }
}
