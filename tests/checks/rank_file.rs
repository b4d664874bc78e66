//! Any text is a file of places or an error that can be printed; places are nodes of the machine, and read back.

use hpcast_platform::diagnostic::Source;
use hpcast_platform::placement::{Allocation, Site, rank_file};
use hpcast_platform::topology::{Crossbar, Duplex, Link};

/// Panics if that does not hold; tells whether something was read. The text is taken for a list of nodes, too.
pub fn check(text: &str) -> bool {
    let topology = Crossbar::new(64, Link { bandwidth: 1e9, latency: 0.0 }, Duplex::Split, None);
    let site = Site::new(64, 4, &topology);
    if let Ok(nodes) = Allocation::Hosts(text.into()).nodes(&site) {
        assert!(!nodes.is_empty() && nodes.len() <= 64 && nodes.iter().all(|node| *node < 64));
    }
    match rank_file::read(&Source::new("places", text), &site) {
        Err(problems) => {
            assert!(!problems.render(false).is_empty());
            assert!(problems.iter().all(|problem| !problem.remedy.is_empty()));
            false
        }
        Ok(nodes) => {
            assert!(!nodes.is_empty() && nodes.iter().all(|node| *node < 64));
            let written = Source::new("places", rank_file::write(&[], &nodes, &site));
            assert_eq!(rank_file::read(&written, &site), Ok(nodes));
            true
        }
    }
}
