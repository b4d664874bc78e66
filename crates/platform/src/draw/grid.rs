//! Tori and meshes: a grid of nodes; three dimensions in oblique projection.
//!
//! Of more than three dimensions three are drawn: what lies at the same place counts as one, and a cable has the load of
//! the fullest that it stands for. Of long dimensions the first nodes and the last one are drawn.

use super::canvas::{Canvas, Point, Style};
use super::colour;
use super::paint::{Cable, Paint};
use super::slots::{Slot, slots};
use super::{LABEL, Picture};
use crate::topology::{Topology, Vertex};

/// Where nodes are on the canvas.
struct Projection {
    /// Which dimensions are drawn, and the places along each: `place[axis][coordinate]`, if that is drawn.
    axes: Vec<usize>,
    places: Vec<Vec<Option<f64>>>,
    /// Length of each axis, in places; where it has a gap.
    lengths: Vec<f64>,
    gaps: Vec<Option<f64>>,
    /// Pixels for one place along each axis.
    steps: Vec<Point>,
    origin: Point,
}

/// Draws a torus or mesh.
pub fn draw(topology: &dyn Topology, dims: &[u32], wrap: bool, paint: &mut Paint) -> Picture {
    // A line is a grid with one row.
    let mut dims = dims.to_vec();
    dims.resize(dims.len().max(2), 1);
    let dims = &dims[..];
    let projection = Projection::new(dims);
    let drawn: Vec<u32> = projection.axes.iter().map(|&axis| dims[axis]).collect();
    let node_size = if projection.axes.len() == 3 { 13.0 } else { (projection.steps[0].0 * 0.45).clamp(7.0, 20.0) };

    let mut canvas = Canvas::default();
    let cables = projection.cables(topology, dims, node_size);
    paint.cables(&mut canvas, &cables, if cables.len() > 1500 { 0.7 } else { 0.9 });
    projection.nodes(&drawn, node_size, paint, &mut canvas);
    projection.gaps(&mut canvas);
    let height = projection.rulers(dims, &mut canvas);

    let mut notes = Vec::new();
    if wrap && drawn.iter().any(|&size| size > 2) {
        notes.push("Cables that leave the picture come back in on the opposite side.".into());
    }
    let hidden: Vec<String> = (0..dims.len())
        .filter(|axis| dims[*axis] > 1 && !projection.axes.contains(axis))
        .map(|axis| format!("{} (size {})", axis + 1, dims[axis]))
        .collect();
    if !hidden.is_empty() {
        let names = hidden.join(", ");
        notes.push(format!("Dimensions not drawn: {names}. What differs only there is drawn as one."));
    }
    // Room for the name of the third dimension.
    let room = if projection.axes.len() == 3 { 150.0 } else { 40.0 };
    let width = projection.origin.0 + projection.extent().0 + room;
    Picture { canvas, width: width.max(240.0), height, notes }
}

impl Projection {
    fn new(dims: &[u32]) -> Projection {
        let mut axes: Vec<usize> = (0..dims.len()).filter(|&axis| dims[axis] > 1).take(3).collect();
        let flat = (0..dims.len()).filter(|&axis| dims[axis] == 1);
        axes.extend(flat.take(2usize.saturating_sub(axes.len())));
        let limit = if axes.len() == 3 { 6 } else { 32 };
        let mut places = Vec::new();
        let mut lengths = Vec::new();
        let mut gaps = Vec::new();
        for &axis in &axes {
            let mut place = vec![None; dims[axis] as usize];
            let (mut at, mut gap) = (0.0, None);
            for slot in slots(dims[axis], limit) {
                match slot {
                    Slot::One(number) => {
                        place[number as usize] = Some(at);
                        at += 1.0;
                    }
                    // Room for dots between the neighbours.
                    Slot::More(_) => {
                        gap = Some(at - 0.2);
                        at += 0.6;
                    }
                }
            }
            places.push(place);
            lengths.push(at);
            gaps.push(gap);
        }
        let steps: Vec<Point> = if axes.len() == 3 {
            // The third axis leads away, to the upper right; the others leave room for all of it.
            let depth: Point = if lengths[2] > 6.0 { (17.0, -12.0) } else { (24.0, -17.0) };
            let (x, y) = (depth.0 * (lengths[2] + 0.6), -depth.1 * (lengths[2] + 0.8));
            vec![(x.max(48.0), 0.0), (0.0, y.max(40.0)), depth]
        } else {
            let longest = lengths[0].max(lengths[1]);
            let step = (720.0 / longest).clamp(20.0, 64.0);
            vec![(step, 0.0), (0.0, step)]
        };
        let mut projection = Projection { axes, places, lengths, gaps, steps, origin: (70.0, 0.0) };
        // Nothing lies above the upper edge.
        let above = projection.steps.get(2).map_or(0.0, |step| -step.1 * (projection.lengths[2] - 1.0));
        projection.origin.1 = 40.0 + above;
        projection
    }

    /// Width and height between the outermost nodes.
    fn extent(&self) -> Point {
        let along = |of: fn(&Point) -> f64| -> f64 {
            self.steps.iter().zip(&self.lengths).map(|(step, length)| of(step).abs() * (length - 1.0)).sum()
        };
        (along(|step| step.0), along(|step| step.1))
    }

    fn point(&self, places: &[f64]) -> Point {
        places
            .iter()
            .zip(&self.steps)
            .fold(self.origin, |(x, y), (place, step)| (x + place * step.0, y + place * step.1))
    }

    /// Coordinates along the axes that are drawn.
    fn coordinates(&self, dims: &[u32], node: u32) -> Vec<u32> {
        let along = |&axis: &usize| node / dims[..axis].iter().product::<u32>() % dims[axis];
        self.axes.iter().map(along).collect()
    }

