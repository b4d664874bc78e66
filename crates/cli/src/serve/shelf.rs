//! What is served: the studies of a folder, of folders in it, of a file or of a database.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use hpcast_report::served::Standing;
use hpcast_study::store::{Location, Query, Store, StudyId, StudyRecord};

use super::locked;
use crate::failure::Failure;
use crate::runs::{self, Opened};
use crate::study;

/// Studies are looked for so many folders deep.
const DEPTH: usize = 4;
/// Folders that are looked at: whoever serves a whole disk by mistake shall get an answer.
const MOST_FOLDERS: usize = 10_000;

/// What takes long is done for at most such a part of the time.
pub(super) const SHARE: u32 = 10;

/// The studies that are served. A study keeps its number as long as the server runs.
pub(super) struct Shelf {
    place: String,
    /// Those that have been seen, in the order of their numbers.
    known: Mutex<Vec<Shelved>>,
    /// When each study has changed last.
    changes: Mutex<HashMap<usize, Change>>,
}

/// When a study has changed last. Finding that out takes seconds for a million runs.
struct Change {
    /// Runs that had ended then.
    ended: u64,
    text: String,
    /// When it was found out, and how long that took.
    asked: Instant,
    took: Duration,
}

/// Where a study is.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Shelved {
    pub location: Location,
    pub name: String,
    /// The folder that its results were written to, where that is known.
    pub folder: Option<PathBuf>,
}

/// A study as it is now.
pub(super) struct Seen {
    pub number: usize,
    pub place: String,
    pub record: StudyRecord,
    pub standing: Standing,
    pub changed: String,
}

/// A store, and the folders of studies that keep their results in it.
struct Source {
    location: Location,
    folders: Vec<PathBuf>,
}

impl Shelf {
    /// What a place holds; studies may come later.
    pub fn new(place: &str) -> Result<Shelf, Failure> {
        let shelf = Shelf { place: place.into(), known: Mutex::default(), changes: Mutex::default() };
        if !Path::new(place).is_dir() {
            Store::open_existing(&runs::location(place)?)?;
        }
        Ok(shelf)
    }

    /// What people call the place.
    pub fn place(&self) -> String {
        match Location::of(&self.place) {
            Location::File(_) => self.place.clone(),
            // The address may hold a password.
            Location::Server(_) => "a PostgreSQL database".into(),
        }
    }

    /// All studies as they are now, and places that cannot be read.
    pub fn look(&self) -> (Vec<Seen>, Vec<(String, String)>) {
        let (mut seen, mut problems) = (Vec::new(), Vec::new());
        let sources = self.sources().unwrap_or_else(|failure| {
            problems.push((self.place(), failure.message()));
            Vec::new()
        });
        for source in sources {
            match self.studies(&source) {
                Ok(studies) => seen.extend(studies),
                Err(failure) => problems.push((source.label(), failure.message())),
            }
        }
        seen.sort_by_key(|study| study.number);
        (seen, problems)
    }

    /// A study by its number.
    pub fn get(&self, number: usize) -> Option<Shelved> {
        self.known(number).or_else(|| {
            // It may have come since, or nobody has looked at the list yet.
            self.look();
            self.known(number)
        })
    }

    fn known(&self, number: usize) -> Option<Shelved> {
        let known = locked(&self.known);
        number.checked_sub(1).and_then(|place| known.get(place)).cloned()
    }

    fn studies(&self, source: &Source) -> Result<Vec<Seen>, Failure> {
        let mut store = Store::open_existing(&source.location)?;
        let mut seen = Vec::new();
        for (id, record) in store.studies()? {
            let folder = source.folders.iter().find(|folder| study::holds(folder, &record.file)).cloned();
            let shelved = Shelved { location: source.location.clone(), name: record.name.clone(), folder };
            let standing = standing(&mut store, id, &record, shelved.folder.as_deref())?;
            let place = format!("{}: {}", source.label(), record.name);
            let number = self.number(shelved);
            let changed = self.changed(&mut store, id, number, standing.done + standing.failed)?;
            seen.push(Seen { number, place, record, standing, changed });
        }
        Ok(seen)
    }

