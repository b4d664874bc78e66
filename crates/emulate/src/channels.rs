//! Which partitioned send belongs to which partitioned receive.
//!
//! The two meet once, when they are initialised: the first send to a rank with a tag belongs to the first receive from there with
//! that tag, and so on, however they are started later. A pair has a tag of its own among the messages of the library.

use std::cell::{Cell, RefCell};
use std::collections::{HashMap, VecDeque};

use hpcast_mpi::Context;

/// What both sides of a partitioned message name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Route {
    /// The communicator.
    pub context: Context,
    /// The sender's rank in it.
    pub from: u32,
    /// The receiver's.
    pub to: u32,
    /// The program's tag.
    pub tag: i32,
}

/// A side of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// MPI_Psend_init.
    Send,
    /// MPI_Precv_init.
    Receive,
}

/// Tags of those that have not met their other side yet; all are of the same side.
struct Alone {
    side: Side,
    tags: VecDeque<i32>,
}

/// Pairs of partitioned sends and receives.
pub struct Channels {
    alone: RefCell<HashMap<Route, Alone>>,
    next: Cell<i32>,
}

impl Default for Channels {
    fn default() -> Channels {
        // From the top: collectives in the background count from below.
        Channels { alone: RefCell::default(), next: Cell::new(i32::MAX) }
    }
}

impl Channels {
    /// The tag of the pair that a side belongs to.
    pub fn join(&self, route: Route, side: Side) -> i32 {
        let mut alone = self.alone.borrow_mut();
        let waiting = alone.entry(route).or_insert_with(|| Alone { side, tags: VecDeque::new() });
        if waiting.side == side {
            let tag = self.next.get();
            self.next.set(tag - 1);
            waiting.tags.push_back(tag);
            return tag;
        }
        let tag = waiting.tags.pop_front().expect("somebody waits, or there would be no entry");
        if waiting.tags.is_empty() {
            alone.remove(&route);
        }
        tag
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sides_meet_in_the_order_of_their_initialisation() {
        let channels = Channels::default();
        let route = Route { context: Context::told(4), from: 0, to: 1, tag: 7 };
        let back = Route { from: 1, to: 0, ..route };
        let sent = [0, 1, 2].map(|_| channels.join(route, Side::Send));
        assert!(!sent.contains(&channels.join(back, Side::Receive)), "the other way is another route");
        assert_eq!([0, 1, 2].map(|_| channels.join(route, Side::Receive)), sent);
        let received = [0, 1].map(|_| channels.join(route, Side::Receive));
        assert!(received.iter().all(|tag| !sent.contains(tag)), "tags are not used twice");
        assert_eq!([0, 1].map(|_| channels.join(route, Side::Send)), received);
        assert_eq!(channels.alone.borrow().len(), 1, "only the receive from the other way is left");
    }
}
