//! Finds what every symbol means and writes it into the template of a copy.
//!
//! Nothing here touches the memory of a copy: only numbers are computed. Functions that choose another function
//! (`STT_GNU_IFUNC`) are noted, to be called when there is a copy.

use std::collections::{BTreeSet, HashMap, HashSet};

use object::elf;

use crate::Replacement;
use crate::closure::Object;
use crate::elf::{Elf, Relocation, Symbol};
use crate::error::LoadError;
use crate::layout::{Layout, Place, TlsPlace, VARIABLE};
use crate::template::{Template, Value};
use crate::tls;

/// What lies outside of the program.
pub trait Outside {
    /// What replaces a symbol in any case.
    fn replacement(&self, symbol: &str) -> Option<Replacement>;
    /// What the process has.
    fn host(&self, symbol: &str, version: Option<&str>) -> Option<usize>;
    /// Whether each copy has this variable of the process of its own.
    fn is_kept_apart(&self, variable: &str) -> bool;
    /// Size of something that the process has.
    fn host_size(&self, address: usize) -> usize;
    /// What to take if nobody has it.
    fn missing(&self, symbol: &str) -> Option<usize>;
    /// Bytes at an address of the process.
    fn bytes(&self, address: usize, len: usize) -> Vec<u8>;
    /// The thread pointer.
    fn thread_pointer(&self) -> usize;
}

/// A function to be called: it says what to write.
#[derive(Clone, Copy, Debug)]
pub struct Choice {
    /// Where to write.
    pub place: u64,
    /// The function.
    pub function: Value,
    /// To be added to what it says.
    pub addend: u64,
}

/// A set of objects that are loaded together, and where they are.
pub struct Group<'a> {
    /// The objects, in the order of the layout.
    pub objects: Vec<&'a Object>,
    /// Where they are.
    pub layout: &'a Layout,
    /// Where the only copy is, if there is but one.
    pub base: Option<u64>,
}

/// What a symbol stands for.
#[derive(Clone, Copy)]
enum Meaning {
    Value(Value),
    /// What this function says.
    Choice(Value),
    /// Thread-local data of an object of the group, from the beginning of its block.
    ThreadLocal(usize, u64),
    /// Something of the process, perhaps thread-local.
    Host(usize),
    Nothing,
}

/// An exported symbol: number of the group in the scope, of the object in it, and the symbol.
type Export<'a> = (usize, usize, &'a Symbol);

/// Links one group of objects.
struct Linker<'a> {
    /// Groups that may be used, the one to be linked is first.
    scope: &'a [Group<'a>],
    exports: HashMap<&'a str, Vec<Export<'a>>>,
    outside: &'a dyn Outside,
    /// Symbols of which the program has a copy.
    copied: HashSet<&'a str>,
    template: Template,
    choices: Vec<Choice>,
    missing: BTreeSet<String>,
}

/// Makes the template of a group, the first of the scope; `order` says which object comes first where symbols are looked
/// for: pairs of group and object.
pub fn link<'a>(
    scope: &'a [Group<'a>],
    order: &[(usize, usize)],
    outside: &'a dyn Outside,
) -> Result<(Template, Vec<Choice>), LoadError> {
    let mut exports: HashMap<&str, Vec<Export>> = HashMap::new();
    for &(group, number) in order {
        let elf = &scope[group].objects[number].elf;
        for symbol in elf.symbols.iter().filter(|symbol| symbol.is_exported()) {
            exports.entry(elf.name(symbol)).or_default().push((group, number, symbol));
        }
    }
    let copied = scope[0].objects.iter().flat_map(|object| copies(&object.elf));
    let copied = copied.map(|(elf, _, symbol)| elf.name(symbol)).collect();
    let template = Template::default();
    let (choices, missing) = (Vec::new(), BTreeSet::new());
    let mut linker = Linker { scope, exports, outside, copied, template, choices, missing };
    for number in 0..scope[0].objects.len() {
        linker.load(number);
    }
    for number in 0..scope[0].objects.len() {
        linker.relocate(number)?;
    }
    // Last, since they copy what the others have written.
    for number in 0..scope[0].objects.len() {
        linker.copy(number)?;
    }
    for number in 0..scope[0].objects.len() {
        linker.fill_thread_local(number);
    }
    linker.fill_variables();
    if !linker.missing.is_empty() {
        return Err(LoadError::MissingSymbols { symbols: linker.missing.into_iter().collect() });
    }
    Ok((linker.template, linker.choices))
}

