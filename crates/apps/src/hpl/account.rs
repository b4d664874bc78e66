//! Where the time goes: by kernel and by phase, over all processes.

use hpcast_units::Time;

use super::kernels::HplKernel;

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
}

/// Sums over all processes.
#[derive(Clone, Debug)]
pub struct Account {
    kernels: [(u64, Time); HplKernel::ALL.len()],
    phases: [Time; Phase::ALL.len()],
    /// When each panel of the stretch was factored.
    factored: Vec<Time>,
}

impl Account {
    /// Nothing is done yet of so many panels.
    pub(super) fn new(panels: u64) -> Account {
        Account {
            kernels: [(0, Time::ZERO); HplKernel::ALL.len()],
            phases: [Time::ZERO; Phase::ALL.len()],
            factored: vec![Time::ZERO; panels as usize],
        }
    }

    /// A process has factored its part of a panel, counted from the first of the stretch.
    pub(super) fn factored(&mut self, panel: u64, at: Time) {
        // Panels without columns, beyond the end of the matrix, do not count.
        if let Some(factored) = self.factored.get_mut(panel as usize) {
            *factored = at.max(*factored);
        }
    }

    /// When each panel of the stretch was factored by the last of its owners.
    pub fn panels(&self) -> &[Time] {
        &self.factored
    }

    /// A kernel was called.
    #[inline]
    pub(super) fn kernel(&mut self, kernel: HplKernel, length: Time) {
        self.kernels(kernel, length, 1);
    }

    /// A kernel was called so many times.
    #[inline]
    pub(super) fn kernels(&mut self, kernel: HplKernel, length: Time, calls: u64) {
        let (all, time) = &mut self.kernels[kernel as usize];
        *all += calls;
        *time += Time::from_ps(length.as_ps() * calls);
    }

    #[inline]
    pub(super) fn phase(&mut self, phase: Phase, length: Time) {
        self.phases[phase as usize] += length;
    }

    /// So many times another is added, its panels apart.
    pub(super) fn add_scaled(&mut self, other: &Account, factor: f64) {
        let scaled = |time: Time| Time::from_secs(time.as_secs() * factor);
        for ((calls, time), (more, longer)) in self.kernels.iter_mut().zip(other.kernels) {
            *calls += (more as f64 * factor).round() as u64;
            *time += scaled(longer);
        }
        for (time, longer) in self.phases.iter_mut().zip(other.phases) {
            *time += scaled(longer);
        }
    }

    /// Calls of a kernel that took time, and how long they took together.
    pub fn of_kernel(&self, kernel: HplKernel) -> (u64, Time) {
        self.kernels[kernel as usize]
    }

    /// Time that all processes together spent in a phase.
    pub fn of_phase(&self, phase: Phase) -> Time {
        self.phases[phase as usize]
    }
}
