use super::*;
use crate::errors::ErrorClass;

fn basic(basic: Basic) -> Datatype {
    Datatype::basic(basic)
}

/// Lower bound, extent, true lower bound, true extent.
fn bounds(datatype: &Datatype) -> (i64, i64, i64, i64) {
    (datatype.lb(), datatype.extent(), datatype.true_lb(), datatype.true_extent())
}

/// As Open MPI 4.1.4 answers; MPICH 4.0.2 pads only structures, and marks are not sticky there.
#[test]
fn bounds_of_libraries() {
    let (double, int, char) = (basic(Basic::Double), basic(Basic::Int), basic(Basic::Char));
    assert_eq!(bounds(&Datatype::hvector(2, 1, 12, &double).unwrap()), (0, 24, 0, 20));
    let padded = Datatype::structure(&[1, 1], &[0, 8], &[double.clone(), char.clone()]).unwrap();
    assert_eq!(bounds(&padded), (0, 16, 0, 9));
    let before = Datatype::structure(&[1, 1], &[0, -4], &[padded.clone(), char]).unwrap();
    assert_eq!(bounds(&before), (-4, 24, -4, 13));
    assert_eq!(bounds(&Datatype::contiguous(3, &padded).unwrap()), (0, 48, 0, 41));
    let resized = Datatype::resized(&int, -4, 20).unwrap();
    assert_eq!(bounds(&resized), (-4, 20, 0, 4));
    let marked = Datatype::structure(&[1, 1], &[0, 30], &[resized, double]).unwrap();
    assert_eq!(bounds(&marked), (-4, 20, 0, 38));
    let empty_block = Datatype::structure(&[0, 1], &[-100, 8], &[int.clone(), int.clone()]).unwrap();
    assert_eq!(bounds(&empty_block), (8, 4, 8, 4));
    let backwards = Datatype::resized(&int, 0, -8).unwrap();
    assert_eq!(bounds(&Datatype::contiguous(3, &backwards).unwrap()), (-16, 8, -16, 20));
    assert_eq!(bounds(&Datatype::contiguous(0, &int).unwrap()), (0, 0, 0, 0));
}

/// The example of the standard (3.1, section 4.1.7): bounds that MPI-1 programs set.
#[test]
fn old_marks_set_bounds() {
    let types = [Basic::Lb, Basic::Int, Basic::Ub].map(basic);
    let marked = Datatype::structure(&[1, 1, 1], &[-3, 0, 6], &types).unwrap();
    assert_eq!(bounds(&marked), (-3, 9, 0, 4));
    let two = Datatype::contiguous(2, &marked).unwrap();
    assert_eq!((two.lb(), two.ub()), (-3, 15));
}

#[test]
fn contents_are_what_was_given() {
    let int = basic(Basic::Int);
    let vector = Datatype::vector(3, 2, -5, &int).unwrap();
    assert_eq!(
        (vector.combiner(), vector.integers(), vector.addresses()),
        (Combiner::Vector, &[3, 2, -5][..], &[][..])
    );
    assert!(vector.datatypes()[0] == int);
    let hindexed = Datatype::hindexed(&[1, 2], &[8, 0], &vector).unwrap();
    assert_eq!((hindexed.integers(), hindexed.addresses()), (&[2, 1, 2][..], &[8, 0][..]));
    assert!(hindexed.datatypes()[0] == vector);
    let block = Datatype::indexed_block(4, &[7, 9], &int).unwrap();
    assert_eq!(block.integers(), [2, 4, 7, 9]);
    let subarray = Datatype::subarray(&[4, 5], &[2, 3], &[1, 0], Order::Fortran, &int).unwrap();
    assert_eq!(subarray.integers(), [2, 4, 5, 2, 3, 1, 0, 1]);
    let spread = [Distribution::Cyclic(Some(2)), Distribution::Block(None)];
    let darray = Datatype::darray(6, 4, &[8, 9], &spread, &[2, 3], Order::C, &int).unwrap();
    assert_eq!(darray.integers(), [6, 4, 2, 8, 9, 1, 0, 2, -1, 2, 3, 0]);
    assert_eq!(int.combiner(), Combiner::Named);
}

#[test]
fn equal_means_the_same_object() {
    let int = basic(Basic::Int);
    assert_eq!(int, Datatype::from(Basic::Int));
    assert_ne!(int, basic(Basic::Integer));
    assert_ne!(int.dup(), int);
    let copy = int.dup();
    assert_eq!(copy.clone(), copy);
    assert_eq!((copy.as_basic(), copy.uniform()), (None, Some(Basic::Int)));
}

