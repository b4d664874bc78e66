//! A kernel model made ready for the calls of a program: terms are places of arguments, processors are numbers.

use std::collections::HashMap;

use super::kernel::{Kernel, Row};
use super::noise::Noise;
use super::roofline::{KernelWork, RooflineModel, Roofs};
use super::term::{Arguments, Product, Term};

/// A kernel that gets its arguments in the order of a program.
#[derive(Clone, Debug)]
pub struct BoundKernel {
    terms: Vec<Product>,
    split: Option<Product>,
    noise: Noise,
    is_noisy: bool,
    /// By processor: its pieces. The first is for those that are not listed.
    processors: Vec<Vec<Piece>>,
    numbers: HashMap<(u32, u32), usize>,
    /// Place of an argument, least and most that were measured.
    measured: Vec<(usize, [f64; 2])>,
}

#[derive(Clone, Debug)]
struct Piece {
    below: f64,
    seconds: Vec<f64>,
    /// Arithmetic and traffic, of which the longer one is added.
    roofs: Option<[Vec<f64>; 2]>,
    deviation: Vec<f64>,
    /// A part of the expectation that is added to the deviation.
    part: f64,
}

/// A model that needs an argument which the program does not give.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the model needs an argument `{wanted}`; the arguments are {}", .known.join(", "))]
pub struct UnknownArgument {
    /// What the model needs.
    pub wanted: String,
    /// What the program gives.
    pub known: Vec<String>,
}

impl BoundKernel {
    /// For calls whose arguments come in this order.
    pub fn new(kernel: &Kernel, arguments: &[&str]) -> Result<BoundKernel, UnknownArgument> {
        let unknown = |wanted: String| UnknownArgument {
            wanted,
            known: arguments.iter().map(|name| (*name).to_owned()).collect(),
        };
        let bind = |term: &Term| term.bind(arguments).map_err(unknown);
        let terms = all_terms(kernel);
        let mut numbers = HashMap::new();
        let mut processors = Vec::new();
        for rows in kernel.processors() {
            numbers.extend(rows[0].processor.map(|processor| (processor, processors.len())));
            processors.push(rows.iter().map(|row| Piece::new(row, kernel.roofline.as_ref(), &terms)).collect());
        }
        let place = |name: &str| arguments.iter().position(|argument| *argument == name);
        Ok(BoundKernel {
            terms: terms.iter().map(bind).collect::<Result<_, _>>()?,
            split: kernel.split.as_ref().map(bind).transpose()?,
            noise: kernel.noise.clone(),
            is_noisy: kernel.is_noisy(),
            processors,
            numbers,
            // What a program does not have cannot be out of range.
            measured: kernel.measured.iter().filter_map(|(name, range)| Some((place(name)?, *range))).collect(),
        })
    }

    /// The number of a processor: zero if it has no model of its own.
    pub fn processor(&self, node: u32, socket: u32) -> usize {
        self.numbers.get(&(node, socket)).copied().unwrap_or(0)
    }

    /// From now on all calls take what is expected.
    pub fn remove_noise(&mut self) {
        self.is_noisy = false;
    }

    /// Whether calls differ by chance.
    #[inline]
    pub fn is_noisy(&self) -> bool {
        self.is_noisy
    }

    /// Whether such calls were measured, and not only smaller or larger ones.
    #[inline]
    pub fn was_measured(&self, arguments: &Arguments) -> bool {
        self.measured.iter().all(|&(place, [least, most])| (least..=most).contains(&arguments.at(place)))
    }

    /// The expected duration in seconds; may be negative where the model is used far from what was measured.
    #[inline]
    pub fn expectation(&self, processor: usize, arguments: &Arguments) -> f64 {
        self.expected(self.piece(processor, arguments), arguments)
    }

    /// The duration of one call in seconds, never negative; `word` gives 64 random bits where they are needed.
    #[inline]
    pub fn duration(&self, processor: usize, arguments: &Arguments, word: impl FnOnce() -> u64) -> f64 {
        let piece = self.piece(processor, arguments);
        let expectation = self.expected(piece, arguments);
        if !self.is_noisy {
            return expectation.max(0.0);
        }
        self.noise.draw(expectation, self.spread(piece, expectation, arguments), word())
    }

    /// What the noise has as its deviation.
    #[inline]
    fn spread(&self, piece: &Piece, expectation: f64, arguments: &Arguments) -> f64 {
        self.sum(&piece.deviation, arguments) + piece.part * expectation
    }

    #[inline]
    fn expected(&self, piece: &Piece, arguments: &Arguments) -> f64 {
        let sum = self.sum(&piece.seconds, arguments);
        match &piece.roofs {
            None => sum,
            Some([flops, bytes]) => sum + self.sum(flops, arguments).max(self.sum(bytes, arguments)),
        }
    }

    /// The standard deviation of such calls in seconds.
    pub fn deviation(&self, processor: usize, arguments: &Arguments) -> f64 {
        let piece = self.piece(processor, arguments);
        let expectation = self.expected(piece, arguments);
        if self.is_noisy { self.noise.deviation(expectation, self.spread(piece, expectation, arguments)) } else { 0.0 }
    }

