//! What the HPL skeleton does in some cases is what it did when it agreed with the real HPL.
//!
//! `make fidelity` compares with the real program; this test needs none, and notices any change: it keeps a hash of all
//! that the ranks do, with pivots that are drawn. Without look-ahead that depends neither on the network nor on the time
//! that kernels take. After a change that is meant, and with which `make fidelity` agrees, put the table that the failing
//! test prints in the place of the one below.

use std::fs;

use hpcast_apps::hpl::{Broadcast, Factorisation, Hpl, HplModels, HplParameters, Order, Pivots, Swap};
use hpcast_mpi::collectives::Selection;
use hpcast_tests::{flow_setup, plain, root};
use hpcast_units::FlopRate;

/// Cases of fidelity/cases.txt with the number of lines and their hash.
const RECORDINGS: [(&str, usize, u64); 14] = [
    ("one", 1554, 0x7930_cc0c_cbd8_2223),
    ("fact-left-left-n", 3701, 0x2d39_ef13_9aff_4044),
    ("fact-left-right-n", 4197, 0x0848_9081_ceec_e878),
    ("fact-crout-left-n", 5292, 0xc16f_5e20_5150_69f4),
    ("fact-right-crout-n", 8682, 0x4162_5f1a_66a1_89bf),
    ("fact-crout-crout-t", 9458, 0x5578_69cc_74e4_7bab),
    ("fact-crout-right-t", 6101, 0xbb37_baf8_0e41_7f8a),
    ("fact-right-left-t", 3401, 0x189b_039f_660f_3c44),
    ("bcast-1ring-0", 5003, 0x9e6d_bf5f_b5b8_eddc),
    ("bcast-2ringM-0", 3012, 0x4a6a_a54a_48e7_fa91),
    ("bcast-long-0", 4842, 0xd0f5_2e3a_0393_f816),
    ("swap-binary-5x3-n", 15443, 0x49ae_4afb_4d19_6dab),
    ("swap-mix-4x3-n", 12325, 0x828f_45af_f9d0_5390),
    ("swap-long-16x1-n", 65123, 0x32f6_756e_57c2_b8d4),
];

#[test]
fn the_skeleton_does_what_it_did_when_it_agreed_with_hpl() {
    let found: Vec<(&str, usize, u64)> = RECORDINGS
        .iter()
        .map(|(name, ..)| {
            let lines = record(case(name));
            (*name, lines.lines().count(), hash(&lines))
        })
        .collect();
    let table: String =
        found.iter().map(|(name, lines, hash)| format!("    (\"{name}\", {lines}, 0x{hash:016x}),\n")).collect();
    assert!(found == RECORDINGS, "what the ranks do has changed; it is now\n{table}");
}

/// What all ranks do, one after the other.
fn record(parameters: HplParameters) -> String {
    assert_eq!(parameters.depth, 0, "with look-ahead the order depends on the time that things take");
    let ranks = parameters.grid.size();
    let mut machine = plain::machine(ranks);
    machine.nodes.flops = Some(FlopRate::new(1e10));
    let models = HplModels::new(None, &machine, 1).expect("the speed is known");
    let nodes: Vec<u32> = (0..ranks).collect();
    let setup = flow_setup(machine, &nodes, Selection::default());
    let hpl = Hpl { parameters, models, pivots: Pivots::random(1), seed: 1, record: true, jointly: false };
    let finding = hpl.run(setup).expect("HPL ends");
    finding.recorded.expect("it was recorded").into_lines().join("rank\n")
}

/// The parameters of a case of the fidelity test.
fn case(name: &str) -> HplParameters {
    let text = fs::read_to_string(root().join("fidelity/cases.txt")).expect("the cases");
    let mut lines = text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    let words = lines.find(|words| words.first() == Some(&name)).expect("a case of that name");
    let number = |place: usize| words[place].parse::<u64>().expect("a number");
    let factorisation =
        |word: &str| Factorisation::ALL.into_iter().find(|f| f.name() == word).expect("a factorisation");
    let mut parameters = HplParameters::new(number(1), number(2), number(3) as u32, number(4) as u32);
    parameters.grid.order = Order::ALL.into_iter().find(|order| order.name() == words[5]).expect("an order");
    parameters.depth = number(6) as u32;
    parameters.pfact = factorisation(words[7]);
    parameters.rfact = factorisation(words[8]);
    parameters.nbmin = number(9);
    parameters.ndiv = number(10);
    parameters.broadcast = Broadcast::ALL.into_iter().find(|bcast| bcast.name() == words[11]).expect("a broadcast");
    parameters.swap = match words[12] {
        "binary" => Swap::BinaryExchange,
        "long" => Swap::Long,
        _ => Swap::Mix { threshold: number(13) },
    };
    parameters.l1_transposed = words[14] == "transposed";
    parameters.u_transposed = words[15] == "transposed";
    parameters.equilibration = words[16] == "yes";
    parameters
}

/// FNV-1a, 64 bits.
fn hash(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3))
}
