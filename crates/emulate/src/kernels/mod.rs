//! Functions of the program that are not executed as they are: modelled, sampled, or left out.
//!
//! A call of such a function comes to a stub (`entry.rs`), which keeps its arguments and asks [`Kernels`] what becomes of it. Which
//! functions these are, and what their arguments mean, is said by prototypes of C (`prototype.rs`): those of the BLAS are built
//! in (`blas.rs`), others are listed in a file (`file.rs`). How long a call takes is said by the kernel models of a model file, or by a
//! roofline of the machine (`models.rs`).

mod blas;
mod entry;
mod file;
mod models;
mod prototype;
mod sample;

use std::cell::{Cell, RefCell};

use hpcast_engine::{Key, Stream};
use hpcast_models::compute::{Arguments, MOST_ARGUMENTS};
use hpcast_units::Time;

pub use file::{FunctionError, Functions};
pub use models::{KernelModels, MachineSpeed};
pub use prototype::Prototype;

use entry::{Action, Registers, Stubs};
use models::Bound;
use prototype::Argument;
use sample::Samples;

use crate::meter::Charging;
use crate::process::Process;

/// What becomes of the calls of a function.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum How {
    /// Nothing is executed, and a model says how long it takes.
    Model,
    /// Nothing is executed, and it takes no time.
    Skip,
    /// Executed until the mean is known to that precision, at least so often; then it takes the mean.
    Sample {
        /// Half the width of the 95 % interval of the mean, as a share of it.
        precision: f64,
        /// Calls that are executed in any case.
        least: u32,
    },
}

/// What a function gives that is not executed.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Returned {
    /// Nothing, or zero.
    #[default]
    Zero,
    /// This number.
    Value(f64),
    /// A random whole number from 0 to below an argument of the model.
    Below(usize),
    /// The place of the largest of a vector (i?amax), counted from that number: a random one, where the largest of so many
    /// random numbers from 0 to 1 is put.
    Largest {
        /// What the first place is called.
        first: u64,
        /// Bytes of a number: of its real part, if it has two.
        size: u8,
        /// Bytes from one number to the next.
        element: u8,
        /// Which arguments are the vector and its increment.
        vector: usize,
        /// By value or by reference.
        by_reference: bool,
    },
}

/// What is still done where a function is not executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Nothing.
    None,
    /// Vectors without gaps are copied (?copy): programs also copy what they steer by.
    Copy {
        /// Bytes of a number.
        size: u8,
        /// Arguments are passed by reference.
        by_reference: bool,
    },
}

/// A function whose calls are not simply executed.
pub struct Replaced {
    /// Its symbol.
    pub symbol: String,
    /// The name of its model.
    pub kernel: String,
    /// What becomes of its calls.
    pub how: How,
    /// Where the arguments of the model are found.
    pub arguments: Vec<(String, Argument)>,
    /// What it gives.
    pub returned: Returned,
    /// What is done all the same.
    pub effect: Effect,
}

impl Replaced {
    /// Whether there is nothing to do: a matrix has no rows or no columns, and functions return at once.
    fn is_empty(&self, values: &[f64]) -> bool {
        let is_size = |name: &str| name == "M" || name == "N";
        self.arguments.iter().zip(values).any(|((name, _), &value)| value == 0.0 && is_size(name))
    }
}

/// A function that is ready to be called.
struct Entry {
    replaced: Replaced,
    model: Bound,
    samples: RefCell<Samples>,
    /// Of what is drawn.
    returns: Stream,
    noise: Stream,
    /// Where the original is in the program, if there is one.
    original: Cell<Option<hpcast_loader::Original>>,
    /// The address of the original in a shared library.
    shared: Cell<usize>,
    calls: Cell<u64>,
    seconds: Cell<f64>,
}

/// All functions whose calls are not simply executed.
pub struct Kernels {
    entries: Vec<Entry>,
    stubs: Stubs,
}

