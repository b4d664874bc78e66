//! Algorithms by name: each operation declares its algorithms once, and gets parsing, printing and a list.

use std::fmt;
use std::pin::Pin;

use hpcast_units::Bytes;

/// One of the algorithms of an operation.
pub trait Algorithm: Copy + fmt::Debug + PartialEq + 'static {
    /// The operation's name: `allreduce`.
    const OPERATION: &'static str;
    /// All algorithms of the operation, with their default parameters.
    const ALL: &'static [Self];

    /// Its name: `segmented-ring`.
    fn name(self) -> &'static str;
    /// Its parameters, to read and to set.
    fn parameters(&mut self) -> Vec<(&'static str, &mut u64)>;
    /// Whether it works on so many ranks. Where it does not, the library's own rule decides.
    fn supports(self, ranks: u32) -> bool {
        let _ = ranks;
        true
    }
}

/// An algorithm at work, in a box of just its size.
pub type Running<'a> = Pin<Box<dyn Future<Output = ()> + 'a>>;

/// Declares the algorithms of an operation: variants, names, and parameters with their defaults.
macro_rules! algorithms {
    (
        $(#[$doc:meta])*
        $type:ident for $operation:literal {
            $(
                $(#[$variant_doc:meta])*
                $variant:ident
                    $({ $( $(#[$parameter_doc:meta])* $parameter:ident = $default:literal ),+ })? => $name:literal,
            )+
        }
        $($supports:item)?
    ) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $type {
            $( $(#[$variant_doc])* $variant $({ $( $(#[$parameter_doc])* $parameter: u64 ),+ })?, )+
        }

        impl $crate::collectives::algorithm::Algorithm for $type {
            const OPERATION: &'static str = $operation;
            const ALL: &'static [$type] = &[ $( $type::$variant $({ $( $parameter: $default ),+ })? ),+ ];

            fn name(self) -> &'static str {
                match self { $( $type::$variant { .. } => $name ),+ }
            }

            fn parameters(&mut self) -> Vec<(&'static str, &mut u64)> {
                match self {
                    $( $type::$variant $({ $( $parameter ),+ })? => {
                        vec![ $( $( (stringify!($parameter), $parameter) ),+ )? ]
                    } )+
                }
            }

            $($supports)?
        }

        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                $crate::collectives::algorithm::write(*self, f)
            }
        }

        impl std::str::FromStr for $type {
            type Err = $crate::collectives::algorithm::ChoiceError;

            fn from_str(text: &str) -> Result<$type, Self::Err> {
                $crate::collectives::algorithm::parse(text)
            }
        }
    };
}
pub(crate) use algorithms;

/// Why a choice of algorithm (`allreduce=ring`) was not understood.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChoiceError {
    /// No such library.
    Library(String),
    /// There is no `=`.
    NoEquals(String),
    /// No such operation.
    Operation {
        /// What was asked for.
        asked: String,
        /// The operations there are.
        valid: Vec<&'static str>,
    },
    /// No such algorithm for the operation.
    Algorithm {
        /// The operation.
        operation: &'static str,
        /// What was asked for.
        asked: String,
        /// The algorithms there are.
        valid: Vec<&'static str>,
    },
    /// The algorithm has no such parameter.
    Parameter {
        /// The algorithm.
        algorithm: &'static str,
        /// What was asked for.
        asked: String,
        /// The parameters it has.
        valid: Vec<&'static str>,
    },
    /// The parameter's value is not one.
    Value {
        /// The parameter.
        parameter: &'static str,
        /// What was given.
        given: String,
    },
    /// The algorithm does not work on so many ranks.
    Ranks {
        /// The operation.
        operation: &'static str,
        /// The algorithm.
        algorithm: &'static str,
        /// How many ranks there are.
        ranks: u32,
    },
}

impl fmt::Display for ChoiceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ChoiceError::Library(asked) => {
                write!(f, "there are no collective rules of `{asked}`: use one of openmpi, mpich")
            }
            ChoiceError::NoEquals(text) => {
                write!(f, "`{text}` does not choose an algorithm: write OPERATION=ALGORITHM, as in allreduce=ring")
            }
            ChoiceError::Operation { asked, valid } => {
                write!(f, "there is no collective operation `{asked}`: use one of {}", valid.join(", "))
            }
            ChoiceError::Algorithm { operation, asked, valid } => {
                write!(f, "{operation} has no algorithm `{asked}`: use one of {}", valid.join(", "))
            }
            ChoiceError::Parameter { algorithm, asked, valid } if valid.is_empty() => {
                write!(f, "{algorithm} takes no parameters: leave out `{asked}`")
            }
            ChoiceError::Parameter { algorithm, asked, valid } => {
                write!(f, "{algorithm} has no parameter `{asked}`: use {}", valid.join(", "))
            }
            ChoiceError::Value { parameter: "segment", given } => {
                write!(f, "segment={given} is not a size: write a number with a unit, as in segment=64KiB")
            }
            ChoiceError::Value { parameter, given } => {
                write!(f, "{parameter}={given} is not a whole number from 1 on, as in {parameter}=4")
            }
            ChoiceError::Ranks { operation, algorithm, ranks } => {
                write!(
                    f,
                    "{operation}={algorithm} does not work on {ranks} ranks: choose another algorithm or leave it out"
                )
            }
        }
    }
}

