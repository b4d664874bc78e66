use super::*;

/// The small machine with one piece of text replaced.
fn with(old: &str, new: &str) -> String {
    assert!(SMALL.contains(old), "{old}");
    SMALL.replacen(old, new, 1)
}

/// Asserts that the text is refused at this line and column, with this in the message.
fn refused(text: &str, position: (usize, usize), parts: &[&str]) {
    let errors = parse(text).unwrap_err();
    let shown = errors.to_string();
    assert!(errors.iter().any(|error| error.position() == Some(position)), "not at {position:?}:\n{shown}");
    for part in parts {
        assert!(shown.contains(part), "`{part}` is missing in\n{shown}");
    }
    assert!(errors.iter().all(|error| !error.remedy.is_empty()), "no remedy in\n{shown}");
}

#[test]
fn the_message_is_complete() {
    let text = parse(&with("\"100 Gbit/s\"", "12.5")).unwrap_err().to_string();
    let expected = "\
error: `bandwidth` has no unit
 --> machine.toml:8:13
  |
8 | bandwidth = 12.5
  |             ^^^^
  |
  = help: write `bandwidth = \"12.5 GB/s\"`: a bare number has no unit";
    assert_eq!(text, expected);
}

#[test]
fn units() {
    refused(&with("100 Gbit/s", "12.5"), (8, 13), &["has no unit", "bandwidth = \"12.5 GB/s\""]);
    refused(&with("100 Gbit/s", "100 Gb/s"), (8, 13), &["ambiguous", "`100 GB/s` or `100 Gbit/s`"]);
    refused(&with("100 Gbit/s", "100 GB"), (8, 13), &["`GB` is a unit of size, not of bandwidth"]);
    refused(&with("\"90 ns\"", "true"), (9, 11), &["`latency` cannot be true or false"]);
    refused(&with("count = 4", "count = \"4\""), (4, 9), &["must be a whole number, not a text"]);
    refused(&with("count = 4", "count = 4.5"), (4, 9), &["must be a whole number"]);
    refused(&with("count = 4", "count = -4"), (4, 9), &["is negative"]);
    refused(&with("count = 4", "count = 99999999999"), (4, 9), &["too large"]);
}

/// A value that stands for all levels of a tree and cannot be read is not wrong at each level besides.
#[test]
fn one_mistake_is_told_once() {
    let text = SMALL_TREE.replace("bandwidth = \"10 GB/s\"", "bandwidth = \"40 ms\"");
    assert_ne!(text, SMALL_TREE);
    let errors = parse(&text).unwrap_err();
    assert_eq!(errors.iter().count(), 1, "{errors}");
}

const SMALL_TREE: &str = r#"
name = "tree"
[nodes]
count = 4
cores-per-socket = 1
[network]
topology = "fat-tree"
shape = "2; 2,2; 1,2; 1,1"
bandwidth = "10 GB/s"
latency = "1 us"
"#;

#[test]
fn impossible_values() {
    refused(&with("90 ns", "-90 ns"), (9, 11), &["the latency is negative", "zero or more"]);
    refused(&with("100 Gbit/s", "0 Gbit/s"), (8, 13), &["impossible", "greater than zero"]);
    refused(&with("100 Gbit/s", "-1 Gbit/s"), (8, 13), &["negative"]);
    refused(&with("100 Gbit/s", "1e999 Gbit/s"), (8, 13), &["too large"]);
    refused(&with("count = 4", "count = 0"), (4, 9), &["out of range", "1 to 100,000,000"]);
    refused(&format!("{SMALL}\n[io]\nbandwidth = \"0 B/s\"\n"), (SMALL.lines().count() + 3, 13), &["impossible"]);
    refused(&with("count = 4", "count = 4000000000"), (4, 9), &["out of range"]);
    refused(&with("cores-per-socket = 2", "cores-per-socket = 0"), (5, 20), &["out of range"]);
    refused(&with("count = 4", "count = 4\nmemory = \"0 B\""), (5, 10), &["impossible"]);
    refused(
        &with("count = 4", "count = 4\nflops = \"1 Gflop/s\"\nsustained-flops = \"2 Gflop/s\""),
        (6, 19),
        &["above the peak"],
    );
}

