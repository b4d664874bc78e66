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
    Setup {
        ranks: nodes.len() as u32,
        network: Box::new(Flow::new(machine.clone())),
        machine,
        placement,
        selection,
        observer: None,
        interrupt: None,
        progress: None,
    }
}
