//! Smooth functions over a short interval as polynomials, and sums over points from sums of powers.

use std::array::from_fn;

/// Degree of the polynomials.
const DEGREE: usize = 8;
/// Coefficients of a polynomial.
pub(super) const TERMS: usize = DEGREE + 1;
/// Powers that the square of a polynomial has.
const POWERS: usize = 2 * DEGREE + 1;

/// A polynomial of t between -1 and 1, lowest power first.
#[derive(Clone, Copy, Debug)]
pub(super) struct Polynomial([f64; TERMS]);

impl Polynomial {
    /// With this added.
    pub(super) fn raised(mut self, constant: f64) -> Polynomial {
        self.0[0] += constant;
        self
    }
}

/// Turns values at Chebyshev nodes into a polynomial.
pub(super) struct Interpolation {
    pub(super) nodes: [f64; TERMS],
    /// For each power, the weights of the values.
    weights: [[f64; TERMS]; TERMS],
}

impl Interpolation {
    pub(super) fn new() -> Interpolation {
        let nodes = from_fn(|i| -((2 * i + 1) as f64 * std::f64::consts::PI / (2 * TERMS) as f64).cos());
        let basis: [[f64; TERMS]; TERMS] = from_fn(|node| lagrange(&nodes, node));
        Interpolation { nodes, weights: from_fn(|power| from_fn(|node| basis[node][power])) }
    }

    pub(super) fn through(&self, values: &[f64; TERMS]) -> Polynomial {
        Polynomial(from_fn(|power| dot(&self.weights[power], values)))
    }
}

/// The polynomial that is 1 at one node and 0 at the others.
fn lagrange(nodes: &[f64; TERMS], node: usize) -> [f64; TERMS] {
    let mut product = [0.0; TERMS];
    product[0] = 1.0;
    for (_, other) in nodes.iter().enumerate().filter(|&(i, _)| i != node) {
        let scale = 1.0 / (nodes[node] - other);
        product = from_fn(|i| scale * (if i > 0 { product[i - 1] } else { 0.0 } - other * product[i]));
    }
    product
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Sums over points (t, e) that give the sums of (e - p(t)) and its square for any polynomial p.
#[derive(Clone, Copy, Debug)]
pub(super) struct PowerSums {
    /// Of t^k; the first is the number of points.
    powers: [f64; POWERS],
    /// Of e t^k.
    products: [f64; TERMS],
    /// Of e^2.
    square: f64,
}

impl PowerSums {
    pub(super) const NONE: PowerSums = PowerSums { powers: [0.0; POWERS], products: [0.0; TERMS], square: 0.0 };

    pub(super) fn add(&mut self, t: f64, e: f64) {
        let mut power = 1.0;
        for k in 0..POWERS {
            self.powers[k] += power;
            if k < TERMS {
                self.products[k] += power * e;
            }
            power *= t;
        }
        self.square += e * e;
    }

    pub(super) fn minus(&self, other: &PowerSums) -> PowerSums {
        PowerSums {
            powers: from_fn(|k| self.powers[k] - other.powers[k]),
            products: from_fn(|k| self.products[k] - other.products[k]),
            square: self.square - other.square,
        }
    }

    pub(super) fn count(&self) -> f64 {
        self.powers[0]
    }

    /// Sum of e.
    pub(super) fn errors(&self) -> f64 {
        self.products[0]
    }

    /// Sum of p(t).
    pub(super) fn values(&self, p: &Polynomial) -> f64 {
        dot(&self.powers[..TERMS], &p.0)
    }

    /// Sum of p(t) q(t).
    pub(super) fn product(&self, p: &Polynomial, q: &Polynomial) -> f64 {
        (0..TERMS).map(|k| p.0[k] * dot(&self.powers[k..k + TERMS], &q.0)).sum()
    }

    /// Sum of e p(t).
    pub(super) fn correlation(&self, p: &Polynomial) -> f64 {
        dot(&self.products, &p.0)
    }

    /// Sum of (e - p(t))^2.
    pub(super) fn squares(&self, p: &Polynomial) -> f64 {
        self.square - 2.0 * self.correlation(p) + self.product(p, p)
    }
}
