//! What 10,000 ranks of small real programs cost (or as many as are named: `cargo bench -p hpcast-cli -- 1000`): time until the first
//! message, messages a second after that, memory. The CPU seconds of a short run are taken off those of a long one.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;
use std::{env, fs};

const HPCAST: &str = env!("CARGO_BIN_EXE_hpcast");
/// Iterations: of the short run, and of the long one.
const SHORT: u32 = 1;

struct Run {
    messages: f64,
    cpu_seconds: f64,
    /// Of all pages, those that several mappings share counted once.
    memory: f64,
}

fn compile(name: &str, folder: &Path) -> PathBuf {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/programs").join(name).with_extension("c");
    let program = folder.join(name);
    let compiled = Command::new(HPCAST).args(["cc", "-O2", "-o"]).arg(&program).arg(source).status();
    assert!(compiled.is_ok_and(|status| status.success()), "{name} does not compile");
    program
}

fn run(program: &Path, ranks: u32, times: u32, bytes: u32, network: &str, folder: &Path) -> Run {
    let machine = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../machines/frontera.toml");
    let result = folder.join("result.json");
    let mut child = Command::new(HPCAST)
        .args([
            "run",
            "--ranks-per-node",
            "8",
            "--compute",
            "skip",
            "--network",
            network,
            "-n",
            &ranks.to_string(),
            "-m",
        ])
        .arg(machine)
        .arg("--json")
        .arg(&result)
        .arg(program)
        .args([times.to_string(), bytes.to_string()])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("hpcast starts");
    let mut memory: f64 = 0.0;
    while child.try_wait().expect("it can be asked").is_none() {
        memory = memory.max(shared_once(child.id()).unwrap_or(0.0));
        sleep(Duration::from_millis(200));
    }
    let text = fs::read_to_string(&result).expect("hpcast writes its result");
    let found: serde_json::Value = serde_json::from_str(&text).expect("the result is JSON");
    let number = |key: &str| found[key].as_f64().expect("a number");
    Run { messages: number("messages"), cpu_seconds: number("cpu_seconds"), memory }
}

/// Bytes of a process and of its page tables; pages that several mappings share count once (PSS).
fn shared_once(process: u32) -> Option<f64> {
    let field = |file: &str, name: &str| {
        let text = fs::read_to_string(format!("/proc/{process}/{file}")).ok()?;
        let line = text.lines().find_map(|line| line.strip_prefix(name))?;
        line.split_whitespace().next()?.parse::<f64>().ok()
    };
    Some((field("smaps_rollup", "Pss:")? + field("status", "VmPTE:")?) * 1024.0)
}

fn main() {
    let ranks = env::args().find_map(|word| word.parse().ok()).unwrap_or(10_000);
    let folder = env::temp_dir().join(format!("hpcast-bench-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder for programs");
    println!("{ranks} ranks, 8 on each node of Frontera; start-up until the first iteration has ended");
    println!("{:<12}{:>8}{:>9}{:>12}{:>16}{:>14}", "", "bytes", "network", "start-up", "messages/s", "KiB a rank");
    for (name, a_rank) in [("ping_pong", 1), ("halo", 4)] {
        let program = compile(name, &folder);
        for bytes in [8, 1024] {
            for network in ["ideal", "flow"] {
                let long = (4_000_000 / (ranks * a_rank)).max(2);
                let first = run(&program, ranks, SHORT, bytes, network, &folder);
                let all = run(&program, ranks, SHORT + long, bytes, network, &folder);
                let rate = (all.messages - first.messages) / (all.cpu_seconds - first.cpu_seconds);
                let memory = all.memory / f64::from(ranks) / 1024.0;
                println!("{name:<12}{bytes:>8}{network:>9}{:>10.2} s{rate:>16.0}{memory:>14.1}", first.cpu_seconds);
            }
        }
    }
    let _ = fs::remove_dir_all(&folder);
}
