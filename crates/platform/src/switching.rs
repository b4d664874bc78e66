//! How switches pass packets on; only the `packet` model looks at it.

use crate::topology::Link;

/// Packets, and the buffers that they wait in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketSwitching {
    /// Bytes of a packet, the last one of a message apart.
    pub size: u32,
    /// Bytes of the buffer of a virtual channel at the end of each link; `None`: see [`PacketSwitching::buffer_of`].
    pub buffer: Option<u32>,
    /// Packets of a node that may wait for each of the links that leave it; `None`: see [`PacketSwitching::injection_of`].
    pub injection: Option<u32>,
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
/// Packets beside what is under way between two switches. With half as many, tori of 16 to 125 nodes carry 3 to 9 % less than their
/// links allow for uniform traffic, with these 1 to 5 % less.
const SPARE_PACKETS: u32 = 32;
/// One that waits while another is being sent is enough; the second hides that the interface looks for it.
const INJECTION: u32 = 2;
/// Where a node has several links: those that wait for one of them must not keep out those for another.
const INJECTION_OF_SEVERAL: u32 = 8;

impl Default for PacketSwitching {
    fn default() -> PacketSwitching {
        PacketSwitching { size: SIZE, buffer: None, injection: None, arbitration: Arbitration::FirstComeFirstServed }
    }
}

impl PacketSwitching {
    /// Bytes of the buffer of a virtual channel at the end of a link. Where nothing else is said: what arrives during two round
    /// trips (one is needed to keep the link busy), and 32 packets.
    pub fn buffer_of(&self, link: &Link) -> u32 {
        let under_way = 2.0 * 2.0 * link.latency * link.bandwidth;
        let enough = (under_way as u32).saturating_add(SPARE_PACKETS.saturating_mul(self.size));
        self.buffer.unwrap_or(enough).max(self.size)
    }

    /// Packets that may wait for each link of a node that so many links leave.
    pub fn injection_of(&self, links: u32) -> u32 {
        self.injection.unwrap_or(if links > 1 { INJECTION_OF_SEVERAL } else { INJECTION })
    }
}
