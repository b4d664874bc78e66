//! Arrays of any number of runs that are orthogonal or nearly so.
//!
//! H. Xu, "An algorithm for constructing orthogonal and nearly-orthogonal arrays with mixed levels and small runs",
//! Technometrics 44, 2002. Two rows are alike where they agree, each factor counting by its number of levels; the sum of
//! squares over all pairs of rows is least for orthogonal arrays, and how little it can be is known. Columns are added
//! one after the other: balanced, in random order, then improved by exchanging two entries as long as that helps.

use hpcast_engine::random::{Key, Stream};

use super::Fraction;

/// Arrays to choose from, unless one reaches the bound.
const ARRAYS: u32 = 20;
/// Orders of a new column to choose from.
const STARTS: u32 = 20;
/// Exchanges that are looked at for one column, about.
const EFFORT: usize = 20_000_000;

/// Levels, a row a run.
pub(super) fn array(counts: &[usize], runs: usize, seed: u64) -> Vec<Vec<usize>> {
    // Factors with many levels are the hardest to place.
    let mut order: Vec<usize> = (0..counts.len()).collect();
    order.sort_by_key(|&factor| std::cmp::Reverse(counts[factor]));
    let cost = runs.saturating_mul(runs).saturating_mul(counts.len());
    let arrays = ARRAYS.min(u32::try_from(EFFORT / cost.max(1)).unwrap_or(ARRAYS)).max(1);
    let mut best: Option<(u64, Builder)> = None;
    for number in 0..arrays {
        let mut builder = Builder::new(runs, Key::new(seed).purpose("array").word(number, 0));
        order.iter().for_each(|&factor| builder.add(counts[factor]));
        let unlike = builder.squares();
        let is_least = unlike <= bound(counts, runs);
        if best.as_ref().is_none_or(|(least, _)| unlike < *least) {
            best = Some((unlike, builder));
        }
        if is_least {
            break;
        }
    }
    let columns = best.map(|(_, builder)| builder.columns).unwrap_or_default();
    let mut rows = vec![vec![0; counts.len()]; runs];
    for (&factor, column) in order.iter().zip(&columns) {
        rows.iter_mut().zip(column).for_each(|(row, &level)| row[factor] = level);
    }
    rows
}

/// The least sum of squares that any array has.
fn bound(counts: &[usize], runs: usize) -> u64 {
    let (runs, factors) = (runs as u64, counts.len() as u64);
    let levels: u64 = counts.iter().map(|&count| count as u64).sum();
    let twice = (runs * factors).pow(2) + (levels - factors) * runs.pow(2);
    twice.saturating_sub(runs * levels.pow(2)) / 2
}

struct Builder {
    runs: usize,
    draws: Stream,
    columns: Vec<Vec<usize>>,
    /// How alike each two rows are, row by row.
    alike: Vec<u64>,
}

impl Builder {
    fn new(runs: usize, seed: u64) -> Builder {
        let draws = Key::new(seed).purpose("column");
        Builder { runs, draws, columns: Vec::new(), alike: vec![0; runs * runs] }
    }

    fn squares(&self) -> u64 {
        let pairs = (0..self.runs).flat_map(|i| (0..i).map(move |j| (i, j)));
        pairs.map(|(i, j)| self.alike[i * self.runs + j].pow(2)).sum()
    }

    fn add(&mut self, count: usize) {
        let cost = self.runs.pow(2).saturating_mul(self.runs / 4 + 1);
        let starts = STARTS.min(u32::try_from(EFFORT / cost.max(1)).unwrap_or(STARTS)).max(1);
        let number = self.columns.len() as u32;
        let mut best: Option<(i64, Vec<usize>)> = None;
        for start in 0..starts {
            let mut column: Vec<usize> = (0..self.runs).map(|run| run % count).collect();
            self.draws.shuffle(&mut column, number << 16 | start);
            self.improve(&mut column, count);
            let sum = self.agreement(&column);
            if best.as_ref().is_none_or(|(least, _)| sum < *least) {
                best = Some((sum, column));
            }
        }
        let Some((_, column)) = best else { return };
        for i in 0..self.runs {
            for j in (0..self.runs).filter(|&j| column[i] == column[j]) {
                self.alike[i * self.runs + j] += count as u64;
            }
        }
        self.columns.push(column);
    }

