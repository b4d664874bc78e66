//! A real simulation, watched by everything that can watch: what is reported agrees with what happened.

use std::cell::RefCell;
use std::rc::Rc;

use hpcast_models::network::Flow;
use hpcast_mpi::{Outcome, Setup, run};
use hpcast_platform::machine::FlowSharing;
use hpcast_platform::topology::{Crossbar, Duplex};
use hpcast_platform::{Interconnect, Link, Loopback, Machine, MpiParameters};
use hpcast_report::{GanttRecorder, MachineInfo, Observers, RunReport, Totals, TraceWriter, gantt, json, links};
use hpcast_units::Time;
use serde_json::Value;

/// Two nodes around a switch: 10 GB/s, 100 ns a link, no overheads; every message waits for its receiver.
fn machine() -> Rc<Machine> {
    let link = Link { bandwidth: 10e9, latency: 1e-7 };
    let topology = Box::new(Crossbar::new(2, link, Duplex::Split, None));
    let mpi = MpiParameters::default();
    let interconnect = Interconnect::new(topology, Loopback::Unshared(link), None);
    Rc::new(Machine::new("pair", 1, interconnect, mpi, FlowSharing::default()))
}

/// Rank 0 computes for 1 us and sends 1 MB, which takes 100.2 us.
fn simulate(machine: &Rc<Machine>, observers: Rc<RefCell<Observers>>) -> Outcome {
    let network = Box::new(Flow::new(machine.clone()));
    let setup = Setup::new(2, machine.clone(), machine.place(2).unwrap(), network);
    let setup = Setup { observer: Some(Box::new(observers)), ..setup };
    let outcome = run(setup, |rank| async move {
        let world = rank.world();
        if rank.number() == 0 {
            rank.compute(Time::from_secs(1e-6));
            rank.send(world, 1, 0, 1_000_000).await;
        } else {
            rank.recv(world, 0, 0).await;
        }
    });
    outcome.unwrap()
}

#[test]
fn report_chart_and_trace_agree() {
    let machine = machine();
    let recorder = Rc::new(RefCell::new(GanttRecorder::new(2).unwrap()));
    let trace = Rc::new(RefCell::new(TraceWriter::new(Vec::new(), true)));
    let observers = Rc::new(RefCell::new(Observers::default()));
    observers.borrow_mut().add(recorder.clone());
    observers.borrow_mut().add(trace.clone());
    let mut totals = Totals::default();
    for _ in 0..2 {
        observers.borrow_mut().start_at(totals.simulated);
        totals.add(simulate(&machine, observers.clone()));
    }

    let interconnect = &machine.interconnect;
    let report = RunReport { machine: MachineInfo::from(&*machine), ..RunReport::of(&totals, interconnect, false) };
    let report: Value = serde_json::from_str(&json::document(&report)).unwrap();
    assert_eq!(report["simulated_seconds"], 202.4e-6);
    assert_eq!((&report["messages"], &report["bytes"], &report["ranks"]), (&2.into(), &2_000_000.into(), &2.into()));
    assert_eq!(report["rank_times"]["compute"]["max_seconds"], 2e-6);
    assert_eq!(report["rank_times"]["wait"]["max_rank"], 1);
    assert_eq!(report["machine"]["nodes"], 2);
    let load = 1e6 / (10e9 * 101.2e-6);
    assert_eq!(report["busiest_links"].as_array().unwrap().len(), 2);
    assert!((report["busiest_links"][0]["load"].as_f64().unwrap() - load).abs() < 1e-9);
    let loads = links::loads(interconnect, &totals.link_bytes, totals.simulated);
    assert_eq!(loads.iter().filter(|load| **load > 0.9).count(), 2);

    let chart = gantt::svg(&recorder.borrow(), "pair");
    assert!(chart.contains("rank 0: compute 1 us from 101 us on"));
    assert_eq!(chart.matches("rank 0 to 1: 1 MB in 100 us").count(), 2);

    let trace: Value = serde_json::from_slice(&trace.borrow_mut().finish().unwrap()).unwrap();
    let events = trace["traceEvents"].as_array().unwrap();
    let waited = events.iter().filter(|event| event["name"] == "wait" && event["tid"] == 2);
    let waited: f64 = waited.map(|event| event["dur"].as_f64().unwrap()).sum();
    assert!((waited - 202.4).abs() < 1e-9, "{waited}");
    assert_eq!(events.iter().filter(|event| event["ph"] == "f").count(), 2);
}
