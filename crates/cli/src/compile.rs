//! `hpcast cc`, `cxx` and `f90`: the system's compilers with what MPI programs need.

mod home;

use std::ffi::OsString;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};

pub(crate) use home::{Home, Trouble, make_in_home};

use crate::failure::Failure;
use crate::print;

/// A programming language.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Language {
    C,
    Cxx,
    Fortran,
}

impl Language {
    /// By a command of ours, or by the name under which other MPI libraries have their wrappers.
    fn of(command: &str) -> Option<Language> {
        match command {
            "cc" | "mpicc" => Some(Language::C),
            "cxx" | "mpicxx" | "mpic++" | "mpiCC" => Some(Language::Cxx),
            "f90" | "f77" | "mpif90" | "mpif77" | "mpifort" => Some(Language::Fortran),
            _ => None,
        }
    }

    /// The variable that names the compiler, and the compiler if it is not set.
    fn compiler(self) -> (&'static str, &'static str) {
        match self {
            Language::C => ("HPCAST_CC", "cc"),
            Language::Cxx => ("HPCAST_CXX", "c++"),
            Language::Fortran => ("HPCAST_FC", "gfortran"),
        }
    }
}

/// A compiler, with arguments that are always there: the variables may hold `ccache gcc`.
pub(crate) struct Compiler {
    words: Vec<OsString>,
    variable: &'static str,
}

impl Compiler {
    fn of(language: Language) -> Compiler {
        let (variable, usual) = language.compiler();
        let named = std::env::var(variable).unwrap_or_default();
        let words = if named.trim().is_empty() { usual } else { &named };
        Compiler { words: words.split_whitespace().map(OsString::from).collect(), variable }
    }

    fn command(&self) -> Command {
        let mut command = Command::new(&self.words[0]);
        command.args(&self.words[1..]);
        command
    }

    /// Why it could not be started.
    fn failure(&self, error: &std::io::Error) -> Failure {
        let (name, variable) = (self.words[0].display(), self.variable);
        let what =
            if error.kind() == ErrorKind::NotFound { "there is no such command".into() } else { error.to_string() };
        Failure::input(format!("cannot start the compiler {name}: {what}\n  install it, or name another in {variable}"))
    }
}

impl Compiler {
    /// Compiles something for ourselves.
    fn compile(&self, command: &mut Command, what: &str) -> Result<(), Failure> {
        let output = command.output().map_err(|error| self.failure(&error))?;
        if output.status.success() {
            return Ok(());
        }
        let words = String::from_utf8_lossy(&output.stderr);
        let (name, variable) = (self.words[0].display(), self.variable);
        Err(Failure::input(format!("{name} cannot compile {what}:\n{words}  name another compiler in {variable}")))
    }
}

/// `hpcast cc` for ourselves.
pub(crate) struct Compilation {
    compiler: Compiler,
    flags: Flags,
}

/// The C compiler with what MPI programs need.
pub(crate) fn c_compilation() -> Result<Compilation, Failure> {
    Ok(Compilation { compiler: Compiler::of(Language::C), flags: Flags::new(Language::C)? })
}

impl Compilation {
    /// What decides what comes out, beside the arguments.
    pub fn words(&self) -> Vec<OsString> {
        self.compiler.words.iter().cloned().chain(self.flags.compile()).chain(self.flags.link()).collect()
    }

    /// Runs the compiler in a folder; `what` is compiled.
    pub fn run(&self, arguments: &[OsString], folder: &Path, what: &str) -> Result<(), Failure> {
        let mut command = self.compiler.command();
        self.compiler.compile(command.args(self.flags.around(arguments)).current_dir(folder), what)
    }
}

/// If these are the arguments of a compiler wrapper, runs it and ends with the compiler's exit code.
pub(crate) fn if_asked(arguments: &[OsString]) -> Option<Result<(), Failure>> {
    let name = arguments.first().and_then(|program| Path::new(program).file_name())?.to_str()?;
    let (language, rest) = match name.starts_with("mpi").then(|| Language::of(name)).flatten() {
        Some(language) => (language, &arguments[1..]),
        None => {
            let command = arguments.get(1)?.to_str()?;
            (Language::of(command).filter(|_| !command.starts_with("mpi"))?, &arguments[2..])
        }
    };
    Some(compile(language, rest))
}

