//! Programs in C.

mod common;

use common::{Folder, Plain, call, open, open_in, ready, said, with_say};
use hpcast_loader::{LoadError, Program, Start};

const PRIVATE: &str = r#"
#include <string.h>
int initialised = 5, zero, table[3] = {1, 2, 3};
int *pointer = &table[1];
static int twice(int x) { return 2 * x; }
static int thrice(int x) { return 3 * x; }
int (*functions[])(int) = {twice, thrice};
const char *const texts[] = {"alpha", "beta"};
extern int nobody_has_it(void) __attribute__((weak));
int counter(int by) { static int count = 100; count += by; return count; }
int bump(int by) { zero += by; initialised += by; *pointer += by; return zero * 10000 + initialised * 100 + table[1]; }
int apply(int which) { return functions[which](7); }
int swap(int which) { functions[which] = functions[1 - which]; return functions[which](7); }
int length(int which) { return strlen(texts[which]); }
int has_weak(int x) { return nobody_has_it != 0; }
int main(void) { return 0; }
"#;

#[test]
fn copies_have_their_own_variables() {
    let folder = Folder::new("private");
    let Some(path) = folder.compile("gcc", "private", PRIVATE, &[]) else { return };
    let program = open(&path);
    let (first, second) = (ready(&program), ready(&program));
    assert_eq!(call(&first, "bump", 1), 10_603);
    assert_eq!(call(&first, "bump", 1), 20_704);
    assert_eq!(call(&second, "bump", 1), 10_603);
    assert_eq!(call(&first, "counter", 1), 101);
    assert_eq!(call(&second, "counter", 5), 105);
    assert_eq!((call(&first, "apply", 0), call(&first, "apply", 1)), (14, 21));
    assert_eq!(call(&first, "swap", 0), 21);
    assert_eq!(call(&second, "apply", 0), 14);
    assert_eq!((call(&first, "length", 0), call(&second, "length", 1)), (5, 4));
    assert_eq!(call(&first, "has_weak", 0), 0);
    assert_eq!(program.mappings(), 2);
    assert_eq!(program.needed(), ["libc.so.6"]);
}

#[test]
fn variables_of_the_process_can_be_kept_apart() {
    let source = r#"
#include <getopt.h>
int next(int by) { optind += by; return optind; }
int bump(int by) { opterr += by; return opterr; }
int main(void) { return 0; }
"#;
    let folder = Folder::new("apart");
    // Other compilers reach variables of libraries in this way in programs, too.
    let Some(path) = folder.compile("gcc", "apart", source, &["-fPIC"]) else { return };
    let environment = Plain { apart: vec!["optind".into(), "optarg".into()], ..Plain::default() };
    let program = open_in(&path, &environment);
    let (first, second) = (ready(&program), ready(&program));
    assert_eq!((call(&first, "next", 4), call(&first, "next", 1)), (5, 6));
    assert_eq!(call(&second, "next", 1), 2, "it begins as the process has it");
    let optind = second.symbol("optind").expect("the copy has one") as *const i32;
    // SAFETY: the copy's own variable.
    assert_eq!(unsafe { *optind }, 2);
    // The others are shared, and those that the program does not use are not there.
    assert_eq!((call(&first, "bump", 1), call(&second, "bump", 1)), (2, 3));
    assert_eq!((first.symbol("opterr"), first.symbol("optarg")), (None, None));
    call(&second, "bump", -2);
}

#[test]
fn dladdr_knows_copies() {
    let source = r#"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
static int hidden(int x) { return x; }
int shown(int x) { return x + 1; }
int asks(int x) {
    Dl_info of_shown, of_hidden, of_process;
    int found = dladdr((char *)shown + 1, &of_shown) && dladdr(hidden, &of_hidden) && dladdr(printf, &of_process);
    int names = strstr(of_shown.dli_fname, "named") && strcmp(of_shown.dli_sname, "shown") == 0;
    int places = of_shown.dli_saddr == (void *)shown && of_shown.dli_fbase == of_hidden.dli_fbase;
    int other = strstr(of_process.dli_fname, "libc") != NULL;
    return found + 10 * names + 100 * places + 1000 * (of_hidden.dli_saddr != (void *)hidden) + 10000 * other;
}
int main(void) { return hidden(0); }
"#;
    let folder = Folder::new("dladdr");
    let Some(path) = folder.compile("gcc", "named", source, &["-rdynamic", "-fno-inline", "-ldl"]) else { return };
    let program = open(&path);
    for copy in [ready(&program), ready(&program)] {
        assert_eq!(call(&copy, "asks", 0), 11_111);
    }
}

