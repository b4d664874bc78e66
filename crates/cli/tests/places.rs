//! Where ranks run, what they send to each other, where they had better run, and jobs beside each other.

mod common;

use common::{Folder, machine, prints, refuses};
use serde_json::Value;

/// A fat tree with four leaves of eight nodes and a single uplink each.
const THIN: &str = r#"
name = "thin"
nodes.cores-per-socket = 1
[network]
topology = "fat-tree"
shape = "2; 8,4; 1,1; 1,1"
bandwidth = "1 GB/s"
latency = "1 us"
loopback = { bandwidth = "10 GB/s", latency = "0 s" }
[mpi]
eager-below = "0 B"
detached-below = "0 B"
"#;

fn json(arguments: &[&str]) -> Value {
    serde_json::from_str(&prints(&[arguments, &["--json", "-"]].concat())).expect("JSON")
}

fn seconds(report: &Value) -> f64 {
    report["simulated_seconds"].as_f64().expect("a time")
}

#[test]
fn ranks_run_where_files_and_lists_say() {
    let folder = Folder::new("places");
    let thin = folder.write("thin.toml", THIN);
    // Two pairs of ranks: within two leaves, or across them.
    let run = |options: &[&str]| {
        seconds(&json(&[&["run", "pingpong", "-n", "4", "-m", &thin, "--size", "1MB"], options].concat()))
    };
    let near = run(&[]);
    let file = folder.write("near", "# rank by rank\nnode0\nnode7\n8\n9\n");
    assert_eq!(run(&["--rank-file", &file]), near);
    let ranked = folder.write("ranked", "rank 1=node7 slot=0\nrank 0=node0\nrank 3=9\nrank 2=8\n");
    assert_eq!(run(&["--rank-file", &ranked]), near);
    assert_eq!(run(&["--allocation", "node[0,7-9]"]), near);
    let list = folder.write("list", "node[3,4] # the first\n20-21\n");
    assert_eq!(run(&["--allocation", &list]), near);
    assert_eq!(run(&["--placement", "by-switch"]), near);
    let far = run(&["--placement", "spread-switches"]);
    assert!(far > near, "{far} {near}");
    assert_eq!(run(&["--allocation", "7-10"]), far);
    let drawn = |seed| run(&["--allocation", "holes:0.5:2", "--seed", seed]);
    assert_eq!(drawn("1"), drawn("1"));
    let in_file = folder.write("own.toml", &format!("{THIN}[placement]\nrank-file = \"near\"\n"));
    assert_eq!(seconds(&json(&["run", "pingpong", "-n", "4", "-m", &in_file, "--size", "1MB"])), near);
    let allocated =
        folder.write("allocated.toml", &format!("{THIN}[placement]\npolicy = \"block\"\nallocation = \"list\"\n"));
    assert_eq!(seconds(&json(&["run", "pingpong", "-n", "4", "-m", &allocated, "--size", "1MB"])), near);
}

#[test]
fn places_that_are_not_there() {
    let folder = Folder::new("no-places");
    let thin = folder.write("thin.toml", THIN);
    let refused = |options: &[&str], parts: &[&str]| {
        refuses(&[&["run", "ring", "-n", "4", "-m", &thin], options].concat(), parts);
    };
    let wrong = folder.write("wrong", "node1\nnode2\nnode3\nnode99\n");
    refused(&["--rank-file", &wrong], &["wrong:4:1", "no node `node99`", "did you mean `node9`?"]);
    let short = folder.write("short", "node1\nnode2\n");
    refused(&["--rank-file", &short], &["short: the list places 2 ranks, but 4 are asked for"]);
    refused(&["--rank-file", &short, "--placement", "block"], &["cannot be used with"]);
    refused(&["--allocation", "0-2"], &["4 ranks do not fit into the allocation: its 3 nodes"]);
    refused(&["--allocation", "leaf7"], &["--allocation leaf7: there is no node `leaf7`, and no file of that name"]);
    let bad = folder.write("bad", "node[1-3]\nnode2\n");
    refused(&["--allocation", &bad], &["bad:2:1", "node `node2` is listed twice"]);
    refused(&["--allocation", "random:64"], &["64 nodes cannot be drawn from 32"]);
    for (lines, part) in [
        ("policy = \"block\"\nallocation = \"node99\"", "there is no node `node99`"),
        ("policy = \"block\"\nallocation = \"random:4\"", "`placement.seed` is missing"),
        ("policy = \"cyclic\"\nrank-file = \"wrong\"", "both `policy` and `rank-file`"),
        ("rank-file = \"wrong\"", "wrong:4:1"),
        ("rank-file = \"nothing\"", "there is no such file"),
        ("policy = \"block\"\nseed = 3", "unknown key `seed`"),
    ] {
        let file = folder.write("wrong.toml", &format!("{THIN}[placement]\n{lines}\n"));
        refuses(&["machine", "check", &file], &[part]);
    }
}

