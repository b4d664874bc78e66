//! The folder of a study's results.

use std::fs::File;
use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use hpcast_report::write_file;
use hpcast_study::file::Study;
use hpcast_study::store::{Location, Store};
use rustix::fs::FlockOperation;

use crate::failure::Failure;

/// Says where results are that are not in the folder.
const ELSEWHERE: &str = "store.txt";
/// Whoever has it locked writes to the folder.
const LOCK: &str = "lock";
/// The study as it was run.
const STUDY: &str = "study.toml";

/// A folder that is ours as long as this lives.
pub(crate) struct Folder {
    pub location: Location,
    _lock: File,
}

impl Folder {
    /// Makes the folder, unless it is there.
    pub fn open(path: &Path, study: &Study, store: Option<&str>) -> Result<Folder, Failure> {
        let cannot = |error: std::io::Error| {
            Failure::input(format!("cannot use the folder {}: {error}; choose another with --out", path.display()))
        };
        std::fs::create_dir_all(path).map_err(cannot)?;
        let lock = File::create(path.join(LOCK)).map_err(cannot)?;
        if rustix::fs::flock(&lock, FlockOperation::NonBlockingLockExclusive).is_err() {
            return Err(Failure::input(format!(
                "somebody else is running a study in {}; wait for it, or choose another folder with --out",
                path.display()
            )));
        }
        let location = match (store, location(path)?) {
            (Some(store), known @ Location::Server(_)) if !Location::of(store).is_same(&known) => {
                return Err(Failure::input(format!(
                    "{} keeps its results in another store; leave out --store, or choose another folder with --out",
                    path.display()
                )));
            }
            (Some(store), _) => {
                let location = Location::of(store);
                // A store that cannot be opened is none to be found again.
                Store::open(&location)?;
                write_secret(&path.join(ELSEWHERE), &format!("{store}\n")).map_err(cannot)?;
                location
            }
            (None, location) => location,
        };
        write_file(&path.join(STUDY), study.source().text.as_bytes())?;
        Ok(Folder { location, _lock: lock })
    }
}

/// Writes a file that nobody else may read, not even for a moment: it may hold a password.
fn write_secret(path: &Path, text: &str) -> std::io::Result<()> {
    // Only its owner may read a temporary file.
    let mut file = tempfile::NamedTempFile::new_in(path.parent().unwrap_or(Path::new(".")))?;
    file.write_all(text.as_bytes())?;
    file.as_file().sync_all()?;
    file.persist(path)?;
    Ok(())
}

/// Where the results of a study are, by its folder.
pub(crate) fn location(path: &Path) -> Result<Location, Failure> {
    let elsewhere = path.join(ELSEWHERE);
    if !elsewhere.is_file() {
        return Ok(Location::File(path.join(hpcast_study::store::FILE)));
    }
    let text = std::fs::read_to_string(&elsewhere)
        .map_err(|error| Failure::input(format!("cannot read {}: {error}; check the file", elsewhere.display())))?;
    Ok(Location::of(text.trim()))
}

/// Whether somebody is running the study in this folder now. The kernel's list of locks is asked: who tried to lock the folder
/// would be in the way of others for a moment.
pub(crate) fn is_in_use(path: &Path) -> bool {
    let Ok(lock) = std::fs::metadata(path.join(LOCK)) else { return false };
    let locks = std::fs::read_to_string("/proc/locks").unwrap_or_default();
    locks.lines().any(|line| locked_file(line) == Some(lock.ino()))
}

/// The number of the file that a line of `/proc/locks` is about, such as `1: FLOCK  ADVISORY  WRITE 4711 08:01:131 0 EOF`.
fn locked_file(line: &str) -> Option<u64> {
    let file = line.split_whitespace().find(|word| word.matches(':').count() == 2)?;
    file.rsplit(':').next()?.parse().ok()
}

/// Whether a folder holds a study with this file.
pub(crate) fn holds(path: &Path, file: &str) -> bool {
    std::fs::read_to_string(path.join(STUDY)).is_ok_and(|text| text == file)
}

/// Does something in another folder: the words of a study name files in its own.
pub(super) fn within<T>(folder: &Path, act: impl FnOnce() -> T) -> Result<T, Failure> {
    if folder.as_os_str().is_empty() {
        return Ok(act());
    }
    let cannot = |error: std::io::Error| Failure::input(format!("cannot go to {}: {error}", folder.display()));
    let here = std::env::current_dir().map_err(cannot)?;
    std::env::set_current_dir(folder).map_err(cannot)?;
    let result = act();
    std::env::set_current_dir(here).map_err(cannot)?;
    Ok(result)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locks_are_seen_without_locking() {
        assert_eq!(locked_file("1: FLOCK  ADVISORY  WRITE 4711 08:01:131 0 EOF"), Some(131));
        assert_eq!(locked_file(""), None);
        let folder = tempfile::tempdir().unwrap();
        assert!(!is_in_use(folder.path()));
        let lock = File::create(folder.path().join(LOCK)).unwrap();
        assert!(!is_in_use(folder.path()));
        rustix::fs::flock(&lock, FlockOperation::NonBlockingLockExclusive).unwrap();
        assert!(is_in_use(folder.path()));
        drop(lock);
        assert!(!is_in_use(folder.path()));
    }
}
