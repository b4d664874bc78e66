//! Options that stand in files as words of a command line.

use clap::{Args, Parser};

/// Words of a command line.
#[derive(Parser)]
#[command(no_binary_name = true, disable_help_flag = true)]
struct Words<T: Args> {
    #[command(flatten)]
    given: T,
}

/// The options that these words give.
pub(crate) fn options<T: Args>(words: impl IntoIterator<Item = String>) -> Result<T, clap::Error> {
    Words::<T>::try_parse_from(words).map(|words| words.given)
}

/// What is wrong with words, and what to do about it.
pub(crate) fn said(error: &clap::Error) -> (String, String) {
    let said = error.to_string();
    let is_about_it = |line: &&str| !line.is_empty() && !line.starts_with("Usage:") && !line.starts_with("For more");
    let mut lines = said.lines().map(str::trim).filter(is_about_it);
    let message = lines.next().unwrap_or_default().trim_start_matches("error: ").to_owned();
    let remedy = match lines.collect::<Vec<_>>().join(" ") {
        nothing if nothing.is_empty() => "correct it, or remove it".into(),
        remedy => remedy.replace("tip: ", ""),
    };
    (message, remedy)
}
