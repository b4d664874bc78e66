//! Comparisons as one HTML page that needs nothing else: for those who decide whether to trust forecasts.

use std::fmt::Write;

use hpcast_platform::draw::escape;

use crate::comparison::{Comparison, SUMMARY, signed_percent, verdict};
use crate::comparison_plot;
use crate::progress::duration;
use crate::provenance::Provenance;
use crate::resources::Used;

const STYLE: &str = "\
body{font:15px/1.45 Helvetica,Arial,'Liberation Sans',sans-serif;color:#222;max-width:64rem;margin:2rem auto;padding:0 1rem}\
h1{font-size:1.7rem}h2{margin-top:2.5rem;font-size:1.25rem}p{max-width:48rem}\
table{border-collapse:collapse;margin:.8rem 0;font-size:.87rem}th,td{padding:.25rem .6rem;text-align:left;vertical-align:top}\
th{border-bottom:2px solid #999}td{border-bottom:1px solid #ddd}.number{text-align:right;white-space:nowrap}\
.good{color:#04703f;font-weight:bold}.bad{color:#b00020;font-weight:bold}.small{color:#555;font-size:.85rem}\
svg{max-width:100%;height:auto}summary{cursor:pointer;color:#0057a0}code{font-size:.85rem;word-break:break-all}";

/// The page.
pub fn html(comparisons: &[Comparison], provenance: &Provenance, used: &Used) -> String {
    let verdict = sentence(&verdict(comparisons));
    let class = class(comparisons);
    let mut page = format!(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>hpcast: validation</title>\
         <meta name=\"viewport\" content=\"width=device-width\"><style>{STYLE}</style></head><body>\n\
         <h1>hpcast beside what others measured and simulated</h1>\n\
         <p>Each part forecasts runs of High Performance Linpack whose results are known, and holds the differences \
         to a bound. A difference is the forecast relative to the known result: +1 % is 1 % \
         too much.</p>\n<p class=\"{class}\">{verdict}</p>\n"
    );
    overview(&mut page, comparisons);
    comparisons.iter().for_each(|comparison| section(&mut page, comparison));
    sources(&mut page, provenance, used);
    page += "</body></html>\n";
    page
}

/// How a verdict looks: good, bad, or neither where nothing is bounded.
fn class(comparisons: &[Comparison]) -> &'static str {
    if comparisons.iter().any(|comparison| comparison.broken() > 0 || !comparison.is_complete()) {
        return "bad";
    }
    if comparisons.iter().any(Comparison::is_bounded) { "good" } else { "plain" }
}

/// Begins with a capital and ends with a full stop.
fn sentence(words: &str) -> String {
    let mut letters = words.chars();
    let first = letters.next().map(|letter| letter.to_ascii_uppercase());
    first.into_iter().chain(letters).chain(['.']).collect()
}

fn overview(page: &mut String, comparisons: &[Comparison]) {
    let header = ["part", "what is compared", "cases", "mean difference", "worst", "verdict"];
    let rows = comparisons.iter().map(|comparison| {
        let off = comparison.differences();
        let cases: usize = comparison.lines.iter().map(|line| line.points.len()).sum();
        vec![
            comparison.name.clone(),
            comparison.title.clone(),
            cases.to_string(),
            off.map_or("-".into(), |off| format!("{:.2} %", 100.0 * off.mean)),
            off.map_or("-".into(), |off| signed_percent(off.worst)),
            comparison.verdict(),
        ]
    });
    table(page, &header.map(String::from), rows);
}

fn section(page: &mut String, comparison: &Comparison) {
    let Comparison { name, title, about, origin, .. } = comparison;
    let _ = writeln!(page, "<h2 id=\"{0}\">{0}: {1}</h2>", escape(name), escape(title));
    for paragraph in about.split("\n\n").filter(|text| !text.trim().is_empty()) {
        let _ = writeln!(page, "<p>{}</p>", escape(&paragraph.split_whitespace().collect::<Vec<_>>().join(" ")));
    }
    let class = class(std::slice::from_ref(comparison));
    let _ = writeln!(page, "<p>Verdict: <span class=\"{class}\">{}</span></p>", escape(&comparison.verdict()));
    for failed in &comparison.failed {
        let _ = writeln!(page, "<p class=\"bad\">Failed: {}</p>", escape(&failed.text()));
    }
    table(page, &SUMMARY.map(String::from), comparison.summary().into_iter().map(Vec::from));
    page.extend(comparison_plot::svg(comparison));
    let (header, rows) = comparison.rows();
    let _ = writeln!(page, "<details><summary>All {} cases</summary>", rows.len());
    table(page, &header, rows.into_iter());
    let _ = writeln!(page, "</details>\n<p class=\"small\">Reference: {}</p>", escape(origin));
}

