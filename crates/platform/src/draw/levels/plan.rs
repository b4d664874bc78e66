//! Which subtrees and switches of a fat tree are drawn, and where.

use super::super::canvas::Point;
use super::super::slots::{Slot, ones, slots};
use crate::topology::{FatTreeShape, LinkId, Topology};

/// Trees with no more nodes than this show each node with its own cable; others show nodes as blocks of squares.
const SPREAD_NODES: u32 = 64;
/// Lowest subtrees to draw at most.
const GROUPS: usize = 34;
/// Switches at the top of a subtree to draw at most.
const TOPS: usize = 32;
/// Nodes of a lowest subtree to draw at most.
const BLOCK: u32 = 100;
/// Room for a gap.
const GAP: f64 = 58.0;
/// Room between what is beside one another.
const SPACE: f64 = 10.0;
/// Where the highest level is.
const TOP: f64 = 26.0;
/// Room for the names of the levels.
const LEFT: f64 = 176.0;

/// A subtree with its place on the canvas.
pub struct Subtree {
    pub height: usize,
    /// Its number among the subtrees of its height; `None` for a gap.
    pub number: Option<u32>,
    /// How many it stands for.
    pub stands_for: u32,
    pub children: Vec<Subtree>,
    pub left: f64,
    pub width: f64,
}

impl Subtree {
    pub fn middle(&self) -> f64 {
        self.left + self.width / 2.0
    }

    fn place(&mut self, left: f64) {
        self.left = left;
        let children: f64 = self.children.iter().map(|child| child.width + SPACE).sum::<f64>() - SPACE;
        let mut x = left + (self.width - children) / 2.0;
        for child in &mut self.children {
            child.place(x);
            x += child.width + SPACE;
        }
    }
}

/// How many of what are drawn, and how large.
pub struct Plan<'s> {
    pub shape: &'s FatTreeShape,
    /// Whether each node is drawn with its own cable.
    pub spread: bool,
    /// Nodes of a lowest subtree.
    pub nodes: Vec<Slot>,
    /// Distance between levels.
    row: f64,
    /// `down[l]`: subtrees of height l in one of height l + 1; unused for l = 0.
    down: Vec<Vec<Slot>>,
    /// `tops[h]`: the switches at the top of a subtree of height h.
    tops: Vec<Vec<Slot>>,
    /// Id of the first link above each level.
    first: Vec<LinkId>,
}

