//! The predefined datatypes.

/// What the bits of a predefined datatype mean; operations depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// An integer with a sign.
    Signed,
    /// An integer without a sign.
    Unsigned,
    /// A floating-point number.
    Float,
    /// Two floating-point numbers.
    Complex,
    /// A truth value.
    Logical,
    /// Text.
    Character,
    /// Uninterpreted bytes.
    Byte,
    /// Data made by `MPI_Pack`.
    Packed,
    /// A value and the place where it was found.
    Pair,
    /// `MPI_LB` and `MPI_UB`: no data, only a bound.
    Marker,
}

macro_rules! basics {
    ($($variant:ident $name:literal $size:literal $alignment:literal $kind:ident;)*) => {
        /// A predefined datatype, with the sizes of 64-bit Linux.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u8)]
        pub enum Basic {
            $(#[doc = concat!("`", $name, "`")] $variant,)*
        }

        impl Basic {
            /// All predefined datatypes, in the order of their numbers.
            pub const ALL: &[Basic] = &[$(Basic::$variant),*];

            /// The name in the standard, such as `MPI_INT`.
            pub const fn name(self) -> &'static str {
                match self { $(Basic::$variant => $name),* }
            }

            /// Bytes of data, without gaps.
            pub const fn size(self) -> i64 {
                match self { $(Basic::$variant => $size),* }
            }

            /// The alignment that a C compiler gives it in a structure.
            pub const fn alignment(self) -> i64 {
                match self { $(Basic::$variant => $alignment),* }
            }

            /// What its bits mean.
            pub const fn kind(self) -> Kind {
                match self { $(Basic::$variant => Kind::$kind),* }
            }
        }
    };
}