#[test]
fn unknown_keys() {
    refused(&with("bandwidth", "bandwith"), (8, 1), &["unknown key `bandwith`", "did you mean `bandwidth`?"]);
    refused(&with("latency", "colour"), (9, 1), &["unknown key `colour`", "may have backbone, bandwidth"]);
    refused(&with("[nodes]", "[node]"), (3, 2), &["unknown key `node` in a machine file", "did you mean `nodes`?"]);
    refused(&format!("{SMALL}dimensions = [2, 2]"), (10, 1), &["unknown key `dimensions` in `network`"]);
    refused(&with("crossbar", "crosbar"), (7, 12), &["`crosbar` is no topology", "did you mean `\"crossbar\"`?"]);
    refused(&with("crossbar", "star"), (7, 12), &["\"crossbar\"` or `\"fat-tree\"` or"]);
}

#[test]
fn missing_keys() {
    refused(&with("latency = \"90 ns\"", ""), (6, 1), &["`network.latency` is missing", "add `latency = \"90 ns\"`"]);
    refused(&with("count = 4", ""), (3, 1), &["`nodes.count` is missing"]);
    refused("name = \"x\"", (1, 1), &["no section [nodes]", "no section [network]"]);
    refused("", (1, 1), &["`name` is missing"]);
}

#[test]
fn several_errors_at_once_in_order() {
    let text = with("100 Gbit/s", "100").replace("90 ns", "-1 ns").replace("count = 4", "cuont = 4");
    let errors = parse(&text).unwrap_err();
    let lines: Vec<_> = errors.iter().filter_map(|error| error.position()).map(|(line, _)| line).collect();
    assert_eq!(lines, [3, 4, 8, 9], "{errors}");
}

#[test]
fn syntax() {
    refused(&with("count = 4", "count = "), (4, 9), &["not TOML"]);
    refused(&with("[network]", "[network"), (6, 9), &["not TOML"]);
    refused(&format!("{SMALL}latency = \"1 ns\""), (10, 1), &["duplicate key"]);
}

fn fat_tree(lines: &str) -> String {
    with("topology = \"crossbar\"", &format!("topology = \"fat-tree\"\n{lines}"))
}

#[test]
fn fat_trees_that_do_not_add_up() {
    let shape = "shape = \"2; 2,2; 1,2; 1,1\"";
    good(&fat_tree(shape));
    refused(
        &fat_tree("shape = \"2; 2,4; 1,2; 1,1\""),
        (4, 9),
        &["has ports for 8 nodes, but there are 4 nodes and 0 unused ports", "`unused-ports = 4`"],
    );
    good(&fat_tree("shape = \"2; 2,4; 1,2; 1,1\"\nunused-ports = 4"));
    refused(&fat_tree("shape = \"2; 2,4; 1,2; 1,1\"\nunused-ports = 3"), (4, 9), &["`unused-ports = 4`"]);
    refused(&fat_tree("shape = \"2; 2,1; 1,2; 1,1\""), (4, 9), &["has ports for 2 nodes, but there are 4"]);
    refused(&fat_tree("shape = \"2; 2,2; 1,2; 1\""), (8, 9), &["2 levels, but 1 numbers of parallel cables"]);
    refused(&fat_tree("shape = \"2; 2,x; 1,2; 1,1\""), (8, 9), &["`x` is not a whole number"]);
    refused(
        &fat_tree(&format!("{shape}\nswitch-ports = [3, 4]")),
        (8, 9),
        &["a leaf switch needs 2 ports down and 2 up, 4 in all, but has 3"],
    );
    refused(&fat_tree(&format!("{shape}\nswitch-ports = [4]")), (9, 16), &["1 numbers of ports", "2 levels"]);
    let one = "{ bandwidth = \"1 GB/s\", latency = \"1 us\" }";
    let three = format!("{shape}\nlevels = [{one}, {one}, {one}]");
    let text = fat_tree(&three).replace("bandwidth = \"100 Gbit/s\"\nlatency = \"90 ns\"\n", "");
    refused(&text, (9, 10), &["3 kinds of links for a fat tree of 2 levels"]);
    refused(&fat_tree(&three), (10, 13), &["`bandwidth` beside `levels`", "remove one of the two"]);
    refused(&fat_tree(""), (6, 1), &["`network.shape` is missing"]);
}

