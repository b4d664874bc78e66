//! Every reader of foreign input gets files that were damaged at random, and holds what its fuzz target asks for. `make fuzz` does
//! the same without end and guided by coverage, where the tools for that are installed.
//!
//! MUTATED says how many files each of them gets.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use hpcast_checks as checks;

/// Files that each reader gets.
const CASES: u64 = 10_000;

/// What brings mutations near the interesting places, beside words of the files themselves.
const WORDS: [&str; 24] = [
    "\"",
    "[",
    "]",
    "{",
    "}",
    "=",
    "\n",
    ",",
    ".",
    "-",
    "0",
    "1",
    "-1",
    "1e308",
    "nan",
    "inf",
    "4294967295",
    "18446744073709551616",
    "\u{0}",
    "µ",
    "\"\"\"",
    "[[",
    "\t",
    "#",
];

/// Random numbers: splitmix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit.max(1) as u64) as usize
    }
}

/// Files to begin with, and the words that are in them.
struct Corpus {
    files: Vec<Vec<u8>>,
    words: Vec<Vec<u8>>,
}

impl Corpus {
    fn new(files: Vec<Vec<u8>>) -> Corpus {
        assert!(!files.is_empty() && files.iter().all(|file| !file.is_empty()), "files to begin with");
        let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.*+".contains(byte);
        let mut words: Vec<Vec<u8>> = WORDS.iter().map(|word| word.as_bytes().to_vec()).collect();
        for file in &files {
            let found = file.split(|byte| !is_part(byte)).filter(|word| (1..40).contains(&word.len()));
            words.extend(found.map(<[u8]>::to_vec));
        }
        words.sort();
        words.dedup();
        Corpus { files, words }
    }

    /// All files of a folder with that ending.
    fn folder(folder: &str, ending: &str) -> Corpus {
        let entries = fs::read_dir(root().join(folder)).unwrap_or_else(|error| panic!("{folder}: {error}")).flatten();
        let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
        paths.retain(|path| path.to_string_lossy().ends_with(ending));
        paths.sort();
        Corpus::new(paths.iter().map(|path| fs::read(path).expect("a file of ours")).collect())
    }

    fn texts(texts: &[&str]) -> Corpus {
        Corpus::new(texts.iter().map(|text| text.as_bytes().to_vec()).collect())
    }