fn compile(language: Language, arguments: &[OsString]) -> Result<(), Failure> {
    let flags = Flags::new(language)?;
    let compiler = Compiler::of(language);
    let shown = arguments.iter().find_map(|argument| Shown::of(argument.to_str()?));
    if let Some(shown) = shown {
        let others: Vec<_> =
            arguments.iter().filter(|argument| Shown::of(&argument.to_string_lossy()).is_none()).collect();
        return show(shown, &flags, &compiler, &others);
    }
    if let Some(option) = static_program(arguments) {
        return Err(Failure::input(format!(
            "{option}: a static program brings its own MPI, and cannot run on a simulated machine\n  leave {option} out"
        )));
    }
    let words = flags.around(arguments);
    let status = compiler.command().args(&words).status().map_err(|error| compiler.failure(&error))?;
    std::process::exit(exit_code(status));
}

/// As shells have it where a signal ended it.
fn exit_code(status: ExitStatus) -> i32 {
    use std::os::unix::process::ExitStatusExt;
    status.code().or_else(|| status.signal().map(|signal| 128 + signal)).unwrap_or(1)
}

/// What a program that asks for it wants to know; Open MPI and MPICH have different words for it.
#[derive(Clone, Copy)]
enum Shown {
    Command,
    Compile,
    Link,
    IncludeFolders,
    LibraryFolders,
    Libraries,
}

impl Shown {
    fn of(argument: &str) -> Option<Shown> {
        match argument.strip_prefix('-')?.trim_start_matches('-') {
            "showme" | "show" | "showme:command" => Some(Shown::Command),
            "showme:compile" | "compile-info" | "compile_info" => Some(Shown::Compile),
            "showme:link" | "link-info" | "link_info" => Some(Shown::Link),
            "showme:incdirs" => Some(Shown::IncludeFolders),
            "showme:libdirs" => Some(Shown::LibraryFolders),
            "showme:libs" => Some(Shown::Libraries),
            _ => None,
        }
    }
}

fn show(shown: Shown, flags: &Flags, compiler: &Compiler, arguments: &[&OsString]) -> Result<(), Failure> {
    let folders = |folders: &[PathBuf]| folders.iter().map(|folder| folder.clone().into_os_string()).collect();
    let words: Vec<OsString> = match shown {
        Shown::Command => {
            let mut words = compiler.words.clone();
            words.extend(flags.compile());
            words.extend(arguments.iter().map(|&argument| argument.clone()));
            words.extend(flags.link());
            words
        }
        Shown::Compile => flags.compile(),
        Shown::Link => flags.link(),
        Shown::IncludeFolders => folders(&flags.include),
        Shown::LibraryFolders => folders(std::slice::from_ref(&flags.library)),
        Shown::Libraries => vec!["mpi_abi".into()],
    };
    let words: Vec<String> = words.iter().map(|word| word.display().to_string()).collect();
    print(&format!("{}\n", words.join(" ")))
}

/// What is added to the user's arguments.
struct Flags {
    include: Vec<PathBuf>,
    library: PathBuf,
    /// The code of the Fortran modules.
    modules: Option<PathBuf>,
}

impl Flags {
    fn new(language: Language) -> Result<Flags, Failure> {
        let home = Home::get()?;
        let library = home.folder.clone();
        let mut include = vec![home.folder.clone()];
        let mut modules = None;
        if language == Language::Fortran {
            let folder = home.modules(&Compiler::of(language))?;
            modules = Some(folder.join("modules.o"));
            include.push(folder);
        }
        Ok(Flags { include, library, modules })
    }

    fn compile(&self) -> Vec<OsString> {
        let include = self.include.iter().map(|folder| joined("-I", folder));
        std::iter::once("-fPIE".into()).chain(include).collect()
    }

    /// The library's folder is also where the program looks when it is started without us, to be told so.
    fn link(&self) -> Vec<OsString> {
        let mut words: Vec<OsString> = vec!["-pie".into()];
        words.extend(self.modules.iter().map(|object| object.clone().into_os_string()));
        words.extend([joined("-L", &self.library), joined("-Wl,-rpath,", &self.library), "-lmpi_abi".into()]);
        words
    }

