//! Runs a program with the MPI library that it was built for.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::File;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use hpcast_emulate::abi::Library;

use crate::failure::Failure;

/// What ranks have written to standard output, and the exit code.
pub(super) struct Ran {
    /// The command, for people.
    pub command: String,
    pub code: i32,
    pub texts: BTreeMap<u32, String>,
    /// What was written to standard error.
    pub messages: String,
}

/// How to start a program on several ranks.
pub(super) struct Launcher {
    /// None: without MPI.
    library: Option<Library>,
    command: String,
}

impl Launcher {
    /// The one that fits the library; it must be installed.
    pub fn of(library: Option<Library>) -> Result<Launcher, Failure> {
        let (names, title, says): (&[&str], _, _) = match library {
            None => return Ok(Launcher { library, command: String::new() }),
            Some(Library::OpenMpi) => (&["mpirun.openmpi", "mpirun"], "Open MPI", ["Open MPI", "open-mpi"]),
            Some(Library::Mpich) => (&["mpiexec.mpich", "mpiexec.hydra", "mpiexec"], "MPICH", ["HYDRA", "MPICH"]),
            Some(Library::Standard) => {
                let what = "it was compiled for hpcast, and there is no other library that it could run with";
                return Err(Failure::input(format!("--verify: {what}; compile it with mpicc of Open MPI or MPICH")));
            }
        };
        let fits = |name: &&&str| {
            let told = Command::new(name).arg("--version").stdin(Stdio::null()).output();
            told.is_ok_and(|told| says.iter().any(|word| String::from_utf8_lossy(&told.stdout).contains(word)))
        };
        match names.iter().find(fits) {
            Some(name) => Ok(Launcher { library, command: (*name).to_owned() }),
            None => Err(Failure::input(format!(
                "--verify: the program was built for {title}, but its {} is not there; install it, or add it to PATH",
                names.join(" or ")
            ))),
        }
    }

    /// Runs a program in a folder.
    pub fn run(&self, ranks: u32, program: &[OsString], folder: &Path, input: Option<&Path>) -> Result<Ran, Failure> {
        let Some(library) = self.library else { return alone(ranks, program, folder, input) };
        let mut command = Command::new(&self.command);
        command.args(["-n", &ranks.to_string()]);
        // More ranks than cores, and root in containers, are no reason not to run.
        command
            .env("OMPI_MCA_rmaps_base_oversubscribe", "1")
            .env("PRTE_MCA_rmaps_default_mapping_policy", ":oversubscribe");
        command.env("OMPI_ALLOW_RUN_AS_ROOT", "1").env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
        command.arg(if library == Library::OpenMpi { "--tag-output" } else { "-prepend-rank" });
        command.args(program);
        let output = run(&mut command, folder, input)?;
        Ok(Ran {
            command: format!("{} -n {ranks}", self.command),
            code: code(&output),
            texts: by_rank(&String::from_utf8_lossy(&output.stdout)),
            messages: String::from_utf8_lossy(&output.stderr).into_owned(),
        })
    }
}

/// Runs a program without MPI: so many times.
fn alone(ranks: u32, program: &[OsString], folder: &Path, input: Option<&Path>) -> Result<Ran, Failure> {
    let mut ran = Ran { command: format!("{ranks} runs"), code: 0, texts: BTreeMap::new(), messages: String::new() };
    for rank in 0..ranks {
        let output = run(Command::new(&program[0]).args(&program[1..]), folder, input.filter(|_| rank == 0))?;
        ran.code = if ran.code == 0 { code(&output) } else { ran.code };
        ran.texts.insert(rank, String::from_utf8_lossy(&output.stdout).into_owned());
        ran.messages += &String::from_utf8_lossy(&output.stderr);
    }
    Ok(ran)
}

/// Runs a command in a folder, with this file as its input.
pub(super) fn run(command: &mut Command, folder: &Path, input: Option<&Path>) -> Result<Output, Failure> {
    let input = match input {
        Some(path) => File::open(path).map_or_else(|_| Stdio::null(), Stdio::from),
        None => Stdio::null(),
    };
    let output = command.current_dir(folder).stdin(input).output();
    output.map_err(|error| Failure::input(format!("cannot run {}: {error}", command.get_program().display())))
}

/// As shells have it.
pub(super) fn code(output: &Output) -> i32 {
    use std::os::unix::process::ExitStatusExt;
    output.status.code().unwrap_or_else(|| 128 + output.status.signal().unwrap_or(0))
}

/// Lines by the rank that they begin with: `[3] text`, or `[1,3]<stdout>:text` as Open MPI has it.
pub(super) fn by_rank(text: &str) -> BTreeMap<u32, String> {
    let mut texts: BTreeMap<u32, String> = BTreeMap::new();
    for line in text.lines() {
        let (rank, rest) = prefix(line).unwrap_or((u32::MAX, line));
        let text = texts.entry(rank).or_default();
        *text += rest;
        text.push('\n');
    }
    texts
}

fn prefix(line: &str) -> Option<(u32, &str)> {
    let (inside, rest) = line.strip_prefix('[')?.split_once(']')?;
    let rank = inside.rsplit(',').next()?.trim().parse().ok()?;
    let rest = match rest.strip_prefix("<stdout>:") {
        Some(rest) => rest,
        None => rest.strip_prefix(' ').unwrap_or(rest),
    };
    Some((rank, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_belong_to_ranks() {
        let texts = by_rank("[1,0]<stdout>:a\n[3] b\n[1,0]<stdout>: c\nnobody's\n[3] \n");
        assert_eq!(texts[&0], "a\n c\n");
        assert_eq!(texts[&3], "b\n\n");
        assert_eq!(texts[&u32::MAX], "nobody's\n");
    }
}
