//! The folder with our header, library and Fortran modules; made when it is first needed.

use std::ffi::OsStr;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

use hpcast_emulate::interface;

use super::{Compiler, Language};
use crate::failure::Failure;
use crate::mpiexec;

/// The folder in it with the names of wrappers.
const COMMANDS: &str = "bin";

/// Where it is.
pub(crate) struct Home {
    pub folder: PathBuf,
}

impl Home {
    /// The folder of this version, made if it is not there.
    pub fn get() -> Result<Home, Failure> {
        let texts = [interface::header(), interface::library(), interface::fortran_header()];
        let name = format!("{}-{}", env!("CARGO_PKG_VERSION"), digest(&texts));
        let folder = base()?.join(name);
        // A string of C.
        let starter = format!("-DSTARTER={:?}", folder.join(COMMANDS).join(mpiexec::NAMES[0]));
        let [header, library, fortran_header] = texts;
        make(&folder, |folder| {
            fs::write(folder.join("mpi.h"), header)?;
            fs::write(folder.join("mpif.h"), fortran_header)?;
            fs::write(folder.join("library.c"), library)?;
            let compiler = Compiler::of(Language::C);
            let mut command = compiler.command();
            command.args(["-shared", "-fPIC", "-O1", "-w", "-Wl,-soname,libmpi_abi.so.0", &starter]);
            command.args(["library.c", "-o"]);
            compiled(command.arg("libmpi_abi.so.0").current_dir(folder), &compiler)?;
            std::os::unix::fs::symlink("libmpi_abi.so.0", folder.join("libmpi_abi.so"))?;
            link_commands(&folder.join(COMMANDS))?;
            Ok(())
        })?;
        Ok(Home { folder })
    }

    /// The folder of the Fortran modules for a compiler: their format differs from version to version.
    pub fn modules(&self, compiler: &Compiler) -> Result<PathBuf, Failure> {
        let version = compiler.command().arg("--version").output().map_err(|error| compiler.failure(&error))?;
        let source = interface::fortran_modules();
        let folder = self.folder.join(format!("fortran-{}", digest(&(version.stdout, &compiler.words, &source))));
        make(&folder, |folder| {
            fs::write(folder.join("modules.f90"), source)?;
            let mut command = compiler.command();
            compiled(command.args(["-c", "-fPIC", "-O1", "modules.f90"]).current_dir(folder), compiler)
        })?;
        Ok(folder)
    }

    /// A folder with the names that other MPI libraries have for their wrappers; for builds that want such a file.
    pub fn commands(&self) -> Result<PathBuf, Failure> {
        let folder = self.folder.join(COMMANDS);
        link_commands(&folder).map_err(|error| cannot_make(&folder, &error))?;
        Ok(folder)
    }
}

/// Makes the names of wrappers in a folder, where they are not there or another hpcast's.
fn link_commands(folder: &Path) -> io::Result<()> {
    let own = std::env::current_exe()?;
    fs::create_dir_all(folder)?;
    let compilers = ["mpicc", "mpicxx", "mpic++", "mpif77", "mpif90", "mpifort"];
    for name in compilers.into_iter().chain(mpiexec::NAMES) {
        let link = folder.join(name);
        if fs::read_link(&link).ok().as_deref() == Some(&own) {
            continue;
        }
        let new = folder.join(format!(".{name}-{}", std::process::id()));
        std::os::unix::fs::symlink(&own, &new)?;
        fs::rename(&new, &link)?;
    }
    Ok(())
}

/// Below which folders of all versions are.
fn base() -> Result<PathBuf, Failure> {
    let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let found = variable("HPCAST_HOME")
        .or_else(|| variable("XDG_CACHE_HOME").map(|folder| folder.join("hpcast")))
        .or_else(|| variable("HOME").map(|folder| folder.join(".cache/hpcast")));
    let folder =
        found.ok_or_else(|| Failure::input("no folder for mpi.h and its library\n  name one in HPCAST_HOME"))?;
    std::path::absolute(&folder).map_err(|error| cannot_make(&folder, &error))
}

fn digest(what: &impl Hash) -> String {
    let mut hasher = DefaultHasher::new();
    what.hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}

/// Why a folder is not made.
pub(crate) enum Trouble {
    Folder(io::Error),
    Other(Failure),
}

impl From<io::Error> for Trouble {
    fn from(error: io::Error) -> Trouble {
        Trouble::Folder(error)
    }
}

/// A folder of that name below the one of all versions, made if it is not there.
pub(crate) fn make_in_home(name: &str, fill: impl FnOnce(&Path) -> Result<(), Trouble>) -> Result<PathBuf, Failure> {
    let folder = base()?.join(name);
    make(&folder, fill)?;
    Ok(folder)
}

/// Makes a folder beside its place and moves it there, so that it is whole or not there, whoever else makes it at the same
/// time.
fn make(folder: &Path, fill: impl FnOnce(&Path) -> Result<(), Trouble>) -> Result<(), Failure> {
    if folder.is_dir() {
        return Ok(());
    }
    let name = folder.file_name().unwrap_or(OsStr::new("mpi")).display().to_string();
    let new = folder.with_file_name(format!(".{name}-{}", std::process::id()));
    let made =
        fs::create_dir_all(&new).map_err(Trouble::from).and_then(|()| fill(&new)).and_then(|()| {
            match fs::rename(&new, folder) {
                Err(error) if !folder.is_dir() => Err(Trouble::from(error)),
                _ => Ok(()),
            }
        });
    // Where all went well, it is not there any more.
    let _ = fs::remove_dir_all(&new);
    made.map_err(|trouble| match trouble {
        Trouble::Folder(error) => cannot_make(folder, &error),
        Trouble::Other(failure) => failure,
    })
}

fn cannot_make(folder: &Path, error: &io::Error) -> Failure {
    let folder = folder.display();
    Failure::input(format!("cannot make {folder}: {error}\n  name another folder in HPCAST_HOME"))
}

/// Compiles something of ours.
fn compiled(command: &mut Command, compiler: &Compiler) -> Result<(), Trouble> {
    compiler.compile(command, "hpcast's MPI library").map_err(Trouble::Other)
}
