//! Any two texts can be compared, and a text is the same as itself.

// The command hpcast is no library: this file of it stands alone.
#[path = "../../crates/cli/src/verify/lines.rs"]
mod lines;

/// Panics if that does not hold; tells whether something was read.
pub fn check(texts: (&str, &str)) -> bool {
    let (first, second) = texts;
    let itself = lines::compare(first, first, 1e-6);
    assert!(itself.only_first.is_empty() && itself.only_second.is_empty() && itself.times == 0);
    let compared = lines::compare(first, second, 1e-6);
    let pairs = compared.lines - compared.only_first.len();
    assert!(compared.times <= pairs && pairs + compared.only_second.len() == second.lines().count());
    true
}