/// Data of others that an object has a copy of.
fn copies(elf: &Elf) -> impl Iterator<Item = (&Elf, &Relocation, &Symbol)> {
    let copies = elf.relocations.iter().filter(|one| one.kind == elf::R_X86_64_COPY.0);
    copies.filter_map(move |one| Some((elf, one, elf.symbols.get(one.symbol as usize)?)))
}

impl<'a> Linker<'a> {
    fn object(&self, number: usize) -> (&'a Elf, &'a Place) {
        let group = &self.scope[0];
        (&group.objects[number].elf, &group.layout.places[number])
    }

    /// Puts the file's contents into the private pages.
    fn load(&mut self, number: usize) {
        let (elf, place) = self.object(number);
        for run in place.runs.iter().filter(|run| run.is_private) {
            for (start, bytes) in elf.contents_in(place.bias, run.pages.clone()) {
                self.template.write(start, bytes);
            }
        }
    }

    /// Where to write a word of an object.
    fn target(&self, number: usize, address: u64) -> Result<u64, LoadError> {
        let (elf, place) = self.object(number);
        let file = || elf.file.clone();
        place.find(address, 8, true).ok_or_else(|| match place.find(address, 8, false) {
            Some(_) => LoadError::TextRelocation { file: file(), address },
            None => LoadError::Malformed {
                file: file(),
                problem: format!("a relocation lies outside of it ({address:#x})"),
            },
        })
    }

    fn relocate(&mut self, number: usize) -> Result<(), LoadError> {
        let (elf, place) = self.object(number);
        for &address in &elf.relative {
            let target = self.target(number, address)?;
            let value = Value::Relative(place.bias.wrapping_add(self.template.word(target)));
            self.template.set(target, value);
        }
        for relocation in &elf.relocations {
            self.apply(number, relocation)?;
        }
        Ok(())
    }

    fn apply(&mut self, number: usize, relocation: &Relocation) -> Result<(), LoadError> {
        let kind = elf::RelocationType(relocation.kind);
        let (elf, place) = self.object(number);
        if matches!(kind, elf::R_X86_64_NONE | elf::R_X86_64_COPY) {
            return Ok(());
        }
        let target = self.target(number, relocation.address)?;
        let own = |addend: u64| Value::Relative(place.bias.wrapping_add(addend));
        let named = elf.symbols.get(relocation.symbol as usize).filter(|_| relocation.symbol != 0);
        match kind {
            elf::R_X86_64_RELATIVE => self.template.set(target, own(relocation.addend)),
            elf::R_X86_64_IRELATIVE => {
                self.choices.push(Choice { place: target, function: own(relocation.addend), addend: 0 });
            }
            elf::R_X86_64_64 | elf::R_X86_64_GLOB_DAT | elf::R_X86_64_JUMP_SLOT => {
                let addend = if kind == elf::R_X86_64_64 { relocation.addend } else { 0 };
                match named.map_or(Meaning::Nothing, |symbol| self.meaning(number, symbol, false)) {
                    Meaning::Value(value) => self.template.set(target, value.plus(addend)),
                    Meaning::Host(address) => {
                        self.template.set(target, Value::Absolute((address as u64).wrapping_add(addend)));
                    }
                    Meaning::Choice(function) => self.choices.push(Choice { place: target, function, addend }),
                    Meaning::ThreadLocal(_, offset) => self.template.set(target, Value::Absolute(offset)),
                    Meaning::Nothing => self.template.set(target, Value::Absolute(addend)),
                }
            }
            elf::R_X86_64_SIZE64 => {
                let size = named.map_or(0, |symbol| symbol.size);
                self.template.set(target, Value::Absolute(size.wrapping_add(relocation.addend)));
            }
            elf::R_X86_64_DTPMOD64 => {
                let (way, block) = self.thread_local(number, named);
                self.template.set(target, Value::Absolute(way));
                if named.is_none_or(|symbol| symbol.binding == elf::STB_LOCAL.0) {
                    // The second word is the offset in the block, and has no relocation of its own.
                    let second = self.target(number, relocation.address.wrapping_add(8))?;
                    let offset = self.template.word(second);
                    self.template.set(second, block.plus(offset));
                }
            }
            elf::R_X86_64_DTPOFF64 => {
                let (_, value) = self.thread_local(number, named);
                self.template.set(target, value.plus(relocation.addend));
            }
            elf::R_X86_64_TPOFF64 => {
                let (way, value) = self.thread_local(number, named);
                // What is in a block of its own can be anywhere; the linker never asks for its distance.
                if way != tls::FROM_THREAD_POINTER {
                    let problem = "it asks for the distance of thread-local data that another object has".into();
                    return Err(LoadError::Malformed { file: elf.file.clone(), problem });
                }
                self.template.set(target, value.plus(relocation.addend));
            }
            elf::R_X86_64_TLSDESC => {
                let (way, value) = self.thread_local(number, named);
                let second = self.target(number, relocation.address.wrapping_add(8))?;
                self.template.set(target, Value::Absolute(tls::descriptor(way) as u64));
                self.template.set(second, value.plus(relocation.addend));
            }
            _ => {
                let (file, address) = (elf.file.clone(), relocation.address);
                return Err(LoadError::UnknownRelocation { file, kind: relocation.kind, address });
            }
        }
        Ok(())
    }