#[test]
fn only_what_nobody_said_is_assumed() {
    let folder = Folder::new("assumed-places");
    let thin = folder.write("thin.toml", THIN);
    let list = folder.write("list", "0\n1\n2\n3\n");
    let (policy, per_node) = ("placement.policy = block", "placement.ranks-per-node = 1");
    for (options, expected) in [
        (&[][..], &[policy, per_node][..]),
        (&["--placement", "cyclic"], &[per_node]),
        (&["--ranks-per-node", "1"], &[policy]),
        (&["--placement", "random", "--oversubscribe"], &[]),
        (&["--rank-file", &list], &[]),
    ] {
        let report = json(&[&["run", "ring", "-n", "4", "-m", &thin], options].concat());
        let assumed = report["assumptions"].as_array().unwrap().iter().map(|line| line.as_str().unwrap());
        let assumed: Vec<&str> = assumed.filter(|line| line.starts_with("placement")).collect();
        assert_eq!(assumed, expected, "{options:?}");
    }
    let job = |name: &str, rest: &str| format!("[[job]]\nname = \"{name}\"\nprogram = [\"ring\"]\nranks = 4\n{rest}\n");
    for (first, second, is_assumed) in [
        ("", "", true),
        ("placement = \"cyclic\"", "", true),
        ("placement = \"cyclic\"", "placement = \"random\"", false),
    ] {
        let jobs = folder.write("jobs.toml", &(job("a", first) + &job("b", second)));
        let report = json(&["jobs", &jobs, "-m", &thin]);
        assert_eq!(report["assumptions"].to_string().contains(policy), is_assumed, "{first} {second}");
        assert!(report["assumptions"].to_string().contains(per_node));
    }
}

#[test]
fn traffic_is_who_sends_to_whom() {
    let folder = Folder::new("traffic");
    let (thin, csv) = (folder.write("thin.toml", THIN), folder.path("traffic.csv"));
    let report = json(&["run", "ring", "-n", "3", "-m", &thin, "--size", "100B", "--count", "5", "--traffic", &csv]);
    let text = folder.read("traffic.csv");
    let (comment, rows) = text.split_once("from,to").expect("a header");
    assert!(comment.contains("ring of 3 ranks on thin, network flow, seed 0, size 100B, count 5"), "{comment}");
    assert_eq!(rows, ",messages,bytes\n0,1,5,500\n1,2,5,500\n2,0,5,500\n");
    // All messages are there, those of collectives, too; and the run is the same.
    for program in ["allreduce", "alltoall", "random-traffic"] {
        let words = ["run", program, "-n", "16", "-m", &thin, "--size", "1kB,10kB", "--count", "2"];
        let watched = json(&[&words[..], &["--traffic", &csv]].concat());
        let total = |column| -> u64 {
            let rows = folder.read("traffic.csv");
            let rows = rows.lines().skip(3).map(|row| row.split(',').nth(column).unwrap().parse::<u64>().unwrap());
            rows.sum()
        };
        assert_eq!((total(2), total(3)), (watched["messages"].as_u64().unwrap(), watched["bytes"].as_u64().unwrap()));
        assert_eq!(seconds(&watched), seconds(&json(&words)));
    }
    assert!(report["messages"] == 15);
}

