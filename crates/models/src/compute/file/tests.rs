use super::*;
use crate::compute::population::Group;
use crate::compute::{Arguments, BoundKernel, CallTable, ErrorRange, Fit, Kernel, Mode, Noise, Row};

const TEXT: &str = r#"
name = "test \"models\""
source = "nowhere"
first-node = 1
unlisted = "free"
[kernel.dgemm]
terms = ["1", "M*N*K"]
seconds = [1e-6, 5e-11]
deviation = [0, 1e-12]
processors = [{ node = 1, socket = 1, seconds = [2e-6, 6e-11] }]
measured = { M = [1, 100] }
[kernel.dswap]
terms = []
seconds = []
[kernel.memcpy]
terms = ["1", "bytes"]
split = "bytes"
pieces = [{ below = 100, seconds = [1, 0] }, { seconds = [2, 0] }]
modes = [{ share = 0.5, mean = 0.5, deviation = 0 }, { share = 0.5, mean = 1.5, deviation = 0.1 }]
"#;

fn parse(text: &str) -> Result<ModelFile, Diagnostics> {
    ModelFile::parse(&Source::new("models.toml", text))
}

#[test]
fn what_is_written_is_read_back() {
    let file = parse(TEXT).unwrap();
    assert_eq!((file.first_node, file.unlisted, file.kernels.len()), (1, Unlisted::Free, 3));
    let dgemm = BoundKernel::new(&file.kernels["dgemm"], &["M", "N", "K"]).unwrap();
    assert_eq!(dgemm.expectation(1, &Arguments::new([10.0; 3])), 2e-6 + 6e-8);
    assert!(dgemm.is_noisy() && !dgemm.was_measured(&Arguments::new([101.0, 1.0, 1.0])));
    assert_eq!(file.kernels["dswap"], Kernel::free());
    assert_eq!(parse(&file.to_toml()).unwrap(), file);
    let mut odd = ModelFile { name: "odd".into(), ..ModelFile::default() };
    odd.kernels.extend(["", "a.b", "\"", "µ"].map(|name| (name.to_owned(), Kernel::free())));
    assert_eq!(parse(&odd.to_toml()).unwrap(), odd);
}

#[test]
fn everything_that_is_known_of_a_fit_is_read_back() {
    let piece = |processor, below, seconds: f64| Row {
        processor,
        below,
        roofline: None,
        seconds: vec![seconds, 1.0 / 3.0],
        deviation: vec![0.1, 0.2],
        covariance: vec![1e-20, -2e-21, 1.0 / 7.0],
        ..Row::default()
    };
    let kernel = Kernel {
        terms: vec!["1".parse().unwrap(), "M^2*lda".parse().unwrap()],
        roofline: None,
        split: Some("M".parse().unwrap()),
        noise: Noise::Modes(vec![
            Mode { share: 0.25, mean: 2.0, deviation: 0.1 },
            Mode { share: 0.75, mean: 0.6, deviation: 0.0 },
        ]),
        rows: vec![
            piece(None, Some(10.0), 1.0),
            piece(None, None, 2.0),
            piece(Some((3, 1)), Some(1e9), 3.0),
            piece(Some((3, 1)), None, 4.0),
        ],
        measured: BTreeMap::from([("M".into(), [1.0, 1e5]), ("lda".into(), [0.5, 2.0])]),
        population: None,
        fit: Some(Fit {
            points: 1000,
            sizes: 10,
            r_squared: 0.999,
            relative_error: 0.012,
            dropped: vec!["M".parse().unwrap()],
            warnings: vec!["two \"modes\"".into()],
            ranges: vec![ErrorRange { seconds: [1e-6, 1e-5], sizes: 7, error: 0.02, bias: -0.01 }],
            data: Some(CallTable {
                file: "calls.csv".into(),
                arguments: BTreeMap::from([("M".into(), "rows, in \"all\"".into())]),
                seconds: "duration".into(),
                processor: Some(("node".into(), "cpu".into())),
                only: BTreeMap::from([("job id".into(), "7".into())]),
            }),
        }),
    };
    let data = DataFile { file: "calls.csv".into(), sha256: "00ff".into(), rows: 1000 };
    let made =
        Made { by: "hpcast 0.1.0".into(), on: "2026-11-15".into(), command: "fit kernel".into(), data: vec![data] };
    let mut file = ModelFile { name: "fitted".into(), made: Some(made), ..ModelFile::default() };
    file.kernels.insert("dgemm".into(), kernel);
    assert_eq!(parse(&file.to_toml()).map_err(|error| error.to_string()).unwrap(), file);
}

