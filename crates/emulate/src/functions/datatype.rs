//! Datatypes: how programs make them, look into them, and pack data with them.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use hpcast_objects::datatype::{Combiner, Distribution, Order};
use hpcast_objects::{Basic, Datatype, DatatypeError, ErrorClass};

use crate::abi::{FIRST_OWN, Kind};
use crate::argument::{
    At, Buffer, CommHandle, Count, CountAt, OldAint, OldAintAt, Text, TextAt, TypeArray, TypeAt, TypeHandle,
};
use crate::attributes::Attributes;
use crate::call::{Call, mpi};
use crate::fault::{Answer, Fault};
use crate::functions::communicator::not_negative;
use crate::layout::Layout;
use crate::process::OwnType;

impl Call<'_> {
    fn own_type(&self, datatype: Datatype, attributes: Rc<Attributes>) -> u32 {
        let is_large = self.is_large;
        let own = OwnType { datatype, name: RefCell::default(), attributes, committed: Cell::new(false), is_large };
        self.me.objects.types.insert(Rc::new(own))
    }

    fn add_type(&self, at: TypeAt, made: Result<Datatype, DatatypeError>) -> Answer {
        at.set(self, self.own_type(made?, Rc::default()));
        Ok(())
    }

    /// The handle of a datatype that another was made of: those that cannot be freed keep theirs.
    fn member(&self, datatype: &Datatype) -> u32 {
        if let Some(basic) = datatype.as_basic() {
            return basic as u32 + 1;
        }
        let is_same = |number: &u32| self.me.datatype(*number).is_ok_and(|known| known == *datatype);
        let fixed = self.me.f90_types.borrow().values().copied().find(is_same);
        fixed.unwrap_or_else(|| self.own_type(datatype.clone(), Rc::default()))
    }

    fn order(&self, order: i32) -> Result<Order, Fault> {
        match self.abi.name_of(order, &["MPI_ORDER_C", "MPI_ORDER_FORTRAN"]) {
            Some("MPI_ORDER_C") => Ok(Order::C),
            Some(_) => Ok(Order::Fortran),
            None => Err(Fault::new(ErrorClass::Arg, format!("{order} is no order of an array"))),
        }
    }

    fn distribution(&self, distribution: i32, argument: i32) -> Result<Distribution, Fault> {
        let default = self.abi.constant("MPI_DISTRIBUTE_DFLT_DARG");
        let argument = (argument != default).then_some(i64::from(argument));
        match self.abi.name_of(distribution, &DISTRIBUTIONS) {
            Some("MPI_DISTRIBUTE_BLOCK") => Ok(Distribution::Block(argument)),
            Some("MPI_DISTRIBUTE_CYCLIC") => Ok(Distribution::Cyclic(argument)),
            Some(_) => Ok(Distribution::None),
            None => Err(Fault::new(ErrorClass::Arg, format!("{distribution} is no distribution of an array"))),
        }
    }

    /// The integers that a datatype was made of, with the constants of the program's library.
    fn integers(&self, datatype: &Datatype) -> Vec<i32> {
        let mut integers: Vec<i32> = datatype.integers().iter().map(|&integer| integer as i32).collect();
        let order = |integer: &mut i32| {
            *integer = self.abi.constant(if *integer == Order::C as i32 { "MPI_ORDER_C" } else { "MPI_ORDER_FORTRAN" });
        };
        let or = |integer: &mut i32, value: i32| {
            if *integer == -1 {
                *integer = value;
            }
        };
        match datatype.combiner() {
            Combiner::Subarray => integers.last_mut().into_iter().for_each(order),
            Combiner::Darray => {
                integers.last_mut().into_iter().for_each(order);
                let dimensions = integers[2] as usize;
                let (codes, arguments) = (3 + dimensions, 3 + 2 * dimensions);
                for code in &mut integers[codes..arguments] {
                    *code = self.abi.constant(DISTRIBUTIONS[*code as usize]);
                }
                let default = self.abi.constant("MPI_DISTRIBUTE_DFLT_DARG");
                integers[arguments..arguments + dimensions].iter_mut().for_each(|argument| or(argument, default));
            }
            Combiner::F90Real | Combiner::F90Complex => {
                integers.iter_mut().for_each(|integer| or(integer, self.abi.undefined));
            }
            _ => {}
        }
        integers
    }

    /// What a datatype was made of: with long counts, all numbers but those of dimensions and processes are such.
    fn contents(&self, handle: TypeHandle) -> Result<Contents, Fault> {
        let datatype = self.me.datatype(handle.number)?;
        let combiner = self.abi.constant(combiner_name(datatype.combiner()));
        let datatypes = datatype.datatypes().to_vec();
        let (mut integers, mut addresses) = (self.integers(&datatype), datatype.addresses().to_vec());
        let mut large_counts = Vec::new();
        if self.me.objects.types.with(handle.number, |own| own.is_large).unwrap_or(false) {
            let counts = match datatype.combiner() {
                Combiner::Subarray => 1..integers.len() - 1,
                Combiner::Darray => 3..3 + integers[2] as usize,
                _ => 0..integers.len(),
            };
            large_counts.extend(datatype.integers()[counts.clone()].iter());
            integers.drain(counts);
            large_counts.append(&mut addresses);
        }
        Ok(Contents { combiner, integers, addresses, large_counts, datatypes })
    }

    /// The same for who has no place for long counts.
    fn short_contents(&self, handle: TypeHandle) -> Result<Contents, Fault> {
        let contents = self.contents(handle)?;
        match contents.large_counts.is_empty() {
            true => Ok(contents),
            false => Err(Fault::new(
                ErrorClass::Type,
                "the datatype was made with long counts; ask with the function's _c form",
            )),
        }
    }

    fn members(&self, contents: &Contents, at: TypeArray) {
        for (place, member) in contents.datatypes.iter().enumerate() {
            at.set_at(self, place, self.member(member));
        }
    }

    /// A datatype of a precision and range: the same one for the same numbers.
    fn f90_type(
        &self,
        at: TypeAt,
        key: (&'static str, i32, i32),
        make: impl FnOnce() -> Result<Datatype, DatatypeError>,
    ) -> Answer {
        let known = self.me.f90_types.borrow().get(&key).copied();
        let number = match known {
            Some(number) => number,
            None => self.own_type(make()?, Rc::default()),
        };
        self.me.f90_types.borrow_mut().insert(key, number);
        at.set(self, number);
        Ok(())
    }

    fn defined(&self, number: i32) -> Option<i64> {
        (number != self.abi.undefined).then_some(i64::from(number))
    }

    fn structure(&self, lengths: &[i64], displacements: &[i64], types: TypeArray, at: TypeAt) -> Answer {
        let members: Result<Vec<_>, _> =
            (0..lengths.len()).map(|place| self.me.datatype(types.get_at(self, place))).collect();
        self.add_type(at, Datatype::structure(lengths, displacements, &members?))
    }
}

