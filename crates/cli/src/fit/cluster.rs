//! `hpcast fit cluster`: how processors and days differ, from daily fits of a kernel.

use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use hpcast_calibrate::cluster::{self, Cluster, Columns, DailyFits, Spread, adopt};
use hpcast_calibrate::table::Table;
use hpcast_models::compute::population::Grouped;
use hpcast_models::compute::{ModelFile, Term, TermError};
use hpcast_platform::diagnostic::{Diagnostic, Source};
use hpcast_report::{Cell, Column, check_output};
use hpcast_units::count;

use super::{file_to_fill, made, number_nodes};
use crate::call_table::{pairs, unreadable};
use crate::failure::Failure;
use crate::{model, print};

/// Options of `hpcast fit cluster`.
#[derive(Args)]
pub(crate) struct FitCluster {
    /// Coefficients of a kernel, a row a processor and day: columns node, socket (or cpu), date, and the coefficients
    daily: PathBuf,
    /// What model files call the kernel, such as dgemm
    #[arg(long, value_name = "NAME")]
    kernel: String,
    /// The column with the coefficient of a term: M*N*K=mnk (default: intercept is that of 1, mnk that of M*N*K)
    #[arg(long, value_name = "TERM=COLUMN")]
    column: Vec<String>,
    /// The column with the coefficient of a term of the standard deviation (default: as mnk_residual or sigma_mnk)
    #[arg(long, value_name = "TERM=COLUMN")]
    deviation: Vec<String>,
    /// The column that tells days apart (default: date or day)
    #[arg(long, value_name = "COLUMN")]
    day: Option<String>,
    /// Groups of processors, at most; how many there are is decided by the BIC
    #[arg(long, default_value_t = GROUPS, value_name = "NUMBER")]
    groups: usize,
    /// Add the kernel to this model file; processors that it lists keep their coefficients, and get groups and days
    #[arg(long, value_name = "FILE.toml")]
    add_to: Option<PathBuf>,
    /// The model file to write
    #[arg(short, long, value_name = "FILE.toml")]
    output: PathBuf,
}

/// Groups most fits look for.
const GROUPS: usize = 4;

/// Adds what days change to the kernel of a file, from a table of daily fits with the usual names of columns.
pub(crate) fn add_days(file: &mut ModelFile, kernel: &str, source: &Arc<Source>) -> Result<(), Failure> {
    let table = |error| Failure::from(unreadable(source, &error));
    let columns = Columns::usual(&Table::header(&source.text).map_err(table)?);
    let daily = DailyFits::read(&source.text, &columns).map_err(table)?;
    let cluster = cluster::fit(&daily, GROUPS).map_err(|error| wrong(source, &error.to_string(), error.remedy()))?;
    if let Some(known) = file.kernels.get_mut(kernel) {
        *known = adopt(known, &cluster.kernel).map_err(|error| wrong(source, &error.to_string(), error.remedy()))?;
    }
    Ok(())
}

fn wrong(source: &Arc<Source>, message: &str, remedy: &str) -> Failure {
    Diagnostic::error(message, remedy).within(source).into()
}

impl FitCluster {
    pub(crate) fn run(&self) -> Result<(), Failure> {
        check_output(&self.output, [self.daily.as_path()])?;
        if self.groups == 0 {
            return Err(Failure::input("--groups: there is at least one group; write 1 or more"));
        }
        let source = Source::read(&self.daily)?;
        let table = |error| Failure::from(unreadable(&source, &error));
        let columns = self.columns(&Table::header(&source.text).map_err(table)?)?;
        let daily = DailyFits::read(&source.text, &columns).map_err(table)?;
        let cluster = cluster::fit(&daily, self.groups)
            .map_err(|error| Diagnostic::error(error.to_string(), error.remedy()).within(&source))?;
        let mut file = file_to_fill(self.add_to.as_deref(), &self.daily)?;
        file.made = Some(made(&self.daily, &source, daily.fits.len() as u64, file.made.take()));
        let text = describe(&cluster);
        number_nodes(&mut file, &cluster.kernel);
        let kernel = match file.kernels.get(&self.kernel) {
            Some(known) => adopt(known, &cluster.kernel).map_err(|error| {
                let file = self.add_to.as_deref().unwrap_or(&self.daily).display();
                Failure::input(format!("{file}: {error}; {}", error.remedy()))
            })?,
            None => cluster.kernel,
        };
        file.kernels.insert(self.kernel.clone(), kernel);
        model::write(&file, &self.output)?;
        print(&format!("written: {}\n\n{text}", self.output.display()))
    }

