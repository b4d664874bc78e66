//! Why there is no such analysis.

/// Why there is no such analysis.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AnalysisError {
    /// All runs failed, or none was done.
    #[error("no run has a value of `{response}`; run the study, or name another response")]
    NoValues {
        /// The response.
        response: String,
    },
    /// Nothing varies.
    #[error("no factor has two levels with values; run more points of the study")]
    NothingVaries,
    /// A number that is no factor or response.
    #[error("there is no {what} {number}; use a number below {count}")]
    Unknown {
        /// `factor`, `response`, `level` or `point`.
        what: &'static str,
        /// What was asked for.
        number: usize,
        /// How many there are.
        count: usize,
    },
    /// No name of both studies.
    #[error("the studies have no response `{response}` in common; name one that both have")]
    NoCommonResponse {
        /// What was asked for.
        response: String,
    },
    /// Points cannot be matched.
    #[error(
        "`{factor}` varies in one study only, so that its points have several partners; fix it, or add it to the other study"
    )]
    Ambiguous {
        /// The factor.
        factor: String,
    },
    /// No point is in both.
    #[error("no point with values is in both studies; use levels that both have")]
    NoCommonPoints,
    /// Nothing to compare with.
    #[error("the base line has no values; run its points, or choose another one")]
    NoBaseLine,
    /// The results are not those of the design.
    #[error("the design has {expected} points and the results {found}; use the results of this design")]
    OtherDesign {
        /// Points of the design.
        expected: usize,
        /// Points of the results.
        found: usize,
    },
    /// Too little is left.
    #[error("{found} complete {what} are too few; run at least {needed}")]
    TooFew {
        /// Of what.
        what: &'static str,
        /// How many there are.
        found: usize,
        /// How many it takes.
        needed: usize,
    },
}