/// How often a function was called, and how long its calls took in simulated time.
#[derive(Clone, Debug)]
pub struct Account {
    /// Its symbol.
    pub symbol: String,
    /// How often.
    pub calls: u64,
    /// Simulated seconds of all ranks together.
    pub seconds: f64,
}

thread_local! {
    static KERNELS: Cell<*const Kernels> = const { Cell::new(std::ptr::null()) };
}

impl Kernels {
    /// Functions with their models.
    pub fn new(functions: Vec<Replaced>, models: &KernelModels, seed: u64) -> Result<Kernels, FunctionError> {
        let mut entries = Vec::with_capacity(functions.len());
        for replaced in functions {
            let names: Vec<&str> = replaced.arguments.iter().map(|(name, _)| name.as_str()).collect();
            let model = match replaced.how {
                How::Model => models.bind(&replaced.kernel, &names)?,
                _ => Bound::Free,
            };
            let key = Key::new(seed);
            entries.push(Entry {
                model,
                samples: RefCell::default(),
                returns: key.purpose(&format!("result of {}", replaced.symbol)),
                noise: key.purpose(&format!("time of {}", replaced.symbol)),
                original: Cell::new(None),
                shared: Cell::new(0),
                calls: Cell::new(0),
                seconds: Cell::new(0.0),
                replaced,
            });
        }
        let stubs = Stubs::new(&entries.iter().map(Entry::constant).collect::<Vec<_>>());
        Ok(Kernels { entries, stubs })
    }

    /// The stub of a symbol.
    pub fn stub(&self, symbol: &str) -> Option<usize> {
        let place = self.entries.iter().position(|entry| entry.replaced.symbol == symbol)?;
        Some(self.stubs.address(place))
    }

    /// Symbols and their stubs.
    pub fn stubs(&self) -> impl Iterator<Item = (&str, usize)> {
        (0..).zip(&self.entries).map(|(place, entry)| (entry.replaced.symbol.as_str(), self.stubs.address(place)))
    }

    /// Whether some are executed after all.
    pub fn need_originals(&self) -> bool {
        self.entries.iter().any(|entry| matches!(entry.replaced.how, How::Sample { .. }))
    }

    /// Says where the original of a function is.
    pub fn set_original(&self, symbol: &str, original: hpcast_loader::Original) {
        if let Some(entry) = self.entries.iter().find(|entry| entry.replaced.symbol == symbol) {
            entry.original.set(Some(original));
        }
    }

    /// Calls come here from now on.
    pub fn install(&self) {
        KERNELS.set(self);
    }

    /// What was called how often.
    pub fn account(&self) -> Vec<Account> {
        let called = self.entries.iter().filter(|entry| entry.calls.get() > 0);
        called
            .map(|entry| Account {
                symbol: entry.replaced.symbol.clone(),
                calls: entry.calls.get(),
                seconds: entry.seconds.get(),
            })
            .collect()
    }

    /// A call of the function with that number.
    fn called(&self, number: usize, registers: &Registers) -> Action {
        let me = Process::current();
        let outer = me.begin_call("a kernel");
        let action = self.entries[number].called(me, registers, number);
        me.end_call(outer);
        action
    }
}

/// A call that is executed and measured.
pub struct Executing {
    returns_to: u64,
    entry: usize,
    values: Vec<f64>,
    since: u64,
}

impl Kernels {
    /// A call that was measured has returned; gives the place where it goes on.
    fn returned(&self) -> u64 {
        let me = Process::current();
        let outer = me.begin_call("a kernel");
        let executing = me.executing.borrow_mut().pop();
        let executing = executing.expect("who returns through us was called through us");
        self.entries[executing.entry].executed(me, &executing);
        me.end_call(outer);
        executing.returns_to
    }
}

impl Drop for Kernels {
    fn drop(&mut self) {
        KERNELS.set(std::ptr::null());
    }
}

