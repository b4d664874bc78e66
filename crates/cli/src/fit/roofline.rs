//! `hpcast fit roofline`: rate, bandwidth and overheads of a kernel, from measured calls.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use hpcast_calibrate::kernel::Calls;
use hpcast_calibrate::roofline;
use hpcast_calibrate::table::Table;
use hpcast_models::compute::{KernelWork, Roofs, Term, TermError};
use hpcast_platform::diagnostic::{Diagnostic, Source};
use hpcast_report::check_writable;

use super::{file_to_fill, made};
use crate::call_table::{pairs, unreadable};
use crate::failure::Failure;
use crate::{model, print};

/// Options of `hpcast fit roofline`.
#[derive(Args)]
pub(crate) struct FitRoofline {
    /// Measured calls: a column for each argument, and one for the duration
    calls: PathBuf,
    /// What model files call the kernel; what those of the BLAS do is known
    #[arg(long, value_name = "NAME")]
    kernel: String,
    /// Operations of a call, term by term, if it is none of the BLAS: M*N=2
    #[arg(long, value_name = "TERM=NUMBER", value_delimiter = ',')]
    flops: Vec<String>,
    /// Bytes that a call reads and writes, likewise
    #[arg(long, value_name = "TERM=NUMBER", value_delimiter = ',')]
    bytes: Vec<String>,
    /// Steps of a call that wait for the one before, likewise
    #[arg(long, value_name = "TERM=NUMBER", value_delimiter = ',')]
    steps: Vec<String>,
    /// How arithmetic and traffic go together (default: what fits better)
    #[arg(long, value_enum)]
    roofs: Option<RoofsChoice>,
    /// The column of an argument, if it has another name: S=m
    #[arg(long, value_name = "ARGUMENT=COLUMN")]
    argument: Vec<String>,
    /// The column of durations, in seconds (default: seconds, duration or time)
    #[arg(long, value_name = "COLUMN")]
    seconds: Option<String>,
    /// Only rows whose column has this value: function=dgemm
    #[arg(long, value_name = "COLUMN=VALUE")]
    only: Vec<String>,
    /// Only calls whose argument is a multiple of this, such as M=2: those with aligned matrices
    #[arg(long, value_name = "ARGUMENT=NUMBER", value_delimiter = ',')]
    multiples: Vec<String>,
    /// Add the kernel to this model file instead of making a new one
    #[arg(long, value_name = "FILE.toml")]
    add_to: Option<PathBuf>,
    /// The model file to write
    #[arg(short, long, value_name = "FILE.toml")]
    output: PathBuf,
}

#[derive(Clone, Copy, ValueEnum)]
enum RoofsChoice {
    /// At the same time: the longer one counts
    Longest,
    /// One after the other: both count
    Sum,
}

