//! What a machine costs: its parts counted from the topology, their prices from the section `[cost]` of its file.

mod table;

use std::collections::BTreeMap;

use hpcast_units::{Bandwidth, Length, Power, count};

use super::Machine;
use crate::fields::Problem;
use crate::topology::{Topology, Vertex};

pub use table::{CableClass, CostTable, Part, SwitchPrice};

/// Hours of a year.
const YEAR: f64 = 365.25 * 24.0;

/// So many parts that are alike.
#[derive(Clone, Debug, PartialEq)]
pub struct Item {
    /// What they are: `leaf switch, 32 ports`, `copper cable, 2 m`.
    pub name: String,
    /// How many.
    pub count: u64,
    /// Of all of them.
    pub price: f64,
    /// What all of them draw, if the table says it.
    pub power: Option<Power>,
}

/// What a machine costs.
#[derive(Clone, Debug, PartialEq)]
pub struct Cost {
    /// What prices are in.
    pub currency: String,
    /// Nodes and their ports, switches, and cables by class and length.
    pub items: Vec<Item>,
    /// Compute nodes.
    pub nodes: u32,
    /// What one half of the nodes can send to the other.
    pub bisection_bandwidth: Bandwidth,
    /// Whether that is the true minimum; otherwise it is an upper bound.
    pub bisection_is_exact: bool,
    /// Price of a kilowatt-hour.
    pub energy_price: Option<f64>,
    /// What the table leaves out, and what follows from that.
    pub assumed: Vec<String>,
}

impl Cost {
    /// Counts the parts of a machine and adds up what they cost; all that the table lacks for that is listed.
    pub fn of(machine: &Machine) -> Result<Cost, Vec<Problem>> {
        let Some(table) = &machine.cost else {
            return Err(vec![Problem {
                key: "cost".into(),
                message: "there is no section [cost]".into(),
                remedy: "add prices of switches and cables, as docs/machines.md says".into(),
            }]);
        };
        let topology = machine.interconnect.topology();
        let parts = Parts::of(topology, machine.nodes.count);
        let mut pricing = Pricing { table, items: Vec::new(), assumed: Vec::new(), problems: Vec::new() };
        pricing.part("node", &table.node, u64::from(machine.nodes.count));
        pricing.part("port", &table.port, parts.ports);
        pricing.switches(&parts.switches);
        pricing.cables(&parts.cables);
        let Pricing { items, assumed, problems, .. } = pricing;
        if !problems.is_empty() {
            return Err(problems);
        }
        Ok(Cost {
            currency: table.currency.clone(),
            items,
            nodes: machine.nodes.count,
            bisection_bandwidth: Bandwidth::new(topology.bisection_bandwidth()),
            bisection_is_exact: topology.bisection_is_exact(),
            energy_price: table.energy_price,
            assumed,
        })
    }

    /// Of everything.
    pub fn price(&self) -> f64 {
        self.items.iter().map(|item| item.price).sum()
    }

    /// What everything draws whose power is given; nothing if none is.
    pub fn power(&self) -> Option<Power> {
        let powers: Vec<f64> = self.items.iter().filter_map(|item| item.power).map(Power::get).collect();
        (!powers.is_empty()).then(|| Power::new(powers.iter().sum()))
    }

    /// Price of the energy of a year, drawn all the time.
    pub fn energy_a_year(&self) -> Option<f64> {
        Some(self.power()?.get() / 1000.0 * YEAR * self.energy_price?)
    }

    /// Share of each node in everything.
    pub fn price_per_node(&self) -> f64 {
        self.price() / f64::from(self.nodes)
    }

    /// For each GB/s that one half of the nodes can send to the other; at least that much where the bisection is an upper
    /// bound. None where there are no halves.
    pub fn price_per_bisection(&self) -> Option<f64> {
        let bisection = self.bisection_bandwidth.get() / 1e9;
        (bisection > 0.0).then(|| self.price() / bisection)
    }
}

/// What there is to pay for.
struct Parts {
    /// Ends of cables at nodes.
    ports: u64,
    /// By kind and cables: how many.
    switches: BTreeMap<(String, u32), u64>,
    /// By kind of link: how many.
    cables: BTreeMap<String, u64>,
}

