//! The trees along which collectives broadcast and reduce, as one rank sees them: its parent and its children.
//!
//! The order of the children is the order in which the real algorithm serves them. Shapes after Open MPI 4.1.4,
//! `ompi/mca/coll/base/coll_base_topo.c`. Ranks are counted from the root: "place" 0 is the root.

/// Where a rank stands in a tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tree {
    /// The rank above; none at the root.
    pub parent: Option<u32>,
    /// The ranks below, in the order they are served.
    pub children: Vec<u32>,
}

/// The ranks of a communicator counted from a root.
#[derive(Clone, Copy, Debug)]
pub struct Places {
    /// How many ranks there are.
    pub count: u32,
    /// The rank at place 0.
    pub root: u32,
}

impl Places {
    /// The place of a rank.
    pub fn place(self, rank: u32) -> u32 {
        if rank >= self.root { rank - self.root } else { rank + (self.count - self.root) }
    }

    /// The rank at a place.
    pub fn rank(self, place: u32) -> u32 {
        let to_the_end = self.count - self.root;
        if place < to_the_end { self.root + place } else { place - to_the_end }
    }

    fn tree(self, parent: Option<u32>, children: impl Iterator<Item = u32>) -> Tree {
        Tree {
            parent: parent.map(|place| self.rank(place)),
            children: children.map(|place| self.rank(place)).collect(),
        }
    }
}

/// The largest power of two that is at most `number`; `number` is at least 1.
pub fn floor_power_of_two(number: u32) -> u32 {
    1 << number.ilog2()
}

/// `ompi_coll_base_topo_build_tree` with a fan-out of two: level by level, children a level's width apart.
///
/// The place below 0 are 1 and 2; below 1 are 3 and 5, below 2 are 4 and 6: odd places are on the left of the root.
pub fn binary(places: Places, rank: u32) -> Tree {
    let place = places.place(rank);
    // Level l holds the places from 2^l - 1 on; it is 2^l wide.
    let width = floor_power_of_two(place + 1);
    let first_of_level = width - 1;
    let parent = match place {
        0 => None,
        1 | 2 => Some(0),
        _ => Some(place - (place - first_of_level) / (width / 2) * (width / 2) - width / 2),
    };
    let children = [place + width, place + 2 * width];
    places.tree(parent, children.into_iter().filter(|&child| child < places.count))
}

/// `ompi_coll_base_topo_build_bmtree`: a place's parent is the place without its highest bit.
pub fn binomial(places: Places, rank: u32) -> Tree {
    let place = places.place(rank);
    let parent = (place > 0).then(|| place - floor_power_of_two(place));
    let first = if place == 0 { 1 } else { 2 * floor_power_of_two(place) };
    places.tree(parent, powers_of_two(first, places.count).map(|bit| place + bit).filter(|&child| child < places.count))
}

/// `ompi_coll_base_topo_build_in_order_bmtree`: a place's parent is the place without its lowest bit, so that every
/// subtree is a run of consecutive places. Children from the nearest to the farthest. MPICH's trees are this one.
pub fn in_order_binomial(places: Places, rank: u32) -> Tree {
    let place = places.place(rank);
    let parent = (place > 0).then(|| place & (place - 1));
    let reach = if place == 0 { places.count } else { 1 << place.trailing_zeros() };
    places.tree(parent, powers_of_two(1, reach).map(|bit| place + bit).filter(|&child| child < places.count))
}

/// How many places the subtree of `place` holds in [`in_order_binomial`].
pub fn in_order_subtree(places: Places, place: u32) -> u32 {
    if place == 0 { places.count } else { (1 << place.trailing_zeros()).min(places.count - place) }
}

/// `ompi_coll_base_topo_build_kmtree`: as [`in_order_binomial`] but in base `radix`; the farthest children first.
pub fn k_nomial(places: Places, rank: u32, radix: u32) -> Tree {
    let (place, radix) = (places.place(rank), u64::from(radix.max(2)));
    let (mut parent, mut step) = (None, 1);
    while step < u64::from(places.count) {
        if u64::from(place) % (radix * step) != 0 {
            parent = Some((u64::from(place) / (radix * step) * (radix * step)) as u32);
            break;
        }
        step *= radix;
    }
    let mut children = Vec::new();
    while step > 1 {
        step /= radix;
        children.extend(
            (1..radix).map(|digit| u64::from(place) + digit * step).filter(|&child| child < u64::from(places.count)),
        );
    }
    places.tree(parent, children.into_iter().map(|child| child as u32))
}

/// `ompi_coll_base_topo_build_in_order_bintree`: a binary tree whose root is the last rank and whose right subtree
/// precedes its left one, which precedes the root: a reduction along it combines the ranks in order.
pub fn in_order_binary(count: u32, rank: u32) -> Tree {
    let (mut size, mut me, mut offset, mut parent) = (count, rank, 0, None);
    loop {
        let root = size - 1;
        let right_size = size / 2;
        let left = (root > 0).then(|| root - 1);
        let right = left.filter(|&left| left > 0).map(|_| right_size - 1);
        if me == root {
            let children = [left, right].into_iter().flatten().map(|child| child + offset).collect();
            return Tree { parent, children };
        }
        parent = Some(root + offset);
        match right {
            Some(right) if me <= right => size = right_size,
            Some(_) => {
                size -= right_size + 1;
                offset += right_size;
                me -= right_size;
            }
            // Two ranks: the other one is the left child.
            None => size = 1,
        }
    }
}

