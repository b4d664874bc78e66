//! What the whole-program tests share.

use std::path::PathBuf;
use std::rc::Rc;

use hpcast_models::network::Flow;
use hpcast_mpi::Setup;
use hpcast_mpi::collectives::Selection;
use hpcast_platform::Machine;
use hpcast_platform::placement::{Plan, Policy};

/// The root of the repository.
pub fn root() -> PathBuf {
    let tests = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    tests.parent().map(PathBuf::from).unwrap_or(tests)
}

/// A simulation under the `flow` model with each rank on the node that the list says.
///
/// # Panics
/// If the list does not fit the machine.
pub fn flow_setup(machine: Machine, nodes: &[u32], selection: Selection) -> Setup {
    let plan = Plan { policy: Policy::List(nodes.to_vec()), oversubscribe: true, ..Plan::default() };
    let placement = machine.place_as(&plan, nodes.len() as u32).expect("the nodes exist");
    let machine = Rc::new(machine);
    let network = Box::new(Flow::new(machine.clone()));
    Setup { selection, ..Setup::new(nodes.len() as u32, machine, placement, network) }
}

/// A machine of one switch, whose figures make closed forms short.
pub mod plain {
    use hpcast_platform::machine::{FactorMeaning, FlowSharing};
    use hpcast_platform::protocol::{MpiParameters, Piecewise, PollGrowth, Protocol};
    use hpcast_platform::topology::{Crossbar, Duplex};
    use hpcast_platform::{Interconnect, Link, Loopback, Machine};

    /// Bytes per second of every link.
    pub const BANDWIDTH: f64 = 1e9;
    /// Seconds that a message takes over its two links.
    pub const LATENCY: f64 = 2e-6;
    /// Seconds that a blocking send of a small message keeps the sender.
    pub const SEND: f64 = 3e-7;
    /// Seconds that a non-blocking send keeps the sender.
    pub const ISEND: f64 = 1e-7;
    /// Seconds that a receive of a small message keeps the receiver.
    pub const RECEIVE: f64 = 5e-7;
    /// Messages smaller than this are eager.
    pub const EAGER: u64 = 10_000;
    /// Messages smaller than this are detached.
    pub const DETACHED: u64 = 20_000;

    /// Such a machine; a core and a memory of 10 GB/s a node.
    pub fn machine(nodes: u32) -> Machine {
        let link = Link { bandwidth: BANDWIDTH, latency: LATENCY / 2.0 };
        let topology = Crossbar::new(nodes, link, Duplex::Split, None);
        let memory = Loopback::Unshared(Link { bandwidth: 1e10, latency: 1e-7 });
        let protocol = Protocol {
            send: Piecewise::constant(SEND),
            isend: Piecewise::constant(ISEND),
            receive: Piecewise::constant(RECEIVE),
            ..Protocol::default()
        };
        let mpi = MpiParameters {
            eager_below: EAGER,
            detached_below: DETACHED,
            envelope: 0,
            between: protocol.clone(),
            inside: protocol,
            probe: 1e-7,
            test: 1e-7,
            poll_growth: PollGrowth::Off,
            reduce_per_byte: 0.0,
        };
        let sharing = FlowSharing { cross_traffic: 0.0, weight_s: None, window: None, factor: FactorMeaning::Bound };
        Machine::new("plain", 1, Interconnect::new(Box::new(topology), memory, None), mpi, sharing)
    }
}