    /// One of the files, damaged in up to five places.
    fn damaged(&self, random: &mut Random) -> Vec<u8> {
        let mut bytes = self.files[random.below(self.files.len())].clone();
        for _ in 0..=random.below(5) {
            let start = random.below(bytes.len());
            let end = (start + random.below(12)).min(bytes.len());
            match random.below(6) {
                0 => drop(bytes.drain(start..end)),
                1 if random.below(4) == 0 => bytes.truncate(start),
                2 => {
                    let word = &self.words[random.below(self.words.len())];
                    bytes.splice(start..end, word.iter().copied());
                }
                3 => {
                    let copy = bytes[start..end].to_vec();
                    let to = random.below(bytes.len());
                    bytes.splice(to..to, copy);
                }
                4 => {
                    // Another word in the place of one, so that the rest still makes sense.
                    let is_space = |byte: &u8| byte.is_ascii_whitespace() || b",=\"'".contains(byte);
                    let start = start + bytes[start..].iter().position(is_space).map_or(0, |place| place + 1);
                    let start = start.min(bytes.len());
                    let end = start + bytes[start..].iter().position(is_space).unwrap_or(0);
                    let word = &self.words[random.below(self.words.len())];
                    bytes.splice(start..end, word.iter().copied());
                }
                _ if !bytes.is_empty() => bytes[start] = random.next() as u8,
                _ => {}
            }
        }
        bytes
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Small programs, as the loader finds them.
fn programs() -> &'static Corpus {
    static PROGRAMS: OnceLock<Corpus> = OnceLock::new();
    PROGRAMS.get_or_init(compile_programs)
}

fn compile_programs() -> Corpus {
    let folder = std::env::temp_dir().join(format!("hpcast-mutated-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a temporary folder");
    let source = folder.join("small.c");
    fs::write(&source, "__thread int a = 1; int b, *c = &b; int main(void) { return a + *c; }\n").expect("a file");
    let program = folder.join("small");
    let compile = |options: &[&str]| {
        let done = Command::new("cc").arg(&source).args(options).arg("-o").arg(&program).status();
        assert!(done.expect("a C compiler").success());
        fs::read(&program).expect("just written")
    };
    let files = vec![compile(&["-s"]), compile(&["-s", "-fPIC", "-Wl,--hash-style=both"])];
    let _ = fs::remove_dir_all(&folder);
    Corpus::new(files)
}

/// A file of functions with everything that one can say.
const FUNCTIONS: &str = r#"
[function.dlacpy]
how = "model"
arguments = "const int M, const int N, const double *A, int *panel+16 LDA"
kernel = "dlacpy"
[function.check_result]
how = "skip"
arguments = "int N"
returns = "random below N"
[function.smooth]
how = "sample"
arguments = "int n"
precision = 0.05
least = 10
most = 200
varies = true
[function.permutation]
how = "remember"
arguments = "int n, int *from, int *to"
reads = "int from[n]"
writes = "int to[2*n]"
[region.setup]
level = 3
compute = "skip"
[region.solve]
level = 4
compute = "run"
[allocation.make_matrix]
fold = true
"#;

/// Measured messages of all operations.
fn messages() -> String {
    let mut text = String::from("operation,size,seconds\n");
    for (operation, start) in [("send", 1e-6), ("isend", 5e-7), ("recv", 2e-6), ("pingpong", 8e-6)] {
        for i in 0..24u32 {
            let size = 3f64.powi(i as i32 / 2).round();
            let seconds = (start + 1e-9 * size) * (1.0 + 0.01 * f64::from(i * 7 % 5));
            text += &format!("{operation},{size},{seconds:e}\n");
        }
    }
    text
}

/// Daily fits of the processors of eight nodes, on three days.
fn daily() -> String {
    let table = fs::read_to_string(root().join("crates/calibrate/tests/data/dgemm_daily_cooling.csv"));
    let table = table.expect("a file of ours");
    let mut days: Vec<&str> = table.lines().skip(1).filter_map(|line| line.split(',').next()).collect();
    days.dedup();
    days.truncate(3);
    let is_wanted = |line: &&str| {
        let mut cells = line.split(',');
        let (day, node) = (cells.next().unwrap_or_default(), cells.next().unwrap_or_default());
        node == "node" || days.contains(&day) && node.parse::<u32>().is_ok_and(|node| node <= 8)
    };
    table.lines().filter(is_wanted).map(|line| format!("{line}\n")).collect()
}

const SMPI: &str = "platform_id,property,size_greater_than,value1,value2\na,smpi/os,0,1e-6,2e-9\na,smpi/os,1000,3e-6,4e-9\n\
    a,smpi/ois,0,1e-6,\na,smpi/or,0,1e-6,1e-9\na,smpi/lat-factor,0,1.5,\na,smpi/bw-factor,0,0.9,\n";

const MIXTURES: &str = r#"{"models": [{"function": "osend", "size_min": 0, "size_max": 1000, "slope_s_per_byte": 1e-9,
    "modes": [{"probability": 0.9, "mean_s": 1e-6, "std_s": 1e-7}, {"probability": 0.1, "mean_s": 2e-6, "std_s": 0}]},
    {"function": "orecv", "size_min": 0, "size_max": 1000, "slope_s_per_byte": 1e-9,
    "modes": [{"probability": 1, "mean_s": 1e-6, "std_s": 1e-8}]}]}"#;

const DGEMM: &str = "model_id,cpu_id,node,cpu,intercept,mnk,mn,mk,nk,sigma_intercept,sigma_mnk,sigma_mn,sigma_mk,sigma_nk\n\
    a,2,1,0,5e-07,7e-11,-5e-10,1e-9,2e-9,6e-7,1e-12,1e-10,1e-10,9e-11\na,-1,-1,-1,1e-07,6e-11,0,0,0,0,0,0,0,0\n";

const CALLS: &str = "n,seconds\n1,1.0\n2,2.1\n3,2.9\n4,4.2\n5,5\n6,6.1\n7,6.8\n8,8.3\n9,9\n10,10.2\n";