#[test]
fn large_frames_are_seen() {
    let source = r#"
void use(char *);
int deep(int x) { char room[300000]; use(room); return room[x]; }
void use(char *room) { *room = 1; }
int main(void) { return 0; }
"#;
    let folder = Folder::new("frames");
    for flag in ["-fstack-clash-protection", "-fno-stack-clash-protection"] {
        let Some(deep) = folder.compile("gcc", "deep", source, &["-O1", "-fno-inline", flag]) else { return };
        // Of what is touched page by page, only whole pages are seen.
        let frame = open(&deep).largest_frame();
        assert!((300_000 - 4096..301_000).contains(&frame), "{flag}: {frame}");
        let shallow = source.replace("300000", "300");
        let shallow = folder.compile("gcc", "shallow", &shallow, &["-O1", "-fno-inline", flag]).expect("as before");
        assert!(open(&shallow).largest_frame() < 4096, "{flag}");
    }
}

#[test]
fn addresses_have_names() {
    let folder = Folder::new("names");
    let Some(path) = folder.compile("gcc", "names", PRIVATE, &[]) else { return };
    let program = open(&path);
    let copies = [ready(&program), ready(&program)];
    for copy in &copies {
        let address = copy.symbol("twice").expect("a local function has a name");
        let location = program.describe(address + 1).expect("an address of the copy");
        assert_eq!(
            (location.object.as_str(), location.symbol.as_deref(), location.offset),
            ("names", Some("twice"), 1)
        );
        assert_eq!(hpcast_loader::copy_at(address), Some(copy.base()));
    }
    assert_eq!(program.describe(addresses_have_names as *const () as usize), None);
}

#[test]
fn dropped_copies_leave_nothing_behind() {
    let folder = Folder::new("dropped");
    let Some(path) = folder.compile("gcc", "dropped", PRIVATE, &[]) else { return };
    let program = open(&path);
    let first = ready(&program);
    call(&first, "bump", 1);
    let base = first.base();
    drop(first);
    let again = ready(&program);
    assert_eq!(again.base(), base);
    assert_eq!(call(&again, "bump", 1), 10_603);
}

#[test]
fn thread_local_data_is_private() {
    let source = r#"
        #include <threads.h>
        static int plain = 3;
        thread_local int number = 40, zero;
        thread_local int *pointer = &plain;
        int add(int by) { number += by; zero += by; return number + zero + *pointer; }
        int change(int to) { plain = to; return *pointer; }
        int main(void) { return 0; }
    "#;
    let folder = Folder::new("tls");
    for options in [&[][..], &["-fPIC", "-ftls-model=global-dynamic"], &["-mtls-dialect=gnu2", "-fPIC"]] {
        let Some(path) = folder.compile("gcc", "tls", source, options) else { return };
        let program = open(&path);
        assert!(program.thread_local_size() >= 16);
        let (first, second) = (ready(&program), ready(&program));
        assert_eq!(call(&first, "add", 1), 45);
        assert_eq!(call(&second, "add", 10), 63);
        assert_eq!(call(&first, "add", 1), 47);
        assert_eq!(call(&first, "change", 100), 100);
        assert_eq!(call(&second, "add", 0), 63);
    }
}

#[test]
fn libraries_are_private_too() {
    let library = r#"
        int in_program(int);
        int shared_table[4] = {10, 20, 30, 40};
        static __thread int local = 1;
        __thread int exported = 2;
        static int state;
        int library_call(int x) { state += x; local += x; exported += x; return in_program(state) + shared_table[0] * 100 + local * 10000 + exported * 1000000; }
        int library_table(int x) { shared_table[0] = x; return shared_table[0]; }
        static int fast(int x) { return x + 1000; }
        static int (*choose(void))(int) { return fast; }
        int chosen(int) __attribute__((ifunc("choose")));
    "#;
    let program = r#"
        extern int shared_table[4];
        extern __thread int exported;
        int library_call(int), library_table(int), chosen(int);
        int in_program(int x) { return x; }
        int run(int x) { return library_call(x); }
        int table(int x) { return library_table(x) - shared_table[0]; }
        int choose(int x) { return chosen(x); }
        int local(int x) { return exported; }
        int main(void) { return 0; }
    "#;
    let folder = Folder::new("libraries");
    for model in [
        &["-shared", "-fPIC"][..],
        &["-shared", "-fPIC", "-mtls-dialect=gnu2"],
        &["-shared", "-fPIC", "-ftls-model=initial-exec"],
    ] {
        let Some(_) = folder.compile("gcc", "libown.so", library, model) else { return };
        let options = ["-L.", "-lown", "-Wl,-rpath,$ORIGIN", "-fPIE", "-pie"];
        let Some(path) = folder.compile("gcc", "user", program, &options) else { return };
        let program = open(&path);
        let (first, second) = (ready(&program), ready(&program));
        assert_eq!(call(&first, "run", 1), 3_021_001, "{model:?}");
        assert_eq!(call(&first, "run", 1), 4_031_002);
        assert_eq!(call(&second, "run", 2), 4_031_002);
        assert_eq!((call(&first, "local", 0), call(&second, "local", 0)), (4, 4));
        assert_eq!(call(&first, "table", 77), 0, "both use the program's copy");
        assert_eq!(call(&second, "run", 0), 4_031_002);
        assert_eq!(call(&first, "choose", 1), 1001);
        assert_eq!(program.mappings(), 4);
    }
}

