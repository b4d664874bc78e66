//! Objects that are loaded together: laid out, linked, and ready to be copied.

use std::collections::{BTreeSet, HashSet};
use std::ffi::CString;
use std::sync::Arc;

use object::elf;

use crate::closure::Object;
use crate::elf::{Elf, Symbol};
use crate::error::LoadError;
use crate::host::thread_pointer;
use crate::layout::{Layout, Place};
use crate::link::{Choice, Group, Outside, link};
use crate::names::{Definition, Location, Names};
use crate::registry::{Catalogue, Export, Span};
use crate::shortcut::Shortcuts;
use crate::space::Space;
use crate::template::{Filled, Template, Value};
use crate::tls;

/// Objects that are ready to be copied.
pub struct Image {
    /// The objects; the program is the first where there is one.
    pub objects: Vec<Object>,
    /// Where they are in a copy.
    pub layout: Layout,
    /// Memory for copies.
    pub space: Space,
    /// Numbers of the objects in the order in which they are initialised.
    pub order: Vec<usize>,
    template: Filled,
    names: Names,
    /// What the shared code refers to.
    _shortcuts: Option<Shortcuts>,
}

impl Image {
    /// Makes an image of objects. Their symbols are looked for in these objects and in those of which there is a copy in `shared`, in
    /// the order of `scope`: pairs of 0 or 1 for the two groups, and numbers of objects.
    pub fn new(
        mut objects: Vec<Object>,
        order: Vec<usize>,
        shared: Option<(&Image, usize)>,
        scope: &[(usize, usize)],
        outside: &dyn Outside,
    ) -> Result<Self, LoadError> {
        let is_shared = objects[0].is_shared;
        fix_thread_local(&mut objects);
        let variables = if is_shared { BTreeSet::new() } else { kept_apart(&objects, outside) };
        let layout = Layout::new(objects.iter().map(|object| &object.elf), variables)?;
        // What all copies share cannot be exchanged with them.
        check_zone(&objects, &layout, if is_shared { 0 } else { tls::zone_size() as u64 })?;
        let mut groups = vec![Group { objects: objects.iter().collect(), layout: &layout, base: None }];
        groups.extend(shared.map(|(image, base)| Group {
            objects: image.objects.iter().collect(),
            layout: &image.layout,
            base: Some(base as u64),
        }));
        let (mut template, choices) = link(&groups, scope, outside)?;
        let space = Space::new(&objects[0].name, &layout, Arc::new(catalogue(&objects, &layout, is_shared)))?;
        for (object, place) in objects.iter().zip(&layout.places) {
            text(&object.elf, place).try_for_each(|(start, bytes)| space.write(start, bytes))?;
        }
        let linked = objects.iter().map(|object| &object.elf).zip(&layout.places);
        let (shortcuts, code) = Shortcuts::new(linked, &template, &choices);
        code.iter().try_for_each(|(start, bytes)| space.write(*start, bytes))?;
        if !choices.is_empty() {
            let base = space.take()?;
            // SAFETY: a new copy of this layout, with its libraries in place, that nobody else knows.
            unsafe {
                fill(base, &template.finish());
                choose(base, layout.size as usize, &choices, &mut template);
                space.give(base);
            }
        }
        Ok(Self {
            objects,
            layout,
            space,
            order,
            template: template.finish(),
            names: Names::default(),
            _shortcuts: shortcuts,
        })
    }

    /// Makes a copy and says where it is.
    pub fn copy(&self) -> Result<usize, LoadError> {
        let base = self.space.take()?;
        // SAFETY: a new copy of this layout.
        unsafe { fill(base, &self.template) };
        Ok(base)
    }

    /// Memory that a new copy takes, in bytes.
    pub fn memory(&self) -> usize {
        self.template.parts.iter().map(|part| part.1.len()).sum()
    }

    /// Finds a symbol.
    pub fn find(&self, symbol: &str) -> Option<Definition> {
        self.names.find(&self.objects, symbol)
    }

    /// Names of all functions.
    pub fn functions(&self) -> Vec<String> {
        self.names.functions(&self.objects)
    }

