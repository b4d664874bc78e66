//! A kernel's model, from measured calls.
//!
//! For each processor, calls with the same arguments are averaged, and the averages fitted by a sum of terms. Which terms
//! are needed is decided by all processors together: a term stays if it is significant on at least half of them. What
//! single calls differ from that by has a standard deviation for each combination of arguments, which is fitted by the same
//! terms. All of this is done piece by piece, where a model has several. (T. Cornebize's thesis, sections 5.1 and 12.2; his
//! program cashew.)

mod design;
pub(crate) mod goodness;
mod modes;
mod pieces;
mod sample;

use hpcast_models::compute::{Arguments, BoundKernel, ErrorRange, Fit, Kernel, MOST_ARGUMENTS, Noise, Row, Term};
use hpcast_stats::least_squares::FitError;
use hpcast_stats::piecewise::PiecewiseError;
use hpcast_stats::significance::Elimination;

use crate::misses;
use design::{Design, Piece};
pub(crate) use goodness::Fitted;
pub(crate) use sample::{Sample, Size, mean, median, ranges, samples};

/// Measured calls of a kernel.
#[derive(Clone, Debug)]
pub struct Calls<'t> {
    /// The arguments by name, one value a call.
    pub arguments: Vec<(String, &'t [f64])>,
    /// How long each call took.
    pub seconds: &'t [f64],
    /// Node and socket of each call; empty where they are not told apart.
    pub processors: Vec<(u32, u32)>,
}

/// How to fit.
#[derive(Clone, Debug, Default)]
pub struct Recipe {
    /// The terms to choose from.
    pub terms: Vec<Term>,
    /// Those among them that are kept in any case.
    pub pinned: Vec<Term>,
    /// How the others are chosen.
    pub elimination: Elimination,
    /// How calls differ; none if they are taken to be alike. Modes are found in the calls: an empty list asks for them.
    pub noise: Option<Noise>,
    /// What decides between pieces, if there are to be several.
    pub split: Option<Term>,
    /// The values of the split at which pieces end; found in the calls if there are none.
    pub pieces_at: Vec<f64>,
    /// Which errors are to be small.
    pub errors: Errors,
}

/// What is squared and added up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Errors {
    /// Seconds: the longest calls count most.
    #[default]
    Absolute,
    /// Parts of the duration: all sizes count alike.
    Relative,
}

/// Why there is no model.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum KernelError {
    /// A term of arguments that were not measured.
    #[error("the term `{term}` needs an argument `{argument}` that was not measured")]
    Argument {
        /// The term.
        term: String,
        /// What it needs.
        argument: String,
    },
    /// More arguments than a call has.
    #[error("the terms have {found} arguments, and a call has at most {MOST_ARGUMENTS}")]
    TooMany {
        /// How many there are.
        found: usize,
    },
    /// Relative errors of nothing.
    #[error("calls with {arguments} took no time, and an error has no size relative to that")]
    NoTime {
        /// Which calls.
        arguments: String,
    },
    /// Breakpoints of something that is no line.
    #[error("breakpoints are found where the terms are `1` and `{split}` alone")]
    NoLine {
        /// What decides between the pieces.
        split: String,
    },
    /// No breakpoints.
    #[error("no pieces were found: {0}")]
    Pieces(PiecewiseError),
    /// Nothing fits.
    #[error("{}{piece}{error}", place(.processor))]
    Fit {
        /// Where: node and socket.
        processor: Option<(u32, u32)>,
        /// And in which piece, followed by a colon; empty if there is one.
        piece: String,
        /// Why.
        error: FitError,
    },
}

fn place(processor: &Option<(u32, u32)>) -> String {
    processor.map_or(String::new(), |(node, socket)| format!("node {node}, socket {socket}: "))
}

