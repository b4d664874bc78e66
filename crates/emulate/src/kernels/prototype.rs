//! Prototypes of C: which register or place on the stack holds which argument.

use super::entry::Registers;

/// How an argument is passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Passed {
    /// A whole number of 32 bits.
    Int,
    /// A whole number of 64 bits.
    Long,
    /// A floating-point number of 64 bits.
    Double,
    /// A floating-point number of 32 bits.
    Float,
    /// The address of a whole number of 32 bits, so many bytes further.
    IntAt(usize),
    /// The address of a floating-point number of 64 bits, so many bytes further.
    DoubleAt(usize),
    /// A character.
    Character,
    /// The address of a character.
    CharacterAt,
    /// An address whose contents do not matter.
    Pointer,
}

impl Passed {
    fn is_float(self) -> bool {
        matches!(self, Passed::Double | Passed::Float)
    }
}

/// Where an argument of a model is found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Argument {
    /// In a register or on the stack.
    Passed {
        /// How many of its class come before it.
        place: usize,
        /// How it is passed.
        how: Passed,
        /// Words on the stack before it, if registers are full.
        stacked: usize,
    },
    /// One of two, by the value of a third: the order of the triangular matrix of ?trsm.
    Either {
        /// What decides: a word of this class.
        decider: (usize, Passed),
        /// The value for the first: a character or a number.
        value: u64,
        /// The two.
        arguments: [(usize, Passed); 2],
    },
    /// The smaller of two.
    Least([(usize, Passed); 2]),
    /// Whether any of two characters asks for something: is no N.
    Wanted {
        /// Their places, which may be the same.
        places: [usize; 2],
        /// How they are passed.
        how: Passed,
    },
}

/// A function's arguments.
#[derive(Clone, Debug, PartialEq)]
pub struct Prototype {
    arguments: Vec<(String, Argument)>,
}

/// A prototype that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{part}` is no argument: write a type and a name, such as `int M`, `double *A` or `int *N`")]
pub struct PrototypeError {
    part: String,
}

impl Prototype {
    /// From the text between the parentheses, or a whole declaration: `void f(const int M, const double *A, int LDA)`.
    pub fn parse(text: &str) -> Result<Prototype, PrototypeError> {
        let inside = text.split_once('(').map_or(text, |(_, rest)| rest);
        let inside = inside.rsplit_once(')').map_or(inside, |(inside, _)| inside);
        let (mut integers, mut floats, mut stacked) = (0, 0, 0);
        let mut arguments = Vec::new();
        for part in
            inside.split(',').map(str::trim).filter(|part| !part.is_empty() && *part != "void" && *part != "...")
        {
            let (how, name) = argument(part).ok_or_else(|| PrototypeError { part: part.to_owned() })?;
            let (count, registers) = if how.is_float() { (&mut floats, 8) } else { (&mut integers, 6) };
            let place = *count;
            *count += 1;
            let before = stacked;
            stacked += usize::from(place >= registers);
            arguments.push((name, Argument::Passed { place, how, stacked: before }));
        }
        Ok(Prototype { arguments })
    }

    /// Arguments with their names, in their order.
    pub fn arguments(&self) -> &[(String, Argument)] {
        &self.arguments
    }
}

/// How an argument is passed and what it is called.
fn argument(part: &str) -> Option<(Passed, String)> {
    // `int *panel+16 N`: the number that lies 16 bytes after the address.
    let is_pointer = part.contains('*') || part.contains('[');
    let words: Vec<&str> = part
        .split(|c: char| c.is_whitespace() || "*[]".contains(c))
        .filter(|word| {
            !word.is_empty() && !["const", "restrict", "struct", "enum", "unsigned", "register"].contains(word)
        })
        .collect();
    let (first, last) = (*words.first()?, *words.last()?);
    let name = if words.len() > 1 { last } else { "" };
    let how = match (first, is_pointer) {
        ("int" | "integer" | "INTEGER", true) => {
            let offset = words.iter().find_map(|word| word.split_once('+')).and_then(|(_, offset)| offset.parse().ok());
            Passed::IntAt(offset.unwrap_or(0))
        }
        (_, true) => Passed::Pointer,
        ("double", false) => Passed::Double,
        ("float", false) => Passed::Float,
        ("long" | "size_t" | "ssize_t" | "int64_t" | "uint64_t" | "ptrdiff_t", false) => Passed::Long,
        (_, false) => Passed::Int,
    };
    Some((how, name.to_owned()))
}

