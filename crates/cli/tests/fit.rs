//! `hpcast fit`: from measurements to model files that forecasts can use.

mod common;

use common::{Folder, machine, prints, refuses};

/// Calls of a kernel on two sockets, of which the second is half as fast again; every third call takes 2 % longer.
fn calls() -> String {
    let mut text = String::from("job,node,cpu,rows,n,duration\n");
    for i in 0..600 {
        let (socket, rows, n) = (i % 2, 10 + i / 6 % 10 * 37, 15 + i / 60 * 53);
        let slow = (1.0 + 0.5 * f64::from(socket)) * if i % 3 == 0 { 1.02 } else { 1.0 };
        let seconds = slow * (2e-6 + 4e-9 * f64::from(rows * n));
        text += &format!("{},3,{socket},{rows},{n},{seconds:e}\n", i % 5);
    }
    text
}

const COMMON: [&str; 6] = ["--kernel", "dlacpy", "--argument", "M=rows", "--terms", "1,M*N,M,N"];

#[test]
fn a_fitted_model_is_one_that_forecasts_can_use() {
    let folder = Folder::new("fit");
    let (csv, out) = (folder.write("calls.csv", &calls()), folder.path("models.toml"));
    let fit = |more: &[&str]| {
        let first: &[&str] = &["fit", "kernel", &csv];
        prints(&[first, &COMMON, &["-o", &out], more].concat())
    };
    let text = fit(&[]);
    assert!(text.contains("terms left out    M, N") && text.contains("600, of 200 sizes"), "{text}");
    assert!(text.contains("processors        2"), "{text}");
    let file = folder.read("models.toml");
    for part in ["terms = [\"1\", \"M*N\"]", "[made]", "sha256", "measured = { M = [10.0, 343.0]", "covariance"] {
        assert!(file.contains(part), "{part} is missing in\n{file}");
    }
    assert!(prints(&["model", "show", &out]).contains("dlacpy"));
    let run = ["hpl", "-m", &machine("dahu.toml"), "--models", &out, "--n", "300", "--nb", "30", "--grid", "2x2"];
    assert!(prints(&run).contains("WR"));
    // The same input gives the same file.
    fit(&[]);
    assert_eq!(folder.read("models.toml"), file);
    let alike = fit(&["--alike", "--noise", "none", "--only", "job=1"]);
    assert!(alike.contains("processors        1") && alike.contains("120, of"), "{alike}");
    assert!(!folder.read("models.toml").contains("deviation ="));
}

#[test]
fn kernels_are_added_to_a_file() {
    let folder = Folder::new("fit-add");
    let (csv, out) = (folder.write("calls.csv", &calls()), folder.path("models.toml"));
    let first = ["fit", "kernel", &csv, "--kernel", "a", "--terms", "N", "--alike", "-o", &out];
    prints(&first);
    prints(&["fit", "kernel", &csv, "--kernel", "b", "--terms", "1,N", "--alike", "--add-to", &out, "-o", &out]);
    let file = folder.read("models.toml");
    assert!(file.contains("[kernel.a]") && file.contains("[kernel.b]"), "{file}");
    // The same table is listed once, and named by both kernels.
    assert_eq!((file.matches("sha256").count(), file.matches("calls.csv\"").count()), (1, 3), "{file}");
}

/// Copies that leave the cache at 30,000 elements; one of 25 calls takes three times as long.
fn copies() -> String {
    let mut text = String::from("M,N,seconds\n");
    for i in 0..3000u32 {
        let (m, n) = (10 + i / 10 * 7 % 190, 10 + i / 10 * 11 % 370);
        let elements = f64::from(m * n);
        let seconds = if elements < 30_000.0 { 1e-6 + 4e-10 * elements } else { 5e-6 + 1.5e-9 * elements };
        let slow = if i % 25 == 7 { 3.0 } else { 1.0 };
        text += &format!("{m},{n},{:e}\n", seconds * slow * (1.0 + 0.001 * f64::from(i * 17 % 13)));
    }
    text
}

#[test]
fn models_may_have_pieces_and_modes() {
    let folder = Folder::new("fit-pieces");
    let (csv, out) = (folder.write("copies.csv", &copies()), folder.path("models.toml"));
    let fit = |more: &[&str]| {
        prints(&[&["fit", "kernel", &csv, "--kernel", "dlatcpy", "--terms", "1,M*N", "-o", &out], more].concat())
    };
    let one = fit(&[]);
    assert!(one.contains("there is a jump") && one.contains("try --noise modes"), "{one}");
    let pieces = fit(&["--split", "M*N", "--noise", "modes"]);
    assert!(
        pieces.contains("where M*N < 3") && pieces.contains("4.0 % of the calls") && pieces.contains("modes"),
        "{pieces}"
    );
    assert!(!pieces.contains("warning"), "{pieces}");
    let file = folder.read("models.toml");
    assert!(file.contains("split = \"M*N\"") && file.contains("below = ") && file.contains("ranges = ["), "{file}");
    let given = fit(&["--split", "M", "--pieces-at", "100,60", "--errors", "absolute"]);
    assert!(given.contains("where M < 60") && given.contains("where M < 100"), "{given}");
    let run = ["hpl", "-m", &machine("dahu.toml"), "--models", &out, "--n", "300", "--nb", "30", "--grid", "2x2"];
    assert!(prints(&run).contains("WR"));
}

