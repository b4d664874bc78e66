//! The data of messages.
//!
//! A message that meets its receive is copied once, from the buffer of the sender to that of the receiver. One whose sender goes
//! on before that is packed and kept. Bytes side by side are parcels by themselves; all else lies on a shelf.

mod late;

use std::cell::RefCell;
use std::rc::Rc;

use hpcast_mpi::{Contents, Parcel, Post};

use crate::copying::{Fault, give_up, guarded};
use crate::layout::Layout;
use crate::memory;
use crate::processes::baton;
use crate::sleepers::Sleepers;
use late::{Late, Waiting};

/// Memory of a program, and how its data lies in it.
#[derive(Clone)]
pub struct Place {
    /// Where it begins.
    pub address: *mut u8,
    /// How the data lies.
    pub layout: Layout,
}

enum Sent {
    /// Still in the sender's buffer.
    There(Place),
    /// Packed, since the sender has gone on.
    Kept(Vec<u8>),
    /// The same, with so many bytes: where they are few, they take no memory of their own.
    KeptHere(u8, [u8; FEW]),
}

impl Sent {
    fn bytes(&self) -> u64 {
        match self {
            Sent::There(place) => place.layout.bytes(),
            Sent::Kept(data) => data.len() as u64,
            Sent::KeptHere(bytes, _) => u64::from(*bytes),
        }
    }
}

/// So many bytes take no more room than the place that they come from.
const FEW: usize = 32;

/// Things by number.
struct Shelf<T> {
    things: Vec<Option<T>>,
    free: Vec<u32>,
}

impl<T> Shelf<T> {
    #[inline(always)]
    fn put(&mut self, thing: T) -> Parcel {
        if let Some(number) = self.free.pop() {
            self.things[number as usize] = Some(thing);
            return Parcel::number(number);
        }
        self.things.push(Some(thing));
        Parcel::number(self.things.len() as u32 - 1)
    }

    fn take(&mut self, number: u32) -> Option<T> {
        self.free.push(number);
        self.things[number as usize].take()
    }
}

/// Where data goes.
struct Room {
    place: Place,
    /// Whether only its owner can reach it: ranks are processes, or part of it is on the stack of all.
    is_apart: bool,
}

struct Parcels {
    sent: Shelf<Sent>,
    places: Shelf<Room>,
}

/// Holds the data of messages; clones hold the same.
#[derive(Clone)]
pub struct Mail {
    parcels: Rc<RefCell<Parcels>>,
    late: Rc<Late>,
    sleepers: Sleepers,
}

impl Mail {
    /// The mail of these ranks, with nothing under way.
    pub fn new(sleepers: Sleepers) -> Mail {
        let sent = Shelf { things: Vec::new(), free: Vec::new() };
        let places = Shelf { things: Vec::new(), free: Vec::new() };
        let late = Rc::new(Late::new());
        Mail { parcels: Rc::new(RefCell::new(Parcels { sent, places })), late, sleepers }
    }

    /// Whether a buffer can be reached only by the rank that runs, whose it is.
    fn is_apart(&self, place: &Place) -> bool {
        baton::own().is_some() || self.sleepers.is_on_stack(&place.layout, place.address as usize)
    }

    /// Data to be sent.
    #[inline(always)]
    pub fn send(&self, place: Place) -> Parcel {
        match place.layout {
            // Where ranks are processes, nobody else sees the buffer.
            Layout::Bytes(bytes) if baton::own().is_none() => Parcel::bytes(place.address as usize, bytes),
            _ => self.send_from_shelf(place),
        }
    }

    fn send_from_shelf(&self, place: Place) -> Parcel {
        if place.layout.bytes() == 0 {
            return Parcel::NONE;
        }
        let sent = match self.is_apart(&place) {
            // SAFETY: the buffer is the program's, which calls.
            true => Sent::Kept(unsafe { place.layout.pack_written(place.address) }),
            false => Sent::There(place),
        };
        self.parcels.borrow_mut().sent.put(sent)
    }

