//! A panel: some columns that are factored together, as one process sees them (HPL_pdpanel_init).

use std::rc::Rc;

use super::process::Process;
use super::swap_plan::SwapPlan;

#[derive(Clone)]
pub(super) struct Panel {
    /// Which panel it is, counted from the left.
    pub number: u32,
    /// Row and column of the grid that own its top left corner.
    pub row: u32,
    pub column: u32,
    /// Columns.
    pub jb: u64,
    /// Columns from here to the right end of the matrix, those of the panel included until it is factored.
    pub n: u64,
    /// My rows from the panel's top on.
    pub mp: u64,
    /// My columns that it has still to update.
    pub nq: u64,
    /// Numbers that are broadcast: the rows below, the top, the pivots, and whether it went well.
    pub length: u64,
    /// Rows that it exchanges; known once it is factored.
    pub plan: Option<Rc<SwapPlan>>,
}

impl Process {
    /// The panel of `jb` columns that starts at row and column `start`, of which `n` rows are left.
    pub fn panel(&self, start: u64, n: u64, jb: u64) -> Panel {
        let row = self.row_deal.owner(start);
        let mp = self.row_deal.count(n, start, self.row);
        let below = if self.row == row { mp.saturating_sub(jb) } else { mp };
        Panel {
            number: (start / self.parameters().nb) as u32,
            row,
            column: self.column_deal.owner(start),
            jb,
            n: n + 1,
            mp,
            nq: self.column_deal.count(n + 1, start, self.column),
            length: below * jb + jb * jb + jb + 1,
            plan: (jb > 0 && self.rows() > 1).then(|| self.swap_plan(start, jb)),
        }
    }
}
