//! The two shortcuts of HPL against the simulation of every message.

use std::path::Path;
use std::rc::Rc;

use hpcast_apps::hpl::{Broadcast, Hpl, HplFinding, HplModels, HplParameters, Pivots, SampleSize, Swap};
use hpcast_models::network::Flow;
use hpcast_mpi::{RunError, Setup};
use hpcast_platform::Machine;
use hpcast_platform::placement::{Plan, Policy};

fn setup(machine: &Rc<Machine>, ranks: u32) -> Setup {
    let plan = Plan { policy: Policy::Block, ranks_per_node: Some(1), oversubscribe: false };
    let placement = machine.place_as(&plan, ranks).unwrap();
    Setup::new(ranks, machine.clone(), placement, Box::new(Flow::new(machine.clone())))
}

fn hpl(machine: &Rc<Machine>, parameters: HplParameters, jointly: bool) -> Hpl {
    let models = HplModels::new(None, machine, 1).unwrap();
    Hpl { parameters, models, pivots: Pivots::random(1), seed: 1, record: false, jointly }
}

fn exact(machine: &Rc<Machine>, parameters: HplParameters) -> HplFinding {
    hpl(machine, parameters, false).run(setup(machine, parameters.grid.size())).unwrap()
}

fn machine(file: &str) -> Rc<Machine> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../machines");
    Rc::new(Machine::load(&folder.join(file)).map_err(|error| error.to_string()).unwrap())
}

/// With two rows, and one rank a node, no message meets another: the recurrence is exact to the picosecond. With more rows
/// some do.
#[test]
fn a_column_at_once_equals_every_message_where_none_meet() {
    let machine = machine("frontera.toml");
    for rows in [2, 3, 4, 6, 7, 8, 13] {
        for (n, nb) in [(200, 16), (333, 40)] {
            let parameters = HplParameters::new(n, nb, rows, 1);
            let jointly = hpl(&machine, parameters, true).run(setup(&machine, rows)).unwrap();
            let exact = exact(&machine, parameters);
            if rows == 2 {
                assert_eq!(jointly.time, exact.time, "{rows} rows, N {n}");
                assert_eq!(jointly.outcome.ranks, exact.outcome.ranks);
            }
            let (jointly_s, exact_s) = (jointly.time.as_secs(), exact.time.as_secs());
            assert!((jointly_s - exact_s).abs() < 0.002 * exact_s, "{rows} rows, N {n}: {jointly_s} and {exact_s}");
            assert_eq!(jointly.outcome.messages, exact.outcome.messages);
            assert_eq!(jointly.outcome.bytes, exact.outcome.bytes);
        }
    }
}

/// Forecasts from samples are as good as they say. These matrices are tiny: the time of a panel is mostly latency and
/// varies from panel to panel more than in a run of any size that matters.
#[test]
fn samples_are_within_their_uncertainty() {
    let frontera = machine("frontera.toml");
    let stampede = machine("stampede.toml");
    let with = |n, nb, rows, columns, broadcast, depth, swap| {
        let mut parameters = HplParameters::new(n, nb, rows, columns);
        (parameters.broadcast, parameters.depth, parameters.swap) = (broadcast, depth, swap);
        parameters
    };
    let cases = [
        (&frontera, with(5200, 8, 2, 2, Broadcast::RingModified, 1, Swap::BinaryExchange)),
        (&frontera, with(5400, 8, 2, 4, Broadcast::TwoRings, 1, Swap::Long)),
        (&frontera, with(5800, 8, 3, 3, Broadcast::Long, 0, Swap::Mix { threshold: 64 })),
        (&stampede, with(5400, 8, 4, 2, Broadcast::LongModified, 0, Swap::BinaryExchange)),
        (&stampede, with(5800, 8, 2, 3, Broadcast::TwoRingsModified, 1, Swap::BinaryExchange)),
        (&stampede, with(6500, 10, 1, 4, Broadcast::Ring, 1, Swap::BinaryExchange)),
    ];
    for (machine, parameters) in cases {
        let exact = exact(machine, parameters).time.as_secs();
        let sampled = hpl(machine, parameters, true)
            .sample::<RunError>(SampleSize::default(), |_| Ok(setup(machine, parameters.grid.size())))
            .unwrap();
        assert!(sampled.simulated_panels < parameters.panels(), "{parameters:?} is too small to be sampled");
        let error = (sampled.time.as_secs() - exact).abs();
        println!(
            "{} x {}: {:+.3} %, {:.3} % claimed",
            parameters.grid.rows,
            parameters.grid.columns,
            100.0 * (sampled.time.as_secs() / exact - 1.0),
            100.0 * sampled.uncertainty.as_secs() / exact
        );
        let claimed = sampled.uncertainty.as_secs();
        assert!(error < 1.5 * claimed + 0.002 * exact, "{parameters:?}: {error} of {exact}, {claimed} claimed");
        // With look-ahead, and polling whose price grows for all ranks together, a stretch is not quite like the whole run.
        assert!(error < 0.04 * exact, "{parameters:?}: {error} of {exact}");
    }
}

/// Runs that are simulated whole, panels being factored jointly: as good as they say, too.
#[test]
fn joint_factorisation_is_within_its_uncertainty() {
    let frontera = machine("frontera.toml");
    for (n, nb, rows, columns, depth) in [(6000, 64, 4, 4, 1), (6000, 64, 2, 8, 0), (8000, 96, 8, 4, 1)] {
        let mut parameters = HplParameters::new(n, nb, rows, columns);
        parameters.depth = depth;
        let exact = exact(&frontera, parameters).time.as_secs();
        let default = hpl(&frontera, parameters, true)
            .sample::<RunError>(SampleSize::default(), |_| Ok(setup(&frontera, parameters.grid.size())))
            .unwrap();
        assert_eq!(default.simulated_panels, parameters.panels());
        let (error, claimed) = ((default.time.as_secs() - exact).abs(), default.uncertainty.as_secs());
        assert!(error <= claimed && claimed < 0.05 * exact, "{parameters:?}: {error} of {exact}, {claimed} claimed");
    }
}