    /// Data to be sent that is nowhere else.
    pub fn send_packed(&self, data: Vec<u8>) -> Parcel {
        if data.is_empty() { Parcel::NONE } else { self.parcels.borrow_mut().sent.put(Sent::Kept(data)) }
    }

    /// A place for data to be received.
    #[inline(always)]
    pub fn receive(&self, place: Place) -> Parcel {
        match place.layout {
            Layout::Bytes(bytes) if baton::own().is_none() => Parcel::bytes(place.address as usize, bytes),
            _ => self.receive_on_shelf(place),
        }
    }

    fn receive_on_shelf(&self, place: Place) -> Parcel {
        if place.layout.bytes() == 0 {
            return Parcel::NONE;
        }
        let is_apart = self.is_apart(&place);
        let room = Room { place, is_apart };
        self.parcels.borrow_mut().places.put(room)
    }

    /// How many bytes there is room for.
    #[inline]
    pub fn room(&self, parcel: Parcel) -> u64 {
        match parcel.contents() {
            Contents::Bytes { bytes, .. } => bytes,
            Contents::Number(number) => {
                let parcels = self.parcels.borrow();
                parcels.places.things[number as usize].as_ref().map_or(0, |room| room.place.layout.bytes())
            }
            Contents::Few(..) | Contents::Nothing => 0,
        }
    }

    /// Whether any copies wait.
    #[inline]
    pub fn has_late(&self) -> bool {
        !self.late.is_empty()
    }

    /// A rank leaves a function after which its program may look at what it has received and change what it has sent: copies that wait
    /// are made.
    #[inline]
    pub fn settle(&self, rank: u32) {
        if self.late.concerns(rank) {
            self.make_all();
        }
    }

    /// Makes all copies that wait.
    #[cold]
    pub fn make_all(&self) {
        while let Some(copy) = self.late.take() {
            make(copy);
        }
    }

    /// The receive has ended. Its place may be used again, and is not looked at: it is no longer in the processor's caches.
    #[inline]
    pub fn received(&self, parcel: Parcel) {
        if let Contents::Number(number) = parcel.contents() {
            self.parcels.borrow_mut().places.free.push(number);
        }
    }
}

/// So many bytes, if somebody has written them.
///
/// # Safety
/// There must be so many bytes at the address, and no more than there is room for.
#[inline]
unsafe fn few_bytes<const ROOM: usize>(address: *const u8, bytes: usize) -> Result<Option<[u8; ROOM]>, Fault> {
    let (mut data, mut is_written) = ([0; ROOM], false);
    guarded(|| {
        is_written = !memory::is_folding() || !memory::is_blank(address, bytes);
        if is_written {
            // SAFETY: as above.
            unsafe { data.as_mut_ptr().copy_from_nonoverlapping(address, bytes) };
        }
    })?;
    Ok(is_written.then_some(data))
}

/// Packs what somebody has written of a send that is under way.
fn pack(place: &Place, from: u32) -> Vec<u8> {
    let mut data = Vec::new();
    // SAFETY: the sender's buffer is the program's until the send ends, which it has not.
    let packed = guarded(|| data = unsafe { place.layout.pack_written(place.address) });
    if let Err(fault) = packed {
        give_up(from, fault);
    }
    data
}

/// Whose buffer was not there: what is read is the sender's, what is written the receiver's.
fn at_fault(is_there: bool, from: u32, target: *const u8, to: u32, fault: Fault) -> u32 {
    /// The processor knows no addresses from here on, and does not say how they were to be used.
    const LAST: usize = 1 << 47;
    match is_there {
        true if fault.address.is_some() && !fault.is_write => from,
        true if fault.address.is_none() && (target as usize) < LAST => from,
        _ => to,
    }
}

/// Less data is kept at once: to fetch it later from where it was would take longer than to copy it now.
const WORTH_LEAVING: u64 = 256;

