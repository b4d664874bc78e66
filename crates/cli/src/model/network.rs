//! The network part of model files: what is shown of it, and published ones that become one.

use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use hpcast_calibrate::network::import;
use hpcast_models::compute::ModelFile;
use hpcast_models::network::{NetworkModel, RangeFit};
use hpcast_platform::diagnostic::Source;
use hpcast_platform::protocol::Piece;
use hpcast_report::{Cell, Column, Table, check_output};
use hpcast_units::{Bytes, Seconds};

use crate::call_table::in_table;
use crate::failure::Failure;
use crate::print;

/// Options of `hpcast model import-network`.
#[derive(Args)]
pub(crate) struct ImportNetwork {
    /// Table of SMPI's piecewise parameters (CSV), or mixtures by range of sizes (JSON)
    table: PathBuf,
    /// Which set of the table: its `platform_id`
    #[arg(long, value_name = "NAME")]
    set: Option<String>,
    /// Add to this model file instead of making a new one
    #[arg(long, value_name = "FILE.toml")]
    add_to: Option<PathBuf>,
    /// The model file to write
    #[arg(short, long, value_name = "FILE.toml")]
    output: PathBuf,
}

impl ImportNetwork {
    pub fn run(&self) -> Result<(), Failure> {
        check_output(&self.output, [self.table.as_path()])?;
        let source = Source::read(&self.table)?;
        let network = published_network(&source, self.set.as_deref())?;
        let name = self.table.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let from = self.set.as_ref().map_or_else(|| name.clone(), |set| format!("{name} (set {set})"));
        let mut file = match &self.add_to {
            Some(path) => ModelFile::load(path)?,
            None => ModelFile { name: from.clone(), ..ModelFile::default() },
        };
        let before = file.source.take().map_or_else(String::new, |source| format!("{source}; "));
        file.source = Some(format!("{before}network: {from}"));
        let text = show(&network);
        file.network = Some(file.network.take().unwrap_or_default().updated(network));
        super::write(&file, &self.output)?;
        print(&format!("written: {}\n\n{text}", self.output.display()))
    }
}

/// A set of SMPI's parameters, or mixtures, which have no sets.
pub(crate) fn published_network(source: &Arc<Source>, set: Option<&str>) -> Result<NetworkModel, Failure> {
    let is_json = source.text.trim_start().starts_with('{');
    let found = match set {
        Some(set) if !is_json => import::smpi_table(&source.text, set),
        None if is_json => import::mixtures(&source.text),
        Some(_) => return Err(Failure::input("--set is for tables; a file of mixtures holds only one set")),
        None => {
            return Err(Failure::input("a table holds several sets; choose one with --set, by its `platform_id`"));
        }
    };
    Ok(found.map_err(|error| in_table(source, error.line(), &error.to_string(), error.remedy()))?)
}

/// What messages cost, for people.
pub(crate) fn show(network: &NetworkModel) -> String {
    let mut text = String::new();
    for (what, size) in [("eager", network.eager_below), ("detached", network.detached_below)] {
        text.extend(size.map(|size| format!("messages of less than {} are {what}\n", Bytes::new(size))));
    }
    for (what, seconds) in [("probe", network.probe), ("test", network.test)] {
        text.extend(seconds.map(|seconds| format!("a {what} takes {}\n", Seconds::new(seconds).human())));
    }
    let columns = ["function", "above", "expected", "per byte", "modes"];
    let mut table = Table::new(columns.map(|name| Column::new(name, name)));
    for (place, protocol) in [("between", &network.between), ("inside", &network.inside)] {
        for (function, curve) in protocol.functions() {
            let is_factor = function.ends_with("factor");
            for piece in curve.pieces() {
                let value = |value: f64| match is_factor {
                    true => format!("{value:.4}"),
                    false => Seconds::new(value).human(),
                };
                let per_byte = if piece.per_byte == 0.0 { String::new() } else { value(piece.per_byte) };
                let cells = [
                    format!("{place} {function}"),
                    Bytes::new(piece.above).to_string(),
                    value(piece.base),
                    per_byte,
                    modes(piece),
                ];
                table.push(cells.map(Cell::Text));
            }
        }
    }
    text += &table.text();
    if let Some(fit) = &network.fit {
        let columns = ["measured", "above", "points", "sizes", "R squared", "mean error", "sure to +-"];
        let mut table = Table::new(columns.map(|name| Column::new(name, name)));
        for range in &fit.ranges {
            table.push([
                Cell::Text(range.function.replace('.', " ")),
                Cell::Text(Bytes::new(range.above).to_string()),
                Cell::Text(range.points.to_string()),
                Cell::Text(range.sizes.to_string()),
                Cell::Text(format!("{:.4}", range.r_squared)),
                Cell::Text(format!("{:.1} %", 100.0 * range.relative_error)),
                Cell::Text(sureness(network, range)),
            ]);
        }
        text += &format!("\n{}", table.text());
        fit.warnings.iter().for_each(|warning| text += &format!("warning: {warning}\n"));
    }
    text
}

/// The standard errors of a range's two figures, as parts of them: of base and seconds per byte, or of latency and bandwidth.
fn sureness(network: &NetworkModel, range: &RangeFit) -> String {
    let (Some([first, _, second]), Some(figures)) = (range.covariance, network.figures(range)) else {
        return "-".into();
    };
    let part = |variance: f64, figure: f64| match figure {
        0.0 => "0".into(),
        _ => format!("{:.2} %", 100.0 * variance.sqrt() / figure),
    };
    format!("{}, {}", part(first, figures[0]), part(second, figures[1]))
}

/// Share and mean of each mode.
fn modes(piece: &Piece) -> String {
    let mode = |mode: &hpcast_platform::protocol::Mode| {
        format!("{:.3} % {}", 100.0 * mode.share, Seconds::new(mode.mean).human())
    };
    piece.modes.iter().map(mode).collect::<Vec<_>>().join(", ")
}
