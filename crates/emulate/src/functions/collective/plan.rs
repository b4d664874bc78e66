//! What a collective call does: a [`Plan`] to be run or begun, and a [`Series`] of those of a persistent operation.

use std::cell::Cell;
use std::rc::Rc;

use hpcast_mpi::{Collective, Exchange, Lane};

use super::Items;
use crate::argument::CommHandle;
use crate::boards::{Deposit, Key};
use crate::call::Call;
use crate::communicator::Communicator;
use crate::fault::{Answer, Fault};
use crate::fiber::block_on;
use crate::mail::Place;
use crate::operation::{Active, Finish, Then};

/// A collective call, worked out but not begun.
pub(in crate::functions) struct Plan {
    pub comm: Rc<Communicator>,
    pub timing: Collective,
    /// None where all data goes with messages.
    pub deposit: Option<Deposit>,
    pub finish: AtEnd,
}

/// What is done with the data at the end.
pub(in crate::functions) type AtEnd = Box<dyn FnOnce(&Call<'_>, Key) -> Answer>;

/// What can be begun.
pub(in crate::functions) type Planned = Result<Plan, Fault>;

impl Plan {
    /// A plan in which nothing is left to do at the end.
    pub fn new(comm: Rc<Communicator>, timing: Collective, deposit: Deposit) -> Plan {
        Plan { comm, timing, deposit: Some(deposit), finish: Box::new(|_, _| Ok(())) }
    }

    /// Messages with their data, all at once: those received in this order, and those sent.
    pub fn exchange(call: &Call<'_>, comm: Rc<Communicator>, received: &[(u32, Items)], sent: &[(u32, Items)]) -> Plan {
        let mail = &call.me.world.mail;
        let place = |items: &Items| Place { address: items.address, layout: items.layout() };
        let exchange = Exchange {
            received: received.iter().map(|(from, items)| (*from, mail.receive(place(items)))).collect(),
            sent: sent.iter().map(|(to, items)| (*to, items.bytes(), mail.send(place(items)))).collect(),
        };
        let exchange = Rc::new(exchange);
        let timing = Collective::Exchange(exchange.clone());
        let plan = Plan { comm, timing, deposit: None, finish: Box::new(|_, _| Ok(())) };
        plan.then(move |call, _| {
            exchange.received.iter().for_each(|&(_, parcel)| call.me.world.mail.received(parcel));
            Ok(())
        })
    }

    /// What is done at the end.
    pub fn then(mut self, finish: impl FnOnce(&Call<'_>, Key) -> Answer + 'static) -> Plan {
        self.finish = Box::new(finish);
        self
    }

    fn enter(&mut self, call: &Call<'_>, key: Key, is_in_background: bool) {
        if let Some(deposit) = self.deposit.take() {
            let boards = &call.me.world.boards;
            boards.enter(key, self.comm.comm.size(), self.comm.comm.rank(), deposit);
            boards.look(key, |board| board.is_in_background = is_in_background);
        }
    }

    /// Does it and waits for its end.
    pub fn run(mut self, call: &Call<'_>) -> Answer {
        let key = self.comm.next_call();
        self.enter(call, key, false);
        block_on(call.me.rank.collective(self.comm.comm, &self.timing));
        let answer = (self.finish)(call, key);
        call.me.world.boards.leave(key);
        answer
    }

    /// Begins it.
    pub fn start(self, call: &Call<'_>) -> Active {
        let (key, lane) = (self.comm.next_call(), call.me.rank.collective_lane(self.comm.comm));
        self.start_as(call, key, lane)
    }

    /// Begins it as the operation with that key, in that lane.
    fn start_as(mut self, call: &Call<'_>, key: Key, lane: Lane) -> Active {
        self.enter(call, key, true);
        let request = call.me.rank.start_collective_in(lane, self.comm.comm, self.timing);
        let finish: Finish = Box::new(move |call| {
            let answer = (self.finish)(call, key);
            call.me.world.boards.leave(key);
            answer
        });
        Active { request: Some(request), then: Then::Finish(finish) }
    }
}

/// A persistent operation. Ranks agree on which one it is by the order in which they initialise them (MPI 4.0, 6.12), and start
/// them in any order.
pub(in crate::functions) struct Series {
    key: Cell<Key>,
    lane: Lane,
}

impl Series {
    /// One more on a communicator.
    pub fn new(call: &Call<'_>, comm: CommHandle) -> Result<Series, Fault> {
        let comm = call.me.comm(comm.number)?;
        Ok(Series { key: Cell::new(comm.next_call()), lane: call.me.rank.collective_lane(comm.comm) })
    }

    /// Starts it once more.
    pub fn start(&self, call: &Call<'_>, plan: Plan) -> Active {
        let key = self.key.get();
        self.key.set(Key { turn: key.turn.wrapping_add(1), ..key });
        plan.start_as(call, key, self.lane)
    }
}