impl KernelError {
    /// What to do about it.
    pub fn remedy(&self) -> &'static str {
        match self {
            KernelError::Argument { .. } => "leave the term out, or name the column with that argument",
            KernelError::TooMany { .. } => "leave out terms with arguments that matter less",
            KernelError::NoTime { .. } => "leave those rows out, or fit with `--errors absolute`",
            KernelError::NoLine { .. } => "say where the pieces end, such as `--pieces-at 30000`",
            KernelError::Pieces(_) => "measure more sizes, or say where the pieces end with `--pieces-at`",
            KernelError::Fit { error, .. } => error.remedy(),
        }
    }
}

/// Fits a model.
pub fn fit(calls: &Calls, recipe: &Recipe) -> Result<Kernel, KernelError> {
    let names: Vec<&str> = calls.arguments.iter().map(|(name, _)| name.as_str()).collect();
    check(recipe, &names)?;
    let samples = samples(calls);
    check_times(&samples, recipe, &names)?;
    let limits = pieces::limits(&samples, recipe, &names)?;
    let (kept, rows) = fit_pieces(&samples, &limits, recipe, &names)?;
    let terms = &recipe.terms;
    let mut kernel = Kernel {
        terms: kept.iter().map(|&place| terms[place].clone()).collect(),
        split: recipe.split.clone().filter(|_| !limits.is_empty()),
        noise: recipe.noise.clone().filter(|noise| !matches!(noise, Noise::Modes(_))).unwrap_or_default(),
        measured: ranges(calls),
        rows: Row::with_mean(rows),
        ..Kernel::default()
    };
    if let Some(Noise::Modes(_)) = recipe.noise {
        kernel.noise = modes::find(&fitted(&kernel, &samples, &names)).map_or(Noise::default(), Noise::Modes);
    }
    let dropped = (0..terms.len()).filter(|place| !kept.contains(place)).map(|place| terms[place].clone()).collect();
    let fitted = fitted(&kernel, &samples, &names);
    kernel.fit = Some(Fit {
        points: calls.seconds.len() as u64,
        sizes: fitted.len() as u64,
        r_squared: goodness::r_squared(&fitted),
        relative_error: goodness::relative_error(&fitted),
        dropped,
        warnings: misses::find(&fitted, &names, recipe.noise.as_ref()),
        ranges: goodness::ranges(&fitted),
        data: None,
    });
    Ok(kernel)
}

/// How well a model agrees with calls, which may be others than it was fitted to.
#[derive(Clone, Debug, PartialEq)]
pub struct Agreement {
    /// Different sizes, processor by processor.
    pub sizes: u64,
    /// Mean of |model - measured| / measured over them.
    pub relative_error: f64,
    /// The same by duration.
    pub ranges: Vec<ErrorRange>,
}

impl Agreement {
    /// Of a model whose arguments were all measured.
    pub fn new(kernel: &Kernel, calls: &Calls) -> Agreement {
        let names: Vec<&str> = calls.arguments.iter().map(|(name, _)| name.as_str()).collect();
        let samples = samples(calls);
        let fitted = fitted(kernel, &samples, &names);
        let (sizes, relative_error) = (fitted.len() as u64, goodness::relative_error(&fitted));
        Agreement { sizes, relative_error, ranges: goodness::ranges(&fitted) }
    }
}

fn check(recipe: &Recipe, names: &[&str]) -> Result<(), KernelError> {
    if names.len() > MOST_ARGUMENTS {
        return Err(KernelError::TooMany { found: names.len() });
    }
    for term in recipe.terms.iter().chain(&recipe.split) {
        if let Some(argument) = term.names().find(|name| !names.contains(name)) {
            return Err(KernelError::Argument { term: term.to_string(), argument: argument.into() });
        }
    }
    Ok(())
}