#[test]
fn traffic_of_hpl_has_every_message() {
    let folder = Folder::new("hpl-traffic");
    let csv = folder.path("traffic.csv");
    let words = ["hpl", "-m", &machine("dahu.toml"), "--n", "500", "--nb", "50", "--grid", "2x3", "--traffic", &csv];
    let report = json(&words);
    let sum: u64 = folder
        .read("traffic.csv")
        .lines()
        .skip(3)
        .map(|row| row.split(',').nth(2).unwrap().parse::<u64>().unwrap())
        .sum();
    assert_eq!(report["messages"].as_u64(), Some(sum));
    refuses(&[&words[..], &["--samples", "5"]].concat(), &["cannot be used with"]);
}

/// The way from a run to a faster one.
#[test]
fn mapped_ranks_are_faster() {
    let folder = Folder::new("map");
    let thin = folder.write("thin.toml", THIN);
    let (csv, ranks) = (folder.path("traffic.csv"), folder.path("ranks"));
    let stencil = ["run", "halo2d", "-n", "32", "-m", &thin, "--size", "1MB", "--count", "4"];
    let random = ["--placement", "random", "--seed", "7"];
    let before = json(&[&stencil[..], &random, &["--traffic", &csv]].concat());
    let map = ["map", "-m", &thin, "--traffic", &csv, "-o", &ranks];
    let change = json(&[&map[..], &random].concat());
    let after = json(&[&stencil[..], &["--rank-file", &ranks]].concat());
    let hops = |side: &str| change[side]["hop_bytes"].as_f64().unwrap();
    assert!(hops("after") < 0.6 * hops("before"), "{change}");
    assert!(seconds(&after) < 0.7 * seconds(&before), "{} {}", seconds(&after), seconds(&before));
    // The most loaded link forecasts the time, which it bounds.
    let busiest = change["after"]["busiest_link_seconds"].as_f64().unwrap();
    assert!(busiest < seconds(&after) && seconds(&after) < 1.5 * busiest, "{busiest} {}", seconds(&after));
    // A replay of the traffic gains what the program does.
    let gained = change["simulated_change"].as_f64().unwrap();
    assert!((gained - (seconds(&after) / seconds(&before) - 1.0)).abs() < 0.1, "{change}");
    let text = prints(&[&map[..], &random].concat());
    let parts =
        ["map: 32 ranks on thin", "Predicted along the ways of d-mod-k", "level-2", "Most loaded link", "written to"];
    for part in parts.into_iter().chain(["Simulated: ", "network model flow, routing d-mod-k"]) {
        assert!(text.contains(part), "{text}");
    }
    assert!(text.find("level-2") < text.find("level-1"), "upper levels come first:\n{text}");
    let first = folder.read("ranks");
    prints(&[&map[..], &random].concat());
    assert_eq!(first, folder.read("ranks"), "the same seed gives the same file");
}

/// A gain is simulated with the network model and the routing that were asked for.
#[test]
fn gains_are_simulated_as_asked() {
    let folder = Folder::new("map-simulated");
    let wide = THIN.replace("2; 8,4; 1,1; 1,1", "2; 8,4; 1,4; 1,1");
    let (wide, ranks) = (folder.write("wide.toml", &wide), folder.path("ranks"));
    // Ranks send to the rank eight after them, which is on the next leaf, all over one uplink.
    let rows: String = (0..32).map(|rank| format!("{rank},{},1,1000000\n", (rank + 8) % 32 / 4 * 4)).collect();
    let csv = folder.write("traffic.csv", &format!("from,to,messages,bytes\n{rows}"));
    let simulated = |options: &[&str]| {
        let change = json(&[&["map", "-m", &wide, "--traffic", &csv, "-o", &ranks], options].concat());
        ["before", "after"].map(|side| change[side]["simulated_seconds"].as_f64().expect("a time"))
    };
    let flow = simulated(&[]);
    assert!(flow[1] < flow[0], "{flow:?}");
    // Four go to one node: no order changes that, and nothing else counts in an ideal network.
    let ideal = simulated(&["--network", "ideal"]);
    assert!(ideal[0] < flow[0] && ideal[1] > 0.95 * ideal[0], "{ideal:?} {flow:?}");
    let spread = simulated(&["--routing", "least-loaded"]);
    assert!(spread[0] < flow[0], "{spread:?} {flow:?}");
    let text =
        prints(&["map", "-m", &wide, "--traffic", &csv, "-o", &ranks, "--routing", "random", "--network", "packet"]);
    for part in ["Predicted along the ways of d-mod-k", "network model packet, routing random"] {
        assert!(text.contains(part), "{text}");
    }
    let refused = ["map", "-m", &wide, "--traffic", &csv, "-o"];
    refuses(&[&refused[..], &[&ranks, "--ugal-threshold", "3"]].concat(), &["--ugal-threshold has no meaning"]);
    for output in [&csv, &wide] {
        refuses(&[&refused[..], &[output.as_str()]].concat(), &["would be lost"]);
        refuses(&[&refused[..], &[&ranks, "--json", output]].concat(), &["would be lost"]);
    }
    assert!(folder.read("traffic.csv").starts_with("from,to"));
}

