//! Every example of the documentation works.

mod common;

use std::fs;
use std::path::Path;

use common::{Folder, daily_fits, prints, root};

/// Commands of a page: indented lines that begin with `hpcast`.
fn commands(page: &str) -> Vec<String> {
    let text = fs::read_to_string(root().join(page)).expect("the page is there");
    text.lines()
        .filter_map(|line| line.strip_prefix("    hpcast "))
        .map(|line| line.split('#').next().unwrap_or_default().trim().to_owned())
        .collect()
}

/// The words of a command; several in quotes are one.
fn words(command: &str) -> Vec<&str> {
    let parts = command.split('"').enumerate();
    parts.flat_map(|(at, part)| if at % 2 == 0 { part.split_whitespace().collect() } else { vec![part] }).collect()
}

/// Runs all commands of a page; files that are no machines of ours are in the folder.
fn run_commands(page: &str, folder: &Folder) -> usize {
    let commands = commands(page);
    for command in &commands {
        let place = |word: &str| match Path::new(word).extension().and_then(|extension| extension.to_str()) {
            Some("svg" | "json" | "csv" | "toml" | "xml" | "dat" | "conf" | "txt")
                if !word.starts_with("machines/") && !word.starts_with("examples/") =>
            {
                folder.path(word)
            }
            _ => word.to_owned(),
        };
        let words: Vec<String> = words(command).into_iter().map(place).collect();
        let printed = prints(&words.iter().map(String::as_str).collect::<Vec<_>>());
        assert!(!printed.is_empty(), "hpcast {command} says something");
    }
    commands.len()
}

/// The blocks of a page that are written in this language.
fn blocks(page: &str, language: &str) -> Vec<String> {
    let text = fs::read_to_string(root().join(page)).expect("the page is there");
    let fence = format!("```{language}\n");
    let blocks = text.split(&fence).skip(1);
    blocks.filter_map(|rest| rest.split("```").next()).map(String::from).collect()
}

#[test]
fn every_command_of_the_readme_runs() {
    let folder = Folder::new("readme");
    let platform = root().join("tests/simgrid/platforms/dahu.xml");
    fs::copy(platform, folder.path("platform.xml")).expect("a platform");
    assert!(run_commands("README.md", &folder) >= 8);
}

#[test]
fn every_command_of_the_page_on_studies_runs() {
    let folder = Folder::new("studies-page");
    folder.write("study.toml", &blocks("docs/studies.md", "toml")[0]);
    fs::copy(root().join("machines/msc-512.toml"), folder.path("machine.toml")).expect("a machine");
    let commands = commands("docs/studies.md");
    for command in &commands {
        let place = |word: &str| match word {
            "results" | "again" | "study.toml" | "study.tar" | "rows.csv" | "rows.parquet" => folder.path(word),
            _ => word.to_owned(),
        };
        let words: Vec<String> = words(command).into_iter().map(place).collect();
        prints(&words.iter().map(String::as_str).collect::<Vec<_>>());
    }
    assert!(commands.len() >= 10);
}

