//! Machine files in TOML: from text to [`MachineFile`], with all mistakes reported at once.

mod cost;
mod switched;

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use hpcast_units::{Bandwidth, Bytes, Seconds};
use toml::de::DeValue;

use super::wiring::{PLANE_CHOICES, word_in};
use super::{FactorMeaning, FlowSharing, Io, Machine, MachineFile, Network, Nodes, PlaneFigures, RoutingWord, Wiring};
use crate::diagnostic::{Diagnostic, Diagnostics, Source};
use crate::fields::{self, Reader, Section};
use crate::interconnect::Loopback;
use crate::placement::{Allocation, Plan, Policy, Site, rank_file};
use crate::protocol::{MpiParameters, PollGrowth, Protocol};
use crate::switching::{Arbitration, PacketSwitching};
use crate::topology::{
    Duplex, FatTreeShape, Graph, GraphError, Link, ParallelCables, PlaneChoice, Ties, TopologyError,
};

/// Threshold of the eager protocol where a file says nothing.
const EAGER: Bytes = Bytes::new(65_536);
/// Cost of a probe and of a test where a file says nothing: what was measured on dahu, see machines/dahu.toml.
const PROBE: Seconds = Seconds::new(0.25e-6);
const TEST: Seconds = Seconds::new(0.8e-6);

/// What `topology` may be.
const TOPOLOGIES: [&str; 13] = [
    "crossbar",
    "fat-tree",
    "torus",
    "mesh",
    "hypercube",
    "full-mesh",
    "hyperx",
    "dragonfly",
    "dragonfly+",
    "slim-fly",
    "clos",
    "gamma",
    "graph",
];

impl MachineFile {
    /// Reads a machine file; a graph file that it names is looked for in the same folder.
    pub fn load(path: &Path) -> Result<MachineFile, Diagnostics> {
        let source = Source::read(path)?;
        MachineFile::parse(&source, path.parent().unwrap_or(Path::new("")))
    }

    /// Reads the text of a machine file; a graph file that it names is looked for in `folder`.
    pub fn parse(source: &Arc<Source>, folder: &Path) -> Result<MachineFile, Diagnostics> {
        let root = fields::parse(source)?;
        let mut reader = Reader::new(Arc::clone(source), "a machine file", &root);
        let (mut file, places) = read(&mut reader, Section::root(root.get_ref()), folder);
        let mut problems = file.check_values();
        if !reader.is_broken("network") && !reader.is_broken("nodes") && problems.is_empty() {
            places.read(&mut reader, &mut file, folder);
            problems = file.check_counts();
        }
        problems.iter().for_each(|problem| reader.report(problem));
        if reader.diagnostics.has_errors() {
            reader.diagnostics.sort();
            return Err(reader.diagnostics);
        }
        file.assumed = reader.assumed;
        Ok(file)
    }
}

impl Machine {
    /// Reads a machine file and makes the machine.
    pub fn load(path: &Path) -> Result<Machine, Diagnostics> {
        MachineFile::load(path)?.build()
    }
}

fn read<'t>(reader: &mut Reader, mut root: Section<'t>, folder: &Path) -> (MachineFile, Places<'t>) {
    let name = root.text(reader, "name").map(String::from);
    let name = root.needed(reader, "name", name, "name = \"my machine\"");
    let description = root.text(reader, "description").map(String::from);

    let mut nodes_section = root.section(reader, "nodes");
    if !nodes_section.exists() && !reader.is_broken("nodes") {
        reader.fail("nodes", "there is no section [nodes]", "add `[nodes]` with `count` and `cores-per-socket`");
    }
    let mut nodes = read_nodes(reader, &mut nodes_section);

    let mut network_section = root.section(reader, "network");
    if !network_section.exists() && !reader.is_broken("network") {
        reader.fail(
            "network",
            "there is no section [network]",
            "add `[network]` with `topology`, `bandwidth` and `latency`",
        );
    }
    let network = read_network(reader, &mut network_section, folder);
    read_count(reader, &mut nodes_section, &network, &mut nodes);
    nodes_section.finish(reader);

    let mut flow = network_section.section(reader, "flow");
    let sharing = read_sharing(reader, &mut flow);
    flow.finish(reader);
    let mut packet = network_section.section(reader, "packet");
    let packets = read_packets(reader, &mut packet);
    packet.finish(reader);
    network_section.finish(reader);

    let mut mpi_section = root.section(reader, "mpi");
    let mpi = read_mpi(reader, &mut mpi_section);
    mpi_section.finish(reader);

    let mut placement = root.section(reader, "placement");
    let (plan, places) = read_plan(reader, &mut placement, &nodes);
    placement.finish(reader);

    let mut io_section = root.section(reader, "io");
    let io = Io {
        bandwidth: io_section.quantity(reader, "bandwidth"),
        node_bandwidth: io_section.quantity(reader, "node-bandwidth"),
        latency: io_section.quantity(reader, "latency"),
    };
    io_section.finish(reader);

    let mut cost_section = root.section(reader, "cost");
    let cost = cost::read_cost(reader, &mut cost_section);
    cost_section.finish(reader);
    root.finish(reader);

    let assumed = Vec::new();
    let file = MachineFile { name, description, nodes, network, sharing, packets, mpi, plan, io, cost, assumed };
    (file, places)
}

