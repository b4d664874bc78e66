//! Replaces functions that a program calls directly, so that no symbol is looked up: the beginning of the function becomes a jump.
//!
//! All copies share the code, so one change is enough. The jump goes to spare pages before the object, and from there over a bridge to
//! the handler (`bridge.rs`). There are also the instructions that it overwrites, followed by a jump to the rest of the function:
//! whoever calls these calls the original.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use iced_x86::{
    BlockEncoder, BlockEncoderOptions, Code, Decoder, DecoderOptions, Instruction, InstructionBlock, Mnemonic, OpKind,
};

use crate::bridge::{self, Crossing};
use crate::error::LoadError;
use crate::layout::SPARE;
use crate::program::Program;

/// Bytes of a jump to the spare pages.
const JUMP: usize = 5;
/// Bytes that the way to the bridge takes.
const WAY: u64 = 32;

/// How to call the original of a function that was replaced: [`crate::Instance::original`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Original {
    pub(crate) offset: u64,
}

/// What has been replaced so far.
#[derive(Default)]
pub(crate) struct Replaced {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// By the function's place in a copy. Copies have the address of what is in the box.
    functions: HashMap<u64, (Original, Box<Crossing>)>,
    /// Bytes of spare pages that are used, by object.
    used: HashMap<usize, u64>,
}

impl Program {
    /// Calls `handler` wherever the program calls a function of its own or of its libraries, in all copies, also those that exist.
    /// Exceptions cannot pass from the handler to the program.
    ///
    /// # Safety
    /// The handler takes and returns what the function does, and exists as long as there are copies. No copy runs meanwhile.
    pub unsafe fn intercept(&self, symbol: &str, handler: usize) -> Result<Original, LoadError> {
        let image = &self.inner.image;
        let Some(found) = image.find(symbol) else { return Err(LoadError::NoFunction { symbol: symbol.into() }) };
        let refuse = |problem: &str| LoadError::NotReplaceable { symbol: symbol.into(), problem: problem.into() };
        if found.is_ambiguous {
            return Err(refuse("several functions have this name"));
        }
        let mut state = self.inner.replaced.state.lock().unwrap_or_else(PoisonError::into_inner);
        let place = &image.layout.places[found.object];
        let first_is_shared = place.runs.first().is_some_and(|run| !run.is_private);
        let start = place.find(found.address, found.size, false).filter(|_| first_is_shared && found.is_function);
        let start = start.ok_or_else(|| refuse("it is not a function"))?;
        if let Some((original, crossing)) = state.functions.get_mut(&start) {
            crossing.handler = handler;
            return Ok(*original);
        }
        let mut body = vec![0; found.size as usize];
        image.space.read(start, &mut body)?;
        let body = decode(&body, start);
        let moved = movable(&body, start).map_err(|problem| refuse(&problem))?;
        let used = state.used.entry(found.object).or_default();
        let target = place.extent.start + *used;
        let code = relocate(moved, target + WAY).map_err(|problem| refuse(&problem))?;
        let taken = (*used + WAY + code.len() as u64).next_multiple_of(16);
        if taken > SPARE {
            return Err(refuse("too many functions are replaced already"));
        }
        let to_spare =
            short_jump(start, target).ok_or_else(|| refuse("it is too far from the beginning of its file"))?;
        *used = taken;
        let crossing = Box::new(Crossing { handler, results: bridge::results(&body, start) });
        image.space.write(target, &bridge::approach(&*crossing))?;
        image.space.write(target + WAY, &code)?;
        image.space.write(start, &to_spare)?;
        let original = Original { offset: target + WAY };
        state.functions.insert(start, (original, crossing));
        Ok(original)
    }
}

/// The code that is written over the beginning of a function: `jmp target`.
fn short_jump(start: u64, target: u64) -> Option<[u8; JUMP]> {
    let distance = target.wrapping_sub(start + JUMP as u64) as i64;
    let [first, second, third, fourth] = i32::try_from(distance).ok()?.to_le_bytes();
    Some([0xe9, first, second, third, fourth])
}

/// The instructions of a function.
pub(crate) fn decode(body: &[u8], start: u64) -> Vec<Instruction> {
    Decoder::with_ip(64, body, start, DecoderOptions::NONE).into_iter().collect()
}

