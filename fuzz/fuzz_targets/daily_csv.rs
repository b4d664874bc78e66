//! Any text is a table of daily fits or an error that can be printed; what is fitted makes a model file that can be read.
#![no_main]

use hpcast_calibrate::cluster::{Columns, DailyFits, fit};
use hpcast_calibrate::table::Table;
use hpcast_models::compute::ModelFile;
use hpcast_platform::diagnostic::Source;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let Ok(header) = Table::header(text) else { return };
    let columns = Columns::usual(&header);
    if columns.seconds.is_empty() {
        return;
    }
    let daily = match DailyFits::read(text, &columns) {
        Ok(daily) => daily,
        Err(error) => return assert!(!error.to_string().is_empty()),
    };
    match fit(&daily, 2) {
        Err(error) => assert!(!error.to_string().is_empty()),
        Ok(cluster) => {
            let mut file = ModelFile { name: "fuzz".into(), ..ModelFile::default() };
            file.kernels.insert("x".into(), cluster.kernel);
            let written = file.to_toml();
            let read = ModelFile::parse(&Source::new("models.toml", written.clone()));
            assert_eq!(read.expect("what is written can be read").to_toml(), written);
        }
    }
});
