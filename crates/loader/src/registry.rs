//! Which copy, and which object of it, an address belongs to; for those who unwind the stack.
//!
//! C++ exceptions need to find the tables of the function that they pass. The unwinder (libgcc) asks the dynamic linker, which
//! knows nothing of copies; so it is given functions from here. Copies lie side by side: a division finds the copy.

use std::arch::naked_asm;
use std::ffi::{CString, c_char, c_int, c_void};
use std::ops::Range;
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

/// An object, as unwinders want to know it.
pub struct Span {
    /// Where it is in a copy.
    pub extent: Range<usize>,
    /// To be added to its own addresses, beside the beginning of the copy.
    pub bias: usize,
    /// Where its tables are in a copy.
    pub unwinding: Option<usize>,
    /// Its file.
    pub name: CString,
    /// Its program headers.
    pub headers: Vec<libc::Elf64_Phdr>,
    /// What others may use of it.
    pub exports: Vec<Export>,
}

/// A symbol that others may use.
pub struct Export {
    /// Its address in the object.
    pub address: usize,
    /// Bytes; 0 if that is not known.
    pub size: usize,
    /// Where its name is, a string of C in the file: there as long as the program is.
    pub name: usize,
}

impl Span {
    /// The symbol with an address of the object in it, or the last one before it that has no size, as dladdr(3) says it.
    fn export(&self, address: usize) -> Option<&Export> {
        let holds = |one: &&Export| {
            one.address <= address && (address - one.address < one.size || (one.size == 0 && one.address != 0))
        };
        self.exports.iter().filter(holds).max_by_key(|one| one.address)
    }
}

/// The objects of a copy.
pub struct Catalogue {
    /// By address.
    pub spans: Vec<Span>,
    /// There is one copy for all.
    pub is_shared: bool,
}

/// Copies side by side.
struct Row {
    first: usize,
    stride: usize,
    alive: Vec<bool>,
    catalogue: Arc<Catalogue>,
}

/// All copies of all programs.
struct Registry {
    /// By address.
    rows: Vec<Row>,
    added: u64,
    removed: u64,
}

static REGISTRY: RwLock<Registry> = RwLock::new(Registry { rows: Vec::new(), added: 0, removed: 0 });

impl Registry {
    fn row(&self, address: usize) -> Option<(usize, usize)> {
        let number = self.rows.partition_point(|row| row.first <= address).checked_sub(1)?;
        let row = &self.rows[number];
        let copy = (address - row.first) / row.stride;
        (copy < row.alive.len()).then_some((number, copy))
    }

    /// The copy with an address in it, and the object.
    fn find(&self, address: usize) -> Option<(usize, &Row, Option<&Span>)> {
        let (number, copy) = self.row(address)?;
        let row = &self.rows[number];
        let base = row.first + copy * row.stride;
        let spans = &row.catalogue.spans;
        let after = spans.partition_point(|span| span.extent.start <= address - base);
        let span = after.checked_sub(1).map(|span| &spans[span]).filter(|span| address - base < span.extent.end);
        Some((base, row, span))
    }
}

fn read<T>(with: impl FnOnce(&Registry) -> T) -> T {
    with(&REGISTRY.read().unwrap_or_else(PoisonError::into_inner))
}

fn write(with: impl FnOnce(&mut Registry)) {
    with(&mut REGISTRY.write().unwrap_or_else(PoisonError::into_inner));
}

/// Room for so many copies.
pub fn add(first: usize, stride: usize, count: usize, catalogue: Arc<Catalogue>) {
    write(|registry| {
        let place = registry.rows.partition_point(|row| row.first <= first);
        registry.rows.insert(place, Row { first, stride, alive: vec![false; count], catalogue });
    });
}

/// Forgets the rows in a range.
pub fn remove(start: usize, end: usize) {
    write(|registry| registry.rows.retain(|row| row.first < start || row.first >= end));
}

/// A copy has come or gone.
pub fn set_alive(base: usize, alive: bool) {
    write(|registry| {
        if let Some((row, copy)) = registry.row(base) {
            registry.rows[row].alive[copy] = alive;
            *(if alive { &mut registry.added } else { &mut registry.removed }) += 1;
        }
    });
}

/// Beginning of the copy that an address belongs to, of whatever program.
pub fn copy_at(address: usize) -> Option<usize> {
    read(|registry| registry.find(address).map(|found| found.0))
}

/// `struct dl_find_object` (dlfcn.h of glibc 2.35).
#[repr(C)]
pub struct FoundObject {
    flags: u64,
    start: usize,
    end: usize,
    link_map: usize,
    unwinding: usize,
    reserved: [u64; 7],
}

