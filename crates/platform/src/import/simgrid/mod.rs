//! SimGrid platform files (XML, versions 3, 4 and 4.1) become machine files.
//!
//! A platform file describes hosts, links and routes, and in `<config>` what SMPI assumes of MPI. A file with one
//! `<cluster>` becomes a crossbar, fat tree or torus of ours; any other becomes a graph with a prescribed route for
//! every pair of hosts. Whatever has no counterpart is named in a warning; nothing is dropped in silence.
//!
//! ```
//! use hpcast_platform::diagnostic::Source;
//! use hpcast_platform::import::simgrid::{Release, import};
//! let source = Source::new("small.xml", r#"<platform version="4.1">
//!   <cluster id="c" prefix="n" suffix="" radical="0-3" speed="1Gf" bw="12.5GBps" lat="1us" core="8"/>
//! </platform>"#);
//! let imported = import(&source, Release::default())?;
//! assert_eq!(imported.machine.nodes.count, 4);
//! assert!(imported.warnings.is_empty());
//! # Ok::<(), hpcast_platform::Diagnostics>(())
//! ```

mod convert;
mod description;
mod graph;
mod reader;
mod routing;
mod settings;
mod shortest;
mod units;

use std::str::FromStr;
use std::sync::Arc;

use super::Import;
use crate::diagnostic::{Diagnostic, Diagnostics, Source};

/// The SimGrid whose reading of a platform file is followed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Release {
    /// 3.32 (2022): 16 bytes of envelope travel with every message, and a bandwidth factor is the share that a flow gets
    /// of its links.
    #[default]
    V3_32,
    /// 2018 to 2020, the years of Cornebize's thesis: no envelope, and a bandwidth factor bounds the rate of a flow.
    Y2018,
}

impl FromStr for Release {
    type Err = Diagnostic;

    fn from_str(text: &str) -> Result<Release, Diagnostic> {
        match text {
            "3.32" => Ok(Release::V3_32),
            "2018" => Ok(Release::Y2018),
            _ => Err(Diagnostic::error(
                format!("`{text}` is not a SimGrid that hpcast can follow"),
                "write 3.32 or 2018",
            )),
        }
    }
}

impl std::fmt::Display for Release {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Release::V3_32 => "3.32",
            Release::Y2018 => "2018",
        })
    }
}

/// Reads a platform file as this SimGrid does, and makes a machine of it.
pub fn import(source: &Arc<Source>, release: Release) -> Result<Import, Diagnostics> {
    let mut warnings = Diagnostics::new();
    let platform = reader::read(source, &mut warnings)?;
    let settings = settings::interpret(&platform.settings, release, source, &mut warnings)?;
    let machine = convert::convert(&platform, settings, release, source, &mut warnings)?;
    warnings.sort();
    Ok(Import { machine, warnings })
}

#[cfg(test)]
mod tests;
