//! How processors and days differ, in a model file: means and covariances, these as lower triangles.

use std::fmt::Write;

use hpcast_platform::fields::{Reader, Section};
use hpcast_stats::{Matrix, MultivariateNormal};

use super::super::kernel::Row;
use super::super::population::{Days, Group, Grouped, Population};
use super::super::term::Term;
use super::write::{list, number};

const GROUPED: [(&str, Grouped); 2] = [("processors", Grouped::Processors), ("nodes", Grouped::Nodes)];
const DAYS: [&str; 3] = ["machine", "node", "processor"];

pub(super) fn read(reader: &mut Reader, section: &mut Section<'_>, terms: &[Term], rows: &[Row]) -> Option<Population> {
    let path = section.key("groups");
    let grouped = section.choice(reader, "groups-of", &GROUPED).unwrap_or_default();
    let example = "{ share = 1, seconds = [1e-6, 5e-11], covariance = [1e-14, 0, 3e-24] }";
    let list = section.sections(reader, "groups", example);
    let list = section.needed(reader, "groups", list, &format!("groups = [{example}]"));
    let groups: Vec<Option<ReadGroup>> = list.into_iter().map(|mut group| read_group(reader, &mut group)).collect();
    let groups = groups.into_iter().collect::<Option<Vec<ReadGroup>>>()?;
    let count = groups.first()?.processors.mean().len();
    let days = read_days(reader, section, count);
    section.finish(reader);
    // Groups without days of their own have those of all.
    let days = days?.unwrap_or_else(|| Days::alike(count));
    let group = |ReadGroup { share, processors, days: own }| {
        let days = own.unwrap_or_else(|| days.clone());
        Group { share, processors, days }
    };
    let groups: Vec<Group> = groups.into_iter().map(group).collect();
    if let Some(row) = rows.iter().find(|row| row.group as usize >= groups.len()) {
        let message = format!("a processor belongs to group {}, but there are {} groups", row.group, groups.len());
        reader.fail(&path, message, "groups are counted from 0");
        return None;
    }
    if rows.iter().any(|row| row.below.is_some() || row.seconds.len() + row.deviation.len() != count) {
        let message = "the population has other coefficients than the kernel";
        let remedy = "give kernel, processors and groups the same keys `seconds` and `deviation`, in one piece";
        reader.fail(&path, message, remedy);
        return None;
    }
    match Population::new(terms, groups, grouped) {
        Ok(population) => Some(population),
        Err(error) => {
            reader.fail(&path, error.to_string(), error.remedy());
            None
        }
    }
}

/// A group that may have no days of its own.
struct ReadGroup {
    share: f64,
    processors: MultivariateNormal,
    days: Option<Days>,
}

/// `Some(None)` if nothing is said of them.
fn read_days(reader: &mut Reader, section: &mut Section<'_>, count: usize) -> Option<Option<Days>> {
    let mut days = section.section(reader, "days");
    if !days.exists() {
        return Some(None);
    }
    let [machine, node, processor] = DAYS.map(|key| covariance(reader, &mut days, key, count));
    days.finish(reader);
    // Each was found to be a covariance.
    Days::new(machine?, node?, processor?).ok().map(Some)
}

fn read_group(reader: &mut Reader, section: &mut Section<'_>) -> Option<ReadGroup> {
    let share = section.number(reader, "share");
    let share = section.needed(reader, "share", share, "share = 1");
    let seconds = section.numbers(reader, "seconds", "[1e-6, 5e-11]");
    let mut mean = section.needed(reader, "seconds", seconds, "seconds = [1e-6, 5e-11]");
    mean.extend(section.numbers(reader, "deviation", "[1e-7, 1e-12]").unwrap_or_default());
    let covariance = covariance(reader, section, "covariance", mean.len());
    let days = read_days(reader, section, mean.len());
    section.finish(reader);
    Some(ReadGroup { share, processors: MultivariateNormal::new(mean, covariance?).ok()?, days: days? })
}

/// What is not written is zero.
fn covariance(reader: &mut Reader, section: &mut Section<'_>, key: &'static str, count: usize) -> Option<Matrix> {
    let Some(numbers) = section.numbers(reader, key, "[1e-14, 0, 1e-24]") else {
        return Some(Matrix::zeros(count, count));
    };
    if numbers.len() != count * (count + 1) / 2 {
        let message = format!("{} numbers for the covariances of {count} coefficients", numbers.len());
        let remedy = format!("write {}: the lower triangle, row by row", count * (count + 1) / 2);
        reader.fail(&section.key(key), message, remedy);
        return None;
    }
    let matrix = Matrix::symmetric(count, &numbers);
    if let Err(error) = MultivariateNormal::new(vec![0.0; count], matrix.clone()) {
        reader.fail(&section.key(key), error.to_string(), error.remedy());
        return None;
    }
    Some(matrix)
}

pub(super) fn write(population: &Population, path: &str) -> String {
    let mut text = String::new();
    if population.grouped() == Grouped::Nodes {
        let _ = writeln!(text, "[{path}]\ngroups-of = \"nodes\"");
    }
    let alike = population.groups().iter().all(|group| group.days == population.groups()[0].days);
    for group in population.groups() {
        let terms = population.terms();
        let (seconds, deviation) = group.processors.mean().split_at(terms);
        let _ = writeln!(text, "[[{path}.groups]]\nshare = {}\nseconds = {}", number(group.share), list(seconds));
        if !deviation.is_empty() {
            let _ = writeln!(text, "deviation = {}", list(deviation));
        }
        text += &write_covariance("covariance", group.processors.covariance());
        if !alike {
            text += &write_days(&group.days, &format!("{path}.groups.days"));
        }
    }
    if alike {
        text += &write_days(&population.groups()[0].days, &format!("{path}.days"));
    }
    text
}

fn write_days(days: &Days, path: &str) -> String {
    if !days.differ() {
        return String::new();
    }
    let mut text = format!("[{path}]\n");
    DAYS.iter().zip(days.covariances()).for_each(|(key, part)| text += &write_covariance(key, part));
    text
}

fn write_covariance(key: &str, matrix: &Matrix) -> String {
    if is_zero(matrix) {
        return String::new();
    }
    let row = |row: &Vec<f64>| row.iter().map(|value| number(*value)).collect::<Vec<_>>().join(", ");
    let rows: Vec<String> = matrix.triangle().iter().map(row).collect();
    format!("{key} = [\n    {},\n]\n", rows.join(",\n    "))
}

fn is_zero(matrix: &Matrix) -> bool {
    matrix.triangle().concat().iter().all(|value| *value == 0.0)
}
