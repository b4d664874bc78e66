//! Cables on the canvas: in one colour, or coloured by load with the fullest on top.

use super::canvas::{Canvas, Line};
use super::colour;
use crate::topology::LinkId;

/// Steps of the colour scale: cables in one step are one element.
const STEPS: usize = 40;

/// A cable, or several that look like one.
#[derive(Clone, Debug)]
pub struct Cable {
    pub line: Line,
    /// Its links in both directions.
    pub links: Vec<LinkId>,
    /// Pixels.
    pub width: f64,
}

/// Lines that look the same.
#[derive(Clone, Debug)]
struct SameWidth {
    width: f64,
    lines: Vec<Line>,
}

/// Knows the load of links, and which links have been drawn.
#[derive(Debug)]
pub struct Paint<'t> {
    load: Option<&'t [f64]>,
    failed: Vec<bool>,
    drawn: Vec<bool>,
}

impl<'t> Paint<'t> {
    /// Tells for each link whether it is to be shown as failed.
    pub fn new(failed: Vec<bool>, load: Option<&'t [f64]>) -> Paint<'t> {
        Paint { load, drawn: vec![false; failed.len()], failed }
    }

    /// Whether colours mean load.
    pub fn shows_load(&self) -> bool {
        self.load.is_some()
    }

    /// Nodes are plain where colours mean load.
    pub fn node(&self) -> &'static str {
        if self.shows_load() { colour::NODE_PLAIN } else { colour::NODE }
    }

    fn load_of(&self, link: LinkId) -> f64 {
        let load = self.load.and_then(|load| load.get(link as usize)).copied().unwrap_or(0.0);
        if load.is_nan() { 0.0 } else { load.clamp(0.0, 1.0) }
    }

    /// The highest load of some links, which count as drawn.
    pub fn highest(&mut self, links: impl IntoIterator<Item = LinkId>) -> f64 {
        let mut highest: f64 = 0.0;
        for link in links {
            self.drawn[link as usize] = true;
            highest = highest.max(self.load_of(link));
        }
        highest
    }

    /// The colour of something that stands for these links, if colours mean load.
    pub fn colour(&mut self, links: impl IntoIterator<Item = LinkId>) -> Option<String> {
        let highest = self.highest(links);
        self.shows_load().then(|| colour::of_load(highest))
    }

    /// How many links have failed.
    pub fn failed(&self) -> usize {
        self.failed.iter().filter(|failed| **failed).count()
    }

    /// Draws cables; where colours mean no load, with this opacity. Those that have failed, or of which some have, are dashed.
    pub fn cables(&mut self, canvas: &mut Canvas, cables: &[Cable], opacity: f64) {
        // Lines by step of the scale (one step if there is none), and by width within it.
        let mut steps: Vec<Vec<SameWidth>> = vec![Vec::new(); STEPS + 1];
        let is_failed = |cable: &&Cable| cable.links.iter().any(|&id| self.failed[id as usize]);
        let (broken, sound): (Vec<&Cable>, Vec<&Cable>) = cables.iter().partition(is_failed);
        for cable in sound {
            let load = self.highest(cable.links.iter().copied());
            let step = &mut steps[if self.shows_load() { (load * STEPS as f64).round() as usize } else { 0 }];
            match step.iter_mut().find(|same| same.width == cable.width) {
                Some(same) => same.lines.push(cable.line),
                None => step.push(SameWidth { width: cable.width, lines: vec![cable.line] }),
            }
        }
        for (step, widths) in steps.iter().enumerate() {
            for SameWidth { width, lines } in widths {
                if self.shows_load() {
                    canvas.lines(lines, &colour::of_load(step as f64 / STEPS as f64), width * 1.4, 1.0);
                } else {
                    canvas.lines(lines, colour::CABLE, *width, opacity);
                }
            }
        }
        for Cable { line: (from, to), links, .. } in broken {
            self.highest(links.iter().copied());
            canvas.dashed(*from, *to, colour::FAILED);
        }
    }

    /// The link with the highest load, and that load.
    pub fn busiest(&self) -> Option<(LinkId, f64)> {
        let loads = (0..self.drawn.len() as LinkId).map(|link| (link, self.load_of(link)));
        loads.fold(None, |best: Option<(LinkId, f64)>, new| match best {
            Some(best) if best.1 >= new.1 => Some(best),
            _ => Some(new),
        })
    }

    /// How many links are not in the picture, and the highest load among them.
    pub fn hidden(&self) -> (usize, f64) {
        let hidden = || (0..self.drawn.len()).filter(|&link| !self.drawn[link]);
        (hidden().count(), hidden().map(|link| self.load_of(link as LinkId)).fold(0.0, f64::max))
    }
}
