//! A program that has been read and linked, ready to be copied.

use std::collections::{HashMap, HashSet};
use std::ffi::CString;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};

use object::elf;

use crate::closure::{Closure, Object};
use crate::elf::Elf;
use crate::error::LoadError;
use crate::host::{Host, size_at, thread_pointer};
use crate::instance::Instance;
use crate::intercept::Replaced;
use crate::layout::{Layout, Place};
use crate::link::{Choice, Group, Outside, link};
use crate::registry::{self, Catalogue, Span};
use crate::space::Space;
use crate::template::{Filled, Template, Value};
use crate::{Environment, Replacement, tls};

/// A program and its libraries, ready to be copied. Copies keep what they need of it.
#[derive(Clone)]
pub struct Program {
    pub(crate) inner: Arc<Inner>,
}

pub(crate) struct Inner {
    /// Objects of a copy, the program first, and where they are in it.
    pub objects: Vec<Object>,
    pub layout: Layout,
    pub space: Space,
    pub template: Filled,
    /// Numbers of the objects in the order in which they are initialised.
    pub order: Vec<usize>,
    pub shared: Option<Shared>,
    needed: Vec<String>,
    pub replaced: Replaced,
    names: OnceLock<HashMap<String, Definition>>,
    functions: Vec<OnceLock<Vec<Function>>>,
}

/// Objects that all copies share.
pub(crate) struct Shared {
    pub objects: Vec<Object>,
    pub layout: Layout,
    pub base: usize,
    pub order: Vec<usize>,
    pub is_initialised: AtomicBool,
    functions: Vec<OnceLock<Vec<Function>>>,
    /// Keeps the memory.
    space: Space,
}

impl Drop for Shared {
    fn drop(&mut self) {
        // SAFETY: copies keep the program, so there are none that could use it.
        unsafe { self.space.give(self.base) };
    }
}

/// Where a symbol is.
#[derive(Clone, Copy)]
pub(crate) struct Definition {
    pub object: usize,
    pub address: u64,
    pub size: u64,
    pub is_function: bool,
    is_local: bool,
    /// Others have the same name, and it cannot be told which is meant.
    pub is_ambiguous: bool,
}

/// Address, size and name.
type Function = (u64, u64, String);

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

impl Program {
    /// Reads a program and the libraries that it needs, and finds what all their symbols mean.
    pub fn open(path: &Path, environment: &dyn Environment) -> Result<Self, LoadError> {
        let closure = Closure::read(path, environment)?;
        let sequence = closure.order();
        let Closure { objects, needed, host } = closure;
        let outside = Process { environment, host };
        // Numbers in the closure, and in the group that an object belongs to.
        let mut numbers = Vec::new();
        let (mut own, mut shared) = (Vec::new(), Vec::new());
        for object in objects {
            let group = if object.is_shared { &mut shared } else { &mut own };
            numbers.push((usize::from(object.is_shared), group.len()));
            group.push(object);
        }
        let order_of =
            |group| sequence.iter().map(|&one| numbers[one]).filter(move |one| one.0 == group).map(|one| one.1);
        let shared = match shared.is_empty() {
            true => None,
            false => Some(Shared::load(shared, order_of(1).collect(), &outside)?),
        };
        fix_thread_local(&mut own);
        let layout = Layout::new(own.iter().map(|object| &object.elf))?;
        check_zone(&own, &layout)?;
        let mut scope = vec![Group { objects: own.iter().collect(), layout: &layout, base: None }];
        scope.extend(shared.as_ref().map(Shared::group));
        let (mut template, choices) = link(&scope, &numbers, &outside)?;
        let space = Space::new(&own[0].name, &layout, Arc::new(catalogue(&own, &layout, false)))?;
        write_text(&own, &layout, &space)?;
        if !choices.is_empty() {
            let base = space.take()?;
            // SAFETY: a new copy of this layout, with its libraries in place.
            unsafe {
                fill(base, &template.finish());
                choose(base, layout.size as usize, &choices, &mut template);
                space.give(base);
            }
        }
        let functions = own.iter().map(|_| OnceLock::new()).collect();
        let order = order_of(0).collect();
        let template = template.finish();
        let (names, replaced) = (OnceLock::new(), Replaced::default());
        let inner = Inner { objects: own, layout, space, template, order, shared, needed, replaced, names, functions };
        Ok(Self { inner: Arc::new(inner) })
    }

