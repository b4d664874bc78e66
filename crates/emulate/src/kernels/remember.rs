//! Functions whose results are remembered.
//!
//! Ranks often compute the same: every rank of HPL turns the pivots of a panel into the same lists of rows. Such a function is executed once for
//! each contents of what it reads; for the next ranks that bring the same, what it wrote is copied.

use std::cell::RefCell;
use std::collections::{HashMap, VecDeque};
use std::hash::{BuildHasherDefault, Hasher};
use std::rc::Rc;

use super::entry::Registers;
use super::prototype::{Argument, Passed, Prototype, word};

/// Results that are kept for a function: those of the panels under way, and more. The oldest go first.
const KEPT: usize = 256;

/// What a function reads and writes: its arguments that are numbers, and memory at the addresses that it gets.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Extents {
    numbers: Vec<Argument>,
    reads: Vec<Extent>,
    writes: Vec<Extent>,
}

/// An array.
#[derive(Clone, Debug, PartialEq)]
struct Extent {
    /// Place of its address among the arguments that are no floating-point numbers, and on the stack.
    address: (usize, usize),
    /// Bytes of an element.
    element: usize,
    count: Count,
}

/// How many elements.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Count {
    Fixed(usize),
    /// So many times an argument.
    Times(usize, Argument),
}

impl Extents {
    /// From texts such as `int rows[2*N], double A[100]`, where names are those of arguments.
    pub fn parse(reads: &str, writes: &str, prototype: &Prototype) -> Result<Extents, String> {
        let is_number = |argument: &Argument| match argument {
            Argument::Passed { how, .. } => matches!(how, Passed::Int | Passed::Long | Passed::Double | Passed::Float),
            _ => false,
        };
        let numbers = prototype.arguments().iter().map(|(_, argument)| *argument).filter(is_number).collect();
        Ok(Extents { numbers, reads: extents(reads, prototype)?, writes: extents(writes, prototype)? })
    }
}

fn extents(text: &str, prototype: &Prototype) -> Result<Vec<Extent>, String> {
    text.split(',').map(str::trim).filter(|part| !part.is_empty()).map(|part| extent(part, prototype)).collect()
}

fn extent(part: &str, prototype: &Prototype) -> Result<Extent, String> {
    let wrong = || format!("`{part}` is no array: write a type, an argument and how many, such as `int rows[2*N]`");
    let find = |name: &str| {
        let mut found = prototype.arguments().iter().filter(|(argument, _)| argument == name);
        found.next().map(|(_, argument)| *argument).ok_or_else(|| format!("`{part}`: there is no argument `{name}`"))
    };
    let (declared, count) = part.strip_suffix(']').and_then(|part| part.split_once('[')).ok_or_else(wrong)?;
    let (element, name) = declared.trim().rsplit_once(char::is_whitespace).ok_or_else(wrong)?;
    let element = match element.trim() {
        "char" => 1,
        "int" | "float" => 4,
        "long" | "double" => 8,
        other => return Err(format!("`{part}`: the type is char, int, long, float or double, not `{other}`")),
    };
    let Argument::Passed { place, stacked, .. } = find(name.trim_start_matches('*'))? else { return Err(wrong()) };
    let (times, named) = count.split_once('*').unwrap_or(("1", count));
    let count = match named.trim().parse() {
        Ok(fixed) => Count::Fixed(fixed),
        Err(_) => Count::Times(times.trim().parse().map_err(|_| wrong())?, find(named.trim())?),
    };
    Ok(Extent { address: (place, stacked), element, count })
}

impl Extent {
    /// Where it begins and how many bytes it has.
    fn range(&self, registers: &Registers) -> (*mut u8, usize) {
        let count = match self.count {
            Count::Fixed(count) => count,
            Count::Times(times, argument) => times * argument.value(registers).max(0.0) as usize,
        };
        (word(registers, self.address.0, self.address.1) as *mut u8, count * self.element)
    }
}

/// What a call wrote and gave.
#[derive(Debug, PartialEq)]
pub struct Known {
    written: Box<[u8]>,
    /// In rax and xmm0.
    pub given: (u64, f64),
    /// How long it took, in seconds of the simulated machine.
    pub seconds: f64,
}

/// A call that is executed for the first time.
#[derive(Debug)]
pub struct First {
    read: Box<[u8]>,
    writes: Vec<(*mut u8, usize)>,
}

/// What is known of a function.
#[derive(Default)]
pub struct Remembered {
    results: HashMap<Rc<[u8]>, Rc<Known>, BuildHasherDefault<Words>>,
    order: VecDeque<Rc<[u8]>>,
}

