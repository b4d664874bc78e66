//! What a forecast cannot know for sure, and therefore draws: calls of kernels, the coefficients of fitted models, the
//! processors of a machine, the day, what messages cost.
//!
//! T. Cornebize's thesis (2021), section 5.2, tells apart the variability within a run, from processor to processor, and from
//! day to day. Fits add their own: coefficients are only as sure as the measurements make them.

use hpcast_engine::Key;
use hpcast_stats::{Matrix, MultivariateError, MultivariateNormal};

use super::file::ModelFile;
use super::kernel::Row;
use crate::network::NetworkModel;

/// Where chance comes in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Chance {
    /// Single calls of kernels, and pivots.
    Calls,
    /// How well measurements determine the coefficients of models.
    Coefficients,
    /// Which processors the machine happens to have.
    Nodes,
    /// Good days and bad ones.
    Days,
    /// How well measurements determine what messages cost.
    Network,
}

impl Chance {
    /// All of them.
    pub const ALL: [Chance; 5] = [Chance::Calls, Chance::Coefficients, Chance::Nodes, Chance::Days, Chance::Network];

    /// What people call it.
    pub fn name(self) -> &'static str {
        match self {
            Chance::Calls => "calls",
            Chance::Coefficients => "coefficients",
            Chance::Nodes => "nodes",
            Chance::Days => "days",
            Chance::Network => "network",
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
    /// Of processors that have no coefficients of their own, where there is a population.
    pub nodes: u64,
    /// The day, where there is a population; none: the mean over days.
    pub day: Option<u32>,
    /// Of what messages cost; none: it is as in the file.
    pub network: Option<u64>,
}

impl ModelFile {
    /// Whether it says how large a chance is, on a machine with so many processors.
    pub fn knows(&self, chance: Chance, processors: u64) -> bool {
        let mut kernels = self.kernels.values();
        match chance {
            // Pivots are drawn in any case.
            Chance::Calls => true,
            Chance::Coefficients => kernels.flat_map(|kernel| &kernel.rows).any(|row| !row.covariance.is_empty()),
            Chance::Nodes => kernels
                .any(|kernel| kernel.population.is_some() && (kernel.processors().count() as u64 - 1) < processors),
            Chance::Days => {
                let mut populations = kernels.filter_map(|kernel| kernel.population.as_ref());
                populations.any(|found| found.groups().iter().any(|group| group.days.differ()))
            }
            Chance::Network => self.network.as_ref().is_some_and(NetworkModel::has_errors),
        }
    }

    /// The models of one run on a machine with these nodes and sockets on each: what its seeds draw.
    pub fn drawn(&self, seeds: &Seeds, nodes: u32, sockets: u32) -> ModelFile {
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
        if let (Some(seed), Some(network)) = (seeds.network, &mut file.network) {
            *network = network.drawn(seed);
        }
        for kernel in file.kernels.values_mut().filter(|kernel| kernel.population.is_some()) {
            let processors = (0..nodes)
                .flat_map(|node| (0..sockets.max(1)).map(move |socket| (node.saturating_add(self.first_node), socket)));
            *kernel = kernel.of_cluster(seeds.nodes, processors);
            if let Some(day) = seeds.day {
                // Another cluster has the same days: the two are drawn apart.
                *kernel = kernel.on_day(0, day);
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
    use hpcast_platform::diagnostic::Source;

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
        assert!(file.knows(Chance::Coefficients, 2) && !ModelFile::default().knows(Chance::Coefficients, 2));
        let draw = |seed: u64| file.drawn(&Seeds { coefficients: Some(seed), ..Seeds::default() }, 1, 1);
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
        let drawn = file.drawn(&seeds, 1, 1);
        assert_eq!(drawn, file.drawn(&seeds, 1, 1));
        assert_eq!(drawn.kernels["dgemm"].rows[0], file.kernels["dgemm"].rows[0]);
        assert_ne!(drawn, file);
        assert_eq!(file.drawn(&Seeds::default(), 1, 1), file);
    }

    #[test]
    fn clusters_and_days_are_drawn_apart() {
        let text = "name = \"p\"\n[kernel.dgemm]\nterms = [\"M*N*K\"]\nseconds = [7e-11]\n\
                    [[kernel.dgemm.population.groups]]\nshare = 1\nseconds = [7e-11]\ncovariance = [4e-24]\n\
                    [kernel.dgemm.population.days]\nprocessor = [1e-24]\n";
        let file = ModelFile::parse(&Source::new("p.toml", text)).unwrap();
        assert!(file.knows(Chance::Nodes, 2) && file.knows(Chance::Days, 2) && !file.knows(Chance::Coefficients, 2));
        let slope = |nodes: u64, day: Option<u32>| {
            let drawn = file.drawn(&Seeds { nodes, day, ..Seeds::default() }, 3, 2);
            drawn.kernels["dgemm"].rows[1..].iter().map(|row| row.seconds[0]).collect::<Vec<f64>>()
        };
        assert_eq!(slope(1, None).len(), 6);
        assert_ne!(slope(1, None), slope(2, None));
        assert_ne!(slope(1, Some(1)), slope(1, Some(2)));
        let change = |nodes: u64| slope(nodes, Some(4)).iter().zip(slope(nodes, None)).map(|(a, b)| a - b).collect();
        let (one, other): (Vec<f64>, Vec<f64>) = (change(1), change(2));
        assert!(one.iter().zip(&other).all(|(a, b)| (a - b).abs() < 1e-20), "{one:?} {other:?}");
    }
}
