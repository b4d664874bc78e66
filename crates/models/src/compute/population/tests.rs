use super::*;

fn matrix(rows: [[f64; 4]; 4]) -> Matrix {
    let mut matrix = Matrix::zeros(4, 4);
    (0..16).for_each(|ij| matrix[(ij / 4, ij % 4)] = rows[ij / 4][ij % 4]);
    matrix
}

fn scaled(factor: f64, matrix: &Matrix) -> Matrix {
    let mut scaled = Matrix::zeros(4, 4);
    (0..16).for_each(|ij| scaled[(ij / 4, ij % 4)] = factor * matrix[(ij / 4, ij % 4)]);
    scaled
}

fn spread() -> Matrix {
    let [a, b, c, d]: [f64; 4] = [1e-14, 4e-24, 2.5e-15, 1e-26];
    let ab = 0.5 * (a * b).sqrt();
    let bd = -0.3 * (b * d).sqrt();
    matrix([[a, ab, 0.0, 0.0], [ab, b, 0.0, bd], [0.0, 0.0, c, 0.0], [0.0, bd, 0.0, d]])
}

fn terms() -> Vec<Term> {
    ["1", "M*N*K"].map(|text| text.parse().unwrap()).into()
}

fn group(share: f64, slow: f64) -> Group {
    let mean = vec![2e-6, slow * 7e-11, 4e-7, 3e-12];
    let days = Days::new(scaled(0.04, &spread()), scaled(0.02, &spread()), scaled(0.01, &spread())).unwrap();
    Group { share, processors: MultivariateNormal::new(mean, spread()).unwrap(), days }
}

fn population(groups: Vec<Group>, grouped: Grouped) -> Population {
    Population::new(&terms(), groups, grouped).unwrap()
}

fn vector(row: &Row) -> Vec<f64> {
    [row.seconds.as_slice(), &row.deviation].concat()
}

/// Whether a covariance may be that of so many samples: an entry of it has the variance (s_ii s_jj + s_ij^2) / samples
/// (J. Wishart, Biometrika 20A, 1928). Five deviations are allowed for.
fn assert_covariance(found: &Matrix, expected: &Matrix, samples: f64) {
    for (i, j) in (0..16).map(|ij| (ij / 4, ij % 4)) {
        let variance = (expected[(i, i)] * expected[(j, j)] + expected[(i, j)].powi(2)) / samples;
        let off = (found[(i, j)] - expected[(i, j)]).abs();
        assert!(off <= 5.0 * variance.sqrt(), "{i} {j}: {} for {}", found[(i, j)], expected[(i, j)]);
    }
}

#[test]
fn processors_and_days_have_the_moments_that_they_say() {
    let population = population(vec![group(1.0, 1.0)], Grouped::Processors);
    let count = 20_000;
    let means: Vec<Vec<f64>> = (0..count).map(|node| vector(&population.processor(7, node, 1))).collect();
    let found = MultivariateNormal::of_samples(&means).unwrap();
    assert_covariance(found.covariance(), &spread(), f64::from(count));
    for (i, mean) in vector(&population.expectation()).iter().enumerate() {
        let error = (spread()[(i, i)] / f64::from(count)).sqrt();
        assert!((found.mean()[i] - mean).abs() < 5.0 * error);
    }
    // The days of one processor hold all three parts.
    let mean = vector(&population.processor(7, 3, 1));
    let day = |day: u32| vector(&population.draw(7, 3, 1, day)).iter().zip(&mean).map(|(a, b)| a - b).collect();
    let days: Vec<Vec<f64>> = (0..count).map(day).collect();
    assert_covariance(
        MultivariateNormal::of_samples(&days).unwrap().covariance(),
        &scaled(0.07, &spread()),
        f64::from(count),
    );
}

#[test]
fn what_a_day_changes_is_partly_common() {
    let population = population(vec![group(1.0, 1.0)], Grouped::Processors);
    let change = |node: u32, socket: u32, day: u32| {
        vector(&population.draw(7, node, socket, day))[1] - vector(&population.processor(7, node, socket))[1]
    };
    let days = 20_000;
    let correlation = |node: u32, socket: u32| {
        let sum = |f: &dyn Fn(u32) -> f64| (0..days).map(f).sum::<f64>();
        let both = sum(&|day| change(0, 0, day) * change(node, socket, day));
        both / (sum(&|day| change(0, 0, day).powi(2)) * sum(&|day| change(node, socket, day).powi(2))).sqrt()
    };
    // Of 7 parts, 4 are the machine's and 2 the node's. A correlation r has the error (1 - r^2) / sqrt(days).
    assert!((correlation(0, 1) - 6.0 / 7.0).abs() < 5.0 * (1.0 - 36.0 / 49.0) / f64::from(days).sqrt());
    assert!((correlation(1, 0) - 4.0 / 7.0).abs() < 5.0 * (1.0 - 16.0 / 49.0) / f64::from(days).sqrt());
}

