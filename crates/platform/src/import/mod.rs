//! Readers of others' descriptions of machines: one folder a format. [`Format::of`] finds out which one a text is in.

mod fabric;
pub mod ibnetdiscover;
pub mod simgrid;
pub mod slurm;
mod text;

use std::sync::Arc;

use crate::diagnostic::{Diagnostic, Diagnostics, Source};
use crate::machine::{MachineFile, Wiring};

pub use fabric::Unsaid;

/// What can be imported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// A SimGrid platform file.
    SimGrid,
    /// Slurm's `topology.conf`.
    Slurm,
    /// What `ibnetdiscover` prints.
    Ibnetdiscover,
}

impl Format {
    /// The format of a text, told by its content.
    pub fn of(source: &Arc<Source>) -> Result<Format, Diagnostic> {
        if source.text.trim_start_matches(['\u{feff}', ' ', '\t', '\r', '\n']).starts_with('<') {
            return Ok(Format::SimGrid);
        }
        let formats = source.text.lines().filter_map(|line| {
            if slurm::is_statement(line) {
                Some(Format::Slurm)
            } else if ibnetdiscover::is_record(line) {
                Some(Format::Ibnetdiscover)
            } else {
                None
            }
        });
        formats.into_iter().next().ok_or_else(|| {
            let remedy = "name a SimGrid platform (XML), a topology.conf of Slurm (lines `SwitchName=...` or \
                          `BlockName=...`), or what `ibnetdiscover` printed";
            Diagnostic::error("this is no description of a machine that hpcast knows", remedy)
                .at(source, source.word(1, 1))
        })
    }
}

/// What a file became.
#[derive(Clone, Debug)]
pub struct Import {
    /// The machine.
    pub machine: MachineFile,
    /// All that was not converted, or not exactly, in the order of the file; and what was assumed.
    pub warnings: Diagnostics,
}

impl Import {
    /// The files to write, by name: the machine file, and the graph beside it if there is one.
    pub fn files(&self, machine_name: &str) -> Vec<(String, String)> {
        let mut machine = self.machine.clone();
        let mut files = Vec::new();
        if let Wiring::Graph { file, text } = &mut machine.network.wiring {
            let stem = machine_name.strip_suffix(".toml").unwrap_or(machine_name);
            // The machine file names its graph relative to itself.
            let graph_name = format!("{stem}.graph");
            *file = graph_name.rsplit('/').next().map(String::from);
            files.push((graph_name, text.clone()));
        }
        let header = self.warnings.iter().map(|warning| {
            let place = warning.position().map_or(String::new(), |(line, _)| format!("line {line}: "));
            format!("- {place}{} ({})", warning.message, warning.remedy)
        });
        let mut header: Vec<String> = header.collect();
        if !header.is_empty() {
            header.insert(0, "What the conversion could not keep, or had to assume:".into());
        }
        files.insert(0, (machine_name.to_string(), machine.to_toml(header.iter().map(String::as_str))));
        files
    }
}

#[cfg(test)]
mod tests;
