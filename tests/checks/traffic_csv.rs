//! Any text is a table of traffic or an error that can be printed; what is read can be written and read again.

use hpcast_mapping::Traffic;
use hpcast_platform::diagnostic::Source;

/// Panics if that does not hold; tells whether something was read.
pub fn check(text: &str) -> bool {
    match Traffic::parse(&Source::new("traffic.csv", text)) {
        Err(problems) => {
            assert!(!problems.render(false).is_empty());
            assert!(problems.iter().all(|problem| !problem.remedy.is_empty()));
            false
        }
        Ok(traffic) => {
            let written = Source::new("traffic.csv", traffic.to_csv("again"));
            assert_eq!(Traffic::parse(&written), Ok(traffic));
            true
        }
    }
}
