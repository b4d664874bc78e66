//! The findings of a study as a page: to look at, to filter, to show to others. As a file it needs nothing else; `hpcast serve`
//! has the same page follow its study.

use hpcast_platform::draw::escape;
use hpcast_study::store::{StudyRecord, StudyRow};
use hpcast_study::{Factor, Frame};
use hpcast_units::count;
use serde_json::{Value, json};

use super::findings::Findings;
use super::markdown::{Section, sections};
use crate::html::{LINKED_STYLE, head, lines, navigation};
use crate::served::Standing;

const STYLE: &str = include_str!("page.css");
/// The script of the page, for those who serve it.
pub const SCRIPT: &str = include_str!("page.js");

/// What a page knows of the server that it comes from.
pub struct Served {
    /// The address of the study; `/news` and `/run/KEY` below it are asked for.
    pub address: String,
    /// Where all runs of the study are listed.
    pub runs: String,
    /// Which rows the page has got, as the server calls them.
    pub edition: Edition,
    /// How far the study is.
    pub standing: Standing,
    /// Of very many runs only about one of so many is shown ([`is_shown`]): no browser could draw them all.
    pub one_of: u64,
}

/// Whether a row is among those that stand for all. They are spread as by chance, so that no level is left out.
pub fn is_shown(row: u64, one_of: u64) -> bool {
    let mixed = row.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    ((mixed ^ (mixed >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9) >> 32).is_multiple_of(one_of.max(1))
}

/// Which rows somebody has got: the first so many of a list that only grows, as long as the generation is the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edition {
    /// Another study of the same name begins another list.
    pub generation: u64,
    /// Rows.
    pub length: usize,
}

/// The page: a file that needs nothing else, or one that follows its study.
pub fn html(findings: &Findings<'_>, served: Option<&Served>) -> String {
    let study = findings.study;
    let (style, script) = match served {
        Some(_) => (LINKED_STYLE.to_owned(), "<script src=\"/study.js\"></script>".to_owned()),
        None => (format!("<style>\n{STYLE}</style>"), format!("<script>\n{SCRIPT}</script>")),
    };
    let mut page = head(&study.title, &style);
    if let Some(served) = served {
        page += &navigation(&[("Studies", "/"), ("Runs", &served.runs)]);
    }
    page += &format!(
        "<h1>{title}</h1>\n<p class=\"question\">{question}</p>\n<p class=\"answer\">{answer}</p>\n",
        title = escape(&study.title),
        question = escape(&study.question),
        answer = escape(&findings.answer()),
    );
    if let Some(served) = served {
        page += &format!("<p id=\"standing\">{}</p>\n", served.standing.html());
        if served.one_of > 1 {
            let (one_of, runs) = (count(served.one_of), escape(&served.runs));
            page += &format!(
                "<p class=\"note\">The plot and the table below show about one run of {one_of}; answer and analyses are of all, \
                 and <a href=\"{runs}\">all are listed</a>.</p>\n"
            );
        }
    }
    page += CONTROLS;
    page += &format!("<div id=\"analyses\">\n{}</div>\n", analyses(findings));
    page += ROWS;
    page += &format!(
        "<h2>Where it comes from</h2>\n<p class=\"note\"><span id=\"ended\">{ended}</span> of {all} runs, design {design}, \
         hpcast {version}, begun {created}.</p>\n<details><summary>The study's file</summary><pre>{file}</pre></details>\n",
        ended = findings.rows.len(),
        all = study.rows,
        design = escape(&study.design),
        version = escape(&study.version),
        created = escape(&study.created),
        file = lines(&study.file),
    );
    let one_of = served.map_or(1, |served| served.one_of);
    let mut data = if one_of > 1 {
        let rows: Vec<StudyRow> = findings.rows.iter().filter(|row| is_shown(row.row, one_of)).cloned().collect();
        data(study, &rows, &Frame::of(study, &rows))
    } else {
        data(study, findings.rows, &findings.frame)
    };
    let (x, colour) = findings.axes();
    data["x"] = x.into();
    data["colour"] = colour.into();
    data["live"] = served
        .map(|served| {
            let Edition { generation, length } = served.edition;
            json!({ "address": served.address, "generation": generation, "length": length })
        })
        .into();
    // Inside a script only `<` could end it.
    let data = data.to_string().replace('<', "\\u003c");
    page + &format!("<script type=\"application/json\" id=\"study\">{data}</script>\n{script}</body></html>\n")
}

/// The tables of the findings.
pub fn analyses(findings: &Findings<'_>) -> String {
    sections(findings).iter().map(table).collect()
}

/// Rows and what they mean, for the script of the page.
fn data(study: &StudyRecord, rows: &[StudyRow], frame: &Frame) -> Value {
    let factor = |(place, factor): (usize, &Factor)| {
        let texts: Vec<&str> = factor.levels.iter().map(|level| level.text.as_str()).collect();
        let numbers: Vec<Option<f64>> = factor.levels.iter().map(|level| level.number).collect();
        let numbers = Some(numbers).filter(|_| study.factors[place].numeric);
        json!({ "name": factor.name, "levels": texts, "numbers": numbers, "continuous": factor.continuous })
    };
    let row = |(number, row): (usize, &StudyRow)| {
        let mut cells = start_of_row(row);
        cells.extend(frame.factors.iter().map(|factor| Value::from(factor.values[number])));
        end_of_row(cells, row)
    };
    let rows: Vec<Value> = rows.iter().enumerate().map(row).collect();
    let responses: Vec<Value> = study
        .responses
        .iter()
        .map(|response| json!({ "name": response.name, "higher": response.higher_is_better }))
        .collect();
    json!({
        "factors": frame.factors.iter().enumerate().map(factor).collect::<Vec<_>>(),
        "responses": responses,
        "rows": rows,
    })
}

/// Rows for a page that has others already: with levels in words, since the page may not know them.
pub fn news<'r>(rows: impl IntoIterator<Item = &'r StudyRow>) -> Value {
    let row = |row: &StudyRow| {
        let mut cells = start_of_row(row);
        cells.extend(row.levels.iter().map(|(text, number)| json!([text, number])));
        end_of_row(cells, row)
    };
    rows.into_iter().map(row).collect()
}

fn start_of_row(row: &StudyRow) -> Vec<Value> {
    [row.row, row.point, row.repetition, row.seed].map(Value::from).to_vec()
}

fn end_of_row(mut cells: Vec<Value>, row: &StudyRow) -> Value {
    cells.extend(row.responses.iter().map(|value| Value::from(*value)));
    cells.push(row.key.short().into());
    cells.into()
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