    /// Below it lies the part `p` of all such calls.
    pub fn quantile(&self, processor: usize, arguments: &Arguments, p: f64) -> f64 {
        let piece = self.piece(processor, arguments);
        let expectation = self.expected(piece, arguments);
        if !self.is_noisy {
            return expectation;
        }
        self.noise.quantile(expectation, self.spread(piece, expectation, arguments), p)
    }

    #[inline]
    fn piece(&self, processor: usize, arguments: &Arguments) -> &Piece {
        let pieces = &self.processors[processor];
        match self.split {
            None => &pieces[0],
            Some(split) => {
                let value = split.of(arguments);
                pieces.iter().find(|piece| value < piece.below).unwrap_or(&pieces[pieces.len() - 1])
            }
        }
    }

    #[inline]
    fn sum(&self, coefficients: &[f64], arguments: &Arguments) -> f64 {
        self.terms.iter().zip(coefficients).map(|(term, coefficient)| coefficient * term.of(arguments)).sum()
    }
}

impl Piece {
    /// `terms` are those that the program's sums run over.
    fn new(row: &Row, model: Option<&RooflineModel>, terms: &[Term]) -> Piece {
        let Row { below, seconds, deviation, .. } = row.clone();
        let mut piece = Piece { below: below.unwrap_or(f64::INFINITY), seconds, roofs: None, deviation, part: 0.0 };
        if let (Some(model), Some(figures)) = (model, row.roofline) {
            let sum = |parts: &[(Term, f64)], unit: f64| -> Vec<f64> {
                let of =
                    |term: &Term| parts.iter().filter(|(part, _)| part == term).map(|(_, factor)| factor * unit).sum();
                terms.iter().map(of).collect()
            };
            let once = [(Term::one(), 1.0)];
            let KernelWork { flops, bytes, steps } = &model.work;
            let beside = [sum(&once, figures.overhead), sum(steps, figures.step)];
            let roofs = [sum(flops, 1.0 / figures.rate), sum(bytes, 1.0 / figures.bandwidth)];
            piece.part = figures.deviation;
            piece.seconds = total(&beside);
            match model.roofs {
                Roofs::Longest => piece.roofs = Some(roofs),
                Roofs::Sum => piece.seconds = total(&[piece.seconds, total(&roofs)]),
            }
        }
        piece
    }
}

/// The terms of all sums, each once.
fn all_terms(kernel: &Kernel) -> Vec<Term> {
    let mut terms = kernel.terms.clone();
    if let Some(model) = &kernel.roofline {
        for term in [&Term::one()].into_iter().chain(model.work.terms()) {
            if !terms.contains(term) {
                terms.push(term.clone());
            }
        }
    }
    terms
}

