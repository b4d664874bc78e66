//! A file of jobs.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use hpcast_apps::script::Script;
use hpcast_mpi::World;
use hpcast_platform::diagnostic::{Diagnostic, Diagnostics, Source};
use hpcast_platform::fields::{self, Reader, Section};
use hpcast_platform::placement::Policy;
use hpcast_units::Time;

use super::hpl::HplJob;
use crate::failure::Failure;
use crate::run::ProgramOptions;
use crate::words;

/// More ranks than fit into memory.
const MOST_RANKS: u32 = 1 << 28;

/// What a job runs.
pub(super) enum JobProgram {
    BuiltIn(ProgramOptions),
    /// Its name, its file, and what it says.
    Script(String, PathBuf, Script),
    Hpl(Box<HplJob>),
}

/// A job.
pub(super) struct Job {
    /// Its place in the file.
    number: usize,
    /// Its key in the file, for messages.
    pub key: String,
    pub name: String,
    pub program: JobProgram,
    pub ranks: u32,
    pub start: Time,
    /// Nodes that it has for itself, as a list.
    pub nodes: Option<String>,
    /// Nodes that it may use.
    pub allocation: Option<String>,
    /// Block if it does not say.
    pub policy: Option<Policy>,
    pub ranks_per_node: Option<u32>,
}

/// All jobs, and where they stand.
pub(super) struct JobFile {
    pub jobs: Vec<Job>,
    reader: Reader,
}

impl JobProgram {
    pub fn name(&self) -> String {
        match self {
            JobProgram::BuiltIn(options) => options.program.to_string(),
            JobProgram::Script(name, ..) => name.clone(),
            JobProgram::Hpl(_) => "hpl".into(),
        }
    }
}

impl Job {
    /// Of all that it draws: jobs that are alike draw differently.
    pub fn seed(&self, seed: u64) -> u64 {
        seed.wrapping_add(self.number as u64)
    }

    /// Its ranks in a simulation.
    pub fn world(&self) -> World {
        World { ranks: self.ranks, start: self.start, noise: self.hpl().is_none_or(HplJob::is_noisy) }
    }

    /// The files that its program was read from.
    pub fn inputs(&self) -> Vec<&Path> {
        match &self.program {
            JobProgram::BuiltIn(_) => Vec::new(),
            JobProgram::Script(_, path, _) => vec![path],
            JobProgram::Hpl(hpl) => hpl.inputs().map(PathBuf::as_path).collect(),
        }
    }

    /// HPL, if it runs that.
    pub fn hpl(&self) -> Option<&HplJob> {
        match &self.program {
            JobProgram::Hpl(hpl) => Some(hpl),
            JobProgram::BuiltIn(_) | JobProgram::Script(..) => None,
        }
    }
}

impl JobFile {
    /// Reads a file; scripts that it names are looked for in the same folder.
    pub fn load(path: &Path) -> Result<JobFile, Diagnostics> {
        let source = Source::read(path)?;
        let root = fields::parse(&source)?;
        let mut reader = Reader::new(Arc::clone(&source), "a file of jobs", &root);
        let mut root = Section::root(root.get_ref());
        let example = "{ name = \"a\", program = [\"alltoall\"], ranks = 16 }";
        let sections = root.sections(&mut reader, "job", example);
        if sections.is_none() && !reader.is_broken("job") {
            reader.fail("job", "there are no jobs", "write `[[job]]` with `name`, `program` and `ranks`");
        }
        let folder = path.parent().unwrap_or(Path::new(""));
        let jobs = sections.unwrap_or_default();
        let jobs: Vec<Job> =
            (0..).zip(jobs).filter_map(|(number, section)| read_job(&mut reader, number, section, folder)).collect();
        root.finish(&mut reader);
        for (number, job) in jobs.iter().enumerate() {
            if jobs[..number].iter().any(|other| other.name == job.name) {
                let key = format!("{}.name", job.key);
                reader.fail(&key, format!("two jobs are called `{}`", job.name), "give each a name of its own");
            }
        }
        let all: u64 = jobs.iter().map(|job| u64::from(job.ranks)).sum();
        if all > MOST_RANKS.into() {
            reader.fail("job", format!("the jobs have {all} ranks"), format!("write at most {MOST_RANKS} in all"));
        }
        if reader.diagnostics.has_errors() {
            reader.diagnostics.sort();
            return Err(reader.diagnostics);
        }
        Ok(JobFile { jobs, reader })
    }

    /// The folder that it is in.
    pub fn folder(&self) -> &Path {
        Path::new(&self.reader.source.name).parent().unwrap_or(Path::new(""))
    }

    /// An error at a key of a job, or where it would stand.
    pub fn error(&self, job: &Job, key: &str, message: impl Into<String>, remedy: impl Into<String>) -> Diagnostic {
        let place = self.reader.place(&format!("{}.{key}", job.key));
        Diagnostic::error(message, remedy).at(&self.reader.source, place)
    }
}

