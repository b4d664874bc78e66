//! Where a program runs: options of every command that simulates.

use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::OnceLock;

use clap::{Args, ValueEnum};
use hpcast_models::compute::ModelFile;
use hpcast_models::network::{Along, Circuit, Flow, Ideal, Network, PacketNetwork, Routed, Watched};
use hpcast_platform::diagnostic::{Diagnostic, Source};
use hpcast_platform::placement::{Allocation, Placement, PlacementError, Plan, Policy, Site, rank_file};
use hpcast_platform::switching::PacketSwitching;
use hpcast_platform::topology::Topology;
use hpcast_platform::{Machine, Routing};
use hpcast_report::{MachineInfo, RunReport};
use hpcast_units::Bytes;

use crate::failure::Failure;
use crate::outputs::OutputOptions;

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum NetworkModel {
    /// Flows share links fairly (max-min)
    Flow,
    /// Delay, and contention at the end points only
    Ideal,
    /// The oldest flow gets all it can use, the next what is left
    Circuit,
    /// Packets wait in queues for links and for room in buffers: for studies of networks, slower
    Packet,
}

impl NetworkModel {
    /// An empty network of that machine; the seed is for ways that are drawn.
    pub fn build(self, machine: &Rc<Machine>, seed: u64) -> Box<dyn Network> {
        match self {
            NetworkModel::Flow => routed(machine, seed, Flow::new(machine.clone())),
            NetworkModel::Ideal => routed(machine, seed, Ideal::new(machine.clone())),
            NetworkModel::Circuit => routed(machine, seed, Circuit::new(machine.clone())),
            NetworkModel::Packet => Box::new(PacketNetwork::new(machine.clone(), seed)),
        }
    }

    /// The same with its links watched over time.
    pub fn watched(self, machine: &Rc<Machine>, seed: u64) -> Box<dyn Network> {
        fn watched<N: Along + 'static>(machine: &Rc<Machine>, seed: u64, network: N) -> Box<dyn Network> {
            routed(machine, seed, Watched::new(machine.clone(), network))
        }
        match self {
            NetworkModel::Flow => watched(machine, seed, Flow::new(machine.clone())),
            NetworkModel::Ideal => watched(machine, seed, Ideal::new(machine.clone())),
            NetworkModel::Circuit => watched(machine, seed, Circuit::new(machine.clone())),
            NetworkModel::Packet => Box::new(PacketNetwork::new(machine.clone(), seed).watched()),
        }
    }

    pub fn name(self) -> String {
        format!("{self:?}").to_lowercase()
    }
}

/// With ways that are chosen when messages start, unless each pair of nodes has one.
fn routed<N: Along + 'static>(machine: &Rc<Machine>, seed: u64, network: N) -> Box<dyn Network> {
    match machine.interconnect.routing().is_fixed() {
        true => Box::new(network),
        false => Box::new(Routed::new(machine.clone(), seed, network)),
    }
}

/// Which ways messages take.
#[derive(Args)]
pub(crate) struct RoutingOptions {
    /// How ways are chosen, such as random, least-loaded, valiant or ugal-l (default: as the machine file says)
    #[arg(long, value_name = "NAME")]
    pub routing: Option<String>,
    #[command(flatten)]
    pub threshold: Threshold,
}

impl RoutingOptions {
    /// The machine with this routing.
    pub fn apply(&self, mut machine: Machine) -> Result<Machine, Failure> {
        let topology = machine.interconnect.topology();
        let routing = match &self.routing {
            Some(word) => Routing::named(word, machine.ugal_threshold, topology)
                .map_err(|error| Failure::input(format!("--routing {word}: {error}")))?,
            None => machine.interconnect.routing(),
        };
        let [routing] = self.threshold.apply([routing], topology)?;
        machine.interconnect = machine.interconnect.routed(routing);
        Ok(machine)
    }
}

/// What UGAL is told.
#[derive(Args)]
pub(crate) struct Threshold {
    /// How much UGAL favours short ways: messages or packets that may wait before it makes a detour (default: as the
    /// machine file says)
    #[arg(long, value_name = "NUMBER")]
    ugal_threshold: Option<u32>,
}

