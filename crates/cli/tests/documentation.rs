//! Every example of the documentation works.

use std::fs;
use std::path::PathBuf;
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

#[test]
fn every_command_of_the_readme_runs() {
    let folder = std::env::temp_dir().join(format!("hpcast-readme-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder for outputs");
    let platform = root().join("tests/simgrid/platforms/dahu.xml");
    let commands = commands("README.md");
    assert!(commands.len() >= 8, "{commands:?}");
    for command in commands {
        let words = command.split_whitespace().map(|word| match word {
            "platform.xml" => platform.display().to_string(),
            output if output.ends_with(".svg") || output == "machine.toml" => folder.join(output).display().to_string(),
            word => word.to_owned(),
        });
        let output =
            Command::new(env!("CARGO_BIN_EXE_hpcast")).args(words).current_dir(root()).output().expect("it runs");
        assert!(output.status.success(), "hpcast {command}\n{}", String::from_utf8_lossy(&output.stderr));
        assert!(!output.stdout.is_empty(), "hpcast {command} says something");
    }
    fs::remove_dir_all(folder).expect("the folder can be removed");
}

#[test]
fn every_machine_in_the_docs_is_right() {
    let text = fs::read_to_string(root().join("docs/machines.md")).expect("the page is there");
    let blocks: Vec<&str> = text.split("```toml\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
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
