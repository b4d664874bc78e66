//! Attributes: what a program hangs on communicators, datatypes and windows.

use crate::argument::{Callback, Extra};

/// A key of attributes.
pub struct Keyval {
    /// Called when the object is duplicated.
    pub copy: Callback,
    /// Called when the attribute goes.
    pub delete: Callback,
    /// What these get.
    pub extra: Extra,
}
