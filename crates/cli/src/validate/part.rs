//! What a part of the validation compares: a TOML file. validation/README.md explains its keys.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use hpcast_platform::diagnostic::{Diagnostics, Source};
use hpcast_platform::fields::{self, Reader, Section};
use hpcast_report::{Bound, Measure};
use hpcast_units::Bytes;
use toml::de::DeValue;

/// Columns with the values that are wanted of them.
pub(super) type Conditions = Vec<(String, Vec<String>)>;

/// Cases that are compared, and where the reference comes from.
pub(super) struct Part {
    /// The name of its file, without the ending.
    pub name: String,
    pub source: Arc<Source>,
    /// Where the files that it names are looked for.
    pub folder: PathBuf,
    pub title: String,
    pub about: String,
    pub origin: String,
    pub against: String,
    pub measure: Measure,
    /// The column of the horizontal axis.
    pub axis: Option<String>,
    /// What people call it.
    pub axis_name: Option<String>,
    /// How a case is called; `{column}` stands for its value.
    pub case: Option<String>,
    /// Only run when it is asked for.
    pub slow: bool,
    /// The reference: a table in the folder of the data, the column of its values, and that of what a run has cost.
    pub table: Option<String>,
    pub value: String,
    pub cost: Option<String>,
    pub select: Conditions,
    /// Only these are run if it should be quick.
    pub quick: Conditions,
    pub lines: Vec<Line>,
}

/// Cases that have a recipe in common.
pub(super) struct Line {
    pub name: String,
    /// The key of this line in the file, for messages.
    pub key: String,
    pub select: Conditions,
    pub bound: Bound,
    /// Whether it is run if it should be quick.
    pub quick: bool,
    /// A value to compare with, where no table has it.
    pub reference: Option<f64>,
    /// More options of the forecast to compare with, where it is one.
    pub against_hpl: Option<String>,
    pub recipe: Recipe,
}

/// How to make a forecast. `{column}` stands for the value of a column.
#[derive(Clone, Default)]
pub(super) struct Recipe {
    /// A machine file, beside the part's own file; or the words of `hpcast machine import`, with files of the data.
    pub machine: Option<String>,
    pub platform: Option<String>,
    /// TOML that replaces values of the machine file.
    pub machine_changes: String,
    /// A model file; or the words of `hpcast model import`.
    pub models: Option<String>,
    pub kernels: Option<String>,
    /// A published model of messages, and a table of daily fits of dgemm: what days change.
    pub network: Option<String>,
    pub days: Option<String>,
    /// TOML that replaces values of the model file.
    pub model_changes: String,
    /// Options of `hpcast hpl`.
    pub hpl: String,
    /// More of them, for some rows.
    pub also: Vec<(Conditions, String)>,
}

impl Part {
    pub fn load(path: &Path) -> Result<Part, Diagnostics> {
        let source = Source::read(path)?;
        let root = fields::parse(&source)?;
        let mut reader = Reader::new(Arc::clone(&source), "a part of the validation", &root);
        let mut part = read(&mut reader, Section::root(root.get_ref()), Arc::clone(&source));
        if reader.diagnostics.has_errors() {
            reader.diagnostics.sort();
            return Err(reader.diagnostics);
        }
        part.name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        part.folder = path.parent().unwrap_or(Path::new("")).to_owned();
        Ok(part)
    }

    /// What the horizontal axis is called.
    pub fn axis_name(&self) -> Option<&str> {
        self.axis_name.as_deref().or(self.axis.as_deref())
    }

    /// Whether it needs the folder of the data.
    pub fn needs_data(&self) -> bool {
        let imports = |line: &Line| line.recipe.platform.is_some() || line.recipe.kernels.is_some();
        self.table.is_some() || self.lines.iter().any(imports)
    }
}

fn read(reader: &mut Reader, mut root: Section<'_>, source: Arc<Source>) -> Part {
    let title = root.text(reader, "title").map(String::from);
    let title = root.needed(reader, "title", title, "title = \"what is compared with what\"");
    let origin = root.text(reader, "origin").map(String::from);
    let origin = root.needed(reader, "origin", origin, "origin = \"who measured it, and where it is published\"");
    let measures = [("seconds", Measure::Seconds), ("gflops", Measure::Gflops)];
    let recipe = read_recipe(reader, &mut root, &Recipe::default());
    let bound = read_bound(reader, &mut root, Bound::default());
    let mut part = Part {
        name: String::new(),
        source,
        folder: PathBuf::new(),
        title,
        about: root.text(reader, "about").unwrap_or_default().to_owned(),
        origin,
        against: root.text(reader, "against").unwrap_or("published").to_owned(),
        measure: root.choice(reader, "measure", &measures).unwrap_or(Measure::Seconds),
        axis: root.text(reader, "axis").map(String::from),
        axis_name: root.text(reader, "axis-name").map(String::from),
        case: root.text(reader, "case").map(String::from),
        slow: root.flag(reader, "slow").unwrap_or(false),
        table: root.text(reader, "table").map(String::from),
        value: root.text(reader, "value").unwrap_or("time_s").to_owned(),
        cost: root.text(reader, "cost").map(String::from),
        select: read_conditions(reader, &mut root, "select"),
        quick: read_conditions(reader, &mut root, "quick"),
        lines: Vec::new(),
    };
    let lines = root.sections(reader, "line", "[[line]]\nname = \"...\"").unwrap_or_default();
    if lines.is_empty() && !reader.is_broken("line") {
        reader.fail("line", "the part has no lines", "add a [[line]] with its name and options of hpcast hpl");
    }
    for (number, mut line) in lines.into_iter().enumerate() {
        part.lines.push(read_line(reader, &mut line, number, (&recipe, bound, part.table.is_some())));
        line.finish(reader);
    }
    root.finish(reader);
    part
}