impl FitRoofline {
    pub(crate) fn run(&self) -> Result<(), Failure> {
        check_writable(&self.output)?;
        let source = Source::read(&self.calls)?;
        let work = self.work()?;
        let renamed = pairs("--argument", &self.argument)?;
        let mut names: Vec<String> = Vec::new();
        for name in work.terms().flat_map(Term::names) {
            if !names.iter().any(|known| known == name) {
                names.push(name.to_owned());
            }
        }
        let column = |name: &String| {
            let renamed = renamed.iter().find(|(argument, _)| argument == name).map(|(_, column)| column);
            renamed.unwrap_or(name).clone()
        };
        let table_error = |error| Failure::from(unreadable(&source, &error));
        let header = Table::header(&source.text).map_err(table_error)?;
        let usual = ["seconds", "duration", "time"];
        let is_there = |name: &&&str| header.iter().any(|column| column.eq_ignore_ascii_case(name));
        let seconds = self.seconds.as_deref().or(usual.iter().find(is_there).copied()).unwrap_or(usual[0]);
        let columns: Vec<String> = names.iter().map(column).collect();
        let mut wanted: Vec<&str> = columns.iter().map(String::as_str).collect();
        wanted.push(seconds);
        let only = pairs("--only", &self.only)?;
        let table = Table::read(&source.text, &wanted, &only).map_err(table_error)?;
        let kept = self.kept(&table, &names, &columns)?;
        let take = |column: &str| -> Result<Vec<f64>, Failure> {
            let values = table.column(column).map_err(table_error)?;
            Ok(kept.iter().map(|&row| values[row]).collect())
        };
        let durations = take(seconds)?;
        let values = columns.iter().map(|column| take(column)).collect::<Result<Vec<_>, _>>()?;
        let arguments = names.into_iter().zip(values.iter().map(Vec::as_slice)).collect();
        let calls = Calls { arguments, seconds: &durations, processors: Vec::new() };
        let roofs = self.roofs.map(|roofs| match roofs {
            RoofsChoice::Longest => Roofs::Longest,
            RoofsChoice::Sum => Roofs::Sum,
        });
        let kernel = roofline::fit(&calls, &work, roofs)
            .map_err(|error| Diagnostic::error(error.to_string(), error.remedy()).within(&source))?;
        let mut file = file_to_fill(self.add_to.as_deref(), &self.calls)?;
        file.made = Some(made(&self.calls, &source, kept.len() as u64, file.made.take()));
        let text = model::details(&self.kernel, &kernel);
        file.kernels.insert(self.kernel.clone(), kernel);
        model::write(&file, &self.output)?;
        print(&format!("written: {}\n\n{text}", self.output.display()))
    }

    /// The rows whose arguments are multiples of what was asked for.
    fn kept(&self, table: &Table, names: &[String], columns: &[String]) -> Result<Vec<usize>, Failure> {
        let mut kept: Vec<usize> = (0..table.rows()).collect();
        for (argument, number) in pairs("--multiples", &self.multiples)? {
            let place = names.iter().position(|name| *name == argument).ok_or_else(|| {
                Failure::input(format!(
                    "--multiples: there is no argument `{argument}`; there are {}",
                    names.join(", ")
                ))
            })?;
            let unit = number.parse().ok().filter(|unit: &u32| *unit > 0).ok_or_else(|| {
                Failure::input(format!("--multiples: `{number}` is no whole number above zero; write {argument}=2"))
            })?;
            let values = table.column(&columns[place]).unwrap_or_default();
            kept.retain(|&row| values[row] % f64::from(unit) == 0.0);
        }
        if kept.is_empty() {
            return Err(Failure::input("--multiples: the table has no such calls; take back a condition"));
        }
        Ok(kept)
    }

    fn work(&self) -> Result<KernelWork, Failure> {
        let given = KernelWork {
            flops: sum("--flops", &self.flops)?,
            bytes: sum("--bytes", &self.bytes)?,
            steps: sum("--steps", &self.steps)?,
        };
        if given != KernelWork::default() {
            return Ok(given);
        }
        KernelWork::of(&self.kernel).ok_or_else(|| {
            let kernel = &self.kernel;
            Failure::input(format!("nothing says what `{kernel}` does; add --flops and --bytes, such as --flops M*N=2"))
        })
    }
}

fn sum(option: &str, texts: &[String]) -> Result<Vec<(Term, f64)>, Failure> {
    let mut sum: Vec<(Term, f64)> = Vec::new();
    for (term, number) in pairs(option, texts)? {
        let term: Term = term
            .parse()
            .map_err(|error: TermError| Failure::input(format!("{option}: {error}; {}", TermError::REMEDY)))?;
        let factor = number.parse().ok().filter(|factor: &f64| factor.is_finite() && *factor >= 0.0);
        let wrong = || Failure::input(format!("{option}: `{number}` is no number that can be used; write M*N=2"));
        if sum.iter().any(|(known, _)| *known == term) {
            return Err(Failure::input(format!("{option}: `{term}` is there twice; write each term once")));
        }
        sum.push((term, factor.ok_or_else(wrong)?));
    }
    Ok(sum)
}
