//! Network models behind one trait.
//!
//! A model is told of transfers when they are decided, which may be before they start, and says when they end.
//! It keeps its own agenda; the simulation asks for its next event and advances whichever clock is behind.

use hpcast_units::Time;

mod alone;
mod circuit;
mod demand;
mod flow;
mod ideal;
#[cfg(test)]
mod reference;
#[cfg(test)]
mod testing;
mod ways;

pub use alone::Alone;
pub use circuit::Circuit;
pub use flow::Flow;
pub use ideal::Ideal;

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
    /// Multiplies the bandwidth, see [`hpcast_platform::machine::FactorMeaning`].
    pub bandwidth_factor: f64,
    /// Handed back when the transfer ends.
    pub token: u32,
}

/// A network model.
pub trait Network {
    /// A transfer will start at `at`, never earlier than the last [`Network::advance`].
    fn start(&mut self, at: Time, transfer: Transfer);

    /// When something happens next inside the network; [`Time::NEVER`] if it is empty.
    fn next_event(&mut self) -> Time;

    /// Moves to `now`, never later than [`Network::next_event`] says, and appends the tokens of the transfers that end
    /// then: those that were started first come first, unless others were given precedence in between.
    fn advance(&mut self, now: Time, ended: &mut Vec<u32>);

    /// Bytes that crossed each link so far; empty where the model does not know links.
    fn link_bytes(&self) -> Vec<f64>;
}
