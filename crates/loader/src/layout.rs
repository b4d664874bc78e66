//! Where everything of a copy is, relative to the beginning of the copy.
//!
//! Objects follow each other. Pages that are only read come from one file in memory for all copies, whose layout is that of a
//! copy; the others are the copy's own. Objects have few such runs of pages, usually one of each kind, because whatever lies
//! between two segments of a kind is counted to them. After the last object comes thread-local data.

use std::ops::Range;

use crate::elf::{Elf, PAGE};
use crate::error::LoadError;

/// Room for pieces of replaced functions, at the beginning of every object: addresses only, until it is used.
pub const SPARE: u64 = 4 * PAGE;

/// Room for a variable of the process that a copy has of its own.
pub const VARIABLE: u64 = 16;

/// Pages of one kind that follow each other.
#[derive(Clone, Debug)]
pub struct Run {
    /// Where they are in the copy.
    pub pages: Range<u64>,
    /// Every copy has its own.
    pub is_private: bool,
}

/// Where the thread-local data of an object is.
#[derive(Clone, Copy, Debug)]
pub enum TlsPlace {
    /// It begins so many bytes below the thread pointer, and is exchanged when another copy runs.
    Zone(u64),
    /// Here in the copy.
    Block(u64),
}

/// Where an object is.
#[derive(Clone, Debug)]
pub struct Place {
    /// To be added to addresses of the object, wrapping around.
    pub bias: u64,
    /// All that belongs to it.
    pub extent: Range<u64>,
    /// Its pages without the spare ones.
    pub runs: Vec<Run>,
    /// Thread-local data.
    pub tls: Option<TlsPlace>,
}

impl Place {
    /// Where an address of the object is in the copy, if so many bytes from there on are in runs of one kind.
    pub fn find(&self, address: u64, size: u64, is_private: bool) -> Option<u64> {
        let start = self.bias.wrapping_add(address);
        let end = start.checked_add(size)?;
        let is_inside = |run: &Run| run.pages.start <= start && end <= run.pages.end && run.is_private == is_private;
        self.runs.iter().any(is_inside).then_some(start)
    }
}

/// Where everything of a copy is.
#[derive(Clone, Debug, Default)]
pub struct Layout {
    /// The objects.
    pub places: Vec<Place>,
    /// Bytes from one copy to the next.
    pub size: u64,
    /// What the beginning of a copy is a multiple of.
    pub align: u64,
    /// Bytes of the zone below the thread pointer that a copy uses, and where they are kept while it does not run.
    pub zone: Range<u64>,
    /// What the thread pointer must be a multiple of.
    pub zone_align: u64,
    /// Variables of the process that each copy has of its own, and where they are.
    pub variables: Vec<(String, u64)>,
}

impl Layout {
    /// Places objects after each other, and then room for these variables.
    pub fn new<'a>(
        objects: impl Iterator<Item = &'a Elf> + Clone,
        variables: impl IntoIterator<Item = String>,
    ) -> Result<Self, LoadError> {
        let mut layout = Layout { align: PAGE, zone_align: 1, ..Self::default() };
        let mut end = 0u64;
        for elf in objects.clone() {
            let runs = runs(elf)?;
            let first = runs[0].pages.start;
            let start = (end + SPARE).next_multiple_of(elf.align) + first % elf.align;
            let bias = start.wrapping_sub(first);
            let shift = |pages: &Range<u64>| bias.wrapping_add(pages.start)..bias.wrapping_add(pages.end);
            let runs: Vec<Run> =
                runs.iter().map(|run| Run { pages: shift(&run.pages), is_private: run.is_private }).collect();
            let extent = start - SPARE..runs[runs.len() - 1].pages.end;
            end = extent.end;
            check(elf, end)?;
            layout.align = layout.align.max(elf.align);
            layout.places.push(Place { bias, extent, runs, tls: None });
        }
        // The zone is filled downwards, in the order in which the linker counted on: first the program.
        let mut below = 0u64;
        for (elf, place) in objects.clone().zip(&mut layout.places) {
            let Some(tls) = elf.thread_local.filter(|_| elf.is_static_tls) else { continue };
            let first = tls.address.wrapping_neg() & (tls.align - 1);
            below = (below + tls.size).saturating_sub(first).next_multiple_of(tls.align) + first;
            check(elf, below)?;
            place.tls = Some(TlsPlace::Zone(below));
            layout.zone_align = layout.zone_align.max(tls.align);
        }
        layout.zone = end..end + below;
        end = layout.zone.end;
        for (elf, place) in objects.zip(&mut layout.places) {
            let Some(tls) = elf.thread_local.filter(|_| !elf.is_static_tls) else { continue };
            let start = end.next_multiple_of(tls.align) + tls.address % tls.align;
            end = start + tls.size;
            check(elf, end)?;
            place.tls = Some(TlsPlace::Block(start));
            layout.align = layout.align.max(tls.align);
        }
        for name in variables {
            let place = end.next_multiple_of(VARIABLE);
            end = place + VARIABLE;
            layout.variables.push((name, place));
        }
        layout.size = end.next_multiple_of(layout.align);
        Ok(layout)
    }

    /// Where a copy has a variable of the process of its own.
    pub fn variable(&self, name: &str) -> Option<u64> {
        self.variables.iter().find(|one| one.0 == name).map(|one| one.1)
    }

    /// Mappings that a copy takes.
    pub fn mappings(&self) -> usize {
        self.places.iter().map(|place| place.runs.len()).sum()
    }
}

/// Keeps sums far from overflow.
fn check(elf: &Elf, end: u64) -> Result<(), LoadError> {
    if end < 1 << 46 {
        return Ok(());
    }
    Err(LoadError::Malformed {
        file: elf.file.clone(),
        problem: "it takes more memory than there are addresses".into(),
    })
}

/// Runs of pages of an object, at the object's own addresses.
fn runs(elf: &Elf) -> Result<Vec<Run>, LoadError> {
    let mut runs: Vec<Run> = Vec::new();
    // Ends of the pages so far that are executed, and of those that are written to.
    let (mut executed, mut written) = (0, 0);
    for segment in &elf.segments {
        let mut pages = segment.address / PAGE * PAGE..(segment.address + segment.size).next_multiple_of(PAGE);
        if (segment.executable && pages.start < written) || (segment.writable && pages.start < executed) {
            let problem = "a page is both writable and executable".into();
            return Err(LoadError::Malformed { file: elf.file.clone(), problem });
        }
        executed = if segment.executable { pages.end } else { executed };
        written = if segment.writable { pages.end } else { written };
        if let Some(last) = runs.last_mut() {
            if last.is_private == segment.writable {
                last.pages.end = last.pages.end.max(pages.end);
                continue;
            }
            // A page with something of both kinds is the copy's own. What lies between two runs goes to the one before: no mapping of
            // its own.
            if !segment.writable {
                pages.start = pages.start.max(last.pages.end);
            }
            if pages.is_empty() {
                continue;
            }
            last.pages.end = pages.start;
            if last.pages.is_empty() {
                runs.pop();
            }
        }
        runs.push(Run { pages, is_private: segment.writable });
    }
    Ok(runs)
}