fn sources(page: &mut String, provenance: &Provenance, used: &Used) {
    let Provenance { version, commit, command, inputs, threads, host, date } = provenance;
    let commit = commit.as_ref().map_or(String::new(), |commit| format!(", commit {commit}"));
    let memory = used.peak_memory_bytes.map_or(String::new(), |bytes| format!(", {} MB of memory", bytes / 1_000_000));
    let _ = writeln!(
        page,
        "<h2>Where this comes from</h2>\n<p class=\"small\">hpcast {}{} on {}, {}; {} threads, {} on the clock, {} of \
         CPU{memory}.<br>Command: <code>{}</code></p>",
        escape(version),
        escape(&commit),
        escape(host),
        escape(date),
        threads,
        duration(used.wall_seconds),
        duration(used.cpu_seconds),
        escape(&command.join(" ")),
    );
    let header = ["file", "bytes", "SHA-256"].map(String::from);
    let rows = inputs.iter().map(|input| vec![input.path.clone(), input.bytes.to_string(), input.sha256.clone()]);
    page.push_str("<details><summary>Files that were read</summary>\n");
    table(page, &header, rows);
    page.push_str("</details>\n");
}

fn table(page: &mut String, header: &[String], rows: impl Iterator<Item = Vec<String>>) {
    page.push_str("<table><tr>");
    header.iter().for_each(|cell| page.push_str(&format!("<th>{}</th>", escape(cell))));
    page.push_str("</tr>\n");
    for row in rows {
        page.push_str("<tr>");
        for cell in row {
            let number = cell.starts_with(|c: char| c.is_ascii_digit() || "+-".contains(c)) && !cell.contains("bound");
            let class = match (number, cell.contains("BROKEN")) {
                (_, true) => " class=\"bad\"",
                (true, _) => " class=\"number\"",
                _ => "",
            };
            let _ = write!(page, "<td{class}>{}</td>", escape(&cell));
        }
        page.push_str("</tr>\n");
    }
    page.push_str("</table>\n");
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::comparison::FailedCase;
    use crate::comparison::tests::example;

    #[test]
    fn the_page_needs_nothing_else() {
        let page = html(&[example()], &Provenance::default(), &Used::default());
        // The name of SVG's language is no address that is fetched.
        let page_without_names = page.replace("xmlns=\"http://www.w3.org/2000/svg\"", "");
        for outside in ["http", "src=", "@import", "<script", "<link", "url("] {
            assert!(!page_without_names.contains(outside), "{outside}");
        }
        assert!(page.contains("<svg") && page.contains("All bounds hold."));
        assert!(page.contains("tiny: two runs &amp; their &lt;forecasts&gt;"));
    }

    #[test]
    fn nothing_is_claimed_where_nothing_is_bounded() {
        let mut comparison = example();
        comparison.lines[0].bound = Default::default();
        let page = html(&[comparison], &Provenance::default(), &Used::default());
        assert!(page.contains("<p class=\"plain\">No bound was checked.</p>"));
        assert!(!page.contains("ounds hold") && !page.contains("class=\"good\""));
    }

    #[test]
    fn what_failed_is_named() {
        let mut comparison = example();
        let (line, case) = ("a".into(), "N = <3>".into());
        comparison.failed.push(FailedCase { line, case, message: "a deadlock".into() });
        let page = html(&[comparison], &Provenance::default(), &Used::default());
        assert!(page.contains("<p class=\"bad\">Stopped before its end; no bound is broken so far.</p>"));
        assert!(page.contains("<p class=\"bad\">Failed: a, N = &lt;3&gt;: a deadlock</p>"));
    }

    #[test]
    fn what_is_broken_is_said_first() {
        let mut comparison = example();
        comparison.lines[0].bound.worst = Some(0.001);
        let page = html(&[comparison], &Provenance::default(), &Used::default());
        assert!(page.contains("<p class=\"bad\">2 bounds are broken.</p>"));
    }
}