    fn columns(&self, header: &[String]) -> Result<Columns, Failure> {
        let mut columns = Columns::usual(header);
        if !self.column.is_empty() {
            columns.seconds = terms("--column", &self.column)?;
            columns.deviation.clear();
        }
        if !self.deviation.is_empty() {
            columns.deviation = terms("--deviation", &self.deviation)?;
        }
        columns.day = self.day.clone().unwrap_or(columns.day);
        if columns.seconds.is_empty() {
            return Err(Failure::input(format!(
                "no column is known to hold a coefficient; name them, such as `--column M*N*K={}`",
                header.last().map_or("slope", String::as_str),
            )));
        }
        if let Some((term, _)) =
            columns.deviation.iter().find(|(term, _)| !columns.seconds.iter().any(|(t, _)| t == term))
        {
            return Err(Failure::input(format!("--deviation: `{term}` is none of the terms; add it by --column")));
        }
        Ok(columns)
    }
}

fn terms(option: &str, texts: &[String]) -> Result<Vec<(Term, String)>, Failure> {
    let term = |(term, column): (String, String)| match term.parse() {
        Ok(term) => Ok((term, column)),
        Err(error) => {
            let error: TermError = error;
            Err(Failure::input(format!("{option}: {error}; {}", TermError::REMEDY)))
        }
    };
    let terms: Vec<(Term, String)> = pairs(option, texts)?.into_iter().map(term).collect::<Result<_, _>>()?;
    let is_there_twice = |(i, (term, _)): (usize, &(Term, String))| terms[..i].iter().any(|(other, _)| other == term);
    match terms.iter().enumerate().find(|item| is_there_twice(*item)) {
        Some((_, (term, _))) => Err(Failure::input(format!("{option}: `{term}` is there twice; write each term once"))),
        None => Ok(terms),
    }
}

/// What came of it, for people.
fn describe(cluster: &Cluster) -> String {
    let number = |number: usize| count(number as u64);
    let mut text = format!(
        "processors        {}, of {} nodes\ndays              {}\n",
        number(cluster.processors),
        number(cluster.nodes),
        number(cluster.days)
    );
    let population = cluster.kernel.population.as_ref();
    let groups = population.map_or(&[][..], |population| population.groups());
    let together = population.is_some_and(|population| population.grouped() == Grouped::Nodes);
    let shares: Vec<String> = groups.iter().map(|group| format!("{:.1} %", 100.0 * group.share)).collect();
    let of = if together { "nodes" } else { "processors" };
    let bic: Vec<String> = cluster.bic.iter().map(|bic| format!("{bic:.0}")).collect();
    text += &format!(
        "groups            {}: {} of the {of} (BIC of 1, 2, ... groups: {})\n\n",
        groups.len(),
        shares.join(", "),
        bic.join(", ")
    );
    let columns = [
        ("coefficient", "coefficient"),
        ("mean", "mean_seconds"),
        ("processors", "processors"),
        ("days: machine", "machine"),
        ("node", "node"),
        ("processor", "processor"),
        ("normal days", "normal"),
    ];
    let mut table = hpcast_report::Table::new(columns.map(|(header, key)| Column::new(header, key)));
    for spread in &cluster.spreads {
        table.push(row(spread));
    }
    text += &table.text();
    text +=
        "\nstandard deviations are parts of the mean; normal days: processors whose days may be normal (level 0.05)\n";
    for warning in &cluster.warnings {
        text += &format!("warning: {warning}\n");
    }
    text
}

fn row(spread: &Spread) -> [Cell; 7] {
    let name = if spread.is_deviation { format!("deviation {}", spread.term) } else { spread.term.to_string() };
    let part = |deviation: f64| match spread.mean {
        0.0 => Cell::Empty,
        mean => Cell::Share(deviation / mean.abs()),
    };
    [
        Cell::Text(name),
        Cell::Text(format!("{:.4e}", spread.mean)),
        part(spread.processors),
        part(spread.machine),
        part(spread.node),
        part(spread.processor),
        Cell::Text(format!("{} of {}", spread.normal, spread.tested)),
    ]
}