#[test]
fn one_mistake_in_the_links_of_all_levels_is_told_once() {
    let text = fat_tree("shape = \"2; 2,2; 1,2; 1,1\"").replace("90 ns", "-90 ns");
    refused(&text, (10, 11), &["the latency is negative"]);
    assert_eq!(parse(&text).unwrap_err().iter().count(), 1);
}

#[test]
fn negative_latency_of_a_level() {
    let levels = "levels = [{ bandwidth = \"1 GB/s\", latency = \"-1 us\" }]";
    let text = fat_tree(&format!("shape = \"1; 4; 1; 1\"\n{levels}"))
        .replace("bandwidth = \"100 Gbit/s\"\nlatency = \"90 ns\"\n", "");
    refused(&text, (9, 45), &["the latency is negative"]);
}

#[test]
fn tori_and_graphs() {
    let mesh = |lines: &str| with("topology = \"crossbar\"", &format!("topology = \"mesh\"\n{lines}"));
    refused(&mesh("dimensions = [2, 2]"), (6, 1), &["no switch", "loopback ="]);
    let loopback = "loopback = { bandwidth = \"1 GB/s\", latency = \"1 us\" }";
    good(&mesh(&format!("dimensions = [2, 2]\n{loopback}")));
    refused(&mesh(&format!("dimensions = [2, 0]\n{loopback}")), (8, 14), &["at least 1"]);
    refused(&mesh(&format!("dimensions = [2, \"2\"]\n{loopback}")), (8, 18), &["whole number"]);
    refused(&mesh(&format!("dimensions = [100000, 100000]\n{loopback}")), (8, 14), &["make it smaller"]);
    let graph =
        |value: &str| format!("name = 'g'\n[nodes]\ncores-per-socket = 1\n[network]\ntopology = 'graph'\n{value}\n");
    refused(&graph("file = 'nowhere.graph'"), (6, 8), &["cannot read `nowhere.graph`", "no such file"]);
    refused(&graph("graph = '''\nnode a b\nlink a -- c 1 GB/s 1 us\n'''"), (8, 11), &["`c` is neither"]);
    refused(&graph("graph = 'node a b'"), (6, 9), &["no way from node"]);
}

fn switched(lines: &str) -> String {
    with("topology = \"crossbar\"", lines)
}

#[test]
fn hypercubes_and_meshes_of_switches() {
    let loopback = "loopback = { bandwidth = \"1 GB/s\", latency = \"1 us\" }";
    let cube = |lines: &str| switched(&format!("topology = \"hypercube\"\n{lines}"));
    good(&cube(&format!("dimension = 2\n{loopback}")));
    refused(&cube("dimension = 2"), (6, 1), &["nodes of a hypercube have no switch", "loopback ="]);
    refused(&cube(&format!("dimension = 3\n{loopback}")), (4, 9), &["has ports for 8 nodes, but there are 4"]);
    refused(&cube(&format!("dimension = 40\n{loopback}")), (8, 13), &["more than 4,294,967,295 links"]);
    refused(&cube(&format!("dimension = 0\n{loopback}")), (8, 13), &["out of range"]);
    refused(&cube(&format!("dimension = 2\ncables = 0\n{loopback}")), (9, 10), &["out of range"]);
    refused(&cube(loopback), (6, 1), &["`network.dimension` is missing", "add `dimension = 10`"]);

    let mesh = |lines: &str| switched(&format!("topology = \"full-mesh\"\n{lines}"));
    good(&mesh("switches = 2\nnodes-per-switch = 2\ncables = 4"));
    refused(&mesh("switches = 2"), (6, 1), &["`network.nodes-per-switch` is missing"]);
    refused(&mesh("switches = 0\nnodes-per-switch = 2"), (8, 12), &["out of range"]);
    refused(&mesh("switches = 100000\nnodes-per-switch = 2"), (8, 12), &["make it smaller"]);
    refused(&mesh("switches = 2\nnodes-per-switch = 1"), (4, 9), &["has ports for 2 nodes, but there are 4"]);

    let hyperx = |lines: &str| switched(&format!("topology = \"hyperx\"\nnodes-per-switch = 1\n{lines}"));
    good(&hyperx("dimensions = [2, 2]\ncables = [1, 2]"));
    refused(&hyperx("dimensions = [2, 2]\ncables = [1]"), (10, 10), &["1 numbers of cables", "each dimension"]);
    refused(&hyperx("dimensions = [2, 2]\ncables = [1, 0]"), (10, 10), &["out of range"]);
    refused(&hyperx("dimensions = [2, 0]"), (9, 14), &["at least 1"]);
    refused(
        &hyperx("dimensions = []"),
        (9, 14),
        &["at least one dimension", "write for instance `dimensions = [8, 8]`"],
    );
    refused(&hyperx("dimensions = [2, 2]\nshape = \"2\""), (10, 1), &["unknown key `shape`"]);
}

