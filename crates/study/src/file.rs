//! A study file: what is run, what is varied, by which design, and what is looked at. docs/studies.md explains its keys.

mod factor;
mod toml_value;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use hpcast_platform::diagnostic::{Diagnostic, Diagnostics, Source};
use hpcast_platform::fields::{self, Reader, Section};
use toml::Table;
use toml::de::DeValue;

use crate::design::{Plan, Wanted};
use crate::frame::Better;
pub(crate) use factor::is_size;
pub use factor::{Edit, QuantityRange, StudyFactor, StudyLevel, Target, Values, Which};

/// More repetitions than anybody needs.
const MOST_REPETITIONS: u32 = 100_000;

/// What a study file says.
pub struct Study {
    /// In a line.
    pub title: String,
    /// What one wants to know.
    pub question: String,
    /// Where the files that it names are looked for.
    pub folder: PathBuf,
    /// The words after `hpcast`; `{factor}` stands for the value of a factor.
    pub program: Vec<String>,
    /// The machine file.
    pub machine: PathBuf,
    /// What is replaced in it, whatever the factors say.
    pub machine_changes: Table,
    /// The model file.
    pub models: Option<PathBuf>,
    /// What is replaced in it.
    pub model_changes: Table,
    /// What is looked at; the first is what the study is about.
    pub responses: Vec<ResponseSpec>,
    /// What is varied.
    pub factors: Vec<StudyFactor>,
    /// Which combinations are run.
    pub design: DesignSpec,
    /// Runs of each combination.
    pub repetitions: u32,
    /// Of the first repetition; the others have the next ones.
    pub seed: u64,
    /// Words that make a run cheap and less sure, for tuning, and its cost as a part of a full one.
    pub cheap: Option<(Vec<String>, f64)>,
    /// The combination that others are compared with, by names of factors and texts of levels.
    pub baseline: Vec<(String, String)>,
    reader: Reader,
}

/// A figure that is looked at.
#[derive(Clone, Debug, PartialEq)]
pub struct ResponseSpec {
    /// What it is called.
    pub name: String,
    /// The figure, or two of which the first is divided by the second.
    pub figure: Figure,
    /// Which values are good.
    pub better: Better,
    /// Its key in the file, for messages.
    pub key: String,
}

/// Where a response comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Figure {
    /// A figure of the run.
    Named(String),
    /// One divided by another.
    Ratio(String, String),
}

/// Which combinations of levels are run.
#[derive(Clone, Debug, PartialEq)]
pub enum DesignSpec {
    /// Those of a design of experiments.
    Plan(Plan),
    /// The rows of a table.
    List {
        /// CSV with a column for each factor.
        file: PathBuf,
    },
}

impl DesignSpec {
    /// As study files call it.
    pub fn name(&self) -> &'static str {
        match self {
            DesignSpec::Plan(Plan::Full) => "full",
            DesignSpec::Plan(Plan::OneAtATime) => "one-at-a-time",
            DesignSpec::Plan(Plan::Fraction(_)) => "fractional",
            DesignSpec::Plan(Plan::LatinHypercube { .. }) => "latin-hypercube",
            DesignSpec::Plan(Plan::Random { .. }) => "random",
            DesignSpec::Plan(Plan::Saltelli { .. }) => "sobol",
            DesignSpec::Plan(Plan::Morris { .. }) => "morris",
            DesignSpec::List { .. } => "list",
        }
    }
}

/// Places on the grid of a factor in the method of Morris: the usual number.
const MORRIS_GRID: usize = 4;

/// Better is less of these; of all else, more.
const LESS_IS_BETTER: [&str; 10] =
    ["seconds", "time", "latency", "price", "cost", "power", "watts", "bytes", "messages", "uncertainty"];

/// Which values of a figure are good, by its name.
pub fn usually_better(name: &str) -> Better {
    let per = name.contains("per_");
    let less = !per && name.split('_').any(|word| LESS_IS_BETTER.contains(&word));
    if less { Better::Lower } else { Better::Higher }
}

impl Study {
    /// Reads a file.
    pub fn load(path: &Path) -> Result<Study, Diagnostics> {
        let source = Source::read(path)?;
        Study::parse(&source, path.parent().unwrap_or(Path::new("")))
    }

    /// Reads a text; the files that it names are looked for in a folder.
    pub fn parse(source: &Arc<Source>, folder: &Path) -> Result<Study, Diagnostics> {
        let root = fields::parse(source)?;
        let reader = Reader::new(Arc::clone(source), "a study", &root);
        let mut study = read(reader, Section::root(root.get_ref()), folder);
        study.check();
        if study.reader.diagnostics.has_errors() {
            study.reader.diagnostics.sort();
            return Err(study.reader.diagnostics);
        }
        Ok(study)
    }

