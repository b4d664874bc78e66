//! Tells the program which commit it was built from, where git knows, and links the room for thread-local data of the programs
//! that it runs (crates/loader, `tls.rs`).

use std::process::Command;

fn main() {
    let commit = Command::new("git")
        .args(["rev-parse", "--short=12", "HEAD"])
        .output()
        .ok()
        .filter(|output| output.status.success())
        .and_then(|output| String::from_utf8(output.stdout).ok());
    if let Some(commit) = commit {
        println!("cargo:rustc-env=HPCAST_COMMIT={}", commit.trim());
    }
    if let Ok(object) = std::env::var("DEP_HPCAST_TLS_ZONE_OBJECT") {
        println!("cargo:rustc-link-arg-bins={object}");
    }
    println!("cargo:rerun-if-changed=../../.git/HEAD");
    println!("cargo:rerun-if-changed=../../.git/refs/heads");
}