/// Whether the memory of a buffer is there, as its ends tell.
fn is_there(address: usize, bytes: u64) -> bool {
    let ends = [address, address + (bytes as usize - 1)];
    // SAFETY: the buffer is the program's; where it is none, the reading is given up.
    guarded(|| ends.iter().for_each(|&end| unsafe { _ = std::hint::black_box((end as *const u8).read_volatile()) }))
        .is_ok()
}

impl Post for Mail {
    /// Where memory is folded, pages that nobody has written are told from others best when the message is sent.
    #[inline]
    fn may_stay(&mut self, sent: Parcel, _: u32) -> bool {
        let Contents::Bytes { address, bytes } = sent.contents() else { return false };
        bytes >= WORTH_LEAVING && !memory::is_folding() && is_there(address, bytes)
    }

    #[inline]
    fn keep(&mut self, sent: Parcel, from: u32) -> Parcel {
        match sent.contents() {
            Contents::Bytes { address, bytes } => {
                let Some(address) = self.sleepers.home(from, address, bytes as usize) else { return Parcel::NONE };
                self.keep_bytes(address as *const u8, bytes).unwrap_or_else(|fault| {
                    give_up(from, fault);
                    Parcel::NONE
                })
            }
            Contents::Number(number) => {
                self.keep_on_shelf(number, from);
                sent
            }
            Contents::Few(..) | Contents::Nothing => sent,
        }
    }

    #[inline]
    fn hand_over(&mut self, sent: Parcel, from: u32, received: Parcel, to: u32) {
        let copied = match (sent.contents(), received.contents()) {
            (Contents::Bytes { address: source, bytes }, Contents::Bytes { address: target, bytes: room }) => {
                let bytes = bytes.min(room) as usize;
                let may_wait = Late::is_worth_it(bytes) && self.sleepers.are_many();
                if may_wait && !self.sleepers.moves(source) && !self.sleepers.moves(target) {
                    self.late.add(Waiting { from, to, source, target, bytes }).into_iter().for_each(make);
                    return;
                }
                let homes = (self.sleepers.home(from, source, bytes), self.sleepers.home(to, target, bytes));
                let (Some(source), Some(target)) = homes else { return };
                // SAFETY: both operations are under way, so the buffers are theirs.
                guarded(|| unsafe { memory::copy(source as *const u8, target as *mut u8, bytes) })
            }
            (Contents::Few(data, bytes), Contents::Bytes { address: target, bytes: room }) => {
                let bytes = bytes.min(room as usize);
                let Some(target) = self.sleepers.home(to, target, bytes) else { return };
                // SAFETY: as above.
                guarded(|| unsafe { memory::write(data.as_ptr(), target as *mut u8, bytes) })
            }
            _ => return self.hand_over_from_shelf(sent, from, received, to),
        };
        if let (Err(fault), Contents::Bytes { address, .. }) = (copied, received.contents()) {
            let is_there = matches!(sent.contents(), Contents::Bytes { .. });
            give_up(at_fault(is_there, from, address as *const u8, to, fault), fault);
        }
    }
}

/// Makes a copy that has waited.
#[inline]
fn make(Waiting { from, to, source, target, bytes }: Waiting) {
    // SAFETY: since the two met, neither rank has left a function that could tell its program that the message is done; so the buffers
    // are still the message's.
    let copied = guarded(|| unsafe { memory::copy(source as *const u8, target as *mut u8, bytes) });
    if let Err(fault) = copied {
        give_up(at_fault(true, from, target as *const u8, to, fault), fault);
    }
}