#[test]
fn some_libraries_are_shared_by_all_copies() {
    let library = r#"
        static int count; static __thread int local = 7; int exported[3] = {5, 6, 7}; int *pointer = &exported[1];
        static int fast(int x) { return x + *pointer; }
        static int (*choose(void))(int) { return fast; }
        int chosen(int) __attribute__((ifunc("choose")));
        __attribute__((constructor)) static void begin(void) { count += 1000; }
        int more(int by) { count += by; return count; }
        int more_local(int by) { local += by; return local; }
    "#;
    let program = r#"
        int more(int), more_local(int), chosen(int);
        extern int exported[3];
        int (*address)(int) = more;
        int run(int by) { return more(by) + chosen(0) * 10000; }
        int local(int by) { return more_local(by); }
        int data(int x) { exported[0] += x; return exported[0]; }
        int main(void) { return 0; }
    "#;
    let folder = Folder::new("once");
    let Some(_) = folder.compile("gcc", "libonce.so", library, &["-shared", "-fPIC"]) else { return };
    let options = ["-L.", "-lonce", "-Wl,-rpath,$ORIGIN"];
    let path = folder.compile("gcc", "user", program, &options).expect("as before");
    let program = open_in(&path, &Plain { once: vec!["libonce.so".into()], ..Plain::default() });
    let (first, second) = (ready(&program), ready(&program));
    assert_eq!(program.mappings(), 2);
    assert_eq!((call(&first, "run", 1), call(&second, "run", 2)), (61_001, 61_003));
    assert_eq!((call(&first, "local", 1), call(&second, "local", 2)), (8, 10));
    assert_eq!((call(&first, "data", 1), call(&second, "data", 2)), (6, 7), "programs have copies of data");
    let address = first.symbol("address").expect("a variable") as *const usize;
    // SAFETY: the program has this variable.
    let location = program.describe(unsafe { *address }).expect("an address of the library");
    assert_eq!((location.object.as_str(), location.symbol.as_deref()), ("libonce.so", Some("more")));
}

#[test]
fn functions_may_choose_others() {
    let source = r#"
        int state = 7;
        static int slow(int x) { return x + state; }
        static int fast(int x) { return x + 10 * state; }
        static int (*choose(void))(int) { __builtin_cpu_init(); return __builtin_cpu_supports("sse2") ? fast : slow; }
        int chosen(int) __attribute__((ifunc("choose")));
        static int (*address)(int) = chosen;
        int run(int x) { state += x; return chosen(0) + address(0); }
        int main(void) { return 0; }
    "#;
    let folder = Folder::new("ifunc");
    let Some(path) = folder.compile("gcc", "ifunc", source, &[]) else { return };
    let program = open(&path);
    let (first, second) = (ready(&program), ready(&program));
    assert_eq!(call(&first, "run", 1), 160);
    assert_eq!(call(&second, "run", 2), 180);
}

