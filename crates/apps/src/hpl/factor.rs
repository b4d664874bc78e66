//! The factorisation of a panel, among the processes of one column of the grid (HPL_pdfact and what it calls).

use super::account::Phase;
use super::kernels::HplKernel::{
    Daxpy, Dcopy, Dgemm, Dgemv, Dger, Dlacpy, Dlatcpy, DlocswpN, DlocswpT, Dscal, Dtrsv, Idamax,
};
use super::kernels::Size;
use super::panel::Panel;
use super::parameters::Factorisation;
use super::process::{Process, Side, after, distance, in_column};
use super::swap_plan::power_below;

/// Part of a panel: columns `first..first + columns`, and how many local rows are below its top.
#[derive(Clone, Copy)]
struct Part {
    rows: u64,
    columns: u64,
    first: u64,
}

impl Process {
    /// Factors the panel, if it is mine.
    pub async fn factor(&self, panel: &mut Panel) {
        panel.n -= panel.jb;
        if self.column != panel.column || panel.jb == 0 {
            return;
        }
        let before = self.enter(Phase::Factorisation);
        self.recurse(panel, Part { rows: panel.mp, columns: panel.jb, first: 0 }).await;
        panel.nq -= panel.jb;
        self.enter(before);
        self.panel_is_factored(panel);
    }

    /// Cuts columns into parts and factors them one after the other (HPL_pdrpan..).
    async fn recurse(&self, panel: &Panel, part: Part) {
        let parameters = *self.parameters();
        if part.columns <= parameters.nbmin {
            return self.factor_columns(panel, part).await;
        }
        let most = part.columns.div_ceil(parameters.nbmin).div_ceil(parameters.ndiv) * parameters.nbmin;
        let transposed = parameters.l1_transposed;
        let mine = self.row == panel.row;
        let (mut done, mut rows, mut left) = (0, part.rows, part.columns);
        while left > 0 {
            let columns = most.min(left);
            left -= columns;
            let next = Part { rows, columns, first: part.first + done };
            match parameters.rfact {
                Factorisation::Left => {
                    self.triangular(transposed, done, columns);
                    self.kernel(Dgemm, Size::mnk(rows, columns, done));
                    Box::pin(self.recurse(panel, next)).await;
                }
                Factorisation::Crout => {
                    self.kernel(Dgemm, Size::mnk(rows, columns, done));
                    Box::pin(self.recurse(panel, next)).await;
                    if left > 0 {
                        let (m, n) = if transposed { (left, columns) } else { (columns, left) };
                        self.kernel(Dgemm, Size::mnk(m, n, done));
                        self.triangular(transposed, columns, left);
                    }
                }
                Factorisation::Right => {
                    Box::pin(self.recurse(panel, next)).await;
                    self.triangular(transposed, columns, left);
                    self.kernel(Dgemm, Size::mnk(rows - if mine { columns } else { 0 }, left, columns));
                }
            }
            if mine {
                self.kernel(if transposed { Dlatcpy } else { Dlacpy }, Size::mn(next.first, columns));
                rows -= columns;
            }
            done += columns;
        }
    }

    /// Solves with the top of the panel for `columns` columns.
    fn triangular(&self, transposed: bool, order: u64, columns: u64) {
        if transposed {
            self.solve_triangular(Side::Right, columns, order);
        } else {
            self.solve_triangular(Side::Left, order, columns);
        }
    }

    /// Factors a few columns one by one (HPL_pdpan..).
    async fn factor_columns(&self, panel: &Panel, part: Part) {
        let parameters = *self.parameters();
        let transposed = parameters.l1_transposed;
        let swap_locally = if transposed { DlocswpT } else { DlocswpN };
        let mine = u64::from(self.row == panel.row);
        let mut rows = part.rows;
        self.find_largest(rows);
        for done in 0..part.columns {
            // Columns that are left after this one.
            let left = part.columns - 1 - done;
            // Rows that are left below the pivot.
            let below = rows.saturating_sub(mine);
            self.exchange_pivot(panel, rows > 0).await;
            self.kernel(swap_locally, Size::n(panel.jb));
            if left == 0 {
                self.kernel(Dscal, Size::n(below));
                return;
            }
            match parameters.pfact {
                Factorisation::Left => {
                    self.kernel(Dtrsv, Size::n(done + 1));
                    self.kernel(Dscal, Size::n(below));
                    self.kernel(Dgemv, Size::mn(below, done + 1));
                    self.find_largest(below);
                    if mine == 1 {
                        self.kernel(Dcopy, Size::n(done + 1));
                    }
                }
                Factorisation::Crout => {
                    if done > 0 {
                        let (m, n) = if transposed { (left, done) } else { (done, left) };
                        self.kernel(Dgemv, Size::mn(m, n));
                        if mine == 1 {
                            self.kernel(Dcopy, Size::n(left));
                        }
                    }
                    self.kernel(Dscal, Size::n(below));
                    self.kernel(Dgemv, Size::mn(below, done + 1));
                    self.find_largest(below);
                }
                Factorisation::Right => {
                    self.kernel(Dscal, Size::n(below));
                    self.kernel(Daxpy, Size::n(below));
                    self.find_largest(below);
                    if left > 1 {
                        self.kernel(Dger, Size::mn(below, left - 1));
                    }
                }
            }
            rows = below;
        }
    }

    fn find_largest(&self, rows: u64) {
        if rows > 0 {
            self.kernel(Idamax, Size::n(rows));
        }
    }

    /// Finds the pivot of a column among all processes, and tells them its row and the one it changes places with
    /// (HPL_pdmxswp): an exchange over a hypercube; processes beyond it hand theirs to a partner inside.
    ///
    /// A message holds a row of the panel and 4 numbers; the owner of the panel's top sends its own row as well.
    async fn exchange_pivot(&self, panel: &Panel, has_rows: bool) {
        let (row, both) = (panel.jb + 4, 2 * panel.jb + 4);
        if has_rows {
            self.kernel(Dcopy, Size::n(panel.jb));
            if self.row == panel.row {
                self.kernel(Dcopy, Size::n(panel.jb));
            }
        }
        let processes = self.rows();
        let cube = power_below(u64::from(processes)) as u32;
        let mine = distance(self.row, panel.row, processes);
        let at = |distance: u32| in_column(after(panel.row, distance, processes));
        let partner = mine ^ cube;
        let has_partner = processes > cube && partner < processes;
        if has_partner {
            match mine {
                0 => self.exchange(at(partner), panel.jb, row).await,
                _ if mine == cube => self.exchange(at(partner), row, panel.jb).await,
                _ if mine > cube => self.send(at(partner), row).await,
                _ => self.receive(at(partner), row).await,
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
                self.exchange(at(mine ^ bit), sent, received).await;
                bit *= 2;
            }
        } else if processes - cube > 1 {
            self.broadcast_beyond(panel.row, cube, panel.jb, &mut None).await;
        }
        if has_partner {
            if mine >= cube {
                self.receive(at(partner), row).await;
            } else {
                self.send(at(partner), row).await;
            }
        }
    }
}
