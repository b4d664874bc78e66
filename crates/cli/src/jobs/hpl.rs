//! HPL as a job.

use std::path::{Path, PathBuf};
use std::rc::Rc;

use hpcast_apps::hpl::{Hpl, HplModels, HplParameters, HplProcesses, ModelsError};
use hpcast_models::compute::{ModelFile, Seeds};
use hpcast_platform::Machine;
use hpcast_platform::diagnostic::Diagnostics;
use hpcast_platform::fields::Reader;
use hpcast_platform::placement::Placement;
use hpcast_report::HplTimes;

use super::file::{Job, JobFile, fail_with, read_options};
use crate::failure::Failure;
use crate::hpl::{Chosen, HplOptions, JOINTLY, memory_warning, nodes_used};
use crate::machine_options::MachineOptions;

/// HPL as a file of jobs describes it.
pub(super) struct HplJob {
    options: HplOptions,
    chosen: Chosen,
    models: Option<ModelFile>,
}

impl HplJob {
    /// Reads the options; files that they name are looked for in the folder.
    pub fn read(reader: &mut Reader, key: &str, words: &[&str], folder: &Path) -> Option<HplJob> {
        let mut options: HplOptions = read_options(reader, key, words)?;
        for path in [&mut options.models, &mut options.choices.dat].into_iter().flatten() {
            *path = folder.join(&path);
        }
        let read = || -> Result<(Chosen, Option<ModelFile>), Failure> {
            let chosen = options.choices.choose_one()?;
            Ok((chosen, options.models.as_deref().map(ModelFile::load).transpose()?))
        };
        match read() {
            Ok((chosen, models)) => Some(HplJob { options, chosen, models }),
            Err(failure) => {
                fail_with(reader, key, &failure);
                None
            }
        }
    }

    pub fn parameters(&self) -> &HplParameters {
        &self.chosen.runs[0]
    }

    pub fn ranks(&self) -> u32 {
        self.parameters().grid.size()
    }

    /// Whether kernels and messages vary.
    pub fn is_noisy(&self) -> bool {
        !self.options.no_noise
    }

    /// The files that it was read from.
    pub fn inputs(&self) -> impl Iterator<Item = &PathBuf> {
        [&self.options.models, &self.options.choices.dat].into_iter().flatten()
    }

    fn kernels(&self, seeds: &Seeds, machine: &Machine, ranks_per_node: u32) -> Result<HplModels, ModelsError> {
        let nodes = &machine.nodes;
        let drawn = self.models.as_ref().map(|file| file.drawn(seeds, nodes.count, nodes.sockets));
        self.options.kernels(drawn.as_ref(), machine, ranks_per_node)
    }

    /// Warnings of sizes that nobody measured.
    pub fn beyond_measured(&self, processes: &HplProcesses) -> Vec<String> {
        let Some(models) = &self.models else { return Vec::new() };
        let mut times = HplTimes::default();
        times.add(&processes.account(), self.ranks());
        times.beyond_measured(models)
    }
}

/// The model file that says what messages cost, if one does: there is one network, and so one price.
pub(super) fn messages(file: &JobFile) -> Result<Option<&ModelFile>, Diagnostics> {
    let mut found: Option<(&Job, &ModelFile)> = None;
    for job in &file.jobs {
        let models = job.hpl().and_then(|hpl| hpl.models.as_ref()).filter(|models| models.network.is_some());
        match (found, models) {
            (Some((first, known)), Some(models)) if known.network != models.network => {
                let message = format!(
                    "model files of jobs `{}` and `{}` let messages cost different times",
                    first.name, job.name
                );
                let remedy = "jobs share one network: let the section [network] stand in one of the files only";
                return Err(file.error(job, "program", message, remedy).into());
            }
            (None, Some(models)) => found = Some((job, models)),
            _ => {}
        }
    }
    Ok(found.map(|(_, models)| models))
}

/// HPL where it runs, to be started in each simulation.
pub(super) struct PlacedHpl {
    hpl: Hpl,
    /// As its messages see it.
    machine: Rc<Machine>,
    pub assumptions: Vec<String>,
    pub warning: Option<String>,
}

/// What decides how a job runs, beside the job.
pub(super) struct Surroundings<'s> {
    pub options: &'s MachineOptions,
    pub machine: &'s Rc<Machine>,
    /// Somebody counts all messages.
    pub counted: bool,
}

impl PlacedHpl {
    pub fn new(
        file: &JobFile,
        job: &Job,
        hpl: &HplJob,
        placement: &Placement,
        surroundings: &Surroundings<'_>,
    ) -> Result<PlacedHpl, Diagnostics> {
        let Surroundings { options, machine, counted } = surroundings;
        // Processors are the machine's, whoever uses them.
        let seed = job.seed(options.seed);
        let seeds = Seeds { calls: seed, nodes: options.seed, ..Seeds::default() };
        let on_node = job.ranks_per_node.or(machine.plan.ranks_per_node).unwrap_or(machine.cores_per_node).max(1);
        let models = hpl.kernels(&seeds, machine, on_node).map_err(|error| {
            let (message, remedy) = hpl.options.cannot_model(&error, &options.path);
            file.error(job, "program", message, remedy)
        })?;
        let parameters = *hpl.parameters();
        let jointly = !hpl.options.exact && !counted;
        let mut assumptions = [hpl.chosen.assumed.clone(), models.assumed.clone()].concat();
        assumptions.extend((jointly && parameters.grid.rows > 1).then(|| JOINTLY.to_owned()));
        let machine = match hpl.is_noisy() {
            true => (*machine).clone(),
            false => Rc::new(MachineOptions::with_messages((***machine).clone(), None, false)),
        };
        Ok(PlacedHpl {
            warning: memory_warning(parameters.n, nodes_used(placement), &machine),
            hpl: Hpl { parameters, models, pivots: hpl.options.pivots(seed), seed, record: false, jointly },
            machine,
            assumptions,
        })
    }

    pub fn processes(&self, placement: &Placement) -> Rc<HplProcesses> {
        Rc::new(HplProcesses::new(self.hpl.clone(), &self.machine, placement))
    }
}