impl Threshold {
    /// The routings with this threshold; it is refused where none of them is UGAL.
    pub fn apply<R: AsMut<[Routing]>>(&self, mut routings: R, topology: &dyn Topology) -> Result<R, Failure> {
        let Some(threshold) = self.ugal_threshold else { return Ok(routings) };
        let all = routings.as_mut();
        if all.iter().all(|routing| routing.threshold().is_none()) {
            let words: Vec<&str> = all.iter().map(|routing| routing.word(topology)).collect();
            return Err(Failure::input(format!(
                "--ugal-threshold has no meaning with the routing {}: it is for ugal-l and ugal-g; choose one of them, or leave it out",
                words.join(", ")
            )));
        }
        all.iter_mut().for_each(|routing| *routing = routing.with_threshold(threshold));
        Ok(routings)
    }
}

#[derive(Clone, Copy, Debug, ValueEnum)]
pub(crate) enum PlacementPolicy {
    /// Fill one node after the other
    Block,
    /// Deal ranks over the nodes like cards
    Cyclic,
    /// Random places, drawn from the seed
    Random,
    /// Fill one first-level switch after the other, whatever the numbers of its nodes
    BySwitch,
    /// Deal ranks over the first-level switches in turn
    SpreadSwitches,
}

impl PlacementPolicy {
    fn policy(self, seed: u64) -> Policy {
        match self {
            PlacementPolicy::Block => Policy::Block,
            PlacementPolicy::Cyclic => Policy::Cyclic,
            PlacementPolicy::Random => Policy::Random { seed },
            PlacementPolicy::BySwitch => Policy::BySwitch,
            PlacementPolicy::SpreadSwitches => Policy::SpreadSwitches,
        }
    }

    fn name(self) -> String {
        self.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
    }
}

/// The machine, its network, and the ranks on it.
#[derive(Args)]
pub(crate) struct MachineOptions {
    /// Machine file
    #[arg(short = 'm', long = "machine", value_name = "FILE.toml")]
    pub path: PathBuf,
    /// Network model
    #[arg(long, value_enum, default_value = "flow")]
    pub network: NetworkModel,
    #[command(flatten)]
    pub routing: RoutingOptions,
    /// Seed of everything that is random
    #[arg(long, default_value_t = 0)]
    pub seed: u64,
    /// Allow more ranks than cores
    #[arg(long)]
    pub oversubscribe: bool,
    /// Ranks on each node (default: as many as it has cores)
    #[arg(long, value_name = "RANKS")]
    pub ranks_per_node: Option<u32>,
    /// How ranks are placed (default: as the machine file says)
    #[arg(long, value_enum)]
    pub placement: Option<PlacementPolicy>,
    /// Where each rank runs: a node a line, or lines such as `rank 0=node17 slot=0`
    #[arg(long, value_name = "FILE", conflicts_with = "placement")]
    pub rank_file: Option<PathBuf>,
    /// Use only these nodes: a list such as `node[3-17,40]` or `3-17,40`, a file with one, `random:64` for so many drawn
    /// ones, or `holes:0.7:16` for those left where 70 % are busy, in runs of 16 on average
    #[arg(long, value_name = "NODES|FILE")]
    pub allocation: Option<String>,
    #[arg(skip)]
    read: OnceLock<Read>,
}

/// What files and lists on the command line say of nodes, read once.
struct Read {
    list: Option<Vec<u32>>,
    allocation: Option<Allocation>,
}

/// What `--allocation` asks for; what is wrong in a file is shown there.
fn read_allocation(text: &str, seed: u64, site: &Site<'_>) -> Result<Allocation, Failure> {
    Allocation::read(text, Path::new(""), seed, site).map_err(|problems| match problems.iter().next() {
        Some(Diagnostic { message, remedy, place: None, .. }) => {
            Failure::input(format!("--allocation {text}: {message}; {remedy}"))
        }
        _ => problems.into(),
    })
}

/// What the packet model takes where the machine file says nothing.
fn packet_assumptions(machine: &Machine) -> Option<String> {
    let packets = machine.packets;
    let size = Bytes::new(packets.size.into());
    (packets == PacketSwitching::default()).then(|| {
        format!(
            "network.packet: packets of {size}, buffers of two round trips and 16 packets, first come, first served"
        )
    })
}

