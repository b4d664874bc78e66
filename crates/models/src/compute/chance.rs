//! What a forecast cannot know for sure, and therefore draws: calls of kernels, the coefficients of fitted models, the
//! processors of a machine, the day.
//!
//! T. Cornebize's thesis (2021), section 5.2, tells apart the variability within a run, from processor to processor, and from
//! day to day. Fits add their own: coefficients are only as sure as the measurements make them.

use hpcast_engine::Key;
use hpcast_stats::{Matrix, MultivariateError, MultivariateNormal};

use super::file::ModelFile;
use super::kernel::Row;

/// Where chance comes in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Chance {
    /// Single calls of kernels, and pivots.
    Calls,
    /// How well measurements determine the coefficients of models.
    Coefficients,
}

impl Chance {
    /// All of them.
    pub const ALL: [Chance; 2] = [Chance::Calls, Chance::Coefficients];

    /// What people call it.
    pub fn name(self) -> &'static str {
        match self {
            Chance::Calls => "calls",
            Chance::Coefficients => "coefficients",
        }
    }
}

/// The seeds of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Seeds {
    /// Of calls and pivots.
    pub calls: u64,
    /// Of coefficients; none: they are as in the file.
    pub coefficients: Option<u64>,
}

impl ModelFile {
    /// Whether it says how large a chance is.
    pub fn knows(&self, chance: Chance) -> bool {
        let rows = || self.kernels.values().flat_map(|kernel| &kernel.rows);
        match chance {
            // Pivots are drawn in any case.
            Chance::Calls => true,
            Chance::Coefficients => rows().any(|row| !row.covariance.is_empty()),
        }
    }

    /// The models of one run: what its seeds draw.
    pub fn drawn(&self, seeds: &Seeds) -> ModelFile {
        let mut file = self.clone();
        if let Some(seed) = seeds.coefficients {
            for (name, kernel) in &mut file.kernels {
                let stream = Key::new(seed).purpose(&format!("coefficients of {name}"));
                for (number, row) in (0..).zip(&mut kernel.rows) {
                    let uniforms: Vec<f64> =
                        (0..row.seconds.len()).map(|place| stream.uniform(number, place as u64)).collect();
                    // Readers and fits make sure that there is such a distribution.
                    if let Some(Ok(distribution)) = row.distribution() {
                        row.seconds = distribution.draw(&uniforms);
                    }
                }
            }
        }
        file
    }
}

impl Row {
    /// What the coefficients may really be, as far as measurements tell; none if that is not known.
    pub fn distribution(&self) -> Option<Result<MultivariateNormal, MultivariateError>> {
        if self.covariance.is_empty() {
            return None;
        }
        Some(MultivariateNormal::new(self.seconds.clone(), Matrix::symmetric(self.seconds.len(), &self.covariance)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compute::Kernel;

    fn file() -> ModelFile {
        let row = |processor, covariance: &[f64]| Row {
            processor,
            seconds: vec![1e-6, 7e-11],
            covariance: covariance.into(),
            ..Row::default()
        };
        let terms = vec!["1".parse().unwrap(), "M*N*K".parse().unwrap()];
        // The second row is sure to 10 % and 2 %, and errors of the two go against each other.
        let unsure = [1e-14, -0.5 * 1e-7 * 1.4e-12, 1.96e-24];
        let kernel = Kernel::new(terms, vec![row(None, &[]), row(Some((0, 0)), &unsure)]);
        ModelFile { kernels: [("dgemm".to_owned(), kernel)].into(), ..ModelFile::default() }
    }

    #[test]
    fn draws_spread_as_far_as_the_covariance_says() {
        let file = file();
        assert!(file.knows(Chance::Coefficients) && !ModelFile::default().knows(Chance::Coefficients));
        let draw = |seed: u64| file.drawn(&Seeds { coefficients: Some(seed), ..Seeds::default() });
        let draws: Vec<Vec<f64>> = (0..4000).map(|seed| draw(seed).kernels["dgemm"].rows[1].seconds.clone()).collect();
        let found = MultivariateNormal::of_samples(&draws).unwrap();
        let covariance = found.covariance();
        assert!((covariance[(0, 0)] / 1e-14 - 1.0).abs() < 0.1 && (covariance[(1, 1)] / 1.96e-24 - 1.0).abs() < 0.1);
        let correlation = covariance[(0, 1)] / (covariance[(0, 0)] * covariance[(1, 1)]).sqrt();
        assert!((correlation + 0.5).abs() < 0.05, "{correlation}");
        assert!((found.mean()[1] / 7e-11 - 1.0).abs() < 0.002, "{:?}", found.mean());
    }

    #[test]
    fn what_is_sure_stays_and_the_same_seed_gives_the_same() {
        let file = file();
        let seeds = Seeds { coefficients: Some(3), ..Seeds::default() };
        let drawn = file.drawn(&seeds);
        assert_eq!(drawn, file.drawn(&seeds));
        assert_eq!(drawn.kernels["dgemm"].rows[0], file.kernels["dgemm"].rows[0]);
        assert_ne!(drawn, file);
        assert_eq!(file.drawn(&Seeds::default()), file);
    }
}
