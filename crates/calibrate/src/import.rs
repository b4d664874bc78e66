//! Published model sets as model files: the CSV tables of T. Cornebize's thesis.
//!
//! A dgemm table has one row a processor (columns `model_id`, `node`, `cpu`, and the coefficients) or one row a node
//! (columns `cluster_id`, `node`, `mnk`, `intercept`, `mnk_residual`); a kernel table has one row a kernel.

use std::collections::BTreeMap;

use hpcast_models::compute::{Kernel, Row, Term};

use crate::table::{TableError, TextRow, TextTable};

/// A table that cannot be read as models.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ImportError {
    /// Not such a table.
    #[error(transparent)]
    Table(#[from] TableError),
    /// No rows of that set.
    #[error("there is no set `{wanted}`; the file has {}", .sets.join(", "))]
    NoSet {
        /// The set asked for.
        wanted: String,
        /// What there is.
        sets: Vec<String>,
    },
}

impl ImportError {
    /// The line in question.
    pub fn line(&self) -> Option<u64> {
        match self {
            ImportError::Table(error) => error.line(),
            ImportError::NoSet { .. } => None,
        }
    }

    /// What to do about it.
    pub fn remedy(&self) -> &'static str {
        match self {
            ImportError::Table(TableError::NoColumn { .. }) => {
                "name a table of models whose first line names its columns"
            }
            ImportError::Table(error) => error.remedy(),
            ImportError::NoSet { .. } => "choose one of them with --set",
        }
    }
}

/// The rows of one set.
fn rows_of<'t>(table: &'t TextTable, column: &str, wanted: &str) -> Result<Vec<&'t TextRow>, ImportError> {
    let column = table.place(column)?;
    let rows: Vec<_> = table.rows.iter().filter(|row| row.cells[column] == wanted).collect();
    if rows.is_empty() {
        let mut sets: Vec<String> = table.rows.iter().map(|row| row.cells[column].clone()).collect();
        sets.dedup();
        return Err(ImportError::NoSet { wanted: wanted.into(), sets });
    }
    Ok(rows)
}

/// Reads one set of dgemm models.
pub fn import_dgemm(text: &str, set: &str) -> Result<Kernel, ImportError> {
    let table = TextTable::read(text)?;
    if table.place("cluster_id").is_ok() { import_synthetic(&table, set) } else { import_processors(&table, set) }
}

fn terms(names: &[&str]) -> Vec<Term> {
    names.iter().filter_map(|name| name.parse().ok()).collect()
}

/// One row a processor; node -1 is the row for all others.
fn import_processors(table: &TextTable, set: &str) -> Result<Kernel, ImportError> {
    const COLUMNS: [[&str; 2]; 5] = [
        ["intercept", "sigma_intercept"],
        ["mnk", "sigma_mnk"],
        ["mn", "sigma_mn"],
        ["mk", "sigma_mk"],
        ["nk", "sigma_nk"],
    ];
    let mut rows = vec![];
    for row in rows_of(table, "model_id", set)? {
        let numbers = |which: usize| -> Result<Vec<f64>, TableError> {
            COLUMNS.iter().map(|columns| table.number(row, columns[which])).collect()
        };
        let (node, socket) = (table.number(row, "node")?, table.number(row, "cpu")?);
        let processor = (node >= 0.0).then_some((node as u32, socket as u32));
        check_new(&rows, processor, row.line)?;
        rows.push(Row { processor, seconds: numbers(0)?, deviation: numbers(1)?, ..Row::default() });
    }
    rows.sort_by_key(|row| row.processor);
    Ok(Kernel::new(terms(&["1", "M*N*K", "M*N", "M*K", "N*K"]), Row::with_mean(rows)))
}

/// One row a node, of a synthetic cluster (thesis chapter 7).
fn import_synthetic(table: &TextTable, set: &str) -> Result<Kernel, ImportError> {
    let mut rows = vec![];
    for row in rows_of(table, "cluster_id", set)? {
        let processor = Some((table.number(row, "node")? as u32, 0));
        check_new(&rows, processor, row.line)?;
        rows.push(Row {
            processor,
            seconds: vec![table.number(row, "intercept")?, table.number(row, "mnk")?],
            deviation: vec![0.0, table.number(row, "mnk_residual")?],
            ..Row::default()
        });
    }
    Ok(Kernel::new(terms(&["1", "M*N*K"]), Row::with_mean(rows)))
}

/// A processor has one row.
fn check_new(rows: &[Row], processor: Option<(u32, u32)>, line: u64) -> Result<(), ImportError> {
    if rows.iter().any(|row| row.processor == processor) {
        return Err(TableError::Malformed { line, problem: "this processor is there twice".into() }.into());
    }
    Ok(())
}

/// The other kernels of a published table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct KernelTable {
    /// By name.
    pub kernels: BTreeMap<String, Kernel>,
}

