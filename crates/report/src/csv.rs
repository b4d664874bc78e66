//! A run as CSV (RFC 4180): one line a size, with what the run was in front, so that files of several runs can be
//! put below each other. It holds nothing that varies between two equal runs.

use crate::run_report::RunReport;
use crate::table::{Cell, Column, Table};

/// The run as CSV with a header line: the rows of its table, or one row of totals if it has no table.
pub fn table(report: &RunReport) -> String {
    let mut text = String::new();
    let run = [
        ("program", report.program.clone()),
        ("machine", report.machine.name.clone()),
        ("network", report.network.clone()),
        ("ranks", report.ranks.to_string()),
        ("seed", report.seed.to_string()),
    ];
    let totals;
    let table = if report.table.columns().is_empty() {
        totals = total_row(report);
        &totals
    } else {
        &report.table
    };
    let keys = table.columns().iter().map(|column| column.key.as_str());
    // A column of the table says more than the run as a whole.
    let run: Vec<_> = run.into_iter().filter(|(key, _)| keys.clone().all(|column| column != *key)).collect();
    line(&mut text, run.iter().map(|(key, _)| *key).chain(keys));
    for row in table.rows() {
        let cells: Vec<String> = row.iter().map(Cell::plain).collect();
        line(&mut text, run.iter().map(|(_, value)| value.as_str()).chain(cells.iter().map(String::as_str)));
    }
    text
}

/// A table by itself, with a header line.
pub fn plain(table: &Table) -> String {
    let mut text = String::new();
    line(&mut text, table.columns().iter().map(|column| column.key.as_str()));
    for row in table.rows() {
        let cells: Vec<String> = row.iter().map(Cell::plain).collect();
        line(&mut text, cells.iter().map(String::as_str));
    }
    text
}

fn total_row(report: &RunReport) -> Table {
    let columns = ["simulated_seconds", "messages", "bytes"].map(|key| Column::new(key, key));
    let mut table = Table::new(columns);
    table.push([Cell::Seconds(report.simulated_seconds), Cell::Count(report.messages), Cell::Size(report.bytes)]);
    table
}

/// Adds a line; fields are quoted where they have to be.
pub fn line<'a>(text: &mut String, fields: impl Iterator<Item = &'a str>) {
    for (place, field) in fields.enumerate() {
        if place > 0 {
            text.push(',');
        }
        if field.contains(['"', ',', '\n', '\r']) {
            text.push('"');
            text.push_str(&field.replace('"', "\"\""));
            text.push('"');
        } else {
            text.push_str(field);
        }
    }
    text.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run_report::tests::example;

    #[test]
    fn one_line_a_size() {
        assert_eq!(
            table(&example()),
            "program,machine,network,ranks,seed,size_bytes,mean_seconds,algorithm\n\
             allreduce,Frontera,flow,4,1,8,1.5e-6,recursive doubling\n\
             allreduce,Frontera,flow,4,1,65536,0.00025,ring\n"
        );
    }

    #[test]
    fn totals_where_there_is_no_table() {
        let mut report = example();
        report.table = Table::default();
        assert_eq!(
            table(&report),
            "program,machine,network,ranks,seed,simulated_seconds,messages,bytes\n\
             allreduce,Frontera,flow,4,1,0.002,16,262176\n"
        );
    }

    #[test]
    fn a_table_without_rows_is_a_header() {
        let mut report = example();
        report.table = Table::new([Column::new("size", "size_bytes")]);
        assert_eq!(table(&report), "program,machine,network,ranks,seed,size_bytes\n");
    }

    #[test]
    fn commas_and_quotes_are_quoted() {
        let mut report = example();
        report.machine.name = "one, \"two\"".into();
        assert!(table(&report).contains("allreduce,\"one, \"\"two\"\"\",flow"));
    }
}
