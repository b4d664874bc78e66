//! `hpcast study archive`, `repeat` and `verify`: a study in one file, from which others do it again.
//!
//! The file is a tar: the study, every run with all that it depends on, what came of it, and where it comes from. Nothing
//! outside of it is needed but hpcast (after T. Cornebize's thesis, chapter 9: an experiment is kept with its results).

use std::collections::{BTreeMap, BTreeSet};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use hpcast_platform::diagnostic::Source;
use hpcast_report::OutputFile;
use hpcast_study::design::Structure;
use hpcast_study::execute::protocol::{Request, line};
use hpcast_study::export::{self, ExportedRow};
use hpcast_study::file::Study;
use hpcast_study::planned::{Planned, PlannedRun};
use hpcast_study::store::{Query, StudyRecord};
use serde_json::json;

use super::execution::{self, COMMANDS};
use super::{Place, Pool, RunOptions, version};
use crate::failure::Failure;
use crate::runs::Opened;

/// The parts of an archive.
const STUDY: &str = "study.toml";
const RECORD: &str = "study.json";
const RUNS: &str = "runs.jsonl";
const ROWS: &str = "rows.csv";
const PLACES: &str = "places.json";
const ORIGIN: &str = "origin.json";
const FILES: &str = "files/";

#[derive(Args)]
pub(crate) struct ArchiveOptions {
    /// The folder of a study
    folder: PathBuf,
    /// The file to write
    #[arg(long, short, value_name = "FILE.tar")]
    output: PathBuf,
}

#[derive(Args)]
pub(crate) struct RepeatOptions {
    /// The archive
    archive: PathBuf,
    /// Folder for the results
    #[arg(long, value_name = "FOLDER")]
    out: PathBuf,
    #[command(flatten)]
    pool: Pool,
}

#[derive(Args)]
pub(crate) struct VerifyOptions {
    /// The archive
    archive: PathBuf,
    /// The folder of its repetition
    folder: PathBuf,
}

/// Packs a study.
pub(super) fn archive(options: &ArchiveOptions) -> Result<(), Failure> {
    let place = options.folder.display().to_string();
    let mut opened = Opened::new(&place, None)?;
    let rows = opened.store.rows(opened.id, &opened.study, &Query::default())?;
    if (rows.len() as u64) < opened.study.rows {
        return Err(Failure::input(format!(
            "only {} of {} runs are done; run the study to its end before it is archived",
            rows.len(),
            opened.study.rows
        )));
    }
    let (mut said, mut known) = (String::new(), BTreeSet::new());
    let mut files: BTreeMap<String, Vec<u8>> = BTreeMap::new();
    let mut places = Vec::new();
    for row in &rows {
        let run = opened.store.run(&row.key.0)?;
        for fingerprint in std::iter::once(&run.inputs.machine).chain(&run.inputs.models) {
            if known.insert(fingerprint.clone()) {
                let document = opened.store.document(fingerprint)?;
                said += &line(&Request::Document { fingerprint: fingerprint.clone(), document });
            }
        }
        for name in run.inputs.files.keys() {
            let path = execution::origin_folder(&options.folder).join(name);
            let content = std::fs::read(&path).map_err(|error| cannot(&path, &error))?;
            files.insert(name.clone(), content);
        }
        said += &line(&Request::Run { number: row.row as usize, inputs: run.inputs });
        places.push(json!({ "row": row.row, "point": row.point, "repetition": row.repetition, "levels": row.levels }));
    }
    let exported: Vec<ExportedRow> = rows.into_iter().map(|row| ExportedRow { row, cost: None }).collect();
    let table = export::csv(&opened.study, &exported, false);
    let record = serde_json::to_string_pretty(&opened.study).unwrap_or_default();
    let log = std::fs::read_to_string(options.folder.join(COMMANDS)).unwrap_or_default();
    let mut parts: Vec<(String, Vec<u8>)> = vec![
        (STUDY.into(), opened.study.file.clone().into_bytes()),
        (RECORD.into(), record.into_bytes()),
        (RUNS.into(), said.into_bytes()),
        (PLACES.into(), serde_json::to_vec(&places).unwrap_or_default()),
        (ROWS.into(), table.into_bytes()),
        (ORIGIN.into(), origin().into_bytes()),
        (COMMANDS.into(), log.into_bytes()),
    ];
    parts.extend(files.into_iter().map(|(name, content)| (format!("{FILES}{name}"), content)));
    write(&options.output, &parts)?;
    crate::print(&format!("{} runs in {}\n", opened.study.rows, options.output.display()))
}

/// What is known of this computer and this program.
fn origin() -> String {
    let system = rustix::system::uname();
    let processor = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let processor = processor.lines().find_map(|line| line.strip_prefix("model name")).unwrap_or_default();
    let origin = json!({
        "hpcast": version(),
        "date": hpcast_report::utc(std::time::SystemTime::now()),
        "host": system.nodename().to_string_lossy(),
        "system": format!("{} {}", system.sysname().to_string_lossy(), system.release().to_string_lossy()),
        "machine": system.machine().to_string_lossy(),
        "processor": processor.trim_start_matches([' ', '\t', ':']),
        "cores": std::thread::available_parallelism().map_or(1, usize::from),
    });
    serde_json::to_string_pretty(&origin).unwrap_or_default()
}

fn write(path: &Path, parts: &[(String, Vec<u8>)]) -> Result<(), Failure> {
    let mut file = OutputFile::create(path)?;
    let failed = |error: std::io::Error| cannot(path, &error);
    let mut tar = tar::Builder::new(&mut file);
    for (name, content) in parts {
        let mut header = tar::Header::new_gnu();
        header.set_size(content.len() as u64);
        header.set_mode(0o644);
        tar.append_data(&mut header, name, content.as_slice()).map_err(failed)?;
    }
    tar.into_inner().and_then(Write::flush).map_err(failed)?;
    Ok(file.finish()?)
}

