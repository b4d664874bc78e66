//! All processes of a run of HPL, to be started one by one: alone in a simulation, or beside other programs.

use std::cell::RefCell;
use std::collections::HashMap;
use std::future::Future;
use std::rc::Rc;

use hpcast_engine::Key;
use hpcast_mpi::{LoneMessages, Rank};
use hpcast_platform::Machine;
use hpcast_platform::placement::Placement;

use super::account::Account;
use super::kernels::{HplKernel, HplModels};
use super::process::{Job, Process};
use super::record::Recorder;
use super::stretch::Stretch;
use super::swap_plan::Pivots;
use super::{Hpl, solve_system};
use crate::program::Body;

/// A run of HPL before it begins.
pub struct HplProcesses {
    pub(super) job: Rc<Job>,
    placement: Placement,
    /// The rows of the models for each rank's processor.
    rows: Vec<Rc<[u32]>>,
}

impl HplProcesses {
    /// All panels. The placement is that of HPL's own ranks, one for each process of the grid.
    pub fn new(hpl: Hpl, machine: &Rc<Machine>, placement: &Placement) -> HplProcesses {
        let stretch = Stretch::whole(&hpl.parameters);
        HplProcesses::of_stretch(hpl, stretch, machine, placement)
    }

    pub(super) fn of_stretch(hpl: Hpl, stretch: Stretch, machine: &Rc<Machine>, placement: &Placement) -> HplProcesses {
        let ranks = placement.ranks();
        assert_eq!(ranks, hpl.parameters.grid.size(), "one rank for each process of the grid");
        let rows = processor_rows(&hpl.models, machine, placement);
        // HPL does not divide by a pivot that is zero.
        let models = match hpl.pivots {
            Pivots::Equal(_) | Pivots::First => hpl.models.with_free(HplKernel::Dscal),
            Pivots::Random(_) | Pivots::Listed(_) => hpl.models,
        };
        let seed = stretch.seed(hpl.seed);
        let job = Rc::new(Job {
            parameters: hpl.parameters,
            stretch,
            models,
            noise: Key::new(seed).purpose("hpl kernels"),
            pivots: hpl.pivots,
            plans: RefCell::default(),
            account: RefCell::new(Account::new(stretch.panels())),
            recorder: hpl.record.then(|| RefCell::new(Recorder::new(ranks))),
            jointly: hpl.jointly && !hpl.record && hpl.parameters.grid.rows > 1,
            columns: RefCell::default(),
            lone_messages: RefCell::new(LoneMessages::new(machine.clone(), seed)),
        });
        HplProcesses { job, placement: placement.clone(), rows }
    }

    /// What a rank does.
    pub(super) fn start(&self, rank: Rank) -> impl Future<Output = ()> + use<> {
        let number = rank.number();
        let models = self.rows[number as usize].clone();
        solve_system(Process::new(rank, self.job.clone(), self.placement.node(number), models))
    }

    /// What each rank does, for a simulation that has others, too.
    pub fn body(self: Rc<Self>) -> Body {
        Box::new(move |rank| Box::pin(self.start(rank)))
    }

    /// Where the time has gone so far.
    pub fn account(&self) -> std::cell::Ref<'_, Account> {
        self.job.account.borrow()
    }
}

fn processor_rows(models: &HplModels, machine: &Machine, placement: &Placement) -> Vec<Rc<[u32]>> {
    let mut known: HashMap<(u32, u32), Rc<[u32]>> = HashMap::new();
    let mut rows = |processor: (u32, u32)| {
        known.entry(processor).or_insert_with(|| Rc::from(models.rows(processor.0, processor.1))).clone()
    };
    placement.processors(machine.nodes.sockets).map(&mut rows).collect()
}
