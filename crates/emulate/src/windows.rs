//! Windows: memory that other ranks reach.

use std::cell::Cell;

use crate::fault::Handler;

/// A window, as one rank sees it.
pub struct Window {
    /// What is done about faults.
    pub handler: Cell<Handler>,
}

/// The memory of all windows.
#[derive(Default)]
pub struct SharedWindows {}