    /// How `__tls_get_addr` finds something thread-local, or the object's block where no symbol is named: the first word and the second.
    fn thread_local(&mut self, number: usize, symbol: Option<&Symbol>) -> (u64, Value) {
        let meaning = match symbol {
            Some(symbol) => self.meaning(number, symbol, true),
            None => Meaning::ThreadLocal(number, 0),
        };
        let none = (tls::AT_ADDRESS, Value::Absolute(0));
        match meaning {
            Meaning::ThreadLocal(number, offset) => match self.object(number).1.tls {
                Some(TlsPlace::Zone(below)) => (tls::FROM_THREAD_POINTER, Value::Absolute(offset.wrapping_sub(below))),
                Some(TlsPlace::Block(start)) => (tls::AT_ADDRESS, Value::Relative(start.wrapping_add(offset))),
                None => none,
            },
            Meaning::Host(address) => {
                let distance = (address as u64).wrapping_sub(self.outside.thread_pointer() as u64);
                (tls::FROM_THREAD_POINTER, Value::Absolute(distance))
            }
            Meaning::Value(Value::Absolute(address)) => (tls::AT_ADDRESS, Value::Absolute(address)),
            Meaning::Value(_) | Meaning::Choice(_) | Meaning::Nothing => none,
        }
    }

    /// What a symbol of an object stands for.
    fn meaning(&mut self, number: usize, symbol: &Symbol, is_thread_local: bool) -> Meaning {
        let (elf, _) = self.object(number);
        let own = (0, number, symbol);
        if symbol.is_fixed() || (symbol.is_defined() && elf.is_symbolic) {
            return self.exported(own);
        }
        let name = elf.name(symbol);
        let is_asked = !symbol.is_defined() && !self.copied.contains(name) && !self.is_defined_before(name);
        if let Some(replacement) = is_asked.then(|| self.outside.replacement(name)).flatten() {
            return Meaning::Value(Value::Absolute(replacement.address as u64));
        }
        let version = elf.version(symbol);
        if let Some(found) = self.find(name, version, None) {
            return self.exported(found);
        }
        if symbol.is_defined() {
            return self.exported(own);
        }
        if let Some(address) = self.outside.host(name, version) {
            return match self.scope[0].layout.variable(name) {
                Some(place) => Meaning::Value(Value::Relative(place)),
                None => Meaning::Host(address),
            };
        }
        if symbol.is_weak() {
            return Meaning::Nothing;
        }
        match self.outside.missing(name).filter(|_| !is_thread_local) {
            Some(address) => Meaning::Value(Value::Absolute(address as u64)),
            None => {
                self.missing.insert(format!("{name} (needed by {})", self.scope[0].objects[number].name));
                Meaning::Nothing
            }
        }
    }

    /// Whether the group's own objects define a function whatever the environment has; as in ld.so(8), the first definition counts.
    fn is_defined_before(&self, name: &str) -> bool {
        let is_before = |&(group, number, symbol): &Export| {
            group == 0 && symbol.kind == elf::STT_FUNC.0 && !self.scope[0].objects[number].is_behind
        };
        self.exports.get(name).is_some_and(|exports| exports.iter().any(is_before))
    }

