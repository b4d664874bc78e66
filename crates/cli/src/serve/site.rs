//! Which page is at which address.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use hpcast_report::served::{self, RunPage, Selection, StudiesPage, StudyLine};
use hpcast_report::study::{self as study_page, Edition};
use hpcast_study::store::{Query, RunRecord};

use super::follow::Followed;
use super::http::{Method, Request};
use super::pictures::{Kind, Pictures, Task};
use super::response::Response;
use super::shelf::{Seen, Shelf, Shelved};
use super::{locked, selection};
use crate::failure::Failure;
use crate::runs::{self, Opened};
use crate::study;

/// All that is served.
pub(super) struct Site {
    shelf: Shelf,
    followed: Mutex<HashMap<usize, Arc<Mutex<Followed>>>>,
    pictures: Pictures,
}

/// Why there is no page.
enum Trouble {
    /// There is no such thing.
    Absent(String),
    /// It is there, but cannot be read.
    Failed(Failure),
}

impl From<Failure> for Trouble {
    fn from(failure: Failure) -> Trouble {
        Trouble::Failed(failure)
    }
}

impl Site {
    pub fn new(shelf: Shelf) -> Site {
        Site { shelf, followed: Mutex::default(), pictures: Pictures::new() }
    }

    /// Ends what is being done.
    pub fn stop(&self) {
        self.pictures.stop();
    }

    pub fn answer(&self, request: &Request) -> Response {
        let path: Vec<&str> = request.path.iter().map(String::as_str).collect();
        if request.method == Method::Post && !matches!(path[..], ["study", _, "run", _, "pictures"]) {
            return Response::problem(405, "Pages are for looking at.").with("Allow", "GET, HEAD".into());
        }
        let answer = match path[..] {
            [] => Ok(Response::html(self.studies().html())),
            ["studies"] => Ok(Response::html(self.studies().list())),
            ["runs"] => Ok(Response::html(selection::page(&self.shelf, selected(request)).html())),
            ["style.css"] => Ok(Response::style(served::STYLE)),
            ["served.js"] => Ok(Response::script(served::SCRIPT)),
            ["study.js"] => Ok(Response::script(study_page::SCRIPT)),
            ["study", number] => self.study(number),
            ["study", number, "news"] => self.news(number, request),
            ["study", number, "run", run] => self.run(number, run),
            ["study", number, "run", run, "pictures"] => self.pictures(number, run, request.method),
            ["study", number, "run", run, picture] => self.picture(number, run, picture),
            _ => Err(Trouble::Absent("There is no such page.".into())),
        };
        answer.unwrap_or_else(|trouble| match trouble {
            Trouble::Absent(message) => Response::problem(404, &message),
            Trouble::Failed(failure) => Response::problem(500, &failure.message()),
        })
    }

    fn studies(&self) -> StudiesPage {
        let (seen, problems) = self.shelf.look();
        let line = |Seen { number, place, record, standing, changed }| StudyLine {
            address: format!("/study/{number}"),
            title: record.title,
            question: record.question,
            place,
            standing,
            changed,
        };
        StudiesPage { place: self.shelf.place(), studies: seen.into_iter().map(line).collect(), problems }
    }

    fn shelved(&self, number: &str) -> Result<(usize, Shelved), Trouble> {
        let absent = || Trouble::Absent(format!("There is no study {number}."));
        let number: usize = number.parse().map_err(|_| absent())?;
        self.shelf.get(number).map(|shelved| (number, shelved)).ok_or_else(absent)
    }

    fn followed(&self, number: usize) -> Arc<Mutex<Followed>> {
        locked(&self.followed).entry(number).or_default().clone()
    }

    fn study(&self, number: &str) -> Result<Response, Trouble> {
        let (number, shelved) = self.shelved(number)?;
        let followed = self.followed(number);
        let mut followed = locked(&followed);
        Ok(Response::html(followed.page(&shelved, number)?))
    }

    fn news(&self, number: &str, request: &Request) -> Result<Response, Trouble> {
        let (number, shelved) = self.shelved(number)?;
        let value = |name: &str| request.value(name).and_then(|text| text.parse::<u64>().ok()).unwrap_or(0);
        let length = usize::try_from(value("length")).unwrap_or(usize::MAX);
        let followed = self.followed(number);
        let mut followed = locked(&followed);
        Ok(Response::json(&followed.news(&shelved, Edition { generation: value("generation"), length })?))
    }

