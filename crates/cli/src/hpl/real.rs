//! `hpcast hpl --real`: the reference implementation itself, executed on the simulated machine beside the skeleton.

mod build;
mod source;

use std::ffi::CString;
use std::fs::{self, File};
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStringExt;
use std::path::PathBuf;
use std::rc::Rc;

use clap::Args;
use hpcast_apps::hpl::{HplDat, HplKernel, HplParameters, Pivots, SwapKind, roofline};
use hpcast_emulate::kernels::{Functions, KernelModels, Kernels, MachineSpeed};
use hpcast_emulate::{Charging, Folding, Launch, Prefix, RanksAs, Sharing};
use hpcast_models::compute::ModelFile;
use hpcast_mpi::{Outcome, Setup};
use hpcast_platform::Machine;

use super::choices::form;
use crate::failure::Failure;
use crate::launch;

/// What becomes of HPL's own functions.
const FUNCTIONS: &str = include_str!("real/functions.toml");
/// Smaller allocations are ordinary memory.
const SMALLEST_APART: usize = 64 << 10;
/// HPL's own needs are a few kilobytes, and its index arrays are not on the stack.
const STACK: usize = 256 << 10;

/// Whether the real HPL is run, and where it comes from.
#[derive(Args)]
pub(crate) struct RealOptions {
    /// Also run the real HPL, call by call, and compare: it is built from Debian's source package hpcc
    #[arg(long)]
    pub real: bool,
    /// Folder with the sources of HPL for --real, instead of fetching them
    #[arg(long, value_name = "FOLDER", requires = "real")]
    pub hpl_source: Option<PathBuf>,
}

/// The real HPL, built.
pub(super) struct RealHpl {
    program: PathBuf,
}

/// A run of it.
pub(super) struct RealRun<'r> {
    pub parameters: &'r HplParameters,
    pub pivots: &'r Pivots,
    pub models: Option<&'r ModelFile>,
    pub noise: bool,
    /// Ranks that share a node's speed.
    pub ranks_per_node: u32,
}

impl RealOptions {
    /// Fetches and builds it, if it is asked for.
    pub fn prepare(&self, copy_panels: bool) -> Result<Option<RealHpl>, Failure> {
        if !self.real {
            return Ok(None);
        }
        let source = source::folder(self.hpl_source.as_deref())?;
        Ok(Some(RealHpl { program: build::program(&source, copy_panels)? }))
    }
}

impl RealHpl {
    /// Executes it; gives the seconds that it takes by its own clock, from the moment when all ranks begin.
    pub fn run(&self, run: &RealRun<'_>, setup: Setup) -> Result<(f64, Outcome), Failure> {
        let files = Files::new(run)?;
        let launch = Launch {
            arguments: self.arguments(run, &files)?,
            charging: Charging::Nothing,
            prefix: Prefix::None,
            print: Rc::new(launch::print),
            stack: STACK,
            stacks: Sharing::Possible,
            folding: Some(Folding { threshold: Some(SMALLEST_APART), ..Folding::default() }),
            kernels: Some(Box::new(run.kernels(&setup.machine, setup.seed)?)),
            regions: Vec::new(),
            slowness: 1.0,
            patience: None,
            ranks_as: RanksAs::Copies,
        };
        let finding = hpcast_emulate::launch(&launch, setup).map_err(|error| launch::failure(&self.program, &error))?;
        let code = launch::exit_code(&finding)?;
        let outcome = finding.outcome.map_err(Failure::from)?;
        let seconds = fs::read_to_string(&files.result).ok().and_then(|text| text.trim().parse().ok());
        match seconds {
            Some(seconds) if code == 0 => Ok((seconds, outcome)),
            _ => Err(Failure::Program(format!("the real HPL ended with exit code {code} and without a result"))),
        }
    }

