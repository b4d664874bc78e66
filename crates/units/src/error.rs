//! What can be wrong with a quantity in text, and what to write instead.

use crate::dimension::Dimension;

/// A text that is not the quantity it should be. `Display` gives the message and the remedy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}; {}", self.message(), self.remedy())]
pub enum UnitError {
    /// No number at the start of the text.
    NotANumber {
        /// The text.
        text: String,
        /// What it should be, such as `bandwidth`.
        noun: &'static str,
        /// A good one.
        example: &'static str,
    },
    /// A number without a unit.
    BareNumber {
        /// The text.
        text: String,
        /// What it should be, such as `bandwidth`.
        noun: &'static str,
        /// The unit that is most common.
        unit: &'static str,
    },
    /// A number with a unit that does not exist, or is ambiguous, or belongs to something else.
    UnknownUnit {
        /// The number as written.
        number: String,
        /// The unit as written.
        unit: String,
        /// What it should be, such as `bandwidth`.
        noun: &'static str,
        /// What the unit would be a unit of, such as `size`.
        belongs_to: Option<&'static str>,
        /// Units that may have been meant, or all units where nothing is close.
        candidates: Vec<&'static str>,
    },
    /// Less than zero where that makes no sense.
    Negative {
        /// The text.
        text: String,
        /// What it should be, such as `bandwidth`.
        noun: &'static str,
    },
    /// Beyond what the program can count.
    TooLarge {
        /// The text.
        text: String,
        /// What it should be, such as `bandwidth`.
        noun: &'static str,
    },
    /// A size with a fraction of a byte.
    NotWhole {
        /// The text.
        text: String,
        /// The nearest whole number of bytes.
        nearest: u64,
    },
}

impl UnitError {
    pub(crate) fn not_a_number(text: &str, dimension: &'static Dimension) -> UnitError {
        UnitError::NotANumber { text: text.into(), noun: dimension.noun, example: dimension.example }
    }

    /// What is wrong.
    pub fn message(&self) -> String {
        match self {
            UnitError::NotANumber { text, noun, .. } if text.trim().is_empty() => format!("a {noun} is missing"),
            UnitError::NotANumber { text, noun, .. } => format!("`{text}` is not a {noun}"),
            UnitError::BareNumber { text, noun, .. } => format!("the {noun} `{text}` has no unit"),
            UnitError::UnknownUnit { unit, noun, belongs_to: Some(other), .. } => {
                format!("`{unit}` is a unit of {other}, not of {noun}")
            }
            UnitError::UnknownUnit { unit, noun, candidates, .. } if candidates.len() == 2 => {
                format!("the unit `{unit}` of this {noun} is ambiguous")
            }
            UnitError::UnknownUnit { unit, noun, .. } => format!("`{unit}` is not a unit of {noun}"),
            UnitError::Negative { text, noun } => format!("the {noun} `{text}` is negative"),
            UnitError::TooLarge { text, noun } => format!("the {noun} `{text}` is too large"),
            UnitError::NotWhole { text, .. } => format!("`{text}` is not a whole number of bytes"),
        }
    }

    /// What to do about it.
    pub fn remedy(&self) -> String {
        match self {
            UnitError::NotANumber { text, .. } if text.contains(',') && !text.contains('.') => {
                format!("write a decimal point, not a comma: `{}`", text.replace(',', "."))
            }
            UnitError::NotANumber { example, .. } => format!("write a number and a unit, such as `{example}`"),
            UnitError::BareNumber { text, unit, .. } => {
                format!("write `{text} {unit}`, not `{text}`: a bare number has no unit")
            }
            UnitError::UnknownUnit { number, candidates, .. } if candidates.len() <= 2 => {
                let choices: Vec<String> = candidates.iter().map(|unit| format!("`{number} {unit}`")).collect();
                format!("write {}", choices.join(" or "))
            }
            UnitError::UnknownUnit { noun, candidates, .. } => {
                format!("the units of {noun} are {}", candidates.join(", "))
            }
            UnitError::Negative { .. } => "write a number that is not below zero".into(),
            UnitError::TooLarge { .. } => "write a smaller number, or check the unit".into(),
            UnitError::NotWhole { nearest, .. } => format!("round it to whole bytes, for example `{nearest} B`"),
        }
    }
}
