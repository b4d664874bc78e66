//! Model files in TOML: which kernel takes how long, what messages cost, and how that was found out.
//!
//! ```toml
//! name = "dahu, April 2019"
//! first-node = 1                    # what the rows below call the machine's first node
//! unlisted = "free"                 # kernels that are not listed take no time; or "roofline"
//!
//! [kernel.dgemm]
//! terms = ["1", "M*N*K"]
//! seconds = [5.2e-7, 6.7e-11]       # expectation: a sum over the terms
//! deviation = [6.2e-7, 5.6e-13]     # standard deviation of single calls, likewise
//! noise = "half-normal"             # around the expectation; or "normal", or a list of modes
//! measured = { M = [1, 15000] }     # sizes that were measured
//! processors = [{ node = 1, socket = 0, seconds = [5.3e-7, 7.1e-11], deviation = [6.4e-7, 1.8e-12] }]
//!
//! [kernel.memcpy]                   # in pieces: where N is below a value, and where it is not
//! terms = ["1", "N"]
//! split = "N"
//! pieces = [{ below = 32768, seconds = [1e-7, 2e-11] }, { seconds = [2e-6, 9e-11] }]
//!
//! [kernel.dgemv]                    # arithmetic and traffic, in flop/s and byte/s
//! roofline = { rate = 2e10, bandwidth = 1e10, overhead = 1e-6 }
//!
//! [kernel.dtrsm]                    # how processors and days differ: covariances of the coefficients, lower triangles
//! terms = ["1", "M*N*S"]
//! seconds = [1e-6, 5e-11]
//! [[kernel.dtrsm.population.groups]]
//! share = 1
//! seconds = [1e-6, 5e-11]
//! covariance = [1e-14, 0, 3e-24]
//! [kernel.dtrsm.population.days]
//! machine = [4e-15, 0, 1e-25]
//!
//! [network.between]                 # what messages cost: the keys of [mpi] in machine files, in their place
//! send = [{ above = "0 B", per-byte = "0.1 ns", modes = [{ share = 1.0, mean = "0.3 us", deviation = "0.1 us" }] }]
//! ```

mod network;
mod population;
mod read;
mod roofline;
mod write;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use hpcast_platform::Diagnostics;
use hpcast_platform::diagnostic::Source;
use hpcast_platform::fields::{self, Reader, Section};

use super::kernel::Kernel;
use crate::network::NetworkModel;

/// What holds for kernels that a file does not list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Unlisted {
    /// They are estimated from the machine's speed and memory bandwidth.
    #[default]
    Roofline,
    /// They take no time.
    Free,
}

const UNLISTED: [(&str, Unlisted); 2] = [("roofline", Unlisted::Roofline), ("free", Unlisted::Free)];

/// A model file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ModelFile {
    /// What people call it.
    pub name: String,
    /// Where its figures come from.
    pub source: Option<String>,
    /// How it was made, if hpcast made it of measurements.
    pub made: Option<Made>,
    /// What the rows of kernels call the machine's first node.
    pub first_node: u32,
    /// What holds for kernels that are not listed.
    pub unlisted: Unlisted,
    /// By name.
    pub kernels: BTreeMap<String, Kernel>,
    /// What messages cost, if that was measured too.
    pub network: Option<NetworkModel>,
}

/// How a model file was made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Made {
    /// Name and version of the program.
    pub by: String,
    /// Day, as `2026-11-15`.
    pub on: String,
    /// The command.
    pub command: String,
    /// The measurements.
    pub data: Vec<DataFile>,
}

/// A file of measurements.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DataFile {
    /// Its name, without folders.
    pub file: String,
    /// SHA-256 of its bytes, in hexadecimal digits.
    pub sha256: String,
    /// Measurements in it; zero if it is no table.
    pub rows: u64,
}

impl ModelFile {
    /// Reads a model file.
    pub fn load(path: &Path) -> Result<ModelFile, Diagnostics> {
        ModelFile::parse(&Source::read(path)?)
    }

    /// Reads the text of a model file.
    pub fn parse(source: &Arc<Source>) -> Result<ModelFile, Diagnostics> {
        let table = fields::parse(source)?;
        let mut reader = Reader::new(Arc::clone(source), "a model file", &table);
        let file = read::file(&mut reader, Section::root(table.get_ref()));
        if reader.diagnostics.has_errors() {
            reader.diagnostics.sort();
            return Err(reader.diagnostics);
        }
        Ok(file)
    }

    /// The text of the file; reading it gives back the same models.
    pub fn to_toml(&self) -> String {
        write::file(self)
    }
}

#[cfg(test)]
mod tests;
