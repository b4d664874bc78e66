//! What a part of the validation compares: a TOML file. validation/README.md explains its keys.
//!
//! Uses no other file of the command but `template.rs`: fuzz/fuzz_targets/validation_part.rs includes both.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use hpcast_platform::diagnostic::{Diagnostic, Diagnostics, Source};
use hpcast_platform::fields::{self, Problem, Reader, Section};
use hpcast_report::{Bound, Measure};
use hpcast_units::Bytes;
use toml::de::DeValue;

use super::template::placeholders;

/// Columns with the values that are wanted of them, each with the key that says so.
pub(super) type Conditions = Vec<Condition>;

/// A column and the values that are wanted of it.
#[derive(Clone)]
pub(super) struct Condition {
    /// The key of the column in the file, for messages.
    pub key: String,
    pub column: String,
    pub values: Vec<String>,
}

/// A text of the file.
#[derive(Clone, Default)]
pub(super) struct Written {
    /// Its key in the file, for messages.
    pub key: String,
    pub text: String,
}

/// Cases that are compared, and where the reference comes from.
pub(super) struct Part {
    /// The name of its file, without the ending.
    pub name: String,
    /// Knows where each key stands.
    reader: Reader,
    /// Where the files that it names are looked for.
    pub folder: PathBuf,
    pub title: String,
    pub about: String,
    pub origin: String,
    pub against: String,
    pub measure: Measure,
    /// The column of the horizontal axis.
    pub axis: Option<Written>,
    /// What people call it.
    pub axis_name: Option<Written>,
    /// How a case is called; `{column}` stands for its value.
    pub case: Option<Written>,
    /// Only run when it is asked for.
    pub slow: bool,
    /// The reference: a table in the folder of the data, the column of its values, and that of what a run has cost.
    pub table: Option<Written>,
    pub value: Written,
    pub cost: Option<Written>,
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
    pub against_hpl: Option<Written>,
    pub recipe: Recipe,
}

/// How to make a forecast. `{column}` stands for the value of a column.
#[derive(Clone, Default)]
pub(super) struct Recipe {
    /// A machine file, beside the part's own file; or the words of `hpcast machine import`, with files of the data.
    pub machine: Option<Written>,
    pub platform: Option<Written>,
    /// TOML that replaces values of the machine file: that of the part, and that of the line.
    pub machine_changes: Vec<Written>,
    /// A model file; or the words of `hpcast model import`.
    pub models: Option<Written>,
    pub kernels: Option<Written>,
    /// A published model of messages, and a table of daily fits of dgemm: what days change.
    pub network: Option<Written>,
    pub days: Option<Written>,
    /// TOML that replaces values of the model file.
    pub model_changes: Vec<Written>,
    /// Options of `hpcast hpl`.
    pub hpl: Vec<Written>,
    /// More of them, for some rows.
    pub also: Vec<(Conditions, Written)>,
}

/// Options of `hpcast hpl` that have no place in a part, and what to do instead.
const UNSUITED: [(&[&str], &str); 5] = [
    (&["--machine", "-m"], "name the machine with `machine` or `platform`"),
    (&["--models"], "name the models with `models` or `kernels`"),
    (
        &[
            "--json",
            "--csv",
            "--gantt",
            "--trace",
            "--traffic",
            "--links",
            "--link-load",
            "--link-heat",
            "--every-rank",
            "--plot",
            "--record",
        ],
        "leave it out: `hpcast validate --output` says where results go",
    ),
    (&["--dat", "--pivots"], "leave it out: all that is run stands in the part, as options"),
    (&["--sources"], "leave it out: only runs are compared"),
];

impl Part {
    pub fn load(path: &Path) -> Result<Part, Diagnostics> {
        let mut part = Part::parse(&Source::read(path)?)?;
        part.name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        part.folder = path.parent().unwrap_or(Path::new("")).to_owned();
        Ok(part)
    }

    /// Reads a part that has no name and no folder yet.
    pub fn parse(source: &Arc<Source>) -> Result<Part, Diagnostics> {
        let root = fields::parse(source)?;
        let reader = Reader::new(Arc::clone(source), "a part of the validation", &root);
        let mut part = read(reader, Section::root(root.get_ref()));
        if part.reader.diagnostics.has_errors() {
            part.reader.diagnostics.sort();
            return Err(part.reader.diagnostics);
        }
        Ok(part)
    }

