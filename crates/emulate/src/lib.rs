//! Real MPI programs on the simulated machine.
//!
//! A program is loaded once for each rank (`hpcast-loader`), and each rank runs on a fiber of its own (`fiber.rs`). Its calls of MPI come
//! here (`functions`), where their words get their meaning ([`abi`], `argument.rs`, `call.rs`), and become operations of the
//! simulation (`hpcast-mpi`), which says how long they take. Data really moves (`mail.rs`, `boards.rs`), so that a program computes what it
//! would compute elsewhere.
//!
//! All ranks run in one thread, one at a time: a rank runs until it has to wait.

pub mod abi;
mod aftermath;
mod argument;
mod aside;
mod attributes;
mod boards;
mod call;
mod channels;
mod communicator;
mod copying;
mod errors;
mod extensions;
mod fault;
mod fiber;
mod files;
mod folders;
mod functions;
mod heap;
pub mod interface;
mod interrupt;
pub mod kernels;
mod last_words;
mod launch;
mod launcher;
mod layout;
mod libc_clocks;
mod libc_functions;
mod libc_names;
mod libc_process;
mod libc_signals;
mod libc_state;
mod mail;
mod memory;
mod meter;
mod operation;
mod output;
mod process;
mod processes;
mod reduction;
mod requests;
mod signals;
mod sleepers;
mod stacks;
mod stubs;
mod symbols;
mod table;
mod watch;
mod windows;
mod world;

pub use aftermath::{Kind, LeftBehind, LeftMessage, LeftObjects, LeftRequest, Pending, Waiting, Whereabouts, circle};
pub use heap::OwnHeap;
pub use interrupt::{stop_on_signals, stopped_by};
pub use launch::{Finding, Launch, LaunchError, RanksAs, Sharing, launch, library};
pub use memory::Folding;
pub use meter::Charging;
pub use output::{Prefix, Print, Stream};
pub use process::{Ended, Ending, Stage};
pub use processes::find;