#[test]
fn what_cannot_be_fitted_is_refused() {
    let folder = Folder::new("fit-bad");
    let csv = folder.write("calls.csv", &calls());
    let out = folder.path("models.toml");
    let bad = |csv: &str, options: &[&str], words: &[&str]| {
        refuses(&[&["fit", "kernel", csv, "-o", &out, "--kernel", "x"], options].concat(), words);
    };
    bad(&csv, &["--terms", "1,M*N"], &["no column `M`", "rows, n, duration", "help"]);
    bad(&csv, &["--terms", "2*N"], &["`2*N` is no product", "M*N*K"]);
    bad(&csv, &["--terms", "N", "--keep", "n"], &["--keep", "`n`"]);
    bad(&csv, &["--terms", "N", "--only", "job=77"], &["no such rows"]);
    bad(&csv, &["--terms", "N", "--only", "job"], &["--only job", "`=`"]);
    bad(&csv, &["--terms", "N", "--level", "2"], &["--level"]);
    let named = ["--argument", "L=n", "--terms", "N,L"];
    bad(&csv, &named, &["follows from", "help"]);
    bad(&csv, &["--terms", "1,N", "--pieces-at", "5"], &["--split"]);
    bad(&csv, &["--terms", "1,N", "--split", "N", "--pieces-at", "0"], &["--pieces-at 0", "above zero"]);
    bad(&csv, &["--terms", "1,N", "--split", "2*N"], &["`2*N` is no product"]);
    bad(&csv, &["--terms", "1,N,N^2", "--split", "N"], &["breakpoints", "--pieces-at", "calls.csv"]);
    bad(&csv, &["--terms", "1,N", "--split", "N", "--pieces-at", "20"], &["where N is below 20", "cannot determine"]);
    let timeless = folder.write("timeless.csv", "n,seconds\n1,2\n2,0\n3,4\n5,6\n");
    bad(
        &timeless,
        &["--terms", "1,n", "--errors", "relative"],
        &["calls with n = 2 took no time", "timeless.csv", "help"],
    );
    let few = folder.write("few.csv", "n,seconds\n1,2\n2,3\n");
    bad(&few, &["--terms", "1,n"], &["2 values cannot determine 2 coefficients", "few.csv"]);
    for (text, words) in [("x", "is no number"), ("NaN", "is not finite"), ("-1e-6", "is negative")] {
        let wrong = folder.write("wrong.csv", &format!("n,seconds\n1,2\n2,{text}\n3,4\n5,6\n"));
        bad(&wrong, &["--terms", "1,n"], &["wrong.csv:3", words]);
    }
    assert!(!folder.names().contains(&"models.toml".into()), "nothing is half-written");
}

/// Products of matrices at 10 Tflop/s and 1 TB/s, one after the other, after 20 us; odd matrices take half as long again.
fn products() -> String {
    let mut text = String::from("function,m,n,k,seconds\n");
    for i in 0..240u32 {
        let [m, n, k] = [7919, 104_729, 1_299_709].map(|step| f64::from(10 * (1 << (((i * step) >> 4) & 7)) + i % 9));
        let odd = if m % 2.0 == 1.0 || k % 2.0 == 1.0 { 1.5 } else { 1.0 };
        let seconds = odd * (2e-5 + 2.0 * m * n * k / 1e13 + 8.0 * (m * k + n * k + 2.0 * m * n) / 1e12);
        text += &format!("dgemm,{m},{n},{k},{seconds:e}\nother,1,1,1,1\n");
    }
    text
}

#[test]
fn a_roofline_is_one_that_forecasts_can_use() {
    let folder = Folder::new("fit-roofline");
    let (csv, out) = (folder.write("calls.csv", &products()), folder.path("models.toml"));
    let fit = |more: &[&str]| {
        let first: &[&str] = &["fit", "roofline", &csv, "--kernel", "dgemm", "--only", "function=dgemm", "-o", &out];
        prints(&[first, more].concat())
    };
    let text = fit(&["--multiples", "M=2,K=2"]);
    assert!(text.contains("2.0000e-5 + 2 M*N*K / 1.0000e13 + (8 M*K + 8 N*K + 16 M*N) / 1.0000e12"), "{text}");
    assert!(text.contains("R squared         1.0"), "{text}");
    let file = folder.read("models.toml");
    assert!(file.contains("roofs = \"sum\"") && file.contains("roofline = { rate = "), "{file}");
    assert!(prints(&["model", "show", &out]).contains("dgemm with M = N = K = 4,096: 9."));
    let run = ["hpl", "-m", &machine("dahu.toml"), "--models", &out, "--n", "300", "--nb", "30", "--grid", "2x2"];
    assert!(prints(&run).contains("WR"));
    // With odd sizes among them the products look slower.
    assert!(!fit(&[]).contains("1.0000e13") && fit(&["--roofs", "longest"]).contains("max(2 M*N*K"));
    let own = ["--flops", "M*N*K=2", "--bytes", "M*N=16,1=8"];
    assert!(
        fit(&own).contains("M*N") && folder.read("models.toml").contains("bytes = { \"M*N\" = 16.0, \"1\" = 8.0 }")
    );
}

