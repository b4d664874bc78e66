//! Shared libraries that take the place of an MPI library in the process of a rank: names, and the addresses of our functions.
//!
//! They hold no code but a call that says where they are loaded. Their symbols are absolute addresses (SHN_ABS), which are the
//! same in all processes; a table tells which addresses the dynamic linker has found for the names in it, since the program may have its own
//! copies of a library's variables.

const ALIGN: usize = 4096;
const HEADER: usize = 64;
const PROGRAM_HEADER: usize = 56;
const SYMBOL: usize = 24;

/// A name and what it means.
pub struct Symbol {
    /// The name.
    pub name: String,
    /// Its address in all processes; 0 for what others define.
    pub address: usize,
    /// Bytes of a variable; 0 for functions.
    pub size: usize,
}

/// What a library consists of.
#[derive(Default)]
pub struct Library {
    /// Its name.
    pub soname: String,
    /// Libraries that it needs.
    pub needed: Vec<String>,
    /// Its symbols.
    pub symbols: Vec<Symbol>,
    /// Symbols, by their places, whose addresses go into the table.
    pub table: Vec<usize>,
    /// Code that is called when it is loaded, with the address of the table as first argument.
    pub on_load: Vec<u8>,
    /// Code that is called when the program exits.
    pub on_exit: Vec<u8>,
}

impl Library {
    /// The file.
    pub fn file(&self) -> Vec<u8> {
        let mut names = vec![0];
        let mut name = |text: &str| {
            let place = names.len();
            names.extend(text.bytes().chain([0]));
            place
        };
        let soname = name(&self.soname);
        let needed: Vec<usize> = self.needed.iter().map(|text| name(text)).collect();
        let mut symbols = vec![0; SYMBOL];
        for symbol in &self.symbols {
            symbols.extend(entry(symbol, name(&symbol.name)));
        }
        let hashes = self.hashes();
        // What is only read: headers, symbols, names, hashes, relocations, code.
        let at_symbols = HEADER + 4 * PROGRAM_HEADER;
        let at_names = at_symbols + symbols.len();
        let at_hashes = (at_names + names.len()).next_multiple_of(8);
        let at_relocations = (at_hashes + hashes.len()).next_multiple_of(8);
        let relocations = self.table.len() * 24 + 48;
        let at_load = (at_relocations + relocations).next_multiple_of(16);
        // lea rdi, [rip + table] comes first.
        let at_exit = (at_load + 7 + self.on_load.len()).next_multiple_of(16);
        let end = at_exit + self.on_exit.len();
        // What is written: the dynamic section, the functions to call, the table.
        let at_dynamic = end.next_multiple_of(ALIGN);
        let dynamic = (needed.len() + 14) * 16;
        let at_functions = at_dynamic + dynamic;
        let at_table = at_functions + 16;
        let whole = at_table + self.table.len() * 8;

        let mut file = vec![0; whole];
        let mut put = |place: usize, bytes: &[u8]| file[place..place + bytes.len()].copy_from_slice(bytes);
        put(0, &header());
        put(HEADER, &program_header(1, 5, 0, end, ALIGN));
        put(HEADER + PROGRAM_HEADER, &program_header(1, 6, at_dynamic, whole - at_dynamic, ALIGN));
        put(HEADER + 2 * PROGRAM_HEADER, &program_header(2, 6, at_dynamic, dynamic, 8));
        // The stack need not be executable.
        put(HEADER + 3 * PROGRAM_HEADER, &program_header(0x6474_E551, 6, 0, 0, 16));
        put(at_symbols, &symbols);
        put(at_names, &names);
        put(at_hashes, &hashes);
        let mut all = Vec::new();
        for (place, code) in [(0, at_load), (8, at_exit)] {
            all.extend(words(&[at_functions + place, RELATIVE, code]));
        }
        for (place, symbol) in self.table.iter().enumerate() {
            all.extend(words(&[at_table + 8 * place, (symbol + 1) << 32 | GLOB_DAT, 0]));
        }
        put(at_relocations, &all);
        put(at_load, &[0x48, 0x8D, 0x3D]);
        put(at_load + 3, &((at_table - at_load - 7) as u32).to_le_bytes());
        put(at_load + 7, &self.on_load);
        put(at_exit, &self.on_exit);
        let mut entries: Vec<usize> = needed.iter().flat_map(|&name| [1, name]).collect();
        entries.extend([14, soname, 4, at_hashes, 5, at_names, 6, at_symbols, 10, names.len(), 11, SYMBOL]);
        entries.extend([7, at_relocations, 8, all.len(), 9, 24]);
        // DT_INIT_ARRAY and DT_FINI_ARRAY with one function each.
        entries.extend([25, at_functions, 27, 8, 26, at_functions + 8, 28, 8]);
        put(at_dynamic, &words(&entries));
        file
    }

