//! Quantities with units: parse, print, convert; virtual time.
//!
//! Inside hpcast a quantity is a plain number in SI base units (bytes, bytes per second, seconds, hertz, flop/s)
//! wrapped in a type that says what it is. The unit names live here and nowhere else.

mod time;

pub use time::Time;