/// What a datatype was made of.
struct Contents {
    combiner: i32,
    integers: Vec<i32>,
    addresses: Vec<i64>,
    large_counts: Vec<i64>,
    datatypes: Vec<Datatype>,
}

impl Contents {
    /// Whether there is something, and room for it.
    fn fit(&self, room: [i64; 4]) -> Answer {
        let counts = [self.integers.len(), self.addresses.len(), self.large_counts.len(), self.datatypes.len()];
        if counts == [0; 4] {
            return Err(Fault::new(ErrorClass::Type, "a predefined datatype has no contents"));
        }
        if room.iter().zip(counts).any(|(&room, count)| room < count as i64) {
            return Err(Fault::new(ErrorClass::Arg, "there is no room for all contents of the datatype"));
        }
        Ok(())
    }
}

/// In the order of their codes in a datatype's contents.
const DISTRIBUTIONS: [&str; 3] = ["MPI_DISTRIBUTE_BLOCK", "MPI_DISTRIBUTE_CYCLIC", "MPI_DISTRIBUTE_NONE"];

fn combiner_name(combiner: Combiner) -> &'static str {
    match combiner {
        Combiner::Named => "MPI_COMBINER_NAMED",
        Combiner::Dup => "MPI_COMBINER_DUP",
        Combiner::Contiguous => "MPI_COMBINER_CONTIGUOUS",
        Combiner::Vector => "MPI_COMBINER_VECTOR",
        Combiner::Hvector => "MPI_COMBINER_HVECTOR",
        Combiner::Indexed => "MPI_COMBINER_INDEXED",
        Combiner::Hindexed => "MPI_COMBINER_HINDEXED",
        Combiner::IndexedBlock => "MPI_COMBINER_INDEXED_BLOCK",
        Combiner::HindexedBlock => "MPI_COMBINER_HINDEXED_BLOCK",
        Combiner::Struct => "MPI_COMBINER_STRUCT",
        Combiner::Subarray => "MPI_COMBINER_SUBARRAY",
        Combiner::Darray => "MPI_COMBINER_DARRAY",
        Combiner::Resized => "MPI_COMBINER_RESIZED",
        Combiner::F90Integer => "MPI_COMBINER_F90_INTEGER",
        Combiner::F90Real => "MPI_COMBINER_F90_REAL",
        Combiner::F90Complex => "MPI_COMBINER_F90_COMPLEX",
    }
}

