//! `hpcast run ./program`: runs a real MPI program on a simulated machine.

use std::ffi::{CString, OsString};
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use clap::{Args, CommandFactory, Parser};
use hpcast_emulate::kernels::{Functions, KernelModels, Kernels, MachineSpeed};
use hpcast_emulate::{Charging, Ending, Finding, Launch, LaunchError, RanksAs};
use hpcast_models::compute::ModelFile;
use hpcast_mpi::collectives::{Library, Selection};
use hpcast_mpi::{RunError, Setup};
use hpcast_platform::Machine;
use hpcast_report::{RunReport, Totals, json, text};

use crate::failure::Failure;
use crate::machine_options::MachineOptions;
use crate::outputs::{OutputOptions, Results, Watchers};
use crate::running::Running;

/// Options of `hpcast run` for programs that are files.
#[derive(Args)]
pub(crate) struct Options {
    /// Number of ranks
    #[arg(short = 'n', long, value_name = "RANKS")]
    ranks: u32,
    #[command(flatten)]
    machine: MachineOptions,
    /// What the program's own code costs: `skip` (nothing), or `run` (the CPU time that it takes here, times --speed)
    #[arg(long, default_value = "run", value_name = "HOW")]
    compute: Compute,
    /// How many times faster a core of the simulated machine is than one of this computer
    #[arg(long, default_value_t = 1.0, value_name = "FACTOR")]
    speed: f64,
    /// Model file: BLAS calls are not executed, but take the time that its kernel models say
    #[arg(long, value_name = "FILE.toml")]
    models: Option<PathBuf>,
    /// Functions of the program that are modelled, sampled or left out
    #[arg(long, value_name = "FILE.toml")]
    functions: Option<PathBuf>,
    /// Allocations from so many MiB on are folded: nobody reads their numbers
    #[arg(long, value_name = "MIB")]
    fold: Option<f64>,
    /// Begin each line of the program's text with the rank that wrote it
    #[arg(long)]
    prefix: bool,
    /// Stack of each rank in MiB
    #[arg(long, default_value_t = 8, value_name = "MIB")]
    stack: usize,
    /// What ranks are: `copies` of the program in one process, or `processes`, which is slower and can do more; the first, if the
    /// program allows it, unless this says otherwise
    #[arg(long, value_name = "WHAT")]
    ranks_as: Option<Ranks>,
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
    /// The program and its arguments
    #[arg(required = true, value_name = "PROGRAM", num_args = 1.., last = true)]
    program: Vec<OsString>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Compute {
    Run,
    Skip,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Ranks {
    Copies,
    Processes,
}

/// If these are the arguments of `hpcast run` for a program that is a file, the same as arguments of the hidden command that
/// runs it: everything from the program on is the program's.
pub(crate) fn rewritten(arguments: Vec<OsString>, is_built_in: impl Fn(&str) -> bool) -> Vec<OsString> {
    if arguments.get(1).is_none_or(|command| command != "run") {
        return arguments;
    }
    let Some(place) = first_positional(&arguments) else { return arguments };
    let program = arguments[place].to_string_lossy();
    let is_file = program.contains('/')
        || !is_built_in(&program)
            && (Path::new(&*program).is_file() || hpcast_emulate::find(&arguments[place]).is_some());
    if !is_file {
        return arguments;
    }
    let mut rewritten = arguments;
    rewritten[1] = "run-program".into();
    if rewritten[place - 1] != "--" {
        rewritten.insert(place, "--".into());
    }
    rewritten
}

/// Where the first argument is that is no option and no value of one.
fn first_positional(arguments: &[OsString]) -> Option<usize> {
    #[derive(Parser)]
    struct Standalone {
        #[command(flatten)]
        options: Options,
    }
    let command = Standalone::command();
    let takes_value = |option: &str| {
        let is_meant = |argument: &&clap::Arg| match option.strip_prefix("--") {
            Some(long) => argument.get_long() == Some(long),
            None => argument.get_short() == option.chars().nth(1),
        };
        let is_alone = option.len() == 2 || option.starts_with("--");
        is_alone && command.get_arguments().find(is_meant).is_some_and(|argument| argument.get_action().takes_values())
    };
    let mut place = 2;
    while let Some(argument) = arguments.get(place) {
        let text = argument.to_string_lossy();
        if text == "--" {
            return (place + 1 < arguments.len()).then_some(place + 1);
        }
        if !text.starts_with('-') {
            return Some(place);
        }
        place += if takes_value(&text) { 2 } else { 1 };
    }
    None
}

pub(crate) fn run(options: &Options) -> Result<(), Failure> {
    let path = options.path();
    let mut running = Running::begin(path.display().to_string());
    options.outputs.check()?;
    let machine = options.machine.load(None, true)?;
    running.add_input(&options.machine.path);
    running.add_input(&path);
    let mut selection = Selection::of(options.mpi);
    for choice in &options.coll {
        selection.choose(choice).map_err(|error| Failure::input(format!("--coll {choice}: {error}")))?;
    }
    let watchers = Watchers::new(&options.outputs, options.ranks)?;
    let setup = Setup {
        ranks: options.ranks,
        machine: machine.clone(),
        placement: options.machine.place(&machine, options.ranks, options.machine.seed)?,
        network: options.machine.network(&machine),
        seed: options.machine.seed,
        selection,
        observer: watchers.observer(),
        post: None,
        interrupt: Some(running.interrupt()),
        progress: None,
    };
    let finding = hpcast_emulate::launch(&options.launch(&machine)?, setup).map_err(|error| match error {
        LaunchError::BeyondCopies(why) => anew_as_processes(&why),
        error => failure(&path, &error),
    })?;
    let code = exit_code(&finding)?;
    let mut totals = Totals::default();
    totals.add(finding.outcome.map_err(Failure::from)?);
    let mut report = RunReport::of(&totals, &machine.interconnect, options.outputs.every_rank);
    report.program = path.display().to_string();
    report.ranks = options.ranks;
    let parameter = ("compute".to_owned(), format!("{:?}", options.compute).to_lowercase().into());
    report.parameters.push(parameter);
    options.machine.describe(&machine, &mut report);
    if let Some(why) = finding.why_processes.as_ref().or(options.because.as_ref()) {
        report.assumptions.push(format!("ranks-as = processes, because {why}"));
    }
    if finding.free_files {
        report.assumptions.push("io = reading and writing files takes no time".into());
    }
    running.finish(&mut report);
    let results = Results {
        report: &report,
        totals: &totals,
        machine: &machine,
        json: json::document(&report),
        text: String::new(),
    };
    // Standard output is the program's.
    eprint!("\n{}", text::summary(&report));
    options.outputs.write(&results, watchers)?;
    match code {
        0 => Ok(()),
        code => std::process::exit(code),
    }
}

impl Options {
    /// The file of the program: a file of that name here, or a command as shells find it.
    fn path(&self) -> PathBuf {
        let path = PathBuf::from(&self.program[0]);
        if path.is_file() { path } else { hpcast_emulate::find(&self.program[0]).unwrap_or(path) }
    }

    fn launch(&self, machine: &Machine) -> Result<Launch, Failure> {
        let (kernels, required) = self.kernels(machine)?;
        let argument = |text: OsString| CString::new(text.into_vec());
        let words = std::iter::once(self.path().into_os_string()).chain(self.program.iter().skip(1).cloned());
        let arguments = words.map(argument).collect::<Result<Vec<_>, _>>();
        let charging = match self.compute {
            Compute::Skip => Charging::Nothing,
            Compute::Run if self.speed > 0.0 => Charging::Measured(1.0 / self.speed),
            Compute::Run => return Err(Failure::input("--speed must be positive")),
        };
        Ok(Launch {
            arguments: arguments.map_err(|_| Failure::input("an argument of the program contains a zero character"))?,
            charging,
            prefix: self.prefix,
            stack: self.stack << 20,
            fold: self.fold.map(|size| (size * 1048576.0) as usize),
            kernels: kernels.map(Box::new),
            required,
            ranks_as: match self.ranks_as {
                None => RanksAs::Possible,
                Some(Ranks::Copies) => RanksAs::Copies,
                Some(Ranks::Processes) => RanksAs::Processes,
            },
        })
    }
}

impl Options {
    /// Functions that are not simply executed, and those of them that must be there.
    fn kernels(&self, machine: &Machine) -> Result<(Option<Kernels>, Vec<String>), Failure> {
        if self.models.is_none() && self.functions.is_none() {
            return Ok((None, Vec::new()));
        }
        let mut functions = if self.models.is_some() { Functions::blas() } else { Functions::default() };
        let mut required = Vec::new();
        if let Some(path) = &self.functions {
            let wrong = |what: String| Failure::input(format!("{}: {what}", path.display()));
            let text = std::fs::read_to_string(path).map_err(|error| wrong(error.to_string()))?;
            let own = Functions::parse(&text).map_err(|error| wrong(error.to_string()))?;
            required.extend(own.list.iter().map(|function| function.symbol.clone()));
            functions.list.retain(|function| !required.contains(&function.symbol));
            functions.list.extend(own.list);
        }
        let file = match &self.models {
            Some(path) => ModelFile::load(path)?,
            None => ModelFile::default(),
        };
        let speed = speed(machine, self.machine.ranks_per_node(machine, self.ranks));
        let models = KernelModels::new(file, speed);
        let kernels = Kernels::new(functions.list, &models, self.machine.seed)
            .map_err(|error| Failure::input(error.to_string()))?;
        Ok((Some(kernels), required))
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

fn failure(path: &Path, error: &LaunchError) -> Failure {
    match error {
        LaunchError::Load(error) => Failure::input(format!("{}: {error}\n  {}", path.display(), error.remedy())),
        _ => Failure::input(error.to_string()),
    }
}

/// What the ranks' ends mean for ours: the first that is not a proper one ends the run.
fn exit_code(finding: &Finding) -> Result<i32, Failure> {
    let mut code = 0;
    for (rank, ending) in &finding.endings {
        let message = match ending {
            Ending::Exit(status) => {
                code = if code == 0 { *status & 0xFF } else { code };
                continue;
            }
            Ending::Abort(status) => {
                eprintln!("rank {rank} called MPI_Abort with code {status}");
                std::process::exit(if status & 0xFF == 0 { 1 } else { status & 0xFF });
            }
            Ending::Aborted(what) => format!("rank {rank} stopped: {what}"),
            Ending::Fault { function, what, .. } => format!("rank {rank}: {function}: {what}"),
            Ending::Signal { signal, backtrace } => format!("rank {rank} got {signal}\n{}", backtrace.join("\n")),
            Ending::Unsupported(symbol) => {
                if symbol.starts_with("pthread") || symbol.ends_with("fork") {
                    format!("rank {rank} called {symbol}, which needs --ranks-as processes")
                } else {
                    format!(
                        "rank {rank} called {symbol}, which hpcast does not have; `hpcast mpi coverage` lists what there is"
                    )
                }
            }
        };
        return Err(Failure::Program(message));
    }
    if let Err(RunError::Deadlock(_)) = &finding.outcome {
        for (rank, name) in finding.calling.iter().take(16) {
            eprintln!("rank {rank} is in {name}");
        }
    }
    Ok(code)
}
