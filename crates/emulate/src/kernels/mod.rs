//! Functions of the program that are not executed as they are: modelled, sampled, or left out.
//!
//! A call of such a function comes to a stub (`entry.rs`), which keeps its arguments and asks [`Kernels`] what becomes of it. Which
//! functions these are, and what their arguments mean, is said by prototypes of C (`prototype.rs`): those of the BLAS, LAPACK and FFTW are
//! built in (`routines.rs`, `fft.rs`), others are listed in a file (`file.rs`). How long a call takes is said by the kernel models of a model file, or by a
//! roofline of the machine (`models.rs`).

mod batch;
mod effect;
mod entry;
mod fft;
mod file;
mod models;
mod prototype;
mod remember;
mod routines;
mod sample;

use std::cell::{Cell, RefCell};

use hpcast_engine::{Key, Stream};
use hpcast_models::compute::Arguments;
use hpcast_units::Time;

pub use effect::Effect;
pub use file::{FunctionError, Functions, Region};
pub use models::{KernelModels, MachineSpeed};
pub use prototype::Prototype;
pub use remember::Extents;
pub use sample::Sampling;

use batch::Batch;
use entry::{Action, Given, Registers, Stubs};
use models::{Bound, BoundWork};
use prototype::Argument;
use remember::{First, Remembered};
use sample::Samples;

use crate::meter::Charging;
use crate::process::{Ending, Process};

/// What becomes of the calls of a function.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum How {
    /// Nothing is executed, and a model says how long it takes.
    Model,
    /// Nothing is executed, and it takes no time.
    Skip,
    /// Executed until the mean is known; then it takes the mean.
    Sample(Sampling),
    /// Executed once for each contents of what it reads.
    Remember,
}

/// What a function gives that is not executed.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Returned {
    /// Nothing, or zero.
    #[default]
    Zero,
    /// This number.
    Value(f64),
    /// This number in single precision.
    Single(f32),
    /// A plan of a Fourier transform.
    Plan(fft::Making),
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
    /// What it reads and writes, if its results are remembered.
    pub extents: Extents,
    /// Where its sizes are, if one call does many things.
    pub batch: Option<Batch>,
    /// Whether the user has listed it: then it must be there, and have a model if it needs one.
    pub is_listed: bool,
}

impl Replaced {
    /// Places of the arguments that say how large a matrix is.
    fn sizes(&self) -> Box<[usize]> {
        let names = self.arguments.iter().map(|(name, _)| name.as_str()).enumerate();
        names.filter(|(_, name)| matches!(*name, "M" | "N")).map(|(place, _)| place).collect()
    }

    /// Whether nothing must be known of a call, if it takes no time: neither what it does nor what it gives depends on its arguments.
    fn is_plain(&self) -> bool {
        self.how == How::Model
            && matches!(self.effect, Effect::None | Effect::Copy { .. })
            && matches!(self.returned, Returned::Zero | Returned::Value(_) | Returned::Single(_))
    }
}

/// A function that is ready to be called.
struct Entry {
    replaced: Replaced,
    model: Bound,
    /// Whether its calls take no time, and its arguments mean nothing to us.
    is_plain: bool,
    /// Places of sizes: where one of them is zero, functions return at once.
    sizes: Box<[usize]>,
    samples: RefCell<Samples>,
    remembered: RefCell<Remembered>,
    /// What a call does, if that is known: what is measured is its speed.
    unit: Option<BoundWork>,
    /// Of what is drawn.
    returns: Stream,
    noise: Stream,
    /// Where the original is in the program, if there is one.
    original: Cell<Option<hpcast_loader::Original>>,
    /// The address of the original in a shared library.
    shared: Cell<usize>,
    /// Whether it is executed as it is, since it cannot be replaced.
    is_left: Cell<bool>,
    calls: Cell<u64>,
    executed: Cell<u64>,
    seconds: Cell<f64>,
}

