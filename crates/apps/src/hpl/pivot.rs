//! One process that factors its part of a panel, and exchanges pivots with the others of its column.

use hpcast_mpi::{Round, Rounds};

use super::factor::{Share, Team};
use super::kernels::HplKernel::Dcopy;
use super::kernels::{HplKernel, Size};
use super::panel::Panel;
use super::process::{Process, Side, after, distance, triangular};
use super::swap_plan::power_below;

/// A process by itself.
pub(super) struct Alone<'p> {
    process: &'p Process,
    panel: &'p Panel,
    /// What it exchanges for each column.
    rounds: Rounds,
}

impl<'p> Alone<'p> {
    pub fn new(process: &'p Process, panel: &'p Panel) -> Alone<'p> {
        Alone { process, panel, rounds: process.rounds(exchanges(process, panel).into(), 1) }
    }

    fn share(&self) -> Share {
        Share { rows: self.panel.mp, owns_top: self.process.row == self.panel.row }
    }
}

/// HPL_pdmxswp: an exchange over a hypercube; processes beyond it hand theirs to a partner inside. A message holds a row of
/// the panel and 4 numbers; the owner of the panel's top sends its own row as well.
fn exchanges(process: &Process, panel: &Panel) -> Vec<Round> {
    let (row, both) = (panel.jb + 4, 2 * panel.jb + 4);
    let processes = process.rows();
    let cube = power_below(u64::from(processes)) as u32;
    let mine = distance(process.row, panel.row, processes);
    let at = |distance: u32| after(panel.row, distance, processes);
    let partner = mine ^ cube;
    let has_partner = processes > cube && partner < processes;
    let mut list = Vec::new();
    if has_partner {
        let (sent, received) = match mine {
            0 => (panel.jb, row),
            _ if mine == cube => (row, panel.jb),
            _ if mine > cube => (row, 0),
            _ => (0, row),
        };
        list.push(Round { peer: at(partner), sent, received });
    }
    if mine < cube {
        let mut bit = 1;
        while bit < cube {
            let (sent, received) = match mine {
                _ if mine >= 2 * bit => (row, row),
                _ if mine >= bit => (row, both),
                _ => (both, row),
            };
            list.push(Round { peer: at(mine ^ bit), sent, received });
            bit *= 2;
        }
    } else if processes - cube > 1 {
        process.broadcast_beyond(panel.row, cube, panel.jb, &mut list);
    }
    if has_partner {
        let (sent, received) = if mine >= cube { (0, row) } else { (row, 0) };
        list.push(Round { peer: at(partner), sent, received });
    }
    list
}

impl Team for Alone<'_> {
    #[inline]
    fn kernel(&self, kernel: HplKernel, size: impl Fn(Share) -> Option<Size>) {
        if let Some(size) = size(self.share()) {
            self.process.kernel(kernel, size);
        }
    }

    fn solve_triangular(&self, side: Side, m: u64, n: u64) {
        self.process.solve_triangular(side, triangular(side, m, n));
    }

    async fn exchange_pivot(&self, column: u64) {
        let Alone { process, panel, ref rounds } = *self;
        if self.share().below(column) > 0 {
            process.kernel(Dcopy, Size::n(panel.jb));
            if self.share().owns_top {
                process.kernel(Dcopy, Size::n(panel.jb));
            }
        }
        process.follow_until(&mut rounds.clone(), None).await;
    }
}
