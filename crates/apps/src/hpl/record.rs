//! What each rank did, line by line: to be compared with a recording of the real HPL (see fidelity/).

use std::fmt::Write;

use super::kernels::{HplKernel, Size};
use super::process::{Address, Class, Line, Side};

/// Lines of text, by rank.
#[derive(Clone, Debug, Default)]
pub struct Recorder {
    ranks: Vec<String>,
}

impl Recorder {
    /// Nothing is recorded yet.
    pub fn new(ranks: u32) -> Recorder {
        Recorder { ranks: vec![String::new(); ranks as usize] }
    }

    /// The lines of each rank.
    pub fn into_lines(self) -> Vec<String> {
        self.ranks
    }

    pub(super) fn message(&mut self, direction: char, rank: u32, peer: u32, address: Address, numbers: u64) {
        let line = match address.line {
            Line::Row => "row",
            Line::Column => "col",
        };
        let class = match address.class {
            Class::Pfact => "pfact",
            Class::Fact(_) => "fact",
            Class::Ptrsv => "ptrsv",
            Class::Coll => "coll",
        };
        self.line(rank, format_args!("{direction} {line} {peer} {class} {}", 8 * numbers));
    }

    pub(super) fn kernel(&mut self, rank: u32, kernel: HplKernel, Size { m, n, k }: Size) {
        use HplKernel::*;
        let name = kernel.name();
        match kernel {
            Dgemm => self.line(rank, format_args!("K {name} {m} {n} {k}")),
            Idamax | Dcopy | Dscal | Daxpy | Dtrsv | DlocswpN | DlocswpT => {
                self.line(rank, format_args!("K {name} {n}"));
            }
            Dlaswp04N | Dlaswp04T => self.line(rank, format_args!("K {name} {k} {m} {n}")),
            _ => self.line(rank, format_args!("K {name} {m} {n}")),
        }
    }

    pub(super) fn triangular(&mut self, rank: u32, side: Side, m: u64, n: u64) {
        let side = if side == Side::Left { 'L' } else { 'R' };
        self.line(rank, format_args!("K dtrsm {side} {m} {n}"));
    }

    fn line(&mut self, rank: u32, line: std::fmt::Arguments<'_>) {
        // Writing to a string cannot fail.
        let _ = writeln!(self.ranks[rank as usize], "{line}");
    }
}
