//! Starts a program in a process without giving up what is in it: execve would.
//!
//! The kernel's part is small. The dynamic linker is mapped, and entered as if it had been started by itself with the program as
//! its argument; it does the rest, for programs of all kinds. Its options say where our libraries are, so that no variable of the environment
//! does, and programs that the program starts do not see them.

use std::arch::asm;
use std::ffi::{CStr, CString, OsStr};
use std::fs;
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use super::elf::{self, Elf};

/// Scripts whose interpreters are scripts, and so on.
const DEEPEST: usize = 4;
const PAGE: usize = 4096;

/// What is started.
#[derive(Clone)]
pub struct Start {
    /// The dynamic linker.
    linker: PathBuf,
    /// Its arguments: its options, the program, and the program's arguments.
    words: Vec<CString>,
    /// The environment.
    variables: Vec<CString>,
}

/// Our libraries.
#[derive(Clone, Default)]
pub struct Libraries {
    /// The folder that they are in.
    pub folder: PathBuf,
    /// The one that every program gets.
    pub always: PathBuf,
}

/// Why a program cannot be started.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The file cannot be read.
    #[error("{0}: {1}")]
    Unreadable(String, io::Error),
    /// Neither a program nor a script.
    #[error("{0} is neither a program for this computer nor a script that begins with #!")]
    NotAProgram(String),
    /// It asks for no dynamic linker.
    #[error("{0} is linked statically: it brings its own MPI, which cannot be replaced")]
    Static(String),
}

impl Start {
    /// A file with its arguments, of which the first is its name.
    pub fn new(
        file: &Path,
        mut words: Vec<CString>,
        variables: Vec<CString>,
        libraries: &Libraries,
    ) -> Result<Start, StartError> {
        let mut file = file.to_owned();
        for _ in 0..DEEPEST {
            let name = || file.display().to_string();
            let wrong = |error| StartError::Unreadable(file.display().to_string(), error);
            if let Some(elf) = Elf::read(&file).map_err(wrong)? {
                let linker = elf.interpreter().ok_or_else(|| StartError::Static(name()))?;
                let ours = of_mpi(&elf, &libraries.folder);
                return Ok(Start {
                    words: command(&linker, libraries, ours, &file, words, &variables),
                    linker: path(&linker),
                    variables,
                });
            }
            let bytes = fs::read(&file).map_err(wrong)?;
            let Some(interpreter) = elf::script(&bytes) else { break };
            let script = CString::new(file.as_os_str().as_bytes()).unwrap_or_default();
            words.splice(..words.len().min(1), interpreter.into_iter().chain([script]));
            file = path(&words[0]);
        }
        Err(StartError::NotAProgram(file.display().to_string()))
    }

    /// The same with further variables, which take the place of those with their names.
    pub fn with(&self, further: Vec<CString>) -> Start {
        let name = |text: &CString| text.to_bytes().split(|&byte| byte == b'=').next().map(<[u8]>::to_vec);
        let names: Vec<_> = further.iter().map(name).collect();
        let others = self.variables.iter().filter(|text| !names.contains(&name(text))).cloned();
        Start { variables: others.chain(further).collect(), ..self.clone() }
    }
}

fn path(text: &CStr) -> PathBuf {
    OsStr::from_bytes(text.to_bytes()).into()
}

/// Our library for the MPI library that a program names: it must come before those that the program also names and that use it.
fn of_mpi(program: &Elf, folder: &Path) -> Option<PathBuf> {
    let main = |name: String| crate::abi::Library::of_needed(&name).map(super::names::main);
    program.needed().into_iter().find_map(main).map(|name| folder.join(name))
}

/// What the dynamic linker is told.
fn command(
    linker: &CStr,
    libraries: &Libraries,
    ours: Option<PathBuf>,
    file: &Path,
    words: Vec<CString>,
    variables: &[CString],
) -> Vec<CString> {
    let mut folders = libraries.folder.clone().into_os_string();
    let others = variables.iter().find_map(|text| text.to_bytes().strip_prefix(b"LD_LIBRARY_PATH="));
    if let Some(others) = others.filter(|others| !others.is_empty()) {
        folders.push(":");
        folders.push(OsStr::from_bytes(others));
    }
    let mut before = libraries.always.clone().into_os_string();
    if let Some(ours) = ours {
        before.push(":");
        before.push(ours);
    }
    let text = |text: std::ffi::OsString| CString::new(text.into_vec()).unwrap_or_default();
    let mut command =
        vec![linker.to_owned(), c"--library-path".into(), text(folders), c"--preload".into(), text(before)];
    if let Some(name) = words.first().filter(|_| knows_argv0()) {
        command.extend([c"--argv0".into(), name.clone()]);
    }
    command.push(text(file.as_os_str().to_owned()));
    command.extend(words.into_iter().skip(1));
    command
}