    /// Makes a copy. Nothing of it has run yet: see [`Instance::initialise_libraries`].
    pub fn instantiate(&self) -> Result<Instance, LoadError> {
        let base = self.inner.space.take()?;
        // SAFETY: a new copy of this layout.
        unsafe { fill(base, &self.inner.template) };
        Ok(Instance::new(self.inner.clone(), base))
    }

    /// Names of all libraries that the program or its libraries need, whatever becomes of them.
    pub fn needed(&self) -> &[String] {
        &self.inner.needed
    }

    /// Bytes below the thread pointer that must be exchanged when another copy runs ([`Instance::save_thread_local`]); often 0.
    pub fn thread_local_size(&self) -> usize {
        (self.inner.layout.zone.end - self.inner.layout.zone.start) as usize
    }

    /// Addresses that a copy takes, in bytes; most of them without memory.
    pub fn size(&self) -> usize {
        self.inner.layout.size as usize
    }

    /// Memory that a new copy takes, in bytes.
    pub fn memory(&self) -> usize {
        self.inner.template.parts.iter().map(|part| part.1.len()).sum()
    }

    /// Mappings that a copy takes.
    pub fn mappings(&self) -> usize {
        self.inner.layout.mappings()
    }

    /// Whether the program or its libraries have a symbol, also one that only they know.
    pub fn has(&self, symbol: &str) -> bool {
        self.inner.find(symbol).is_some()
    }

    /// What is at an address in any of the copies, or in what they share.
    pub fn describe(&self, address: usize) -> Option<Location> {
        let inner = &self.inner;
        if let Some(shared) = &inner.shared {
            let size = shared.layout.size as usize;
            if (shared.base..shared.base + size).contains(&address) {
                return describe(&shared.objects, &shared.layout, &shared.functions, (address - shared.base) as u64);
            }
        }
        let base = inner.space.copy_at(address)?;
        describe(&inner.objects, &inner.layout, &inner.functions, (address - base) as u64)
    }
}

impl Inner {
    /// Finds a symbol: of those of the same name one that others may use, and the program's before its libraries'.
    pub fn find(&self, symbol: &str) -> Option<Definition> {
        let names = self.names.get_or_init(|| {
            let mut names: HashMap<String, Definition> = HashMap::new();
            for (object, one) in self.objects.iter().enumerate() {
                for (name, symbol) in one.elf.all_symbols() {
                    let kinds = [elf::STT_NOTYPE.0, elf::STT_OBJECT.0, elf::STT_FUNC.0];
                    if !symbol.is_defined() || !kinds.contains(&symbol.kind) || name.is_empty() {
                        continue;
                    }
                    let is_local = symbol.binding == elf::STB_LOCAL.0;
                    let (address, size) = (symbol.value, symbol.size);
                    let is_function = symbol.kind == elf::STT_FUNC.0;
                    let new = Definition { object, address, size, is_function, is_local, is_ambiguous: false };
                    match names.get_mut(name) {
                        None => {
                            names.insert(name.into(), new);
                        }
                        Some(known) if known.object != object || !known.is_local => {}
                        Some(known) if !is_local => *known = new,
                        Some(known) => known.is_ambiguous |= known.address != address,
                    }
                }
            }
            names
        });
        names.get(symbol).copied()
    }

    /// Where a definition is in a copy.
    pub fn offset(&self, definition: &Definition) -> u64 {
        self.layout.places[definition.object].bias.wrapping_add(definition.address)
    }
}

