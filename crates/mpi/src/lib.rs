//! MPI on the simulated machine: communicators, matching, protocols, requests, collectives.
//!
//! A program is an `async fn` over a [`Rank`]; [`run`] simulates it. The files, from the bottom up:
//! [`matching`] (which message meets which receive), `costs` (what a message of a size costs), `state` (clocks,
//! messages, requests), `rank` (what a program calls), `peers` and [`collectives`], `sim` (the loop).

mod beside;
mod calls;
pub mod collectives;
mod costs;
mod deadlock;
mod exchange;
mod gate;
mod group;
mod left_over;
mod lone_message;
pub mod matching;
mod observer;
mod peers;
mod persistent;
mod post;
mod rank;
mod request;
mod setup;
mod sim;
mod state;

pub use beside::Promise;
pub use calls::{ByRank, Collective, Exchange, Lane};
pub use deadlock::{Awaited, Channel, Deadlock, Wait};
pub use gate::Gate;
pub use group::{Cartesian, Comm, Context, balanced_dims};
pub use left_over::Unreceived;
pub use lone_message::{LoneMessage, LoneMessages};
pub use observer::{Activity, Delivered, Observer};
pub use peers::Peers;
pub use persistent::Persistent;
pub use post::{Contents, Parcel, Post};
pub use rank::{Rank, Source, Tag};
pub use request::{Ended, Request, Status};
pub use setup::{Fetch, Setup, World};
pub use sim::{Outcome, RankOutcome, RunError, run};
pub use state::{Line, Mode, Next, Receiving, Round, Rounds, Sending, Spent, Style, Taken};