impl Entry {
    /// What all calls give, if they take no time and do nothing. Such calls are not counted.
    fn constant(&self) -> Option<f64> {
        let is_idle = self.replaced.effect == Effect::None && matches!(self.model, Bound::Free);
        match (self.replaced.how, self.replaced.returned) {
            (How::Sample { .. }, _) => None,
            (_, Returned::Zero) if is_idle => Some(0.0),
            (_, Returned::Value(value)) if is_idle => Some(value),
            _ => None,
        }
    }

    fn called(&self, me: &Process, registers: &Registers, entry: usize) -> Action {
        let number = self.calls.get();
        self.calls.set(number + 1);
        let mut values = [0.0; MOST_ARGUMENTS];
        let arguments = &self.replaced.arguments[..self.replaced.arguments.len().min(MOST_ARGUMENTS)];
        for (value, (_, argument)) in values.iter_mut().zip(arguments) {
            *value = argument.value(registers);
        }
        let values = &values[..arguments.len()];
        if let How::Sample { precision, least } = self.replaced.how {
            let known = self.samples.borrow_mut().mean(values, precision, least);
            return match known {
                Some(mean) => self.take(me, mean, values, registers, number),
                None => self.execute(me, registers, values.to_vec(), entry),
            };
        }
        let seconds = match self.replaced.is_empty(values) {
            true => 0.0,
            false => self.model.seconds(me, &Arguments::from_slice(values), || self.noise.word(me.number(), number)),
        };
        self.take(me, seconds, values, registers, number)
    }

    /// The call takes its time without being executed.
    fn take(&self, me: &Process, seconds: f64, values: &[f64], registers: &Registers, number: u64) -> Action {
        self.seconds.set(self.seconds.get() + seconds);
        if seconds > 0.0 {
            me.rank.compute(Time::from_secs(seconds));
        }
        if let Effect::Copy { size, by_reference } = self.replaced.effect {
            blas::copy(registers, size, by_reference);
        }
        let random = || self.returns.uniform(me.number(), 2 * number);
        Action::give(match self.replaced.returned {
            Returned::Zero => (0, 0.0),
            Returned::Value(value) => (value as i64 as u64, value),
            Returned::Below(argument) => {
                let below = values.get(argument).copied().unwrap_or(1.0).max(1.0);
                let drawn = (random() * below).min(below - 1.0).floor();
                (drawn as u64, drawn)
            }
            Returned::Largest { first, size, element, vector, by_reference } => {
                let count = values.first().copied().unwrap_or(0.0);
                let place = (random() * count).min(count - 1.0).max(0.0).floor() as u64;
                let drawn = 1.0 - self.returns.uniform(me.number(), 2 * number + 1);
                if count >= 1.0 {
                    let value = drawn.powf(1.0 / count);
                    blas::put_largest(registers, vector, by_reference, [size, element], place, value);
                }
                (place + if count >= 1.0 { first } else { 0 }, 0.0)
            }
        })
    }

    /// The original is executed, and measured.
    fn execute(&self, me: &Process, registers: &Registers, values: Vec<f64>, entry: usize) -> Action {
        let original = match self.original.get() {
            Some(original) => me.copy().instance.original(original),
            None => self.shared.get(),
        };
        let returns_to = registers.return_through_us();
        let since = crate::meter::cpu_time();
        me.executing.borrow_mut().push(Executing { returns_to, entry, values, since });
        Action::run(original)
    }

    /// The original has returned.
    fn executed(&self, me: &Process, executing: &Executing) {
        let seconds =
            crate::meter::cpu_time().saturating_sub(executing.since) as f64 * 1e-9 * me.world.charging.factor();
        self.samples.borrow_mut().add(&executing.values, seconds);
        self.seconds.set(self.seconds.get() + seconds);
        if me.world.charging == Charging::Nothing {
            me.rank.compute(Time::from_secs(seconds));
        }
    }
}