basics! {
    Char "MPI_CHAR" 1 1 Character;
    SignedChar "MPI_SIGNED_CHAR" 1 1 Signed;
    UnsignedChar "MPI_UNSIGNED_CHAR" 1 1 Unsigned;
    Byte "MPI_BYTE" 1 1 Byte;
    Wchar "MPI_WCHAR" 4 4 Character;
    Short "MPI_SHORT" 2 2 Signed;
    UnsignedShort "MPI_UNSIGNED_SHORT" 2 2 Unsigned;
    Int "MPI_INT" 4 4 Signed;
    Unsigned "MPI_UNSIGNED" 4 4 Unsigned;
    Long "MPI_LONG" 8 8 Signed;
    UnsignedLong "MPI_UNSIGNED_LONG" 8 8 Unsigned;
    LongLong "MPI_LONG_LONG_INT" 8 8 Signed;
    UnsignedLongLong "MPI_UNSIGNED_LONG_LONG" 8 8 Unsigned;
    Float "MPI_FLOAT" 4 4 Float;
    Double "MPI_DOUBLE" 8 8 Float;
    LongDouble "MPI_LONG_DOUBLE" 16 16 Float;
    Int8 "MPI_INT8_T" 1 1 Signed;
    Int16 "MPI_INT16_T" 2 2 Signed;
    Int32 "MPI_INT32_T" 4 4 Signed;
    Int64 "MPI_INT64_T" 8 8 Signed;
    Uint8 "MPI_UINT8_T" 1 1 Unsigned;
    Uint16 "MPI_UINT16_T" 2 2 Unsigned;
    Uint32 "MPI_UINT32_T" 4 4 Unsigned;
    Uint64 "MPI_UINT64_T" 8 8 Unsigned;
    CBool "MPI_C_BOOL" 1 1 Logical;
    CFloatComplex "MPI_C_FLOAT_COMPLEX" 8 4 Complex;
    CDoubleComplex "MPI_C_DOUBLE_COMPLEX" 16 8 Complex;
    CLongDoubleComplex "MPI_C_LONG_DOUBLE_COMPLEX" 32 16 Complex;
    Aint "MPI_AINT" 8 8 Signed;
    Offset "MPI_OFFSET" 8 8 Signed;
    Count "MPI_COUNT" 8 8 Signed;
    Packed "MPI_PACKED" 1 1 Packed;
    CxxBool "MPI_CXX_BOOL" 1 1 Logical;
    CxxFloatComplex "MPI_CXX_FLOAT_COMPLEX" 8 4 Complex;
    CxxDoubleComplex "MPI_CXX_DOUBLE_COMPLEX" 16 8 Complex;
    CxxLongDoubleComplex "MPI_CXX_LONG_DOUBLE_COMPLEX" 32 16 Complex;
    Integer "MPI_INTEGER" 4 4 Signed;
    Real "MPI_REAL" 4 4 Float;
    DoublePrecision "MPI_DOUBLE_PRECISION" 8 8 Float;
    Complex "MPI_COMPLEX" 8 4 Complex;
    DoubleComplex "MPI_DOUBLE_COMPLEX" 16 8 Complex;
    Logical "MPI_LOGICAL" 4 4 Logical;
    Character "MPI_CHARACTER" 1 1 Character;
    Integer1 "MPI_INTEGER1" 1 1 Signed;
    Integer2 "MPI_INTEGER2" 2 2 Signed;
    Integer4 "MPI_INTEGER4" 4 4 Signed;
    Integer8 "MPI_INTEGER8" 8 8 Signed;
    Integer16 "MPI_INTEGER16" 16 16 Signed;
    Real2 "MPI_REAL2" 2 2 Float;
    Real4 "MPI_REAL4" 4 4 Float;
    Real8 "MPI_REAL8" 8 8 Float;
    Real16 "MPI_REAL16" 16 16 Float;
    Complex4 "MPI_COMPLEX4" 4 2 Complex;
    Complex8 "MPI_COMPLEX8" 8 4 Complex;
    Complex16 "MPI_COMPLEX16" 16 8 Complex;
    Complex32 "MPI_COMPLEX32" 32 16 Complex;
    Logical1 "MPI_LOGICAL1" 1 1 Logical;
    Logical2 "MPI_LOGICAL2" 2 2 Logical;
    Logical4 "MPI_LOGICAL4" 4 4 Logical;
    Logical8 "MPI_LOGICAL8" 8 8 Logical;
    TwoReal "MPI_2REAL" 8 4 Pair;
    TwoDoublePrecision "MPI_2DOUBLE_PRECISION" 16 8 Pair;
    TwoInteger "MPI_2INTEGER" 8 4 Pair;
    FloatInt "MPI_FLOAT_INT" 8 4 Pair;
    DoubleInt "MPI_DOUBLE_INT" 12 8 Pair;
    LongInt "MPI_LONG_INT" 12 8 Pair;
    TwoInt "MPI_2INT" 8 4 Pair;
    ShortInt "MPI_SHORT_INT" 6 4 Pair;
    LongDoubleInt "MPI_LONG_DOUBLE_INT" 20 16 Pair;
    Lb "MPI_LB" 0 1 Marker;
    Ub "MPI_UB" 0 1 Marker;
}

/// Bytes of each predefined datatype whose items lie side by side without gaps, by number; 0 for the others.
static SIDE_BY_SIDE: [u8; Basic::ALL.len()] = {
    let mut sizes = [0; Basic::ALL.len()];
    let mut number = 0;
    while number < sizes.len() {
        let basic = Basic::ALL[number];
        if basic.size() == basic.extent() {
            sizes[number] = basic.size() as u8;
        }
        number += 1;
    }
    sizes
};

impl Basic {
    /// Bytes of the predefined datatype with a number, if its items lie side by side without gaps: one load, since every
    /// message asks.
    #[inline]
    pub fn size_side_by_side(number: usize) -> Option<i64> {
        match SIDE_BY_SIDE.get(number) {
            None | Some(0) => None,
            Some(&size) => Some(i64::from(size)),
        }
    }

    /// The distance from one to the next in an array: the end of the data, rounded up to the alignment.
    pub const fn extent(self) -> i64 {
        let (end, alignment) = (self.end(), self.alignment());
        (end + alignment - 1) / alignment * alignment
    }