fn read_nodes(reader: &mut Reader, nodes: &mut Section<'_>) -> Nodes {
    let sockets = nodes.whole(reader, "sockets");
    let cores = nodes.whole(reader, "cores-per-socket");
    Nodes {
        count: 1,
        sockets: if nodes.exists() { nodes.assumed(reader, "sockets", sockets, 1) } else { 1 },
        cores_per_socket: nodes.needed(reader, "cores-per-socket", cores, "cores-per-socket = 16"),
        memory: nodes.quantity(reader, "memory"),
        memory_bandwidth: nodes.quantity(reader, "memory-bandwidth"),
        clock: nodes.quantity(reader, "clock"),
        flops: nodes.quantity(reader, "flops"),
        sustained_flops: nodes.quantity(reader, "sustained-flops"),
    }
}

/// A crossbar has as many nodes as we say; other topologies tell how many they have.
fn read_count(reader: &mut Reader, section: &mut Section<'_>, network: &Network, nodes: &mut Nodes) {
    let count = section.whole(reader, "count");
    nodes.count = match (&network.wiring, count) {
        (Wiring::Crossbar { .. }, count) => section.needed(reader, "count", count, "count = 32"),
        (_, Some(count)) => count,
        (_, None) if reader.is_broken("network") || reader.is_broken("nodes") => 1,
        (_, None) => {
            let room = network.topology(1).map_or(1, |topology| topology.nodes());
            section.assumed(reader, "count", None, room.saturating_sub(network.unused_ports))
        }
    };
}

fn read_network(reader: &mut Reader, network: &mut Section<'_>, folder: &Path) -> Network {
    let topologies = TOPOLOGIES.map(|word| (word, word));
    let topology = network.choice(reader, "topology", &topologies);
    let topology = network.needed(reader, "topology", topology, "topology = \"fat-tree\"");
    let wiring = match topology {
        "fat-tree" => read_fat_tree(reader, network),
        "torus" | "mesh" => {
            let dimensions = network.wholes(reader, "dimensions", "[8, 8, 8]");
            let dimensions = network.needed(reader, "dimensions", dimensions, "dimensions = [8, 8, 8]");
            let cables = read_cables(reader, network, dimensions.len());
            // A mesh has nothing to choose.
            let words = [("alternate", Ties::Alternate), ("forward", Ties::Forward)];
            let wrap = topology == "torus";
            let ties = if wrap { network.choice(reader, "ties", &words) } else { None };
            let link = read_link(reader, network);
            Wiring::Torus { dimensions, cables, wrap, ties: ties.unwrap_or_default(), link }
        }
        "hypercube" => {
            let dimension = read_figure(reader, network, "dimension", 10);
            let cables = network.whole(reader, "cables").unwrap_or(1);
            Wiring::Hypercube { dimension, cables, link: read_link(reader, network) }
        }
        "full-mesh" => switched::read_full_mesh(reader, network),
        "dragonfly" => switched::read_dragonfly(reader, network),
        "dragonfly+" => switched::read_dragonfly_plus(reader, network),
        "slim-fly" => switched::read_slim_fly(reader, network),
        "hyperx" => switched::read_hyperx(reader, network),
        "clos" => switched::read_clos(reader, network),
        "gamma" => switched::read_gamma(reader, network),
        "graph" => read_graph(reader, network, folder),
        _ => {
            let link = read_link(reader, network);
            let mut backbone = network.section(reader, "backbone");
            let backbone = backbone.exists().then(|| read_whole_link(reader, &mut backbone));
            Wiring::Crossbar { link, backbone }
        }
    };
    let word = network.text(reader, "routing").map(String::from);
    let threshold = network.whole(reader, "ugal-threshold");
    let is_said = word.is_some() || threshold.is_some();
    let routing = is_said.then(|| RoutingWord { word, threshold: threshold.unwrap_or(0) });
    let duplex = match &wiring {
        wiring if wiring.knows_duplex() => Duplex::Split,
        _ => {
            let words = [("split", Duplex::Split), ("shared", Duplex::Shared)];
            let duplex = network.choice(reader, "duplex", &words);
            let word = |duplex| if duplex == Duplex::Shared { "shared" } else { "split" };
            network.assumed(reader, "duplex", duplex.map(word), word(Duplex::Split));
            duplex.unwrap_or_default()
        }
    };
    let failed = network.texts(reader, "failed", "[\"core 1\"]").unwrap_or_default();
    Network {
        planes: read_planes(reader, network),
        failed: failed.into_iter().map(String::from).collect(),
        wiring,
        duplex,
        loopback: read_loopback(reader, network),
        limiter: network.quantity(reader, "limiter").map(Bandwidth::get),
        unused_ports: network.whole(reader, "unused-ports").unwrap_or(0),
        routing,
    }
}

