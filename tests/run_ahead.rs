//! Ranks run ahead of the simulation, and yet every receive meets the message that it would meet if all that happens
//! were played in the order of time: random senders and receives, wildcards included, against that plain rule.

use std::cell::RefCell;
use std::rc::Rc;

use hpcast_models::network::Flow;
use hpcast_mpi::{Setup, Source, Tag, run};
use hpcast_tests::plain::{self, SEND};
use hpcast_units::Time;
use proptest::prelude::*;

#[derive(Clone, Debug)]
struct Case {
    /// For each sender: how long it computes before each message, and the message's tag.
    senders: Vec<Vec<(u64, i32)>>,
    /// For each receive: how long the receiver computes before it, its source and its tag.
    receives: Vec<(u64, Option<u32>, Option<i32>)>,
}

fn case() -> impl Strategy<Value = Case> {
    let message = (1..2_000_000u64, 0..2i32);
    let receive = (1..2_000_000u64, proptest::option::weighted(0.5, 1..4u32), proptest::option::weighted(0.7, 0..2i32));
    let senders = proptest::collection::vec(proptest::collection::vec(message, 0..12), 3);
    (senders, proptest::collection::vec(receive, 1..30)).prop_map(|(senders, receives)| Case { senders, receives })
}

/// What happens at a time.
#[derive(Clone, Copy)]
enum Moment {
    Sent { source: u32, tag: i32, id: u64 },
    Posted { receive: usize },
}

/// The message that each receive meets, in the order of time; `None` if two things happen at the same time.
fn by_the_rule(case: &Case) -> Option<Vec<Option<u64>>> {
    let mut moments: Vec<(u64, Moment)> = Vec::new();
    let overhead = Time::from_secs(SEND).as_ps();
    for (source, messages) in (1..).zip(&case.senders) {
        let mut clock = 0;
        for (index, &(delay, tag)) in (0..).zip(messages) {
            clock += delay + overhead;
            moments.push((clock, Moment::Sent { source, tag, id: id(source, index) }));
        }
    }
    let mut clock = 0;
    for (receive, &(delay, ..)) in case.receives.iter().enumerate() {
        clock += delay;
        moments.push((clock, Moment::Posted { receive }));
    }
    moments.sort_by_key(|&(time, _)| time);
    if moments.windows(2).any(|pair| pair[0].0 == pair[1].0) {
        return None;
    }
    let accepts = |receive: usize, from: u32, with: i32| {
        let (_, source, tag) = case.receives[receive];
        source.is_none_or(|source| source == from) && tag.is_none_or(|tag| tag == with)
    };
    let mut met = vec![None; case.receives.len()];
    let (mut posted, mut kept): (Vec<usize>, Vec<(u32, i32, u64)>) = (Vec::new(), Vec::new());
    for (_, moment) in moments {
        match moment {
            Moment::Sent { source, tag, id } => {
                match posted.iter().position(|&receive| accepts(receive, source, tag)) {
                    Some(index) => met[posted.remove(index)] = Some(id),
                    None => kept.push((source, tag, id)),
                }
            }
            Moment::Posted { receive } => match kept.iter().position(|&(from, with, _)| accepts(receive, from, with)) {
                Some(index) => met[receive] = Some(kept.remove(index).2),
                None => posted.push(receive),
            },
        }
    }
    Some(met)
}

/// A message's size tells which one it is.
fn id(source: u32, index: u64) -> u64 {
    u64::from(source) * 100 + index
}

fn simulated(case: &Case, met: &[Option<u64>]) -> Vec<Option<u64>> {
    let machine = Rc::new(plain::machine(4));
    let placement = machine.place(4).expect("a rank a node");
    let setup = Setup::new(4, machine.clone(), placement, Box::new(Flow::new(machine)));
    let found = Rc::new(RefCell::new(vec![None; case.receives.len()]));
    run(setup, |rank| {
        let found = found.clone();
        async move {
            let (world, me) = (rank.world(), rank.number());
            if me > 0 {
                for (index, &(delay, tag)) in (0..).zip(&case.senders[me as usize - 1]) {
                    rank.compute(Time::from_ps(delay));
                    rank.send(world, 0, tag, id(me, index)).await;
                }
                return;
            }
            let mut requests = Vec::new();
            for &(delay, source, tag) in &case.receives {
                rank.compute(Time::from_ps(delay));
                let source = source.map_or(Source::Any, Source::Rank);
                requests.push(rank.irecv(world, source, tag.map_or(Tag::Any, Tag::Is)).await);
            }
            // Only those that will be met can be waited for.
            for (receive, request) in requests.into_iter().enumerate() {
                if met[receive].is_some() {
                    let status = rank.wait(request).await;
                    found.borrow_mut()[receive] = Some(status.bytes);
                }
            }
        }
    })
    .expect("only what is met is waited for");
    found.take()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]
    #[test]
    fn receives_meet_the_messages_of_the_plain_rule(case in case()) {
        if let Some(met) = by_the_rule(&case) {
            prop_assert_eq!(simulated(&case, &met), met);
        }
    }
}
