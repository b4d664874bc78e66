use super::*;

fn apply<T: Copy, const N: usize>(operation: Operation, basic: Basic, input: [T; N], mut inout: [T; N]) -> [T; N] {
    // SAFETY: both arrays hold N elements.
    unsafe { operation.apply(basic, input.as_ptr().cast(), inout.as_mut_ptr().cast(), N) }.unwrap();
    inout
}

#[test]
fn integers() {
    use Operation::*;
    let (a, b) = ([6_i32, -1, 0, i32::MAX], [3_i32, 5, 0, 1]);
    assert_eq!(apply(Sum, Basic::Int, a, b), [9, 4, 0, i32::MIN]);
    assert_eq!(apply(Prod, Basic::Integer, a, b), [18, -5, 0, i32::MAX]);
    assert_eq!(apply(Max, Basic::Int32, a, b), [6, 5, 0, i32::MAX]);
    assert_eq!(apply(Min, Basic::Int, a, b), [3, -1, 0, 1]);
    assert_eq!(apply(Max, Basic::Unsigned, a, b)[1], -1);
    assert_eq!(apply(Land, Basic::Int, a, b), [1, 1, 0, 1]);
    assert_eq!(apply(Lxor, Basic::Int, [1, 0, 7, 0], [0, 0, 5, 3]), [1, 0, 0, 1]);
    assert_eq!(apply(Band, Basic::Int, a, b), [2, 5, 0, 1]);
    assert_eq!(apply(Bxor, Basic::Byte, [0xF0_u8], [0xFF]), [0x0F]);
    assert_eq!(apply(Sum, Basic::Integer16, [1_i128 << 100], [1]), [(1_i128 << 100) + 1]);
    assert_eq!(apply(Lor, Basic::CBool, [0_u8, 1], [0, 0]), [0, 1]);
    assert_eq!(apply(Replace, Basic::Int, a, b), a);
    assert_eq!(apply(NoOp, Basic::Int, a, b), b);
}

#[test]
fn floats_and_complex() {
    use Operation::*;
    assert_eq!(apply(Sum, Basic::Double, [1.5, 2.0], [0.25, -2.0]), [1.75, 0.0]);
    assert_eq!(apply(Min, Basic::Real, [1.5_f32, -0.5], [0.25, 7.0]), [0.25, -0.5]);
    // (1 + 2i)(3 - i) = 5 + 5i
    assert_eq!(apply(Prod, Basic::DoubleComplex, [[1.0, 2.0]], [[3.0, -1.0]]), [[5.0, 5.0]]);
    assert_eq!(apply(Sum, Basic::CFloatComplex, [[1.0_f32, 2.0]], [[3.0, -1.0]]), [[4.0, 1.0]]);
}

#[test]
fn pairs_take_the_lowest_place_of_equal_values() {
    #[derive(Clone, Copy, Debug, PartialEq)]
    #[repr(C)]
    struct DoubleInt(f64, i32);
    let a = [DoubleInt(1.0, 5), DoubleInt(2.0, 1), DoubleInt(3.0, 4)];
    let b = [DoubleInt(1.0, 3), DoubleInt(1.0, 9), DoubleInt(3.0, 6)];
    assert_eq!(
        apply(Operation::Maxloc, Basic::DoubleInt, a, b),
        [DoubleInt(1.0, 3), DoubleInt(2.0, 1), DoubleInt(3.0, 4)]
    );
    assert_eq!(
        apply(Operation::Minloc, Basic::DoubleInt, a, b),
        [DoubleInt(1.0, 3), DoubleInt(1.0, 9), DoubleInt(3.0, 4)]
    );
    assert_eq!(apply(Operation::Maxloc, Basic::TwoReal, [[2.0_f32, 7.0]], [[2.0, 3.0]]), [[2.0, 3.0]]);
    #[derive(Clone, Copy, Debug, PartialEq)]
    #[repr(C)]
    struct ShortInt(i16, i32);
    assert_eq!(apply(Operation::Minloc, Basic::ShortInt, [ShortInt(-3, 2)], [ShortInt(4, 1)]), [ShortInt(-3, 2)]);
}

#[test]
fn what_is_not_defined_is_refused() {
    use OperationError::*;
    let refused = |operation: Operation, basic| operation.kernel(basic).err();
    assert_eq!(refused(Operation::Band, Basic::Double), Some(NotDefined(Operation::Band, Basic::Double)));
    assert_eq!(refused(Operation::Max, Basic::DoubleComplex), Some(NotDefined(Operation::Max, Basic::DoubleComplex)));
    assert_eq!(refused(Operation::Sum, Basic::DoubleInt), Some(NotDefined(Operation::Sum, Basic::DoubleInt)));
    assert_eq!(refused(Operation::Maxloc, Basic::Int), Some(NotDefined(Operation::Maxloc, Basic::Int)));
    assert_eq!(refused(Operation::Sum, Basic::CBool), Some(NotDefined(Operation::Sum, Basic::CBool)));
    assert_eq!(refused(Operation::Sum, Basic::Real16), Some(NoArithmetic(Basic::Real16)));
    assert_eq!(refused(Operation::Land, Basic::Real16), Some(NotDefined(Operation::Land, Basic::Real16)));
    assert_eq!(refused(Operation::Sum, Basic::Wchar).unwrap().to_string(), "MPI_SUM is not defined for MPI_WCHAR");
}