#[test]
fn a_draw_is_found_by_its_key() {
    let population = population(vec![group(1.0, 1.0)], Grouped::Processors);
    assert_eq!(population.draw(7, 5, 1, 3), population.draw(7, 5, 1, 3));
    let others = [(8, 5, 1, 3), (7, 6, 1, 3), (7, 5, 0, 3), (7, 5, 1, 4)];
    let rows = others.map(|(seed, node, socket, day)| population.draw(seed, node, socket, day));
    assert!(rows.iter().all(|row| *row != population.draw(7, 5, 1, 3)));
}

#[test]
fn groups_have_their_shares_and_nodes_stay_together() {
    let nodes = 10_000;
    let slow = |grouped| {
        let population = population(vec![group(0.9, 1.0), group(0.1, 2.0)], grouped);
        let slow = move |node, socket| population.processor(7, node, socket).seconds[1] > 1.05e-10;
        (0..nodes).map(|node| [slow(node, 0), slow(node, 1)]).collect::<Vec<_>>()
    };
    let share = |slow: &[[bool; 2]]| slow.iter().filter(|pair| pair[0]).count() as f64 / f64::from(nodes);
    let error = (0.1 * 0.9 / f64::from(nodes)).sqrt();
    let (single, together) = (slow(Grouped::Processors), slow(Grouped::Nodes));
    assert!((share(&single) - 0.1).abs() < 5.0 * error && (share(&together) - 0.1).abs() < 5.0 * error);
    assert!(together.iter().all(|pair| pair[0] == pair[1]) && single.iter().any(|pair| pair[0] != pair[1]));
}

#[test]
fn slopes_and_deviations_are_not_negative() {
    let wide = Group {
        share: 1.0,
        processors: MultivariateNormal::new(vec![1e-6; 4], matrix([[1.0; 4]; 4])).unwrap(),
        days: Days::alike(4),
    };
    let population = Population::new(&terms(), vec![wide], Grouped::Processors).unwrap();
    let rows: Vec<Row> = (0..100).map(|node| population.draw(1, node, 0, 0)).collect();
    assert!(rows.iter().all(|row| row.seconds[1] >= 0.0 && row.deviation.iter().all(|value| *value >= 0.0)));
    // A constant may be negative, as where a line bends.
    assert!(rows.iter().any(|row| row.seconds[0] < 0.0));
}

#[test]
fn a_day_of_processors_that_are_known() {
    let population = population(vec![group(1.0, 1.0)], Grouped::Processors);
    let known = Row { processor: Some((4, 1)), seconds: vec![1e-6, 1e-9], deviation: vec![0.0; 2], ..Row::default() };
    let mut kernel = super::super::Kernel::new(terms(), vec![population.expectation(), known.clone()]);
    kernel.population = Some(population.clone());
    let day = kernel.of_cluster(7, [(0, 0), (4, 1)]).on_day(7, 2);
    let rows: Vec<_> = day.rows.iter().map(|row| row.processor).collect();
    assert_eq!(rows, [None, Some((0, 0)), Some((4, 1))]);
    assert_eq!(day.rows[1], Row { processor: Some((0, 0)), ..population.draw(7, 0, 0, 2) });
    assert_eq!(day.rows[2], population.another_day(&known, 7, 4, 1, 2));
    assert!((day.rows[2].seconds[1] / 1e-9 - 1.0).abs() < 0.01 && day.rows[2].seconds[1] != 1e-9);
    let quiet = kernel.clone().without_noise().of_cluster(7, [(0, 0)]).on_day(7, 2);
    assert_eq!(quiet.rows[1].seconds, day.rows[1].seconds);
}

#[test]
fn what_is_no_population_is_an_error() {
    let message = |terms: &[Term], groups| {
        let error = Population::new(terms, groups, Grouped::Nodes).unwrap_err();
        assert!(!error.remedy().is_empty());
        error.to_string()
    };
    assert_eq!(message(&terms(), vec![]), "a population has at least one group");
    let shares = message(&terms(), vec![group(0.5, 1.0)]);
    assert_eq!(shares, "the shares of the groups add up to 0.5, or one is negative");
    assert_eq!(message(&terms()[..1], vec![group(1.0, 1.0)]), "4 coefficients for 1 terms");
    let few = Group { days: Days::alike(2), ..group(1.0, 1.0) };
    assert_eq!(message(&terms(), vec![few]), "2 coefficients for 2 terms");
}
