//! Ranks that are processes, for programs that cannot be in one process many times: those with fixed addresses, with threads, those that load
//! libraries while they run, and scripts.
//!
//! The functions of MPI are the same, and so is the simulation: they run in the process of the rank that calls them, on memory that all
//! processes share (`share.rs`, `../heap.rs`). A rank is a fork of this process; the program is started in it beside what is
//! there (`start.rs`), and finds our functions in libraries that are made for it (`names.rs`, `library.rs`), through a gate that
//! exchanges the thread pointer (`gate.rs`). One process runs at a time (`baton.rs`).

pub(crate) mod baton;
mod code;
mod deadlines;
mod elf;
pub(crate) mod gate;
mod library;
mod names;
mod rank;
mod rest;
pub(crate) mod share;
mod standins;
mod start;
mod text;
pub(crate) mod threads;

use std::cell::{OnceCell, RefCell};
use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::rc::Rc;
use std::sync::atomic::Ordering;

use hpcast_mpi::{RunError, Setup};
use hpcast_units::Time;

pub use elf::find;
pub use start::{StartError, variables};

use crate::heap;
use crate::launch::{Finding, Launch, LaunchError, Processes, progress};
use crate::process::{Ending, Process};
use crate::symbols::Symbols;
use crate::world::World;
use baton::Ranks;
use rank::RankProcess;
use start::Start;

/// Whether a file is a script, for an interpreter.
pub(crate) fn is_script(path: &Path) -> bool {
    let mut begin = [0; 2];
    let read = std::fs::File::open(path).and_then(|mut file| io::Read::read_exact(&mut file, &mut begin));
    read.is_ok() && &begin == b"#!"
}

/// Whether a program that is not linked with MPI may load it while it runs.
pub(crate) fn may_load_mpi(path: &Path) -> bool {
    let Ok(Some(program)) = elf::Elf::read(path) else { return false };
    let loads = program.undefined().iter().any(|name| name == "dlopen");
    loads || program.needed().iter().any(|name| name.starts_with("libpython"))
}

/// Runs a program as a process a rank.
pub(crate) fn launch(launch: &Launch, setup: Setup) -> Result<Finding, LaunchError> {
    let name = launch.arguments[0].to_string_lossy().into_owned();
    share::memory().and_then(|()| gate::prepare()).map_err(LaunchError::Processes)?;
    if !heap::is_in_use() {
        return Err(LaunchError::Processes(io::Error::other("this build of hpcast has no shared heap")));
    }
    allow_files();
    let file = find(OsStr::from_bytes(launch.arguments[0].to_bytes())).unwrap_or_else(|| name.clone().into());
    let folder = names::Folder::new().map_err(LaunchError::Processes)?;
    let libraries = names::write(&folder.0, &Symbols::new(), launch.kernels.as_deref());
    let libraries = libraries.map_err(LaunchError::Processes)?;
    let start = Start::new(&file, launch.arguments.clone(), start::variables(), &libraries)?;
    if let Some(kernels) = &launch.kernels {
        kernels.install();
    }
    let stop = setup.interrupt.clone().unwrap_or_default();
    let world = Rc::new(World::new(launch, &setup, OnceCell::new(), None, stop.clone()));
    let ranks = Rc::new(Ranks::new(setup.ranks as usize));
    ranks.install();
    standins::note(&libraries).map_err(LaunchError::Processes)?;
    let processes: Processes = Rc::default();
    let progress = setup.progress.map(|tell| progress(tell, processes.clone()));
    let held = Rc::new(text::Held::default());
    let failed = RefCell::new(None);
    let setup = Setup {
        post: Some(Box::new(world.mail.clone())),
        interrupt: Some(stop),
        progress,
        idle: Some(idle(processes.clone())),
        ..setup
    };
    crate::copying::begin(world.stop.clone());
    let outcome = hpcast_mpi::run(setup, |rank| {
        let process = Process::new(world.clone(), rank);
        processes.borrow_mut().push(process.clone());
        let forked = RankProcess::new(process, ranks.clone(), &start, held.clone(), launch.patience);
        let forked = forked.map_err(|error| {
            world.stop.store(true, Ordering::Relaxed);
            failed.borrow_mut().get_or_insert(error);
        });
        async move {
            if let Ok(forked) = forked {
                forked.await;
            }
        }
    });
    ranks.end();
    held.print_until(Time::NEVER);
    if let Some(error) = failed.take() {
        return Err(LaunchError::Processes(error));
    }
    let is_cut = world.endings.borrow().iter().any(|ended| ended.ending == Ending::Stopped);
    let outcome = if is_cut { Err(RunError::Interrupted) } else { outcome };
    Ok(Finding::new(launch, &world, names::chosen(), outcome, &processes.take()))
}

/// When nothing happens any more, threads that compute may still come.
fn idle(processes: Processes) -> Box<dyn FnMut() -> bool> {
    Box::new(move || {
        let awaited = processes.borrow().iter().filter_map(|process| process.threads().awaited()).collect::<Vec<_>>();
        awaited.iter().for_each(|body| body.wait_for_threads());
        !awaited.is_empty()
    })
}

/// Each rank takes two files here.
fn allow_files() {
    // SAFETY: a place for the limits.
    unsafe {
        let mut limit: libc::rlimit = std::mem::zeroed();
        if libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit) == 0 {
            limit.rlim_cur = limit.rlim_max;
            libc::setrlimit(libc::RLIMIT_NOFILE, &limit);
        }
    }
}
