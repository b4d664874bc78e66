use proptest::prelude::*;

use super::*;

fn columns<'a>(names: &[&'a str], values: &'a [Vec<f64>]) -> Vec<Column<'a>> {
    names.iter().zip(values).map(|(name, values)| Column { name, values }).collect()
}

fn assert_close(found: f64, expected: f64, tolerance: f64) {
    assert!((found - expected).abs() <= tolerance * expected.abs(), "{found:e} for {expected:e}");
}

/// J. W. Longley's data of the economy of the USA, 1967, whose columns are nearly dependent: a classical test. Data and
/// certified values: NIST Statistical Reference Datasets, Longley.
#[test]
fn longley_is_fitted_as_certified_by_nist() {
    let mut values: Vec<Vec<f64>> = (0..6).map(|i| LONGLEY.iter().map(|row| row[i + 1]).collect()).collect();
    values.insert(0, vec![1.0; LONGLEY.len()]);
    let employed: Vec<f64> = LONGLEY.iter().map(|row| row[0]).collect();
    let fit = fit(&columns(&["1", "B1", "B2", "B3", "B4", "B5", "B6"], &values), &employed, None).unwrap();
    for (estimate, (value, error)) in fit.estimates.iter().zip(CERTIFIED) {
        assert_close(estimate.value, value, 1e-8);
        assert_close(estimate.standard_error, error, 1e-8);
        assert_close(estimate.t, value / error, 1e-8);
    }
    assert_close(fit.residual_variance.sqrt(), 304.854073561965, 1e-10);
    assert_close(fit.r_squared, 0.995479004577296, 1e-10);
    assert_eq!(fit.freedom, 9);
    // scipy 1.17: 2 * stats.t.sf(4.1365, 9) with t in full.
    assert_close(fit.estimates[3].p, 0.0025350917341112255, 1e-8);
}

const CERTIFIED: [(f64, f64); 7] = [
    (-3482258.63459582, 890420.383607373),
    (15.0618722713733, 84.9149257747669),
    (-0.358191792925910E-01, 0.334910077722432E-01),
    (-2.02022980381683, 0.488399681651699),
    (-1.03322686717359, 0.214274163161675),
    (-0.511041056535807E-01, 0.226073200069370),
    (1829.15146461355, 455.478499142212),
];

/// Employment; deflator, GNP, unemployment, armed forces, population, year.
const LONGLEY: [[f64; 7]; 16] = [
    [60323.0, 83.0, 234289.0, 2356.0, 1590.0, 107608.0, 1947.0],
    [61122.0, 88.5, 259426.0, 2325.0, 1456.0, 108632.0, 1948.0],
    [60171.0, 88.2, 258054.0, 3682.0, 1616.0, 109773.0, 1949.0],
    [61187.0, 89.5, 284599.0, 3351.0, 1650.0, 110929.0, 1950.0],
    [63221.0, 96.2, 328975.0, 2099.0, 3099.0, 112075.0, 1951.0],
    [63639.0, 98.1, 346999.0, 1932.0, 3594.0, 113270.0, 1952.0],
    [64989.0, 99.0, 365385.0, 1870.0, 3547.0, 115094.0, 1953.0],
    [63761.0, 100.0, 363112.0, 3578.0, 3350.0, 116219.0, 1954.0],
    [66019.0, 101.2, 397469.0, 2904.0, 3048.0, 117388.0, 1955.0],
    [67857.0, 104.6, 419180.0, 2822.0, 2857.0, 118734.0, 1956.0],
    [68169.0, 108.4, 442769.0, 2936.0, 2798.0, 120445.0, 1957.0],
    [66513.0, 110.8, 444546.0, 4681.0, 2637.0, 121950.0, 1958.0],
    [68655.0, 112.6, 482704.0, 3813.0, 2552.0, 123366.0, 1959.0],
    [69564.0, 114.2, 502601.0, 3931.0, 2514.0, 125368.0, 1960.0],
    [69331.0, 115.7, 518173.0, 4806.0, 2572.0, 127852.0, 1961.0],
    [70551.0, 116.9, 554894.0, 4007.0, 2827.0, 130081.0, 1962.0],
];

/// Sizes of matrices up to 10,000, which make terms from 1 to 1e12.
fn sizes(rows: u64) -> impl Iterator<Item = [f64; 3]> {
    (1..=rows).map(|i| [i * 7919 % 9973 + 1, i * 104_729 % 9931 + 1, i * 1_299_709 % 9901 + 1].map(|x| x as f64))
}

