//! The findings of a study as a page that needs nothing else: to look at, to filter, to show to others.

use hpcast_platform::draw::escape;
use hpcast_study::Factor;
use serde_json::{Value, json};

use super::findings::Findings;
use super::markdown::{Section, sections};

const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// The page. A served one follows its study by asking for new rows at an address.
pub fn html(findings: &Findings<'_>, live: Option<&str>) -> String {
    let study = findings.study;
    let mut page = format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta name=\"viewport\" content=\"width=device-width\"><title>{title}</title>\n<style>\n{STYLE}</style></head><body>\n\
         <h1>{title}</h1>\n<p class=\"question\">{question}</p>\n<p class=\"answer\">{answer}</p>\n",
        title = escape(&study.title),
        question = escape(&study.question),
        answer = escape(&findings.answer()),
    );
    page += CONTROLS;
    for section in sections(findings) {
        page += &table(&section);
    }
    page += ROWS;
    page += &format!(
        "<h2>Where it comes from</h2>\n<p class=\"note\">{done} of {all} runs, design {design}, hpcast {version}, begun {created}.</p>\n\
         <details><summary>The study's file</summary><pre>{file}</pre></details>\n",
        done = findings.rows.len(),
        all = study.rows,
        design = escape(&study.design),
        version = escape(&study.version),
        created = escape(&study.created),
        file = study.file.lines().map(escape).collect::<Vec<_>>().join("\n"),
    );
    let mut data = data(findings);
    data["live"] = live.into();
    // Inside a script only `<` could end it.
    let data = data.to_string().replace('<', "\\u003c");
    page + &format!(
        "<script type=\"application/json\" id=\"study\">{data}</script>\n<script>\n{SCRIPT}</script></body></html>\n"
    )
}

/// The rows and what they mean, for the script of the page.
pub fn data(findings: &Findings<'_>) -> Value {
    let study = findings.study;
    let factor = |(place, factor): (usize, &Factor)| {
        let texts: Vec<&str> = factor.levels.iter().map(|level| level.text.as_str()).collect();
        let numbers: Option<Vec<f64>> = factor.levels.iter().map(|level| level.number).collect();
        let numbers = numbers.filter(|_| study.factors[place].numeric);
        json!({ "name": factor.name, "levels": texts, "numbers": numbers, "continuous": factor.continuous })
    };
    let rows: Vec<Value> = findings
        .rows
        .iter()
        .enumerate()
        .map(|(number, row)| {
            let mut cells: Vec<Value> = [row.row, row.point, row.repetition, row.seed].map(Value::from).to_vec();
            cells.extend(findings.frame.factors.iter().map(|factor| Value::from(factor.values[number])));
            cells.extend(row.responses.iter().map(|value| Value::from(*value)));
            cells.push(row.key.short().into());
            Value::Array(cells)
        })
        .collect();
    let responses: Vec<Value> = study
        .responses
        .iter()
        .map(|response| json!({ "name": response.name, "higher": response.higher_is_better }))
        .collect();
    json!({
        "factors": findings.frame.factors.iter().enumerate().map(factor).collect::<Vec<_>>(),
        "responses": responses,
        "rows": rows,
        "x": axis(findings),
        "answer": findings.answer(),
    })
}

/// The factor that the plot begins with: a number, if there is one.
fn axis(findings: &Findings<'_>) -> usize {
    findings.study.factors.iter().position(|factor| factor.numeric && factor.levels.len() != 2).unwrap_or(0)
}

const CONTROLS: &str = "<h2>All runs</h2>\n<div class=\"controls\">\
    <label>show <select id=\"y\"></select></label><label>over <select id=\"x\"></select></label>\
    <label>coloured by <select id=\"colour\"></select></label>\
    <label><input type=\"checkbox\" id=\"log-x\"> logarithmic over</label><label><input type=\"checkbox\" id=\"log-y\"> logarithmic up</label>\
    <button id=\"whole\">show all</button>\
    <label>only <input id=\"filter\" size=\"28\" placeholder=\"nb=256, gflops&gt;1000\"></label> <span id=\"count\" class=\"note\"></span></div>\n\
    <div class=\"plot\"><canvas id=\"canvas\"></canvas><div id=\"hint\"></div></div><div id=\"legend\"></div>\n\
    <p class=\"note\">Point at a mark to see its run. Draw a rectangle to look closer. Lines join means.</p>\n";

const ROWS: &str = "<h2>Every run</h2>\n<div class=\"wide\"><table id=\"rows\"><thead></thead><tbody></tbody></table></div>\n\
    <p><button id=\"more\"></button></p>\n";

fn table(section: &Section) -> String {
    let mut text = format!("<h2>{}</h2>\n<div class=\"wide\"><table>", section.title);
    for (number, cells) in section.rows.iter().enumerate() {
        let tag = if number == 0 { "th" } else { "td" };
        let cell = |(place, cell): (usize, &String)| {
            let class = if place == 0 { " class=\"text\"" } else { "" };
            format!("<{tag}{class}>{}</{tag}>", escape(cell))
        };
        text += &format!("<tr>{}</tr>\n", cells.iter().enumerate().map(cell).collect::<String>());
    }
    text += "</table></div>\n";
    if !section.note.is_empty() {
        text += &format!("<p class=\"note\">{}</p>\n", escape(&section.note));
    }
    text
}
