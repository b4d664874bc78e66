//! What programs find in the libraries that take the place of theirs.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::ffi::{CStr, CString, OsString};
use std::fs;
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use super::code::Code;
use super::deadlines;
use super::elf::Elf;
use super::gate;
use super::library::{Library as File, Symbol};
use super::standins;
use super::start::Libraries;
use crate::abi::{self, Abi, Library, Place};
use crate::interface;
use crate::kernels::Kernels;
use crate::launch::sentinels;
use crate::process::Process;
use crate::symbols::Symbols;

/// Functions that extend the standard, and that bindings for other languages name.
const EXTENSIONS: [&str; 8] = [
    "MPIX_Comm_ack_failed",
    "MPIX_Comm_agree",
    "MPIX_Comm_get_failed",
    "MPIX_Comm_iagree",
    "MPIX_Comm_is_revoked",
    "MPIX_Comm_revoke",
    "MPIX_Comm_shrink",
    "MPIX_Query_cuda_support",
];

/// Variables of the libraries that only Fortran has. Programs have them themselves, as a rule.
const FORTRAN: [(Library, &[&str]); 3] = [
    (
        Library::OpenMpi,
        &[
            "mpi_fortran_bottom_",
            "mpi_fortran_in_place_",
            "mpi_fortran_status_ignore_",
            "mpi_fortran_statuses_ignore_",
            "mpi_fortran_unweighted_",
            "mpi_fortran_weights_empty_",
            "mpi_fortran_argv_null_",
            "mpi_fortran_argvs_null_",
            "mpi_fortran_errcodes_ignore_",
        ],
    ),
    (Library::Mpich, &["mpipriv1_", "mpipriv2_", "mpiprivc_", "mpifcmb5_", "mpifcmb9_"]),
    (Library::Standard, &["mpipriv1_", "mpipriv2_", "mpiprivc_", "mpifcmb5_", "mpifcmb9_"]),
];

/// Libraries of Open MPI 4 and MPICH 4 for other languages.
const ADAPTERS: [&str; 7] = [
    "libmpi_cxx.so.40",
    "libmpi_usempi_ignore_tkr.so.40",
    "libmpi_usempif08.so.40",
    "libmpifort.so.12",
    "libmpichfort.so.12",
    "libmpicxx.so.12",
    "libmpichcxx.so.12",
];

/// How the names of Open MPI's variables begin that stand for handles.
const HANDLES: &str = "ompi_";

/// Bytes of such a variable: statuses are the largest.
const VARIABLE: usize = 64;

/// Which file holds what a library has. Others of its names only lead there.
pub fn main(library: Library) -> &'static str {
    match library {
        Library::OpenMpi => "libmpi.so.40",
        Library::Mpich => "libmpich.so.12",
        Library::Standard => "libmpi_abi.so.0",
    }
}

fn others(library: Library) -> &'static [&'static str] {
    match library {
        Library::OpenMpi => &["libmpi_mpifh.so.40", "libopen-rte.so.40", "libopen-pal.so.40"],
        Library::Mpich => &["libmpi.so.12"],
        Library::Standard => &["libmpi_abi.so.1", "libmpi_abi.so"],
    }
}

/// An interface that no program has asked for yet.
struct Prepared {
    library: Library,
    abi: Option<Abi>,
    /// The names whose addresses are in the table of the library, and their addresses if the program has no such variables.
    names: Vec<(String, usize)>,
}

thread_local! {
    /// Our libraries, by the names of those in whose places they are.
    static OURS: RefCell<HashMap<String, &'static CStr>> = RefCell::default();
    static PREPARED: RefCell<Vec<Prepared>> = const { RefCell::new(Vec::new()) };
    /// The interface that a program has asked for.
    static CHOSEN: Cell<Option<Library>> = const { Cell::new(None) };
}

/// The MPI library that the program uses, as far as is known.
pub fn chosen() -> Option<Library> {
    CHOSEN.get()
}

/// Our library in the place of another; its name stays.
pub fn ours(soname: &str) -> Option<&'static CStr> {
    OURS.with_borrow(|all| all.get(soname).copied())
}

