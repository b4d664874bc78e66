//! Who watches a simulation: observers are told what every rank did and which messages went where.

use hpcast_units::Time;

/// What a rank spends time on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Activity {
    /// Computing.
    Compute,
    /// The sender's part of a message.
    Send,
    /// The receiver's part of a message.
    Receive,
    /// Waiting for another rank or for the network.
    Wait,
}

impl Activity {
    /// All of them, in the order in which they are reported.
    pub const ALL: [Activity; 4] = [Activity::Compute, Activity::Send, Activity::Receive, Activity::Wait];

    /// The word for people.
    pub fn name(self) -> &'static str {
        match self {
            Activity::Compute => "compute",
            Activity::Send => "send",
            Activity::Receive => "receive",
            Activity::Wait => "wait",
        }
    }
}

/// A message that was received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delivered {
    /// Sending rank in the world.
    pub from: u32,
    /// Receiving rank in the world.
    pub to: u32,
    /// Bytes of data.
    pub bytes: u64,
    /// When the sender had done its part.
    pub sent: Time,
    /// When the last byte was there.
    pub arrived: Time,
}

/// Watches a simulation. Times of one rank come in order; different ranks may be told out of order.
pub trait Observer {
    /// A rank spent some time.
    fn spent(&mut self, rank: u32, activity: Activity, from: Time, until: Time);
    /// A message was delivered.
    fn delivered(&mut self, message: Delivered);
}

/// Observers that share their notes with the caller, who reads them after the run.
impl<O: Observer> Observer for std::rc::Rc<std::cell::RefCell<O>> {
    fn spent(&mut self, rank: u32, activity: Activity, from: Time, until: Time) {
        self.borrow_mut().spent(rank, activity, from, until);
    }
    fn delivered(&mut self, message: Delivered) {
        self.borrow_mut().delivered(message);
    }
}
