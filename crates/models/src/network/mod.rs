//! Network models behind one trait.
//!
//! A model is told of transfers when they are decided, which may be before they start, and says when they end.
//! It keeps its own agenda; the simulation asks for its next event and advances whichever clock is behind.
//!
//! What messages cost beside the network is part of the machine; [`NetworkModel`] holds what was fitted to measurements of it.

use hpcast_units::Time;

mod alone;
mod circuit;
mod demand;
mod errors;
mod exchange;
mod flow;
mod ideal;
mod model;
mod noise;
mod packet;
mod pattern;
#[cfg(test)]
mod reference;
mod routed;
#[cfg(test)]
mod testing;
mod throughput;
mod timeline;
mod ways;

pub use alone::Alone;
pub use circuit::Circuit;
pub use exchange::{Stuck, arrivals, message, messages};
pub use flow::Flow;
pub use ideal::Ideal;
pub use model::{NetworkFit, NetworkModel, RangeFit};
pub use noise::draw;
pub use packet::{PacketNetwork, TooLarge};
pub use pattern::{Destinations, Pattern, PatternError};
pub use routed::{Along, Occupied, Routed};
pub use throughput::{Throughput, Traffic, injection, measure, most_rate, saturation};
pub use timeline::{Timeline, Watched};

/// A message on its way, as the network sees it.
#[derive(Clone, Copy, Debug)]
pub struct Transfer {
    /// Node that sends.
    pub from: u32,
    /// Node that receives, possibly the same.
    pub to: u32,
    /// Bytes that travel, envelope included.
    pub bytes: u64,
    /// Multiplies the latency of the route.
    pub latency_factor: f64,
    /// What the route takes in place of its latency times the factor, if that is known.
    pub latency: Option<Time>,
    /// Multiplies the bandwidth, see [`hpcast_platform::machine::FactorMeaning`].
    pub bandwidth_factor: f64,
    /// Handed back when the transfer ends.
    pub token: u32,
}

impl Transfer {
    /// How long it travels along a route before it takes any bandwidth, given the route's latency in seconds.
    #[inline]
    pub(crate) fn travels(&self, latency: f64) -> Time {
        self.latency.unwrap_or_else(|| Time::from_secs(latency * self.latency_factor))
    }
}

/// Transfers are told to be coming when about so many others will end before.
pub const COMING: usize = 32;

/// What is coming in a network that knows transfers by other tokens than its user.
fn hand_on_coming(network: &mut impl Network, tokens: &mut Vec<u32>, token: impl Fn(u32) -> u32) {
    let before = tokens.len();
    network.coming(tokens);
    tokens[before..].iter_mut().for_each(|theirs| *theirs = token(*theirs));
}

/// A network model.
pub trait Network {
    /// A transfer will start at `at`, never earlier than the last [`Network::advance`].
    fn start(&mut self, at: Time, transfer: Transfer);

    /// When something happens next inside the network; [`Time::NEVER`] if it is empty.
    fn next_event(&mut self) -> Time;

    /// Has each transfer ended?
    fn is_empty(&self) -> bool;

    /// Moves to `now`, never later than [`Network::next_event`] says, and appends the tokens of the transfers that end
    /// then: those that were started first come first, unless others were given precedence in between.
    fn advance(&mut self, now: Time, ended: &mut Vec<u32>);

    /// A transfer between these nodes will start soon: what that needs is fetched.
    fn prefetch(&self, _from: u32, _to: u32) {}

    /// From now on somebody asks what is [coming](Network::coming).
    fn look_ahead(&mut self) {}

    /// Appends the tokens of transfers that will end soon, as far as the model knows: some dozens of ends ahead, so that what their ends need
    /// can be fetched meanwhile. A token may come more than once, and may be of a transfer that has ended by now.
    fn coming(&mut self, _tokens: &mut Vec<u32>) {}

    /// Bytes that crossed each link so far; empty where the model does not know links.
    fn link_bytes(&self) -> Vec<f64>;

    /// What crossed each link when, if somebody watches.
    fn timeline(&self) -> Option<&Timeline> {
        None
    }
}
