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

/// Changes all registers that a function may change, and needs an aligned stack.
#[unsafe(naked)]
extern "C" fn ruthless(x: c_int) -> c_int {
    std::arch::naked_asm!(
        "sub rsp, 24",
        "movaps [rsp], xmm0",
        "add rsp, 24",
        "lea eax, [rdi + 1000]",
        "mov rcx, -1",
        "mov rdx, -1",
        "mov rsi, -1",
        "mov rdi, -1",
        "mov r8, -1",
        "mov r9, -1",
        "mov r10, -1",
        "mov r11, -1",
        "pcmpeqd xmm0, xmm0",
        "pcmpeqd xmm1, xmm1",
        "pcmpeqd xmm7, xmm7",
        "pcmpeqd xmm15, xmm15",
        "ret"
    )
}

extern "C" fn many(
    a: c_int,
    b: f64,
    c: c_int,
    d: c_int,
    e: c_int,
    f: c_int,
    g: c_int,
    h: c_int,
    i: f64,
    j: c_int,
) -> f64 {
    f64::from(a + c + d + e + f + g + h * 10 + j * 100) + b + i
}

#[test]
fn callers_may_know_what_the_function_does_not_change() {
    let source = r#"
        #define APART __attribute__((noinline))
        double scale = 2;
        APART int leaf(int x) { return x * 3 + 1; }
        APART void quiet(double *a) { scale = a[0] + 1; }
        APART double many(int a, double b, int c, int d, int e, int f, int g, int h, double i, int j) { return a + b + scale + h + i + j; }
        int caller(int a, int b, int c, double d, double *e) {
            int r = leaf(a);
            int s = leaf(b) + r * c;
            quiet(e);
            return s + b * c + a + (int)(d * e[1]);
        }
        int run(int x) { double v[2] = {1, 2}; return caller(x, x + 1, x + 2, x * 1.5, v); }
        int run_many(int x) { return many(x, 0.5, 3, 4, 5, 6, 7, 8, 9.5, 10) * 2; }
        int main(void) { return 0; }
    "#;
    let folder = Folder::new("registers");
    for options in [&["-O2"][..], &["-O2", "-mavx2"]] {
        let Some(path) = folder.compile("gcc", "registers", source, options) else { return };
        let program = open(&path);
        let copy = ready(&program);
        let r = |x: i32| x * 3 + 1;
        let expected =
            |leaf: &dyn Fn(i32) -> i32, x: i32| leaf(x + 1) + leaf(x) * (x + 2) + (x + 1) * (x + 2) + x + x * 3;
        assert_eq!(call(&copy, "run", 10), expected(&r, 10));
        for (symbol, handler) in
            [("leaf", ruthless as *const ()), ("quiet", ruthless as *const ()), ("many", many as *const ())]
        {
            // SAFETY: of the same type, and nothing runs.
            unsafe { program.intercept(symbol, handler as usize) }.unwrap_or_else(|error| panic!("{error}"));
        }
        assert_eq!(call(&copy, "run", 10), expected(&|x| x + 1000, 10), "{options:?}");
        assert_eq!(
            call(&copy, "run_many", 1),
            2 * (1 + 3 + 4 + 5 + 6 + 7 + 80 + 1000 + 10),
            "arguments on the stack arrive"
        );
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
