//! Where the C `long double` is not that of the x87 unit, there is no arithmetic for it.

use super::{Kernel, Operation};

pub(super) fn real(_: Operation) -> Option<Kernel> {
    None
}

pub(super) fn complex(_: Operation) -> Option<Kernel> {
    None
}

pub(super) fn located(_: Operation) -> Option<Kernel> {
    None
}