    /// The text of its file.
    pub fn source(&self) -> &Arc<Source> {
        &self.reader.source
    }

    /// An error at this key, or where it would stand.
    pub fn error(&self, key: &str, message: impl Into<String>, remedy: impl Into<String>) -> Diagnostic {
        Diagnostic::error(message, remedy).at(&self.reader.source, self.reader.place(key))
    }

    fn check(&mut self) {
        let Study { factors, responses, reader, .. } = self;
        let reserved = ["point", "repetition", "seed", "status", "key"];
        let mut names: Vec<&str> = Vec::new();
        let columns = factors.iter().map(|factor| (&factor.name, &factor.key));
        for (name, key) in columns.chain(responses.iter().map(|response| (&response.name, &response.key))) {
            if reserved.contains(&name.as_str()) {
                reader.fail(key, format!("`{name}` is the name of a column that every study has"), "choose another");
            } else if names.contains(&name.as_str()) {
                reader.fail(key, format!("two columns would be called `{name}`"), "give each a name of its own");
            }
            names.push(name);
        }
        self.check_templates();
        self.check_targets();
        self.check_ranges();
        self.check_baseline();
    }

    /// Every `{name}` is a factor, and every factor has an effect.
    fn check_templates(&mut self) {
        let Study { factors, program, reader, .. } = self;
        let options = |factor: &StudyFactor| -> Vec<String> { factor.words().cloned().collect() };
        let words: Vec<String> = program.iter().cloned().chain(factors.iter().flat_map(options)).collect();
        for name in words.iter().flat_map(|word| placeholders(word)) {
            if !factors.iter().any(|factor| factor.name == name) {
                reader.fail("program", format!("`{{{name}}}` stands for no factor"), "add a [[factor]] of that name");
            }
        }
        for factor in factors.iter().filter(|factor| factor.target == Target::Template) {
            let is_used = words.iter().any(|word| placeholders(word).contains(&factor.name.as_str()));
            if !is_used && !reader.is_broken(&factor.key) {
                let message = format!("the factor `{}` changes nothing", factor.name);
                let remedy =
                    "say what it sets with `option`, `machine` or `model`, or write its name in braces in `program`";
                reader.fail(&factor.key, message, remedy);
            }
        }
    }

    /// No factor undoes what another one has set. Multiplying is no undoing, after it was set.
    fn check_targets(&mut self) {
        let Study { factors, reader, .. } = self;
        for (number, factor) in factors.iter().enumerate() {
            for earlier in &factors[..number] {
                if let Some(what) = factor.undone_of(earlier) {
                    let message = format!(
                        "the factors `{}` and `{}` both set `{what}`: the last would win",
                        earlier.name, factor.name
                    );
                    let remedy = "remove one, or let a `[[factor.level]]` set several things together";
                    reader.fail(&factor.key, message, remedy);
                }
            }
        }
    }

    /// Designs of levels have levels, those of ranges have ranges.
    fn check_ranges(&mut self) {
        let Study { factors, design, reader, .. } = self;
        for factor in factors.iter() {
            let key = &factor.key;
            match (&factor.values, &*design) {
                (Values::Range(_), DesignSpec::Plan(Plan::Full | Plan::OneAtATime | Plan::Fraction(_))) => {
                    let remedy =
                        "write `levels`, or choose the design `latin-hypercube`, `random`, `sobol` or `morris`";
                    reader.fail(
                        key,
                        format!("the factor `{}` is a range, and the design needs levels", factor.name),
                        remedy,
                    );
                }
                (Values::Levels(_), DesignSpec::Plan(Plan::Saltelli { .. } | Plan::Morris { .. })) => {
                    let remedy = "write `range = [from, to]`";
                    reader.fail(
                        key,
                        format!("the factor `{}` has levels, and the design needs ranges", factor.name),
                        remedy,
                    );
                }
                (Values::Levels(levels), DesignSpec::Plan(_)) if levels.is_empty() && !reader.is_broken(key) => {
                    let remedy = "write `levels = [...]` or `range = [from, to]`";
                    reader.fail(key, format!("the factor `{}` has no levels", factor.name), remedy);
                }
                _ => {}
            }
        }
    }

    fn check_baseline(&mut self) {
        let Study { factors, baseline, reader, .. } = self;
        for (name, text) in baseline.iter() {
            let key = format!("baseline.{name}");
            let Some(factor) = factors.iter().find(|factor| factor.name == *name) else {
                reader.fail(&key, format!("`{name}` is no factor"), "name factors of this study");
                continue;
            };
            if let Values::Levels(levels) = &factor.values
                && !levels.is_empty()
                && !levels.iter().any(|level| level.text == *text)
            {
                let known: Vec<&str> = levels.iter().map(|level| level.text.as_str()).collect();
                let remedy = format!("choose one of {}", known.join(", "));
                reader.fail(&key, format!("`{text}` is no level of `{name}`"), remedy);
            }
        }
    }
}