    fn places(&self, coordinates: &[u32]) -> Option<Vec<f64>> {
        coordinates.iter().zip(&self.places).map(|(&at, places)| places[at as usize]).collect()
    }

    fn cables(&self, topology: &dyn Topology, dims: &[u32], node_size: f64) -> Vec<Cable> {
        // Links by where they appear, so that both directions, and what is projected to one place, are one cable.
        let mut cables: std::collections::BTreeMap<(Vec<u32>, usize), Vec<u32>> = Default::default();
        for id in 0..topology.links() {
            let (Vertex::Node(tail), Vertex::Node(head)) = topology.ends(id) else { continue };
            let (from, to) = (self.coordinates(dims, tail), self.coordinates(dims, head));
            if self.places(&from).is_none() && self.places(&to).is_none() {
                continue;
            }
            let Some(axis) = (0..from.len()).find(|&axis| from[axis] != to[axis]) else { continue };
            // From the lower end; a cable round the edge from the highest coordinate.
            let size = self.places[axis].len() as u32;
            let round = from[axis].abs_diff(to[axis]) > 1 && size > 2;
            let lower = if (from[axis] < to[axis]) != round { from } else { to };
            cables.entry((lower, axis)).or_default().push(id);
        }
        let mut lines = Vec::new();
        for ((from, axis), links) in cables {
            let mut to = from.clone();
            to[axis] = (from[axis] + 1) % self.places[axis].len() as u32;
            let width = 1.5;
            let mut add = |a: Point, b: Point| lines.push(Cable { line: (a, b), links: links.clone(), width });
            match (self.places(&from), self.places(&to)) {
                (Some(start), Some(end)) if end[axis] == start[axis] + 1.0 => add(self.point(&start), self.point(&end)),
                // Across a gap or round the edge: a stub at each end that is drawn.
                (start, end) => {
                    let stub = self.stub(axis, node_size);
                    if let Some(start) = start {
                        let at = self.point(&start);
                        add(at, (at.0 + stub.0, at.1 + stub.1));
                    }
                    if let Some(end) = end {
                        let at = self.point(&end);
                        add(at, (at.0 - stub.0, at.1 - stub.1));
                    }
                }
            }
        }
        lines
    }

    /// The visible part of a cable that leaves the picture.
    fn stub(&self, axis: usize, node_size: f64) -> Point {
        let (x, y) = self.steps[axis];
        let length = x.hypot(y);
        let visible = (node_size / 2.0 + 11.0).min(length * 0.62);
        (x / length * visible, y / length * visible)
    }

    /// Draws nodes, those far away first.
    fn nodes(&self, drawn: &[u32], node_size: f64, paint: &Paint, canvas: &mut Canvas) {
        let sizes: Vec<u32> = self.places.iter().map(|places| places.len() as u32).collect();
        let depth = sizes.get(2).copied().unwrap_or(1);
        let label = drawn.iter().product::<u32>() <= 100 && node_size >= 18.0;
        for z in (0..depth).rev() {
            for y in 0..sizes[1] {
                for x in 0..sizes[0] {
                    let coordinates = &[x, y, z][..sizes.len()];
                    let Some(places) = self.places(coordinates) else { continue };
                    let at = self.point(&places);
                    let shade = if depth > 1 { 1.0 - 0.45 * z as f64 / (depth - 1).max(1) as f64 } else { 1.0 };
                    canvas.rounded(at, (node_size * shade.sqrt(), node_size * shade.sqrt()), 3.0, paint.node());
                    if label {
                        let style = Style { anchor: "middle", size: 8.5, colour: "#fff", bold: false };
                        let name = if sizes[1] > 1 { format!("{x},{y}") } else { x.to_string() };
                        canvas.text((at.0, at.1 + 3.0), style, &name);
                    }
                }
            }
        }
    }

    /// Marks what is left out along the edges.
    fn gaps(&self, canvas: &mut Canvas) {
        for (axis, gap) in self.gaps.iter().enumerate() {
            let Some(gap) = gap else { continue };
            let mut at = vec![0.0; self.lengths.len()];
            at[axis] = *gap;
            let other = if axis == 0 { 1 } else { 0 };
            for along in self.places[other].iter().flatten() {
                at[other] = *along;
                let (x, y) = self.point(&at);
                let (dx, dy) = self.steps[axis];
                let length = dx.hypot(dy);
                for dot in [-5.0, 0.0, 5.0] {
                    canvas.disc((x + dx / length * dot, y + dy / length * dot), 1.5, colour::MORE);
                }
            }
        }
    }

    /// Writes the sizes along the edges; gives the height of the picture.
    fn rulers(&self, dims: &[u32], canvas: &mut Canvas) -> f64 {
        let size = |axis: usize| dims[self.axes[axis]];
        let name = |axis: usize| format!("dimension {}: {} nodes", self.axes[axis] + 1, size(axis));
        let (width, height) = (self.steps[0].0 * (self.lengths[0] - 1.0), self.steps[1].1 * (self.lengths[1] - 1.0));
        let bottom = self.origin.1 + height;
        canvas.text((self.origin.0 + width / 2.0, bottom + 42.0), LABEL, &name(0));
        if size(1) > 1 {
            let (x, y) = (self.origin.0 - 42.0, self.origin.1 + height / 2.0);
            canvas.turned((x, y), LABEL, &name(1));
        }
        if let Some(step) = self.steps.get(2) {
            // Below the last diagonal.
            let half = (self.lengths[2] - 1.0) / 2.0;
            let (x, y) = (self.origin.0 + width + step.0 * half, bottom + step.1 * half);
            canvas.text((x + 28.0, y + 26.0), Style { anchor: "start", ..LABEL }, &name(2));
        }
        bottom + 56.0
    }
}
