//! Rounds: exchanges one after the other, which a task need not be resumed for.

use std::rc::Rc;
use std::task::Poll;

use super::{Mode, Next, Polling, Receiving, Sending, State, Style};
use crate::group::Comm;
use crate::matching::Pattern;
use crate::post::Parcel;
use crate::rank::AHEAD;
use crate::request::Request;

/// An exchange with a peer: a receive is posted, what there is to send is sent, both are waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Round {
    /// Place in the line.
    pub peer: u32,
    /// How many units; none: nothing is sent.
    pub sent: u64,
    /// How many units; none: nothing is received.
    pub received: u64,
}

/// Ranks at equal distances, such as a column of a grid.
#[derive(Clone, Copy, Debug)]
pub struct Line {
    /// Where they are ranks.
    pub comm: Comm,
    /// The first of them.
    pub first: u32,
    /// From one to the next.
    pub stride: u32,
}

/// Exchanges that follow each other, with nothing in between that takes time, but perhaps a look for a message. The list of
/// them may be shared by many.
#[derive(Clone, Debug)]
pub struct Rounds {
    line: Line,
    tag: i32,
    unit: u64,
    list: Rc<[Round]>,
    done: usize,
}

impl Rounds {
    /// Exchanges with others of a line. All messages have this tag; a unit has so many bytes.
    pub fn new(line: Line, tag: i32, unit: u64, list: Rc<[Round]>) -> Rounds {
        Rounds { line, tag, unit, list, done: 0 }
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

    /// Bytes of a unit.
    pub fn unit(&self) -> u64 {
        self.unit
    }

    /// Bytes that the next one receives.
    fn expected(&self) -> u64 {
        self.list[self.done].received * self.unit
    }
}

/// The rounds that a task is in.
#[derive(Clone)]
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
    pub fn begin_rounds(&mut self, task: u32, rounds: &Rounds, look: Option<Pattern>) {
        let number = task as usize;
        let driven = Driven { rounds: rounds.clone(), look, stage: Stage::Post, seen: false };
        if self.driven.len() <= number {
            self.driven.resize(number + 1, driven.clone());
        }
        self.driven[number] = driven;
        self.tasks[number].driven = true;
    }

    /// The rounds are over, or the message that the task looked for was seen: how many are done, and whether it was.
    pub fn end_rounds(&mut self, task: u32, rounds: &mut Rounds) -> bool {
        self.tasks[task as usize].driven = false;
        let driven = &self.driven[task as usize];
        rounds.done = driven.rounds.done;
        driven.seen
    }

    /// Goes on with the rounds of a task; whether it is to be resumed, because they are over or the message was seen.
    pub fn drive(&mut self, task: u32) -> bool {
        let number = task as usize;
        let mut stage = self.driven[number].stage;
        let waits_for = loop {
            stage = match stage {
                Stage::Post => {
                    let Driven { rounds: Rounds { line, tag, unit, ref list, done }, look, .. } = self.driven[number];
                    let Some(&Round { peer, sent, received }) = list.get(done) else { return true };
                    let Line { comm, first, stride } = line;
                    let peer = first + peer * stride;
                    let (mut send, mut receive) = (Request::DONE, Request::DONE);
                    let mut next = Next::Anything;
                    if received > 0 {
                        if self.must_catch_up(task, false) {
                            self.catch_up(task);
                            break Stage::Post;
                        }
                        receive = self.receive(
                            task,
                            Receiving { comm, source: Some(peer), tag: Some(tag), parcel: Parcel::NONE },
                        );
                        if look.is_some() && !self.shares_polling() {
                            next = Next::Poll;
                        }
                    }
                    if sent > 0 {
                        let sending = Sending {
                            comm,
                            to: peer,
                            tag,
                            bytes: sent * unit,
                            mode: Mode::Standard,
                            parcel: Parcel::NONE,
                        };
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
                    let status = self.finish(task, Request::new(receive));
                    debug_assert_eq!(status.bytes, self.driven[number].rounds.expected(), "task {task}");
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