fn check_times(samples: &[Sample], recipe: &Recipe, names: &[&str]) -> Result<(), KernelError> {
    let timeless = samples.iter().flat_map(|sample| &sample.sizes).find(|size| size.seconds <= 0.0);
    match timeless {
        Some(size) if recipe.errors == Errors::Relative => {
            let arguments = names.iter().zip(&size.arguments).map(|(name, value)| format!("{name} = {value}"));
            Err(KernelError::NoTime { arguments: arguments.collect::<Vec<_>>().join(", ") })
        }
        _ => Ok(()),
    }
}

/// The terms that any piece needs, and the rows of all processors and pieces.
fn fit_pieces(
    samples: &[Sample],
    limits: &[f64],
    recipe: &Recipe,
    names: &[&str],
) -> Result<(Vec<usize>, Vec<Row>), KernelError> {
    let with_deviation = matches!(recipe.noise, Some(Noise::HalfNormal | Noise::Normal));
    let mut pieces: Vec<(Option<f64>, Piece)> = Vec::new();
    for place in 0..=limits.len() {
        let from = if place > 0 { limits[place - 1] } else { f64::NEG_INFINITY };
        let below = limits.get(place).copied();
        let belongs = |size: &Size| {
            let split = recipe.split.as_ref().map_or(0.0, |split| value(split, names, &size.arguments));
            from <= split && split < below.unwrap_or(f64::INFINITY)
        };
        let says = match (&recipe.split, below) {
            (Some(split), Some(below)) => format!("where {split} is below {below}: "),
            (Some(split), None) if place > 0 => format!("where {split} is {from} or more: "),
            _ => String::new(),
        };
        let designs: Vec<Design> =
            samples.iter().map(|sample| Design::new(sample, says.clone(), belongs, recipe, names)).collect();
        pieces.push((below, design::fit(&designs, recipe, with_deviation)?));
    }
    let needed = |term: &usize| pieces.iter().any(|(_, piece)| piece.kept.contains(term));
    let kept: Vec<usize> = (0..recipe.terms.len()).filter(needed).collect();
    let processors = 0..samples.len();
    let rows = processors.flat_map(|processor| {
        let kept = &kept;
        pieces
            .iter()
            .map(move |(below, piece)| Row { below: *below, ..expand(&piece.rows[processor], &piece.kept, kept) })
    });
    let rows = rows.map(with_sound_covariance).collect();
    Ok((kept, rows))
}

/// A covariance of numbers so small that some have become zero is that of no variables, and says nothing.
fn with_sound_covariance(row: Row) -> Row {
    match row.distribution() {
        Some(Err(_)) => Row { covariance: Vec::new(), freedom: None, ..row },
        _ => row,
    }
}

/// A row of some terms as one of more: the coefficients of the others are zero, and sure to be.
fn expand(row: &Row, from: &[usize], to: &[usize]) -> Row {
    let place = |term: &usize| from.iter().position(|other| other == term);
    let all = |list: &[f64]| to.iter().map(|term| place(term).map_or(0.0, |place| list[place])).collect();
    let pair = |i: usize, j: usize| match (place(&to[i]), place(&to[j])) {
        (Some(i), Some(j)) => row.covariance[i * (i + 1) / 2 + j],
        _ => 0.0,
    };
    Row {
        processor: row.processor,
        below: row.below,
        seconds: all(&row.seconds),
        deviation: if row.deviation.is_empty() { Vec::new() } else { all(&row.deviation) },
        covariance: (0..to.len()).flat_map(|i| (0..=i).map(move |j| pair(i, j))).collect(),
        freedom: row.freedom,
        ..Row::default()
    }
}

/// All sizes, with what a model says of them.
pub(crate) fn fitted<'s>(kernel: &Kernel, samples: &'s [Sample], names: &[&str]) -> Vec<Fitted<'s>> {
    // The terms were checked: all arguments are there.
    let Ok(bound) = BoundKernel::new(kernel, names) else { return Vec::new() };
    let mut all = Vec::new();
    for sample in samples {
        let processor = sample.processor.map_or(0, |(node, socket)| bound.processor(node, socket));
        all.extend(sample.sizes.iter().map(|size| {
            let arguments = Arguments::from_slice(&size.arguments);
            let (model, deviation) = (bound.expectation(processor, &arguments), bound.deviation(processor, &arguments));
            Fitted { size, model, deviation }
        }));
    }
    all
}

