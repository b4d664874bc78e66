//! Rooflines in a model file: what a kernel does, and what a processor reaches.

use hpcast_platform::fields::{Reader, Section};

use super::super::kernel::{Kernel, Row};
use super::super::roofline::{KernelWork, RooflineFigures, RooflineModel, Roofs};
use super::super::term::Term;
use super::read;
use super::write::number;

pub(super) fn kernel(reader: &mut Reader, section: &mut Section<'_>, name: &str) -> Option<Kernel> {
    let words = [Roofs::Longest, Roofs::Sum].map(|roofs| (roofs.word(), roofs));
    let roofs = section.choice(reader, "roofs", &words).unwrap_or_default();
    let given = KernelWork {
        flops: sum(reader, section, "flops"),
        bytes: sum(reader, section, "bytes"),
        steps: sum(reader, section, "steps"),
    };
    let is_given = given != KernelWork::default();
    let work = if is_given { Some(given) } else { KernelWork::of(name) };
    let noise = read::noise(reader, section);
    let measured = read::measured(reader, section);
    let mut rows = vec![row(reader, section, None)?];
    rows.extend(read::processors(reader, section, |reader, section, processor| {
        Some(vec![row(reader, section, processor)?])
    }));
    let mut fit = section.section(reader, "fit");
    let fit = fit.exists().then(|| read::how_well(reader, &mut fit));
    let Some(work) = work else {
        let remedy = "add what a call does, such as `flops = { \"M*N\" = 2 }` and `bytes = { \"M*N\" = 8 }`";
        reader.fail(&section.key("roofline"), format!("nothing says what `{name}` does"), remedy);
        return None;
    };
    Some(Kernel { roofline: Some(RooflineModel { work, roofs }), noise, rows, measured, fit, ..Kernel::default() })
}

/// A sum over products of arguments.
fn sum(reader: &mut Reader, section: &mut Section<'_>, key: &'static str) -> Vec<(Term, f64)> {
    let mut parts = section.section(reader, key);
    let mut sum = Vec::new();
    for text in parts.keys() {
        let place = parts.key(text);
        let factor = parts.number(reader, text);
        sum.extend(read::term(reader, &place, text).zip(factor));
    }
    sum
}

fn row(reader: &mut Reader, section: &mut Section<'_>, processor: Option<(u32, u32)>) -> Option<Row> {
    let mut table = section.section(reader, "roofline");
    if !table.exists() {
        let none: Option<u32> = None;
        section.needed(reader, "roofline", none, "roofline = { rate = 1e12, bandwidth = 1e11 }");
        return None;
    }
    let mut figures = RooflineFigures::default();
    for (key, place, may_be_zero) in [
        ("rate", &mut figures.rate, false),
        ("bandwidth", &mut figures.bandwidth, false),
        ("overhead", &mut figures.overhead, true),
        ("step", &mut figures.step, true),
        ("deviation", &mut figures.deviation, true),
    ] {
        let Some(value) = table.number(reader, key) else { continue };
        if value < 0.0 || (value == 0.0 && !may_be_zero) {
            let message =
                if may_be_zero { format!("`{key}` is negative") } else { format!("`{key}` must be more than zero") };
            reader.fail(&table.key(key), message, "write a number in seconds, flop/s or byte/s, or leave the key out");
        }
        *place = value;
    }
    table.finish(reader);
    Some(Row { processor, roofline: Some(figures), ..Row::default() })
}

pub(super) fn write_model(model: &RooflineModel, name: &str) -> String {
    let mut text = String::new();
    if model.roofs == Roofs::Sum {
        text += "roofs = \"sum\"\n";
    }
    let KernelWork { flops, bytes, steps } = &model.work;
    if KernelWork::of(name).as_ref() == Some(&model.work) {
        return text;
    }
    for (key, parts) in [("flops", flops), ("bytes", bytes), ("steps", steps)] {
        if !parts.is_empty() {
            let part = |(term, factor): &(Term, f64)| format!("\"{term}\" = {}", number(*factor));
            text += &format!("{key} = {{ {} }}\n", parts.iter().map(part).collect::<Vec<_>>().join(", "));
        }
    }
    text
}

pub(super) fn write_figures(figures: &RooflineFigures) -> String {
    let written: Vec<String> = figures
        .named()
        .iter()
        .zip(RooflineFigures::default().named())
        .filter(|((_, value), (_, usual))| value != usual)
        .map(|((key, value), _)| format!("{key} = {}", number(*value)))
        .collect();
    format!("roofline = {{ {} }}", written.join(", "))
}