#[test]
fn maps_that_cannot_be_made() {
    let folder = Folder::new("no-map");
    let (thin, ranks) = (folder.write("thin.toml", THIN), folder.path("ranks"));
    let refused = |text: &str, parts: &[&str]| {
        let csv = folder.write("traffic.csv", text);
        refuses(&["map", "-m", &thin, "--traffic", &csv, "-o", &ranks], parts);
    };
    refused("from,to,messages,bytes\n0,1,2\n", &["traffic.csv:2:1", "four whole numbers"]);
    refused("from,to,messages,bytes\n0,32,1,2\n", &["33 ranks do not fit"]);
    refused("from,to,messages,bytes\n", &["there are no ranks to place"]);
    assert!(!folder.names().contains(&"ranks".to_owned()), "nothing is half-written");
}

/// Slowdowns by job.
fn slowdowns(report: &Value) -> Vec<f64> {
    let rows = report["table"].as_array().expect("a table");
    rows.iter().map(|row| row["slowdown"].as_f64().expect("a slowdown")).collect()
}

#[test]
fn jobs_slow_each_other_down_where_they_share_links() {
    let folder = Folder::new("jobs");
    let thin = folder.write("thin.toml", THIN);
    let job = |name: &str, nodes: &str| {
        format!(
            "[[job]]\nname = \"{name}\"\nprogram = [\"alltoall\", \"--size\", \"1MB\"]\nranks = 8\nnodes = \"{nodes}\"\n"
        )
    };
    let run = |text: &str| json(&["jobs", &folder.write("jobs.toml", text), "-m", &thin]);
    // A leaf each.
    let apart = run(&(job("a", "0-7") + &job("b", "8-15")));
    assert_eq!(slowdowns(&apart), [1.0, 1.0]);
    // Both between the same two leaves.
    let shared = run(&(job("a", "0-3,8-11") + &job("b", "4-7,12-15")));
    assert!(slowdowns(&shared).iter().all(|slowdown| (1.9..2.1).contains(slowdown)), "{:?}", slowdowns(&shared));
    // What a job does alone is what it does in a run of its own.
    let alone = json(&["run", "alltoall", "-n", "8", "-m", &thin, "--size", "1MB", "--allocation", "0-3,8-11"]);
    assert_eq!(shared["table"][0]["alone_seconds"].as_f64(), Some(seconds(&alone)));
    // The second begins when the first has ended.
    let end = apart["table"][0]["end_seconds"].as_f64().unwrap() * 4.0;
    let later = run(&(job("a", "0-3,8-11") + &job("b", "4-7,12-15") + &format!("start = \"{end} s\"\n")));
    assert_eq!(slowdowns(&later), [1.0, 1.0]);
    assert!((later["table"][1]["start_seconds"].as_f64().unwrap() - end).abs() < 1e-9);
}

