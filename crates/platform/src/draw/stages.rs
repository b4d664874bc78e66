//! Networks of stages, in one direction: the nodes that send on the left, the nodes that receive on the right.

use hpcast_units::count;

use super::canvas::{Canvas, Point, Style};
use super::paint::{Cable, Paint};
use super::slots::{Slot, slots};
use super::{LABEL, Picture, colour};
use crate::topology::{Topology, Vertex};

/// Rows of a column at most.
const ROWS: u32 = 32;
/// Room above the first row.
const TOP: f64 = 40.0;
/// Distance between columns.
const STEP: f64 = 150.0;
const LEFT: f64 = 70.0;

/// What stands in one column.
struct Column {
    slots: Vec<Slot>,
    /// Vertices in it, drawn or not.
    count: u32,
    x: f64,
    height: f64,
}

impl Column {
    fn new(number: usize, count: u32, height: f64) -> Column {
        Column { slots: slots(count, ROWS), count, x: LEFT + STEP * number as f64, height }
    }

    fn y(&self, row: usize) -> f64 {
        TOP + self.height * (row as f64 + 0.5) / self.slots.len() as f64
    }

    /// Where a vertex is, by its number in the column, if it is drawn.
    fn place(&self, number: u32) -> Option<Point> {
        let row = self.slots.iter().position(|slot| *slot == Slot::One(number))?;
        Some((self.x, self.y(row)))
    }
}

/// Draws stages of so many switches each.
pub fn draw(topology: &dyn Topology, stages: &[u32], paint: &mut Paint) -> Picture {
    let mut counts = vec![topology.nodes()];
    counts.extend(stages);
    counts.push(topology.nodes());
    let most = counts.iter().map(|&count| slots(count, ROWS).len()).max().unwrap_or(1);
    let height = (most as f64 * 22.0).max(120.0);
    let columns: Vec<Column> =
        counts.iter().enumerate().map(|(number, &count)| Column::new(number, count, height)).collect();
    let last = columns.len() - 1;

    // The stage of a switch, and its number there.
    let stage = |switch: u32| {
        let mut rest = switch;
        for (number, &size) in stages.iter().enumerate() {
            if rest < size {
                return (number + 1, rest);
            }
            rest -= size;
        }
        (last, rest)
    };
    let place = |vertex: Vertex, sends: bool| match vertex {
        Vertex::Node(node) => columns[if sends { 0 } else { last }].place(node),
        Vertex::Switch(switch) => {
            let (column, number) = stage(switch);
            columns[column].place(number)
        }
    };
    let mut cables: Vec<Cable> = Vec::new();
    for id in 0..topology.links() {
        let (tail, head) = topology.ends(id);
        if let (Some(from), Some(to)) = (place(tail, true), place(head, false)) {
            match cables.last_mut() {
                // Several cables between the same ends look like one.
                Some(same) if same.line == (from, to) => same.links.push(id),
                _ => cables.push(Cable { line: (from, to), links: vec![id], width: 1.3 }),
            }
        }
    }
    let mut canvas = Canvas::default();
    paint.cables(&mut canvas, &cables, if cables.len() > 400 { 0.45 } else { 0.8 });
    for (number, column) in columns.iter().enumerate() {
        let is_nodes = number == 0 || number == last;
        let name = match number {
            0 => "nodes send".into(),
            _ if is_nodes => "nodes receive".into(),
            _ => format!("{} switches", count(u64::from(column.count))),
        };
        canvas.text((column.x, TOP - 18.0), LABEL, &name);
        for (row, slot) in column.slots.iter().enumerate() {
            let at = (column.x, column.y(row));
            match slot {
                Slot::One(vertex) => {
                    let (size, fill) =
                        if is_nodes { ((24.0, 14.0), paint.node()) } else { ((30.0, 16.0), colour::SWITCH) };
                    canvas.rounded(at, size, 3.0, fill);
                    let style = Style { anchor: "middle", size: 9.0, colour: "#fff", bold: false };
                    canvas.text((at.0, at.1 + 3.2), style, &vertex.to_string());
                }
                Slot::More(more) => {
                    canvas.text_on_lines((at.0, at.1 + 4.0), LABEL, &format!("{} more", count(u64::from(*more))))
                }
            }
        }
    }
    let notes = vec!["Messages go from left to right; the nodes on both sides are the same.".into()];
    Picture { canvas, width: 2.0 * LEFT + STEP * last as f64, height: TOP + height + 10.0, notes }
}
