//! Regular fractions of factorials of two levels.
//!
//! A factor is a column: a sum, modulo 2, of independent factors, written as the bits of a number. A word is a set of
//! columns whose sum is zero; the shortest one is the resolution. G. E. P. Box, J. S. Hunter, "The 2^(k-p) fractional
//! factorial designs", Technometrics 3, 1961.

use std::collections::BTreeMap;

use super::{Choice, Effect, Fraction, Generator, Wanted};
use crate::design::DesignError;

/// Steps of the search for one number of points and one resolution: about a tenth of a second.
const EFFORT: usize = 30_000_000;
/// As many factors are independent at most: tables have an entry a point.
const MOST_INDEPENDENT: usize = 16;
/// More factors are hardly screened by hand.
const MOST_FACTORS: usize = 64;
/// Words of up to this length are counted when fractions of one resolution are compared.
const LONGEST_WORD: usize = 6;

/// Factors as sums of independent ones; the first are these themselves.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Columns {
    pub independent: usize,
    columns: Vec<usize>,
    resolution: usize,
}

pub(super) fn choose(factors: usize, wanted: Wanted) -> Result<Choice, DesignError> {
    if factors > MOST_FACTORS {
        return Err(DesignError::TooManyFactors { factors, most: MOST_FACTORS });
    }
    let least = (factors + 1).next_power_of_two();
    let found = match wanted {
        Wanted::Runs(runs) if runs < least => return Err(DesignError::TooFewRuns { runs, least: least as u128 }),
        Wanted::Runs(runs) => {
            let independent = (runs.ilog2() as usize).min(MOST_INDEPENDENT);
            (3..=independent + 1).rev().find_map(|resolution| search(factors, independent, resolution))
        }
        Wanted::Resolution(resolution) => (least.ilog2() as usize..factors.min(MOST_INDEPENDENT + 1))
            .find_map(|independent| search(factors, independent, resolution)),
    };
    Ok(found.map_or(Choice::Whole, Choice::Regular))
}

/// Columns of at least this resolution, and of all that are met those with the fewest short words.
fn search(factors: usize, independent: usize, resolution: usize) -> Option<Columns> {
    let mut search = Search { factors, resolution, effort: EFFORT, best: None };
    let units: Vec<usize> = (0..independent).map(|i| 1 << i).collect();
    // The least number of columns of which each number is the sum.
    let terms: Vec<u8> = (0..1usize << independent).map(|sum| sum.count_ones() as u8).collect();
    search.extend(units, &terms, 1);
    let (words, columns) = search.best?;
    let shortest = words.iter().position(|&count| count > 0).map_or_else(|| shortest(&columns, independent), |i| i + 3);
    Some(Columns { independent, columns, resolution: shortest })
}

struct Search {
    factors: usize,
    resolution: usize,
    effort: usize,
    best: Option<(Vec<i128>, Vec<usize>)>,
}

impl Search {
    fn extend(&mut self, columns: Vec<usize>, terms: &[u8], from: usize) {
        if columns.len() == self.factors {
            self.effort = self.effort.saturating_sub(terms.len() * 4);
            let words = words(&columns, terms.len());
            if self.best.as_ref().is_none_or(|(best, _)| words < *best) {
                self.best = Some((words, columns));
            }
            return;
        }
        for column in from..terms.len() {
            if usize::from(terms[column]) + 1 < self.resolution {
                continue;
            }
            if self.effort < terms.len() {
                return;
            }
            self.effort -= terms.len();
            let with: Vec<u8> = (0..terms.len()).map(|sum| terms[sum].min(terms[sum ^ column] + 1)).collect();
            self.extend(columns.iter().copied().chain([column]).collect(), &with, column + 1);
        }
    }
}

/// How many words there are of length 3, 4, and so on.
///
/// Counting all words takes 2^p steps. Points, read as words of a code, are fewer, and MacWilliams' identity (F. J.
/// MacWilliams, Bell Syst. Tech. J. 42, 1963) leads from the one code to the other.
fn words(columns: &[usize], points: usize) -> Vec<i128> {
    let factors = columns.len();
    let mut weights = vec![0i128; factors + 1];
    for point in 0..points {
        let ones = columns.iter().filter(|&&column| (column & point).count_ones() % 2 == 1).count();
        weights[ones] += 1;
    }
    let count = |length| {
        let sum: i128 = weights.iter().zip(0..).map(|(count, ones)| count * krawtchouk(length, ones, factors)).sum();
        sum / points as i128
    };
    (3..=LONGEST_WORD.min(factors)).map(count).collect()
}

fn krawtchouk(length: usize, ones: usize, factors: usize) -> i128 {
    let sign = |j: usize| if j.is_multiple_of(2) { 1 } else { -1 };
    (0..=length).map(|j| sign(j) * binomial(ones, j) * binomial(factors - ones, length - j)).sum()
}

fn binomial(n: usize, k: usize) -> i128 {
    if k > n { 0 } else { (0..k).fold(1, |product, i| product * (n - i) as i128 / (i + 1) as i128) }
}

