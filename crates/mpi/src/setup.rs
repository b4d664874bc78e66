//! What a simulation needs to begin.

use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use hpcast_models::network::Network;
use hpcast_platform::Machine;
use hpcast_platform::placement::Placement;
use hpcast_units::Time;

use crate::collectives::rules::Selection;
use crate::observer::Observer;
use crate::post::Post;

/// Ranks that are a program of their own: they have their own world, and know nothing of other ranks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct World {
    /// How many.
    pub ranks: u32,
    /// When they begin.
    pub start: Time,
    /// Whether its messages vary, where the machine says that messages do.
    pub noise: bool,
}

/// Fetches the memory of ranks before they go on.
pub trait Fetch {
    /// A rank will be resumed before long: it will be looked up where its memory is.
    fn look_for(&self, rank: u32);
    /// A rank will be resumed soon.
    fn fetch(&self, rank: u32);
}

/// Everything that a run is made of, beside the program.
pub struct Setup {
    /// Number of ranks.
    pub ranks: u32,
    /// Programs side by side, in the order of their ranks; empty: one world of all ranks, from time zero on.
    pub worlds: Vec<World>,
    /// The machine.
    pub machine: Rc<Machine>,
    /// Which node each rank is on.
    pub placement: Placement,
    /// The network model.
    pub network: Box<dyn Network>,
    /// Of what varies from message to message, where the machine says that it does.
    pub seed: u64,
    /// How collective algorithms are chosen.
    pub selection: Selection,
    /// Who watches.
    pub observer: Option<Box<dyn Observer>>,
    /// Holds the data of messages, where there is any.
    pub post: Option<Box<dyn Post>>,
    /// Set from outside to end the run early.
    pub interrupt: Option<Arc<AtomicBool>>,
    /// Told of a rank that will be resumed soon, so that its memory can be fetched.
    pub soon: Option<Box<dyn Fetch>>,
    /// Called now and then with what [`crate::Rank::progress`] last said (0 to 1), and the simulated time of that.
    pub progress: Option<Box<dyn FnMut(f64, Time)>>,
    /// Called when nothing happens any more: whether something may have come from outside.
    pub idle: Option<Box<dyn FnMut() -> bool>>,
}

impl Setup {
    /// With the usual collective algorithms, seed 0, and nobody who watches or interrupts.
    pub fn new(ranks: u32, machine: Rc<Machine>, placement: Placement, network: Box<dyn Network>) -> Setup {
        let selection = Selection::default();
        Setup {
            ranks,
            worlds: Vec::new(),
            machine,
            placement,
            network,
            seed: 0,
            selection,
            observer: None,
            post: None,
            interrupt: None,
            soon: None,
            progress: None,
            idle: None,
        }
    }
}
