//! Files of MPI-IO.

use std::cell::Cell;

use crate::fault::Handler;

/// An open file, as one rank sees it.
pub struct File {
    /// What is done about faults.
    pub handler: Cell<Handler>,
}
