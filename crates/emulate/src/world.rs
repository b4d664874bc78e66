//! What all ranks of a run share.

use std::cell::{Cell, OnceCell, RefCell};
use std::ffi::CString;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use hpcast_loader::Program;
use hpcast_mpi::Setup;

use crate::abi::Abi;
use crate::boards::Boards;
use crate::channels::Channels;
use crate::files::FileSystem;
use crate::folders::Folders;
use crate::launch::{Launch, RanksAs};
use crate::mail::Mail;
use crate::meter::Charging;
use crate::output::Output;
use crate::process::{Ended, Ending, Process, Stage};
use crate::sleepers::Sleepers;

/// Everything that belongs to no single rank.
pub struct World {
    /// What the program's words mean: known as soon as its MPI library is.
    abi: OnceCell<Abi>,
    /// The program, as it was named.
    pub command: String,
    /// Its file, with the whole path.
    pub file: CString,
    /// How many ranks there are.
    pub size: u32,
    /// Node and socket of each rank.
    pub processors: Vec<(u32, u32)>,
    /// The data of messages.
    pub mail: Mail,
    /// The data of collective operations.
    pub boards: Boards,
    /// Pairs of partitioned sends and receives.
    pub channels: Channels,
    /// When files are read and written.
    pub file_system: Rc<FileSystem>,
    /// What is charged for computing.
    pub charging: Charging,
    /// What code between calls of MPI_Pcontrol costs, by level.
    pub regions: Vec<(i32, Charging)>,
    /// Where the program's text goes.
    pub output: Output,
    /// How ranks ended, in that order: those that end all others are the last.
    pub endings: RefCell<Vec<Ended>>,
    /// Whether the program has thread-local data below the thread pointer.
    pub has_thread_local: bool,
    /// The program, if all ranks are copies of it in this process.
    pub program: Option<Program>,
    /// Room for messages that end together, empty in between.
    pub ended_messages: Cell<Vec<hpcast_mpi::Ended>>,
    /// Where copies work.
    pub folders: Folders,
    /// Ranks that are suspended.
    pub sleepers: Sleepers,
    /// Stops the simulation.
    pub stop: Arc<AtomicBool>,
}

impl World {
    /// A world in which nothing has happened.
    pub fn new(
        launch: &Launch,
        setup: &Setup,
        abi: OnceCell<Abi>,
        program: Option<Program>,
        stop: Arc<AtomicBool>,
    ) -> World {
        // Without the timer nobody would look after text that was kept back.
        let is_watched = launch.patience.is_some();
        let may_begin_anew = program.is_some() && launch.ranks_as == RanksAs::Possible && is_watched;
        let sleepers = Sleepers::new(setup.ranks);
        World {
            abi,
            command: launch.arguments[0].to_string_lossy().into_owned(),
            file: crate::libc_names::file_of(&launch.arguments[0]),
            size: setup.ranks,
            processors: setup.placement.processors(setup.machine.nodes.sockets).collect(),
            mail: Mail::new(sleepers.clone()),
            boards: Boards::default(),
            ended_messages: Cell::default(),
            channels: Channels::default(),
            file_system: Rc::new(FileSystem::new(&setup.machine.io)),
            charging: launch.charging,
            regions: launch
                .regions
                .iter()
                .map(|region| match region.takes_time {
                    true => (region.level, Charging::Measured(launch.slowness)),
                    false => (region.level, Charging::Nothing),
                })
                .collect(),
            output: Output::new(launch.prefix, launch.print.clone(), may_begin_anew),
            endings: Default::default(),
            folders: Folders::default(),
            sleepers,
            stop,
            has_thread_local: program.as_ref().is_some_and(|program| program.thread_local_size() > 0),
            program,
        }
    }

    /// What the program's words mean.
    ///
    /// # Panics
    /// If no MPI library is there: only calls of its functions come here.
    #[inline]
    pub fn abi(&self) -> &Abi {
        self.abi.get().expect("a program that calls MPI has an MPI library")
    }

    /// What is charged after MPI_Pcontrol with that level.
    pub fn charging_at(&self, level: i32) -> Charging {
        self.regions.iter().find(|(region, _)| *region == level).map_or(self.charging, |(_, charging)| *charging)
    }

