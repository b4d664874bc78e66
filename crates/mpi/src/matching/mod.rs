//! Which message meets which receive.
//!
//! Every rank has two lists: receives that were posted and met no message yet, and messages that came and met no
//! receive yet, both in order. A message takes the first posted receive that accepts it, a receive the first message
//! that it accepts: this is MPI's rule that messages of one sender do not overtake each other.
//!
//! Receives and messages live in slabs, listed or not; how lists hold them is said in `list.rs`. This file knows no time beyond the
//! numbers it is given; who may be matched when is decided by its caller.

mod list;

use hpcast_engine::{Slab, prefetch};
use hpcast_units::Time;

pub use list::Place;
use list::{Items, List, Mark};

/// What a message says of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Envelope {
    /// Communicator and kind of traffic; never compared with wildcards.
    pub context: u32,
    /// Sender's rank in the communicator.
    pub source: u32,
    /// The tag.
    pub tag: i32,
}

/// What a receive or probe accepts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pattern {
    /// Must be equal.
    context: u32,
    /// [`ANY_SOURCE`] accepts every source.
    source: u32,
    /// [`ANY_TAG`] accepts every tag.
    tag: i32,
}

const ANY_SOURCE: u32 = u32::MAX;
/// MPI's tags are not negative.
const ANY_TAG: i32 = i32::MIN;

impl Pattern {
    /// `None` accepts every source, and every tag.
    #[inline]
    pub fn new(context: u32, source: Option<u32>, tag: Option<i32>) -> Pattern {
        Pattern { context, source: source.unwrap_or(ANY_SOURCE), tag: tag.unwrap_or(ANY_TAG) }
    }

    /// The source that it accepts, if it is one only.
    #[inline]
    pub fn source(&self) -> Option<u32> {
        (self.source != ANY_SOURCE).then_some(self.source)
    }

    /// The context that it accepts.
    pub fn context(&self) -> u32 {
        self.context
    }

    /// The tag that it accepts, if it is one only.
    #[inline]
    pub fn tag(&self) -> Option<i32> {
        (self.tag != ANY_TAG).then_some(self.tag)
    }

    #[inline]
    fn accepts(&self, envelope: &Envelope) -> bool {
        self.context == envelope.context
            && (self.source == envelope.source || self.source == ANY_SOURCE)
            && (self.tag == envelope.tag || self.tag == ANY_TAG)
    }

    /// Does it accept one envelope only?
    #[inline]
    fn is_exact(&self) -> bool {
        self.source != ANY_SOURCE && self.tag != ANY_TAG
    }

    /// The one envelope that it accepts, if there is only one.
    #[inline]
    pub fn exact(&self) -> Option<Envelope> {
        self.is_exact().then_some(Envelope { context: self.context, source: self.source, tag: self.tag })
    }
}

/// What can stand in a list.
pub trait Listed: Copy {
    /// Where it stands.
    fn place(&self) -> &Place;
    /// Where it stands, to be changed.
    fn place_mut(&mut self) -> &mut Place;
    /// The envelope by which it can be indexed.
    fn exact(&self) -> Option<Envelope>;
    /// Can it be indexed?
    #[inline]
    fn is_exact(&self) -> bool {
        self.exact().is_some()
    }
}

/// A receive that can be posted.
pub trait Receive: Listed {
    /// What it accepts.
    fn pattern(&self) -> Pattern;
}

/// A message that can wait for its receive.
pub trait Message: Listed {
    /// What it says of itself.
    fn envelope(&self) -> Envelope;
    /// From when on it is there.
    fn since(&self) -> Time;
}

/// Both lists of a rank, and what its owner wants to find beside them. One cache line: a machine of a million ranks
/// fetches one for each message.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Mailbox<B> {
    posted: List,
    kept: List,
    beside: B,
}

/// The receives, the messages, the lists of all ranks, and what their owner keeps beside each rank's lists.
pub struct Matching<R, M, B = ()> {
    boxes: Vec<Mailbox<B>>,
    receives: Items<R>,
    messages: Items<M>,
}

