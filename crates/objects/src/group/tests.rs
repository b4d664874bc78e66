use super::members::Members;
use super::*;
use proptest::prelude::*;

fn list(group: &Group) -> Vec<u32> {
    group.iter().collect()
}

fn range(first: i32, last: i32, stride: i32) -> Range {
    Range { first, last, stride }
}

#[test]
fn a_million_processes_are_one_progression() {
    let world = Group::world(1_000_000);
    let odd = world.range_incl(&[range(1, 999_999, 2)]).unwrap();
    assert!(matches!(odd.members, Members::One(_)));
    assert_eq!((odd.size(), odd.process(3), odd.rank_of(7), odd.rank_of(8)), (500_000, Some(7), Some(3), None));
    let rest = world.excl(&[500_000]).unwrap();
    assert!(matches!(rest.members, Members::Few(_)));
    assert_eq!(rest.rank_of(500_001), Some(500_000));
    let masters = world.range_excl(&[range(1, 999_999, 1)]).unwrap();
    assert_eq!(list(&masters), [0]);
}

#[test]
fn blocks_of_a_grid_are_found_by_their_place() {
    // 100 rows of 1000, of which 50 in the middle belong to the group.
    let group = Group::of((0..100).flat_map(|row| (0..50).map(move |column| row * 1000 + 475 + column)));
    assert!(matches!(group.members, Members::Apart(..)));
    assert_eq!(group.rank_of(99_475), Some(4950));
    assert_eq!(group.rank_of(99_474), None);
    assert_eq!(group.rank_of(3), None);
    assert_eq!(group.process(4950), Some(99_475));
}

/// The example of the standard (section 6.3.2): the order of the result follows the first group.
#[test]
fn sets() {
    let (one, other) = (Group::of([0, 1, 2, 3]), Group::of([3, 1, 5]));
    assert_eq!(list(&one.union(&other)), [0, 1, 2, 3, 5]);
    assert_eq!(list(&other.union(&one)), [3, 1, 5, 0, 2]);
    assert_eq!(list(&one.intersection(&other)), [1, 3]);
    assert_eq!(list(&other.intersection(&one)), [3, 1]);
    assert_eq!(list(&one.difference(&other)), [0, 2]);
    assert_eq!(one.compare(&Group::of([3, 2, 1, 0])), Comparison::Similar);
    assert_eq!(one.compare(&Group::world(4)), Comparison::Ident);
    assert_eq!(one.compare(&other), Comparison::Unequal);
    assert_eq!(Group::empty().compare(&Group::world(0)), Comparison::Ident);
    assert_eq!(other.translate(&[0, 2], &one).unwrap(), [Some(3), None]);
}

#[test]
fn ranges_of_the_standard() {
    let letters = Group::of(10..20);
    let ranges = [range(6, 7, 1), range(1, 5, 2), range(0, 9, 4)];
    assert_eq!(list(&letters.range_incl(&ranges).unwrap()), [16, 17, 11, 13, 15, 10, 14, 18]);
    assert_eq!(list(&letters.range_excl(&ranges).unwrap()), [12, 19]);
    assert_eq!(list(&letters.range_incl(&[range(5, 0, -2)]).unwrap()), [15, 13, 11]);
}

#[test]
fn wrong_ranks_are_refused() {
    let group = Group::world(4);
    assert_eq!(group.incl(&[0, 4]).unwrap_err(), GroupError::Rank { rank: 4, size: 4 });
    assert_eq!(group.excl(&[-1]).unwrap_err(), GroupError::Rank { rank: -1, size: 4 });
    assert_eq!(group.incl(&[2, 0, 2]).unwrap_err(), GroupError::Duplicate { rank: 2 });
    let wrong = group.range_incl(&[range(3, 0, 1)]).unwrap_err();
    assert_eq!(wrong, GroupError::Range { first: 3, last: 0, stride: 1 });
    assert_eq!(wrong.class(), ErrorClass::Arg);
    assert!(group.range_incl(&[range(0, 0, 0)]).is_err());
    assert_eq!(group.range_incl(&[range(0, 2, 1), range(2, 3, 1)]).unwrap_err(), GroupError::Duplicate { rank: 2 });
}

/// Lists that are partly regular.
fn processes() -> impl Strategy<Value = Vec<u32>> {
    let pieces = prop::collection::vec((0..200_u32, 1..4_u32, 1..30_u32), 0..20);
    (pieces, any::<bool>()).prop_map(|(pieces, reverse)| {
        let mut list: Vec<u32> = Vec::new();
        for (first, stride, count) in pieces {
            list.extend((0..count).map(|i| first + i * stride));
        }
        let mut seen = std::collections::HashSet::new();
        list.retain(|process| seen.insert(*process));
        if reverse {
            list.reverse();
        }
        list
    })
}

proptest! {
    #[test]
    fn groups_are_lists(one in processes(), other in processes(), mask in any::<u64>()) {
        let (group, second) = (Group::of(one.iter().copied()), Group::of(other.iter().copied()));
        prop_assert_eq!(list(&group), one.clone());
        for process in 0..320 {
            let rank = one.iter().position(|&member| member == process).map(|rank| rank as u32);
            prop_assert_eq!(group.rank_of(process), rank);
        }
        for rank in 0..=one.len() as u32 {
            prop_assert_eq!(group.process(rank), one.get(rank as usize).copied());
        }
        let keep = |rank: &usize| mask >> (rank % 61) & 1 == 1;
        let chosen: Vec<usize> = (0..one.len()).filter(keep).collect();
        let ranks: Vec<i32> = chosen.iter().map(|&rank| rank as i32).collect();
        let kept: Vec<u32> = chosen.iter().map(|&rank| one[rank]).collect();
        let left: Vec<u32> = (0..one.len()).filter(|rank| !keep(rank)).map(|rank| one[rank]).collect();
        prop_assert_eq!(list(&group.incl(&ranks).unwrap()), kept.clone());
        prop_assert_eq!(list(&group.excl(&ranks).unwrap()), left.clone());
        prop_assert_eq!(group.incl(&ranks).unwrap().compare(&Group::of(kept)), Comparison::Ident);

        let only = |list: &[u32], of: &[u32], inside| -> Vec<u32> {
            list.iter().copied().filter(|process| of.contains(process) == inside).collect()
        };
        prop_assert_eq!(list(&group.intersection(&second)), only(&one, &other, true));
        prop_assert_eq!(list(&group.difference(&second)), only(&one, &other, false));
        prop_assert_eq!(list(&group.union(&second)), [one.clone(), only(&other, &one, false)].concat());
    }

    #[test]
    fn ranges_are_lists_of_ranks(one in processes(), first in 0..60_i32, last in 0..60_i32, stride in 1..5_i32) {
        let group = Group::of(one.iter().copied());
        let stride = if last < first { -stride } else { stride };
        let mut ranks = vec![first];
        while (ranks[ranks.len() - 1] + stride - last) * stride.signum() <= 0 {
            ranks.push(ranks[ranks.len() - 1] + stride);
        }
        let ranges = [range(first, last, stride)];
        match group.incl(&ranks) {
            Ok(members) => {
                prop_assert_eq!(list(&group.range_incl(&ranges).unwrap()), list(&members));
                prop_assert_eq!(list(&group.range_excl(&ranges).unwrap()), list(&group.excl(&ranks).unwrap()));
            }
            Err(_) => prop_assert!(group.range_incl(&ranges).is_err() && group.range_excl(&ranges).is_err()),
        }
    }
}
