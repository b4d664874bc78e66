//! Compiles HPL with our own MPI; what was compiled before is used again.

use std::ffi::OsString;
use std::fs;
use std::hash::{DefaultHasher, Hasher};
use std::io;
use std::path::{Path, PathBuf};

use crate::compile::{Trouble, c_compilation, make_in_home};
use crate::failure::Failure;

/// Ours, beside HPL's own.
const FILES: [(&str, &str); 5] = [
    ("main.c", include_str!("main.c")),
    ("simulator.h", include_str!("simulator.h")),
    ("parameters.c", include_str!("../../../../../fidelity/parameters.c")),
    ("parameters.h", include_str!("../../../../../fidelity/parameters.h")),
    ("compat.h", include_str!("../../../../../fidelity/compat.h")),
];
/// The parts of HPL that `HPL_pdgesv` is made of.
const PARTS: [&str; 7] = ["auxil", "comm", "grid", "panel", "pauxil", "pfact", "pgesv"];
/// Functions that main.c comes before.
const WRAPPED: [&str; 12] = [
    "HPL_dlocmax",
    "HPL_dlocswpN",
    "HPL_dlocswpT",
    "HPL_pdfact",
    "HPL_pdlaswp00N",
    "HPL_pdlaswp00T",
    "HPL_pdlaswp01N",
    "HPL_pdlaswp01T",
    "HPL_pipid",
    "HPL_plindx0",
    "HPL_plindx1",
    "MPI_Iprobe",
];

/// The program, of the sources in a folder.
pub fn program(source: &Path, copy_panels: bool) -> Result<PathBuf, Failure> {
    let files = sources(source).map_err(|error| {
        Failure::input(format!(
            "cannot read HPL's sources in {}: {error}\n  name another folder with --hpl-source",
            source.display()
        ))
    })?;
    let usual =
        ["-std=gnu11", "-O2", "-w", "-DHPL_CALL_CBLAS", "-I.", "-include", "compat.h", "-include", "simulator.h"];
    let mut flags: Vec<OsString> = usual.map(OsString::from).into();
    if copy_panels {
        flags.push("-DHPL_NO_MPI_DATATYPE".into());
    }
    let compilation = c_compilation()?;
    let mut hasher = DefaultHasher::new();
    for (name, text) in FILES {
        hasher.write(name.as_bytes());
        hasher.write(text.as_bytes());
    }
    for words in [&flags, &compilation.words()] {
        words.iter().for_each(|word| hasher.write(word.as_encoded_bytes()));
    }
    for (path, text) in &files {
        hasher.write(path.as_os_str().as_encoded_bytes());
        hasher.write(text);
    }
    let folder = make_in_home(&format!("hpl-{:016x}", hasher.finish()), |folder| {
        eprintln!("building HPL of {}", source.display());
        for (name, text) in FILES {
            fs::write(folder.join(name), text)?;
        }
        let mut words = flags;
        let mut include = OsString::from("-I");
        include.push(source.join("include"));
        words.push(include);
        words.extend(["main.c".into(), "parameters.c".into()]);
        words.extend(files.iter().map(|(path, _)| path.clone().into_os_string()).filter(|path| is_code(path.as_ref())));
        words.extend(WRAPPED.map(|name| format!("-Wl,--wrap={name}").into()));
        words.extend(["-o", "xhpl"].map(OsString::from));
        compilation.run(&words, folder, "HPL").map_err(Trouble::Other)
    })?;
    Ok(folder.join("xhpl"))
}

fn is_code(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "c")
}

/// The files that are compiled or included, in the order of their names, with what they hold.
fn sources(folder: &Path) -> io::Result<Vec<(PathBuf, Vec<u8>)>> {
    let mut paths = Vec::new();
    for folder in PARTS.map(|part| folder.join("src").join(part)).into_iter().chain([folder.join("include")]) {
        for entry in fs::read_dir(&folder)? {
            paths.push(entry?.path());
        }
    }
    paths.retain(|path| is_code(path) || path.extension().is_some_and(|extension| extension == "h"));
    paths.sort();
    paths.into_iter().map(|path| fs::read(&path).map(|text| (path, text))).collect()
}
