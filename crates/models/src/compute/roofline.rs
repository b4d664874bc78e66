//! `roofline`: a kernel takes as long as its arithmetic or its traffic with memory, whichever is longer.
//!
//! Source: S. Williams, A. Waterman, D. Patterson, "Roofline: an insightful visual performance model for multicore
//! architectures", CACM 52(4), 2009; used for HPL in "Simulation-Based Performance Prediction of HPC Applications: a Case
//! Study of HPL" (2020), section III. Too fast for small matrices, where neither limit is reached.

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
