//! The factorisation of a panel, among the processes of one column of the grid (HPL_pdfact and what it calls).
//!
//! What is done is the same for all of them but for their numbers of rows. It is written once for a [`Team`]: one process
//! that exchanges messages with the others (`pivot.rs`), or all processes of the column at once (`joint.rs`).

use super::account::Phase;
use super::kernels::HplKernel::{
    Daxpy, Dcopy, Dgemm, Dgemv, Dger, Dlacpy, Dlatcpy, DlocswpN, DlocswpT, Dscal, Dtrsv, Idamax,
};
use super::kernels::{HplKernel, Size};
use super::panel::Panel;
use super::parameters::{Factorisation, HplParameters};
use super::process::{Process, Side};

/// What a process has of the panel.
#[derive(Clone, Copy, Debug)]
pub(super) struct Share {
    /// Rows.
    pub rows: u64,
    /// Does it own the panel's top, which gets a row shorter with each column?
    pub owns_top: bool,
}

impl Share {
    /// Rows that are left after so many columns.
    #[inline]
    pub fn below(self, columns: u64) -> u64 {
        if self.owns_top { self.rows.saturating_sub(columns) } else { self.rows }
    }
}

/// Those who factor a panel.
pub(super) trait Team {
    /// Each calls a kernel, with sizes that depend on its share; who has none does not call it.
    fn kernel(&self, kernel: HplKernel, size: impl Fn(Share) -> Option<Size>);
    /// Each solves with a triangular matrix.
    fn solve_triangular(&self, side: Side, m: u64, n: u64);
    /// All find the pivot of a column that so many others came before, and tell each other its row.
    async fn exchange_pivot(&self, column: u64);
}

/// Part of a panel of some width: columns `first..first + columns`.
#[derive(Clone, Copy)]
struct Part {
    width: u64,
    first: u64,
    columns: u64,
}

impl Process {
    /// Factors the panel, if it is mine.
    pub async fn factor(&self, panel: &mut Panel) {
        panel.n -= panel.jb;
        if self.column != panel.column || panel.jb == 0 {
            return;
        }
        let before = self.enter(Phase::Factorisation);
        if self.job.jointly && self.rows() > 1 {
            self.factor_jointly(panel).await;
        } else {
            factor_with(&super::pivot::Alone { process: self, panel }, self.parameters(), panel.jb).await;
        }
        panel.nq -= panel.jb;
        self.enter(before);
        self.panel_is_factored(panel);
    }
}

/// Factors all columns of a panel.
pub(super) async fn factor_with(team: &impl Team, parameters: &HplParameters, columns: u64) {
    recurse(team, parameters, Part { width: columns, first: 0, columns }).await;
}

/// Cuts columns into parts and factors them one after the other (HPL_pdrpan..).
async fn recurse(team: &impl Team, parameters: &HplParameters, part: Part) {
    if part.columns <= parameters.nbmin {
        return factor_columns(team, parameters, part).await;
    }
    let most = part.columns.div_ceil(parameters.nbmin).div_ceil(parameters.ndiv) * parameters.nbmin;
    let transposed = parameters.l1_transposed;
    let triangular = |order: u64, columns: u64| {
        if transposed {
            team.solve_triangular(Side::Right, columns, order);
        } else {
            team.solve_triangular(Side::Left, order, columns);
        }
    };
    let (mut done, mut left) = (0, part.columns);
    while left > 0 {
        let columns = most.min(left);
        left -= columns;
        let next = Part { first: part.first + done, columns, ..part };
        match parameters.rfact {
            Factorisation::Left => {
                triangular(done, columns);
                team.kernel(Dgemm, |share| Some(Size::mnk(share.below(next.first), columns, done)));
                Box::pin(recurse(team, parameters, next)).await;
            }
            Factorisation::Crout => {
                team.kernel(Dgemm, |share| Some(Size::mnk(share.below(next.first), columns, done)));
                Box::pin(recurse(team, parameters, next)).await;
                if left > 0 {
                    let (m, n) = if transposed { (left, columns) } else { (columns, left) };
                    team.kernel(Dgemm, |_| Some(Size::mnk(m, n, done)));
                    triangular(columns, left);
                }
            }
            Factorisation::Right => {
                Box::pin(recurse(team, parameters, next)).await;
                triangular(columns, left);
                team.kernel(Dgemm, |share| Some(Size::mnk(share.below(next.first + columns), left, columns)));
            }
        }
        let copy = if transposed { Dlatcpy } else { Dlacpy };
        team.kernel(copy, |share| share.owns_top.then_some(Size::mn(next.first, columns)));
        done += columns;
    }
}

/// Factors a few columns one by one (HPL_pdpan..).
async fn factor_columns(team: &impl Team, parameters: &HplParameters, part: Part) {
    let transposed = parameters.l1_transposed;
    let swap_locally = if transposed { DlocswpT } else { DlocswpN };
    let find_largest = |column: u64| {
        team.kernel(Idamax, |share| match share.below(column) {
            0 => None,
            rows => Some(Size::n(rows)),
        });
    };
    find_largest(part.first);
    for done in 0..part.columns {
        let column = part.first + done;
        // Columns that are left after this one.
        let left = part.columns - 1 - done;
        let scale = || team.kernel(Dscal, |share| Some(Size::n(share.below(column + 1))));
        let multiply = || team.kernel(Dgemv, |share| Some(Size::mn(share.below(column + 1), done + 1)));
        team.exchange_pivot(column).await;
        team.kernel(swap_locally, |_| Some(Size::n(part.width)));
        if left == 0 {
            return scale();
        }
        match parameters.pfact {
            Factorisation::Left => {
                team.kernel(Dtrsv, |_| Some(Size::n(done + 1)));
                scale();
                multiply();
                find_largest(column + 1);
                team.kernel(Dcopy, |share| share.owns_top.then_some(Size::n(done + 1)));
            }
            Factorisation::Crout => {
                if done > 0 {
                    let (m, n) = if transposed { (left, done) } else { (done, left) };
                    team.kernel(Dgemv, |_| Some(Size::mn(m, n)));
                    team.kernel(Dcopy, |share| share.owns_top.then_some(Size::n(left)));
                }
                scale();
                multiply();
                find_largest(column + 1);
            }
            Factorisation::Right => {
                scale();
                team.kernel(Daxpy, |share| Some(Size::n(share.below(column + 1))));
                find_largest(column + 1);
                if left > 1 {
                    team.kernel(Dger, |share| Some(Size::mn(share.below(column + 1), left - 1)));
                }
            }
        }
    }
}
