//! What ranks bring to a collective call, and take from it at the end.

use std::rc::Rc;

use hpcast_objects::ErrorClass;

use super::Items;
use crate::boards::{Board, Deposit, Key};
use crate::call::Call;
use crate::fault::Fault;
use crate::layout::Layout;

/// What a rank has brought; nothing if it was not there in time, which a wrong program may do.
#[inline]
pub(in crate::functions) fn brought(call: &Call<'_>, key: Key, rank: u32) -> Deposit {
    call.me.world.boards.look(key, |board| board.deposit(rank).cloned()).unwrap_or_default()
}

/// Packs several sets of items one after the other, but those that nobody has written.
pub(in crate::functions) fn pack_all(blocks: &[Items]) -> Deposit {
    let layouts: Vec<Layout> = blocks.iter().map(Items::layout).collect();
    let written: Vec<bool> =
        blocks.iter().zip(&layouts).map(|(block, layout)| !layout.is_blank(block.address)).collect();
    let bytes =
        layouts.iter().zip(&written).map(|(layout, &written)| if written { layout.bytes() as usize } else { 0 });
    let mut data = Vec::with_capacity(bytes.sum());
    let mut ends = Vec::with_capacity(blocks.len());
    for ((block, layout), written) in blocks.iter().zip(&layouts).zip(written) {
        if written {
            // SAFETY: the program says that the items are there.
            unsafe { layout.pack_onto(block.address, &mut data) };
        }
        ends.push(data.len());
    }
    Deposit::of_pieces(data, ends)
}

/// The data of several ranks.
pub(in crate::functions) fn images(board: &Board, from: u32, until: u32) -> Result<Vec<Rc<Vec<u8>>>, Fault> {
    (from..=until)
        .map(|rank| board.deposit(rank).map(|deposit| deposit.data.clone()))
        .collect::<Option<_>>()
        .ok_or_else(missing)
}

pub(in crate::functions) fn missing() -> Fault {
    Fault::new(ErrorClass::Other, "a rank has not come to a collective operation that has ended")
}

/// Takes what each of these ranks has brought.
pub(in crate::functions) fn unpack_each(
    call: &Call<'_>,
    key: Key,
    ranks: impl IntoIterator<Item = u32>,
    blocks: &[Items],
) {
    for (rank, block) in ranks.into_iter().zip(blocks) {
        block.unpack(&brought(call, key, rank).data);
    }
}

/// Takes the piece for me of what each of these ranks has brought.
pub(in crate::functions) fn unpack_pieces(
    call: &Call<'_>,
    key: Key,
    ranks: impl IntoIterator<Item = u32>,
    me: usize,
    blocks: &[Items],
) {
    for (rank, block) in ranks.into_iter().zip(blocks) {
        block.unpack(brought(call, key, rank).piece(me));
    }
}
