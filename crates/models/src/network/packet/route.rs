//! Ways of packets, with the virtual channel of each link. Packets of a message may share one.

use hpcast_platform::interconnect::Path;
use hpcast_platform::topology::{LinkId, Topology};

/// A link on a way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Hop {
    pub link: LinkId,
    /// The virtual channel of the buffer at its end.
    pub channel: u32,
}

/// The ways that are in use.
#[derive(Debug, Default)]
pub(super) struct Routes {
    hops: Vec<Vec<Hop>>,
    users: Vec<u32>,
    free: Vec<u32>,
}

impl Routes {
    /// Takes a way into use, for one user; returns its number and the channels that it needs.
    pub fn enter(&mut self, path: &Path, topology: &dyn Topology) -> (u32, u32) {
        let number = self.free.pop().unwrap_or_else(|| {
            self.hops.push(Vec::new());
            self.users.push(0);
            (self.hops.len() - 1) as u32
        });
        self.users[number as usize] = 1;
        let hops = &mut self.hops[number as usize];
        hops.clear();
        let (mut channel, mut before) = (0, None);
        for &link in &path.links {
            // What surrounds a topology has no place in its order: limiters come first and last.
            let order = if link < topology.links() { Some(topology.order(link)) } else { None };
            channel += (before.is_some() && order.is_some() && order <= before) as u32;
            before = order.or(before);
            hops.push(Hop { link, channel });
        }
        (number, channel + 1)
    }

    /// One more uses it.
    pub fn join(&mut self, number: u32) {
        self.users[number as usize] += 1;
    }

    /// One less uses it.
    pub fn leave(&mut self, number: u32) {
        let users = &mut self.users[number as usize];
        *users -= 1;
        if *users == 0 {
            self.free.push(number);
        }
    }

    #[inline]
    pub fn hops(&self, number: u32) -> &[Hop] {
        &self.hops[number as usize]
    }
}
