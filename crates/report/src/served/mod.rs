//! Pages that `hpcast serve` shows beside those of studies: all studies, all runs, one run. Nothing in them comes from elsewhere.

mod run;
mod runs;
mod studies;

use hpcast_platform::draw::escape;
use hpcast_units::count;

use crate::html::{LINKED_STYLE, head};

pub use run::RunPage;
pub use runs::{RunColumn, RunLine, RunsPage, Selection};
pub use studies::{StudiesPage, StudyLine};

/// The script of these pages.
pub const SCRIPT: &str = include_str!("served.js");

/// The style of all pages that are served.
pub const STYLE: &str = concat!(include_str!("../study/page.css"), include_str!("served.css"));

/// How far a study is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Standing {
    /// Runs that have found something.
    pub done: u64,
    /// Runs that have found nothing.
    pub failed: u64,
    /// Runs when all is done.
    pub planned: u64,
    /// Whether somebody is at it now.
    pub is_running: bool,
}

impl Standing {
    /// A bar, and the same in words.
    pub fn html(&self) -> String {
        let Standing { done, failed, planned, is_running } = *self;
        let mut said = format!("{} of {} runs", count(done), count(planned));
        if failed > 0 {
            said += &format!(", <span class=\"failed\">{} failed</span>", count(failed));
        }
        let state = match () {
            () if is_running => "<span class=\"state running\">running</span>",
            () if done == planned => "<span class=\"state\">complete</span>",
            () if done + failed >= planned => "<span class=\"state\">ended</span>",
            () => "<span class=\"state\">stopped</span>",
        };
        format!("<progress max=\"{}\" value=\"{}\"></progress> {said} {state}", planned.max(1), done + failed)
    }
}

/// A page that says why there is no other.
pub fn problem(title: &str, message: &str) -> String {
    format!(
        "{}<h1>{}</h1>\n<p class=\"answer\">{}</p>\n<p><a href=\"/\">All studies</a></p></body></html>\n",
        head(title, LINKED_STYLE),
        escape(title),
        escape(message)
    )
}

#[cfg(test)]
mod tests;
