use hpcast_models::compute::population::Grouped;
use hpcast_stats::multivariate::cholesky;

use super::*;

const COOLING: &str = include_str!("../../tests/data/dgemm_daily_cooling.csv");

fn terms() -> Vec<Term> {
    ["1", "M*N*K"].map(|text| text.parse().unwrap()).into()
}

/// With these deviations, and the first two coefficients correlated.
fn covariance(deviations: [f64; 4], correlation: f64) -> Matrix {
    let mut matrix = Matrix::zeros(4, 4);
    (0..4).for_each(|i| matrix[(i, i)] = deviations[i].powi(2));
    let common = correlation * deviations[0] * deviations[1];
    (matrix[(0, 1)], matrix[(1, 0)]) = (common, common);
    matrix
}

fn coefficients(row: &Row) -> Vec<f64> {
    [row.seconds.as_slice(), &row.deviation].concat()
}

/// Daily fits of a cluster that is drawn.
fn drawn(population: &Population, nodes: u32, days: u32, seed: u64) -> DailyFits {
    let places = (0..nodes).flat_map(|node| [(node, 0), (node, 1)]);
    let fits = places.flat_map(|(node, socket)| {
        (0..days).map(move |day| DailyFit {
            processor: (node, socket),
            day: day.to_string(),
            coefficients: coefficients(&population.draw(seed, node, socket, day)),
        })
    });
    DailyFits { terms: terms(), fits: fits.collect() }
}

/// An entry of a covariance of n samples has the variance (s_ii s_jj + s_ij^2) / n (J. Wishart, 1928); `unit` stands for s where
/// more than what is looked for is in the samples. Five deviations are allowed for.
fn assert_covariance(found: &Matrix, expected: &Matrix, unit: &Matrix, samples: f64) {
    for (i, j) in pairs(4) {
        let error = ((unit[(i, i)] * unit[(j, j)] + unit[(i, j)].powi(2)) / samples).sqrt();
        let off = (found[(i, j)] - expected[(i, j)]).abs();
        assert!(off <= 5.0 * error, "{i} {j}: {:e} for {:e}, {error:e}", found[(i, j)], expected[(i, j)]);
    }
}

#[test]
fn what_a_population_is_made_of_is_found_again() {
    let mean = vec![2e-6, 7e-11, 4e-7, 3e-12];
    let spread = covariance([4e-8, 2e-12, 5e-8, 1e-13], 0.6);
    let parts = [
        covariance([1e-7, 5e-13, 3e-8, 5e-13], 0.3),
        covariance([2e-8, 2e-13, 1e-8, 2e-13], -0.5),
        covariance([8e-8, 1e-13, 7e-8, 3e-14], 0.0),
    ];
    let processors = MultivariateNormal::new(mean.clone(), spread.clone()).unwrap();
    let days = Days::new(parts[0].clone(), parts[1].clone(), parts[2].clone()).unwrap();
    let group = Group { share: 1.0, processors, days };
    let population = Population::new(&terms(), vec![group], Grouped::Processors).unwrap();
    let (nodes, count) = (200, 80);
    let found = fit(&drawn(&population, nodes, count, 3), 3).unwrap();
    let again = found.kernel.population.as_ref().unwrap();
    assert_eq!((again.groups().len(), found.processors, found.days), (1, 400, 80));
    let [machine, node, processor] = again.groups()[0].days.covariances();
    let (nodes, count) = (f64::from(nodes), f64::from(count));
    // The machine has one draw a day; a node's is seen through what its two processors have of their own.
    assert_covariance(machine, &parts[0], &parts[0], count - 1.0);
    assert_covariance(node, &parts[1], &combine(&[(1.0, &parts[1]), (1.0, &parts[2])]), (count - 1.0) * nodes);
    assert_covariance(processor, &parts[2], &combine(&[(1.0, &parts[1]), (1.0, &parts[2])]), (count - 1.0) * nodes);
    let left = combine(&[(1.0 / count, &parts[1]), (1.0 / count, &parts[2])]);
    let group = &again.groups()[0].processors;
    assert_covariance(group.covariance(), &spread, &combine(&[(1.0, &spread), (1.0, &left)]), 2.0 * nodes - 1.0);
    for i in 0..4 {
        let error = ((spread[(i, i)] + left[(i, i)]) / (2.0 * nodes) + parts[0][(i, i)] / count).sqrt();
        assert!((group.mean()[i] - mean[i]).abs() < 5.0 * error, "{i}");
    }
}

