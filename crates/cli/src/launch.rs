//! `hpcast run ./program`: runs a real MPI program on a simulated machine.

mod arguments;
mod deadlock;
mod left;
mod verdict;

use std::ffi::{CString, OsString};
use std::io::Write;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

use clap::Args;
use hpcast_emulate::kernels::{
    Account, FunctionError, Functions, KernelModels, Kernels, MachineSpeed, Sampling, Source as TimeSource,
};
use hpcast_emulate::{Charging, Finding, Folding, Launch, LaunchError, Prefix, Print, RanksAs, Sharing, Stream};
use hpcast_models::compute::ModelFile;
use hpcast_mpi::collectives::{Library, Selection};
use hpcast_mpi::{Outcome, Setup};
use hpcast_platform::Machine;
use hpcast_platform::diagnostic::{Diagnostic, Source};
use hpcast_report::{RunReport, Totals, json, text};
use hpcast_units::{Bytes, Seconds};

use crate::failure::Failure;
use crate::machine_options::MachineOptions;
use crate::outputs::{OutputOptions, Results, Watchers};
use crate::running::Running;
use crate::verify::{self, Verification};
use arguments::first_positional;
pub(crate) use arguments::rewritten;
use verdict::Verdict;

/// Options of `hpcast run` for programs that are files.
#[derive(Args)]
pub(crate) struct Options {
    /// Number of ranks
    #[arg(short = 'n', long, value_name = "RANKS")]
    ranks: u32,
    #[command(flatten)]
    machine: MachineOptions,
    /// What the program's own code costs: `skip` (nothing), `run` (the CPU time that it takes here, divided by --speed), or
    /// `sample` (the same, but products of matrices and LAPACK are executed only until their mean is known)
    #[arg(long, default_value = "run", value_name = "HOW")]
    compute: Compute,
    /// How many times faster a core of the simulated machine is than one of this computer
    #[arg(long, default_value_t = 1.0, value_name = "FACTOR")]
    speed: f64,
    /// Model file: calls of the BLAS, LAPACK and FFTW are not executed, but take the time that its kernel models say
    #[arg(long, value_name = "FILE.toml")]
    models: Option<PathBuf>,
    /// Functions of the program that are modelled, sampled or left out
    #[arg(long, value_name = "FILE.toml")]
    functions: Option<PathBuf>,
    /// Allocations from so many MiB on are folded: nobody reads their numbers; with --models, the default is those that would
    /// not fit in memory
    #[arg(long, value_name = "MIB")]
    fold: Option<f64>,
    /// Begin each line of the program's text with the rank that wrote it; `--prefix=time` adds the virtual time
    #[arg(long, value_name = "WHAT", num_args = 0..=1, require_equals = true, default_missing_value = "rank")]
    prefix: Option<Begin>,
    /// Stack of each rank in MiB
    #[arg(long, default_value_t = 8, value_name = "MIB")]
    stack: usize,
    /// Whether each rank has a stack of its `own`, or all run on one that is `shared`, which is faster for many whose stacks are not deep; the
    /// second from 2,048 ranks on, unless this says otherwise
    #[arg(long, value_name = "WHICH")]
    stacks: Option<Which>,
    /// What ranks are: `copies` of the program in one process, or `processes`, which is slower and can do more; the first, if the
    /// program allows it, unless this says otherwise
    #[arg(long, value_name = "WHAT")]
    ranks_as: Option<Ranks>,
    /// Say so when a rank has computed for so many seconds without a call of MPI, while all others wait; 0: never
    #[arg(long, default_value_t = PATIENCE.as_secs_f64(), value_name = "SECONDS")]
    patience: f64,
    /// Why ranks are processes, for the report
    #[arg(long, hide = true)]
    because: Option<String>,
    /// MPI library whose rules choose the collective algorithms: openmpi or mpich
    #[arg(long, default_value_t = Library::OpenMpi, value_name = "LIBRARY")]
    mpi: Library,
    /// Algorithm of a collective, such as `allreduce=ring` (see `hpcast collectives`); may be given several times
    #[arg(long, value_name = "OPERATION=ALGORITHM")]
    coll: Vec<String>,
    #[command(flatten)]
    outputs: OutputOptions,
    /// Run the program natively as well, and compare exit codes, texts and files that it writes in the working folder
    #[arg(long)]
    verify: bool,
    /// With --verify: by how much numbers may differ, in relation to their size
    #[arg(long, default_value_t = 1e-6, value_name = "SHARE")]
    tolerance: f64,
    /// Working folder of the program
    #[arg(long, value_name = "FOLDER")]
    wdir: Option<PathBuf>,
    /// The program and its arguments
    #[arg(required = true, value_name = "PROGRAM", num_args = 1.., last = true)]
    program: Vec<OsString>,
}

