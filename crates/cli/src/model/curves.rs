//! What a model says, as curves to draw.

use std::collections::BTreeMap;

use hpcast_calibrate::compare::{ASSUMED, spread};
use hpcast_models::compute::{Arguments, BoundKernel, Kernel, Term};
use hpcast_report::{Curve, CurvePoint, Curves};

/// Between these parts of all calls are 95 % of them.
pub(super) const MOST_CALLS: [f64; 2] = [0.025, 0.975];
/// Places of a curve, and of one of many.
const STEPS: usize = 96;
const FEW_STEPS: usize = 24;
/// Processors that are drawn, at most.
const MOST_PROCESSORS: usize = 64;

/// The one product of arguments that a model depends on, if it is one.
pub(super) fn expression(kernel: &Kernel) -> Option<Term> {
    let mut products = kernel.terms.iter().chain(&kernel.split).filter(|term| **term != Term::one());
    let first = products.next()?;
    products.all(|other| other == first).then(|| first.clone())
}

/// A way through the sizes of a model, to draw it along.
pub(super) struct Walk {
    /// What the axis says.
    pub label: String,
    arguments: Vec<String>,
    ranges: Vec<[f64; 2]>,
    /// The argument that moves; none if all do.
    moving: Option<usize>,
    /// What is on the axis.
    axis: Term,
}

impl Walk {
    /// Along what models depend on: the one product of arguments, or each argument in turn, with the others in the middle.
    pub fn all(kernels: &[&Kernel], ranges: &BTreeMap<String, [f64; 2]>) -> Vec<Walk> {
        let mut arguments: Vec<String> = Vec::new();
        for name in kernels.iter().flat_map(|kernel| kernel.arguments()) {
            if !arguments.iter().any(|known| known == name) {
                arguments.push(name.to_owned());
            }
        }
        let ranges: Vec<[f64; 2]> =
            arguments.iter().map(|name| ranges.get(name).copied().unwrap_or(ASSUMED)).map(above_zero).collect();
        let walk = |label: String, moving, axis| Walk {
            label,
            arguments: arguments.clone(),
            ranges: ranges.clone(),
            moving,
            axis,
        };
        let products: Vec<Option<Term>> = kernels.iter().map(|kernel| expression(kernel)).collect();
        if let [Some(first), others @ ..] = &products[..]
            && others.iter().all(|other| other.as_ref() == Some(first))
        {
            return vec![walk(first.to_string(), None, first.clone())];
        }
        let along = |(place, name): (usize, &String)| {
            let others = arguments.iter().zip(&ranges).enumerate().filter(|(other, _)| *other != place);
            let others: Vec<String> =
                others.map(|(_, (name, range))| format!("{name} {:.0}", middle(*range))).collect();
            let with = if others.is_empty() { String::new() } else { format!(", with {}", others.join(", ")) };
            Some(walk(format!("{name}{with}"), Some(place), name.parse().ok()?))
        };
        arguments.iter().enumerate().filter_map(along).collect()
    }

    /// Its places: what is on the axis, and the arguments.
    fn places(&self, steps: usize) -> Vec<(f64, Vec<f64>)> {
        let mut places: Vec<(f64, Vec<f64>)> = Vec::new();
        let ways: Vec<Vec<f64>> = self.ranges.iter().map(|range| even(*range, steps)).collect();
        for step in 0..=steps {
            let value = |(place, way): (usize, &Vec<f64>)| match self.moving {
                Some(moving) if moving != place => middle(self.ranges[place]),
                _ => way[step],
            };
            let arguments: Vec<f64> = ways.iter().enumerate().map(value).collect();
            let at = |name: &str| self.arguments.iter().position(|known| known == name).map_or(0.0, |i| arguments[i]);
            places.push((self.axis.value(at), arguments));
        }
        places
    }

    /// A model along it, on a processor.
    pub fn curve(&self, bound: &BoundKernel, processor: usize, name: String, colour: Option<usize>) -> Curve {
        let steps = if colour.is_some() { STEPS } else { FEW_STEPS };
        let point = |(x, arguments): (f64, Vec<f64>)| {
            let arguments = Arguments::from_slice(&arguments);
            let calls = MOST_CALLS.map(|part| bound.quantile(processor, &arguments, part));
            CurvePoint { x, seconds: bound.expectation(processor, &arguments), calls }
        };
        Curve { name, colour, points: self.places(steps).into_iter().map(point).collect() }
    }

    /// A model for those processors that are not listed, and those that are, or only for one.
    pub fn curves(&self, kernel: &Kernel, one: Option<(u32, u32)>) -> Curves {
        let mut curves = Vec::new();
        let names: Vec<&str> = self.arguments.iter().map(String::as_str).collect();
        if let Ok(bound) = BoundKernel::new(kernel, &names) {
            let number = one.map_or(0, |(node, socket)| bound.processor(node, socket));
            curves.push(self.curve(&bound, number, "model".into(), Some(1)));
            let listed: Vec<(u32, u32)> = kernel.processors().filter_map(|rows| rows[0].processor).collect();
            let step = listed.len().div_ceil(MOST_PROCESSORS).max(1);
            for (node, socket) in listed.into_iter().step_by(step).filter(|_| one.is_none()) {
                let name = format!("node {node}, socket {socket}");
                curves.push(self.curve(&bound, bound.processor(node, socket), name, None));
            }
        }
        Curves { argument: self.label.clone(), curves }
    }

    /// The arguments, in the order in which models are asked along it.
    pub fn arguments(&self) -> Vec<&str> {
        self.arguments.iter().map(String::as_str).collect()
    }
}

/// Orders of magnitude begin above zero.
fn above_zero([low, high]: [f64; 2]) -> [f64; 2] {
    let low = if low > 0.0 { low } else { high.min(1.0) };
    [low, high]
}

fn middle([low, high]: [f64; 2]) -> f64 {
    (low * high).sqrt().round().clamp(low, high)
}

/// As many values as steps, and one, evenly over the orders of magnitude.
fn even(range: [f64; 2], steps: usize) -> Vec<f64> {
    let [low, high] = range;
    let values = spread(range, steps);
    // Few whole numbers lie between the ends.
    if values.len() == steps + 1 {
        values
    } else {
        (0..=steps).map(|i| low * (high / low).powf(i as f64 / steps as f64)).collect()
    }
}
