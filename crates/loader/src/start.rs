//! The beginning of a program: what the kernel puts on the stack for `_start` (System V ABI, x86-64 supplement, 3.4.1).

use std::arch::asm;
use std::ffi::{CStr, c_char};

/// Arguments and environment of a program, as `_start` finds them on the stack. The texts belong to the caller.
#[derive(Clone, Debug)]
pub struct Start<'a> {
    words: Vec<usize>,
    /// What is put on the stack.
    short: Vec<usize>,
    count: usize,
    texts: std::marker::PhantomData<&'a CStr>,
}

impl<'a> Start<'a> {
    /// Arguments, the first of which is the program's name, and variables of the form `NAME=value`.
    pub fn new(arguments: &[&'a CStr], variables: &[&'a CStr]) -> Self {
        let address = |text: &&CStr| text.as_ptr() as usize;
        let all = |variables: &[&CStr]| -> Vec<usize> {
            let texts = arguments.iter().map(address).chain([0]).chain(variables.iter().map(address)).chain([0]);
            // The auxiliary vector: the size of a page, and its end.
            let auxiliary = [libc::AT_PAGESZ as usize, 4096, libc::AT_NULL as usize, 0];
            [arguments.len()].into_iter().chain(texts).chain(auxiliary).collect()
        };
        Self { words: all(variables), short: all(&[]), count: arguments.len(), texts: std::marker::PhantomData }
    }

    /// How many arguments there are.
    pub fn count(&self) -> i32 {
        self.count as i32
    }

    /// The arguments as `main` gets them.
    pub fn arguments(&self) -> *const *const c_char {
        self.words[1..].as_ptr().cast()
    }

    /// The variables as `main` gets them.
    pub fn variables(&self) -> *const *const c_char {
        self.words[self.count + 2..].as_ptr().cast()
    }

    /// Puts the arguments on the stack and begins a program. What is above on the stack stays. `main` gets its arguments and variables from whoever
    /// answers `__libc_start_main`: what is on the stack is for `_start` alone, and without the variables it is short.
    ///
    /// # Safety
    /// `entry` is the beginning of a copy that lives as long as it runs, and the stack is large enough for it. The copy must not
    /// return from `__libc_start_main`, and nothing on the stack of the caller is dropped.
    pub unsafe fn enter(&self, entry: usize) -> ! {
        // SAFETY: the words are copied below all that is in use; then the stack is as the kernel leaves it, rdx says that there is
        // nothing to be called at the end, and rbp marks the last frame.
        unsafe {
            asm!(
                "sub rsp, rdx",
                "and rsp, -16",
                "mov rdi, rsp",
                "cld",
                "rep movsq",
                "xor edx, edx",
                "xor ebp, ebp",
                "jmp rax",
                in("rax") entry,
                in("rcx") self.short.len(),
                in("rdx") self.short.len() * 8,
                in("rsi") self.short.as_ptr(),
                options(noreturn)
            )
        }
    }
}
