//! `hpcast model`: model files, which say how long kernels take.

mod compare;
mod curves;
mod import;
mod network;
mod show;
mod summary;

use std::path::Path;

use clap::Subcommand;
use hpcast_models::compute::{Kernel, ModelFile};
use hpcast_platform::diagnostic::Source;
use hpcast_report::write_file;

use crate::failure::Failure;
pub(crate) use import::Tables;
pub(crate) use network::{published_network, show as show_network};
pub(crate) use summary::{details, summary};

/// What to do with a model file.
#[derive(Subcommand)]
pub(crate) enum Command {
    /// Make a model file of published tables (CSV)
    Import(import::Import),
    /// Make the network part of a model file of published parameters (CSV) or mixtures (JSON)
    ImportNetwork(network::ImportNetwork),
    /// Show the kernels of a model file, and draw how well one fits
    Show(Box<show::Show>),
    /// Compare two model files: what changed, where, and whether that is more than chance
    Compare(compare::Compare),
}

pub(crate) fn run(command: &Command) -> Result<(), Failure> {
    match command {
        Command::Import(import) => import.run(),
        Command::ImportNetwork(import) => import.run(),
        Command::Show(show) => show.run(),
        Command::Compare(compare) => compare.run(),
    }
}

/// Writes a model file, which can be read again: a number that is none must not get into it.
pub(crate) fn write(file: &ModelFile, path: &Path) -> Result<(), Failure> {
    let text = file.to_toml();
    if ModelFile::parse(&Source::new("the model file", text.as_str())).is_err() {
        return Err(Failure::input(
            "what was found is no model: some of its figures are no numbers; look for durations that are zero or all alike",
        ));
    }
    Ok(write_file(path, text.as_bytes())?)
}

/// The kernel that was asked for, or the only one.
fn chosen<'f>(file: &'f ModelFile, name: Option<&str>) -> Result<(&'f str, &'f Kernel), Failure> {
    let known = || file.kernels.keys().map(String::as_str).collect::<Vec<_>>().join(", ");
    match name {
        None if file.kernels.len() == 1 => {
            let only = file.kernels.iter().next().map(|(name, kernel)| (name.as_str(), kernel));
            only.ok_or_else(|| Failure::input("the file has no kernel"))
        }
        None => Err(Failure::input(format!("choose a kernel with --kernel; the file has {}", known()))),
        Some(name) => {
            let kernel = file.kernels.get_key_value(name).map(|(name, kernel)| (name.as_str(), kernel));
            kernel.ok_or_else(|| Failure::input(format!("there is no kernel `{name}`; the file has {}", known())))
        }
    }
}
