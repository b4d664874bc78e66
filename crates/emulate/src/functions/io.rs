//! Files: MPI_File_open and what is done with open files.

mod access;
mod blocking;
mod consistency;
mod nonblocking;
mod opening;
mod position;
mod properties;
mod size;
mod split;
mod view;

use std::path::Path;

use hpcast_mpi::{Activity, Collective};

use crate::argument::FileHandle;
use crate::call::{Call, Function};
use crate::fault::{Answer, Concern, Fault};
use crate::fiber::block_on;
use crate::files::{File, SharedFile, class_of};

/// All functions on files.
pub(super) fn functions() -> impl Iterator<Item = &'static Function> {
    [
        opening::FUNCTIONS,
        properties::FUNCTIONS,
        size::FUNCTIONS,
        view::FUNCTIONS,
        position::FUNCTIONS,
        blocking::FUNCTIONS,
        nonblocking::FUNCTIONS,
        split::FUNCTIONS,
        consistency::FUNCTIONS,
    ]
    .into_iter()
    .flatten()
}

/// Whom a fault concerns.
fn of(file: FileHandle) -> impl Fn(Fault) -> Fault {
    move |fault| fault.of(Concern::File(file.number))
}

fn fault_of(path: &Path, error: &std::io::Error) -> Fault {
    Fault::new(class_of(error), format!("{}: {error}", path.display()))
}

/// What the file system says went wrong with a file.
fn failed(file: &SharedFile) -> impl Fn(std::io::Error) -> Fault {
    |error| fault_of(&file.path, &error)
}

impl Call<'_> {
    /// Whether a file is opened so.
    fn mode(&self, amode: i32, name: &str) -> bool {
        amode & self.abi.constant(name) != 0
    }

    /// The node that I run on.
    fn node(&self) -> u32 {
        self.me.world.processor(self.me.number()).0
    }

    /// The file system moves so many bytes for me.
    fn pass_time(&self, bytes: u64) {
        let now = self.me.read_clock();
        let end = self.me.world.file_system.serve(now, self.node(), bytes);
        self.me.rank.spend(Activity::Wait, end.since(now));
    }

    fn barrier_of(&self, file: &File) {
        block_on(self.me.rank.collective(file.comm.comm, &Collective::Barrier));
    }

    /// The first rank to leave does something for all.
    fn once_for_all(&self, file: &File, act: impl FnOnce() -> Answer) -> Result<Answer, Fault> {
        Ok((*self.agree(&file.comm, vec![0], |_| act())?).clone())
    }
}