    /// The user's arguments with ours around them: those of the user come after what they may overrule.
    fn around(&self, arguments: &[OsString]) -> Vec<OsString> {
        let has = |options: &[&str]| options.iter().any(|&option| arguments.iter().any(|argument| argument == option));
        let mut compile = self.compile();
        if has(&["-shared"]) {
            compile.retain(|word| word != "-fPIE");
        }
        let mut link = Vec::new();
        if links(arguments) {
            link = self.link();
            if has(&["-shared", "-static", "-static-pie", "-no-pie", "-r"]) {
                link.retain(|word| word != "-pie");
            }
        }
        let mut words = compile;
        words.extend_from_slice(arguments);
        // The language of files that `-x` gives ends before objects of ours.
        if !link.is_empty() && arguments.iter().any(|argument| argument.to_string_lossy().starts_with("-x")) {
            words.extend(["-x".into(), "none".into()]);
        }
        words.extend(link);
        words
    }
}

/// The option that asks for a static program, if the compiler will link one.
fn static_program(arguments: &[OsString]) -> Option<&str> {
    let find = |options: &[&str]| {
        arguments.iter().filter_map(|argument| argument.to_str()).find(|argument| options.contains(argument))
    };
    let option = find(&["-static", "--static", "-static-pie", "--static-pie"])?;
    (links(arguments) && find(&["-shared", "-r"]).is_none()).then_some(option)
}

fn joined(option: &str, path: &Path) -> OsString {
    let mut text = OsString::from(option);
    text.push(path);
    text
}

/// Whether the compiler will link: it has files, and is not told to stop before.
fn links(arguments: &[OsString]) -> bool {
    const STOPS: [&str; 8] = ["-c", "-S", "-E", "-M", "-MM", "-fsyntax-only", "--version", "-dumpversion"];
    let stops = arguments.iter().any(|argument| STOPS.iter().any(|&option| argument == option));
    let mut is_value = false;
    let is_file = |argument: &OsString| {
        let text = argument.to_string_lossy();
        let is_input = !is_value && (!text.starts_with('-') || text == "-" || text.starts_with("-l"));
        is_value = ["-o", "-x", "-MF", "-MT", "-MQ", "-I", "-L", "-include"].iter().any(|&option| text == option);
        is_input
    };
    !stops && arguments.iter().any(is_file)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arguments(text: &str) -> Vec<OsString> {
        text.split_whitespace().map(OsString::from).collect()
    }

    fn flags() -> Flags {
        Flags { include: vec!["/h".into()], library: "/h".into(), modules: None }
    }

    #[test]
    fn links_where_the_compiler_does() {
        for text in ["a.c", "-O2 a.o -o program", "a.o -lm", "-x c -"] {
            assert!(links(&arguments(text)), "{text}");
        }
        for text in ["-c a.c", "-E a.c", "--version", "-v", "-o program", "-dumpmachine", ""] {
            assert!(!links(&arguments(text)), "{text}");
        }
    }

    #[test]
    fn what_the_user_says_comes_after_what_it_may_overrule() {
        let words = flags().around(&arguments("-c -fPIC a.c"));
        assert_eq!(words, arguments("-fPIE -I/h -c -fPIC a.c"));
        let words = flags().around(&arguments("a.o -o program"));
        assert_eq!(words, arguments("-fPIE -I/h a.o -o program -pie -L/h -Wl,-rpath,/h -lmpi_abi"));
        let words = flags().around(&arguments("-shared a.o -o liba.so"));
        assert_eq!(words, arguments("-I/h -shared a.o -o liba.so -L/h -Wl,-rpath,/h -lmpi_abi"));
    }

    #[test]
    fn static_programs_are_found_where_they_are_linked() {
        let found = |text| static_program(&arguments(text)).map(str::to_owned);
        assert_eq!(found("-O2 -static a.o -o program").as_deref(), Some("-static"));
        assert_eq!(found("a.c -static-pie").as_deref(), Some("-static-pie"));
        for text in ["-static -c a.c", "-static --version", "-static-libgcc a.o", "-r -static a.o -o b.o", "a.o"] {
            assert_eq!(found(text), None, "{text}");
        }
    }

    #[test]
    fn wrappers_are_known_by_their_commands() {
        assert_eq!(Language::of("cxx"), Some(Language::Cxx));
        assert_eq!(Language::of("mpif77"), Some(Language::Fortran));
        assert_eq!(Language::of("run"), None);
    }

    #[test]
    fn both_families_of_questions_are_understood() {
        for text in ["--showme:compile", "-showme:compile", "-compile-info", "-compile_info"] {
            assert!(matches!(Shown::of(text), Some(Shown::Compile)), "{text}");
        }
        assert!(Shown::of("-shared").is_none());
        assert!(Shown::of("show").is_none());
    }
}
