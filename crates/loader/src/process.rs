//! What lies outside of the program.

use crate::host::{Host, size_at, thread_pointer};
use crate::link::Outside;
use crate::{Environment, Replacement, registry, tls};

/// The environment, what this loader itself replaces, and the process.
pub struct Process<'a> {
    /// What the caller decides.
    pub environment: &'a dyn Environment,
    /// Libraries of the process.
    pub host: Host,
}

impl Outside for Process<'_> {
    fn replacement(&self, symbol: &str) -> Option<Replacement> {
        let own = || {
            let address = match symbol {
                "__tls_get_addr" => tls::get_address as *const (),
                "_dl_find_object" => registry::find_object as *const (),
                "dladdr" => registry::name_address as *const (),
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

    fn is_kept_apart(&self, variable: &str) -> bool {
        self.environment.is_kept_apart(variable)
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
