//! Choosing algorithms by name.

use super::super::algorithm::Algorithm;
use super::super::*;

/// What an algorithm prints is what it reads.
fn assert_names<A: Algorithm + std::fmt::Display + std::str::FromStr<Err = ChoiceError>>() {
    for &algorithm in A::ALL {
        assert_eq!(algorithm.to_string(), algorithm.name());
        assert_eq!(algorithm.name().parse::<A>().unwrap(), algorithm);
        assert!(algorithm.name().chars().all(|c| c.is_ascii_lowercase() || c == '-'), "{}", algorithm.name());
        let mut changed = algorithm;
        for (_, value) in changed.parameters() {
            *value = 77;
        }
        assert_eq!(changed.to_string().parse::<A>().unwrap(), changed);
        let same = A::ALL.iter().filter(|other| other.name() == algorithm.name()).count();
        assert_eq!(same, 1, "{} has two algorithms of the name {}", A::OPERATION, algorithm.name());
    }
}

#[test]
fn names_read_back() {
    assert_names::<Barrier>();
    assert_names::<Bcast>();
    assert_names::<Reduce>();
    assert_names::<Allreduce>();
    assert_names::<Gather>();
    assert_names::<Gatherv>();
    assert_names::<Scatter>();
    assert_names::<Scatterv>();
    assert_names::<Allgather>();
    assert_names::<Allgatherv>();
    assert_names::<Alltoall>();
    assert_names::<Alltoallv>();
    assert_names::<ReduceScatter>();
    assert_names::<ReduceScatterBlock>();
    assert_names::<Scan>();
    assert_names::<Exscan>();
}

#[test]
fn a_choice_overrides_the_rule() {
    let mut selection = Selection::of(Library::OpenMpi);
    let buffer = Buffer::new(1000, 8);
    assert_ne!(selection.allreduce(16, buffer, Operator::BuiltIn), Allreduce::Ring);
    selection.choose("allreduce=ring").unwrap();
    selection.choose("bcast = chain:segment=64KiB,chains=2").unwrap();
    selection.choose("reduce_scatter=recursive_halving").unwrap();
    assert_eq!(selection.allreduce(16, buffer, Operator::BuiltIn), Allreduce::Ring);
    assert_eq!(selection.bcast(16, buffer), Bcast::Chain { segment: 65536, chains: 2 });
    assert_eq!(selection.for_nonblocking().allreduce(16, buffer, Operator::BuiltIn), Allreduce::Ring);
    assert_eq!(
        selection.choices(),
        ["bcast=chain:segment=64KiB,chains=2", "allreduce=ring", "reduce-scatter=recursive-halving"]
    );
    // The last choice counts.
    selection.choose("allreduce=segmented-ring:segment=1MiB").unwrap();
    assert_eq!(selection.allreduce(16, buffer, Operator::BuiltIn), Allreduce::SegmentedRing { segment: 1 << 20 });
}

#[test]
fn a_choice_that_does_not_fit_the_ranks_leaves_the_rule() {
    let mut selection = Selection::of(Library::OpenMpi);
    selection.choose("barrier=two-processes").unwrap();
    assert_eq!(selection.barrier(2), Barrier::TwoProcesses);
    assert_eq!(selection.barrier(5), Barrier::Linear);
    assert_eq!(selection.check(2), Ok(()));
    let error = selection.check(5).unwrap_err();
    assert_eq!(
        error.to_string(),
        "barrier=two-processes does not work on 5 ranks: choose another algorithm or leave it out"
    );
}

#[test]
fn mistakes_are_named_with_the_remedy() {
    let message = |choice: &str| Selection::default().choose(choice).unwrap_err().to_string();
    assert_eq!(
        message("allreduce"),
        "`allreduce` does not choose an algorithm: write OPERATION=ALGORITHM, as in allreduce=ring"
    );
    assert_eq!(
        message("alreduce=ring"),
        "there is no collective operation `alreduce`: use one of barrier, bcast, reduce, allreduce, gather, gatherv, \
         scatter, scatterv, allgather, allgatherv, alltoall, alltoallv, reduce-scatter, reduce-scatter-block, scan, \
         exscan"
    );
    assert_eq!(message("scan=ring"), "scan has no algorithm `ring`: use one of linear, recursive-doubling");
    assert_eq!(message("scan=linear:segment=1KiB"), "linear takes no parameters: leave out `segment`");
    assert_eq!(message("bcast=chain:size=1KiB"), "chain has no parameter `size`: use segment, chains");
    for value in ["", "64", "64 K", "-1KiB", "KiB", "99999999999999999999B"] {
        assert_eq!(
            message(&format!("bcast=pipeline:segment={value}")),
            format!("segment={value} is not a size: write a number with a unit, as in segment=64KiB")
        );
    }
    for value in ["", "0", "two", "-1"] {
        assert_eq!(
            message(&format!("bcast=chain:chains={value}")),
            format!("chains={value} is not a whole number from 1 on, as in chains=4")
        );
    }
    let error = "intel".parse::<Library>().unwrap_err();
    assert_eq!(error.to_string(), "there are no collective rules of `intel`: use one of openmpi, mpich");
}

#[test]
fn libraries_have_names() {
    for library in Library::ALL {
        assert_eq!(library.to_string().parse(), Ok(library));
    }
}

#[test]
fn the_catalogue_lists_every_operation() {
    let catalogue = Selection::catalogue();
    assert_eq!(catalogue.len(), 16);
    let (operation, algorithms) = &catalogue[0];
    assert_eq!(*operation, "barrier");
    assert!(algorithms.contains(&"bruck"));
}
