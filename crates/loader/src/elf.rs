//! What an ELF file says, for those who load it. Every read is checked: the file is foreign input.

mod dynamic;
mod symbol;
mod versions;

use std::ops::Range;

use object::LittleEndian as LE;
use object::elf::{self, FileHeader64, ProgramHeader64, SectionHeader64, Sym64};
use object::pod::{from_bytes, slice_from_bytes};

pub use symbol::Symbol;

use crate::error::LoadError;

/// Size of a page of memory on x86-64.
pub const PAGE: u64 = 4096;
/// User space ends here; addresses beyond it in a file are nonsense, and sums of a few below it cannot overflow.
const ADDRESSES: u64 = 1 << 47;

/// A file in memory.
pub type Bytes = Box<dyn AsRef<[u8]> + Send + Sync>;

/// A part of the file that is loaded.
#[derive(Clone, Debug)]
pub struct Segment {
    /// Where it is loaded, from the beginning of the object.
    pub address: u64,
    /// Bytes in memory.
    pub size: u64,
    /// Where it is in the file; what is missing to the size in memory is zero.
    pub file: Range<usize>,
    /// May be written to.
    pub writable: bool,
    /// May be executed.
    pub executable: bool,
}

impl Segment {
    /// Whether it contains these addresses.
    fn has(&self, addresses: &Range<u64>) -> bool {
        self.address <= addresses.start && addresses.end <= self.address + self.size
    }
}

/// Thread-local data: its first values, and its size.
#[derive(Clone, Copy, Debug)]
pub struct ThreadLocal {
    /// Where its first values are.
    pub address: u64,
    /// How many bytes have values; the others are zero.
    pub filled: u64,
    /// Bytes in all.
    pub size: u64,
    /// A power of two.
    pub align: u64,
}

/// Something to write when the addresses are known.
#[derive(Clone, Copy, Debug)]
pub struct Relocation {
    /// Where to write.
    pub address: u64,
    /// `R_X86_64_*`.
    pub kind: u32,
    /// Number of a symbol; 0 for none.
    pub symbol: u32,
    /// To be added.
    pub addend: u64,
}

/// Functions to be called at the beginning or at the end.
#[derive(Clone, Copy, Debug, Default)]
pub struct Calls {
    /// `DT_INIT` or `DT_FINI`.
    pub single: Option<u64>,
    /// Address of a table of functions, and how many it has.
    pub array: (u64, u64),
}

/// An object: a program or a library.
pub struct Elf {
    /// Name of the file, for errors.
    pub file: String,
    /// The file.
    bytes: Bytes,
    /// Asks for a dynamic linker, as programs do.
    pub is_program: bool,
    /// Where the program begins.
    pub entry: u64,
    /// What is loaded, by address.
    pub segments: Vec<Segment>,
    /// What the object needs its first address to be a multiple of.
    pub align: u64,
    /// The program headers as they are in the file.
    pub headers: Range<usize>,
    /// Thread-local data.
    pub thread_local: Option<ThreadLocal>,
    /// Code reaches thread-local data by fixed distances from the thread pointer.
    pub is_static_tls: bool,
    /// `PT_GNU_EH_FRAME`: how to unwind the stack.
    pub unwinding: Option<u64>,
    /// The name that others know it by.
    pub soname: Option<String>,
    /// Libraries that it needs.
    pub needed: Vec<String>,
    /// `DT_RPATH`.
    pub rpath: Option<String>,
    /// `DT_RUNPATH`.
    pub runpath: Option<String>,
    /// Prefers its own symbols.
    pub is_symbolic: bool,
    /// Dynamic symbols; the first is none.
    pub symbols: Vec<Symbol>,
    names: Range<usize>,
    /// All symbols, where the file has not been stripped.
    full: Option<(Range<usize>, Range<usize>)>,
    /// Addresses of the stubs through which functions of other objects are called, where the file has sections.
    pub stubs: Vec<Range<u64>>,
    /// What is to be written.
    pub relocations: Vec<Relocation>,
    /// Words to which the object's address is to be added (`DT_RELR`).
    pub relative: Vec<u64>,
    /// `DT_PREINIT_ARRAY`.
    pub before: Calls,
    /// Functions to be called first.
    pub initialise: Calls,
    /// Functions to be called last.
    pub finish: Calls,
}

/// What goes wrong with a file whose name is known by the caller.
fn wrong(problem: impl Into<String>) -> Problem {
    Problem::Malformed(problem.into())
}

/// The interpreter of a script (execve(2)).
fn script(data: &[u8]) -> Option<String> {
    let line = data.strip_prefix(b"#!")?.split(|&byte| byte == b'\n').next()?;
    let line = line.get(..line.len().min(100))?;
    Some(String::from_utf8_lossy(line).split_whitespace().next()?.to_owned())
}