impl Shared {
    /// Loads objects of which there is one copy.
    fn load(objects: Vec<Object>, order: Vec<usize>, outside: &Process) -> Result<Self, LoadError> {
        let layout = Layout::new(objects.iter().map(|object| &object.elf))?;
        if layout.zone.start < layout.zone.end {
            // Its contents would have to be the same in all copies.
            let (file, needed) = (objects[0].elf.file.clone(), layout.zone.end - layout.zone.start);
            return Err(LoadError::ThreadLocal { file, needed, room: 0 });
        }
        let numbers: Vec<_> = (0..objects.len()).map(|number| (0, number)).collect();
        let scope = [Group { objects: objects.iter().collect(), layout: &layout, base: None }];
        let (mut template, choices) = link(&scope, &numbers, outside)?;
        let space = Space::new(&objects[0].name, &layout, Arc::new(catalogue(&objects, &layout, true)))?;
        write_text(&objects, &layout, &space)?;
        let base = space.take()?;
        // SAFETY: a new copy of this layout; the second time only the chosen functions are different.
        unsafe {
            fill(base, &template.finish());
            choose(base, layout.size as usize, &choices, &mut template);
            for choice in &choices {
                let value = template.word(choice.place);
                ((base as u64 + choice.place) as *mut u64).write_unaligned(value);
            }
        }
        let functions = objects.iter().map(|_| OnceLock::new()).collect();
        Ok(Self { objects, layout, base, order, is_initialised: AtomicBool::new(false), functions, space })
    }

    fn group(&self) -> Group<'_> {
        Group { objects: self.objects.iter().collect(), layout: &self.layout, base: Some(self.base as u64) }
    }
}

/// Finds the libraries whose thread-local data others reach by fixed distances: it must be at a fixed place, too.
fn fix_thread_local(objects: &mut [Object]) {
    let mut wanted: HashSet<String> = HashSet::new();
    for Object { elf, .. } in objects.iter() {
        let distances = elf.relocations.iter().filter(|one| one.kind == elf::R_X86_64_TPOFF64.0 && one.symbol != 0);
        wanted.extend(distances.map(|one| elf.name(&elf.symbols[one.symbol as usize]).to_string()));
    }
    for Object { elf, .. } in objects {
        let mut exported = elf.symbols.iter().filter(|symbol| symbol.kind == elf::STT_TLS.0 && symbol.is_exported());
        elf.is_static_tls |= exported.any(|symbol| wanted.contains(elf.name(symbol)));
    }
}

/// Checks that thread-local data at fixed places fits where it must be.
fn check_zone(objects: &[Object], layout: &Layout) -> Result<(), LoadError> {
    let (needed, room) = (layout.zone.end - layout.zone.start, tls::zone_size() as u64);
    let is_aligned = (thread_pointer() as u64).is_multiple_of(layout.zone_align);
    if needed == 0 || (needed <= room && is_aligned) {
        return Ok(());
    }
    let largest = objects.iter().filter(|object| object.elf.is_static_tls);
    let largest = largest.max_by_key(|object| object.elf.thread_local.map_or(0, |tls| tls.size));
    let file = largest.map_or_else(String::new, |object| object.elf.file.clone());
    Err(LoadError::ThreadLocal { file, needed, room: if is_aligned { room } else { 0 } })
}

/// Puts what copies share into their file.
fn write_text(objects: &[Object], layout: &Layout, space: &Space) -> Result<(), LoadError> {
    for (object, place) in objects.iter().zip(&layout.places) {
        for (start, bytes) in text(&object.elf, place) {
            space.write(start, bytes)?;
        }
    }
    Ok(())
}

/// The file's contents in pages that are shared.
fn text<'a>(elf: &'a Elf, place: &'a Place) -> impl Iterator<Item = (u64, &'a [u8])> {
    elf.segments.iter().flat_map(move |segment| {
        let start = place.bias.wrapping_add(segment.address);
        let end = start + segment.file.len() as u64;
        place.runs.iter().filter(|run| !run.is_private).filter_map(move |run| {
            let (from, to) = (start.max(run.pages.start), end.min(run.pages.end));
            let first = segment.file.start + from.checked_sub(start)? as usize;
            (from < to).then(|| (from, &elf.bytes()[first..first + (to - from) as usize]))
        })
    })
}

/// Fills the private pages of a new copy.
///
/// # Safety
/// `base` is a new copy of the layout that the template was made for.
unsafe fn fill(base: usize, template: &Filled) {
    for (offset, bytes) in &template.parts {
        // SAFETY: templates have only private pages of their layout.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), (base + offset) as *mut u8, bytes.len()) };
    }
    for offset in &template.moving {
        let word = (base + offset) as *mut usize;
        // SAFETY: as above; words need not be aligned.
        unsafe { word.write_unaligned(word.read_unaligned().wrapping_add(base)) };
    }
}

