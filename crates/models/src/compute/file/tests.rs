use super::*;
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
        seconds: vec![seconds, 1.0 / 3.0],
        deviation: vec![0.1, 0.2],
        covariance: vec![1e-20, -2e-21, 1.0 / 7.0],
    };
    let kernel = Kernel {
        terms: vec!["1".parse().unwrap(), "M^2*lda".parse().unwrap()],
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
