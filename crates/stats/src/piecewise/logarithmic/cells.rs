//! Logarithmic errors of any segment in a time that does not depend on how many points it has.
//!
//! ln(x + r) is a very smooth function of ln x: as a complex function its nearest singularity is pi away from the real axis.
//! So over a cell of two octaves a polynomial of degree 8 in ln x is off by less than 1e-9, whatever r is, and sums of
//! powers, added up point by point once, give the squared errors of each shape over each run of points.

use std::array::from_fn;
use std::ops::Range;

use super::super::sample::Sample;
use super::descent::{Errors, Landscape};
use super::polynomial::{Interpolation, Polynomial, PowerSums, TERMS};
use super::shape::{Shape, Span, shapes_between};

/// Half of a cell, as a logarithm: an octave.
const HALF: f64 = std::f64::consts::LN_2;

/// Points whose x is within two octaves.
struct Cell {
    groups: Range<usize>,
    /// A typical ln y, taken from all before they are squared, so that little cancels.
    level: f64,
    /// x at the nodes of the interpolation.
    nodes: [f64; TERMS],
    /// ln g, less the typical ln y, for each of the known shapes.
    known: Vec<Polynomial>,
}

/// All points, in cells.
pub(super) struct Cells {
    cells: Vec<Cell>,
    /// For each group, sums over the cell's points up to it.
    sums: Vec<PowerSums>,
    /// For each group, the number of its cell.
    cell_of: Vec<u32>,
    /// Shapes that are known beforehand in each cell.
    shapes: Vec<Shape>,
    interpolation: Interpolation,
}

impl Cells {
    pub(super) fn new(sample: &Sample) -> Cells {
        let groups = sample.groups();
        let shapes = shapes_between(Span { from: sample.x(0), to: sample.x(groups - 1) });
        let interpolation = Interpolation::new();
        let mut cells = Cells { cells: vec![], sums: vec![], cell_of: vec![], shapes, interpolation };
        let number = |group: usize| (sample.x(group).ln() / (2.0 * HALF)).floor();
        let mut from = 0;
        while from < groups {
            let here = number(from);
            let to = (from + 1..groups).find(|&group| number(group) != here).unwrap_or(groups);
            cells.add(sample, from..to, (2.0 * here + 1.0) * HALF);
            from = to;
        }
        cells
    }

    fn add(&mut self, sample: &Sample, groups: Range<usize>, middle: f64) {
        let points = sample.points(&groups);
        let level = points[points.len() / 2].1.ln();
        let nodes = self.interpolation.nodes.map(|t| (middle + HALF * t).exp());
        let known = |shape: &Shape| self.interpolation.through(&nodes.map(|x| shape.at(x).ln() - level));
        let cell = Cell { groups, level, nodes, known: self.shapes.iter().map(known).collect() };
        let mut sums = PowerSums::NONE;
        for group in cell.groups.clone() {
            let t = (sample.x(group).ln() - middle) / HALF;
            sample.points(&(group..group + 1)).iter().for_each(|&(_, y)| sums.add(t, y.ln() - level));
            self.sums.push(sums);
            self.cell_of.push(self.cells.len() as u32);
        }
        self.cells.push(cell);
    }

    /// The points of these groups.
    pub(super) fn run(&self, groups: Range<usize>) -> Run<'_> {
        let (first, last) = (self.cell_of[groups.start] as usize, self.cell_of[groups.end - 1] as usize);
        let part = |cell: &'_ Cell| {
            let sums = self.sums[cell.groups.end.min(groups.end) - 1];
            if groups.start > cell.groups.start { sums.minus(&self.sums[groups.start - 1]) } else { sums }
        };
        let parts: Vec<(&Cell, PowerSums)> = self.cells[first..=last].iter().map(|cell| (cell, part(cell))).collect();
        let count = parts.iter().map(|(_, sums)| sums.count()).sum();
        Run { parts, count, shapes: &self.shapes, interpolation: &self.interpolation }
    }
}

/// The points of a segment.
pub(super) struct Run<'a> {
    /// Those of each cell.
    parts: Vec<(&'a Cell, PowerSums)>,
    count: f64,
    shapes: &'a [Shape],
    interpolation: &'a Interpolation,
}

impl Run<'_> {
    /// The best of the known shapes. Those whose ratio is far off the span differ little from its ends.
    pub(super) fn best_known(&self, span: Span) -> Shape {
        let inside = |shape: &Shape| shape.bends_within(span);
        let known = self.shapes.iter().enumerate().filter(|(_, shape)| inside(shape));
        let judged = known.map(|(index, shape)| (self.misfit_of_known(index), *shape));
        judged.min_by(|a, b| a.0.total_cmp(&b.0)).map_or(Shape::PROPORTIONAL, |best| best.1)
    }

    fn misfit_of_known(&self, index: usize) -> f64 {
        let curves = || self.parts.iter().map(|(cell, sums)| (sums, cell.known[index]));
        let level = curves().map(|(sums, curve)| sums.errors() - sums.values(&curve)).sum::<f64>() / self.count;
        curves().map(|(sums, curve)| sums.squares(&curve.raised(level))).sum()
    }

    fn curve(&self, cell: &Cell, value: impl Fn(f64) -> f64) -> Polynomial {
        self.interpolation.through(&from_fn(|i| value(cell.nodes[i])))
    }
}

impl Landscape for Run<'_> {
    fn errors(&self, shape: &Shape) -> Errors {
        let (mut level, mut lever) = (0.0, 0.0);
        let mut curves = Vec::with_capacity(self.parts.len());
        for (cell, sums) in &self.parts {
            let values = self.curve(cell, |x| shape.at(x).ln() - cell.level);
            let levers = self.curve(cell, |x| shape.lever(x));
            level += (sums.errors() - sums.values(&values)) / self.count;
            lever += sums.values(&levers) / self.count;
            curves.push((sums, values, levers));
        }
        let (mut dd, mut dg, mut gg) = (0.0, 0.0, 0.0);
        for (sums, values, levers) in curves {
            let (values, levers) = (values.raised(level), levers.raised(-lever));
            dd += sums.squares(&values);
            dg += sums.correlation(&levers) - sums.product(&values, &levers);
            gg += sums.product(&levers, &levers);
        }
        Errors { level, misfit: dd.max(0.0), step: if gg > 0.0 { dg / gg } else { 0.0 } }
    }
}
