//! The data of messages, where a program has any: real programs do, skeletons do not.
//!
//! The simulation decides which message meets which receive and when; whoever holds the data is told, and moves it. What a
//! receive gets is written as soon as the two have met, which may be before the message arrives: a program must not look at
//! the buffer earlier.

/// The data of one message, or the place for it. What most messages need is in the parcel itself: with thousands of ranks each
/// table beside it would be a line of memory to wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parcel {
    /// The kind in the low bits, above it the number, or the bytes.
    head: u64,
    /// The address, or the data itself.
    body: u64,
}

/// What is in a parcel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contents {
    /// No data.
    Nothing,
    /// Something that only its holder knows, by number.
    Number(u32),
    /// So many bytes side by side.
    Bytes {
        /// Where they begin.
        address: usize,
        /// How many they are.
        bytes: u64,
    },
    /// So many of these bytes.
    Few([u8; Parcel::FEW], usize),
}

impl Parcel {
    /// No data.
    pub const NONE: Parcel = Parcel { head: Parcel::NOTHING, body: 0 };
    /// So many bytes fit into the parcel itself.
    pub const FEW: usize = size_of::<u64>();

    const NOTHING: u64 = 0;
    const NUMBER: u64 = 1;
    const BYTES: u64 = 2;
    const FEW_BYTES: u64 = 3;
    const KIND_BITS: u32 = 2;

    /// Something that its holder knows by that number.
    #[inline]
    pub fn number(number: u32) -> Parcel {
        Parcel { head: u64::from(number) << Parcel::KIND_BITS | Parcel::NUMBER, body: 0 }
    }

    /// So many bytes from that address on; nothing, if it is none.
    #[inline]
    pub fn bytes(address: usize, bytes: u64) -> Parcel {
        let kind = if bytes == 0 { Parcel::NOTHING } else { Parcel::BYTES };
        Parcel { head: bytes << Parcel::KIND_BITS | kind, body: address as u64 }
    }

    /// The first of these bytes: some, and at most all.
    #[inline]
    pub fn few(data: [u8; Parcel::FEW], bytes: usize) -> Parcel {
        debug_assert!((1..=Parcel::FEW).contains(&bytes), "{bytes} bytes");
        Parcel { head: (bytes as u64) << Parcel::KIND_BITS | Parcel::FEW_BYTES, body: u64::from_ne_bytes(data) }
    }

    /// What is in it.
    #[inline]
    pub fn contents(self) -> Contents {
        let count = self.head >> Parcel::KIND_BITS;
        match self.head & ((1 << Parcel::KIND_BITS) - 1) {
            Parcel::NUMBER => Contents::Number(count as u32),
            Parcel::BYTES => Contents::Bytes { address: self.body as usize, bytes: count },
            Parcel::FEW_BYTES => Contents::Few(self.body.to_ne_bytes(), count as usize),
            _ => Contents::Nothing,
        }
    }

    #[inline]
    pub(crate) fn is_some(self) -> bool {
        self.head != Parcel::NOTHING
    }
}

/// Holds the data of messages. Ranks are those of the world.
pub trait Post {
    /// Whether data may stay where it is as long as its sender does not go on, and that is worth it.
    fn may_stay(&mut self, sent: Parcel, from: u32) -> bool;
    /// A message has met no receive yet, and its sender may go on: the data must be kept. What it is kept as.
    fn keep(&mut self, sent: Parcel, from: u32) -> Parcel;
    /// A message has met its receive; the parcel that was sent is done with.
    fn hand_over(&mut self, sent: Parcel, from: u32, received: Parcel, to: u32);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parcel_holds_what_was_put_in() {
        assert_eq!(Parcel::NONE.contents(), Contents::Nothing);
        assert_eq!(Parcel::bytes(4096, 0).contents(), Contents::Nothing);
        assert!(!Parcel::bytes(4096, 0).is_some() && Parcel::number(0).is_some());
        assert_eq!(Parcel::number(u32::MAX).contents(), Contents::Number(u32::MAX));
        let (address, bytes) = (0x7fff_ffff_f001, 1 << 40);
        assert_eq!(Parcel::bytes(address, bytes).contents(), Contents::Bytes { address, bytes });
        let data = [1, 2, 3, 4, 5, 6, 7, 255];
        assert_eq!(Parcel::few(data, 8).contents(), Contents::Few(data, 8));
    }
}
