//! What becomes of the data of messages that leave before they are received: who copies it, and when.

use std::cell::RefCell;
use std::rc::Rc;

use hpcast_models::network::Ideal;
use hpcast_mpi::{Mode, Parcel, Post, Rank, Receiving, Sending, Setup, run};
use hpcast_platform::placement::Plan;
use hpcast_tests::plain::machine;
use hpcast_units::Time;

/// What the simulation asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Asked {
    /// To keep what is in a buffer.
    Keep(Parcel),
    /// To hand something over.
    HandOver(Parcel),
}

/// Notes it. What is kept gets another number.
#[derive(Clone, Default)]
struct Notes(Rc<RefCell<Vec<Asked>>>);

const KEPT: u32 = 7;

impl Post for Notes {
    fn may_stay(&mut self, sent: Parcel, _: u32) -> bool {
        sent != data(16)
    }

    fn keep(&mut self, sent: Parcel, _: u32) -> Parcel {
        self.0.borrow_mut().push(Asked::Keep(sent));
        Parcel::number(KEPT)
    }

    fn hand_over(&mut self, sent: Parcel, _: u32, _: Parcel, _: u32) {
        self.0.borrow_mut().push(Asked::HandOver(sent));
    }
}

fn asked<F: Future<Output = ()> + 'static>(ranks: u32, program: impl Fn(Rank) -> F + 'static) -> Vec<Asked> {
    let machine = Rc::new(machine(4));
    let placement = machine.place_as(&Plan { oversubscribe: true, ..Plan::default() }, ranks).expect("there is room");
    let notes = Notes::default();
    let setup = Setup::new(ranks, machine.clone(), placement, Box::new(Ideal::new(machine)));
    run(Setup { post: Some(Box::new(notes.clone())), ..setup }, program).expect("no deadlock");
    notes.0.take()
}

fn data(bytes: u64) -> Parcel {
    Parcel::bytes(4096, bytes)
}

fn sending(rank: &Rank, bytes: u64) -> Sending {
    Sending { comm: rank.world(), to: 1, tag: 0, bytes, mode: Mode::Buffered, parcel: data(bytes) }
}

async fn receive(rank: &Rank, from: u32, bytes: u64) {
    let (source, tag) = (Some(from), Some(0));
    let receiving = Receiving { comm: rank.world(), source, tag, parcel: data(bytes) };
    let request = rank.start_receive(receiving).await;
    rank.wait(request).await;
}

async fn long_after(rank: &Rank) {
    rank.compute(Time::from_secs(1.0));
    rank.catch_up().await;
}

#[test]
fn data_stays_in_its_buffer_until_it_is_received() {
    let found = asked(2, |rank| async move {
        if rank.number() == 0 {
            let (request, message) = rank.start_send_in_place(sending(&rank, 1000));
            assert!(request.is_done_at_once());
            long_after(&rank).await;
            // It was received meanwhile: there is nothing to keep.
            rank.keep_in_place(message);
        } else {
            receive(&rank, 0, 1000).await;
        }
    });
    assert_eq!(found, [Asked::HandOver(data(1000))]);
}

#[test]
fn data_is_kept_when_its_sender_goes_on() {
    let found = asked(2, |rank| async move {
        if rank.number() == 0 {
            let (_, message) = rank.start_send_in_place(sending(&rank, 1000));
            rank.keep_in_place(message.into_iter().chain(message));
        } else {
            long_after(&rank).await;
            receive(&rank, 0, 1000).await;
        }
    });
    assert_eq!(found, [Asked::Keep(data(1000)), Asked::HandOver(Parcel::number(KEPT))]);
}

#[test]
fn both_ways_of_an_exchange_are_copied_once() {
    let found = asked(2, |rank| async move {
        let peer = 1 - rank.number();
        if rank.number() == 1 {
            long_after(&rank).await;
        }
        let (world, parcel) = (rank.world(), data(1000));
        let sending = Sending { comm: world, to: peer, tag: 0, bytes: 1000, mode: Mode::Standard, parcel };
        rank.sendrecv_parcels(sending, Receiving { comm: world, source: Some(peer), tag: Some(0), parcel }).await;
    });
    assert_eq!(found, [Asked::HandOver(data(1000)); 2]);
}

#[test]
fn little_data_is_kept_at_once() {
    let found = asked(2, |rank| async move {
        if rank.number() == 0 {
            let (_, message) = rank.start_send_in_place(sending(&rank, 16));
            assert_eq!(message, None);
        } else {
            long_after(&rank).await;
            receive(&rank, 0, 16).await;
        }
    });
    assert_eq!(found, [Asked::Keep(data(16)), Asked::HandOver(Parcel::number(KEPT))]);
}

#[test]
fn a_number_that_another_message_has_by_now_means_nothing() {
    let found = asked(3, |rank| async move {
        match rank.number() {
            0 => {
                let (_, message) = rank.start_send_in_place(sending(&rank, 1000));
                // A further one, so that something of this rank is in place when it asks.
                let (_, further) = rank.start_send_in_place(sending(&rank, 3000));
                long_after(&rank).await;
                rank.keep_in_place(message);
                long_after(&rank).await;
                rank.keep_in_place(further);
            }
            1 => {
                receive(&rank, 0, 1000).await;
                long_after(&rank).await;
                long_after(&rank).await;
                long_after(&rank).await;
                receive(&rank, 2, 2000).await;
                receive(&rank, 0, 3000).await;
            }
            _ => {
                rank.compute(Time::from_secs(0.5));
                rank.catch_up().await;
                // Takes the number of the first one, which is over.
                let (_, message) = rank.start_send_in_place(sending(&rank, 2000));
                long_after(&rank).await;
                long_after(&rank).await;
                long_after(&rank).await;
                rank.keep_in_place(message);
            }
        }
    });
    assert_eq!(
        found,
        [
            Asked::HandOver(data(1000)),
            Asked::Keep(data(3000)),
            Asked::HandOver(data(2000)),
            Asked::HandOver(Parcel::number(KEPT)),
        ]
    );
}