#[test]
fn initialisers_run_in_order() {
    let folder = Folder::new("order");
    let part = |name: &str| {
        format!(
            "void say(const char *);
            __attribute__((constructor)) static void begin_{name}(void) {{ say(\"begin {name}\"); }}
            __attribute__((destructor)) static void end_{name}(void) {{ say(\"end {name}\"); }}
            int {name}(int x) {{ return x; }}"
        )
    };
    let shared = ["-shared", "-fPIC"];
    let Some(_) = folder.compile("gcc", "liblow.so", &part("low"), &shared) else { return };
    let middle = format!("int low(int); {} int middle_low(int x) {{ return low(x); }}", part("middle"));
    folder.compile("gcc", "libmiddle.so", &middle, &["-shared", "-fPIC", "-L.", "-llow", "-Wl,-rpath,$ORIGIN"]);
    let program =
        format!("int low(int), middle_low(int); {} int main(void) {{ return low(middle_low(0)); }}", part("top"));
    let (environment, [folders, say]) = with_say(&folder).expect("as before");
    let options = [folders, "-llow", "-lmiddle", say, "-Wl,-rpath,$ORIGIN"];
    let path = folder.compile("gcc", "order", &program, &options).expect("as before");
    let program = open_in(&path, &environment);
    let copy = ready(&program);
    assert_eq!(said(), ["begin low", "begin middle", "begin top"]);
    // SAFETY: the copy is ready.
    unsafe { copy.finish() };
    assert_eq!(said(), ["end top", "end middle", "end low"]);
}

#[test]
fn programs_begin_at_start() {
    use std::ffi::{c_char, c_int};
    type Main = extern "C" fn(c_int, *const *const c_char, *const *const c_char) -> c_int;
    thread_local! {
        static START: Start<'static> = Start::new(&[c"program", c"four"], &[c"A=1"]);
    }
    extern "C" fn start_main(main: Main, count: c_int, arguments: *const *const c_char) -> ! {
        // The arguments are on the stack, the variables are not.
        let code = main(count, arguments, START.with(Start::variables));
        assert!(main as usize != 0);
        // SAFETY: a thread of this test.
        unsafe { libc::pthread_exit(code as usize as *mut _) }
    }
    let source = r#"
        #include <stdlib.h>
        #include <string.h>
        int main(int argc, char **argv, char **envp) { return argc * 100 + strlen(argv[1]) * 10 + strlen(envp[0]); }
    "#;
    let folder = Folder::new("start");
    let Some(path) = folder.compile("gcc", "start", source, &["-s"]) else { return };
    let environment = Plain::default().with("__libc_start_main", start_main as *const () as usize);
    let program = open_in(&path, &environment);
    let copy = program.instantiate().expect("a copy");
    assert_eq!(copy.main(), None, "it is stripped");
    extern "C" fn thread(entry: *mut libc::c_void) -> *mut libc::c_void {
        // SAFETY: a copy, on a stack of its own; `start_main` ends the thread.
        START.with(|start| unsafe { start.enter(entry as usize) })
    }
    let (mut id, mut result) = (0, std::ptr::null_mut());
    // SAFETY: a plain thread that is waited for.
    unsafe {
        assert_eq!(libc::pthread_create(&mut id, std::ptr::null(), thread, copy.entry() as *mut _), 0);
        assert_eq!(libc::pthread_join(id, &mut result), 0);
    }
    assert_eq!(result as usize, 243);
}

#[test]
fn copies_see_their_own_objects() {
    let source = r#"
        #define _GNU_SOURCE
        #include <link.h>
        #include <string.h>
        int main(void);
        struct Seen { int named, holding, others; };
        static int visit(struct dl_phdr_info *info, size_t size, void *data) {
            struct Seen *seen = data;
            size_t length = strlen(info->dlpi_name);
            int is_named = length > 8 && !strcmp(info->dlpi_name + length - 8, "/objects");
            seen->named += is_named;
            seen->others += !is_named;
            for (int i = 0; i < info->dlpi_phnum; i++) {
                ElfW(Addr) start = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
                int is_held = (ElfW(Addr))&main >= start && (ElfW(Addr))&main < start + info->dlpi_phdr[i].p_memsz;
                if (info->dlpi_phdr[i].p_type == PT_LOAD && is_held) seen->holding += is_named;
            }
            return 0;
        }
        int look(int x) {
            struct Seen seen = {0};
            int answer = dl_iterate_phdr(visit, &seen);
            return answer * 1000 + seen.named * 100 + seen.holding * 10 + (seen.others > 1);
        }
        int main(void) { return 0; }
    "#;
    let folder = Folder::new("objects");
    let Some(path) = folder.compile("gcc", "objects", source, &[]) else { return };
    let program = open(&path);
    let copies: Vec<_> = (0..7).map(|_| ready(&program)).collect();
    assert!(copies.iter().all(|copy| call(copy, "look", 0) == 111));
}

#[test]
fn errors_say_what_to_do() {
    let folder = Folder::new("errors");
    let Some(fixed) = folder.compile("gcc", "fixed", PRIVATE, &["-no-pie"]) else { return };
    let fails = |path: &std::path::Path, environment: &Plain| {
        let error =
            Program::open(path, environment).err().unwrap_or_else(|| panic!("{} can be opened", path.display()));
        assert!(!error.remedy().is_empty());
        error
    };
    let plain = Plain::default();
    assert!(matches!(fails(&fixed, &plain), LoadError::NotPositionIndependent { .. }));
    for kind in ["-static", "-static-pie"] {
        let whole = folder.compile("gcc", "static", PRIVATE, &[kind]).expect("a compiler");
        assert!(matches!(fails(&whole, &plain), LoadError::Static { .. }), "{kind}");
    }
    let object = folder.compile("gcc", "object.o", PRIVATE, &["-c"]).expect("a compiler");
    assert!(matches!(fails(&object, &plain), LoadError::NotAProgram { .. }));
    let library =
        folder.compile("gcc", "libgone.so", "int gone(void) { return 0; }", &["-shared"]).expect("a compiler");
    assert!(matches!(fails(&library, &plain), LoadError::NotAProgram { .. }));
    let source = "int gone(void); int main(void) { return gone(); }";
    let user = folder.compile("gcc", "user", source, &["-L.", "-lgone", "-Wl,-rpath,/nowhere"]).expect("a compiler");
    match fails(&user, &plain) {
        LoadError::MissingLibrary { library, needed_by, searched } => {
            assert_eq!((library.as_str(), needed_by.as_str()), ("libgone.so", "user"));
            assert!(searched.iter().any(|folder| folder == "/nowhere"), "{searched:?}");
        }
        other => panic!("{other}"),
    }
    let replaced = Plain { replaced: vec!["libgone.so".into()], ..Plain::default() };
    match fails(&user, &replaced) {
        LoadError::MissingSymbols { symbols } => assert_eq!(symbols, ["gone (needed by user)"]),
        other => panic!("{other}"),
    }
    let some = Plain { missing: Some(1), ..replaced };
    assert!(Program::open(&user, &some).is_ok());
    std::fs::write(folder.path("text"), "hello\n").expect("written");
    assert!(matches!(fails(&folder.path("text"), &plain), LoadError::NotElf { .. }));
    std::fs::write(folder.path("script"), "#!/bin/sh -e\n").expect("written");
    match fails(&folder.path("script"), &plain) {
        LoadError::Script { interpreter, .. } => assert_eq!(interpreter, "/bin/sh"),
        other => panic!("{other}"),
    }
    assert!(matches!(fails(&folder.path("none"), &plain), LoadError::Unreadable { .. }));
    let text = "__asm__(\".text\\n.quad main\\n\"); int main(void) { return 0; }";
    let text = folder.compile("gcc", "changing", text, &["-Wl,-z,notext"]).expect("a compiler");
    assert!(matches!(fails(&text, &plain), LoadError::TextRelocation { .. }));
    let mut other = std::fs::read(&text).expect("just written");
    other[18] = 183;
    std::fs::write(folder.path("other"), other).expect("written");
    assert!(matches!(fails(&folder.path("other"), &plain), LoadError::OtherArchitecture { .. }));
    let large = "__thread char large[100000]; int main(void) { return large[1]; }";
    let large = folder.compile("gcc", "large", large, &[]).expect("a compiler");
    assert!(matches!(fails(&large, &plain), LoadError::ThreadLocal { room: 65_536, .. }));
}

#[test]
fn definitions_of_the_program_come_before_the_environments() {
    let folder = Folder::new("definitions");
    let Some((environment, link)) = with_say(&folder) else { return };
    let library = "void say(const char *text); void tell(void) { say(\"told\"); }";
    let options = [&["-shared", "-fPIC"], &link[..]].concat();
    folder.compile("gcc", "libtell.so", library, &options).expect("a library");
    let inner = "static int heard; void say(const char *text) { heard++; } void tell(void); \
                 int count(int times) { while (times--) tell(); return heard; } int main(void) { return 0; }";
    let options = ["-rdynamic", "-L.", "-ltell", "-Wl,-rpath,$ORIGIN", "-Wl,-rpath-link,."];
    let path = folder.compile("gcc", "program", inner, &options).expect("a program");
    let program = open_in(&path, &environment);
    let copies = [ready(&program), ready(&program)];
    assert_eq!((call(&copies[0], "count", 2), call(&copies[1], "count", 3)), (2, 3));
    assert!(said().is_empty(), "the environment is not asked");
}
