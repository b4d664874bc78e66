//! One kernel: a polynomial of its arguments, processor by processor, with noise or without.

use std::collections::{BTreeMap, HashMap};

use super::noise::Noise;
use super::population::Population;
use super::roofline::{RooflineFigures, RooflineModel};
use super::term::Term;

/// How long a kernel takes, as a model file says it: the expectation is a sum of terms with coefficients in seconds, and so
/// is the standard deviation of single calls (T. Cornebize's thesis, sections 5.1 and 5.2).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Kernel {
    /// The terms of both sums.
    pub terms: Vec<Term>,
    /// Instead of terms: arithmetic and traffic.
    pub roofline: Option<RooflineModel>,
    /// Where there are pieces: what decides between them.
    pub split: Option<Term>,
    /// How calls differ.
    pub noise: Noise,
    /// The coefficients: first those for processors that are not listed, then processor by processor, each with its pieces
    /// in order.
    pub rows: Vec<Row>,
    /// The arguments that were measured, by name: least and most.
    pub measured: BTreeMap<String, [f64; 2]>,
    /// How processors and days differ, where that is known.
    pub population: Option<Population>,
    /// How well it fits, if it was fitted.
    pub fit: Option<Fit>,
}

/// Coefficients, one a term, in seconds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Row {
    /// Node and socket; none for all that are not listed.
    pub processor: Option<(u32, u32)>,
    /// The number of its group, where there is a population.
    pub group: u32,
    /// The piece: for values of the split below this; none for the last piece.
    pub below: Option<f64>,
    /// Where the kernel has a roofline: what is reached on this processor.
    pub roofline: Option<RooflineFigures>,
    /// Of the expectation.
    pub seconds: Vec<f64>,
    /// Of the standard deviation; empty if there is no noise.
    pub deviation: Vec<f64>,
    /// How sure `seconds` is: the covariance of each pair of coefficients, row by row of the lower triangle; empty if that
    /// is not known.
    pub covariance: Vec<f64>,
    /// Degrees of freedom that the scatter behind `covariance` was estimated with; none if that is not known.
    pub freedom: Option<u64>,
}

/// What is known of a fit.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Fit {
    /// Measured calls.
    pub points: u64,
    /// Different sizes among them.
    pub sizes: u64,
    /// Part of the variance that the model explains.
    pub r_squared: f64,
    /// Mean of |model - measured| / measured, over sizes.
    pub relative_error: f64,
    /// Terms that were tried and left out, because they explain nothing.
    pub dropped: Vec<Term>,
    /// What the model misses.
    pub warnings: Vec<String>,
    /// How far off it is, from the shortest calls to the longest.
    pub ranges: Vec<ErrorRange>,
    /// What it was fitted to.
    pub data: Option<CallTable>,
}

/// How far off a fit is where calls take about as long.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ErrorRange {
    /// Modelled durations: from, and to below.
    pub seconds: [f64; 2],
    /// Different sizes there.
    pub sizes: u64,
    /// Mean of |model - measured| / measured over them.
    pub error: f64,
    /// Mean of (model - measured) / measured: above zero where the model says too much.
    pub bias: f64,
}

/// A table of measured calls, and how it is read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallTable {
    /// Its name, without folders.
    pub file: String,
    /// The column of each argument.
    pub arguments: BTreeMap<String, String>,
    /// The column of durations.
    pub seconds: String,
    /// The columns of node and socket, where processors are told apart.
    pub processor: Option<(String, String)>,
    /// The rows that count: those whose columns hold these texts.
    pub only: BTreeMap<String, String>,
}

impl Row {
    /// Puts the mean of all rows before them, for processors that are not listed, unless there is such a row. Pieces are
    /// those of the first processor: all have the same.
    pub fn with_mean(mut rows: Vec<Row>) -> Vec<Row> {
        if rows.iter().all(|row| row.processor.is_some()) {
            let mut limits: Vec<Option<f64>> = rows.iter().map(|row| row.below).collect();
            limits.truncate(rows.chunk_by(|a, b| a.processor == b.processor).next().map_or(1, <[Row]>::len));
            let means = limits.into_iter().map(|below| mean(rows.iter().filter(|row| row.below == below), below));
            let means: Vec<Row> = means.collect();
            rows.splice(0..0, means);
        }
        rows
    }
}