impl<R: Receive, M: Message, B> Matching<R, M, B> {
    /// Empty lists, one for each `beside`.
    pub fn new(beside: impl Iterator<Item = B>) -> Matching<R, M, B> {
        let boxes = beside.map(|beside| Mailbox { posted: List::EMPTY, kept: List::EMPTY, beside }).collect();
        Matching { boxes, receives: Items::new(), messages: Items::new() }
    }

    /// Messages to that rank will be sent soon.
    #[inline]
    pub fn prefetch(&self, to: u32) {
        if let Some(mailbox) = self.boxes.get(to as usize) {
            prefetch(mailbox);
        }
    }

    /// The same, when the lists are there: the receive that they meet will be looked at.
    #[inline]
    pub fn prefetch_posted(&self, to: u32, context: u32, source: u32) {
        if let Some(mailbox) = self.boxes.get(to as usize) {
            self.receives.prefetch_from(&mailbox.posted, Mark::of_source(context, source));
        }
    }

    /// That rank will receive soon: its messages will be looked at.
    #[inline]
    pub fn prefetch_kept(&self, rank: u32) {
        if let Some(mailbox) = self.boxes.get(rank as usize) {
            self.messages.prefetch(&mailbox.kept);
        }
    }

    /// What is kept beside the lists of a rank.
    #[inline]
    pub fn beside(&self, rank: u32) -> &B {
        &self.boxes[rank as usize].beside
    }

    /// What is kept beside the lists of a rank, to be changed.
    #[inline]
    pub fn beside_mut(&mut self, rank: u32) -> &mut B {
        &mut self.boxes[rank as usize].beside
    }

    /// What is kept beside the lists, by rank.
    pub fn all_beside(&self) -> impl Iterator<Item = (u32, &B)> {
        (0..).zip(self.boxes.iter().map(|mailbox| &mailbox.beside))
    }

    /// All receives, posted or not.
    #[inline]
    pub fn receives(&mut self) -> &mut Slab<R> {
        &mut self.receives.slab
    }

    /// All messages, kept or not.
    #[inline]
    pub fn messages(&mut self) -> &mut Slab<M> {
        &mut self.messages.slab
    }

    /// All receives with their numbers, for reports.
    pub fn all_receives(&self) -> impl Iterator<Item = (u32, &R)> {
        self.receives.slab.iter()
    }

    /// A receive.
    #[inline]
    pub fn receive(&self, number: u32) -> &R {
        &self.receives.slab[number]
    }

    /// A message.
    #[inline]
    pub fn message(&self, number: u32) -> &M {
        &self.messages.slab[number]
    }

    /// A message has come: the first posted receive that accepts it, which is taken off the list.
    #[inline]
    pub fn take_receive(&mut self, to: u32, envelope: Envelope) -> Option<u32> {
        let list = &mut self.boxes[to as usize].posted;
        if list.is_empty() {
            return None;
        }
        let receive = match self.receives.find_exact(list, to, envelope) {
            Some(found) => found?,
            None => {
                let mark = Mark::of(Some(envelope));
                self.receives.search(list, mark, |receive| receive.pattern().accepts(&envelope))?
            }
        };
        self.receives.remove(list, to, receive);
        Some(receive)
    }

    /// Posts a receive that met no message.
    #[inline]
    pub fn post_receive(&mut self, to: u32, receive: u32) {
        self.receives.push(&mut self.boxes[to as usize].posted, to, receive);
    }

    /// Takes a posted receive back that has met no message.
    pub fn withdraw_receive(&mut self, to: u32, receive: u32) {
        self.receives.remove(&mut self.boxes[to as usize].posted, to, receive);
    }

    /// Keeps a message that met no receive.
    #[inline]
    pub fn keep_message(&mut self, to: u32, message: u32) {
        self.messages.push(&mut self.boxes[to as usize].kept, to, message);
    }

    /// The message that a receive takes, off the list. A named source takes its first message in order, whenever it is
    /// there; from any source it is the earliest of those that are there at `now`.
    #[inline(always)]
    pub fn take_message(&mut self, to: u32, pattern: &Pattern, now: Time) -> Option<u32> {
        if self.boxes[to as usize].kept.is_empty() {
            return None;
        }
        self.take_kept_message(to, pattern, now)
    }