    /// A run, its study, and where the study is.
    fn open(&self, number: &str, run: &str) -> Result<(usize, Shelved, Opened, RunRecord), Trouble> {
        let (number, shelved) = self.shelved(number)?;
        let mut opened = shelved.open()?;
        let record = opened.run(run).map_err(|failure| Trouble::Absent(failure.message()))?;
        Ok((number, shelved, opened, record))
    }

    fn run(&self, number: &str, run: &str) -> Result<Response, Trouble> {
        let (number, _, mut opened, record) = self.open(number, run)?;
        let machine = opened.store.document(&record.inputs.machine).map_err(Failure::from)?;
        let models = record.inputs.models.as_ref().map(|models| opened.store.document(models)).transpose();
        let models = models.map_err(Failure::from)?;
        let facts =
            runs::facts(&record, &machine.name, models.as_ref().map(|models| models.name.as_str()), "see below");
        let mut files = vec![("Its machine file".to_owned(), machine.text)];
        files.extend(models.map(|models| ("Its model file".to_owned(), models.text)));
        files.extend(
            record.ending.result.as_ref().ok().map(|outputs| ("Its report".to_owned(), indented(&outputs.report))),
        );
        let page = RunPage {
            address: format!("/study/{number}/run/{}", record.key.0),
            levels: levels(&mut opened, &record)?,
            study: (format!("/study/{number}"), opened.study.title),
            is_drawable: record.ending.result.is_ok(),
            facts,
            files,
        };
        Ok(Response::html(page.html()))
    }

    /// How far the pictures of a run are; who posts has them drawn.
    fn pictures(&self, number: &str, run: &str, method: Method) -> Result<Response, Trouble> {
        let (number, shelved, mut opened, record) = self.open(number, run)?;
        let name = picture_name(number, &record);
        if method == Method::Post && !self.pictures.contains(&name) {
            let failed = |message: String| Trouble::Absent(format!("The run has failed: {message}"));
            let outputs = record.ending.result.map_err(failed)?;
            let prepared =
                study::Prepared::new(&record.inputs, |fingerprint| Ok(opened.store.document(fingerprint)?))?;
            let folder = shelved.folder.as_deref().map(study::origin_folder).unwrap_or_default();
            self.pictures.draw(&name, Task { inputs: record.inputs, prepared, folder, outputs })?;
        }
        Ok(Response::json(&self.pictures.states(&name)))
    }

    fn picture(&self, number: &str, run: &str, picture: &str) -> Result<Response, Trouble> {
        let (number, _, _, record) = self.open(number, run)?;
        let kind = picture.strip_suffix(".svg").and_then(Kind::of);
        let svg = kind.and_then(|kind| self.pictures.svg(&picture_name(number, &record), kind));
        let svg =
            svg.ok_or_else(|| Trouble::Absent("There is no such picture; it may have to be drawn first.".into()))?;
        Ok(Response::svg(svg.as_bytes()))
    }
}

/// What tells the pictures of a run from others.
fn picture_name(number: usize, record: &RunRecord) -> String {
    format!("{number} {}", record.key.0)
}

/// What is asked for of all runs.
fn selected(request: &Request) -> Selection {
    let value = |name: &str| request.value(name).unwrap_or_default().trim().to_owned();
    Selection {
        study: value("study"),
        filter: value("filter"),
        sort: value("sort"),
        descending: !value("descending").is_empty(),
        page: value("page").parse().unwrap_or(0),
    }
}

/// The levels of a run's factors.
fn levels(opened: &mut Opened, record: &RunRecord) -> Result<Vec<(String, String)>, Failure> {
    let conditions = vec![format!("key={}", record.key.0).parse()?];
    let query = Query { conditions, limit: Some(1), ..Query::default() };
    let rows = opened.rows(&query)?;
    let levels = rows.into_iter().flat_map(|row| row.levels).map(|(text, _)| text);
    Ok(opened.study.factors.iter().map(|factor| factor.name.clone()).zip(levels).collect())
}

/// A report as people read it.
fn indented(report: &str) -> String {
    let value: Result<serde_json::Value, _> = serde_json::from_str(report);
    value.map_or_else(|_| report.to_owned(), |value| serde_json::to_string_pretty(&value).unwrap_or_default())
}
