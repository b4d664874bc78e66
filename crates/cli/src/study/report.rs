//! `hpcast study report`: what a study has found, as a page, as Markdown, and as pictures.

use std::cmp::Ordering;
use std::path::{Path, PathBuf};

use clap::Args;
use hpcast_report::study::{Findings, LevelsPlot, PlottedLevel, html, markdown};
use hpcast_report::{Axis, Plot, Quantity, Series, Spacing, write_file};
use hpcast_study::Frame;
use hpcast_study::analysis::AnalysisError;
use hpcast_study::analysis::curve::{LevelMean, by_level, smooth};
use hpcast_study::store::Query;
use hpcast_units::AnyQuantity;

use crate::failure::Failure;
use crate::runs::Opened;
use crate::study::png::Converter;

/// With fewer levels their means say all.
const FEW_LEVELS: usize = 6;
/// More levels make no picture.
const MOST_LEVELS: usize = 100;
/// Places on a curve.
const PLACES: usize = 25;

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
    /// Write pictures also as PNG (needs rsvg-convert, inkscape or chromium)
    #[arg(long)]
    png: bool,
}

pub(super) fn run(options: &ReportOptions) -> Result<(), Failure> {
    let converter = if options.png { Some(Converter::find()?) } else { None };
    let mut opened = Opened::new(&options.place, options.study.as_deref())?;
    let rows = opened.store.rows(opened.id, &opened.study, &Query::default())?;
    let uncertainty = super::uncertainty(&mut opened.store, &opened.study, &rows)?;
    let findings = Findings::new(&opened.study, &rows, uncertainty.as_deref());
    let place = Path::new(&options.place);
    let folder = options.output.clone().unwrap_or_else(|| if place.is_dir() { place.into() } else { PathBuf::new() });
    if !folder.as_os_str().is_empty() {
        std::fs::create_dir_all(&folder).map_err(|error| {
            Failure::input(format!("cannot make {}: {error}; choose another with --output", folder.display()))
        })?;
    }
    let mut written = Vec::new();
    let write = |name: &str, content: &str| -> Result<PathBuf, Failure> {
        let path = folder.join(name);
        write_file(&path, content.as_bytes())?;
        Ok(path)
    };
    written.push(write("report.html", &html(&findings, None))?);
    written.push(write("report.md", &markdown(&findings))?);
    for (name, picture) in pictures(&findings) {
        let path = write(&name, &picture)?;
        let made = converter.as_ref().map(|converter| converter.convert(&path)).transpose()?;
        written.extend([Some(path), made].into_iter().flatten());
    }
    let written: Vec<String> = written.iter().map(|path| path.display().to_string()).collect();
    crate::print(&format!("{}\n{}\nwritten: {}\n", opened.study.title, findings.answer(), written.join(", ")))
}

/// The mean of each response over each factor: a line over numbers, else a line a level.
fn pictures(findings: &Findings<'_>) -> Vec<(String, String)> {
    let mut pictures = Vec::new();
    for (response, column) in findings.study.responses.iter().enumerate() {
        for (factor, own) in findings.study.factors.iter().enumerate() {
            let name = &findings.frame.factors[factor].name;
            if !own.numeric {
                let file = format!("{}-by-{}.svg", file_name(&column.name), file_name(name));
                pictures.extend(levels(findings, response, factor).map(|plot| (file, plot.svg())));
                continue;
            }
            let Ok(means) = means(&findings.frame, response, factor) else { continue };
            let curve = curve(&findings.frame, response, factor);
            let spacing =
                if curve.as_ref().is_some_and(|curve| curve.1) { Spacing::Logarithmic } else { Spacing::Linear };
            let plot = Plot {
                title: format!("{}: {} over {name}", findings.study.title, column.name),
                x: Axis::new(name.as_str(), quantity_of_factor(&findings.frame, factor), spacing),
                y: Axis::new(column.name.as_str(), quantity_of_figure(&column.name), Spacing::Linear),
                series: [means].into_iter().chain(curve.map(|curve| curve.0)).collect(),
                note: format!(
                    "{} of {} runs; bands: where means and the curve lie with 95 % confidence",
                    findings.rows.len(),
                    findings.study.rows
                ),
            };
            pictures.push((format!("{}-over-{}.svg", file_name(&column.name), file_name(name)), plot.svg()));
        }
    }
    pictures
}