impl Mail {
    /// Keeps what a sender has at an address.
    #[inline]
    fn keep_bytes(&self, address: *const u8, bytes: u64) -> Result<Parcel, Fault> {
        let count = bytes as usize;
        // SAFETY: the sender's buffer is the program's until the send ends, which it has not.
        unsafe {
            let kept = if count <= Parcel::FEW {
                match few_bytes(address, count)? {
                    Some(data) => return Ok(Parcel::few(data, count)),
                    None => Sent::Kept(Vec::new()),
                }
            } else if count <= FEW {
                few_bytes(address, count)?.map_or(Sent::Kept(Vec::new()), |data| Sent::KeptHere(bytes as u8, data))
            } else {
                let mut data = Vec::new();
                guarded(|| data = Layout::Bytes(bytes).pack_written(address))?;
                Sent::Kept(data)
            };
            Ok(self.parcels.borrow_mut().sent.put(kept))
        }
    }

    /// Where thread-local data is now.
    fn at_home(&self, rank: u32, place: Place) -> Place {
        let address = self.sleepers.home_of_thread_local(rank, place.address as usize) as *mut u8;
        Place { address, ..place }
    }

    fn keep_on_shelf(&mut self, number: u32, from: u32) {
        let mut parcels = self.parcels.borrow_mut();
        let slot = &mut parcels.sent.things[number as usize];
        if let Some(Sent::There(place)) = slot {
            *slot = Some(Sent::Kept(pack(place, from)));
        }
    }

    fn hand_over_from_shelf(&mut self, sent: Parcel, from: u32, received: Parcel, to: u32) {
        let mut parcels = self.parcels.borrow_mut();
        let data = match sent.contents() {
            Contents::Number(number) => parcels.sent.take(number),
            Contents::Bytes { address, bytes } => self
                .sleepers
                .home(from, address, bytes as usize)
                .map(|address| Sent::There(Place { address: address as *mut u8, layout: Layout::Bytes(bytes) })),
            Contents::Few(few, bytes) => {
                let mut data = [0; FEW];
                data[..few.len()].copy_from_slice(&few);
                Some(Sent::KeptHere(bytes as u8, data))
            }
            Contents::Nothing => None,
        };
        let (place, is_apart) = match received.contents() {
            Contents::Number(number) => match &parcels.places.things[number as usize] {
                Some(Room { place, is_apart }) => (place.clone(), *is_apart),
                None => return,
            },
            Contents::Bytes { address, bytes } => {
                // Programs may say that there is room for more than there is, if they know that less comes.
                let bytes = bytes.min(data.as_ref().map_or(0, Sent::bytes));
                let Some(address) = self.sleepers.home(to, address, bytes as usize) else { return };
                (Place { address: address as *mut u8, layout: Layout::Bytes(bytes) }, false)
            }
            Contents::Few(..) | Contents::Nothing => return,
        };
        if let (true, Some(data)) = (is_apart, &data) {
            let data = match data {
                Sent::Kept(data) => data.clone(),
                Sent::KeptHere(bytes, data) => data[..usize::from(*bytes)].to_vec(),
                Sent::There(place) => pack(place, from),
            };
            let (address, layout) = (place.address as usize, place.layout.clone());
            // SAFETY: the receive is under way, so the buffer is its.
            let unpack = move || unsafe { place.layout.unpack(&data, place.address) };
            return self.sleepers.later(to, address, &layout, unpack);
        }
        let place = self.at_home(to, place);
        let data = data.map(|data| match data {
            Sent::There(place) => Sent::There(self.at_home(from, place)),
            kept => kept,
        });
        // SAFETY: both operations are under way, so the buffers are theirs.
        let copied = guarded(|| unsafe {
            match &data {
                Some(Sent::There(from)) => Layout::copy(&from.layout, from.address, &place.layout, place.address),
                Some(Sent::Kept(data)) => place.layout.unpack(data, place.address),
                Some(Sent::KeptHere(bytes, data)) => place.layout.unpack(&data[..usize::from(*bytes)], place.address),
                None => {}
            }
        });
        if let Err(fault) = copied {
            give_up(at_fault(matches!(data, Some(Sent::There(_))), from, place.address, to, fault), fault);
        }
    }
}
