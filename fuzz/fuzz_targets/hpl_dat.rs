//! Any text is an HPL.dat or an error that can be printed; what is read is written out to the same, and can be run.
#![no_main]

use hpcast_apps::hpl::HplDat;
use hpcast_platform::diagnostic::Source;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let parse = |text: &str| HplDat::parse(&Source::new("HPL.dat", text));
    match parse(text) {
        Err(error) => assert!(error.render(false).contains("error")),
        Ok(mut dat) => {
            dat.assumed.clear();
            assert_eq!(parse(&dat.to_string()).expect("what is written can be read"), dat);
            // At most 20 values each for eight parameters: too many to list them all.
            let lists = [&dat.n, &dat.nb, &dat.nbmin, &dat.ndiv].map(Vec::len).into_iter().product::<usize>();
            let lists = lists * dat.depth.len() * dat.broadcast.len() * dat.rfact.len() * dat.pfact.len();
            if lists < 1000 {
                assert_eq!(dat.runs().len(), lists * dat.grids.len());
            }
        }
    }
});
