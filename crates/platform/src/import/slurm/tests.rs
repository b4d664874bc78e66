use super::*;
use crate::machine::{Figures, Wiring};

const TREE: &str = include_str!("../../../tests/imported/tree.conf");

fn unsaid() -> Unsaid {
    Unsaid { bandwidth: Some(Bandwidth::new(25e9)), ..Unsaid::default() }
}

fn read(text: &str) -> Result<Import, Diagnostics> {
    import(&Source::new("topology.conf", text), &unsaid())
}

fn good(text: &str) -> Import {
    read(text).unwrap_or_else(|errors| panic!("{errors}"))
}

fn graph(import: &Import) -> &str {
    let Wiring::Graph { text, .. } = &import.machine.network.wiring else { panic!("not a graph") };
    text
}

fn refused(text: &str, position: (usize, usize), parts: &[&str]) {
    let errors = read(text).unwrap_err();
    let shown = errors.to_string();
    assert!(errors.iter().any(|error| error.position() == Some(position)), "not at {position:?}:\n{shown}");
    assert!(parts.iter().all(|part| shown.contains(part)), "{parts:?} not in\n{shown}");
    assert!(errors.iter().all(|error| !error.remedy.is_empty()), "no remedy in\n{shown}");
}

/// As in the documentation of Slurm, where every line has one.
#[test]
fn speeds_without_units_are_one_warning() {
    let text = "SwitchName=s0 Nodes=tux[0-3] LinkSpeed=900\nSwitchName=s1 Nodes=tux[4-7] LinkSpeed=900\n\
        SwitchName=s2 Switches=s[0-1] LinkSpeed=1800\nSwitchName=s3 Switches=s[0-1] LinkSpeed=1800\n";
    let import = good(text);
    let speeds: Vec<_> = import.warnings.iter().filter(|warning| warning.message.contains("LinkSpeed")).collect();
    let [warning] = &speeds[..] else { panic!("{}", import.warnings) };
    assert!(warning.message.contains("`900` is not used, nor those of 3 other lines"), "{}", warning.message);
    assert_eq!(warning.position(), Some((1, 40)));
}

#[test]
fn a_tree() {
    let import = good(TREE);
    let figures = Figures::of(&import.machine.build().unwrap());
    assert_eq!((figures.nodes, figures.switches, figures.cables, figures.diameter), (8, 3, 10, 4));
    let text = graph(&import);
    for line in ["node gpu07", "switch s2", "link tux0 -- s0 12.5 GB/s 100 ns", "link tux4 -- s1 25 GB/s 100 ns"] {
        assert!(text.lines().any(|other| other == line), "{line} not in\n{text}");
    }
    let warnings = import.warnings.to_string();
    for part in ["LinkSpeed `900` is not used", "6 of 10 cables tell no speed", "100 ns a cable is assumed"] {
        assert!(warnings.contains(part), "{part} not in\n{warnings}");
    }
}

#[test]
fn several_switches_above_one() {
    let import =
        good("SwitchName=a Nodes=n0\nSwitchName=b Nodes=n1\nSwitchName=c Switches=a,b\nSwitchName=d Switches=a,b");
    assert_eq!(Figures::of(&import.machine.build().unwrap()).cables, 6);
}

#[test]
fn blocks() {
    let import = good(include_str!("../../../tests/imported/blocks.conf"));
    let figures = Figures::of(&import.machine.build().unwrap());
    // Three blocks, two pairs of blocks (one of them half empty), one switch on top.
    assert_eq!((figures.nodes, figures.switches, figures.cables), (12, 6, 12 + 3 + 2));
    assert!(graph(&import).contains("link b3 -- block-of-8-1 "), "{}", graph(&import));
    assert_eq!(Figures::of(&good("BlockName=b Nodes=n[1-3]").machine.build().unwrap()).switches, 1);
}

#[test]
fn mistakes_have_a_place_and_a_remedy() {
    refused("SwitchName=s0 Nodes", (1, 15), &["not `Key=Value`"]);
    refused("SwitchName=s0 Nodes=\"a", (1, 21), &["not `Key=Value`"]);
    refused("SwitchName=s0 Node=a", (1, 15), &["unknown key `Node`", "did you mean `Nodes`?"]);
    refused("SwitchName=s0 Nodes=a\nSwichName=s1 Nodes=b", (2, 1), &["did you mean `SwitchName`?"]);
    refused("SwitchName=s0 Nodes=a Nodes=b", (1, 23), &["twice"]);
    refused("SwitchName=s0 Nodes=a,b[3-1]", (1, 23), &["`b[3-1]` is not a list of names"]);
    refused("SwitchName=s0 Nodes=a,\\\n\\\nb[3-1]", (1, 23), &["`b[3-1]` is not a list of names"]);
    refused("SwitchName=s0 Nodes=a[0-9999999]", (1, 21), &["more than a million"]);
    refused("SwitchName=s0", (1, 12), &["neither nodes nor switches"]);
    refused("SwitchName=s0 Nodes=a\nSwitchName=s1 Nodes=b Switches=s0", (2, 12), &["both nodes and switches"]);
    refused("SwitchName=s0 Nodes=a\nSwitchName=s1 Switches=s[0-2]", (2, 24), &["no switch `s2`", "did you mean"]);
    refused("SwitchName=s0 Nodes=a\nSwitchName=s0 Nodes=b", (2, 12), &["`s0` is defined twice"]);
    refused("SwitchName=s0 Nodes=a\nSwitchName=s1 Nodes=a", (2, 21), &["node `a` is on `s0` already"]);
    refused("SwitchName=s0 Nodes=a,a", (1, 21), &["node `a` is listed twice"]);
    let looped = "SwitchName=s0 Nodes=a\nSwitchName=s1 Switches=s2,s0\nSwitchName=s2 Switches=s1";
    refused(looped, (2, 12), &["`s1` is below itself"]);
    refused("SwitchName=s1 Switches=s1", (1, 12), &["`s1` is below itself"]);
    refused("SwitchName=s0 Nodes=a\nBlockName=b Nodes=c", (1, 12), &["switches and blocks"]);
    refused("BlockName=b", (1, 11), &["has no nodes"]);
    refused("BlockName=b Nodes=a\nBlockName=b Nodes=c", (2, 11), &["block `b` is defined twice"]);
    refused("BlockName=b Nodes=a\nBlockSizes=4,12", (2, 12), &["12 nodes cannot be made of blocks of 4"]);
    refused("BlockName=b Nodes=a\nBlockSizes=x", (2, 12), &["`x` is not a size"]);
    refused("BlockName=b Nodes=a\nBlockSizes=4\nBlockSizes=4", (3, 12), &["twice"]);
    refused("BlockSizes=4", (1, 1), &["no nodes"]);
    refused(
        "SwitchName=s0 Nodes=a\nSwitchName=s1 Nodes=b,c",
        (1, 1),
        &["2 of 3 nodes", "from `a`, `b` is one of them"],
    );
}

#[test]
fn speeds_that_nobody_tells_are_asked_for() {
    let error = import(&Source::new("f", "SwitchName=s Nodes=a,b"), &Unsaid::default()).unwrap_err().to_string();
    assert!(error.contains("2 of 2 cables tell no speed") && error.contains("--bandwidth"), "{error}");
}
