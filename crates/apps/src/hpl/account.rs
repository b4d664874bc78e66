//! Where the time goes: by kernel, by phase and by panel, over all processes.

use std::ops::AddAssign;

use hpcast_units::Time;

use super::kernels::{Charge, HplKernel};

/// What a process is at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Factors a panel.
    Factorisation,
    /// Sends or receives a panel, or probes for it.
    Broadcast,
    /// Exchanges rows.
    Swap,
    /// Updates the rest of the matrix.
    Update,
    /// Solves with the triangular matrix.
    Solve,
}

impl Phase {
    /// All of them, in the order in which they are reported.
    pub const ALL: [Phase; 5] = [Phase::Factorisation, Phase::Broadcast, Phase::Swap, Phase::Update, Phase::Solve];

    /// The words for people.
    pub fn name(self) -> &'static str {
        match self {
            Phase::Factorisation => "panel factorisation",
            Phase::Broadcast => "panel broadcast",
            Phase::Swap => "row swaps",
            Phase::Update => "update",
            Phase::Solve => "triangular solve",
        }
    }

    /// The name for programs.
    pub fn key(self) -> String {
        self.name().replace(' ', "_")
    }
}

/// Time that many processes spent together, in picoseconds: 64 bits hold 213 days, which eight thousand processes have
/// used up in less than an hour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Sum(u128);

impl Sum {
    pub fn as_secs(self) -> f64 {
        self.0 as f64 / 1e12
    }

    fn add_scaled(&mut self, other: Sum, factor: f64) {
        self.0 += (other.0 as f64 * factor).round() as u128;
    }
}

impl AddAssign<Time> for Sum {
    #[inline]
    fn add_assign(&mut self, length: Time) {
        self.0 += u128::from(length.as_ps());
    }
}

/// What all processes together spent on one panel, from its update on.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PanelAccount {
    /// When the last of its owners had factored it.
    pub factored: Time,
    /// By phase, waiting included.
    pub spent: [Sum; Phase::ALL.len()],
    /// By phase, the part of it in which they waited.
    pub waited: [Sum; Phase::ALL.len()],
}

/// Calls and the time that they took.
#[derive(Clone, Copy, Debug, Default)]
struct Calls {
    count: u64,
    time: Sum,
}

impl Calls {
    #[inline]
    fn add(&mut self, count: u64, time: Time) {
        self.count += count;
        self.time += time;
    }

    fn add_scaled(&mut self, other: Calls, factor: f64) {
        self.count += (other.count as f64 * factor).round() as u64;
        self.time.add_scaled(other.time, factor);
    }

    fn figures(self) -> (u64, f64) {
        (self.count, self.time.as_secs())
    }
}

/// The calls of a kernel.
#[derive(Clone, Copy, Debug, Default)]
struct KernelAccount {
    all: Calls,
    /// Those whose sizes were not measured.
    beyond: Calls,
}

/// Sums over all processes.
#[derive(Clone, Debug)]
pub struct Account {
    kernels: [KernelAccount; HplKernel::ALL.len()],
    phases: [Sum; Phase::ALL.len()],
    /// Of the stretch, from its first.
    panels: Vec<PanelAccount>,
}

impl Account {
    /// Nothing is done yet of so many panels.
    pub(super) fn new(panels: u64) -> Account {
        Account {
            kernels: [KernelAccount::default(); HplKernel::ALL.len()],
            phases: [Sum::default(); Phase::ALL.len()],
            panels: vec![PanelAccount::default(); panels as usize],
        }
    }

    /// A process has factored its part of a panel, counted from the first of the stretch.
    pub(super) fn factored(&mut self, panel: u64, at: Time) {
        // Panels without columns, beyond the end of the matrix, do not count.
        if let Some(panel) = self.panels.get_mut(panel as usize) {
            panel.factored = at.max(panel.factored);
        }
    }

    /// The panels of the stretch, from its first.
    pub(super) fn panels(&self) -> &[PanelAccount] {
        &self.panels
    }

    /// A kernel was called so many times; calls that take no time do not count.
    #[inline]
    pub(super) fn kernel(&mut self, kernel: HplKernel, charge: Charge, calls: u64) {
        if charge.length == Time::ZERO {
            return;
        }
        let account = &mut self.kernels[kernel as usize];
        let time = Time::from_ps(charge.length.as_ps() * calls);
        account.all.add(calls, time);
        if charge.is_beyond {
            account.beyond.add(calls, time);
        }
    }

    /// A process was in a phase for so long, and waited for a part of that, with a panel of the stretch.
    #[inline]
    pub(super) fn phase(&mut self, panel: u32, phase: Phase, length: Time, waited: Time) {
        self.phases[phase as usize] += length;
        if let Some(panel) = self.panels.get_mut(panel as usize) {
            panel.spent[phase as usize] += length;
            panel.waited[phase as usize] += waited;
        }
    }

    /// So many times another is added, its panels apart.
    pub(super) fn add_scaled(&mut self, other: &Account, factor: f64) {
        for (kernel, more) in self.kernels.iter_mut().zip(other.kernels) {
            kernel.all.add_scaled(more.all, factor);
            kernel.beyond.add_scaled(more.beyond, factor);
        }
        for (time, longer) in self.phases.iter_mut().zip(other.phases) {
            time.add_scaled(longer, factor);
        }
    }

    /// Calls of a kernel that took time, and how many seconds they took together.
    pub fn of_kernel(&self, kernel: HplKernel) -> (u64, f64) {
        self.kernels[kernel as usize].all.figures()
    }

    /// Those among them whose sizes were not measured, so that the model had to be stretched.
    pub fn beyond_measured(&self, kernel: HplKernel) -> (u64, f64) {
        self.kernels[kernel as usize].beyond.figures()
    }

    /// Seconds that all processes together spent in a phase.
    pub fn of_phase(&self, phase: Phase) -> f64 {
        self.phases[phase as usize].as_secs()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_go_beyond_the_range_of_a_clock() {
        let mut account = Account::new(1);
        let hundred_days = Time::from_secs(8_640_000.0);
        for _ in 0..1000 {
            account.phase(0, Phase::Update, hundred_days, Time::ZERO);
            account.kernel(HplKernel::Dgemm, Charge { length: hundred_days, is_beyond: false }, 1);
        }
        assert_eq!(account.of_phase(Phase::Update), 8.64e9);
        assert_eq!(account.of_kernel(HplKernel::Dgemm), (1000, 8.64e9));
        let mut twice = Account::new(0);
        twice.add_scaled(&account, 2.0);
        assert_eq!(twice.of_phase(Phase::Update), 2.0 * 8.64e9);
    }

    #[test]
    fn panels_have_accounts_of_their_own() {
        let mut account = Account::new(2);
        let second = Time::from_secs(1.0);
        account.phase(1, Phase::Swap, second, Time::from_secs(0.25));
        account.phase(7, Phase::Swap, second, second);
        let [first, last] = account.panels() else { panic!("two panels") };
        assert_eq!(first.spent[Phase::Swap as usize].as_secs(), 0.0);
        let swap = (last.spent[Phase::Swap as usize].as_secs(), last.waited[Phase::Swap as usize].as_secs());
        assert_eq!((swap, account.of_phase(Phase::Swap)), ((1.0, 0.25), 2.0));
    }
}
