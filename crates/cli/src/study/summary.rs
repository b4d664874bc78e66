//! What `hpcast study run` prints at its end.

use hpcast_report::study::with_unit;
use hpcast_study::store::{Query, StudyRecord};
use hpcast_units::count;

use super::execution::Keeper;
use crate::failure::Failure;

pub(super) fn text(record: &StudyRecord, keeper: &mut Keeper<'_>, found: usize) -> Result<String, Failure> {
    let rows = keeper.store.count(keeper.id, record, &Query::default())?;
    let done = Query { conditions: vec!["status=done".parse()?], ..Query::default() };
    let done = keeper.store.count(keeper.id, record, &done)?;
    let mut text = format!("{}\n", record.title);
    text += &format!("runs       {} of {}", count(done), count(record.rows));
    text += &format!(", {} of them done now, {} known before\n", count(keeper.ended as u64), count(found as u64));
    if rows > done {
        text += &format!("failed     {}\n", count(rows - done));
    }
    if let Some(response) = record.responses.first() {
        let best = Query {
            sort: Some(response.name.clone()),
            descending: response.higher_is_better,
            limit: Some(1),
            ..Query::default()
        };
        for row in keeper.store.rows(keeper.id, record, &best)? {
            let levels =
                record.factors.iter().zip(&row.levels).map(|(factor, (level, _))| format!("{} {level}", factor.name));
            let levels: Vec<String> = levels.collect();
            if let Some(value) = row.responses[0] {
                text += &format!(
                    "best       {} {}: {}\n",
                    response.name,
                    with_unit(&response.name, value),
                    levels.join(", ")
                );
            }
        }
    }
    Ok(text)
}
