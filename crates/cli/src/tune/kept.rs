//! What a search has tried, kept in the folder of a study: nothing is tried twice, and `hpcast runs` and reports show it.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use hpcast_study::document::{Document, Fingerprint};
use hpcast_study::execute::Ended;
use hpcast_study::file::Study;
use hpcast_study::planned::PlannedRun;
use hpcast_study::run::Outputs;
use hpcast_study::store::{RunRecord, Store, StudyId, StudyRecord, StudyRow};

use crate::failure::Failure;
use crate::study::{Folder, figure_of, note};

/// The store of a search.
pub(super) struct Kept {
    store: Store,
    id: StudyId,
    _folder: Folder,
}

impl Kept {
    /// In that folder, beside what is there.
    pub fn open(out: &Path, study: &Study, name: &str, budget: u32) -> Result<Kept, Failure> {
        let folder = Folder::open(out, study, None)?;
        note(out, study)?;
        let mut store = Store::open(&folder.location)?;
        let id = store.begin_study(&record(study, name, budget))?;
        // Another search asks for other runs; what it has in common with this one is known all the same.
        store.remove_stale(id, |_, _| false)?;
        Ok(Kept { store, id, _folder: folder })
    }

    /// What is known of runs from before.
    pub fn known(&mut self, runs: &[PlannedRun]) -> Result<HashMap<Fingerprint, Outputs>, Failure> {
        let keys: Vec<Fingerprint> = runs.iter().map(|run| run.inputs.key()).collect();
        let found = self.store.finished(&keys.iter().collect::<Vec<_>>())?;
        Ok(found.into_iter().map(|(key, figures)| (key, Outputs { figures, ..Outputs::default() })).collect())
    }

    pub fn add_documents(&mut self, documents: &BTreeMap<Fingerprint, Document>) -> Result<(), Failure> {
        let documents: Vec<_> = documents.iter().map(|(key, document)| (key.clone(), document)).collect();
        Ok(self.store.add_documents(&documents)?)
    }

    /// Keeps a run that has ended.
    pub fn add_run(&mut self, run: &PlannedRun, ended: &Ended) -> Result<(), Failure> {
        let record = RunRecord { key: run.inputs.key(), inputs: run.inputs.clone(), ending: ended.ending.clone() };
        Ok(self.store.add(self.id, &[record], &[])?)
    }

    /// Keeps what a full run has found as a row.
    pub fn add_row(&mut self, study: &Study, run: &PlannedRun, outputs: &Outputs) -> Result<(), Failure> {
        let row = StudyRow {
            row: run.point,
            point: run.point,
            repetition: run.repetition,
            seed: run.inputs.seed,
            key: run.inputs.key(),
            is_done: true,
            levels: run.levels.clone(),
            responses: study.responses.iter().map(|response| figure_of(&response.figure, outputs)).collect(),
        };
        Ok(self.store.add(self.id, &[], &[row])?)
    }
}

/// What the store says of the search.
fn record(study: &Study, name: &str, budget: u32) -> StudyRecord {
    let record = crate::study::record(study, format!("{name}-tuned"), budget.into());
    StudyRecord { title: format!("{} (the best is searched)", study.title), design: "tune".into(), ..record }
}