#[test]
fn dragonflies_and_slim_flies() {
    let dragonfly = |groups: u32, lines: &str| {
        let figures = "switches-per-group = 2\nnodes-per-switch = 1\nglobal-cables-per-switch = 1";
        switched(&format!("topology = \"dragonfly\"\ngroups = {groups}\n{figures}\n{lines}"))
    };
    good(&dragonfly(2, ""));
    good(&dragonfly(2, "arrangement = \"palm-tree\"\nrouting = \"minimal\""));
    refused(&dragonfly(4, ""), (8, 10), &["each of 4 groups", "has ports for 2", "write at most 3 groups"]);
    refused(&dragonfly(3, ""), (4, 9), &["has ports for 6 nodes, but there are 4"]);
    refused(&dragonfly(0, ""), (8, 10), &["out of range"]);
    refused(&dragonfly(2, "arrangement = \"relativ\""), (12, 15), &["`relativ` is no arrangement", "did you mean"]);
    refused(&dragonfly(2, "global-link = { latency = \"1 us\" }"), (12, 15), &["global-link.bandwidth` is missing"]);
    let missing = dragonfly(2, "").replace("nodes-per-switch = 1\n", "");
    refused(&missing, (6, 1), &["`network.nodes-per-switch` is missing"]);

    let plus = |groups: u32| {
        let figures = "leaves-per-group = 2\nspines-per-group = 1\nnodes-per-leaf = 1\nglobal-cables-per-spine = 2";
        switched(&format!("topology = \"dragonfly+\"\ngroups = {groups}\n{figures}"))
    };
    good(&plus(2));
    refused(&plus(4), (8, 10), &["write at most 3 groups"]);

    let slim_fly = |q: u32| switched(&format!("topology = \"slim-fly\"\nq = {q}\nnodes-per-switch = 1"));
    good(&slim_fly(3).replace("count = 4", "count = 18"));
    good(&slim_fly(4).replace("count = 4", "count = 32"));
    refused(&slim_fly(6), (8, 5), &["6 is not a power of a prime", "write 5 or 7"]);
    refused(&slim_fly(100_003), (8, 5), &["make it smaller"]);
    refused(&slim_fly(5), (4, 9), &["has ports for 50 nodes, but there are 4"]);
}

#[test]
fn stages_in_one_direction() {
    let clos = |lines: &str| switched(&format!("topology = \"clos\"\n{lines}"));
    good(&clos("middle-switches = 3\nnodes-per-switch = 2\nedge-switches = 2"));
    refused(&clos("middle-switches = 3\nnodes-per-switch = 2"), (6, 1), &["`network.edge-switches` is missing"]);
    refused(&clos("middle-switches = 0\nnodes-per-switch = 2\nedge-switches = 2"), (8, 19), &["out of range"]);
    refused(&clos("middle-switches = 99999\nnodes-per-switch = 2\nedge-switches = 99999"), (10, 17), &["smaller"]);
    refused(&clos("middle-switches = 1\nnodes-per-switch = 3\nedge-switches = 2"), (4, 9), &["has ports for 6 nodes"]);
    let duplex = "middle-switches = 3\nnodes-per-switch = 2\nedge-switches = 2\nduplex = \"split\"";
    refused(&clos(duplex), (11, 1), &["unknown key `duplex`"]);
    let gamma = |lines: &str| switched(&format!("topology = \"gamma\"\n{lines}"));
    good(&gamma("dimension = 2"));
    refused(&gamma("dimension = 0"), (8, 13), &["out of range"]);
    refused(&gamma("dimension = 26"), (8, 13), &["make it smaller"]);
    refused(&gamma("dimension = 3"), (4, 9), &["has ports for 8 nodes, but there are 4"]);
}