#[test]
fn processors_may_have_rooflines_of_their_own() {
    let folder = Folder::new("fit-rooflines");
    let mut text = String::from("node,cpu,N,seconds\n");
    for i in 1..200u32 {
        let (node, socket, n) = (5 + i % 4 / 2, i % 2, i * i * 100);
        text += &format!("{node},{socket},{n},{:e}\n", 1e-6 + f64::from(node - 4) * 16e-10 * f64::from(n));
    }
    let (csv, out) = (folder.write("copies.csv", &text), folder.path("models.toml"));
    let fit = |more: &[&str]| prints(&[&["fit", "roofline", &csv, "--kernel", "dcopy", "-o", &out], more].concat());
    let text = fit(&[]);
    assert!(text.contains("processors        4") && text.contains("R squared         1.0"), "{text}");
    let file = folder.read("models.toml");
    assert!(file.contains("first-node = 5") && file.matches("node = ").count() >= 4, "{file}");
    // They are compared one by one: node 6 takes twice as long as the others.
    let alike = folder.path("alike.toml");
    let text = prints(&["fit", "roofline", &csv, "--kernel", "dcopy", "--alike", "-o", &alike]);
    assert!(text.contains("processors        1"), "{text}");
    let json = prints(&["model", "compare", &alike, &out, "--json", "-"]);
    let value: serde_json::Value = serde_json::from_str(&json).unwrap();
    let processors = value["kernels"]["dcopy"]["processors"].as_array().unwrap();
    let ratio = |place: usize| processors[place]["ratio"].as_f64().unwrap();
    assert_eq!((processors.len(), processors[2]["node"].as_u64()), (4, Some(6)));
    assert!(ratio(2) / ratio(0) > 1.5 && (ratio(1) / ratio(0) - 1.0).abs() < 1e-6, "{processors:?}");
    let run = ["hpl", "-m", &machine("dahu.toml"), "--models", &out, "--n", "300", "--nb", "30", "--grid", "2x2"];
    assert!(prints(&run).contains("WR"));
}

#[test]
fn what_is_no_roofline_is_refused() {
    let folder = Folder::new("fit-roofline-bad");
    let (csv, out) = (folder.write("calls.csv", &products()), folder.path("models.toml"));
    let bad = |options: &[&str], words: &[&str]| {
        refuses(&[&["fit", "roofline", &csv, "-o", &out], options].concat(), words);
    };
    bad(&["--kernel", "x"], &["nothing says what `x` does", "--flops"]);
    bad(&["--kernel", "x", "--flops", "2*N=1"], &["--flops", "`2*N` is no product"]);
    bad(&["--kernel", "x", "--flops", "N=x"], &["--flops", "`x` is no number"]);
    bad(&["--kernel", "dtrsm"], &["no column `S`", "--argument"]);
    bad(&["--kernel", "dgemm", "--multiples", "Q=2"], &["no argument `Q`", "M, N, K"]);
    bad(&["--kernel", "dgemm", "--multiples", "M=0"], &["`0` is no whole number"]);
    bad(&["--kernel", "dgemm", "--multiples", "M=100000"], &["no such calls"]);
    assert!(!folder.names().contains(&"models.toml".into()), "nothing is half-written");
}

#[test]
fn rooflines_of_nothing_and_terms_that_are_there_twice_are_refused() {
    let folder = Folder::new("fit-roofline-bad");
    let out = folder.path("out.toml");
    let row = |i: u32, seconds: &str| format!("{},{},{},{seconds}\n", 10 + 7 * i, 20 + 3 * i * i % 50, 5 + 11 * i % 40);
    let table = |seconds: &str| "M,N,K,seconds\n".to_owned() + &(0..12).map(|i| row(i, seconds)).collect::<String>();
    let zero = folder.write("zero.csv", &table("0"));
    refuses(&["fit", "roofline", &zero, "--kernel", "dgemm", "-o", &out], &["took no time", "zero.csv"]);
    let alike = folder.write("alike.csv", &table("1e-3"));
    let twice = ["fit", "roofline", &alike, "--kernel", "x", "--flops", "N=1", "--flops", "N=1", "-o", &out];
    refuses(&twice, &["--flops", "`N` is there twice"]);
    assert!(!std::path::Path::new(&out).exists());
    // What is written can be read, even where nothing varies.
    prints(&["fit", "roofline", &alike, "--kernel", "dgemm", "-o", &out]);
    prints(&["model", "show", &out]);
}
