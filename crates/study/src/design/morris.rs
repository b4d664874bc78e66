//! Points for elementary effects: ways through a grid on which each factor changes once, in random order.
//!
//! M. D. Morris, "Factorial sampling plans for preliminary computational experiments", Technometrics 33, 1991. With a grid
//! of p places, a step is p / (2 (p - 1)) of the range, so that all places are equally likely. The step is longer than
//! half of the range: a factor with levels, which share the range evenly, always changes its level.

use hpcast_engine::random::Key;

use super::{Design, DesignError, Domain, Structure, settings};

/// Ways through the grid, one after the other; each has one point more than there are factors.
#[derive(Clone, Debug, PartialEq)]
pub struct Trajectories {
    /// For each way, which factor changes on each step, and by how much of its range.
    pub steps: Vec<Vec<(usize, f64)>>,
}

impl Trajectories {
    /// The numbers of the points before and after a step.
    pub fn points(&self, trajectory: usize, step: usize) -> (usize, usize) {
        let before: usize = self.steps[..trajectory].iter().map(|steps| steps.len() + 1).sum::<usize>() + step;
        (before, before + 1)
    }
}

pub(super) fn count(domains: &[Domain], trajectories: usize, grid: usize) -> Result<u128, DesignError> {
    if trajectories == 0 {
        return Err(DesignError::NoPoints);
    }
    if grid % 2 == 1 || !(2..=1000).contains(&grid) {
        return Err(DesignError::Grid { grid });
    }
    match domains.iter().position(|domain| domain.levels() == Some(1)) {
        Some(factor) => Err(DesignError::SingleLevel { factor }),
        None => Ok((trajectories as u128).saturating_mul(domains.len() as u128 + 1)),
    }
}

pub(super) fn make(domains: &[Domain], trajectories: usize, grid: usize, seed: u64) -> Design {
    let (places, orders) = (Key::new(seed).purpose("Morris place"), Key::new(seed).purpose("Morris order"));
    let (jump, last) = (grid / 2, (grid - 1) as f64);
    let mut points = Vec::new();
    let mut steps = Vec::new();
    for trajectory in 0..trajectories {
        // Half of the places allow a step up, the other half one down.
        let mut at: Vec<usize> = (0..)
            .take(domains.len())
            .map(|factor| places.below(grid as u64, factor, trajectory as u64) as usize)
            .collect();
        let mut order: Vec<usize> = (0..domains.len()).collect();
        orders.shuffle(&mut order, trajectory as u32);
        let point = |at: &[usize]| settings(domains, at.iter().map(|&place| place as f64 / last));
        points.push(point(&at));
        let mut own = Vec::with_capacity(order.len());
        for factor in order {
            let before = at[factor];
            at[factor] = if before < jump { before + jump } else { before - jump };
            own.push((factor, (at[factor] as f64 - before as f64) / last));
            points.push(point(&at));
        }
        steps.push(own);
    }
    Design { points, structure: Structure::Morris(Trajectories { steps }) }
}
