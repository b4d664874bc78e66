//! Rooflines, from measured calls: what a processor reaches in a kernel.
//!
//! Rate, bandwidth and overheads are those that make the squares of the logarithms of modelled over measured least, over all
//! sizes: twice as long is as wrong as half as long, for short calls and long ones. None is negative. Calls of the same size are
//! represented by their median: the first calls on a GPU take ten times as long.

use hpcast_models::compute::{
    Fit, Kernel, KernelWork, MOST_ARGUMENTS, RooflineFigures, RooflineModel, Roofs, Row, Term,
};
use hpcast_stats::least_squares::{Column, FitError, Problem};

use crate::kernel::{Calls, KernelError, Sample, Size, fitted, goodness, median, ranges, samples};
use crate::misses;

/// Places of the intensity, in flops a byte, where one roof may end and the other begin, that are tried.
const EDGES: usize = 64;
/// The square of an error that is due to rounding.
const ROUNDING: f64 = 1e-20;
/// Times that least squares are weighted anew: eight digits do not change after that.
const STEPS: usize = 12;
/// The median distance from the median of normal values, in standard deviations (P. J. Huber, "Robust statistics", 1981).
const NORMAL: f64 = 0.674_489_750_196_081_7;

/// What a call costs at least, size by size.
struct Costs {
    /// Ones, steps, bytes and flops; with equal errors, traffic is the likelier reason.
    columns: [Vec<f64>; 4],
    seconds: Vec<f64>,
}

/// Seconds of a call, a step, a byte and a flop.
type Prices = [f64; 4];

/// Fits a roofline on each processor; without `roofs`, in the form that fits better on all of them together.
pub fn fit(calls: &Calls, work: &KernelWork, roofs: Option<Roofs>) -> Result<Kernel, KernelError> {
    let names: Vec<&str> = calls.arguments.iter().map(|(name, _)| name.as_str()).collect();
    if names.len() > MOST_ARGUMENTS {
        return Err(KernelError::TooMany { found: names.len() });
    }
    for term in work.terms() {
        if let Some(argument) = term.names().find(|name| !names.contains(name)) {
            return Err(KernelError::Argument { term: term.to_string(), argument: argument.into() });
        }
    }
    let samples = medians(calls);
    if samples.is_empty() {
        return Err(KernelError::NoTime { arguments: "any arguments".into() });
    }
    let forms = [Roofs::Longest, Roofs::Sum].into_iter().filter(|form| roofs.is_none_or(|roofs| roofs == *form));
    let mut best: Result<Form, KernelError> = Err(KernelError::NoTime { arguments: "any arguments".into() });
    for form in forms {
        match (Form::fit(form, &samples, work, &names), &best) {
            (Ok(found), Ok(other)) if found.error >= other.error => {}
            (Err(_), Ok(_)) => {}
            (found, _) => best = found,
        }
    }
    let Form { roofs, rows, .. } = best?;
    let mut kernel = Kernel {
        roofline: Some(RooflineModel { work: work.clone(), roofs }),
        rows: Row::with_mean(rows),
        measured: ranges(calls),
        ..Kernel::default()
    };
    let fitted = fitted(&kernel, &samples, &names);
    kernel.fit = Some(Fit {
        points: calls.seconds.len() as u64,
        sizes: fitted.len() as u64,
        r_squared: goodness::r_squared(&fitted),
        relative_error: goodness::relative_error(&fitted),
        dropped: Vec::new(),
        warnings: misses::find(&fitted, &names, None),
        ranges: goodness::ranges(&fitted),
        data: None,
    });
    Ok(kernel)
}

/// Calls by processor and arguments, with medians in the place of means. What took no time by its clock says nothing.
fn medians(calls: &Calls) -> Vec<Sample> {
    let mut samples = samples(calls);
    for sample in &mut samples {
        sample.sizes.iter_mut().for_each(|size| size.seconds = size.median());
        sample.sizes.retain(|size| size.seconds > 0.0);
    }
    samples.retain(|sample| !sample.sizes.is_empty());
    samples
}

/// The rooflines of all processors, in one form.
struct Form {
    roofs: Roofs,
    rows: Vec<Row>,
    error: f64,
}