fn read(mut reader: Reader, mut root: Section<'_>, folder: &Path) -> Study {
    let reader_ref = &mut reader;
    let title = root.text(reader_ref, "title").map(String::from);
    let title = root.needed(reader_ref, "title", title, "title = \"what is varied\"");
    let question = root.text(reader_ref, "question").unwrap_or_default().to_owned();
    let program = words(reader_ref, &mut root, "program");
    let program = root.needed(reader_ref, "program", program, "program = \"hpl --n 20000\"");
    let machine = root.text(reader_ref, "machine").map(PathBuf::from);
    let machine = root.needed(reader_ref, "machine", machine, "machine = \"machines/frontera.toml\"");
    let models = root.text(reader_ref, "models").map(PathBuf::from);
    let machine_changes = table(reader_ref, &mut root, "machine-changes");
    let model_changes = table(reader_ref, &mut root, "model-changes");
    let cheap = read_cheap(reader_ref, &mut root);
    let responses = read_responses(reader_ref, &mut root);
    let (design, repetitions, seed) = read_design(reader_ref, &mut root);
    let factors = root.sections(reader_ref, "factor", "{ name = \"nb\", option = \"--nb\", levels = [128, 256] }");
    if factors.is_none() && !reader_ref.is_broken("factor") {
        reader_ref.fail("factor", "nothing is varied", "add a [[factor]] with `name` and `levels`");
    }
    let factors = factors.unwrap_or_default().into_iter().enumerate();
    let factors = factors.map(|(number, section)| factor::read(reader_ref, section, number)).collect();
    let baseline = table(reader_ref, &mut root, "baseline");
    let baseline = baseline.iter().map(|(name, value)| (name.clone(), toml_value::text(value))).collect();
    root.finish(reader_ref);
    Study {
        title,
        question,
        folder: folder.to_owned(),
        program,
        machine,
        machine_changes,
        models,
        model_changes,
        responses,
        factors,
        design,
        repetitions,
        seed,
        cheap,
        baseline,
        reader,
    }
}

/// Words of a command line: a text, or a list of them where a word has blanks.
fn words(reader: &mut Reader, section: &mut Section<'_>, key: &'static str) -> Option<Vec<String>> {
    match section.value(key)? {
        DeValue::Array(_) => {
            let words = section.texts(reader, key, "[\"hpl\", \"--n\", \"20000\"]");
            words.map(|words| words.into_iter().map(String::from).collect())
        }
        _ => section.text(reader, key).map(|text| text.split_whitespace().map(String::from).collect()),
    }
}

fn table(reader: &mut Reader, section: &mut Section<'_>, key: &'static str) -> Table {
    match section.value(key) {
        None => Table::new(),
        Some(DeValue::Table(table)) => toml_value::table(table),
        Some(_) => {
            reader.fail(&section.key(key), format!("`{key}` must be a table"), "write its keys and values");
            Table::new()
        }
    }
}

/// Words that make a run cheap, and what it then costs.
fn read_cheap(reader: &mut Reader, root: &mut Section<'_>) -> Option<(Vec<String>, f64)> {
    let cheap = words(reader, root, "cheap");
    let cost = root.number(reader, "cheap-cost");
    if let Some(cost) = cost
        && !(cost > 0.0 && cost < 1.0)
    {
        reader.fail("cheap-cost", format!("a cheap run cannot cost {cost} of a full one"), "write a part, such as 0.1");
    }
    match (cheap, cost) {
        (Some(words), Some(cost)) => Some((words, cost)),
        (Some(_), None) => {
            let remedy = "add `cheap-cost = 0.1`, its part of the time of a full run";
            reader.fail("cheap", "what a cheap run costs is not said", remedy);
            None
        }
        (None, Some(_)) => {
            reader.fail("cheap-cost", "there are no cheap runs", "say what makes a run cheap with `cheap`");
            None
        }
        (None, None) => None,
    }
}

