//! Any text is a file of functions or an error that can be printed; what is read can be made ready to be called, or says why not.

use hpcast_emulate::kernels::{Functions, KernelModels, Kernels};
use hpcast_models::compute::ModelFile;

/// Panics if that does not hold; tells whether something was read.
pub fn check(text: &str) -> bool {
    match Functions::parse(text) {
        Err(error) => {
            assert!(!error.to_string().is_empty());
            false
        }
        Ok(functions) => {
            let mut levels: Vec<i32> = functions.regions.iter().map(|region| region.level).collect();
            levels.sort_unstable();
            assert!(levels.windows(2).all(|pair| pair[0] != pair[1]));
            let models = KernelModels::new(ModelFile::default(), None);
            let count = functions.list.len();
            match Kernels::new(functions.list, &models, 0) {
                Err(error) => assert!(!error.to_string().is_empty()),
                Ok(kernels) => assert_eq!(kernels.stubs().count(), count),
            }
            true
        }
    }
}