/// Replaces `_dl_find_object`: the object with an address in it.
///
/// # Safety
/// There is room for the result.
pub unsafe extern "C" fn find_object(address: usize, result: *mut FoundObject) -> c_int {
    let found = read(|registry| {
        let (base, _, span) = registry.find(address)?;
        let span = span?;
        // Unwinders do not expect an object without tables.
        let unwinding = base + span.unwinding?;
        let (start, end) = (base + span.extent.start, base + span.extent.end);
        Some(FoundObject { flags: 0, start, end, link_map: 0, unwinding, reserved: [0; 7] })
    });
    match found {
        Some(found) => {
            // SAFETY: as the caller promises.
            unsafe { result.write(found) };
            0
        }
        None => match host_find_object() {
            // SAFETY: the real function, called as it was meant to be.
            Some(host) => unsafe { host(address, result) },
            None => -1,
        },
    }
}

type FindObject = unsafe extern "C" fn(usize, *mut FoundObject) -> c_int;

/// The process' own; older systems have none.
fn host_find_object() -> Option<FindObject> {
    static HOST: OnceLock<Option<FindObject>> = OnceLock::new();
    *HOST.get_or_init(|| {
        // SAFETY: a C string.
        let found = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"_dl_find_object".as_ptr()) };
        // SAFETY: the function has this type since it exists.
        (!found.is_null()).then(|| unsafe { std::mem::transmute::<*mut c_void, FindObject>(found) })
    })
}

/// Replaces `dladdr`, which knows nothing of copies.
///
/// # Safety
/// There is room for the result.
pub unsafe extern "C" fn name_address(address: *const c_void, result: *mut libc::Dl_info) -> c_int {
    let found = read(|registry| {
        let (base, _, span) = registry.find(address as usize)?;
        let span = span?;
        let start = base.wrapping_add(span.bias);
        let export = span.export((address as usize).wrapping_sub(start));
        Some(libc::Dl_info {
            dli_fname: span.name.as_ptr(),
            dli_fbase: start as *mut c_void,
            dli_sname: export.map_or(std::ptr::null(), |one| one.name as *const c_char),
            dli_saddr: export.map_or(std::ptr::null_mut(), |one| start.wrapping_add(one.address) as *mut c_void),
        })
    });
    match found {
        Some(found) => {
            // SAFETY: as the caller promises.
            unsafe { result.write(found) };
            1
        }
        // SAFETY: as the caller promises.
        None => unsafe { libc::dladdr(address, result) },
    }
}

type Visitor = unsafe extern "C" fn(*mut libc::dl_phdr_info, usize, *mut c_void) -> c_int;

/// Replaces `dl_iterate_phdr`: visits the objects of the caller's copy, those that all share, and those of the process. A caller that
/// all share might mean any copy, and gets them all.
#[unsafe(naked)]
pub unsafe extern "C" fn iterate(visitor: Visitor, data: *mut c_void) -> c_int {
    // The third argument is where the caller is.
    naked_asm!("mov rdx, [rsp]", "jmp {}", sym iterate_for)
}

unsafe extern "C" fn iterate_for(visitor: Visitor, data: *mut c_void, caller: usize) -> c_int {
    let (copies, added, removed) = read(|registry| {
        let own = registry.find(caller).filter(|(_, row, _)| !row.catalogue.is_shared);
        let mut copies = Vec::new();
        for row in &registry.rows {
            let alive = row.alive.iter().enumerate().filter(|(_, alive)| **alive);
            let bases = alive.map(|(copy, _)| row.first + copy * row.stride);
            let shown = bases.filter(|&base| own.is_none_or(|(own, _, _)| own == base || row.catalogue.is_shared));
            copies.extend(shown.map(|base| (base, row.catalogue.clone())));
        }
        (copies, registry.added, registry.removed)
    });
    // The registry is not locked here: visitors may do anything.
    for (base, catalogue) in &copies {
        for span in &catalogue.spans {
            // SAFETY: plain numbers and pointers, for which zeros are values.
            let mut information: libc::dl_phdr_info = unsafe { std::mem::zeroed() };
            information.dlpi_addr = base.wrapping_add(span.bias) as u64;
            information.dlpi_name = span.name.as_ptr().cast::<c_char>();
            information.dlpi_phdr = span.headers.as_ptr();
            information.dlpi_phnum = span.headers.len() as u16;
            (information.dlpi_adds, information.dlpi_subs) = (added, removed);
            // SAFETY: a visitor for such entries, as the caller promises.
            let answer = unsafe { visitor(&mut information, size_of::<libc::dl_phdr_info>(), data) };
            if answer != 0 {
                return answer;
            }
        }
    }
    // SAFETY: what the caller asked for.
    unsafe { libc::dl_iterate_phdr(Some(visitor), data) }
}
