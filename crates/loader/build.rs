//! Makes the zone for the thread-local data of loaded programs (src/tls.rs) and links it last into what this package builds.
//!
//! Packages that depend on this one and make programs do the same with `DEP_HPCAST_TLS_ZONE_OBJECT` in their build script:
//! only the package that links knows what comes last.

use std::env;
use std::path::PathBuf;
use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=zone/zone.rs");
    let variable = |name| env::var_os(name).expect("cargo tells");
    let object = PathBuf::from(variable("OUT_DIR")).join("zone.o");
    let mut compiler = Command::new(variable("RUSTC"));
    compiler.args(["--edition=2024", "--crate-type=lib", "--emit=obj", "-Ccodegen-units=1", "zone/zone.rs"]);
    compiler.arg("--target").arg(variable("TARGET")).arg("-o").arg(&object);
    assert!(compiler.status().is_ok_and(|status| status.success()), "zone/zone.rs cannot be compiled");
    println!("cargo:rustc-link-arg={}", object.display());
    println!("cargo:object={}", object.display());
}