#[test]
fn nodes_with_a_cooling_problem_are_a_group() {
    let columns = Columns::usual(&crate::table::Table::header(COOLING).unwrap());
    let daily = DailyFits::read(COOLING, &columns).unwrap();
    let cluster = fit(&daily, 4).unwrap();
    let population = cluster.kernel.population.as_ref().unwrap();
    assert_eq!((cluster.nodes, cluster.processors, cluster.days), (32, 64, 24));
    // Thesis, figure 5.5: four of the 32 nodes.
    assert_eq!((population.grouped(), population.groups().len()), (Grouped::Nodes, 2));
    assert!((population.groups()[1].share - 4.0 / 32.0).abs() < 1e-6);
    assert!(population.groups()[1].processors.mean()[1] > 1.1 * population.groups()[0].processors.mean()[1]);
    // They are less steady, too: on processors alone 0.6 % of the mean, and 1.7 % and more.
    let days = |group: usize| {
        let group = &population.groups()[group];
        let variance: f64 = group.days.covariances().iter().map(|part| part[(1, 1)]).sum();
        variance.sqrt() / group.processors.mean()[1]
    };
    assert!((0.005..0.008).contains(&days(0)) && (0.015..0.03).contains(&days(1)), "{} {}", days(0), days(1));
    let group_of = |node: u32| cluster.kernel.rows.iter().find(|row| row.processor == Some((node, 1))).unwrap().group;
    assert_eq!((1..=32).filter(|node| group_of(*node) == 1).collect::<Vec<u32>>(), [13, 14, 15, 16]);
    assert!(cluster.warnings.iter().any(|warning| warning.contains("% smaller on socket 1")), "{:?}", cluster.warnings);
}

/// A cluster of 10,000 processors has the moments of the 64 that were measured.
#[test]
fn generated_processors_have_the_moments_of_the_measured_ones() {
    let columns = Columns::usual(&crate::table::Table::header(COOLING).unwrap());
    let daily = DailyFits::read(COOLING, &columns).unwrap();
    let cluster = fit(&daily, 1).unwrap();
    let population = cluster.kernel.population.as_ref().unwrap();
    let measured: Vec<Vec<f64>> = cluster.kernel.rows[1..].iter().map(coefficients).collect();
    let measured = MultivariateNormal::of_samples(&measured).unwrap();
    let generated: Vec<Vec<f64>> = (0..10_000).map(|node| coefficients(&population.processor(1, node, 0))).collect();
    let moments = MultivariateNormal::of_samples(&generated).unwrap();
    // Means that were measured hold a little of their days.
    let [_, node, processor] = population.groups()[0].days.covariances();
    let left = 64.0 / daily.fits.len() as f64;
    let expected = combine(&[(1.0, measured.covariance()), (-left, node), (-left, processor)]);
    assert_covariance(moments.covariance(), &expected, measured.covariance(), 10_000.0);
    for i in 0..4 {
        let error = (measured.covariance()[(i, i)] / 10_000.0).sqrt();
        assert!((moments.mean()[i] - measured.mean()[i]).abs() < 5.0 * error, "{i}");
    }
    let seconds: Vec<&[f64]> = generated.iter().map(|values| &values[..2]).collect();
    let test = normality::mardia(&seconds).unwrap();
    assert!(test.skewness.p > 0.001 && test.kurtosis.p > 0.001, "{test:?}");
}

#[test]
fn one_socket_and_few_days_are_enough() {
    let processors = MultivariateNormal::new(vec![2e-6, 7e-11, 0.0, 3e-12], covariance([4e-8, 2e-12, 0.0, 1e-13], 0.0));
    let day = covariance([1e-7, 5e-13, 0.0, 5e-13], 0.3);
    let days = Days::new(day.clone(), Matrix::zeros(4, 4), day).unwrap();
    let group = Group { share: 1.0, processors: processors.unwrap(), days };
    let population = Population::new(&terms(), vec![group], Grouped::Processors).unwrap();
    let mut daily = drawn(&population, 60, 3, 1);
    daily.fits.retain(|fit| fit.processor.1 == 0);
    let found = fit(&daily, 1).unwrap().kernel.population.unwrap();
    let [machine, node, processor] = found.groups()[0].days.covariances();
    assert_eq!(to_zero(node), 0.0);
    assert!(machine[(1, 1)] > 0.0 && processor[(1, 1)] > 0.0);
    // A coefficient that never changes stays as it is.
    assert_eq!(found.draw(1, 2, 3, 4).deviation[0], 0.0);
}

fn to_zero(matrix: &Matrix) -> f64 {
    pairs(matrix.rows()).map(|place| matrix[place].abs()).fold(0.0, f64::max)
}

#[test]
fn what_tells_too_little_is_an_error() {
    let columns = Columns::usual(&crate::table::Table::header(COOLING).unwrap());
    let daily = DailyFits::read(COOLING, &columns).unwrap();
    let with = |keep: &dyn Fn(&DailyFit) -> bool| {
        let mut daily = daily.clone();
        daily.fits.retain(|fit| keep(fit));
        let error = fit(&daily, 2).unwrap_err();
        assert!(!error.remedy().is_empty());
        error.to_string()
    };
    let few = "2 processors are too few to tell how they differ: 6 are needed";
    assert_eq!(with(&|fit| fit.processor.0 == 1), few);
    assert_eq!(with(&|fit| fit.day == "2019-10-18"), "no processor was measured on two days");
    let mut huge = daily.clone();
    huge.fits.iter_mut().for_each(|fit| fit.coefficients[1] *= 1e300);
    assert_eq!(fit(&huge, 2).unwrap_err().to_string(), "the coefficients are too large or too small to be squared");
    let text = COOLING.replacen(",1,0,", ",one,0,", 1);
    let error = DailyFits::read(&text, &columns).unwrap_err();
    assert_eq!(error.to_string(), "line 2: `one` in column `node` is no whole number");
}