    /// The program uses that library.
    pub fn set_abi(&self, abi: Abi) {
        let _ = self.abi.set(abi);
    }

    /// Whether it is known which library the program uses.
    pub fn abi_is_known(&self) -> bool {
        self.abi.get().is_some()
    }

    /// A rank has come to its end. All others end too, unless it is a proper end; with mpirun too, a rank that gives up with
    /// an exit code takes the others with it.
    pub fn ended(&self, process: &Process, ending: Ending) {
        let stage = process.stage.get();
        let is_proper = matches!(ending, Ending::Exit(code) if code == 0 || stage != Stage::During);
        if !is_proper {
            self.stop.store(true, Ordering::Relaxed);
        }
        let here = 0usize;
        let backtrace = match ending {
            Ending::Exit(_) | Ending::Stopped => Vec::new(),
            Ending::Signal { place: (at, stack), .. } => process.backtrace(at, stack),
            // The rank is still in the call that ends it.
            _ => process.backtrace(0, &raw const here as usize),
        };
        let (rank, at) = (process.number(), process.rank.now());
        self.endings.borrow_mut().push(Ended { rank, at, stage, ending, backtrace });
    }

    /// What a rank wanted to do that only a process can, if that was its end.
    pub fn beyond_copies(&self) -> Option<String> {
        const BEYOND: [&str; 9] =
            ["pthread_create", "fork", "vfork", "dlopen", "dup2", "dup3", "close", "freopen", "kill for another rank"];
        let is_beyond = |symbol: &str| BEYOND.contains(&symbol) || symbol.contains("exec");
        self.endings.borrow().iter().find_map(|Ended { rank, ending, .. }| match ending {
            Ending::Unsupported(symbol) if is_beyond(symbol) => Some(format!("rank {rank} called {symbol}")),
            _ => None,
        })
    }

    /// The function of the program that an address is in.
    pub fn describe(&self, address: usize) -> Option<String> {
        let location = self.program.as_ref()?.describe(address)?;
        let function = location.symbol.as_deref().unwrap_or("?");
        Some(format!("{function} + {:#x} in {}", location.offset, location.object))
    }

    /// The function that a call returns to; none if there is no call before the address.
    pub fn calling_function(&self, address: usize) -> Option<String> {
        self.describe_call(address)?;
        self.program.as_ref()?.describe(address)?.symbol
    }

    /// The function of an address that a call returns to; none if there is no call before it.
    pub fn describe_call(&self, address: usize) -> Option<String> {
        let description = self.describe(address)?;
        // Nobody returns to the beginning of a function: that is its address.
        let location = self.program.as_ref()?.describe(address);
        if location.is_some_and(|location| location.offset == 0) {
            return None;
        }
        let [sixth, fifth, _, third, second, _] = bytes_before(address)?;
        let is_call = fifth == 0xE8 || sixth == 0xFF && fifth == 0x15 || second == 0xFF || third == 0xFF;
        is_call.then_some(description)
    }

    /// Node and socket of a rank.
    pub fn processor(&self, rank: u32) -> (u32, u32) {
        self.processors[rank as usize]
    }

    /// A rank runs from now on.
    #[inline]
    pub(crate) fn switched_to(&self, process: &Process) {
        self.output.switch_to(process);
    }
}

/// The last bytes before an address. What is described may be data, and what is before it need not be there: the kernel reads, and says so.
fn bytes_before(address: usize) -> Option<[u8; 6]> {
    let mut bytes = [0; 6];
    let here = libc::iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: bytes.len() };
    let there = libc::iovec { iov_base: address.checked_sub(bytes.len())? as *mut libc::c_void, iov_len: bytes.len() };
    // SAFETY: there is room for so many bytes; where there are none to be read, the call fails.
    let read = unsafe { libc::process_vm_readv(libc::getpid(), &here, 1, &there, 1, 0) };
    (read == bytes.len() as isize).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_there_is_not_read() {
        let bytes = [1u8, 2, 3, 4, 5, 6, 7];
        assert_eq!(bytes_before(bytes.as_ptr() as usize + 7), Some([2, 3, 4, 5, 6, 7]));
        assert_eq!(bytes_before(4096), None);
        assert_eq!(bytes_before(3), None);
    }
}