#[test]
fn every_command_of_the_page_on_models_runs() {
    let folder = Folder::new("models-page");
    folder.write("models.toml", &blocks("docs/models.md", "toml")[0]);
    let mut calls = String::from("M,N,K,seconds\n");
    for i in 0..60u32 {
        let (m, n, k) = (10 + i * 7 % 40, 5 + i * 11 % 37, 3 + i * 13 % 31);
        calls += &format!("{m},{n},{k},{:e}\n", 1e-6 + 1e-9 * f64::from(m * n * k));
    }
    folder.write("calls.csv", &calls);
    folder.write("daily.csv", &daily_fits());
    let row = |node: u32| format!("{{ node = {node}, socket = 0, seconds = [2e-6, 7e-11, 1e-10] }}");
    let rows: Vec<String> = (0..16).map(row).collect();
    folder.write(
        "processors.toml",
        &format!(
            "name = \"processors\"\n[kernel.dgemm]\nterms = [\"1\", \"M*N*K\", \"M*N\"]\nseconds = [2e-6, 7e-11, 1e-10]\n\
             processors = [{}]\n",
            rows.join(", ")
        ),
    );
    folder.write("network.toml", &blocks("docs/models.md", "toml")[3]);
    let mut messages = String::from("operation,size,seconds\n");
    for i in 0..60u32 {
        let size = 1.3f64.powi(i as i32);
        messages += &format!("isend,{size:.0},{:e}\nping-pong,{size:.0},{:e}\n", 1e-6, 2e-5 + 2e-10 * size);
    }
    folder.write("messages.csv", &messages);
    folder.write(
        "smpi.csv",
        "platform_id,property,size_greater_than,value1,value2\ndahu,smpi/os,0,3e-07,1e-10\ndahu,smpi/lat-factor,0,1.2,\n",
    );
    folder.write(
        "mixtures.json",
        r#"{ "models": [{ "function": "osend", "size_min": 0, "size_max": 64000, "slope_s_per_byte": 1e-10,
            "modes": [{ "mean_s": 1e-06, "std_s": 1e-07, "probability": 1.0 }] }] }"#,
    );
    let mut copies = String::from("M,N,seconds\n");
    for i in 0..240u32 {
        let (m, n) = (10 + i / 3 * 7 % 190, 10 + i / 3 * 11 % 370);
        let elements = f64::from(m * n);
        let seconds = if elements < 30_000.0 { 1e-6 + 4e-10 * elements } else { 5e-6 + 1.5e-9 * elements };
        copies += &format!("{m},{n},{:e}\n", seconds * (1.0 + 0.001 * f64::from(i * 17 % 13)));
    }
    let copies = folder.write("copies.csv", &copies);
    prints(&["fit", "kernel", &copies, "--kernel", "dlatcpy", "--terms", "1,M*N", "-o", &folder.path("again.toml")]);
    assert_eq!(run_commands("docs/models.md", &folder), 17);
    for (number, block) in blocks("docs/models.md", "toml").iter().enumerate() {
        prints(&["model", "show", &folder.write(&format!("block-{number}.toml"), block)]);
    }
}

#[test]
fn every_command_of_the_page_on_network_studies_runs() {
    let folder = Folder::new("network-studies-page");
    assert_eq!(run_commands("docs/network-studies.md", &folder), 2);
}

#[test]
fn every_command_of_the_page_on_hpl_runs() {
    let folder = Folder::new("hpl-page");
    folder.write("HPL.dat", &blocks("docs/hpl.md", "dat")[0]);
    folder.write(
        "dgemm.csv",
        "model_id,cpu_id,node,cpu,intercept,mnk,mn,mk,nk,sigma_intercept,sigma_mnk,sigma_mn,sigma_mk,sigma_nk\n\
         dahu_2019-04_het_poly,2,1,0,5e-07,7e-11,-5e-10,1e-9,2e-9,6e-7,1e-12,1e-10,1e-10,9e-11\n",
    );
    folder.write(
        "kernels.csv",
        "kernel,model,coef_expectation_s,coef_stddev_s,size_expression,note\n\
         dtrsm,coef*size,5e-11,3e-12,M*M*N if Side==Left else M*N*N,\n",
    );
    assert!(run_commands("docs/hpl.md", &folder) >= 9);
    let written = folder.write("written.toml", &blocks("docs/hpl.md", "toml")[0]);
    prints(&["model", "show", &written]);
}