    /// Its file.
    pub fn file(&self) -> &Path {
        Path::new(&self.reader.source.name)
    }

    /// An error at this key, or where it would stand.
    pub fn error(&self, key: &str, message: impl Into<String>, remedy: impl Into<String>) -> Diagnostic {
        Diagnostic::error(message, remedy).at(&self.reader.source, self.reader.place(key))
    }

    /// What the horizontal axis is called.
    pub fn axis_name(&self) -> Option<&str> {
        self.axis_name.as_ref().or(self.axis.as_ref()).map(|name| name.text.as_str())
    }

    /// Whether it needs the folder of the data.
    pub fn needs_data(&self) -> bool {
        let imports = |line: &Line| line.recipe.platform.is_some() || line.recipe.kernels.is_some();
        self.table.is_some() || self.lines.iter().any(imports)
    }

    /// Every column that the part wants of its table, and the key that wants it.
    pub fn columns(&self) -> Vec<(&str, &str)> {
        let mut columns: Vec<(&str, &str)> = Vec::new();
        let compared = self.lines.iter().any(|line| line.against_hpl.is_none());
        let named = self.axis.iter().chain(&self.cost).chain(Some(&self.value).filter(|_| compared));
        columns.extend(named.map(|column| (column.text.as_str(), column.key.as_str())));
        let conditions = self.conditions().map(|condition| (condition.column.as_str(), condition.key.as_str()));
        columns.extend(conditions);
        for text in self.case.iter().chain(self.lines.iter().flat_map(Line::texts)) {
            columns.extend(placeholders(&text.text).into_iter().map(|column| (column, text.key.as_str())));
        }
        columns
    }

    fn conditions(&self) -> impl Iterator<Item = &Condition> {
        let also = self.lines.iter().flat_map(|line| &line.recipe.also).map(|(select, _)| select);
        [&self.select, &self.quick].into_iter().chain(self.lines.iter().map(|line| &line.select)).chain(also).flatten()
    }
}

impl Line {
    /// All in which `{column}` may stand.
    fn texts(&self) -> impl Iterator<Item = &Written> {
        self.recipe.texts().chain(&self.against_hpl).chain(self.recipe.also.iter().map(|(_, more)| more))
    }
}

impl Recipe {
    /// All that makes a forecast, but for what is for some rows only.
    pub fn texts(&self) -> impl Iterator<Item = &Written> {
        let Recipe { machine, platform, machine_changes, models, kernels, network, days, model_changes, hpl, also: _ } =
            self;
        let files = [machine, platform, models, kernels, network, days].into_iter().flatten();
        files.chain([machine_changes, model_changes, hpl].into_iter().flatten())
    }

    /// With more options.
    pub fn with(&self, more: Written) -> Recipe {
        let mut recipe = self.clone();
        recipe.hpl.push(more);
        recipe
    }
}

fn read(mut reader: Reader, mut root: Section<'_>) -> Part {
    let title = root.text(&mut reader, "title").map(String::from);
    let title = root.needed(&mut reader, "title", title, "title = \"what is compared with what\"");
    let origin = root.text(&mut reader, "origin").map(String::from);
    let origin = root.needed(&mut reader, "origin", origin, "origin = \"who measured it, and where it is published\"");
    let measures = [("seconds", Measure::Seconds), ("gflops", Measure::Gflops)];
    let recipe = read_recipe(&mut reader, &mut root, &Recipe::default());
    let bound = read_bound(&mut reader, &mut root, Bound::default());
    let value = written(&mut reader, &mut root, "value");
    let values = Written { key: "table".into(), text: "time_s".into() };
    let named_value = value.is_some();
    let mut part = Part {
        name: String::new(),
        folder: PathBuf::new(),
        title,
        about: root.text(&mut reader, "about").unwrap_or_default().to_owned(),
        origin,
        against: root.text(&mut reader, "against").unwrap_or("published").to_owned(),
        measure: root.choice(&mut reader, "measure", &measures).unwrap_or(Measure::Seconds),
        axis: written(&mut reader, &mut root, "axis"),
        axis_name: written(&mut reader, &mut root, "axis-name"),
        case: written(&mut reader, &mut root, "case"),
        slow: root.flag(&mut reader, "slow").unwrap_or(false),
        table: written(&mut reader, &mut root, "table"),
        value: value.unwrap_or(values),
        cost: written(&mut reader, &mut root, "cost"),
        select: read_conditions(&mut reader, &mut root, "select"),
        quick: read_conditions(&mut reader, &mut root, "quick"),
        lines: Vec::new(),
        reader,
    };
    let reader = &mut part.reader;
    let lines = root.sections(reader, "line", "[[line]]\nname = \"...\"").unwrap_or_default();
    if lines.is_empty() && !reader.is_broken("line") {
        reader.fail("line", "the part has no lines", "add a [[line]] with its name and options of hpcast hpl");
    }
    for (number, mut line) in lines.into_iter().enumerate() {
        part.lines.push(read_line(reader, &mut line, number, (&recipe, bound, part.table.is_some())));
        line.finish(reader);
    }
    root.finish(reader);
    check_table(&mut part, named_value);
    part
}

