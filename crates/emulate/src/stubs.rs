//! Functions that say that they are not here.

use crate::process::{Ending, Process};

/// Bytes of a stub: two moves of a word and a jump.
const STUB: usize = 32;
const STUBS: usize = 4096 / STUB;

/// Code that was made for symbols that nobody has.
#[derive(Default)]
pub struct Stubs {
    page: Option<usize>,
    used: usize,
}

impl Stubs {
    /// A function that ends the run with the name of the symbol; none if there are too many.
    pub fn make(&mut self, symbol: &str) -> Option<usize> {
        if self.page.is_none() || self.used == STUBS {
            self.page = new_page();
            self.used = 0;
        }
        let at = (self.page? + self.used * STUB) as *mut u8;
        self.used += 1;
        // The program may call it as long as it runs.
        let name: &'static String = Box::leak(Box::new(symbol.to_owned()));
        let mut code = vec![0x48, 0xBF];
        code.extend((&raw const *name as u64).to_le_bytes());
        code.extend([0x48, 0xB8]);
        code.extend((called as *const () as u64).to_le_bytes());
        code.extend([0xFF, 0xE0]);
        // SAFETY: the page is ours, writable and has room.
        unsafe { at.copy_from_nonoverlapping(code.as_ptr(), code.len()) };
        Some(at as usize)
    }
}

fn new_page() -> Option<usize> {
    let protection = libc::PROT_READ | libc::PROT_WRITE | libc::PROT_EXEC;
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
    // SAFETY: new memory at an address that the kernel chooses.
    let page = unsafe { libc::mmap(std::ptr::null_mut(), 4096, protection, flags, -1, 0) };
    (page != libc::MAP_FAILED).then_some(page as usize)
}

/// What all stubs jump to, with the name as argument: movabs rdi, name; movabs rax, called; jmp rax.
extern "C" fn called(name: &String) -> ! {
    Process::current().end(Ending::Unsupported(name.clone()))
}