const NETWORK: &str = r#"
name = "network"
[network]
eager-below = "64 kB"
detached-below = "65 kB"
probe = "0.2 us"
[network.between]
send = [
  { above = "0 B", per-byte = "0.1 ns", modes = [{ share = 0.1, mean = "-3 us", deviation = "1 us" }, { share = 0.9, mean = "1 us", deviation = "0 s" }] },
  { above = "8133 B", base = "2 us" },
]
latency = "1 us"
bandwidth-factor = 0.9
[network.inside]
latency-factor = [{ above = "0 B", factor = 2.0 }]
[network.fit]
ranges = [{ function = "between.send", above = "8133 B", points = 9, sizes = 3, r-squared = 0.5, relative-error = 0.01, covariance = [1e-14, 0, 2e-24] }]
warnings = ["\"odd\""]
"#;

#[test]
fn the_network_part_is_read_back() {
    let file = parse(NETWORK).unwrap();
    let network = file.network.clone().unwrap();
    assert_eq!((network.eager_below, network.detached_below), (Some(64_000), Some(65_000)));
    assert_eq!((network.probe, network.test), (Some(2e-7), None));
    assert!(network.between.is_noisy() && !network.inside.is_noisy());
    assert!((network.between.send.at(1000).unwrap() - 0.7e-6).abs() < 1e-15);
    let range = &network.fit.as_ref().unwrap().ranges[0];
    assert_eq!((range.sizes, range.covariance), (3, Some([1e-14, 0.0, 2e-24])));
    assert_eq!(parse(&file.to_toml()).unwrap(), file);
}

#[test]
fn mistakes_in_the_network_part_have_a_place_and_a_remedy() {
    for (from, to, place, message) in [
        ("\"65 kB\"", "\"6 kB\"", "5:18", "below `eager-below`"),
        ("probe = \"0.2 us\"", "probe = \"-0.2 us\"", "6:9", "the duration is negative"),
        ("probe = ", "prob = ", "6:1", "unknown key `prob`"),
        ("share = 0.1", "share = 0.2", "9:49", "add up to 1.1"),
        ("deviation = \"1 us\"", "deviation = \"-1 us\"", "9:49", "a share or deviation is negative"),
        ("mean = \"-3 us\"", "mean = -3", "9:72", "`mean` has no unit"),
        ("mean = \"-3 us\", ", "", "9:50", "modes[0].mean` is missing"),
        ("per-byte = \"0.1 ns\"", "base = \"1 us\"", "9:27", "there are `base` and `modes`"),
        ("8133 B\", base", "0 B\", base", "10:13", "two pieces start above 0 B"),
        ("base = \"2 us\"", "base = \"-2 us\"", "10:3", "the duration is not zero or more"),
        ("bandwidth-factor = 0.9", "bandwidth-factor = 0.0", "13:20", "the factor is not greater than zero"),
        (
            "{ above = \"0 B\", factor = 2.0 }",
            "{ above = \"0 B\", factor = 2.0, modes = [] }",
            "15:50",
            "unknown key `modes`",
        ),
        (", 0, 2e-24]", ", 0]", "17:134", "2 numbers for the covariances of 2 figures"),
        (", 0, 2e-24]", ", 0, -2e-24]", "17:134", "no root at variable 1"),
        ("between.send\"", "between.sent\"", "17:134", "no piece of `between.sent` that begins above 8133 B"),
    ] {
        let text = NETWORK.replacen(from, to, 1);
        assert_ne!(text, NETWORK);
        let found = parse(&text).unwrap_err().to_string();
        assert!(found.contains(&format!("models.toml:{place}")), "{place}: {found}");
        assert!(found.contains(message) && found.contains("help"), "{message}: {found}");
    }
}

