//! Quantities with units: parse, print, convert; virtual time.
//!
//! Inside hpcast a quantity is a plain number in SI base units (bytes, bytes per second, seconds, hertz, flop/s, metres, watts)
//! wrapped in a type that says what it is. The unit names live here and nowhere else.
//!
//! Every quantity prints in two ways: `Display` is exact (parsing it gives back the same number), `human()` keeps
//! three significant digits.
//!
//! ```
//! use hpcast_units::{Bandwidth, Bytes};
//! let link: Bandwidth = "100 Gbit/s".parse()?;
//! assert_eq!(link.to_string(), "12.5 GB/s");
//! assert_eq!("64 KiB".parse::<Bytes>()?.get(), 65_536);
//! assert!("12.5".parse::<Bandwidth>().is_err(), "a bare number has no unit");
//! # Ok::<(), hpcast_units::UnitError>(())
//! ```

mod any;
mod decimal;
mod dimension;
mod error;
mod human;
mod quantities;
mod time;

pub use any::AnyQuantity;
pub use error::UnitError;
pub use human::count;
pub use quantities::{Bandwidth, Bytes, FlopRate, Frequency, Length, Power, Seconds};
pub use time::Time;
