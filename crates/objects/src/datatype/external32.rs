//! `external32`, the portable form of data: big endian, with sizes of its own (the standard, section 13.5.2 in 3.1).

use super::basic::{Basic, Kind};
use super::layout::Layout;
use super::{Datatype, Typed};

/// How the numbers of a basic datatype are written.
#[derive(Clone, Copy)]
struct Form {
    /// Numbers in an element: two in a complex one.
    numbers: usize,
    /// Bytes of one in memory.
    here: usize,
    /// Bytes of one in the portable form.
    there: usize,
    way: Way,
}

#[derive(Clone, Copy)]
enum Way {
    /// The same bits.
    Same,
    /// Fewer bits; a sign is kept.
    Narrow { signed: bool },
    /// The 80 bits of the x87 unit become IEEE quadruple.
    Extended,
}

/// The parts of a pair are written by themselves.
fn form(basic: Basic) -> Form {
    let size = basic.size() as usize;
    let numbers = if basic.kind() == Kind::Complex { 2 } else { 1 };
    let here = size / numbers;
    let (there, way) = match basic {
        Basic::Long => (4, Way::Narrow { signed: true }),
        Basic::UnsignedLong => (4, Way::Narrow { signed: false }),
        Basic::Wchar => (2, Way::Narrow { signed: false }),
        Basic::LongDouble | Basic::CLongDoubleComplex | Basic::CxxLongDoubleComplex if cfg!(target_arch = "x86_64") => {
            (16, Way::Extended)
        }
        _ => (here, Way::Same),
    };
    Form { numbers, here, there, way }
}

impl Basic {
    /// Bytes in the portable form.
    pub fn external32_size(self) -> i64 {
        match self.pair() {
            Some((first, second)) => first.external32_size() + second.external32_size(),
            None => {
                let form = form(self);
                (form.numbers * form.there) as i64
            }
        }
    }
}

impl Datatype {
    /// Bytes of `count` items in the portable form (`MPI_Pack_external_size`).
    pub fn external32_size(&self, count: i64) -> i64 {
        let item = match &self.map().typed {
            Typed::Nothing => 0,
            Typed::Uniform(basic) => self.size() / basic.size() * basic.external32_size(),
            Typed::Mixed(layout) => size_of(layout),
        };
        item * count
    }

    /// Appends `count` items in the portable form (`MPI_Pack_external`).
    ///
    /// # Safety
    /// The data of all items must be readable from `from`.
    pub unsafe fn pack_external32(&self, count: i64, from: *const u8, out: &mut Vec<u8>) {
        self.for_each_element(count, &mut |elements| {
            for i in 0..elements.count {
                let at = from.wrapping_offset((elements.offset + i * elements.stride) as isize);
                for (basic, offset) in parts(elements.basic) {
                    // SAFETY: the caller's.
                    unsafe { write(form(basic), at.wrapping_add(offset), out) };
                }
            }
        });
    }

    /// Fills `count` items from the portable form (`MPI_Unpack_external`), as far as there are whole numbers; answers how
    /// many bytes were used.
    ///
    /// # Safety
    /// The data of all items must be writable from `to`.
    pub unsafe fn unpack_external32(&self, count: i64, bytes: &[u8], to: *mut u8) -> usize {
        let mut rest = bytes;
        self.for_each_element(count, &mut |elements| {
            for i in 0..elements.count {
                let at = to.wrapping_offset((elements.offset + i * elements.stride) as isize);
                for (basic, offset) in parts(elements.basic) {
                    // SAFETY: the caller's.
                    unsafe { read(form(basic), &mut rest, at.wrapping_add(offset)) };
                }
            }
        });
        bytes.len() - rest.len()
    }
}

/// The numbers of a pair and where they lie, or the element itself.
fn parts(basic: Basic) -> impl Iterator<Item = (Basic, usize)> {
    let (first, second) = match basic.pair() {
        Some((first, second)) => (first, Some((second, basic.second_offset() as usize))),
        None => (basic, None),
    };
    std::iter::once((first, 0)).chain(second)
}

fn size_of(layout: &Layout) -> i64 {
    match layout {
        Layout::Loop { count, body, .. } => count * size_of(body),
        Layout::Parts { parts, .. } => parts.iter().map(size_of).sum(),
        Layout::Elements { basic, body, .. } => body.size() / basic.size() * basic.external32_size(),
        // In a layout of several datatypes, bytes are always below elements.
        Layout::Nothing | Layout::Blocks(_) | Layout::Runs { .. } => 0,
    }
}

/// # Safety
/// An element must be readable.
unsafe fn write(form: Form, at: *const u8, out: &mut Vec<u8>) {
    for number in 0..form.numbers {
        let mut bytes = [0_u8; 16];
        // SAFETY: the caller's; no number has more than 16 bytes.
        unsafe { std::ptr::copy_nonoverlapping(at.add(number * form.here), bytes.as_mut_ptr(), form.here) };
        let value = u128::from_le_bytes(bytes);
        let value = if let Way::Extended = form.way { quadruple(value) } else { value };
        out.extend_from_slice(&value.to_be_bytes()[16 - form.there..]);
    }
}

