//! Where calls of replaced functions arrive: a stub for each, which says its number, and one function for all that keeps the
//! registers in which arguments are passed (System V ABI, x86-64 supplement, 3.2.3).

use std::arch::naked_asm;

use super::KERNELS;

/// Registers and stack at the beginning of a call.
#[repr(C)]
pub struct Registers {
    /// rdi, rsi, rdx, rcx, r8, r9.
    pub integers: [u64; 6],
    /// xmm0 to xmm7, as far as they hold one number.
    pub floats: [f64; 8],
    /// Arguments that do not fit.
    pub stack: *const u64,
}

/// What is done after a call was looked at.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Action {
    /// Returns to the caller with a number, as an integer and as a floating-point number.
    Give(u64, f64),
    /// Goes on with the original function.
    Run(usize),
}

/// What the caller is given, in rax and rdx.
#[repr(C)]
struct Number {
    integer: u64,
    float: u64,
}

/// `run` becomes the address to go on at, or 0. All else is in registers: what is read in other pieces than it was written in holds
/// the processor up.
unsafe extern "C" fn called(number: usize, registers: &Registers, run: &mut usize) -> Number {
    let kernels = KERNELS.get();
    // SAFETY: stubs are called only while their kernels are installed.
    let action = unsafe { (*kernels).called(number, registers) };
    let (original, integer, float) = match action {
        Action::Give(integer, float) => (0, integer, float.to_bits()),
        Action::Run(original) => (original, 0, 0),
    };
    *run = original;
    Number { integer, float }
}

/// All stubs jump here, with their number in r11.
#[unsafe(naked)]
unsafe extern "C" fn enter() {
    naked_asm!(
        "push rbp",
        "mov rbp, rsp",
        "sub rsp, 144",
        "mov [rsp], rdi",
        "mov [rsp + 8], rsi",
        "mov [rsp + 16], rdx",
        "mov [rsp + 24], rcx",
        "mov [rsp + 32], r8",
        "mov [rsp + 40], r9",
        "movsd [rsp + 48], xmm0",
        "movsd [rsp + 56], xmm1",
        "movsd [rsp + 64], xmm2",
        "movsd [rsp + 72], xmm3",
        "movsd [rsp + 80], xmm4",
        "movsd [rsp + 88], xmm5",
        "movsd [rsp + 96], xmm6",
        "movsd [rsp + 104], xmm7",
        "lea rax, [rbp + 16]",
        "mov [rsp + 112], rax",
        "mov rdi, r11",
        "mov rsi, rsp",
        "lea rdx, [rsp + 120]",
        "call {called}",
        "mov r11, [rsp + 120]",
        "test r11, r11",
        "jnz 2f",
        "movq xmm0, rdx",
        "leave",
        "ret",
        "2:",
        "mov rdi, [rsp]",
        "mov rsi, [rsp + 8]",
        "mov rdx, [rsp + 16]",
        "mov rcx, [rsp + 24]",
        "mov r8, [rsp + 32]",
        "mov r9, [rsp + 40]",
        "movsd xmm0, [rsp + 48]",
        "movsd xmm1, [rsp + 56]",
        "movsd xmm2, [rsp + 64]",
        "movsd xmm3, [rsp + 72]",
        "movsd xmm4, [rsp + 80]",
        "movsd xmm5, [rsp + 88]",
        "movsd xmm6, [rsp + 96]",
        "movsd xmm7, [rsp + 104]",
        "leave",
        "jmp r11",
        called = sym called,
    )
}

/// What a function gives: in rax and rdx, xmm0 and xmm1.
#[repr(C)]
pub struct Given {
    /// An integer or an address.
    pub integers: [u64; 2],
    /// Two floating-point numbers each.
    pub floats: [[f64; 2]; 2],
}

unsafe extern "C" fn returned(given: &Given) -> u64 {
    // SAFETY: as above.
    unsafe { (*KERNELS.get()).returned(given) }
}

/// Functions that are measured return here: their results are kept meanwhile.
#[unsafe(naked)]
unsafe extern "C" fn leave() {
    naked_asm!(
        "sub rsp, 64",
        "mov [rsp], rax",
        "mov [rsp + 8], rdx",
        "movups [rsp + 16], xmm0",
        "movups [rsp + 32], xmm1",
        "mov rdi, rsp",
        "call {returned}",
        "mov [rsp + 56], rax",
        "mov rax, [rsp]",
        "mov rdx, [rsp + 8]",
        "movups xmm0, [rsp + 16]",
        "movups xmm1, [rsp + 32]",
        "add rsp, 56",
        "ret",
        returned = sym returned,
    )
}

impl Registers {
    /// Lets the function return to [`leave`] instead of its caller; gives where it would have returned.
    pub fn return_through_us(&self) -> u64 {
        let place = self.stack.wrapping_sub(1).cast_mut();
        // SAFETY: below the arguments on the stack is the address that the call returns to.
        unsafe { place.replace(leave as *const () as u64) }
    }
}

/// Bytes of a stub.
const STUB: usize = 32;

/// mov r11, number; mov rax, enter; jmp rax.
fn jump_to_enter(number: usize) -> Vec<u8> {
    let mut code = vec![0x49, 0xBB];
    code.extend((number as u64).to_le_bytes());
    code.extend([0x48, 0xB8]);
    code.extend((enter as *const () as u64).to_le_bytes());
    code.extend([0xFF, 0xE0]);
    code
}

/// mov rax, integer; mov r11, bits of the number; movq xmm0, r11; ret.
fn give(value: f64) -> Vec<u8> {
    let mut code = vec![0x48, 0xB8];
    code.extend((value as i64).to_le_bytes());
    code.extend([0x49, 0xBB]);
    code.extend(value.to_bits().to_le_bytes());
    code.extend([0x66, 0x49, 0x0F, 0x6E, 0xC3, 0xC3]);
    code
}

/// The stubs, in memory of their own.
pub struct Stubs {
    page: usize,
    length: usize,
}

impl Stubs {
    /// A stub for each function; those that always give the same, and take no time, give it at once.
    pub fn new(constants: &[Option<f64>]) -> Stubs {
        let count = constants.len();
        let length = (count * STUB).next_multiple_of(4096).max(4096);
        let protection = libc::PROT_READ | libc::PROT_WRITE | libc::PROT_EXEC;
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
        // SAFETY: new memory at an address that the kernel chooses.
        let page = unsafe { libc::mmap(std::ptr::null_mut(), length, protection, flags, -1, 0) };
        assert!(page != libc::MAP_FAILED, "there is memory for the stubs of replaced functions");
        for (number, constant) in constants.iter().enumerate() {
            let code = constant.map_or_else(|| jump_to_enter(number), give);
            // SAFETY: there is room for so many.
            unsafe { page.cast::<u8>().add(number * STUB).copy_from_nonoverlapping(code.as_ptr(), code.len()) };
        }
        Stubs { page: page as usize, length }
    }

    /// The stub with that number.
    pub fn address(&self, number: usize) -> usize {
        self.page + number * STUB
    }
}

impl Drop for Stubs {
    fn drop(&mut self) {
        // SAFETY: mapped by `new`; programs have ended.
        unsafe { libc::munmap(self.page as *mut libc::c_void, self.length) };
    }
}
