//! Knowing what comes is for fetching memory only: times are the same whether anybody looks ahead or not.

use std::cell::Cell;
use std::rc::Rc;

use hpcast_models::network::{Flow, Ideal, Network};
use hpcast_mpi::collectives::Buffer;
use hpcast_mpi::{Collective, Fetch, Outcome, Rank, Setup, run};
use hpcast_platform::Machine;
use hpcast_platform::placement::Plan;
use hpcast_tests::{plain, root};
use hpcast_units::Time;

const RANKS: u32 = 600;

/// Messages of many sizes to neighbours near and far, a collective in the background, waits for all and for one, now and then some
/// computing: ranks get out of step, and links become narrow.
async fn program(rank: Rank) {
    let (world, me) = (rank.world(), rank.number());
    for round in 0..6u32 {
        let in_background =
            rank.start_collective(world, Collective::Allreduce(Buffer::of_bytes(64), Default::default()));
        let mut requests = Vec::new();
        for (tag, distance) in [1, 7, 30, 201].into_iter().enumerate() {
            requests.push(rank.irecv(world, (me + RANKS - distance) % RANKS, tag as i32).await);
        }
        let first = requests.swap_remove((round % 4) as usize);
        for (tag, distance) in [1, 7, 30, 201].into_iter().enumerate() {
            let bytes = 8 + u64::from((me * 31 + round * 17 + distance) % 19) * 4096;
            requests.push(rank.isend(world, (me + distance) % RANKS, tag as i32, bytes));
        }
        rank.wait(first).await;
        rank.compute(Time::from_ps(u64::from(me % 11) * 100_000));
        rank.wait_all(requests).await;
        rank.wait(in_background).await;
    }
}

/// Counts of how many ranks somebody was told that they will be resumed soon.
#[derive(Clone, Default)]
struct Told(Rc<Cell<u32>>);

impl Fetch for Told {
    fn look_for(&self, _: u32) {}

    fn fetch(&self, rank: u32) {
        assert!(rank < RANKS, "only ranks have memory to be fetched");
        self.0.set(self.0.get() + 1);
    }
}

fn simulate(machine: Machine, network: fn(Rc<Machine>) -> Box<dyn Network>, looks_ahead: bool) -> (Outcome, u32) {
    let machine = Rc::new(machine);
    let placement = machine.place_as(&Plan { oversubscribe: true, ..Plan::default() }, RANKS).expect("there is room");
    let told = Told::default();
    let setup = Setup::new(RANKS, machine.clone(), placement, network(machine));
    let setup = Setup { soon: looks_ahead.then(|| Box::new(told.clone()) as Box<dyn Fetch>), ..setup };
    (run(setup, program).expect("no deadlock"), told.0.get())
}

fn compare(machine: &dyn Fn() -> Machine, network: fn(Rc<Machine>) -> Box<dyn Network>) {
    let (plain, _) = simulate(machine(), network, false);
    let (ahead, told) = simulate(machine(), network, true);
    assert!(told > RANKS, "{told} ranks were told of");
    assert_eq!((plain.simulated, plain.messages), (ahead.simulated, ahead.messages));
    assert_eq!(plain.ranks, ahead.ranks);
    assert_eq!(plain.link_bytes, ahead.link_bytes);
}

#[test]
fn times_are_the_same_on_one_switch() {
    compare(&|| plain::machine(RANKS), |machine| Box::new(Flow::new(machine)));
    compare(&|| plain::machine(RANKS), |machine| Box::new(Ideal::new(machine)));
}

#[test]
fn times_are_the_same_where_ranks_share_nodes_and_links() {
    let file = root().join("machines/dahu.toml");
    let machine = || Machine::load(&file).expect("it is right");
    compare(&machine, |machine| Box::new(Flow::new(machine)));
    compare(&machine, |machine| Box::new(Ideal::new(machine)));
}
