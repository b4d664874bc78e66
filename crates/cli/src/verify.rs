//! `hpcast run --verify`: runs a program natively and simulated, and compares what it does.

mod folder;
mod lines;
mod native;
mod outcome;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;

use hpcast_report::write_file;

use crate::failure::Failure;
use folder::Scratch;
use native::{Launcher, Ran};
use outcome::{Difference, Outcome};

/// What is to be compared.
pub(crate) struct Verification<'o> {
    pub ranks: u32,
    /// The program and its arguments.
    pub program: &'o [OsString],
    /// By how much numbers may differ.
    pub tolerance: f64,
    /// Where the report for programs goes.
    pub json: Option<&'o Path>,
    /// Arguments of hpcast for the simulated run, without the program.
    pub arguments: Vec<OsString>,
}

impl Verification<'_> {
    /// Exit code 1 if the runs differ.
    pub fn run(&self) -> Result<(), Failure> {
        let here = std::env::current_dir().map_err(|error| Failure::input(format!("no working folder: {error}")))?;
        let path = PathBuf::from(&self.program[0]);
        let absolute = here.join(&path);
        let library = hpcast_emulate::library(&absolute).map_err(|error| crate::launch::failure(&path, &error))?;
        let launcher = Launcher::of(library)?;
        let mut program = self.program.to_vec();
        program[0] = absolute.into();
        let files = folder::files(&here)?;
        let [first, second] = [Scratch::new("native")?, Scratch::new("simulated")?];
        folder::copy(&files, &here, first.path())?;
        folder::copy(&files, &here, second.path())?;
        let input =
            std::fs::metadata("/dev/stdin").is_ok_and(|input| input.is_file()).then_some(Path::new("/dev/stdin"));
        let native = launcher.run(self.ranks, &program, first.path(), input)?;
        let simulated = self.simulate(&program, second.path(), input)?;
        let mut outcome = self.compare(&native, &simulated);
        let written = |scratch: &Scratch| folder::written(&here, scratch.path());
        self.compare_files(&written(&first)?, &written(&second)?, &mut outcome);
        drop((first, second));
        if let Some(path) = self.json {
            if path == Path::new("-") {
                crate::print(&outcome.json())?;
            } else {
                write_file(path, outcome.json().as_bytes())?;
            }
        }
        if self.json != Some(Path::new("-")) {
            crate::print(&outcome.text())?;
        }
        if outcome.is_same() { Ok(()) } else { std::process::exit(1) }
    }

    /// Another hpcast simulates it, so that its output can be read.
    fn simulate(&self, program: &[OsString], folder: &Path, input: Option<&Path>) -> Result<Ran, Failure> {
        let own = std::env::current_exe().map_err(|error| Failure::input(format!("cannot find myself: {error}")))?;
        let mut command = Command::new(own);
        command.arg("run").args(&self.arguments).args(["--prefix".as_ref(), "--wdir".as_ref(), folder.as_os_str()]);
        command.arg("--").args(program);
        // Files on our own command line are named from where we are.
        let here = std::env::current_dir().unwrap_or_default();
        let output = native::run(&mut command, &here, input)?;
        let messages = String::from_utf8_lossy(&output.stderr).into_owned();
        let code = native::code(&output);
        if code == 2 && !messages.contains("Simulated time") {
            return Err(Failure::Input(messages.trim_start_matches("error: ").trim_end().to_owned()));
        }
        let texts = native::by_rank(&String::from_utf8_lossy(&output.stdout));
        Ok(Ran { command: format!("hpcast run -n {}", self.ranks), code, texts, messages })
    }

    fn compare(&self, native: &Ran, simulated: &Ran) -> Outcome {
        let mut outcome = Outcome {
            commands: [native.command.clone(), simulated.command.clone()],
            codes: [native.code, simulated.code],
            ..Outcome::default()
        };
        if native.code != simulated.code {
            outcome.messages = [native.messages.clone(), simulated.messages.clone()];
        }
        let ranks: BTreeSet<u32> = native.texts.keys().chain(simulated.texts.keys()).copied().collect();
        for rank in ranks {
            let text = |ran: &Ran| ran.texts.get(&rank).map(|text| without_hosts(text)).unwrap_or_default();
            let title = if rank == u32::MAX { "no rank".to_owned() } else { format!("rank {rank}") };
            self.compare_texts(title, &text(native), &text(simulated), &mut outcome);
        }
        outcome
    }

    fn compare_texts(&self, title: String, native: &str, simulated: &str, outcome: &mut Outcome) {
        let compared = lines::compare(native, simulated, self.tolerance);
        outcome.lines += compared.lines;
        outcome.times += compared.times;
        if !(compared.only_first.is_empty() && compared.only_second.is_empty()) {
            let (native, simulated) = (compared.only_first, compared.only_second);
            outcome.differences.push(Difference::Lines { title, native, simulated });
        }
    }

    fn compare_files(&self, native: &Files, simulated: &Files, outcome: &mut Outcome) {
        let names: BTreeSet<&PathBuf> = native.keys().chain(simulated.keys()).collect();
        for name in names {
            outcome.files += 1;
            let title = name.display().to_string();
            match (native.get(name), simulated.get(name)) {
                (Some(a), Some(b)) if a == b => {}
                (Some(a), Some(b)) => match (str::from_utf8(a), str::from_utf8(b)) {
                    (Ok(a), Ok(b)) => self.compare_texts(title, &without_hosts(a), &without_hosts(b), outcome),
                    _ => outcome.differences.push(Difference::bytes(title, a, b)),
                },
                (Some(_), None) => outcome.differences.push(Difference::OnlyNative(title)),
                (None, _) => outcome.differences.push(Difference::OnlySimulated(title)),
            }
        }
    }
}

