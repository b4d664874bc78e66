use hpcast_study::document::Fingerprint;
use hpcast_study::store::{FactorColumn, ResponseColumn, StudyRecord, StudyRow};

use super::*;
use crate::served::Standing;

/// Two factors, three runs of each combination; `nb` matters, `swap` does not.
fn example() -> (StudyRecord, Vec<StudyRow>) {
    let factor = |name: &str, levels: [&str; 2], numeric| FactorColumn {
        name: name.into(),
        levels: levels.map(String::from).to_vec(),
        numeric,
        continuous: false,
    };
    let study = StudyRecord {
        name: "s".into(),
        title: "NB & <swap>".into(),
        question: "Which is best?".into(),
        file: "title = \"x\"\n# </script>\n".into(),
        design: "full".into(),
        factors: vec![factor("nb", ["128", "256"], true), factor("swap", ["long", "mix"], false)],
        responses: vec![ResponseColumn { name: "gflops".into(), higher_is_better: true }],
        baseline: vec![("nb".into(), "128".into()), ("swap".into(), "mix".into())],
        rows: 12,
        version: "0.1.0".into(),
        created: "2026-01-01T00:00:00Z".into(),
    };
    let mut rows = Vec::new();
    for point in 0..4u64 {
        for repetition in 0..3u64 {
            let (nb, swap) = (point / 2, point % 2);
            let value = 100.0 + 10.0 * nb as f64 + 0.1 * repetition as f64 + 0.01 * swap as f64;
            rows.push(StudyRow {
                row: 3 * point + repetition,
                point,
                repetition,
                seed: repetition,
                key: Fingerprint(format!("{point}{repetition}abcdefghijkl")),
                is_done: true,
                levels: vec![
                    (["128", "256"][nb as usize].into(), Some([128.0, 256.0][nb as usize])),
                    (["long", "mix"][swap as usize].into(), None),
                ],
                responses: vec![Some(value)],
            });
        }
    }
    (study, rows)
}

#[test]
fn the_answer_says_what_is_best_and_what_matters() {
    let (study, rows) = example();
    let findings = Findings::new(&study, &rows, None);
    let answer = findings.answer();
    assert!(answer.starts_with("The highest gflops, 110.1 (109.9 to 110.4), comes with nb 256, swap mix."), "{answer}");
    assert!(answer.contains("Another combination cannot be told from it."), "{answer}");
    assert!(answer.contains("nb explains 100 % of the differences."), "{answer}");
    let text = markdown(&findings);
    for part in [
        "## Best combinations",
        "| nb | 100.0 % | 1 |",
        "| nb 256, swap mix | 110.1 |",
        "## Compared with the base line",
    ] {
        assert!(text.contains(part), "{part}:\n{text}");
    }
    let half = Findings::new(&study, &rows[..6], None);
    assert!(half.answer().contains("So far 6 of 12 runs are done."), "{}", half.answer());
    let mut alone = study.clone();
    alone.factors.pop();
    alone.baseline.clear();
    let short: Vec<StudyRow> = rows
        .iter()
        .cloned()
        .map(|mut row| {
            row.levels.pop();
            row
        })
        .collect();
    assert!(!Findings::new(&alone, &short, None).answer().contains("explain"));
    // What has failed is not still to come.
    let mut failed = rows.clone();
    failed[3].is_done = false;
    failed[3].responses[0] = None;
    let answer = Findings::new(&study, &failed, None).answer();
    assert!(answer.contains("1 of 12 runs have failed.") && !answer.contains("So far"), "{answer}");
}

#[test]
fn the_page_needs_nothing_else() {
    let (study, rows) = example();
    let page = html(&Findings::new(&study, &rows, None), None);
    assert!(page.contains("<h1>NB &amp; &lt;swap&gt;</h1>"));
    for outside in ["http:", "https:", " src=", "@import", "<link", "url("] {
        assert!(!page.contains(outside), "{outside}");
    }
    // Nothing of the study ends the script.
    assert_eq!(page.matches("</script>").count(), 2);
    assert!(page.contains("\"live\":null"));
}

#[test]
fn a_study_without_rows_has_a_page() {
    let (study, _) = example();
    let findings = Findings::new(&study, &[], None);
    assert_eq!(findings.answer(), "So far 0 of 12 runs are done.");
    assert!(markdown(&findings).contains("0 runs of 12"));
}

