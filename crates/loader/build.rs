//! Assembles the zone for the TLS of loaded programs (src/tls.rs) and links it last into what this package builds.
//!
//! Packages that depend on this one and make programs do the same with `DEP_HPCAST_TLS_ZONE_OBJECT` in their build script:
//! only the package that links knows what comes last.

use std::env;
use std::path::PathBuf;
use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=src/zone.s");
    let object = PathBuf::from(env::var_os("OUT_DIR").expect("cargo names a folder")).join("zone.o");
    // Linking needs `cc` anyway.
    let status = Command::new("cc").args(["-c", "src/zone.s", "-o"]).arg(&object).status();
    assert!(status.is_ok_and(|status| status.success()), "cc cannot assemble src/zone.s; install gcc or clang");
    println!("cargo:rustc-link-arg={}", object.display());
    println!("cargo:object={}", object.display());
}
