//! How switches pass packets on; only the `packet` model looks at it.

use crate::topology::Link;

/// Packets, and the buffers that they wait in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketSwitching {
    /// Bytes of a packet, the last one of a message apart.
    pub size: u32,
    /// Bytes of the buffer of a virtual channel at the end of each link; `None`: see [`PacketSwitching::buffer_of`].
    pub buffer: Option<u32>,
    /// Packets of a node that may wait for each of the links that leave it.
    pub injection: u32,
    /// Which packet goes first.
    pub arbitration: Arbitration,
}

/// Which of the packets that wait for a link goes first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Arbitration {
    /// The one that came first; virtual channels take turns.
    #[default]
    FirstComeFirstServed,
    /// In every virtual channel the one that entered the network first, which is fair to those that come from afar.
    OldestFirst,
}

impl Arbitration {
    /// What machine files call them.
    pub const WORDS: [(&'static str, Arbitration); 2] =
        [("first-come", Arbitration::FirstComeFirstServed), ("oldest", Arbitration::OldestFirst)];

    /// What machine files call it.
    pub fn word(self) -> &'static str {
        Arbitration::WORDS.iter().find(|(_, other)| *other == self).map_or("", |(word, _)| word)
    }
}

/// What InfiniBand and Slingshot call the maximum transmission unit is at most this.
const SIZE: u32 = 4096;
/// Packets beside what is under way between two switches.
const SPARE_PACKETS: u32 = 16;
/// One that waits while another is being sent is enough; the second hides that the interface looks for it.
const INJECTION: u32 = 2;

impl Default for PacketSwitching {
    fn default() -> PacketSwitching {
        PacketSwitching {
            size: SIZE,
            buffer: None,
            injection: INJECTION,
            arbitration: Arbitration::FirstComeFirstServed,
        }
    }
}

impl PacketSwitching {
    /// Bytes of the buffer of a virtual channel at the end of a link. Where nothing else is said: what arrives during two round
    /// trips (one is needed to keep the link busy), and sixteen packets.
    pub fn buffer_of(&self, link: &Link) -> u32 {
        let under_way = 2.0 * 2.0 * link.latency * link.bandwidth;
        let enough = (under_way as u32).saturating_add(SPARE_PACKETS.saturating_mul(self.size));
        self.buffer.unwrap_or(enough).max(self.size)
    }
}