/// Copies of the network; how a message chooses one matters only where there are several.
fn read_planes(reader: &mut Reader, network: &mut Section<'_>) -> Option<PlaneFigures> {
    let count = network.whole(reader, "planes")?;
    let choice = network.choice(reader, "plane-choice", &PLANE_CHOICES);
    let word = |choice| word_in(&PLANE_CHOICES, choice);
    network.assumed(reader, "plane-choice", choice.map(word), word(PlaneChoice::default()));
    Some(PlaneFigures { count, choice: choice.unwrap_or_default() })
}

fn read_packets(reader: &mut Reader, packet: &mut Section<'_>) -> PacketSwitching {
    let usual = PacketSwitching::default();
    let bytes = |bytes: Bytes| u32::try_from(bytes.get()).unwrap_or(u32::MAX);
    PacketSwitching {
        size: packet.quantity(reader, "size").map_or(usual.size, bytes),
        buffer: packet.quantity(reader, "buffer").map(bytes),
        injection: packet.whole(reader, "injection"),
        arbitration: packet.choice(reader, "arbitration", &Arbitration::WORDS).unwrap_or_default(),
    }
}

/// A number that the topology needs.
fn read_figure(reader: &mut Reader, network: &mut Section<'_>, key: &'static str, example: u32) -> u32 {
    let figure = network.whole(reader, key);
    network.needed(reader, key, figure, &format!("{key} = {example}"))
}

/// Cables between neighbours: a number for each dimension, or one for all.
fn read_cables(reader: &mut Reader, network: &mut Section<'_>, dimensions: usize) -> Vec<u32> {
    match network.value("cables") {
        Some(DeValue::Array(_)) => network.wholes(reader, "cables", "[1, 2]").unwrap_or_default(),
        _ => vec![network.whole(reader, "cables").unwrap_or(1); dimensions],
    }
}

fn read_fat_tree(reader: &mut Reader, network: &mut Section<'_>) -> Wiring {
    let shape = match network.wholes(reader, "down", "[16, 16]") {
        Some(down) => read_tapered(reader, network, down),
        None => read_shape(reader, network),
    };
    let example = "{ bandwidth = \"100 Gbit/s\", latency = \"90 ns\" }";
    let levels = match network.sections(reader, "levels", example) {
        Some(sections) => {
            for key in ["bandwidth", "latency"] {
                if network.value(key).is_some() {
                    let message = format!("`{key}` beside `levels`, which gives it for each level");
                    reader.fail(&format!("network.{key}"), message, "remove one of the two");
                }
            }
            let levels = sections.into_iter().map(|mut section| read_whole_link(reader, &mut section));
            levels.collect()
        }
        None if reader.is_broken("network.levels") => Vec::new(),
        None => vec![read_link(reader, network); shape.levels()],
    };
    let switch_ports = network.wholes(reader, "switch-ports", "[36, 36]");
    let words = [("all", ParallelCables::All), ("same", ParallelCables::Same), ("first", ParallelCables::First)];
    let parallel_cables = network.choice(reader, "parallel-cables", &words).unwrap_or_default();
    let missing = read_missing(reader, network, &shape);
    Wiring::FatTree { shape, levels, switch_ports, parallel_cables, missing }
}