#[test]
fn mistakes_have_a_place_and_a_remedy() {
    for (from, to, place, message) in [
        ("\"M*N*K\"", "\"M*N*2\"", "7:15", "`M*N*2` is no product of arguments"),
        ("[\"1\", \"M*N*K\"]", "[\"1\", \"1\"]", "7:15", "`1` is there twice"),
        ("5e-11]\ndev", "5e-11, 3]\ndev", "8:11", "3 coefficients for 2 terms"),
        ("5e-11]\ndev", "\"x\"]\ndev", "8:18", "`seconds` must hold plain numbers, not a text"),
        ("node = 1, ", "nod = 1, ", "10:17", "unknown key `nod`"),
        ("node = 1, ", "", "10:15", "`kernel.dgemm.processors[0].node` is missing"),
        ("\"free\"", "\"fre\"", "5:12", "`fre` is no unlisted"),
        ("M = [1, 100]", "M = [100, 1]", "11:18", "`M` is no range of an argument"),
        ("[kernel.dswap]\nterms = []\nseconds = []", "[kernel]\ndswap = 1", "13:9", "is a table"),
        ("split = \"bytes\"\n", "", "16:9", "there are pieces, but no `split`"),
        ("{ seconds = [2, 0] }", "{ below = 50, seconds = [2, 0] }", "18:10", "not the pieces of a line"),
        ("share = 0.5, mean = 0.5", "share = 0.4, mean = 0.5", "19:9", "add up to 0.9"),
    ] {
        let text = TEXT.replacen(from, to, 1);
        assert_ne!(text, TEXT);
        let found = parse(&text).unwrap_err().to_string();
        assert!(found.contains(&format!("models.toml:{place}")), "{place}: {found}");
        assert!(found.contains(message) && found.contains("help"), "{message}: {found}");
    }
}

const POPULATION: &str = r#"
name = "population"
[kernel.dgemm]
terms = ["1", "M*N*K"]
seconds = [2e-6, 7e-11]
deviation = [0, 2e-12]
[kernel.dgemm.population]
groups-of = "nodes"
[[kernel.dgemm.population.groups]]
share = 0.75
seconds = [2e-6, 7e-11]
deviation = [0, 2e-12]
covariance = [
    1e-14,
    0, 4e-24,
    0, 0, 0,
    0, 1e-26, 0, 1e-26,
]
[[kernel.dgemm.population.groups]]
share = 0.25
seconds = [2e-6, 9e-11]
deviation = [0, 4e-12]
[kernel.dgemm.population.days]
machine = [1e-15, 0, 4e-25, 0, 0, 0, 0, 1e-25, 0, 1e-25]
"#;

#[test]
fn a_population_is_read_back() {
    let file = parse(POPULATION).unwrap();
    let population = file.kernels["dgemm"].population.as_ref().unwrap();
    assert_eq!(population.groups()[1].share, 0.25);
    let [machine, node, processor] = population.groups()[1].days.covariances();
    assert_eq!((machine[(1, 3)], node[(1, 1)], processor[(3, 3)]), (1e-25, 0.0, 0.0));
    assert_eq!(parse(&file.to_toml()).unwrap(), file);
}

#[test]
fn a_group_may_have_days_of_its_own() {
    let own = "[kernel.dgemm.population.groups.days]\nnode = [1e-15, 0, 4e-25, 0, 0, 0, 0, 0, 0, 0]\n";
    let text = POPULATION.replace("[kernel.dgemm.population.days]", &format!("{own}[kernel.dgemm.population.days]"));
    let slow = "processors = [{ node = 3, group = 1, seconds = [2e-6, 9e-11], deviation = [0, 4e-12] }]\n";
    let text = text.replace("[kernel.dgemm.population]\n", &format!("{slow}[kernel.dgemm.population]\n"));
    let file = parse(&text).unwrap();
    let kernel = &file.kernels["dgemm"];
    let [first, second] = kernel.population.as_ref().unwrap().groups() else { panic!("two groups") };
    let variances = |group: &Group| group.days.covariances().map(|part| part[(1, 1)]);
    assert_eq!((variances(first), variances(second)), ([4e-25, 0.0, 0.0], [0.0, 4e-25, 0.0]));
    assert_eq!(parse(&file.to_toml()).unwrap(), file);
    // In its group the deviation does not change from day to day.
    let row = |day: u32| kernel.of_cluster(1, [(3, 0)]).on_day(1, day).rows[1].clone();
    assert_eq!(row(1).deviation, [0.0, 4e-12]);
    assert_ne!(row(1).seconds, row(2).seconds);
    let wrong = parse(&text.replace("group = 1", "group = 2")).unwrap_err().to_string();
    assert!(wrong.contains("group 2, but there are 2 groups") && wrong.contains("counted from 0"), "{wrong}");
}

