//! `hpcast fit cluster` and `hpcast cluster generate`: from daily fits to clusters that forecasts can use.

mod common;

use common::{Folder, daily_fits, machine, prints, refuses};

#[test]
fn a_generated_cluster_is_one_that_forecasts_can_use() {
    let folder = Folder::new("cluster");
    let (csv, population) = (folder.write("daily.csv", &daily_fits()), folder.path("population.toml"));
    let text = prints(&["fit", "cluster", &csv, "--kernel", "dgemm", "--groups", "1", "-o", &population]);
    assert!(text.contains("16, of 8 nodes") && text.contains("days              6"), "{text}");
    let file = folder.read("population.toml");
    for part in ["[[kernel.dgemm.population.groups]]", "[kernel.dgemm.population.days]", "sha256", "machine = ["] {
        assert!(file.contains(part), "{part} is missing in\n{file}");
    }
    let generate = |name: &str, more: &[&str]| {
        let out = folder.path(name);
        let first: &[&str] = &["cluster", "generate", &population, "--sockets", "2", "-o", &out];
        let text = prints(&[first, more].concat());
        let file = folder.read(name);
        (text, file[file.find("\n[kernel").expect("a kernel")..].to_owned())
    };
    let (text, rows) = generate("a.toml", &["--nodes", "10", "--seed", "7"]);
    assert!(text.contains("20 processors of 10 nodes"), "{text}");
    assert_eq!(generate("b.toml", &["--nodes", "10", "--seed", "7"]).1, rows);
    assert_ne!(generate("b.toml", &["--nodes", "10", "--seed", "8"]).1, rows);
    assert_ne!(generate("b.toml", &["--nodes", "10", "--seed", "7", "--day", "2"]).1, rows);
    // A processor is the same in a cluster of whatever size.
    let line = |rows: &str| rows.lines().find(|line| line.contains("node = 5, socket = 1")).map(String::from);
    let larger = generate("b.toml", &["--nodes", "400", "--seed", "7"]).1;
    assert!(line(&rows).is_some() && line(&larger) == line(&rows));
    assert_ne!(line(&generate("b.toml", &["--nodes", "10", "--seed", "7", "--measured"]).1), line(&rows));
    assert!(folder.read("a.toml").contains("population.toml\", sha256"));
    let models = folder.path("a.toml");
    let run = ["hpl", "-m", &machine("dahu.toml"), "--models", &models, "--n", "300", "--nb", "30", "--grid", "2x2"];
    assert!(prints(&run).contains("WR"));
}

#[test]
fn what_cannot_be_fitted_or_drawn_is_refused() {
    let folder = Folder::new("cluster-bad");
    let (csv, out) = (folder.write("daily.csv", &daily_fits()), folder.path("out.toml"));
    let bad = |csv: &str, options: &[&str], words: &[&str]| {
        refuses(&[&["fit", "cluster", csv, "-o", &out, "--kernel", "x"], options].concat(), words);
    };
    bad(&csv, &["--column", "M*N*K=slope"], &["no column `slope`", "mnk_residual"]);
    bad(&csv, &["--column", "2*M=mnk"], &["--column", "`2*M` is no product"]);
    bad(&csv, &["--column", "N=mnk", "--column", "N=intercept"], &["`N` is there twice"]);
    bad(&csv, &["--deviation", "M=mnk"], &["--deviation", "`M` is none of the terms"]);
    bad(&csv, &["--day", "month"], &["no column `month`"]);
    bad(&csv, &["--groups", "0"], &["--groups"]);
    let nothing = folder.write("nothing.csv", "date,node,slope\n1,1,1\n");
    bad(&nothing, &[], &["no column is known to hold a coefficient", "--column M*N*K=slope"]);
    let few = folder.write("few.csv", "date,node,mnk\n1,1,1\n");
    bad(&few, &[], &["1 processors are too few", "few.csv", "help"]);
    let plain = folder.write("plain.toml", "name = \"x\"\n[kernel.dgemm]\nterms = [\"1\"]\nseconds = [1]\n");
    refuses(&["cluster", "generate", &plain, "--nodes", "2", "-o", &out], &["no kernel says", "fit cluster"]);
    refuses(&["cluster", "generate", &plain, "--nodes", "0", "-o", &out], &["--nodes"]);
    assert!(!folder.names().contains(&"out.toml".into()), "nothing is half-written");
}
