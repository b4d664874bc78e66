//! The reader survives whatever it is fed. The fuzz target `machine_toml` does the same without end.

use hpcast_engine::Key;

use super::*;

/// Words that bring the mutations near the interesting places.
const WORDS: [&str; 24] = [
    "\"",
    "[",
    "]",
    "{",
    "}",
    "=",
    "\n",
    ".",
    "-",
    "0",
    "1e308",
    "\"12.5 GB/s\"",
    "\"-1 ns\"",
    "\"fat-tree\"",
    "\"torus\"",
    "\"graph\"",
    "shape = \"2; 4,4; 1,4; 1,1\"",
    "levels = [{}]",
    "above = \"1 B\"",
    "µ",
    "\u{0}",
    "4294967295",
    "[[nodes]]",
    "\"\"\"",
];

#[test]
fn mutilated_files_never_panic() {
    let originals = [SMALL.to_string(), include_str!("../../../../../machines/frontera.toml").into()];
    let random = Key::new(1).purpose("mutilate");
    let (mut good, mut bad) = (0, 0);
    for case in 0..4000u32 {
        let mut index = 0;
        let mut draw = |below: usize| {
            index += 1;
            random.below(below.max(1) as u64, case, index) as usize
        };
        let mut text: Vec<char> = originals[draw(2)].chars().collect();
        for _ in 0..=draw(4) {
            let at = draw(text.len());
            let end = (at + draw(12)).min(text.len());
            match draw(4) {
                0 => drop(text.drain(at..end)),
                1 => text.truncate(at.max(20)),
                2 => drop(text.splice(at..end, WORDS[draw(WORDS.len())].chars())),
                _ => {
                    let copy = text[at..end].to_vec();
                    let to = draw(text.len());
                    text.splice(to..to, copy);
                }
            }
        }
        let text: String = text.into_iter().collect();
        match parse(&text) {
            Ok(file) => {
                file.build().unwrap();
                good += 1;
            }
            Err(errors) => {
                assert!(errors.has_errors() && errors.to_string().contains("error"));
                bad += 1;
            }
        }
    }
    assert!(good > 100 && bad > 100, "{good} good, {bad} bad");
}

proptest::proptest! {
    #[test]
    fn noise_never_panics(text in "\\PC{0,200}") {
        let _ = parse(&text).map_err(|errors| errors.to_string());
    }
}