#[test]
fn mistakes_in_a_population_have_a_place_and_a_remedy() {
    for (from, to, place, message) in [
        ("groups-of = \"nodes\"", "groups-of = \"racks\"", "8:13", "`racks` is no groups of"),
        ("share = 0.25", "share = 0.3", "9:1", "add up to 1.05"),
        ("    0, 4e-24,", "    0, -4e-24,", "13:14", "no root at variable 1"),
        ("    1e-14,", "", "13:14", "9 numbers for the covariances of 4 coefficients"),
        ("machine =", "rack =", "24:1", "unknown key `rack`"),
        ("machine = [1e-15,", "machine = [", "24:11", "9 numbers"),
        ("deviation = [0, 2e-12]\n[kernel", "[kernel", "8:1", "other coefficients than the kernel"),
    ] {
        let text = POPULATION.replacen(from, to, 1);
        assert_ne!(text, POPULATION);
        let found = parse(&text).unwrap_err().to_string();
        assert!(found.contains(&format!("models.toml:{place}")), "{place}: {found}");
        assert!(found.contains(message) && found.contains("help"), "{message}: {found}");
    }
    let empty = POPULATION.split("[[").next().unwrap();
    assert!(parse(empty).unwrap_err().to_string().contains("`kernel.dgemm.population.groups` is missing"));
}

const ROOFLINE: &str = r#"
name = "gpu"
[kernel.dgemm]
roofline = { rate = 4.7e13, bandwidth = 3.4e12, overhead = 3e-5, step = 2.7e-9, deviation = 0.04 }
roofs = "sum"
measured = { M = [10, 70000] }
processors = [{ node = 1, socket = 0, roofline = { rate = 4e13 } }]
[kernel.stencil]
roofline = { bandwidth = 3.4e12 }
flops = { "N^2" = 8 }
bytes = { "N^2" = 16, "1" = 1 }
"#;

#[test]
fn a_roofline_is_read_back() {
    let file = parse(ROOFLINE).unwrap();
    assert_eq!(parse(&file.to_toml()).unwrap(), file);
    let kernel = BoundKernel::new(&file.kernels["dgemm"], &["M", "N", "K"]).unwrap();
    assert!((kernel.expectation(1, &Arguments::new([1e4; 3])) / (2e12 / 4e13) - 1.0).abs() < 1e-12);
    let stencil = BoundKernel::new(&file.kernels["stencil"], &["N"]).unwrap();
    assert!((stencil.expectation(0, &Arguments::new([1e3])) / (16_000_001.0 / 3.4e12) - 1.0).abs() < 1e-12);
    assert!(!file.to_toml().contains("M*N*K"), "what the BLAS defines is not repeated");
}

#[test]
fn mistakes_in_a_roofline_have_a_place_and_a_remedy() {
    for (from, to, place, message) in [
        ("rate = 4.7e13", "rate = 0", "4:21", "`rate` must be more than zero"),
        ("overhead = 3e-5", "overhead = -1", "4:60", "`overhead` is negative"),
        ("step = 2.7e-9", "steps = 2.7e-9", "4:66", "unknown key `steps`"),
        ("\"sum\"", "\"both\"", "5:9", "`both` is no roofs"),
        ("\"N^2\" = 8", "\"2*N\" = 8", "10:19", "`2*N` is no product"),
        ("\"N^2\" = 8", "\"N^2\" = \"x\"", "10:19", "must be a plain number"),
        (
            "flops = { \"N^2\" = 8 }\nbytes = { \"N^2\" = 16, \"1\" = 1 }",
            "",
            "9:12",
            "nothing says what `stencil` does",
        ),
        ("roofs = \"sum\"", "terms = [\"1\"]", "5:1", "unknown key `terms`"),
        ("{ rate = 4e13 }", "4e13", "7:50", "`roofline` is a table, not a number"),
    ] {
        let text = ROOFLINE.replacen(from, to, 1);
        assert_ne!(text, ROOFLINE);
        let found = parse(&text).unwrap_err().to_string();
        assert!(found.contains(message) && found.contains("help"), "{message}: {found}");
        assert!(found.contains(&format!("models.toml:{place}")), "{place}: {found}");
    }
}
