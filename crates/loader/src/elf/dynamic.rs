//! The dynamic section: what a file tells the dynamic linker.

use object::LittleEndian as LE;
use object::elf::{self, Dyn64, ProgramHeader64, Rela64, Sym64};

use super::{ADDRESSES, Calls, Elf, Problem, Relocation, Symbol, all, text, wrong};

impl Elf {
    pub(super) fn read_dynamic(&mut self, programs: &[ProgramHeader64<LE>]) -> Result<(), Problem> {
        let Some(header) = programs.iter().find(|one| one.p_type.get(LE) == elf::PT_DYNAMIC) else {
            return Err(Problem::Static);
        };
        let size = header.p_filesz.get(LE) / size_of::<Dyn64<LE>>() as u64 * size_of::<Dyn64<LE>>() as u64;
        let place = self.at(header.p_vaddr.get(LE), size, "dynamic entries")?;
        let entries: Vec<(i64, u64)> = all::<Dyn64<LE>>(&self.bytes()[place])?
            .iter()
            .map(|entry| (entry.d_tag.get(LE).0, entry.d_val.get(LE)))
            .take_while(|&(tag, _)| tag != elf::DT_NULL.0)
            .collect();
        // Sums of what is left cannot overflow.
        let value = |tag: elf::DynamicTag| {
            entries.iter().find(|one| one.0 == tag.0).map(|one| one.1).filter(|&value| value < ADDRESSES)
        };
        let sized = |start, size| (value(start).unwrap_or(0), value(size).unwrap_or(0));

        let (address, size) = sized(elf::DT_STRTAB, elf::DT_STRSZ);
        if size > 0 {
            self.names = self.at(address, size, "names")?;
        }
        let name = |place: u64| -> Result<String, Problem> {
            let name = u32::try_from(place).ok().and_then(|place| text(&self.bytes()[self.names.clone()], place));
            Ok(name.ok_or_else(|| wrong("a name lies outside of its table"))?.to_string())
        };
        let needed = entries.iter().filter(|one| one.0 == elf::DT_NEEDED.0).map(|one| name(one.1));
        let needed = needed.collect::<Result<Vec<_>, _>>()?;
        let one = |tag| value(tag).map(name).transpose();
        let (soname, rpath, runpath) = (one(elf::DT_SONAME)?, one(elf::DT_RPATH)?, one(elf::DT_RUNPATH)?);

        let flags = value(elf::DT_FLAGS).unwrap_or(0);
        self.is_symbolic = flags & elf::DF_SYMBOLIC.0 != 0 || value(elf::DT_SYMBOLIC).is_some();
        self.is_static_tls = flags & elf::DF_STATIC_TLS.0 != 0 || self.is_program;
        if !self.is_program && value(elf::DT_FLAGS_1).unwrap_or(0) & elf::DF_1_PIE.0 != 0 {
            return Err(Problem::Static);
        }
        (self.needed, self.soname, self.rpath, self.runpath) = (needed, soname, rpath, runpath);

        let word = size_of::<u64>() as u64;
        let calls = |single: Option<u64>, (address, size): (u64, u64)| -> Result<Calls, Problem> {
            let count = size / word;
            if single.is_some_and(|address| !self.is_loaded(address, 1))
                || (count > 0 && !self.is_loaded(address, size))
            {
                return Err(wrong("functions to be called first or last lie outside of what is loaded"));
            }
            Ok(Calls { single: single.filter(|&address| address != 0), array: (address, count) })
        };
        let before = calls(None, sized(elf::DT_PREINIT_ARRAY, elf::DT_PREINIT_ARRAYSZ))?;
        let initialise = calls(value(elf::DT_INIT), sized(elf::DT_INIT_ARRAY, elf::DT_INIT_ARRAYSZ))?;
        let finish = calls(value(elf::DT_FINI), sized(elf::DT_FINI_ARRAY, elf::DT_FINI_ARRAYSZ))?;
        (self.before, self.initialise, self.finish) = (before, initialise, finish);

        let (address, size) = sized(elf::DT_RELA, elf::DT_RELASZ);
        self.read_relocations(address, size)?;
        let (address, size) = sized(elf::DT_JMPREL, elf::DT_PLTRELSZ);
        self.read_relocations(address, size)?;
        if value(elf::DT_REL).is_some() {
            return Err(wrong("it has relocations without addends"));
        }
        let (address, size) = sized(elf::DT_RELR, elf::DT_RELRSZ);
        self.read_packed(address, size)?;
        if let Some(symbols) = value(elf::DT_SYMTAB) {
            let count = self.count_symbols(value(elf::DT_GNU_HASH), value(elf::DT_HASH))?;
            self.read_symbols(symbols, count)?;
            self.read_versions(
                value(elf::DT_VERSYM),
                value(elf::DT_VERDEF).zip(value(elf::DT_VERDEFNUM)),
                value(elf::DT_VERNEED).zip(value(elf::DT_VERNEEDNUM)),
            )?;
        }
        if self.relocations.iter().any(|one| one.symbol as usize >= self.symbols.len() && one.symbol != 0) {
            return Err(wrong("a relocation names a symbol that is not there"));
        }
        // Older linkers leave the flag out.
        self.is_static_tls |= self.relocations.iter().any(|one| one.kind == elf::R_X86_64_TPOFF64.0);
        Ok(())
    }