#[test]
fn every_command_of_the_page_on_real_programs_runs() {
    let folder = Folder::new("real-programs-page");
    folder.write("sum.c", &blocks("docs/real-programs.md", "c")[0]);
    let commands = commands("docs/real-programs.md");
    for line in &commands {
        let place = |word: &str| match word.strip_prefix("./").unwrap_or(word) {
            file @ ("sum.c" | "sum" | "sum.json") => folder.path(file),
            word => word.to_owned(),
        };
        let mut words: Vec<String> = line.split_whitespace().map(place).collect();
        if words.iter().any(|word| word == "--real") {
            let Ok(source) = std::env::var("HPL_SOURCE") else {
                println!("left out: {line}; name the folder of HPL in HPL_SOURCE");
                continue;
            };
            words.extend(["--hpl-source".into(), source]);
        }
        let mut command = common::command(&words.iter().map(String::as_str).collect::<Vec<_>>());
        let output = command.env("HPCAST_HOME", folder.path("home")).output().expect("hpcast runs");
        assert!(output.status.success(), "hpcast {line}\n{}", String::from_utf8_lossy(&output.stderr));
        if words[0] == "run" {
            let ranks: u32 = words[1 + words.iter().position(|word| word == "-n").unwrap()].parse().unwrap();
            let text = format!("{ranks} ranks: {}, after ", ranks * (ranks - 1) / 2);
            assert!(String::from_utf8_lossy(&output.stdout).starts_with(&text), "hpcast {line}");
        }
    }
    assert!(commands.len() >= 7);
}

#[test]
fn every_command_of_the_page_on_placement_runs() {
    let folder = Folder::new("placement-page");
    for (name, block) in ["jobs.toml", "lu.toml"].iter().zip(blocks("docs/placement.md", "toml")) {
        folder.write(name, &block);
    }
    assert_eq!(run_commands("docs/placement.md", &folder), 7);
}

#[test]
fn every_machine_in_the_docs_is_right() {
    let folder = Folder::new("machines-page");
    let blocks = blocks("docs/machines.md", "toml");
    assert!(blocks.len() >= 2);
    for block in &blocks {
        let path = folder.write("machine.toml", block);
        prints(&["machine", "check", &path]);
    }
}

#[test]
fn every_command_of_the_page_on_networks_runs() {
    let folder = Folder::new("networks-page");
    folder.write("dragonfly.toml", &blocks("docs/networks.md", "toml")[0]);
    assert_eq!(run_commands("docs/networks.md", &folder), 6);
    for picture in ["curve.svg", "off.svg", "loads.svg", "map.svg"] {
        assert!(folder.read(picture).contains("</svg>"), "{picture}");
    }
    let rows: serde_json::Value = serde_json::from_str(&folder.read("curve.json")).expect("JSON");
    // Of links of 12.5 GB/s; UGAL follows the load, so that there is no bound to compare with.
    let rate = rows["rows"][0]["accepted_bytes_per_second"].as_f64().expect("a rate");
    assert!((0.6..=1.0).contains(&(rate / 12.5e9)) && rows["rows"][0]["share"].is_null(), "{rows}");
    let loads = folder.read("loads.csv");
    assert!(loads.starts_with("link,name,kind,from_seconds,to_seconds,bytes,load\n") && loads.contains("global-link"));
}

#[test]
fn every_command_of_the_page_on_machines_runs() {
    let folder = Folder::new("machines-commands");
    folder.write("topology.conf", &blocks("docs/machines.md", "conf")[0]);
    folder.write("fabric.txt", &blocks("docs/machines.md", "ibnetdiscover")[0]);
    assert!(run_commands("docs/machines.md", &folder) >= 4);
    let cost: serde_json::Value = serde_json::from_str(&folder.read("cost.json")).expect("JSON");
    // Nodes, their ports, leaves, cores, copper, fibre.
    let parts = [128 * 9000, 128 * 700, 8 * 11_000, 8 * 9500, 128 * (50 + 2 * 30), 64 * (350 + 15 * 8)];
    assert_eq!(cost["price"], f64::from(parts.iter().sum::<i32>()));
    assert_eq!(cost["items"].as_array().map(Vec::len), Some(parts.len()));
    assert_eq!(cost["power_watts"], 128.0 * 465.0 + 8.0 * 230.0 + 8.0 * 200.0);
    assert_eq!(prints(&["machine", "check", &folder.path("cluster.toml")]).matches("right, 32 nodes").count(), 1);
}
