//! Damaged files are errors, or programs; nothing else happens.

mod common;

use std::fs;
use std::sync::OnceLock;

use common::Folder;
use hpcast_loader::plan;
use proptest::prelude::*;

/// A program with most things that a file can have, and a library.
fn files() -> &'static [Vec<u8>] {
    static FILES: OnceLock<Vec<Vec<u8>>> = OnceLock::new();
    FILES.get_or_init(|| {
        let source = r#"
            #include <stdio.h>
            __thread int local = 1, zero; int other; int *pointer = &other; extern char **environ;
            static int fast(int x) { return x; }
            static int (*choose(void))(int) { return fast; }
            int chosen(int) __attribute__((ifunc("choose")));
            int main(void) { fprintf(stderr, "%d %p %p", local + zero + chosen(1), (void *)environ, (void *)pointer); return 0; }
        "#;
        let folder = Folder::new("damaged");
        let mut files = Vec::new();
        for options in [&["-s"][..], &["-fPIC", "-Wl,-z,pack-relative-relocs,--hash-style=both"], &["-mtls-dialect=gnu2", "-fPIC"]] {
            let Some(path) = folder.compile("gcc", "damaged", source, options) else { return Vec::new() };
            files.push(fs::read(path).expect("just written"));
        }
        files
    })
}

/// Places where changes do most: the headers, and the tables that come first.
fn change() -> impl Strategy<Value = (usize, u8)> {
    let place = prop_oneof![0usize..64, 64usize..1000, 0usize..4096, 0usize..20_000];
    let byte = prop_oneof![Just(0u8), Just(1), Just(0x7f), Just(0x80), Just(0xff), any::<u8>()];
    (place, byte)
}

#[test]
fn sound_files_have_plans() {
    for file in files() {
        let size = plan(file.clone()).unwrap_or_else(|error| panic!("{error}"));
        assert!(size >= 4096, "{size}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn changed_files_do_no_harm(which in 0usize..3, changes in prop::collection::vec(change(), 1..6)) {
        if let Some(file) = files().get(which) {
            let mut file = file.clone();
            for (place, byte) in changes {
                let place = place % file.len();
                file[place] = byte;
            }
            if let Err(error) = plan(file) {
                prop_assert!(!error.to_string().is_empty() && !error.remedy().is_empty());
            }
        }
    }

    #[test]
    fn changed_tables_do_no_harm(which in 0usize..3, place in 0usize..3000, word in any::<u64>(), shift in 0u32..64) {
        // Words of the dynamic section and of the tables, with numbers of all sizes.
        if let Some(file) = files().get(which) {
            let mut file = file.clone();
            let place = place * 8 % (file.len() - 8);
            file[place..place + 8].copy_from_slice(&(word >> shift).to_le_bytes());
            let _ = plan(file);
        }
    }

    #[test]
    fn cut_files_do_no_harm(which in 0usize..3, len in 0usize..20_000) {
        if let Some(file) = files().get(which) {
            let _ = plan(file[..len.min(file.len())].to_vec());
        }
    }
}
