//! Why a program cannot be loaded.

use std::io;

/// Why a program cannot be loaded, or not in this way.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The file cannot be read.
    #[error("{file}: {error}")]
    Unreadable {
        /// Name of the file.
        file: String,
        /// What the system says.
        error: io::Error,
    },
    /// Something else than a program.
    #[error("{file} is not a program: it does not begin as ELF files do")]
    NotElf {
        /// Name of the file.
        file: String,
    },
    /// A text for an interpreter.
    #[error("{file} is a script for {interpreter}, not a program")]
    Script {
        /// Name of the file.
        file: String,
        /// Its first line.
        interpreter: String,
    },
    /// A program for another processor or system.
    #[error("{file} is made for another machine ({machine}), not for x86-64")]
    OtherArchitecture {
        /// Name of the file.
        file: String,
        /// What the file says.
        machine: String,
    },
    /// No dynamic linker is asked for.
    #[error("{file} is linked statically: it brings its own MPI, which cannot be replaced")]
    Static {
        /// Name of the file.
        file: String,
    },
    /// Code with fixed addresses.
    #[error("{file} is not position-independent: it can be in memory only once")]
    NotPositionIndependent {
        /// Name of the file.
        file: String,
    },
    /// A shared library or an object file.
    #[error("{file} is a library or an object file, not a program")]
    NotAProgram {
        /// Name of the file.
        file: String,
    },
    /// A damaged file, or one with features that no known linker makes.
    #[error("{file} is damaged: {problem}")]
    Malformed {
        /// Name of the file.
        file: String,
        /// What is wrong.
        problem: String,
    },
    /// Relocations in memory that all copies share.
    #[error("{file} has code that must be changed when it is loaded (at {address:#x})")]
    TextRelocation {
        /// Name of the file.
        file: String,
        /// Address in the file's own view.
        address: u64,
    },
    /// A relocation that this loader does not know.
    #[error("{file} has a relocation of type {kind} (at {address:#x}), which is not known")]
    UnknownRelocation {
        /// Name of the file.
        file: String,
        /// Number of the type.
        kind: u32,
        /// Address in the file's own view.
        address: u64,
    },
    /// A library is nowhere.
    #[error("{library}, needed by {needed_by}, was not found; searched in {}", .searched.join(", "))]
    MissingLibrary {
        /// Name of the library.
        library: String,
        /// Who needs it.
        needed_by: String,
        /// Folders, in the order of the search.
        searched: Vec<String>,
    },
    /// The process itself cannot load a library.
    #[error("{library}, needed by {needed_by}, cannot be loaded: {problem}")]
    HostLibrary {
        /// Name of the library.
        library: String,
        /// Who needs it.
        needed_by: String,
        /// What the dynamic linker says.
        problem: String,
    },
    /// Symbols that nobody has.
    #[error("nobody provides {}", some(.symbols))]
    MissingSymbols {
        /// Each with the object that needs it.
        symbols: Vec<String>,
    },
    /// More thread-local data at fixed places than there is room for.
    #[error("{file} has {needed} bytes of thread-local data at fixed places, and there is room for {room}")]
    ThreadLocal {
        /// Name of the file.
        file: String,
        /// Bytes needed so far.
        needed: u64,
        /// Bytes that this program has set aside.
        room: u64,
    },
    /// The kernel's limit.
    #[error(
        "copy {copy} cannot be mapped: each takes {each} mappings, and the kernel allows {limit} in a process (vm.max_map_count)"
    )]
    TooManyMappings {
        /// Number of the copy, from 0.
        copy: usize,
        /// Mappings a copy.
        each: usize,
        /// The kernel's limit.
        limit: usize,
    },
    /// No memory, or no addresses.
    #[error("{bytes} bytes of address space cannot be had: {error}")]
    Memory {
        /// How much.
        bytes: usize,
        /// What the system says.
        error: io::Error,
    },
    /// A function that should be replaced is not there.
    #[error("there is no function `{symbol}` in the program")]
    NoFunction {
        /// Name of the function.
        symbol: String,
    },
    /// A function whose beginning cannot be replaced.
    #[error("the function `{symbol}` cannot be replaced: {problem}")]
    NotReplaceable {
        /// Name of the function.
        symbol: String,
        /// Why.
        problem: String,
    },
}

/// The first of many.
fn some(names: &[String]) -> String {
    const SHOWN: usize = 10;
    let more = names.len().saturating_sub(SHOWN);
    let shown = names[..names.len() - more].join(", ");
    if more > 0 { format!("{shown} and {more} more symbols") } else { shown }
}

impl LoadError {
    /// Whether the program could run in a process of its own.
    pub fn is_about_copies(&self) -> bool {
        matches!(
            self,
            LoadError::NotPositionIndependent { .. }
                | LoadError::TextRelocation { .. }
                | LoadError::UnknownRelocation { .. }
                | LoadError::ThreadLocal { .. }
        )
    }

    /// What the user can do.
    pub fn remedy(&self) -> String {
        match self {
            Self::Unreadable { .. } => "check the path and its permissions".into(),
            Self::NotElf { .. } => "name the program itself".into(),
            Self::Script { .. } => "name the program that it starts; hpcast run stands in the place of mpirun".into(),
            Self::OtherArchitecture { .. } => "compile it for x86-64 Linux".into(),
            Self::Static { .. } => "link it without -static".into(),
            Self::NotPositionIndependent { .. } => "compile it with -fPIE and link it with -pie".into(),
            Self::NotAProgram { .. } => "name the program that uses it".into(),
            Self::Malformed { .. } => "build or install it anew".into(),
            Self::TextRelocation { .. } => "compile all of it with -fPIE or -fPIC, assembly too".into(),
            Self::UnknownRelocation { .. } => "link it with GNU ld or lld, with default options".into(),
            Self::MissingLibrary { library, .. } => format!(
                "install it (on Debian and Ubuntu, `apt-file search {library}` names its package), or name its folder in \
                 LD_LIBRARY_PATH; ldd shows what a program finds"
            ),
            Self::HostLibrary { .. } => "install it in the version that the program was built with".into(),
            Self::MissingSymbols { .. } => {
                "check with ldd -r that the program finds them by itself; if it does, they are not supported yet".into()
            }
            Self::ThreadLocal { .. } => "make large thread-local arrays pointers".into(),
            Self::TooManyMappings { copy, each, .. } => {
                let enough = (copy + 1).next_power_of_two().max(65_536) * (each + 2);
                format!("as root: sysctl vm.max_map_count={enough}")
            }
            Self::Memory { .. } => "take fewer copies, or allow more with ulimit -v and vm.overcommit_memory=1".into(),
            Self::NoFunction { .. } => "check its name with nm; stripped programs have no names".into(),
            Self::NotReplaceable { .. } => "replace a function that calls it".into(),
        }
    }
}