/// Of two lists, place by place.
fn total([a, b]: &[Vec<f64>; 2]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a + b).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MNK: [&str; 3] = ["M", "N", "K"];

    fn row(processor: Option<(u32, u32)>, seconds: [f64; 2], deviation: &[f64]) -> Row {
        Row { processor, seconds: seconds.into(), deviation: deviation.into(), ..Row::default() }
    }

    fn kernel() -> Kernel {
        let terms = vec!["1".parse().unwrap(), "M*N*K".parse().unwrap()];
        Kernel::new(terms, vec![row(None, [1.0, 2.0], &[]), row(Some((3, 1)), [0.0, 4.0], &[1.0, 0.0])])
    }

    #[test]
    fn each_processor_has_its_row() {
        let kernel = BoundKernel::new(&kernel(), &MNK).unwrap();
        let arguments = Arguments::new([1.0, 2.0, 3.0]);
        assert_eq!([kernel.processor(3, 1), kernel.processor(3, 0), kernel.processor(0, 1)], [1, 0, 0]);
        assert_eq!(kernel.expectation(0, &arguments), 13.0);
        assert_eq!(kernel.expectation(1, &arguments), 24.0);
    }

    #[test]
    fn noise_is_drawn_around_the_expectation_and_can_be_left_out() {
        let bound = BoundKernel::new(&kernel(), &MNK).unwrap();
        let arguments = Arguments::new([1.0, 2.0, 3.0]);
        let draws: f64 =
            (0..1000).map(|i| bound.duration(1, &arguments, || u64::MAX / 1000 * i + u64::MAX / 2000)).sum();
        assert!((draws / 1000.0 - 24.0).abs() < 1e-2);
        assert_ne!(bound.duration(1, &arguments, || u64::MAX / 10 * 9), 24.0);
        let quiet = BoundKernel::new(&kernel().without_noise(), &MNK).unwrap();
        assert_eq!(quiet.duration(1, &arguments, || unreachable!()), 24.0);
    }

    #[test]
    fn each_piece_has_its_line() {
        let mut kernel = kernel();
        kernel.split = Some("N".parse().unwrap());
        kernel.rows[0].below = Some(10.0);
        kernel.rows.insert(1, row(None, [5.0, 0.0], &[]));
        let bound = BoundKernel::new(&kernel, &MNK).unwrap();
        let at = |processor, n| bound.expectation(processor, &Arguments::new([1.0, n, 1.0]));
        assert_eq!([at(0, 9.0), at(0, 10.0), at(0, 1e9)], [19.0, 5.0, 5.0]);
        assert_eq!((bound.processor(3, 1), at(1, 10.0)), (1, 40.0));
    }

    #[test]
    fn a_roofline_is_overhead_steps_arithmetic_and_traffic() {
        use super::super::roofline::RooflineFigures;
        let figures = RooflineFigures { rate: 1e9, bandwidth: 1e8, overhead: 5.0, step: 0.5, deviation: 0.1 };
        let row = Row { roofline: Some(figures), ..Row::default() };
        let slow = RooflineFigures { rate: 5e8, ..RooflineFigures::default() };
        let other = Row { processor: Some((1, 0)), roofline: Some(slow), ..Row::default() };
        let model = |roofs| Some(RooflineModel { work: KernelWork::of("dgemm").unwrap(), roofs });
        let mut kernel = Kernel { roofline: model(Roofs::Longest), rows: vec![row, other], ..Kernel::default() };
        assert_eq!(kernel.arguments(), MNK);
        let at = |kernel: &Kernel, processor, m| {
            BoundKernel::new(kernel, &MNK).unwrap().expectation(processor, &Arguments::new([m, 1e3, 10.0]))
        };
        // With M = 10^6: 2 10^10 operations, 8 (10^7 + 10^4 + 2 10^9) bytes; with M = 1: 2 10^4 and 8 (10 + 10^4 + 2000).
        let [long, short] = [1.608008e10 / 1e8, 96080.0 / 1e8];
        assert!((at(&kernel, 0, 1e6) - (5.0 + 5.0 + long)).abs() < 1e-9);
        assert!((at(&kernel, 0, 1.0) - (5.0 + 5.0 + short)).abs() < 1e-9);
        assert!((at(&kernel, 1, 1e6) - 40.0).abs() < 1e-9);
        kernel.roofline = model(Roofs::Sum);
        assert!((at(&kernel, 0, 1e6) - (5.0 + 5.0 + long + 20.0)).abs() < 1e-9);
        assert!(!kernel.is_free() && kernel.is_noisy() && !kernel.clone().without_noise().is_noisy());
        let bound = BoundKernel::new(&kernel, &MNK).unwrap();
        let draws =
            (0..1000).map(|i| bound.duration(0, &Arguments::new([1.0; 3]), || u64::MAX / 1000 * i + u64::MAX / 2000));
        let squares: f64 = draws.map(|draw| (draw - 5.5).powi(2)).sum();
        assert!(((squares / 1000.0).sqrt() / 0.55 - 1.0).abs() < 0.02);
    }

    #[test]
    fn knows_what_was_measured() {
        let mut kernel = kernel();
        kernel.measured = [("M".into(), [1.0, 100.0]), ("lda".into(), [1.0, 1.0])].into();
        let bound = BoundKernel::new(&kernel, &MNK).unwrap();
        assert!(bound.was_measured(&Arguments::new([100.0, 1e9, 0.0])));
        assert!(!bound.was_measured(&Arguments::new([101.0, 1.0, 1.0])));
    }

    #[test]
    fn an_argument_that_the_program_does_not_have_is_an_error() {
        let error = BoundKernel::new(&kernel(), &["M", "N"]).unwrap_err();
        assert_eq!(error.to_string(), "the model needs an argument `K`; the arguments are M, N");
    }

    #[test]
    fn no_call_takes_less_than_nothing() {
        let kernel = Kernel::new(vec![Term::one()], vec![row(None, [-1.0, 0.0], &[])]);
        assert_eq!(BoundKernel::new(&kernel, &[]).unwrap().duration(0, &Arguments::new([]), || 0), 0.0);
        assert_eq!(BoundKernel::new(&Kernel::free(), &[]).unwrap().duration(0, &Arguments::new([]), || 0), 0.0);
    }

    #[test]
    fn the_noise_of_a_roofline_is_a_part_of_its_duration() {
        let text = "name = \"r\"\n[kernel.dgemm]\nroofline = { rate = 1e9, bandwidth = 1e9, deviation = 0.02 }\n";
        let file = crate::compute::ModelFile::parse(&hpcast_platform::diagnostic::Source::new("r", text)).unwrap();
        let bound = BoundKernel::new(&file.kernels["dgemm"], &MNK).unwrap();
        let arguments = Arguments::new([100.0; 3]);
        let expectation = bound.expectation(0, &arguments);
        assert!(expectation > 0.0 && (bound.deviation(0, &arguments) / expectation - 0.02).abs() < 1e-9);
        assert!(bound.quantile(0, &arguments, 0.9) > expectation);
    }
}
