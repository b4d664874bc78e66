//! In which order the algorithms of reductions combine data. Sums of floating-point numbers depend on it: programs get the digits
//! that they get from the library.
//!
//! Operands that must stay in order are combined from the last rank to the first, whatever the algorithm: that is always right.

use super::allreduce::Allreduce;
use super::buffer::{Buffer, Operator};
use super::reduce::Reduce;
use super::rules::Selection;
use super::split::{Folded, Shares, narrow};
use super::trees::{self, Places, Tree};

/// Elements that are combined in the same order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// The first of them.
    pub first: u64,
    /// How many.
    pub count: u64,
    /// Whose are combined into whose, one step after the other: a rank's with those of another that comes after it.
    pub steps: Vec<(u32, u32)>,
    /// Who has the result.
    pub result: u32,
}

/// The parts of all elements.
pub type Order = Box<dyn Iterator<Item = Part>>;

fn whole(buffer: Buffer, (steps, result): (Vec<(u32, u32)>, u32)) -> Order {
    Box::new(std::iter::once(Part { first: 0, count: buffer.count, steps, result }))
}

fn from_last_to_first(ranks: u32) -> (Vec<(u32, u32)>, u32) {
    let last = ranks - 1;
    ((0..last).rev().map(|rank| (rank, last)).collect(), last)
}

/// Neighbours beyond a power of two first, then pairs at doubling distance: also where vectors are halved meanwhile.
fn doubling(ranks: u32) -> (Vec<(u32, u32)>, u32) {
    let folded = Folded::onto_odd(ranks);
    let mut steps: Vec<(u32, u32)> = (0..folded.extra).map(|pair| (2 * pair, 2 * pair + 1)).collect();
    let mut distance = 1;
    while distance < folded.power {
        let pairs = (distance - 1..folded.power).step_by(2 * distance as usize);
        steps.extend(pairs.map(|number| (folded.rank(number), folded.rank(number + distance))));
        distance *= 2;
    }
    (steps, folded.rank(folded.power - 1))
}

/// Each rank's with those of its children, in turn, whose own are complete.
fn up(root: u32, tree: impl Fn(u32) -> Tree) -> (Vec<(u32, u32)>, u32) {
    let mut steps = Vec::new();
    let mut path = vec![(root, tree(root).children.into_iter())];
    while let Some((rank, children)) = path.last_mut() {
        let rank = *rank;
        if let Some(child) = children.next() {
            path.push((child, tree(child).children.into_iter()));
        } else {
            path.pop();
            steps.extend(path.last().map(|&(parent, _)| (rank, parent)));
        }
    }
    (steps, root)
}

/// Each block on its way round the ring, from its own rank on.
fn ring(ranks: u32, buffer: Buffer) -> Order {
    let blocks = Shares::new(buffer.count, ranks.into());
    Box::new((0..ranks).map(move |block| {
        let at = |step: u32| ((u64::from(block) + u64::from(step)) % u64::from(ranks)) as u32;
        Part {
            first: blocks.count_of(0, block.into()),
            count: blocks.count(block.into()),
            steps: (1..ranks).map(|step| (at(step - 1), at(step))).collect(),
            result: at(ranks - 1),
        }
    }))
}

impl Allreduce {
    fn order(self, selection: &Selection, ranks: u32, buffer: Buffer, operator: Operator) -> Order {
        match self {
            Allreduce::Nonoverlapping => selection.reduce(ranks, buffer, operator).order(ranks, buffer, 0),
            Allreduce::RecursiveDoubling | Allreduce::MpichRabenseifner | Allreduce::MpichIrabenseifner => {
                whole(buffer, doubling(ranks))
            }
            Allreduce::Ring | Allreduce::SegmentedRing { .. } if buffer.count >= u64::from(ranks) => {
                ring(ranks, buffer)
            }
            Allreduce::Ring | Allreduce::SegmentedRing { .. } => whole(buffer, doubling(ranks)),
            Allreduce::Rabenseifner if is_halved(ranks, buffer) => whole(buffer, doubling(ranks)),
            Allreduce::NbcBinomial => Reduce::NbcBinomial.order(ranks, buffer, 0),
            Allreduce::Linear | Allreduce::Rabenseifner | Allreduce::NbcRing => {
                whole(buffer, from_last_to_first(ranks))
            }
        }
    }
}

impl Reduce {
    fn order(self, ranks: u32, buffer: Buffer, root: u32) -> Order {
        let places = Places { count: ranks, root };
        let steps = match self {
            Reduce::Chain { chains, .. } => up(root, |rank| trees::chain(places, rank, narrow(chains))),
            Reduce::Pipeline { .. } | Reduce::NbcChain { .. } => up(root, |rank| trees::chain(places, rank, 1)),
            Reduce::Binary { .. } => up(root, |rank| trees::binary(places, rank)),
            Reduce::Binomial { .. } | Reduce::MpichBinomial | Reduce::NbcBinomial => {
                up(root, |rank| trees::in_order_binomial(places, rank))
            }
            Reduce::InOrderBinary { .. } => up(ranks - 1, |rank| trees::in_order_binary(ranks, rank)),
            Reduce::MpichRabenseifner | Reduce::MpichIrabenseifner => doubling(ranks),
            Reduce::Rabenseifner if is_halved(ranks, buffer) => doubling(ranks),
            Reduce::Linear | Reduce::Rabenseifner => from_last_to_first(ranks),
        };
        whole(buffer, steps)
    }
}

