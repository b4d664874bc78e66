//! Groups of what cannot be told apart: two items share a letter if and only if they do not differ.
//!
//! H.-P. Piepho, "An algorithm for a letter-based representation of all-pairwise comparisons", J. Comput. Graph. Stat. 13,
//! 2004: at first all are one group; each pair that differs splits the groups that hold both, and groups within others go.

/// With more groups nobody reads them; and the work could grow beyond all bounds.
const MOST_GROUPS: usize = 52;

/// For each item, in ascending order, the groups that it belongs to; groups are numbered by their first item. Nothing if
/// it takes more than 52 groups.
pub fn groups(items: usize, differ: impl Fn(usize, usize) -> bool) -> Option<Vec<Vec<usize>>> {
    let mut groups: Vec<Group> = vec![Group::of_all(items)];
    for (i, j) in (0..items).flat_map(|i| (i + 1..items).map(move |j| (i, j))).filter(|&(i, j)| differ(i, j)) {
        split(&mut groups, i, j);
        if groups.len() > MOST_GROUPS {
            return None;
        }
    }
    groups.sort_by_key(|group| (0..items).map(|item| !group.holds(item)).collect::<Vec<_>>());
    let of = |item: usize| (0..groups.len()).filter(|&group| groups[group].holds(item)).collect();
    Some((0..items).map(of).collect())
}

/// A set of items, a bit each.
#[derive(Clone, PartialEq)]
struct Group(Vec<u64>);

impl Group {
    fn of_all(items: usize) -> Group {
        Group(vec![u64::MAX; items.div_ceil(64)])
    }

    fn holds(&self, item: usize) -> bool {
        self.0[item / 64] >> (item % 64) & 1 == 1
    }

    fn without(&self, item: usize) -> Group {
        let mut group = self.clone();
        group.0[item / 64] &= !(1 << (item % 64));
        group
    }

    fn is_within(&self, other: &Group) -> bool {
        self.0.iter().zip(&other.0).all(|(own, other)| own & !other == 0)
    }
}

fn split(groups: &mut Vec<Group>, i: usize, j: usize) {
    let (both, kept): (Vec<_>, Vec<_>) = groups.drain(..).partition(|group| group.holds(i) && group.holds(j));
    let halves: Vec<Group> = both.iter().flat_map(|group| [group.without(j), group.without(i)]).collect();
    // Only halves can lie within other groups: those that are kept did not before, and halves are no larger.
    for (number, half) in halves.iter().enumerate() {
        let others = halves.iter().enumerate().filter(|(other, _)| *other != number);
        let is_in_half =
            others.into_iter().any(|(other, group)| half.is_within(group) && (group != half || other < number));
        if !is_in_half && !kept.iter().any(|group| half.is_within(group)) {
            groups.push(half.clone());
        }
    }
    groups.extend(kept);
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
        let groups = groups(4, |i, j| j - i > 1).unwrap();
        assert_eq!(groups, [vec![0], vec![0, 1], vec![1, 2], vec![2]]);
        assert_eq!([0, 25, 26, 701, 702].map(name), ["a", "z", "aa", "zz", "aaa"]);
    }

    #[test]
    fn all_alike_and_all_different() {
        assert_eq!(groups(3, |_, _| false).unwrap(), [[0], [0], [0]]);
        assert_eq!(groups(3, |_, _| true).unwrap(), [[0], [1], [2]]);
        assert!(groups(0, |_, _| true).unwrap().is_empty());
        assert_eq!(groups(100, |_, _| true), None);
        assert!(groups(100, |_, j| j == 99).is_some());
    }

    proptest! {
        #[test]
        fn letters_say_what_differs(n in 1usize..9, bits in prop::collection::vec(any::<bool>(), 36)) {
            let differ = |i: usize, j: usize| bits[j * (j - 1) / 2 + i];
            let groups = groups(n, differ).unwrap();
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
