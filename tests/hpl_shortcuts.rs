//! The two shortcuts of HPL against the simulation of every message.

use std::path::Path;
use std::rc::Rc;

use hpcast_apps::hpl::{
    Broadcast, Hpl, HplFinding, HplModels, HplParameters, HplProcesses, Phase, Piece, Pivots, SampleSize, Swap,
};
use hpcast_models::network::Flow;
use hpcast_mpi::{RunError, Setup, World, run};
use hpcast_platform::Machine;
use hpcast_platform::placement::{Plan, Policy};
use hpcast_platform::protocol::PollGrowth;
use hpcast_units::Time;

fn setup(machine: &Rc<Machine>, ranks: u32) -> Setup {
    let plan = Plan { ranks_per_node: Some(1), ..Plan::default() };
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

fn load(file: &str) -> Machine {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../machines");
    Machine::load(&folder.join(file)).map_err(|error| error.to_string()).unwrap()
}

fn machine(file: &str) -> Rc<Machine> {
    Rc::new(load(file))
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

/// Two runs in one simulation, one later than the other, take what they take alone where their messages do not meet.
#[test]
fn runs_side_by_side_take_what_they_take_alone() {
    let machine = machine("frontera.toml");
    let parameters = [HplParameters::new(900, 32, 3, 4), HplParameters::new(700, 50, 2, 5)];
    let place = |first: u32, ranks: u32| {
        let plan = Plan { policy: Policy::List((first..first + ranks).collect()), ..Plan::default() };
        machine.place_as(&plan, ranks).unwrap()
    };
    for jointly in [false, true] {
        let sizes = parameters.map(|parameters| parameters.grid.size());
        let starts = [Time::ZERO, Time::from_secs(1e-3)];
        let of = |at: usize| {
            Rc::new(HplProcesses::new(
                hpl(&machine, parameters[at], jointly),
                &machine,
                &place([0, sizes[0]][at], sizes[at]),
            ))
        };
        let processes = [of(0), of(1)];
        let mut bodies = processes.clone().map(HplProcesses::body);
        let worlds = [0, 1].map(|at| World { ranks: sizes[at], start: starts[at], noise: true });
        let ranks = sizes[0] + sizes[1];
        let setup = Setup { worlds: worlds.to_vec(), placement: place(0, ranks), ..setup(&machine, ranks) };
        let mut started = 0;
        let outcome = run(setup, |rank| {
            started += 1;
            bodies[usize::from(started > sizes[0])](rank)
        });
        let ends: Vec<Time> = outcome.unwrap().ranks.iter().map(|rank| rank.finished).collect();
        let (first, second) = ends.split_at(sizes[0] as usize);
        for (at, ends) in [first, second].into_iter().enumerate() {
            let setup = Setup { placement: place([0, sizes[0]][at], sizes[at]), ..self::setup(&machine, sizes[at]) };
            let alone = hpl(&machine, parameters[at], jointly).run(setup).unwrap();
            let took: Vec<Time> = ends.iter().map(|end| end.since(starts[at])).collect();
            let alone_took: Vec<Time> = alone.outcome.ranks.iter().map(|rank| rank.finished).collect();
            assert_eq!(took, alone_took, "{jointly}");
            let account = processes[at].account();
            for phase in Phase::ALL {
                assert_eq!(account.of_phase(phase), alone.account.of_phase(phase), "{phase:?}");
            }
        }
    }
}

/// Whether ranks note what they do or not, and so whether pieces of an update that are alike are timed one by one or all
/// at once, a run takes the same time, with look-ahead and every way to broadcast. A probe that finds nothing is counted
/// rank by rank, or not at all.
#[test]
fn pieces_that_are_alike_take_the_same_time_together() {
    let broadcasts = [Broadcast::Ring, Broadcast::RingModified, Broadcast::TwoRings, Broadcast::TwoRingsModified];
    for poll_growth in [PollGrowth::Off, PollGrowth::PerRank] {
        let mut machine = load("frontera.toml");
        machine.mpi.poll_growth = poll_growth;
        let machine = Rc::new(machine);
        for (broadcast, depth) in broadcasts.into_iter().flat_map(|broadcast| [(broadcast, 1), (broadcast, 2)]) {
            let mut parameters = HplParameters::new(1500, 32, 3, 5);
            (parameters.broadcast, parameters.depth) = (broadcast, depth);
            let run = |record| {
                let hpl = Hpl { record, ..hpl(&machine, parameters, false) };
                hpl.run(setup(&machine, parameters.grid.size())).unwrap()
            };
            let (together, one_by_one) = (run(false), run(true));
            assert_eq!(together.outcome.ranks, one_by_one.outcome.ranks, "{parameters:?}");
            assert!(one_by_one.recorded.is_some() && together.recorded.is_none());
        }
    }
}

/// Forecasts from samples are nearly as good as they say. These matrices are tiny: the time of a panel is mostly latency and
/// varies from panel to panel more than in a run of any size that matters.
#[test]
fn samples_are_nearly_as_sure_as_they_say() {
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
        assert!(error < claimed + 0.0035 * exact, "{parameters:?}: {error} of {exact}, {claimed} claimed");
        // With look-ahead, and polling whose price grows for all ranks together, a stretch is not quite like the whole run.
        assert!(claimed < 0.04 * exact, "{parameters:?}: {claimed} of {exact}");
        assert!(sampled.course.simulated.len() > 2);
        same_time(&sampled);
    }
}

/// The course of a run adds up to the run, message by message or from samples.
fn same_time(finding: &HplFinding) {
    let pieces = &finding.course.pieces;
    let (seconds, split): (f64, f64) =
        pieces.iter().fold((0.0, 0.0), |sum, piece| (sum.0 + piece.seconds, sum.1 + piece.split.total()));
    let time = finding.time.as_secs();
    assert!((seconds - time).abs() < 1e-9 * time && (split - time).abs() < 1e-9 * time, "{seconds} {split} {time}");
}

/// Speed and split of the time over the run are about the same, however much of it was simulated. Without look-ahead, so
/// that nothing is left to chance.
#[test]
fn the_course_from_samples_is_that_of_all_panels() {
    let machine = machine("stampede.toml");
    let mut parameters = HplParameters::new(12_000, 16, 2, 4);
    parameters.depth = 0;
    let setup = || setup(&machine, parameters.grid.size());
    let whole = hpl(&machine, parameters, true).run(setup()).unwrap();
    let sampled = hpl(&machine, parameters, true).sample::<RunError>(SampleSize::default(), |_| Ok(setup())).unwrap();
    same_time(&whole);
    assert_eq!(whole.course.simulated.len(), 1);
    assert_eq!(whole.course.pieces.len(), sampled.course.pieces.len());
    let tenths = |finding: &HplFinding| -> Vec<(f64, f64)> {
        let pieces = &finding.course.pieces;
        let update = |piece: &Piece| piece.split.spent[Phase::Update as usize];
        let sums = |pieces: &[Piece]| (pieces.iter().map(|piece| piece.seconds).sum(), pieces.iter().map(update).sum());
        pieces.chunks(pieces.len().div_ceil(10)).map(sums).collect()
    };
    let whole_time = whole.time.as_secs();
    for (tenth, (all, some)) in tenths(&whole).into_iter().zip(tenths(&sampled)).enumerate() {
        assert!((some.0 - all.0).abs() < 0.01 * whole_time, "part {tenth}: {} s, {} s with all panels", some.0, all.0);
        assert!((some.1 - all.1).abs() < 0.01 * whole_time, "part {tenth}: {} s, {} s with all panels", some.1, all.1);
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