fn read_line(
    reader: &mut Reader,
    line: &mut Section<'_>,
    number: usize,
    (recipe, bound, has_table): (&Recipe, Bound, bool),
) -> Line {
    let key = format!("line[{number}]");
    let name = line.text(reader, "name").map(String::from);
    let name = line.needed(reader, "name", name, "name = \"...\"");
    let recipe = read_recipe(reader, line, recipe);
    if recipe.machine.is_none() == recipe.platform.is_none() && !reader.is_broken(&key) {
        let remedy = "name either a `machine` file or a `platform` to import, for the line or for all of the part";
        reader.fail(&key, "it is not clear which machine is meant", remedy);
    }
    let reference = line.number(reader, "reference");
    if reference.is_some_and(|value| value <= 0.0) {
        reader.fail(&format!("{key}.reference"), "a time or a speed is more than nothing", "write what was measured");
    }
    let bound = read_bound(reader, line, bound);
    let against_hpl = line.text(reader, "against-hpl").map(String::from);
    let compares = bound.worst.or(bound.mean).or(bound.coverage).is_some() || bound.within_uncertainty;
    if compares && !has_table && reference.is_none() && against_hpl.is_none() && !reader.is_broken(&key) {
        let remedy = "give the part a `table`, or the line a `reference` or `against-hpl`";
        reader.fail(&key, "differences are bounded, but there is nothing to compare with", remedy);
    }
    Line {
        name,
        select: read_conditions(reader, line, "select"),
        bound,
        quick: line.flag(reader, "quick").unwrap_or(true),
        reference,
        against_hpl,
        recipe,
        key,
    }
}

/// What is said here wins over what was said for the whole part; options and changes are added to it.
fn read_recipe(reader: &mut Reader, section: &mut Section<'_>, common: &Recipe) -> Recipe {
    let mut recipe = common.clone();
    let mut add = |to: &mut String, key: &'static str, between: &str| {
        if let Some(text) = section.text(reader, key) {
            *to = [to.as_str(), text].join(between);
        }
    };
    add(&mut recipe.hpl, "hpl", " ");
    add(&mut recipe.machine_changes, "machine-changes", "\n");
    add(&mut recipe.model_changes, "model-changes", "\n");
    let mut text = |key| section.text(reader, key).map(String::from);
    let (machine, platform, models, kernels) = (text("machine"), text("platform"), text("models"), text("kernels"));
    if machine.is_some() || platform.is_some() {
        (recipe.machine, recipe.platform) = (machine, platform);
    }
    if models.is_some() || kernels.is_some() {
        (recipe.models, recipe.kernels) = (models, kernels);
    }
    recipe.network = text("network").or(recipe.network);
    recipe.days = text("days").or(recipe.days);
    for mut also in
        section.sections(reader, "also", "also = [{ select = { N = 1000 }, hpl = \"--exact\" }]").unwrap_or_default()
    {
        let conditions = read_conditions(reader, &mut also, "select");
        recipe.also.push((conditions, also.text(reader, "hpl").unwrap_or_default().to_owned()));
        also.finish(reader);
    }
    recipe
}

fn read_bound(reader: &mut Reader, section: &mut Section<'_>, common: Bound) -> Bound {
    let mut bound = section.section(reader, "bound");
    if !bound.exists() {
        return common;
    }
    let mut number = |key, unit: f64| bound.number(reader, key).map(|number| number * unit);
    let (worst, mean) = (number("worst-percent", 0.01), number("mean-percent", 0.01));
    let (coverage, cpu) = (number("coverage-percent", 0.01), number("cpu-minutes", 60.0));
    if [worst, mean, coverage, cpu].iter().flatten().any(|value| *value < 0.0)
        || coverage.is_some_and(|part| part > 1.0)
    {
        let remedy = "write numbers above zero, and at most 100 % of the runs";
        reader.fail(&bound.key("worst-percent"), "nothing can hold such a bound", remedy);
    }
    let read = Bound {
        worst,
        mean,
        coverage,
        within_uncertainty: bound.flag(reader, "within-uncertainty").unwrap_or(false),
        cpu_seconds: cpu,
        memory_bytes: bound.quantity::<Bytes>(reader, "memory").map(Bytes::get),
    };
    bound.finish(reader);
    read
}

/// `{ column = value }` or `{ column = [value, value] }`.
fn read_conditions(reader: &mut Reader, section: &mut Section<'_>, key: &'static str) -> Conditions {
    let mut conditions = section.section(reader, key);
    let mut read = Vec::new();
    for column in conditions.keys() {
        let values = match conditions.value(column) {
            Some(DeValue::Array(values)) => values.iter().map(|value| plain(value.get_ref())).collect(),
            Some(value) => plain(value).map(|value| vec![value]),
            None => None,
        };
        match values {
            Some(values) => read.push((column.to_owned(), values)),
            None => {
                let remedy = "write a text or a number, or a list of them";
                reader.fail(&conditions.key(column), format!("`{column}` cannot be compared with this"), remedy);
            }
        }
    }
    read
}

fn plain(value: &DeValue<'_>) -> Option<String> {
    match value {
        DeValue::String(text) => Some(text.to_string()),
        DeValue::Integer(number) => Some(number.to_string()),
        DeValue::Float(number) => Some(number.to_string()),
        _ => None,
    }
}
