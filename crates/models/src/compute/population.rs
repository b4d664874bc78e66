//! Kernels that differ from processor to processor and from day to day: a distribution of coefficients.
//!
//! T. Cornebize's thesis, section 5.2.2: the coefficients of a processor on a day are normal around the processor's mean
//! (equation 5.4), and these means are normal around that of the cluster (equation 5.5), or a mixture of normals where some
//! nodes are slow. The thesis draws each processor's days independently. The days published with it are not independent:
//! most of a good or bad day is common to all processors, and nearly all of it to the sockets of a node. So the difference
//! of a day has three parts here, of which the thesis' model is the one with the third alone.

use hpcast_engine::random::Key;
use hpcast_stats::{Matrix, MultivariateError, MultivariateNormal};

use super::kernel::Row;
use super::term::Term;

/// How a kernel's coefficients are spread. All vectors hold first those of the expectation, then those of the deviation.
#[derive(Clone, Debug, PartialEq)]
pub struct Population {
    groups: Vec<Group>,
    grouped: Grouped,
    /// Terms of the kernel.
    terms: usize,
    /// Coefficients that cannot be negative.
    guarded: Vec<bool>,
}

/// Processors that are alike, such as those of nodes with a cooling problem.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// How many of all processors belong to it.
    pub share: f64,
    /// The means of its processors over days, and how they differ from processor to processor.
    pub processors: MultivariateNormal,
    /// How days differ for them: what is too hot is less steady, too.
    pub days: Days,
}

/// What belongs to a group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Grouped {
    /// Each processor for itself.
    #[default]
    Processors,
    /// All processors of a node together: what makes them slow is outside of them, such as the air that cools the node.
    Nodes,
}

/// What a day changes: normal around zero.
#[derive(Clone, Debug, PartialEq)]
pub struct Days {
    /// On all processors alike, on those of a node beside that, and on each processor beside that.
    parts: [MultivariateNormal; 3],
}

/// Why there is no such population.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PopulationError {
    /// No group.
    #[error("a population has at least one group")]
    NoGroup,
    /// Shares that are no parts of a whole.
    #[error("the shares of the groups add up to {sum}, or one is negative")]
    Shares {
        /// What they add up to.
        sum: f64,
    },
    /// Coefficients that do not belong to the terms.
    #[error("{found} coefficients for {terms} terms")]
    Coefficients {
        /// Coefficients of a mean or rows of a covariance.
        found: usize,
        /// Terms of the kernel.
        terms: usize,
    },
    /// Not a covariance.
    #[error(transparent)]
    Covariance(#[from] MultivariateError),
}

impl PopulationError {
    /// What to do about it.
    pub fn remedy(&self) -> &'static str {
        match self {
            PopulationError::NoGroup => "describe one",
            PopulationError::Shares { .. } => "write shares that add up to 1, and no negative numbers",
            PopulationError::Coefficients { .. } => {
                "give one coefficient of the expectation a term, and none or one a term of the deviation"
            }
            PopulationError::Covariance(error) => error.remedy(),
        }
    }
}

impl Days {
    /// With these covariances: of what a day changes on all processors alike, on all of a node beside that, and on each
    /// processor beside that.
    pub fn new(machine: Matrix, node: Matrix, processor: Matrix) -> Result<Days, MultivariateError> {
        let part = |covariance: Matrix| MultivariateNormal::new(vec![0.0; covariance.rows()], covariance);
        Ok(Days { parts: [part(machine)?, part(node)?, part(processor)?] })
    }

    /// Days that do not differ, for so many coefficients.
    pub fn alike(coefficients: usize) -> Days {
        let part = || MultivariateNormal::constant(vec![0.0; coefficients]);
        Days { parts: [part(), part(), part()] }
    }

    /// Whether one day differs from another.
    pub fn differ(&self) -> bool {
        self.covariances().iter().any(|matrix| (0..matrix.rows()).any(|i| matrix[(i, i)] > 0.0))
    }

    /// The covariances, in the order of [`Days::new`].
    pub fn covariances(&self) -> [&Matrix; 3] {
        self.parts.each_ref().map(MultivariateNormal::covariance)
    }
}

impl Population {
    /// Of a kernel with these terms.
    pub fn new(terms: &[Term], groups: Vec<Group>, grouped: Grouped) -> Result<Population, PopulationError> {
        let count = groups.first().ok_or(PopulationError::NoGroup)?.processors.mean().len();
        let mut all = groups.iter().flat_map(|group| {
            let [machine, node, processor] = group.days.covariances().map(Matrix::rows);
            [group.processors.mean().len(), machine, node, processor]
        });
        let is_right = |found: usize| found == count && (found == terms.len() || found == 2 * terms.len());
        if let Some(found) = all.find(|&found| !is_right(found)) {
            return Err(PopulationError::Coefficients { found, terms: terms.len() });
        }
        let sum: f64 = groups.iter().map(|group| group.share).sum();
        if (sum - 1.0).abs() > 1e-6 || groups.iter().any(|group| group.share < 0.0) {
            return Err(PopulationError::Shares { sum });
        }
        let guarded = guarded(terms, &groups, count);
        Ok(Population { groups, grouped, terms: terms.len(), guarded })
    }