    fn read_relocations(&mut self, address: u64, size: u64) -> Result<(), Problem> {
        if size == 0 {
            return Ok(());
        }
        let entry = size_of::<Rela64<LE>>() as u64;
        let place = self.at(address, size / entry * entry, "relocations")?;
        let read = all::<Rela64<LE>>(&self.bytes()[place])?.iter().map(|one| {
            let info = one.r_info.get(LE);
            let (symbol, kind) = ((info >> 32) as u32, info as u32);
            Relocation { address: one.r_offset.get(LE), kind, symbol, addend: one.r_addend.get(LE) as u64 }
        });
        self.relocations.extend(read.collect::<Vec<_>>());
        Ok(())
    }

    /// `DT_RELR`: an address, then bits for the 63 words after the last one.
    fn read_packed(&mut self, address: u64, size: u64) -> Result<(), Problem> {
        if size == 0 {
            return Ok(());
        }
        let place = self.at(address, size / 8 * 8, "packed relocations")?;
        let mut next = 0u64;
        let mut relative = Vec::new();
        for entry in self.bytes()[place].chunks_exact(8) {
            let entry = u64::from_le_bytes(entry.try_into().expect("chunks have this size"));
            if entry & 1 == 0 {
                relative.push(entry);
                next = entry.wrapping_add(8);
            } else {
                let bits = (0..63).filter(|bit| entry >> (bit + 1) & 1 == 1);
                relative.extend(bits.map(|bit| next.wrapping_add(bit * 8)));
                next = next.wrapping_add(63 * 8);
            }
        }
        self.relative = relative;
        Ok(())
    }

    pub(super) fn word(&self, address: u64) -> Result<u32, Problem> {
        let place = self.at(address, 4, "tables of symbols")?;
        Ok(u32::from_le_bytes(self.bytes()[place].try_into().expect("four bytes")))
    }

    /// The number of symbols is not written anywhere; the hash tables tell.
    fn count_symbols(&self, gnu: Option<u64>, old: Option<u64>) -> Result<u64, Problem> {
        let named = self.relocations.iter().map(|one| u64::from(one.symbol) + 1).max().unwrap_or(1);
        if let Some(old) = old {
            return Ok(u64::from(self.word(old + 4)?));
        }
        let Some(gnu) = gnu else { return Ok(named) };
        let (buckets, first, bloom) = (self.word(gnu)?, self.word(gnu + 4)?, self.word(gnu + 8)?);
        let table = gnu + 16 + u64::from(bloom) * 8;
        let mut last = 0;
        for bucket in 0..u64::from(buckets) {
            last = last.max(self.word(table + bucket * 4)?);
        }
        if last < first {
            return Ok(named.max(u64::from(first)));
        }
        let chains = table + u64::from(buckets) * 4;
        while self.word(chains + u64::from(last - first) * 4)? & 1 == 0 {
            last = last.checked_add(1).ok_or_else(|| wrong("its table of symbols has no end"))?;
        }
        Ok(named.max(u64::from(last) + 1))
    }

    fn read_symbols(&mut self, address: u64, count: u64) -> Result<(), Problem> {
        let size = count.checked_mul(size_of::<Sym64<LE>>() as u64).ok_or_else(|| wrong("it has too many symbols"))?;
        let place = self.at(address, size, "symbols")?;
        self.symbols = all::<Sym64<LE>>(&self.bytes()[place])?.iter().map(Symbol::from).collect();
        Ok(())
    }
}
