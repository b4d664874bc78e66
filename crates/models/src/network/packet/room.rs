//! Room in a buffer, as far as the port before it knows.

use hpcast_engine::Slab;
use hpcast_engine::slab::NONE;
use hpcast_units::Time;

/// Room that a port knows of, and room that it is promised for later times, in their order. Hardly ever are there more than two promises
/// at once: these lie in the line of the cache that the channel is in, others elsewhere.
#[derive(Clone, Copy, Debug)]
pub(super) struct Room {
    /// The first two promises; [`Time::NEVER`] where there is none.
    times: [Time; 2],
    bytes: [u32; 2],
    /// The third.
    third: u32,
    known: u32,
}

/// A promise beyond the first two of a channel.
#[derive(Clone, Copy, Debug)]
pub(super) struct Other {
    time: Time,
    bytes: u32,
    /// Due after it.
    behind: u32,
}

/// Those of all channels.
pub(super) type Others = Slab<Other>;

impl Room {
    /// All of an empty buffer.
    pub fn new(bytes: u32) -> Room {
        Room { times: [Time::NEVER; 2], bytes: [0; 2], third: NONE, known: bytes }
    }

    /// Whether there is so much, as far as the port knows by now.
    #[inline]
    pub fn is_enough(&mut self, bytes: u32, now: Time, others: &mut Others) -> bool {
        if self.known < bytes {
            self.learn(now, others);
        }
        self.known >= bytes
    }

    /// Takes some of what is there.
    #[inline]
    pub fn take(&mut self, bytes: u32) {
        self.known -= bytes;
    }

    /// When the next promise is due.
    #[inline]
    pub fn next(&self) -> Option<Time> {
        (self.times[0] != Time::NEVER).then_some(self.times[0])
    }

    /// One more, behind those that are due at the same time.
    #[inline]
    pub fn promise(&mut self, time: Time, bytes: u32, others: &mut Others) {
        let (mut time, mut bytes) = (time, bytes);
        for (slot, room) in self.times.iter_mut().zip(&mut self.bytes) {
            if time < *slot {
                (time, *slot) = (*slot, time);
                (bytes, *room) = (*room, bytes);
            }
        }
        if time != Time::NEVER {
            self.promise_beyond(time, bytes, others);
        }
    }

    #[cold]
    fn promise_beyond(&mut self, time: Time, bytes: u32, others: &mut Others) {
        let (mut before, mut at) = (NONE, self.third);
        while at != NONE && others[at].time <= time {
            (before, at) = (at, others[at].behind);
        }
        let number = others.insert(Other { time, bytes, behind: at });
        match before {
            NONE => self.third = number,
            _ => others[before].behind = number,
        }
    }

    /// What is due by now is known.
    #[inline]
    pub fn learn(&mut self, now: Time, others: &mut Others) {
        while self.times[0] <= now {
            self.known += self.bytes[0];
            (self.times[0], self.bytes[0]) = (self.times[1], self.bytes[1]);
            (self.times[1], self.bytes[1]) = match self.third {
                NONE => (Time::NEVER, 0),
                _ => self.take_from_beyond(others),
            };
        }
    }

    #[cold]
    fn take_from_beyond(&mut self, others: &mut Others) -> (Time, u32) {
        let Other { time, bytes, behind } = others[self.third];
        others.remove(self.third);
        self.third = behind;
        (time, bytes)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// As a sorted list of all promises would have it.
        #[test]
        fn are_due_in_order(steps in prop::collection::vec((0u64..20, 1u32..100, 0u64..4), 1..60)) {
            let (mut room, mut others) = (Room::new(0), Others::default());
            let mut plain: Vec<(Time, u32)> = Vec::new();
            let (mut now, mut known) = (0, 0);
            for (ahead, bytes, passes) in steps {
                let time = Time::from_ps(now + ahead);
                room.promise(time, bytes, &mut others);
                plain.insert(plain.partition_point(|&(before, _)| before <= time), (time, bytes));
                prop_assert_eq!(room.next(), plain.first().map(|&(time, _)| time));
                now += passes;
                let due = plain.partition_point(|&(time, _)| time <= Time::from_ps(now));
                known += plain.drain(..due).map(|(_, bytes)| bytes).sum::<u32>();
                room.learn(Time::from_ps(now), &mut others);
                prop_assert_eq!(room.known, known);
                prop_assert_eq!(room.next(), plain.first().map(|&(time, _)| time));
            }
            room.learn(Time::from_ps(now + 20), &mut others);
            prop_assert!(room.next().is_none() && others.is_empty());
        }
    }
}
