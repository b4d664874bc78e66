//! How many processes along each dimension of a grid (`MPI_Dims_create`).

use super::TopologyError;

/// Fills in the lengths that are zero, so that the grid has as many places as there are processes. The lengths filled in do
/// not rise, and are as close to each other as can be: the largest and the smallest differ least, and among such grids the
/// smallest lengths are largest. MPICH 4.0 gives the same.
pub fn dims_create(processes: i32, lengths: &mut [i32]) -> Result<(), TopologyError> {
    fill(processes, lengths, closest)
}

/// As [`dims_create`], but as Open MPI up to 4.1 goes about it: each prime factor, from the largest to the smallest, goes to
/// the dimension that is shortest so far. The lengths are often, not always, as close as can be (72 becomes 12 x 6).
pub fn dims_create_by_factors(processes: i32, lengths: &mut [i32]) -> Result<(), TopologyError> {
    fill(processes, lengths, by_factors)
}

fn fill(processes: i32, lengths: &mut [i32], split: fn(i64, usize) -> Vec<i64>) -> Result<(), TopologyError> {
    let mut fixed = 1_i64;
    for (dimension, &length) in lengths.iter().enumerate() {
        if length < 0 {
            return Err(TopologyError::Length { dimension, length });
        }
        fixed = fixed.saturating_mul(i64::from(length.max(1)));
    }
    let free = lengths.iter().filter(|&&length| length == 0).count();
    let all = i64::from(processes);
    if processes < 1 || all % fixed != 0 || (free == 0 && all != fixed) {
        return Err(TopologyError::Indivisible { processes, fixed });
    }
    if free > 0 {
        let parts = split(all / fixed, free);
        let places = lengths.iter_mut().filter(|length| **length == 0);
        places.zip(parts).for_each(|(length, part)| *length = part as i32);
    }
    Ok(())
}

fn by_factors(number: i64, parts: usize) -> Vec<i64> {
    let mut factors = Vec::new();
    let (mut rest, mut candidate) = (number, 2);
    while rest > 1 {
        if candidate * candidate > rest {
            candidate = rest;
        }
        while rest % candidate == 0 {
            factors.push(candidate);
            rest /= candidate;
        }
        candidate += 1;
    }
    let mut lengths = vec![1; parts];
    for factor in factors.into_iter().rev() {
        if let Some(shortest) = lengths.iter_mut().min() {
            *shortest *= factor;
        }
    }
    lengths.sort_unstable_by(|one, other| other.cmp(one));
    lengths
}

fn closest(number: i64, parts: usize) -> Vec<i64> {
    let mut low: Vec<i64> = (1..).take_while(|d| d * d <= number).filter(|d| number % d == 0).collect();
    let high: Vec<i64> = low.iter().rev().map(|d| number / d).filter(|d| d * d > number).collect();
    low.extend(high);
    let mut search = Search { divisors: low, chosen: Vec::with_capacity(parts), best: Vec::new() };
    search.split(number, parts);
    search.best
}

/// Looks through the ways to write a number as a product of divisors that do not rise, and leaves out those that cannot be
/// better than the best so far.
struct Search {
    /// All divisors of the number, rising.
    divisors: Vec<i64>,
    chosen: Vec<i64>,
    best: Vec<i64>,
}

impl Search {
    fn split(&mut self, rest: i64, parts: usize) {
        if parts == 1 {
            self.chosen.push(rest);
            if self.chosen.len() == 1 || rest <= self.chosen[self.chosen.len() - 2] {
                self.keep_if_better();
            }
            self.chosen.pop();
            return;
        }
        // The largest of the rest is not below their geometric mean, the smallest not above it.
        let mean = root(rest, parts as u32);
        let limit = self.chosen.last().copied().unwrap_or(i64::MAX);
        for i in 0..self.divisors.len() {
            let part = self.divisors[i];
            if part < mean || rest % part != 0 {
                continue;
            }
            let largest = self.chosen.first().copied().unwrap_or(part);
            let smallest = root(rest / part, parts as u32 - 1);
            let hopeless = self.difference().is_some_and(|best| largest - smallest > best);
            // A larger part leaves less for the others.
            if part > limit || hopeless {
                break;
            }
            self.chosen.push(part);
            self.split(rest / part, parts - 1);
            self.chosen.pop();
        }
    }

    /// The largest less the smallest of the best so far.
    fn difference(&self) -> Option<i64> {
        Some(self.best.first()? - self.best.last()?)
    }