/// What people call a machine.
fn machine_name(machine: u16) -> String {
    let known =
        [(elf::EM_AARCH64, "AArch64"), (elf::EM_PPC64, "POWER"), (elf::EM_RISCV, "RISC-V"), (elf::EM_386, "i386")];
    let name = known.iter().find(|(number, _)| number.0 == machine).map(|(_, name)| format!("{name}, "));
    format!("{}machine {machine}", name.unwrap_or_default())
}

/// What can be wrong with a file.
enum Problem {
    NotElf,
    Script(String),
    OtherArchitecture(String),
    NotPositionIndependent,
    Static,
    NotAProgram,
    Malformed(String),
}

impl Problem {
    fn of(self, file: &str) -> LoadError {
        let file = file.to_string();
        match self {
            Self::NotElf => LoadError::NotElf { file },
            Self::Script(interpreter) => LoadError::Script { file, interpreter },
            Self::OtherArchitecture(machine) => LoadError::OtherArchitecture { file, machine },
            Self::NotPositionIndependent => LoadError::NotPositionIndependent { file },
            Self::Static => LoadError::Static { file },
            Self::NotAProgram => LoadError::NotAProgram { file },
            Self::Malformed(problem) => LoadError::Malformed { file, problem },
        }
    }
}

impl Elf {
    /// Reads a program or a library.
    pub fn parse(file: &str, bytes: Bytes) -> Result<Self, LoadError> {
        Self::read(file, bytes).map_err(|problem| problem.of(file))
    }

    fn read(file: &str, bytes: Bytes) -> Result<Self, Problem> {
        let data = (*bytes).as_ref();
        if data.get(..4) != Some(&elf::ELFMAG) {
            return Err(script(data).map_or(Problem::NotElf, Problem::Script));
        }
        if data.get(4) != Some(&elf::ELFCLASS64.0) {
            return Err(Problem::OtherArchitecture("it is a 32-bit program".into()));
        }
        if data.get(5) != Some(&elf::ELFDATA2LSB.0) {
            return Err(Problem::OtherArchitecture("it is big-endian".into()));
        }
        let header = from_bytes::<FileHeader64<LE>>(data);
        let header = *header.map_err(|()| wrong("its header is cut off"))?.0;
        let machine = header.e_machine.get(LE).0;
        if machine != elf::EM_X86_64.0 {
            return Err(Problem::OtherArchitecture(machine_name(machine)));
        }
        let headers = table(
            data,
            header.e_phoff.get(LE),
            u64::from(header.e_phnum.get(LE)),
            size_of::<ProgramHeader64<LE>>(),
            "program headers",
        )?;
        let programs = all::<ProgramHeader64<LE>>(&data[headers.clone()])?.to_vec();
        let is_program = programs.iter().any(|one| one.p_type.get(LE) == elf::PT_INTERP);
        match header.e_type.get(LE) {
            elf::ET_DYN => {}
            elf::ET_EXEC if is_program => return Err(Problem::NotPositionIndependent),
            elf::ET_EXEC => return Err(Problem::Static),
            _ => return Err(Problem::NotAProgram),
        }

        let mut object = Elf {
            file: file.into(),
            is_program,
            entry: header.e_entry.get(LE),
            segments: segments(data, &programs)?,
            align: PAGE,
            headers,
            thread_local: None,
            is_static_tls: false,
            unwinding: None,
            soname: None,
            needed: Vec::new(),
            rpath: None,
            runpath: None,
            is_symbolic: false,
            symbols: Vec::new(),
            names: 0..0,
            full: None,
            stubs: Vec::new(),
            relocations: Vec::new(),
            relative: Vec::new(),
            before: Calls::default(),
            initialise: Calls::default(),
            finish: Calls::default(),
            bytes,
        };
        object.read_sections(&header, &programs)?;
        object.read_thread_local(&programs)?;
        object.read_dynamic(&programs)?;
        if is_program && !object.is_loaded(object.entry, 1) {
            return Err(wrong("it begins outside of what is loaded"));
        }
        Ok(object)
    }

    /// The file.
    pub fn bytes(&self) -> &[u8] {
        (*self.bytes).as_ref()
    }

