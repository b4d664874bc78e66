//! HPL as a program: what it runs and how, alone or as a job.

use std::path::{Path, PathBuf};

use clap::Args;
use hpcast_apps::hpl::{HplModels, ModelsError, Pivots};
use hpcast_models::compute::ModelFile;
use hpcast_platform::Machine;

use super::choices::Choices;

/// Options of HPL, alone or as a job.
#[derive(Args)]
pub(crate) struct HplOptions {
    /// Model file: how long kernels take (default: a roofline of the machine file's speeds), and what messages cost
    /// (default: as the machine file says)
    #[arg(long, value_name = "FILE.toml")]
    pub models: Option<PathBuf>,
    #[command(flatten)]
    pub choices: Choices,
    /// Kernels take the same time in every call, and all messages of a size cost the same
    #[arg(long)]
    pub no_noise: bool,
    /// Simulate every message
    #[arg(long)]
    pub exact: bool,
}

impl HplOptions {
    /// How long kernels take where so many ranks share a node.
    pub fn kernels(
        &self,
        drawn: Option<&ModelFile>,
        machine: &Machine,
        ranks_per_node: u32,
    ) -> Result<HplModels, ModelsError> {
        let models = HplModels::new(drawn, machine, ranks_per_node)?;
        Ok(if self.no_noise { models.without_noise() } else { models })
    }

    /// Why kernels have no models, and what to do about it.
    pub fn cannot_model(&self, error: &ModelsError, machine: &Path) -> (String, &'static str) {
        match error {
            ModelsError::NoSpeed => (
                format!("{} does not say how fast a node computes", machine.display()),
                "add `flops` or `sustained-flops` to its [nodes], or name a model file that lists all kernels with --models",
            ),
            ModelsError::Argument { .. } => {
                let file = self.models.as_deref().unwrap_or(Path::new("")).display();
                (format!("{file}: {error}"), "correct the terms of that kernel")
            }
        }
    }

    /// Where pivots come from, unless they are listed.
    pub fn pivots(&self, seed: u64) -> Pivots {
        match () {
            () if self.choices.equal_pivots => Pivots::equal(seed),
            () if self.choices.first_pivots => Pivots::First,
            () => Pivots::random(seed),
        }
    }
}
