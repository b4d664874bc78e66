use super::*;

fn study() -> StudyRecord {
    let factor = |name: &str, levels: &[&str], numeric| FactorColumn {
        name: name.into(),
        levels: levels.iter().map(|level| String::from(*level)).collect(),
        numeric,
        continuous: false,
    };
    StudyRecord {
        name: "small".into(),
        title: "a small study".into(),
        question: "which is best?".into(),
        file: "title = 'a small study'".into(),
        design: "full".into(),
        factors: vec![factor("nb", &["128", "256"], true), factor("the \"net\"", &["flow", "packet"], false)],
        responses: vec![ResponseColumn { name: "gflops".into(), higher_is_better: true }],
        baseline: Vec::new(),
        rows: 4,
        version: "0.1.0".into(),
        created: "2026-01-01T00:00:00Z".into(),
    }
}

fn run(number: u64, result: Result<f64, &str>) -> RunRecord {
    let inputs = Inputs {
        words: vec!["hpl".into(), number.to_string()],
        machine: Fingerprint("aa".into()),
        models: None,
        seed: u64::MAX,
        files: BTreeMap::new(),
        version: "0.1.0".into(),
    };
    let outputs = |gflops: f64| Outputs {
        figures: [("gflops".to_owned(), gflops)].into(),
        report: format!("{{\"gflops\":{gflops}}}"),
        warnings: vec!["slow".into()],
    };
    let cost = Cost { wall_seconds: 0.5, cpu_seconds: 0.25, memory_bytes: Some(1 << 20) };
    let ending = Ending {
        result: result.map(outputs).map_err(String::from),
        cost,
        host: "here".into(),
        finished: "2026-01-01T00:00:00Z".into(),
    };
    RunRecord { key: inputs.key(), inputs, ending }
}

fn row(number: u64, run: &RunRecord) -> StudyRow {
    let level = |place: u64, texts: [&str; 2]| texts[(place % 2) as usize].to_owned();
    let nb = level(number, ["128", "256"]);
    let gflops = run.ending.result.as_ref().ok().map(|outputs| outputs.figures["gflops"]);
    StudyRow {
        row: number,
        point: number,
        repetition: 0,
        seed: u64::MAX,
        key: run.key.clone(),
        is_done: gflops.is_some(),
        levels: vec![(nb.clone(), nb.parse().ok()), (level(number / 2, ["flow", "packet"]), None)],
        responses: vec![gflops],
    }
}

/// What must hold for every store.
pub(super) fn check(store: &mut Store) {
    let study = study();
    let id = store.begin_study(&study).unwrap();
    let results = [Ok(3.0), Ok(1.0), Err("a deadlock"), Ok(2.0)];
    let runs: Vec<RunRecord> = (0..).zip(results).map(|(number, result)| run(number, result)).collect();
    let rows: Vec<StudyRow> = (0..).zip(&runs).map(|(number, run)| row(number, run)).collect();
    // Not in their order: workers finish when they finish.
    for number in [2, 0, 3, 1] {
        store.add(id, &runs[number..=number], &rows[number..=number]).unwrap();
    }
    store.settle().unwrap();
    let ask = |store: &mut Store, conditions: &[&str], sort: Option<&str>| -> Vec<u64> {
        let conditions = conditions.iter().map(|condition| condition.parse().unwrap()).collect();
        let query = Query { conditions, sort: sort.map(String::from), ..Query::default() };
        let found = store.rows(id, &study, &query).unwrap();
        assert_eq!(store.count(id, &study, &query).unwrap(), found.len() as u64);
        found.iter().map(|row| row.row).collect()
    };
    assert_eq!(store.rows(id, &study, &Query::default()).unwrap(), rows);
    assert_eq!(ask(store, &["nb=256"], None), [1, 3]);
    assert_eq!(ask(store, &["nb<200", "status=done"], None), [0]);
    assert_eq!(ask(store, &["the \"net\"=packet"], None), [2, 3]);
    assert_eq!(ask(store, &["gflops>1.5"], Some("gflops")), [3, 0]);
    assert_eq!(ask(store, &[], Some("gflops")), [1, 3, 0, 2]);
    let query = Query { sort: Some("gflops".into()), descending: true, limit: Some(2), skip: 1, ..Query::default() };
    assert_eq!(store.rows(id, &study, &query).unwrap().iter().map(|row| row.row).collect::<Vec<_>>(), [3, 1]);

    let keys: Vec<&Fingerprint> = runs.iter().map(|run| &run.key).collect();
    let finished = store.finished(&keys).unwrap();
    assert_eq!(finished.len(), 3);
    assert_eq!(finished[&runs[0].key]["gflops"], 3.0);
    assert_eq!(store.run(runs[0].key.short()).unwrap(), runs[0]);
    assert_eq!(store.run(&runs[2].key.0).unwrap().ending.result, Err("a deadlock".into()));
    // What failed may be done again; what is done stays.
    store.add(id, &[run(2, Ok(9.0)), run(0, Err("no"))], &[]).unwrap();
    assert!(store.run(&runs[2].key.0).unwrap().ending.result.is_ok());
    assert_eq!(store.run(&runs[0].key.0).unwrap(), runs[0]);

    assert_eq!(store.last_change(id).unwrap().as_deref(), Some("2026-01-01T00:00:00Z"));

    assert_eq!(store.begin_study(&study).unwrap(), id);
    assert_eq!(store.rows(id, &study, &Query::default()).unwrap().len(), 4);
    let mut other = study.clone();
    other.responses[0].name = "seconds".into();
    assert_eq!(store.begin_study(&other).unwrap(), id);
    assert_eq!(store.rows(id, &other, &Query::default()).unwrap(), []);
    assert_eq!(store.last_change(id).unwrap(), None);
    let second = StudyRecord { name: "another".into(), ..study.clone() };
    assert_ne!(store.begin_study(&second).unwrap(), id);
    assert!(store.study(None).unwrap_err().to_string().contains("choose one with --study: small, another"));
    assert_eq!(store.study(Some("another")).unwrap().1, second);
    assert!(store.study(Some("third")).unwrap_err().to_string().contains("there are small, another"));
    let wrong = |condition: &str| Query { conditions: vec![condition.parse().unwrap()], ..Query::default() };
    let said = |store: &mut Store, condition: &str| store.count(id, &other, &wrong(condition)).unwrap_err().to_string();
    assert!(said(store, "n=3").contains("no column `n`; it has nb, the \"net\", seconds, row"));
    assert!(said(store, "seconds=fast").contains("compare it with one"));

    let document = Document { name: "m.toml".into(), text: "a = 1".into(), files: Vec::new() };
    let fingerprint = document.fingerprint();
    store.add_documents(&[(fingerprint.clone(), &document), (fingerprint.clone(), &document)]).unwrap();
    assert_eq!(store.document(&fingerprint).unwrap(), document);
    assert!(store.document(&Fingerprint("00".into())).is_err());
}