impl<'s> Plan<'s> {
    pub fn new(shape: &'s FatTreeShape) -> Plan<'s> {
        let groups = shrink(&shape.down[1..], GROUPS);
        let mut down = vec![Vec::new()];
        down.extend(shape.down[1..].iter().zip(groups).map(|(&count, limit)| slots(count, limit)));
        let limits = shrink(&shape.up, TOPS);
        let mut tops = vec![vec![Slot::One(0)]];
        for (level, limit) in limits.into_iter().enumerate() {
            tops.push(extend(&tops[level], shape.tops(level), &slots(shape.up[level], limit)));
        }
        let mut first = vec![0];
        for level in 0..shape.levels() {
            first.push(first[level] + shape.vertices(level) * shape.ports_up(level));
        }
        let spread = shape.nodes() <= SPREAD_NODES;
        let mut plan = Plan { shape, spread, nodes: slots(shape.down[0], BLOCK), row: 0.0, down, tops, first };
        // A wide picture needs height, or its cables lie flat.
        plan.row = (plan.root().width * 0.14).clamp(110.0, 210.0);
        plan
    }

    /// The whole tree.
    pub fn root(&self) -> Subtree {
        let mut root = self.subtree(self.shape.levels(), Some(0), 1);
        root.place(LEFT);
        root
    }

    /// The subtree with this number, or a gap; not yet in its place.
    fn subtree(&self, height: usize, number: Option<u32>, stands_for: u32) -> Subtree {
        let Some(own) = number else {
            return Subtree { height, number, stands_for, children: Vec::new(), left: 0.0, width: GAP };
        };
        let below = self.shape.down[height - 1];
        let child = |slot: &Slot| match *slot {
            Slot::One(digit) => self.subtree(height - 1, Some(own * below + digit), 1),
            Slot::More(count) => self.subtree(height - 1, None, count),
        };
        let children: Vec<Subtree> = self.down[height - 1].iter().map(child).collect();
        let width = match height {
            1 => (self.block().0 as f64 * self.block().1).max(self.box_size().0),
            _ => children.iter().map(|child| child.width + SPACE).sum::<f64>() - SPACE,
        };
        Subtree { height, number, stands_for, children, left: 0.0, width: width.max(self.tops_width(height)) }
    }

    /// Where a level is.
    pub fn y(&self, level: usize) -> f64 {
        TOP + self.row * (self.shape.levels() - level) as f64
    }

    /// Where the nodes begin.
    pub fn nodes_y(&self) -> f64 {
        if self.spread { self.y(1) + 90.0 } else { self.y(1) + 40.0 }
    }

    /// Size of a switch.
    pub fn box_size(&self) -> Point {
        if self.spread { (34.0, 20.0) } else { (30.0, 17.0) }
    }

    /// Columns of a block of nodes, and the distance between them.
    pub fn block(&self) -> (u32, f64) {
        let drawn = ones(&self.nodes).count() as u32;
        if self.spread { (drawn, 22.0) } else { ((drawn as f64).sqrt().ceil() as u32, 8.0) }
    }

    fn slot_width(&self, slot: &Slot) -> f64 {
        if matches!(slot, Slot::One(_)) { self.box_size().0 + 6.0 } else { GAP }
    }

    fn tops_width(&self, height: usize) -> f64 {
        self.tops[height].iter().map(|slot| self.slot_width(slot)).sum()
    }

    /// Where the switches at the top of a subtree are.
    pub fn tops(&self, subtree: &Subtree) -> Vec<(Slot, Point)> {
        let natural = self.tops_width(subtree.height);
        // Spread over three quarters of the subtree at most, so that the rows look like a tree.
        let width = natural.max((subtree.width * 0.75).min(natural * 2.2));
        let mut x = subtree.middle() - width / 2.0;
        let mut places = Vec::new();
        for &top in &self.tops[subtree.height] {
            let own = self.slot_width(&top) * width / natural;
            places.push((top, (x + own / 2.0, self.y(subtree.height))));
            x += own;
        }
        places
    }

    /// Where a node of a lowest subtree is, by its place among those drawn.
    pub fn node(&self, subtree: &Subtree, at: u32) -> Point {
        let (columns, pitch) = self.block();
        let left = subtree.middle() - columns as f64 * pitch / 2.0;
        let (column, row) = (at % columns, at / columns);
        (left + (column as f64 + 0.5) * pitch, self.nodes_y() + (row as f64 + 0.5) * pitch)
    }

    /// The links between a vertex and one of its parents, both directions.
    pub fn links(&self, topology: &dyn Topology, level: usize, position: u32, parent: u32) -> Vec<LinkId> {
        let first = self.first[level] + position * self.shape.ports_up(level) + parent;
        let up = (0..self.shape.parallel[level]).map(|cable| first + cable * self.shape.up[level]);
        // Links down follow the links up, unless they are the same; the numbers of missing ones stay free.
        let cables = self.first[self.shape.levels()];
        let down = if topology.links() > cables { Some(cables) } else { None };
        up.clone().chain(down.into_iter().flat_map(|cables| up.clone().map(move |link| link + cables))).collect()
    }
}

/// How many of each to draw so that their product is small: takes from the most numerous until all fits.
fn shrink(counts: &[u32], most: usize) -> Vec<u32> {
    let mut limits = counts.to_vec();
    while limits.iter().map(|&limit| limit as usize).product::<usize>() > most {
        match limits.iter_mut().max_by_key(|limit| **limit) {
            Some(largest) if *largest > 3 => *largest -= 1,
            _ => break,
        }
    }
    limits
}

/// The switches at the top of a subtree, from those at the tops of its parts (`count` if all were drawn).
fn extend(tops: &[Slot], count: u32, parents: &[Slot]) -> Vec<Slot> {
    let mut next = Vec::new();
    for &slot in parents {
        match slot {
            Slot::One(parent) => next.extend(tops.iter().map(|&top| match top {
                Slot::One(top) => Slot::One(top + count * parent),
                more => more,
            })),
            Slot::More(parents) => next.push(Slot::More(parents * count)),
        }
    }
    next
}
