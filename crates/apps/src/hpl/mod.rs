//! High Performance Linpack: a skeleton of the reference HPL 2.x.
//!
//! It sends the same messages, in the same order and of the same sizes, and calls the same kernels with the same arguments
//! as the real program, for every value of its parameters; fidelity/ records the real one and compares. Only numbers are
//! left out: pivots are drawn (or given), and kernels only take time.
//!
//! The files follow HPL: `factor` (panel factorisation), `broadcast` (of panels), `swap` (of rows), `update`, `solve`.

mod account;
mod broadcast;
mod course;
mod dat;
mod factor;
mod grid;
mod joint;
mod kernels;
mod leg;
mod panel;
mod parameters;
mod pivot;
mod process;
mod processes;
mod record;
mod sampling;
mod solve;
mod stretch;
mod swap;
mod swap_plan;
mod update;

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

use hpcast_mpi::{Outcome, RunError, Setup, run};
use hpcast_units::Time;

pub use account::{Account, Phase};
pub use course::{Course, Piece, Split};
pub use dat::{HplDat, SwapKind};
pub use grid::{Grid, Order};
pub use kernels::{HplKernel, HplModels, ModelsError, Size, roofline};
pub use leg::{Leg, SoFar};
pub use parameters::{Broadcast, Factorisation, HplParameters, Swap};
pub use processes::HplProcesses;
pub use record::Recorder;
pub use sampling::SampleSize;
pub use stretch::Stretch;
pub use swap_plan::Pivots;

use panel::Panel;
use process::Process;

/// What a simulated run of HPL found.
#[derive(Debug)]
pub struct HplFinding {
    /// What the simulation found.
    pub outcome: Outcome,
    /// How long it took, as HPL times it.
    pub time: Time,
    /// How far off that may be, where not every message of every panel was simulated.
    pub uncertainty: Time,
    /// The part of it that is no chance: what contention and the rest of the panels may add in every run, whatever the seed.
    pub bias: Time,
    /// Panels that were simulated.
    pub simulated_panels: u64,
    /// Whether panels were factored jointly, see [`Hpl::jointly`].
    pub jointly: bool,
    /// Where the time went.
    pub account: Account,
    /// How it went from panel to panel; empty for a part of a run.
    pub course: Course,
    /// What each rank did, if that was asked for.
    pub recorded: Option<Recorder>,
}

impl HplFinding {
    /// As HPL reports it.
    pub fn gflops(&self, parameters: &HplParameters) -> f64 {
        parameters.flops() / self.time.as_secs() / 1e9
    }
}

/// A run of HPL.
#[derive(Clone, Debug)]
pub struct Hpl {
    /// Its parameters.
    pub parameters: HplParameters,
    /// How long kernels take.
    pub models: HplModels,
    /// Where pivots come from.
    pub pivots: Pivots,
    /// Of the noise.
    pub seed: u64,
    /// Whether to note what each rank does.
    pub record: bool,
    /// Whether the factorisation of a panel is worked out for all processes of a column at once, without contention,
    /// instead of simulating each of its messages. Never while ranks are noted, nor where a column has one process.
    pub jointly: bool,
}

impl Hpl {
    /// Simulates all of it. `setup` must have as many ranks as the grid has processes.
    pub fn run(self, setup: Setup) -> Result<HplFinding, RunError> {
        let parameters = self.parameters;
        let mut finding = self.run_stretch(setup, Stretch::whole(&parameters))?;
        finding.course = Course::of_whole(&finding);
        if finding.jointly {
            finding.bias = sampling::contention(&finding);
            finding.uncertainty = sampling::of_joint_run(&parameters, &finding);
        }
        Ok(finding)
    }

