//! All symbols that programs find here in place of their libraries'.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};

use crate::stubs::Stubs;
use crate::{extensions, functions, libc_functions};

/// Functions that give an address, which modules of Fortran also have as a `type(c_ptr)`.
const ADDRESSES: [&str; 4] = ["MPI_Alloc_mem", "MPI_Win_allocate", "MPI_Win_allocate_shared", "MPI_Win_shared_query"];

/// Symbols and their addresses.
pub struct Symbols {
    known: HashMap<String, usize>,
    stubs: RefCell<Stubs>,
}

impl Symbols {
    /// MPI in C and Fortran, with the names of the profiling interface, and functions of the C library that concern a whole
    /// process.
    pub fn new() -> Symbols {
        let mut known = HashMap::new();
        let mut add = |name: &str, address: *const ()| {
            known.insert(name.to_owned(), address as usize);
            if name.starts_with("MPI_") {
                known.insert(format!("P{name}"), address as usize);
            } else if name.starts_with("mpi_") {
                known.insert(format!("p{name}"), address as usize);
            }
        };
        for function in functions::functions() {
            add(function.name, function.c.0);
            let lower = function.name.to_lowercase();
            add(&format!("{lower}_"), function.fortran.0);
            add(&format!("{lower}__"), function.fortran.0);
            if ADDRESSES.contains(&function.name) {
                add(&format!("{lower}_cptr_"), function.fortran.0);
            }
            // What Open MPI's module mpi_f08 calls: the same arguments.
            if let Some(stem) = lower.strip_prefix("mpi_") {
                add(&format!("ompi_{stem}_f"), function.fortran.0);
            }
        }
        for (name, address) in functions::others() {
            add(name, address.0);
        }
        for (name, address) in libc_functions::functions().into_iter().chain(extensions::functions()) {
            add(name, address);
        }
        // What our own module mpi_f08 calls: the same arguments, and the error code may be left out.
        for function in functions::functions() {
            let lower = function.name.to_lowercase();
            if let Some(&address) = known.get(&format!("{lower}_")) {
                known.insert(format!("{lower}_abi_"), address);
                known.insert(format!("p{lower}_abi_"), address);
            }
        }
        Symbols { known, stubs: RefCell::default() }
    }

    /// Something else takes the place of a symbol.
    pub fn set(&mut self, symbol: &str, address: usize) {
        self.known.insert(symbol.to_owned(), address);
    }

    /// The address of a symbol.
    pub fn get(&self, symbol: &str) -> Option<usize> {
        self.known.get(symbol).copied()
    }

    /// Functions of MPI, by name.
    pub fn of_mpi(&self) -> impl Iterator<Item = (&str, usize)> {
        let of_libc: HashSet<&str> = libc_functions::functions().into_iter().map(|(name, _)| name).collect();
        let known = self.known.iter().map(|(name, &address)| (name.as_str(), address));
        known.filter(move |(name, _)| !of_libc.contains(name))
    }

    /// A function that stops with a message, for functions of MPI that are not here.
    pub fn missing(&self, symbol: &str) -> Option<usize> {
        let lower = symbol.to_lowercase();
        let is_mpi =
            ["mpi_", "pmpi_", "mpix_", "pmpix_", "ompi_", "mpir_", "mpii_", "mpid_", "opal_", "orte_", "ompix_"]
                .iter()
                .any(|prefix| lower.starts_with(prefix));
        if is_mpi { self.stubs.borrow_mut().make(symbol) } else { None }
    }
}
