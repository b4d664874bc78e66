//! What to run: options, HPL.dat, and what is taken where both are silent.

use super::eviction::Eviction;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use hpcast_apps::hpl::{Broadcast, Factorisation, Grid, HplDat, HplParameters, Order, SwapKind};
use hpcast_platform::Machine;
use hpcast_platform::diagnostic::Source;
use hpcast_units::count;

use crate::failure::Failure;
use crate::machine_options::MachineOptions;

/// xhpl keeps numbers in 32 bits with a sign.
const LARGEST: u64 = i32::MAX as u64;
/// A usual size for processors with wide vector units.
const USUAL_NB: u64 = 128;
/// What HPL's own advice leaves for the system.
const MEMORY_SHARE: f64 = 0.8;

/// Nobody waits for more.
const MOST_COMBINATIONS: u128 = 100_000;

/// One of some values that have names.
fn named<T: Copy + Send + Sync>(all: &'static [T], name: fn(T) -> &'static str) -> impl TypedValueParser<Value = T> {
    let of = move |text: String| all.iter().copied().find(|value| name(*value) == text).unwrap_or(all[0]);
    PossibleValuesParser::new(all.iter().map(|value| name(*value))).map(of)
}

/// Rows and columns of the grid: `16x32`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct GridShape(u32, u32);

impl GridShape {
    pub fn size(self) -> u32 {
        self.0.saturating_mul(self.1)
    }
}

impl FromStr for GridShape {
    type Err = String;

    fn from_str(text: &str) -> Result<GridShape, String> {
        let number = |text: &str| text.parse().ok().filter(|number| (1..=LARGEST as u32).contains(number));
        text.split_once(['x', 'X'])
            .and_then(|(rows, columns)| Some(GridShape(number(rows)?, number(columns)?)))
            .ok_or_else(|| "write process rows x process columns, such as `16x32`".into())
    }
}

/// What HPL.dat says, too. Lists with commas are run in all combinations.
#[derive(Args)]
pub(crate) struct Choices {
    /// HPL.dat of a real run; options win over it
    #[arg(long, value_name = "HPL.dat")]
    pub dat: Option<PathBuf>,
    /// Order of the matrix (default: what fills 80 % of the memory)
    #[arg(long, value_name = "N", value_delimiter = ',', value_parser = clap::value_parser!(u64).range(1..=LARGEST))]
    pub n: Vec<u64>,
    /// Columns of a panel
    #[arg(long, value_name = "NB", value_delimiter = ',', value_parser = clap::value_parser!(u64).range(1..=LARGEST))]
    pub nb: Vec<u64>,
    /// Process rows and columns (default: all that fit the machine, nearly square)
    #[arg(long, value_name = "PxQ", value_delimiter = ',')]
    pub grid: Vec<GridShape>,
    /// How ranks are laid out on the grid
    #[arg(long, value_parser = named(&Order::ALL, Order::name))]
    pub pmap: Option<Order>,
    /// Factorisation of the smallest parts of a panel
    #[arg(long, value_delimiter = ',', value_parser = named(&Factorisation::ALL, Factorisation::name))]
    pub pfact: Vec<Factorisation>,
    /// The recursion above it
    #[arg(long, value_delimiter = ',', value_parser = named(&Factorisation::ALL, Factorisation::name))]
    pub rfact: Vec<Factorisation>,
    /// The recursion stops at so many columns
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',', value_parser = clap::value_parser!(u64).range(1..=LARGEST))]
    pub nbmin: Vec<u64>,
    /// It cuts a panel into so many parts
    #[arg(long, value_name = "PARTS", value_delimiter = ',', value_parser = clap::value_parser!(u64).range(2..=LARGEST))]
    pub ndiv: Vec<u64>,
    /// How panels travel along the rows of the grid
    #[arg(long, value_delimiter = ',', value_parser = named(&Broadcast::ALL, Broadcast::name))]
    pub bcast: Vec<Broadcast>,
    /// Panels factored ahead
    #[arg(long, value_name = "PANELS", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(0..=LARGEST as i64))]
    pub depth: Vec<u32>,
    /// How rows are exchanged
    #[arg(long, value_parser = named(&SwapKind::ALL, SwapKind::name))]
    pub swap: Option<SwapKind>,
    /// Columns above which the mixed swap is long
    #[arg(long, value_name = "COLUMNS")]
    pub threshold: Option<u64>,
    /// How the top of a panel, L1, is kept: transposed or plain
    #[arg(long, value_parser = named(&[true, false], form))]
    pub l1: Option<bool>,
    /// How exchanged rows, U, are kept: transposed or plain
    #[arg(long, value_parser = named(&[true, false], form))]
    pub u: Option<bool>,
    /// Do not level out what processes hold in the long swap
    #[arg(long)]
    pub no_equilibration: bool,
    /// Panels are copied before they are sent (HPL built with HPL_COPY_L or HPL_NO_MPI_DATATYPE)
    #[arg(long)]
    pub copy_panels: bool,
    /// All pivots are equal, as in a matrix of zeros: HPL then takes them from its first process row
    #[arg(long)]
    pub equal_pivots: bool,
    /// As --equal-pivots, and each process offers its first row (a simulated HPL whose idamax is left out)
    #[arg(long, conflicts_with = "equal_pivots")]
    pub first_pivots: bool,
}