/// A rank that computes for so long without a call of MPI is named.
const PATIENCE: Duration = Duration::from_secs(10);

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Compute {
    Run,
    Sample,
    Skip,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Begin {
    Rank,
    Time,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Ranks {
    Copies,
    Processes,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Which {
    Own,
    Shared,
}

pub(crate) fn run(options: &Options) -> Result<(), Failure> {
    if options.verify {
        return options.verify();
    }
    let path = options.path();
    let mut running = Running::stopped_by(hpcast_emulate::stop_on_signals(), path.display().to_string());
    options.outputs.check(&options.machine.inputs().chain([path.as_path()]).collect::<Vec<_>>())?;
    let machine = options.machine.load(None, true)?;
    options.machine.inputs().for_each(|path| running.add_input(path));
    running.add_input(&path);
    let watchers = Watchers::new(&options.outputs, options.ranks)?;
    let setup = options.setup(&machine, &watchers, &running)?;
    let launch = options.launch(&machine, &running)?;
    let finding =
        options.within(|| hpcast_emulate::launch(&launch, setup))?.map_err(|error| options.failure(&path, &error))?;
    let verdict = Verdict::of(&finding);
    let mut totals = Totals::default();
    match (finding.outcome, finding.so_far) {
        (Ok(outcome), _) => totals.add(outcome),
        // Messages that are under way when a run is stopped are no fault.
        (Err(_), so_far) => totals.add(Outcome { unreceived: 0, ..so_far.unwrap_or_default() }),
    }
    let mut report = RunReport::of(&totals, &machine.interconnect, options.outputs.every_rank);
    options.describe(&machine, &mut report);
    if let Some(why) = finding.why_processes.as_ref().or(options.because.as_ref()) {
        report.assumptions.push(format!("ranks-as = processes, because {why}"));
    }
    if finding.lacks_memory {
        let folded = "memory = folded where it was not enough: numbers in the largest arrays mean nothing";
        report.assumptions.push(folded.into());
    }
    if finding.free_files {
        report.assumptions.push("io = reading and writing files takes no time".into());
    }
    if finding.one_thread {
        report.assumptions.push("threads = OpenMP has one in each rank, as if OMP_NUM_THREADS were 1".into());
    }
    if let Some(bytes) = finding.deep_stacks {
        let had = Bytes::new(bytes as u64).human();
        report
            .assumptions
            .push(format!("stacks = shared, where ranks that waited had {had} each: --stacks own would be faster"));
    }
    report.assumptions.extend(finding.accounts.iter().filter_map(assumed));
    if finding.library.is_none() {
        report.warnings.push(format!("{} uses no MPI: its ranks know nothing of each other", report.program));
    }
    verdict.add_to(&mut report);
    left::add_to(&finding.left_behind, &mut report);
    running.finish(&mut report);
    let results = Results {
        report: &report,
        totals: &totals,
        machine: &machine,
        json: json::document(&report),
        text: String::new(),
    };
    // Standard output is the program's.
    if !verdict.is_failure() {
        eprint!("\n{}", text::summary(&report));
    }
    eprint!("{}", left::text(&finding.left_behind));
    options.outputs.write(&results, watchers)?;
    verdict.say_and_exit(report.used.wall_seconds)
}

impl Options {
    /// The file of the program: a file of that name here, or a command as shells find it.
    fn path(&self) -> PathBuf {
        let path = PathBuf::from(&self.program[0]);
        if path.is_file() { path } else { hpcast_emulate::find(&self.program[0]).unwrap_or(path) }
    }

    /// Compares with a native run.
    fn verify(&self) -> Result<(), Failure> {
        let arguments: Vec<OsString> = std::env::args_os().collect();
        let program = first_positional(&arguments).unwrap_or(arguments.len());
        Verification {
            ranks: self.ranks,
            program: &self.program,
            tolerance: self.tolerance,
            json: self.outputs.json.as_deref(),
            arguments: verify::arguments_for_simulation(&arguments[2..program]),
        }
        .run()
    }

    /// Does something in the program's working folder.
    fn within<T>(&self, what: impl FnOnce() -> T) -> Result<T, Failure> {
        let Some(folder) = &self.wdir else { return Ok(what()) };
        let go = |folder: &Path| {
            let gone = std::env::set_current_dir(folder);
            gone.map_err(|error| Failure::input(format!("cannot work in {}: {error}", folder.display())))
        };
        let here = std::env::current_dir().map_err(|error| Failure::input(format!("no working folder: {error}")))?;
        go(folder)?;
        let done = what();
        go(&here)?;
        Ok(done)
    }

    /// Why the program was not started. A file of functions that names one which is not there is shown.
    fn failure(&self, path: &Path, error: &LaunchError) -> Failure {
        if let LaunchError::BeyondCopies(why) = error {
            return anew_as_processes(why);
        }
        let LaunchError::Function(absent @ FunctionError::Absent { symbol, similar }) = error else {
            return failure(path, error);
        };
        let remedy = match similar.join("`, `") {
            names if names.is_empty() => "check its name; nm lists those of a program that is not stripped".to_owned(),
            names => format!("did you mean `{names}`?"),
        };
        let diagnostic = Diagnostic::error(absent.to_string(), remedy);
        let Some(source) = self.functions.as_ref().and_then(|path| Source::read(path).ok()) else {
            return diagnostic.into();
        };
        let heads = [format!("[function.{symbol}]"), format!("[function.\"{symbol}\"]")];
        match heads.iter().find_map(|head| source.text.find(head).map(|start| start..start + head.len())) {
            Some(place) => diagnostic.at(&source, place).into(),
            None => diagnostic.into(),
        }
    }

    fn setup(&self, machine: &Rc<Machine>, watchers: &Watchers, running: &Running) -> Result<Setup, Failure> {
        let mut selection = Selection::of(self.mpi);
        for choice in &self.coll {
            selection.choose(choice).map_err(|error| Failure::input(format!("--coll {choice}: {error}")))?;
        }
        let seed = self.machine.seed;
        let placement = self.machine.place(machine, self.ranks, seed)?;
        let network = self.machine.network(machine, &self.outputs, seed);
        Ok(Setup {
            seed,
            selection,
            observer: watchers.observer(),
            interrupt: Some(running.interrupt()),
            progress: running.progress(0.0..1.0, |_, simulated| {
                vec![format!("{} simulated", Seconds::new(simulated.as_secs()).human())]
            }),
            ..Setup::new(self.ranks, machine.clone(), placement, network)
        })
    }

    fn describe(&self, machine: &Machine, report: &mut RunReport) {
        report.program = PathBuf::from(&self.program[0]).display().to_string();
        report.ranks = self.ranks;
        let parameter = ("compute".to_owned(), format!("{:?}", self.compute).to_lowercase().into());
        report.parameters.push(parameter);
        self.machine.describe(machine, report);
    }

    fn launch(&self, machine: &Machine, running: &Running) -> Result<Launch, Failure> {
        if self.speed.is_nan() || self.speed <= 0.0 {
            return Err(Failure::input("--speed must be positive"));
        }
        let patience = Duration::try_from_secs_f64(self.patience)
            .map_err(|error| Failure::input(format!("--patience {}: {error}; give seconds, or 0", self.patience)))?;
        let listed = self.listed()?;
        let folding = self.folding(listed.allocations.clone());
        let regions = listed.regions.clone();
        let kernels = self.kernels(listed, machine)?;
        let argument = |text: &OsString| CString::new(text.clone().into_vec());
        let mut program = self.program.clone();
        program[0] = self.path().into();
        if self.wdir.is_some()
            && let Ok(path) = std::path::absolute(&program[0])
        {
            program[0] = path.into();
        }
        let arguments = program.iter().map(argument).collect::<Result<Vec<_>, _>>();
        let charging = match self.compute {
            Compute::Skip => Charging::Nothing,
            Compute::Run | Compute::Sample => Charging::Measured(1.0 / self.speed),
        };
        Ok(Launch {
            arguments: arguments.map_err(|_| Failure::input("an argument of the program contains a zero character"))?,
            charging,
            prefix: match self.prefix {
                None => Prefix::None,
                Some(Begin::Rank) => Prefix::Rank,
                Some(Begin::Time) => Prefix::Time,
            },
            print: printing(running),
            stack: self.stack << 20,
            stacks: match self.stacks {
                None => Sharing::Possible,
                Some(Which::Own) => Sharing::Own,
                Some(Which::Shared) => Sharing::Shared,
            },
            folding,
            kernels: kernels.map(Box::new),
            regions,
            slowness: 1.0 / self.speed,
            patience: Some(patience).filter(|patience| !patience.is_zero()),
            ranks_as: match self.ranks_as {
                None => RanksAs::Possible,
                Some(Ranks::Copies) => RanksAs::Copies,
                Some(Ranks::Processes) => RanksAs::Processes,
            },
        })
    }
}

impl Options {
    /// What the user's file of functions says.
    fn listed(&self) -> Result<Functions, Failure> {
        let Some(path) = &self.functions else { return Ok(Functions::default()) };
        let wrong = |what: String| Failure::input(format!("{}: {what}", path.display()));
        let text = std::fs::read_to_string(path).map_err(|error| wrong(error.to_string()))?;
        Functions::parse(&text).map_err(|error| wrong(error.to_string()))
    }

    /// Allocations that share memory: as the user says, and with modelled kernels those that there is no memory for.
    fn folding(&self, sites: Vec<(String, bool)>) -> Option<Folding> {
        let threshold = self.fold.map(|size| (size * 1048576.0) as usize);
        match threshold {
            None if self.models.is_some() => Some(Folding { sites, ..Folding::by_need() }),
            None if sites.is_empty() => None,
            threshold => Some(Folding { threshold, limit: None, largest: true, sites }),
        }
    }

    /// Functions that are not simply executed.
    fn kernels(&self, listed: Functions, machine: &Machine) -> Result<Option<Kernels>, Failure> {
        let mut functions = match (&self.models, self.compute) {
            (Some(_), Compute::Sample) => {
                let problem = "--models and --compute sample both say what calls of the BLAS cost; give one of them";
                return Err(Failure::input(problem));
            }
            (Some(_), _) => Functions::modelled(),
            (None, Compute::Sample) => Functions::sampled(Sampling::default()),
            (None, _) if listed.list.is_empty() => return Ok(None),
            (None, _) => Functions::default(),
        };
        functions.list.retain(|function| listed.list.iter().all(|listed| listed.symbol != function.symbol));
        functions.list.extend(listed.list);
        let file = match &self.models {
            Some(path) => ModelFile::load(path)?,
            None => ModelFile::default(),
        };
        let speed = speed(machine, self.machine.ranks_per_node(machine, self.ranks));
        let models = KernelModels::new(file, speed);
        let kernels = Kernels::new(functions.list, &models, self.machine.seed)
            .map_err(|error| Failure::input(error.to_string()))?;
        Ok(Some(kernels.with_speed(self.speed)))
    }
}

/// What was taken for granted about the time of a function.
fn assumed(account: &Account) -> Option<String> {
    let Account { symbol, calls, executed, source, .. } = account;
    match source {
        TimeSource::Free | TimeSource::Model | TimeSource::Remembered => None,
        TimeSource::Roofline => {
            Some(format!("{symbol} = as fast as the machine file's roofline: the model file does not have it"))
        }
        TimeSource::Left => Some(format!("{symbol} = executed as it is: its code cannot be replaced")),
        TimeSource::Samples => Some(format!("{symbol} = sampled, {executed} of {calls} calls were executed")),
    }
}

/// How fast a rank computes, as the machine file has it.
fn speed(machine: &Machine, ranks_per_node: u32) -> Option<MachineSpeed> {
    let (roofline, _) = hpcast_apps::hpl::roofline(machine, ranks_per_node)?;
    Some(MachineSpeed { roofline })
}

/// Begins the whole command anew, with ranks that are processes: comes back only if that goes wrong.
fn anew_as_processes(why: &str) -> Failure {
    use std::os::unix::process::CommandExt;
    let mut arguments: Vec<OsString> = std::env::args_os().collect();
    let options = ["--ranks-as=processes".to_owned(), format!("--because={why}")];
    arguments.splice(2..2, options.map(OsString::from));
    let error = match std::env::current_exe() {
        Ok(hpcast) => std::process::Command::new(hpcast).args(&arguments[1..]).exec(),
        Err(error) => error,
    };
    Failure::input(format!(
        "{why}, and ranks cannot become processes by themselves: {error}; ask for --ranks-as processes"
    ))
}

/// Prints the program's text; the line that says how far the run is makes room for it.
fn printing(running: &Running) -> Rc<Print> {
    let wipe = running.wiper();
    Rc::new(move |stream, text: &[u8]| {
        wipe();
        print(stream, text);
    })
}

/// Prints text of a program.
pub(crate) fn print(stream: Stream, text: &[u8]) {
    // Somebody who has closed the pipe does not want to know.
    let _ = match stream {
        Stream::Out => std::io::stdout().write_all(text).and_then(|()| std::io::stdout().flush()),
        Stream::Err => std::io::stderr().write_all(text),
    };
}

/// The program's exit code, if it came to its end.
pub(crate) fn exit_code(finding: &Finding) -> Result<i32, Failure> {
    Verdict::of(finding).exit_code()
}

/// Why a program cannot be started.
pub(crate) fn failure(path: &Path, error: &LaunchError) -> Failure {
    match error {
        LaunchError::Load(error) => Failure::input(format!("{}: {error}\n  {}", path.display(), error.remedy())),
        _ => Failure::input(error.to_string()),
    }
}