const LINES: &str = "rank 0 of 4\ntime 1.5 s\nresidual 1.25e-10\nstep 10 of 20: 3.5 Gflop/s\n\nnode1 done\n";

const RANK_FILE: &str = "# places\nrank 0=node17 slot=0\nrank 2=3 slot=1:0-3\nrank 1=node04\n";

const NODE_LIST: &str = "node17 # first\n3\nnode04\n12\n";

const TRAFFIC: &str = "# a run\n# ranks: 5\nfrom,to,messages,bytes\n0,1,5,500\n1,2,5,500\n2,0,1,8\n";

const REQUEST: &str = "GET /study/3/run/a%2Fb?filter=size%3D1+MiB&sort=seconds&page=2 HTTP/1.1\r\nHost: localhost:8420\r\n\
                       Cookie: a=1; hpcast-8420=0123\r\nOrigin: http://localhost:8420\r\n\r\n";

/// Feeds a reader with damaged files; those that are sound can be read.
fn holds(name: &str, corpus: &Corpus, check: impl Fn(&[u8]) -> bool) {
    let cases = std::env::var("MUTATED").ok().and_then(|text| text.parse().ok()).unwrap_or(CASES);
    let seed = name.bytes().fold(0, |seed: u64, byte| seed.wrapping_mul(31).wrapping_add(byte.into()));
    for file in &corpus.files {
        assert!(check(file), "{name}: this can be read\n{}", String::from_utf8_lossy(file));
    }
    let mut read = 0;
    for case in 0..cases {
        let bytes = corpus.damaged(&mut Random(seed.wrapping_add(case << 32)));
        match catch_unwind(AssertUnwindSafe(|| check(&bytes))) {
            Ok(is_read) => read += u64::from(is_read),
            Err(panic) => {
                println!("{name}, case {case}:\n{}", String::from_utf8_lossy(&bytes));
                resume_unwind(panic);
            }
        }
    }
    println!("{name}: {read} of {cases} damaged files could still be read");
    // Otherwise nothing but the first check would be looked at.
    assert!(100 * read > cases, "{name}: only {read} of {cases} damaged files could be read");
}

fn texts_hold(name: &str, corpus: &Corpus, check: impl Fn(&str) -> bool) {
    holds(name, corpus, |bytes| check(&String::from_utf8_lossy(bytes)));
}

/// A test for each reader of texts.
macro_rules! readers {
    ($($name:ident $corpus:expr;)*) => {
        $(
            #[test]
            fn $name() {
                texts_hold(stringify!($name), &$corpus, checks::$name::check);
            }
        )*
    };
}

readers! {
    machine_toml Corpus::folder("machines", ".toml");
    platform_xml Corpus::folder("tests/simgrid/platforms", ".xml");
    topology_conf Corpus::folder("crates/platform/tests/imported", ".conf");
    ibnetdiscover Corpus::folder("crates/platform/tests/imported", ".txt");
    script Corpus::folder("tests/simgrid/cases", ".case");
    model_toml Corpus::folder("validation/models", ".toml");
    functions_toml Corpus::texts(&[FUNCTIONS]);
    study_toml Corpus::folder("examples/studies", ".toml");
    hpl_dat Corpus::folder("crates/apps/tests", ".dat");
    validation_part Corpus::folder("validation", ".toml");
    model_csv Corpus::texts(&[DGEMM]);
    calls_csv Corpus::texts(&[CALLS]);
    messages_csv Corpus::texts(&[&messages()]);
    network_import Corpus::texts(&[SMPI, MIXTURES]);
    daily_csv Corpus::texts(&[&daily()]);
    rank_file Corpus::texts(&[RANK_FILE, NODE_LIST]);
    traffic_csv Corpus::texts(&[TRAFFIC]);
}

#[test]
fn verified_lines() {
    texts_hold("verified_lines", &Corpus::texts(&[LINES]), |text| checks::verified_lines::check((LINES, text)));
}

#[test]
fn http_request() {
    holds("http_request", &Corpus::texts(&[REQUEST]), checks::http_request::check);
}

#[test]
fn elf_program() {
    holds("elf_program", programs(), checks::elf_program::check);
}

#[test]
fn elf_start() {
    holds("elf_start", programs(), checks::elf_start::check);
}