/// All functions whose calls are not simply executed.
pub struct Kernels {
    entries: Vec<Entry>,
    stubs: Stubs,
    /// How long the simulated machine takes for a second of this computer.
    slowness: f64,
}

/// How often a function was called, and how long its calls took in simulated time.
#[derive(Clone, Debug)]
pub struct Account {
    /// Its symbol.
    pub symbol: String,
    /// How often.
    pub calls: u64,
    /// How often it was executed.
    pub executed: u64,
    /// Where its times come from.
    pub source: Source,
    /// Simulated seconds of all ranks together.
    pub seconds: f64,
}

/// Where the times of a function come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// It takes no time.
    Free,
    /// A kernel model of the model file.
    Model,
    /// What it does at least, and how fast the machine file says that a node computes.
    Roofline,
    /// Calls that were executed.
    Samples,
    /// The first call with the same contents.
    Remembered,
    /// Nothing: it could not be replaced, and was executed as it is.
    Left,
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
                How::Model => match models.bind(&replaced.kernel, &names) {
                    Err(error) if !replaced.is_listed => Bound::Unknown(error.to_string()),
                    bound => bound?,
                },
                _ => Bound::Free,
            };
            let key = Key::new(seed);
            let is_sampled = matches!(replaced.how, How::Sample(_));
            let unit = is_sampled.then(|| BoundWork::new(&replaced.kernel, &names)).flatten();
            entries.push(Entry {
                is_plain: matches!(model, Bound::Free) && replaced.is_plain(),
                sizes: replaced.sizes(),
                model,
                samples: RefCell::default(),
                remembered: RefCell::default(),
                unit: unit.and_then(Result::ok),
                returns: key.purpose(&format!("result of {}", replaced.symbol)),
                noise: key.purpose(&format!("time of {}", replaced.symbol)),
                original: Cell::new(None),
                shared: Cell::new(0),
                is_left: Cell::new(false),
                calls: Cell::new(0),
                executed: Cell::new(0),
                seconds: Cell::new(0.0),
                replaced,
            });
        }
        let stubs = Stubs::new(&entries.iter().map(Entry::constant).collect::<Vec<_>>());
        Ok(Kernels { entries, stubs, slowness: 1.0 })
    }

    /// The same on a machine that is so many times faster than this computer.
    pub fn with_speed(mut self, speed: f64) -> Kernels {
        self.slowness = 1.0 / speed;
        self
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
        self.entries.iter().any(|entry| matches!(entry.replaced.how, How::Sample(_) | How::Remember))
    }

    /// Says where the original of a function is.
    pub fn set_original(&self, symbol: &str, original: hpcast_loader::Original) {
        if let Some(entry) = self.entries.iter().find(|entry| entry.replaced.symbol == symbol) {
            entry.original.set(Some(original));
        }
    }

    /// Says where the original of a function is in a library that all ranks share.
    pub fn set_shared(&self, symbol: &str, address: usize) {
        if let Some(entry) = self.entries.iter().find(|entry| entry.replaced.symbol == symbol) {
            entry.shared.set(address);
        }
    }

    /// Who communicates in a function that is sampled or remembered ends with a message: left out, it would communicate no more.
    #[cold]
    fn refuse(&self, me: &Process, executing: usize, name: &'static str) -> ! {
        let symbol = &self.entries[executing].replaced.symbol;
        let what = format!(
            "called inside {symbol}, which is sampled or remembered; functions that call MPI cannot be left out, so list those \
             that they compute with"
        );
        me.end(Ending::Fault { function: name.to_owned(), what, code: 0 })
    }

    /// Says that a function cannot be replaced: it is executed as it is.
    pub fn leave(&self, symbol: &str) {
        if let Some(entry) = self.entries.iter().find(|entry| entry.replaced.symbol == symbol) {
            entry.is_left.set(true);
        }
    }

    /// Whether the user has listed a function.
    pub fn is_listed(&self, symbol: &str) -> bool {
        self.entries.iter().any(|entry| entry.replaced.symbol == symbol && entry.replaced.is_listed)
    }

    /// Calls come here from now on.
    pub fn install(&self) {
        KERNELS.set(self);
    }

    /// What was called how often.
    pub fn account(&self) -> Vec<Account> {
        let called = self.entries.iter().filter(|entry| entry.calls.get() > 0 || entry.is_left.get());
        called
            .map(|entry| Account {
                symbol: entry.replaced.symbol.clone(),
                calls: entry.calls.get(),
                executed: entry.executed.get(),
                source: entry.source(),
                seconds: entry.seconds.get(),
            })
            .collect()
    }

    /// A call of the function with that number.
    fn called(&self, number: usize, registers: &Registers) -> Action {
        let me = Process::current();
        let outer = me.begin_call("a kernel");
        let action = self.entries[number].called(me, registers, number);
        me.keep_time(outer);
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
    /// What is needed to remember its result.
    first: Option<First>,
    /// Simulated seconds of calls inside that were not executed.
    inside: f64,
}

