//! Any text is an HPL.dat or an error that can be printed; what is read is written out to the same, and can be run.

use hpcast_apps::hpl::HplDat;
use hpcast_platform::diagnostic::Source;

/// Panics if that does not hold; tells whether something was read.
pub fn check(text: &str) -> bool {
    let parse = |text: &str| HplDat::parse(&Source::new("HPL.dat", text));
    match parse(text) {
        Err(error) => {
            assert!(error.render(false).contains("error"));
            false
        }
        Ok(mut dat) => {
            dat.assumed.clear();
            assert_eq!(parse(&dat.to_string()).expect("what is written can be read"), dat);
            if dat.combinations() < 1000 {
                assert_eq!(dat.runs().len() as u128, dat.combinations());
            }
            true
        }
    }
}