#[test]
fn wrong_arguments_are_refused() {
    let int = basic(Basic::Int);
    let error = Datatype::contiguous(-1, &int).unwrap_err();
    assert_eq!(
        (error.to_string(), error.class()),
        ("the count is -1: it must not be negative".into(), ErrorClass::Count)
    );
    assert!(matches!(Datatype::vector(1, -2, 1, &int), Err(DatatypeError::Negative { what: "block length", .. })));
    assert_eq!(Datatype::contiguous(i64::MAX, &int).unwrap_err(), DatatypeError::Overflow);
    assert_eq!(Datatype::hvector(3, 1, i64::MAX, &int).unwrap_err(), DatatypeError::Overflow);
    assert_eq!(Datatype::indexed(&[1], &[i64::MAX], &int).unwrap_err(), DatatypeError::Overflow);
    assert_eq!(Datatype::resized(&int, i64::MAX, 1).unwrap_err(), DatatypeError::Overflow);
    assert_eq!(Datatype::indexed(&[1], &[], &int).unwrap_err(), DatatypeError::Lengths { left: 1, right: 0 });
    let outside = Datatype::subarray(&[4], &[3], &[2], Order::C, &int).unwrap_err();
    assert_eq!(outside, DatatypeError::OutsideArray { dimension: 0, start: 2, length: 3, size: 4 });
    assert_eq!(Datatype::subarray(&[], &[], &[], Order::C, &int).unwrap_err(), DatatypeError::Dimensions);
    let darray = |size, rank, spread, grid| Datatype::darray(size, rank, &[8], &[spread], &[grid], Order::C, &int);
    assert_eq!(darray(4, 0, Distribution::Block(None), 3).unwrap_err(), DatatypeError::Grid { grid: 3, size: 4 });
    assert_eq!(darray(4, 4, Distribution::Block(None), 4).unwrap_err(), DatatypeError::Rank { rank: 4, size: 4 });
    let small = DatatypeError::Distribution { dimension: 0, block: 1, processes: 4, size: 8 };
    assert_eq!(darray(4, 0, Distribution::Block(Some(1)), 4).unwrap_err(), small);
    assert!(darray(4, 0, Distribution::None, 4).is_err());
}

#[test]
fn big_regular_types_are_small() {
    let double = basic(Basic::Double);
    let column = Datatype::vector(1_000_000, 1, 1000, &double).unwrap();
    assert!(matches!(column.map().bytes, Layout::Blocks(_)));
    let volume = Datatype::subarray(&[1000; 3], &[998; 3], &[1; 3], Order::C, &double).unwrap();
    let Layout::Loop { body, .. } = &volume.map().bytes else { panic!("planes") };
    assert!(matches!(**body, Layout::Blocks(_)));
    // Displacements that are regular after all.
    let displacements: Vec<i64> = (0..1000).map(|i| 3 * i).collect();
    let regular = Datatype::indexed_block(1, &displacements, &double).unwrap();
    assert!(matches!(regular.map().bytes, Layout::Blocks(_)));
}

#[test]
fn contiguous_types_are_seen() {
    let int = basic(Basic::Int);
    assert!(Datatype::vector(4, 3, 3, &int).unwrap().is_contiguous());
    let parts = [Basic::Int, Basic::Float, Basic::Double].map(basic);
    let structure = Datatype::structure(&[1, 1, 1], &[0, 4, 8], &parts).unwrap();
    assert!(structure.is_contiguous());
    assert_eq!((structure.run(3), structure.uniform()), (Some((0, 48)), None));
    let gap = Datatype::resized(&int, 0, 8).unwrap();
    assert_eq!((gap.is_contiguous(), gap.run(1), gap.run(2)), (false, Some((0, 4)), None));
    assert!(!basic(Basic::DoubleInt).is_contiguous());
    let pairs = Datatype::contiguous(3, &basic(Basic::ShortInt)).unwrap();
    assert_eq!((pairs.is_contiguous(), pairs.uniform()), (false, Some(Basic::ShortInt)));
}

#[test]
fn items_and_elements_of_a_message() {
    let parts = [Basic::Int, Basic::Double].map(basic);
    let structure = Datatype::structure(&[1, 1], &[0, 8], &parts).unwrap();
    assert_eq!((structure.items_in(24), structure.items_in(16)), (Some(2), None));
    assert_eq!((structure.elements_in(16), structure.elements_in(14)), (Some(3), None));
    let nothing = Datatype::contiguous(0, &parts[0]).unwrap();
    assert_eq!((nothing.items_in(0), nothing.items_in(1)), (Some(0), None));
}

#[test]
fn fortran_precisions() {
    assert_eq!(Datatype::f90_real(Some(6), Some(37)).unwrap().uniform(), Some(Basic::Real4));
    assert_eq!(Datatype::f90_real(Some(12), None).unwrap().uniform(), Some(Basic::Real8));
    assert_eq!(Datatype::f90_complex(None, Some(300)).unwrap().uniform(), Some(Basic::Complex16));
    assert_eq!(Datatype::f90_integer(9).unwrap().uniform(), Some(Basic::Integer4));
    assert_eq!(Datatype::f90_integer(39).unwrap_err(), DatatypeError::NoSuchPrecision);
    assert_eq!(Datatype::f90_real(Some(34), None).unwrap_err(), DatatypeError::NoSuchPrecision);
}