impl Form {
    fn fit(roofs: Roofs, samples: &[Sample], work: &KernelWork, names: &[&str]) -> Result<Form, KernelError> {
        let mut form = Form { roofs, rows: Vec::new(), error: 0.0 };
        for Sample { processor, sizes } in samples {
            let costs = Costs::new(sizes, work, names);
            let failed = |error| KernelError::Fit { processor: *processor, piece: String::new(), error };
            let prices = costs.fit(roofs).map_err(failed)?;
            let [overhead, step, byte, flop] = prices;
            let deviation = deviation(sizes);
            let figures = RooflineFigures { rate: 1.0 / flop, bandwidth: 1.0 / byte, overhead, step, deviation };
            form.rows.push(Row { processor: *processor, roofline: Some(figures), ..Row::default() });
            form.error += costs.error(roofs, &prices);
        }
        Ok(form)
    }
}

/// Of single calls, as a part of what they take; long calls count for more, outliers for little.
fn deviation(sizes: &[Size]) -> f64 {
    let (mut squares, mut total) = (0.0, 0.0);
    for size in sizes.iter().filter(|size| size.calls.len() > 2) {
        let away = median(size.calls.iter().map(|call| (call - size.seconds).abs()).collect()) / NORMAL;
        squares += away * away;
        total += size.seconds.powi(2);
    }
    if total > 0.0 { (squares / total).sqrt() } else { 0.0 }
}

impl Costs {
    fn new(sizes: &[Size], work: &KernelWork, names: &[&str]) -> Costs {
        let value = |size: &Size, parts: &[(Term, f64)]| -> f64 {
            let argument =
                |name: &str| names.iter().position(|n| *n == name).map_or(0.0, |place| size.arguments[place]);
            parts.iter().map(|(term, factor)| factor * term.value(argument)).sum()
        };
        let column = |parts: &[(Term, f64)]| sizes.iter().map(|size| value(size, parts)).collect::<Vec<f64>>();
        Costs {
            columns: [vec![1.0; sizes.len()], column(&work.steps), column(&work.bytes), column(&work.flops)],
            seconds: sizes.iter().map(|size| size.seconds).collect(),
        }
    }

    fn at(&self, roofs: Roofs, prices: &Prices, size: usize) -> f64 {
        let [call, steps, bytes, flops] = std::array::from_fn(|i| self.columns[i][size] * prices[i]);
        match roofs {
            Roofs::Longest => call + steps + bytes.max(flops),
            Roofs::Sum => call + steps + bytes + flops,
        }
    }

    /// Sum of the squares of the logarithms of modelled over measured.
    fn error(&self, roofs: Roofs, prices: &Prices) -> f64 {
        let off = |size: usize| (self.at(roofs, prices, size) / self.seconds[size]).ln().powi(2);
        // What is smaller is rounding, and no reason to prefer one to another.
        (0..self.seconds.len()).map(off).sum::<f64>().max(ROUNDING)
    }

    fn fit(&self, roofs: Roofs) -> Result<Prices, FitError> {
        if roofs == Roofs::Sum {
            return self.cheapest(&self.columns);
        }
        // Which roof a size is under depends on its intensity alone; where they meet, on all sizes.
        let [_, _, bytes, flops] = &self.columns;
        let intensity: Vec<f64> = flops.iter().zip(bytes).map(|(flops, bytes)| flops / bytes).collect();
        let mut sorted = intensity.clone();
        sorted.sort_by(f64::total_cmp);
        let edges = [f64::INFINITY].into_iter().chain((0..EDGES).map(|edge| sorted[edge * sorted.len() / EDGES]));
        let mut best: Result<Prices, FitError> = Err(FitError::NoColumns);
        for edge in edges {
            let mut columns = self.columns.clone();
            for (size, intensity) in intensity.iter().enumerate() {
                columns[if *intensity < edge { 3 } else { 2 }][size] = 0.0;
            }
            match (self.cheapest(&columns), &best) {
                (Ok(prices), Ok(old)) if self.error(roofs, &prices) >= self.error(roofs, old) => {}
                (Ok(prices), _) => best = Ok(prices),
                (Err(error), Err(_)) => best = Err(error),
                (Err(_), Ok(_)) => {}
            }
        }
        best
    }

