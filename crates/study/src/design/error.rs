//! Why there is no such design.

/// Why there is no such design. Factors count from 0.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DesignError {
    /// Nothing varies.
    #[error("a design without factors has nothing to vary; name at least one factor")]
    NoFactors,
    /// A factor that can be set to nothing.
    #[error("factor {factor} has no levels; give it at least one")]
    NoLevels {
        /// The factor.
        factor: usize,
    },
    /// The base is no level.
    #[error("the base of factor {factor} is level {base} of {count}; use a number from 0 to {}", count - 1)]
    Base {
        /// The factor.
        factor: usize,
        /// Its base.
        base: usize,
        /// Its levels.
        count: usize,
    },
    /// There are infinitely many values in a range.
    #[error(
        "factor {factor} is a range, of which a factorial would need every value; give it levels, or use a Latin hypercube"
    )]
    RangeInFactorial {
        /// The factor.
        factor: usize,
    },
    /// No points are asked for.
    #[error("a design of no points says nothing; ask for at least one")]
    NoPoints,
    /// More points than can be handled.
    #[error("the design has {count} points; use fewer levels, a fraction, or a Latin hypercube")]
    TooMany {
        /// Points.
        count: u128,
    },
    /// More different points than there are.
    #[error("there are {available} different points and not {wanted}; ask for fewer points, or for more repetitions")]
    TooFewDifferent {
        /// Points that exist.
        available: u128,
        /// Points that were asked for.
        wanted: usize,
    },
    /// Not even main effects can be found.
    #[error("{runs} points cannot tell the effects of these factors apart; ask for at least {least}")]
    TooFewRuns {
        /// What was asked for.
        runs: usize,
        /// The smallest number.
        least: u128,
    },
    /// Resolutions exist from III on.
    #[error(
        "resolution {resolution} is not known; ask for one from 3 (main effects) to 5 (all pairs of factors), or more"
    )]
    Resolution {
        /// What was asked for.
        resolution: usize,
    },
    /// Only factors of two levels have regular fractions.
    #[error(
        "resolution {resolution} is known for factors of two levels only, and factor {factor} has {count}; ask for resolution 3 or for a number of runs, or make the full factorial"
    )]
    ResolutionOfLevels {
        /// What was asked for.
        resolution: usize,
        /// The first factor with more levels.
        factor: usize,
        /// How many.
        count: usize,
    },
    /// More points than a search can handle.
    #[error("{runs} points are more than the {most} that can be made even; ask for fewer, or use a Latin hypercube")]
    TooManyRuns {
        /// What was asked for.
        runs: usize,
        /// What is possible.
        most: usize,
    },
    /// More factors than a search can handle.
    #[error("{factors} factors are more than the {most} of a fraction; leave some out, or use a Latin hypercube")]
    TooManyFactors {
        /// Factors that vary.
        factors: usize,
        /// What is possible.
        most: usize,
    },
    /// Morris' grid needs a middle between two places.
    #[error("a grid of {grid} places does not do for elementary effects; use an even number from 2 to 1000, such as 4")]
    Grid {
        /// What was asked for.
        grid: usize,
    },
    /// A factor that is always the same has no effect.
    #[error("factor {factor} has a single level and no effect to find; leave it out, or give it a second level")]
    SingleLevel {
        /// The factor.
        factor: usize,
    },
}
