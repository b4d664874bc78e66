//! How results look: text for the terminal, tables, CSV, JSON, plots, Gantt charts, traces.
//!
//! A run becomes a [`RunReport`] ([`Totals`] adds up the simulations it consists of), which prints as text
//! ([`text::summary`]), CSV ([`csv::table`]) and JSON ([`json::document`]). [`plot`] and [`gantt`] draw SVG with nothing
//! outside the file; [`trace`] writes what every rank did for Perfetto while the simulation runs.
//!
//! Nothing here prints or exits: functions return text, or write where they are told to.

mod cloud;
pub mod comparison;
pub mod comparison_page;
pub mod comparison_plot;
mod contribution;
pub mod csv;
mod curves;
pub mod fit_plot;
mod frame;
pub mod gantt;
mod hpl;
mod hpl_curve;
pub mod hpl_plot;
mod hpl_real;
mod hpl_text;
mod html;
mod interval;
pub mod json;
mod lanes;
pub mod link_load;
pub mod links;
pub mod models_plot;
mod observers;
pub mod output;
pub mod plot;
pub mod progress;
pub mod provenance;
mod ranks;
pub mod resources;
mod run_report;
mod scale;
pub mod served;
pub mod study;
mod svg;
pub mod table;
pub mod text;
mod totals;
pub mod trace;
mod traffic;
pub mod xhpl;

pub use comparison::{Bound, ComparedLine, ComparedPoint, Comparison, Measure};
pub use contribution::Contribution;
pub use curves::{Curve, CurvePoint, Curves};
pub use fit_plot::{FitPlot, FitPoint};
pub use gantt::{GanttError, GanttRecorder};
pub use hpl::{Combination, HplReport, HplRun, HplTimes};
pub use hpl_curve::{ByPhase, HplCurve};
pub use hpl_real::HplComparison;
pub use hpl_text::account;
pub use interval::Estimate;
pub use links::{KindLoad, LinkLoad};
pub use models_plot::{ComparisonPlot, ProcessorRatio};
pub use observers::Observers;
pub use output::{OutputError, OutputFile, check_output, check_writable, write_file};
pub use plot::{Axis, Plot, Series};
pub use progress::Progress;
pub use provenance::{Build, Input, Provenance, sha256, utc};
pub use ranks::{PerRank, RankSummary, Spread};
pub use resources::{Stopwatch, Used, thread_cpu_seconds};
pub use run_report::{MachineInfo, RunReport};
pub use scale::{Quantity, Spacing};
pub use table::{Cell, Column, Table};
pub use totals::{RankTimes, Totals};
pub use trace::TraceWriter;
pub use traffic::TrafficRecorder;