/// The length of the shortest word, where it is longer than those that are counted.
fn shortest(columns: &[usize], independent: usize) -> usize {
    let mut terms = vec![u8::MAX / 2; 1 << independent];
    terms[0] = 0;
    let mut shortest = usize::MAX;
    for &column in columns {
        shortest = shortest.min(usize::from(terms[column]) + 1);
        terms = (0..terms.len()).map(|sum| terms[sum].min(terms[sum ^ column] + 1)).collect();
    }
    shortest
}

impl Columns {
    /// A row a point: the levels of the factors.
    pub fn rows(&self) -> Vec<Vec<usize>> {
        let level = |point: usize, column: usize| (column & point).count_ones() as usize % 2;
        (0..1 << self.independent)
            .map(|point| self.columns.iter().map(|&column| level(point, column)).collect())
            .collect()
    }

    pub fn describe(&self, names: &[usize]) -> Fraction {
        let product =
            |column: usize| (0..self.independent).filter(|i| column >> i & 1 == 1).map(|i| names[i]).collect();
        let generators = (self.independent..self.columns.len())
            .map(|factor| Generator { factor: names[factor], product: product(self.columns[factor]) })
            .collect();
        Fraction::Regular { resolution: self.resolution, generators, aliases: self.aliases(names) }
    }

    fn aliases(&self, names: &[usize]) -> Vec<Vec<Effect>> {
        let mut effects: BTreeMap<usize, Vec<Effect>> = BTreeMap::new();
        for (i, column) in self.columns.iter().enumerate() {
            effects.entry(*column).or_default().push(vec![names[i]]);
        }
        for (j, b) in self.columns.iter().enumerate() {
            for (i, a) in self.columns[..j].iter().enumerate() {
                effects.entry(a ^ b).or_default().push(vec![names[i], names[j]]);
            }
        }
        effects.into_values().filter(|alike| alike.len() > 1).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(factors: usize, runs: usize) -> Columns {
        match choose(factors, Wanted::Runs(runs)).unwrap() {
            Choice::Regular(columns) => columns,
            _ => panic!("{factors} factors in {runs} runs"),
        }
    }

    /// D. C. Montgomery, "Design and Analysis of Experiments", table "selected 2^(k-p) fractional factorial designs".
    #[test]
    fn resolutions_are_those_of_the_textbook() {
        for (factors, runs, resolution) in [
            (3, 4, 3),
            (4, 8, 4),
            (5, 8, 3),
            (5, 16, 5),
            (6, 8, 3),
            (6, 16, 4),
            (6, 32, 6),
            (7, 8, 3),
            (7, 16, 4),
            (7, 32, 4),
            (7, 64, 7),
            (8, 16, 4),
            (8, 32, 4),
            (8, 64, 5),
            (9, 16, 3),
            (9, 32, 4),
            (9, 64, 4),
            (9, 128, 6),
            (10, 16, 3),
            (10, 32, 4),
            (10, 64, 4),
            (10, 128, 5),
            (11, 16, 3),
            (11, 32, 4),
            (11, 64, 4),
            (11, 128, 5),
            (15, 16, 3),
        ] {
            let columns = found(factors, runs);
            assert_eq!((columns.resolution, 1 << columns.independent), (resolution, runs), "{factors} in {runs}");
        }
    }

    /// Words of length 3 and 4 of fractions of minimum aberration: J. Chen, D. X. Sun, C. F. J. Wu, "A catalogue of
    /// two-level and three-level fractional factorial designs with small runs", Int. Stat. Rev. 61, 1993.
    #[test]
    fn few_words_are_short() {
        for (factors, runs, three, four) in [
            (5, 8, 2, 1),
            (6, 16, 0, 3),
            (7, 16, 0, 7),
            (8, 16, 0, 14),
            (9, 16, 4, 14),
            (7, 32, 0, 1),
            (8, 32, 0, 3),
            (9, 32, 0, 6),
            (10, 32, 0, 10),
            (9, 64, 0, 1),
            (10, 64, 0, 2),
        ] {
            let columns = found(factors, runs);
            assert_eq!(words(&columns.columns, runs)[..2], [three, four], "{factors} in {runs}");
        }
    }

    #[test]
    fn as_few_points_as_give_the_resolution() {
        for (factors, resolution, runs) in
            [(7, 3, 8), (8, 3, 16), (8, 4, 16), (6, 5, 32), (8, 5, 64), (11, 5, 128), (16, 4, 32)]
        {
            match choose(factors, Wanted::Resolution(resolution)).unwrap() {
                Choice::Regular(columns) => assert_eq!(1 << columns.independent, runs, "{factors} {resolution}"),
                _ => panic!("{factors} {resolution}"),
            }
        }
        assert!(matches!(choose(4, Wanted::Resolution(5)).unwrap(), Choice::Whole));
    }

    #[test]
    fn words_are_counted_right() {
        // 2^(7-4): the Hamming code has 7 words of each of the lengths 3 and 4, and one of 7.
        assert_eq!(words(&[1, 2, 4, 3, 5, 6, 7], 8), [7, 7, 0, 0]);
    }
}
