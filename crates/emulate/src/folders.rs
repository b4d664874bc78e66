//! Working folders: the kernel knows one for the process, and a rank that is a copy may go to another than the rest.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::ffi::{c_char, c_int};

use crate::process::Process;

/// Folders that ranks have gone to. Nothing is done for programs that never go.
#[derive(Default)]
pub struct Folders {
    /// The one that the run began in; as soon as a rank has gone somewhere.
    home: Cell<Option<c_int>>,
    /// Open folders by device and number: ranks that go to the same one share it.
    open: RefCell<HashMap<(u64, u64), c_int>>,
}

impl Folders {
    /// Whether any rank has gone somewhere.
    #[inline]
    pub fn differ(&self) -> bool {
        self.home.get().is_some()
    }

    /// The rank goes on where it was.
    pub fn enter(&self, process: &Process) {
        go(process.libc.folder.get().or(self.home.get()));
    }

    /// No rank runs.
    pub fn leave(&self) {
        go(self.home.get());
    }

    /// What it takes to come back here; none if no more files can be opened.
    fn here(&self) -> Option<c_int> {
        let flags = libc::O_PATH | libc::O_DIRECTORY | libc::O_CLOEXEC;
        // SAFETY: questions to the kernel; what is asked has room.
        unsafe {
            let mut what: libc::stat = std::mem::zeroed();
            if libc::stat(c".".as_ptr(), &mut what) != 0 {
                return None;
            }
            let mut open = self.open.borrow_mut();
            if let Some(&folder) = open.get(&(what.st_dev, what.st_ino)) {
                return Some(folder);
            }
            let folder = libc::open(c".".as_ptr(), flags);
            if folder < 0 {
                return None;
            }
            open.insert((what.st_dev, what.st_ino), folder);
            Some(folder)
        }
    }
}

fn go(folder: Option<c_int>) {
    if let Some(folder) = folder {
        // SAFETY: an open folder. One that was removed meanwhile can be entered, too.
        unsafe { libc::fchdir(folder) };
    }
}

/// The stand-ins, by name.
pub fn functions() -> Vec<(&'static str, *const ())> {
    vec![("chdir", chdir as *const ()), ("fchdir", fchdir as *const ())]
}

/// The rank goes somewhere by a function of the C library, which gives 0 if it can.
fn depart(by: impl FnOnce() -> c_int) -> c_int {
    let me = Process::current();
    let folders = &me.world.folders;
    let home = folders.home.get().or_else(|| folders.here());
    let code = by();
    if code == 0 {
        folders.home.set(home);
        me.libc.folder.set(folders.here());
    }
    code
}

unsafe extern "C" fn chdir(path: *const c_char) -> c_int {
    // SAFETY: as the program calls it.
    depart(|| unsafe { libc::chdir(path) })
}

unsafe extern "C" fn fchdir(folder: c_int) -> c_int {
    // SAFETY: as the program calls it.
    depart(|| unsafe { libc::fchdir(folder) })
}
