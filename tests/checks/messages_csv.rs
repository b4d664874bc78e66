//! Any text is a table of measured messages or an error that can be printed; what is fitted makes a model file that can be read.

use hpcast_calibrate::network::measurements::Reading;
use hpcast_calibrate::network::{Measurements, Recipe, fit};
use hpcast_models::compute::ModelFile;
use hpcast_platform::diagnostic::Source;
use hpcast_stats::piecewise::{Objective, Strategy};

/// Panics if that does not hold; tells whether something was read.
pub fn check(text: &str) -> bool {
    let measured = match Measurements::read(text, &Reading::default()) {
        Ok(measured) => measured,
        Err(error) => {
            assert!(!error.to_string().is_empty() && !error.remedy().is_empty());
            return false;
        }
    };
    let (objective, strategy) = (Objective::Logarithmic, Strategy::Both);
    let recipe = Recipe { objective, strategy, modes: 2, detached_below: 100, bandwidth: [1e10; 2], as_smpi: false };
    match fit(&measured, &recipe) {
        Err(error) => {
            assert!(!error.to_string().is_empty() && !error.remedy().is_empty());
            false
        }
        Ok(network) => {
            let file = ModelFile { name: "fuzz".into(), network: Some(network), ..ModelFile::default() };
            let written = file.to_toml();
            let read = ModelFile::parse(&Source::new("models.toml", written.clone()));
            assert_eq!(read.expect("what is written can be read").to_toml(), written);
            true
        }
    }
}