/// Switches at the top that are not there: their names, or how many of the last ones.
fn read_missing(reader: &mut Reader, network: &mut Section<'_>, shape: &FatTreeShape) -> Vec<u32> {
    let (tops, noun) = (shape.tops(shape.levels()), shape.vertex_noun(shape.levels()));
    if !matches!(network.value("missing"), Some(DeValue::Array(_))) {
        let count: u32 = network.whole(reader, "missing").unwrap_or(0);
        if count >= tops {
            let message = format!("all {tops} switches at the top are missing");
            reader.fail("network.missing", message, "leave at least one");
            return Vec::new();
        }
        return (tops - count..tops).collect();
    }
    let names = network.texts(reader, "missing", "[\"core 1\"]").unwrap_or_default();
    let mut missing = BTreeSet::new();
    for (at, name) in names.into_iter().enumerate() {
        let key = format!("network.missing[{at}]");
        let number = name.strip_prefix(&noun).and_then(|number| number.trim().parse::<u32>().ok());
        match number.filter(|number| *number < tops) {
            Some(number) if missing.insert(number) => {}
            Some(_) => reader.fail(&key, format!("`{name}` is there twice"), "write it once"),
            None => {
                let remedy = format!("they are called {noun} 0 to {noun} {}", tops - 1);
                reader.fail(&key, format!("`{name}` is no switch at the top of this fat tree"), remedy);
            }
        }
    }
    missing.into_iter().collect()
}

/// A fat tree in Zahavi's notation.
fn read_shape(reader: &mut Reader, network: &mut Section<'_>) -> FatTreeShape {
    const EXAMPLE: &str = "shape = \"2; 16,32; 1,16; 1,1\"";
    let text = network.text(reader, "shape");
    let text = network.needed(reader, "shape", text, EXAMPLE);
    text.parse::<FatTreeShape>().unwrap_or_else(|error| {
        if !reader.is_broken("network.shape") {
            let Diagnostic { message, remedy, .. } = Diagnostic::from_error(&error);
            reader.fail("network.shape", message, remedy);
        }
        FatTreeShape { down: vec![1], up: vec![1], parallel: vec![1] }
    })
}

/// A fat tree by the children of its switches and how much less leads up from them than down.
fn read_tapered(reader: &mut Reader, network: &mut Section<'_>, down: Vec<u32>) -> FatTreeShape {
    let oversubscription = network.wholes(reader, "oversubscription", "[2]");
    if oversubscription.is_none() && !reader.is_broken("network.oversubscription") {
        reader.assumed.push("network.oversubscription = 1 at every level".into());
    }
    FatTreeShape::tapered(&down, oversubscription.as_deref()).unwrap_or_else(|error| {
        let key =
            if matches!(error, TopologyError::Taper { .. }) { "network.oversubscription" } else { "network.down" };
        let Diagnostic { message, remedy, .. } = Diagnostic::from_error(&error);
        let remedy = if remedy.is_empty() { "correct the figures".into() } else { remedy };
        reader.fail(key, message, remedy);
        FatTreeShape { down: vec![1], up: vec![1], parallel: vec![1] }
    })
}

/// The graph's text, inside the machine file or in a file beside it.
fn read_graph(reader: &mut Reader, network: &mut Section<'_>, folder: &Path) -> Wiring {
    let file = network.text(reader, "file");
    let inline = network.text(reader, "graph");
    match (file, inline) {
        (Some(_), Some(_)) => reader.fail("network.graph", "there are two graphs", "keep either `file` or `graph`"),
        (None, None) => {
            network.needed::<String>(reader, "file", None, "file = \"network.graph\"");
        }
        (Some(name), None) => match Source::read(&folder.join(name)) {
            Ok(source) => {
                if let Err(error) = Graph::parse(&source.text) {
                    let place = source.word(error.line as usize, error.column as usize);
                    let diagnostic = Diagnostic::from_error(&error.problem).at(&source, place);
                    reader.fail_elsewhere("network.file", diagnostic);
                }
                return Wiring::Graph { file: Some(name.into()), text: source.text.clone() };
            }
            Err(error) => reader.fail("network.file", error.message, error.remedy),
        },
        (None, Some(text)) => {
            if let Err(error) = Graph::parse(text) {
                let place = place_in_text(reader, "network.graph", text, &error);
                let diagnostic = Diagnostic::from_error(&error.problem).at(&reader.source, place);
                reader.fail_elsewhere("network.graph", diagnostic);
            }
            return Wiring::Graph { file: None, text: text.into() };
        }
    }
    Wiring::Graph { file: None, text: String::new() }
}