    fn like(&self, i: usize, j: usize) -> i64 {
        if i == j { 0 } else { self.alike[i * self.runs + j] as i64 }
    }

    /// How alike rows are that have the same level in the new column.
    fn agreement(&self, column: &[usize]) -> i64 {
        let pairs = (0..self.runs).flat_map(|i| (0..i).map(move |j| (i, j)));
        pairs.filter(|&(i, j)| column[i] == column[j]).map(|(i, j)| self.like(i, j)).sum()
    }

    /// Exchanges the best two entries as long as that helps.
    fn improve(&self, column: &mut [usize], count: usize) {
        // How alike a row is to all rows of a level.
        let mut sums = vec![0i64; self.runs * count];
        for i in 0..self.runs {
            (0..self.runs).for_each(|j| sums[i * count + column[j]] += self.like(i, j));
        }
        loop {
            let mut best = (0, 0, 0);
            for a in 0..self.runs {
                for b in (0..a).filter(|&b| column[a] != column[b]) {
                    let (p, q) = (column[a], column[b]);
                    let moved = |row: usize, from: usize, to: usize| sums[row * count + to] - sums[row * count + from];
                    let change = moved(a, p, q) + moved(b, q, p) - 2 * self.like(a, b);
                    if change < best.0 {
                        best = (change, a, b);
                    }
                }
            }
            let (change, a, b) = best;
            if change == 0 {
                return;
            }
            let (p, q) = (column[a], column[b]);
            for i in 0..self.runs {
                let change = self.like(i, b) - self.like(i, a);
                sums[i * count + p] += change;
                sums[i * count + q] -= change;
            }
            column.swap(a, b);
        }
    }
}

pub(super) fn describe(rows: &[Vec<usize>], counts: &[usize], names: &[usize]) -> Fraction {
    let times: Vec<Vec<usize>> = (0..counts.len())
        .map(|factor| {
            let mut times = vec![0; counts[factor]];
            rows.iter().for_each(|row| times[row[factor]] += 1);
            times
        })
        .collect();
    let spread =
        |times: &Vec<usize>| times.iter().max().zip(times.iter().min()).map_or(0, |(most, least)| most - least);
    let mut dependent = Vec::new();
    for j in 0..counts.len() {
        for i in 0..j {
            let v = dependence(rows, (i, j), (&times[i], &times[j]));
            if v > 1e-9 {
                dependent.push((names[i], names[j], v));
            }
        }
    }
    Fraction::NearlyOrthogonal { balanced: times.iter().all(|times| spread(times) <= 1), dependent }
}

/// H. Cramér's V, "Mathematical Methods of Statistics", 1946: the root of chi squared over the largest that it can be.
fn dependence(rows: &[Vec<usize>], (i, j): (usize, usize), times: (&[usize], &[usize])) -> f64 {
    let mut pairs = vec![0usize; times.0.len() * times.1.len()];
    rows.iter().for_each(|row| pairs[row[i] * times.1.len() + row[j]] += 1);
    let mut sum = 0.0;
    for (a, &one) in times.0.iter().enumerate() {
        for (b, &other) in times.1.iter().enumerate().filter(|(_, other)| **other > 0 && one > 0) {
            let expected = one as f64 * other as f64 / rows.len() as f64;
            sum += (pairs[a * times.1.len() + b] as f64 - expected).powi(2) / expected;
        }
    }
    (sum / (rows.len() as f64 * (times.0.len().min(times.1.len()) as f64 - 1.0))).sqrt()
}
