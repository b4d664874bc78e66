use hpcast_models::network::Flow;
use hpcast_mpi::{Outcome, Setup, run};
use hpcast_platform::machine::FlowSharing;
use hpcast_platform::protocol::{MpiParameters, Piecewise, PollGrowth, Protocol};
use hpcast_platform::topology::{Crossbar, Duplex};
use hpcast_platform::{Interconnect, Link, Loopback, Machine};
use hpcast_units::Time;

use super::*;

const BANDWIDTH: f64 = 1e9;
const LATENCY: f64 = 2e-6;
const SEND: f64 = 3e-7;
const RECEIVE: f64 = 5e-7;

/// A machine of one switch, a rank a node, whose figures make closed forms short.
fn simulate<F: Future<Output = ()>>(ranks: u32, program: impl Fn(Rank, Rc<Shared>) -> F) -> Outcome {
    let link = Link { bandwidth: BANDWIDTH, latency: LATENCY / 2.0 };
    let topology = Crossbar::new(ranks, link, Duplex::Split, None);
    let memory = Loopback::Unshared(Link { bandwidth: 1e10, latency: 1e-7 });
    let between = Protocol {
        send: Piecewise::constant(SEND),
        isend: Piecewise::constant(SEND),
        receive: Piecewise::constant(RECEIVE),
        ..Protocol::default()
    };
    let mpi = MpiParameters {
        eager_below: 10_000,
        detached_below: 20_000,
        envelope: 0,
        inside: between.clone(),
        between,
        probe: 1e-7,
        test: 1e-7,
        poll_growth: PollGrowth::Off,
        reduce_per_byte: 0.0,
    };
    let interconnect = Interconnect::new(Box::new(topology), memory, None);
    let machine = Rc::new(Machine::new("plain", 1, interconnect, mpi, FlowSharing::default()));
    let placement = machine.place(ranks).unwrap();
    let group = Rc::new(Group::world(ranks));
    let shared: RefCell<Option<Rc<Shared>>> = RefCell::default();
    run(Setup::new(ranks, machine.clone(), placement, Box::new(Flow::new(machine))), |rank| {
        let make = || {
            let sides = (0..ranks).map(|_| Side::new(0, 0, 1)).collect();
            let context = rank.new_context(group.iter().collect());
            Rc::new(Shared::new(context, group.clone(), sides, None))
        };
        let window = shared.borrow_mut().get_or_insert_with(make).clone();
        program(rank, window)
    })
    .unwrap()
}

fn close(time: Time, seconds: f64) -> bool {
    (time.as_secs() - seconds).abs() < 1e-10
}

#[test]
fn an_operation_is_a_message_of_its_size() {
    simulate(2, |rank, window| async move {
        if rank.number() == 0 {
            let (done, promise) = rank.promise("put");
            let sent = window.ask(&rank, 0, 1, 5000, Box::new(move |there| there.keep(promise)));
            assert!(close(rank.now(), SEND));
            rank.wait(done).await;
            assert!(close(rank.now(), SEND + LATENCY + 5000.0 / BANDWIDTH + RECEIVE));
            rank.wait_all(sent.into_iter().collect()).await;
        }
    });
}

#[test]
fn an_answer_takes_a_second_message() {
    let outcome = simulate(2, |rank, window| async move {
        if rank.number() == 0 {
            let (done, promise) = rank.promise("get");
            let back = window.clone();
            let ask = Box::new(move |there: &Rank| back.answer(there, 1, 0, 8000, move |here| here.keep(promise)));
            let sent = window.ask(&rank, 0, 1, 0, ask);
            rank.wait(done).await;
            assert!(close(rank.now(), 2.0 * (SEND + LATENCY + RECEIVE) + 8000.0 / BANDWIDTH));
            rank.wait_all(sent.into_iter().collect()).await;
        }
    });
    assert_eq!((outcome.messages, outcome.bytes, outcome.unreceived), (2, 8000, 0));
    // The target does nothing for it.
    assert_eq!(outcome.ranks[1].finished, Time::ZERO);
}