impl Kernels {
    /// A call that was measured has returned; gives the place where it goes on.
    fn returned(&self, given: &Given) -> u64 {
        let me = Process::current();
        let outer = me.begin_call("a kernel");
        let executing = me.executing.borrow_mut().pop();
        let mut executing = executing.expect("who returns through us was called through us");
        let entry = &self.entries[executing.entry];
        let seconds = entry.executed(me, &executing, self.slowness);
        if let Some(first) = executing.first.take() {
            let given = (given.integers[0], given.floats[0][0]);
            entry.remembered.borrow_mut().remember(first, given, seconds);
        }
        me.end_call(outer);
        executing.returns_to
    }
}

/// An MPI function is called: it must not be one that communicates in a function that is sampled.
#[inline]
pub(crate) fn check_call(me: &Process, name: &'static str) {
    const HARMLESS: [&str; 6] =
        ["MPI_Comm_rank", "MPI_Comm_size", "MPI_Type_size", "MPI_Get_address", "MPI_Initialized", "MPI_Pcontrol"];
    let executing = me.executing.borrow().last().map(|executing| executing.entry);
    if let Some(executing) = executing.filter(|_| !HARMLESS.contains(&name)) {
        // SAFETY: functions are sampled only while their kernels are installed.
        unsafe { (*KERNELS.get()).refuse(me, executing, name) }
    }
}

impl Drop for Kernels {
    fn drop(&mut self) {
        KERNELS.set(std::ptr::null());
    }
}

impl Entry {
    fn source(&self) -> Source {
        match (self.replaced.how, &self.model) {
            _ if self.is_left.get() => Source::Left,
            (How::Sample(_), _) => Source::Samples,
            (How::Remember, _) => Source::Remembered,
            (_, Bound::Free | Bound::Unknown(_)) => Source::Free,
            (_, Bound::Fitted(..)) => Source::Model,
            (_, Bound::Roofline(..)) => Source::Roofline,
        }
    }

    /// What all calls give, if they take no time and do nothing. Such calls are not counted.
    fn constant(&self) -> Option<f64> {
        let is_idle = self.replaced.effect == Effect::None && matches!(self.model, Bound::Free);
        match (self.replaced.how, self.replaced.returned) {
            (How::Sample(_) | How::Remember, _) => None,
            (_, Returned::Zero) if is_idle => Some(0.0),
            (_, Returned::Value(value)) if is_idle => Some(value),
            _ => None,
        }
    }