    fn arguments(&self, run: &RealRun<'_>, files: &Files) -> Result<Vec<CString>, Failure> {
        let kind = if run.pivots.are_equal() { "equal" } else { "any" };
        let paths = [&self.program, &files.result].map(|path| path.clone().into_os_string());
        let pivots = files.pivots.as_raw_fd().to_string();
        let words = paths
            .into_iter()
            .chain([pivots.into(), kind.into()])
            .chain(words(run.parameters).into_iter().map(Into::into));
        let word = |word: std::ffi::OsString| CString::new(word.into_vec());
        let words = words.map(word).collect::<Result<_, _>>();
        words.map_err(|_| Failure::input("a path contains a zero character; choose another in HPCAST_HOME"))
    }
}

impl RealRun<'_> {
    fn kernels(&self, machine: &Machine, seed: u64) -> Result<Kernels, Failure> {
        let wrong = |error: hpcast_emulate::kernels::FunctionError| Failure::input(error.to_string());
        let mut functions = Functions::modelled();
        functions.list.retain(|function| HplKernel::ALL.iter().any(|kernel| kernel.name() == function.kernel));
        functions.list.extend(Functions::parse(FUNCTIONS).map_err(wrong)?.list);
        let speed = roofline(machine, self.ranks_per_node).map(|(roofline, _)| MachineSpeed { roofline });
        let mut models = KernelModels::new(self.models.cloned().unwrap_or_default(), speed);
        if !self.noise {
            models = models.without_noise();
        }
        Kernels::new(functions.list, &models, seed).map_err(wrong)
    }
}

/// The parameters in the words of fidelity/parameters.h.
fn words(parameters: &HplParameters) -> Vec<String> {
    let dat = HplDat::of(parameters);
    let HplParameters { n, nb, grid, depth, nbmin, ndiv, .. } = *parameters;
    let swap = match dat.swap {
        SwapKind::BinaryExchange => "binary",
        other => other.name(),
    };
    let numbers = |numbers: &[u64]| numbers.iter().map(u64::to_string).collect::<Vec<_>>();
    let mut words = numbers(&[n, nb, grid.rows.into(), grid.columns.into()]);
    words.extend([grid.order.name().into(), depth.to_string()]);
    words.extend([parameters.pfact.name().into(), parameters.rfact.name().into()]);
    words.extend(numbers(&[nbmin, ndiv]));
    words.extend([parameters.broadcast.name().into(), swap.into(), dat.swap_threshold.to_string()]);
    words.extend([form(parameters.l1_transposed).into(), form(parameters.u_transposed).into()]);
    words.push(if parameters.equilibration { "yes" } else { "no" }.into());
    words
}

/// What a run reads and writes, in a folder that goes with it.
struct Files {
    folder: PathBuf,
    result: PathBuf,
    /// All ranks read it: they are copies in this process.
    pivots: File,
}

impl Files {
    fn new(run: &RealRun<'_>) -> Result<Files, Failure> {
        let folder = std::env::temp_dir().join(format!("hpcast-hpl-{}", std::process::id()));
        let HplParameters { n, nb, grid, .. } = *run.parameters;
        let rows = run.pivots.list(n, nb, grid.rows);
        let bytes: Vec<u8> = rows.into_iter().flat_map(|row| (row as i32).to_ne_bytes()).collect();
        let path = folder.join("pivots");
        let pivots =
            fs::create_dir_all(&folder).and_then(|()| fs::write(&path, bytes)).and_then(|()| File::open(&path));
        let pivots = pivots.map_err(|error| {
            let folder = folder.display();
            Failure::input(format!("cannot write to {folder}: {error}\n  name another folder in TMPDIR"))
        })?;
        Ok(Files { result: folder.join("seconds"), pivots, folder })
    }
}

impl Drop for Files {
    fn drop(&mut self) {
        // Whoever cleans up temporary files will find it otherwise.
        let _ = fs::remove_dir_all(&self.folder);
    }
}