#[test]
fn replacing_works_for_every_element() {
    for &basic in Basic::ALL {
        assert_eq!(Operation::Replace.kernel(basic).is_ok(), basic.size() > 0, "{basic:?}");
    }
}

#[test]
fn items_of_derived_datatypes() {
    let column = Datatype::vector(3, 1, 2, &Datatype::basic(Basic::Int)).unwrap();
    let (input, mut inout) = ([1, 2, 3, 4, 5, 6_i32], [10, 20, 30, 40, 50, 60_i32]);
    let (from, to) = (input.as_ptr().cast::<u8>(), inout.as_mut_ptr().cast::<u8>());
    // SAFETY: both hold an item.
    unsafe { Operation::Sum.apply_items(&column, 1, from, to) }.unwrap();
    assert_eq!(inout, [11, 20, 33, 40, 55, 60]);
    let packed = [100_i32, 200, 300].map(i32::to_ne_bytes).concat();
    // SAFETY: the array holds an item.
    unsafe { Operation::Sum.apply_packed(&packed[..8], &column, 1, inout.as_mut_ptr().cast()) }.unwrap();
    assert_eq!(inout, [111, 20, 233, 40, 55, 60]);

    // Pairs with a gap: packed they have six bytes.
    let mut pairs = [5_i32, 1, 5, 1];
    let packed: Vec<u8> =
        [(9_i16, 4_i32), (2, 3)].iter().flat_map(|(a, b)| [&a.to_ne_bytes()[..], &b.to_ne_bytes()].concat()).collect();
    let datatype = Datatype::basic(Basic::ShortInt);
    // SAFETY: the array holds two items.
    unsafe { Operation::Maxloc.apply_packed(&packed, &datatype, 2, pairs.as_mut_ptr().cast()) }.unwrap();
    assert_eq!(pairs, [9, 4, 5, 1]);
    // SAFETY: nothing is touched.
    let refused = unsafe {
        Operation::Band.apply_items(&Datatype::basic(Basic::Double), 0, packed.as_ptr(), pairs.as_mut_ptr().cast())
    };
    assert_eq!(refused, Err(OperationError::NotDefined(Operation::Band, Basic::Double)));
}

#[test]
fn buffers_need_no_alignment() {
    let mut bytes = [0_u8; 64];
    let input = 3.5_f64.to_ne_bytes();
    for shift in 1..8 {
        bytes[shift..shift + 8].copy_from_slice(&1.25_f64.to_ne_bytes());
        // SAFETY: one element on each side.
        unsafe { Operation::Sum.apply(Basic::Double, input.as_ptr(), bytes.as_mut_ptr().add(shift), 1) }.unwrap();
        assert_eq!(bytes[shift..shift + 8], 4.75_f64.to_ne_bytes());
    }
}

/// An x87 number from an integer: the significand with its leading bit, and the exponent for it.
#[cfg(target_arch = "x86_64")]
fn extended(value: i64) -> [u8; 16] {
    let mut bytes = [0xAA_u8; 16];
    let (mut significand, mut exponent) = (value.unsigned_abs(), 0_u16);
    if value != 0 {
        let shift = significand.leading_zeros();
        significand <<= shift;
        exponent = 16383 + 63 - shift as u16;
    }
    exponent |= if value < 0 { 0x8000 } else { 0 };
    bytes[..8].copy_from_slice(&significand.to_le_bytes());
    bytes[8..10].copy_from_slice(&exponent.to_le_bytes());
    bytes
}

#[cfg(target_arch = "x86_64")]
#[test]
fn long_doubles_have_64_bits_of_precision() {
    use Operation::*;
    let real = |operation, a, b| apply(operation, Basic::LongDouble, [extended(a)], [extended(b)])[0];
    // A double would lose the one.
    let big = 1_i64 << 62;
    assert_eq!(real(Sum, big, 1), extended(big + 1));
    assert_eq!(real(Sum, 1, -3), extended(-2));
    assert_eq!(real(Prod, 3_037_000_499, 3_037_000_493), extended(3_037_000_499 * 3_037_000_493));
    assert_eq!(real(Max, -7, 3), extended(3));
    assert_eq!(real(Min, -7, 3), extended(-7));
    let complex = apply(Prod, Basic::CLongDoubleComplex, [[extended(1), extended(2)]], [[extended(3), extended(-1)]]);
    assert_eq!(complex, [[extended(5), extended(5)]]);
    let pair = |value: i64, place: i32| {
        let mut bytes = [0_u8; 32];
        bytes[..16].copy_from_slice(&extended(value));
        bytes[16..20].copy_from_slice(&place.to_ne_bytes());
        bytes
    };
    assert_eq!(apply(Maxloc, Basic::LongDoubleInt, [pair(5, 3)], [pair(4, 1)])[0], pair(5, 3));
    assert_eq!(apply(Minloc, Basic::LongDoubleInt, [pair(5, 3)], [pair(5, 7)])[0], pair(5, 3));
    assert_eq!(apply(Minloc, Basic::LongDoubleInt, [pair(5, 3)], [pair(4, 7)])[0], pair(4, 7));
}