    fn keep_if_better(&mut self) {
        let difference = self.chosen[0] - self.chosen[self.chosen.len() - 1];
        let better = match self.difference() {
            None => true,
            Some(best) => {
                difference < best || (difference == best && self.chosen.iter().rev().gt(self.best.iter().rev()))
            }
        };
        if better {
            self.best.clone_from(&self.chosen);
        }
    }
}

/// The root, rounded down.
fn root(number: i64, degree: u32) -> i64 {
    let mut guess = (number as f64).powf(1.0 / f64::from(degree)) as i64;
    while (guess + 1).checked_pow(degree).is_some_and(|power| power <= number) {
        guess += 1;
    }
    while guess.checked_pow(degree).is_none_or(|power| power > number) {
        guess -= 1;
    }
    guess
}

#[cfg(test)]
mod tests {
    use super::*;

    fn created(processes: i32, dimensions: usize) -> Vec<i32> {
        let mut lengths = vec![0; dimensions];
        dims_create(processes, &mut lengths).unwrap();
        lengths
    }

    fn by_factors(processes: i32, dimensions: usize) -> Vec<i32> {
        let mut lengths = vec![0; dimensions];
        dims_create_by_factors(processes, &mut lengths).unwrap();
        lengths
    }

    /// The examples of the standard (section 7.5.2).
    #[test]
    fn examples_of_the_standard() {
        assert_eq!(created(6, 2), [3, 2]);
        assert_eq!(created(7, 2), [7, 1]);
        let mut lengths = [0, 3, 0];
        dims_create(6, &mut lengths).unwrap();
        assert_eq!(lengths, [2, 3, 1]);
        let mut lengths = [0, 3, 0];
        assert_eq!(dims_create(7, &mut lengths), Err(TopologyError::Indivisible { processes: 7, fixed: 3 }));
        assert_eq!(lengths, [0, 3, 0]);
    }

    /// Taken from Open MPI 4.1.4 and MPICH 4.0.2, where they differ and where they do not.
    #[test]
    fn results_of_libraries() {
        for (processes, mpich, open_mpi) in [
            (72, &[9, 8][..], &[12, 6][..]),
            (240, &[16, 15], &[20, 12]),
            (432, &[9, 8, 6], &[12, 6, 6]),
            (504, &[9, 8, 7], &[12, 7, 6]),
            (360, &[10, 6, 6], &[10, 6, 6]),
            (1024, &[32, 32], &[32, 32]),
            (1024, &[16, 8, 8], &[16, 8, 8]),
            (1000, &[10, 10, 10], &[10, 10, 10]),
            (97, &[97, 1, 1, 1], &[97, 1, 1, 1]),
            (1, &[1, 1, 1, 1, 1], &[1, 1, 1, 1, 1]),
        ] {
            assert_eq!(created(processes, mpich.len()), mpich);
            assert_eq!(by_factors(processes, open_mpi.len()), open_mpi);
        }
    }

    #[test]
    fn no_grid_is_closer() {
        for processes in 1..=200 {
            for a in 1..=processes {
                for b in (1..=processes / a).filter(|b| processes % (a * b) == 0) {
                    let c = processes / a / b;
                    let best = created(processes, 3);
                    assert!(best.is_sorted_by(|one, next| one >= next) && best.iter().product::<i32>() == processes);
                    let (largest, smallest) = (a.max(b).max(c), a.min(b).min(c));
                    assert!(best[0] - best[2] <= largest - smallest, "{processes}: {best:?} or {a} {b} {c}");
                }
            }
        }
    }

    #[test]
    fn many_dimensions_of_numbers_with_many_divisors_are_quick() {
        assert_eq!(created(720_720, 5).iter().product::<i32>(), 720_720);
        assert_eq!(created(1 << 30, 10), [8; 10]);
        assert_eq!(created(2_095_133_040, 8).iter().map(|&length| i64::from(length)).product::<i64>(), 2_095_133_040);
    }

    #[test]
    fn wrong_lengths_are_refused() {
        assert_eq!(dims_create(4, &mut [-1, 0]), Err(TopologyError::Length { dimension: 0, length: -1 }));
        assert_eq!(dims_create(4, &mut [2, 3]), Err(TopologyError::Indivisible { processes: 4, fixed: 6 }));
        assert_eq!(dims_create(4, &mut [2, 2]), Ok(()));
        assert!(dims_create(0, &mut [0]).is_err());
    }
}