#[test]
fn a_small_operation_does_not_overtake_a_large_one() {
    let order = Rc::new(RefCell::new(Vec::new()));
    simulate(2, |rank, window| {
        let order = order.clone();
        async move {
            if rank.number() == 1 {
                return;
            }
            let mut requests = Vec::new();
            for (number, bytes) in [(0, 1_000_000), (1, 10)] {
                let (done, promise) = rank.promise("put");
                let order = order.clone();
                let effect = Box::new(move |there: &Rank| {
                    order.borrow_mut().push((number, there.now()));
                    there.keep(promise);
                });
                requests.extend(window.ask(&rank, 0, 1, bytes, effect));
                requests.push(done);
            }
            rank.wait_all(requests).await;
        }
    });
    let order = order.take();
    assert_eq!(order.iter().map(|&(number, _)| number).collect::<Vec<_>>(), [0, 1]);
    assert!(order[1].1 >= order[0].1 && order[0].1.as_secs() > 1e-3);
}

#[test]
fn who_locks_alone_is_alone_in_simulated_time() {
    // Ranks come later the lower they are; each keeps the lock for 50 us.
    let held = Rc::new(RefCell::new(Vec::new()));
    simulate(4, |rank, window| {
        let held = held.clone();
        async move {
            let me = rank.number();
            if me == 0 {
                return;
            }
            rank.compute(Time::from_secs(10e-6 * f64::from(4 - me)));
            let (granted, promise) = rank.promise("lock");
            let lock = window.clone();
            let ask = Box::new(move |there: &Rank| lock.lock(there, 0, me, true, promise));
            let sent = window.ask(&rank, me, 0, 0, ask);
            rank.wait_all(sent.into_iter().chain([granted]).collect()).await;
            let from = rank.now();
            rank.compute(Time::from_secs(50e-6));
            let (heard, promise) = rank.promise("unlock");
            let lock = window.clone();
            held.borrow_mut().push((me, from, rank.now()));
            let release = Box::new(move |there: &Rank| {
                lock.unlock(there, 0);
                lock.answer(there, 0, me, 0, move |here| here.keep(promise));
            });
            let sent = window.ask(&rank, me, 0, 0, release);
            rank.wait_all(sent.into_iter().chain([heard]).collect()).await;
        }
    });
    let mut held = held.take();
    held.sort_by_key(|&(_, from, _)| from);
    assert_eq!(held.iter().map(|&(rank, ..)| rank).collect::<Vec<_>>(), [3, 2, 1]);
    for pair in held.windows(2) {
        // The word that it is free goes to the target, and from there to the next.
        let between = 2.0 * (SEND + LATENCY + RECEIVE);
        assert!(close(pair[1].1, pair[0].2.as_secs() + between), "{pair:?}");
    }
}

#[test]
fn one_alone_or_many_together() {
    let mut lock = Lock::default();
    assert_eq!(lock.ask(false, 1), [1]);
    assert_eq!(lock.ask(false, 2), [2]);
    assert!(lock.ask(true, 3).is_empty());
    // Who comes after one that waits, waits too.
    assert!(lock.ask(false, 4).is_empty());
    assert!(lock.ask(false, 5).is_empty());
    assert!(lock.release().is_empty());
    assert_eq!(lock.release(), [3]);
    assert_eq!(lock.release(), [4, 5]);
}

#[test]
fn what_comes_early_waits() {
    let mut order = Order::default();
    let nothing = || -> Effect { Box::new(|_| ()) };
    assert_eq!(order.come(1, nothing()).len(), 0);
    assert_eq!(order.come(2, nothing()).len(), 0);
    assert_eq!(order.come(0, nothing()).len(), 3);
    assert_eq!(order.come(3, nothing()).len(), 1);
}
