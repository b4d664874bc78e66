//! Files that list functions and say what becomes of them.

use std::collections::BTreeMap;

use super::effect::Effect;
use super::prototype::{Prototype, PrototypeError};
use super::remember::Extents;
use super::{How, Replaced, Returned, Sampling};

/// Functions that are replaced.
#[derive(Default)]
pub struct Functions {
    /// The functions.
    pub list: Vec<Replaced>,
    /// Functions whose allocations are folded, or never.
    pub allocations: Vec<(String, bool)>,
    /// What code between calls of MPI_Pcontrol costs.
    pub regions: Vec<Region>,
}

/// Code from MPI_Pcontrol with a level to MPI_Pcontrol with another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Region {
    /// The level.
    pub level: i32,
    /// Whether its own code takes time; it is executed in any case.
    pub takes_time: bool,
}

/// Why functions cannot be replaced.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FunctionError {
    /// The file is not one of functions.
    #[error("{0}")]
    File(String),
    /// A prototype cannot be read.
    #[error("function {symbol}: {problem}")]
    Prototype {
        /// Of which function.
        symbol: String,
        /// What is wrong.
        problem: PrototypeError,
    },
    /// There is no model.
    #[error("kernel {kernel}: {problem}")]
    Model {
        /// Which kernel.
        kernel: String,
        /// What is wrong.
        problem: String,
    },
    /// The program has no such function.
    #[error("the program has no function {symbol} that could be replaced")]
    Absent {
        /// The function.
        symbol: String,
        /// Functions whose names are like it.
        similar: Vec<String>,
    },
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    function: BTreeMap<String, Function>,
    #[serde(default)]
    allocation: BTreeMap<String, Allocation>,
    #[serde(default)]
    region: BTreeMap<String, RegionEntry>,
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct RegionEntry {
    level: i32,
    compute: String,
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Allocation {
    fold: bool,
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Function {
    how: String,
    #[serde(default)]
    arguments: String,
    kernel: Option<String>,
    returns: Option<toml::Value>,
    precision: Option<f64>,
    least: Option<u32>,
    most: Option<u32>,
    #[serde(default)]
    varies: bool,
    #[serde(default)]
    reads: String,
    #[serde(default)]
    writes: String,
}

impl Functions {
    /// The BLAS, LAPACK and FFTW, modelled.
    pub fn modelled() -> Functions {
        let mut list = super::routines::functions(How::Model);
        list.extend(super::fft::functions());
        list.extend(super::batch::functions());
        Functions { list, ..Functions::default() }
    }

    /// What is heavy of the BLAS and LAPACK, sampled.
    pub fn sampled(sampling: Sampling) -> Functions {
        Functions { list: super::routines::heavy(How::Sample(sampling)), ..Functions::default() }
    }

    /// Reads a file of functions.
    pub fn parse(text: &str) -> Result<Functions, FunctionError> {
        let file: File = toml::from_str(text).map_err(|error| FunctionError::File(error.to_string()))?;
        let list =
            file.function.into_iter().map(|(symbol, function)| function.replaced(symbol)).collect::<Result<_, _>>()?;
        let allocations = file.allocation.into_iter().map(|(symbol, allocation)| (symbol, allocation.fold)).collect();
        Ok(Functions { list, allocations, regions: regions(file.region)? })
    }
}

fn regions(entries: BTreeMap<String, RegionEntry>) -> Result<Vec<Region>, FunctionError> {
    let mut regions: Vec<Region> = Vec::new();
    for (name, RegionEntry { level, compute }) in entries {
        let wrong = |what: String| FunctionError::File(format!("region {name}: {what}"));
        let takes_time = match compute.as_str() {
            "run" => true,
            "skip" => false,
            other => return Err(wrong(format!("`compute` is run or skip, not `{other}`"))),
        };
        if regions.iter().any(|region| region.level == level) {
            return Err(wrong(format!("another region has level {level}; give each its own")));
        }
        regions.push(Region { level, takes_time });
    }
    Ok(regions)
}

impl Function {
    fn sampling(&self) -> Result<Sampling, String> {
        let usual = Sampling::default();
        let precision = self.precision.unwrap_or(usual.precision);
        if precision.is_nan() || precision <= 0.0 {
            return Err(format!("`precision` is a positive number, such as 0.05, not {precision}"));
        }
        let (least, most) = (self.least.unwrap_or(usual.least), self.most.unwrap_or(usual.most));
        Ok(Sampling { precision, least, most: most.max(least), varies: self.varies })
    }

    fn replaced(self, symbol: String) -> Result<Replaced, FunctionError> {
        let wrong = |what: String| FunctionError::File(format!("function {symbol}: {what}"));
        let how = match self.how.as_str() {
            "model" => How::Model,
            "skip" => How::Skip,
            "sample" => How::Sample(self.sampling().map_err(&wrong)?),
            "remember" => How::Remember,
            other => {
                return Err(wrong(format!(
                    "`how` is model, sample, remember or skip, not `{other}`; a function that is run needs no entry"
                )));
            }
        };
        let prototype = Prototype::parse(&self.arguments)
            .map_err(|problem| FunctionError::Prototype { symbol: symbol.clone(), problem })?;
        let extents = Extents::parse(&self.reads, &self.writes, &prototype).map_err(&wrong)?;
        if how != How::Remember && !(self.reads.is_empty() && self.writes.is_empty()) {
            return Err(wrong("`reads` and `writes` are for functions that are remembered".into()));
        }
        let arguments: Vec<_> = prototype.arguments().iter().filter(|(name, _)| !name.is_empty()).cloned().collect();
        let returned = match self.returns {
            None => Returned::Zero,
            Some(toml::Value::Integer(value)) => Returned::Value(value as f64),
            Some(toml::Value::Float(value)) => Returned::Value(value),
            Some(toml::Value::String(text)) => {
                let name = text.strip_prefix("random below ").map(str::trim);
                let place = name.and_then(|name| arguments.iter().position(|(argument, _)| argument == name));
                Returned::Below(place.ok_or_else(|| {
                    wrong(format!("`returns` is a number or \"random below ARGUMENT\", not \"{text}\""))
                })?)
            }
            Some(other) => {
                return Err(wrong(format!("`returns` is a number or \"random below ARGUMENT\", not {other}")));
            }
        };
        let kernel = self.kernel.unwrap_or_else(|| symbol.clone());
        Ok(Replaced {
            symbol,
            kernel,
            how,
            arguments,
            returned,
            effect: Effect::None,
            extents,
            batch: None,
            is_listed: true,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regions_have_levels_of_their_own() {
        let text = "[region.setup]\nlevel = 3\ncompute = \"skip\"\n[region.solve]\nlevel = 4\ncompute = \"run\"\n";
        let regions = Functions::parse(text).unwrap().regions;
        assert_eq!(regions, [Region { level: 3, takes_time: false }, Region { level: 4, takes_time: true }]);
        let wrong = |text: &str| Functions::parse(text).err().map(|error| error.to_string()).unwrap_or_default();
        assert!(wrong(&text.replace("level = 4", "level = 3")).contains("region solve: another region has level 3"));
        assert!(wrong(&text.replace("run", "ran")).contains("`compute` is run or skip, not `ran`"));
    }

    #[test]
    fn a_file_says_what_becomes_of_functions() {
        let text = r#"
            [function.HPL_dlacpy]
            how = "model"
            arguments = "const int M, const int N, const double *A, const int LDA, double *B, const int LDB"
            kernel = "dlacpy"
            [function.check]
            how = "skip"
            returns = 1
            [function.pick]
            how = "skip"
            arguments = "int N"
            returns = "random below N"
        "#;
        let functions = Functions::parse(text).unwrap().list;
        assert_eq!(functions.len(), 3);
        assert_eq!((functions[0].kernel.as_str(), functions[0].how), ("dlacpy", How::Model));
        assert_eq!(functions[1].returned, Returned::Value(1.0));
        assert_eq!(functions[2].returned, Returned::Below(0));
        assert!(Functions::parse("[function.x]\nhow = \"fast\"").is_err());
        assert!(Functions::parse("[function.x]\nhow = \"skip\"\nkernle = \"y\"").is_err());
    }
}
