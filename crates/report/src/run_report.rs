//! Everything that is reported about a run.
//!
//! Two equal runs give equal reports, but for `cpu_seconds`, `wall_seconds`, `peak_memory_bytes` and `provenance`.

use hpcast_platform::{Interconnect, Machine};
use hpcast_units::count;
use serde::ser::{Serialize, Serializer};
use serde_json::Value;

use crate::links::{self, KindLoad, LinkLoad};
use crate::provenance::Provenance;
use crate::ranks::RankSummary;
use crate::resources::Used;
use crate::table::Table;
use crate::totals::{Totals, seconds};

/// So many of the busiest links are reported.
const BUSIEST: usize = 10;

/// A run: what was asked, what was found, what it cost, where it comes from.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct RunReport {
    /// The program.
    pub program: String,
    /// What the program was told, in the order in which people should read it.
    #[serde(serialize_with = "as_map")]
    pub parameters: Vec<(String, Value)>,
    /// The machine.
    pub machine: MachineInfo,
    /// The network model.
    pub network: String,
    /// Number of ranks.
    pub ranks: u32,
    /// What all random draws depend on.
    pub seed: u64,
    /// How long the program would take.
    pub simulated_seconds: f64,
    /// Messages sent.
    pub messages: u64,
    /// Bytes of data sent.
    pub bytes: u64,
    /// What the program measured, a row a size.
    pub table: Table,
    /// What the ranks spent their time on.
    pub rank_times: RankSummary,
    /// The links with the highest load, busiest first.
    pub busiest_links: Vec<LinkLoad>,
    /// What kinds of links carried, the one with the busiest link first.
    pub link_kinds: Vec<KindLoad>,
    /// Whether it was stopped before all was done; what is reported is what was finished.
    pub interrupted: bool,
    /// What only programs of this kind have.
    #[serde(flatten)]
    pub more: serde_json::Map<String, Value>,
    /// What was taken where the inputs left something open.
    pub assumptions: Vec<String>,
    /// What the reader should not miss.
    pub warnings: Vec<String>,
    /// What the run used.
    #[serde(flatten)]
    pub used: Used,
    /// Where it comes from.
    pub provenance: Provenance,
}

/// The machine in a few figures.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct MachineInfo {
    /// What people call it.
    pub name: String,
    /// Compute nodes.
    pub nodes: u32,
    /// Cores of each.
    pub cores_per_node: u32,
    /// How they are joined.
    pub topology: String,
}

impl From<&Machine> for MachineInfo {
    fn from(machine: &Machine) -> MachineInfo {
        MachineInfo {
            name: machine.name.clone(),
            nodes: machine.nodes.count,
            cores_per_node: machine.cores_per_node,
            topology: machine.interconnect.topology().describe(),
        }
    }
}

impl RunReport {
    /// What the simulations say; the caller adds the rest. All ranks are listed if `every_rank`, or if they are few.
    pub fn of(totals: &Totals, interconnect: &Interconnect, every_rank: bool) -> RunReport {
        RunReport {
            ranks: totals.ranks.len() as u32,
            simulated_seconds: seconds(totals.simulated),
            messages: totals.messages,
            bytes: totals.bytes,
            rank_times: RankSummary::of(&totals.ranks, every_rank),
            busiest_links: links::busiest(interconnect, &totals.link_bytes, totals.simulated, BUSIEST),
            link_kinds: links::by_kind(interconnect, &totals.link_bytes, totals.simulated),
            warnings: unreceived(totals.unreceived).into_iter().collect(),
            ..RunReport::default()
        }
    }

    /// Notes that the user has stopped it when so many were finished, of so many `what`.
    pub fn stopped_after(&mut self, finished: usize, all: usize, what: &str) {
        self.interrupted = true;
        self.warnings.push(format!("interrupted: {finished} of {all} {what} are finished"));
    }
}

fn unreceived(messages: u64) -> Option<String> {
    match messages {
        0 => None,
        1 => Some("1 message was sent and never received".into()),
        _ => Some(format!("{} messages were sent and never received", count(messages))),
    }
}

fn as_map<S: Serializer>(entries: &[(String, Value)], serializer: S) -> Result<S::Ok, S::Error> {
    struct Entries<'a>(&'a [(String, Value)]);
    impl Serialize for Entries<'_> {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            serializer.collect_map(self.0.iter().map(|(key, value)| (key, value)))
        }
    }
    Entries(entries).serialize(serializer)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::ranks::RankSummary;
    use crate::table::{Cell, Column};
    use crate::totals::RankTimes;
    use hpcast_units::Time;

    /// A small run with something in every field.
    pub(crate) fn example() -> RunReport {
        let mut table = Table::new([
            Column::new("size", "size_bytes"),
            Column::new("mean", "mean_seconds"),
            Column::new("algorithm", "algorithm"),
        ]);
        table.push([Cell::Size(8), Cell::Seconds(1.5e-6), Cell::Text("recursive doubling".into())]);
        table.push([Cell::Size(65_536), Cell::Seconds(250e-6), Cell::Text("ring".into())]);
        let us = |us: u64| Time::from_ps(us * 1_000_000);
        let ranks = [(0, 100, 50, 1850), (0, 100, 100, 1800), (500, 100, 50, 1350), (0, 100, 0, 1400)];
        let ranks: Vec<RankTimes> = ranks
            .into_iter()
            .map(|(compute, send, receive, wait)| RankTimes {
                finished: us(compute + send + receive + wait),
                spent: [us(compute), us(send), us(receive), us(wait)],
            })
            .collect();
        RunReport {
            program: "allreduce".into(),
            parameters: [("size", "8 B..64 KiB".into()), ("count", 2.into()), ("nonblocking", false.into())]
                .map(|(name, value)| (name.into(), value))
                .into(),
            machine: MachineInfo {
                name: "Frontera".into(),
                nodes: 8008,
                cores_per_node: 56,
                topology: "fat tree".into(),
            },
            network: "flow".into(),
            ranks: 4,
            seed: 1,
            simulated_seconds: 0.002,
            messages: 16,
            bytes: 262_176,
            table,
            rank_times: RankSummary::of(&ranks, false),
            busiest_links: vec![LinkLoad {
                link: 3,
                name: "node 3 -> leaf 0".into(),
                bytes: 131_088.0,
                capacity_bytes_per_second: 12.5e9,
                load: 0.00524352,
            }],
            link_kinds: Vec::new(),
            interrupted: false,
            more: serde_json::Map::new(),
            assumptions: vec!["no loopback is described: messages inside a node go through its switch".into()],
            warnings: vec!["1 message was sent and never received".into()],
            used: Used { cpu_seconds: 0.011, wall_seconds: 0.0125, peak_memory_bytes: Some(7 << 20) },
            provenance: Provenance { version: "0.1.0".into(), host: "here".into(), ..Provenance::default() },
        }
    }

    #[test]
    fn lost_messages_are_a_warning() {
        assert_eq!(unreceived(0), None);
        assert_eq!(unreceived(1234).unwrap(), "1,234 messages were sent and never received");
    }
}
