//! Collective operations, one file each.