fn cannot(path: &Path, error: &std::io::Error) -> Failure {
    Failure::input(format!("{}: {error}; check the file", path.display()))
}

/// The parts of an archive.
fn read(path: &Path) -> Result<BTreeMap<String, Vec<u8>>, Failure> {
    let wrong = |error: std::io::Error| cannot(path, &error);
    let mut tar = tar::Archive::new(std::fs::File::open(path).map_err(wrong)?);
    let mut parts = BTreeMap::new();
    for entry in tar.entries().map_err(wrong)? {
        let mut entry = entry.map_err(wrong)?;
        let name = entry.path().map_err(wrong)?.display().to_string();
        let mut content = Vec::new();
        entry.read_to_end(&mut content).map_err(wrong)?;
        parts.insert(name, content);
    }
    if let Some(absent) = [STUDY, RECORD, RUNS, PLACES, ROWS].into_iter().find(|name| !parts.contains_key(*name)) {
        let message = format!("{} is no archive of a study: it has no {absent}", path.display());
        return Err(Failure::input(format!("{message}; name a file that `hpcast study archive` has written")));
    }
    Ok(parts)
}

fn parsed<T: serde::de::DeserializeOwned>(
    path: &Path,
    parts: &BTreeMap<String, Vec<u8>>,
    name: &str,
) -> Result<T, Failure> {
    serde_json::from_slice(&parts[name])
        .map_err(|error| Failure::input(format!("{}: {name}: {error}; the archive is damaged", path.display())))
}

/// Where a row stands.
#[derive(serde::Deserialize)]
struct RowPlace {
    row: u64,
    point: u64,
    repetition: u64,
    levels: Vec<(String, Option<f64>)>,
}

/// Does all runs of an archive again, and compares.
pub(super) fn repeat(options: &RepeatOptions) -> Result<(), Failure> {
    let path = &options.archive;
    let parts = read(path)?;
    let record: StudyRecord = parsed(path, &parts, RECORD)?;
    let places: Vec<RowPlace> = parsed(path, &parts, PLACES)?;
    let mut places: BTreeMap<u64, RowPlace> = places.into_iter().map(|place| (place.row, place)).collect();
    let (mut documents, mut runs) = (BTreeMap::new(), BTreeMap::new());
    for said in String::from_utf8_lossy(&parts[RUNS]).lines() {
        let request = serde_json::from_str(said)
            .map_err(|error| Failure::input(format!("{}: {RUNS}: {error}; the archive is damaged", path.display())))?;
        match request {
            Request::Document { fingerprint, document } => {
                documents.insert(fingerprint, document);
            }
            Request::Run { number, mut inputs } => {
                inputs.version = version();
                if let Some(RowPlace { row, point, repetition, levels }) = places.remove(&(number as u64)) {
                    runs.insert(row, PlannedRun { point, repetition, levels, inputs });
                }
            }
        }
    }
    let folder = options.out.join("inputs");
    for (name, content) in parts.iter().filter_map(|(name, content)| Some((name.strip_prefix(FILES)?, content))) {
        let place = folder.join(name);
        let made =
            place.parent().map_or(Ok(()), std::fs::create_dir_all).and_then(|()| std::fs::write(&place, content));
        made.map_err(|error| cannot(&place, &error))?;
    }
    std::fs::create_dir_all(&folder).map_err(|error| cannot(&folder, &error))?;
    let source = Source::new(format!("{}: {STUDY}", path.display()), String::from_utf8_lossy(&parts[STUDY]));
    let study = Study::parse(&source, &folder)?;
    let planned = Planned { runs: runs.into_values().collect(), documents, structure: Structure::Plain };
    let run = RunOptions {
        file: PathBuf::from(format!("{}.toml", record.name)),
        out: options.out.clone(),
        on: Place::Local,
        pool: options.pool.clone(),
        slurm: String::new(),
        store: None,
        yes: true,
    };
    execution::do_study(&run, &study, &planned, &StudyRecord { version: version(), ..record })?;
    compare(path, &parts, &options.out)
}

pub(super) fn verify(options: &VerifyOptions) -> Result<(), Failure> {
    compare(&options.archive, &read(&options.archive)?, &options.folder)
}

/// Whether a folder has found what the archive says.
fn compare(path: &Path, parts: &BTreeMap<String, Vec<u8>>, folder: &Path) -> Result<(), Failure> {
    let record: StudyRecord = parsed(path, parts, RECORD)?;
    let mut opened = Opened::new(&folder.display().to_string(), Some(&record.name))?;
    let rows = opened.store.rows(opened.id, &opened.study, &Query::default())?;
    let rows: Vec<ExportedRow> = rows.into_iter().map(|row| ExportedRow { row, cost: None }).collect();
    let found = export::csv(&opened.study, &rows, false);
    let archived = String::from_utf8_lossy(&parts[ROWS]);
    if found == archived {
        return crate::print(&format!("The repetition gave the same bytes: {} runs.\n", record.rows));
    }
    let differing: Vec<(&str, &str)> =
        archived.lines().zip(found.lines()).filter(|(one, other)| one != other).collect();
    let (one, other) = differing.first().copied().unwrap_or(("", ""));
    Err(Failure::Program(format!(
        "the repetition gave something else: {} of {} rows differ; the first was `{one}` and is `{other}`",
        differing.len().max(archived.lines().count().abs_diff(found.lines().count())),
        record.rows
    )))
}
