//! Open MPI's handles are addresses of objects. Ours are small cells that hold the number of the handle.
//!
//! The objects of predefined handles are variables of the library, which the linker may have copied into the program (by a COPY
//! relocation): then each rank has its own copy of the cell, at the same distance from where its program is loaded, and
//! compares handles with its address.

use std::cell::RefCell;

use super::handles::{FIRST_OWN, INVALID, Kind};

/// Tells a cell from anything else that an address may lead to.
const MAGIC: u32 = 0x6870_6361;

/// Cells of the program's objects are made so many at a time, and never move.
const CHUNK: usize = 1024;

#[repr(C)]
#[derive(Clone, Copy)]
struct Cell {
    magic: u32,
    number: u32,
}

/// A cell with room behind it: Open MPI's library for C++ takes error handlers for objects of its own, and writes into them.
#[repr(C)]
pub struct Object {
    cell: Cell,
    room: std::cell::Cell<[usize; Object::ROOM]>,
}

impl Object {
    /// Words behind a cell: error handlers of Open MPI 4 have 128 bytes.
    const ROOM: usize = 16;

    /// With the number of a handle.
    pub fn new(number: u32) -> Object {
        Object { cell: Cell { magic: MAGIC, number }, room: std::cell::Cell::default() }
    }
}

/// Where an object of the library is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// At the same address for all ranks.
    Shared(usize),
    /// So far from where a rank's program is loaded.
    InProgram(usize),
}

struct Predefined {
    kind: Kind,
    number: u32,
    symbol: &'static str,
    /// Boxed: its address is given away.
    object: Box<Object>,
}

/// Room for the predefined handles that a program uses.
const REMEMBERED: usize = 128;

/// The numbers of predefined cells by their distances from the beginning of the program, so that the memory of the rank
/// need not be looked at.
struct Remembered([Option<(u32, u32)>; REMEMBERED]);

impl Remembered {
    /// Where a distance is kept: cells are at least 32 bytes apart, being copies of large objects.
    #[inline]
    fn slot(distance: usize) -> usize {
        (distance >> 5) % REMEMBERED
    }

    fn add(&mut self, distance: usize, number: u32) {
        if let Ok(short) = u32::try_from(distance) {
            self.0[Remembered::slot(distance)] = Some((short, number));
        }
    }

    #[inline]
    fn number(&self, distance: usize) -> Option<u32> {
        self.0[Remembered::slot(distance)].filter(|&(known, _)| known as usize == distance).map(|(_, number)| number)
    }
}

impl Default for Remembered {
    fn default() -> Remembered {
        Remembered([None; REMEMBERED])
    }
}

/// All cells.
#[derive(Default)]
pub struct Cells {
    remembered: Remembered,
    predefined: Vec<Predefined>,
    places: [Vec<Option<Place>>; Kind::ALL.len()],
    /// Cells of the objects that programs make: the same for all kinds and all ranks, since only the number counts.
    own: RefCell<Vec<Box<[Cell; CHUNK]>>>,
}

impl Cells {
    pub(super) fn add(&mut self, kind: Kind, number: u32, symbol: &'static str) {
        let object = Box::new(Object::new(number));
        let places = &mut self.places[kind as usize];
        if places.len() <= number as usize {
            places.resize(number as usize + 1, None);
        }
        places[number as usize] = Some(Place::Shared(&raw const *object as usize));
        self.predefined.push(Predefined { kind, number, symbol, object });
    }

    /// Address and size of the object of that name.
    pub fn object(&self, symbol: &str) -> Option<(usize, usize)> {
        let known = self.predefined.iter().find(|known| known.symbol == symbol)?;
        Some((&raw const *known.object as usize, size_of::<Cell>()))
    }

    /// Name, address and size of all objects.
    pub fn objects(&self) -> impl Iterator<Item = (&'static str, usize, usize)> {
        self.predefined.iter().map(|known| (known.symbol, &raw const *known.object as usize, size_of::<Cell>()))
    }

    pub(super) fn set_places(&mut self, place: impl Fn(&str) -> Option<Place>) {
        for known in &self.predefined {
            if let Some(place) = place(known.symbol) {
                if let Place::InProgram(distance) = place {
                    self.remembered.add(distance, known.number);
                }
                self.places[known.kind as usize][known.number as usize] = Some(place);
            }
        }
    }

    /// The number that a cell holds; `base` is where the program of the rank is loaded.
    ///
    /// # Safety
    /// The address must be that of a cell or of other memory that can be read, or lie on the first page.
    #[inline]
    pub(super) unsafe fn number(&self, address: usize, base: usize) -> u32 {
        if let Some(number) = self.remembered.number(address.wrapping_sub(base)) {
            return number;
        }
        if address < 4096 || !address.is_multiple_of(align_of::<Cell>()) {
            return INVALID;
        }
        // SAFETY: the caller says that it can be read; any bits are a valid cell.
        let cell = unsafe { *(address as *const Cell) };
        if cell.magic == MAGIC { cell.number } else { INVALID }
    }

    #[inline]
    pub(super) fn address(&self, kind: Kind, number: u32, base: usize) -> usize {
        if number >= FIRST_OWN {
            return self.own_address((number - FIRST_OWN) as usize);
        }
        let places = &self.places[kind as usize];
        match places.get(number as usize).copied().flatten().or_else(|| places.first().copied().flatten()) {
            Some(Place::Shared(address)) => address,
            // A rank may have executed another program, which has no copies.
            Some(Place::InProgram(_)) if base == 0 => self.common(kind, number),
            Some(Place::InProgram(offset)) => base + offset,
            None => 0,
        }
    }

    /// Where the library itself has the object of a predefined handle.
    fn common(&self, kind: Kind, number: u32) -> usize {
        let mut known = self.predefined.iter().filter(|known| known.kind == kind);
        let found = known.clone().find(|known| known.number == number).or_else(|| known.next());
        found.map_or(0, |known| &raw const *known.object as usize)
    }

    fn own_address(&self, place: usize) -> usize {
        let mut chunks = self.own.borrow_mut();
        while chunks.len() <= place / CHUNK {
            let first = FIRST_OWN + (chunks.len() * CHUNK) as u32;
            let mut chunk = Box::new([Cell { magic: MAGIC, number: 0 }; CHUNK]);
            (first..).zip(chunk.iter_mut()).for_each(|(number, cell)| cell.number = number);
            chunks.push(chunk);
        }
        &raw const chunks[place / CHUNK][place % CHUNK] as usize
    }
}
