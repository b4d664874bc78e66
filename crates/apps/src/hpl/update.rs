//! The update of the rest of the matrix with a panel (HPL_pdupdate): swap rows, solve with the panel's top, multiply.
//!
//! While the next panel is on its way, the work is cut into pieces of NB columns, and after each one the process looks
//! whether that panel is there (T. Cornebize's thesis, algorithm 2).

use hpcast_units::Time;

use super::account::Phase;
use super::broadcast::Travelling;
use super::kernels::HplKernel::{Dgemm, Dlacpy, Dlaswp00N, Dlatcpy, Dtrsm};
use super::kernels::{HplKernel, Size};
use super::panel::Panel;
use super::process::{Process, Side, triangular};

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
        let mut pieces = Pieces { process: self, panel, rows, left: n };
        self.work_until_there(&mut travelling, &mut pieces).await;
        let left = pieces.left;
        if left > 0 {
            self.update_piece(panel, rows, left);
        }
        self.wait_for(&mut travelling).await;
        panel.nq -= n;
        self.enter(before);
    }

    fn update_piece(&self, panel: &Panel, rows: u64, columns: u64) {
        for (kernel, size) in self.kernels_of_piece(panel, rows, columns) {
            match kernel {
                Dtrsm => self.solve_triangular(self.side_of_top(), size),
                _ => self.kernel(kernel, size),
            }
        }
    }

    /// On which side of U the triangle at the panel's top stands.
    fn side_of_top(&self) -> Side {
        if self.parameters().u_transposed && self.rows() > 1 { Side::Right } else { Side::Left }
    }

    fn kernels_of_piece(&self, panel: &Panel, rows: u64, columns: u64) -> impl Iterator<Item = (HplKernel, Size)> {
        let alone = self.rows() == 1;
        let (copy, top) = match self.side_of_top() {
            Side::Right => (Dlatcpy, triangular(Side::Right, columns, panel.jb)),
            Side::Left => (Dlacpy, triangular(Side::Left, panel.jb, columns)),
        };
        let copies = self.row == panel.row && !alone;
        [
            alone.then_some((Dlaswp00N, Size::mn(panel.jb, columns))),
            Some((Dtrsm, top)),
            Some((Dgemm, Size::mnk(rows, columns, panel.jb))),
            copies.then_some((copy, Size::mn(panel.jb, columns))),
        ]
        .into_iter()
        .flatten()
    }
}

/// Columns that are updated NB at a time.
pub(super) struct Pieces<'p> {
    process: &'p Process,
    panel: &'p Panel,
    /// Rows below the panel's top.
    rows: u64,
    /// Columns that are left.
    left: u64,
}

impl Pieces<'_> {
    /// Does the next piece, if there is one.
    pub fn next(&mut self) -> bool {
        let columns = self.process.parameters().nb.min(self.left);
        if columns > 0 {
            self.process.update_piece(self.panel, self.rows, columns);
            self.left -= columns;
        }
        columns > 0
    }

    /// How many of NB columns are left, and how long each takes, if that does not depend on chance.
    pub fn alike(&self) -> Option<(u64, Time)> {
        let nb = self.process.parameters().nb;
        let count = self.left / nb;
        if count == 0 {
            return None;
        }
        let mut kernels = self.process.kernels_of_piece(self.panel, self.rows, nb);
        let length = kernels
            .try_fold(Time::ZERO, |sum, (kernel, size)| Some(sum + self.process.fixed_charge(kernel, size)?.length));
        length.map(|length| (count, length))
    }

    /// So many of these are done.
    pub fn take(&mut self, count: u64) {
        let nb = self.process.parameters().nb;
        for (kernel, size) in self.process.kernels_of_piece(self.panel, self.rows, nb) {
            self.process.account_for(kernel, size, count);
        }
        self.left -= count * nb;
    }
}
