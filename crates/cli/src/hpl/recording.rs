//! What the fidelity test needs: pivots of a real run, and a record of what each rank did.

use std::path::Path;

use hpcast_apps::hpl::{Pivots, Recorder};
use hpcast_platform::diagnostic::{Diagnostic, Source};
use hpcast_report::write_file;

use crate::failure::Failure;

/// Reads the rows that are swapped with the diagonal, a line a column.
pub(super) fn pivots(path: &Path, n: u64) -> Result<Pivots, Failure> {
    let source = Source::read(path)?;
    let mut rows = Vec::new();
    for (column, line) in source.text.lines().enumerate() {
        match line.trim().parse::<u64>() {
            Ok(row) if (column as u64..n).contains(&row) => rows.push(row),
            _ => {
                let place = source.word(column + 1, 1);
                let message = format!("`{line}` is no row from {column} to {}", n - 1);
                let remedy = "write the pivot row of each column, counted from 0, a line each";
                return Err(Diagnostic::error(message, remedy).at(&source, place).into());
            }
        }
    }
    if rows.len() as u64 != n {
        return Err(Failure::input(format!("{}: {} pivots for {n} columns", path.display(), rows.len())));
    }
    Ok(Pivots::Listed(rows.into()))
}

/// Writes a file a rank.
pub(super) fn write(folder: &Path, recorded: Recorder) -> Result<(), Failure> {
    let failed = |error| Failure::input(format!("cannot create the folder {}: {error}", folder.display()));
    std::fs::create_dir_all(folder).map_err(failed)?;
    for (rank, lines) in recorded.into_lines().iter().enumerate() {
        write_file(&folder.join(format!("rank-{rank:05}.txt")), lines.as_bytes())?;
    }
    Ok(())
}
