//! Groups of what cannot be told apart: two items share a letter if and only if they do not differ.
//!
//! H.-P. Piepho, "An algorithm for a letter-based representation of all-pairwise comparisons", J. Comput. Graph. Stat. 13,
//! 2004: at first all are one group; each pair that differs splits the groups that hold both, and groups within others go.

/// For each item, in ascending order, the groups that it belongs to; groups are numbered by their first item.
pub fn groups(items: usize, differ: impl Fn(usize, usize) -> bool) -> Vec<Vec<usize>> {
    let mut groups: Vec<Vec<bool>> = vec![vec![true; items]];
    for (i, j) in (0..items).flat_map(|i| (i + 1..items).map(move |j| (i, j))).filter(|&(i, j)| differ(i, j)) {
        split(&mut groups, i, j);
    }
    groups.sort_by_key(|group| group.iter().map(|is_in| !is_in).collect::<Vec<_>>());
    let of = |item: usize| (0..groups.len()).filter(|&group| groups[group][item]).collect();
    (0..items).map(of).collect()
}

fn split(groups: &mut Vec<Vec<bool>>, i: usize, j: usize) {
    let (both, mut kept): (Vec<_>, Vec<_>) = groups.drain(..).partition(|group| group[i] && group[j]);
    let mut halves: Vec<Vec<bool>> = Vec::new();
    for group in both {
        for without in [j, i] {
            let mut half = group.clone();
            half[without] = false;
            halves.push(half);
        }
    }
    // Only halves can lie within other groups: those that were kept did not before, and halves are no larger.
    for (number, half) in halves.iter().enumerate() {
        let is_within = |other: &Vec<bool>| half.iter().zip(other).all(|(is_in, there)| !is_in || *there);
        let among_halves = halves
            .iter()
            .enumerate()
            .any(|(other, group)| other != number && is_within(group) && (group != half || other < number));
        if !among_halves && !kept.iter().any(is_within) {
            groups.push(half.clone());
        }
    }
    groups.append(&mut kept);
}

/// `a`, `b`, to `z`, `aa` and so on.
pub fn name(group: usize) -> String {
    let last = char::from(b'a' + (group % 26) as u8);
    if group < 26 { last.into() } else { name(group / 26 - 1) + &last.to_string() }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn neighbours_that_do_not_differ() {
        let groups = groups(4, |i, j| j - i > 1);
        assert_eq!(groups, [vec![0], vec![0, 1], vec![1, 2], vec![2]]);
        assert_eq!([0, 25, 26, 701, 702].map(name), ["a", "z", "aa", "zz", "aaa"]);
    }

    #[test]
    fn all_alike_and_all_different() {
        assert_eq!(groups(3, |_, _| false), [[0], [0], [0]]);
        assert_eq!(groups(3, |_, _| true), [[0], [1], [2]]);
        assert!(groups(0, |_, _| true).is_empty());
    }

    proptest! {
        #[test]
        fn letters_say_what_differs(n in 1usize..9, bits in prop::collection::vec(any::<bool>(), 36)) {
            let differ = |i: usize, j: usize| bits[j * (j - 1) / 2 + i];
            let groups = groups(n, differ);
            for j in 0..n {
                prop_assert!(!groups[j].is_empty());
                for i in 0..j {
                    let share = groups[i].iter().any(|group| groups[j].contains(group));
                    prop_assert_eq!(share, !differ(i, j));
                }
            }
        }
    }
}