/// The environment of this process, as execve takes it.
pub fn variables() -> Vec<CString> {
    let text = |(name, value): (std::ffi::OsString, std::ffi::OsString)| {
        let mut text = name.into_vec();
        text.push(b'=');
        text.extend(value.into_vec());
        CString::new(text).ok()
    };
    std::env::vars_os().filter_map(text).collect()
}

/// The dynamic linker has an option for the program's own name since glibc 2.33.
fn knows_argv0() -> bool {
    // SAFETY: gives a text that stays.
    let version = unsafe { CStr::from_ptr(libc::gnu_get_libc_version()) }.to_string_lossy();
    let numbers: Vec<u32> = version.split('.').map_while(|number| number.parse().ok()).collect();
    numbers >= vec![2, 33]
}

/// Becomes the program. The stack of the program begins below `stack`.
///
/// # Safety
/// To be called in a process whose stack is not needed any more.
pub unsafe fn enter(start: &Start, stack: usize) -> io::Result<std::convert::Infallible> {
    let elf = Elf::read(&start.linker)?.ok_or_else(|| io::Error::from(io::ErrorKind::InvalidData))?;
    let base = map(&elf, &start.linker)?;
    let (content, begin) = first_stack(start, &elf, base, stack)?;
    let entry = base + elf.entry;
    // SAFETY: the stack below is free, and nothing is needed of what is on it; the content lives elsewhere.
    unsafe {
        asm!(
            "rep movsb",
            "mov rsp, rax",
            "xor edx, edx",
            "xor ebp, ebp",
            "jmp r8",
            in("rcx") content.len(),
            in("rsi") content.as_ptr(),
            in("rdi") begin,
            in("rax") begin,
            in("r8") entry,
            options(noreturn)
        )
    }
}

/// Maps the dynamic linker; gives where.
fn map(elf: &Elf, path: &Path) -> io::Result<usize> {
    let file = fs::File::open(path)?;
    let end = elf.loaded().map(|segment| segment.address + segment.size).max().unwrap_or_default();
    let checked = |address: *mut libc::c_void| match address {
        libc::MAP_FAILED => Err(io::Error::last_os_error()),
        address => Ok(address as usize),
    };
    let private = libc::MAP_PRIVATE;
    // SAFETY: a new range, in which the parts of the file are mapped where they belong.
    unsafe {
        let flags = private | libc::MAP_ANONYMOUS;
        let base = checked(libc::mmap(std::ptr::null_mut(), end, libc::PROT_NONE, flags, -1, 0))?;
        for segment in elf.loaded() {
            let begin = base + segment.address / PAGE * PAGE;
            let before = segment.address % PAGE;
            let filled = base + segment.address + segment.filled;
            let (flag, rights) = (libc::MAP_FIXED, rights(segment.rights));
            let offset = (segment.offset - before) as i64;
            let length = before + segment.filled;
            checked(libc::mmap(begin as *mut _, length, rights, private | flag, file.as_raw_fd(), offset))?;
            if segment.size > segment.filled {
                let page = filled.next_multiple_of(PAGE);
                (filled as *mut u8).write_bytes(0, page - filled);
                let rest = (base + segment.address + segment.size).saturating_sub(page);
                if rest > 0 {
                    checked(libc::mmap(page as *mut _, rest, rights, flags | flag, -1, 0))?;
                }
            }
        }
        Ok(base)
    }
}

fn rights(rights: u32) -> i32 {
    let pairs = [(4, libc::PROT_READ), (2, libc::PROT_WRITE), (1, libc::PROT_EXEC)];
    pairs.iter().filter(|(bit, _)| rights & bit != 0).map(|(_, right)| right).sum()
}

/// What a program finds on its stack (System V ABI, x86-64 supplement, 3.4.1), and where that begins.
fn first_stack(start: &Start, elf: &Elf, base: usize, stack: usize) -> io::Result<(Vec<u8>, usize)> {
    let texts = || start.words.iter().chain(&start.variables);
    let length: usize = texts().map(|text| text.as_bytes_with_nul().len()).sum();
    let first_text = stack - length;
    let own = fs::read("/proc/self/auxv")?;
    let own = own.chunks_exact(16).map(|pair| {
        let word = |at: usize| usize::from_le_bytes(pair[at..at + 8].try_into().unwrap_or_default());
        (word(0), word(8))
    });
    let mut words = vec![start.words.len()];
    let mut text = first_text;
    for list in [&start.words, &start.variables] {
        for one in list {
            words.push(text);
            text += one.as_bytes_with_nul().len();
        }
        words.push(0);
    }
    for (kind, value) in own {
        words.push(kind);
        words.push(match kind as u64 {
            libc::AT_PHDR => base + elf.headers.0,
            libc::AT_PHNUM => elf.headers.1,
            libc::AT_BASE => 0,
            libc::AT_ENTRY => base + elf.entry,
            libc::AT_EXECFN => first_text,
            _ => value,
        });
    }
    let begin = (first_text - words.len() * 8) & !15;
    let mut content: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    content.resize(first_text - begin, 0);
    content.extend(texts().flat_map(|text| text.as_bytes_with_nul()));
    Ok((content, begin))
}
