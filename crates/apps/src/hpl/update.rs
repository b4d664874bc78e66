//! The update of the rest of the matrix with a panel (HPL_pdupdate): swap rows, solve with the panel's top, multiply.
//!
//! While the next panel is on its way, the work is cut into pieces of NB columns, and after each one the process looks
//! whether that panel is there (T. Cornebize's thesis, algorithm 2).

use super::account::Phase;
use super::broadcast::Travelling;
use super::kernels::HplKernel::{Dgemm, Dlacpy, Dlaswp00N, Dlatcpy};
use super::kernels::Size;
use super::panel::Panel;
use super::process::{Process, Side};

impl Process {
    /// Updates my columns, at most `most` of them, and passes on the panel that is travelling.
    pub async fn update(&self, panel: &mut Panel, most: Option<u64>, mut travelling: Option<Travelling<'_>>) {
        let n = most.map_or(panel.nq, |most| most.min(panel.nq));
        if n == 0 || panel.jb == 0 {
            return self.wait_for(&mut travelling).await;
        }
        let before = self.enter(Phase::Update);
        self.look_for(&mut travelling).await;
        self.swap(panel, n, &mut travelling).await;
        let owner = self.row == panel.row;
        let rows = panel.mp - if owner { panel.jb } else { 0 };
        let mut done = 0;
        let piece = || {
            let columns = self.parameters().nb.min(n - done);
            if columns > 0 {
                self.update_piece(panel, rows, columns);
                done += columns;
            }
            columns > 0
        };
        self.work_until_there(&mut travelling, piece).await;
        if done < n {
            self.update_piece(panel, rows, n - done);
        }
        self.wait_for(&mut travelling).await;
        panel.nq -= n;
        self.enter(before);
    }

    fn update_piece(&self, panel: &Panel, rows: u64, columns: u64) {
        let alone = self.rows() == 1;
        let transposed = self.parameters().u_transposed && !alone;
        if alone {
            self.kernel(Dlaswp00N, Size::mn(panel.jb, columns));
        }
        if transposed {
            self.solve_triangular(Side::Right, columns, panel.jb);
        } else {
            self.solve_triangular(Side::Left, panel.jb, columns);
        }
        self.kernel(Dgemm, Size::mnk(rows, columns, panel.jb));
        if self.row == panel.row && !alone {
            self.kernel(if transposed { Dlatcpy } else { Dlacpy }, Size::mn(panel.jb, columns));
        }
    }
}