fn read_responses(reader: &mut Reader, root: &mut Section<'_>) -> Vec<ResponseSpec> {
    let better = [("higher", Better::Higher), ("lower", Better::Lower)];
    let mut responses = Vec::new();
    for (number, name) in root.texts(reader, "responses", "[\"gflops\"]").into_iter().flatten().enumerate() {
        responses.push(ResponseSpec {
            name: name.into(),
            figure: Figure::Named(name.into()),
            better: usually_better(name),
            key: format!("responses[{number}]"),
        });
    }
    let example = "{ name = \"speed_per_price\", ratio = [\"gflops\", \"price\"] }";
    if root.keys().any(|key| key == "response") {
        for (number, mut section) in root.sections(reader, "response", example).into_iter().flatten().enumerate() {
            let key = format!("response[{number}]");
            let name = section.text(reader, "name").map(String::from);
            let name = section.needed(reader, "name", name, "name = \"speed_per_price\"");
            let ratio = section.texts(reader, "ratio", "[\"gflops\", \"price\"]");
            let figure = match ratio.as_deref() {
                Some([one, other]) => Figure::Ratio((*one).into(), (*other).into()),
                Some(_) => {
                    reader.fail(
                        &format!("{key}.ratio"),
                        "a ratio is of two figures",
                        "write `ratio = [\"gflops\", \"price\"]`",
                    );
                    Figure::Named(String::new())
                }
                None => {
                    let figure = section.text(reader, "figure").map_or_else(|| name.clone(), String::from);
                    Figure::Named(figure)
                }
            };
            let better = section.choice(reader, "better", &better).unwrap_or(usually_better(&name));
            section.finish(reader);
            responses.push(ResponseSpec { name, figure, better, key });
        }
    }
    if responses.is_empty() && !reader.is_broken("responses") && !reader.is_broken("response") {
        reader.fail("responses", "nothing is looked at", "add `responses = [\"gflops\"]` or `[\"seconds\"]`");
    }
    responses
}

fn read_design(reader: &mut Reader, root: &mut Section<'_>) -> (DesignSpec, u32, u64) {
    let mut section = root.section(reader, "design");
    let kinds = ["full", "one-at-a-time", "fractional", "latin-hypercube", "random", "sobol", "morris", "list"];
    let kind = section.choice(reader, "kind", &kinds.map(|kind| (kind, kind))).unwrap_or("full");
    let points: Option<u32> = section.whole(reader, "points");
    let resolution: Option<u32> = section.whole(reader, "resolution");
    let file = section.text(reader, "file").map(PathBuf::from);
    let has_points = ["fractional", "latin-hypercube", "random", "sobol", "morris"].contains(&kind);
    let mut unfit = |key: &str, given: bool, remedy: &str| {
        if given {
            reader.fail(&format!("design.{key}"), format!("the design `{kind}` has no `{key}`"), remedy);
        }
    };
    unfit("points", points.is_some() && !has_points, "remove it: the factors say how many there are");
    unfit("points", points.is_some() && resolution.is_some(), "keep either `points` or `resolution`");
    unfit("resolution", resolution.is_some() && kind != "fractional", "remove it, or write `kind = \"fractional\"`");
    unfit("file", file.is_some() && kind != "list", "remove it, or write `kind = \"list\"`");
    let needs_points = has_points && resolution.is_none();
    let points = if needs_points { section.needed(reader, "points", points, "points = 100") } else { 0 };
    if needs_points && points == 0 && !reader.is_broken("design") {
        reader.fail("design.points", "a design without points runs nothing", "write at least 1");
    }
    let points = points as usize;
    let design = match kind {
        "one-at-a-time" => DesignSpec::Plan(Plan::OneAtATime),
        "fractional" => DesignSpec::Plan(Plan::Fraction(match resolution {
            Some(resolution) => Wanted::Resolution(resolution as usize),
            None => Wanted::Runs(points),
        })),
        "latin-hypercube" => DesignSpec::Plan(Plan::LatinHypercube { points }),
        "random" => DesignSpec::Plan(Plan::Random { points }),
        "sobol" => DesignSpec::Plan(Plan::Saltelli { base: points }),
        "morris" => DesignSpec::Plan(Plan::Morris { trajectories: points, grid: MORRIS_GRID }),
        "list" => DesignSpec::List { file: section.needed(reader, "file", file, "file = \"points.csv\"") },
        _ => DesignSpec::Plan(Plan::Full),
    };
    let repetitions = section.whole(reader, "repetitions").unwrap_or(1);
    if !(1..=MOST_REPETITIONS).contains(&repetitions) {
        let remedy = format!("write 1 to {MOST_REPETITIONS}");
        reader.fail("design.repetitions", format!("{repetitions} repetitions make no study"), remedy);
    }
    let seed = section.whole::<i64>(reader, "seed").unwrap_or(0);
    section.finish(reader);
    (design, repetitions, seed.unsigned_abs())
}

/// The names in braces.
pub(crate) fn placeholders(word: &str) -> Vec<&str> {
    let mut names = Vec::new();
    let mut rest = word;
    while let Some((_, after)) = rest.split_once('{') {
        let Some((name, behind)) = after.split_once('}') else { break };
        names.push(name);
        rest = behind;
    }
    names
}

#[cfg(test)]
mod tests;