/// Where in the machine file a mistake in a graph is that stands there between triple quotes.
fn place_in_text(reader: &Reader, key: &str, text: &str, error: &GraphError) -> Range<usize> {
    let whole = reader.place(key);
    let (first, _) = reader.source.position(whole.start);
    let (line, column) = (error.line as usize, error.column as usize);
    // The text starts on the line after the quotes; escapes within it would shift columns.
    let written = reader.source.text.lines().nth(first + line - 1);
    let meant = text.lines().nth(line - 1);
    if written.is_some() && written == meant { reader.source.word(first + line, column) } else { whole }
}

/// `bandwidth` and `latency` among other keys.
fn read_link(reader: &mut Reader, section: &mut Section<'_>) -> Link {
    let bandwidth = section.quantity(reader, "bandwidth");
    let latency = section.quantity(reader, "latency");
    let bandwidth: Bandwidth = section.needed(reader, "bandwidth", bandwidth, "bandwidth = \"100 Gbit/s\"");
    let latency: Seconds = section.needed(reader, "latency", latency, "latency = \"90 ns\"");
    Link { bandwidth: bandwidth.get(), latency: latency.get() }
}

/// `bandwidth` and `latency` and nothing else.
fn read_whole_link(reader: &mut Reader, section: &mut Section<'_>) -> Link {
    let link = read_link(reader, section);
    section.finish(reader);
    link
}

fn read_loopback(reader: &mut Reader, network: &mut Section<'_>) -> Loopback {
    const WORD: &str = "through-network";
    match network.value("loopback") {
        Some(DeValue::Table(_)) => {
            let mut section = network.section(reader, "loopback");
            Loopback::Unshared(read_whole_link(reader, &mut section))
        }
        Some(_) => {
            let _ = network.choice(reader, "loopback", &[(WORD, ())]);
            Loopback::ThroughNetwork
        }
        None => {
            if network.exists() {
                network.assumed(reader, "loopback", None, WORD);
            }
            Loopback::ThroughNetwork
        }
    }
}

fn read_sharing(reader: &mut Reader, flow: &mut Section<'_>) -> FlowSharing {
    if !flow.exists() {
        reader.assumed.push("network.flow = plain max-min fair sharing".into());
        return FlowSharing::default();
    }
    let meanings = [("bound", FactorMeaning::Bound), ("share", FactorMeaning::Share)];
    FlowSharing {
        cross_traffic: flow.number(reader, "cross-traffic").unwrap_or(0.0),
        weight_s: flow.parsed(reader, "weight-s", Bytes::parse_fraction),
        window: flow.parsed(reader, "window", Bytes::parse_fraction),
        factor: flow.choice(reader, "factor", &meanings).unwrap_or_default(),
    }
}

fn read_mpi(reader: &mut Reader, mpi: &mut Section<'_>) -> MpiParameters {
    let growths = [("off", PollGrowth::Off), ("per-rank", PollGrowth::PerRank), ("global", PollGrowth::Global)];
    let eager = mpi.quantity(reader, "eager-below");
    let eager = mpi.assumed(reader, "eager-below", eager, EAGER);
    let detached = mpi.quantity(reader, "detached-below");
    let detached = mpi.assumed(reader, "detached-below", detached, eager);
    let envelope: Bytes = mpi.quantity(reader, "envelope").unwrap_or_default();
    let probe = mpi.quantity(reader, "probe");
    let test = mpi.quantity(reader, "test");
    let reduce = mpi.quantity(reader, "reduce-per-byte");
    let mut between_section = mpi.section(reader, "between");
    let between = Protocol::read(reader, &mut between_section);
    if !between_section.exists() {
        reader.assumed.push("mpi.between = no overheads, all factors 1".into());
    }
    between_section.finish(reader);
    let mut inside_section = mpi.section(reader, "inside");
    let inside = if inside_section.exists() {
        Protocol::read(reader, &mut inside_section)
    } else {
        reader.assumed.push("mpi.inside = as mpi.between".into());
        between.clone()
    };
    inside_section.finish(reader);
    MpiParameters {
        eager_below: eager.get(),
        detached_below: detached.get(),
        envelope: envelope.get(),
        between,
        inside,
        probe: mpi.assumed(reader, "probe", probe, PROBE).get(),
        test: mpi.assumed(reader, "test", test, TEST).get(),
        poll_growth: mpi.choice(reader, "poll-growth", &growths).unwrap_or_default(),
        reduce_per_byte: mpi.assumed(reader, "reduce-per-byte", reduce, Seconds::default()).get(),
    }
}