#[test]
fn a_file_keeps_what_runs_have_found() {
    let folder = tempfile::tempdir().unwrap();
    let location = Location::of(folder.path().to_str().unwrap());
    assert!(Store::open_existing(&location).is_err());
    check(&mut Store::open(&location).unwrap());
    assert_eq!(Store::open_existing(&location).unwrap().studies().unwrap().len(), 2);
}

#[test]
fn who_looks_does_not_wait_for_who_writes() {
    let folder = tempfile::tempdir().unwrap();
    let location = Location::of(folder.path().to_str().unwrap());
    let mut writer = Store::open(&location).unwrap();
    let id = writer.begin_study(&study()).unwrap();
    let first = run(0, Ok(3.0));
    writer.add(id, std::slice::from_ref(&first), &[row(0, &first)]).unwrap();
    writer.database.batch("BEGIN EXCLUSIVE").unwrap();
    let mut reader = Store::open_existing(&location).unwrap();
    let (id, study) = reader.study(None).unwrap();
    assert_eq!(reader.rows(id, &study, &Query::default()).unwrap().len(), 1);
    assert_eq!(reader.run(&first.key.0).unwrap(), first);
}

#[test]
fn newer_stores_are_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let location = Location::of(folder.path().to_str().unwrap());
    let mut store = Store::open(&location).unwrap();
    store.database.batch("UPDATE hpcast_store SET format = 2").unwrap();
    let said = Store::open(&location).err().unwrap().to_string();
    assert!(said.contains("was written by a newer hpcast"), "{said}");
}

#[test]
fn conditions_have_a_column_a_relation_and_a_value() {
    for text in ["nb=256", "gflops>=1e3", "a<b", "status!=done"] {
        assert_eq!(text.parse::<Condition>().unwrap().to_string(), text);
    }
    for text in ["nb", "=3", "nb=", "nb!3"] {
        assert!(text.parse::<Condition>().is_err(), "{text}");
    }
}

#[test]
fn passwords_are_nobodys_business() {
    let word = "postgres://me:secret@host/db";
    assert_eq!(shown(word), "postgres://me@host/db");
    assert_eq!(shown(&format!("--store={word}")), "--store=postgres://me@host/db");
    assert_eq!(shown("--slurm=--time=5"), "--slurm=--time=5");
    assert_eq!(shown("study.toml"), "study.toml");
    assert!(Location::of(word).is_same(&Location::of("postgres://me:other@host/db")));
    assert!(!Location::of(word).is_same(&Location::of("postgres://me:secret@host/other")));
}

#[test]
fn rows_of_other_runs_are_removed_and_records_are_of_today() {
    let folder = tempfile::tempdir().unwrap();
    let mut store = Store::open(&Location::File(folder.path().join("runs.sqlite"))).unwrap();
    let id = store.begin_study(&study()).unwrap();
    let runs: Vec<RunRecord> = (0..4).map(|number| run(number, Ok(1.0))).collect();
    let rows: Vec<StudyRow> = (0..).zip(&runs).map(|(number, run)| row(number, run)).collect();
    store.add(id, &runs, &rows).unwrap();
    // The same study with fewer rows, and another run in the second of them.
    let fewer = StudyRecord { rows: 2, created: "2027-01-01T00:00:00Z".into(), ..study() };
    assert_eq!(store.begin_study(&fewer).unwrap(), id);
    let record = store.study(None).unwrap().1;
    assert_eq!((record.rows, record.created), (2, study().created));
    let keys = [runs[0].key.clone(), runs[3].key.clone()];
    store.remove_stale(id, |row, key| keys.get(row as usize) == Some(key)).unwrap();
    assert_eq!(store.rows(id, &fewer, &Query::default()).unwrap(), rows[..1]);
}