/// Writes all libraries into a folder.
///
/// Libraries for other languages use names inside the library that they belong to, which are there too, and say so if they
/// are called.
pub fn write(folder: &Path, symbols: &Symbols, kernels: Option<&Kernels>) -> io::Result<Libraries> {
    let mut code = Code::new()?;
    let functions = functions(symbols, &inside(), &mut code);
    CHOSEN.set(None);
    PREPARED.with_borrow_mut(Vec::clear);
    for library in [Library::Standard, Library::Mpich, Library::OpenMpi] {
        note_ours(folder, library);
        fs::write(folder.join(main(library)), prepare(library, &functions).file())?;
        for &name in others(library) {
            let needed = vec![main(library).to_owned()];
            let (on_load, on_exit) = (RETURN.into(), RETURN.into());
            let empty = File { soname: name.to_owned(), needed, on_load, on_exit, ..File::default() };
            fs::write(folder.join(name), empty.file())?;
        }
    }
    let always = folder.join("libhpcast.so");
    fs::write(&always, standins(&mut code, kernels).file())?;
    code.finish()?;
    Ok(Libraries { folder: folder.into(), always })
}

/// The code of a function that does nothing.
const RETURN: [u8; 1] = [0xC3];

/// A library with these functions.
fn prepare(library: Library, functions: &[(String, usize)]) -> File {
    let abi = Abi::new(library);
    let mut symbols = variables(&abi);
    let names: Vec<(String, usize)> = symbols.iter().map(|symbol| (symbol.name.clone(), symbol.address)).collect();
    let known: HashSet<&str> = names.iter().map(|(name, _)| name.as_str()).collect();
    // Programs take who has these for a library with the standard ABI.
    let is_of_other = |name: &str| library != Library::Standard && name.contains("MPI_Abi_");
    let functions = functions.iter().filter(|(name, _)| !known.contains(name.as_str()) && !is_of_other(name));
    symbols.extend(functions.map(|(name, address)| function(name, *address)));
    let file = File {
        soname: main(library).to_owned(),
        needed: Vec::new(),
        table: (0..names.len()).collect(),
        symbols,
        on_load: with_number(library as u32, &gate::stub(loaded as *const () as usize, 0)),
        on_exit: RETURN.into(),
    };
    PREPARED.with_borrow_mut(|prepared| prepared.push(Prepared { library, abi: Some(abi), names }));
    file
}

fn note_ours(folder: &Path, library: Library) {
    for name in others(library).iter().chain([&main(library)]) {
        let path = CString::new(folder.join(name).into_os_string().into_vec()).unwrap_or_default();
        OURS.with_borrow_mut(|all| all.insert((*name).to_owned(), Box::leak(path.into_boxed_c_str())));
    }
}

fn function(name: &str, address: usize) -> Symbol {
    Symbol { name: name.to_owned(), address, size: 0 }
}

/// mov esi, number; then the stub.
fn with_number(number: u32, stub: &[u8]) -> Vec<u8> {
    let mut code = vec![0xBE];
    code.extend(number.to_le_bytes());
    code.extend(stub);
    code
}

/// All functions of MPI, in the order of their names; those that are not here say so.
fn functions(symbols: &Symbols, inside: &[String], code: &mut Code) -> Vec<(String, usize)> {
    let mut all: Vec<(String, usize)> =
        symbols.of_mpi().map(|(name, address)| (name.to_owned(), code.way_to(address))).collect();
    let standard = interface::coverage().into_iter().map(|function| function.name);
    let names = standard.chain(EXTENSIONS).flat_map(|name| [name.to_owned(), format!("P{name}")]);
    let names: BTreeSet<String> = names.chain(inside.iter().cloned()).collect();
    for name in names.into_iter().filter(|name| symbols.get(name).is_none()) {
        if let Some(address) = symbols.missing(&name) {
            all.push((name, code.way_to(address)));
        }
    }
    all.sort();
    all
}

/// What libraries for other languages ask of the library that they belong to, and what it has beyond the standard. Any library that a program needs, or loads while
/// it runs, may need them: those that are here count, whoever needs them.
fn inside() -> Vec<String> {
    let files = ADAPTERS.iter().filter_map(|name| Elf::read(&hpcast_loader::find_usual(name)?).ok()?);
    files.flat_map(|file| file.undefined()).chain(abi::unusable().map(str::to_owned)).collect()
}