/// The predefined datatype of a class and size, among those that have a size in their name.
fn of_size(class: &str, size: i32) -> Option<Basic> {
    let all: &[Basic] = match class {
        "MPI_TYPECLASS_INTEGER" => {
            &[Basic::Integer1, Basic::Integer2, Basic::Integer4, Basic::Integer8, Basic::Integer16]
        }
        "MPI_TYPECLASS_REAL" => &[Basic::Real2, Basic::Real4, Basic::Real8, Basic::Real16],
        _ => &[Basic::Complex4, Basic::Complex8, Basic::Complex16, Basic::Complex32],
    };
    all.iter().copied().find(|basic| basic.size() == i64::from(size))
}

/// A count of blocks or items.
fn counted(Count(count): Count) -> Result<usize, Fault> {
    usize::try_from(count).map_err(|_| Fault::new(ErrorClass::Count, format!("the count is {count}")))
}

/// Where packed data is: a part of the buffer that is as long as it must be.
fn part(position: i64, bytes: i64, room: i64) -> Result<usize, Fault> {
    if position < 0 || bytes > room - position {
        let detail = format!("{bytes} B at position {position} of a buffer of {room} B");
        return Err(Fault::new(ErrorClass::Truncate, detail));
    }
    Ok(position as usize)
}

/// The only portable form that there is.
fn require_external32(name: &Text) -> Answer {
    match name.0.as_str() {
        "external32" => Ok(()),
        other => Err(Fault::new(ErrorClass::Arg, format!("no such data representation: {other}"))),
    }
}