/// Whether an assumption, such as `mpi.between = no overheads`, is one about a key, such as `mpi.between.send`.
fn is_about(assumption: &str, key: &str) -> bool {
    let about = assumption.split(" = ").next().unwrap_or_default();
    key == about || key.strip_prefix(about).is_some_and(|rest| rest.starts_with('.'))
}

impl MachineOptions {
    /// The machine, with what a model file says of messages in the place of its own figures. Without noise, all messages
    /// cost what is expected.
    pub fn load(&self, models: Option<&ModelFile>, noise: bool) -> Result<Rc<Machine>, Failure> {
        let machine = self.routing.apply(Machine::load(&self.path)?)?;
        if matches!(self.network, NetworkModel::Packet) {
            PacketNetwork::check(&machine).map_err(|error| Failure::input(error.to_string()))?;
        }
        // Files are read once, and before the inputs of the run are noted: they may be pipes.
        self.read(&machine)?;
        Ok(Rc::new(MachineOptions::with_messages(machine, models, noise)))
    }

    /// A machine with what a model file says of messages.
    pub fn with_messages(mut machine: Machine, models: Option<&ModelFile>, noise: bool) -> Machine {
        if let Some(ModelFile { name, network: Some(network), .. }) = models {
            let replaced = network.apply(&mut machine.mpi);
            let counts = |line: &String| !replaced.iter().any(|key| is_about(line, key));
            machine.assumed.retain(counts);
            let of_file =
                (!replaced.is_empty()).then(|| format!("of the model file \"{name}\": {}", replaced.join(", ")));
            machine.assumed.extend(of_file);
        }
        if !noise {
            machine.mpi = machine.mpi.without_noise();
        }
        machine
    }

    /// The machine of one run, on which messages cost what was drawn for it.
    pub fn with_drawn(machine: &Machine, drawn: &ModelFile, noise: bool) -> Rc<Machine> {
        Rc::new(MachineOptions::with_messages(machine.clone(), Some(drawn), noise))
    }

    /// The machine's plan with what the user wants otherwise.
    fn plan(&self, machine: &Machine, seed: u64) -> Result<Plan, Failure> {
        let mut plan: Plan = machine.plan.clone();
        let Read { list, allocation } = self.read(machine)?;
        if let Some(placement) = self.placement {
            plan.policy = placement.policy(seed);
        }
        if let Some(list) = list {
            plan.policy = Policy::List(list.clone());
        }
        if let Some(allocation) = allocation {
            plan.allocation = Some(allocation.with_seed(seed));
        }
        if self.oversubscribe {
            // As many on a node as it takes, whatever the machine file says.
            plan.oversubscribe = true;
        }
        plan.ranks_per_node = self.asked_per_node(machine);
        Ok(plan)
    }

    fn read(&self, machine: &Machine) -> Result<&Read, Failure> {
        if let Some(read) = self.read.get() {
            return Ok(read);
        }
        let site = machine.site();
        let list = self
            .rank_file
            .as_deref()
            .map(|path| -> Result<Vec<u32>, Failure> { Ok(rank_file::read(&Source::read(path)?, &site)?) });
        let allocation = self.allocation.as_ref().map(|text| read_allocation(text, self.seed, &site));
        let read = Read { list: list.transpose()?, allocation: allocation.transpose()? };
        Ok(self.read.get_or_init(|| read))
    }

    fn asked_per_node(&self, machine: &Machine) -> Option<u32> {
        self.ranks_per_node.or(if self.oversubscribe { None } else { machine.plan.ranks_per_node })
    }

    pub fn place(&self, machine: &Machine, ranks: u32, seed: u64) -> Result<Placement, Failure> {
        machine.place_as(&self.plan(machine, seed)?, ranks).map_err(|error| self.cannot_place(&error))
    }

    /// The same on these nodes only.
    pub fn place_on(&self, nodes: &[u32], machine: &Machine, ranks: u32, seed: u64) -> Result<Placement, Failure> {
        let nodes: Vec<String> = nodes.iter().map(u32::to_string).collect();
        let plan = Plan { allocation: Some(Allocation::Hosts(nodes.join(","))), ..self.plan(machine, seed)? };
        machine.place_as(&plan, ranks).map_err(|error| self.cannot_place(&error))
    }

