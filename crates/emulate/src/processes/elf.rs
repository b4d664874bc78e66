//! What has to be known of a program to start it: its segments, its dynamic linker, the libraries that it names.

use std::ffi::{CString, OsStr};
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

const LOAD: u32 = 1;
const DYNAMIC: u32 = 2;
const INTERPRETER: u32 = 3;

/// A part of the file.
#[derive(Clone, Copy)]
pub struct Segment {
    kind: u32,
    /// May be executed, written, read: 1, 2, 4.
    pub rights: u32,
    /// Where it is in the file.
    pub offset: usize,
    /// Where it is in memory.
    pub address: usize,
    /// Bytes in the file.
    pub filled: usize,
    /// Bytes in memory.
    pub size: usize,
}

/// A program or a library.
pub struct Elf {
    bytes: Vec<u8>,
    segments: Vec<Segment>,
    /// Where it begins.
    pub entry: usize,
    /// Where its program headers are in the file, and how many.
    pub headers: (usize, usize),
}

impl Elf {
    /// Reads a file; none if it is something else than an ELF file for x86-64.
    pub fn read(path: &Path) -> io::Result<Option<Elf>> {
        Ok(Elf::parse(fs::read(path)?))
    }

    fn parse(bytes: Vec<u8>) -> Option<Elf> {
        if !bytes.starts_with(&[0x7F, b'E', b'L', b'F', 2, 1]) || half(&bytes, 18)? != 62 {
            return None;
        }
        let headers = (word(&bytes, 32)?, half(&bytes, 56)?);
        let mut segments = Vec::new();
        for number in 0..headers.1 {
            let at = headers.0.checked_add(number * 56)?;
            segments.push(Segment {
                kind: number32(&bytes, at)?,
                rights: number32(&bytes, at + 4)?,
                offset: word(&bytes, at + 8)?,
                address: word(&bytes, at + 16)?,
                filled: word(&bytes, at + 32)?,
                size: word(&bytes, at + 40)?,
            });
        }
        let entry = word(&bytes, 24)?;
        Some(Elf { bytes, segments, entry, headers })
    }

    /// What is loaded, by address.
    pub fn loaded(&self) -> impl Iterator<Item = &Segment> {
        self.segments.iter().filter(|segment| segment.kind == LOAD)
    }

    /// The dynamic linker that it asks for.
    pub fn interpreter(&self) -> Option<CString> {
        let segment = self.segments.iter().find(|segment| segment.kind == INTERPRETER)?;
        text(&self.bytes, segment.offset)
    }

    /// Names of the libraries that it needs itself.
    pub fn needed(&self) -> Vec<String> {
        const NEEDED: usize = 1;
        self.names(NEEDED)
    }

    /// The name of a library by which others need it.
    pub fn soname(&self) -> Option<String> {
        const SONAME: usize = 14;
        self.names(SONAME).pop()
    }

    /// Texts with that mark in the dynamic section.
    fn names(&self, mark: usize) -> Vec<String> {
        let Some(dynamic) = self.segments.iter().find(|segment| segment.kind == DYNAMIC) else { return Vec::new() };
        let entry = |number: usize| {
            let at = dynamic.offset.checked_add(number * 16)?;
            let (tag, value) = (word(&self.bytes, at)?, word(&self.bytes, at + 8)?);
            (tag != 0 && number < dynamic.filled / 16).then_some((tag, value))
        };
        let entries: Vec<(usize, usize)> = (0..).map_while(entry).collect();
        let Some(&(_, names)) = entries.iter().find(|(tag, _)| *tag == 5) else { return Vec::new() };
        let name = |&(tag, place): &(usize, usize)| {
            let place = self.place(names)?.checked_add(place)?;
            let name = text(&self.bytes, place).filter(|_| tag == mark)?;
            Some(name.to_string_lossy().into_owned())
        };
        entries.iter().filter_map(name).collect()
    }

