//! Rounds: exchanges one after the other, which a task need not be resumed for.

use std::task::Poll;

use super::{Mode, Next, Polling, Sending, State, Style};
use crate::group::Comm;
use crate::matching::Pattern;
use crate::rank::AHEAD;
use crate::request::Request;

/// An exchange with a peer: a receive is posted, what there is to send is sent, both are waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Round {
    /// Rank in the communicator.
    pub peer: u32,
    /// Bytes; none: nothing is sent.
    pub sent: u64,
    /// Bytes; none: nothing is received.
    pub received: u64,
}

/// Exchanges that follow each other, with nothing in between that takes time, but perhaps a look for a message.
#[derive(Debug, Default)]
pub struct Rounds {
    comm: Comm,
    tag: i32,
    list: Vec<Round>,
    done: usize,
}

impl Rounds {
    /// All messages have this tag.
    pub fn new(comm: Comm, tag: i32, list: Vec<Round>) -> Rounds {
        Rounds { comm, tag, list, done: 0 }
    }

    /// The list of all of them, to be used again.
    pub fn into_list(self) -> Vec<Round> {
        self.list
    }

    /// How many are done.
    pub fn done(&self) -> usize {
        self.done
    }

    /// Whether all are done.
    pub fn are_over(&self) -> bool {
        self.done == self.list.len()
    }

    /// All of them.
    pub fn list(&self) -> &[Round] {
        &self.list
    }

    /// They begin again.
    pub fn rewind(&mut self) {
        self.done = 0;
    }
}

/// The rounds that a task is in.
pub(super) struct Driven {
    rounds: Rounds,
    /// What it looks for after each round.
    look: Option<Pattern>,
    stage: Stage,
    /// Whether it has seen that.
    seen: bool,
}

/// What comes next.
#[derive(Clone, Copy)]
enum Stage {
    /// A round is posted.
    Post,
    /// A send and a receive, by number, are done.
    Finish { send: u32, receive: u32 },
    /// The round is over: the task looks for its message.
    Look,
    /// It knows what it sees.
    See(Pattern),
}

impl State {
    /// The task begins with rounds, which [`State::drive`] goes on with.
    pub fn begin_rounds(&mut self, task: u32, rounds: &mut Rounds, look: Option<Pattern>) {
        let number = task as usize;
        if self.driven.len() <= number {
            let idle = || Driven { rounds: Rounds::default(), look: None, stage: Stage::Post, seen: false };
            self.driven.resize_with(number + 1, idle);
        }
        self.driven[number] = Driven { rounds: std::mem::take(rounds), look, stage: Stage::Post, seen: false };
        self.tasks[number].driven = true;
    }

    /// Gives the rounds back, and says whether the message that the task looked for was seen.
    pub fn end_rounds(&mut self, task: u32, rounds: &mut Rounds) -> bool {
        self.tasks[task as usize].driven = false;
        let driven = &mut self.driven[task as usize];
        *rounds = std::mem::take(&mut driven.rounds);
        driven.seen
    }

    /// Goes on with the rounds of a task; whether it is to be resumed, because they are over or the message was seen.
    pub fn drive(&mut self, task: u32) -> bool {
        let number = task as usize;
        let mut stage = self.driven[number].stage;
        let waits_for = loop {
            stage = match stage {
                Stage::Post => {
                    let Driven { rounds: Rounds { comm, tag, ref list, done }, look, .. } = self.driven[number];
                    let Some(&Round { peer, sent, received }) = list.get(done) else { return true };
                    let (mut send, mut receive) = (Request::DONE, Request::DONE);
                    let mut next = Next::Anything;
                    if received > 0 {
                        if self.must_catch_up(task, false) {
                            self.catch_up(task);
                            break Stage::Post;
                        }
                        receive = self.receive(task, comm, Some(peer), Some(tag));
                        if look.is_some() && !self.shares_polling() {
                            next = Next::Poll;
                        }
                    }
                    if sent > 0 {
                        let sending = Sending { comm, to: peer, tag, bytes: sent, mode: Mode::Standard };
                        send = self.send(task, sending, Style::Blocking);
                    } else if received == 0 {
                        stage = Stage::Look;
                        continue;
                    }
                    let (sent, received) = (send.number(), receive.number());
                    if self.await_all(task, [&send, &receive], next) {
                        break Stage::Finish { send: sent, receive: received };
                    }
                    if receive.is_done_at_once() && self.tasks[number].ahead >= AHEAD && !self.catch_up(task) {
                        break Stage::Look;
                    }
                    Stage::Finish { send: sent, receive: received }
                }
                Stage::Finish { send, receive } => {
                    // A send that blocks comes first.
                    self.finish(task, Request::new(send));
                    self.finish(task, Request::new(receive));
                    Stage::Look
                }
                Stage::Look => {
                    let driven = &mut self.driven[number];
                    driven.rounds.done += 1;
                    match driven.look {
                        None => Stage::Post,
                        Some(pattern) => match self.begin_poll(task, &pattern, Polling::Once) {
                            Poll::Pending => break Stage::See(pattern),
                            Poll::Ready(None) => Stage::Post,
                            Poll::Ready(Some(_)) => return self.has_seen(task),
                        },
                    }
                }
                Stage::See(pattern) => match self.end_poll(task, &pattern) {
                    None => Stage::Post,
                    Some(_) => return self.has_seen(task),
                },
            }
        };
        self.driven[number].stage = waits_for;
        false
    }

    fn has_seen(&mut self, task: u32) -> bool {
        self.driven[task as usize].seen = true;
        true
    }
}
