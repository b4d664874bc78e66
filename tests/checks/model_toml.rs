//! Any text is a model file or a list of errors that can be printed; what is read is written out to the same.

use hpcast_calibrate::compare::{Model, compare};
use hpcast_models::compute::{Arguments, BoundKernel, ModelFile};
use hpcast_platform::diagnostic::Source;

/// Panics if that does not hold; tells whether something was read.
pub fn check(text: &str) -> bool {
    let parse = |text: &str| ModelFile::parse(&Source::new("models.toml", text));
    match parse(text) {
        Err(errors) => {
            assert!(errors.to_string().contains("error"));
            false
        }
        Ok(file) => {
            assert_eq!(parse(&file.to_toml()).expect("what is written can be read"), file);
            for kernel in file.kernels.values() {
                let model = Model { kernel, first_node: file.first_node };
                if let Ok(same) = compare(model, model) {
                    assert!(
                        same.overall.is_none_or(|change| change.ratio.is_nan() || (change.ratio - 1.0).abs() < 1e-9)
                    );
                }
                let Ok(kernel) = BoundKernel::new(kernel, &["M", "N", "K"]) else { continue };
                let seconds = kernel.duration(kernel.processor(1, 0), &Arguments::new([3.0, 4.0, 5.0]), || 1 << 63);
                assert!(seconds.is_nan() || seconds >= 0.0);
            }
            true
        }
    }
}
