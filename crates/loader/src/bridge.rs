//! The way from a replaced function to its handler.
//!
//! Compilers know what functions of the same source file do. Where such a function is small, its caller may keep values in registers
//! that any function is allowed to change (`-fipa-ra` of gcc), and leave the stack unaligned. A handler knows nothing of that: so
//! it is called with an aligned stack, and all registers are as before when it returns, but for those in which the original returns
//! something.

use std::arch::naked_asm;

use iced_x86::{Instruction, InstructionInfoFactory, Mnemonic, OpAccess, OpKind, Register};

/// What the bridge needs to know of a function.
#[repr(C)]
pub struct Crossing {
    /// Called instead of the function.
    pub handler: usize,
    /// Registers that keep what the handler leaves in them: 1 for rax, 2 for rdx, 4 for xmm0, 8 for xmm1.
    pub results: u64,
}

/// Code that goes to the bridge: `push r11; mov r11, crossing; jmp [rip]` and the address of the bridge.
pub fn approach(crossing: *const Crossing) -> [u8; 26] {
    let mut code = [0; 26];
    code[..4].copy_from_slice(&[0x41, 0x53, 0x49, 0xbb]);
    code[4..12].copy_from_slice(&(crossing as usize).to_le_bytes());
    code[12..18].copy_from_slice(&[0xff, 0x25, 0, 0, 0, 0]);
    code[18..].copy_from_slice(&(bridge as *const () as usize).to_le_bytes());
    code
}

/// Registers in which a function may return something: those that it changes. If it calls others, they may do it.
pub fn results(body: &[Instruction], start: u64) -> u64 {
    let end = body.last().map_or(start, Instruction::next_ip);
    let mut factory = InstructionInfoFactory::new();
    let mut results = 0;
    for instruction in body {
        let is_near = instruction.op0_kind() == OpKind::NearBranch64;
        let leaves = is_near && !(start..end).contains(&instruction.near_branch_target());
        let is_indirect = !is_near && matches!(instruction.mnemonic(), Mnemonic::Jmp | Mnemonic::Call);
        if leaves || is_indirect || instruction.mnemonic() == Mnemonic::Call || instruction.is_invalid() {
            return 15;
        }
        for used in factory.info(instruction).used_registers() {
            let reads =
                matches!(used.access(), OpAccess::None | OpAccess::Read | OpAccess::CondRead | OpAccess::NoMemAccess);
            results |= match used.register().full_register() {
                _ if reads => 0,
                Register::RAX => 1,
                Register::RDX => 2,
                Register::ZMM0 => 4,
                Register::ZMM1 => 8,
                _ => 0,
            };
        }
    }
    results
}

/// Calls the handler of the crossing in r11; the caller's r11 is on the stack.
///
/// Arguments on the stack are copied: 32 words, which is more than functions have.
#[unsafe(naked)]
unsafe extern "C" fn bridge() {
    naked_asm!(
        "push rbp",
        "mov rbp, rsp",
        // At rbp: the caller's rbp, its r11, where to return to, arguments.
        "push rax",    // rbp - 8
        "push rcx",    // - 16
        "push rdx",    // - 24
        "push rsi",    // - 32
        "push rdi",    // - 40
        "push r8",     // - 48
        "push r9",     // - 56
        "push r10",    // - 64
        "push r11",    // - 72
        "sub rsp, 56", // Results: rax at - 80, rdx at - 88, xmm0 at - 104, xmm1 at - 120.
        // All vector registers, in the layout that the processor has for them: 2,688 bytes, of which a header of 64 must be zero.
        "sub rsp, 2688",
        "and rsp, -64",
        "xor eax, eax",
        "mov [rsp + 512], rax",
        "mov [rsp + 520], rax",
        "mov [rsp + 528], rax",
        "mov [rsp + 536], rax",
        "mov [rsp + 544], rax",
        "mov [rsp + 552], rax",
        "mov [rsp + 560], rax",
        "mov [rsp + 568], rax",
        // SSE, AVX and AVX-512, as far as there are.
        "mov eax, 0xe6",
        "xor edx, edx",
        "xsave64 [rsp]",
        "lea r10, [rbp + 24 + 256]",
        "mov eax, 32",
        "2:",
        "sub r10, 8",
        "push qword ptr [r10]",
        "dec eax",
        "jnz 2b",
        "mov rax, [rbp - 8]",
        "mov rdx, [rbp - 24]",
        "mov r10, [rbp - 64]",
        "call [r11]",
        "add rsp, 256",
        "mov [rbp - 80], rax",
        "mov [rbp - 88], rdx",
        "movups [rbp - 104], xmm0",
        "movups [rbp - 120], xmm1",
        "mov eax, 0xe6",
        "xor edx, edx",
        "xrstor64 [rsp]",
        "mov r11, [rbp - 72]",
        "mov rcx, [r11 + 8]",
        "mov rax, [rbp - 8]",
        "mov rdx, [rbp - 24]",
        "test cl, 1",
        "cmovnz rax, [rbp - 80]",
        "test cl, 2",
        "cmovnz rdx, [rbp - 88]",
        "test cl, 4",
        "jz 3f",
        "movups xmm0, [rbp - 104]",
        "3:",
        "test cl, 8",
        "jz 4f",
        "movups xmm1, [rbp - 120]",
        "4:",
        "mov rcx, [rbp - 16]",
        "mov rsi, [rbp - 32]",
        "mov rdi, [rbp - 40]",
        "mov r8, [rbp - 48]",
        "mov r9, [rbp - 56]",
        "mov r10, [rbp - 64]",
        "mov rsp, rbp",
        "pop rbp",
        "pop r11",
        "ret",
    )
}

#[cfg(test)]
mod tests {
    use iced_x86::{Decoder, DecoderOptions};

    use super::*;

    fn results_of(code: &[u8]) -> u64 {
        let body: Vec<_> = Decoder::with_ip(64, code, 0x1000, DecoderOptions::NONE).into_iter().collect();
        results(&body, 0x1000)
    }

    #[test]
    fn what_a_function_changes_it_may_return() {
        assert_eq!(results_of(&[0x31, 0xc9, 0xc3]), 0, "xor ecx, ecx");
        assert_eq!(results_of(&[0x8d, 0x04, 0x7f, 0xc3]), 1, "lea eax, [rdi + rdi * 2]");
        assert_eq!(results_of(&[0x99, 0xf7, 0xfe, 0xc3]), 3, "cdq; idiv esi");
        assert_eq!(results_of(&[0xf2, 0x0f, 0x58, 0xc1, 0xc3]), 4, "addsd xmm0, xmm1");
        assert_eq!(results_of(&[0xc5, 0xfc, 0x28, 0xc8, 0xc3]), 8, "vmovaps ymm1, ymm0");
        assert_eq!(results_of(&[0x31, 0xc9, 0xeb, 0x10]), 15, "a jump to another function");
        assert_eq!(results_of(&[0xe8, 0, 0, 0, 0, 0xc3]), 15, "a call");
        assert_eq!(results_of(&[0xff, 0xe0]), 15, "jmp rax");
    }
}
