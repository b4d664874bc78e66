//! The triangular solve at the end (HPL_pdtrsv): blocks of the solution go from the last to the first.

use super::account::Phase;
use super::kernels::HplKernel::{Daxpy, Dcopy, Dgemv, Dtrsv};
use super::kernels::Size;
use super::process::{Address, Class, Line, Process, after, distance};
use super::swap_plan::power_below;

fn along(line: Line, peer: u32) -> Address {
    Address { line, peer, class: Class::Ptrsv }
}

impl Process {
    /// Solves for the solution.
    pub async fn solve(&self) {
        let before = self.enter(Phase::Solve);
        let (n, nb) = (self.parameters().n, self.parameters().nb);
        let (rows, columns) = (self.rows(), self.columns());
        let last = (n - 1) / nb;
        let mut block = (self.row_deal.owner(n - 1), self.column_deal.owner(n - 1));
        let mut size = n - last * nb;
        let mut my_rows = self.row_deal.count(n, 0, self.row);
        self.move_right_hand_side(my_rows, self.column_deal.owner(n), block.1).await;

        // A process looks ahead over the rows above that the next blocks need.
        let ahead = ((u64::from(columns) - 1) * nb).max(nb);
        let near = |left: u64, size: u64| {
            let count = left.saturating_sub(size).min(ahead);
            self.row_deal.count(count, left.saturating_sub(size) - count, self.row)
        };
        let mut near_rows = near(n, size);
        if self.row == block.0 {
            my_rows -= size;
        }
        if (self.row, self.column) == block {
            self.solve_block(size);
        }
        let mut left = n - size;
        while left > 0 {
            let (previous, previous_size) = (block, size);
            block = (after(block.0, rows - 1, rows), after(block.1, columns - 1, columns));
            size = nb;
            let next_near = near(left, nb);
            if self.column == previous.1 {
                self.pass_solution_up(previous.0, previous_size, true).await;
                if near_rows > 0 {
                    self.kernel(Dgemv, Size::mn(near_rows, previous_size));
                    if columns > 1 {
                        self.send(along(Line::Row, block.1), near_rows).await;
                    }
                }
                self.pass_solution_up(previous.0, previous_size, false).await;
            } else if self.column == block.1 && near_rows > 0 {
                self.receive(along(Line::Row, previous.1), near_rows).await;
                self.kernel(Daxpy, Size::n(near_rows));
            }
            if (self.row, self.column) == block {
                self.solve_block(size);
            }
            if self.column == previous.1 && my_rows > near_rows {
                self.kernel(Dgemv, Size::mn(my_rows - near_rows, previous_size));
            }
            if self.row == block.0 {
                my_rows -= size;
            }
            near_rows = next_near;
            left -= size;
        }
        if self.column == block.1 {
            self.broadcast_solution(block.0, size).await;
        }
        self.enter(before);
    }

    /// The right-hand side goes to the column of the grid that owns the last block.
    async fn move_right_hand_side(&self, my_rows: u64, from: u32, to: u32) {
        if my_rows > 0 && from != to {
            if self.column == from {
                self.send(along(Line::Row, to), my_rows).await;
            } else if self.column == to {
                self.receive(along(Line::Row, from), my_rows).await;
            }
        }
    }

    fn solve_block(&self, size: u64) {
        self.kernel(Dtrsv, Size::n(size));
        self.kernel(Dcopy, Size::n(size));
    }

    /// A block of the solution goes up its column of the grid: first its owner sends it and all others receive it; later,
    /// after the urgent part of their work, these pass it on.
    async fn pass_solution_up(&self, owner: u32, size: u64, first: bool) {
        let rows = self.rows();
        if rows == 1 {
            return;
        }
        let above = after(self.row, rows - 1, rows);
        match (first, distance(self.row, owner, rows)) {
            (true, 0) => self.send(along(Line::Column, above), size).await,
            (true, _) => self.receive(along(Line::Column, after(self.row, 1, rows)), size).await,
            (false, place) if place > 1 => self.send(along(Line::Column, above), size).await,
            (false, _) => {}
        }
    }

    /// The first block goes to all of its column of the grid: a binomial broadcast.
    async fn broadcast_solution(&self, root: u32, size: u64) {
        let rows = self.rows();
        if rows == 1 {
            return;
        }
        let me = distance(self.row, root, rows);
        let at = |place: u32| Address { line: Line::Column, peer: after(root, place, rows), class: Class::Coll };
        let mut bit = power_below(u64::from(rows - 1)) as u32;
        while bit > 0 {
            if me.is_multiple_of(bit) {
                if me & bit != 0 {
                    self.receive(at(me ^ bit), size).await;
                } else if me + bit < rows {
                    self.send(at(me + bit), size).await;
                }
            }
            bit /= 2;
        }
    }
}
