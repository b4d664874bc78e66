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
        if self.job.jointly {
            self.factor_jointly(panel).await;
        } else {
            factor_with(&super::pivot::Alone::new(self, panel), self.parameters(), panel.jb).await;
        }
        panel.nq -= panel.jb;
        self.enter(before);
        self.panel_is_factored(panel);
    }
}

/// Factors all columns of a panel.
pub(super) async fn factor_with(team: &impl Team, parameters: &HplParameters, columns: u64) {
    let mut steps = Vec::new();
    cut(parameters, Part { width: columns, first: 0, columns }, &mut steps);
    let transposed = parameters.l1_transposed;
    for step in steps {
        match step {
            Step::Columns(part) => factor_columns(team, parameters, part).await,
            Step::Triangular { order, columns } if transposed => team.solve_triangular(Side::Right, columns, order),
            Step::Triangular { order, columns } => team.solve_triangular(Side::Left, order, columns),
            Step::Multiply { below, n, k } => team.kernel(Dgemm, |share| Some(Size::mnk(share.below(below), n, k))),
            Step::MultiplyTop { m, n, k } if transposed => team.kernel(Dgemm, |_| Some(Size::mnk(n, m, k))),
            Step::MultiplyTop { m, n, k } => team.kernel(Dgemm, |_| Some(Size::mnk(m, n, k))),
            Step::Copy { m, n } => {
                let copy = if transposed { Dlatcpy } else { Dlacpy };
                team.kernel(copy, |share| share.owns_top.then_some(Size::mn(m, n)));
            }
        }
    }
}

/// A step of the factorisation.
enum Step {
    /// Factor these columns one by one.
    Columns(Part),
    /// Solve with a triangle of that order for so many columns.
    Triangular { order: u64, columns: u64 },
    /// Multiply what is below the first so many rows.
    Multiply { below: u64, n: u64, k: u64 },
    /// Multiply in the top of the panel, which all have.
    MultiplyTop { m: u64, n: u64, k: u64 },
    /// Who owns the panel's top copies what was factored.
    Copy { m: u64, n: u64 },
}

/// Cuts columns into parts and those again, down to a few columns each (HPL_pdrpan..); lists what is to be done.
///
/// A list, not a recursion of futures: a process that waits for a pivot is resumed through as few of them as possible.
fn cut(parameters: &HplParameters, part: Part, steps: &mut Vec<Step>) {
    if part.columns <= parameters.nbmin {
        return steps.push(Step::Columns(part));
    }
    let most = part.columns.div_ceil(parameters.nbmin).div_ceil(parameters.ndiv) * parameters.nbmin;
    let (mut done, mut left) = (0, part.columns);
    while left > 0 {
        let columns = most.min(left);
        left -= columns;
        let next = Part { first: part.first + done, columns, ..part };
        match parameters.rfact {
            Factorisation::Left => {
                steps.push(Step::Triangular { order: done, columns });
                steps.push(Step::Multiply { below: next.first, n: columns, k: done });
                cut(parameters, next, steps);
            }
            Factorisation::Crout => {
                steps.push(Step::Multiply { below: next.first, n: columns, k: done });
                cut(parameters, next, steps);
                if left > 0 {
                    steps.push(Step::MultiplyTop { m: columns, n: left, k: done });
                    steps.push(Step::Triangular { order: columns, columns: left });
                }
            }
            Factorisation::Right => {
                cut(parameters, next, steps);
                steps.push(Step::Triangular { order: columns, columns: left });
                steps.push(Step::Multiply { below: next.first + columns, n: left, k: columns });
            }
        }
        steps.push(Step::Copy { m: next.first, n: columns });
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
