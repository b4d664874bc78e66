//! How much a program puts on its stack, as far as that can be seen without running it.
//!
//! A function with large arrays of its own takes the room for them at once, and compilers say how much in the instruction. That
//! is looked for byte by byte: what is no such instruction but looks like one makes the answer too large. Where pages are touched on the way it
//! may be a page too small, and arrays whose size is not known when the program is compiled are not seen.

use crate::program::Program;

/// `sub rsp, N`.
const SUB: [u8; 3] = [0x48, 0x81, 0xec];
/// `lea r11, [rsp - N]`, where each page is touched on the way (`-fstack-clash-protection`).
const LEA: [u8; 4] = [0x4c, 0x8d, 0x9c, 0x24];
/// No stack has room for more.
const MOST: u32 = 1 << 30;

impl Program {
    /// The most bytes that a function of the program or its libraries takes from the stack at once, as far as it is known.
    pub fn largest_frame(&self) -> usize {
        let inner = &self.inner;
        let images = [&inner.image].into_iter().chain(inner.shared.as_ref().map(|shared| &shared.image));
        let codes = images.flat_map(|image| image.objects.iter().flat_map(|object| object.elf.code()));
        codes.map(largest).max().unwrap_or(0)
    }
}

/// The most that code takes at once.
fn largest(code: &[u8]) -> usize {
    let number =
        |place: usize| code.get(place..place + 4).map(|bytes| u32::from_le_bytes(bytes.try_into().expect("four")));
    let taken = (0..code.len()).filter_map(|place| match &code[place..] {
        rest if rest.starts_with(&SUB) => number(place + SUB.len()),
        rest if rest.starts_with(&LEA) => number(place + LEA.len()).map(u32::wrapping_neg),
        _ => None,
    });
    taken.filter(|&bytes| bytes < MOST).max().unwrap_or(0) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instructions_that_take_from_the_stack_are_found() {
        let sub = [&[0x90], &SUB[..], &0x1_2340u32.to_le_bytes()].concat();
        let lea = [&LEA[..], &(-0x5_0000i32).to_le_bytes(), &[0xc3]].concat();
        assert_eq!((largest(&sub), largest(&lea), largest(&[sub, lea].concat())), (0x1_2340, 0x5_0000, 0x5_0000));
        let add = [&[0x48, 0x81, 0xc4], &0x9_0000u32.to_le_bytes()[..]].concat();
        let upwards = [&LEA[..], &8u32.to_le_bytes()].concat();
        assert_eq!((largest(&add), largest(&upwards), largest(&SUB), largest(&[])), (0, 0, 0, 0));
    }
}
