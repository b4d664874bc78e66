//! Starts a program on all ranks and simulates it to its end.

use std::cell::{OnceCell, RefCell};
use std::ffi::CString;
use std::path::Path;
use std::rc::Rc;
use std::time::Duration;

use hpcast_loader::{Environment, Instance, LoadError, Program, Replacement, Start, Treatment};
use hpcast_mpi::{Outcome, RunError, Setup};
use hpcast_platform::diagnostic::nearest;
use hpcast_units::Time;

use crate::abi::{Abi, Library, Place};
use crate::aftermath::{self, LeftBehind, Waiting, Whereabouts};
use crate::fiber::Fiber;
use crate::kernels::{Account, FunctionError, Kernels, Region};
use crate::memory::Folding;
use crate::meter::Charging;
use crate::output::{Prefix, Print};
use crate::process::{Ended, Process, Sentinels};
use crate::stacks::{NoStacks, Stacks};
use crate::symbols::Symbols;
use crate::watch::Watch;
use crate::world::World;

/// What to run and how.
pub struct Launch {
    /// The program and its arguments.
    pub arguments: Vec<CString>,
    /// What is charged for its own code.
    pub charging: Charging,
    /// What lines of its text begin with.
    pub prefix: Prefix,
    /// Prints its text.
    pub print: Rc<Print>,
    /// Bytes of a rank's stack.
    pub stack: usize,
    /// Whether ranks have stacks of their own.
    pub stacks: Sharing,
    /// Allocations that have no memory of their own.
    pub folding: Option<Folding>,
    /// Functions that are not simply executed.
    pub kernels: Option<Box<Kernels>>,
    /// What ranks are.
    pub ranks_as: RanksAs,
    /// What code between calls of MPI_Pcontrol costs.
    pub regions: Vec<Region>,
    /// The CPU time of a region that takes time is multiplied by this.
    pub slowness: f64,
    /// CPU time after which a rank that has not called MPI meanwhile is named; none: never.
    pub patience: Option<Duration>,
}

/// From so many ranks on, finding the page of a stack takes longer than copying what is on it, if that is little.
const MANY: u32 = 2048;
/// What is on a stack may be much if a function takes so many bytes at once.
const DEEP: usize = 16 << 10;

/// Who uses these functions may need more of its stack than is kept while it waits, or at that moment: stacks of coroutines that are local arrays,
/// what is written when another rank flushes all streams, and what a thread of the C library or the kernel reads and writes meanwhile.
const KEEPING: [&str; 13] = [
    "makecontext",
    "open_memstream",
    "open_wmemstream",
    "fmemopen",
    "fopencookie",
    "aio_read",
    "aio_read64",
    "aio_write",
    "aio_write64",
    "lio_listio",
    "lio_listio64",
    "io_submit",
    "io_uring_submit",
];

/// Whether ranks that are copies have stacks of their own, or run on one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sharing {
    /// On one, if they are many, and the program is not known to put much on it.
    Possible,
    /// On one, if the program can.
    Shared,
    /// Each has its own.
    Own,
}

/// What ranks are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RanksAs {
    /// Copies of the program in one process, if that can be done; otherwise processes.
    Possible,
    /// Copies of the program in one process.
    Copies,
    /// Processes.
    Processes,
}

/// What came out.
#[derive(Debug)]
pub struct Finding {
    /// What the simulation found, if it came to its end.
    pub outcome: Result<Outcome, RunError>,
    /// What was found before it was stopped, if it did not come to its end.
    pub so_far: Option<Outcome>,
    /// How ranks ended, in this order.
    pub endings: Vec<Ended>,
    /// Which library the program was built for; none if it uses no MPI.
    pub library: Option<Library>,
    /// Calls of functions that were not simply executed.
    pub accounts: Vec<Account>,
    /// Where each rank was when the run stopped.
    pub whereabouts: Vec<Whereabouts>,
    /// Who waits for whom, in a deadlock.
    pub waits: Vec<Waiting>,
    /// What the ranks have left behind, if all came to their ends.
    pub left_behind: LeftBehind,
    /// Whether memory was folded because there was not enough.
    pub lacks_memory: bool,
    /// Whether files were used that cost nothing, since the machine file does not say what they do.
    pub free_files: bool,
    /// Why ranks were processes, if they were not asked to be.
    pub why_processes: Option<String>,
    /// Whether the program uses OpenMP, and nobody has said with how many threads.
    pub one_thread: bool,
    /// Bytes that ranks had on their stack when they waited, on average, if all ran on one and copying them took long.
    pub deep_stacks: Option<usize>,
}