impl std::error::Error for ChoiceError {}

/// Reads `name` or `name:parameter=value,parameter=value`. Underscores in names count as dashes.
pub(crate) fn parse<A: Algorithm>(text: &str) -> Result<A, ChoiceError> {
    let (asked, settings) = text.split_once(':').map_or((text, None), |(name, rest)| (name, Some(rest)));
    let normal = asked.trim().replace('_', "-");
    let Some(&found) = A::ALL.iter().find(|algorithm| algorithm.name() == normal) else {
        let valid = A::ALL.iter().map(|algorithm| algorithm.name()).collect();
        return Err(ChoiceError::Algorithm { operation: A::OPERATION, asked: asked.to_owned(), valid });
    };
    let mut algorithm = found;
    for setting in settings.into_iter().flat_map(|settings| settings.split(',')) {
        let (key, value) = setting.split_once('=').unwrap_or((setting, ""));
        let mut parameters = algorithm.parameters();
        let Some(at) = parameters.iter().position(|(name, _)| *name == key.trim()) else {
            let valid = parameters.iter().map(|(name, _)| *name).collect();
            return Err(ChoiceError::Parameter { algorithm: found.name(), asked: key.to_owned(), valid });
        };
        let (name, place) = &mut parameters[at];
        **place = parse_value(name, value.trim())?;
    }
    Ok(algorithm)
}

/// A segment is a size with a unit, 0 for none; every other parameter is a count.
fn parse_value(name: &'static str, value: &str) -> Result<u64, ChoiceError> {
    let wrong = || ChoiceError::Value { parameter: name, given: value.to_owned() };
    if name != "segment" {
        return value.parse().ok().filter(|&number| number > 0).ok_or_else(wrong);
    }
    // No segments at all is no size: it needs no unit.
    if value == "0" {
        return Ok(0);
    }
    value.parse().map(Bytes::get).map_err(|_| wrong())
}

/// Writes what [`parse`] reads, parameters that are at their default left out.
pub(crate) fn write<A: Algorithm>(mut algorithm: A, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let name = algorithm.name();
    f.write_str(name)?;
    let Some(mut default) = A::ALL.iter().copied().find(|other| other.name() == name) else { return Ok(()) };
    let mut separator = ':';
    for ((parameter, value), (_, usual)) in algorithm.parameters().into_iter().zip(default.parameters()) {
        if *value != *usual {
            if parameter == "segment" && *value != 0 {
                // Without the space, so that a shell takes it for one word.
                write!(f, "{separator}{parameter}={}", Bytes::new(*value).to_string().replace(' ', ""))?;
            } else {
                write!(f, "{separator}{parameter}={value}")?;
            }
            separator = ',';
        }
    }
    Ok(())
}
