//! Several observers of several simulations that follow each other.

use hpcast_mpi::{Activity, Delivered, Observer};
use hpcast_units::Time;

/// Passes on to every observer, in their order. Each simulation begins at time zero; what the observers are told is
/// later by the time at which it [starts](Observers::start_at) in the run.
#[derive(Default)]
pub struct Observers {
    observers: Vec<Box<dyn Observer>>,
    start: Time,
}

impl Observers {
    /// One more.
    pub fn add(&mut self, observer: impl Observer + 'static) {
        self.observers.push(Box::new(observer));
    }

    /// Whether nobody watches.
    pub fn is_empty(&self) -> bool {
        self.observers.is_empty()
    }

    /// The next simulation begins at this time of the run.
    pub fn start_at(&mut self, start: Time) {
        self.start = start;
    }
}

impl Observer for Observers {
    fn spent(&mut self, rank: u32, activity: Activity, from: Time, until: Time) {
        for observer in &mut self.observers {
            observer.spent(rank, activity, self.start + from, self.start + until);
        }
    }

    fn delivered(&mut self, message: Delivered) {
        let (sent, arrived) = (self.start + message.sent, self.start + message.arrived);
        for observer in &mut self.observers {
            observer.delivered(Delivered { sent, arrived, ..message });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;
    use std::rc::Rc;

    #[derive(Default)]
    struct Notes(Vec<(u64, u64)>);

    impl Observer for Notes {
        fn spent(&mut self, _: u32, _: Activity, from: Time, until: Time) {
            self.0.push((from.as_ps(), until.as_ps()));
        }
        fn delivered(&mut self, message: Delivered) {
            self.0.push((message.sent.as_ps(), message.arrived.as_ps()));
        }
    }

    #[test]
    fn all_are_told_the_time_of_the_run() {
        let notes = Rc::new(RefCell::new(Notes::default()));
        let mut observers = Observers::default();
        observers.add(notes.clone());
        observers.add(notes.clone());
        observers.spent(0, Activity::Compute, Time::ZERO, Time::from_ps(5));
        observers.start_at(Time::from_ps(100));
        let message = Delivered { from: 0, to: 1, bytes: 1, sent: Time::from_ps(2), arrived: Time::from_ps(3) };
        observers.delivered(message);
        assert_eq!(notes.borrow().0, [(0, 5), (0, 5), (102, 103), (102, 103)]);
    }
}