#[test]
fn a_served_page_says_where_it_comes_from() {
    let (study, rows) = example();
    let served = Served {
        address: "/study/3".into(),
        runs: "/runs?study=3".into(),
        edition: Edition { generation: 7, length: 12 },
        standing: Standing { done: 11, failed: 1, planned: 12, is_running: false },
        one_of: 1,
    };
    let page = html(&Findings::new(&study, &rows, None), Some(&served));
    assert!(page.contains("\"live\":{\"address\":\"/study/3\",\"generation\":7,\"length\":12}"), "{page}");
    assert!(page.contains("11 of 12 runs, <span class=\"failed\">1 failed</span>"), "{page}");
    // Its script and its style are files of the server, so that nothing else is allowed to run.
    assert!(page.contains("<script src=\"/study.js\"></script>") && !page.contains("<style>"));
    assert_eq!(page.matches("</script>").count(), 2);
    assert_eq!(page.matches("abcdefghij\"]").count(), 12);
    let part = html(&Findings::new(&study, &rows, None), Some(&Served { one_of: 5, ..served }));
    let shown = rows.iter().filter(|row| is_shown(row.row, 5)).count();
    assert!((1..12).contains(&shown), "{shown}");
    assert_eq!(part.matches("abcdefghij\"]").count(), shown);
    assert!(part.contains("show about one run of 5") && part.contains("The highest gflops, 110.1"), "{part}");
}

#[test]
fn every_level_is_among_the_rows_that_are_shown() {
    for levels in [2, 3, 5, 8, 20] {
        for level in 0..levels {
            let shown = (level..100_000).step_by(levels).filter(|row| is_shown(*row as u64, 20)).count();
            let share = (shown * levels * 20) as f64 / 100_000.0;
            assert!((0.7..1.3).contains(&share), "{share} of level {level} of {levels}");
        }
    }
    assert!((0..100).all(|row| is_shown(row, 1)));
}

#[test]
fn new_rows_have_levels_in_words() {
    let (_, rows) = example();
    let news = news(&rows[..1]).to_string();
    assert_eq!(news, "[[0,0,0,0,[\"128\",128.0],[\"long\",null],100.0,\"00abcdefghij\"]]");
}

/// Runs without chance are the same each time: that is no want of repetitions.
#[test]
fn repetitions_that_do_not_differ_are_not_denied() {
    let (study, mut rows) = example();
    for row in &mut rows {
        row.responses = vec![Some(100.0 + 10.0 * (row.point / 2) as f64 + (row.point % 2 * (row.point / 2)) as f64)];
    }
    let text = markdown(&Findings::new(&study, &rows, None));
    assert!(text.contains("Repetitions do not differ, so effects are tested against interactions of 2"), "{text}");
    rows.retain(|row| row.repetition == 0);
    let text = markdown(&Findings::new(&study, &rows, None));
    assert!(text.contains("Nothing is repeated, so effects are tested against interactions of 2"), "{text}");
}

/// Runs of one combination each, that are sure to 5 %.
#[test]
fn forecasts_say_how_sure_they_are() {
    let (study, rows) = example();
    let rows: Vec<StudyRow> = rows.into_iter().filter(|row| row.repetition == 0).collect();
    let answer = Findings::new(&study, &rows, None).answer();
    assert!(answer.starts_with("The highest gflops, 110.0, comes with nb 256, swap mix."), "{answer}");
    let findings = Findings::new(&study, &rows, Some(&[5.0; 4]));
    assert!(
        findings.answer().starts_with("The highest gflops, 110.0 (100.2 to 119.8), comes with"),
        "{}",
        findings.answer()
    );
    assert!(findings.answer().contains("3 others cannot be told from it."), "{}", findings.answer());
    assert!(markdown(&findings).contains("what each forecast says of its own uncertainty"));
    // What is known nowhere has no column.
    let text = markdown(&Findings::new(&study, &rows, None));
    assert!(text.contains("| combination | gflops | runs |\n|---|---|---|\n"), "{text}");
}

#[test]
fn times_have_units() {
    for (name, value, text) in [
        ("seconds", 61.8273, "61.83 s"),
        ("wait_seconds", 5.31072e-6, "5.311 us"),
        ("seconds", 1140.18, "1140 s"),
        ("gflops", 26543.25, "26543"),
    ] {
        assert_eq!(with_unit(name, value), text);
    }
}

/// The factor that matters most is along the axis, and the next one colours.
#[test]
fn the_plot_begins_with_what_matters() {
    let (mut study, mut rows) = example();
    study.factors[0].numeric = false;
    assert_eq!(Findings::new(&study, &rows, None).axes(), (0, Some(1)));
    for row in &mut rows {
        row.responses[0] = Some(f64::from(u8::from(row.levels[1].0 == "mix")));
    }
    assert_eq!(Findings::new(&study, &rows, None).axes(), (1, Some(0)));
}

/// `nb` 256 is 10 % faster than 128, whatever `swap` is.
#[test]
fn levels_are_compared_with_the_base_line() {
    let (study, rows) = example();
    let text = markdown(&Findings::new(&study, &rows, None));
    let section = text.split("## What leaving the base line costs").nth(1).expect("the section");
    assert!(section.contains("| nb | 256 | -9.1 % | -9.1 % to -9.1 % | 2 |"), "{section}");
    assert!(section.contains("| swap | long | +0.0 % |") && section.contains("(nb 128, swap mix)"), "{section}");
    let alone = StudyRecord { baseline: Vec::new(), ..study };
    assert!(!markdown(&Findings::new(&alone, &rows, None)).contains("What leaving"));
}
