//! How many runs of each kind come first.

use super::Options;
use super::space::Space;

/// From one kind of runs to the next, this part is done again.
const KEPT: f64 = 1.0 / 3.0;
/// The part of the budget for all kinds but full runs: with a third less is found on the factorial of the tests wherever cheap
/// runs cost more than a tenth of a full one, and nothing more elsewhere.
const CHEAP: f64 = 1.0 / 2.0;
/// The part of the budget for full runs before the model decides.
const FIRST: f64 = 1.0 / 3.0;
/// So many points of a large space are enough to begin with.
const MOST: usize = 500;

/// For each kind of runs, the cheapest first, how many are done before the model decides alone.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Rungs {
    planned: Vec<usize>,
}

impl Rungs {
    pub fn new(options: &Options, space: &Space) -> Rungs {
        let most = usize::try_from(space.points()).unwrap_or(usize::MAX).min(MOST);
        if options.cheaper.is_empty() {
            // A model of effects needs about a run for each.
            let wanted = (FIRST * options.budget).round().max(2.0).min(4.0 * space.effects() as f64);
            return Rungs { planned: vec![(wanted as usize).min(options.budget as usize).min(most)] };
        }
        // What a first run costs together with its share of the later, dearer ones.
        let shares = (0..).map(|rung| KEPT.powi(rung));
        let each: f64 = options.cheaper.iter().zip(shares).map(|(cost, share)| cost * share).sum();
        let first = (CHEAP * options.budget / each).floor().max(1.0).min(most as f64);
        let rung = |rung: usize| (first * KEPT.powi(rung as i32)).ceil() as usize;
        let mut planned: Vec<usize> = (0..options.cheaper.len()).map(rung).collect();
        let full = rung(options.cheaper.len()).min((FIRST * options.budget).ceil() as usize).max(1);
        planned.push(full);
        Rungs { planned }
    }

    /// How many runs of a kind come first.
    pub fn planned(&self, fidelity: usize) -> usize {
        self.planned.get(fidelity).copied().unwrap_or(0)
    }
}