pub(crate) fn form(transposed: bool) -> &'static str {
    if transposed { "transposed" } else { "plain" }
}

/// What to run, and what was taken where nobody said anything.
pub(crate) struct Chosen {
    pub dat: HplDat,
    pub runs: Vec<HplParameters>,
    pub assumed: Vec<String>,
}

impl Choices {
    /// All combinations of parameters; what is not given fills the machine.
    pub fn choose(&self, options: &MachineOptions, eviction: &Eviction, machine: &Machine) -> Result<Chosen, Failure> {
        match &self.dat {
            Some(path) => self.of_file(path),
            None => {
                let mut assumed = Vec::new();
                let dat = self.without_file(options, eviction, machine, &mut assumed)?;
                self.chosen(dat, assumed)
            }
        }
    }

    /// A single combination of parameters for a job: what it needs of the machine follows from it.
    pub fn choose_one(&self) -> Result<Chosen, Failure> {
        let chosen = match (&self.dat, self.grid.first(), self.n.first()) {
            (Some(path), ..) => self.of_file(path),
            (None, None, _) => Err(Failure::input("the job's grid is not known; add `\"--grid\", \"4x8\"`")),
            (None, _, None) => Err(Failure::input("the job's N is not known; add `\"--n\", \"20000\"`")),
            (None, Some(GridShape(rows, columns)), Some(n)) => {
                let mut assumed = Vec::new();
                let parameters = HplParameters::new(*n, self.first_nb(&mut assumed), *rows, *columns);
                assumed.extend(self.usual_values(&parameters));
                self.chosen(HplDat::of(&parameters), assumed)
            }
        }?;
        match chosen.runs.len() {
            1 => Ok(chosen),
            several => {
                let several = count(several as u64);
                Err(Failure::input(format!(
                    "a job runs one combination of parameters, not {several}; write one value of each"
                )))
            }
        }
    }

    fn of_file(&self, path: &Path) -> Result<Chosen, Failure> {
        let mut dat = HplDat::parse(&Source::read(path)?)?;
        let assumed = std::mem::take(&mut dat.assumed);
        self.chosen(dat, assumed)
    }

    /// What is run: options win.
    fn chosen(&self, mut dat: HplDat, assumed: Vec<String>) -> Result<Chosen, Failure> {
        self.override_lists(&mut dat);
        if dat.combinations() > MOST_COMBINATIONS {
            let combinations = count(dat.combinations().try_into().unwrap_or(u64::MAX));
            return Err(Failure::input(format!("the lists have {combinations} combinations; choose fewer values")));
        }
        let mut runs = dat.runs();
        for run in &mut runs {
            run.copy_panels = self.copy_panels;
            check_size(run.grid)?;
        }
        Ok(Chosen { dat, runs, assumed })
    }

    fn override_lists(&self, dat: &mut HplDat) {
        fn list<T: Clone>(value: &mut Vec<T>, given: &[T]) {
            if !given.is_empty() {
                *value = given.to_vec();
            }
        }
        list(&mut dat.n, &self.n);
        list(&mut dat.nb, &self.nb);
        list(&mut dat.grids, &self.grid.iter().map(|grid| (grid.0, grid.1)).collect::<Vec<_>>());
        list(&mut dat.pfact, &self.pfact);
        list(&mut dat.rfact, &self.rfact);
        list(&mut dat.nbmin, &self.nbmin);
        list(&mut dat.ndiv, &self.ndiv);
        list(&mut dat.broadcast, &self.bcast);
        list(&mut dat.depth, &self.depth);
        dat.order = self.pmap.unwrap_or(dat.order);
        dat.swap = self.swap.unwrap_or(dat.swap);
        dat.swap_threshold = self.threshold.unwrap_or(dat.swap_threshold);
        dat.l1_transposed = self.l1.unwrap_or(dat.l1_transposed);
        dat.u_transposed = self.u.unwrap_or(dat.u_transposed);
        dat.equilibration &= !self.no_equilibration;
    }