    fn read_thread_local(&mut self, programs: &[ProgramHeader64<LE>]) -> Result<(), Problem> {
        let find = |kind| programs.iter().find(|one| one.p_type.get(LE) == kind);
        if let Some(header) = find(elf::PT_TLS) {
            let (size, filled) = (header.p_memsz.get(LE), header.p_filesz.get(LE));
            let (address, align) = (header.p_vaddr.get(LE), header.p_align.get(LE).max(1));
            let is_sound = size < ADDRESSES && filled <= size && align.is_power_of_two() && align <= 1 << 20;
            if !is_sound || (filled > 0 && !self.is_loaded(address, filled)) {
                return Err(wrong("its thread-local data makes no sense"));
            }
            self.thread_local = (size > 0).then_some(ThreadLocal { address, filled, size, align });
        }
        self.unwinding = find(elf::PT_GNU_EH_FRAME)
            .map(|header| header.p_vaddr.get(LE))
            .filter(|&address| self.is_loaded(address, 8));
        Ok(())
    }

    /// Sections are not needed to load a file; they tell names of functions, and how large the alignment must be.
    fn read_sections(&mut self, header: &FileHeader64<LE>, programs: &[ProgramHeader64<LE>]) -> Result<(), Problem> {
        let (start, count) = (header.e_shoff.get(LE), u64::from(header.e_shnum.get(LE)));
        let data = (*self.bytes).as_ref();
        let found = table(data, start, count, size_of::<SectionHeader64<LE>>(), "sections");
        let Some(sections) = found.ok().filter(|found| !found.is_empty()) else {
            // Stripped of its sections: what the segments ask for, which is often more than is needed.
            let loaded = programs.iter().filter(|one| one.p_type.get(LE) == elf::PT_LOAD);
            self.align = loaded.map(|one| one.p_align.get(LE)).fold(PAGE, u64::max);
            return self.check_align();
        };
        let sections: &[SectionHeader64<LE>] = all(&data[sections])?;
        let allocated = sections.iter().filter(|one| one.sh_flags.get(LE).0 & elf::SHF_ALLOC.0 != 0);
        self.align = allocated.map(|one| one.sh_addralign.get(LE)).fold(PAGE, u64::max);
        let place = |section: &SectionHeader64<LE>| {
            let start = usize::try_from(section.sh_offset.get(LE)).ok()?;
            let end = start.checked_add(usize::try_from(section.sh_size.get(LE)).ok()?)?;
            (end <= data.len()).then_some(start..end)
        };
        let full = sections.iter().find(|one| one.sh_type.get(LE) == elf::SHT_SYMTAB).and_then(|section| {
            let names = sections.get(section.sh_link.get(LE) as usize)?;
            let symbols = place(section)?;
            let whole = symbols.len() / size_of::<Sym64<LE>>() * size_of::<Sym64<LE>>();
            Some((symbols.start..symbols.start + whole, place(names)?))
        });
        let names =
            sections.get(usize::from(header.e_shstrndx.get(LE).0)).and_then(place).map_or(&[][..], |at| &data[at]);
        let is_stubs = |one: &&SectionHeader64<LE>| {
            text(names, one.sh_name.get(LE)).is_some_and(|name| [".plt", ".plt.sec", ".plt.got"].contains(&name))
        };
        let stubs = sections.iter().filter(is_stubs).filter_map(|one| {
            let start = one.sh_addr.get(LE);
            Some(start..start.checked_add(one.sh_size.get(LE))?)
        });
        let stubs: Vec<Range<u64>> = stubs.filter(|stubs| stubs.end < ADDRESSES).collect();
        (self.full, self.stubs) = (full, stubs);
        self.stubs.retain(|stubs| self.segments.iter().any(|one| one.executable && one.has(stubs)));
        self.check_align()
    }

    fn check_align(&self) -> Result<(), Problem> {
        if self.align.is_power_of_two() && self.align <= 1 << 30 {
            Ok(())
        } else {
            Err(wrong(format!("it asks for an alignment of {}", self.align)))
        }
    }

    /// Bytes of the file that are loaded at an address.
    fn at(&self, address: u64, size: u64, what: &str) -> Result<Range<usize>, Problem> {
        let segment = self.segments.iter().find(|one| address >= one.address && address < one.address + one.size);
        let outside = || wrong(format!("its {what} lie outside of what is loaded"));
        let segment = segment.ok_or_else(outside)?;
        let offset = address - segment.address;
        if offset.checked_add(size).is_none_or(|end| end > segment.file.len() as u64) {
            return Err(outside());
        }
        let start = segment.file.start + offset as usize;
        Ok(start..start + size as usize)
    }

    /// What can be executed, piece by piece.
    pub fn code(&self) -> impl Iterator<Item = &[u8]> {
        self.segments.iter().filter(|one| one.executable).map(|one| &self.bytes()[one.file.clone()])
    }

