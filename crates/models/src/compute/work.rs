//! What kernels do: floating-point operations, bytes and steps, as functions of their arguments.
//!
//! `work.tsv` has them for double precision, without the letter of the type. Operations of the BLAS and of factorisations: S. Blackford,
//! J. Dongarra, "Installation guide for LAPACK", LAPACK Working Note 41, appendix C, terms of the highest order. Eigenvalues and
//! singular values: the standard counts of the LAPACK Users' Guide, and 9 N^3 for those of a symmetric matrix with vectors. A Fourier
//! transform of N points: the 5 N log2 N of FFTW's benchmarks. Bytes: what is read and written at least once.
//! S is the smaller of M and N or the order of a triangular matrix, J is 1 where vectors are asked for, L is log2 of the points.

use super::roofline::KernelWork;
use super::term::Term;

const TABLE: &str = include_str!("work.tsv");

impl KernelWork {
    /// Of a kernel of the BLAS, of LAPACK or of HPL's copies in double precision, or a Fourier transform (`dfft`).
    pub fn of(kernel: &str) -> Option<KernelWork> {
        if let Some(copies) = of_copies(kernel) {
            return Some(KernelWork { bytes: sum(copies), ..KernelWork::default() });
        }
        let stem = match kernel {
            "idamax" => "amax",
            _ => kernel.strip_prefix('d')?,
        };
        let line = TABLE.lines().find_map(|line| line.strip_prefix(stem)?.strip_prefix('\t'))?;
        let mut columns = line.split('\t').map(sum);
        let mut next = || columns.next().unwrap_or_default();
        Some(KernelWork { flops: next(), bytes: next(), steps: next() })
    }
}

/// Bytes that HPL's own copies move.
fn of_copies(kernel: &str) -> Option<&'static str> {
    match kernel {
        // One row in, up to three rows out.
        "dlocswpN" | "dlocswpT" => Some("32 N"),
        // Exchanges read and write both rows.
        "dlaswp00N" | "dlaswp10N" => Some("32 M*N"),
        "dlatcpy" => Some("16 M*N"),
        "dlaswp" => None,
        _ => kernel.starts_with("dlaswp").then_some("16 M*N"),
    }
}

/// A sum such as `2 M*N*K - 1/3 N^3`, or a single product.
fn sum(text: &str) -> Vec<(Term, f64)> {
    let mut sign = 1.0;
    let mut words = text.split_whitespace().peekable();
    let mut terms = Vec::new();
    while let Some(word) = words.next() {
        match word {
            "+" => sign = 1.0,
            "-" => sign = -1.0,
            _ => {
                let (factor, term) = match number(word) {
                    Some(factor) => (factor, words.next().unwrap_or("1")),
                    None => (1.0, word),
                };
                terms.extend(term.parse().ok().map(|term| (term, sign * factor)));
            }
        }
    }
    terms
}

fn number(word: &str) -> Option<f64> {
    match word.split_once('/') {
        Some((over, under)) => Some(over.parse::<f64>().ok()? / under.parse::<f64>().ok()?),
        None => word.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flops(kernel: &str, arguments: &[(&str, f64)]) -> f64 {
        let value = |name: &str| arguments.iter().find(|(known, _)| *known == name).expect("an argument").1;
        let work = KernelWork::of(kernel).expect("a kernel that is known");
        work.flops.iter().map(|(term, factor)| factor * term.value(value)).sum()
    }

    #[test]
    fn every_line_can_be_read() {
        for line in TABLE.lines() {
            let columns: Vec<&str> = line.split('\t').collect();
            assert_eq!(columns.len(), 4, "{line}");
            let kernel = if columns[0] == "amax" { "idamax".to_owned() } else { format!("d{}", columns[0]) };
            let work = KernelWork::of(&kernel).unwrap_or_else(|| panic!("{line}"));
            for (column, terms) in columns[1..].iter().zip([&work.flops, &work.bytes, &work.steps]) {
                let count = if column.is_empty() { 0 } else { column.matches([' ']).count().div_ceil(3).max(1) };
                assert_eq!(terms.len(), count, "{line}");
            }
        }
    }

    #[test]
    fn counts_are_those_of_the_working_note() {
        assert_eq!(flops("dgemm", &[("M", 2.0), ("N", 3.0), ("K", 5.0)]), 60.0);
        let square = flops("dgetrf", &[("M", 30.0), ("N", 30.0), ("S", 30.0)]);
        assert!((square - 2.0 / 3.0 * 27e3).abs() < 1e-9);
        let flat = flops("dgetrf", &[("M", 10.0), ("N", 30.0), ("S", 10.0)]);
        assert!((flat - (3e3 - 1e3 / 3.0)).abs() < 1e-9);
        let all = flops("dorgqr", &[("M", 10.0), ("N", 10.0), ("K", 10.0)]);
        assert!((all - 4.0 / 3.0 * 1e3).abs() < 1e-9);
        assert_eq!(flops("dfft", &[("N", 1024.0), ("L", 10.0)]), 51_200.0);
        assert!(KernelWork::of("dlaswp02N").is_some_and(|work| work.flops.is_empty()));
        assert!(KernelWork::of("unknown").is_none());
    }
}
