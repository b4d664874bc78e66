//! Pieces of machine code that lead from a program to our functions.

use std::collections::HashMap;
use std::io;

use super::{deadlines, gate, standins};

/// Code for calls of our functions, in memory that does not change after ranks have begun.
pub struct Code {
    page: usize,
    used: usize,
    known: HashMap<usize, usize>,
}

/// Bytes for all of it, and for a piece, of which some take more.
const CODE: usize = 1 << 20;
const STUB: usize = 48;

impl Code {
    /// None yet.
    pub fn new() -> io::Result<Code> {
        let rights = libc::PROT_READ | libc::PROT_WRITE;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        // SAFETY: new memory at an address that the kernel chooses.
        let page = unsafe { libc::mmap(std::ptr::null_mut(), CODE, rights, flags, -1, 0) };
        if page == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        Ok(Code { page: page as usize, used: 0, known: HashMap::new() })
    }

    fn put(&mut self, code: &[u8]) -> usize {
        let room = code.len().next_multiple_of(STUB);
        assert!(self.used + room <= CODE, "there is room for all functions");
        let at = self.page + self.used;
        self.used += room;
        // SAFETY: the memory is ours, and has room.
        unsafe { (at as *mut u8).copy_from_nonoverlapping(code.as_ptr(), code.len()) };
        at
    }

    /// All code is there: it may be executed from now on.
    pub fn finish(self) -> io::Result<()> {
        let rights = libc::PROT_READ | libc::PROT_EXEC;
        // SAFETY: the memory is ours.
        match unsafe { libc::mprotect(self.page as *mut libc::c_void, CODE, rights) } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }

    /// A way to a function, which only ranks may call.
    pub fn way_to(&mut self, function: usize) -> usize {
        if let Some(&known) = self.known.get(&function) {
            return known;
        }
        let way = self.put(&gate::stub(function, standins::forbidden as *const () as usize));
        self.known.insert(function, way);
        way
    }

    /// A function that gives always the same.
    pub fn constant(&mut self, value: usize) -> usize {
        // movabs rax, value; ret.
        let mut code = vec![0x48, 0xB8];
        code.extend(value.to_le_bytes());
        code.push(0xC3);
        self.put(&code)
    }

    /// A way to a function of the C library, past one of ours that says what its first argument is.
    pub fn way_through(&mut self, function: usize, number: usize) -> usize {
        // mov rax, rdi; ret.
        let same = self.put(&[0x48, 0x89, 0xF8, 0xC3]);
        let ours = self.put(&gate::stub(function, same));
        // push rcx; push rdx; push rsi; push rdi; sub rsp, 8; movabs rax, ours; call rax.
        let mut code = vec![0x51, 0x52, 0x56, 0x57, 0x48, 0x83, 0xEC, 0x08, 0x48, 0xB8];
        code.extend(ours.to_le_bytes());
        // add rsp, 8; pop rdi; pop rsi; pop rdx; pop rcx.
        code.extend([0xFF, 0xD0, 0x48, 0x83, 0xC4, 0x08, 0x5F, 0x5E, 0x5A, 0x59]);
        // mov rdi, rax; movabs rax, slot; jmp [rax].
        code.extend([0x48, 0x89, 0xC7, 0x48, 0xB8]);
        code.extend(gate::kept(number).to_le_bytes());
        code.extend([0xFF, 0x20]);
        self.put(&code)
    }

    /// A way to a function of the C library that waits until a given time, which is its argument at `place` (1 to 3). What it gives
    /// goes through another one of ours, which may say that it is to be called again.
    pub fn way_until(&mut self, place: usize, number: usize, after: usize) -> usize {
        // mov rax, rdi; ret.
        let same = self.put(&[0x48, 0x89, 0xF8, 0xC3]);
        let before = self.put(&gate::stub(deadlines::real as *const () as usize, same));
        let after = self.put(&gate::stub(after, same));
        // mov REGISTER, rax; where that is kept on the stack: rsi, rdx, rcx.
        let [set, kept] = [[0xC6, 0x28], [0xC2, 0x20], [0xC1, 0x18]][place - 1];
        // push rdi; push rsi; push rdx; push rcx; sub rsp, 24.
        let mut code = vec![0x57, 0x56, 0x52, 0x51, 0x48, 0x83, 0xEC, 0x18];
        let again = code.len() as i32;
        // mov rdi, [rsp + KEPT]; mov rsi, rsp; movabs rax, before; call rax.
        code.extend([0x48, 0x8B, 0x7C, 0x24, kept, 0x48, 0x89, 0xE6, 0x48, 0xB8]);
        code.extend(before.to_le_bytes());
        code.extend([0xFF, 0xD0]);
        // mov rcx, [rsp + 24]; mov rdx, [rsp + 32]; mov rsi, [rsp + 40]; mov rdi, [rsp + 48].
        code.extend([0x48, 0x8B, 0x4C, 0x24, 0x18, 0x48, 0x8B, 0x54, 0x24, 0x20]);
        code.extend([0x48, 0x8B, 0x74, 0x24, 0x28, 0x48, 0x8B, 0x7C, 0x24, 0x30]);
        // mov REGISTER, rax; movabs rax, slot; call [rax].
        code.extend([0x48, 0x89, set, 0x48, 0xB8]);
        code.extend(gate::kept(number).to_le_bytes());
        code.extend([0xFF, 0x10]);
        // mov edi, eax; mov rsi, [rsp + KEPT]; movabs rax, after; call rax.
        code.extend([0x89, 0xC7, 0x48, 0x8B, 0x74, 0x24, kept, 0x48, 0xB8]);
        code.extend(after.to_le_bytes());
        code.extend([0xFF, 0xD0]);
        // cmp eax, AGAIN; je again.
        code.push(0x3D);
        code.extend(deadlines::AGAIN.to_le_bytes());
        code.extend([0x0F, 0x84]);
        let next = code.len() as i32 + 4;
        code.extend((again - next).to_le_bytes());
        // add rsp, 56; ret.
        code.extend([0x48, 0x83, 0xC4, 0x38, 0xC3]);
        self.put(&code)
    }

    /// A way to a function in place of the C library's, which is called in processes that are not ranks.
    pub fn way_instead(&mut self, function: usize, number: usize) -> usize {
        // movabs rax, slot; jmp [rax].
        let mut code = vec![0x48, 0xB8];
        code.extend(gate::kept(number).to_le_bytes());
        code.extend([0xFF, 0x20]);
        let otherwise = self.put(&code);
        self.put(&gate::stub(function, otherwise))
    }
}