/// Calls functions that choose others, and writes down what they say.
///
/// # Safety
/// There is a whole copy at `base`.
unsafe fn choose(base: usize, size: usize, choices: &[Choice], template: &mut Template) {
    for choice in choices {
        let function = match choice.function {
            Value::Absolute(address) => address as usize,
            Value::Relative(offset) => base.wrapping_add(offset as usize),
        };
        // SAFETY: the program says that it is such a function; they take nothing, return an address, and may run before all else.
        let chosen = unsafe { std::mem::transmute::<usize, extern "C" fn() -> usize>(function)() };
        let value = match (base..base + size).contains(&chosen) {
            true => Value::Relative((chosen - base) as u64),
            false => Value::Absolute(chosen as u64),
        };
        template.set(choice.place, value.plus(choice.addend));
    }
}

/// What unwinders want to know.
fn catalogue(objects: &[Object], layout: &Layout, is_shared: bool) -> Catalogue {
    let spans = objects.iter().zip(&layout.places).map(|(object, place)| {
        let elf = &object.elf;
        let headers = elf.bytes()[elf.headers.clone()].chunks_exact(size_of::<libc::Elf64_Phdr>());
        // SAFETY: as many bytes as the type has, and any bytes are a value of it.
        let headers = headers.map(|one| unsafe { one.as_ptr().cast::<libc::Elf64_Phdr>().read_unaligned() });
        Span {
            extent: place.extent.start as usize..place.extent.end as usize,
            bias: place.bias as usize,
            unwinding: elf.unwinding.map(|address| place.bias.wrapping_add(address) as usize),
            name: CString::new(object.path.display().to_string()).unwrap_or_default(),
            headers: headers.collect(),
        }
    });
    Catalogue { spans: spans.collect(), is_shared }
}

/// What is at an offset of a copy.
fn describe(
    objects: &[Object],
    layout: &Layout,
    functions: &[OnceLock<Vec<Function>>],
    offset: u64,
) -> Option<Location> {
    let number = layout.places.iter().position(|place| place.extent.contains(&offset))?;
    let (object, place) = (&objects[number], &layout.places[number]);
    let address = offset.wrapping_sub(place.bias);
    let functions = functions[number].get_or_init(|| {
        let mut all: Vec<Function> = object
            .elf
            .all_symbols()
            .filter(|(name, symbol)| symbol.is_defined() && symbol.kind != elf::STT_TLS.0 && !name.is_empty())
            .filter(|(_, symbol)| symbol.kind != elf::STT_FILE.0 && symbol.kind != elf::STT_SECTION.0)
            .map(|(name, symbol)| (symbol.value, symbol.size, name.to_string()))
            .collect();
        all.sort();
        all.dedup_by_key(|one| one.0);
        all
    });
    let before = functions.partition_point(|one| one.0 <= address).checked_sub(1).map(|one| &functions[one]);
    let found = before.filter(|(start, size, _)| *size == 0 || address - start < *size);
    Some(Location {
        object: object.name.clone(),
        symbol: found.map(|one| one.2.clone()),
        offset: found.map_or(address, |one| address - one.0) as usize,
    })
}

/// What lies outside of the program: the environment, what this loader itself replaces, and the process.
struct Process<'a> {
    environment: &'a dyn Environment,
    host: Host,
}

impl Outside for Process<'_> {
    fn replacement(&self, symbol: &str) -> Option<Replacement> {
        let own = || {
            let address = match symbol {
                "__tls_get_addr" => tls::get_address as *const (),
                "_dl_find_object" => registry::find_object as *const (),
                "dl_iterate_phdr" => registry::iterate as *const (),
                _ => return None,
            };
            Some(Replacement { address: address as usize, size: 0 })
        };
        self.environment.resolve(symbol).or_else(own)
    }

    fn host(&self, symbol: &str, version: Option<&str>) -> Option<usize> {
        self.host.symbol(symbol, version)
    }

    fn host_size(&self, address: usize) -> usize {
        size_at(address)
    }

    fn missing(&self, symbol: &str) -> Option<usize> {
        self.environment.missing(symbol)
    }

    fn bytes(&self, address: usize, len: usize) -> Vec<u8> {
        // SAFETY: the environment, the process' libraries or a shared library have so many bytes there.
        unsafe { std::slice::from_raw_parts(address as *const u8, len) }.to_vec()
    }

    fn thread_pointer(&self) -> usize {
        thread_pointer()
    }
}
