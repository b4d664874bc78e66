//! Programs in C++: initialisers, streams, exceptions.

mod common;

use common::{Folder, call, open, open_in, ready, said, with_say};

#[test]
fn exceptions_are_caught() {
    let source = r#"
        #include <stdexcept>
        #include <string>
        #include <vector>
        struct Guard { int &count; ~Guard() { ++count; } };
        static int unwound;
        static int deep(int levels) {
            Guard guard{unwound};
            if (levels == 0) throw std::runtime_error("bottom");
            return deep(levels - 1) + 1;
        }
        extern "C" int fall(int levels) {
            try { return deep(levels); }
            catch (const std::exception &error) { return unwound * 100 + std::string(error.what()).size(); }
        }
        extern "C" int nested(int value) {
            try {
                try { throw value; } catch (int &caught) { caught += 1; throw; }
            } catch (int caught) { return caught; }
        }
        extern "C" int beyond(int) {
            try { return std::vector<int>(3).at(7); } catch (const std::out_of_range &) { return 1; }
        }
        int main() {}
    "#;
    let folder = Folder::new("exceptions");
    // With the libraries, and with parts of them in the program itself.
    for options in [&[][..], &["-static-libgcc", "-static-libstdc++"]] {
        let Some(path) = folder.compile("g++", "exceptions", source, options) else { return };
        let program = open(&path);
        let copies: Vec<_> = (0..20).map(|_| ready(&program)).collect();
        for (number, copy) in copies.iter().enumerate() {
            assert_eq!(call(copy, "fall", 9), 1006);
            assert_eq!(call(copy, "nested", number as i32), number as i32 + 1);
            assert_eq!(call(copy, "beyond", 0), 1);
        }
    }
}

#[test]
fn streams_are_private() {
    let source = r#"
        #include <iostream>
        #include <iomanip>
        #include <sstream>
        extern "C" void say(const char *);
        struct Early { Early() { std::cout << std::hex; } } early;
        template <class T> struct Counter { static inline int count = 0; };
        extern "C" int print(int value) {
            std::ostringstream text;
            auto old = std::cout.rdbuf(text.rdbuf());
            std::cout << value << ' ' << std::setprecision(3) << 3.14159;
            std::cout.rdbuf(old);
            say(text.str().c_str());
            return ++Counter<int>::count;
        }
        extern "C" int decimal(int) { std::cout << std::dec; return 0; }
        int main() {}
    "#;
    let folder = Folder::new("streams");
    let Some((environment, [folders, say])) = with_say(&folder) else { return };
    let Some(path) = folder.compile("g++", "streams", source, &["-std=c++17", folders, say]) else { return };
    let program = open_in(&path, &environment);
    let (first, second) = (ready(&program), ready(&program));
    assert_eq!(call(&first, "print", 255), 1);
    call(&first, "decimal", 0);
    assert_eq!(call(&first, "print", 255), 2);
    assert_eq!(call(&second, "print", 255), 1);
    assert_eq!(said(), ["ff 3.14", "255 3.14", "ff 3.14"], "each copy has its own std::cout");
    // SAFETY: the copies are ready.
    unsafe { first.finish() };
    assert_eq!(call(&second, "print", 16), 2);
    assert_eq!(said(), ["10 3.14"]);
}

#[test]
fn exceptions_pass_between_libraries() {
    let library = r#"
        #include <typeinfo>
        struct Error { virtual ~Error() {} int code; explicit Error(int code) : code(code) {} };
        struct Special : Error { using Error::Error; };
        void raise(int code) { throw Special(code); }
        inline int &shared() { static int value = 1; return value; }
        int touch(int by) { return shared() += by; }
    "#;
    let program = r#"
        struct Error { virtual ~Error() {} int code; explicit Error(int code) : code(code) {} };
        void raise(int); int touch(int);
        inline int &shared() { static int value = 1; return value; }
        thread_local struct Lazy { int value = 5; } lazy;
        extern "C" int run(int code) { try { raise(code); } catch (const Error &error) { return error.code + lazy.value++; } return -1; }
        extern "C" int same(int by) { touch(by); return shared(); }
        int main() {}
    "#;
    let folder = Folder::new("between");
    let Some(_) = folder.compile("g++", "libraise.so", library, &["-shared", "-fPIC"]) else { return };
    let options = ["-L.", "-lraise", "-Wl,-rpath,$ORIGIN"];
    let path = folder.compile("g++", "between", program, &options).expect("as before");
    let program = open(&path);
    let (first, second) = (ready(&program), ready(&program));
    assert_eq!((call(&first, "run", 70), call(&first, "run", 70), call(&second, "run", 70)), (75, 76, 75));
    assert_eq!((call(&first, "same", 4), call(&second, "same", 1)), (5, 2), "one variable a copy, whoever asks");
}