thread_local! {
    /// What a call reads.
    static READ: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

impl Remembered {
    /// The result of a call, which is then where it belongs; or what is needed to remember it.
    pub fn recall(&self, extents: &Extents, registers: &Registers) -> Result<Rc<Known>, First> {
        READ.with_borrow_mut(|read| {
            read.clear();
            read.extend(extents.numbers.iter().flat_map(|number| number.value(registers).to_le_bytes()));
            for (address, bytes) in extents.reads.iter().map(|extent| extent.range(registers)) {
                // SAFETY: the user says that the function reads this.
                read.extend_from_slice(unsafe { std::slice::from_raw_parts(address, bytes) });
            }
            let writes = extents.writes.iter().map(|extent| extent.range(registers));
            let Some(result) = self.results.get(read.as_slice()) else {
                return Err(First { read: read.as_slice().into(), writes: writes.collect() });
            };
            let mut written = &*result.written;
            for (address, bytes) in writes {
                let (part, rest) = written.split_at(bytes);
                // SAFETY: and that it writes this.
                unsafe { address.copy_from_nonoverlapping(part.as_ptr(), bytes) };
                written = rest;
            }
            Ok(result.clone())
        })
    }

    /// Remembers what a call wrote and gave.
    pub fn remember(&mut self, first: First, given: (u64, f64), seconds: f64) {
        let mut written = Vec::new();
        for &(address, bytes) in &first.writes {
            // SAFETY: as above.
            written.extend_from_slice(unsafe { std::slice::from_raw_parts(address, bytes) });
        }
        let read: Rc<[u8]> = first.read.into();
        let result = Rc::new(Known { written: written.into(), given, seconds });
        if self.results.insert(read.clone(), result).is_none() {
            self.order.push_back(read);
        }
        if self.order.len() > KEPT
            && let Some(oldest) = self.order.pop_front()
        {
            self.results.remove(&oldest);
        }
    }
}

/// Hashes word by word: what is read has hundreds of them, and nobody chooses it with bad intent.
#[derive(Default)]
pub struct Words(u64);

impl Hasher for Words {
    fn write(&mut self, bytes: &[u8]) {
        const FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;
        let mut chunks = bytes.chunks_exact(8);
        for chunk in &mut chunks {
            let word = u64::from_le_bytes(chunk.try_into().expect("eight bytes"));
            self.0 = (self.0.rotate_left(23) ^ word).wrapping_mul(FACTOR);
        }
        for &byte in chunks.remainder() {
            self.0 = (self.0.rotate_left(23) ^ u64::from(byte)).wrapping_mul(FACTOR);
        }
    }

    fn finish(&self) -> u64 {
        self.0 ^ self.0 >> 29
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn registers(integers: [u64; 6]) -> Registers {
        Registers { integers, floats: [0.0; 8], stack: std::ptr::null() }
    }

    #[test]
    fn a_call_with_the_same_contents_is_recalled() {
        let prototype = Prototype::parse("int N, const double *from, int *to").unwrap();
        let extents = Extents::parse("double from[N]", "int to[2*N]", &prototype).unwrap();
        let from = [1.0f64, 2.0];
        let mut to = [0i32; 4];
        let call = registers([2, from.as_ptr() as u64, to.as_mut_ptr() as u64, 0, 0, 0]);
        let mut remembered = Remembered::default();
        let first = remembered.recall(&extents, &call).unwrap_err();
        to = [5, 6, 7, 8];
        remembered.remember(first, (3, 0.0), 1e-6);

        let same = from;
        let mut other = [0i32; 5];
        let call = registers([2, same.as_ptr() as u64, other.as_mut_ptr() as u64, 0, 0, 0]);
        let result = remembered.recall(&extents, &call).unwrap();
        assert_eq!((other, result.given.0), ([5, 6, 7, 8, 0], 3));
        assert_eq!(to, [5, 6, 7, 8]);
        let different = [1.0f64, 2.5];
        let call = registers([2, different.as_ptr() as u64, other.as_mut_ptr() as u64, 0, 0, 0]);
        assert!(remembered.recall(&extents, &call).is_err());
    }

    #[test]
    fn only_the_latest_are_kept() {
        let prototype = Prototype::parse("int *x").unwrap();
        let extents = Extents::parse("int x[1]", "", &prototype).unwrap();
        let mut remembered = Remembered::default();
        for number in 0..2 * KEPT as i32 {
            let call = registers([&raw const number as u64, 0, 0, 0, 0, 0]);
            let first = remembered.recall(&extents, &call).unwrap_err();
            remembered.remember(first, (number as u64, 0.0), 0.0);
        }
        let recall = |number: i32| remembered.recall(&extents, &registers([&raw const number as u64, 0, 0, 0, 0, 0]));
        assert!(recall(0).is_err() && recall(KEPT as i32 - 1).is_err());
        assert_eq!(recall(KEPT as i32).unwrap().given.0, KEPT as u64);
        assert_eq!((remembered.results.len(), remembered.order.len()), (KEPT, KEPT));
    }

    #[test]
    fn mistakes_are_named() {
        let prototype = Prototype::parse("int N, int *x").unwrap();
        for (text, part) in [
            ("int y[N]", "no argument `y`"),
            ("int x", "no array"),
            ("short x[N]", "not `short`"),
            ("int x[M]", "no argument `M`"),
            ("int x[a*N]", "no array"),
        ] {
            let error = Extents::parse(text, "", &prototype).unwrap_err();
            assert!(error.contains(part), "{text}: {error}");
        }
        assert!(Extents::parse("", "", &prototype).is_ok());
    }
}
