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
    /// A browser, by this name.
    Chromium(&'static str),
}

/// What browsers of this kind are called.
const BROWSERS: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];

impl Converter {
    /// One that is there.
    pub fn find() -> Result<Converter, Failure> {
        let known = [("rsvg-convert", Converter::Rsvg), ("inkscape", Converter::Inkscape)];
        let browsers = BROWSERS.map(|name| (name, Converter::Chromium(name)));
        let is_there = |name: &str| {
            let asked = Command::new(name).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
            asked.is_ok_and(|status| status.success())
        };
        let found = known.into_iter().chain(browsers).find(|(name, _)| is_there(name));
        found.map(|(_, converter)| converter).ok_or_else(|| {
            Failure::input(
                "--png needs rsvg-convert, inkscape or chromium, and none is here; install one (Debian: librsvg2-bin), or leave out --png",
            )
        })
    }

    /// Makes a PNG beside a picture.
    pub fn convert(&self, picture: &Path) -> Result<PathBuf, Failure> {
        let made = picture.with_extension("png");
        let wrong = |error: std::io::Error| Failure::input(format!("cannot make {}: {error}", made.display()));
        // An older one would pass for the one that is made now.
        if made.exists() {
            std::fs::remove_file(&made).map_err(wrong)?;
        }
        // A browser writes to a folder of its own, which goes when it has ended.
        let profile = tempfile::tempdir().map_err(wrong)?;
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
            Converter::Chromium(name) => {
                let (width, height) = size(&std::fs::read_to_string(picture).map_err(wrong)?);
                let mut command = Command::new(name);
                command.args(["--headless", "--disable-gpu", "--hide-scrollbars", "--disable-background-networking"]);
                command.args(["--disable-component-update", "--disable-sync"]);
                if rustix::process::getuid().is_root() {
                    // It refuses to begin as root otherwise; what it reads is our own picture.
                    command.arg("--no-sandbox");
                }
                command.arg(format!("--user-data-dir={}", profile.path().display()));
                command
                    .arg(format!("--force-device-scale-factor={ZOOM}"))
                    .arg(format!("--window-size={width},{height}"));
                let place = picture.canonicalize().map_err(wrong)?;
                let end = place.with_extension("png");
                command.arg(format!("--screenshot={}", end.display())).arg(address(&place));
                command
            }
        };
        let said = command.output().map_err(wrong)?;
        // A browser that cannot write says so and ends well.
        if said.status.success() && made.is_file() {
            return Ok(made);
        }
        let why = String::from_utf8_lossy(&said.stderr);
        Err(Failure::input(format!("cannot make {}: {}; leave out --png", made.display(), why.trim())))
    }
}

/// The address of a file.
fn address(path: &Path) -> String {
    // These would end the path, or be taken for something else.
    let path = path.display().to_string().replace('%', "%25").replace('#', "%23").replace('?', "%3F");
    format!("file://{path}")
}

/// Width and height of a picture of ours in pixels, rounded up.
fn size(svg: &str) -> (u32, u32) {
    let number = |name: &str| {
        let (_, rest) = svg.split_once(&format!(" {name}=\""))?;
        rest.split('"').next()?.parse::<f64>().ok()
    };
    let pixels = |name: &str| number(name).map_or(1, |number| number.ceil() as u32);
    (pixels("width"), pixels("height"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_have_no_signs_of_their_own() {
        assert_eq!(address(Path::new("/a b/50 %/#1?.svg")), "file:///a b/50 %25/%231%3F.svg");
    }

    #[test]
    fn pictures_have_a_size() {
        assert_eq!(
            size("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"760\" height=\"412.5\"><rect width=\"3\"/>"),
            (760, 413)
        );
    }
}
