//! Data of messages that have left before they were received, and stays in its sender's buffer as long as the sender does not go on.
//!
//! The sender's clock goes on at once; only its program must not, or what it writes into the buffer would be sent. So it says
//! when it does, and by then most messages have met their receives: their data is copied once, not twice.

use super::{State, Style};
use crate::post::Parcel;
use crate::request::Request;
use crate::state::Sending;

impl State {
    /// Posts a send whose data may stay in its buffer; the number of the message, if it does.
    #[inline]
    pub fn send_in_place(&mut self, task: u32, sending: Sending) -> (Request, Option<u32>) {
        let request = self.send(task, sending, Style::InPlace);
        (request, self.left.take())
    }

    /// The data of a message is kept, so that its sender may go on.
    #[inline]
    pub(super) fn keep_data(&mut self, number: u32, parcel: Parcel, from: u32) {
        if let Some(post) = &mut self.post {
            self.matching.messages()[number].parcel = post.keep(parcel, from);
        }
    }

    /// The data of a message stays where it is, if it is worth it: its sender will say when it goes on.
    #[inline]
    pub(super) fn leave(&mut self, number: u32, parcel: Parcel, from: u32) -> bool {
        let message = &mut self.matching.messages()[number];
        let in_place = &mut self.tasks[from as usize].in_place;
        let may_stay = self.post.as_mut().is_some_and(|post| post.may_stay(parcel, from));
        if !may_stay || *in_place == u16::MAX {
            return false;
        }
        *in_place += 1;
        message.in_place = true;
        self.left = Some(number);
        true
    }

    /// A sender goes on: what is still in its buffers of messages with these numbers is kept. They may be over, and their numbers
    /// given to others.
    pub fn keep_left(&mut self, task: u32, numbers: impl IntoIterator<Item = u32>) {
        let rank = self.tasks[task as usize].rank;
        for number in numbers {
            // So that messages which are over, as most are, need not be fetched.
            if self.tasks[rank as usize].in_place == 0 {
                continue;
            }
            let message = self.matching.message(number);
            if message.in_place && message.from == rank {
                let parcel = message.parcel;
                self.is_in_place_no_longer(number);
                self.keep_data(number, parcel, rank);
            }
        }
    }

    /// Its data is in its sender's buffer no longer, or will be handed over from there.
    pub(super) fn is_in_place_no_longer(&mut self, number: u32) {
        let message = &mut self.matching.messages()[number];
        message.in_place = false;
        self.tasks[message.from as usize].in_place -= 1;
    }
}
