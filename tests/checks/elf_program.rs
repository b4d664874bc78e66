//! Any bytes are a program that could be loaded, or an error that can be printed.

/// Panics if that does not hold; tells whether something was read.
pub fn check(bytes: &[u8]) -> bool {
    let plan = hpcast_loader::plan(bytes.to_vec());
    if let Err(error) = &plan {
        assert!(!error.to_string().is_empty() && !error.remedy().is_empty());
    }
    plan.is_ok()
}
