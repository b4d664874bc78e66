//! Tables of measured calls: options of the commands that read them.

use std::collections::BTreeMap;
use std::sync::Arc;

use clap::Args;
use hpcast_calibrate::kernel::Calls;
use hpcast_calibrate::table::{Table, TableError};
use hpcast_models::compute::CallTable;
use hpcast_platform::diagnostic::{Diagnostic, Source};

use crate::failure::Failure;

/// Which columns and rows of a table count.
#[derive(Args)]
pub(crate) struct CallOptions {
    /// The column of an argument, if it has another name than in the terms: M=rows
    #[arg(long, value_name = "ARGUMENT=COLUMN")]
    argument: Vec<String>,
    /// The column of durations, in seconds (default: seconds, duration or time)
    #[arg(long, value_name = "COLUMN")]
    seconds: Option<String>,
    /// One model for all processors, although the table tells them apart by columns node and socket (or cpu)
    #[arg(long)]
    alike: bool,
    /// Only rows whose column has this value: jobid=1960066
    #[arg(long, value_name = "COLUMN=VALUE")]
    only: Vec<String>,
}

impl CallOptions {
    /// Which columns of a table hold these arguments, and what else is needed. What is not said is as it was `before`, or
    /// else found in the table's header.
    pub fn layout(
        &self,
        source: &Arc<Source>,
        arguments: &[&str],
        before: Option<&CallTable>,
    ) -> Result<CallTable, Failure> {
        let header = Table::header(&source.text).map_err(|error| unreadable(source, &error))?;
        let find = |names: &[&str]| {
            let same = |name: &&&str| header.iter().any(|column| column.eq_ignore_ascii_case(name));
            names.iter().find(same).map(|name| (*name).to_owned())
        };
        let renamed = pairs("--argument", &self.argument)?;
        let column = |name: &str| {
            let said = renamed.iter().find(|(argument, _)| argument == name).map(|(_, column)| column);
            said.or_else(|| before?.arguments.get(name)).cloned().unwrap_or_else(|| name.to_owned())
        };
        let seconds = self.seconds.clone().or_else(|| Some(before?.seconds.clone()));
        let usual = || find(&["seconds", "duration", "time"]).unwrap_or_else(|| "seconds".into());
        let processor = match before {
            Some(before) => before.processor.clone(),
            None => find(&["node"]).zip(find(&["socket", "cpu"])),
        };
        let only: BTreeMap<String, String> = pairs("--only", &self.only)?.into_iter().collect();
        let before_only = before.map(|before| before.only.clone()).unwrap_or_default();
        Ok(CallTable {
            file: String::new(),
            arguments: arguments.iter().map(|name| ((*name).to_owned(), column(name))).collect(),
            seconds: seconds.unwrap_or_else(usual),
            processor: processor.filter(|_| !self.alike),
            only: if only.is_empty() { before_only } else { only },
        })
    }
}

/// A table that was read.
pub(crate) struct CallData {
    table: Table,
    layout: CallTable,
}

impl CallData {
    pub fn read(source: &Arc<Source>, layout: CallTable) -> Result<CallData, Failure> {
        let processor = layout.processor.iter().flat_map(|(node, socket)| [node, socket]);
        let wanted: Vec<&str> =
            layout.arguments.values().chain([&layout.seconds]).chain(processor).map(String::as_str).collect();
        let only: Vec<(String, String)> = layout.only.clone().into_iter().collect();
        let table = Table::read(&source.text, &wanted, &only).map_err(|error| unreadable(source, &error))?;
        Ok(CallData { table, layout })
    }

    pub fn rows(&self) -> u64 {
        self.table.rows() as u64
    }

    /// The calls, with these arguments in this order.
    pub fn calls(&self, arguments: &[&str]) -> Calls<'_> {
        // All that the layout names was read.
        let column = |name: &str| self.table.column(name).unwrap_or_default();
        let argument = |name: &&str| Some(((*name).to_owned(), column(self.layout.arguments.get(*name)?)));
        let processors = self.layout.processor.iter().flat_map(|(node, socket)| {
            let both = column(node).iter().zip(column(socket));
            both.map(|(node, socket)| (*node as u32, *socket as u32))
        });
        Calls {
            arguments: arguments.iter().filter_map(argument).collect(),
            seconds: column(&self.layout.seconds),
            processors: processors.collect(),
        }
    }
}

/// What stands before and after the equals signs.
pub(crate) fn pairs(option: &str, texts: &[String]) -> Result<Vec<(String, String)>, Failure> {
    let pair = |text: &String| match text.split_once('=') {
        Some((left, right)) => Ok((left.trim().to_owned(), right.trim().to_owned())),
        None => Err(Failure::input(format!("{option} {text}: write two names with `=` between them"))),
    };
    texts.iter().map(pair).collect()
}

pub(crate) fn unreadable(source: &Arc<Source>, error: &TableError) -> Diagnostic {
    in_table(source, error.line(), &error.to_string(), error.remedy())
}

/// Where in a table something is wrong, and what to do about it.
pub(crate) fn in_table(source: &Arc<Source>, line: Option<u64>, message: &str, remedy: &str) -> Diagnostic {
    match line {
        Some(line) => {
            let message = message.strip_prefix(&format!("line {line}: ")).unwrap_or(message);
            Diagnostic::error(message, remedy).at(source, source.word(line as usize, 1))
        }
        None => Diagnostic::error(message, remedy).within(source),
    }
}
