//! Rows that change places, down the columns of the grid (HPL_pdlaswp).

use std::rc::Rc;

use super::account::Phase;
use super::broadcast::Travelling;
use super::kernels::HplKernel::{
    Dlaswp00N, Dlaswp01N, Dlaswp01T, Dlaswp02N, Dlaswp03N, Dlaswp03T, Dlaswp04N, Dlaswp04T, Dlaswp05N, Dlaswp05T,
    Dlaswp06N, Dlaswp06T, Dlaswp10N,
};
use super::kernels::{HplKernel, Size};
use super::panel::Panel;
use super::parameters::Swap;
use super::process::{Process, after, distance, in_column};
use super::swap_plan::{LongPlan, SwapPlan, power_below};

impl Process {
    /// Exchanges the rows of `n` local columns.
    pub async fn swap(&self, panel: &Panel, n: u64, travelling: &mut Option<Travelling<'_>>) {
        let Some(plan) = panel.plan.clone() else { return };
        let before = self.enter(Phase::Swap);
        let long = match self.parameters().swap {
            Swap::BinaryExchange => false,
            Swap::Long => true,
            Swap::Mix { threshold } => n > threshold,
        };
        if long {
            self.swap_long(panel, &plan.long, plan.moved_by_owner, n, travelling).await;
        } else {
            self.swap_by_exchange(panel, plan, n, travelling).await;
        }
        self.enter(before);
    }

    /// The kernel for U as it is kept.
    fn for_u(&self, [plain, transposed]: [HplKernel; 2]) -> HplKernel {
        if self.parameters().u_transposed { transposed } else { plain }
    }

    /// Binary exchange over a hypercube (HPL_pdlaswp00): the owner of the panel sends U, the others send rows.
    async fn swap_by_exchange(
        &self,
        panel: &Panel,
        plan: Rc<SwapPlan>,
        n: u64,
        travelling: &mut Option<Travelling<'_>>,
    ) {
        let processes = self.rows();
        let row = |distance: u32| after(panel.row, distance, processes);
        let (u, cube) = (panel.jb * n, power_below(u64::from(processes)) as u32);
        let me = distance(self.row, panel.row, processes);
        // Rows travel with their index.
        let sent = |stage: usize, distance: u32| plan.exchanged[stage][row(distance) as usize];
        let numbers = |rows: u64| rows * (n + 1);
        let moved = if me == 0 { plan.moved_by_owner } else { sent(0, me) };
        let first = if me == 0 { self.for_u([Dlaswp01N, Dlaswp01T]) } else { Dlaswp02N };
        self.move_rows(first, moved, n);
        self.look_for(travelling).await;

        let mine = if me == 0 { 0 } else { moved };
        let partner = me ^ cube;
        let has_partner = processes > cube && partner < processes;
        if has_partner {
            let address = in_column(row(partner));
            if me == 0 {
                self.exchange(self.next(travelling), address, u, numbers(sent(0, partner))).await;
                self.move_rows(self.for_u([Dlaswp03N, Dlaswp03T]), sent(0, partner), n);
            } else if me == cube {
                self.exchange(self.next(travelling), address, numbers(sent(0, me)), u).await;
            } else if me > cube {
                self.exchange(self.next(travelling), address, numbers(sent(0, me)), 0).await;
            } else {
                self.exchange(self.next(travelling), address, 0, numbers(sent(0, partner))).await;
            }
        }
        self.look_for(travelling).await;

        if me < cube {
            let (mut bit, mut stage) = (1, 1);
            while bit < cube {
                let address = in_column(row(me ^ bit));
                let received = sent(stage, me ^ bit);
                if me >= 2 * bit {
                    self.exchange(self.next(travelling), address, numbers(sent(stage, me)), numbers(received)).await;
                } else if me >= bit {
                    self.exchange(self.next(travelling), address, numbers(sent(stage, me)), u).await;
                    self.rows_into_u(mine, sent(stage, me), n);
                } else {
                    self.exchange(self.next(travelling), address, u, numbers(received)).await;
                    self.move_rows(self.for_u([Dlaswp03N, Dlaswp03T]), received, n);
                }
                self.look_for(travelling).await;
                (bit, stage) = (2 * bit, stage + 1);
            }
        } else {
            if processes - cube > 1 {
                let mut list = Vec::new();
                self.broadcast_beyond(panel.row, cube, u, &mut list);
                self.follow(list.into(), 1, travelling).await;
            }
            self.move_rows(self.for_u([Dlaswp05N, Dlaswp05T]), mine, n);
        }

        if has_partner {
            let address = in_column(row(partner));
            if me >= cube {
                self.receive(address, u).await;
            } else {
                self.send(address, u).await;
            }
        }
        self.look_for(travelling).await;
    }

    fn move_rows(&self, kernel: HplKernel, rows: u64, n: u64) {
        if rows > 0 && n > 0 {
            self.kernel(kernel, Size::mn(rows, n));
        }
    }

    /// My own rows, and those that came, go into U.
    fn rows_into_u(&self, mine: u64, came: u64, n: u64) {
        if (mine > 0 || came > 0) && n > 0 {
            // m is what came, as published models have it; k is what was mine.
            self.kernel(self.for_u([Dlaswp04N, Dlaswp04T]), Size::mnk(came, n, mine));
        }
    }

    /// Spread and roll (HPL_pdlaswp01).
    async fn swap_long(
        &self,
        panel: &Panel,
        plan: &LongPlan,
        moved_by_owner: u64,
        n: u64,
        travelling: &mut Option<Travelling<'_>>,
    ) {
        let owner = self.row == panel.row;
        let exchanges = plan.exchanges(self.row, self.parameters().equilibration);
        if owner {
            self.move_rows(self.for_u([Dlaswp01N, Dlaswp01T]), moved_by_owner, n);
        }
        self.follow(exchanges.spread.clone(), n, travelling).await;
        if !owner {
            self.move_rows(self.for_u([Dlaswp06N, Dlaswp06T]), plan.count(self.row), n);
        }
        self.follow(exchanges.rolled.clone(), n, travelling).await;
        if self.parameters().u_transposed {
            self.move_rows(Dlaswp10N, n, panel.jb);
        } else {
            self.move_rows(Dlaswp00N, panel.jb, n);
        }
    }
}
