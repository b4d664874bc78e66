use super::*;
use crate::machine::Cost;

/// A fat tree of 2 leaves with 4 nodes each and 2 cores; two ports for nodes stay empty.
const PRICED: &str = r#"
name = "priced"
[nodes]
count = 6
cores-per-socket = 2
[network]
topology = "fat-tree"
shape = "2; 4,2; 1,2; 1,1"
unused-ports = 2
bandwidth = "10 GB/s"
latency = "90 ns"
[cost]
currency = "EUR"
energy-price = 0.5
port = { price = 100, power = "10 W" }
node = { power = "400 W" }
switches = [{ kind = "leaf", price = 1000, power = "100 W" }, { ports = 2, price = 500, power = "50 W" }]
cables = [{ class = "copper", up-to = "3 m", price = 10, per-metre = 5 }, { class = "optical", price = 50, per-metre = 1 }]
[cost.lengths]
level-1 = "2 m"
level-2 = "20 m"
"#;

fn cost(text: &str) -> Result<Cost, Vec<String>> {
    let machine = good(text).build().unwrap();
    Cost::of(&machine)
        .map_err(|problems| problems.iter().map(|p| format!("{}: {}; {}", p.key, p.message, p.remedy)).collect())
}

#[test]
fn parts_are_counted_and_added_up() {
    let cost = cost(PRICED).unwrap();
    let items: Vec<_> = cost.items.iter().map(|item| (item.name.as_str(), item.count, item.price)).collect();
    let expected = [
        ("node", 6, 0.0),
        ("port", 6, 600.0),
        ("core switch, 2 cables", 2, 1000.0),
        // Of the second leaf two ports are empty.
        ("leaf switch, 4 cables", 1, 1000.0),
        ("leaf switch, 6 cables", 1, 1000.0),
        ("copper cable, 2 m", 6, 120.0),
        ("optical cable, 20 m", 4, 280.0),
    ];
    assert_eq!(items, expected);
    assert_eq!(cost.price(), 4000.0);
    assert_eq!(cost.power().unwrap().get(), 6.0 * 410.0 + 2.0 * 50.0 + 2.0 * 100.0);
    assert!((cost.energy_a_year().unwrap() - 2.76 * 365.25 * 24.0 * 0.5).abs() < 1e-6);
    // Two leaves with two cables up each: 20 GB/s from one half to the other.
    assert_eq!(cost.price_per_bisection(), Some(200.0));
    assert_eq!(cost.assumed, ["price of a node = 0 EUR (not given)"]);
}

#[test]
fn what_is_missing_is_told() {
    let lacks = |old: &str, new: &str| cost(&PRICED.replacen(old, new, 1)).unwrap_err().join("\n");
    assert!(lacks("level-2 = \"20 m\"", "").contains("cost.lengths: no length for 4 cables of the kind `level-2`"));
    assert!(lacks("level-2", "level-3").contains("kinds of cables in this network: level-1, level-2"));
    assert!(lacks("{ ports = 2", "{ ports = 1").contains("no price for 2 switches `core` with 2 cables each"));
    assert!(lacks("class = \"optical\", ", "class = \"optical\", up-to = \"10 m\", ").contains("no cable is as long"));
    let without = PRICED.split("[cost]").next().unwrap();
    assert!(cost(without).unwrap_err()[0].contains("no section [cost]"));
    // Power that nobody gives is none, and that is said.
    let unknown = cost(&PRICED.replace(", power = \"100 W\"", "")).unwrap();
    assert!(unknown.assumed.iter().any(|line| line.contains("power of leaf switch, 4 cables = 0 W")));
}

#[test]
fn kinds_of_links_and_switches() {
    let kinds = |lines: &str| {
        let text = format!(
            "name = 'k'\nnodes.cores-per-socket = 1\n[network]\nbandwidth = '1 GB/s'\nlatency = '1 us'\n{lines}\n[cost]\ncurrency = 'x'"
        );
        cost(&text).unwrap_err().join("\n")
    };
    let plus = kinds(
        "topology = 'dragonfly+'\ngroups = 3\nleaves-per-group = 2\nspines-per-group = 2\nnodes-per-leaf = 2\nglobal-cables-per-spine = 1",
    );
    for part in [
        "6 switches `leaf`",
        "6 switches `spine`",
        "12 cables of the kind `node-link`",
        "3 cables of the kind `global-link`",
    ] {
        assert!(plus.contains(part), "{part} not in {plus}");
    }
    let mesh = kinds("topology = 'full-mesh'\nswitches = 3\nnodes-per-switch = 2\nduplex = 'shared'");
    assert!(mesh.contains("3 switches `switch` with 4 cables") && mesh.contains("3 cables of the kind `switch-link`"));
    let torus = kinds("topology = 'torus'\ndimensions = [3, 3]\nloopback = { bandwidth = '1 GB/s', latency = '0 s' }");
    assert!(torus.contains("18 cables of the kind `node-node`"), "{torus}");
}