    fn take_kept_message(&mut self, to: u32, pattern: &Pattern, now: Time) -> Option<u32> {
        let message = self.find(to, pattern, now)?;
        self.messages.remove(&mut self.boxes[to as usize].kept, to, message);
        Some(message)
    }

    /// The message that a probe at `now` sees: as [`Matching::take_message`], but it must be there and stays.
    #[inline]
    pub fn see_message(&self, to: u32, pattern: &Pattern, now: Time) -> Option<u32> {
        if self.boxes[to as usize].kept.is_empty() {
            return None;
        }
        self.find(to, pattern, now).filter(|&message| self.message(message).since() <= now)
    }

    fn find(&self, to: u32, pattern: &Pattern, now: Time) -> Option<u32> {
        let list = &self.boxes[to as usize].kept;
        if pattern.source().is_none() {
            return self.earliest(list, pattern, now);
        }
        if let Some(envelope) = pattern.exact()
            && let Some(found) = self.messages.find_exact(list, to, envelope)
        {
            return found;
        }
        self.messages.search(list, Mark::of(pattern.exact()), |message| pattern.accepts(&message.envelope()))
    }

    /// Among the accepted messages, the one that was there first.
    fn earliest(&self, list: &List, pattern: &Pattern, now: Time) -> Option<u32> {
        let mut best: Option<(Time, u32)> = None;
        for number in self.messages.numbers(list) {
            let message = self.message(number);
            let since = message.since();
            // Strictly earlier: of equal times the first in the list wins, which also keeps one sender's order.
            if since <= now && pattern.accepts(&message.envelope()) && best.is_none_or(|(earliest, _)| since < earliest)
            {
                best = Some((since, number));
            }
        }
        best.map(|(_, number)| number)
    }

    /// Takes every kept message that is there only after `now` off the list, in order.
    pub fn take_future_messages(&mut self, to: u32, now: Time) -> Vec<u32> {
        let list = &mut self.boxes[to as usize].kept;
        let mut taken: Vec<u32> = self.messages.numbers(list).collect();
        taken.retain(|&number| self.messages.slab[number].since() > now);
        taken.iter().for_each(|&number| self.messages.remove(list, to, number));
        taken
    }

    /// Kept messages with the rank that should receive them, by rank and in order.
    pub fn all_kept(&self) -> impl Iterator<Item = (u32, &M)> {
        let of = |list| self.messages.numbers(list).map(|number| self.message(number));
        (0..).zip(&self.boxes).flat_map(move |(rank, mailbox)| of(&mailbox.kept).map(move |one| (rank, one)))
    }