impl KernelTable {
    /// Reads a table of kernels: a coefficient with its deviation, times a product of arguments. Kernels without a size
    /// take no time; rows that say nothing of their own (dgemm, matrix generation) are left out.
    pub fn read(text: &str) -> Result<KernelTable, ImportError> {
        let table = TextTable::read(text)?;
        let (name, model) = (table.place("kernel")?, table.place("model")?);
        let size = table.place("size_expression")?;
        let mut kernels = BTreeMap::new();
        for row in &table.rows {
            let kernel = row.cells[name].trim_start_matches("HPL_").to_owned();
            if kernel == "dgemm" || kernel.contains(' ') {
                continue;
            }
            let model = match row.cells[model].as_str() {
                "no-op" | "no simulated time" => Kernel::free(),
                _ => {
                    let term = match row.cells[size].as_str() {
                        // Side left or right: the order of the triangular matrix is called S here.
                        "M*M*N if Side==Left else M*N*N" => "M*N*S",
                        "M1*N" => "M*N",
                        other => other,
                    };
                    let term = term
                        .parse::<Term>()
                        .map_err(|error| TableError::Malformed { line: row.line, problem: error.to_string() })?;
                    let seconds = vec![table.number(row, "coef_expectation_s")?];
                    let deviation = vec![table.number(row, "coef_stddev_s")?];
                    Kernel::new(vec![term], vec![Row { seconds, deviation, ..Row::default() }])
                }
            };
            kernels.insert(kernel, model);
        }
        Ok(KernelTable { kernels })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hpcast_models::compute::{Arguments, BoundKernel};

    const DGEMM: &str =
        "model_id,cpu_id,node,cpu,intercept,mnk,mn,mk,nk,sigma_intercept,sigma_mnk,sigma_mn,sigma_mk,sigma_nk
a,2,1,0,5e-07,7e-11,-5e-10,1e-9,2e-9,6e-7,1e-12,1e-10,1e-10,9e-11
a,-1,-1,-1,1e-07,6e-11,0,0,0,0,0,0,0,0
b,2,1,0,1,2,3,4,5,0,0,0,0,0
b,3,1,1,3,2,3,4,5,0,0,0,0,0
";

    #[test]
    fn a_set_of_processors() {
        let kernel = import_dgemm(DGEMM, "a").unwrap();
        let bound = BoundKernel::new(&kernel, &["M", "N", "K"]).unwrap();
        assert_eq!(bound.expectation(0, &Arguments::new([10.0; 3])), 1e-7 + 6e-8);
        assert_eq!(kernel.rows[1].processor, Some((1, 0)));
        assert_eq!(kernel.rows[1].deviation, [6e-7, 1e-12, 1e-10, 1e-10, 9e-11]);
    }

    #[test]
    fn without_a_row_for_others_it_is_the_mean() {
        let kernel = import_dgemm(DGEMM, "b").unwrap();
        let mean = Row { seconds: vec![2.0, 2.0, 3.0, 4.0, 5.0], deviation: vec![0.0; 5], ..Row::default() };
        assert_eq!(kernel.rows[0], mean);
        assert!(!kernel.is_noisy());
    }

    #[test]
    fn a_synthetic_cluster() {
        let table = "cluster_id,node,mnk,intercept,mnk_residual,avg_gflops\n1,0,2e-12,4e-6,8e-14,879\n2,0,1,2,3,4\n";
        let kernel = import_dgemm(table, "1").unwrap();
        let (processor, seconds, deviation) = (Some((0, 0)), vec![4e-6, 2e-12], vec![0.0, 8e-14]);
        assert_eq!(kernel.rows[1], Row { processor, seconds, deviation, ..Row::default() });
    }

    #[test]
    fn other_kernels() {
        let table = "kernel,model,coef_expectation_s,coef_stddev_s,size_expression,note
dgemm,polynomial+noise,see,see,x,
dtrsm,coef*size,5e-11,3e-12,M*M*N if Side==Left else M*N*N,
daxpy,constant,6e-07,9e-07,1,
HPL_dlaswp04T,coef*size,8e-09,2e-09,M1*N,
dswap,no-op,0,0,0,
matrix generation,removed,0,0,0,
";
        let kernels = KernelTable::read(table).unwrap().kernels;
        assert_eq!(kernels.keys().collect::<Vec<_>>(), ["daxpy", "dlaswp04T", "dswap", "dtrsm"]);
        let dtrsm = BoundKernel::new(&kernels["dtrsm"], &["M", "N", "S"]).unwrap();
        assert_eq!(dtrsm.expectation(0, &Arguments::new([2.0, 3.0, 2.0])), 12.0 * 5e-11);
        assert_eq!(kernels["dswap"], Kernel::free());
    }

    #[test]
    fn what_cannot_be_read_is_said() {
        let message = |text: &str, set: &str| import_dgemm(text, set).unwrap_err().to_string();
        assert_eq!(message(DGEMM, "c"), "there is no set `c`; the file has a, b");
        assert_eq!(message(&DGEMM.replace("5e-07", "x"), "a"), "line 2: `x` in column `intercept` is no number");
        assert_eq!(message(&DGEMM.replace("a,-1,-1,-1", "a,2,1,0"), "a"), "line 3: this processor is there twice");
        assert_eq!(
            message(&DGEMM.replace("mnk", "mmm"), "a"),
            "there is no column `mnk`; the columns are model_id, cpu_id, node, cpu, intercept, mmm, mn, mk, nk, sigma_intercept, sigma_mmm, \
             sigma_mn, sigma_mk, sigma_nk"
        );
        assert_eq!(message("model_id,node\na\n", "a"), "line 2: 1 columns where the header has 2");
    }
}
