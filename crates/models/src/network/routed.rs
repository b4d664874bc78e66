//! Messages whose ways are chosen when they start: by chance, or by what is under way at that moment.
//!
//! Models find the way of a message when it is announced, which may be long before it starts. Here messages wait for
//! their start; then the machine's routing chooses a way, and the model inside is told of message and way.

use std::rc::Rc;

use hpcast_engine::Slab;
use hpcast_engine::agenda::Agenda;
use hpcast_engine::random::{Key, Stream};
use hpcast_platform::interconnect::Path;
use hpcast_platform::machine::Machine;
use hpcast_platform::routing::Choosing;
use hpcast_platform::topology::LinkId;
use hpcast_units::Time;

use super::{Network, Timeline, Transfer, hand_on_coming};

/// When a transfer was on the ports of its two ends, from and until.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Occupied {
    /// Its sender's.
    pub out: (Time, Time),
    /// Its receiver's.
    pub into: (Time, Time),
}

/// A network model that can be told which way a transfer takes.
pub trait Along: Network {
    /// A transfer will start at `at` and take this way; otherwise as [`Network::start`].
    fn start_along(&mut self, at: Time, transfer: Transfer, path: &Path);

    /// Whether it knows how fast transfers are.
    fn knows_rates(&self) -> bool {
        false
    }

    /// Tells of each transfer that may have moved bytes, by its token, which share of them is left; nothing where rates are not
    /// known.
    fn tell_left(&self, _tell: &mut dyn FnMut(u32, f64)) {}

    /// From now on keeps in mind when transfers were on their ports, for [`Along::tell_occupied`].
    fn keep_occupied(&mut self) {}

    /// When transfers that have ended since the last question were on their ports, by token, where rates are not known.
    fn tell_occupied(&mut self, _tell: &mut dyn FnMut(u32, Occupied)) {}
}

/// A network whose messages go along chosen ways.
pub struct Routed<N> {
    network: N,
    machine: Rc<Machine>,
    draws: Draws,
    /// Starts of messages.
    agenda: Agenda,
    /// Under their own tokens; inside, their numbers here are their tokens.
    messages: Slab<Transfer>,
    /// The links of those that have started.
    links: Vec<Vec<LinkId>>,
    /// Messages under way over each link.
    under_way: Vec<u32>,
    path: Path,
    spare: Path,
    /// Numbers of messages that have ended.
    over: Vec<u32>,
}

/// Numbers drawn for messages or packets, each by its source and how many came from there before.
pub(super) struct Draws {
    stream: Stream,
    drawn: Vec<u64>,
}

impl Draws {
    pub fn new(seed: u64, nodes: u32) -> Draws {
        Draws { stream: Key::new(seed).purpose("routing"), drawn: vec![0; nodes as usize] }
    }

    #[inline]
    pub fn next(&mut self, from: u32) -> u64 {
        let drawn = &mut self.drawn[from as usize];
        *drawn += 1;
        self.stream.word(from, *drawn)
    }
}

impl<N: Along> Routed<N> {
    /// Chooses the ways of that network's messages; the seed is for draws.
    pub fn new(machine: Rc<Machine>, seed: u64, network: N) -> Routed<N> {
        let nodes = machine.interconnect.topology().nodes();
        Routed {
            network,
            draws: Draws::new(seed, nodes),
            under_way: vec![0; machine.interconnect.links() as usize],
            machine,
            agenda: Agenda::default(),
            messages: Slab::default(),
            links: Vec::new(),
            path: Path::default(),
            spare: Path::default(),
            over: Vec::new(),
        }
    }

    fn set_out(&mut self, now: Time, slot: u32) {
        let transfer = Transfer { token: slot, ..self.messages[slot] };
        let Transfer { from, to, .. } = transfer;
        let load = |link: LinkId| self.under_way[link as usize];
        let choosing = Choosing { from, to, draw: self.draws.next(from), load: &load };
        self.machine.interconnect.choose(choosing, &mut self.path, &mut self.spare);
        self.links[slot as usize].clone_from(&self.path.links);
        self.path.links.iter().for_each(|&link| self.under_way[link as usize] += 1);
        self.network.start_along(now, transfer, &self.path);
    }
}

impl<N: Along> Network for Routed<N> {
    fn start(&mut self, at: Time, transfer: Transfer) {
        let slot = self.messages.insert(transfer);
        self.links.resize_with(self.links.len().max(slot as usize + 1), Vec::new);
        self.agenda.push(at, slot);
    }

    fn next_event(&mut self) -> Time {
        self.agenda.next_time().min(self.network.next_event())
    }

    fn is_empty(&self) -> bool {
        self.messages.is_empty()
    }

    /// What ends now makes room before others choose.
    fn advance(&mut self, now: Time, ended: &mut Vec<u32>) {
        self.network.advance(now, &mut self.over);
        for slot in self.over.drain(..) {
            ended.push(self.messages[slot].token);
            self.messages.remove(slot);
            self.links[slot as usize].iter().for_each(|&link| self.under_way[link as usize] -= 1);
        }
        while let Some(entry) = self.agenda.due(now) {
            self.agenda.pop();
            self.set_out(now, entry.slot());
        }
    }

    fn look_ahead(&mut self) {
        self.network.look_ahead();
    }

    fn coming(&mut self, tokens: &mut Vec<u32>) {
        let messages = &self.messages;
        hand_on_coming(&mut self.network, tokens, |slot| messages[slot].token);
    }

    fn link_bytes(&self) -> Vec<f64> {
        self.network.link_bytes()
    }

    fn timeline(&self) -> Option<&Timeline> {
        self.network.timeline()
    }
}