#[test]
fn the_nearest_covariance_is_one() {
    let mut matrix = covariance([1e-7, 5e-13, 3e-8, 5e-13], 0.3);
    matrix[(3, 3)] = -1e-26;
    let near = nearest(&matrix, &covariance([1e-7, 5e-13, 3e-8, 5e-13], 0.0));
    assert!(cholesky(&near).is_ok() && near[(3, 3)] == 0.0);
    assert!((near[(0, 1)] / matrix[(0, 1)] - 1.0).abs() < 1e-9);
}

/// A polynomial of each processor, and the days of linear fits.
#[test]
fn a_better_kernel_adopts_the_days() {
    let columns = Columns::usual(&crate::table::Table::header(COOLING).unwrap());
    let daily = fit(&DailyFits::read(COOLING, &columns).unwrap(), 4).unwrap().kernel;
    let terms = ["M*N*K", "M*N", "1"].map(|text| text.parse().unwrap());
    let row = |node: u32| Row {
        processor: Some((node, 0)),
        seconds: vec![7e-11 + f64::from(node) * 1e-14, 1e-9, 2e-6],
        deviation: vec![3e-12, 0.0, 0.0],
        ..Row::default()
    };
    let rows = Row::with_mean((1..=40).map(row).collect());
    let kernel = adopt(&Kernel::new(terms.to_vec(), rows.clone()), &daily).unwrap();
    let groups: Vec<u32> =
        kernel.rows.iter().filter(|row| row.group == 1).map(|row| row.processor.unwrap().0).collect();
    assert_eq!(groups, [13, 14, 15, 16]);
    let (own, theirs) = (kernel.population.as_ref().unwrap(), daily.population.as_ref().unwrap());
    for group in 0..2 {
        let [own, theirs] = [own, theirs].map(|population| population.groups()[group].days.covariances());
        for (own, theirs) in own.into_iter().zip(theirs) {
            assert_eq!((own[(0, 0)], own[(2, 2)], own[(0, 2)]), (theirs[(1, 1)], theirs[(0, 0)], theirs[(1, 0)]));
            assert_eq!((own[(3, 3)], own[(1, 1)]), (theirs[(3, 3)], 0.0));
        }
    }
    // The same processors, a little other every day.
    let day = kernel.on_day(1, 1);
    for (row, mean) in day.rows[1..].iter().zip(&rows[1..]) {
        let change = row.seconds[0] / mean.seconds[0] - 1.0;
        assert!(change != 0.0 && change.abs() < 0.1 && row.seconds[1] == mean.seconds[1], "{row:?}");
    }
}

#[test]
fn days_that_do_not_fit_a_kernel_are_refused() {
    let columns = Columns::usual(&crate::table::Table::header(COOLING).unwrap());
    let daily = fit(&DailyFits::read(COOLING, &columns).unwrap(), 1).unwrap().kernel;
    let refused = |kernel: Kernel| {
        let error = adopt(&kernel, &daily).unwrap_err();
        assert!(!error.remedy().is_empty());
        error.to_string()
    };
    let row =
        |node: u32, terms: usize| Row { processor: Some((node, 0)), seconds: vec![1e-9; terms], ..Row::default() };
    let few = Kernel::new(vec!["1".parse().unwrap()], vec![row(1, 1)]);
    assert_eq!(refused(few.clone()), "the kernel has no term `M*N*K`, whose coefficient differs from day to day");
    assert_eq!(refused(Kernel { split: Some("M".parse().unwrap()), ..few }), AdoptError::Pieces.to_string());
    assert_eq!(refused(Kernel::new(terms(), vec![row(99, 2)])), AdoptError::Processors.to_string());
}

/// Sockets that are called 1 and 2, and sockets whose means are equal to the last digit.
#[test]
fn sockets_that_cannot_be_compared_are_no_warning() {
    let columns = Columns::usual(&crate::table::Table::header(COOLING).unwrap());
    let daily = DailyFits::read(COOLING, &columns).unwrap();
    let mut renamed = daily.clone();
    renamed.fits.iter_mut().for_each(|fit| fit.processor.1 += 1);
    let mut equal = daily.clone();
    equal.fits.retain(|fit| fit.processor.1 == 0);
    let twins: Vec<DailyFit> =
        equal.fits.iter().map(|fit| DailyFit { processor: (fit.processor.0, 1), ..fit.clone() }).collect();
    equal.fits.extend(twins);
    for daily in [renamed, equal] {
        let warnings = fit(&daily, 1).unwrap().warnings;
        assert!(!warnings.iter().any(|warning| warning.contains("socket")), "{warnings:?}");
    }
}
