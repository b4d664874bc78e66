//! Many products of matrices in one call (`cblas_dgemm_batch`): groups of equal ones.

use super::entry::Registers;
use super::prototype::{Argument, Passed, word};
use super::{Effect, Extents, How, Replaced, Returned};

/// Where the sizes of the groups are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Batch {
    /// Arrays of M, N and K, one for each group.
    sizes: [usize; 3],
    /// The number of groups.
    groups: (usize, Passed),
    /// The array that says how many products are in each group.
    counts: usize,
}

/// Products of the same sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Group {
    /// M, N and K.
    pub sizes: [i32; 3],
    /// How many.
    pub count: u32,
}

impl Batch {
    /// C says first how matrices are stored, and Fortran passes the number of groups by reference.
    const C: Batch = Batch { sizes: [3, 4, 5], groups: (14, Passed::Int), counts: 15 };
    const FORTRAN: Batch = Batch { sizes: [2, 3, 4], groups: (13, Passed::IntAt(0)), counts: 14 };

    /// The groups of a call.
    pub fn groups(&self, registers: &Registers) -> Vec<Group> {
        // All arguments are integers or addresses: beyond the registers they follow each other on the stack.
        let stacked = |place: usize| place.saturating_sub(6);
        let (place, how) = self.groups;
        let groups = Argument::Passed { place, how, stacked: stacked(place) }.value(registers);
        let at = |place: usize, group: usize| {
            let array = word(registers, place, stacked(place)) as *const i32;
            // SAFETY: the interface passes arrays with a number for each group.
            unsafe { array.add(group).read_unaligned() }
        };
        (0..groups.max(0.0) as usize)
            .map(|group| Group {
                sizes: self.sizes.map(|place| at(place, group).max(0)),
                count: at(self.counts, group).max(0) as u32,
            })
            .collect()
    }
}

/// `?gemm_batch_` and `cblas_?gemm_batch` in all four types: as long as their products one after the other.
pub(super) fn functions() -> Vec<Replaced> {
    let of = |letter: char| {
        [(format!("{letter}gemm_batch_"), Batch::FORTRAN), (format!("cblas_{letter}gemm_batch"), Batch::C)].map(
            |(symbol, batch)| Replaced {
                symbol,
                kernel: format!("{letter}gemm"),
                how: How::Model,
                // What is found at these places are arrays.
                arguments: ["M", "N", "K"]
                    .into_iter()
                    .zip(batch.sizes)
                    .map(|(name, place)| {
                        (name.to_owned(), Argument::Passed { place, how: Passed::Pointer, stacked: 0 })
                    })
                    .collect(),
                returned: Returned::Zero,
                effect: Effect::None,
                extents: Extents::default(),
                batch: Some(batch),
                is_listed: false,
            },
        )
    };
    ['s', 'd', 'c', 'z'].into_iter().flat_map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_types_have_the_models_of_their_products() {
        let names: Vec<(String, String)> = functions().into_iter().map(|it| (it.symbol, it.kernel)).collect();
        for (symbol, kernel) in
            [("cblas_sgemm_batch", "sgemm"), ("cblas_zgemm_batch", "zgemm"), ("cgemm_batch_", "cgemm")]
        {
            assert!(names.contains(&(symbol.to_owned(), kernel.to_owned())), "{symbol}");
        }
        assert_eq!(names.len(), 8);
    }

    #[test]
    fn groups_are_found_in_both_interfaces() {
        let (m, n, k, counts, number) = ([4i32, 10], [5i32, 20], [6i32, 30], [3i32, 1], 2i32);
        let array = |values: &[i32]| values.as_ptr() as u64;
        let wanted = [Group { sizes: [4, 5, 6], count: 3 }, Group { sizes: [10, 20, 30], count: 1 }];
        let stack = [0, 0, 0, 0, 0, 0, 0, 0, 2, array(&counts)];
        let integers = [101, 0, 0, array(&m), array(&n), array(&k)];
        let registers = Registers { integers, floats: [0.0; 8], stack: stack.as_ptr() };
        assert_eq!(Batch::C.groups(&registers), wanted);
        let stack = [0, 0, 0, 0, 0, 0, 0, &raw const number as u64, array(&counts)];
        let integers = [0, 0, array(&m), array(&n), array(&k), 0];
        let registers = Registers { integers, floats: [0.0; 8], stack: stack.as_ptr() };
        assert_eq!(Batch::FORTRAN.groups(&registers), wanted);
    }
}
