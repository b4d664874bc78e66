//! Functions of programs that are replaced although they are called directly.

mod common;

use std::ffi::c_int;

use common::{Folder, call, open, ready};
use hpcast_loader::{LoadError, Original, Program};

const SOURCE: &str = r#"
    #define APART __attribute__((noipa, noinline))
    int state = 3;
    APART int work(int x) { state += x; int sum = 0; for (int i = 0; i < x; i++) sum += i * state; return sum + state; }
    APART static int hidden(int x) { return state * x + work(x) + work(x + 1); }
    APART int tiny(int x) { return x; }
    APART int early(int x) { if (x > state) return state; state *= 3; return work(x) * state; }
    volatile int beat;
    APART int loop(int x) { int last; do { last = beat; } while (--x); return last; }
    int run(int x) { return work(x) + 1; }
    int run_hidden(int x) { return hidden(x) + 1; }
    int run_early(int x) { return early(x); }
    int main(void) { return 0; }
"#;

extern "C" fn negative(x: c_int) -> c_int {
    -x
}

#[test]
fn direct_calls_are_replaced() {
    let folder = Folder::new("intercepts");
    for level in ["-O0", "-O2", "-O3"] {
        let Some(path) = folder.compile("gcc", "intercepts", SOURCE, &[level]) else { return };
        let program = open(&path);
        let before = ready(&program);
        assert_eq!(call(&before, "run", 4), 50);
        let replace = |symbol| {
            // SAFETY: of the same type, and nothing runs.
            unsafe { program.intercept(symbol, negative as *const () as usize) }
                .unwrap_or_else(|error| panic!("{error}"))
        };
        let originals: Vec<(&str, Original)> =
            ["work", "hidden", "early"].map(|symbol| (symbol, replace(symbol))).into();
        let after = ready(&program);
        for copy in [&before, &after] {
            assert_eq!((call(copy, "run", 4), call(copy, "run_hidden", 4), call(copy, "run_early", 20)), (-3, -3, -20));
        }
        // The originals do what they did; what they call is still replaced.
        let original = |symbol| originals.iter().find(|one| one.0 == symbol).expect("replaced").1;
        let call_original = |symbol, x| {
            let address = after.original(original(symbol));
            // SAFETY: the original of such a function.
            unsafe { std::mem::transmute::<usize, extern "C" fn(c_int) -> c_int>(address)(x) }
        };
        assert_eq!(call_original("work", 4), 49);
        assert_eq!(call_original("hidden", 4), 7 * 4 - 4 - 5);
        assert_eq!(call_original("early", 100), 7);
        assert_eq!(replace("work"), original("work"), "once more is no harm");
    }
}

#[test]
fn functions_that_cannot_be_replaced() {
    let folder = Folder::new("refused");
    let Some(path) = folder.compile("gcc", "refused", SOURCE, &["-O2", "-fcf-protection=none"]) else { return };
    let program = open(&path);
    let refuse = |program: &Program, symbol| {
        // SAFETY: nothing runs.
        unsafe { program.intercept(symbol, negative as *const () as usize) }.expect_err("cannot be replaced")
    };
    assert!(matches!(refuse(&program, "nobody"), LoadError::NoFunction { .. }));
    let problem = |error: LoadError| match error {
        LoadError::NotReplaceable { problem, .. } => problem,
        other => panic!("{other}"),
    };
    assert_eq!(problem(refuse(&program, "tiny")), "it has 3 bytes, and 5 are needed");
    assert_eq!(problem(refuse(&program, "state")), "it is not a function");
    assert_eq!(problem(refuse(&program, "loop")), "it jumps back to its beginning");
}
