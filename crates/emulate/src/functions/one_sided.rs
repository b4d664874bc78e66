//! One-sided communication.

mod access;
mod synchronisation;
mod window;

use hpcast_objects::ErrorClass;

use crate::argument::WinHandle;
use crate::call::Function;
use crate::fault::{Concern, Fault};

/// All functions on windows.
pub(super) fn functions() -> impl Iterator<Item = &'static Function> {
    [window::FUNCTIONS, access::FUNCTIONS, synchronisation::FUNCTIONS].into_iter().flatten()
}

/// Whom a fault concerns.
fn of(win: WinHandle) -> impl Fn(Fault) -> Fault {
    move |fault| fault.of(Concern::Win(win.number))
}

fn misplaced(what: &str) -> Fault {
    Fault::new(ErrorClass::RmaSync, what)
}