fn mean<'r>(rows: impl Iterator<Item = &'r Row>, below: Option<f64>) -> Row {
    let rows: Vec<&Row> = rows.collect();
    let mean = |list: fn(&Row) -> &Vec<f64>| -> Vec<f64> {
        let length = rows.iter().map(|row| list(row).len()).min().unwrap_or(0);
        (0..length).map(|i| rows.iter().map(|row| list(row)[i]).sum::<f64>() / rows.len() as f64).collect()
    };
    let rooflines: Option<Vec<RooflineFigures>> = rows.iter().map(|row| row.roofline).collect();
    Row {
        below,
        roofline: rooflines.filter(|figures| !figures.is_empty()).map(|figures| RooflineFigures::mean(&figures)),
        seconds: mean(|row| &row.seconds),
        deviation: mean(|row| &row.deviation),
        ..Row::default()
    }
}

impl Kernel {
    /// Takes no time, whatever its arguments.
    pub fn free() -> Kernel {
        Kernel { rows: vec![Row::default()], ..Kernel::default() }
    }

    /// The first row is for processors that are not listed.
    pub fn new(terms: Vec<Term>, rows: Vec<Row>) -> Kernel {
        Kernel { terms, rows, ..Kernel::default() }
    }

    /// Whether it takes no time.
    pub fn is_free(&self) -> bool {
        self.terms.is_empty() && self.roofline.is_none()
    }

    /// Whether calls differ by chance.
    pub fn is_noisy(&self) -> bool {
        matches!(self.noise, Noise::Modes(_))
            || self.rows.iter().any(|row| {
                row.deviation.iter().any(|&number| number != 0.0)
                    || row.roofline.is_some_and(|figures| figures.deviation != 0.0)
            })
    }

    /// The same without noise.
    pub fn without_noise(mut self) -> Kernel {
        self.noise = Noise::default();
        self.population = self.population.map(Population::without_noise);
        for row in &mut self.rows {
            row.deviation.clear();
            row.roofline.iter_mut().for_each(|figures| figures.deviation = 0.0);
        }
        self
    }

    /// The kernel on a cluster with these processors. Those with a row of their own keep it as their mean over days, others
    /// are drawn from the population, the same for the same seed. Without a population nothing is drawn.
    #[must_use]
    pub fn of_cluster(&self, seed: u64, processors: impl IntoIterator<Item = (u32, u32)>) -> Kernel {
        let Some(population) = &self.population else { return self.clone() };
        let listed: HashMap<(u32, u32), &Row> =
            self.rows.iter().filter_map(|row| Some((row.processor?, row))).collect();
        let row = |(node, socket): (u32, u32)| {
            let drawn = || Row { processor: Some((node, socket)), ..population.processor(seed, node, socket) };
            listed.get(&(node, socket)).map_or_else(drawn, |row| (*row).clone())
        };
        let rows = Row::with_mean(processors.into_iter().map(row).collect());
        Kernel { rows, ..self.clone() }
    }

    /// The same where processors and days are as they are.
    #[must_use]
    pub fn without_population(mut self) -> Kernel {
        self.population = None;
        self.rows.iter_mut().for_each(|row| row.group = 0);
        self
    }

    /// The kernel on one day, whose coefficients are drawn around those of its processors. Without a population all days
    /// are alike.
    #[must_use]
    pub fn on_day(&self, seed: u64, day: u32) -> Kernel {
        let Some(population) = &self.population else { return self.clone() };
        let on_day = |row: &Row| {
            let (node, socket) = row.processor?;
            Some(population.another_day(row, seed, node, socket, day))
        };
        Kernel { rows: Row::with_mean(self.rows.iter().filter_map(on_day).collect()), ..self.clone() }
    }

    /// The names of its arguments, each once.
    pub fn arguments(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        let work = self.roofline.iter().flat_map(|model| model.work.terms());
        for name in self.terms.iter().chain(&self.split).chain(work).flat_map(Term::names) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }

    /// Groups of rows that belong to the same processor.
    pub fn processors(&self) -> impl Iterator<Item = &[Row]> {
        self.rows.chunk_by(|a, b| a.processor == b.processor)
    }
}
