//! Where a result comes from: version, commit, command, inputs, host, date.

use std::path::Path;
use std::time::SystemTime;

use serde::Serialize;
use sha2::{Digest, Sha256};

/// What the build knows about itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Build {
    /// The version, `env!("CARGO_PKG_VERSION")`.
    pub version: &'static str,
    /// The commit it was built from, if the build script could tell.
    pub commit: Option<&'static str>,
}

/// Where a result comes from. All of it may vary between two equal runs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Provenance {
    /// Version of hpcast.
    pub version: String,
    /// Commit it was built from.
    pub commit: Option<String>,
    /// The command and its arguments.
    pub command: Vec<String>,
    /// Files that were read.
    pub inputs: Vec<Input>,
    /// Threads that the run could use.
    pub threads: usize,
    /// Name of the computer.
    pub host: String,
    /// When the run began, UTC, ISO 8601.
    pub date: String,
}

/// A file that was read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Input {
    /// Its name as the user gave it.
    pub path: String,
    /// Its length.
    pub bytes: u64,
    /// The SHA-256 of its content, in hexadecimal.
    pub sha256: String,
}

impl Provenance {
    /// Of a run that begins now, here.
    pub fn now(build: Build, command: impl IntoIterator<Item = String>, threads: usize) -> Provenance {
        Provenance {
            version: build.version.into(),
            commit: build.commit.map(Into::into),
            command: command.into_iter().collect(),
            inputs: Vec::new(),
            threads,
            host: rustix::system::uname().nodename().to_string_lossy().into_owned(),
            date: utc(SystemTime::now()),
        }
    }

    /// Notes an input file with the content that was read from it.
    pub fn add_input(&mut self, path: &Path, content: &[u8]) {
        let path = path.display().to_string();
        self.inputs.push(Input { path, bytes: content.len() as u64, sha256: sha256(content) });
    }
}

/// A time as ISO 8601 writes it.
pub fn utc(time: SystemTime) -> String {
    humantime::format_rfc3339_seconds(time).to_string()
}

/// The SHA-256 of a file's content, in hexadecimal digits.
pub fn sha256(content: &[u8]) -> String {
    Sha256::digest(content).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{Duration, UNIX_EPOCH};

    #[test]
    fn a_known_hash() {
        // FIPS 180-2, appendix B.1.
        assert_eq!(sha256(b"abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }

    #[test]
    fn dates_are_utc() {
        assert_eq!(utc(UNIX_EPOCH + Duration::from_secs(1_709_210_096)), "2024-02-29T12:34:56Z");
    }

    #[test]
    fn a_run_says_what_it_was() {
        let build = Build { version: "1.2.3", commit: Some("abc") };
        let mut provenance = Provenance::now(build, ["hpcast".into(), "run".into()], 2);
        provenance.add_input(Path::new("machines/x.toml"), b"abc");
        assert_eq!((provenance.version.as_str(), provenance.commit.as_deref()), ("1.2.3", Some("abc")));
        assert_eq!(provenance.command, ["hpcast", "run"]);
        assert_eq!((provenance.inputs[0].path.as_str(), provenance.inputs[0].bytes), ("machines/x.toml", 3));
        assert!(!provenance.host.is_empty());
    }
}
