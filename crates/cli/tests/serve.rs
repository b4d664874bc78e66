//! `hpcast serve` over HTTP: its pages, who may see them, and what it does with those who mean no good.

mod common;
mod served;

use std::io::Write;
use std::time::{Duration, Instant};

use common::{Folder, SMALL_STUDY, prints, refuses, small_study};
use hpcast_study::document::{Document, Fingerprint};
use hpcast_study::run::{Cost, Ending, Inputs, Outputs};
use hpcast_study::store::{FactorColumn, Location, ResponseColumn, RunRecord, Store, StudyRecord, StudyRow};
use served::{Server, Study, until};

/// A folder with two studies in folders of its own, all done.
fn two_studies(name: &str) -> Folder {
    let (folder, study) = small_study(name);
    prints(&["study", "run", &study, "--out", &folder.path("results/deep/sizes")]);
    let other = SMALL_STUDY.replace("Halo exchanges", "Rings of <b>ranks</b>").replace("halo2d", "ring");
    let other = folder.write("other.toml", &other.replace("repetitions = 4", "repetitions = 1"));
    prints(&["study", "run", &other, "--out", &folder.path("results/other")]);
    folder
}

#[test]
fn every_study_and_run_has_a_page() {
    let folder = two_studies("serve-pages");
    let server = Server::start(&folder.path("results"), &[]);
    assert_eq!(server.url, format!("http://127.0.0.1:{}/", server.port));
    let first = server.page("/");
    for part in ["Halo exchanges", "20 of 20 runs", "5 of 5 runs", "Rings of &lt;b&gt;ranks&lt;/b&gt;", "complete"] {
        assert!(first.contains(part), "{part}:\n{first}");
    }
    assert!(!first.contains("<b>ranks"), "{first}");
    let study = server.page("/study/1");
    assert!(study.contains("<h1>Halo exchanges</h1>") && study.contains("The shortest time"), "{study}");
    // The number of a row, or a key.
    let run = server.page("/study/1/run/3");
    for part in ["hpcast run halo2d -n 16", "simulated_seconds", "size 1 KiB", "Its machine file", "wall"] {
        assert!(run.contains(part), "{part}:\n{run}");
    }
    let key = run.split("<td class=\"text\">").nth(1).and_then(|rest| rest.split('<').next()).expect("a key");
    assert_eq!(server.page(&format!("/study/1/run/{key}")), run);
    for absent in
        ["/study/3", "/study/x", "/study/1/run/99", "/study/1/run/abcdefabcdef", "/nothing", "/study/1/run/0/x.svg"]
    {
        assert_eq!(server.get(absent).status, 404, "{absent}");
    }
    for file in ["/style.css", "/study.js", "/served.js"] {
        assert!(!server.page(file).is_empty());
    }
    // A study that comes later.
    let more = folder.write("more.toml", &SMALL_STUDY.replace("Halo exchanges", "Later"));
    prints(&["study", "run", &more, "--out", &folder.path("results/a-later-one")]);
    assert!(server.page("/study/3").contains("<h1>Later</h1>"));
    assert!(server.page("/study/1").contains("<h1>Halo exchanges</h1>"));
}

#[test]
fn runs_are_filtered_sorted_and_paged() {
    let folder = two_studies("serve-runs");
    let server = Server::start(&folder.path("results"), &[]);
    let levels = |address: &str| -> Vec<String> {
        let page = server.page(address);
        let cells = page.split("<td class=\"text\">").filter_map(|cell| cell.split("</td>").next());
        cells.filter_map(|cell| cell.strip_prefix("size ").map(String::from)).collect()
    };
    assert!(server.page("/runs").contains("25 runs"));
    assert_eq!(levels("/runs").len(), 25);
    let sorted = levels("/runs?sort=seconds&descending=1");
    assert_eq!((sorted.len(), sorted[0].as_str()), (25, "16 KiB"));
    assert_eq!(levels("/runs?filter=size%3D2+KiB&sort=seconds"), ["2 KiB"; 5]);
    assert!(server.page("/runs?study=2&filter=size>4+KiB").contains("2 runs"));
    assert!(server.page("/runs?filter=sice=1").contains("no column `sice`"));
    assert!(server.page("/runs?filter=nonsense").contains("is no condition"));
    for page in ["/runs?page=7", "/runs?sort=seconds&page=18446744073709551615"] {
        assert!(server.page(page).contains("page 1 of 1") && levels(page).len() == 25, "{page}");
    }
    assert!(server.page("/runs?study=1%3Cscript").contains("0 runs"));
}

