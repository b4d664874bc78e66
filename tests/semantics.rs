//! What MPI promises, whatever the timing: order, wildcards, waits, probes, communicators, deadlocks; and the same
//! bytes every time.

use std::cell::RefCell;
use std::future::Future;
use std::rc::Rc;

use hpcast_apps::{Parameters, Program};
use hpcast_models::network::Flow;
use hpcast_mpi::collectives::Buffer;
use hpcast_mpi::{
    Collective, Line, Mode, Next, Outcome, Rank, Round, Rounds, RunError, Setup, Source, Tag, World, run,
};
use hpcast_platform::Machine;
use hpcast_platform::protocol::PollGrowth;
use hpcast_tests::plain;
use hpcast_units::Time;

fn setup(ranks: u32) -> Setup {
    setup_on(plain::machine(ranks), ranks)
}

fn setup_on(machine: Machine, ranks: u32) -> Setup {
    let machine = Rc::new(machine);
    let placement = machine.place(ranks).expect("a rank a node");
    Setup::new(ranks, machine.clone(), placement, Box::new(Flow::new(machine)))
}

fn simulate<F: Future<Output = ()>>(ranks: u32, program: impl FnMut(Rank) -> F) -> Outcome {
    run(setup(ranks), program).expect("no deadlock")
}

fn micros(us: u64) -> Time {
    Time::from_ps(us * 1_000_000)
}

#[test]
fn messages_of_one_sender_do_not_overtake_each_other() {
    // Large first, then small: the small one is there long before, but is the second message.
    let sizes = Rc::new(RefCell::new(Vec::new()));
    simulate(2, |rank| {
        let sizes = sizes.clone();
        async move {
            let world = rank.world();
            if rank.number() == 0 {
                let large = rank.isend(world, 1, 7, 1_000_000);
                rank.send(world, 1, 7, 10).await;
                rank.wait(large).await;
            } else {
                rank.compute(micros(10));
                for source in [Source::Any, Source::Rank(0)] {
                    let status = rank.recv(world, source, Tag::Any).await;
                    sizes.borrow_mut().push(status.bytes);
                }
            }
        }
    });
    assert_eq!(sizes.take(), [1_000_000, 10]);
}

#[test]
fn any_source_takes_who_is_first_in_time_not_in_program_order() {
    // Ranks run ahead of the simulation in order of rank; the wildcard must not see that.
    let order = Rc::new(RefCell::new(Vec::new()));
    simulate(5, |rank| {
        let order = order.clone();
        async move {
            let world = rank.world();
            let me = rank.number();
            if me > 0 {
                rank.compute(micros(100 - 10 * u64::from(me)));
                return rank.send(world, 0, me as i32, 8).await;
            }
            rank.compute(micros(if rank.number() == 0 { 5 } else { 0 }));
            for _ in 1..5 {
                let status = rank.recv(world, Source::Any, Tag::Any).await;
                order.borrow_mut().push((status.source, status.tag));
            }
        }
    });
    assert_eq!(order.take(), [(4, 4), (3, 3), (2, 2), (1, 1)]);
}

#[test]
fn a_late_wildcard_takes_the_earliest_message() {
    let order = Rc::new(RefCell::new(Vec::new()));
    simulate(4, |rank| {
        let order = order.clone();
        async move {
            let world = rank.world();
            let me = rank.number();
            if me > 0 {
                rank.compute(micros(100 - 10 * u64::from(me)));
                return rank.send(world, 0, 0, 8).await;
            }
            rank.compute(micros(1000));
            // A named receive between wildcards takes its own message out of the order.
            for source in [Source::Any, Source::Rank(1), Source::Any] {
                let status = rank.recv(world, source, 0).await;
                order.borrow_mut().push(status.source);
            }
        }
    });
    assert_eq!(order.take(), [3, 1, 2]);
}

