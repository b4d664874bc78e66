//! All programs by name.

use std::fmt;
use std::pin::Pin;
use std::rc::Rc;
use std::str::FromStr;

use hpcast_mpi::{Outcome, Rank, RunError, Setup, run};
use hpcast_units::Time;

use crate::collective::{Benchmark, Operation, Style};
use crate::timer::{Measurement, Timer};
use crate::traffic::Permutations;
use crate::{collective, halo, pingpong, ring, traffic};

/// What to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Program {
    /// Ping-pong of pairs of ranks.
    PingPong,
    /// Every rank sends to the next, all at once.
    Ring,
    /// Halo exchange on a periodic grid of two dimensions.
    Halo2d,
    /// Halo exchange on a periodic grid of three dimensions.
    Halo3d,
    /// Random permutations, one after the other.
    Permutation,
    /// Random permutations, several in flight.
    RandomTraffic,
    /// A collective operation.
    Collective(Operation),
}

/// What a program needs to know.
#[derive(Clone, Copy, Debug)]
pub struct Parameters {
    /// Bytes of a message, or of the data of a collective.
    pub bytes: u64,
    /// Iterations.
    pub count: u64,
    /// Root of a collective.
    pub root: u32,
    /// Rounds in flight of random traffic.
    pub window: usize,
    /// Time that each iteration of a halo exchange, or beside a collective in the background, computes.
    pub compute: Time,
    /// Whether collectives are called in the background.
    pub background: bool,
    /// Seed of random permutations.
    pub seed: u64,
}

impl Default for Parameters {
    fn default() -> Parameters {
        Parameters { bytes: 0, count: 1, root: 0, window: 4, compute: Time::ZERO, background: false, seed: 0 }
    }
}

/// What a run found.
#[derive(Debug)]
pub struct Finding {
    /// What the simulation found.
    pub outcome: Outcome,
    /// How long an iteration took.
    pub iteration: Measurement,
}

/// There is no program of that name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no program `{name}`; programs are {}", names().join(", "))]
pub struct UnknownProgram {
    name: String,
}

fn names() -> Vec<String> {
    Program::all().iter().map(ToString::to_string).collect()
}

impl Program {
    /// All programs.
    pub fn all() -> Vec<Program> {
        let mut all = vec![
            Program::PingPong,
            Program::Ring,
            Program::Halo2d,
            Program::Halo3d,
            Program::Permutation,
            Program::RandomTraffic,
        ];
        all.extend(Operation::ALL.map(Program::Collective));
        all
    }

    /// What it does, in a line.
    pub fn description(self) -> String {
        match self {
            Program::PingPong => "ping-pong of pairs: rank 0 with 1, 2 with 3, ...".to_owned(),
            Program::Ring => "every rank sends to the next and receives from the one before".to_owned(),
            Program::Halo2d => "halo exchange with 4 neighbours on a periodic grid".to_owned(),
            Program::Halo3d => "halo exchange with 6 neighbours on a periodic grid".to_owned(),
            Program::Permutation => "every rank sends to another, by a new random permutation each time".to_owned(),
            Program::RandomTraffic => "the same with several permutations in flight (--window)".to_owned(),
            Program::Collective(operation) => format!("the collective operation {operation}, over and over"),
        }
    }

    /// Simulates it.
    pub fn run(self, setup: Setup, parameters: Parameters) -> Result<Finding, RunError> {
        let timer = Timer::default();
        let outcome = self.with(setup.ranks, parameters, &timer, setup)?;
        Ok(Finding { outcome, iteration: timer.measurement() })
    }

    /// What each of so many ranks does, where others run beside it.
    pub fn body(self, ranks: u32, parameters: Parameters) -> Body {
        self.with(ranks, parameters, &Timer::default(), Boxing)
    }

    /// Gives what a rank does to somebody who uses it.
    fn with<U: UseBody>(self, ranks: u32, parameters: Parameters, timer: &Timer, user: U) -> U::Result {
        let timer = timer.clone();
        let time = move || timer.clone();
        let Parameters { bytes, count, root, window, compute, background, seed } = parameters;
        let style = if background { Style::InBackground(compute) } else { Style::Blocking };
        match self {
            Program::PingPong => user.take(move |rank| pingpong::pingpong(rank, bytes, count, time())),
            Program::Ring => user.take(move |rank| ring::ring(rank, bytes, count, time())),
            Program::Halo2d => user.take(move |rank| halo::halo(rank, 2, bytes, count, compute, time())),
            Program::Halo3d => user.take(move |rank| halo::halo(rank, 3, bytes, count, compute, time())),
            Program::Permutation | Program::RandomTraffic => {
                let window = if self == Program::Permutation { 1 } else { window.max(1) };
                let permutations = Rc::new(Permutations::draw(ranks, count, seed));
                user.take(move |rank| traffic::traffic(rank, bytes, window, permutations.clone(), time()))
            }
            Program::Collective(operation) => {
                let benchmark = Benchmark { operation, bytes, root, count, style };
                user.take(move |rank| collective::collective(rank, benchmark, time()))
            }
        }
    }
}

/// What a rank does, whatever the program.
pub type Body = Box<dyn FnMut(Rank) -> Pin<Box<dyn Future<Output = ()>>>>;

/// Uses what a rank does, whose type differs from program to program.
trait UseBody {
    type Result;
    fn take<F: Future<Output = ()> + 'static>(self, body: impl FnMut(Rank) -> F + 'static) -> Self::Result;
}

/// Ranks of one program are simulated as what they are.
impl UseBody for Setup {
    type Result = Result<Outcome, RunError>;
    fn take<F: Future<Output = ()> + 'static>(self, body: impl FnMut(Rank) -> F + 'static) -> Self::Result {
        run(self, body)
    }
}

/// Ranks of different programs must look alike.
struct Boxing;

impl UseBody for Boxing {
    type Result = Body;
    fn take<F: Future<Output = ()> + 'static>(self, mut body: impl FnMut(Rank) -> F + 'static) -> Body {
        Box::new(move |rank| Box::pin(body(rank)))
    }
}

impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Program::PingPong => f.write_str("pingpong"),
            Program::Ring => f.write_str("ring"),
            Program::Halo2d => f.write_str("halo2d"),
            Program::Halo3d => f.write_str("halo3d"),
            Program::Permutation => f.write_str("permutation"),
            Program::RandomTraffic => f.write_str("random-traffic"),
            Program::Collective(operation) => operation.fmt(f),
        }
    }
}

impl FromStr for Program {
    type Err = UnknownProgram;
    fn from_str(name: &str) -> Result<Program, UnknownProgram> {
        let wanted = name.replace('_', "-");
        Program::all()
            .into_iter()
            .find(|program| program.to_string() == wanted)
            .ok_or_else(|| UnknownProgram { name: name.to_owned() })
    }
}
