//! Why there is no fit.

/// Why values cannot be explained by these columns.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FitError {
    /// Nothing to explain the values with.
    #[error("there is no term to fit")]
    NoColumns,
    /// As many unknowns as values, or more.
    #[error("{rows} values cannot determine {columns} coefficients and the noise around them")]
    TooFewRows {
        /// Rows that count: those of weight zero do not.
        rows: usize,
        /// Columns.
        columns: usize,
    },
    /// Not one value a row.
    #[error("`{name}` has {found} values where there are {expected} to explain")]
    Length {
        /// The column.
        name: String,
        /// Its values.
        found: usize,
        /// Rows.
        expected: usize,
    },
    /// NaN or infinite.
    #[error("`{name}` is not a finite number in row {row}")]
    NotFinite {
        /// The column.
        name: String,
        /// From 0.
        row: usize,
    },
    /// Negative, NaN or infinite.
    #[error("the weight of row {row} is not a finite number from zero on")]
    Weight {
        /// From 0.
        row: usize,
    },
    /// Says nothing about the values.
    #[error("`{name}` is zero in every row")]
    Zero {
        /// The column.
        name: String,
    },
    /// Columns that cannot be told apart.
    #[error("`{name}` follows from {} in every row", quoted(.others))]
    Collinear {
        /// The column.
        name: String,
        /// The columns of which it is a combination.
        others: Vec<String>,
    },
    /// All terms were dropped.
    #[error("no term is significant at the level {level}")]
    NothingSignificant {
        /// The level, as it was given.
        level: String,
    },
    /// A term to keep that is none.
    #[error("there is no term `{name}` to keep")]
    UnknownTerm {
        /// What was asked for.
        name: String,
    },
}

impl FitError {
    /// What to do about it.
    pub fn remedy(&self) -> &'static str {
        match self {
            FitError::NoColumns => "name at least one term, such as `1`",
            FitError::TooFewRows { .. } => "measure more points, or fit fewer terms",
            FitError::Length { .. } => "give one value a measurement",
            FitError::NotFinite { .. } => "leave that measurement out, or correct it",
            FitError::Weight { .. } => "use positive weights, such as one over the variance; zero leaves a row out",
            FitError::Zero { .. } => "leave that term out, or measure where it is not zero",
            FitError::Collinear { .. } => {
                "leave one of these terms out, or measure with arguments that vary independently of each other"
            }
            FitError::NothingSignificant { .. } => "measure more points, or keep the terms that are known to matter",
            FitError::UnknownTerm { .. } => "name terms of the fit",
        }
    }
}

fn quoted(names: &[String]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}
