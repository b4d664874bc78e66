//! Pictures as PNG, by a program that the computer has: text in SVG needs fonts, which we do not bring.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::failure::Failure;

/// Pixels for each unit of a picture: sharp on paper, too.
const ZOOM: &str = "2";

/// A program that makes PNG of SVG.
pub(super) enum Converter {
    /// Of librsvg.
    Rsvg,
    Inkscape,
}

impl Converter {
    /// One that is there.
    pub fn find() -> Result<Converter, Failure> {
        let known = [("rsvg-convert", Converter::Rsvg), ("inkscape", Converter::Inkscape)];
        let is_there = |name: &str| {
            let asked = Command::new(name).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
            asked.is_ok_and(|status| status.success())
        };
        known.into_iter().find(|(name, _)| is_there(name)).map(|(_, converter)| converter).ok_or_else(|| {
            Failure::input(
                "--png needs rsvg-convert or inkscape, and neither is here; install one (Debian: librsvg2-bin), or leave out --png",
            )
        })
    }

    /// Makes a PNG beside a picture.
    pub fn convert(&self, picture: &Path) -> Result<PathBuf, Failure> {
        let made = picture.with_extension("png");
        let mut command = match self {
            Converter::Rsvg => {
                let mut command = Command::new("rsvg-convert");
                command.args(["--zoom", ZOOM, "--background-color", "white", "--output"]).arg(&made).arg(picture);
                command
            }
            Converter::Inkscape => {
                let mut command = Command::new("inkscape");
                command
                    .args(["--export-background=white", "--export-dpi=192", "--export-filename"])
                    .arg(&made)
                    .arg(picture);
                command
            }
        };
        let said =
            command.output().map_err(|error| Failure::input(format!("cannot make {}: {error}", made.display())))?;
        if said.status.success() {
            return Ok(made);
        }
        let why = String::from_utf8_lossy(&said.stderr);
        Err(Failure::input(format!("cannot make {}: {}; leave out --png", made.display(), why.trim())))
    }
}