    /// What the file has for a range of places, where places are addresses and a bias; with the places where the parts begin.
    pub fn contents_in(&self, bias: u64, range: Range<u64>) -> impl Iterator<Item = (u64, &[u8])> {
        self.segments.iter().filter_map(move |segment| {
            let start = bias.wrapping_add(segment.address);
            let (from, to) = (start.max(range.start), (start + segment.file.len() as u64).min(range.end));
            let first = segment.file.start + (from - start) as usize;
            (from < to).then(|| (from, &self.bytes()[first..first + (to - from) as usize]))
        })
    }

    /// What the file has at an address; less than is asked for where it ends.
    pub fn contents(&self, address: u64, size: u64) -> &[u8] {
        let segment = self.segments.iter().find(|one| address >= one.address && address < one.address + one.size);
        let Some(segment) = segment else { return &[] };
        let bytes = &self.bytes()[segment.file.clone()];
        let start = bytes.len().min((address - segment.address) as usize);
        &bytes[start..start + (bytes.len() - start).min(size as usize)]
    }

    /// Whether so many bytes are loaded from an address on.
    pub fn is_loaded(&self, address: u64, size: u64) -> bool {
        self.segments.iter().any(|one| {
            address >= one.address && address.checked_add(size).is_some_and(|end| end <= one.address + one.size)
        })
    }

    /// Name of a dynamic symbol; names that are no text are empty.
    pub fn name(&self, symbol: &Symbol) -> &str {
        text(&self.bytes()[self.names.clone()], symbol.name).unwrap_or("")
    }

    /// Version of a dynamic symbol.
    pub fn version(&self, symbol: &Symbol) -> Option<&str> {
        symbol.version.and_then(|(name, _)| text(&self.bytes()[self.names.clone()], name))
    }

    /// All symbols with their names, also those that others cannot use; first those of the full table.
    pub fn all_symbols(&self) -> impl Iterator<Item = (&str, Symbol)> {
        let data = self.bytes();
        let full = self.full.as_ref().map_or((&[][..], &[][..]), |(symbols, names)| {
            (all::<Sym64<LE>>(&data[symbols.clone()]).unwrap_or(&[]), &data[names.clone()])
        });
        let named =
            full.0.iter().map(Symbol::from).map(move |symbol| (text(full.1, symbol.name).unwrap_or(""), symbol));
        named.chain(self.symbols.iter().map(|symbol| (self.name(symbol), *symbol)))
    }
}

/// Where a table of so many entries is in the file.
fn table(data: &[u8], start: u64, count: u64, entry: usize, what: &str) -> Result<Range<usize>, Problem> {
    let end = count.checked_mul(entry as u64).and_then(|size| size.checked_add(start));
    match end.filter(|&end| end <= data.len() as u64) {
        Some(end) => Ok(start as usize..end as usize),
        None => Err(wrong(format!("its {what} are cut off"))),
    }
}

/// The whole slice as entries.
fn all<T: object::pod::Pod>(data: &[u8]) -> Result<&[T], Problem> {
    match slice_from_bytes(data, data.len() / size_of::<T>()) {
        Ok((entries, _)) => Ok(entries),
        Err(()) => Err(wrong("a table lies at an odd place")),
    }
}

/// A text that ends with a zero byte.
fn text(names: &[u8], place: u32) -> Option<&str> {
    let rest = names.get(place as usize..)?;
    let end = rest.iter().position(|&byte| byte == 0)?;
    str::from_utf8(&rest[..end]).ok()
}

/// What is loaded, by address.
fn segments(data: &[u8], programs: &[ProgramHeader64<LE>]) -> Result<Vec<Segment>, Problem> {
    let mut segments: Vec<Segment> = Vec::new();
    for header in programs.iter().filter(|one| one.p_type.get(LE) == elf::PT_LOAD) {
        let (address, size) = (header.p_vaddr.get(LE), header.p_memsz.get(LE));
        let filled = header.p_filesz.get(LE);
        if size == 0 {
            continue;
        }
        let flags = header.p_flags.get(LE).0;
        let has = |flag: elf::ProgramFlags| flags & flag.0 != 0;
        let file = table(data, header.p_offset.get(LE), filled, 1, "contents")?;
        let follows = segments.last().is_none_or(|last| address >= last.address + last.size);
        if address >= ADDRESSES || size >= ADDRESSES || filled > size || !follows {
            return Err(wrong("its segments make no sense"));
        }
        if has(elf::PF_W) && has(elf::PF_X) {
            return Err(wrong("a segment is both writable and executable"));
        }
        segments.push(Segment { address, size, file, writable: has(elf::PF_W), executable: has(elf::PF_X) });
    }
    if segments.is_empty() {
        return Err(wrong("nothing in it is to be loaded"));
    }
    Ok(segments)
}
