use super::*;

const FOREIGN: &str = "<script>alert(\"x\")</script>";

fn column(name: &str) -> RunColumn {
    RunColumn { name: name.into(), is_text: false, sorts: true }
}

#[test]
fn a_standing_is_said_in_words() {
    let standing = Standing { done: 1200, failed: 3, planned: 5000, is_running: true };
    let text = standing.html();
    assert!(text.contains("max=\"5000\" value=\"1203\""), "{text}");
    assert!(text.contains("1,200 of 5,000 runs") && text.contains("3 failed") && text.contains(">running<"), "{text}");
    assert!(Standing { done: 2, planned: 2, ..Standing::default() }.html().contains("complete"));
    assert!(Standing { done: 1, failed: 1, planned: 2, ..Standing::default() }.html().contains("ended"));
    assert!(Standing { done: 1, planned: 2, ..Standing::default() }.html().contains("stopped"));
}

#[test]
fn names_of_others_stay_text() {
    let studies = StudiesPage {
        place: FOREIGN.into(),
        studies: vec![StudyLine {
            address: "/study/1".into(),
            title: FOREIGN.into(),
            question: FOREIGN.into(),
            place: FOREIGN.into(),
            standing: Standing::default(),
            changed: "2026-01-01T00:00:00Z".into(),
        }],
        problems: vec![(FOREIGN.into(), FOREIGN.into())],
    };
    assert!(studies.list().contains(">2026-01-01 00:00:00 UTC<"));
    let runs = RunsPage {
        selection: Selection { filter: FOREIGN.into(), sort: FOREIGN.into(), ..Selection::default() },
        studies: vec![("1".into(), FOREIGN.into())],
        columns: vec![column(FOREIGN)],
        lines: vec![RunLine { address: "/r".into(), key: FOREIGN.into(), cells: vec![FOREIGN.into()] }],
        found: 1,
        at_once: 10,
        problem: Some(FOREIGN.into()),
    };
    let run = RunPage {
        address: "/study/1/run/a".into(),
        study: ("/study/1".into(), FOREIGN.into()),
        levels: vec![(FOREIGN.into(), FOREIGN.into())],
        is_drawable: true,
        facts: vec![(FOREIGN.into(), FOREIGN.into())],
        files: vec![(FOREIGN.into(), FOREIGN.into())],
    };
    for page in [studies.html(), runs.html(), run.html(), problem(FOREIGN, FOREIGN)] {
        assert!(page.contains("&lt;script&gt;alert(&quot;x&quot;)") && !page.contains("<script>"), "{page}");
    }
}

#[test]
fn columns_sort_and_pages_follow_each_other() {
    let selection = Selection { filter: "nb=1".into(), sort: "s".into(), page: 1, ..Selection::default() };
    let page = RunsPage {
        selection,
        studies: Vec::new(),
        columns: vec![column("s"), column("row"), RunColumn { sorts: false, ..column("study") }],
        lines: Vec::new(),
        found: 25,
        at_once: 10,
        problem: None,
    };
    let text = page.html();
    assert!(text.contains("href=\"/runs?filter=nb%3D1&amp;sort=s&amp;descending=1\">s ▲"), "{text}");
    assert!(text.contains("href=\"/runs?filter=nb%3D1&amp;sort=row\">row<"), "{text}");
    assert!(text.contains("<th>study</th>"), "{text}");
    assert!(text.contains("page 2 of 3"), "{text}");
    assert!(text.contains("sort=s&amp;page=2\">next"), "{text}");
}
