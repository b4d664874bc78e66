//! `hpcast study report`: what a study has found, as a page, as Markdown, and as pictures.

use std::path::{Path, PathBuf};

use clap::Args;
use hpcast_report::study::{Findings, html, markdown};
use hpcast_report::{Axis, Plot, Quantity, Series, Spacing, write_file};
use hpcast_study::analysis::curve::by_level;
use hpcast_study::store::Query;

use crate::failure::Failure;
use crate::runs::Opened;

/// Options of `hpcast study report`.
#[derive(Args)]
pub(crate) struct ReportOptions {
    /// The folder of a study, a store file, or postgres://...
    place: String,
    /// The study, if the store has several
    #[arg(long, value_name = "NAME")]
    study: Option<String>,
    /// Folder for the report (default: the study's folder, or here)
    #[arg(long, short, value_name = "FOLDER")]
    output: Option<PathBuf>,
}

pub(super) fn run(options: &ReportOptions) -> Result<(), Failure> {
    let mut opened = Opened::new(&options.place, options.study.as_deref())?;
    let rows = opened.store.rows(opened.id, &opened.study, &Query::default())?;
    let findings = Findings::new(&opened.study, &rows);
    let place = Path::new(&options.place);
    let folder = options.output.clone().unwrap_or_else(|| if place.is_dir() { place.into() } else { PathBuf::new() });
    if !folder.as_os_str().is_empty() {
        std::fs::create_dir_all(&folder).map_err(|error| {
            Failure::input(format!("cannot make {}: {error}; choose another with --output", folder.display()))
        })?;
    }
    let mut written = Vec::new();
    let mut write = |name: String, content: &str| -> Result<(), Failure> {
        let path = folder.join(name);
        write_file(&path, content.as_bytes())?;
        written.push(path.display().to_string());
        Ok(())
    };
    write("report.html".into(), &html(&findings, None))?;
    write("report.md".into(), &markdown(&findings))?;
    for (name, picture) in pictures(&findings) {
        write(name, &picture)?;
    }
    crate::print(&format!("{}\n{}\nwritten: {}\n", opened.study.title, findings.answer(), written.join(", ")))
}

/// The mean of each response over each factor that is a number.
fn pictures(findings: &Findings<'_>) -> Vec<(String, String)> {
    let mut pictures = Vec::new();
    for (response, column) in findings.study.responses.iter().enumerate() {
        for (factor, _) in findings.study.factors.iter().enumerate().filter(|(_, factor)| factor.numeric) {
            let Ok(means) = by_level(&findings.frame, response, factor) else { continue };
            let levels = &findings.frame.factors[factor];
            let number = |level: usize| levels.levels[level].number;
            let mut points: Vec<(f64, f64)> =
                means.iter().filter_map(|mean| Some((number(mean.level)?, mean.mean))).collect();
            points.sort_by(|one, other| one.0.total_cmp(&other.0));
            let plot = Plot {
                title: format!("{}: mean {} over {}", findings.study.title, column.name, levels.name),
                x: Axis::new(levels.name.as_str(), Quantity::Count, Spacing::Linear),
                y: Axis::new(column.name.as_str(), Quantity::Count, Spacing::Linear),
                series: vec![Series { name: column.name.clone(), points }],
                note: format!("{} of {} runs", findings.rows.len(), findings.study.rows),
            };
            pictures.push((format!("{}-over-{}.svg", file_name(&column.name), file_name(&levels.name)), plot.svg()));
        }
    }
    pictures
}

fn file_name(name: &str) -> String {
    name.chars().map(|c| if c.is_alphanumeric() { c } else { '-' }).collect()
}
