//! Compiles small programs, and an environment to load them into.

#![allow(dead_code, reason = "each test uses a part of it")]

use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::{CStr, c_char, c_int};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, process};

use hpcast_loader::{Environment, Instance, Program, Replacement, Start, Treatment};

/// A folder that is removed at the end of the test.
pub struct Folder(PathBuf);

impl Folder {
    /// A new folder.
    pub fn new(name: &str) -> Self {
        let folder = env::temp_dir().join(format!("hpcast-loader-{name}-{}", process::id()));
        fs::create_dir_all(&folder).expect("a folder");
        Self(folder)
    }

    /// A file in it.
    pub fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// Compiles a source text; `None` if there is no such compiler.
    pub fn compile(&self, compiler: &str, name: &str, source: &str, options: &[&str]) -> Option<PathBuf> {
        let suffix = match compiler {
            "g++" => "cc",
            "gfortran" => "f90",
            _ => "c",
        };
        let source_file = self.path(&format!("{name}.{suffix}"));
        fs::write(&source_file, source).expect("written");
        let output = self.path(name);
        let mut command = Command::new(compiler);
        command.current_dir(&self.0).arg("-O1").arg("-w").arg(&source_file).arg("-o").arg(&output).args(options);
        match command.output() {
            Err(_) => {
                println!("skipped: there is no {compiler} on this machine");
                None
            }
            Ok(done) => {
                assert!(done.status.success(), "{compiler}: {}", String::from_utf8_lossy(&done.stderr));
                Some(output)
            }
        }
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Libraries of the C library are the process'; libgcc is shared; what is named is replaced; the others are private.
#[derive(Default)]
pub struct Plain {
    /// Symbols with their replacements.
    pub symbols: HashMap<String, Replacement>,
    /// Libraries that all copies share, beside libgcc.
    pub once: Vec<String>,
    /// Libraries that are not loaded.
    pub replaced: Vec<String>,
    /// Variables of the process that each copy has of its own.
    pub apart: Vec<String>,
    /// What to take for symbols that nobody has.
    pub missing: Option<usize>,
}

impl Plain {
    /// With a function under a name.
    pub fn with(mut self, name: &str, address: usize) -> Self {
        self.symbols.insert(name.into(), Replacement { address, size: 0 });
        self
    }
}

/// An environment with [`say`], and the options to link with it: a library that is not loaded.
pub fn with_say(folder: &Folder) -> Option<(Plain, [&'static str; 2])> {
    folder.compile("gcc", "libsay.so", "void say(const char *text) {}", &["-shared", "-fPIC"])?;
    let environment = Plain { replaced: vec!["libsay.so".into()], ..Plain::default() };
    Some((environment.with("say", say as *const () as usize), ["-L.", "-lsay"]))
}

impl Environment for Plain {
    fn treatment(&self, soname: &str) -> Treatment {
        let host = ["libc.so", "libm.so", "ld-linux", "libpthread.so", "libdl.so", "librt.so"];
        if host.iter().any(|name| soname.starts_with(name)) {
            Treatment::Host
        } else if self.replaced.iter().any(|name| name == soname) {
            Treatment::Replaced
        } else if soname.starts_with("libgcc_s") || self.once.iter().any(|name| name == soname) {
            Treatment::Once
        } else {
            Treatment::Private
        }
    }

    fn resolve(&self, symbol: &str) -> Option<Replacement> {
        // Functions to be called at the end of the process would be gone by then.
        let at_exit = Replacement { address: at_exit as *const () as usize, size: 0 };
        self.symbols.get(symbol).copied().or((symbol == "__cxa_atexit").then_some(at_exit))
    }

    fn is_kept_apart(&self, variable: &str) -> bool {
        self.apart.iter().any(|one| one == variable)
    }

    fn missing(&self, _: &str) -> Option<usize> {
        self.missing
    }
}

extern "C" fn at_exit() -> c_int {
    0
}

/// Opens a program in a plain environment.
pub fn open(path: &Path) -> Program {
    open_in(path, &Plain::default())
}

/// Opens a program.
pub fn open_in(path: &Path, environment: &dyn Environment) -> Program {
    Program::open(path, environment).unwrap_or_else(|error| panic!("{error}; {}", error.remedy()))
}

/// A new copy whose initialisers have run.
pub fn ready(program: &Program) -> Instance {
    let instance = program.instantiate().expect("a copy");
    let start = Start::new(&[c"program"], &[]);
    within(&instance, || {
        // SAFETY: a new copy, with its thread-local data in place.
        unsafe {
            instance.initialise_libraries(&start);
            instance.initialise_program(&start);
        }
    });
    instance
}

/// Does something with the copy's thread-local data in place.
pub fn within<T>(instance: &Instance, action: impl FnOnce() -> T) -> T {
    // SAFETY: tests run one copy after the other on a thread.
    unsafe { instance.restore_thread_local() };
    let result = action();
    // SAFETY: this copy ran.
    unsafe { instance.save_thread_local() };
    result
}

/// Calls a function `int name(int)` of a copy.
pub fn call(instance: &Instance, name: &str, argument: c_int) -> c_int {
    let function = instance.symbol(name).unwrap_or_else(|| panic!("there is no `{name}`"));
    // SAFETY: the programs of the tests define it so.
    let function = unsafe { std::mem::transmute::<usize, extern "C" fn(c_int) -> c_int>(function) };
    within(instance, || function(argument))
}

thread_local! {
    static SAID: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

/// A function for programs: remembers a text.
///
/// # Safety
/// The text ends with a zero byte.
pub unsafe extern "C" fn say(text: *const c_char) {
    // SAFETY: as the caller promises.
    let text = unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned();
    SAID.with_borrow_mut(|said| said.push(text));
}

/// What has been said in this thread since the last time.
pub fn said() -> Vec<String> {
    SAID.take()
}
