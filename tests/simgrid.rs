//! hpcast against SimGrid: the same scripts on the same platforms finish at the same times.
//!
//! `tests/simgrid/golden.json` holds what SimGrid 3.32 says; `tests/simgrid/regenerate.sh` makes it anew.

use std::collections::BTreeMap;
use std::fs;

use hpcast_apps::script::Script;
use hpcast_mpi::collectives::Selection;
use hpcast_platform::diagnostic::Source;
use hpcast_platform::import::simgrid::{Release, import};
use hpcast_tests::{flow_setup, root};
use serde::Deserialize;

/// Times agree within this part of the time, and a few picoseconds: SimGrid counts in doubles, we in picoseconds.
const TOLERANCE: f64 = 1e-6;
const PICOSECONDS: f64 = 1e-11;

/// Where SMPI does something else, and why ours is not wrong for it.
const DIFFERENT: [(&str, &str); 12] = [
    (
        "allreduce-lr",
        "below an element a rank SMPI reduces and broadcasts; above, its ring starts with a message to itself",
    ),
    ("allreduce-lr-12", "the same, and SMPI treats what does not divide evenly in a second allreduce"),
    (
        "allreduce-rab-rdb-12",
        "of ranks beyond a power of two SMPI's send all their data to a neighbour; Open MPI's exchange halves with it",
    ),
    ("allreduce-redbcast", "SMPI's defaults for the reduce and the broadcast inside are not Open MPI's"),
    ("barrier-basic-linear", "Open MPI sends synchronously, SMPI in standard mode, which costs the receiver time"),
    ("barrier-doublering", "the same"),
    ("barrier-recursivedoubling", "the same"),
    ("exscan-linear", "SMPI sends from every rank to every higher one; libraries pass partial results on"),
    ("scan-linear", "the same"),
    (
        "reduce-scatter-halving",
        "SMPI posts a receive and then sends blocking, where ours does both at once (MPI_Sendrecv)",
    ),
    ("scatter-binomial", "SMPI sends to the nearest subtree first, Open MPI 4.1 to the farthest"),
    ("waitany-waitsome", "SMPI pays for a test of each request that is left after MPI_Waitsome"),
];

#[derive(Deserialize)]
struct Golden {
    cases: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    case: String,
    seconds: f64,
    #[serde(default)]
    finish: Vec<f64>,
    #[serde(default)]
    marks: Vec<Mark>,
}

#[derive(Deserialize)]
struct Mark {
    rank: u32,
    label: String,
    seconds: f64,
}

/// Our name for SMPI's name of an algorithm.
fn algorithm(operation: &str, smpi: &str) -> String {
    let name = match (operation, smpi) {
        ("allreduce", "rdb") => "recursive-doubling",
        ("allreduce", "lr") => "ring",
        ("allreduce", "redbcast") => "nonoverlapping",
        ("allreduce", "rab_rdb") => "rabenseifner",
        ("allgather", "rdb") => "recursive-doubling",
        ("allgather", "ompi_neighborexchange") => "neighbor-exchange",
        ("alltoall", "basic_linear") => "linear",
        ("reduce", "binomial") => "mpich-binomial",
        ("alltoall", "pair" | "ring") => "pairwise",
        ("bcast", "binomial_tree") => "mpich-binomial",
        ("bcast", "scatter_LR_allgather") => "scatter-allgather-ring",
        ("bcast", "scatter_rdb_allgather") => "scatter-allgather",
        ("barrier", "ompi_recursivedoubling") => "recursive-doubling",
        ("barrier", "ompi_doublering") => "double-ring",
        ("reduce_scatter", "mpich_pair") => "pairwise",
        ("reduce_scatter", "ompi_basic_recursivehalving") => "recursive-halving",
        (_, "ompi_basic_linear") => "linear",
        (_, name) => name.strip_prefix("ompi_").unwrap_or(name),
    };
    format!("{operation}={name}")
}

fn compare(case: &Case) -> Result<f64, String> {
    let folder = root().join("tests/simgrid");
    let text = fs::read_to_string(folder.join(format!("cases/{}.case", case.case))).map_err(|e| e.to_string())?;
    // SMPI does the block form by the general one.
    let text = text.replace("reduce_scatter_block", "reduce_scatter");
    let script = Script::parse(&text).map_err(|e| e.to_string())?;
    let source = Source::read(&folder.join("platforms").join(&script.platform)).map_err(|e| e.render(false))?;
    let machine = import(&source, Release::V3_32).map_err(|e| e.render(false))?;
    let machine = machine.machine.build().map_err(|e| e.render(false))?;
    let mut selection = Selection::default();
    for (operation, name) in &script.collectives {
        selection.choose(&algorithm(operation, name)).map_err(|e| e.to_string())?;
    }
    let recording = script.play(flow_setup(machine, &script.nodes, selection)).map_err(|e| e.to_string())?;
    let mut worst: f64 = 0.0;
    let mut check = |what: &str, ours: f64, theirs: f64| {
        let difference = (ours - theirs).abs() / theirs.abs().max(1e-9);
        worst = worst.max(difference);
        if difference > TOLERANCE && (ours - theirs).abs() > PICOSECONDS {
            return Err(format!(
                "{what}: {ours:.12e} s, SimGrid says {theirs:.12e} s ({:+.4} %)",
                100.0 * (ours / theirs - 1.0)
            ));
        }
        Ok(())
    };
    let mut marks: BTreeMap<(u32, &str), f64> = BTreeMap::new();
    for mark in &recording.marks {
        marks.insert((mark.rank, &mark.label), mark.at.as_secs());
    }
    for mark in &case.marks {
        let ours = marks.get(&(mark.rank, &mark.label)).ok_or(format!("no mark {}", mark.label))?;
        check(&format!("rank {} at {}", mark.rank, mark.label), *ours, mark.seconds)?;
    }
    for (rank, &seconds) in case.finish.iter().enumerate() {
        check(&format!("rank {rank}"), recording.outcome.ranks[rank].finished.as_secs(), seconds)?;
    }
    check("end", recording.outcome.simulated.as_secs(), case.seconds)?;
    Ok(worst)
}

#[test]
fn the_same_times_as_simgrid() {
    let text = fs::read_to_string(root().join("tests/simgrid/golden.json")).expect("golden.json");
    let golden: Golden = serde_json::from_str(&text).expect("golden.json is JSON");
    assert!(golden.cases.len() >= 20, "at least 20 cases");
    let mut failed = 0;
    for case in &golden.cases {
        let reason = DIFFERENT.iter().find(|(name, _)| *name == case.case).map(|(_, reason)| reason);
        match (compare(case), reason) {
            (Ok(worst), None) => println!("{:<32} agrees within {worst:.1e}", case.case),
            (Err(problem), Some(reason)) => {
                println!("{:<32} differs: {problem}\n{:32} because {reason}", case.case, "")
            }
            (Ok(_), Some(_)) => {
                failed += 1;
                println!("{:<32} AGREES: take it off the list of differences", case.case);
            }
            (Err(problem), None) => {
                failed += 1;
                println!("{:<32} DIFFERS: {problem}", case.case);
            }
        }
    }
    assert_eq!(failed, 0, "{failed} of {} cases are not as expected", golden.cases.len());
}