#[test]
fn jobs_of_all_kinds() {
    let folder = Folder::new("kinds-of-jobs");
    let thin = folder.write("thin.toml", THIN);
    folder.write("pairs.script", "ranks 4\n0-3/2: send +1 1000 0\n1-3/2: recv -1 1000 0\n*: barrier\n");
    let jobs = folder.write(
        "jobs.toml",
        "[[job]]\nname = \"script\"\nprogram = [\"pairs.script\"]\nranks = 4\n\
         [[job]]\nname = \"collective\"\nprogram = [\"allreduce\", \"--size\", \"1kB\", \"--nonblocking\"]\nranks = 5\nstart = \"2 us\"\n\
         [[job]]\nname = \"traffic\"\nprogram = [\"random-traffic\", \"--count\", \"3\"]\nranks = 6\nallocation = \"random:20\"\n\
         [[job]]\nname = \"stencil\"\nprogram = [\"halo2d\"]\nranks = 4\nplacement = \"spread-switches\"\n\
         [[job]]\nname = \"own\"\nprogram = [\"pingpong\"]\nranks = 2\nnodes = \"node[0-1]\"\n",
    );
    let report = json(&["jobs", &jobs, "-m", &thin, "--seed", "3"]);
    let rows = report["table"].as_array().unwrap();
    let column = |key: &str| rows.iter().map(|row| row[key].clone()).collect::<Vec<_>>();
    assert_eq!(column("job"), ["script", "collective", "traffic", "stencil", "own"]);
    assert_eq!(column("nodes"), [4, 5, 6, 4, 2]);
    assert!(slowdowns(&report).iter().all(|slowdown| *slowdown >= 0.999), "{:?}", slowdowns(&report));
    // Two that are alike and drawn get nodes of their own.
    let random = "program = [\"ring\"]\nranks = 16\nallocation = \"random:16\"\n";
    let twins = format!("[[job]]\nname = \"a\"\n{random}[[job]]\nname = \"b\"\n{random}");
    let twins = json(&["jobs", &folder.write("twins.toml", &twins), "-m", &thin]);
    assert_eq!((&twins["table"][0]["nodes"], &twins["table"][1]["nodes"]), (&16.into(), &16.into()));
    let text = prints(&["jobs", &jobs, "-m", &thin]);
    assert!(text.contains("5 jobs: 21 ranks on thin") && text.contains("slowdown"), "{text}");
}

#[test]
fn jobs_that_cannot_be_run() {
    let folder = Folder::new("no-jobs");
    let thin = folder.write("thin.toml", THIN);
    folder.write("wrong.script", "ranks 4\n0: shout\n");
    let job = |lines: &str| format!("[[job]]\nname = \"a\"\n{lines}\n");
    let ring = "program = [\"ring\"]\nranks = 4";
    for (text, parts) in [
        (String::new(), ["there are no jobs", "write `[[job]]`"]),
        (job("ranks = 4"), ["`job[0].program` is missing", "alltoall"]),
        (job("program = [\"rink\"]\nranks = 4"), ["jobs.toml:3:", "there is no program `rink`"]),
        (job("program = [\"ring\", \"--sise\", \"1kB\"]\nranks = 4"), ["--sise", "'--size'"]),
        (job("program = [\"ring\", \"--size\", \"1kB,2kB\"]\nranks = 4"), ["jobs.toml:3:", "one size"]),
        (job("program = [\"bcast\", \"--root\", \"4\"]\nranks = 4"), ["--root 4 is no rank", "ranks are 0 to 3"]),
        (job("program = [\"wrong.script\"]\nranks = 4"), ["wrong.script:2:1", "shout"]),
        (job("program = [\"ring\"]\nranks = 0"), ["jobs.toml:4:", "without ranks"]),
        (job(&format!("{ring}\nnodes = \"0-2\"")), ["4 ranks do not fit", "jobs.toml:5:"]),
        (job(&format!("{ring}\nnodes = \"node40\"")), ["no node `node40`", "jobs.toml:5:"]),
        (job("program = [\"ring\"]\nranks = 40"), ["job `a`: 40 ranks do not fit", "jobs.toml:4:"]),
        (job(&format!("{ring}\nallocation = \"random:40\"")), ["40 nodes cannot be drawn from 32", "jobs.toml:5:"]),
        (job(ring) + &job(ring), ["two jobs are called `a`", "jobs.toml:6:"]),
        (
            job(&format!("{ring}\nnodes = \"0-3\"")) + &format!("[[job]]\nname = \"b\"\n{ring}\nnodes = \"3-6\"\n"),
            ["jobs `a` and `b` both have node node3", "jobs.toml:10:"],
        ),
        (job(&format!("{ring}\ncolour = 1")), ["unknown key `colour`", "jobs.toml:5:"]),
    ] {
        let file = folder.write("jobs.toml", &text);
        refuses(&["jobs", &file, "-m", &thin], &parts);
    }
    let file = folder.write("jobs.toml", &job(ring));
    refuses(&["jobs", &file, "-m", &thin, "--placement", "cyclic"], &["--placement has no meaning here"]);
}