/// `ompi_coll_base_topo_build_chain`: the root feeds `chains` chains of (nearly) equal length.
pub fn chain(places: Places, rank: u32, chains: u32) -> Tree {
    let place = places.place(rank);
    let others = places.count - 1;
    let chains = chains.clamp(1, MAX_CHAINS).min(others.max(1));
    let (short, longer) = (others / chains, others % chains);
    // The first `longer` chains have one more member than the others.
    let head = |column: u32| 1 + column * short + column.min(longer);
    if place == 0 {
        return places.tree(None, (0..chains).map(head).filter(|&child| child < places.count));
    }
    let column = if place <= longer * (short + 1) {
        (place - 1) / (short + 1)
    } else {
        longer + (place - 1 - longer * (short + 1)) / short
    };
    let parent = if place == head(column) { 0 } else { place - 1 };
    let last = head(column + 1) - 1;
    places.tree(Some(parent), (place < last).then_some(place + 1).into_iter())
}

/// MAXTREEFANOUT of Open MPI: more chains than that are not fed by one root.
const MAX_CHAINS: u32 = 32;

fn powers_of_two(from: u32, below: u32) -> impl Iterator<Item = u32> {
    std::iter::successors(Some(from), |bit| bit.checked_mul(2)).take_while(move |&bit| bit < below)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every rank but the root is the child of exactly its parent, and every rank hangs below the root.
    fn assert_tree(count: u32, root: u32, tree: impl Fn(u32) -> Tree) {
        let trees: Vec<Tree> = (0..count).map(tree).collect();
        assert_eq!(trees[root as usize].parent, None);
        let mut reached = vec![root];
        let mut next = 0;
        while next < reached.len() {
            let rank = reached[next];
            for &child in &trees[rank as usize].children {
                assert_eq!(trees[child as usize].parent, Some(rank), "{count} ranks, root {root}, child {child}");
                reached.push(child);
            }
            next += 1;
        }
        reached.sort_unstable();
        assert_eq!(reached, (0..count).collect::<Vec<_>>(), "{count} ranks, root {root}");
    }

    #[test]
    fn every_tree_spans_all_ranks() {
        for count in 1..=70 {
            for root in [0, 1, count / 2, count - 1].into_iter().filter(|&root| root < count) {
                let places = Places { count, root };
                assert_tree(count, root, |rank| binary(places, rank));
                assert_tree(count, root, |rank| binomial(places, rank));
                assert_tree(count, root, |rank| in_order_binomial(places, rank));
                for radix in [2, 3, 4, 8] {
                    assert_tree(count, root, |rank| k_nomial(places, rank, radix));
                }
                for chains in [1, 2, 3, 4, 7, 40] {
                    assert_tree(count, root, |rank| chain(places, rank, chains));
                }
            }
            assert_tree(count, count - 1, |rank| in_order_binary(count, rank));
        }
    }

    #[test]
    fn shapes_are_those_drawn_in_the_sources() {
        let ten = Places { count: 10, root: 0 };
        assert_eq!(k_nomial(ten, 0, 3).children, [9, 3, 6, 1, 2]);
        assert_eq!(k_nomial(ten, 3, 3), Tree { parent: Some(0), children: vec![4, 5] });
        assert_eq!(k_nomial(ten, 0, 4).children, [4, 8, 1, 2, 3]);
        let eight = Places { count: 8, root: 0 };
        assert_eq!(binomial(eight, 1), Tree { parent: Some(0), children: vec![3, 5] });
        assert_eq!(binomial(eight, 3), Tree { parent: Some(1), children: vec![7] });
        assert_eq!(in_order_binomial(eight, 4), Tree { parent: Some(0), children: vec![5, 6] });
        let seven = Places { count: 7, root: 0 };
        assert_eq!(binary(seven, 1), Tree { parent: Some(0), children: vec![3, 5] });
        assert_eq!(binary(seven, 6).parent, Some(2));
        assert_eq!(in_order_binary(9, 8).children, [7, 3]);
        assert_eq!(in_order_binary(9, 7), Tree { parent: Some(8), children: vec![6, 5] });
        assert_eq!(in_order_binary(9, 5), Tree { parent: Some(7), children: vec![4] });
        assert_eq!(in_order_binary(9, 1), Tree { parent: Some(3), children: vec![0] });
        // Four chains of ten ranks: lengths 3, 2, 2, 2.
        assert_eq!(chain(ten, 0, 4).children, [1, 4, 6, 8]);
        assert_eq!(chain(ten, 3, 4), Tree { parent: Some(2), children: vec![] });
        assert_eq!(chain(Places { count: 10, root: 9 }, 9, 4).children, [0, 3, 5, 7]);
    }

    #[test]
    fn an_in_order_subtree_is_a_run_of_places() {
        for count in 1..=40 {
            let places = Places { count, root: 0 };
            for place in 0..count {
                let below: u32 = in_order_binomial(places, place)
                    .children
                    .iter()
                    .map(|&child| in_order_subtree(places, child))
                    .sum();
                assert_eq!(in_order_subtree(places, place), 1 + below);
            }
        }
    }
}
