//! How sure the forecasts of a study are by themselves: HPL's say how far off they may be.

use hpcast_study::store::{Store, StudyRecord, StudyRow};

use crate::failure::Failure;

/// The figure of a run that says so, and the one that it is about.
const UNCERTAINTY: &str = "uncertainty_seconds";
const TIME: &str = "seconds";
/// Figures that are the time, or so much work in that time.
const GOING_WITH_TIME: [&str; 3] = [TIME, "gflops", "efficiency"];
/// Times are off by no more than the uncertainty with 95 % confidence: so many standard deviations.
const DEVIATIONS: f64 = 2.0;

/// The standard deviation of each row's first response; nothing where runs say nothing of it. Where runs are repeated, that
/// they differ says more: what curves through samples miss is much the same for all of them.
pub(crate) fn uncertainty(
    store: &mut Store,
    study: &StudyRecord,
    rows: &[StudyRow],
) -> Result<Option<Vec<f64>>, Failure> {
    let Some(name) = study.responses.first().map(|response| response.name.as_str()) else { return Ok(None) };
    let done: Vec<_> = rows.iter().filter(|row| row.is_done).map(|row| &row.key).collect();
    let is_repeated = rows.iter().any(|row| row.repetition > 0);
    let Some(first) = done.first().filter(|_| GOING_WITH_TIME.contains(&name) && !is_repeated) else { return Ok(None) };
    // A million runs that say nothing of it need not be read to know that.
    if !store.finished(&[*first])?.values().any(|figures| figures.contains_key(UNCERTAINTY)) {
        return Ok(None);
    }
    let figures = store.finished(&done)?;
    let deviation = |row: &StudyRow| {
        let (figures, value) = (figures.get(&row.key)?, row.responses.first().copied().flatten()?);
        // A study may call something else by this name.
        let is_meant = figures.get(name) == Some(&value);
        is_meant.then_some(value.abs() * figures.get(UNCERTAINTY)? / figures.get(TIME)? / DEVIATIONS)
    };
    let deviations: Vec<f64> = rows.iter().map(|row| deviation(row).unwrap_or(f64::NAN)).collect();
    Ok(Some(deviations).filter(|all| all.iter().any(|own| *own > 0.0)))
}