    /// The table of hashes (System V ABI, chapter 5): buckets, and chains through the symbols.
    fn hashes(&self) -> Vec<u8> {
        let count = self.symbols.len() + 1;
        let mut buckets = vec![0u32; count];
        let mut chains = vec![0u32; count];
        for (symbol, number) in self.symbols.iter().zip(1u32..) {
            let bucket = hash(&symbol.name) as usize % count;
            chains[number as usize] = buckets[bucket];
            buckets[bucket] = number;
        }
        let numbers = [count as u32, count as u32].into_iter().chain(buckets).chain(chains);
        numbers.flat_map(u32::to_le_bytes).collect()
    }
}

const GLOB_DAT: usize = 6;
const RELATIVE: usize = 8;

fn words(words: &[usize]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// The ELF header of a shared library for x86-64, with four program headers behind it.
fn header() -> Vec<u8> {
    let mut bytes = vec![0x7F, b'E', b'L', b'F', 2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    bytes.extend([3, 0, 62, 0, 1, 0, 0, 0]);
    bytes.extend(words(&[0, HEADER, 0]));
    bytes.extend([0, 0, 0, 0, HEADER as u8, 0, PROGRAM_HEADER as u8, 0, 4, 0, 64, 0, 0, 0, 0, 0]);
    bytes
}

fn program_header(kind: u32, rights: u32, place: usize, size: usize, alignment: usize) -> Vec<u8> {
    let mut bytes = Vec::from(kind.to_le_bytes());
    bytes.extend(rights.to_le_bytes());
    bytes.extend(words(&[place, place, place, size, size, alignment]));
    bytes
}

fn entry(symbol: &Symbol, name: usize) -> Vec<u8> {
    const ABSOLUTE: u16 = 0xFFF1;
    const WEAK: u8 = 0x20;
    const FUNCTION: u8 = 0x12;
    const OBJECT: u8 = 0x11;
    let (info, section) = match symbol {
        Symbol { address: 0, .. } => (WEAK, 0),
        Symbol { size: 0, .. } => (FUNCTION, ABSOLUTE),
        _ => (OBJECT, ABSOLUTE),
    };
    let mut bytes = Vec::from((name as u32).to_le_bytes());
    bytes.extend([info, 0]);
    bytes.extend(section.to_le_bytes());
    bytes.extend(words(&[symbol.address, symbol.size]));
    bytes
}

fn hash(name: &str) -> u32 {
    name.bytes().fold(0u32, |hash, byte| {
        let hash = (hash << 4).wrapping_add(u32::from(byte));
        let high = hash & 0xF000_0000;
        (hash ^ high >> 24) & !high
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_those_of_the_system_v_abi() {
        // Values of glibc's own `_dl_elf_hash`.
        assert_eq!(hash(""), 0);
        assert_eq!(hash("printf"), 0x077905a6);
        assert_eq!(hash("exit"), 0x0006cf04);
    }

    /// The dynamic linker of this computer takes the file, and finds what is in it.
    #[test]
    fn the_dynamic_linker_finds_the_symbols() {
        use std::io::Write;
        static TABLE: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);
        extern "C" fn loaded(table: usize) {
            TABLE.store(table, std::sync::atomic::Ordering::SeqCst);
        }
        let jump = |address: usize| {
            let mut code = vec![0x48, 0xB8];
            code.extend(address.to_le_bytes());
            code.extend([0xFF, 0xE0]);
            code
        };
        let symbol = |name: &str, address, size| Symbol { name: name.to_owned(), address, size };
        let library = Library {
            soname: "libhpcast-test.so".to_owned(),
            symbols: vec![symbol("one", 0x1000, 0), symbol("two", 0x2000, 8), symbol("getpid", 0, 0)],
            table: vec![1, 2],
            on_load: jump(loaded as *const () as usize),
            on_exit: vec![0xC3],
            ..Library::default()
        };
        let path = std::env::temp_dir().join(format!("hpcast-library-{}.so", std::process::id()));
        std::fs::File::create(&path).unwrap().write_all(&library.file()).unwrap();
        let name = std::ffi::CString::new(path.to_str().unwrap()).unwrap();
        // SAFETY: the library was made for that.
        unsafe {
            let handle = libc::dlopen(name.as_ptr(), libc::RTLD_NOW);
            assert!(!handle.is_null(), "{:?}", std::ffi::CStr::from_ptr(libc::dlerror()));
            assert_eq!(libc::dlsym(handle, c"one".as_ptr()) as usize, 0x1000);
            assert_eq!(libc::dlsym(handle, c"two".as_ptr()) as usize, 0x2000);
            let table = TABLE.load(std::sync::atomic::Ordering::SeqCst) as *const usize;
            assert_eq!(*table, 0x2000);
            assert_eq!(*table.add(1), libc::dlsym(libc::RTLD_DEFAULT, c"getpid".as_ptr()) as usize);
        }
        std::fs::remove_file(&path).unwrap();
    }
}
