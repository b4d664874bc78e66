use super::*;
use crate::machine::{Figures, Wiring};

/// Two leaves with two cables between them; a host with two adapters; a switch that can reduce data.
const FABRIC: &str = include_str!("../../../tests/imported/fabric.txt");

fn read(text: &str) -> Result<Import, Diagnostics> {
    import(&Source::new("fabric.txt", text), &Unsaid::default())
}

#[test]
fn a_fabric() {
    let import = read(FABRIC).unwrap_or_else(|errors| panic!("{errors}"));
    let figures = Figures::of(&import.machine.build().unwrap());
    assert_eq!((figures.nodes, figures.switches, figures.cables), (2, 2, 4));
    let Wiring::Graph { text, .. } = &import.machine.network.wiring else { panic!("not a graph") };
    let lines = [
        "node node2",
        "node node10",
        "switch leaf_one",
        "link node2 -- leaf_one 12.5 GB/s 100 ns",
        "link node2 -- leaf_two 6.818181818181818 GB/s 100 ns",
        "link leaf_one -- leaf_two 50 GB/s 100 ns   # 2 cables",
    ];
    for line in lines {
        assert!(text.lines().any(|other| other == line), "{line} not in\n{text}");
    }
    assert!(text.find("node node2\n") < text.find("node node10\n"), "by the value of numbers");
    let warnings = import.warnings.to_string();
    assert!(warnings.contains("part of a switch that reduces data") && warnings.contains("taken as one"), "{warnings}");
}

/// Printed by `ibnetdiscover -s -g` itself in a simulated network: two leaves, two cables from each to the spine, and a host with
/// two adapters, one of which has a port on either leaf.
#[test]
fn what_options_add_does_no_harm() {
    let printed = include_str!("../../../tests/imported/fabric-shown-in-groups.txt");
    let import = read(printed).unwrap_or_else(|errors| panic!("{errors}"));
    let figures = Figures::of(&import.machine.build().unwrap());
    assert_eq!((figures.nodes, figures.switches, figures.cables), (3, 3, 6));
    let Wiring::Graph { text, .. } = &import.machine.network.wiring else { panic!("not a graph") };
    for line in ["link node10 -- leaf-b 2 GB/s 100 ns   # 2 cables", "link node10 -- leaf-a 1 GB/s 100 ns"] {
        assert!(text.lines().any(|other| other == line), "{line} not in\n{text}");
    }
}

/// As the manual of ibnetdiscover shows it.
#[test]
fn quotation_marks_are_no_part_of_names() {
    let quoted =
        FABRIC.replace("\"node2 ", "\"'node2 ").replace("HCA-1\"", "HCA-1'\"").replace("mlx5_0\"", "mlx5_0'\"");
    let text = |text: &str| match read(text).unwrap_or_else(|errors| panic!("{errors}")).machine.network.wiring {
        Wiring::Graph { text, .. } => text,
        _ => panic!("not a graph"),
    };
    assert_ne!(quoted, FABRIC);
    assert_eq!(text(&quoted), text(FABRIC));
}

#[test]
fn lists_are_refused_by_name() {
    let lists = [
        "Switch\t : 0x0000000000200002 ports 36 devid 0x0 vendid 0x0 \"leaf\"\n",
        "CA     0  1 0x0000000000100022 4x SDR - SW     3  4 0x0000000000200002 ( 'node12 HCA-1' - 'leaf' )\n",
        "SW     3 36 0x0000000000200002 4x SDR                                    'leaf'\n",
    ];
    for list in lists {
        assert!(is_record(list), "{list}");
        let error = read(list).unwrap_err().to_string();
        assert!(
            error.contains("a list of ibnetdiscover") && error.contains("without options that make lists"),
            "{error}"
        );
    }
}

#[test]
fn mistakes_have_a_place_and_a_remedy() {
    let refused = |old: &str, new: &str, line: usize, part: &str| {
        assert!(FABRIC.contains(old), "{old}");
        let errors = read(&FABRIC.replacen(old, new, 1)).unwrap_err();
        let shown = errors.to_string();
        assert!(errors.iter().any(|error| error.position().is_some_and(|(at, _)| at == line)), "{line}\n{shown}");
        assert!(shown.contains(part) && errors.iter().all(|error| !error.remedy.is_empty()), "{part}\n{shown}");
    };
    refused("Switch\t36 \"S-a\"", "Swich\t36 \"S-a\"", 10, "no line of ibnetdiscover");
    refused("Switch\t36 \"S-a\"", "Switch\tx \"S-a\"", 10, "no line of ibnetdiscover");
    refused("Switch\t36 \"S-a\"", "# \"S-a\"", 11, "a port of no switch");
    refused("[3]\t\"S-b\"[3]", "[3]\t\"S-c\"[3]", 13, "no record of the switch \"S-c\"");
    refused("[3]\t\"S-b\"[3]", "[3]\t\"S-b\"[4]", 13, "does not lead back to port 3");
    refused("[3]\t\"S-b\"[3]", "[2]\t\"S-b\"[3]", 13, "port 2 of \"S-a\" is there twice");
    refused("Switch\t36 \"S-b\"", "Switch\t36 \"S-a\"", 17, "described twice");
}

#[test]
fn parts_without_a_way() {
    let lone = "Switch 2 \"S-1\"\n[1] \"H-1\"[1]\nCa 1 \"H-1\" # \"a\"\n[1] \"S-1\"[1]\n";
    let two = format!("{lone}{}", lone.replace("-1", "-2").replace("\"a\"", "\"b\""));
    let error = read(&two).unwrap_err().to_string();
    assert!(error.contains("the network is in parts") && error.contains("`b` is one of them"), "{error}");
    let error = read(lone).unwrap_err().to_string();
    assert!(error.contains("1 of 1 cables tell no speed"), "{error}");
}

#[test]
fn cables_without_use_and_hosts_without_names() {
    let odd = "Switch 3 \"S-1\" # \"s\"\n[1] \"H-1\"[1] # 4xEDR\n[2] \"S-1\"[3] # 4xEDR\n[3] \"S-1\"[2] # 4xEDR\n\
        [4] \"H-2\"[1] # 4xEDR\nCa 1 \"H-1\" # \"MT4115 ConnectX4 Mellanox Technologies\"\n[1] \"S-1\"[1] # 4xEDR\n\
        Ca 1 \"H-2\" # \"MT4115 ConnectX4 Mellanox Technologies\"\n[1] \"S-1\"[4] # 4xEDR\nRt 1 \"R-1\" # \"router\"\n";
    let import = read(odd).unwrap_or_else(|errors| panic!("{errors}"));
    assert_eq!(import.machine.nodes.count, 2, "adapters that tell no host are hosts of their own");
    let warnings = import.warnings.to_string();
    assert!(warnings.contains("with itself") && warnings.contains("router"), "{warnings}");
}
