//! Copies of the working folder, so that two runs do not disturb each other, and what a run has changed in one.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::failure::Failure;

/// More is not copied.
const MOST_BYTES: u64 = 1 << 30;
const MOST_FILES: usize = 20_000;

/// A folder of its own, which is removed again.
pub(super) struct Scratch(PathBuf);

impl Scratch {
    pub fn new(name: &str) -> Result<Scratch, Failure> {
        let path = std::env::temp_dir().join(format!("hpcast-verify-{}-{name}", std::process::id()));
        fs::create_dir_all(&path)
            .map_err(|error| Failure::input(format!("cannot make {}: {error}", path.display())))?;
        Ok(Scratch(path))
    }

    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Files of a folder by their names in it; too many are refused.
pub(super) fn files(folder: &Path) -> Result<BTreeMap<PathBuf, u64>, Failure> {
    let mut found = BTreeMap::new();
    let mut waiting = vec![PathBuf::new()];
    let mut bytes = 0;
    while let Some(inner) = waiting.pop() {
        let unreadable = |error: io::Error| Failure::input(format!("{}: {error}", folder.join(&inner).display()));
        for entry in fs::read_dir(folder.join(&inner)).map_err(unreadable)? {
            let entry = entry.map_err(unreadable)?;
            let (name, kind) = (inner.join(entry.file_name()), entry.file_type().map_err(unreadable)?);
            if kind.is_dir() {
                waiting.push(name);
            } else if kind.is_file() || kind.is_symlink() {
                let length = fs::metadata(entry.path()).map_or(0, |metadata| metadata.len());
                bytes += length;
                found.insert(name, length);
            }
            if bytes > MOST_BYTES || found.len() + waiting.len() > MOST_FILES {
                let what = format!("{} is too large to be copied for each run", folder.display());
                let remedy = "run it in a folder with only what the program needs";
                return Err(Failure::input(format!("{what} (at most 1 GiB and {MOST_FILES} files); {remedy}")));
            }
        }
    }
    Ok(found)
}

/// Copies a folder's files.
pub(super) fn copy(files: &BTreeMap<PathBuf, u64>, from: &Path, to: &Path) -> Result<(), Failure> {
    for name in files.keys() {
        let (source, target) = (from.join(name), to.join(name));
        let copied = target.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| fs::copy(&source, &target));
        copied.map_err(|error| Failure::input(format!("cannot copy {}: {error}", source.display())))?;
    }
    Ok(())
}

/// Files that a run has written or changed in its copy, with what is in them.
pub(super) fn written(original: &Path, copy: &Path) -> Result<BTreeMap<PathBuf, Vec<u8>>, Failure> {
    let mut changed = BTreeMap::new();
    for name in files(copy)?.into_keys() {
        let contents = fs::read(copy.join(&name)).unwrap_or_default();
        if fs::read(original.join(&name)).ok().as_deref() != Some(&contents) {
            changed.insert(name, contents);
        }
    }
    Ok(changed)
}
