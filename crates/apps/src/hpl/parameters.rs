//! What HPL.dat says of one run.

use super::grid::{Grid, Order};
use super::kernels::Size;

/// A way to factor a block of columns; the letters are those of HPL's own names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Factorisation {
    /// Left-looking.
    Left,
    /// Crout.
    Crout,
    /// Right-looking.
    Right,
}

/// How a panel travels along the rows of the grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Broadcast {
    /// One ring.
    Ring,
    /// One ring; the next process, which factors the next panel, is served first and forwards nothing.
    RingModified,
    /// Two rings.
    TwoRings,
    /// Two rings, modified likewise.
    TwoRingsModified,
    /// Spread and roll.
    Long,
    /// Spread and roll, modified likewise.
    LongModified,
}

/// How rows are exchanged down the columns of the grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Swap {
    /// Binary exchange.
    BinaryExchange,
    /// Spread and roll.
    Long,
    /// Spread and roll where more local columns than this are exchanged, else binary exchange.
    Mix {
        /// HPL.dat calls it the swapping threshold.
        threshold: u64,
    },
}

/// All parameters of one run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HplParameters {
    /// Order of the matrix.
    pub n: u64,
    /// Columns of a panel.
    pub nb: u64,
    /// Processes.
    pub grid: Grid,
    /// Factorisation of at most `nbmin` columns.
    pub pfact: Factorisation,
    /// The recursion above it.
    pub rfact: Factorisation,
    /// Panels are cut down to so many columns.
    pub nbmin: u64,
    /// Into so many parts at a time.
    pub ndiv: u64,
    /// How panels travel.
    pub broadcast: Broadcast,
    /// Panels factored ahead.
    pub depth: u32,
    /// How rows are exchanged.
    pub swap: Swap,
    /// Whether the top of a panel, L1, is kept transposed.
    pub l1_transposed: bool,
    /// Whether the exchanged rows, U, are kept transposed.
    pub u_transposed: bool,
    /// Whether the long swap levels out what processes hold.
    pub equilibration: bool,
    /// Whether panels are copied into one piece before they are sent, as HPL does when it is built with
    /// HPL_COPY_L or HPL_NO_MPI_DATATYPE.
    pub copy_panels: bool,
}

impl HplParameters {
    /// Usual values of HPL.dat: right-looking factorisation under a Crout recursion, the modified ring, one panel ahead.
    pub fn new(n: u64, nb: u64, rows: u32, columns: u32) -> HplParameters {
        HplParameters {
            n,
            nb,
            grid: Grid { rows, columns, order: Order::RowMajor },
            pfact: Factorisation::Right,
            rfact: Factorisation::Crout,
            nbmin: 4,
            ndiv: 2,
            broadcast: Broadcast::RingModified,
            depth: 1,
            swap: Swap::Mix { threshold: 64 },
            l1_transposed: true,
            u_transposed: true,
            equilibration: true,
            copy_panels: false,
        }
    }

    /// Number of panels.
    pub fn panels(&self) -> u64 {
        self.n.div_ceil(self.nb)
    }

    /// The sizes of the largest matrix product of a process.
    pub fn largest_update(&self) -> Size {
        let Grid { rows, columns, .. } = self.grid;
        Size::mnk((self.n / u64::from(rows)).max(1), (self.n / u64::from(columns)).max(1), self.nb)
    }

    /// Floating-point operations that HPL counts: 2/3 N^3 + 3/2 N^2.
    pub fn flops(&self) -> f64 {
        flops(self.n)
    }

    /// The part of them that is done when the first so many panels are: what is left is a smaller system.
    pub fn flops_until(&self, panels: u64) -> f64 {
        self.flops() - flops(self.n.saturating_sub(panels * self.nb))
    }
}

fn flops(n: u64) -> f64 {
    let n = n as f64;
    n * n * (2.0 / 3.0 * n + 1.5)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn most_operations_are_in_the_first_panels() {
        let parameters = HplParameters::new(1000, 300, 1, 1);
        let done: Vec<f64> = (0..=4).map(|panels| parameters.flops_until(panels) / parameters.flops()).collect();
        assert_eq!((done[0], done[4]), (0.0, 1.0));
        assert!((done[1] - (1.0 - 0.7f64.powi(3))).abs() < 1e-3, "{done:?}");
        assert!(done.windows(2).all(|pair| pair[0] < pair[1]));
    }
}
