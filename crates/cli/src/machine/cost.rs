//! `hpcast machine cost`: what a machine costs, for people and for programs.

use std::path::{Path, PathBuf};

use hpcast_platform::machine::{Cost, Machine};
use hpcast_platform::{Diagnostic, Diagnostics};
use hpcast_report::{check_output, json, write_file};
use hpcast_units::{Power, count};
use serde_json::{Value, json};

use crate::failure::Failure;
use crate::print;

pub(super) fn run(file: &Path, output: Option<&PathBuf>) -> Result<(), Failure> {
    let prints_json = output.is_some_and(|path| path == Path::new("-"));
    if let Some(path) = output.filter(|_| !prints_json) {
        check_output(path, [file])?;
    }
    let machine = Machine::load(file)?;
    let cost = Cost::of(&machine).map_err(|problems| {
        let mut diagnostics = Diagnostics::new();
        for problem in problems {
            let message = format!("{}: {}: {}", file.display(), problem.key, problem.message);
            diagnostics.push(Diagnostic::error(message, problem.remedy));
        }
        Failure::Files(diagnostics)
    })?;
    if prints_json {
        return print(&json::document(&document(&machine, &cost)));
    }
    if let Some(path) = output {
        write_file(path, json::document(&document(&machine, &cost)).as_bytes())?;
    }
    print(&text(&machine, &cost))
}

fn text(machine: &Machine, cost: &Cost) -> String {
    let money = |price: f64| format!("{} {}", count(price.round() as u64), cost.currency);
    let power = |power: Option<Power>| power.map_or("-".into(), |power| power.human());
    let mut rows = vec![["part", "number", "price", "power"].map(String::from)];
    for item in &cost.items {
        rows.push([item.name.clone(), count(item.count), money(item.price), power(item.power)]);
    }
    rows.push(["all".into(), String::new(), money(cost.price()), power(cost.power())]);
    let widths: Vec<usize> =
        (0..4).map(|column| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0)).collect();
    let mut text = format!("{}\n", machine.name);
    for [part, number, price, power] in &rows {
        let [first, second, third, fourth] = widths[..] else { continue };
        text += &format!("  {part:<first$}  {number:>second$}  {price:>third$}  {power:>fourth$}\n");
    }
    text += &format!("price per node         {}\n", money(cost.price_per_node()));
    if let Some(price) = cost.price_per_bisection() {
        let least = if cost.bisection_is_exact { "" } else { "at least " };
        text += &format!("price per bisection    {least}{} per GB/s\n", money(price));
    }
    if let Some(price) = cost.energy_a_year() {
        text += &format!("energy of a year       {}\n", money(price));
    }
    for assumed in machine.assumed.iter().chain(&cost.assumed) {
        text += &format!("assumed: {assumed}\n");
    }
    text
}

fn document(machine: &Machine, cost: &Cost) -> Value {
    let watts = |power: Option<Power>| power.map(Power::get);
    let item = |item: &hpcast_platform::machine::Item| json!({ "part": item.name, "number": item.count, "price": item.price, "power_watts": watts(item.power) });
    json!({
        "machine": machine.name,
        "network": machine.interconnect.topology().describe(),
        "currency": cost.currency,
        "nodes": cost.nodes,
        "items": cost.items.iter().map(item).collect::<Vec<Value>>(),
        "price": cost.price(),
        "price_per_node": cost.price_per_node(),
        "bisection_bytes_per_second": cost.bisection_bandwidth.get(),
        "bisection_is_exact": cost.bisection_is_exact,
        "price_per_bisection_gigabyte_per_second": cost.price_per_bisection(),
        "power_watts": watts(cost.power()),
        "energy_price_a_year": cost.energy_a_year(),
        "assumed": machine.assumed.iter().chain(&cost.assumed).collect::<Vec<&String>>(),
    })
}
