//! Names of addresses, and addresses of names; looked up for the first time when somebody asks.

use std::collections::HashMap;
use std::sync::OnceLock;

use object::elf;

use crate::closure::Object;
use crate::layout::Layout;

/// What is at an address of a copy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// The program or library.
    pub object: String,
    /// The function or variable with this address in it, as far as the file has names.
    pub symbol: Option<String>,
    /// Bytes from the beginning of the symbol, or of the object.
    pub offset: usize,
}

/// Where a symbol is.
#[derive(Clone, Copy)]
pub struct Definition {
    /// Number of the object.
    pub object: usize,
    /// Address in the object.
    pub address: u64,
    /// Bytes.
    pub size: u64,
    /// Code, as far as the file says.
    pub is_function: bool,
    /// Others have the same name, and it cannot be told which is meant.
    pub is_ambiguous: bool,
    is_local: bool,
}

/// Names of the objects of a copy.
#[derive(Default)]
pub struct Names {
    definitions: OnceLock<HashMap<String, Definition>>,
    /// By object: address, size and name, by address.
    places: OnceLock<Vec<Vec<(u64, u64, String)>>>,
}

impl Names {
    /// Finds a symbol: of those of the same name one that others may use, and the program's before its libraries'.
    pub fn find(&self, objects: &[Object], symbol: &str) -> Option<Definition> {
        self.definitions.get_or_init(|| definitions(objects)).get(symbol).copied()
    }

    /// Names of all functions, in order.
    pub fn functions(&self, objects: &[Object]) -> Vec<String> {
        let definitions = self.definitions.get_or_init(|| definitions(objects));
        let mut names: Vec<String> =
            definitions.iter().filter(|(_, one)| one.is_function).map(|(name, _)| name.clone()).collect();
        names.sort_unstable();
        names
    }

    /// What is at an offset of a copy.
    pub fn describe(&self, objects: &[Object], layout: &Layout, offset: u64) -> Option<Location> {
        let number = layout.places.iter().position(|place| place.extent.contains(&offset))?;
        let address = offset.wrapping_sub(layout.places[number].bias);
        let places = &self.places.get_or_init(|| objects.iter().map(places).collect())[number];
        let before = places.partition_point(|one| one.0 <= address).checked_sub(1).map(|one| &places[one]);
        let found = before.filter(|(start, size, _)| *size == 0 || address - start < *size);
        Some(Location {
            object: objects[number].name.clone(),
            symbol: found.map(|one| one.2.clone()),
            offset: found.map_or(address, |one| address - one.0) as usize,
        })
    }
}

fn definitions(objects: &[Object]) -> HashMap<String, Definition> {
    let mut definitions: HashMap<String, Definition> = HashMap::new();
    for (object, one) in objects.iter().enumerate() {
        for (name, symbol) in one.elf.all_symbols() {
            let kinds = [elf::STT_NOTYPE.0, elf::STT_OBJECT.0, elf::STT_FUNC.0];
            if !symbol.is_defined() || !kinds.contains(&symbol.kind) || name.is_empty() {
                continue;
            }
            let (is_function, is_local) = (symbol.kind == elf::STT_FUNC.0, symbol.binding == elf::STB_LOCAL.0);
            let (address, size) = (symbol.value, symbol.size);
            let new = Definition { object, address, size, is_function, is_ambiguous: false, is_local };
            match definitions.get_mut(name) {
                None => {
                    definitions.insert(name.into(), new);
                }
                Some(known) if known.object != object || !known.is_local => {}
                Some(known) if !is_local => *known = new,
                Some(known) => known.is_ambiguous |= known.address != address,
            }
        }
    }
    definitions
}

fn places(object: &Object) -> Vec<(u64, u64, String)> {
    let kinds = [elf::STT_TLS.0, elf::STT_FILE.0, elf::STT_SECTION.0];
    let symbols = object.elf.all_symbols();
    let named = symbols.filter(|(name, one)| one.is_defined() && !kinds.contains(&one.kind) && !name.is_empty());
    let mut places: Vec<_> = named.map(|(name, symbol)| (symbol.value, symbol.size, name.to_string())).collect();
    // Of several names for one place the one with the largest size, which is not a mere mark.
    places.sort_by(|a, b| (a.0, b.1, &a.2).cmp(&(b.0, a.1, &b.2)));
    places.dedup_by_key(|one| one.0);
    places
}