    /// Where the data end; in `MPI_SHORT_INT` there is a gap before the second part.
    pub const fn end(self) -> i64 {
        match self.pair() {
            Some((_, second)) => self.second_offset() + second.size(),
            None => self.size(),
        }
    }

    /// The parts of a pair: the value and its place.
    pub const fn pair(self) -> Option<(Basic, Basic)> {
        match self {
            Basic::TwoReal => Some((Basic::Real, Basic::Real)),
            Basic::TwoDoublePrecision => Some((Basic::DoublePrecision, Basic::DoublePrecision)),
            Basic::TwoInteger => Some((Basic::Integer, Basic::Integer)),
            Basic::FloatInt => Some((Basic::Float, Basic::Int)),
            Basic::DoubleInt => Some((Basic::Double, Basic::Int)),
            Basic::LongInt => Some((Basic::Long, Basic::Int)),
            Basic::TwoInt => Some((Basic::Int, Basic::Int)),
            Basic::ShortInt => Some((Basic::Short, Basic::Int)),
            Basic::LongDoubleInt => Some((Basic::LongDouble, Basic::Int)),
            _ => None,
        }
    }

    /// Where the second part of a pair begins: after the first, aligned. Zero if it is no pair.
    pub const fn second_offset(self) -> i64 {
        match self.pair() {
            Some((first, second)) => {
                let alignment = second.alignment();
                (first.size() + alignment - 1) / alignment * alignment
            }
            None => 0,
        }
    }

    /// How many elements `MPI_Get_elements` counts for it: a pair is as if made of two.
    pub const fn elements(self) -> i64 {
        match self.kind() {
            Kind::Pair => 2,
            Kind::Marker => 0,
            _ => 1,
        }
    }

    /// The Fortran datatype of a kind and size (`MPI_Type_match_size`): an integer, a floating-point or a complex number.
    pub fn matching(kind: Kind, size: i64) -> Option<Basic> {
        let sized = Basic::Integer1 as usize..=Basic::Complex32 as usize;
        Basic::ALL[sized].iter().copied().find(|basic| basic.kind() == kind && basic.size() == size)
    }

    /// The basic of this name, if there is one; the other names that the standard gives to some are known too.
    pub fn from_name(name: &str) -> Option<Basic> {
        let name = match name {
            "MPI_LONG_LONG" => "MPI_LONG_LONG_INT",
            "MPI_C_COMPLEX" => "MPI_C_FLOAT_COMPLEX",
            _ => name,
        };
        Basic::ALL.iter().copied().find(|basic| basic.name() == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_laid_out_like_structures_of_c() {
        assert_eq!((Basic::ShortInt.end(), Basic::ShortInt.extent(), Basic::ShortInt.second_offset()), (8, 8, 4));
        assert_eq!((Basic::DoubleInt.end(), Basic::DoubleInt.extent()), (12, 16));
        assert_eq!((Basic::LongDoubleInt.end(), Basic::LongDoubleInt.extent()), (20, 32));
        for basic in Basic::ALL {
            if let Some((first, second)) = basic.pair() {
                assert_eq!(basic.size(), first.size() + second.size(), "{basic:?}");
                assert_eq!(basic.alignment(), first.alignment().max(second.alignment()), "{basic:?}");
            } else {
                assert_eq!(basic.size(), basic.extent(), "{basic:?}");
            }
        }
    }

    #[test]
    fn every_name_leads_back() {
        for &basic in Basic::ALL {
            assert_eq!(Basic::from_name(basic.name()), Some(basic));
        }
        assert_eq!(Basic::from_name("MPI_LONG_LONG"), Some(Basic::LongLong));
        assert_eq!(Basic::from_name("MPI_NOTHING"), None);
    }

    #[test]
    fn fortran_numbers_are_found_by_size() {
        assert_eq!(Basic::matching(Kind::Float, 8), Some(Basic::Real8));
        assert_eq!(Basic::matching(Kind::Signed, 4), Some(Basic::Integer4));
        assert_eq!(Basic::matching(Kind::Complex, 32), Some(Basic::Complex32));
        assert_eq!(Basic::matching(Kind::Float, 32), None);
    }
}
