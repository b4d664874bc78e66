//! Nodes that are left out because they are slow: HPL gives all processes the same share of the matrix and so goes at the
//! pace of the slowest (T. Cornebize's thesis, section 7.2).

use clap::Args;
use hpcast_apps::hpl::{HplModels, HplParameters};
use hpcast_platform::Machine;

use crate::failure::Failure;

/// How many nodes are left out.
#[derive(Args)]
pub(crate) struct Eviction {
    /// Leave out so many nodes: those where the model file's dgemm is slowest
    #[arg(long, default_value_t = 0, value_name = "NODES", conflicts_with = "rank_file")]
    pub evict: u32,
}

impl Eviction {
    /// How many of so many nodes stay.
    pub fn remaining(&self, nodes: u32) -> Result<u32, Failure> {
        nodes.checked_sub(self.evict).filter(|left| *left > 0).ok_or_else(|| {
            let evict = self.evict;
            Failure::input(format!("--evict {evict}: the run has only {nodes} nodes to begin with; leave out fewer"))
        })
    }

    /// Those of these nodes that stay and those that go, each in its order.
    pub fn divide(
        &self,
        nodes: &[u32],
        machine: &Machine,
        models: &HplModels,
        parameters: &HplParameters,
    ) -> Result<(Vec<u32>, Vec<u32>), Failure> {
        let stay = self.remaining(nodes.len() as u32)?;
        let update = parameters.largest_update();
        let seconds = |node: u32| {
            let sockets = 0..machine.nodes.sockets.max(1);
            sockets.map(|socket| models.dgemm_seconds(node, socket, update)).fold(0.0, f64::max)
        };
        let mut by_speed: Vec<(f64, u32)> = nodes.iter().map(|&node| (seconds(node), node)).collect();
        by_speed.sort_by(|a, b| a.0.total_cmp(&b.0));
        if by_speed.first().map(|node| node.0) == by_speed.last().map(|node| node.0) {
            return Err(Failure::input(
                "--evict: all nodes compute equally fast here, so none is the slowest; name a model file with --models \
                 whose dgemm differs from node to node (`hpcast fit cluster` makes one)",
            ));
        }
        let (mut fast, mut slow) = (Vec::new(), Vec::new());
        for (place, (_, node)) in (0..).zip(by_speed) {
            if place < stay { fast.push(node) } else { slow.push(node) }
        }
        // Ranks are placed in the order of nodes, not of their speed.
        fast.sort_unstable();
        slow.sort_unstable();
        Ok((fast, slow))
    }
}