/// What the section on placement says of nodes, which can be read when the network is known.
#[derive(Default)]
struct Places<'t> {
    rank_file: Option<&'t str>,
    allocation: Option<&'t str>,
    seed: u64,
}

impl Places<'_> {
    fn read(&self, reader: &mut Reader, file: &mut MachineFile, folder: &Path) {
        if self.rank_file.is_none() && self.allocation.is_none() {
            return;
        }
        // What is wrong with the network is said elsewhere.
        let Ok(topology) = file.network.topology(file.nodes.count) else { return };
        let site = Site::new(file.nodes.count.min(topology.nodes()), file.nodes.cores(), &*topology);
        if let Some(name) = self.rank_file {
            let list = Source::read(&folder.join(name)).map_err(Diagnostics::from);
            match list.and_then(|source| rank_file::read(&source, &site)) {
                Ok(list) => file.plan.policy = Policy::List(list),
                Err(problems) => fail(reader, "placement.rank-file", problems),
            }
        }
        if let Some(text) = self.allocation {
            match Allocation::read(text, folder, self.seed, &site) {
                Ok(allocation) => file.plan.allocation = Some(allocation),
                Err(problems) => fail(reader, "placement.allocation", problems),
            }
        }
    }
}

/// What is wrong has a place in another file, or else it is the value of the key.
fn fail(reader: &mut Reader, key: &str, problems: Diagnostics) {
    for problem in problems.iter() {
        match problem.place {
            Some(_) => reader.fail_elsewhere(key, problem.clone()),
            None => reader.fail(key, &problem.message, &problem.remedy),
        }
    }
}

fn read_plan<'t>(reader: &mut Reader, section: &mut Section<'t>, nodes: &Nodes) -> (Plan, Places<'t>) {
    if !section.exists() {
        reader.assumed.push("placement.policy = block".into());
        reader.assumed.push(format!("placement.ranks-per-node = {}", nodes.cores()));
        return (Plan::default(), Places::default());
    }
    let rank_file = section.text(reader, "rank-file");
    let allocation = section.text(reader, "allocation");
    let words = ["block", "cyclic", "random", "list", "by-switch", "spread-switches"].map(|word| (word, word));
    let mut word = section.choice(reader, "policy", &words);
    if rank_file.is_some() {
        if word.is_some_and(|word| word != "list") {
            let remedy = "write one of them: `rank-file` places every rank";
            reader.fail("placement.policy", "both `policy` and `rank-file` say where ranks are", remedy);
        }
        word = Some("block");
    }
    let mut seed = 0;
    if word == Some("random") || allocation.is_some_and(Allocation::is_drawn) {
        let given = section.whole(reader, "seed");
        seed = section.needed(reader, "seed", given, "seed = 1");
    }
    let policy = match section.needed(reader, "policy", word, "policy = \"block\"") {
        "cyclic" => Policy::Cyclic,
        "random" => Policy::Random { seed },
        "list" => {
            let list = section.wholes(reader, "nodes", "[0, 0, 1, 1]");
            Policy::List(section.needed(reader, "nodes", list, "nodes = [0, 0, 1, 1]"))
        }
        "by-switch" => Policy::BySwitch,
        "spread-switches" => Policy::SpreadSwitches,
        _ => Policy::Block,
    };
    let plan = Plan {
        policy,
        allocation: None,
        ranks_per_node: section.whole(reader, "ranks-per-node"),
        oversubscribe: section.flag(reader, "oversubscribe").unwrap_or(false),
    };
    (plan, Places { rank_file, allocation, seed })
}
