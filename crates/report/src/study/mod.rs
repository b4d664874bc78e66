//! What studies say, for people: Markdown, and a page to look at.

mod findings;
mod markdown;
mod page;

pub use findings::{Findings, figure};
pub use markdown::markdown;
pub use page::{Edition, SCRIPT, Served, analyses, html, is_shown, news};

#[cfg(test)]
mod tests;