    /// What is at an offset of a copy.
    pub fn describe(&self, offset: usize) -> Option<Location> {
        self.names.describe(&self.objects, &self.layout, offset as u64)
    }

    /// Where an address of an object is in a copy.
    pub fn address(&self, base: usize, object: usize, address: u64) -> usize {
        base.wrapping_add(self.layout.places[object].bias.wrapping_add(address) as usize)
    }

    /// Functions in a table of an object of a copy.
    fn table(&self, base: usize, object: usize, (address, count): (u64, u64)) -> Vec<usize> {
        let start = self.address(base, object, address) as *const usize;
        // SAFETY: the table was checked to be in what is loaded.
        let read = |number: u64| unsafe { start.add(number as usize).read_unaligned() };
        // Some linkers leave marks at the ends of the table.
        (0..count).map(read).filter(|&function| function != 0 && function != usize::MAX).collect()
    }

    /// What is called before all else.
    pub fn earliest_calls(&self, base: usize, object: usize) -> Vec<usize> {
        self.table(base, object, self.objects[object].elf.before.array)
    }

    /// Initialisers of an object of a copy.
    pub fn first_calls(&self, base: usize, object: usize) -> Vec<usize> {
        let calls = &self.objects[object].elf.initialise;
        let single = calls.single.map(|address| self.address(base, object, address));
        single.into_iter().chain(self.table(base, object, calls.array)).collect()
    }

    /// What is called at the end.
    pub fn last_calls(&self, base: usize, object: usize) -> Vec<usize> {
        let calls = &self.objects[object].elf.finish;
        let single = calls.single.map(|address| self.address(base, object, address));
        self.table(base, object, calls.array).into_iter().rev().chain(single).collect()
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

/// Variables of the process that the objects use, and each copy is to have of its own.
fn kept_apart(objects: &[Object], outside: &dyn Outside) -> BTreeSet<String> {
    let names = |object: &'_ Object| -> Vec<String> {
        let wanted = object.elf.symbols.iter().filter(|symbol| !symbol.is_defined());
        let names = wanted.map(|symbol| object.elf.name(symbol)).filter(|name| outside.is_kept_apart(name));
        names.map(str::to_owned).collect()
    };
    objects.iter().flat_map(names).collect()
}

/// Checks that thread-local data at fixed places fits where it must be.
fn check_zone(objects: &[Object], layout: &Layout, room: u64) -> Result<(), LoadError> {
    let needed = layout.zone.end - layout.zone.start;
    let is_aligned = (thread_pointer() as u64).is_multiple_of(layout.zone_align);
    if needed == 0 || (needed <= room && is_aligned) {
        return Ok(());
    }
    let largest = objects.iter().filter(|object| object.elf.is_static_tls);
    let largest = largest.max_by_key(|object| object.elf.thread_local.map_or(0, |tls| tls.size));
    let file = largest.map_or_else(String::new, |object| object.elf.file.clone());
    Err(LoadError::ThreadLocal { file, needed, room: if is_aligned { room } else { 0 } })
}

/// The file's contents in pages that copies share.
fn text<'a>(elf: &'a Elf, place: &'a Place) -> impl Iterator<Item = (u64, &'a [u8])> {
    let runs = place.runs.iter().filter(|run| !run.is_private);
    runs.flat_map(move |run| elf.contents_in(place.bias, run.pages.clone()))
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

/// What others may use of an object, at addresses of the object.
fn exports(elf: &Elf) -> Vec<Export> {
    let has_place = |symbol: &&Symbol| symbol.is_exported() && !symbol.is_absolute() && symbol.kind != elf::STT_TLS.0;
    let exported = elf.symbols.iter().filter(has_place);
    let export = |symbol: &Symbol| Export {
        address: symbol.value as usize,
        size: symbol.size as usize,
        // In the file's table of strings, where a zero follows.
        name: elf.name(symbol).as_ptr() as usize,
    };
    exported.map(export).collect()
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
            exports: exports(elf),
        }
    });
    Catalogue { spans: spans.collect(), is_shared }
}
