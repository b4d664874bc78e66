//! `hpcast fit roofline`: rate, bandwidth and overheads of a kernel, from measured calls.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use hpcast_calibrate::kernel::Calls;
use hpcast_calibrate::roofline;
use hpcast_models::compute::{KernelWork, Roofs, Term, TermError};
use hpcast_platform::diagnostic::{Diagnostic, Source};
use hpcast_report::check_output;

use super::{file_to_fill, made, number_nodes};
use crate::call_table::{CallData, CallOptions, pairs};
use crate::failure::Failure;
use crate::{model, print};

/// Options of `hpcast fit roofline`.
#[derive(Args)]
pub(crate) struct FitRoofline {
    /// Measured calls: a column for each argument, one for the duration, and, if processors differ, node and socket
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
    #[command(flatten)]
    columns: CallOptions,
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
        check_output(&self.output, [self.calls.as_path()])?;
        let source = Source::read(&self.calls)?;
        let work = self.work()?;
        let mut names: Vec<&str> = Vec::new();
        for name in work.terms().flat_map(Term::names) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        let data = CallData::read(&source, self.columns.layout(&source, &names, None)?)?;
        let all = data.calls(&names);
        let kept = self.kept(&all)?;
        let take = |values: &[f64]| -> Vec<f64> { kept.iter().map(|&row| values[row]).collect() };
        let values: Vec<Vec<f64>> = all.arguments.iter().map(|(_, values)| take(values)).collect();
        let arguments = all.arguments.iter().zip(&values);
        let calls = Calls {
            arguments: arguments.map(|((name, _), values)| (name.clone(), values.as_slice())).collect(),
            seconds: &take(all.seconds),
            processors: kept.iter().filter_map(|&row| all.processors.get(row).copied()).collect(),
        };
        let roofs = self.roofs.map(|roofs| match roofs {
            RoofsChoice::Longest => Roofs::Longest,
            RoofsChoice::Sum => Roofs::Sum,
        });
        let kernel = roofline::fit(&calls, &work, roofs)
            .map_err(|error| Diagnostic::error(error.to_string(), error.remedy()).within(&source))?;
        let mut file = file_to_fill(self.add_to.as_deref(), &self.calls)?;
        file.made = Some(made(&self.calls, &source, kept.len() as u64, file.made.take()));
        number_nodes(&mut file, &kernel);
        let text = model::details(&self.kernel, &kernel);
        file.kernels.insert(self.kernel.clone(), kernel);
        model::write(&file, &self.output)?;
        print(&format!("written: {}\n\n{text}", self.output.display()))
    }

    /// The calls whose arguments are multiples of what was asked for.
    fn kept(&self, calls: &Calls) -> Result<Vec<usize>, Failure> {
        let mut kept: Vec<usize> = (0..calls.seconds.len()).collect();
        for (argument, number) in pairs("--multiples", &self.multiples)? {
            let (_, values) = calls.arguments.iter().find(|(name, _)| *name == argument).ok_or_else(|| {
                let names: Vec<&str> = calls.arguments.iter().map(|(name, _)| name.as_str()).collect();
                Failure::input(format!(
                    "--multiples: there is no argument `{argument}`; there are {}",
                    names.join(", ")
                ))
            })?;
            let unit = number.parse().ok().filter(|unit: &u32| *unit > 0).ok_or_else(|| {
                Failure::input(format!("--multiples: `{number}` is no whole number above zero; write {argument}=2"))
            })?;
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
