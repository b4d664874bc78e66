//! Any text is a table of models or an error that can be printed; what is read makes a model file that can be read.

use hpcast_calibrate::import::{KernelTable, import_dgemm};
use hpcast_models::compute::ModelFile;
use hpcast_platform::diagnostic::Source;

/// Panics if that does not hold; tells whether something was read.
pub fn check(text: &str) -> bool {
    let mut file = ModelFile { name: "fuzz".into(), ..ModelFile::default() };
    match KernelTable::read(text) {
        Err(error) => assert!(!error.to_string().is_empty()),
        Ok(table) => file.kernels = table.kernels,
    }
    // The first word of the second line is the name of a set, if anything is.
    let set = text.lines().nth(1).and_then(|line| line.split(',').next()).unwrap_or("a");
    match import_dgemm(text, set.trim()) {
        Err(error) => assert!(!error.to_string().is_empty()),
        Ok(kernel) => drop(file.kernels.insert("dgemm".into(), kernel)),
    }
    let written = file.to_toml();
    let read = ModelFile::parse(&Source::new("models.toml", written.clone()));
    assert_eq!(read.expect("what is written can be read").to_toml(), written);
    !file.kernels.is_empty()
}