#[test]
fn probes_see_what_has_been_sent_and_nothing_else() {
    simulate(2, |rank| async move {
        let world = rank.world();
        if rank.number() == 0 {
            rank.compute(micros(50));
            rank.send(world, 1, 3, 100).await;
            rank.compute(micros(50));
            rank.send_as(Mode::Synchronous, world, 1, 4, 200).await;
        } else {
            assert_eq!(rank.iprobe(world, 0, 3).await, None);
            let status = rank.probe(world, Source::Any, Tag::Any).await;
            assert_eq!((status.source, status.tag, status.bytes), (0, 3, 100));
            assert!(rank.now() >= micros(50) && rank.now() < micros(52), "{:?}", rank.now());
            assert_eq!(rank.iprobe(world, 0, 4).await, None);
            rank.recv(world, 0, 3).await;
            assert_eq!(rank.probe(world, 0, 4).await.bytes, 200);
            rank.recv(world, 0, 4).await;
        }
    });
}

#[test]
fn a_probe_of_any_source_sees_the_first_message_in_time() {
    // Rank 1 runs ahead and is known to send at 100 us before anybody knows that rank 2 sends at 20 us.
    simulate(4, |rank| async move {
        let world = rank.world();
        match rank.number() {
            0 => {
                let status = rank.probe(world, Source::Any, Tag::Any).await;
                assert_eq!(status.source, 2);
                assert!(rank.now() >= micros(20) && rank.now() < micros(30), "{:?}", rank.now());
                rank.recv(world, 2, 0).await;
                rank.recv(world, 1, 0).await;
            }
            1 => {
                rank.compute(micros(100));
                rank.send(world, 0, 0, 8).await;
            }
            2 => {
                rank.recv(world, 3, 0).await;
                rank.send(world, 0, 0, 8).await;
            }
            _ => {
                rank.compute(micros(18));
                rank.send(world, 2, 0, 8).await;
            }
        }
    });
}

#[test]
fn a_probe_that_costs_nothing_ends_whatever_the_growth() {
    for poll_growth in [PollGrowth::Off, PollGrowth::PerRank, PollGrowth::Global] {
        let mut machine = plain::machine(2);
        (machine.mpi.probe, machine.mpi.poll_growth) = (0.0, poll_growth);
        run(setup_on(machine, 2), |rank| async move {
            let world = rank.world();
            if rank.number() == 0 {
                rank.compute(micros(50));
                return rank.send(world, 1, 0, 8).await;
            }
            rank.probe(world, 0, 0).await;
            assert!(rank.now() >= micros(50) && rank.now() < micros(51), "{poll_growth:?}: {:?}", rank.now());
            rank.recv(world, 0, 0).await;
        })
        .expect("no deadlock");
    }
}

/// Exchanges of four ranks, small, large, one-sided and empty, while a fifth sends each a message that they look for after
/// each exchange; by [`Rank::follow`], or call by call.
async fn exchange_and_look(rank: Rank, follows: bool) {
    let (world, me) = (rank.world(), rank.number());
    if me == 4 {
        for to in 0..4 {
            rank.compute(micros(17));
            rank.send(world, to, 1, 30_000).await;
        }
        return;
    }
    rank.compute(micros(5 * u64::from(me)));
    let (left, right) = (me & 1 != 0, me & 2 != 0);
    let units = |sends: bool, units: u64| if sends { units } else { 0 };
    let list: Rc<[Round]> = Rc::new([
        Round { peer: me ^ 1, sent: 2, received: 2 },
        Round { peer: me ^ 2, sent: 30, received: 30 },
        Round { peer: me, sent: 0, received: 0 },
        Round { peer: me ^ 1, sent: units(left, 15), received: units(!left, 15) },
        Round { peer: me ^ 2, sent: units(right, 1), received: units(!right, 1) },
        Round { peer: me ^ 3, sent: 12, received: 12 },
    ]);
    let mut sees = false;
    if follows {
        let line = Line { comm: world, first: 0, stride: 1 };
        let mut rounds = Rounds::new(line, 0, 1000, list);
        while !rounds.are_over() {
            if rank.follow(&mut rounds, (!sees).then_some((world, 4, 1))).await {
                sees = true;
                rank.recv(world, 4, 1).await;
            }
        }
    } else {
        for &Round { peer, sent, received } in list.iter() {
            match (sent, received) {
                (0, 0) => {}
                (0, _) => drop(rank.recv(world, peer, 0).await),
                (_, 0) => rank.send(world, peer, 0, 1000 * sent).await,
                _ => drop(rank.exchange(world, peer, 0, 1000 * sent, Next::Anything).await),
            }
            if !sees && rank.iprobe(world, 4, 1).await.is_some() {
                sees = true;
                rank.recv(world, 4, 1).await;
            }
        }
    }
    if !sees {
        rank.recv(world, 4, 1).await;
    }
}

