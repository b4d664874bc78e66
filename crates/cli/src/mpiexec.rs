//! `mpiexec` and `mpirun` beside our compiler wrappers. Builds look for them: CMake takes the compiler wrappers of whatever MPI has
//! the `mpiexec` that it finds first. So do tests that come with a program.

use std::ffi::{OsStr, OsString};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use crate::failure::Failure;
use crate::print;

/// Their names in the folder of wrappers.
pub(crate) const NAMES: [&str; 2] = ["mpiexec", "mpirun"];

/// What `hpcast run` is told beside the number of ranks and the program.
const VARIABLE: &str = "HPCAST_RUN";

/// If these are the arguments of `mpiexec`, becomes the `hpcast run` that does it: comes back only if that is not possible.
pub(crate) fn if_asked(arguments: &[OsString]) -> Option<Result<(), Failure>> {
    let name = arguments.first().and_then(|program| Path::new(program).file_name()).and_then(OsStr::to_str)?;
    NAMES.contains(&name).then(|| execute(&arguments[1..]))
}

fn execute(arguments: &[OsString]) -> Result<(), Failure> {
    if arguments.first().is_some_and(|first| first == "--version" || first == "-V") {
        return print(&format!("mpiexec (hpcast) {}\n", env!("CARGO_PKG_VERSION")));
    }
    let (ranks, program) = asked(arguments)?;
    let options = std::env::var(VARIABLE).unwrap_or_default();
    if options.trim().is_empty() {
        return Err(Failure::input(format!(
            "mpiexec does not know which machine is simulated\n  say what `hpcast run` needs in {VARIABLE}, such as \
             {VARIABLE}=\"-m machines/dahu.toml --compute skip\""
        )));
    }
    let own = std::env::current_exe().map_err(|error| Failure::input(format!("hpcast is not to be found: {error}")))?;
    let error = Command::new(own).arg("run").args(options.split_whitespace()).args(ranks).args(program).exec();
    Err(Failure::input(format!("hpcast run cannot be started: {error}")))
}

/// How many ranks, as `hpcast run` has it, and the program with its arguments.
fn asked(arguments: &[OsString]) -> Result<([OsString; 2], &[OsString]), Failure> {
    let mut ranks = OsString::from("1");
    let mut rest = arguments;
    while let [option, more @ ..] = rest {
        match option.to_str() {
            Some("-n" | "-np" | "--n" | "--np" | "-c") => {
                let [number, more @ ..] = more else {
                    return Err(Failure::input("mpiexec: -n needs the number of ranks"));
                };
                ranks.clone_from(number);
                rest = more;
            }
            // What builds tell Open MPI so that it runs more ranks than there are cores, and as root.
            Some("--oversubscribe" | "-oversubscribe" | "--allow-run-as-root") => rest = more,
            Some(other) if other.starts_with('-') => {
                return Err(Failure::input(format!(
                    "mpiexec: {other} is not known here\n  leave it out, or name options of `hpcast run` in {VARIABLE}"
                )));
            }
            _ => return Ok((["-n".into(), ranks], rest)),
        }
    }
    Err(Failure::input("mpiexec: no program is named"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(words: &str) -> Option<String> {
        let arguments: Vec<OsString> = words.split(' ').map(OsString::from).collect();
        let (ranks, program) = asked(&arguments).ok()?;
        let all: Vec<_> = ranks.iter().chain(program).map(|word| word.to_string_lossy()).collect();
        Some(all.join(" "))
    }

    #[test]
    fn ranks_and_program_are_found() {
        assert_eq!(read("-n 4 ./a -n 5").as_deref(), Some("-n 4 ./a -n 5"));
        assert_eq!(read("--oversubscribe -np 2 ./a").as_deref(), Some("-n 2 ./a"));
        assert_eq!(read("./a b").as_deref(), Some("-n 1 ./a b"));
        assert_eq!(read("-n 4"), None);
        assert_eq!(read("-n"), None);
        assert_eq!(read("--hostfile h ./a"), None);
    }
}
