//! Any text is a table of measured calls or an error that can be printed; what is fitted makes a model file that can be read.
#![no_main]

use hpcast_calibrate::kernel::{Calls, Recipe, fit};
use hpcast_calibrate::table::Table;
use hpcast_models::compute::{ModelFile, Noise};
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
    match fit(&calls, &Recipe { terms, noise: Some(Noise::HalfNormal), ..Recipe::default() }) {
        Err(error) => assert!(!error.to_string().is_empty()),
        Ok(kernel) => {
            let mut file = ModelFile { name: "fuzz".into(), ..ModelFile::default() };
            file.kernels.insert("x".into(), kernel);
            let written = file.to_toml();
            let read = ModelFile::parse(&Source::new("models.toml", written.clone()));
            assert_eq!(read.expect("what is written can be read").to_toml(), written);
        }
    }
});