/// A text and its key.
fn written(reader: &mut Reader, section: &mut Section<'_>, key: &'static str) -> Option<Written> {
    section.text(reader, key).map(|text| Written { key: section.key(key), text: text.to_owned() })
}

/// What needs a table has one, and what a table makes useless is not there.
fn check_table(part: &mut Part, named_value: bool) {
    let mut wrong: Vec<Problem> = Vec::new();
    let mut say = |key: &str, message: String, remedy: &str| {
        wrong.push(Problem { key: key.into(), message, remedy: remedy.into() });
    };
    if part.axis.is_none()
        && let Some(name) = &part.axis_name
    {
        say(&name.key, "`axis-name` names an axis that there is not".into(), "name the column of the `axis`, too");
    }
    if part.table.is_some() {
        if named_value && !part.lines.is_empty() && part.lines.iter().all(|line| line.against_hpl.is_some()) {
            let message = "no line is compared with `value`: all have `against-hpl`".into();
            say(&part.value.key, message, "remove it, or the `against-hpl` of a line");
        }
    } else if !part.reader.is_broken("table") {
        let with_table = "give the part a `table`, or remove it";
        let columns = [("value", named_value), ("cost", part.cost.is_some()), ("axis", part.axis.is_some())];
        for (key, _) in columns.into_iter().filter(|(_, given)| *given) {
            say(key, format!("`{key}` is a column, but the part has no table"), with_table);
        }
        if let Some(case) = &part.case {
            say(&case.key, "`case` names rows, but the part has no table".into(), "remove it: a line is a case");
        }
        for condition in part.conditions() {
            let message = format!("`{}` is a column, but the part has no table", condition.column);
            say(&condition.key, message, "give the part a `table`, or remove the condition");
        }
        for text in part.lines.iter().flat_map(Line::texts) {
            for column in placeholders(&text.text) {
                let message = format!("`{{{column}}}` is a column, but the part has no table");
                say(&text.key, message, "give the part a `table`, or write the value itself");
            }
        }
    }
    wrong.iter().for_each(|problem| part.reader.report(problem));
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
    check_recipe(reader, &recipe, &name);
    let reference = line.number(reader, "reference");
    if reference.is_some_and(|value| value <= 0.0) {
        reader.fail(&format!("{key}.reference"), "a time or a speed is more than nothing", "write what was measured");
    }
    let bound = read_bound(reader, line, bound);
    let against_hpl = written(reader, line, "against-hpl");
    check_options(reader, against_hpl.iter());
    if reference.is_some() && (has_table || against_hpl.is_some()) {
        let other = if against_hpl.is_some() { "with another forecast" } else { "with values of the table" };
        let message = format!("`reference` has no effect: the line is compared {other}");
        reader.fail(&format!("{key}.reference"), message, "remove it, or what it is compared with instead");
    }
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

/// What a line has no use for is wrong, even where the part says it for all lines.
fn check_recipe(reader: &mut Reader, recipe: &Recipe, line: &str) {
    let mut needs = |given: Option<&Written>, key: &str, has: bool, needed: &str| {
        let Some(given) = given.filter(|_| !has) else { return };
        reader.report(&Problem {
            key: given.key.clone(),
            message: format!("`{key}` has no effect: the line `{line}` has no {needed}"),
            remedy: format!("remove it, or say it only for lines with {needed}"),
        });
    };
    needs(recipe.network.as_ref(), "network", recipe.kernels.is_some(), "`kernels`");
    needs(recipe.days.as_ref(), "days", recipe.kernels.is_some(), "`kernels`");
    needs(recipe.machine_changes.last(), "machine-changes", recipe.machine.is_some(), "`machine` file");
    needs(recipe.model_changes.last(), "model-changes", recipe.models.is_some(), "`models` file");
}

/// Options that have no place in a part.
fn check_options<'w>(reader: &mut Reader, options: impl Iterator<Item = &'w Written>) {
    for Written { key, text } in options {
        if let Some((word, remedy)) = unsuited(text) {
            let message = format!("`{word}` has no place in a part");
            reader.report(&Problem { key: key.clone(), message, remedy: remedy.into() });
        }
    }
}