    fn called(&self, me: &Process, registers: &Registers, entry: usize) -> Action {
        let number = self.calls.get();
        self.calls.set(number + 1);
        if self.is_plain {
            return self.take(me, 0.0, &[], registers, number);
        }
        if self.replaced.how == How::Remember {
            return self.recall(me, registers, entry);
        }
        let mut arguments = Arguments::new([]);
        arguments.set(self.replaced.arguments.iter().map(|(_, argument)| argument.value(registers)));
        let values = arguments.first(self.replaced.arguments.len());
        if let Effect::Lapack(lapack) = self.replaced.effect
            && lapack.is_question(registers)
        {
            return self.answer(me, lapack, registers, values);
        }
        if let How::Sample(sampling) = self.replaced.how {
            let uniform = || self.noise.uniform(me.number(), number);
            let class = sample::class(values, self.unit.is_some());
            let known = self.samples.borrow().time(&class, sampling, uniform);
            return match known {
                Some(time) => self.take(me, time * self.amount(values), values, registers, number),
                None => self.execute(me, registers, values.to_vec(), entry, None),
            };
        }
        if let Bound::Unknown(what) = &self.model {
            me.end(Ending::Fault { function: self.replaced.symbol.clone(), what: what.clone(), code: 0 });
        }
        let seconds = match (&self.replaced.batch, self.is_empty(values)) {
            (Some(batch), _) => self.seconds_of_all(me, &batch.groups(registers), number),
            (None, true) => 0.0,
            (None, false) => self.model.seconds(me, &arguments, || self.noise.word(me.number(), number)),
        };
        self.take(me, seconds, values, registers, number)
    }

    /// Whether there is nothing to do: a matrix has no rows or no columns.
    #[inline]
    fn is_empty(&self, values: &[f64]) -> bool {
        self.sizes.iter().any(|&place| values.get(place) == Some(&0.0))
    }

    /// What one call does many times, one after the other: the noise of each is drawn.
    fn seconds_of_all(&self, me: &Process, groups: &[batch::Group], number: u64) -> f64 {
        /// Calls with more products than that share their draws.
        const DRAWS: u64 = 1 << 24;
        let mut index = 0;
        let mut seconds = 0.0;
        for group in groups {
            let values = group.sizes.map(f64::from);
            if self.is_empty(&values) {
                continue;
            }
            let arguments = Arguments::from_slice(&values);
            for _ in 0..group.count {
                let draw = number.wrapping_mul(DRAWS).wrapping_add(index % DRAWS);
                seconds += self.model.seconds(me, &arguments, || self.noise.word(me.number(), draw));
                index += 1;
            }
        }
        seconds
    }

    /// The call takes its time without being executed.
    fn take(&self, me: &Process, seconds: f64, values: &[f64], registers: &Registers, number: u64) -> Action {
        self.spend(me, seconds);
        match self.replaced.effect {
            Effect::None => {}
            Effect::Copy { size, by_reference } => effect::copy(registers, size, by_reference),
            Effect::Lapack(lapack) => {
                lapack.end(registers, self.named("S", values).or(self.named("N", values)).unwrap_or(0.0))
            }
        }
        let random = || self.returns.word(me.number(), number);
        let (integer, float) = match self.replaced.returned {
            Returned::Zero => (0, 0.0),
            Returned::Value(value) => (value as i64 as u64, value),
            Returned::Single(value) => (value as i64 as u64, f64::from_bits(value.to_bits().into())),
            Returned::Plan(making) => (making.plan(registers), 0.0),
            Returned::Below(argument) => {
                let below = values.get(argument).copied().unwrap_or(1.0).max(1.0);
                let drawn = (share(random()) * below).min(below - 1.0).floor();
                (drawn as u64, drawn)
            }
            Returned::Largest { first, size, element, vector, by_reference } => {
                let count = values.first().copied().unwrap_or(0.0);
                // One half of the bits is the place, the other the number.
                let word = random();
                let place = (share(word) * count).min(count - 1.0).max(0.0).floor() as u64;
                if count >= 1.0 {
                    let value = (1.0 - share(word << 32)).powf(1.0 / count);
                    effect::put_largest(registers, vector, by_reference, [size, element], place, value);
                }
                (place + if count >= 1.0 { first } else { 0 }, 0.0)
            }
        };
        Action::Give(integer, float)
    }

