//! The findings of a study as Markdown: what one would write to a colleague.

use hpcast_study::analysis::anova::{Anova, Noise};
use hpcast_study::analysis::letters;
use hpcast_study::analysis::overhead::Overhead;
use hpcast_study::analysis::ranking::Evidence;
use hpcast_study::store::FactorColumn;
use hpcast_units::count;

use super::findings::{Findings, figure};

/// So many combinations are listed.
const LISTED: usize = 15;

/// All that was found.
pub fn markdown(findings: &Findings<'_>) -> String {
    let study = findings.study;
    let mut text = format!("# {}\n\n", study.title);
    if !study.question.is_empty() {
        text += &format!("{}\n\n", study.question);
    }
    text += &format!("**{}**\n", findings.answer());
    for section in sections(findings) {
        text += &format!("\n## {}\n\n", section.title);
        text += &rows(&section.rows);
        if !section.note.is_empty() {
            text += &format!("\n{}\n", section.note);
        }
    }
    text += &format!(
        "\n## Where it comes from\n\n{} runs of {} (design `{}`), hpcast {}, begun {}.\n\n```toml\n{}```\n",
        count(findings.rows.len() as u64),
        count(study.rows),
        study.design,
        study.version,
        study.created,
        study.file
    );
    text
}

fn rows(rows: &[Vec<String>]) -> String {
    let line = |cells: &Vec<String>| {
        format!("| {} |\n", cells.iter().map(|cell| cell.replace('|', "\\|")).collect::<Vec<_>>().join(" | "))
    };
    let mut text = String::new();
    for (number, cells) in rows.iter().enumerate() {
        text += &line(cells);
        if number == 0 {
            text += &format!("|{}\n", "---|".repeat(cells.len()));
        }
    }
    text
}

/// A table with a title and what must be known to read it.
pub(super) struct Section {
    pub title: &'static str,
    pub rows: Vec<Vec<String>>,
    pub note: String,
}

/// All tables, the most important first.
pub(super) fn sections(findings: &Findings<'_>) -> Vec<Section> {
    [
        ranking(findings),
        variance(findings),
        effects(findings),
        sobol(findings),
        morris(findings),
        by_level(findings),
        overheads(findings),
    ]
    .into_iter()
    .flatten()
    .map(Section::without_empty_columns)
    .collect()
}

impl Section {
    /// Columns in which nothing is known say nothing.
    fn without_empty_columns(mut self) -> Section {
        let [header, rows @ ..] = &self.rows[..] else { return self };
        let is_kept: Vec<bool> =
            (0..header.len()).map(|column| rows.is_empty() || rows.iter().any(|row| !row[column].is_empty())).collect();
        for row in &mut self.rows {
            let mut kept = is_kept.iter();
            row.retain(|_| kept.next() == Some(&true));
        }
        self
    }
}

fn interval(interval: Option<(f64, f64)>) -> String {
    interval.map_or(String::new(), |(low, high)| format!("{} to {}", figure(low), figure(high)))
}

fn header<const N: usize>(names: [&str; N]) -> Vec<Vec<String>> {
    vec![names.map(String::from).to_vec()]
}

fn name<'f>(findings: &Findings<'f>, factor: usize) -> &'f str {
    findings.study.factors.get(factor).map_or("", |factor| factor.name.as_str())
}

fn ranking(findings: &Findings<'_>) -> Option<Section> {
    let ranking = findings.ranking.as_ref().ok()?;
    let response = findings.study.responses.first()?;
    let mut rows = header(["combination", &response.name, "95 % interval", "runs", "group"]);
    for place in ranking.places.iter().take(LISTED) {
        let groups: String = place.groups.iter().map(|group| letters::name(*group)).collect();
        rows.push(vec![
            findings.levels(place.point),
            figure(place.mean),
            interval(place.interval),
            place.count.to_string(),
            groups,
        ]);
    }
    let note = match ranking.evidence {
        Evidence::Nothing => {
            "Each combination was run once: how far two of them would differ in other runs is not known. Repetitions with other \
             seeds would tell."
        }
        Evidence::Uncertainty => {
            "Each combination was run once; those that share a letter cannot be told apart, by what each forecast says of its own \
             uncertainty (95 %)."
        }
        _ => "Combinations that share a letter cannot be told apart (Welch's t test, Holm's correction, 95 %).",
    };
    let more = ranking.places.len().saturating_sub(LISTED);
    let more =
        if more > 0 { format!(" {} more combinations are not listed.", count(more as u64)) } else { String::new() };
    Some(Section { title: "Best combinations", rows, note: format!("{note}{more}") })
}