mpi! {
    fn MPI_Type_contiguous[_c](call, count: Count, oldtype: TypeHandle, newtype: TypeAt) {
        call.add_type(newtype, Datatype::contiguous(count.into(), &call.me.datatype(oldtype.number)?))
    }
    fn MPI_Type_vector[_c](call, count: Count, blocklength: Count, stride: Count, oldtype: TypeHandle, newtype: TypeAt) {
        let old = call.me.datatype(oldtype.number)?;
        call.add_type(newtype, Datatype::vector(count.into(), blocklength.into(), stride.into(), &old))
    }
    fn MPI_Type_create_hvector[_c](call, count: Count, blocklength: Count, stride: i64, oldtype: TypeHandle, newtype: TypeAt) {
        let old = call.me.datatype(oldtype.number)?;
        call.add_type(newtype, Datatype::hvector(count.into(), blocklength.into(), stride, &old))
    }
    fn MPI_Type_hvector(call, count: i32, blocklength: i32, stride: OldAint, oldtype: TypeHandle, newtype: TypeAt) {
        let old = call.me.datatype(oldtype.number)?;
        call.add_type(newtype, Datatype::hvector(count.into(), blocklength.into(), stride.0, &old))
    }
    fn MPI_Type_indexed[_c](
        call, count: Count, array_of_blocklengths: CountAt, array_of_displacements: CountAt, oldtype: TypeHandle,
        newtype: TypeAt,
    ) {
        let count = counted(count)?;
        let (lengths, displacements) = (array_of_blocklengths.list(count), array_of_displacements.list(count));
        call.add_type(newtype, Datatype::indexed(&lengths, &displacements, &call.me.datatype(oldtype.number)?))
    }
    fn MPI_Type_create_hindexed[_c](
        call, count: Count, array_of_blocklengths: CountAt, array_of_displacements: At<i64>, oldtype: TypeHandle,
        newtype: TypeAt,
    ) {
        let count = counted(count)?;
        let (lengths, displacements) = (array_of_blocklengths.list(count), array_of_displacements.list(count));
        call.add_type(newtype, Datatype::hindexed(&lengths, &displacements, &call.me.datatype(oldtype.number)?))
    }
    fn MPI_Type_hindexed(
        call, count: Count, array_of_blocklengths: CountAt, array_of_displacements: OldAintAt, oldtype: TypeHandle,
        newtype: TypeAt,
    ) {
        let count = counted(count)?;
        let (lengths, displacements) = (array_of_blocklengths.list(count), array_of_displacements.list(count));
        call.add_type(newtype, Datatype::hindexed(&lengths, &displacements, &call.me.datatype(oldtype.number)?))
    }
    fn MPI_Type_create_indexed_block[_c](
        call, count: Count, blocklength: Count, array_of_displacements: CountAt, oldtype: TypeHandle, newtype: TypeAt,
    ) {
        let displacements = array_of_displacements.list(counted(count)?);
        let old = call.me.datatype(oldtype.number)?;
        call.add_type(newtype, Datatype::indexed_block(blocklength.into(), &displacements, &old))
    }
    fn MPI_Type_create_hindexed_block[_c](
        call, count: Count, blocklength: Count, array_of_displacements: At<i64>, oldtype: TypeHandle, newtype: TypeAt,
    ) {
        let displacements = array_of_displacements.list(counted(count)?);
        let old = call.me.datatype(oldtype.number)?;
        call.add_type(newtype, Datatype::hindexed_block(blocklength.into(), &displacements, &old))
    }
    fn MPI_Type_create_struct[_c](
        call, count: Count, array_of_blocklengths: CountAt, array_of_displacements: At<i64>, array_of_types: TypeArray,
        newtype: TypeAt,
    ) {
        let count = counted(count)?;
        let (lengths, displacements) = (array_of_blocklengths.list(count), array_of_displacements.list(count));
        call.structure(&lengths, &displacements, array_of_types, newtype)
    }
    fn MPI_Type_struct(
        call, count: Count, array_of_blocklengths: CountAt, array_of_displacements: OldAintAt, array_of_types: TypeArray,
        newtype: TypeAt,
    ) {
        let count = counted(count)?;
        let (lengths, displacements) = (array_of_blocklengths.list(count), array_of_displacements.list(count));
        call.structure(&lengths, &displacements, array_of_types, newtype)
    }
    fn MPI_Type_create_subarray[_c](
        call, ndims: i32, array_of_sizes: CountAt, array_of_subsizes: CountAt, array_of_starts: CountAt, order: i32,
        oldtype: TypeHandle, newtype: TypeAt,
    ) {
        let count = not_negative(ndims)?;
        let [sizes, lengths, starts] = [array_of_sizes, array_of_subsizes, array_of_starts].map(|list| list.list(count));
        let old = call.me.datatype(oldtype.number)?;
        call.add_type(newtype, Datatype::subarray(&sizes, &lengths, &starts, call.order(order)?, &old))
    }
    fn MPI_Type_create_darray[_c](
        call, size: i32, rank: i32, ndims: i32, array_of_gsizes: CountAt, array_of_distribs: At<i32>,
        array_of_dargs: At<i32>, array_of_psizes: At<i32>, order: i32, oldtype: TypeHandle, newtype: TypeAt,
    ) {
        let count = not_negative(ndims)?;
        let distributions: Result<Vec<_>, _> = (0..count)
            .map(|place| call.distribution(array_of_distribs.get_at(place), array_of_dargs.get_at(place)))
            .collect();
        let (sizes, grid) = (array_of_gsizes.list(count), array_of_psizes.list(count).into_iter().map(i64::from).collect::<Vec<_>>());
        let old = call.me.datatype(oldtype.number)?;
        let order = call.order(order)?;
        call.add_type(newtype, Datatype::darray(size.into(), rank.into(), &sizes, &distributions?, &grid, order, &old))
    }
    fn MPI_Type_create_resized[_c](call, oldtype: TypeHandle, lb: i64, extent: i64, newtype: TypeAt) {
        call.add_type(newtype, Datatype::resized(&call.me.datatype(oldtype.number)?, lb, extent))
    }
    fn MPI_Type_dup(call, oldtype: TypeHandle, newtype: TypeAt) {
        let old = call.me.datatype(oldtype.number)?;
        newtype.set(call, 0);
        let attributes = call.type_attributes(oldtype.number)?.copied(call, (Kind::Datatype, oldtype.number))?;
        let number = call.own_type(old.dup(), attributes);
        let committed = call.me.objects.types.with(oldtype.number, |own| own.committed.get()).unwrap_or(true);
        call.me.objects.types.with(number, |own| own.committed.set(committed));
        newtype.set(call, number);
        Ok(())
    }
    fn MPI_Type_create_f90_real(call, precision: i32, range: i32, newtype: TypeAt) {
        let make = || Datatype::f90_real(call.defined(precision), call.defined(range));
        call.f90_type(newtype, ("real", precision, range), make)
    }
    fn MPI_Type_create_f90_complex(call, precision: i32, range: i32, newtype: TypeAt) {
        let make = || Datatype::f90_complex(call.defined(precision), call.defined(range));
        call.f90_type(newtype, ("complex", precision, range), make)
    }
    fn MPI_Type_create_f90_integer(call, range: i32, newtype: TypeAt) {
        call.f90_type(newtype, ("integer", 0, range), || Datatype::f90_integer(range.into()))
    }
    fn MPI_Type_match_size(call, typeclass: i32, size: i32, datatype: TypeAt) {
        let classes = ["MPI_TYPECLASS_INTEGER", "MPI_TYPECLASS_REAL", "MPI_TYPECLASS_COMPLEX"];
        let found = call.abi.name_of(typeclass, &classes).and_then(|class| of_size(class, size));
        let Some(basic) = found else {
            return Err(Fault::new(ErrorClass::Arg, format!("no datatype of class {typeclass} has {size} B")));
        };
        datatype.set(call, basic as u32 + 1);
        Ok(())
    }
    fn MPI_Type_commit(call, datatype: TypeAt) {
        let number = datatype.get(call);
        call.me.datatype(number)?;
        call.me.objects.types.with(number, |own| own.committed.set(true));
        Ok(())
    }
    fn MPI_Type_free(call, datatype: TypeAt) {
        let number = datatype.get(call);
        let is_fixed = number < FIRST_OWN || call.me.f90_types.borrow().values().any(|&known| known == number);
        call.me.datatype(number)?;
        if is_fixed {
            return Err(Fault::new(ErrorClass::Type, "predefined datatypes cannot be freed"));
        }
        call.type_attributes(number)?.clear(call, (Kind::Datatype, number))?;
        call.me.objects.types.remove(number);
        datatype.set(call, 0);
        Ok(())
    }
    fn MPI_Type_size[_c](call, datatype: TypeHandle, size: CountAt) {
        let bytes = call.me.datatype(datatype.number)?.size();
        size.set(call, bytes);
        Ok(())
    }
    fn MPI_Type_size_x(call, datatype: TypeHandle, size: At<i64>) {
        size.set(call.me.datatype(datatype.number)?.size());
        Ok(())
    }
    fn MPI_Type_get_extent[_c](call, datatype: TypeHandle, lb: At<i64>, extent: At<i64>) {
        let datatype = call.me.datatype(datatype.number)?;
        lb.set(datatype.lb());
        extent.set(datatype.extent());
        Ok(())
    }
    fn MPI_Type_get_extent_x(call, datatype: TypeHandle, lb: At<i64>, extent: At<i64>) {
        let datatype = call.me.datatype(datatype.number)?;
        lb.set(datatype.lb());
        extent.set(datatype.extent());
        Ok(())
    }
    fn MPI_Type_get_true_extent[_c](call, datatype: TypeHandle, true_lb: At<i64>, true_extent: At<i64>) {
        let datatype = call.me.datatype(datatype.number)?;
        true_lb.set(datatype.true_lb());
        true_extent.set(datatype.true_extent());
        Ok(())
    }
    fn MPI_Type_get_true_extent_x(call, datatype: TypeHandle, true_lb: At<i64>, true_extent: At<i64>) {
        let datatype = call.me.datatype(datatype.number)?;
        true_lb.set(datatype.true_lb());
        true_extent.set(datatype.true_extent());
        Ok(())
    }
    fn MPI_Type_extent(call, datatype: TypeHandle, extent: OldAintAt) {
        extent.set(call.me.datatype(datatype.number)?.extent());
        Ok(())
    }
    fn MPI_Type_lb(call, datatype: TypeHandle, displacement: OldAintAt) {
        displacement.set(call.me.datatype(datatype.number)?.lb());
        Ok(())
    }
    fn MPI_Type_ub(call, datatype: TypeHandle, displacement: OldAintAt) {
        displacement.set(call.me.datatype(datatype.number)?.ub());
        Ok(())
    }
    fn MPI_Address(_call, location: Buffer, address: OldAintAt) {
        address.set(location.address() as i64);
        Ok(())
    }
    fn MPI_Type_set_name(call, datatype: TypeHandle, type_name: Text) {
        call.me.datatype(datatype.number)?;
        let name: String = type_name.0.chars().take(call.name_room()).collect();
        let own = call.me.objects.types.with(datatype.number, |own| name.clone_into(&mut own.name.borrow_mut()));
        if own.is_none() {
            call.me.named_types.borrow_mut().insert(datatype.number, name);
        }
        Ok(())
    }
    fn MPI_Type_get_name(call, datatype: TypeHandle, type_name: TextAt, resultlen: At<i32>) {
        let number = datatype.number;
        let name = match (number, call.me.named_types.borrow().get(&number)) {
            (0, None) => "MPI_DATATYPE_NULL".to_owned(),
            (_, Some(name)) => name.clone(),
            _ => match call.me.datatype(number)?.as_basic() {
                Some(basic) => basic.name().to_owned(),
                None => call.me.objects.types.with(number, |own| own.name.borrow().clone()).unwrap_or_default(),
            },
        };
        resultlen.set(type_name.set(&name, call.name_room()));
        Ok(())
    }
    fn MPI_Type_get_envelope(
        call, datatype: TypeHandle, num_integers: At<i32>, num_addresses: At<i32>, num_datatypes: At<i32>,
        combiner: At<i32>,
    ) {
        let contents = call.short_contents(datatype)?;
        num_integers.set(contents.integers.len() as i32);
        num_addresses.set(contents.addresses.len() as i32);
        num_datatypes.set(contents.datatypes.len() as i32);
        combiner.set(contents.combiner);
        Ok(())
    }
    fn MPI_Type_get_envelope_c(
        call, datatype: TypeHandle, num_integers: At<i64>, num_addresses: At<i64>, num_large_counts: At<i64>,
        num_datatypes: At<i64>, combiner: At<i32>,
    ) {
        let contents = call.contents(datatype)?;
        num_integers.set(contents.integers.len() as i64);
        num_addresses.set(contents.addresses.len() as i64);
        num_large_counts.set(contents.large_counts.len() as i64);
        num_datatypes.set(contents.datatypes.len() as i64);
        combiner.set(contents.combiner);
        Ok(())
    }
    fn MPI_Type_get_contents(
        call, datatype: TypeHandle, max_integers: i32, max_addresses: i32, max_datatypes: i32,
        array_of_integers: At<i32>, array_of_addresses: At<i64>, array_of_datatypes: TypeArray,
    ) {
        let contents = call.short_contents(datatype)?;
        contents.fit([max_integers, max_addresses, 0, max_datatypes].map(i64::from))?;
        array_of_integers.set_each(&contents.integers);
        array_of_addresses.set_each(&contents.addresses);
        call.members(&contents, array_of_datatypes);
        Ok(())
    }
    fn MPI_Type_get_contents_c(
        call, datatype: TypeHandle, max_integers: i64, max_addresses: i64, max_large_counts: i64, max_datatypes: i64,
        array_of_integers: At<i32>, array_of_addresses: At<i64>, array_of_large_counts: At<i64>,
        array_of_datatypes: TypeArray,
    ) {
        let contents = call.contents(datatype)?;
        contents.fit([max_integers, max_addresses, max_large_counts, max_datatypes])?;
        array_of_integers.set_each(&contents.integers);
        array_of_addresses.set_each(&contents.addresses);
        array_of_large_counts.set_each(&contents.large_counts);
        call.members(&contents, array_of_datatypes);
        Ok(())
    }
    fn MPI_Type_get_value_index(call, value_type: TypeHandle, index_type: TypeHandle, pair_type: TypeAt) {
        let basic = |handle: TypeHandle| call.me.datatype(handle.number).map(|datatype| datatype.as_basic());
        let pair = basic(value_type)?.zip(basic(index_type)?);
        let found = Basic::ALL.iter().find(|basic| pair.is_some() && basic.pair() == pair);
        pair_type.set(call, found.map_or(0, |&basic| basic as u32 + 1));
        Ok(())
    }
    fn MPI_Pack[_c](
        call, inbuf: Buffer, incount: Count, datatype: TypeHandle, outbuf: Buffer, outsize: Count, position: CountAt,
        comm: CommHandle,
    ) {
        call.me.comm(comm.number)?;
        let layout = call.layout(incount, datatype).map_err(|fault| fault.of_comm(comm.number))?;
        let bytes = layout.bytes() as i64;
        let begin = part(position.get(), bytes, outsize.into()).map_err(|fault| fault.of_comm(comm.number))?;
        let to = outbuf.address().wrapping_add(begin);
        // SAFETY: the program says that the items are there and so much room.
        unsafe { Layout::copy(&layout, inbuf.address(), &Layout::Bytes(bytes as u64), to) };
        position.set(call, begin as i64 + bytes);
        Ok(())
    }
    fn MPI_Unpack[_c](
        call, inbuf: Buffer, insize: Count, position: CountAt, outbuf: Buffer, outcount: Count, datatype: TypeHandle,
        comm: CommHandle,
    ) {
        call.me.comm(comm.number)?;
        let layout = call.layout(outcount, datatype).map_err(|fault| fault.of_comm(comm.number))?;
        let bytes = layout.bytes() as i64;
        let begin = part(position.get(), bytes, insize.into()).map_err(|fault| fault.of_comm(comm.number))?;
        let from = inbuf.address().wrapping_add(begin);
        // SAFETY: the program says that there is so much data and room for the items.
        unsafe { Layout::copy(&Layout::Bytes(bytes as u64), from, &layout, outbuf.address()) };
        position.set(call, begin as i64 + bytes);
        Ok(())
    }
    fn MPI_Pack_size[_c](call, incount: Count, datatype: TypeHandle, comm: CommHandle, size: CountAt) {
        call.me.comm(comm.number)?;
        let bytes = call.layout(incount, datatype).map_err(|fault| fault.of_comm(comm.number))?.bytes();
        size.set(call, bytes as i64);
        Ok(())
    }
    fn MPI_Pack_external[_c](
        call, datarep: Text, inbuf: Buffer, incount: Count, datatype: TypeHandle, outbuf: Buffer, outsize: i64,
        position: At<i64>,
    ) {
        require_external32(&datarep)?;
        let datatype = call.me.datatype(datatype.number)?;
        let count = counted(incount)? as i64;
        let begin = part(position.get(), datatype.external32_size(count), outsize)?;
        let mut packed = Vec::new();
        // SAFETY: the program says that the items are there and so much room.
        unsafe {
            datatype.pack_external32(count, inbuf.address(), &mut packed);
            outbuf.address().wrapping_add(begin).copy_from_nonoverlapping(packed.as_ptr(), packed.len());
        }
        position.set((begin + packed.len()) as i64);
        Ok(())
    }
    fn MPI_Unpack_external[_c](
        call, datarep: Text, inbuf: Buffer, insize: i64, position: At<i64>, outbuf: Buffer, outcount: Count,
        datatype: TypeHandle,
    ) {
        require_external32(&datarep)?;
        let datatype = call.me.datatype(datatype.number)?;
        let count = counted(outcount)? as i64;
        let bytes = datatype.external32_size(count);
        let begin = part(position.get(), bytes, insize)?;
        if bytes > 0 {
            // SAFETY: the program says that there is so much data and room for the items.
            unsafe {
                let packed = std::slice::from_raw_parts(inbuf.address().wrapping_add(begin), bytes as usize);
                datatype.unpack_external32(count, packed, outbuf.address());
            }
        }
        position.set(begin as i64 + bytes);
        Ok(())
    }
    fn MPI_Pack_external_size[_c](call, datarep: Text, incount: Count, datatype: TypeHandle, size: At<i64>) {
        require_external32(&datarep)?;
        size.set(call.me.datatype(datatype.number)?.external32_size(counted(incount)? as i64));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packed_data_must_fit() {
        assert_eq!(part(4, 6, 10).ok(), Some(4));
        assert!(part(5, 6, 10).is_err());
        assert!(part(-1, 1, 10).is_err());
    }

    #[test]
    fn datatypes_are_found_by_their_size() {
        assert_eq!(of_size("MPI_TYPECLASS_REAL", 8), Some(Basic::Real8));
        assert_eq!(of_size("MPI_TYPECLASS_COMPLEX", 8), Some(Basic::Complex8));
        assert_eq!(of_size("MPI_TYPECLASS_INTEGER", 3), None);
    }
}