#[test]
fn planted_coefficients_are_found_beside_terms_of_twelve_orders_of_magnitude() {
    let names = ["1", "M", "M*N", "M*K", "N*K", "M*N*K"];
    let planted = [1e-6, 3e-9, 2e-10, 2.5e-9, 3.4e-9, 7.4e-11];
    let mut values = vec![Vec::new(); 6];
    for [m, n, k] in sizes(1000) {
        values.iter_mut().zip([1.0, m, m * n, m * k, n * k, m * n * k]).for_each(|(column, x)| column.push(x));
    }
    let y: Vec<f64> = (0..1000).map(|i| (0..6).map(|j| planted[j] * values[j][i]).sum()).collect();
    let fit = fit(&columns(&names, &values), &y, None).unwrap();
    for (found, expected) in fit.coefficients().zip(planted) {
        // A microsecond beside 74 seconds: rounding of the values leaves eight digits.
        assert_close(found, expected, 1e-7);
    }
    assert!(fit.r_squared > 1.0 - 1e-14 && fit.estimates.iter().all(|estimate| estimate.p < 1e-9));
    assert_close(fit.at([1.0, 10.0, 20.0, 30.0, 40.0, 50.0]), 1e-6 + 3e-8 + 4e-9 + 7.5e-8 + 1.36e-7 + 3.7e-9, 1e-7);
}

/// Values of statsmodels 0.15: OLS and WLS of [1, 3, 2, 5, 4, 7] on x = 1..6, without and with a constant.
#[test]
fn r_squared_is_around_the_mean_only_where_there_is_a_constant() {
    let values = [vec![1.0; 6], (1..=6).map(f64::from).collect()];
    let y = [1.0, 3.0, 2.0, 5.0, 4.0, 7.0];
    let weights = [1.0, 2.0, 1.0, 0.5, 1.0, 4.0];
    for (names, values, weights, [slope, error, p, r_squared, variance]) in [
        (
            vec!["1", "x"],
            &values[..],
            None,
            [1.0285714285714294, 0.26238052026582703, 0.017245481149199344, 0.793469387755102, 1.2047619047619047],
        ),
        (
            vec!["1", "x"],
            &values[..],
            Some(&weights[..]),
            [1.1010558069381595, 0.20754005313622115, 0.006065542952717429, 0.8755672538832862, 1.5030165912518851],
        ),
        (
            vec!["x"],
            &values[1..],
            None,
            [1.0439560439560438, 0.10296885077030749, 0.00016002464339593105, 0.9536136939983094, 0.9648351648351647],
        ),
        (
            vec!["x"],
            &values[1..],
            Some(&weights[..]),
            [1.1128205128205129, 0.0785637008759899, 3.157701441579189e-05, 0.9756850556850557, 1.2035897435897431],
        ),
    ] {
        let fit = fit(&columns(&names, values), &y, weights).unwrap();
        let estimate = fit.estimates.last().unwrap();
        assert_close(estimate.value, slope, 1e-13);
        assert_close(estimate.standard_error, error, 1e-13);
        assert_close(estimate.p, p, 1e-11);
        assert_close(fit.r_squared, r_squared, 1e-13);
        assert_close(fit.residual_variance, variance, 1e-13);
    }
}

#[test]
fn a_weight_of_two_counts_as_a_row_given_twice_and_zero_as_none() {
    let x = vec![vec![1.0, 1.0, 1.0, 1.0, 1.0, 1.0], vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]];
    let y = [1.0, 3.0, 2.0, 5.0, 4.0, 100.0];
    let weighted = fit(&columns(&["1", "x"], &x), &y, Some(&[1.0, 2.0, 1.0, 1.0, 1.0, 0.0])).unwrap();
    let twice = vec![vec![1.0; 6], vec![1.0, 2.0, 2.0, 3.0, 4.0, 5.0]];
    let repeated = fit(&columns(&["1", "x"], &twice), &[1.0, 3.0, 3.0, 2.0, 5.0, 4.0], None).unwrap();
    for (one, other) in weighted.coefficients().zip(repeated.coefficients()) {
        assert_close(one, other, 1e-13);
    }
    assert_eq!((weighted.freedom, repeated.freedom), (3, 4));
}