#[test]
fn rounds_are_exchanges_one_after_the_other() {
    for poll_growth in [PollGrowth::Off, PollGrowth::PerRank, PollGrowth::Global] {
        let outcome = |follows| {
            let mut machine = plain::machine(5);
            (machine.mpi.probe, machine.mpi.poll_growth) = (1e-6, poll_growth);
            let outcome = run(setup_on(machine, 5), |rank| exchange_and_look(rank, follows)).expect("no deadlock");
            (outcome.ranks, outcome.messages, outcome.bytes)
        };
        let followed = outcome(true);
        assert_eq!(followed, outcome(false), "{poll_growth:?}");
        assert_eq!(followed.1, 20);
    }
}

#[test]
fn waits_and_tests() {
    simulate(3, |rank| async move {
        let world = rank.world();
        let me = rank.number();
        if me > 0 {
            rank.compute(micros(10 * u64::from(me)));
            rank.send(world, 0, 0, 8).await;
            rank.compute(micros(1000));
            rank.send(world, 0, 1, 8).await;
            return;
        }
        let requests = vec![rank.irecv(world, 2, 0).await, rank.irecv(world, 1, 0).await];
        let mut requests = rank.test_all(requests).await.expect_err("nothing has come");
        let (index, status) = rank.wait_any(&mut requests).await.expect("two requests");
        assert_eq!((index, status.source), (1, 1));
        let done = rank.wait_some(&mut requests).await;
        assert_eq!(done.iter().map(|(index, status)| (*index, status.source)).collect::<Vec<_>>(), [(0, 2)]);
        assert!(requests.is_empty() && rank.wait_any(&mut requests).await.is_none());

        let request = rank.irecv(world, 1, 1).await;
        let request = rank.test(request).await.expect_err("it comes after a millisecond");
        let mut requests = vec![request, rank.irecv(world, 2, 1).await];
        assert!(rank.test_any(&mut requests).await.is_none() && rank.test_some(&mut requests).await.is_empty());
        rank.compute(micros(5000));
        assert_eq!(rank.test_all(requests).await.expect("both have come").len(), 2);
    });
}

#[test]
fn a_synchronous_send_waits_and_a_buffered_one_does_not() {
    let outcome = simulate(3, |rank| async move {
        let world = rank.world();
        match rank.number() {
            0 => rank.send_as(Mode::Synchronous, world, 2, 0, 8).await,
            1 => rank.send_as(Mode::Buffered, world, 2, 0, 1_000_000).await,
            _ => {
                rank.compute(micros(1000));
                rank.recv(world, 0, 0).await;
                rank.recv(world, 1, 0).await;
            }
        }
    });
    assert!(outcome.ranks[0].finished > micros(1000));
    assert!(outcome.ranks[1].finished < micros(1));
    assert!(outcome.ranks[2].finished > micros(2000));
}