/// Whether there are enough elements for as many blocks as ranks go on: else Open MPI does it linearly.
fn is_halved(ranks: u32, buffer: Buffer) -> bool {
    buffer.count >= u64::from(Folded::onto_even(ranks).power)
}

impl Selection {
    /// In which order the algorithm of MPI_Reduce combines.
    pub fn order_of_reduce(&self, ranks: u32, buffer: Buffer, operator: Operator, root: u32) -> Order {
        if !operator.commutes() {
            return whole(buffer, from_last_to_first(ranks));
        }
        self.reduce(ranks, buffer, operator).order(ranks, buffer, root)
    }

    /// In which order the algorithm of MPI_Allreduce combines.
    pub fn order_of_allreduce(&self, ranks: u32, buffer: Buffer, operator: Operator) -> Order {
        if !operator.commutes() {
            return whole(buffer, from_last_to_first(ranks));
        }
        self.allreduce(ranks, buffer, operator).order(self, ranks, buffer, operator)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collectives::Algorithm;

    /// The steps as a term: `((0 1) (2 3))`.
    fn term(ranks: u32, part: &Part) -> String {
        let mut terms: Vec<Option<String>> = (0..ranks).map(|rank| Some(rank.to_string())).collect();
        for &(from, into) in &part.steps {
            let from = terms[from as usize].take().expect("nobody's data is combined twice");
            let own = terms[into as usize].take().expect("nobody's data is combined twice");
            terms[into as usize] = Some(format!("({from} {own})"));
        }
        assert_eq!(terms.iter().flatten().count(), 1, "all data is combined");
        terms[part.result as usize].take().expect("the result is there")
    }

    fn allreduce(algorithm: Allreduce, ranks: u32, count: u64) -> Vec<String> {
        let order = algorithm.order(&Selection::default(), ranks, Buffer::new(count, 8), Operator::BuiltIn);
        order.map(|part| format!("{}+{} {}", part.first, part.count, term(ranks, &part))).collect()
    }

    fn reduce(algorithm: Reduce, ranks: u32, root: u32) -> String {
        let parts: Vec<Part> = algorithm.order(ranks, Buffer::new(1, 8), root).collect();
        term(ranks, &parts[0])
    }

    #[test]
    fn pairs_are_combined_at_doubling_distance() {
        assert_eq!(allreduce(Allreduce::RecursiveDoubling, 1, 5), ["0+5 0"]);
        assert_eq!(allreduce(Allreduce::RecursiveDoubling, 4, 1), ["0+1 ((0 1) (2 3))"]);
        assert_eq!(allreduce(Allreduce::MpichRabenseifner, 6, 1), ["0+1 (((0 1) (2 3)) (4 5))"]);
        assert_eq!(allreduce(Allreduce::Rabenseifner, 7, 4), ["0+4 (((0 1) (2 3)) ((4 5) 6))"]);
    }

    #[test]
    fn blocks_go_round_the_ring() {
        assert_eq!(allreduce(Allreduce::Ring, 3, 7), ["0+3 ((0 1) 2)", "3+2 ((1 2) 0)", "5+2 ((2 0) 1)"]);
        assert_eq!(allreduce(Allreduce::Ring, 4, 2), ["0+2 ((0 1) (2 3))"]);
    }

    #[test]
    fn trees_are_combined_from_their_leaves() {
        assert_eq!(reduce(Reduce::Linear, 4, 2), "(0 (1 (2 3)))");
        assert_eq!(reduce(Reduce::Pipeline { segment: 0 }, 4, 1), "(((0 3) 2) 1)");
        assert_eq!(reduce(Reduce::Binomial { segment: 0 }, 4, 0), "((3 2) (1 0))");
        assert_eq!(reduce(Reduce::MpichBinomial, 3, 2), "(1 (0 2))");
    }

    #[test]
    fn every_algorithm_combines_all_data_once() {
        for ranks in 1..20 {
            for algorithm in Allreduce::ALL {
                for count in [1, 3, 40] {
                    allreduce(*algorithm, ranks, count);
                    let buffer = Buffer::new(count, 8);
                    let order = algorithm.order(&Selection::default(), ranks, buffer, Operator::BuiltIn);
                    let end = order.fold(0, |end, part| if part.first == end { end + part.count } else { u64::MAX });
                    assert_eq!(end, count, "no element is left out");
                }
            }
            for algorithm in Reduce::ALL {
                for root in 0..ranks {
                    reduce(*algorithm, ranks, root);
                }
            }
        }
    }
}