fn read_job(reader: &mut Reader, number: usize, mut section: Section<'_>, folder: &Path) -> Option<Job> {
    let key = format!("job[{number}]");
    let name = section.text(reader, "name").map(String::from);
    let name = section.needed(reader, "name", name, "name = \"a\"");
    let ranks = section.whole(reader, "ranks");
    if ranks == Some(0) {
        reader.fail(&section.key("ranks"), "a job without ranks does nothing", "write at least 1");
    }
    let start = section.quantity(reader, "start").unwrap_or_default();
    let example = "[\"alltoall\", \"--size\", \"1MiB\"]";
    let words = section.texts(reader, "program", example);
    let words = section.needed(reader, "program", words, &format!("program = {example}"));
    let nodes = section.text(reader, "nodes").map(String::from);
    let allocation = section.text(reader, "allocation").map(String::from);
    if nodes.is_some() && allocation.is_some() {
        let remedy = "write one of them: the nodes of `nodes` are the job's alone";
        reader.fail(&section.key("allocation"), "both `nodes` and `allocation` say where the job runs", remedy);
    }
    let policies = [
        ("block", Policy::Block),
        ("cyclic", Policy::Cyclic),
        ("by-switch", Policy::BySwitch),
        ("spread-switches", Policy::SpreadSwitches),
        // The seed of the run comes later.
        ("random", Policy::Random { seed: 0 }),
    ];
    let policy = section.choice(reader, "placement", &policies);
    let ranks_per_node = section.whole(reader, "ranks-per-node");
    section.finish(reader);
    if words.is_empty() {
        if !reader.is_broken(&section.key("program")) {
            reader.fail(&section.key("program"), "the job has no program", format!("write `program = {example}`"));
        }
        return None;
    }
    let program = read_program(reader, &section.key("program"), &words, folder)?;
    let ranks = read_ranks(reader, &mut section, ranks, &program);
    Some(Job { number, key, name, program, ranks, start, nodes, allocation, policy, ranks_per_node })
}

/// How many ranks a job has: as written, or as its program says.
fn read_ranks(reader: &mut Reader, section: &mut Section<'_>, ranks: Option<u32>, program: &JobProgram) -> u32 {
    let (own, what) = match program {
        JobProgram::Script(_, _, script) => (script.ranks, "script"),
        JobProgram::Hpl(hpl) => (hpl.ranks(), "grid"),
        JobProgram::BuiltIn(options) => {
            let ranks = section.needed(reader, "ranks", ranks, "ranks = 16");
            if let Err(failure) = options.check(ranks.max(1)) {
                fail_with(reader, &section.key("program"), &failure);
            }
            return ranks;
        }
    };
    if let Some(ranks) = ranks.filter(|ranks| *ranks != own && *ranks > 0) {
        let message = format!("the {what} is for {own} ranks, but the job has {ranks}");
        reader.fail(&section.key("ranks"), message, format!("write `ranks = {own}`, or leave it out"));
    }
    own
}

/// Reports at a key what is wrong with its value, or in another file with what it names.
pub(super) fn fail_with(reader: &mut Reader, key: &str, failure: &Failure) {
    if let Failure::Files(problems) = failure {
        for problem in problems.iter() {
            match problem.place {
                Some(_) => reader.fail_elsewhere(key, problem.clone()),
                None => reader.fail(key, &problem.message, &problem.remedy),
            }
        }
        return;
    }
    let text = failure.message();
    let (message, remedy) = text.split_once("; ").unwrap_or((&text, "correct it"));
    reader.fail(key, message, remedy);
}

fn read_program(reader: &mut Reader, key: &str, words: &[&str], folder: &Path) -> Option<JobProgram> {
    if words[0] == "hpl" {
        return HplJob::read(reader, key, &words[1..], folder).map(|job| JobProgram::Hpl(Box::new(job)));
    }
    let path = folder.join(words[0]);
    let is_built_in = words[0].parse::<hpcast_apps::Program>().is_ok();
    if !is_built_in && path.is_file() {
        return read_script(reader, key, words, &path);
    }
    let options: ProgramOptions = read_options(reader, key, words)?;
    if options.size.bytes().len() != 1 {
        reader.fail(key, "a job runs with one size", "write one, such as `\"--size\", \"1MiB\"`");
    }
    Some(JobProgram::BuiltIn(options))
}

/// The options that words of a program give.
pub(super) fn read_options<T: Args>(reader: &mut Reader, key: &str, words: &[&str]) -> Option<T> {
    words::options(words.iter().map(|word| String::from(*word)))
        .map_err(|error| {
            let (message, remedy) = words::said(&error);
            reader.fail(key, message, remedy);
        })
        .ok()
}

fn read_script(reader: &mut Reader, key: &str, words: &[&str], path: &Path) -> Option<JobProgram> {
    let Ok(text) = std::fs::read_to_string(path) else {
        let remedy = "name a built-in program (`hpcast programs` lists them) or a script";
        reader.fail(key, format!("`{}` is no script; real programs cannot be jobs", words[0]), remedy);
        return None;
    };
    let name = path.display().to_string();
    match Script::parse(&text) {
        Err(error) => {
            let source = Source::new(name, text);
            let place = source.word(error.line, 1);
            let diagnostic = Diagnostic::error(error.problem, "tests/simgrid/README.md describes scripts");
            reader.fail_elsewhere(key, diagnostic.at(&source, place));
            None
        }
        Ok(_) if words.len() > 1 => {
            reader.fail(key, format!("`{}` means nothing to a script", words[1]), "remove it");
            None
        }
        Ok(script) => Some(JobProgram::Script(words[0].into(), path.into(), script)),
    }
}