/// Names of computers are no difference: ours, and those of simulated nodes.
fn without_hosts(text: &str) -> String {
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let is_host = |word: &str| {
        let is_node = word.strip_prefix("node").is_some_and(|number| number.parse::<u32>().is_ok());
        is_node || !word.is_empty() && word == host.trim()
    };
    let is_of_name = |c: char| c.is_alphanumeric() || c == '-' || c == '_';
    let mut changed = String::with_capacity(text.len());
    for piece in text.split_inclusive(|c| !is_of_name(c)) {
        let word = piece.trim_end_matches(|c| !is_of_name(c));
        changed += if is_host(word) { "(host)" } else { word };
        changed += &piece[word.len()..];
    }
    changed
}

type Files = BTreeMap<PathBuf, Vec<u8>>;

/// The arguments of this command for the simulated run: without those that it must not have.
pub(crate) fn arguments_for_simulation(options: &[OsString]) -> Vec<OsString> {
    let mut kept = Vec::new();
    let mut words = options.iter();
    while let Some(word) = words.next() {
        let text = word.to_string_lossy();
        let name = text.split('=').next().unwrap_or_default();
        match name {
            "--verify" | "--prefix" => {}
            "--json" | "--tolerance" | "--wdir" => {
                if !text.contains('=') {
                    words.next();
                }
            }
            _ => kept.push(word.clone()),
        }
    }
    kept.retain(|word| word != OsStr::new("--"));
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_computers_do_not_count() {
        let host = std::fs::read_to_string("/proc/sys/kernel/hostname").expect("a name");
        let text = format!("on '{}', node7 and node_7 of nodes", host.trim());
        assert_eq!(without_hosts(&text), "on '(host)', (host) and node_7 of nodes");
    }

    #[test]
    fn the_simulated_run_has_the_other_options() {
        let words = |text: &str| text.split(' ').map(OsString::from).collect::<Vec<_>>();
        let kept =
            arguments_for_simulation(&words("--verify -n 4 --json a.json --tolerance=1e-3 --prefix=time -m m.toml --"));
        assert_eq!(kept, words("-n 4 -m m.toml"));
    }
}