impl Parts {
    /// Cables to nodes that are not there are not counted.
    fn of(topology: &dyn Topology, nodes: u32) -> Parts {
        let is_there = |vertex: &Vertex| !matches!(vertex, Vertex::Node(node) if *node >= nodes);
        let mut ends: Vec<((Vertex, Vertex), bool, u32)> = Vec::new();
        for id in 0..topology.links() {
            let (tail, head) = topology.ends(id);
            // What is within a switch is no cable.
            if tail != head && is_there(&tail) && is_there(&head) && !topology.is_missing(id) {
                ends.push(((tail.min(head), tail.max(head)), tail < head, id));
            }
        }
        ends.sort_unstable();
        let mut parts = Parts { ports: 0, switches: BTreeMap::new(), cables: BTreeMap::new() };
        let mut used = vec![0u32; topology.switches() as usize];
        for joined in ends.chunk_by(|a, b| a.0 == b.0) {
            let forward = joined.iter().filter(|(_, forward, id)| *forward && !topology.is_shared(*id)).count();
            let shared = joined.iter().filter(|(.., id)| topology.is_shared(*id)).count();
            let cables = shared + forward.max(joined.len() - shared - forward);
            let ((a, b), _, id) = joined[0];
            *parts.cables.entry(topology.link_kind(id)).or_default() += cables as u64;
            for end in [a, b] {
                match end {
                    Vertex::Node(_) => parts.ports += cables as u64,
                    Vertex::Switch(switch) => used[switch as usize] += cables as u32,
                }
            }
        }
        // Switches that are missing have no cables; so have those that stand alone, but nobody buys them either.
        for (switch, ports) in (0..).zip(used).filter(|(_, ports)| *ports > 0) {
            *parts.switches.entry((topology.switch_kind(switch), ports)).or_default() += 1;
        }
        parts
    }
}

/// Parts with their prices so far.
struct Pricing<'t> {
    table: &'t CostTable,
    items: Vec<Item>,
    assumed: Vec<String>,
    problems: Vec<Problem>,
}

impl Pricing<'_> {
    fn lacks(&mut self, key: &str, message: String, remedy: String) {
        self.problems.push(Problem { key: format!("cost.{key}"), message, remedy });
    }

    fn add(&mut self, name: String, number: u64, price: f64, power: Option<Power>) {
        if power.is_none() {
            self.assumed.push(format!("power of {name} = 0 W (not given)"));
        }
        let power = power.map(|power| Power::new(power.get() * number as f64));
        self.items.push(Item { name, count: number, price: price * number as f64, power });
    }

    fn part(&mut self, name: &str, part: &Part, number: u64) {
        if part.price.is_none() {
            self.assumed.push(format!("price of a {name} = 0 {} (not given)", self.table.currency));
        }
        self.add(name.into(), number, part.price.unwrap_or(0.0), part.power);
    }

    fn switches(&mut self, switches: &BTreeMap<(String, u32), u64>) {
        for ((kind, ports), number) in switches {
            match self.table.switches.iter().find(|price| price.fits(kind, *ports)) {
                Some(price) => {
                    let noun = if kind.ends_with("switch") { kind.clone() } else { format!("{kind} switch") };
                    self.add(format!("{noun}, {ports} cables"), *number, price.price, price.power);
                }
                None => {
                    let message = format!("no price for {} switches `{kind}` with {ports} cables each", count(*number));
                    let remedy = format!("add `{{ kind = \"{kind}\", price = ... }}` to `switches` in [cost]");
                    self.lacks("switches", message, remedy);
                }
            }
        }
    }

    fn cables(&mut self, cables: &BTreeMap<String, u64>) {
        let mut items: BTreeMap<(usize, u64), (u64, Length)> = BTreeMap::new();
        for (kind, number) in cables {
            let Some(&length) = self.table.lengths.get(kind) else {
                let message = format!("no length for {} cables of the kind `{kind}`", count(*number));
                self.lacks("lengths", message, format!("add `\"{kind}\" = \"5 m\"` to [cost.lengths]"));
                continue;
            };
            let long_enough = |class: &CableClass| class.up_to.is_none_or(|up_to| up_to >= length);
            let Some(class) = self.table.cables.iter().position(long_enough) else {
                let message = format!("no cable is as long as those of the kind `{kind}`, {length}");
                self.lacks("cables", message, "add a class without `up-to`, or with a longer one".into());
                continue;
            };
            // Lengths are not negative, so that their bits are in order.
            items.entry((class, length.get().to_bits())).or_insert((0, length)).0 += number;
        }
        for ((class, _), (number, length)) in items {
            let class = &self.table.cables[class];
            let price = class.price + class.per_metre * length.get();
            let name = format!("{} cable, {length}", class.class);
            self.items.push(Item { name, count: number, price: price * number as f64, power: None });
        }
        for kind in self.table.lengths.keys().filter(|kind| !cables.contains_key(*kind)) {
            let known: Vec<&str> = cables.keys().map(String::as_str).collect();
            self.problems.push(Problem {
                key: format!("cost.lengths.{kind}"),
                message: format!("there are no cables of the kind `{kind}`"),
                remedy: format!("kinds of cables in this network: {}", known.join(", ")),
            });
        }
    }
}