    /// Messages that no receive has taken, and receives that no message has met.
    pub fn left_over(&self) -> (u64, u64) {
        let sum =
            |list: fn(&Mailbox<B>) -> &List| self.boxes.iter().map(|mailbox| u64::from(list(mailbox).len())).sum();
        (sum(|mailbox| &mailbox.kept), sum(|mailbox| &mailbox.posted))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[derive(Clone, Copy)]
    struct Item<K> {
        key: K,
        at: Time,
        step: u32,
        place: Place,
    }

    fn item<K>(key: K, step: u32, at: Time) -> Item<K> {
        Item { key, at, step, place: Place::default() }
    }

    impl Listed for Item<Pattern> {
        fn place(&self) -> &Place {
            &self.place
        }
        fn place_mut(&mut self) -> &mut Place {
            &mut self.place
        }
        fn exact(&self) -> Option<Envelope> {
            self.key.exact()
        }
    }

    impl Listed for Item<Envelope> {
        fn place(&self) -> &Place {
            &self.place
        }
        fn place_mut(&mut self) -> &mut Place {
            &mut self.place
        }
        fn exact(&self) -> Option<Envelope> {
            Some(self.key)
        }
    }

    impl Receive for Item<Pattern> {
        fn pattern(&self) -> Pattern {
            self.key
        }
    }

    impl Message for Item<Envelope> {
        fn envelope(&self) -> Envelope {
            self.key
        }
        fn since(&self) -> Time {
            self.at
        }
    }

    type Tested = Matching<Item<Pattern>, Item<Envelope>>;

    /// The rule itself, on plain vectors.
    #[derive(Default)]
    struct Reference {
        posted: Vec<(Pattern, u32)>,
        kept: Vec<(Envelope, u32)>,
    }

    #[derive(Clone, Debug)]
    enum Step {
        Send(Envelope),
        Receive(Pattern),
        Probe(Pattern),
    }

    fn step() -> impl Strategy<Value = Step> {
        let envelope = (0..2u32, 0..4u32, 0..3i32).prop_map(|(context, source, tag)| Envelope { context, source, tag });
        let pattern = (0..2u32, proptest::option::weighted(0.8, 0..4u32), proptest::option::weighted(0.8, 0..3i32))
            .prop_map(|(context, source, tag)| Pattern::new(context, source, tag));
        prop_oneof![
            4 => envelope.prop_map(Step::Send),
            4 => pattern.clone().prop_map(Step::Receive),
            1 => pattern.prop_map(Step::Probe),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]
        /// Lists long enough to be indexed and to be emptied again, wildcards included.
        #[test]
        fn equals_the_reference(steps in proptest::collection::vec(step(), 0..200), bias in 0..3u32) {
            let mut matching = Tested::new([(); 2].into_iter());
            let mut reference = Reference::default();
            let to = 1;
            for (token, step) in (0u32..).zip(steps) {
                let now = Time::from_ps(u64::from(token));
                match step {
                    // Bias makes long lists of one kind.
                    Step::Send(_) if bias == 1 && token % 4 != 0 => {}
                    Step::Receive(_) if bias == 2 && token % 4 != 0 => {}
                    Step::Send(envelope) => {
                        let expected = reference.posted.iter().position(|(pattern, _)| pattern.accepts(&envelope));
                        let met = matching.take_receive(to, envelope).map(|number| matching.receive(number).step);
                        prop_assert_eq!(met, expected.map(|i| reference.posted.remove(i).1));
                        if met.is_none() {
                            let message = matching.messages().insert(item(envelope, token, now));
                            matching.keep_message(to, message);
                            reference.kept.push((envelope, token));
                        }
                    }
                    Step::Receive(pattern) => {
                        let expected = reference.kept.iter().position(|(envelope, _)| pattern.accepts(envelope));
                        let met = matching.take_message(to, &pattern, now).map(|n| matching.message(n).step);
                        prop_assert_eq!(met, expected.map(|i| reference.kept.remove(i).1));
                        if met.is_none() {
                            let receive = matching.receives().insert(item(pattern, token, now));
                            matching.post_receive(to, receive);
                            reference.posted.push((pattern, token));
                        }
                    }
                    Step::Probe(pattern) => {
                        let expected = reference.kept.iter().find(|(envelope, _)| pattern.accepts(envelope));
                        let seen = matching.see_message(to, &pattern, now).map(|n| matching.message(n).step);
                        prop_assert_eq!(seen, expected.map(|&(_, token)| token));
                    }
                }
            }
            prop_assert_eq!(matching.left_over(), (reference.kept.len() as u64, reference.posted.len() as u64));
        }
    }

    #[test]
    fn a_message_of_the_future_is_not_seen_but_can_be_named() {
        let mut matching = Tested::new([()].into_iter());
        let later = Time::from_ps(10);
        let message = matching.messages().insert(item(Envelope { context: 0, source: 3, tag: 1 }, 0, later));
        matching.keep_message(0, message);
        let named = Pattern::new(0, Some(3), Some(1));
        let any = Pattern::new(0, None, Some(1));
        assert_eq!(matching.see_message(0, &named, Time::ZERO), None);
        assert_eq!(matching.take_message(0, &any, Time::ZERO), None);
        assert_eq!(matching.see_message(0, &any, later), Some(message));
        assert_eq!(matching.take_message(0, &named, Time::ZERO), Some(message));
    }
}