    /// Everything that is not given is chosen.
    fn without_file(
        &self,
        options: &MachineOptions,
        eviction: &Eviction,
        machine: &Machine,
        assumed: &mut Vec<String>,
    ) -> Result<HplDat, Failure> {
        let nb = self.first_nb(assumed);
        let usable = eviction.remaining(options.usable_nodes(machine)?)?;
        let GridShape(rows, columns) = self.grid.first().copied().unwrap_or_else(|| {
            let places = u64::from(usable) * u64::from(options.ranks_per_node(machine, 0));
            let grid = nearly_square(places.min(LARGEST) as u32);
            let (p, q) = (grid.0, grid.1);
            let fit = count(places);
            assumed.push(format!("grid {p} x {q}: nearly square, for the {fit} ranks that fit; --grid is not given"));
            grid
        });
        let mut parameters = HplParameters::new(1, nb, rows, columns);
        check_size(parameters.grid)?;
        parameters.n = match self.n.first() {
            Some(n) => *n,
            None => {
                let placement = options.place(machine, parameters.grid.size(), options.seed)?;
                let nodes = super::nodes_used(&placement);
                let n = fitting(machine, nodes, nb).ok_or_else(|| {
                    let file = options.path.display();
                    Failure::input(format!("{file} does not say how much memory a node has; choose the size with --n"))
                })?;
                let share = MEMORY_SHARE * 100.0;
                assumed.push(format!("N {}: fills {share} % of the memory; --n is not given", count(n)));
                n
            }
        };
        assumed.extend(self.usual_values(&parameters));
        Ok(HplDat::of(&parameters))
    }

    fn first_nb(&self, assumed: &mut Vec<String>) -> u64 {
        self.nb.first().copied().unwrap_or_else(|| {
            assumed.push(format!("NB {USUAL_NB}: a usual size, --nb is not given"));
            USUAL_NB
        })
    }

    /// The parameters that are taken from the file that comes with HPL.
    fn usual_values(&self, parameters: &HplParameters) -> Option<String> {
        let values = [
            (self.pfact.is_empty(), format!("pfact {}", parameters.pfact.name())),
            (self.rfact.is_empty(), format!("rfact {}", parameters.rfact.name())),
            (self.nbmin.is_empty(), format!("nbmin {}", parameters.nbmin)),
            (self.ndiv.is_empty(), format!("ndiv {}", parameters.ndiv)),
            (self.bcast.is_empty(), format!("bcast {}", parameters.broadcast.name())),
            (self.depth.is_empty(), format!("depth {}", parameters.depth)),
            (self.swap.is_none(), "swap mix".into()),
            (self.threshold.is_none() && self.swap.is_none_or(|swap| swap == SwapKind::Mix), "threshold 64".into()),
            (self.l1.is_none(), format!("l1 {}", form(parameters.l1_transposed))),
            (self.u.is_none(), format!("u {}", form(parameters.u_transposed))),
        ];
        let taken: Vec<String> = values.into_iter().filter(|(silent, _)| *silent).map(|(_, value)| value).collect();
        (!taken.is_empty()).then(|| format!("usual values of HPL.dat: {}", taken.join(", ")))
    }
}

fn check_size(grid: Grid) -> Result<(), Failure> {
    let ranks = u64::from(grid.rows) * u64::from(grid.columns);
    if ranks > LARGEST {
        return Err(Failure::input(format!("a grid of {} ranks is beyond MPI; choose a smaller one", count(ranks))));
    }
    Ok(())
}

/// The grid of at most so many ranks that uses most of them, and of those the most square one; no wider than four times
/// its height, because long rows make slow broadcasts.
fn nearly_square(ranks: u32) -> GridShape {
    (1..)
        .take_while(|rows| rows * rows <= u64::from(ranks))
        .map(|rows| (rows, (u64::from(ranks) / rows).min(4 * rows)))
        .max_by_key(|(rows, columns)| (rows * columns, *rows))
        .map_or(GridShape(1, 1), |(rows, columns)| GridShape(rows as u32, columns as u32))
}

/// The largest multiple of NB whose matrix fills its share of the memory.
fn fitting(machine: &Machine, nodes: u32, nb: u64) -> Option<u64> {
    let bytes = machine.nodes.memory?.get() as f64 * f64::from(nodes) * MEMORY_SHARE;
    let blocks = ((bytes / 8.0).sqrt() / nb as f64) as u64;
    Some((blocks.max(1) * nb).min(LARGEST))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grids_are_nearly_square_and_use_what_there_is() {
        for (ranks, rows, columns) in
            [(1, 1, 1), (2, 1, 2), (3, 1, 3), (5, 2, 2), (7, 2, 3), (1024, 32, 32), (448_448, 637, 704), (8006, 87, 92)]
        {
            assert_eq!(nearly_square(ranks), GridShape(rows, columns), "{ranks}");
        }
    }

    #[test]
    fn grids_are_written_with_an_x() {
        assert_eq!("16x32".parse(), Ok(GridShape(16, 32)));
        for text in ["16", "16x", "0x4", "4x-1", "4*4", "4x4x4", "99999999999x1"] {
            assert!(text.parse::<GridShape>().is_err(), "{text}");
        }
    }
}
