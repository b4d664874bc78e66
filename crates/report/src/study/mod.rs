//! What studies say, for people: Markdown, and a page to look at.

mod findings;
mod levels_plot;
mod markdown;
mod page;

pub use findings::{Findings, figure, with_unit};
pub use levels_plot::{LevelsPlot, PlottedLevel};
pub use markdown::markdown;
pub use page::{Edition, SCRIPT, Served, analyses, html, is_shown, news};

#[cfg(test)]
mod tests;
