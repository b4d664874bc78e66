//! Any text is a table of measured calls or an error that can be printed; what is fitted makes a model file that can be read.
#![no_main]

use hpcast_calibrate::kernel::{Calls, Errors, Recipe, fit};
use hpcast_calibrate::table::Table;
use hpcast_models::compute::{Kernel, ModelFile, Noise};
use hpcast_platform::diagnostic::Source;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let table = match Table::read(text, &["n", "seconds"], &[]) {
        Ok(table) => table,
        Err(error) => return assert!(!error.to_string().is_empty()),
    };
    let (Ok(n), Ok(seconds)) = (table.column("n"), table.column("seconds")) else { return };
    let calls = Calls { arguments: vec![("N".into(), n)], seconds, processors: Vec::new() };
    let terms = ["1", "N"].map(|text| text.parse().expect("a term")).to_vec();
    let plain = Recipe { terms, noise: Some(Noise::HalfNormal), ..Recipe::default() };
    let split = Some("N".parse().expect("a term"));
    let pieces =
        Recipe { split, errors: Errors::Relative, noise: Some(Noise::Modes(Vec::new())), ..plain.clone() };
    for recipe in [plain, pieces] {
        match fit(&calls, &recipe) {
            Err(error) => assert!(!error.to_string().is_empty()),
            Ok(kernel) => check(kernel),
        }
    }
});

fn check(kernel: Kernel) {
    let mut file = ModelFile { name: "fuzz".into(), ..ModelFile::default() };
    file.kernels.insert("x".into(), kernel);
    let written = file.to_toml();
    let read = ModelFile::parse(&Source::new("models.toml", written.clone()));
    assert_eq!(read.expect("what is written can be read").to_toml(), written);
}
