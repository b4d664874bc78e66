//! Tells programs that are files from built-in ones, and their arguments from ours.

use std::ffi::OsString;
use std::path::Path;

use clap::{CommandFactory, Parser};

use super::Options;

/// If these are the arguments of `hpcast run` for a program that is a file, the same as arguments of the hidden command that
/// runs it: everything from the program on is the program's.
pub(crate) fn rewritten(arguments: Vec<OsString>, is_built_in: impl Fn(&str) -> bool) -> Vec<OsString> {
    if arguments.get(1).is_none_or(|command| command != "run") {
        return arguments;
    }
    let Some(place) = first_positional(&arguments) else { return arguments };
    let program = arguments[place].to_string_lossy();
    let is_file = program.contains('/')
        || !is_built_in(&program)
            && (Path::new(&*program).is_file() || hpcast_emulate::find(&arguments[place]).is_some());
    if !is_file {
        return arguments;
    }
    let mut rewritten = arguments;
    rewritten[1] = "run-program".into();
    if rewritten[place - 1] != "--" {
        rewritten.insert(place, "--".into());
    }
    rewritten
}

/// Where the first argument is that is no option and no value of one.
pub(super) fn first_positional(arguments: &[OsString]) -> Option<usize> {
    #[derive(Parser)]
    struct Standalone {
        #[command(flatten)]
        options: Options,
    }
    let command = Standalone::command();
    let takes_value = |option: &str| {
        let is_meant = |argument: &&clap::Arg| match option.strip_prefix("--") {
            Some(long) => argument.get_long() == Some(long),
            None => argument.get_short() == option.chars().nth(1),
        };
        let is_alone = option.len() == 2 || option.starts_with("--");
        is_alone
            && command
                .get_arguments()
                .find(is_meant)
                .is_some_and(|argument| argument.get_action().takes_values() && !argument.is_require_equals_set())
    };
    let mut place = 2;
    while let Some(argument) = arguments.get(place) {
        let text = argument.to_string_lossy();
        if text == "--" {
            return (place + 1 < arguments.len()).then_some(place + 1);
        }
        if !text.starts_with('-') {
            return Some(place);
        }
        place += if takes_value(&text) { 2 } else { 1 };
    }
    None
}