    /// Names of symbols that others must have.
    pub fn undefined(&self) -> Vec<String> {
        const DYNAMIC_SYMBOLS: u32 = 11;
        let section = |number: usize| {
            let (first, size) = (word(&self.bytes, 40)?, half(&self.bytes, 58)?);
            first.checked_add(number.checked_mul(size)?)
        };
        let count = half(&self.bytes, 60).unwrap_or_default();
        let is_table = |at: &usize| at.checked_add(4).and_then(|at| number32(&self.bytes, at)) == Some(DYNAMIC_SYMBOLS);
        let Some(at) = (0..count).filter_map(section).find(is_table) else { return Vec::new() };
        let table = || {
            let (begin, size) = (word(&self.bytes, at.checked_add(24)?)?, word(&self.bytes, at.checked_add(32)?)?);
            let names = section(number32(&self.bytes, at.checked_add(40)?)? as usize)?;
            Some((self.bytes.get(begin..begin.checked_add(size)?)?, word(&self.bytes, names.checked_add(24)?)?))
        };
        let Some((table, names)) = table() else { return Vec::new() };
        let undefined = |symbol: &[u8]| {
            let place = names.checked_add(number32(symbol, 0)? as usize)?;
            let name = text(&self.bytes, place).filter(|_| half(symbol, 6) == Some(0))?;
            Some(name.to_string_lossy().into_owned())
        };
        table.chunks_exact(24).skip(1).filter_map(undefined).collect()
    }

    /// Where an address is in the file.
    fn place(&self, address: usize) -> Option<usize> {
        let holds = |segment: &&Segment| address.checked_sub(segment.address).is_some_and(|at| at < segment.filled);
        self.loaded().find(holds).and_then(|segment| segment.offset.checked_add(address - segment.address))
    }
}

fn word(bytes: &[u8], at: usize) -> Option<usize> {
    Some(usize::from_le_bytes(bytes.get(at..at.checked_add(8)?)?.try_into().ok()?))
}

fn number32(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes.get(at..at.checked_add(4)?)?.try_into().ok()?))
}

fn half(bytes: &[u8], at: usize) -> Option<usize> {
    Some(u16::from_le_bytes(bytes.get(at..at.checked_add(2)?)?.try_into().ok()?).into())
}

fn text(bytes: &[u8], at: usize) -> Option<CString> {
    let rest = bytes.get(at..)?;
    let end = rest.iter().position(|&byte| byte == 0)?;
    CString::new(&rest[..end]).ok()
}

/// The interpreter that a script names in its first line, and its argument.
pub fn script(bytes: &[u8]) -> Option<Vec<CString>> {
    let line = bytes.strip_prefix(b"#!")?.split(|&byte| byte == b'\n').next()?;
    let line = line.trim_ascii();
    let (interpreter, argument) = match line.iter().position(|byte| byte.is_ascii_whitespace()) {
        Some(place) => (&line[..place], line[place..].trim_ascii()),
        None => (line, &line[..0]),
    };
    let words = [interpreter, argument].into_iter().filter(|word| !word.is_empty());
    words.map(CString::new).collect::<Result<Vec<_>, _>>().ok().filter(|words| !words.is_empty())
}

/// The file of a command: as shells look for it.
pub fn find(command: &OsStr) -> Option<std::path::PathBuf> {
    if command.as_bytes().contains(&b'/') {
        return Some(command.into());
    }
    let folders = std::env::var_os("PATH")?;
    let files = std::env::split_paths(&folders).map(|folder| folder.join(command));
    files.into_iter().find(|path| is_executable(path))
}

/// Whether this user may execute it.
pub fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    fs::metadata(path).is_ok_and(|data| data.is_file() && data.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_program_needs_a_c_library() {
        let elf = Elf::read(&std::env::current_exe().unwrap()).unwrap().unwrap();
        assert!(elf.interpreter().is_some());
        assert!(elf.needed().iter().any(|name| name.starts_with("libc.so")), "{:?}", elf.needed());
        assert!(elf.undefined().iter().any(|name| name == "write"));
    }

    #[test]
    fn scripts_name_their_interpreters() {
        let words = |text: &str| script(text.as_bytes());
        assert_eq!(words("#!/bin/sh\nexit"), Some(vec![c"/bin/sh".into()]));
        assert_eq!(
            words("#! /usr/bin/env -S python3 -u \n"),
            Some(vec![c"/usr/bin/env".into(), c"-S python3 -u".into()])
        );
        assert_eq!(words("#!\n"), None);
        assert_eq!(words("MZ"), None);
    }

    proptest::proptest! {
        #[test]
        fn no_file_is_too_strange(mut bytes: Vec<u8>) {
            bytes.splice(0..0, [0x7F, b'E', b'L', b'F', 2, 1]);
            if bytes.len() > 19 {
                bytes[18..20].copy_from_slice(&[62, 0]);
            }
            if let Some(elf) = Elf::parse(bytes) {
                let _ = (elf.interpreter(), elf.needed(), elf.soname(), elf.undefined());
            }
        }
    }
}