/// # Safety
/// An element must be writable.
unsafe fn read(form: Form, rest: &mut &[u8], at: *mut u8) {
    for number in 0..form.numbers {
        let Some((mine, others)) = rest.split_at_checked(form.there) else { return };
        *rest = others;
        let mut bytes = [0_u8; 16];
        bytes[16 - form.there..].copy_from_slice(mine);
        let value = u128::from_be_bytes(bytes);
        let value = match form.way {
            Way::Narrow { signed: true } => {
                let unused = 128 - 8 * form.there as u32;
                ((value << unused) as i128 >> unused) as u128
            }
            Way::Extended => extended(value),
            _ => value,
        };
        // SAFETY: the caller's.
        unsafe { std::ptr::copy_nonoverlapping(value.to_le_bytes().as_ptr(), at.add(number * form.here), form.here) };
    }
}

/// Bits of the fraction that quadruple numbers have and those of 80 bits lack.
const EXTRA: u32 = 112 - 63;

/// The same number in IEEE quadruple; exponents are alike, only the leading bit is not written there.
fn quadruple(extended: u128) -> u128 {
    let head = extended >> 64 & 0xFFFF;
    let fraction = extended & ((1 << 63) - 1);
    head << 112 | fraction << EXTRA
}

/// The nearest number of 80 bits, ties to even.
fn extended(quadruple: u128) -> u128 {
    let (mut rounded, lost) = (quadruple >> EXTRA, quadruple & ((1 << EXTRA) - 1));
    let half = 1 << (EXTRA - 1);
    let special = quadruple >> 112 & 0x7FFF == 0x7FFF;
    if !special && (lost > half || (lost == half && rounded & 1 == 1)) {
        // A carry goes into the exponent, as it should.
        rounded += 1;
    }
    let (head, fraction) = (rounded >> 63, rounded & ((1 << 63) - 1));
    let leading = u128::from(head & 0x7FFF != 0) << 63;
    head << 64 | leading | fraction
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;

    fn packed<T>(basic: Basic, value: &T) -> Vec<u8> {
        let mut out = Vec::new();
        // SAFETY: one element.
        unsafe { Datatype::basic(basic).pack_external32(1, (&raw const *value).cast(), &mut out) };
        assert_eq!(out.len() as i64, Datatype::basic(basic).external32_size(1));
        out
    }

    /// As MPICH 4.0.2 writes them.
    #[test]
    fn numbers_are_written_as_the_standard_says() {
        assert_eq!(packed(Basic::Int, &1_i32), [0, 0, 0, 1]);
        assert_eq!(packed(Basic::Long, &-5_i64), [0xFF, 0xFF, 0xFF, 0xFB]);
        assert_eq!(packed(Basic::Double, &1.0_f64), [0x3F, 0xF0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(packed(Basic::CFloatComplex, &[1.0_f32, -1.0]), [0x3F, 0x80, 0, 0, 0xBF, 0x80, 0, 0]);
        // A third in 80 bits.
        let third = 0x3FFD_AAAA_AAAA_AAAA_AAAB_u128;
        let expected = [0x3F, 0xFD, 0x55, 0x55, 0x55, 0x55, 0x55, 0x55, 0x55, 0x56, 0, 0, 0, 0, 0, 0];
        assert_eq!(packed(Basic::LongDouble, &third), expected);
        #[repr(C)]
        struct ShortInt(i16, i32);
        assert_eq!(packed(Basic::ShortInt, &ShortInt(2, 3)), [0, 2, 0, 0, 0, 3]);
    }

    #[test]
    fn what_was_written_can_be_read() {
        for &basic in Basic::ALL {
            let mut memory = [0_u8; 32];
            for (part, offset) in parts(basic) {
                let bytes: &[u8] = match form(part).way {
                    Way::Same => &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16],
                    Way::Narrow { .. } => &[77, 0, 0, 0, 0, 0, 0, 0],
                    Way::Extended => &[1, 2, 3, 4, 5, 6, 7, 0x88, 0x12, 0xC0, 0, 0, 0, 0, 0, 0],
                };
                let Form { numbers, here, .. } = form(part);
                for number in memory[offset..offset + numbers * here].chunks_exact_mut(here.max(1)) {
                    number.copy_from_slice(&bytes[..here]);
                }
            }
            let datatype = Datatype::basic(basic);
            let (mut portable, mut back) = (Vec::new(), [0_u8; 32]);
            // SAFETY: no element is longer than 32 bytes.
            unsafe {
                datatype.pack_external32(1, memory.as_ptr(), &mut portable);
                assert_eq!(datatype.unpack_external32(1, &portable, back.as_mut_ptr()), portable.len());
            }
            for (offset, length) in datatype.ranges(1) {
                let range = offset as usize..(offset + length) as usize;
                assert_eq!(back[range.clone()], memory[range], "{basic:?}");
            }
        }
    }

    #[test]
    fn quadruple_numbers_are_rounded() {
        let one = 0x3FFF_u128 << 112;
        assert_eq!(extended(one), 0x3FFF_8000_0000_0000_0000);
        assert_eq!(extended(one | 1 << (EXTRA - 1)), 0x3FFF_8000_0000_0000_0000, "a tie goes to even");
        assert_eq!(extended(one | 3 << (EXTRA - 1)), 0x3FFF_8000_0000_0000_0002);
        assert_eq!(extended(one | ((1 << 112) - 1)), 0x4000_8000_0000_0000_0000, "a carry into the exponent");
        let infinity = 0x7FFF_u128 << 112;
        assert_eq!(extended(infinity), 0x7FFF_8000_0000_0000_0000);
        assert_eq!(quadruple(extended(infinity)), infinity);
    }
}