/// The instructions at the beginning of a function that a jump overwrites, and one that goes on behind them.
pub(crate) fn movable(instructions: &[Instruction], start: u64) -> Result<Vec<Instruction>, String> {
    let size = instructions.last().map_or(0, |last| last.next_ip().wrapping_sub(start));
    if size < JUMP as u64 {
        return Err(format!("it has {size} bytes, and {JUMP} are needed"));
    }
    let count = instructions.iter().position(|one| one.next_ip().wrapping_sub(start) >= JUMP as u64);
    let count = count.map(|last| last + 1).ok_or("its instructions cannot be told apart")?;
    let mut moved = instructions[..count].to_vec();
    let end = moved[count - 1].next_ip();
    if moved.iter().any(Instruction::is_invalid) {
        return Err("its first instructions are not known".into());
    }
    // Exceptions could not pass such a call: the place that it returns to has no tables.
    if moved.iter().any(|one| one.mnemonic() == Mnemonic::Call) {
        return Err("it calls another function at once".into());
    }
    let returns = |one: &Instruction| {
        // A call of the beginning is a call of the function.
        let first = if one.mnemonic() == Mnemonic::Call { start + 1 } else { start };
        one.op0_kind() == OpKind::NearBranch64 && (first..end).contains(&one.near_branch_target())
    };
    if instructions.iter().any(returns) {
        return Err("it jumps back to its beginning".into());
    }
    let onward = Instruction::with_branch(Code::Jmp_rel32_64, end).map_err(|error| error.to_string())?;
    moved.push(onward);
    Ok(moved)
}

/// Encodes instructions for another place.
fn relocate(mut instructions: Vec<Instruction>, target: u64) -> Result<Vec<u8>, String> {
    // The last one has no place yet; its own must not look like the target of another.
    if let Some(last) = instructions.last_mut() {
        last.set_ip(u64::MAX);
    }
    let block = InstructionBlock::new(&instructions, target);
    let encoded = BlockEncoder::encode(64, block, BlockEncoderOptions::NONE).map_err(|error| error.to_string())?;
    Ok(encoded.code_buffer)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `mov eax, [rip + 0x100]; ret`
    const USUAL: [u8; 7] = [0x8b, 0x05, 0x00, 0x01, 0x00, 0x00, 0xc3];

    #[test]
    fn distances_are_kept() {
        let moved = movable(&decode(&USUAL, 0x5000), 0x5000).expect("a usual function");
        let code = relocate(moved, 0x1000).expect("near enough");
        // The variable is at 0x5000 + 6 + 0x100; the instruction that reads it ends at 0x1000 + 6.
        assert_eq!(code[..6], [0x8b, 0x05, 0x00, 0x41, 0x00, 0x00]);
        assert_eq!(code[6], 0xe9);
        let distance = i32::from_le_bytes(code[7..11].try_into().expect("four bytes"));
        assert_eq!(0x1000 + 11 + distance, 0x5000 + 6);
    }

    #[test]
    fn functions_that_cannot_be_replaced_are_refused() {
        assert!(movable(&decode(&USUAL[..4], 0x100), 0x100).is_err());
        // dec edi; jne to itself; then much else.
        let looping = [[0xff, 0xcf, 0x75, 0xfc].as_slice(), &[0x90; 20]].concat();
        assert_eq!(movable(&decode(&looping, 0x100), 0x100), Err("it jumps back to its beginning".into()));
        let late = [[0x90; 20].as_slice(), &[0xeb, 0xed]].concat();
        assert_eq!(movable(&decode(&late, 0x100), 0x100), Err("it jumps back to its beginning".into()));
        let calling = [[0xe8, 0, 1, 0, 0].as_slice(), &[0x90; 20]].concat();
        assert_eq!(movable(&decode(&calling, 0x100), 0x100), Err("it calls another function at once".into()));
        let cut = [[0x90; 4].as_slice(), &[0x48, 0xb8]].concat();
        assert!(movable(&decode(&cut, 0x100), 0x100).is_err());
        assert!(movable(&decode(&[0x06; 20], 0x100), 0x100).is_err());
    }
}
