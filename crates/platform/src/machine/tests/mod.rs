//! Machine files: good ones, bad ones, and mutilated ones.

mod bad;
mod cost;
mod good;
mod robust;

use std::path::Path;
use std::sync::Arc;

use super::MachineFile;
use crate::diagnostic::{Diagnostics, Source};

/// A small machine with everything that is required and little else.
const SMALL: &str = r#"
name = "small"
[nodes]
count = 4
cores-per-socket = 2
[network]
topology = "crossbar"
bandwidth = "100 Gbit/s"
latency = "90 ns"
"#;

fn source(text: &str) -> Arc<Source> {
    Source::new("machine.toml", text)
}

fn parse(text: &str) -> Result<MachineFile, Diagnostics> {
    MachineFile::parse(&source(text), Path::new(""))
}

fn good(text: &str) -> MachineFile {
    parse(text).unwrap_or_else(|errors| panic!("{errors}"))
}