#[test]
fn planes_and_damage() {
    let tree = |lines: &str| fat_tree(&format!("shape = \"2; 2,2; 1,2; 1,1\"\n{lines}"));
    good(&tree("planes = 2"));
    refused(&tree("planes = 0"), (9, 10), &["out of range"]);
    refused(&tree("planes = 2\nplane-choice = \"sauce\""), (10, 16), &["did you mean `\"source\"`?"]);
    refused(&tree("plane-choice = \"source\""), (9, 1), &["unknown key `plane-choice`"]);
    good(&tree("failed = [\"core 1\", \"leaf 0 -> core 1\"]"));
    refused(&tree("failed = [\"core 1\", \"leaf 0 -> cor 0\"]"), (9, 21), &["write `leaf 0 -> core 0`"]);
    refused(&tree("failed = [\"node 1\"]"), (9, 11), &["`node 1` is a node", "remove it"]);
    refused(&tree("failed = [\"leaf 1\"]"), (9, 10), &["the machine is cut", "2 of 4 nodes", "`node 2`"]);
    refused(&tree("failed = [3]"), (9, 11), &["must hold texts"]);
    refused(
        &tree("planes = 2\nfailed = [\"core 1\"]"),
        (10, 11),
        &["neither a link nor a switch", "is called `core 1`"],
    );
}

#[test]
fn missing_top_switches() {
    let tree = |lines: &str| fat_tree(&format!("shape = \"2; 2,2; 1,2; 1,1\"\n{lines}"));
    good(&tree("missing = [\"core 1\"]"));
    good(&tree("missing = 1"));
    refused(&tree("missing = 2"), (9, 11), &["all 2 switches at the top are missing", "leave at least one"]);
    refused(&tree("missing = [\"core 2\"]"), (9, 12), &["`core 2` is no switch at the top", "core 0 to core 1"]);
    refused(&tree("missing = [\"leaf 0\"]"), (9, 12), &["`leaf 0` is no switch at the top"]);
    refused(&tree("missing = [\"core 0\", \"core 0\"]"), (9, 22), &["is there twice"]);
    refused(&tree("missing = \"core 0\""), (9, 11), &["whole number"]);
    refused(&tree("missing = -1"), (9, 11), &["is negative"]);
}

#[test]
fn tapered_fat_trees() {
    good(&fat_tree("down = [2, 2]"));
    good(&fat_tree("down = [2, 2]\noversubscription = [2]"));
    refused(&fat_tree("down = [2, 2]\noversubscription = [3]"), (9, 20), &["cannot be divided by 3"]);
    refused(&fat_tree("down = [2, 2]\noversubscription = [1, 1]"), (9, 20), &["2 ratios for 1 levels"]);
    refused(&fat_tree("down = [2, 0]"), (8, 8), &["at least 1"]);
    refused(&fat_tree("down = []"), (8, 8), &["1 to 8 levels"]);
    refused(&fat_tree("down = [2, 2]\nshape = \"1;4;1;1\""), (9, 1), &["unknown key `shape`"]);
    refused(&fat_tree("shape = \"1;4;1;1\"\noversubscription = [2]"), (9, 1), &["unknown key `oversubscription`"]);
}

#[test]
fn mistakes_in_kinds_of_links() {
    let mesh =
        |lines: &str| switched(&format!("topology = \"full-mesh\"\nswitches = 2\nnodes-per-switch = 2\n{lines}"));
    refused(&mesh("node-link = { bandwidth = \"1 GB/s\", latency = \"-1 us\" }"), (10, 47), &["is negative"]);
    refused(&mesh("node-link = { bandwidth = \"1 GB/s\" }"), (10, 13), &["`network.node-link.latency` is missing"]);
    refused(&mesh("node-link = 3"), (10, 13), &["node-link"]);
    let text = mesh("").replace("90 ns", "-90 ns");
    refused(&text, (12, 11), &["the latency is negative"]);
    assert_eq!(parse(&text).unwrap_err().iter().count(), 1);
    let link = "{ bandwidth = \"1 GB/s\", latency = \"1 us\" }";
    let all = mesh(&format!("node-link = {link}\nswitch-link = {link}"));
    refused(&all, (12, 1), &["unknown key `bandwidth`"]);
}