/// The levels of a factor that are no numbers.
fn levels(findings: &Findings<'_>, response: usize, factor: usize) -> Option<LevelsPlot> {
    let (frame, column) = (&findings.frame, &findings.study.responses[response]);
    let means = by_level(frame, response, factor).ok().filter(|means| (1..=MOST_LEVELS).contains(&means.len()))?;
    let level = |mean: LevelMean| PlottedLevel {
        name: frame.factors[factor].levels[mean.level].text.clone(),
        mean: mean.mean,
        interval: mean.interval,
        extremes: mean.extremes,
    };
    Some(LevelsPlot {
        title: format!("{}: {} by {}", findings.study.title, column.name, frame.factors[factor].name),
        response: column.name.clone(),
        quantity: quantity_of_figure(&column.name),
        levels: means.into_iter().map(level).collect(),
        note: format!(
            "{} of {} runs; a mark is the mean of all runs with a level, bars say where such means lie with 95 % confidence, lines \
             go from the least to the greatest value",
            findings.rows.len(),
            findings.study.rows
        ),
    })
}

/// What the levels of a factor measure, by the unit of one of them.
fn quantity_of_factor(frame: &Frame, factor: usize) -> Quantity {
    let level = frame.factors[factor].levels.first();
    match level.and_then(|level| AnyQuantity::parse(&level.text)).and_then(AnyQuantity::noun) {
        Some("size") => Quantity::Size,
        Some("bandwidth") => Quantity::Bandwidth,
        Some("duration") => Quantity::Seconds,
        Some("flop rate") => Quantity::FlopRate,
        _ => Quantity::Count,
    }
}

/// What a figure of a run measures, by its name.
fn quantity_of_figure(name: &str) -> Quantity {
    match name {
        "bandwidth" => Quantity::Bandwidth,
        _ if name == "seconds" || name.ends_with("_seconds") => Quantity::Seconds,
        _ => Quantity::Count,
    }
}

/// The mean at each level, all other factors taken together.
fn means(frame: &Frame, response: usize, factor: usize) -> Result<Series, AnalysisError> {
    let number = |level: usize| frame.factors[factor].levels[level].number;
    let mut means = by_level(frame, response, factor)?;
    means.sort_by(|one, other| number(one.level).partial_cmp(&number(other.level)).unwrap_or(Ordering::Equal));
    let points = means.iter().filter_map(|mean| Some((number(mean.level)?, mean.mean))).collect();
    let place = |mean: &LevelMean| mean.interval.and_then(|(low, high)| Some((number(mean.level)?, low, high)));
    let band: Option<Vec<_>> = means.iter().map(place).collect();
    Ok(Series { name: "mean".into(), points, band: band.unwrap_or_default() })
}

/// A smooth curve where there are enough different numbers for one, and whether it is smooth over logarithms.
fn curve(frame: &Frame, response: usize, factor: usize) -> Option<(Series, bool)> {
    if frame.factors[factor].levels.len() < FEW_LEVELS {
        return None;
    }
    let smooth = smooth(frame, response, factor, PLACES).ok()??;
    let points = smooth.places.iter().map(|place| (place.x, place.y)).collect();
    let band: Option<Vec<_>> =
        smooth.places.iter().map(|place| place.band.map(|(low, high)| (place.x, low, high))).collect();
    Some((Series { name: "curve".into(), points, band: band.unwrap_or_default() }, smooth.logarithmic))
}

fn file_name(name: &str) -> String {
    name.chars().map(|c| if c.is_alphanumeric() { c } else { '-' }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_have_units() {
        assert_eq!(quantity_of_figure("wait_seconds"), Quantity::Seconds);
        assert_eq!(quantity_of_figure("seconds"), Quantity::Seconds);
        assert_eq!(quantity_of_figure("gflops"), Quantity::Count);
    }
}
