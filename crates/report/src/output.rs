//! Output files that are there completely or not at all.
//!
//! A file is written under a temporary name in its folder and renamed when it is complete, so that a run that fails, or
//! that is interrupted, leaves an older file as it was. What is no plain file (a pipe, `/dev/stdout`) is written directly.

use std::fs::{self, File, Permissions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

/// Why an output file cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum OutputError {
    /// Its folder is not there.
    #[error(
        "cannot write {}: there is no folder {}; create it with `mkdir -p {}` or choose another file",
        path.display(), folder.display(), folder.display()
    )]
    NoFolder {
        /// The file.
        path: PathBuf,
        /// The folder.
        folder: PathBuf,
    },
    /// Nothing can be created in its folder.
    #[error(
        "cannot write {}: no file can be created in {} ({source}); choose a folder that you may write to",
        path.display(), folder.display()
    )]
    Folder {
        /// The file.
        path: PathBuf,
        /// The folder.
        folder: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// It is a folder.
    #[error("cannot write {}: it is a folder; name a file in it", path.display())]
    IsFolder {
        /// The folder.
        path: PathBuf,
    },
    /// It is there and protected.
    #[error("cannot write {}: it is write-protected; remove it or choose another file", path.display())]
    Protected {
        /// The file.
        path: PathBuf,
    },
    /// Writing failed.
    #[error("cannot write {}: {source}; is the disk full?", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
}

/// Finds out before a long run whether its result can be written.
pub fn check_writable(path: &Path) -> Result<(), OutputError> {
    OutputFile::create(path).map(drop)
}

/// Writes a whole file, or leaves everything as it was.
pub fn write_file(path: &Path, content: &[u8]) -> Result<(), OutputError> {
    let mut file = OutputFile::create(path)?;
    file.write_all(content).map_err(|source| OutputError::Write { path: path.into(), source })?;
    file.finish()
}

/// A file that appears under its name when it is [finished](OutputFile::finish), and vanishes when it is dropped before.
#[derive(Debug)]
pub struct OutputFile {
    path: PathBuf,
    target: Target,
}

#[derive(Debug)]
enum Target {
    /// A pipe or a device.
    Direct(File),
    /// A plain file under its temporary name, and where it will be.
    Renamed(NamedTempFile, PathBuf),
}

impl OutputFile {
    /// Begins to write.
    pub fn create(path: &Path) -> Result<OutputFile, OutputError> {
        let path = path.to_path_buf();
        let existing = fs::metadata(&path).ok();
        if existing.as_ref().is_some_and(|existing| existing.is_dir()) {
            return Err(OutputError::IsFolder { path });
        }
        if existing.as_ref().is_some_and(|existing| !existing.is_file()) {
            return match File::options().write(true).open(&path) {
                Ok(file) => Ok(OutputFile { path, target: Target::Direct(file) }),
                Err(source) => Err(OutputError::Write { path, source }),
            };
        }
        if existing.is_some_and(|existing| existing.permissions().readonly()) {
            return Err(OutputError::Protected { path });
        }
        // Behind a symbolic link it is the file that is replaced, not the link.
        let place = fs::canonicalize(&path).unwrap_or_else(|_| path.clone());
        let folder = match place.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder.to_path_buf(),
            _ => PathBuf::from("."),
        };
        if !folder.exists() {
            return Err(OutputError::NoFolder { path, folder });
        }
        match temporary(&folder) {
            Ok(file) => Ok(OutputFile { path, target: Target::Renamed(file, place) }),
            Err(source) => Err(OutputError::Folder { path, folder, source }),
        }
    }

    /// The file is complete.
    pub fn finish(self) -> Result<(), OutputError> {
        let OutputFile { path, target } = self;
        match target {
            Target::Direct(_) => Ok(()),
            Target::Renamed(file, place) => match file.persist(place) {
                Ok(_) => Ok(()),
                Err(error) => Err(OutputError::Write { path, source: error.error }),
            },
        }
    }
}

/// With the permissions that the user's umask leaves, like any other new file.
fn temporary(folder: &Path) -> io::Result<NamedTempFile> {
    #[cfg(unix)]
    let everybody: Permissions = std::os::unix::fs::PermissionsExt::from_mode(0o666);
    tempfile::Builder::new().prefix(".hpcast-").permissions(everybody).tempfile_in(folder)
}

impl Write for OutputFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.target {
            Target::Direct(file) => file.write(bytes),
            Target::Renamed(file, _) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.target {
            Target::Direct(file) => file.flush(),
            Target::Renamed(file, _) => file.flush(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> =
            fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_file_is_replaced_as_a_whole() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("result.json");
        write_file(&path, b"old").unwrap();
        let mut file = OutputFile::create(&path).unwrap();
        file.write_all(b"new and lon").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"old");
        file.write_all(b"ger").unwrap();
        file.finish().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new and longer");
        assert_eq!(names(folder.path()), ["result.json"]);
    }

    #[test]
    fn nothing_is_left_of_what_is_not_finished() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("result.json");
        let mut file = OutputFile::create(&path).unwrap();
        file.write_all(b"half").unwrap();
        drop(file);
        check_writable(&path).unwrap();
        assert!(names(folder.path()).is_empty());
    }

    #[test]
    fn errors_name_the_path_and_the_remedy() {
        let folder = tempfile::tempdir().unwrap();
        let error = check_writable(&folder.path().join("none/x.json")).unwrap_err();
        assert!(matches!(error, OutputError::NoFolder { .. }));
        assert!(error.to_string().contains("none/x.json") && error.to_string().contains("mkdir -p"));

        let error = check_writable(folder.path()).unwrap_err();
        assert!(error.to_string().contains("it is a folder"));

        let file = folder.path().join("file");
        write_file(&file, b"").unwrap();
        let error = check_writable(&file.join("x.json")).unwrap_err();
        assert!(matches!(error, OutputError::Folder { .. }), "{error}");

        let mut permissions = fs::metadata(&file).unwrap().permissions();
        permissions.set_readonly(true);
        fs::set_permissions(&file, permissions).unwrap();
        assert!(matches!(check_writable(&file).unwrap_err(), OutputError::Protected { .. }));
    }

    #[cfg(unix)]
    #[test]
    fn links_and_devices_stay_what_they_are() {
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("file"), folder.path().join("link"));
        write_file(&file, b"old").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        write_file(&link, b"new").unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read(&file).unwrap(), b"new");

        write_file(Path::new("/dev/null"), b"gone").unwrap();
        assert!(!fs::metadata("/dev/null").unwrap().is_file());
    }

    #[cfg(unix)]
    #[test]
    fn others_may_read_what_the_umask_lets_them() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let (ours, usual) = (folder.path().join("ours"), folder.path().join("usual"));
        write_file(&ours, b"").unwrap();
        fs::write(&usual, b"").unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode();
        assert_eq!(mode(&ours), mode(&usual));
    }
}
