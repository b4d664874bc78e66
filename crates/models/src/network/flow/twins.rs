//! *Twins*: two messages of the same size that set out at the same moment, from one node to another and back. One flow does
//! for both.
//!
//! Exchanges look like this: most messages of HPL, of recursive doubling, of halos. With acknowledgements each of the two
//! crosses the links of both, the message there and its acknowledgements back. The level of a flow is the lowest of its
//! ceiling and of the levels of its links: what it takes of each makes no difference. So twins, whose links and ceilings
//! are the same, always have the same level, and with the same work they end together. What they take together is that of
//! a flow that crosses each link there and back as often as both do.

use hpcast_units::Time;

use super::Flow;
use crate::network::Transfer;

/// The transfer that was started last, and is not active yet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Newest {
    /// When it sets out.
    pub at: Time,
    pub transfer: Transfer,
    /// Its number.
    pub slot: u32,
}

impl Newest {
    /// Whether a transfer is the same the other way round.
    #[inline]
    fn faces(&self, at: Time, other: &Transfer) -> bool {
        let Transfer { from, to, bytes, latency_factor, latency, bandwidth_factor, .. } = self.transfer;
        (from, to, bytes, self.at) == (other.to, other.from, other.bytes, at)
            && (latency_factor, latency, bandwidth_factor)
                == (other.latency_factor, other.latency, other.bandwidth_factor)
    }
}

impl Flow {
    /// Whether the transfer is the twin of the one that was started last, which then stands for both.
    #[inline]
    pub(super) fn join_twin(&mut self, at: Time, transfer: &Transfer) -> bool {
        let Some(newest) = self.newest.filter(|newest| newest.faces(at, transfer)) else { return false };
        if !self.router.is_symmetric() || !self.sharing.double(newest.slot) {
            return false;
        }
        self.router.route_back(transfer.bytes);
        self.messages[newest.slot].twin = transfer.token;
        self.started += 1;
        self.newest = None;
        true
    }
}
