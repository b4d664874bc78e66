//! Symbols: names for addresses.

use object::LittleEndian as LE;
use object::elf::{self, Sym64};

/// A name for an address.
#[derive(Clone, Copy, Debug)]
pub struct Symbol {
    /// Place of the name in its table.
    pub(super) name: u32,
    /// Address, or offset in the thread-local block.
    pub value: u64,
    /// Size in bytes.
    pub size: u64,
    /// `STT_*`.
    pub kind: u8,
    /// `STB_*`.
    pub binding: u8,
    /// Section, 0 for symbols that somebody else has.
    section: u16,
    /// Others may use it.
    is_visible: bool,
    /// The object itself always uses its own.
    is_protected: bool,
    /// Version: its name in the table of names, and whether it is the one to take by default.
    pub(super) version: Option<(u32, bool)>,
}

impl Symbol {
    /// The object has it; others may or may not use it.
    pub fn is_defined(&self) -> bool {
        self.section != elf::SHN_UNDEF.0
    }

    /// Others may use it.
    pub fn is_exported(&self) -> bool {
        self.is_defined() && self.is_visible && self.binding != elf::STB_LOCAL.0
    }

    /// The object itself uses its own, whatever others have under this name.
    pub fn is_fixed(&self) -> bool {
        self.is_defined() && (!self.is_exported() || self.is_protected)
    }

    /// Not a sum of an address, but a number.
    pub fn is_absolute(&self) -> bool {
        self.section == elf::SHN_ABS.0
    }

    /// What nobody needs to provide.
    pub fn is_weak(&self) -> bool {
        self.binding == elf::STB_WEAK.0
    }

    /// To be taken where no version is asked for.
    pub fn is_default(&self) -> bool {
        self.version.is_none_or(|(_, default)| default)
    }
}

impl From<&Sym64<LE>> for Symbol {
    fn from(symbol: &Sym64<LE>) -> Self {
        let visibility = symbol.st_other.0 & 3;
        Symbol {
            name: symbol.st_name.get(LE),
            value: symbol.st_value.get(LE),
            size: symbol.st_size.get(LE),
            kind: symbol.st_info.0 & 0xf,
            binding: symbol.st_info.0 >> 4,
            section: symbol.st_shndx.get(LE).0,
            is_protected: visibility == elf::STV_PROTECTED.0,
            is_visible: visibility == elf::STV_DEFAULT.0 || visibility == elf::STV_PROTECTED.0,
            version: None,
        }
    }
}
