//! One process that factors its part of a panel, and exchanges pivots with the others of its column.

use hpcast_mpi::Next;

use super::factor::{Share, Team};
use super::kernels::HplKernel::Dcopy;
use super::kernels::{HplKernel, Size};
use super::panel::Panel;
use super::process::{Process, Side, after, distance, in_column, triangular};
use super::swap_plan::power_below;

/// A process by itself.
pub(super) struct Alone<'p> {
    pub process: &'p Process,
    pub panel: &'p Panel,
}

impl Alone<'_> {
    fn share(&self) -> Share {
        Share { rows: self.panel.mp, owns_top: self.process.row == self.panel.row }
    }
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

    /// HPL_pdmxswp: an exchange over a hypercube; processes beyond it hand theirs to a partner inside. A message holds a
    /// row of the panel and 4 numbers; the owner of the panel's top sends its own row as well.
    async fn exchange_pivot(&self, column: u64) {
        let Alone { process, panel } = *self;
        let (row, both) = (panel.jb + 4, 2 * panel.jb + 4);
        if self.share().below(column) > 0 {
            process.kernel(Dcopy, Size::n(panel.jb));
            if self.share().owns_top {
                process.kernel(Dcopy, Size::n(panel.jb));
            }
        }
        let processes = process.rows();
        let cube = power_below(u64::from(processes)) as u32;
        let mine = distance(process.row, panel.row, processes);
        let at = |distance: u32| in_column(after(panel.row, distance, processes));
        let partner = mine ^ cube;
        let has_partner = processes > cube && partner < processes;
        if has_partner {
            match mine {
                0 => process.exchange(Next::Anything, at(partner), panel.jb, row).await,
                _ if mine == cube => process.exchange(Next::Anything, at(partner), row, panel.jb).await,
                _ if mine > cube => process.send(at(partner), row).await,
                _ => process.receive(at(partner), row).await,
            }
        }
        if mine < cube {
            let mut bit = 1;
            while bit < cube {
                let (sent, received) = match mine {
                    _ if mine >= 2 * bit => (row, row),
                    _ if mine >= bit => (row, both),
                    _ => (both, row),
                };
                process.exchange(Next::Anything, at(mine ^ bit), sent, received).await;
                bit *= 2;
            }
        } else if processes - cube > 1 {
            process.broadcast_beyond(panel.row, cube, panel.jb, &mut None).await;
        }
        if has_partner {
            if mine >= cube {
                process.receive(at(partner), row).await;
            } else {
                process.send(at(partner), row).await;
            }
        }
    }
}
