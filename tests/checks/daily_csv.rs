//! Any text is a table of daily fits or an error that can be printed; what is fitted makes a model file that can be read.

use hpcast_calibrate::cluster::{Columns, DailyFits, fit};
use hpcast_calibrate::table::Table;
use hpcast_models::compute::ModelFile;
use hpcast_platform::diagnostic::Source;

/// Panics if that does not hold; tells whether something was read.
pub fn check(text: &str) -> bool {
    let Ok(header) = Table::header(text) else { return false };
    let columns = Columns::usual(&header);
    if columns.seconds.is_empty() {
        return false;
    }
    let daily = match DailyFits::read(text, &columns) {
        Ok(daily) => daily,
        Err(error) => {
            assert!(!error.to_string().is_empty());
            return false;
        }
    };
    match fit(&daily, 2) {
        Err(error) => {
            assert!(!error.to_string().is_empty());
            false
        }
        Ok(cluster) => {
            let mut file = ModelFile { name: "fuzz".into(), ..ModelFile::default() };
            file.kernels.insert("x".into(), cluster.kernel);
            let written = file.to_toml();
            let read = ModelFile::parse(&Source::new("models.toml", written.clone()));
            assert_eq!(read.expect("what is written can be read").to_toml(), written);
            true
        }
    }
}
