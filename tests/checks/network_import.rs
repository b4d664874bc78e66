//! Any text is a published network model or an error that can be printed; what is read makes a model file that can be read.

use hpcast_calibrate::network::import::{mixtures, smpi_table};
use hpcast_models::compute::ModelFile;
use hpcast_platform::diagnostic::Source;

/// Panics if that does not hold; tells whether something was read.
pub fn check(text: &str) -> bool {
    let mut is_read = false;
    for found in [mixtures(text), smpi_table(text, "a")] {
        match found {
            Err(error) => assert!(!error.to_string().is_empty() && !error.remedy().is_empty()),
            Ok(network) => {
                let file = ModelFile { name: "fuzz".into(), network: Some(network), ..ModelFile::default() };
                let read = ModelFile::parse(&Source::new("models.toml", file.to_toml()));
                assert_eq!(read.expect("what is written can be read"), file);
                is_read = true;
            }
        }
    }
    is_read
}
