//! Where a pencil is enough, the simulation must say the same.

use std::future::Future;
use std::rc::Rc;

use hpcast_models::network::{Circuit, Flow, Ideal, Network};
use hpcast_mpi::collectives::{Buffer, Selection};
use hpcast_mpi::{Collective, Exchange, Outcome, Parcel, Rank, Setup, Source, run};
use hpcast_tests::plain::{self, BANDWIDTH, ISEND, LATENCY, RECEIVE, SEND};
use hpcast_units::Time;

const LARGE: u64 = 1_000_000;

fn setup(ranks: u32, model: &str, selection: Selection) -> Setup {
    let machine = Rc::new(plain::machine(ranks));
    let network: Box<dyn Network> = match model {
        "flow" => Box::new(Flow::new(machine.clone())),
        "circuit" => Box::new(Circuit::new(machine.clone())),
        _ => Box::new(Ideal::new(machine.clone())),
    };
    let placement = machine.place(ranks).expect("a rank a node");
    Setup { selection, ..Setup::new(ranks, machine, placement, network) }
}

fn simulate<F: Future<Output = ()>>(ranks: u32, model: &str, program: impl FnMut(Rank) -> F) -> Outcome {
    run(setup(ranks, model, Selection::default()), program).expect("no deadlock")
}

/// Equal to a few picoseconds: each of a handful of times is rounded to one.
fn assert_seconds(time: Time, seconds: f64) {
    assert!((time.as_secs() - seconds).abs() < 1e-11, "{} s, not {seconds} s", time.as_secs());
}

#[test]
fn pingpong_of_small_messages() {
    for model in ["flow", "ideal", "circuit"] {
        let outcome = simulate(2, model, |rank| async move {
            let (world, peer) = (rank.world(), 1 - rank.number());
            for _ in 0..10 {
                if rank.number() == 0 {
                    rank.send(world, peer, 0, 1000).await;
                    rank.recv(world, peer, 0).await;
                } else {
                    rank.recv(world, peer, 0).await;
                    rank.send(world, peer, 0, 1000).await;
                }
            }
        });
        assert_seconds(outcome.simulated, 20.0 * (SEND + LATENCY + 1000.0 / BANDWIDTH + RECEIVE));
        assert_eq!((outcome.messages, outcome.bytes, outcome.unreceived), (20, 20_000, 0));
    }
}

#[test]
fn a_large_message_waits_for_its_receiver() {
    for model in ["flow", "ideal", "circuit"] {
        let outcome = simulate(2, model, |rank| async move {
            let world = rank.world();
            if rank.number() == 0 {
                rank.send(world, 1, 0, LARGE).await;
            } else {
                rank.compute(Time::from_secs(1.0));
                rank.recv(world, 0, 0).await;
            }
        });
        // Synchronous: no overheads, both end together.
        assert_seconds(outcome.simulated, 1.0 + LATENCY + LARGE as f64 / BANDWIDTH);
        assert_eq!(outcome.ranks[0].finished, outcome.ranks[1].finished);
    }
}

#[test]
fn a_detached_message_frees_its_sender_but_travels_late() {
    let bytes = 15_000;
    let outcome = simulate(2, "flow", |rank| async move {
        let world = rank.world();
        if rank.number() == 0 {
            rank.send(world, 1, 0, bytes).await;
        } else {
            rank.compute(Time::from_secs(1.0));
            rank.recv(world, 0, 0).await;
        }
    });
    assert_seconds(outcome.ranks[0].finished, SEND);
    assert_seconds(outcome.ranks[1].finished, 1.0 + LATENCY + bytes as f64 / BANDWIDTH + RECEIVE);
}

#[test]
fn two_flows_share_a_link() {
    // Two senders, one receiver: its link carries half a rate each, then the longer one alone.
    let outcome = simulate(3, "flow", |rank| async move {
        let world = rank.world();
        match rank.number() {
            0 => {
                let requests = vec![rank.irecv(world, 1, 0).await, rank.irecv(world, 2, 0).await];
                rank.wait_all(requests).await;
            }
            me => rank.send(world, 0, 0, u64::from(me) * LARGE).await,
        }
    });
    let unit = LARGE as f64 / BANDWIDTH;
    assert_seconds(outcome.ranks[1].finished, LATENCY + 2.0 * unit);
    assert_seconds(outcome.ranks[2].finished, LATENCY + 3.0 * unit);
}

#[test]
fn the_oldest_circuit_goes_first() {
    let outcome = simulate(3, "circuit", |rank| async move {
        let world = rank.world();
        match rank.number() {
            0 => {
                let requests = vec![rank.irecv(world, 1, 0).await, rank.irecv(world, 2, 0).await];
                rank.wait_all(requests).await;
            }
            me => {
                rank.compute(Time::from_secs(1e-6 * f64::from(me)));
                rank.send(world, 0, 0, LARGE).await;
            }
        }
    });
    let unit = LARGE as f64 / BANDWIDTH;
    assert_seconds(outcome.ranks[1].finished, 1e-6 + LATENCY + unit);
    assert_seconds(outcome.ranks[2].finished, 1e-6 + LATENCY + 2.0 * unit);
}

#[test]
fn incast() {
    // All large messages arrive together: the receiver's link is the only bottleneck.
    let ranks = 17;
    for model in ["flow", "ideal"] {
        let outcome = simulate(ranks, model, |rank| async move {
            let world = rank.world();
            if rank.number() > 0 {
                return rank.send(world, 0, 0, LARGE).await;
            }
            let mut requests = Vec::new();
            for from in 1..ranks {
                requests.push(rank.irecv(world, from, 0).await);
            }
            rank.wait_all(requests).await;
        });
        assert_seconds(outcome.simulated, LATENCY + f64::from(ranks - 1) * LARGE as f64 / BANDWIDTH);
    }
}

