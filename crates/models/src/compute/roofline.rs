//! `roofline`: a kernel takes as long as its arithmetic or its traffic with memory, whichever is longer.
//!
//! Source: S. Williams, A. Waterman, D. Patterson, "Roofline: an insightful visual performance model for multicore
//! architectures", CACM 52(4), 2009; used for HPL in "Simulation-Based Performance Prediction of HPC Applications: a Case
//! Study of HPL" (2020), section III. Too fast for small matrices, where neither limit is reached, unless overheads are
//! measured: [`RooflineFigures`].

use super::term::Term;

/// What a kernel does: floating-point operations, and bytes between processor and memory.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Work {
    /// Floating-point operations.
    pub flops: f64,
    /// Bytes read and written.
    pub bytes: f64,
}

/// What a rank can use of its node.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Roofline {
    /// Floating-point operations per second.
    pub flops: f64,
    /// Bytes per second; infinite if memory is not looked at.
    pub bandwidth: f64,
}

impl Roofline {
    /// The duration in seconds.
    #[inline]
    pub fn duration(&self, work: Work) -> f64 {
        (work.flops / self.flops).max(work.bytes / self.bandwidth)
    }
}

/// What a kernel does, as sums over products of its arguments.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct KernelWork {
    /// Floating-point operations.
    pub flops: Vec<(Term, f64)>,
    /// Bytes read and written.
    pub bytes: Vec<(Term, f64)>,
    /// Steps that wait for the one before, such as those along K of a product, or the rows of a triangular matrix.
    pub steps: Vec<(Term, f64)>,
}

impl KernelWork {
    /// All terms, with repetitions.
    pub fn terms(&self) -> impl Iterator<Item = &Term> {
        [&self.flops, &self.bytes, &self.steps].into_iter().flatten().map(|(term, _)| term)
    }
}

/// How arithmetic and traffic go together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Roofs {
    /// At the same time: the longer one counts.
    #[default]
    Longest,
    /// One after the other: both count. On GPUs that comes nearer to what is measured.
    Sum,
}

impl Roofs {
    /// As files call it.
    pub fn word(self) -> &'static str {
        match self {
            Roofs::Longest => "longest",
            Roofs::Sum => "sum",
        }
    }
}

/// What the model of one kernel is made of.
#[derive(Clone, Debug, PartialEq)]
pub struct RooflineModel {
    /// What it does.
    pub work: KernelWork,
    /// How its two times go together.
    pub roofs: Roofs,
}

/// What a processor reaches in a kernel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RooflineFigures {
    /// Floating-point operations per second; infinite if they take no time.
    pub rate: f64,
    /// Bytes per second; infinite if they take no time.
    pub bandwidth: f64,
    /// Seconds that a call takes beside that.
    pub overhead: f64,
    /// Seconds that each step takes beside that.
    pub step: f64,
    /// Standard deviation of a call, as a part of its expectation.
    pub deviation: f64,
}

impl RooflineFigures {
    /// All of them, as files call them.
    pub fn named(&self) -> [(&'static str, f64); 5] {
        [
            ("rate", self.rate),
            ("bandwidth", self.bandwidth),
            ("overhead", self.overhead),
            ("step", self.step),
            ("deviation", self.deviation),
        ]
    }

    /// Of several processors: an operation, a byte and so on take as long as they do there on the mean.
    pub(super) fn mean(all: &[RooflineFigures]) -> RooflineFigures {
        let mean = |of: fn(&RooflineFigures) -> f64| all.iter().map(of).sum::<f64>() / all.len() as f64;
        RooflineFigures {
            rate: 1.0 / mean(|figures| 1.0 / figures.rate),
            bandwidth: 1.0 / mean(|figures| 1.0 / figures.bandwidth),
            overhead: mean(|figures| figures.overhead),
            step: mean(|figures| figures.step),
            deviation: mean(|figures| figures.deviation),
        }
    }
}

impl Default for RooflineFigures {
    /// Nothing takes any time.
    fn default() -> RooflineFigures {
        RooflineFigures { rate: f64::INFINITY, bandwidth: f64::INFINITY, overhead: 0.0, step: 0.0, deviation: 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longer_one_counts() {
        let roofline = Roofline { flops: 1e9, bandwidth: 1e8 };
        assert_eq!(roofline.duration(Work { flops: 1e9, bytes: 1e7 }), 1.0);
        assert_eq!(roofline.duration(Work { flops: 1e9, bytes: 1e9 }), 10.0);
        let fast = Roofline { flops: 1e9, bandwidth: f64::INFINITY };
        assert_eq!(fast.duration(Work { flops: 0.0, bytes: 1e9 }), 0.0);
    }
}