#[test]
fn split_and_cartesian_communicators() {
    simulate(12, |rank| async move {
        let world = rank.world();
        let me = rank.number();
        let row = rank.split(world, Some(me / 4), -(me as i32)).await.expect("every rank has a color");
        assert_eq!((row.size(), row.rank()), (4, 3 - me % 4));
        // The same tag in two communicators: messages do not mix.
        let (next, before) = ((row.rank() + 1) % 4, (row.rank() + 3) % 4);
        let request = rank.isend(world, (me + 1) % 12, 0, 111);
        rank.sendrecv(row, (next, 0, 222), (before, 0)).await;
        assert_eq!(rank.recv(world, (me + 11) % 12, 0).await.bytes, 111);
        rank.wait(request).await;
        assert_eq!(rank.split(row, None, 0).await, None);

        let grid = rank.cartesian(world, &[3, 4], &[true, false]).await;
        let (from, to) = grid.shift(0, 1);
        let (from, to) = (from.expect("periodic"), to.expect("periodic"));
        let status = rank.sendrecv(grid.comm(), (to, 0, 8), (from, 0)).await;
        assert_eq!(status.source, (me + 8) % 12);
        rank.barrier(rank.dup(grid.comm()).await).await;
    });
}

#[test]
fn background_collectives_overlap_with_work() {
    let alone = simulate(16, |rank| async move {
        rank.allreduce(rank.world(), Buffer::of_bytes(1 << 20)).await;
    });
    let both = simulate(16, |rank| async move {
        let world = rank.world();
        let first = rank.start_collective(world, Collective::Allreduce(Buffer::of_bytes(1 << 20), Default::default()));
        let second = rank.start_collective(world, Collective::Barrier);
        rank.compute(micros(100_000));
        rank.wait(second).await;
        rank.wait(first).await;
    });
    assert!(alone.simulated < micros(100_000));
    assert!(both.simulated >= micros(100_000) && both.simulated < micros(100_001), "{:?}", both.simulated);
}

#[test]
fn a_receive_is_taken_back_once() {
    simulate(2, |rank| async move {
        let world = rank.world();
        if rank.number() == 1 {
            return rank.send(world, 0, 7, 8).await;
        }
        let [other, dropped] = [rank.irecv(world, 1, 7).await, rank.irecv(world, Source::Any, 9).await];
        assert!(rank.cancel(&dropped) && !rank.cancel(&dropped), "it is done, and in no list any more");
        assert!(rank.wait(dropped).await.is_cancelled());
        assert_eq!(rank.wait(other).await.bytes, 8);
    });
}

#[test]
fn a_deadlock_names_ranks_and_calls() {
    let error = run(setup(4), |rank| async move {
        let world = rank.world();
        match rank.number() {
            0 => drop(rank.recv(world, 1, 42).await),
            1 => rank.send(world, 2, 5, 1_000_000).await,
            2 => drop(rank.probe(world, Source::Any, 9).await),
            _ => {}
        }
    })
    .expect_err("nobody answers");
    let RunError::Deadlock(deadlock) = &error else { panic!("{error}") };
    assert_eq!((deadlock.count, deadlock.waits.len()), (3, 3));
    assert_eq!(deadlock.waits.iter().map(|wait| wait.awaited.peer()).collect::<Vec<_>>(), [Some(1), Some(2), None]);
    let text = error.to_string();
    for part in [
        "rank 0 waits in receive from rank 1 with tag 42",
        "rank 1 waits in send of 1000000 B to rank 2",
        "rank 2 waits in probe",
    ] {
        assert!(text.contains(part), "{text}");
    }
}

#[test]
fn what_takes_longer_than_times_can_tell_is_no_deadlock() {
    let too_long = |result: Result<_, RunError>| {
        let error = result.map(|_: hpcast_mpi::Outcome| ()).expect_err("too long");
        assert_eq!(error.to_string(), "the run takes longer than 213 days, and no more can be simulated");
    };
    too_long(run(setup(2), |rank| async move {
        if rank.number() == 0 {
            rank.compute(Time::from_secs(1e9));
            rank.send(rank.world(), 1, 0, 10).await;
        } else {
            rank.recv(rank.world(), 0, 0).await;
        }
    }));
    // On the network, where the machine moves less than 10 GB/s.
    too_long(run(setup(2), |rank| async move {
        match rank.number() {
            0 => rank.send(rank.world(), 1, 0, 1 << 60).await,
            _ => drop(rank.recv(rank.world(), 0, 0).await),
        }
    }));
}