#[test]
fn what_cannot_be_fitted_is_said() {
    let ones = vec![1.0; 5];
    let (x, doubled) = (vec![1.0, 2.0, 3.0, 4.0, 6.0], vec![3.0, 5.0, 7.0, 9.0, 13.0]);
    let y = [1.0, 2.0, 2.0, 3.0, 5.0];
    let error = |names: &[&str], values: &[&Vec<f64>], y: &[f64], weights| {
        let values: Vec<Vec<f64>> = values.iter().map(|&values| values.clone()).collect();
        let error = fit(&columns(names, &values), y, weights).unwrap_err();
        assert!(!error.remedy().is_empty());
        error.to_string()
    };
    assert_eq!(error(&["1", "N", "L"], &[&ones, &x, &doubled], &y, None), "`L` follows from `1`, `N` in every row");
    assert_eq!(error(&["0"], &[&vec![0.0; 5]], &y, None), "`0` is zero in every row");
    assert_eq!(error(&[], &[], &y, None), "there is no term to fit");
    let few = error(&["1", "N"], &[&ones, &x], &y, Some(&[0.0, 0.0, 1.0, 1.0, 0.0]));
    assert_eq!(few, "2 values cannot determine 2 coefficients and the noise around them");
    assert_eq!(error(&["1"], &[&vec![1.0; 4]], &y, None), "`1` has 4 values where there are 5 to explain");
    let nan = [1.0, 2.0, f64::NAN, 3.0, 5.0];
    assert_eq!(error(&["1"], &[&ones], &nan, None), "`values` is not a finite number in row 2");
    assert_eq!(error(&["N"], &[&nan.to_vec()], &y, None), "`N` is not a finite number in row 2");
    let negative = [1.0, -1.0, 1.0, 1.0, 1.0];
    assert_eq!(error(&["1"], &[&ones], &y, Some(&negative)), "the weight of row 1 is not a finite number from zero on");
}

#[test]
fn some_of_the_columns_are_fitted_as_if_the_others_were_not_there() {
    let values: Vec<Vec<f64>> = (0..3).map(|j| sizes(700).map(|size| size[j]).collect()).collect();
    let y: Vec<f64> = sizes(700).map(|[m, n, k]| 3.0 * m + n.sqrt() + k % 7.0).collect();
    let all = columns(&["M", "N", "K"], &values);
    let of_all = Problem::new(&all, &y, None).unwrap().fit_with(&[0, 2]).unwrap();
    let alone = fit(&[all[0], all[2]], &y, None).unwrap();
    for (one, other) in of_all.estimates.iter().zip(&alone.estimates) {
        assert_close(one.value, other.value, 1e-12);
        assert_close(one.standard_error, other.standard_error, 1e-12);
    }
    assert_close(of_all.r_squared, alone.r_squared, 1e-13);
}

proptest! {
    /// On harmless data the normal equations, solved by elimination, say the same.
    #[test]
    fn agrees_with_the_normal_equations(
        rows in prop::collection::vec((prop::array::uniform3(-1.0..1.0f64), -10.0..10.0f64, 0.1..5.0f64), 8..600)
    ) {
        let values: Vec<Vec<f64>> = (0..3).map(|j| rows.iter().map(|row| row.0[j]).collect()).collect();
        let y: Vec<f64> = rows.iter().map(|row| row.1).collect();
        let weights: Vec<f64> = rows.iter().map(|row| row.2).collect();
        let Ok(fit) = fit(&columns(&["a", "b", "c"], &values), &y, Some(&weights)) else { return Ok(()) };
        let mut normal = [[0.0; 4]; 3];
        for ((x, y, w), (i, j)) in rows.iter().flat_map(|row| (0..12).map(move |ij| (row, (ij / 4, ij % 4)))) {
            normal[i][j] += w * x[i] * if j < 3 { x[j] } else { *y };
        }
        let well_conditioned = fit.estimates.iter().all(|estimate| estimate.standard_error < 100.0);
        for (found, expected) in fit.coefficients().zip(gauss(normal)) {
            prop_assert!(!well_conditioned || (found - expected).abs() < 1e-8, "{} {}", found, expected);
        }
    }

    /// Residuals are orthogonal to the columns, whatever these are.
    #[test]
    fn residuals_are_orthogonal_to_the_columns(
        rows in prop::collection::vec((prop::array::uniform2(0.0..1e6f64), 0.0..1e3f64), 4..300)
    ) {
        let values: Vec<Vec<f64>> = (0..2).map(|j| rows.iter().map(|row| row.0[j]).collect()).collect();
        let y: Vec<f64> = rows.iter().map(|row| row.1).collect();
        let Ok(fit) = fit(&columns(&["a", "b"], &values), &y, None) else { return Ok(()) };
        let norm = |values: &[f64]| values.iter().map(|x| x * x).sum::<f64>().sqrt();
        for column in &values {
            let product: f64 = rows.iter().zip(column).map(|((x, y), value)| (y - fit.at(*x)) * value).sum();
            prop_assert!(product.abs() <= 1e-9 * norm(column) * norm(&y), "{}", product);
        }
    }
}

fn gauss(mut rows: [[f64; 4]; 3]) -> [f64; 3] {
    for i in 0..3 {
        for j in (0..3).filter(|&j| j != i) {
            let factor = rows[j][i] / rows[i][i];
            (0..4).for_each(|k| rows[j][k] -= factor * rows[i][k]);
        }
    }
    [0, 1, 2].map(|i| rows[i][3] / rows[i][i])
}