    /// Simulates a stretch, from the moment when all processes begin with its first panel; the triangular solve follows
    /// the last panel of the matrix.
    fn run_stretch(self, mut setup: Setup, stretch: Stretch) -> Result<HplFinding, RunError> {
        setup.seed = stretch.seed(setup.seed);
        let processes = HplProcesses::of_stretch(self, stretch, &setup.machine, &setup.placement);
        let outcome = run(setup, |rank| processes.start(rank))?;
        let Ok(job) = Rc::try_unwrap(processes.job) else { unreachable!("all processes have ended") };
        Ok(HplFinding {
            time: outcome.simulated,
            uncertainty: Time::ZERO,
            bias: Time::ZERO,
            simulated_panels: stretch.panels(),
            jointly: job.jointly,
            outcome,
            account: job.account.into_inner(),
            course: Course::default(),
            recorded: job.recorder.map(RefCell::into_inner),
        })
    }
}

/// What each rank does (HPL_pdgesv).
async fn solve_system(process: Process) {
    let HplParameters { depth, .. } = *process.parameters();
    if depth == 0 || process.columns() == 1 {
        process.without_look_ahead().await;
    } else {
        process.with_look_ahead(depth).await;
    }
    if process.job.stretch.end == process.parameters().panels() {
        process.solve().await;
    }
    process.now();
}

impl Process {
    /// Factor, broadcast, update, panel by panel (HPL_pdgesv0).
    async fn without_look_ahead(&self) {
        let HplParameters { n, nb, .. } = *self.parameters();
        let Stretch { first, end } = self.job.stretch;
        for start in (first * nb..n.min(end * nb)).step_by(nb as usize) {
            self.begin_update(start / nb);
            let left = n - start;
            let mut panel = self.panel(start, left, left.min(nb));
            self.factor(&mut panel).await;
            self.prepare_broadcast(&panel);
            self.broadcast(&panel).await;
            self.update(&mut panel, None, None).await;
        }
    }

    /// Panels are factored `depth` ahead of the update, and travel while it goes on (HPL_pdgesvK2).
    async fn with_look_ahead(&self, depth: u32) {
        let HplParameters { n, nb, .. } = *self.parameters();
        let my_columns = |count: u64, start: u64| self.column_deal.count(count, start, self.column);
        let Stretch { first, end: last } = self.job.stretch;
        let stop = n.min(last * nb);
        let mut ready: VecDeque<Panel> = VecDeque::new();
        let mut start = first * nb;
        for _ in 0..depth {
            let jb = nb.min(n - start);
            ready.push_back(self.panel(start, n - start, jb));
            start += jb;
        }
        let mut end = first * nb;
        for k in 0..ready.len() {
            end += ready[k].jb;
            self.factor(&mut ready[k]).await;
            self.prepare_broadcast(&ready[k]);
            self.broadcast(&ready[k]).await;
            if k + 1 < ready.len() {
                self.update(&mut ready[k], Some(my_columns(start - end, end)), None).await;
            }
        }
        // My columns that are not in a panel yet.
        let mut rest = my_columns(n + 1 - start, start);
        while start < stop {
            self.begin_update(start / nb - u64::from(depth));
            let jb = nb.min(n - start);
            let mut next = self.panel(start, n - start, jb);
            let mut mine = 0;
            if self.column == next.column {
                mine = my_columns(jb, start);
                for panel in &mut ready {
                    self.update(panel, Some(mine), None).await;
                }
                self.factor(&mut next).await;
            }
            self.prepare_broadcast(&next);
            if let Some(mut oldest) = ready.pop_front() {
                self.update(&mut oldest, Some(rest - mine), Some(self.travelling(&next))).await;
            }
            ready.push_back(next);
            rest -= mine;
            start += jb;
        }
        if stop < n {
            return;
        }
        let right_hand_side = my_columns(1, n);
        for panel in &mut ready {
            self.begin_update(panel.number.into());
            self.update(panel, Some(right_hand_side), None).await;
        }
    }

    /// What follows is accounted to this panel. The number of messages is about the same for each.
    fn begin_update(&self, panel: u64) {
        let stretch = self.job.stretch;
        let done = panel - stretch.first;
        self.account_to(done as u32);
        if self.rank.number() == 0 {
            self.rank.progress(done as f64 / stretch.panels() as f64);
        }
    }
}