#[test]
fn lost_messages_are_counted() {
    let outcome = simulate(2, |rank| async move {
        if rank.number() == 0 {
            rank.send(rank.world(), 1, 3, 10).await;
        }
    });
    assert_eq!(outcome.unreceived, 1);
    let lost = outcome.first_unreceived[0];
    assert_eq!((lost.from, lost.to, lost.tag, lost.bytes), (0, 1, 3, 10));
}

#[test]
fn the_same_seed_gives_the_same_outcome() {
    for program in Program::all() {
        let outcome = |seed| {
            let parameters = Parameters { bytes: 30_000, count: 2, seed, ..Parameters::default() };
            let finding = program.run(setup(27), parameters).expect("no deadlock");
            format!("{:?}", finding)
        };
        assert_eq!(outcome(1), outcome(1), "{program}");
        if program == Program::RandomTraffic {
            assert_ne!(outcome(1), outcome(2), "{program}");
        }
    }
}

#[test]
fn every_program_receives_what_it_sends_and_no_clock_goes_back() {
    for program in Program::all() {
        for ranks in [1, 2, 7, 16] {
            for bytes in [0, 1, 30_000] {
                let parameters = Parameters { bytes, count: 3, ..Parameters::default() };
                let outcome = program.run(setup(ranks), parameters).expect("no deadlock").outcome;
                assert_eq!(outcome.unreceived, 0, "{program} {ranks} {bytes}");
                for rank in &outcome.ranks {
                    let spent: Time =
                        hpcast_mpi::Activity::ALL.into_iter().map(|activity| rank.spent.on(activity)).sum();
                    assert_eq!(spent, rank.finished, "{program} {ranks} {bytes}: all time is spent on something");
                }
            }
        }
    }
}

/// Programs side by side know only themselves, and begin when they should.
#[test]
fn worlds_are_apart() {
    let worlds = [(2, 0), (3, 50), (1, 7)].map(|(ranks, start)| World { ranks, start: micros(start), noise: true });
    let seen = Rc::new(RefCell::new(Vec::new()));
    let program = |rank: Rank| {
        let seen = seen.clone();
        async move {
            let world = rank.world();
            seen.borrow_mut().push((rank.number(), world.size(), rank.now()));
            rank.allreduce(world, Buffer::new(1000, 8)).await;
            // Tags and sources are the same in all worlds.
            let next = (world.rank() + 1) % world.size();
            let request = rank.isend(world, next, 7, 1000);
            let status = rank.recv(world, Source::Any, Tag::Any).await;
            rank.wait(request).await;
            assert_eq!(status.source, (world.rank() + world.size() - 1) % world.size());
            let half = rank.split(world, Some(world.rank() % 2), 0).await.expect("a color");
            let background = rank.start_collective(half, Collective::Barrier);
            rank.wait(background).await;
        }
    };
    let together = run(Setup { worlds: worlds.to_vec(), ..setup(6) }, program).expect("no deadlock");
    let micros_seen: Vec<(u32, u32, Time)> = seen.take();
    let expected = [(0, 2, 0), (1, 2, 0), (0, 3, 50), (1, 3, 50), (2, 3, 50), (0, 1, 7)];
    assert_eq!(micros_seen, expected.map(|(rank, size, start)| (rank, size, micros(start))));
    // On links of its own, each takes as long as alone.
    let alone = run(setup(3), program).expect("no deadlock");
    let ends: Vec<Time> = together.ranks[2..5].iter().map(|rank| rank.finished).collect();
    assert_eq!(ends, alone.ranks.iter().map(|rank| rank.finished + micros(50)).collect::<Vec<_>>());
}
