//! Every example of the documentation works.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Commands of a page: indented lines that begin with `hpcast`.
fn commands(page: &str) -> Vec<String> {
    let text = fs::read_to_string(root().join(page)).expect("the page is there");
    text.lines()
        .filter_map(|line| line.strip_prefix("    hpcast "))
        .map(|line| line.split('#').next().unwrap_or_default().trim().to_owned())
        .collect()
}

/// Runs all commands of a page; files that are no machines of ours are in the folder.
fn run_commands(page: &str, folder: &Path) -> usize {
    let commands = commands(page);
    for command in &commands {
        let words = command.split_whitespace().map(|word| match Path::new(word).extension().and_then(|e| e.to_str()) {
            Some("svg" | "json" | "csv" | "toml" | "xml" | "dat") if !word.starts_with("machines/") => {
                folder.join(word).display().to_string()
            }
            _ => word.to_owned(),
        });
        let output =
            Command::new(env!("CARGO_BIN_EXE_hpcast")).args(words).current_dir(root()).output().expect("it runs");
        assert!(output.status.success(), "hpcast {command}\n{}", String::from_utf8_lossy(&output.stderr));
        assert!(!output.stdout.is_empty(), "hpcast {command} says something");
    }
    commands.len()
}

/// A folder of its own, which is removed again.
fn in_folder(name: &str, work: impl FnOnce(&Path)) {
    let folder = std::env::temp_dir().join(format!("hpcast-{name}-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder for inputs and outputs");
    work(&folder);
    fs::remove_dir_all(folder).expect("the folder can be removed");
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
    in_folder("readme", |folder| {
        let platform = root().join("tests/simgrid/platforms/dahu.xml");
        fs::copy(platform, folder.join("platform.xml")).expect("a platform");
        assert!(run_commands("README.md", folder) >= 8);
    });
}

#[test]
fn every_command_of_the_page_on_hpl_runs() {
    in_folder("hpl-page", |folder| {
        let write = |name: &str, text: &str| fs::write(folder.join(name), text).expect("a temporary file");
        write("HPL.dat", &blocks("docs/hpl.md", "dat")[0]);
        write(
            "dgemm.csv",
            "model_id,cpu_id,node,cpu,intercept,mnk,mn,mk,nk,sigma_intercept,sigma_mnk,sigma_mn,sigma_mk,sigma_nk\n\
             dahu_2019-04_het_poly,2,1,0,5e-07,7e-11,-5e-10,1e-9,2e-9,6e-7,1e-12,1e-10,1e-10,9e-11\n",
        );
        write(
            "kernels.csv",
            "kernel,model,coef_expectation_s,coef_stddev_s,size_expression,note\n\
             dtrsm,coef*size,5e-11,3e-12,M*M*N if Side==Left else M*N*N,\n",
        );
        assert!(run_commands("docs/hpl.md", folder) >= 9);
        write("written.toml", &blocks("docs/hpl.md", "toml")[0]);
        let mut show = Command::new(env!("CARGO_BIN_EXE_hpcast"));
        let shown = show.args(["model", "show"]).arg(folder.join("written.toml")).output().expect("it runs");
        assert!(shown.status.success(), "{}", String::from_utf8_lossy(&shown.stderr));
    });
}

#[test]
fn every_machine_in_the_docs_is_right() {
    let blocks = blocks("docs/machines.md", "toml");
    assert!(blocks.len() >= 2);
    for (number, block) in blocks.iter().enumerate() {
        let path = std::env::temp_dir().join(format!("hpcast-docs-{}-{number}.toml", std::process::id()));
        fs::write(&path, block).expect("a temporary file");
        let output = Command::new(env!("CARGO_BIN_EXE_hpcast")).arg("machine").arg("check").arg(&path).output();
        fs::remove_file(&path).expect("the file can be removed");
        let output = output.expect("it runs");
        assert!(output.status.success(), "{block}\n{}", String::from_utf8_lossy(&output.stderr));
    }
}
