//! Any text is a table of measured calls or an error that can be printed; what is fitted makes a model file that can be read.

use hpcast_calibrate::kernel::{Calls, Errors, Recipe, fit};
use hpcast_calibrate::table::Table;
use hpcast_models::compute::{Kernel, ModelFile, Noise};
use hpcast_platform::diagnostic::Source;

/// Panics if that does not hold; tells whether something was read.
pub fn check(text: &str) -> bool {
    let table = match Table::read(text, &["n", "seconds"], &[]) {
        Ok(table) => table,
        Err(error) => {
            assert!(!error.to_string().is_empty());
            return false;
        }
    };
    let (Ok(n), Ok(seconds)) = (table.column("n"), table.column("seconds")) else { return false };
    let calls = Calls { arguments: vec![("N".into(), n)], seconds, processors: Vec::new() };
    let terms = ["1", "N"].map(|text| text.parse().expect("a term")).to_vec();
    let plain = Recipe { terms, noise: Some(Noise::HalfNormal), ..Recipe::default() };
    let split = Some("N".parse().expect("a term"));
    let pieces = Recipe { split, errors: Errors::Relative, noise: Some(Noise::Modes(Vec::new())), ..plain.clone() };
    let mut is_fitted = false;
    for recipe in [plain, pieces] {
        match fit(&calls, &recipe) {
            Err(error) => assert!(!error.to_string().is_empty()),
            Ok(kernel) => {
                write_and_read(kernel);
                is_fitted = true;
            }
        }
    }
    is_fitted
}

fn write_and_read(kernel: Kernel) {
    let mut file = ModelFile { name: "fuzz".into(), ..ModelFile::default() };
    file.kernels.insert("x".into(), kernel);
    let written = file.to_toml();
    let read = ModelFile::parse(&Source::new("models.toml", written.clone()));
    assert_eq!(read.expect("what is written can be read").to_toml(), written);
}
