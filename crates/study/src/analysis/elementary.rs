//! Elementary effects: what a step of one factor changes, at many places.
//!
//! M. D. Morris, Technometrics 33, 1991: the mean says how much a factor matters, the deviation whether its effect depends
//! on where it is or on the other factors. The mean of absolute values (mu*) is that of F. Campolongo, J. Cariboni, A.
//! Saltelli, Environ. Model. Softw. 22, 2007: effects of both signs do not cancel.

use hpcast_stats::Sample;

use super::{AnalysisError, CONFIDENCE, data};
use crate::design::Trajectories;
use crate::frame::Frame;

/// The effects of a factor, each per whole range of the factor.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Elementary {
    /// Steps with both values.
    pub count: usize,
    /// The mean effect.
    pub mean: f64,
    /// The mean of the effects' absolute values: mu*.
    pub absolute: f64,
    /// Where the mean of absolute values lies with 95 % confidence; nothing for a single step.
    pub interval: Option<(f64, f64)>,
    /// The standard deviation of the effects: sigma; nothing for a single step.
    pub deviation: Option<f64>,
}

/// From the runs of a design by [`crate::design::Plan::Morris`]; nothing for a factor of which all steps failed.
pub fn effects(
    frame: &Frame,
    response: usize,
    trajectories: &Trajectories,
) -> Result<Vec<Option<Elementary>>, AnalysisError> {
    let means = data::point_means(frame, response)?;
    let expected = trajectories.steps.iter().map(|steps| steps.len() + 1).sum();
    if means.len() > expected {
        return Err(AnalysisError::OtherDesign { expected, found: means.len() });
    }
    Ok(of_values(&means, trajectories))
}

/// From the values of the points, in the order of the design.
pub fn of_values(values: &[Option<f64>], trajectories: &Trajectories) -> Vec<Option<Elementary>> {
    let factors = trajectories.steps.iter().flatten().map(|(factor, _)| factor + 1).max().unwrap_or(0);
    let mut effects: Vec<Vec<f64>> = vec![Vec::new(); factors];
    let value = |point: usize| values.get(point).copied().flatten();
    let mut point = 0;
    for steps in &trajectories.steps {
        for &(factor, by) in steps {
            effects[factor].extend(value(point).zip(value(point + 1)).map(|(before, after)| (after - before) / by));
            point += 1;
        }
        point += 1;
    }
    effects.iter().map(|effects| summary(effects)).collect()
}

fn summary(effects: &[f64]) -> Option<Elementary> {
    let plain = Sample::of(effects)?;
    let absolute = Sample::of(&effects.iter().map(|effect| effect.abs()).collect::<Vec<_>>())?;
    Some(Elementary {
        count: plain.count,
        mean: plain.mean,
        absolute: absolute.mean,
        interval: absolute.interval(CONFIDENCE),
        deviation: plain.variance.map(f64::sqrt),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::design::{Domain, Plan, Setting, Structure};

    fn run(factors: usize, trajectories: usize, f: impl Fn(&[f64]) -> Option<f64>) -> Vec<Option<Elementary>> {
        let design = Plan::Morris { trajectories, grid: 4 }.make(&vec![Domain::Range; factors], 4).unwrap();
        let Structure::Morris(ways) = &design.structure else { panic!() };
        let place = |setting: &Setting| match *setting {
            Setting::Coordinate(place) => place,
            Setting::Level(_) => panic!("a level"),
        };
        let value = |point: &Vec<Setting>| f(&point.iter().map(place).collect::<Vec<_>>());
        of_values(&design.points.iter().map(value).collect::<Vec<_>>(), ways)
    }

    /// Of a sum of lines, effects are the slopes and do not vary; of x y, the effect of x is y, on the grid of four places
    /// with mean 1/2 and variance 5/36.
    #[test]
    fn known_effects() {
        let found = run(4, 400, |x| Some(3.0 * x[0] - 2.0 * x[1] + 10.0 * x[2] * x[3]));
        let all: Vec<Elementary> = found.into_iter().flatten().collect();
        assert!((all[0].mean - 3.0).abs() < 1e-12 && all[0].deviation.unwrap() < 1e-12);
        assert!((all[1].mean + 2.0).abs() < 1e-12 && (all[1].absolute - 2.0).abs() < 1e-12);
        for pair in &all[2..] {
            assert!(
                (pair.absolute - 5.0).abs() < 0.6
                    && (pair.deviation.unwrap() - 10.0 * (5.0f64 / 36.0).sqrt()).abs() < 0.3
            );
            assert!(pair.interval.is_some_and(|(low, high)| low < 5.0 && high > 5.0));
        }
    }

    /// The parabola (x - 1/2)^2 on the grid 0, 1/3, 2/3, 1: steps up from 0 and 1/3 change it by -2/9 and 2/9, per 2/3.
    #[test]
    fn effects_of_both_signs_do_not_cancel() {
        let found = run(1, 200, |x| Some((x[0] - 0.5).powi(2)))[0].unwrap();
        assert!(found.mean.abs() < 0.06 && (found.absolute - 1.0 / 3.0).abs() < 1e-12);
    }

    #[test]
    fn failed_runs_are_left_out() {
        let found = run(2, 5, |x| (x[0] < 0.5).then_some(x[1]));
        assert_eq!(found[0], None);
        assert!(found[1].is_some_and(|own| own.count < 5 && (own.mean - 1.0).abs() < 1e-12));
    }
}