#[test]
fn mpi_parameters() {
    let mpi = |lines: &str| format!("{SMALL}[mpi]\n{lines}");
    refused(&mpi("eager-below = \"64 kB\"\ndetached-below = \"1 kB\""), (12, 18), &["below `eager-below`"]);
    refused(&mpi("probe = \"-1 us\""), (11, 9), &["duration is negative"]);
    refused(&mpi("between.send = \"-1 us\""), (11, 16), &["not zero or more"]);
    refused(&mpi("between.bandwidth-factor = 0"), (11, 28), &["not greater than zero"]);
    refused(&mpi("between.bandwidth-factor = \"0.5\""), (11, 28), &["plain number, not a text"]);
    refused(&mpi("between.send = [{ above = \"0 B\", base = 1 }]"), (11, 41), &["`base` has no unit"]);
    refused(&mpi("between.send = []"), (11, 16), &["is empty"]);
    let falling = "between.send = [{ above = \"0 B\", base = \"1 us\", per-byte = \"-1 ps\" }]";
    refused(&mpi(falling), (11, 17), &["for all sizes"]);
    let pieces = "between.send = [{ above = \"9 B\", base = \"1 us\" }, { above = \"1 B\", base = \"1 us\" }]";
    refused(&mpi(pieces), (11, 61), &["ascending"]);
    refused(&mpi(&pieces.replace("1 B", "9 B")), (11, 61), &["two pieces start above 9 B"]);
}

#[test]
fn price_tables() {
    let priced = |lines: &str| format!("{SMALL}[cost]\n{lines}");
    good(&priced("currency = \"EUR\""));
    refused(&priced("energy-price = 0.2"), (10, 1), &["`cost.currency` is missing", "add `currency = \"EUR\"`"]);
    let words = |lines: &str| priced(&format!("currency = \"EUR\"\n{lines}"));
    refused(&words("energy-price = -1"), (12, 16), &["the price is negative"]);
    refused(&words("energy-price = \"0.2 EUR\""), (12, 16), &["must be a plain number"]);
    refused(&words("port = { price = 3, power = 20 }"), (12, 29), &["`power` has no unit", "20 W"]);
    refused(&words("port = { cost = 3 }"), (12, 10), &["unknown key `cost`"]);
    refused(&words("switches = [{ kind = \"leaf\" }]"), (12, 13), &["`cost.switches[0].price` is missing"]);
    refused(&words("cables = [{ class = \"copper\", price = 1, up-to = \"0 m\" }]"), (12, 50), &["impossible"]);
    refused(&words("lengths.link = \"2 W\""), (12, 16), &["`W` is a unit of power, not of length"]);
    refused(&words("prices = 3"), (12, 1), &["unknown key `prices`"]);
}

#[test]
fn flows() {
    let flow = |lines: &str| format!("{SMALL}[network.flow]\n{lines}");
    refused(&flow("cross-traffic = 1.5"), (11, 17), &["impossible", "0.05"]);
    refused(&flow("weight-s = 8775"), (11, 12), &["`weight-s` has no unit"]);
    refused(&flow("factor = \"bond\""), (11, 10), &["did you mean"]);
}

#[test]
fn placements() {
    let place = |lines: &str| format!("{SMALL}[placement]\n{lines}");
    good(&place("policy = \"cyclic\"\nranks-per-node = 2"));
    refused(&place("policy = \"block\"\nranks-per-node = 3"), (12, 18), &["has 2 cores", "oversubscription"]);
    good(&place("policy = \"block\"\nranks-per-node = 3\noversubscribe = true"));
    refused(&place("policy = \"random\""), (10, 1), &["`placement.seed` is missing"]);
    refused(&place("policy = \"list\"\nnodes = [0, 4]"), (12, 9), &["node 4", "numbered 0 to 3"]);
    refused(&place("policy = \"list\"\nnodes = [1, 1, 1]"), (12, 9), &["3 ranks on a node that has 2 cores"]);
    refused(&place("policy = \"spread\""), (11, 10), &["`spread` is no policy"]);
}

#[test]
fn a_file_that_is_not_there() {
    let error = MachineFile::load(Path::new("nowhere/machine.toml")).unwrap_err().to_string();
    assert!(error.contains("cannot read `nowhere/machine.toml`: there is no such file"), "{error}");
    assert!(error.contains("help: check the name"), "{error}");
}

#[test]
fn problems_of_imported_files_name_the_key() {
    let mut file = good(SMALL);
    file.nodes.count = 0;
    let error = file.build().unwrap_err().to_string();
    assert!(error.contains("nodes.count: 0 is out of range"), "{error}");
}