fn variance(findings: &Findings<'_>) -> Option<Section> {
    let anova: &Anova = findings.anova.as_ref().ok()?;
    let mut rows = header(["effect", "share of variance", "degrees of freedom", "F", "p"]);
    let mut terms: Vec<_> = anova.terms.iter().chain(&anova.rest).collect();
    terms.sort_by(|one, other| other.share.total_cmp(&one.share));
    for term in terms {
        let names: Vec<&str> = term.factors.iter().map(|factor| name(findings, *factor)).collect();
        let names = if names.is_empty() { "all other effects".into() } else { names.join(" × ") };
        let test = term.test.map_or([String::new(), String::new()], |test| [figure(test.f), probability(test.p)]);
        let [f, p] = test;
        rows.push(vec![names, format!("{:.1} %", 100.0 * term.share), term.freedom.to_string(), f, p]);
    }
    let note = match anova.noise {
        Noise::Repetitions => "Tested against runs of the same combination.".into(),
        Noise::Interactions { of } => {
            let is_repeated = findings.rows.iter().any(|row| row.repetition > 0);
            let why = if is_repeated { "Repetitions do not differ" } else { "Nothing is repeated" };
            format!("{why}, so effects are tested against interactions of {of} factors and more.")
        }
        Noise::Saturated => "There are as many effects as combinations: nothing is left to test against.".into(),
        Noise::Exact => "The effects explain all values exactly: there is no chance in them to test against.".into(),
    };
    Some(Section { title: "What matters", rows, note })
}

fn probability(p: f64) -> String {
    if p < 0.0001 { "< 0.0001".into() } else { format!("{p:.4}") }
}

fn effects(findings: &Findings<'_>) -> Option<Section> {
    if findings.effects.is_empty() {
        return None;
    }
    let mut rows = header(["factor", "level", "mean", "difference from a mean level", "95 % interval"]);
    for effect in &findings.effects {
        for level in &effect.levels {
            let text = findings.frame.factors[effect.factor].levels[level.level].text.clone();
            rows.push(vec![
                name(findings, effect.factor).into(),
                text,
                figure(level.mean),
                figure(level.effect),
                interval(level.interval),
            ]);
        }
    }
    let note = "Means are those that levels would have if all met the levels of other factors equally often.";
    Some(Section { title: "What each level does", rows, note: note.into() })
}

fn sobol(findings: &Findings<'_>) -> Option<Section> {
    let indices = findings.sobol.as_ref()?;
    let mut rows = header(["factor", "first order", "95 % interval", "total", "95 % interval"]);
    for (factor, index) in indices.factors.iter().enumerate() {
        rows.push(vec![
            name(findings, factor).into(),
            figure(index.first.value),
            interval(Some(index.first.interval)),
            figure(index.total.value),
            interval(Some(index.total.interval)),
        ]);
    }
    let note =
        "Sobol' indices: the part of the variance that is due to the factor alone, and that has to do with it at all.";
    Some(Section { title: "What the response depends on", rows, note: note.into() })
}

fn morris(findings: &Findings<'_>) -> Option<Section> {
    if findings.morris.is_empty() {
        return None;
    }
    let mut rows = header(["factor", "mu*", "95 % interval", "mu", "sigma"]);
    for (factor, effect) in findings.morris.iter().enumerate() {
        let Some(effect) = effect else { continue };
        rows.push(vec![
            name(findings, factor).into(),
            figure(effect.absolute),
            interval(effect.interval),
            figure(effect.mean),
            effect.deviation.map_or(String::new(), figure),
        ]);
    }
    let note = "Morris: what crossing the whole range changes, on average (mu*), and how much that differs from place to place (sigma).";
    Some(Section { title: "What the response depends on", rows, note: note.into() })
}

fn overheads(findings: &Findings<'_>) -> Option<Section> {
    if findings.overheads.is_empty() {
        return None;
    }
    let mut overheads: Vec<_> = findings.overheads.iter().collect();
    overheads.sort_by(|one, other| one.overhead.value.total_cmp(&other.overhead.value));
    let mut rows = header(["combination", "overhead", "95 % interval"]);
    for overhead in overheads.iter().take(LISTED) {
        rows.push(vec![findings.levels(overhead.of), percent(overhead.overhead.value), percents(overhead)]);
    }
    let note = format!("What is paid more than with {}; negative is less.", base_line(findings));
    Some(Section { title: "Compared with the base line", rows, note })
}

fn by_level(findings: &Findings<'_>) -> Option<Section> {
    let mut rows = header(["factor", "level", "overhead", "95 % interval", "pairs"]);
    for (factor, overheads) in &findings.by_level {
        for overhead in overheads {
            let level = findings.frame.factors[*factor].levels[overhead.of].text.clone();
            let value = percent(overhead.overhead.value);
            rows.push(vec![
                name(findings, *factor).into(),
                level,
                value,
                percents(overhead),
                overhead.count.to_string(),
            ]);
        }
    }
    if rows.len() == 1 {
        return None;
    }
    let response = findings.study.responses.first()?;
    let base = base_line(findings);
    let note = format!(
        "What is paid more, by {}, than with the level of the base line ({base}), all other factors being the same: the geometric mean of \
         all such pairs; negative is less. Intervals say how far pairs differ.",
        response.name
    );
    Some(Section { title: "What leaving the base line costs", rows, note })
}

fn percent(value: f64) -> String {
    format!("{:+.1} %", 100.0 * value)
}

/// Where an overhead lies, if that is known.
fn percents(overhead: &Overhead) -> String {
    let interval = overhead.overhead.interval;
    interval.map_or(String::new(), |(low, high)| format!("{} to {}", percent(low), percent(high)))
}

/// The levels of the base line, in the order of the study's factors.
fn base_line(findings: &Findings<'_>) -> String {
    let level = |factor: &FactorColumn| {
        let (name, level) = findings.study.baseline.iter().find(|(name, _)| *name == factor.name)?;
        Some(format!("{name} {level}"))
    };
    findings.study.factors.iter().filter_map(level).collect::<Vec<_>>().join(", ")
}