    /// Time passes for the rank, and for whoever calls.
    fn spend(&self, me: &Process, seconds: f64) {
        self.seconds.set(self.seconds.get() + seconds);
        if seconds > 0.0 {
            me.rank.compute(Time::from_secs(seconds));
            if let Some(outer) = me.executing.borrow_mut().last_mut() {
                outer.inside += seconds;
            }
        }
    }

    /// A call that only asks how much memory is needed: it takes no time, and is executed where others are.
    fn answer(&self, me: &Process, lapack: effect::Lapack, registers: &Registers, values: &[f64]) -> Action {
        if let How::Sample(_) = self.replaced.how {
            return Action::Run(self.original(me));
        }
        lapack.answer(registers, values.iter().copied().fold(0.0, f64::max));
        Action::Give(0, 0.0)
    }

    /// The value of an argument.
    fn named(&self, name: &str, values: &[f64]) -> Option<f64> {
        let place = self.replaced.arguments.iter().position(|(argument, _)| argument == name)?;
        values.get(place).copied()
    }

    /// The address of the function itself.
    fn original(&self, me: &Process) -> usize {
        let original = match self.original.get() {
            Some(original) => me.copy().instance.original(original),
            None => self.shared.get(),
        };
        if original == 0 {
            me.end(Ending::Unsupported(self.replaced.symbol.clone()));
        }
        original
    }

    /// How many times what is measured a call takes.
    fn amount(&self, values: &[f64]) -> f64 {
        self.unit.as_ref().map_or(1.0, |unit| unit.amount(&Arguments::from_slice(values)))
    }

    /// What is known is given; what is not is executed.
    fn recall(&self, me: &Process, registers: &Registers, entry: usize) -> Action {
        let known = self.remembered.borrow().recall(&self.replaced.extents, registers);
        match known {
            Err(first) => self.execute(me, registers, Vec::new(), entry, Some(first)),
            Ok(known) => {
                if me.meter.charging() != Charging::Nothing {
                    self.spend(me, known.seconds);
                }
                let (integer, float) = known.given;
                Action::Give(integer, float)
            }
        }
    }

    /// The original is executed, and measured.
    fn execute(
        &self,
        me: &Process,
        registers: &Registers,
        values: Vec<f64>,
        entry: usize,
        first: Option<First>,
    ) -> Action {
        let original = self.original(me);
        let returns_to = registers.return_through_us();
        me.meter.pause(true);
        let since = crate::meter::cpu_time();
        me.executing.borrow_mut().push(Executing { returns_to, entry, values, since, first, inside: 0.0 });
        Action::Run(original)
    }

    /// The original has returned; gives how long it took.
    fn executed(&self, me: &Process, executing: &Executing, slowness: f64) -> f64 {
        let own = crate::meter::elapsed(executing.since) as f64 * 1e-9 * slowness;
        let seconds = own + executing.inside;
        let amount = self.amount(&executing.values);
        if let (How::Sample(sampling), true) = (self.replaced.how, amount > 0.0) {
            let class = sample::class(&executing.values, self.unit.is_some());
            self.samples.borrow_mut().add(class, seconds / amount, sampling);
        }
        self.executed.set(self.executed.get() + 1);
        self.seconds.set(self.seconds.get() + seconds);
        // A function that is executed inside another one is part of its time.
        match me.executing.borrow_mut().last_mut() {
            Some(outer) => outer.inside += executing.inside,
            None => {
                me.meter.pause(false);
                // What is executed only for its results takes as much time as other code.
                if executing.first.is_none() || me.meter.charging() != Charging::Nothing {
                    me.rank.compute(Time::from_secs(own));
                }
            }
        }
        seconds
    }
}

/// The first 32 of these random bits as a number from 0 to below 1.
#[inline]
fn share(word: u64) -> f64 {
    (word >> 32) as f64 * (1.0 / (1u64 << 32) as f64)
}