#[test]
fn a_linear_pipeline() {
    // p ranks, k pieces: the last piece leaves after k steps and then passes p - 1 links.
    let (ranks, pieces) = (6u32, 10u32);
    let bytes = 50_000;
    let outcome = simulate(ranks, "flow", |rank| async move {
        let (world, me) = (rank.world(), rank.number());
        for _ in 0..pieces {
            if me > 0 {
                rank.recv(world, me - 1, 0).await;
            }
            if me + 1 < ranks {
                rank.send(world, me + 1, 0, bytes).await;
            }
        }
    });
    // A rank receives the next piece only when it has passed the last one on: a step is two transfers inside.
    let transfer = LATENCY + bytes as f64 / BANDWIDTH;
    let steps = (ranks - 1) + 2 * (pieces - 1);
    assert_seconds(outcome.simulated, f64::from(steps) * transfer);
}

#[test]
fn a_binomial_broadcast() {
    // In Open MPI's, a rank that has the data sends it to all of its children at once, so that they share its link: the
    // root's k children have it after k transfers, the child with k - 1 children goes on, and so forth.
    let mut selection = Selection::default();
    selection.choose("bcast=binomial").expect("there is such an algorithm");
    for rounds in 1..=5 {
        let ranks = 1 << rounds;
        let outcome = run(setup(ranks, "flow", selection.clone()), |rank| async move {
            rank.bcast(rank.world(), Buffer::of_bytes(LARGE), 0).await;
        })
        .expect("no deadlock");
        assert_eq!(outcome.messages, u64::from(ranks - 1));
        let expected = f64::from(rounds * (rounds + 1) / 2) * LARGE as f64 / BANDWIDTH;
        // Latency and overheads are less than a hundredth of it.
        let relative = outcome.simulated.as_secs() / expected - 1.0;
        assert!((0.0..0.01).contains(&relative), "{ranks} ranks: {} s, not {expected} s", outcome.simulated.as_secs());
    }
}

#[test]
fn recursive_doubling_takes_log_p_rounds() {
    let mut selection = Selection::default();
    selection.choose("allreduce=recursive-doubling").expect("there is such an algorithm");
    let outcome = run(setup(64, "flow", selection), |rank| async move {
        rank.allreduce(rank.world(), Buffer::of_bytes(LARGE)).await;
    })
    .expect("no deadlock");
    assert_eq!(outcome.messages, 6 * 64);
    assert_seconds(outcome.simulated, 6.0 * (ISEND + LATENCY + LARGE as f64 / BANDWIDTH));
}

#[test]
fn ranks_of_one_node_do_not_use_the_network() {
    let machine = Rc::new(plain::machine(1));
    let plan = hpcast_platform::placement::Plan { oversubscribe: true, ..Default::default() };
    let placement = machine.place_as(&plan, 2).expect("oversubscribed");
    let setup = Setup::new(2, machine.clone(), placement, Box::new(Flow::new(machine)));
    let outcome = run(setup, |rank| async move {
        let world = rank.world();
        if rank.number() == 0 {
            rank.send(world, 1, 0, LARGE).await;
        } else {
            rank.recv(world, 0, 0).await;
        }
    })
    .expect("no deadlock");
    assert_seconds(outcome.simulated, 1e-7 + LARGE as f64 / 1e10);
    assert!(outcome.link_bytes.iter().all(|&bytes| bytes == 0.0));
}

#[test]
fn links_carry_what_was_sent() {
    let outcome = simulate(4, "flow", |rank| async move {
        let world = rank.world();
        let next = (rank.number() + 1) % 4;
        rank.sendrecv(world, (next, 0, LARGE), (Source::Any, 0)).await;
    });
    assert_eq!(outcome.link_bytes.iter().sum::<f64>(), 2.0 * 4.0 * LARGE as f64);
}

/// To the next in a ring, from the one before.
fn around(rank: &Rank) -> Collective {
    let (world, me) = (rank.world(), rank.number());
    let (next, before) = ((me + 1) % world.size(), (me + world.size() - 1) % world.size());
    let exchange = Exchange { received: vec![(before, Parcel::NONE)], sent: vec![(next, 1000, Parcel::NONE)] };
    Collective::Exchange(Rc::new(exchange))
}

#[test]
fn neighbours_exchange_at_the_same_time() {
    let step = ISEND + LATENCY + 1000.0 / BANDWIDTH + RECEIVE;
    for model in ["flow", "ideal"] {
        let once = simulate(5, model, |rank| async move { rank.collective(rank.world(), &around(&rank)).await });
        assert_seconds(once.simulated, step);
        assert_eq!((once.messages, once.unreceived), (5, 0));
    }
}

#[test]
fn stages_follow_each_other_blocking_or_in_the_background() {
    let step = ISEND + LATENCY + 1000.0 / BANDWIDTH + RECEIVE;
    let stages =
        |rank: &Rank| Collective::Stages(Rc::new([(rank.world(), around(rank)), (rank.world(), around(rank))]));
    let blocking = simulate(4, "flow", |rank| async move { rank.collective(rank.world(), &stages(&rank)).await });
    assert_seconds(blocking.simulated, 2.0 * step);
    let background = simulate(4, "flow", |rank| async move {
        let request = rank.start_collective(rank.world(), stages(&rank));
        rank.wait(request).await;
    });
    assert_seconds(background.simulated, 2.0 * step);
}
