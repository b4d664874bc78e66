//! The data of messages.
//!
//! A message that meets its receive is copied once, from the buffer of the sender to that of the receiver. One whose sender goes
//! on before that is packed and kept.

use std::cell::RefCell;
use std::rc::Rc;

use hpcast_mpi::{Parcel, Post};

use crate::copying::{Fault, give_up, guarded};
use crate::layout::Layout;
use crate::process::Process;
use crate::processes::baton;

/// Memory of a program, and how its data lies in it.
#[derive(Clone)]
pub struct Place {
    /// Where it begins.
    pub address: *mut u8,
    /// How the data lies.
    pub layout: Layout,
}

enum Sent {
    /// Still in the buffer of that rank.
    There(Place, u32),
    /// Packed, since the sender has gone on.
    Kept(Vec<u8>),
    /// The same, with so many bytes: where they are few, they take no memory of their own.
    KeptHere(u8, [u8; FEW]),
}

/// So many bytes take no more room than the place that they come from.
const FEW: usize = 32;

impl Place {
    /// Packs what somebody has written.
    ///
    /// # Safety
    /// A buffer of the layout must begin at the address.
    #[inline]
    unsafe fn pack_into(&self, kept: &mut Sent) {
        // SAFETY: as above, and there is room for so many bytes.
        unsafe {
            match self.layout {
                Layout::Bytes(bytes) if bytes as usize <= FEW && !self.layout.is_blank(self.address) => {
                    let mut data = [0; FEW];
                    data.as_mut_ptr().copy_from_nonoverlapping(self.address, bytes as usize);
                    *kept = Sent::KeptHere(bytes as u8, data);
                }
                _ => *kept = Sent::Kept(self.layout.pack_written(self.address)),
            }
        }
    }
}

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
            return Parcel::new(number);
        }
        self.things.push(Some(thing));
        Parcel::new(self.things.len() as u32 - 1)
    }

    fn take(&mut self, parcel: Parcel) -> Option<T> {
        self.free.push(parcel.number());
        self.things[parcel.number() as usize].take()
    }
}

/// Where data goes.
struct Room {
    place: Place,
    /// Whose it is.
    owner: u32,
    /// Whether only its owner can reach it: ranks are processes.
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
}

impl Default for Mail {
    fn default() -> Mail {
        let sent = Shelf { things: Vec::new(), free: Vec::new() };
        let places = Shelf { things: Vec::new(), free: Vec::new() };
        Mail { parcels: Rc::new(RefCell::new(Parcels { sent, places })) }
    }
}

/// Runs of bytes are treated apart from items, field by field: a layout that was written in two pieces and is then copied as one
/// holds the processor up until all that it has written before is in its caches.
impl Mail {
    /// Data to be sent.
    #[inline(always)]
    pub fn send(&self, Place { address, layout }: Place) -> Parcel {
        match layout {
            Layout::Bytes(bytes) => self.send_from(Place { address, layout: Layout::Bytes(bytes) }),
            layout => self.send_from(Place { address, layout }),
        }
    }

    #[inline(always)]
    fn send_from(&self, place: Place) -> Parcel {
        if place.layout.bytes() == 0 {
            return Parcel::NONE;
        }
        // Where ranks are processes, nobody else sees the buffer.
        let sent = match baton::own() {
            // SAFETY: the buffer is the program's, which calls.
            Some(_) => Sent::Kept(unsafe { place.layout.pack(place.address) }),
            None => Sent::There(place, caller()),
        };
        self.parcels.borrow_mut().sent.put(sent)
    }

    /// Data to be sent that is nowhere else.
    pub fn send_packed(&self, data: Vec<u8>) -> Parcel {
        if data.is_empty() { Parcel::NONE } else { self.parcels.borrow_mut().sent.put(Sent::Kept(data)) }
    }

    /// A place for data to be received.
    #[inline(always)]
    pub fn receive(&self, Place { address, layout }: Place) -> Parcel {
        match layout {
            Layout::Bytes(bytes) => self.receive_at(Place { address, layout: Layout::Bytes(bytes) }),
            layout => self.receive_at(Place { address, layout }),
        }
    }

    #[inline(always)]
    fn receive_at(&self, place: Place) -> Parcel {
        if place.layout.bytes() == 0 {
            return Parcel::NONE;
        }
        let room = match baton::own() {
            Some(owner) => Room { place, owner, is_apart: true },
            None => Room { place, owner: caller(), is_apart: false },
        };
        self.parcels.borrow_mut().places.put(room)
    }

    /// The receive has ended. Its place may be used again, and is not looked at: it is no longer in the processor's caches.
    pub fn received(&self, parcel: Parcel) {
        if parcel != Parcel::NONE {
            self.parcels.borrow_mut().places.free.push(parcel.number());
        }
    }
}

/// Whose buffer was not there: what is read is the sender's, what is written the receiver's.
fn at_fault(sent: &Option<Sent>, place: &Place, receiver: u32, fault: Fault) -> u32 {
    /// The processor knows no addresses from here on, and does not say how they were to be used.
    const LAST: usize = 1 << 47;
    match sent {
        Some(Sent::There(_, sender)) if fault.address.is_some() && !fault.is_write => *sender,
        Some(Sent::There(_, sender)) if fault.address.is_none() && (place.address as usize) < LAST => *sender,
        _ => receiver,
    }
}

/// The rank that calls.
fn caller() -> u32 {
    Process::running().map_or(0, Process::number)
}

impl Post for Mail {
    fn keep(&mut self, sent: Parcel) {
        let mut parcels = self.parcels.borrow_mut();
        let slot = &mut parcels.sent.things[sent.number() as usize];
        if let Some(Sent::There(place, sender)) = slot {
            let mut kept = Sent::Kept(Vec::new());
            // SAFETY: the sender's buffer is the program's until the send ends, which it has not.
            let packed = guarded(|| unsafe { place.pack_into(&mut kept) });
            if let Err(fault) = packed {
                give_up(*sender, fault);
            }
            *slot = Some(kept);
        }
    }

    fn hand_over(&mut self, sent: Parcel, received: Parcel) {
        let mut parcels = self.parcels.borrow_mut();
        let data = parcels.sent.take(sent);
        if received == Parcel::NONE {
            return;
        }
        let Some(Room { place, owner, is_apart }) = &parcels.places.things[received.number() as usize] else { return };
        if let (true, Some(Sent::Kept(data))) = (*is_apart, &data) {
            let (place, data) = (place.clone(), data.clone());
            // SAFETY: the receive is under way, so the buffer is its.
            return baton::later(*owner, place.address as usize, move || unsafe {
                place.layout.unpack(&data, place.address)
            });
        }
        // SAFETY: both operations are under way, so the buffers are theirs.
        let copied = guarded(|| unsafe {
            match &data {
                Some(Sent::There(from, _)) => Layout::copy(&from.layout, from.address, &place.layout, place.address),
                Some(Sent::Kept(data)) => place.layout.unpack(data, place.address),
                Some(Sent::KeptHere(bytes, data)) => place.layout.unpack(&data[..usize::from(*bytes)], place.address),
                None => {}
            }
        });
        if let Err(fault) = copied {
            give_up(at_fault(&data, place, *owner, fault), fault);
        }
    }
}
