//! What runs in a simulation: ranks, and collective operations in their background.

use hpcast_units::Time;

use super::Next;
use crate::observer::{Activity, Observer};

/// Time spent by activity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spent {
    times: [Time; 4],
}

impl Spent {
    /// So many times another is added.
    pub fn add_scaled(&mut self, other: &Spent, factor: f64) {
        for (time, other) in self.times.iter_mut().zip(other.times) {
            *time += Time::from_secs(other.as_secs() * factor);
        }
    }

    /// Time spent on one activity.
    pub fn on(&self, activity: Activity) -> Time {
        self.times[activity as usize]
    }
}

/// What runs: a rank, or a collective operation in its background. One cache line.
#[repr(align(64))]
pub(crate) struct Task {
    pub clock: Time,
    pub rank: u32,
    pub node: u32,
    /// How many of the requests it waits for are not done.
    pub awaiting: u32,
    /// How many of these will soon be done, as far as is known.
    pub coming: u16,
    /// Unsuccessful polls in a row.
    pub polls: u32,
    /// Sends since the task last waited or caught up: a rank may not run ahead for ever.
    pub ahead: u16,
    /// Its messages that have met no receive and whose data is still in its buffers.
    pub in_place: u16,
    /// What it does after the wait.
    pub next: Next,
    /// Whether its wait is one of [`State::drive`].
    pub driven: bool,
    pub spent: Spent,
}

const _: () = assert!(size_of::<Task>() == 64);

impl Task {
    pub fn new(rank: u32, node: u32) -> Task {
        Task {
            clock: Time::ZERO,
            rank,
            node,
            awaiting: 0,
            polls: 0,
            ahead: 0,
            in_place: 0,
            next: Next::Anything,
            driven: false,
            coming: 0,
            spent: Spent::default(),
        }
    }
    #[inline]
    pub fn spend(&mut self, activity: Activity, length: Time, observer: &mut Option<Box<dyn Observer>>) {
        if length == Time::ZERO {
            return;
        }
        let from = self.clock;
        self.clock += length;
        self.spent.times[activity as usize] += length;
        if let Some(observer) = observer {
            observer.spent(self.rank, activity, from, self.clock);
        }
    }
}
