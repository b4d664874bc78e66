//! Output files that are there completely or not at all.
//!
//! A file is written under a temporary name in its folder and renamed when it is complete, so that a run that fails, or
//! that is interrupted, leaves an older file as it was. What is no plain file (a pipe, `/dev/stdout`) is written directly.

use std::fs::{self, File};
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
    /// It is one of the files that are read.
    #[error("cannot write {}: it is read, too, and would be lost; choose another file", path.display())]
    IsInput {
        /// The file.
        path: PathBuf,
    },
    /// It is there and protected.
    #[error("cannot write {}: it is write-protected; remove it or choose another file", path.display())]
    Protected {
        /// The file.
        path: PathBuf,
    },
    /// Writing failed.
    #[error("cannot write {}: {source}; check the disk and choose another file", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
}

/// Finds out before a long run whether its result can be written.
pub fn check_writable(path: &Path) -> Result<(), OutputError> {
    match Place::of(path)? {
        // Only to open a pipe would already be noticed at its other end.
        Place::Direct => Ok(()),
        Place::Folder { folder, .. } => temporary(path, &folder).map(drop),
    }
}

/// The same where files are read that must not be lost.
pub fn check_output<'i>(path: &Path, inputs: impl IntoIterator<Item = &'i Path>) -> Result<(), OutputError> {
    if inputs.into_iter().any(|input| is_same_file(path, input)) {
        return Err(OutputError::IsInput { path: path.into() });
    }
    check_writable(path)
}

/// Whether both lead to one plain file, by whatever names.
fn is_same_file(one: &Path, other: &Path) -> bool {
    match [one, other].map(fs::canonicalize) {
        [Ok(one), Ok(other)] => one == other && one.is_file(),
        _ => false,
    }
}

/// Writes a whole file, or leaves everything as it was.
pub fn write_file(path: &Path, content: &[u8]) -> Result<(), OutputError> {
    let mut file = OutputFile::create(path)?;
    file.write_all(content).map_err(|source| OutputError::Write { path: path.into(), source })?;
    file.finish()
}

/// Where a file will be.
enum Place {
    /// A pipe or a device.
    Direct,
    /// A plain file.
    Folder { folder: PathBuf, file: PathBuf },
}

impl Place {
    fn of(path: &Path) -> Result<Place, OutputError> {
        // `/dev/stdout` may lead to a plain file, but that file is in use.
        if path.starts_with("/dev") || path.starts_with("/proc") {
            return Ok(Place::Direct);
        }
        if let Ok(existing) = fs::metadata(path) {
            if existing.is_dir() {
                return Err(OutputError::IsFolder { path: path.into() });
            }
            if !existing.is_file() {
                return Ok(Place::Direct);
            }
            if existing.permissions().readonly() {
                return Err(OutputError::Protected { path: path.into() });
            }
        }
        // Behind a symbolic link it is the file that is replaced, not the link.
        let file = fs::canonicalize(path).unwrap_or_else(|_| path.into());
        let folder = match file.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder.to_path_buf(),
            _ => PathBuf::from("."),
        };
        if !folder.exists() {
            return Err(OutputError::NoFolder { path: path.into(), folder });
        }
        Ok(Place::Folder { folder, file })
    }
}

/// A file that appears under its name when it is [finished](OutputFile::finish), and vanishes when it is dropped before.
#[derive(Debug)]
pub struct OutputFile {
    path: PathBuf,
    target: Target,
}

#[derive(Debug)]
enum Target {
    Direct(File),
    /// Under its temporary name, and where it will be.
    Renamed(NamedTempFile, PathBuf),
}

impl OutputFile {
    /// Begins to write.
    pub fn create(path: &Path) -> Result<OutputFile, OutputError> {
        let target = match Place::of(path)? {
            Place::Direct => match File::options().append(true).open(path) {
                Ok(file) => Target::Direct(file),
                Err(source) => return Err(OutputError::Write { path: path.into(), source }),
            },
            Place::Folder { folder, file } => Target::Renamed(temporary(path, &folder)?, file),
        };
        Ok(OutputFile { path: path.into(), target })
    }

    /// The file is complete.
    pub fn finish(self) -> Result<(), OutputError> {
        let OutputFile { path, target } = self;
        match target {
            Target::Direct(_) => Ok(()),
            Target::Renamed(temporary, file) => match temporary.persist(file) {
                Ok(_) => Ok(()),
                Err(error) => Err(OutputError::Write { path, source: error.error }),
            },
        }
    }
}

/// A new file with the permissions that the user's umask leaves, like any other.
fn temporary(path: &Path, folder: &Path) -> Result<NamedTempFile, OutputError> {
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    builder.prefix(".hpcast-").tempfile_in(folder).map_err(|source| OutputError::Folder {
        path: path.into(),
        folder: folder.into(),
        source,
    })
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

    #[test]
    fn inputs_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        let [input, link, other] = ["input", "link", "other"].map(|name| folder.path().join(name));
        write_file(&input, b"measured").unwrap();
        std::os::unix::fs::symlink(&input, &link).unwrap();
        for path in [&input, &link, &folder.path().join("./input")] {
            let error = check_output(path, [other.as_path(), &input]).unwrap_err();
            assert!(matches!(error, OutputError::IsInput { .. }), "{error}");
        }
        check_output(&other, [input.as_path(), &link]).unwrap();
        // Neither is a file that could be lost.
        check_output(Path::new("/dev/null"), [Path::new("/dev/null")]).unwrap();
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