impl Finding {
    /// What is known when the simulation has come to its end.
    pub(crate) fn new(
        launch: &Launch,
        world: &World,
        library: Option<Library>,
        outcome: Result<Outcome, RunError>,
        ranks: &[Rc<Process>],
    ) -> Finding {
        let waits = match &outcome {
            Err(RunError::Deadlock(deadlock)) => aftermath::waits(deadlock, ranks),
            _ => Vec::new(),
        };
        Finding {
            so_far: ranks.first().filter(|_| outcome.is_err()).map(|first| first.rank.outcome_so_far()),
            endings: world.endings.take(),
            library,
            accounts: launch.kernels.as_deref().map(Kernels::account).unwrap_or_default(),
            whereabouts: aftermath::whereabouts(ranks),
            waits,
            left_behind: outcome.as_ref().map(|outcome| LeftBehind::of(outcome, ranks)).unwrap_or_default(),
            lacks_memory: false,
            free_files: world.file_system.was_free(),
            why_processes: None,
            one_thread: false,
            deep_stacks: world.sleepers.mean_depth().filter(|&depth| depth >= DEEP),
            outcome,
        }
    }
}

/// Why a program cannot be started.
#[derive(Debug, thiserror::Error)]
pub enum LaunchError {
    /// It cannot be loaded.
    #[error(transparent)]
    Load(#[from] LoadError),
    /// A function cannot be replaced.
    #[error(transparent)]
    Function(#[from] FunctionError),
    /// Memory cannot be folded.
    #[error("no address space to fold memory in: {0}")]
    Fold(std::io::Error),
    /// No memory for stacks.
    #[error(transparent)]
    Stacks(#[from] NoStacks),
    /// Ranks cannot be processes.
    #[error("ranks cannot be processes here: {0}")]
    Processes(std::io::Error),
    /// The program cannot be started in a process.
    #[error(transparent)]
    Start(#[from] crate::processes::StartError),
    /// The program can go on only in a process of its own, and may begin anew: nobody has seen anything of it.
    #[error("{0}, which only ranks that are processes can do")]
    BeyondCopies(String),
    /// What processes cannot do.
    #[error("{0} works only where ranks are copies of the program in one process, which this program does not allow")]
    OnlyInCopies(&'static str),
}

/// What symbols of a program mean.
struct Meaning {
    symbols: Symbols,
    has_kernels: bool,
    openmpi: Abi,
}

impl Environment for Meaning {
    fn treatment(&self, soname: &str) -> Treatment {
        if is_adapter(soname) {
            Treatment::PrivateBehind
        } else if Library::of_needed(soname).is_some() || is_part_of_mpi(soname) {
            Treatment::Replaced
        } else if is_blas(soname) {
            // Where all that is called has models, the library need not be there.
            if self.has_kernels && !opens(soname) { Treatment::Replaced } else { Treatment::Host }
        } else if soname.starts_with("libgcc_s.") {
            Treatment::Once
        } else if is_of_libc(soname) {
            Treatment::Host
        } else {
            Treatment::Private
        }
    }

    fn resolve(&self, symbol: &str) -> Option<Replacement> {
        if let Some(address) = self.symbols.get(symbol) {
            return Some(Replacement { address, size: 0 });
        }
        let object = self.openmpi.handles().cells().object(symbol);
        let (address, size) = object.or_else(|| crate::abi::variable(symbol))?;
        Some(Replacement { address, size })
    }

    fn is_kept_apart(&self, variable: &str) -> bool {
        crate::libc_functions::OPTIONS.contains(&variable)
    }

    fn missing(&self, symbol: &str) -> Option<usize> {
        self.symbols.missing(symbol)
    }

    /// What the dynamic linker could not find it has said already, when it started us.
    fn preloaded(&self) -> Vec<String> {
        let list = std::env::var("LD_PRELOAD").unwrap_or_default();
        let names = list.split([':', ' ']).filter(|name| !name.is_empty());
        names.filter(|name| !name.contains('/') || Path::new(name).is_file()).map(str::to_owned).collect()
    }
}

/// Libraries of Open MPI and MPICH that put another language on top of what is replaced: they are used as they are.
fn is_adapter(soname: &str) -> bool {
    ["libmpi_cxx", "libmpi_usempi", "libmpifort.so.", "libmpichfort.so.", "libmpicxx.so.", "libmpichcxx.so."]
        .iter()
        .any(|name| soname.starts_with(name))
}

/// Libraries that Open MPI's own need.
fn is_part_of_mpi(soname: &str) -> bool {
    ["libopen-rte.", "libopen-pal."].iter().any(|name| soname.starts_with(name))
}

/// Libraries of linear algebra: they keep nothing for a process, so one copy does for all ranks.
fn is_blas(soname: &str) -> bool {
    ["libblas.", "libcblas.", "libopenblas", "liblapack", "libatlas.", "libmkl_", "libblis.", "libflame."]
        .iter()
        .any(|name| soname.starts_with(name))
}

/// The C library.
fn is_of_libc(soname: &str) -> bool {
    ["libc.", "libm.", "libpthread.", "libdl.", "librt.", "ld-linux", "libutil.", "libmvec."]
        .iter()
        .any(|name| soname.starts_with(name))
}

/// Libraries that are there once for all copies.
pub(crate) fn is_shared(soname: &str) -> bool {
    is_of_libc(soname) || is_blas(soname) || soname.starts_with("libgcc_s.")
}

/// Whether this process can use a library.
fn opens(soname: &str) -> bool {
    // SAFETY: as the loader would open it.
    CString::new(soname).is_ok_and(|name| !unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_LAZY) }.is_null())
}

/// The address of a function of a library that all ranks share.
fn shared(symbol: &str) -> Option<usize> {
    let name = CString::new(symbol).ok()?;
    // SAFETY: a string of C.
    let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
    (!found.is_null()).then_some(found as usize)
}

/// OpenMP and libraries of linear algebra compute in this thread, where their time is measured, unless the user says
/// otherwise. Tells whether he has for OpenMP.
fn keep_to_one_thread() -> bool {
    let is_told = std::env::var_os("OMP_NUM_THREADS").is_some();
    for name in ["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS"] {
        if std::env::var_os(name).is_none() {
            // SAFETY: nobody reads the environment meanwhile: no program has been started yet.
            unsafe { std::env::set_var(name, "1") };
        }
    }
    is_told
}

/// A rank's copy of the program, and how it begins.
pub(crate) struct Copy {
    pub instance: Instance,
    pub start: Rc<Start<'static>>,
}

/// Which library a program was built for; none if it uses no MPI.
pub fn library(path: &Path) -> Result<Option<Library>, LaunchError> {
    let openmpi = Abi::new(Library::OpenMpi);
    let program = Program::open(path, &Meaning { symbols: Symbols::new(), has_kernels: false, openmpi })?;
    Ok(of_program(&program))
}

fn of_program(program: &Program) -> Option<Library> {
    program.needed().iter().find_map(|soname| Library::of_needed(soname))
}

/// Runs a program: `setup` says on how many ranks of which machine.
pub fn launch(launch: &Launch, setup: Setup) -> Result<Finding, LaunchError> {
    crate::heap::begin();
    let path = launch.arguments[0].to_string_lossy().into_owned();
    let is_open = launch.ranks_as == RanksAs::Possible;
    let why = match launch.ranks_as {
        RanksAs::Processes => return as_processes(launch, setup, None),
        RanksAs::Possible if crate::processes::is_script(Path::new(&path)) => "it is a script".to_owned(),
        RanksAs::Possible | RanksAs::Copies => match open(launch, &path) {
            Ok(opened) if is_open && opened.library.is_none() && crate::processes::may_load_mpi(Path::new(&path)) => {
                "it may load an MPI library while it runs".to_owned()
            }
            Ok(opened) if is_open && opened.program.mentions("__libc_stack_end") => {
                "it searches its memory for pointers, and must know where that begins and ends".to_owned()
            }
            Ok(opened) => return as_copies(launch, setup, opened),
            Err(LaunchError::Load(error)) if is_open && error.is_about_copies() => error.to_string(),
            Err(error) => return Err(error),
        },
    };
    as_processes(launch, setup, Some(why))
}

/// Runs a program as a process a rank.
fn as_processes(launch: &Launch, setup: Setup, why: Option<String>) -> Result<Finding, LaunchError> {
    // What is folded only where memory is lacking is not asked for.
    if launch.folding.as_ref().is_some_and(|folding| folding.limit.is_none()) {
        return Err(LaunchError::OnlyInCopies("--fold"));
    }
    if launch.kernels.as_ref().is_some_and(|kernels| kernels.need_originals()) {
        return Err(LaunchError::OnlyInCopies("to sample or remember functions"));
    }
    let finding = crate::processes::launch(launch, setup)?;
    Ok(Finding { why_processes: why, ..finding })
}

/// A program that can be copied.
struct Opened {
    program: Program,
    meaning: Meaning,
    library: Option<Library>,
    /// Somebody has said how many threads it may have.
    is_told: bool,
}

/// Reads the program and finds what its symbols mean.
fn open(launch: &Launch, path: &str) -> Result<Opened, LaunchError> {
    let mut symbols = Symbols::new();
    for (symbol, stub) in launch.kernels.iter().flat_map(|kernels| kernels.stubs()) {
        symbols.set(symbol, stub);
    }
    let meaning = Meaning { symbols, has_kernels: launch.kernels.is_some(), openmpi: Abi::new(Library::OpenMpi) };
    let is_told = keep_to_one_thread();
    // The program may have a copy of these variables, which is made now.
    crate::libc_process::set_name(&launch.arguments[0]);
    let program = Program::open(Path::new(path), &meaning)?;
    let library = of_program(&program);
    Ok(Opened { program, meaning, library, is_told })
}

/// Runs a program as copies in this process.
fn as_copies(launch: &Launch, setup: Setup, opened: Opened) -> Result<Finding, LaunchError> {
    let Opened { program, mut meaning, library, is_told } = opened;
    if let Some(kernels) = &launch.kernels {
        replace(&program, kernels)?;
        kernels.install();
    }
    if let Some(folding) = &launch.folding {
        crate::memory::fold(folding.clone()).map_err(LaunchError::Fold)?;
    }
    crate::signals::install();
    crate::libc_process::keep_exits();
    let spoken = library.unwrap_or(Library::Standard);
    let first = program.instantiate()?;
    let one_thread = !is_told && ["GOMP_parallel", "__kmpc_fork_call"].iter().any(|name| first.symbol(name).is_some());
    let distance = |symbol: &str| first.symbol(symbol).map(|address| address - first.base());
    meaning.openmpi.places(|symbol| distance(symbol).map(Place::InProgram));
    let sentinels = sentinels(spoken, distance);
    let streams = ["stdin", "stdout", "stderr"].map(distance);
    let abi = if spoken == Library::OpenMpi { meaning.openmpi } else { Abi::new(spoken) };
    let stop = setup.interrupt.clone().unwrap_or_default();
    let abi = OnceCell::from(abi);
    let world = Rc::new(World::new(launch, &setup, abi, Some(program.clone()), stop.clone()));
    let can_share = || !KEEPING.iter().any(|function| program.mentions(function));
    let shares = match launch.stacks {
        Sharing::Possible => setup.ranks >= MANY && program.largest_frame() < DEEP && can_share(),
        Sharing::Shared => can_share(),
        Sharing::Own => false,
    };
    let stacks = Stacks::new(if shares { 1 } else { setup.ranks as usize }, launch.stack)?;
    if shares {
        world.sleepers.share(stacks.stack(0).bounds);
    }
    world.sleepers.take_turns(program.thread_local_zone());
    let start = start(launch);
    let mut copies: Vec<Instance> = Vec::with_capacity(setup.ranks as usize);
    copies.push(first);
    for _ in 1..setup.ranks {
        copies.push(program.instantiate()?);
    }
    let mut copies = copies.into_iter();
    let processes: Processes = Rc::default();
    let progress = setup.progress.map(|tell| progress(tell, processes.clone()));
    crate::aside::prepare();
    let setup = Setup {
        post: Some(Box::new(world.mail.clone())),
        interrupt: Some(stop),
        progress,
        soon: Some(Box::new(world.sleepers.clone())),
        ..setup
    };
    crate::copying::begin(world.stop.clone());
    let watch = Watch::new(launch.patience);
    let outcome = hpcast_mpi::run(setup, |rank| {
        let number = rank.number();
        let process = Process::new(world.clone(), rank);
        let instance = copies.next().expect("a copy for each rank");
        let base = instance.base();
        let at = |offset: Option<usize>| offset.map(|offset| base + offset);
        process.set_place(
            base,
            Sentinels {
                bottom: at(sentinels.bottom),
                in_place: at(sentinels.in_place),
                status_ignore: at(sentinels.status_ignore),
                statuses_ignore: at(sentinels.statuses_ignore),
                unweighted: at(sentinels.unweighted),
                weights_empty: at(sentinels.weights_empty),
            },
        );
        let files = world.output.open(number);
        process.streams.set(files);
        for (offset, file) in streams.iter().zip([world.output.input(number), files[0], files[1]]) {
            if let Some(address) = at(*offset) {
                // SAFETY: the program's own variable of that name, which the C library's is copied into.
                unsafe { *(address as *mut usize) = file };
            }
        }
        process.set_copy(Copy { instance, start: start.clone() });
        processes.borrow_mut().push(process.clone());
        Fiber::new(process, &stacks.stack(if shares { 0 } else { number as usize }))
    });
    drop(watch);
    world.mail.make_all();
    if let Some(bad) = crate::copying::bad_buffer() {
        processes.borrow()[bad.rank as usize].gave(bad.fault);
    }
    let lacks_memory = crate::memory::unfold();
    if launch.ranks_as == RanksAs::Possible
        && world.output.is_silent()
        && let Some(what) = world.beyond_copies()
        && world.output.rewind()
    {
        return Err(LaunchError::BeyondCopies(what));
    }
    world.output.finish();
    crate::interrupt::has_ended();
    // Processes and the world hold the simulation's ranks, and those hold nothing of them.
    Ok(Finding { lacks_memory, one_thread, ..Finding::new(launch, &world, library, outcome, &processes.take()) })
}

/// The ranks, by number.
pub(crate) type Processes = Rc<RefCell<Vec<Rc<Process>>>>;

/// Tells those who watch how far the simulation is: how long the program will go on, only it can know.
pub(crate) fn progress(mut tell: Box<dyn FnMut(f64, Time)>, processes: Processes) -> Box<dyn FnMut(f64, Time)> {
    Box::new(move |fraction, _| {
        let simulated = processes.borrow().first().map(|first| first.rank.simulated());
        tell(fraction, simulated.unwrap_or_default());
    })
}

/// Replaces functions that the program has itself.
fn replace(program: &Program, kernels: &Kernels) -> Result<(), LaunchError> {
    for (symbol, stub) in kernels.stubs() {
        if program.has(symbol) {
            // SAFETY: stubs keep what functions keep, and live as long as the run; no copy runs yet.
            match unsafe { program.intercept(symbol, stub) } {
                Ok(original) => kernels.set_original(symbol, original),
                Err(error) if kernels.is_listed(symbol) => return Err(error.into()),
                Err(_) => kernels.leave(symbol),
            }
        } else if let Some(address) = shared(symbol) {
            kernels.set_shared(symbol, address);
        } else if kernels.is_listed(symbol) && !program.mentions(symbol) {
            return Err(FunctionError::Absent { symbol: symbol.to_owned(), similar: similar(program, symbol) }.into());
        }
    }
    Ok(())
}

/// The functions of a program whose names are most like this one.
fn similar(program: &Program, symbol: &str) -> Vec<String> {
    let mut names = program.functions();
    let mut similar = Vec::new();
    while similar.len() < 3
        && let Some(name) = nearest(symbol, names.iter().map(String::as_str)).map(str::to_owned)
    {
        names.retain(|known| *known != name);
        similar.push(name);
    }
    similar
}

/// Offsets of the variables with a meaning.
pub(crate) fn sentinels(library: Library, distance: impl Fn(&str) -> Option<usize>) -> Sentinels {
    match library {
        Library::OpenMpi => Sentinels {
            bottom: distance("mpi_fortran_bottom_"),
            in_place: distance("mpi_fortran_in_place_"),
            status_ignore: distance("mpi_fortran_status_ignore_"),
            statuses_ignore: distance("mpi_fortran_statuses_ignore_"),
            unweighted: distance("mpi_fortran_unweighted_"),
            weights_empty: distance("mpi_fortran_weights_empty_"),
        },
        Library::Mpich | Library::Standard => {
            let (first, second) = (distance("mpipriv1_"), distance("mpipriv2_"));
            Sentinels {
                bottom: first,
                in_place: first.map(|offset| offset + 4),
                status_ignore: first.map(|offset| offset + 8),
                statuses_ignore: second,
                unweighted: distance("mpifcmb5_"),
                weights_empty: distance("mpifcmb9_"),
            }
        }
    }
}

/// Arguments and environment of the program.
fn start(launch: &Launch) -> Rc<Start<'static>> {
    // The program may keep and change them as long as it runs, which is as long as we do.
    let keep = |texts: Vec<CString>| -> Vec<&'static std::ffi::CStr> {
        texts.into_iter().map(|text| &*Box::leak(text.into_boxed_c_str())).collect()
    };
    Rc::new(Start::new(&keep(launch.arguments.clone()), &keep(crate::processes::variables())))
}