    fn cannot_place(&self, error: &PlacementError) -> Failure {
        let file = self.rank_file.as_ref().filter(|_| error.is_about_list()).unwrap_or(&self.path);
        Failure::input(format!("{}: {error}", file.display()))
    }

    /// The nodes that may be used in a run with this seed.
    pub fn nodes(&self, machine: &Machine, seed: u64) -> Result<Vec<u32>, Failure> {
        let allowed = self.plan(machine, seed)?.allowed(&machine.site());
        let allowed = allowed.map_err(|error| self.cannot_place(&error))?;
        Ok(allowed.unwrap_or_else(|| (0..machine.nodes.count).collect()))
    }

    /// How many that are.
    pub fn usable_nodes(&self, machine: &Machine) -> Result<u32, Failure> {
        Ok(self.nodes(machine, self.seed)?.len() as u32)
    }

    /// Ranks that share a node where all places are taken.
    pub fn ranks_per_node(&self, machine: &Machine, ranks: u32) -> u32 {
        // What is wrong with places is said when ranks are placed.
        let nodes = self.usable_nodes(machine).unwrap_or(machine.nodes.count).max(1);
        let most = if self.oversubscribe { ranks.div_ceil(nodes) } else { 0 };
        self.asked_per_node(machine).unwrap_or(machine.cores_per_node.max(most)).max(1)
    }

    /// For commands where something else says where ranks run.
    pub fn refuse_places(&self, why: &str) -> Result<(), Failure> {
        let given = [
            ("--placement", self.placement.is_some()),
            ("--rank-file", self.rank_file.is_some()),
            ("--allocation", self.allocation.is_some()),
            ("--ranks-per-node", self.ranks_per_node.is_some()),
            ("--oversubscribe", self.oversubscribe),
        ];
        match given.iter().find(|(_, given)| *given) {
            Some((option, _)) => Err(Failure::input(format!("{option} has no meaning here: {why}; leave it out"))),
            None => Ok(()),
        }
    }

    /// The files that it was read from.
    pub fn inputs(&self) -> impl Iterator<Item = &Path> {
        let list = self.allocation.as_deref().map(Path::new).filter(|path| path.is_file());
        [Some(self.path.as_path()), self.rank_file.as_deref(), list].into_iter().flatten()
    }

    /// The network of a run with this seed; its links are watched over time if the outputs need that.
    pub fn network(&self, machine: &Rc<Machine>, outputs: &OutputOptions, seed: u64) -> Box<dyn Network> {
        match outputs.watches_links() {
            true => self.network.watched(machine, seed),
            false => self.network.build(machine, seed),
        }
    }

    pub fn network_name(&self) -> String {
        self.network.name()
    }

    /// Of what the machine file does not say of places, all that somebody else does is not assumed.
    pub fn places_are_said(policy: bool, per_node: bool, report: &mut RunReport) {
        let said = [("placement.policy", policy), ("placement.ranks-per-node", per_node)];
        report.assumptions.retain(|line| !said.iter().any(|(key, said)| *said && is_about(line, key)));
    }

    /// What was asked.
    pub fn describe(&self, machine: &Machine, report: &mut RunReport) {
        report.machine = MachineInfo::from(machine);
        report.network = self.network_name();
        report.seed = self.seed;
        let (routing, topology) = (machine.interconnect.routing(), machine.interconnect.topology());
        report.parameters.push(("routing".into(), routing.word(topology).into()));
        let threshold = routing.threshold().map(|threshold| ("ugal-threshold".into(), threshold.into()));
        report.parameters.extend(threshold);
        if let NetworkModel::Packet = self.network {
            report.assumptions.extend(packet_assumptions(machine));
        }
        report.assumptions.extend(machine.assumed.iter().cloned());
        let listed = self.rank_file.is_some();
        let policy = listed || self.placement.is_some();
        let per_node = listed || self.oversubscribe || self.ranks_per_node.is_some();
        MachineOptions::places_are_said(policy, per_node, report);
        let rank_file = self.rank_file.as_ref().map(|path| path.display().to_string());
        let places = [
            ("placement", self.placement.map(PlacementPolicy::name)),
            ("rank-file", rank_file),
            ("allocation", self.allocation.clone()),
        ];
        for (name, value) in places {
            report.parameters.extend(value.map(|value| (name.to_owned(), value.into())));
        }
    }
}