#[test]
fn strangers_get_no_further() {
    let (folder, study) = small_study("serve-strangers");
    prints(&["study", "run", &study, "--out", &folder.path("out")]);
    let server = Server::start(&folder.path("out"), &[]);
    // Names of others that lead here.
    assert_eq!(server.ask("GET", "/", "Host: evil.example\r\n").status, 421);
    assert_eq!(server.ask("GET", "/", "").status, 421);
    let head = server.ask("HEAD", "/", "Host: localhost\r\n");
    assert_eq!((head.status, head.body.as_str()), (200, ""));
    for said in ["Content-Security-Policy: default-src 'none';", "X-Content-Type-Options: nosniff", "Connection: close"]
    {
        assert!(head.head.contains(said), "{}", head.head);
    }
    assert_eq!(server.ask("DELETE", "/", "Host: localhost\r\n").status, 405);
    assert_eq!(server.post("/study/1").status, 405);
    assert_eq!(server.ask("POST", "/study/1/run/0/pictures", "Host: localhost\r\nOrigin: http://evil\r\n").status, 403);
    assert_eq!(server.send(b"what?\r\n\r\n").status, 400);
    assert_eq!(server.send(b"GET / HTTP/3.0\r\n\r\n").status, 505);
    let mut huge = b"GET / HTTP/1.1\r\nHost: localhost\r\nX: ".to_vec();
    huge.resize(200_000, b'x');
    assert_eq!(server.send(&huge).status, 431);
    // Who says nothing, or stops in the midst, keeps nobody waiting.
    let silent: Vec<_> = (0..40).map(|_| server.connect()).collect();
    for mut stream in &silent {
        stream.write_all(b"GET / HT").expect("a stream");
    }
    let start = Instant::now();
    server.page("/");
    // A place at a time would be free after ten.
    assert!(start.elapsed() < Duration::from_secs(9), "{:?}", start.elapsed());
    // So many that there is room for no more are turned away; when they are gone, there is room again.
    let crowd: Vec<_> = (0..200).map(|_| server.connect()).collect();
    let late = || server.try_to_send(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
    // The connection may be closed before the request is sent.
    assert!(late().is_none_or(|told| told.status == 503));
    drop((silent, crowd));
    until("room", || late().filter(|told| told.status == 200));
}

#[test]
fn other_computers_need_the_token() {
    let (folder, study) = small_study("serve-token");
    prints(&["study", "run", &study, "--out", &folder.path("out")]);
    let server = Server::start(&folder.path("out/runs.sqlite"), &["--listen", "0.0.0.0"]);
    let (_, token) = server.url.split_once("?token=").expect("a token");
    assert_eq!(token.len(), 32);
    let refused = server.ask("GET", "/", "Host: somewhere\r\n");
    assert_eq!(refused.status, 401);
    assert!(refused.head.contains("text/plain") && !refused.body.contains("Halo"), "{}", refused.body);
    assert_eq!(server.ask("GET", "/style.css", "Host: somewhere\r\n").status, 401);
    assert_eq!(server.ask("GET", "/?token=0123456789abcdef0123456789abcdef", "Host: somewhere\r\n").status, 401);
    let admitted = server.ask("GET", &format!("/?token={token}"), "Host: somewhere\r\n");
    assert_eq!(admitted.status, 200);
    let cookie = format!("hpcast-{}={token}", server.port);
    assert!(admitted.head.contains(&format!("Set-Cookie: {cookie}; HttpOnly; SameSite=Strict")), "{}", admitted.head);
    assert_eq!(server.ask("GET", "/study/1", &format!("Host: somewhere\r\nCookie: {cookie}\r\n")).status, 200);
    assert_eq!(server.ask("GET", "/study/1", "Host: somewhere\r\nCookie: hpcast-1=x\r\n").status, 401);
    // So do others who are logged in here, if the owner wants that.
    let server = Server::start(&folder.path("out"), &["--token"]);
    assert_eq!(server.get("/").status, 401);
    let (_, token) = server.url.split_once("?token=").expect("a token");
    assert!(server.page(&format!("/?token={token}")).contains("Halo exchanges"));
}

#[test]
fn a_running_study_is_followed() {
    let (folder, _) = small_study("serve-live");
    let long = SMALL_STUDY.replace("--count 2", "--count 4000").replace("repetitions = 4", "repetitions = 12");
    let study = folder.write("long.toml", &long);
    std::fs::create_dir_all(folder.path("results")).expect("a folder");
    let server = Server::start(&folder.path("results"), &[]);
    assert!(server.page("/").contains("There is no study here yet"));
    let out = folder.path("results/long");
    let running = Study::start(&study, &out);
    let page = until("a running study", || Some(server.page("/")).filter(|page| page.contains(">running<")));
    assert!(page.contains("of 60 runs"), "{page}");
    let news =
        |generation: u64, length: u64| server.json(&format!("/study/1/news?generation={generation}&length={length}"));
    let generation = news(0, 0)["generation"].as_u64().expect("a generation");
    let (mut length, mut rows, mut steps) = (0, 0, 0);
    until("the end of the study", || {
        let told = news(generation, length);
        assert_eq!(told["generation"], generation);
        if told["length"].as_u64() != Some(length) {
            length = told["length"].as_u64().expect("a length");
            rows += told["rows"].as_array().expect("rows").len();
            steps += 1;
            assert!(told["answer"].as_str().is_some_and(|answer| answer.contains("The shortest time")), "{told}");
            assert!(told["analyses"].as_str().is_some_and(|tables| tables.contains("Best combinations")), "{told}");
        }
        told["standing"].as_str().is_some_and(|standing| standing.contains("complete")).then_some(())
    });
    running.finish();
    assert_eq!((length, rows), (60, 60));
    assert!(steps > 1, "{steps}");
    // Nothing is told twice.
    assert!(news(generation, 60).get("rows").is_none());
    // Another study of that name: whoever follows has to begin again.
    folder.write("long.toml", &SMALL_STUDY.replace("Halo exchanges", "Halos"));
    prints(&["study", "run", &study, "--out", &out]);
    until("another generation", || (news(generation, 60)["generation"] != generation).then_some(()));
    assert!(server.page("/study/1").contains("<h1>Halos</h1>"));
}

#[test]
fn a_run_is_drawn_by_running_it_again() {
    let (folder, study) = small_study("serve-pictures");
    prints(&["study", "run", &study, "--out", &folder.path("out")]);
    let server = Server::start(&folder.path("out"), &[]);
    let address = "/study/1/run/0/pictures";
    assert_eq!(server.json(address)["pictures"].as_array().map(Vec::len), Some(0));
    assert_eq!(server.get("/study/1/run/0/gantt.svg").status, 404);
    assert_eq!(server.post(address).status, 200);
    let told = until("pictures", || {
        let told = server.json(address);
        let is_done = told["pictures"].as_array()?.iter().all(|picture| picture["state"] == "done");
        is_done.then_some(told)
    });
    for (place, name) in ["gantt", "link-heat", "links"].into_iter().enumerate() {
        let picture = &told["pictures"][place];
        let said = picture["said"].as_str().expect("a text");
        assert!(picture["kind"] == name && said.contains("it has found the same"), "{told}");
        let svg = server.get(&format!("/study/1/run/0/{name}.svg"));
        assert!(svg.head.contains("image/svg+xml") && svg.body.ends_with("</svg>\n"), "{name}");
    }
    assert_eq!(server.interrupt(), Some(0));
}

#[test]
fn what_cannot_be_drawn_is_said() {
    let (folder, _) = small_study("serve-many");
    let many = SMALL_STUDY.replace("-n 16 --ranks-per-node 1", "-n 128").replace("repetitions = 4", "");
    let study = folder.write("many.toml", &many);
    prints(&["study", "run", &study, "--out", &folder.path("out")]);
    let server = Server::start(&folder.path("out"), &[]);
    server.post("/study/1/run/0/pictures");
    let told = until("pictures", || {
        let told = server.json("/study/1/run/0/pictures");
        (told["pictures"][2]["state"] == "done").then_some(told)
    });
    assert_eq!(told["pictures"][0]["state"], "failed");
    let said = told["pictures"][0]["said"].as_str().expect("a text");
    assert!(said.contains("a Gantt chart has room for 64 ranks"), "{said}");
}

#[test]
fn it_says_what_is_wrong() {
    let (folder, study) = small_study("serve-wrong");
    refuses(&["serve", &folder.path("nowhere")], &["there is no study in"]);
    refuses(&["serve", &study], &["it is no store of hpcast"]);
    refuses(&["serve", &folder.path(""), "--listen", "everywhere"], &["everywhere"]);
    let server = Server::start(&folder.path(""), &[]);
    let taken = server.port.to_string();
    refuses(&["serve", &folder.path(""), "--port", &taken], &["cannot listen on 127.0.0.1:", "--port 0"]);
    assert_eq!(server.interrupt(), Some(0));
}

/// A store with so many runs that nobody has done.
fn large_store(folder: &Folder, rows: u64) {
    let study = StudyRecord {
        name: "large".into(),
        title: "A large study".into(),
        question: String::new(),
        file: String::new(),
        design: "random".into(),
        factors: vec![FactorColumn { name: "x".into(), levels: Vec::new(), numeric: true, continuous: true }],
        responses: vec![ResponseColumn { name: "seconds".into(), higher_is_better: false }],
        baseline: Vec::new(),
        rows,
        version: "0.1.0".into(),
        created: "2026-01-01T00:00:00Z".into(),
    };
    let machine = Document { name: "m.toml".into(), text: "a = 1".into(), files: Vec::new() };
    let location = Location::of(&folder.path("runs.sqlite"));
    let mut store = Store::open(&location).expect("a store");
    let id = store.begin_study(&study).expect("a study");
    let (mut runs, mut lines) = (Vec::new(), Vec::new());
    for row in 0..rows {
        let seconds = (row * 7919 % rows) as f64;
        let outputs = Outputs {
            figures: [("seconds".to_owned(), seconds)].into(),
            report: "x".repeat(3000),
            warnings: Vec::new(),
        };
        let inputs = Inputs {
            words: vec!["run".into(), row.to_string()],
            machine: machine.fingerprint(),
            models: None,
            seed: row,
            files: Default::default(),
            version: "0.1.0".into(),
        };
        let key: Fingerprint = inputs.key();
        let (cost, finished) = (Cost::default(), "2026-01-01T00:00:00Z".to_owned());
        let ending = Ending { result: Ok(outputs), cost, host: "here".into(), finished };
        let levels = vec![(row.to_string(), Some(row as f64))];
        lines.push(StudyRow {
            row,
            point: row,
            repetition: 0,
            seed: row,
            key: key.clone(),
            is_done: true,
            levels,
            responses: vec![Some(seconds)],
        });
        runs.push(RunRecord { key, inputs, ending });
    }
    store.add(id, &runs, &lines).expect("rows");
}

#[test]
fn ten_thousand_runs_are_quick_to_look_at() {
    let folder = Folder::new("serve-large");
    large_store(&folder, 10_000);
    let server = Server::start(&folder.path("runs.sqlite"), &[]);
    let mut took = Vec::new();
    for (address, part) in [
        ("/", "10,000 of 10,000 runs"),
        ("/runs?sort=seconds", "<td>0.000</td>"),
        ("/runs?sort=seconds&descending=1&page=99", "page 100 of 100"),
        ("/runs?filter=seconds%3E5000", "4,999 runs"),
        ("/study/1", "A large study"),
    ] {
        let start = Instant::now();
        assert!(server.page(address).contains(part), "{address}");
        took.push((address, start.elapsed()));
    }
    println!("{took:?}");
    // Tenths of a second on an idle computer; what reads everything for each row would take minutes.
    assert!(took.iter().all(|(_, time)| *time < Duration::from_secs(10)), "{took:?}");
}
