//! Groups of processes.

use hpcast_objects::{Comparison, Group};

use crate::argument::{At, GroupAt, GroupHandle, Ranges};
use crate::call::{Call, mpi};
use crate::fault::Fault;
use crate::functions::communicator::not_negative;

/// The number of MPI_GROUP_EMPTY.
const EMPTY: u32 = 1;

impl Call<'_> {
    /// A new group of the program.
    pub(super) fn add_group(&self, group: Group) -> u32 {
        if group.size() == 0 { EMPTY } else { self.me.objects.groups.insert(group.into()) }
    }

    fn made(&self, at: GroupAt, group: Result<Group, hpcast_objects::GroupError>) -> Result<(), Fault> {
        at.set(self, self.add_group(group?));
        Ok(())
    }
}

mpi! {
    fn MPI_Group_size(call, group: GroupHandle, size: At<i32>) {
        size.set(call.me.group(group.number)?.size() as i32);
        Ok(())
    }
    fn MPI_Group_rank(call, group: GroupHandle, rank: At<i32>) {
        let found = call.me.group(group.number)?.rank_of(call.me.number());
        rank.set(found.map_or(call.abi.undefined, |rank| rank as i32));
        Ok(())
    }
    fn MPI_Group_translate_ranks(
        call, group1: GroupHandle, n: i32, ranks1: At<i32>, group2: GroupHandle, ranks2: At<i32>,
    ) {
        let (one, other) = (call.me.group(group1.number)?, call.me.group(group2.number)?);
        for place in 0..not_negative(n)? {
            let rank = ranks1.get_at(place);
            if rank == call.abi.proc_null {
                ranks2.set_at(place, rank);
                continue;
            }
            let found = one.translate(&[rank], &other)?;
            ranks2.set_at(place, found[0].map_or(call.abi.undefined, |rank| rank as i32));
        }
        Ok(())
    }
    fn MPI_Group_compare(call, group1: GroupHandle, group2: GroupHandle, result: At<i32>) {
        let name = match call.me.group(group1.number)?.compare(&*call.me.group(group2.number)?) {
            Comparison::Ident => "MPI_IDENT",
            Comparison::Similar => "MPI_SIMILAR",
            Comparison::Unequal => "MPI_UNEQUAL",
        };
        result.set(call.abi.constant(name));
        Ok(())
    }
    fn MPI_Group_union(call, group1: GroupHandle, group2: GroupHandle, newgroup: GroupAt) {
        call.made(newgroup, Ok(call.me.group(group1.number)?.union(&*call.me.group(group2.number)?)))
    }
    fn MPI_Group_intersection(call, group1: GroupHandle, group2: GroupHandle, newgroup: GroupAt) {
        call.made(newgroup, Ok(call.me.group(group1.number)?.intersection(&*call.me.group(group2.number)?)))
    }
    fn MPI_Group_difference(call, group1: GroupHandle, group2: GroupHandle, newgroup: GroupAt) {
        call.made(newgroup, Ok(call.me.group(group1.number)?.difference(&*call.me.group(group2.number)?)))
    }
    fn MPI_Group_incl(call, group: GroupHandle, n: i32, ranks: At<i32>, newgroup: GroupAt) {
        call.made(newgroup, call.me.group(group.number)?.incl(&ranks.list(not_negative(n)?)))
    }
    fn MPI_Group_excl(call, group: GroupHandle, n: i32, ranks: At<i32>, newgroup: GroupAt) {
        call.made(newgroup, call.me.group(group.number)?.excl(&ranks.list(not_negative(n)?)))
    }
    fn MPI_Group_range_incl(call, group: GroupHandle, n: i32, ranges: Ranges, newgroup: GroupAt) {
        call.made(newgroup, call.me.group(group.number)?.range_incl(&ranges.list(not_negative(n)?)))
    }
    fn MPI_Group_range_excl(call, group: GroupHandle, n: i32, ranges: Ranges, newgroup: GroupAt) {
        call.made(newgroup, call.me.group(group.number)?.range_excl(&ranges.list(not_negative(n)?)))
    }
    fn MPI_Group_free(call, group: GroupAt) {
        let number = group.get(call);
        if number != EMPTY && call.me.objects.groups.remove(number).is_none() {
            return Err(Fault::new(hpcast_objects::ErrorClass::Group, "no group that can be freed"));
        }
        group.set(call, 0);
        Ok(())
    }
}
