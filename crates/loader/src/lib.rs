//! Loads a program and its libraries many times into one process.
//!
//! A simulation runs thousands of ranks of a program in one process. Each needs global variables of its own, as if it were a
//! process. The system's dynamic linker cannot do that: it loads a library once, or a few times at a high price. This loader
//! makes *copies* of a program. All copies share the code; each has its own data:
//!
//! ```text
//!   copy 0:   [ code A | data A | code B | data B | thread-local ]        A: the program
//!   copy 1:   [ code A | data A | code B | data B | thread-local ]        B: one of its libraries
//!               ^^^^^^ one file in memory, mapped again and again
//!                        ^^^^^^ memory of its own, filled from a template
//! ```
//!
//! Code finds data by its distance, so that the same code reaches other data in every copy, and nothing is to be done when another
//! copy runs. Symbols are looked up once ([`Program::open`]). What comes out is a *template*: the contents of the data, as if
//! the copy began at address 0, and a list of the words to which its address must be added. A new copy
//! ([`Program::instantiate`]) is a few mappings, a `memcpy`, and these additions.
//!
//! Whoever loads a program decides what its symbols mean ([`Environment`]): functions of MPI, memory, clocks, and what becomes of
//! each library ([`Treatment`]). The C library exists once in a process, and is shared by all copies: what it keeps for the process
//! (standard output, the locale, `optarg`) the environment must keep apart where it matters. It must answer `__libc_start_main`
//! where programs are entered at their beginning, and `__cxa_atexit` and `atexit`, since the C library would call what is registered
//! there when the copies are gone.
//!
//! What a program calls directly is not looked up; such functions can be replaced by [`Program::intercept`].
//!
//! Thread-local data, and how exceptions find their way, are explained in `tls.rs` and `registry.rs`. Many programs have thread-local
//! data that needs a place in this process ([`zone_size`]). To set it aside, a package that makes a program depends on this one
//! and says in its build script what is to be linked last:
//!
//! ```no_run
//! println!("cargo:rustc-link-arg={}", std::env::var("DEP_HPCAST_TLS_ZONE_OBJECT").unwrap());
//! ```
//!
//! Threads inside of copies are not supported.

mod bridge;
mod closure;
mod elf;
mod error;
mod frames;
mod host;
mod image;
mod instance;
mod intercept;
mod layout;
mod link;
mod names;
mod plan;
mod process;
mod program;
mod registry;
mod search;
mod shortcut;
mod space;
mod start;
mod template;
mod tls;

pub use error::LoadError;
pub use instance::Instance;
pub use intercept::Original;
pub use names::Location;
#[doc(hidden)]
pub use plan::plan;
pub use program::Program;
pub use registry::copy_at;
pub use search::find_usual;
pub use start::Start;
pub use tls::zone_size;

/// What becomes of a library that the program needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Treatment {
    /// The copy that this process has already, or loads in the usual way: the C library and its parts.
    Host,
    /// Not loaded at all: the environment has its symbols.
    Replaced,
    /// Loaded here, once, and shared by all copies: libgcc_s, so that it asks us for the tables that exceptions need.
    Once,
    /// Loaded here for each copy. Its definitions come before those of the environment, as do the program's.
    Private,
    /// Loaded here for each copy, but its definitions come after those of the environment: what is here in another way.
    PrivateBehind,
}

/// Something that takes the place of a symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Replacement {
    /// Where it is. It stays there as long as there are copies.
    pub address: usize,
    /// Bytes that can be read there, for data that programs have copies of; 0 for functions.
    pub size: usize,
}

/// Decides what the symbols of a program mean.
pub trait Environment {
    /// What becomes of a library.
    fn treatment(&self, soname: &str) -> Treatment;

    /// What takes the place of a symbol. Asked for all symbols that neither the program nor its private libraries define: who defines
    /// a function of the environment himself, to count its calls for instance, has it called by all. For data of which the
    /// program has a copy of its own, only the first contents are taken, and all objects use the program's copy.
    fn resolve(&self, symbol: &str) -> Option<Replacement>;

    /// Whether each copy has a variable of the process of its own, though the program has none of that name: it begins as the process has it,
    /// and [`Instance::symbol`] finds it. Code that is linked without `R_X86_64_COPY` (clang's, and libraries) would share it otherwise.
    fn is_kept_apart(&self, _variable: &str) -> bool {
        false
    }

    /// What to take for a symbol that nobody has, such as a function that says so. Without that, the program cannot be opened.
    fn missing(&self, symbol: &str) -> Option<usize>;

    /// Libraries that come before all that the program needs, as in LD_PRELOAD.
    fn preloaded(&self) -> Vec<String> {
        Vec::new()
    }
}