fn value(term: &Term, names: &[&str], arguments: &[f64]) -> f64 {
    term.value(|name| names.iter().position(|known| *known == name).map_or(0.0, |place| arguments[place]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn terms(texts: &[&str]) -> Vec<Term> {
        texts.iter().map(|text| text.parse().unwrap()).collect()
    }

    /// A number in [-1, 1) that looks random.
    fn jitter(i: usize) -> f64 {
        ((i as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    /// Calls of two processors whose durations are known, each size 20 times, with noise of 1 % of the time.
    fn measured() -> ([Vec<f64>; 3], Vec<(u32, u32)>) {
        let (mut m, mut n, mut seconds, mut processors) = (vec![], vec![], vec![], vec![]);
        for i in 0..4000 {
            let size = i / 20;
            let (rows, columns) = (f64::from(10 + size % 17 * 30), f64::from(20 + size % 13 * 45));
            let slow = f64::from(i % 2) * 0.5 + 1.0;
            let expected = slow * (1e-6 + 3e-9 * rows * columns);
            m.push(rows);
            n.push(columns);
            seconds.push(expected * (1.0 + 0.01 * jitter(i as usize)));
            processors.push((7, (i % 2) as u32));
        }
        ([m, n, seconds], processors)
    }

    #[test]
    fn finds_what_was_planted_and_drops_what_was_not() {
        let ([m, n, seconds], processors) = measured();
        let arguments = vec![("M".to_owned(), &m[..]), ("N".to_owned(), &n[..])];
        let calls = Calls { arguments, seconds: &seconds, processors };
        let recipe = Recipe { terms: terms(&["1", "M*N", "M", "N"]), noise: Some(Noise::Normal), ..Recipe::default() };
        let kernel = fit(&calls, &recipe).unwrap();
        assert_eq!(kernel.terms, terms(&["1", "M*N"]));
        let found = kernel.fit.clone().unwrap();
        assert_eq!((found.points, found.sizes, &found.dropped), (4000, 400, &terms(&["M", "N"])));
        assert!(found.r_squared > 0.9999 && found.relative_error < 0.01, "{found:?}");
        assert_eq!(kernel.rows.iter().map(|row| row.processor).collect::<Vec<_>>(), [None, Some((7, 0)), Some((7, 1))]);
        for (row, slow) in kernel.rows.iter().zip([1.25, 1.0, 1.5]) {
            assert!((row.seconds[1] / (slow * 3e-9) - 1.0).abs() < 2e-3, "{row:?}");
            // Uniform noise of 1 % has a deviation of 1 % over the root of 3.
            assert!((row.deviation[1] / (slow * 3e-11 / 3f64.sqrt()) - 1.0).abs() < 0.1, "{row:?}");
        }
        // 200 sizes and two terms; the mean of both processors was not fitted.
        assert_eq!((kernel.rows[1].covariance.len(), kernel.rows[1].freedom), (3, Some(198)));
        assert_eq!((kernel.rows[0].covariance.len(), kernel.rows[0].freedom), (0, None));
        assert_eq!(kernel.measured["M"], [10.0, 490.0]);
    }

    /// Copies that leave the cache at 30,000 elements, on two processors, with noise of 2 %.
    fn copies() -> ([Vec<f64>; 3], Vec<(u32, u32)>) {
        let (mut m, mut n, mut seconds, mut processors) = (vec![], vec![], vec![], vec![]);
        for i in 0..2400usize {
            let size = i / 8;
            let side = |seed: usize| (10.0 * 200f64.powf(0.5 + 0.5 * jitter(size * 7 + seed))).round();
            let (rows, columns) = (side(1), side(2));
            let elements = rows * columns;
            let expected = if elements < 30_000.0 { 1e-6 + 4e-10 * elements } else { 5e-6 + 1.5e-9 * elements };
            m.push(rows);
            n.push(columns);
            seconds.push(expected * (1.0 + (i % 2) as f64 * 0.1) * (1.0 + 0.02 * jitter(i)));
            processors.push((0, (i % 2) as u32));
        }
        ([m, n, seconds], processors)
    }

    fn copy_recipe(texts: &[&str], pieces_at: &[f64]) -> Recipe {
        Recipe {
            terms: terms(texts),
            noise: Some(Noise::Normal),
            split: Some("M*N".parse().unwrap()),
            pieces_at: pieces_at.to_vec(),
            errors: Errors::Relative,
            ..Recipe::default()
        }
    }

    #[test]
    fn breakpoints_are_found_or_given() {
        let ([m, n, seconds], processors) = copies();
        let arguments = vec![("M".to_owned(), &m[..]), ("N".to_owned(), &n[..])];
        let calls = Calls { arguments, seconds: &seconds, processors };
        let found = fit(&calls, &copy_recipe(&["1", "M*N"], &[])).unwrap();
        let given = fit(&calls, &copy_recipe(&["1", "M*N", "M"], &[30_000.0])).unwrap();
        for kernel in [found, given] {
            assert_eq!((kernel.terms.clone(), kernel.rows.len()), (terms(&["1", "M*N"]), 6), "{:?}", kernel.rows);
            let limit = kernel.rows[0].below.unwrap();
            assert!((29_000.0..31_000.0).contains(&limit), "{limit}");
            for (row, slow) in kernel.rows.chunks(2).zip([1.05, 1.0, 1.1]) {
                for (row, expected) in row.iter().zip([[1e-6, 4e-10], [5e-6, 1.5e-9]]) {
                    let off = |place: usize| row.seconds[place] / (slow * expected[place]) - 1.0;
                    assert!(off(0).abs() < 0.2 && off(1).abs() < 0.01, "{row:?}");
                }
            }
            let fit = kernel.fit.unwrap();
            assert!(fit.relative_error < 0.02 && fit.warnings.is_empty(), "{fit:?}");
        }
    }

    #[test]
    fn pieces_that_cannot_be_are_explained() {
        let ([m, n, seconds], processors) = copies();
        let arguments = vec![("M".to_owned(), &m[..]), ("N".to_owned(), &n[..])];
        let calls = Calls { arguments, seconds: &seconds, processors };
        let error = |recipe: &Recipe| fit(&calls, recipe).unwrap_err();
        let found = error(&copy_recipe(&["1", "M*N", "M"], &[]));
        assert_eq!(found.to_string(), "breakpoints are found where the terms are `1` and `M*N` alone");
        assert!(found.remedy().contains("--pieces-at"));
        let few = error(&copy_recipe(&["1", "M*N"], &[50.0])).to_string();
        assert!(few.starts_with("node 0, socket 0: where M*N is below 50: "), "{few}");
        let mut times = seconds.clone();
        (0..times.len()).filter(|&i| (m[i], n[i]) == (m[0], n[0])).for_each(|i| times[i] = 0.0);
        let calls = Calls { seconds: &times, ..calls.clone() };
        let none = fit(&calls, &copy_recipe(&["1", "M*N"], &[30_000.0])).unwrap_err().to_string();
        assert!(none.contains("took no time"), "{none}");
    }

    /// Thesis section 5.1: N-1, a deviation that is the same for all sizes, and N-2, one that depends on them.
    #[test]
    fn the_deviation_has_the_terms_that_it_needs() {
        let deviation = |of: fn(f64) -> f64| {
            let n: Vec<f64> = (0..2000).map(|i| f64::from(100 + i / 20 * 10)).collect();
            let seconds: Vec<f64> = (0..2000).map(|i| 1e-6 + 1e-8 * n[i] + of(n[i]) * jitter(i)).collect();
            let calls = Calls { arguments: vec![("N".into(), &n)], seconds: &seconds, processors: vec![] };
            let recipe = Recipe { terms: terms(&["1", "N"]), noise: Some(Noise::Normal), ..Recipe::default() };
            fit(&calls, &recipe).unwrap().rows[0].deviation.clone()
        };
        let same = deviation(|_| 1e-8);
        assert!(same[1] == 0.0 && (same[0] * 3f64.sqrt() / 1e-8 - 1.0).abs() < 0.05, "{same:?}");
        let growing = deviation(|n| 1e-10 * n);
        assert!(growing[0] == 0.0 && (growing[1] * 3f64.sqrt() / 1e-10 - 1.0).abs() < 0.05, "{growing:?}");
    }

    /// Half of the sizes are short and make a thousandth of the time: relative errors do not forget them. Chance that makes
    /// single calls long or short must not make the model too low.
    #[test]
    fn relative_errors_see_short_calls_and_are_not_biased() {
        let n: Vec<f64> = (0..4000).map(|i| 10f64.powf(1.0 + f64::from(i) / 1000.0)).collect();
        let seconds: Vec<f64> = (0..4000).map(|i| (1e-6 + 1e-9 * n[i]) * (1.0 + 0.5 * jitter(i))).collect();
        let calls = Calls { arguments: vec![("N".into(), &n)], seconds: &seconds, processors: vec![] };
        let recipe = Recipe { terms: terms(&["1", "N"]), errors: Errors::Relative, ..Recipe::default() };
        let row = fit(&calls, &recipe).unwrap().rows[0].clone();
        assert!((row.seconds[0] / 1e-6 - 1.0).abs() < 0.03 && (row.seconds[1] / 1e-9 - 1.0).abs() < 0.03, "{row:?}");
    }

    #[test]
    fn modes_share_out_what_is_expected() {
        let ([m, n, mut seconds], processors) = measured();
        seconds.iter_mut().step_by(50).for_each(|seconds| *seconds *= 4.0);
        let arguments = vec![("M".to_owned(), &m[..]), ("N".to_owned(), &n[..])];
        let calls = Calls { arguments, seconds: &seconds, processors };
        let noise = Some(Noise::Modes(Vec::new()));
        let kernel = fit(&calls, &Recipe { terms: terms(&["1", "M*N"]), noise, ..Recipe::default() }).unwrap();
        let Noise::Modes(modes) = &kernel.noise else { panic!("{:?}", kernel.noise) };
        let slow: f64 = modes.iter().filter(|mode| mode.mean > 2.0).map(|mode| mode.share).sum();
        assert!((slow - 0.02).abs() < 0.005, "{modes:?}");
        assert!((modes.iter().map(|mode| mode.share * mode.mean).sum::<f64>() - 1.0).abs() < 1e-9, "{modes:?}");
        assert!(kernel.rows.iter().all(|row| row.deviation.is_empty()) && kernel.is_noisy());
    }

    #[test]
    fn what_cannot_be_fitted_is_said() {
        let x = [1.0, 2.0, 3.0, 4.0];
        let calls = |arguments| Calls { arguments, seconds: &x, processors: vec![] };
        let recipe = |texts: &[&str]| Recipe { terms: terms(texts), ..Recipe::default() };
        let message = |arguments, texts: &[&str]| fit(&calls(arguments), &recipe(texts)).unwrap_err().to_string();
        assert_eq!(message(vec![("N".into(), &x)], &["M"]), "the term `M` needs an argument `M` that was not measured");
        let collinear = message(vec![("M".into(), &x), ("N".into(), &x)], &["M", "N"]);
        assert!(collinear.contains("`N` follows from `M`"), "{collinear}");
        assert!(message(vec![("N".into(), &x)], &["1", "N", "N^2", "N^3"]).contains("cannot determine"));
    }
}