/// A word of the call: of the arguments that are no floating-point numbers, the one with that place.
pub(super) fn word(registers: &Registers, place: usize, stacked: usize) -> u64 {
    match registers.integers.get(place) {
        Some(word) => *word,
        // SAFETY: the caller has put its arguments there.
        None => unsafe { *registers.stack.add(stacked) },
    }
}

fn number(registers: &Registers, place: usize, how: Passed, stacked: usize) -> f64 {
    match how {
        Passed::Int => f64::from(word(registers, place, stacked) as i32),
        Passed::Long => word(registers, place, stacked) as i64 as f64,
        Passed::IntAt(offset) => {
            let at = (word(registers, place, stacked) as usize + offset) as *const i32;
            // SAFETY: the prototype says that the address of a number is passed.
            f64::from(unsafe { at.read_unaligned() })
        }
        Passed::DoubleAt(offset) => {
            let at = (word(registers, place, stacked) as usize + offset) as *const f64;
            // SAFETY: as above.
            unsafe { at.read_unaligned() }
        }
        Passed::Double | Passed::Float => {
            // SAFETY: as above, for the stack.
            let bits =
                registers.floats.get(place).map_or_else(|| unsafe { *registers.stack.add(stacked) }, |x| x.to_bits());
            if how == Passed::Double { f64::from_bits(bits) } else { f64::from(f32::from_bits(bits as u32)) }
        }
        Passed::Character | Passed::CharacterAt => character(registers, place, how) as f64,
        Passed::Pointer => 0.0,
    }
}

/// A character, whose case does not matter, or a number that stands for something.
fn character(registers: &Registers, place: usize, how: Passed) -> u64 {
    let word = word(registers, place, place.saturating_sub(6));
    match how {
        // SAFETY: the prototype says that the address of a character is passed.
        Passed::CharacterAt => u64::from(unsafe { *(word as *const u8) }.to_ascii_uppercase()),
        Passed::Character => u64::from((word as u8).to_ascii_uppercase()),
        _ => u64::from(word as u32),
    }
}

impl Argument {
    /// The value in a call.
    pub fn value(&self, registers: &Registers) -> f64 {
        // Beyond the registers, arguments follow each other on the stack.
        let at = |(place, how): (usize, Passed)| number(registers, place, how, place.saturating_sub(6));
        match *self {
            Argument::Passed { place, how, stacked } => number(registers, place, how, stacked),
            Argument::Either { decider: (place, how), value, arguments } => {
                at(arguments[usize::from(character(registers, place, how) != value)])
            }
            Argument::Least(arguments) => arguments.map(at).into_iter().fold(f64::INFINITY, f64::min),
            Argument::Wanted { places, how } => {
                let is_wanted = |place: usize| character(registers, place, how) != u64::from(b'N');
                f64::from(places.into_iter().any(is_wanted))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_found_in_registers_and_on_the_stack() {
        let prototype = Prototype::parse(
            "void f(const int A, double x, int *B, long C, const char *d, int E, int F, int G, double y)",
        )
        .unwrap();
        let stack = [77u64];
        let mut five = 5i32;
        let registers = Registers {
            integers: [1, &raw mut five as u64, 3, 0, 4, 6],
            floats: [1.5, 2.5, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
            stack: stack.as_ptr(),
        };
        let values: Vec<f64> = prototype.arguments().iter().map(|(_, argument)| argument.value(&registers)).collect();
        assert_eq!(values, [1.0, 1.5, 5.0, 3.0, 0.0, 4.0, 6.0, 77.0, 2.5]);
        let names: Vec<&str> = prototype.arguments().iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["A", "x", "B", "C", "d", "E", "F", "G", "y"]);
    }

    #[test]
    fn a_field_of_a_structure_can_be_named() {
        let prototype = Prototype::parse("int *panel+8 N, int II").unwrap();
        let fields = [1i32, 2, 64];
        let registers =
            Registers { integers: [fields.as_ptr() as u64, 9, 0, 0, 0, 0], floats: [0.0; 8], stack: std::ptr::null() };
        assert_eq!(prototype.arguments()[0].0, "N");
        assert_eq!(prototype.arguments()[0].1.value(&registers), 64.0);
    }
}
