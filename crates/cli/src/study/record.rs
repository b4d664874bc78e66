//! What a store knows of a study.

use hpcast_study::file::{ResponseSpec, Study, StudyFactor, Values};
use hpcast_study::frame::Better;
use hpcast_study::store::{FactorColumn, ResponseColumn, StudyRecord};

use super::version;

/// A study of that name and so many rows, with all levels that its factors may have.
pub(crate) fn record(study: &Study, name: String, rows: u64) -> StudyRecord {
    StudyRecord {
        name,
        title: study.title.clone(),
        question: study.question.clone(),
        file: study.source().text.clone(),
        design: study.design.name().into(),
        factors: study.factors.iter().map(column).collect(),
        responses: study.responses.iter().map(response).collect(),
        baseline: study.baseline.clone(),
        rows,
        version: version(),
        created: hpcast_report::utc(std::time::SystemTime::now()),
    }
}

fn column(factor: &StudyFactor) -> FactorColumn {
    let (levels, numeric) = match &factor.values {
        Values::Levels(levels) => {
            (levels.iter().map(|level| level.text.clone()).collect(), levels.iter().all(|level| level.number.is_some()))
        }
        Values::Range(_) => (Vec::new(), true),
    };
    let continuous = matches!(factor.values, Values::Range(_));
    FactorColumn { name: factor.name.clone(), levels, numeric, continuous }
}

fn response(response: &ResponseSpec) -> ResponseColumn {
    ResponseColumn { name: response.name.clone(), higher_is_better: response.better == Better::Higher }
}