    /// The first object that exports a name, leaving one out; in this version if it has several.
    fn find(&self, name: &str, version: Option<&str>, except: Option<usize>) -> Option<Export<'a>> {
        let exports = self.exports.get(name)?.iter().filter(|one| !(one.0 == 0 && Some(one.1) == except));
        let first = *exports.clone().next()?;
        let same = exports.take_while(|one| (one.0, one.1) == (first.0, first.1));
        let exact = |one: &&Export| self.scope[one.0].objects[one.1].elf.version(one.2) == version;
        let found = same.clone().find(exact).or_else(|| same.clone().find(|one| one.2.is_default()));
        Some(found.copied().unwrap_or(first))
    }

    fn exported(&self, (group, number, symbol): Export<'a>) -> Meaning {
        let place = &self.scope[group].layout.places[number];
        if symbol.is_absolute() {
            return Meaning::Value(Value::Absolute(symbol.value));
        }
        if symbol.kind == elf::STT_TLS.0 && group == 0 {
            return Meaning::ThreadLocal(number, symbol.value);
        }
        let base = self.scope[group].base.filter(|_| group != 0);
        if symbol.kind == elf::STT_TLS.0 {
            // The only copy of a library that is shared has its block at a fixed place.
            return match (place.tls, base) {
                (Some(TlsPlace::Block(start)), Some(base)) => {
                    Meaning::Value(Value::Absolute(base.wrapping_add(start).wrapping_add(symbol.value)))
                }
                _ => Meaning::Nothing,
            };
        }
        let offset = place.bias.wrapping_add(symbol.value);
        let value = match base {
            Some(base) => Value::Absolute(base.wrapping_add(offset)),
            None => Value::Relative(offset),
        };
        if symbol.kind == elf::STT_GNU_IFUNC.0 { Meaning::Choice(value) } else { Meaning::Value(value) }
    }

    /// Gives the program its own copies of other objects' data.
    fn copy(&mut self, number: usize) -> Result<(), LoadError> {
        let (elf, place) = self.object(number);
        for (_, relocation, symbol) in copies(elf) {
            let name = elf.name(symbol);
            let Some(target) = place.find(relocation.address, symbol.size, true) else {
                let problem = format!("the copy of `{name}` lies outside of it");
                return Err(LoadError::Malformed { file: elf.file.clone(), problem });
            };
            if let Some(replacement) = self.outside.replacement(name) {
                let len = replacement.size.min(symbol.size as usize);
                self.template.write(target, &self.outside.bytes(replacement.address, len));
                continue;
            }
            let version = elf.version(symbol);
            if let Some((group, owner, from)) = self.find(name, version, Some(number)) {
                self.copy_from(group, owner, from.value, target, symbol.size.min(from.size));
            } else if let Some(address) = self.outside.host(name, version) {
                let len = self.outside.host_size(address).min(symbol.size as usize);
                self.template.write(target, &self.outside.bytes(address, len));
            } else if !symbol.is_weak() {
                self.missing.insert(format!("{name} (needed by {})", self.scope[0].objects[number].name));
            }
        }
        Ok(())
    }

    fn copy_from(&mut self, group: usize, owner: usize, address: u64, target: u64, len: u64) {
        let group = &self.scope[group];
        let (elf, place) = (&group.objects[owner].elf, &group.layout.places[owner]);
        match (place.find(address, len, true), group.base) {
            (Some(source), None) => self.template.copy(source, target, len),
            (Some(source), Some(base)) => {
                self.template.write(target, &self.outside.bytes((base + source) as usize, len as usize));
            }
            (None, _) => self.template.write(target, elf.contents(address, len)),
        }
    }

    /// First values of the process' variables that each copy has of its own.
    fn fill_variables(&mut self) {
        for (name, place) in &self.scope[0].layout.variables {
            if let Some(address) = self.outside.host(name, None) {
                let len = self.outside.host_size(address).min(VARIABLE as usize);
                self.template.write(*place, &self.outside.bytes(address, len));
            }
        }
    }

    /// First values of thread-local data.
    fn fill_thread_local(&mut self, number: usize) {
        let (elf, place) = self.object(number);
        let zone = &self.scope[0].layout.zone;
        let (Some(tls), Some(at)) = (elf.thread_local, place.tls) else { return };
        let target = match at {
            TlsPlace::Zone(below) => zone.end - below,
            TlsPlace::Block(start) => start,
        };
        match place.find(tls.address, tls.filled, true) {
            Some(source) => self.template.copy(source, target, tls.filled),
            None => self.template.write(target, elf.contents(tls.address, tls.filled)),
        }
    }
}