/// The first of some options of `hpcast hpl` that has no place in a part, and what to do about it.
pub(super) fn unsuited(options: &str) -> Option<(&str, &'static str)> {
    let remedy = |word: &str| {
        let name = word.split('=').next().unwrap_or_default();
        // A short option may have its value behind it: `-mfile.toml`.
        let is = |option: &&str| if option.starts_with("--") { name == *option } else { word.starts_with(option) };
        UNSUITED.iter().find(|(options, _)| options.iter().any(is)).map(|(_, remedy)| *remedy)
    };
    options.split_whitespace().find_map(|word| Some((word, remedy(word)?)))
}

/// What is said here wins over what was said for the whole part; options and changes are added to it.
fn read_recipe(reader: &mut Reader, section: &mut Section<'_>, common: &Recipe) -> Recipe {
    let mut recipe = common.clone();
    let mut text = |key| written(reader, section, key);
    let hpl = text("hpl");
    recipe.machine_changes.extend(text("machine-changes"));
    recipe.model_changes.extend(text("model-changes"));
    let (machine, platform, models, kernels) = (text("machine"), text("platform"), text("models"), text("kernels"));
    recipe.network = text("network").or(recipe.network);
    recipe.days = text("days").or(recipe.days);
    if machine.is_some() || platform.is_some() {
        (recipe.machine, recipe.platform) = (machine, platform);
    }
    if let (Some(_), Some(kernels)) = (&models, &kernels) {
        let remedy = "name either a `models` file or the tables of `kernels`";
        reader.fail(&kernels.key, "it is not clear which models are meant", remedy);
    }
    if models.is_some() || kernels.is_some() {
        (recipe.models, recipe.kernels) = (models, kernels);
    }
    check_options(reader, hpl.iter());
    recipe.hpl.extend(hpl);
    let example = "also = [{ select = { N = 1000 }, hpl = \"--exact\" }]";
    for mut also in section.sections(reader, "also", example).unwrap_or_default() {
        let conditions = read_conditions(reader, &mut also, "select");
        if conditions.is_empty() && !reader.is_broken(&also.key("select")) {
            let remedy = "add `select = { column = value }`, or write what is for all rows in `hpl`";
            reader.fail(&also.key("select"), "`also` does not say for which rows", remedy);
        }
        let more = written(reader, &mut also, "hpl");
        check_options(reader, more.iter());
        recipe.also.push((conditions, also.needed(reader, "hpl", more, "hpl = \"--exact\"")));
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
            Some(values) => {
                read.push(Condition { key: conditions.key(column), column: column.to_owned(), values });
            }
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

#[cfg(test)]
mod tests {
    use clap::Args;

    use super::*;
    use crate::outputs::OutputOptions;

    /// A part without a table, and what else it says.
    fn errors(of_part: &str, of_line: &str) -> String {
        let text =
            format!("title = 't'\norigin = 'o'\nmachine = 'm.toml'\n{of_part}\n[[line]]\nname = 'all'\n{of_line}\n");
        Part::parse(&Source::new("part.toml", text)).map_or_else(|errors| errors.to_string(), |_| String::new())
    }

    /// Each is refused, at the line of the part or of its line, with a remedy.
    fn refused(of_part: &str, of_line: &str, line: usize, message: &str) {
        let errors = errors(of_part, of_line);
        for part in [message, &format!("part.toml:{line}:"), "help: "] {
            assert!(errors.contains(part), "`{of_part}` and `{of_line}` should say `{part}`:\n{errors}");
        }
        assert_eq!(errors.matches("error: ").count(), 1, "{errors}");
    }

    #[test]
    fn what_has_no_effect_is_refused() {
        assert_eq!(errors("", ""), "");
        refused("network = 'n.json'", "", 4, "`network` has no effect: the line `all` has no `kernels`");
        refused("", "days = 'd.csv'", 7, "`days` has no effect");
        refused("models = 'm.toml'", "days = 'd.csv'", 7, "`days` has no effect");
        refused("kernels = 'd.csv'", "model-changes = 'a = 1'", 7, "`model-changes` has no effect");
        refused("machine-changes = 'a = 1'", "platform = 'p.xml'", 4, "`machine-changes` has no effect");
        refused("models = 'm.toml'\nkernels = 'd.csv'", "", 5, "it is not clear which models are meant");
        refused("axis-name = 'x'", "", 4, "`axis-name` names an axis that there is not");
        refused("", "reference = 1\nagainst-hpl = '--exact'", 7, "`reference` has no effect");
        refused("table = 't.csv'", "reference = 1", 7, "`reference` has no effect");
        refused("table = 't.csv'\nvalue = 's'", "against-hpl = '--exact'", 5, "no line is compared with `value`");
        assert_eq!(errors("kernels = 'd.csv'\nnetwork = 'n.json'\ndays = 'd.csv'", "hpl = '--n 1'"), "");
        assert_eq!(errors("models = 'm.toml'", "model-changes = 'a = 1'\nmachine-changes = 'a = 1'"), "");
    }

    #[test]
    fn columns_need_a_table() {
        for key in ["value", "cost", "axis"] {
            refused(&format!("{key} = 'N'"), "", 4, &format!("`{key}` is a column, but the part has no table"));
        }
        refused("case = 'N'", "", 4, "`case` names rows");
        for conditions in ["select = { N = 1 }", "quick = { N = 1 }"] {
            refused(conditions, "", 4, "`N` is a column, but the part has no table");
        }
        refused("also = [{ select = { N = 1 }, hpl = '--exact' }]", "", 4, "`N` is a column");
        refused("", "select = { N = [1, 2] }", 7, "`N` is a column");
        refused("hpl = '--n {N}'", "", 4, "`{N}` is a column");
        refused("", "machine-changes = 'nodes.count = {nodes}'", 7, "`{nodes}` is a column");
        refused("", "against-hpl = '--nb {NB}'", 7, "`{NB}` is a column");
        assert_eq!(errors("table = 't.csv'\nselect = { N = 1 }\nhpl = '--n {N}'", "against-hpl = '--nb {NB}'"), "");
        refused("table = 't.csv'\nalso = [{ hpl = '--exact' }]", "", 5, "`also` does not say for which rows");
        refused("table = 't.csv'\nalso = [{ select = { N = 1 } }]", "", 5, "`also[0].hpl` is missing");
    }

    #[test]
    fn options_that_have_no_place_are_refused() {
        for option in ["-m x.toml", "-mx.toml", "--machine x", "--models=x", "--plot x.svg", "--json -", "--sources"] {
            let word = option.split(' ').next().unwrap_or_default();
            refused("", &format!("hpl = '--n 1 {option}'"), 7, &format!("`{word}` has no place in a part"));
            refused("", &format!("against-hpl = '{option}'"), 7, &format!("`{word}` has no place in a part"));
            let also = format!("table = 't.csv'\nalso = [{{ select = {{ N = 1 }}, hpl = '{option}' }}]");
            refused(&also, "", 5, "has no place in a part");
        }
        assert_eq!(unsuited("--n 100 --models-of x --exact"), None);
        // Whatever is written elsewhere one day, too.
        let outputs = OutputOptions::augment_args(clap::Command::new("outputs"));
        for long in outputs.get_arguments().filter_map(clap::Arg::get_long) {
            assert!(unsuited(&format!("--{long}")).is_some(), "--{long} writes files");
        }
    }
}