    /// The same for a kernel whose calls do not differ by chance.
    #[must_use]
    pub fn without_noise(mut self) -> Population {
        for group in &mut self.groups {
            let normals = std::iter::once(&mut group.processors).chain(&mut group.days.parts);
            normals.for_each(|normal| *normal = normal.first(self.terms));
        }
        self.guarded.truncate(self.terms);
        self
    }

    /// How many terms the kernel has.
    pub fn terms(&self) -> usize {
        self.terms
    }

    /// The groups.
    pub fn groups(&self) -> &[Group] {
        &self.groups
    }

    /// What belongs to a group.
    pub fn grouped(&self) -> Grouped {
        self.grouped
    }

    /// The row of a processor that nobody knows anything about.
    pub fn expectation(&self) -> Row {
        let part = |place: usize| self.groups.iter().map(|group| group.share * group.processors.mean()[place]).sum();
        self.row((0..self.guarded.len()).map(part).collect())
    }

    /// The coefficients of a processor on a day. The same seed gives the same cluster: a processor has the same mean on all
    /// its days, and a day is as good or bad for one processor as it is for the others, as far as they have it in common.
    pub fn draw(&self, seed: u64, node: u32, socket: u32, day: u32) -> Row {
        self.another_day(&self.processor(seed, node, socket), seed, node, socket, day)
    }

    /// The mean of a processor over days.
    pub fn processor(&self, seed: u64, node: u32, socket: u32) -> Row {
        let member = match self.grouped {
            Grouped::Processors => u64::from(socket),
            Grouped::Nodes => 0,
        };
        let mut place = Key::new(seed).purpose("population group").uniform(node, member);
        let later = |group: &&Group| {
            place -= group.share;
            place >= 0.0
        };
        // Shares may add up to a little less than one.
        let number = self.groups.iter().take_while(later).count().min(self.groups.len() - 1);
        let word = Key::new(seed).purpose("population processor").word(node, u64::from(socket));
        Row { group: number as u32, ..self.row(self.guard(draw(&self.groups[number].processors, word))) }
    }

    /// The coefficients on a day of a processor whose mean is known.
    ///
    /// # Panics
    /// If the row has not as many coefficients as the population, or belongs to no group of it.
    pub fn another_day(&self, mean: &Row, seed: u64, node: u32, socket: u32, day: u32) -> Row {
        let mut coefficients = [mean.seconds.as_slice(), &mean.deviation].concat();
        assert_eq!(coefficients.len(), self.guarded.len(), "a row of the same kernel");
        let key = Key::new(seed);
        let processor = Key::new(key.purpose("population day of processor").word(node, u64::from(socket)));
        let words = [
            key.purpose("population day").word(0, u64::from(day)),
            key.purpose("population day of node").word(node, u64::from(day)),
            processor.purpose("day").word(0, u64::from(day)),
        ];
        for (part, word) in self.groups[mean.group as usize].days.parts.iter().zip(words) {
            coefficients.iter_mut().zip(draw(part, word)).for_each(|(sum, change)| *sum += change);
        }
        Row { processor: mean.processor, group: mean.group, ..self.row(self.guard(coefficients)) }
    }

    /// Coefficients that cannot be negative lose their sign. Other than a second draw, that changes their mean hardly at all:
    /// by 1 % of a deviation where zero is two deviations away.
    fn guard(&self, mut coefficients: Vec<f64>) -> Vec<f64> {
        for (coefficient, _) in coefficients.iter_mut().zip(&self.guarded).filter(|(_, guarded)| **guarded) {
            *coefficient = coefficient.abs();
        }
        coefficients
    }

    fn row(&self, mut seconds: Vec<f64>) -> Row {
        let deviation = seconds.split_off(self.terms);
        Row { seconds, deviation, ..Row::default() }
    }
}

/// The draw that belongs to 64 random bits.
fn draw(normal: &MultivariateNormal, word: u64) -> Vec<f64> {
    let stream = Key::new(word).purpose("population coefficients");
    let uniforms: Vec<f64> = (0..normal.mean().len()).map(|place| stream.uniform(0, place as u64)).collect();
    normal.draw(&uniforms)
}

/// Large calls take no negative time: neither the term of the highest degree nor the deviations can be negative, unless a
/// group says so.
fn guarded(terms: &[Term], groups: &[Group], coefficients: usize) -> Vec<bool> {
    let degree = |term: &Term| term.names().count();
    let highest = terms.iter().map(degree).max();
    let guarded = |place: usize| {
        terms.get(place).is_none_or(|term| Some(degree(term)) == highest)
            && groups.iter().all(|group| group.processors.mean()[place] >= 0.0)
    };
    (0..coefficients).map(guarded).collect()
}

#[cfg(test)]
mod tests;