/// Variables of a library: objects that handles are addresses of, and those of Fortran.
fn variables(abi: &Abi) -> Vec<Symbol> {
    let cells = abi.handles().cells();
    let mut all: Vec<Symbol> =
        cells.objects().map(|(name, address, size)| Symbol { name: name.to_owned(), address, size }).collect();
    for name in ["MPI_UNWEIGHTED", "MPI_WEIGHTS_EMPTY"] {
        if abi.library == Library::Mpich
            && let Some((address, size)) = abi::variable(name)
        {
            all.push(Symbol { name: name.to_owned(), address, size });
        }
    }
    let of_fortran = FORTRAN.iter().filter(|(library, _)| *library == abi.library).flat_map(|(_, names)| *names);
    for name in of_fortran {
        let memory = Box::leak(Box::new([0u8; VARIABLE]));
        all.push(Symbol { name: (*name).to_owned(), address: memory.as_ptr() as usize, size: VARIABLE });
    }
    all
}

/// What AddressSanitizer is told before what the user and the program tell it: it insists on being the first library, which is ours, and takes
/// what our library loads for lost.
const FOR_SANITIZER: &CStr = c"verify_asan_link_order=0:detect_leaks=0";

/// What every program gets: clocks, and what else is modelled.
fn standins(code: &mut Code, kernels: Option<&Kernels>) -> File {
    let mut symbols: Vec<Symbol> = standins::FOUND.map(|name| function(name, 0)).into();
    let table = (0..symbols.len()).collect();
    for (number, (name, address)) in standins::functions().into_iter().enumerate() {
        let way = match (name, deadlines::place(name)) {
            ("dlopen" | "pthread_create", _) => code.way_through(address, number),
            (_, Some(place)) => code.way_until(place, number, deadlines::after(name)),
            (_, None) => code.way_instead(address, number),
        };
        symbols.push(function(name, way));
    }
    for (name, address) in kernels.into_iter().flat_map(Kernels::stubs) {
        symbols.push(function(name, code.way_to(address)));
    }
    symbols.push(function("__asan_default_options", code.constant(FOR_SANITIZER.as_ptr() as usize)));
    let on_load = gate::stub(standins::loaded as *const () as usize, 0);
    let on_exit = gate::stub(standins::leaving as *const () as usize, standins::nothing as *const () as usize);
    let needed = vec!["libdl.so.2".to_owned()];
    File { soname: "libhpcast.so".to_owned(), needed, symbols, table, on_load, on_exit }
}

/// One of the libraries has been loaded into the process of the rank that runs.
unsafe extern "C" fn loaded(table: *const usize, library: u32) {
    let me = Process::current();
    PREPARED.with_borrow_mut(|prepared| {
        let place = prepared.iter().position(|one| one.library as u32 == library)?;
        let library = prepared[place].library;
        let Prepared { abi, names, .. } = &mut prepared[place];
        // SAFETY: the library has a table of these names.
        let table = unsafe { std::slice::from_raw_parts(table, names.len()) };
        let address = |symbol: &str| names.iter().position(|(name, _)| name == symbol).map(|place| table[place]);
        // Handles are addresses of the program's own variables, which lie side by side, or of ours, which all ranks see.
        let handles = names.iter().zip(table).filter(|((name, _), _)| name.starts_with(HANDLES));
        // A name that is there twice has one address.
        let ours: HashSet<usize> = names.iter().map(|(_, common)| *common).collect();
        let own = handles.filter(|(_, address)| !ours.contains(*address));
        let first = own.clone().map(|(_, &address)| address).min().unwrap_or_default();
        let places: HashMap<&str, usize> = own.map(|((name, _), address)| (name.as_str(), address - first)).collect();
        me.set_place(first, sentinels(library, address));
        if !me.world.abi_is_known() {
            let mut abi = abi.take()?;
            abi.places(|symbol| places.get(symbol).copied().map(Place::InProgram));
            CHOSEN.set(Some(library));
            me.world.set_abi(abi);
        }
        Some(())
    });
}

/// A folder that goes when this goes.
pub struct Folder(pub PathBuf);

impl Folder {
    /// A new one, which nobody else may enter.
    pub fn new() -> io::Result<Folder> {
        let pattern = std::env::temp_dir().join("hpcast-XXXXXX").into_os_string().into_vec();
        let pattern = CString::new(pattern)?.into_raw();
        // SAFETY: a text of ours that ends as the function wants it; we take it back.
        unsafe {
            let made = !libc::mkdtemp(pattern).is_null();
            let path = OsString::from_vec(CString::from_raw(pattern).into_bytes());
            if made { Ok(Folder(path.into())) } else { Err(io::Error::last_os_error()) }
        }
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // What is left there does no harm.
        let _ = fs::remove_dir_all(&self.0);
    }
}
