//! What a rank gives and gets: items of a datatype, and blocks of them, one for each rank.

use std::rc::Rc;

use hpcast_mpi::collectives::Buffer as Amount;
use hpcast_objects::{Datatype, ErrorClass};

use crate::argument::{Buffer, Count, CountAt, TypeArray, TypeHandle};
use crate::call::Call;
use crate::fault::Fault;
use crate::layout::Layout;

/// Items of a datatype in the program's memory.
#[derive(Clone)]
pub(in crate::functions) struct Items {
    pub address: *mut u8,
    pub datatype: Datatype,
    pub count: i64,
}

impl Items {
    #[inline]
    pub fn layout(&self) -> Layout {
        Layout::new(&self.datatype, self.count)
    }

    #[inline]
    pub fn bytes(&self) -> u64 {
        (self.datatype.size() * self.count) as u64
    }

    /// The data, packed; nothing where nobody has written any of it.
    #[inline]
    pub fn pack(&self) -> Vec<u8> {
        // SAFETY: the program says that the items are there.
        unsafe { self.layout().pack_written(self.address) }
    }

    #[inline]
    pub fn unpack(&self, data: &[u8]) {
        // SAFETY: the program says that there is room for the items.
        unsafe { self.layout().unpack(data, self.address) };
    }

    /// Those that begin so many extents later.
    #[inline]
    pub fn later(&self, extents: i64, count: i64) -> Items {
        let address = self.address.wrapping_offset((extents * self.datatype.extent()) as isize);
        Items { address, datatype: self.datatype.clone(), count }
    }

    /// As the simulation sees them: elements that are not split.
    #[inline]
    pub fn amount(&self) -> Amount {
        match self.datatype.size() {
            0 => Amount::of_bytes(0),
            size => Amount::new(self.count as u64, size as u64),
        }
    }
}

impl Call<'_> {
    #[inline]
    pub(in crate::functions) fn items(
        &self,
        buffer: Buffer,
        Count(count): Count,
        datatype: TypeHandle,
    ) -> Result<Items, Fault> {
        if count < 0 {
            return Err(Fault::new(ErrorClass::Count, format!("the count is {count}")));
        }
        let datatype = self.me.datatype(datatype.number)?;
        Ok(Items { address: buffer.address(), datatype, count })
    }

    /// Items of which there is one set for each rank; the count is that of each.
    pub(in crate::functions) fn blocks(
        &self,
        buffer: Buffer,
        counts: &[i64],
        displacements: &[i64],
        datatype: TypeHandle,
    ) -> Result<Vec<Items>, Fault> {
        if let Some(count) = counts.iter().find(|&&count| count < 0) {
            return Err(Fault::new(ErrorClass::Count, format!("a count is {count}")));
        }
        let all = self.items(buffer, Count(0), datatype)?;
        Ok(counts.iter().zip(displacements).map(|(&count, &displacement)| all.later(displacement, count)).collect())
    }

    /// None where the buffer is MPI_IN_PLACE.
    pub(super) fn items_unless_in_place(
        &self,
        buffer: Buffer,
        count: Count,
        datatype: TypeHandle,
    ) -> Result<Option<Items>, Fault> {
        (!buffer.is_in_place()).then(|| self.items(buffer, count, datatype)).transpose()
    }

    /// Blocks with a datatype each, and displacements in bytes.
    pub(in crate::functions) fn blocks_w(
        &self,
        buffer: Buffer,
        counts: CountAt,
        displacement: impl Fn(usize) -> i64,
        types: TypeArray,
        ranks: usize,
    ) -> Result<Vec<Items>, Fault> {
        (0..ranks)
            .map(|rank| {
                let handle = TypeHandle::of(types.get_at(self, rank));
                let mut items = self.items(buffer, Count(counts.get_at(rank)), handle)?;
                items.address = items.address.wrapping_offset(displacement(rank) as isize);
                Ok(items)
            })
            .collect()
    }
}

/// Blocks of equal counts, one after the other.
pub(in crate::functions) fn equal(items: &Items, ranks: u32) -> Vec<Items> {
    (0..i64::from(ranks)).map(|rank| items.later(rank * items.count, items.count)).collect()
}

/// Bytes by rank, for the simulation.
pub(in crate::functions) fn by_rank(bytes: Vec<u64>) -> hpcast_mpi::ByRank {
    Rc::new(move |rank| bytes.get(rank as usize).copied().unwrap_or(0))
}

/// Bytes of each block.
pub(super) fn sizes(blocks: &[Items]) -> Vec<u64> {
    blocks.iter().map(Items::bytes).collect()
}
