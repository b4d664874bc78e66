//! The grid of processes, and who owns which rows and columns of the matrix.

/// How ranks are laid out on the grid.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// Along the rows of the grid.
    #[default]
    RowMajor,
    /// Down its columns.
    ColumnMajor,
}

/// P x Q processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grid {
    /// P.
    pub rows: u32,
    /// Q.
    pub columns: u32,
    /// How ranks are laid out.
    pub order: Order,
}

impl Grid {
    /// Row and column of a rank.
    pub fn place(&self, rank: u32) -> (u32, u32) {
        match self.order {
            Order::RowMajor => (rank / self.columns, rank % self.columns),
            Order::ColumnMajor => (rank % self.rows, rank / self.rows),
        }
    }

    /// The rank at a place.
    #[inline]
    pub fn rank(&self, row: u32, column: u32) -> u32 {
        match self.order {
            Order::RowMajor => row * self.columns + column,
            Order::ColumnMajor => column * self.rows + row,
        }
    }

    /// Number of processes.
    pub fn size(&self) -> u32 {
        self.rows * self.columns
    }
}

/// Rows, or columns, dealt in blocks to processes like cards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deal {
    /// Rows in a block.
    pub block: u64,
    /// Number of processes.
    pub processes: u32,
}

impl Deal {
    /// Which process has it.
    #[inline]
    pub fn owner(&self, index: u64) -> u32 {
        ((index / self.block) % u64::from(self.processes)) as u32
    }

    /// How many of the `count` from `start` on a process has (HPL_numrocI).
    #[inline]
    pub fn count(&self, count: u64, start: u64, process: u32) -> u64 {
        self.below(start + count, process) - self.below(start, process)
    }

    /// Which one is a process's, counted from 0 among those that it has.
    pub fn nth(&self, number: u64, process: u32) -> u64 {
        (number / self.block * u64::from(self.processes) + u64::from(process)) * self.block + number % self.block
    }

    /// How many below `end` a process has.
    #[inline]
    fn below(&self, end: u64, process: u32) -> u64 {
        let round = self.block * u64::from(self.processes);
        let rest = (end % round).saturating_sub(u64::from(process) * self.block);
        end / round * self.block + rest.min(self.block)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_and_ranks_belong_together() {
        for order in [Order::RowMajor, Order::ColumnMajor] {
            let grid = Grid { rows: 3, columns: 4, order };
            for rank in 0..grid.size() {
                let (row, column) = grid.place(rank);
                assert!(row < 3 && column < 4);
                assert_eq!(grid.rank(row, column), rank);
            }
        }
        assert_eq!(Grid { rows: 3, columns: 4, order: Order::RowMajor }.place(5), (1, 1));
        assert_eq!(Grid { rows: 3, columns: 4, order: Order::ColumnMajor }.place(5), (2, 1));
    }

    #[test]
    fn counting_equals_asking_each_owner() {
        for (block, processes) in [(1, 1), (3, 1), (4, 3), (7, 5)] {
            let deal = Deal { block, processes };
            for start in 0..50 {
                for count in 0..50 {
                    for process in 0..processes {
                        let asked = (start..start + count).filter(|&index| deal.owner(index) == process).count();
                        assert_eq!(deal.count(count, start, process), asked as u64);
                    }
                }
            }
        }
    }
}