    /// The number of a study; one that is new gets the next.
    fn number(&self, shelved: Shelved) -> usize {
        let mut known = locked(&self.known);
        let is_it = |other: &Shelved| (&other.location, &other.name) == (&shelved.location, &shelved.name);
        if let Some(place) = known.iter().position(is_it) {
            // A study that is run again may have another folder.
            known[place] = shelved;
            return place + 1;
        }
        known.push(shelved);
        known.len()
    }

    fn changed(&self, store: &mut Store, id: StudyId, number: usize, ended: u64) -> Result<String, Failure> {
        let is_good = |known: &&Change| known.ended == ended || known.asked.elapsed() < SHARE * known.took;
        if let Some(known) = locked(&self.changes).get(&number).filter(is_good) {
            return Ok(known.text.clone());
        }
        let asked = Instant::now();
        let text = store.last_change(id)?.unwrap_or_default();
        locked(&self.changes).insert(number, Change { ended, text: text.clone(), asked, took: asked.elapsed() });
        Ok(text)
    }

    /// The stores that there are now.
    fn sources(&self) -> Result<Vec<Source>, Failure> {
        let path = Path::new(&self.place);
        if !path.is_dir() {
            return Ok(vec![Source { location: runs::location(&self.place)?, folders: Vec::new() }]);
        }
        let mut folders = Vec::new();
        search(path, DEPTH, &mut MOST_FOLDERS.clone(), &mut folders);
        let mut sources: Vec<Source> = Vec::new();
        for folder in folders {
            let location = study::location(&folder)?;
            match sources.iter_mut().find(|source| source.location == location) {
                Some(source) => source.folders.push(folder),
                None => sources.push(Source { location, folders: vec![folder] }),
            }
        }
        Ok(sources)
    }
}

impl Source {
    fn label(&self) -> String {
        match (&self.location, self.folders.first()) {
            (_, Some(folder)) => folder.display().to_string(),
            (Location::File(path), None) => path.display().to_string(),
            (Location::Server(_), None) => "PostgreSQL".into(),
        }
    }
}

impl Shelved {
    /// Opens the study.
    pub fn open(&self) -> Result<Opened, Failure> {
        Opened::at(&self.location, Some(&self.name))
    }

    /// How far an open study is.
    pub fn standing(&self, opened: &mut Opened) -> Result<Standing, Failure> {
        standing(&mut opened.store, opened.id, &opened.study, self.folder.as_deref())
    }
}

fn standing(store: &mut Store, id: StudyId, record: &StudyRecord, folder: Option<&Path>) -> Result<Standing, Failure> {
    let all = store.count(id, record, &Query::default())?;
    let done = store.count(id, record, &Query { conditions: vec!["status=done".parse()?], ..Query::default() })?;
    let is_running = folder.is_some_and(study::is_in_use);
    // Rows may come between the two questions.
    Ok(Standing { done, failed: all.saturating_sub(done), planned: record.rows, is_running })
}

/// Folders of studies, in the order of their names. Those in a study's folder are none.
fn search(folder: &Path, depth: usize, left: &mut usize, found: &mut Vec<PathBuf>) {
    if is_study(folder) {
        found.push(folder.into());
        return;
    }
    if depth == 0 {
        return;
    }
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    // Links are not followed: they may lead in circles.
    let folders = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    let mut folders: Vec<PathBuf> = folders.map(|entry| entry.path()).collect();
    folders.sort();
    for folder in folders {
        let Some(less) = left.checked_sub(1) else { return };
        *left = less;
        search(&folder, depth - 1, left, found);
    }
}

fn is_study(folder: &Path) -> bool {
    match study::location(folder) {
        Ok(Location::File(path)) => path.is_file(),
        Ok(Location::Server(_)) => true,
        Err(_) => false,
    }
}
