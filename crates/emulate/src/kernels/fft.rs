//! Fourier transforms with FFTW 3: plans are made here, and remember how much work they are.

use super::effect::Effect;
use super::entry::Registers;
use super::prototype::{Argument, Passed, word};
use super::{Extents, How, Replaced, Returned};

/// What stands for a plan.
#[repr(C)]
struct Plan {
    /// Points of all its transforms; those of real numbers count half.
    points: f64,
    /// Logarithm of the points of one transform, to base two.
    logarithm: f64,
}

/// Where a plan's sizes are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sizes {
    /// The first arguments, so many.
    Given(usize),
    /// How many there are, and where.
    Listed,
    /// The same, and how many transforms.
    Many,
    /// Descriptions of dimensions and of repetitions, with integers or long integers.
    Guru {
        /// With long integers.
        is_long: bool,
    },
}

/// What a function that makes plans gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Making {
    sizes: Sizes,
    is_real: bool,
}

/// Functions that make plans, without their prefix.
const MAKERS: [(&str, Sizes); 6] = [
    ("plan_KIND_1d", Sizes::Given(1)),
    ("plan_KIND_2d", Sizes::Given(2)),
    ("plan_KIND_3d", Sizes::Given(3)),
    ("plan_KIND", Sizes::Listed),
    ("plan_many_KIND", Sizes::Many),
    ("plan_guru_KIND", Sizes::Guru { is_long: false }),
];

/// Functions that execute them.
const EXECUTORS: [&str; 8] = [
    "execute",
    "execute_dft",
    "execute_dft_r2c",
    "execute_dft_c2r",
    "execute_r2r",
    "execute_split_dft",
    "execute_split_dft_r2c",
    "execute_split_dft_c2r",
];

/// All functions of the library in double and single precision that make, execute or destroy plans.
pub(super) fn functions() -> Vec<Replaced> {
    let mut all = Vec::new();
    for (prefix, kernel) in [("fftw_", "dfft"), ("fftwf_", "sfft")] {
        let replaced = |name: &str, how: How, arguments: Vec<(String, Argument)>, returned: Returned| Replaced {
            symbol: format!("{prefix}{name}"),
            kernel: kernel.to_owned(),
            how,
            arguments,
            returned,
            effect: Effect::None,
            extents: Extents::default(),
            batch: None,
            is_listed: false,
        };
        for (kind, is_real) in [("dft", false), ("dft_r2c", true), ("dft_c2r", true), ("r2r", true)] {
            for (pattern, sizes) in MAKERS {
                let name = pattern.replace("KIND", kind);
                all.push(replaced(&name, How::Skip, Vec::new(), Returned::Plan(Making { sizes, is_real })));
            }
            let split = kind.replace("dft", "split_dft");
            for (infix, is_long) in [("guru", false), ("guru64", true)] {
                let returned = Returned::Plan(Making { sizes: Sizes::Guru { is_long }, is_real });
                if is_long {
                    all.push(replaced(&format!("plan_{infix}_{kind}"), How::Skip, Vec::new(), returned));
                }
                if split != kind {
                    all.push(replaced(&format!("plan_{infix}_{split}"), How::Skip, Vec::new(), returned));
                }
            }
        }
        let field = |name: &str, offset: usize| {
            (name.to_owned(), Argument::Passed { place: 0, how: Passed::DoubleAt(offset), stacked: 0 })
        };
        for name in EXECUTORS {
            let arguments = vec![field("N", 0), field("L", 8)];
            all.push(replaced(name, How::Model, arguments, Returned::Zero));
        }
        // Plans are small, and stay.
        all.push(replaced("destroy_plan", How::Skip, Vec::new(), Returned::Zero));
    }
    all
}

impl Making {
    /// Makes a plan for the sizes of the call.
    pub fn plan(self, registers: &Registers) -> u64 {
        let word = |place: usize| word(registers, place, place.saturating_sub(6));
        // SAFETY: FFTW's interface says that there are so many integers, or descriptions of three numbers each.
        let (points, times) = unsafe {
            match self.sizes {
                Sizes::Given(count) => ((0..count).map(|place| f64::from(word(place) as i32)).product(), 1.0),
                Sizes::Listed => (product::<i32>(word(0), word(1), 1), 1.0),
                Sizes::Many => (product::<i32>(word(0), word(1), 1), f64::from(word(2) as i32)),
                Sizes::Guru { is_long: false } => {
                    (product::<i32>(word(0), word(1), 3), product::<i32>(word(2), word(3), 3))
                }
                Sizes::Guru { is_long: true } => {
                    (product::<i64>(word(0), word(1), 3), product::<i64>(word(2), word(3), 3))
                }
            }
        };
        let share = if self.is_real { 0.5 } else { 1.0 };
        let plan = Plan { points: share * points * times, logarithm: points.max(1.0).log2() };
        Box::into_raw(Box::new(plan)) as u64
    }
}

/// Numbers that C has.
trait Integer: Copy {
    fn wide(self) -> f64;
}

impl Integer for i32 {
    fn wide(self) -> f64 {
        f64::from(self)
    }
}

impl Integer for i64 {
    fn wide(self) -> f64 {
        self as f64
    }
}

/// The product of some numbers, each so far behind the one before.
unsafe fn product<T: Integer>(count: u64, at: u64, step: usize) -> f64 {
    // SAFETY: the caller says that they are there.
    (0..(count as i32).max(0) as usize)
        .map(|place| unsafe { (at as *const T).add(step * place).read_unaligned() }.wide())
        .product()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(making: Making, integers: [u64; 6]) -> (f64, f64) {
        let registers = Registers { integers, floats: [0.0; 8], stack: std::ptr::null() };
        // SAFETY: made just before.
        let plan = unsafe { Box::from_raw(making.plan(&registers) as *mut Plan) };
        (plan.points, plan.logarithm)
    }

    #[test]
    fn plans_know_their_points() {
        let making = |sizes| Making { sizes, is_real: false };
        assert_eq!(plan(making(Sizes::Given(2)), [8, 16, 0, 0, 0, 0]), (128.0, 7.0));
        let sizes = [4i32, 8];
        assert_eq!(plan(making(Sizes::Many), [2, sizes.as_ptr() as u64, 10, 0, 0, 0]), (320.0, 5.0));
        let (dimension, repetition) = ([64i64, 1, 1], [3i64, 64, 64]);
        let guru = Making { sizes: Sizes::Guru { is_long: true }, is_real: true };
        let words = [1, dimension.as_ptr() as u64, 1, repetition.as_ptr() as u64, 0, 0];
        assert_eq!(plan(guru, words), (96.0, 6.0));
    }

    #[test]
    fn each_function_is_there_once() {
        let mut all: Vec<String> = functions().into_iter().map(|function| function.symbol).collect();
        let count = all.len();
        all.sort();
        all.dedup();
        assert_eq!(all.len(), count);
        for symbol in ["fftw_plan_dft_1d", "fftwf_plan_many_dft_r2c", "fftw_plan_guru64_split_dft_c2r", "fftwf_execute"]
        {
            assert!(all.iter().any(|known| known == symbol), "{symbol}");
        }
    }
}
