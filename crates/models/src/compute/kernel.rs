//! One kernel: a polynomial of its arguments, processor by processor, with noise or without.

use std::collections::HashMap;

use hpcast_stats::HalfNormal;

use super::term::{Arguments, Term};

/// How long a kernel takes: the expectation is a sum of terms with coefficients in seconds, and so is the standard
/// deviation, around which single calls follow a half-normal distribution (T. Cornebize's thesis, sections 5.1 and 5.2).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Kernel {
    terms: Vec<Term>,
    /// The first is for processors that have no row of their own.
    rows: Vec<Row>,
    /// Where the row of a processor is.
    places: HashMap<(u32, u32), usize>,
    is_noisy: bool,
}

/// The coefficients on one processor, one a term, in seconds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Row {
    /// Node and socket; none for all that are not listed.
    pub processor: Option<(u32, u32)>,
    /// Of the expectation.
    pub seconds: Vec<f64>,
    /// Of the standard deviation; empty if there is no noise.
    pub deviation: Vec<f64>,
}

impl Kernel {
    /// Takes no time, whatever its arguments.
    pub fn free() -> Kernel {
        Kernel { rows: vec![Row::default()], ..Kernel::default() }
    }

    /// The first row is for processors that are not listed.
    ///
    /// # Panics
    /// If there is no row, or a row does not have one coefficient a term.
    pub fn new(terms: Vec<Term>, rows: Vec<Row>) -> Kernel {
        assert!(rows.first().is_some_and(|row| row.processor.is_none()), "the first row is for all other processors");
        for row in &rows {
            assert_eq!(row.seconds.len(), terms.len(), "one coefficient a term");
            assert!(row.deviation.is_empty() || row.deviation.len() == terms.len(), "one coefficient a term");
        }
        let is_noisy = rows.iter().any(|row| row.deviation.iter().any(|&coefficient| coefficient != 0.0));
        let places = (0..).zip(&rows).filter_map(|(place, row)| Some((row.processor?, place))).collect();
        Kernel { terms, rows, places, is_noisy }
    }

    /// The terms.
    pub fn terms(&self) -> &[Term] {
        &self.terms
    }

    /// The rows; the first is for processors that are not listed.
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// Whether calls differ by chance.
    #[inline]
    pub fn is_noisy(&self) -> bool {
        self.is_noisy
    }

    /// The same without noise.
    pub fn without_noise(mut self) -> Kernel {
        for row in &mut self.rows {
            row.deviation.clear();
        }
        self.is_noisy = false;
        self
    }

    /// The number of the row for a processor.
    pub fn row(&self, node: u32, socket: u32) -> usize {
        self.places.get(&(node, socket)).copied().unwrap_or(0)
    }

    /// The expected duration in seconds.
    #[inline]
    pub fn expectation(&self, row: usize, arguments: &Arguments) -> f64 {
        self.sum(&self.rows[row].seconds, arguments)
    }

    /// The duration of one call in seconds, never negative; `random` gives 64 random bits where they are needed.
    #[inline]
    pub fn duration(&self, row: usize, arguments: &Arguments, random: impl FnOnce() -> u64) -> f64 {
        let expectation = self.expectation(row, arguments);
        if !self.is_noisy {
            return expectation.max(0.0);
        }
        let deviation = self.sum(&self.rows[row].deviation, arguments);
        HalfNormal { expectation, deviation }.draw(random()).max(0.0)
    }

    #[inline]
    fn sum(&self, coefficients: &[f64], arguments: &Arguments) -> f64 {
        self.terms.iter().zip(coefficients).map(|(term, coefficient)| coefficient * term.of(arguments)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kernel() -> Kernel {
        let terms = vec!["1".parse().unwrap(), "M*N*K".parse().unwrap()];
        let row = |processor, seconds: [f64; 2], deviation: &[f64]| Row {
            processor,
            seconds: seconds.into(),
            deviation: deviation.into(),
        };
        let rows = vec![row(None, [1.0, 2.0], &[]), row(Some((3, 1)), [0.0, 4.0], &[1.0, 0.0])];
        Kernel::new(terms, rows)
    }

    #[test]
    fn each_processor_has_its_row() {
        let kernel = kernel();
        let arguments = Arguments::mnk(1, 2, 3);
        assert_eq!([kernel.row(3, 1), kernel.row(3, 0), kernel.row(0, 1)], [1, 0, 0]);
        assert_eq!(kernel.expectation(0, &arguments), 13.0);
        assert_eq!(kernel.expectation(1, &arguments), 24.0);
    }

    #[test]
    fn noise_is_drawn_around_the_expectation_and_can_be_left_out() {
        let kernel = kernel();
        let arguments = Arguments::mnk(1, 2, 3);
        let draws: f64 = (0..1000).map(|i| kernel.duration(1, &arguments, || u64::MAX / 1000 * i)).sum();
        assert!((draws / 1000.0 - 24.0).abs() < 1e-2);
        assert_ne!(kernel.duration(1, &arguments, || u64::MAX), 24.0);
        assert_eq!(kernel.without_noise().duration(1, &arguments, || unreachable!()), 24.0);
    }

    #[test]
    fn no_call_takes_less_than_nothing() {
        let terms = vec!["1".parse().unwrap()];
        let rows = vec![Row { processor: None, seconds: vec![1.0], deviation: vec![5.0] }];
        assert_eq!(Kernel::new(terms, rows).duration(0, &Arguments::n(1), || 0), 0.0);
        assert_eq!(Kernel::free().duration(0, &Arguments::n(1), || 0), 0.0);
    }
}