    /// The best prices of these columns.
    fn cheapest(&self, columns: &[Vec<f64>; 4]) -> Result<Prices, FitError> {
        // The square of a logarithm is (modelled - measured)^2 / (modelled measured), up to terms of the fourth order.
        let mut weights: Vec<f64> = self.seconds.iter().map(|seconds| seconds.powi(-2)).collect();
        let mut prices = self.step(columns, &weights)?;
        for _ in 1..STEPS {
            for (size, weight) in weights.iter_mut().enumerate() {
                let modelled: f64 = (0..4).map(|i| columns[i][size] * prices[i]).sum();
                // A size that costs nothing yet counts as before.
                if modelled > 0.0 {
                    *weight = 1.0 / (modelled * self.seconds[size]);
                }
            }
            prices = self.step(columns, &weights)?;
        }
        Ok(prices)
    }

    /// Least squares with prices that are not negative: of all choices of columns whose prices are, the best.
    fn step(&self, columns: &[Vec<f64>; 4], weights: &[f64]) -> Result<Prices, FitError> {
        let used: Vec<usize> = (0..4).filter(|&i| columns[i].iter().any(|value| *value > 0.0)).collect();
        let names = ["a call", "steps", "bytes", "flops"];
        let given: Vec<Column> = used.iter().map(|&i| Column { name: names[i], values: &columns[i] }).collect();
        let problem = Problem::new(&given, &self.seconds, Some(weights))?;
        let squares = |(seconds, weight): (&f64, &f64)| weight * seconds * seconds;
        let rounding = ROUNDING * self.seconds.iter().zip(weights).map(squares).sum::<f64>();
        let mut best: Option<(f64, Prices)> = None;
        let mut failure = FitError::NoColumns;
        for choice in 1..1usize << used.len() {
            let chosen: Vec<usize> = (0..used.len()).filter(|i| choice >> i & 1 == 1).collect();
            let fit = match problem.fit_with(&chosen) {
                Ok(fit) => fit,
                Err(error) => {
                    failure = error;
                    continue;
                }
            };
            if fit.coefficients().any(|price| price < 0.0) {
                continue;
            }
            let squares = (fit.residual_variance * fit.freedom as f64).max(rounding);
            if best.as_ref().is_none_or(|(least, _)| squares < least * (1.0 - 1e-9)) {
                let mut prices = [0.0; 4];
                chosen.iter().zip(fit.coefficients()).for_each(|(&i, price)| prices[used[i]] = price);
                best = Some((squares, prices));
            }
        }
        best.map(|(_, prices)| prices).ok_or(failure)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::mean;
    use hpcast_models::compute::{Arguments, BoundKernel};

    use crate::kernel::{self, Recipe};
    use crate::table::Table;

    /// Medians of six calls on an H200.
    const GPU: &str = include_str!("../tests/data/gpu_h200.csv");

    fn figures(kernel: &Kernel) -> RooflineFigures {
        kernel.rows[0].roofline.unwrap()
    }

    /// Products of matrices of many shapes.
    fn shapes() -> [Vec<f64>; 3] {
        let size = |i: u32, step: u32| f64::from(10 * (1 << (i.wrapping_mul(step) >> 4 & 7)) + i % 9);
        [7919, 104_729, 1_299_709].map(|step| (0..300).map(|i| size(i, step)).collect())
    }

    #[test]
    fn figures_are_found_again() {
        let work = KernelWork::of("dgemm").unwrap();
        let [m, n, k] = shapes();
        for roofs in [Roofs::Longest, Roofs::Sum] {
            let given = RooflineFigures { rate: 1e12, bandwidth: 5e10, overhead: 3e-6, step: 2e-9, deviation: 0.0 };
            let row = Row { roofline: Some(given), ..Row::default() };
            let roofline = Some(RooflineModel { work: work.clone(), roofs });
            let kernel = Kernel { roofline, rows: vec![row], ..Kernel::default() };
            let bound = BoundKernel::new(&kernel, &["M", "N", "K"]).unwrap();
            let call = |i: usize| bound.expectation(0, &Arguments::new([m[i], n[i], k[i]]));
            let seconds: Vec<f64> = (0..300).map(call).collect();
            let arguments = vec![("M".into(), &m[..]), ("N".into(), &n[..]), ("K".into(), &k[..])];
            let calls = Calls { arguments, seconds: &seconds, processors: vec![] };
            let found = fit(&calls, &work, None).unwrap();
            assert_eq!(found.roofline.as_ref().map(|model| model.roofs), Some(roofs));
            let RooflineFigures { rate, bandwidth, overhead, step, .. } = figures(&found);
            // The edge between the roofs is found to the nearest size.
            for (found, given) in [(rate, 1e12), (bandwidth, 5e10), (overhead, 3e-6), (step, 2e-9)] {
                assert!((found / given - 1.0).abs() < 0.01, "{roofs:?} {found:e} for {given:e}");
            }
        }
    }

    /// Two processors, one of which copies at half the speed; both have their own figures, others those of their mean.
    #[test]
    fn each_processor_has_its_own() {
        let n: Vec<f64> = (0..98).map(|i| f64::from((i / 2 + 1) * (i / 2 + 1) * 100)).collect();
        let processors: Vec<(u32, u32)> = (0..98).map(|i| (3, i % 2)).collect();
        let slow = |i: usize| 1.0 + (i % 2) as f64;
        let seconds: Vec<f64> = (0..98).map(|i| 1e-6 + slow(i) * 16.0 * n[i] / 1e10).collect();
        let calls = Calls { arguments: vec![("N".into(), &n)], seconds: &seconds, processors };
        let found = fit(&calls, &KernelWork::of("dcopy").unwrap(), None).unwrap();
        let names: Vec<Option<(u32, u32)>> = found.rows.iter().map(|row| row.processor).collect();
        assert_eq!(names, [None, Some((3, 0)), Some((3, 1))]);
        for (row, bandwidth) in found.rows.iter().zip([1e10 / 1.5, 1e10, 5e9]) {
            let figures = row.roofline.unwrap();
            assert!((figures.bandwidth / bandwidth - 1.0).abs() < 1e-9 && figures.rate.is_infinite(), "{figures:?}");
            assert!((figures.overhead / 1e-6 - 1.0).abs() < 1e-6, "{figures:?}");
        }
        let how_well = found.fit.as_ref().unwrap();
        assert!(how_well.sizes == 98 && how_well.relative_error < 1e-9, "{how_well:?}");
        let alike = fit(&Calls { processors: Vec::new(), ..calls }, &KernelWork::of("dcopy").unwrap(), None).unwrap();
        // Of two calls of a size, one on each, the median is their mean.
        assert_eq!((alike.rows.len(), alike.fit.as_ref().unwrap().sizes), (1, 49));
        assert!((figures(&alike).bandwidth / (1e10 / 1.5) - 1.0).abs() < 1e-9, "{alike:?}");
    }

    #[test]
    fn a_copy_has_a_latency_and_a_bandwidth() {
        let n: Vec<f64> = (1..50).map(|i| f64::from(i * i * 100)).collect();
        let seconds: Vec<f64> = n.iter().map(|n| 1e-6 + 16.0 * n / 1e10).collect();
        let calls = Calls { arguments: vec![("N".into(), &n)], seconds: &seconds, processors: vec![] };
        let found = fit(&calls, &KernelWork::of("dcopy").unwrap(), None).unwrap();
        let RooflineFigures { rate, bandwidth, overhead, .. } = figures(&found);
        assert!(rate.is_infinite() && (bandwidth / 1e10 - 1.0).abs() < 1e-9 && (overhead / 1e-6 - 1.0).abs() < 1e-9);
        // Operations and bytes of a vector go together: the bytes get the blame.
        let found = fit(&calls, &KernelWork::of("daxpy").unwrap(), None).unwrap();
        assert!(figures(&found).rate.is_infinite() && (figures(&found).bandwidth / 1.5e10 - 1.0).abs() < 1e-9);
        let wrong = fit(&calls, &KernelWork::of("dgemm").unwrap(), None).unwrap_err().to_string();
        assert_eq!(wrong, "the term `M*N*K` needs an argument `M` that was not measured");
    }

    #[test]
    fn first_calls_that_are_slow_do_not_count() {
        let n: Vec<f64> = (0..250).map(|i| f64::from((1 + i / 5) * 100_000)).collect();
        let slow = |i: usize| if i.is_multiple_of(5) { 30.0 } else { 0.99 + 0.02 * (i % 2) as f64 };
        let seconds: Vec<f64> = n.iter().enumerate().map(|(i, n)| slow(i) * (1e-6 + 16.0 * n / 1e10)).collect();
        let calls = Calls { arguments: vec![("N".into(), &n)], seconds: &seconds, processors: vec![] };
        let found = figures(&fit(&calls, &KernelWork::of("dcopy").unwrap(), None).unwrap());
        assert!((found.bandwidth / 1e10 - 1.0).abs() < 0.02 && found.deviation < 0.04, "{found:?}");
    }

    /// Half of the sizes are fitted, the other half forecast, by a roofline and by a polynomial: mean relative error and
    /// R squared of each.
    fn hold_out(function: &str, arguments: [(&str, &str); 3], terms: &str, unit: f64) -> [[f64; 2]; 2] {
        let only = [("function".to_owned(), function.to_owned())];
        let table = Table::read(GPU, &["m", "n", "k", "seconds"], &only).unwrap();
        let column = |name: &str| table.column(name).unwrap();
        let aligned = |row: &usize| column("m")[*row] % unit == 0.0 && column("k")[*row] % unit == 0.0;
        let rows: Vec<usize> = (0..table.rows()).filter(aligned).collect();
        let half = |name: &str, rest: usize| -> Vec<f64> {
            rows.iter().skip(rest).step_by(2).map(|&row| column(name)[row]).collect()
        };
        let [fitted, held] = [0, 1].map(|rest| arguments.map(|(_, name)| half(name, rest)));
        let (seconds, measured) = (half("seconds", 0), half("seconds", 1));
        let names = arguments.map(|(name, _)| name);
        let given = names.iter().zip(&fitted).map(|(name, values)| ((*name).to_owned(), &values[..])).collect();
        let calls = Calls { arguments: given, seconds: &seconds, processors: vec![] };
        let roofline = fit(&calls, &KernelWork::of(function).unwrap(), None).unwrap();
        assert_eq!(roofline.roofline.as_ref().map(|model| model.roofs), Some(Roofs::Sum));
        let terms = terms.split(',').map(|text| text.parse().unwrap()).collect();
        let polynomial = kernel::fit(&calls, &Recipe { terms, ..Recipe::default() }).unwrap();
        [roofline, polynomial].map(|kernel| {
            let bound = BoundKernel::new(&kernel, &names).unwrap();
            let call = |i: usize| bound.expectation(0, &Arguments::new([held[0][i], held[1][i], held[2][i]]));
            let found: Vec<f64> = (0..measured.len()).map(call).collect();
            let centre = mean(measured.iter().copied());
            let squares = |values: &mut dyn Iterator<Item = f64>| values.map(|value| value * value).sum::<f64>();
            let left = squares(&mut found.iter().zip(&measured).map(|(found, measured)| found - measured));
            let all = squares(&mut measured.iter().map(|measured| measured - centre));
            let off = found.iter().zip(&measured).map(|(found, measured)| (found / measured - 1.0).abs());
            [mean(off), 1.0 - left / all]
        })
    }

    /// The figures stand in docs/models.md.
    #[test]
    fn a_gpu_is_forecast_where_it_was_not_measured() {
        let products = [("M", "m"), ("N", "n"), ("K", "k")];
        let solves = [("M", "m"), ("N", "n"), ("S", "m")];
        let polynomial = "1,M*N*K,M*N,M*K,N*K,M,N,K";
        for (found, most, least) in [
            (hold_out("dgemm", products, polynomial, 1.0), 0.15, 0.95),
            (hold_out("dgemm", products, polynomial, 2.0), 0.15, 0.95),
            (hold_out("dtrsm", solves, "1,M*N*S,M*N,S,N", 1.0), 0.2, 0.9),
        ] {
            println!("{found:.4?}");
            let [[error, r_squared], [of_polynomial, _]] = found;
            assert!(error < most && r_squared > least && error < of_polynomial, "{found:?}");
        }
    }
}
