//! `mpi.h`, and a library to link with.

use std::fmt::Write;

use super::{Constant, Declaration, Parameter, constants, declarations};

/// Types and callbacks: what no table says.
const TYPES: &str = include_str!("types.h");

/// Says what generated files are.
const ORIGIN: &str = "The standard ABI of MPI 5.0, made by hpcast for programs that run under `hpcast run`.";

/// What programs of ROMIO's first years call requests of files, which have long been as all others.
const OLD_NAMES: &str = "#define MPIO_Request MPI_Request
#define MPIO_Test MPI_Test
#define MPIO_Wait MPI_Wait
#define PMPIO_Test PMPI_Test
#define PMPIO_Wait PMPI_Wait
";

/// `mpi.h`.
pub fn header() -> String {
    let mut text = format!("/* {ORIGIN} */\n#ifndef MPI_H_ABI\n#define MPI_H_ABI\n\n{TYPES}\n");
    // Functions that are no functions are beside their types.
    let constants = constants().into_iter().filter(|constant| !constant.name.contains("_FN_NULL"));
    let (removed, current): (Vec<_>, Vec<_>) = constants.partition(Constant::is_removed);
    current.iter().for_each(|constant| text += &constant.definition());
    let declarations = declarations();
    text += "\n/* Since MPI-3.0 the standard does not have these. */\n#ifndef HPCAST_WITHOUT_REMOVED\n";
    removed.iter().for_each(|constant| text += &constant.definition());
    text += OLD_NAMES;
    let (removed, current): (Vec<_>, Vec<_>) = declarations.iter().partition(|declaration| declaration.is_removed());
    removed.iter().for_each(|declaration| text += &declaration.in_c());
    text += "#endif\n\n";
    current.iter().for_each(|declaration| text += &declaration.in_c());
    text += "\n#ifdef __cplusplus\n}\n#endif\n\n#endif\n";
    text
}

impl Constant {
    /// Its line in `mpi.h`.
    fn definition(&self) -> String {
        format!("#define {} {}\n", self.name, self.in_c())
    }

    fn in_c(&self) -> String {
        let value = self.value;
        let type_in_c = match self.name {
            "MPI_BOTTOM" | "MPI_IN_PLACE" | "MPI_BUFFER_AUTOMATIC" => "void *",
            "MPI_ARGV_NULL" => "char **",
            "MPI_ARGVS_NULL" => "char ***",
            "MPI_ERRCODES_IGNORE" | "MPI_UNWEIGHTED" | "MPI_WEIGHTS_EMPTY" => "int *",
            "MPI_STATUS_IGNORE" | "MPI_STATUSES_IGNORE" => "MPI_Status *",
            "MPI_DISPLACEMENT_CURRENT" => "MPI_Offset",
            _ => match self.kind {
                Some(kind) => return format!("((MPI_{kind:?}){value:#x})"),
                None if value < 0 => return format!("({value})"),
                None => return value.to_string(),
            },
        };
        format!("(({type_in_c}){value})")
    }
}

impl Declaration {
    /// The function and its other name for profilers.
    fn in_c(&self) -> String {
        let parameters: Vec<String> = self.parameters.iter().map(Parameter::in_c).collect();
        let parameters = if parameters.is_empty() { "void".to_owned() } else { parameters.join(", ") };
        let (gives, name) = (self.gives, self.name);
        format!("{gives} {name}({parameters});\n{gives} P{name}({parameters});\n")
    }
}

impl Parameter {
    fn in_c(&self) -> String {
        let (base, stars) = match self.base {
            "logical" => ("int", self.stars),
            "word" | "old_word" | "pointer" => ("void", 1),
            "old_aint" => ("MPI_Aint", self.stars),
            base => (base, self.stars),
        };
        if self.is_open() {
            return self.name.to_owned();
        }
        let is_const = if self.is_const { "const " } else { "" };
        format!("{is_const}{base} {}{}{}", "*".repeat(stars), self.name, self.brackets)
    }
}

/// What is done where a function of MPI is called outside of `hpcast run`. `STARTER` is our `mpiexec`, a string of C.
const ALONE: &str = r#"
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The words after the first of the command that started this process, behind those that are there. */
static void add_words(char **words, int count, int room) {
    static char text[1 << 20];
    FILE *file = fopen("/proc/self/cmdline", "r");
    size_t length = file ? fread(text, 1, sizeof text - 1, file) : 0;
    for (char *word = text + strlen(text) + 1; word < text + length && count < room; word += strlen(word) + 1)
        words[count++] = word;
}

/* A program that is started by itself is one rank, as with other libraries: it begins anew under `hpcast run`. What it has printed
   so far is in its buffers as a rule, which are lost with it. */
static void become_a_rank(void) {
    static char program[PATH_MAX], own[32], *words[1 << 14] = {"mpiexec", "-n", "1", program};
    const char *options = getenv("HPCAST_RUN"), *before = getenv("HPCAST_ALONE");
    snprintf(own, sizeof own, "%ld", (long)getpid());
    if (!options || !*options || (before && strcmp(before, own) == 0)) return;
    if (readlink("/proc/self/exe", program, sizeof program - 1) <= 0) return;
    add_words(words, 4, sizeof words / sizeof *words - 1);
    setenv("HPCAST_ALONE", own, 1);
    execv(STARTER, words);
}

void hpcast_stop(void);
void hpcast_stop(void) {
    become_a_rank();
    fputs("error: this program runs on a simulated machine: hpcast run -n RANKS -m MACHINE.toml PROGRAM\n"
          "  (with HPCAST_RUN=\"-m MACHINE.toml\" in the environment it runs by itself, as one rank)\n", stderr);
    exit(2);
}
#define NAME(name) void name(void) __attribute__((weak, alias("hpcast_stop")))

"#;

/// The source, in C, of the library that programs are linked with: every name is there, and starts the program as one rank, or says how to
/// start it. Under `hpcast run` the real functions take its place.
pub fn library() -> String {
    let mut text = format!("/* {ORIGIN} */\n{ALONE}");
    for declaration in declarations() {
        let name = declaration.name;
        let _ = writeln!(text, "NAME({name}); NAME(P{name});");
    }
    for symbol in super::fortran::symbols() {
        let _ = writeln!(text, "NAME({symbol}); NAME(p{symbol});");
    }
    text += "\n/* Blocks of Fortran variables with a meaning: programs have them, and show where. */\n";
    for block in super::fortran::BLOCKS {
        let _ = writeln!(text, "char {block}_[64] __attribute__((weak));");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn declarations_read_as_in_the_standard() {
        let header = header();
        for line in [
            "int MPI_Send(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm);",
            "int PMPI_Init(int *argc, char ***argv);",
            "double MPI_Wtime(void);",
            "int MPI_Comm_get_attr(MPI_Comm comm, int comm_keyval, void *attribute_val, int *flag);",
            "int MPI_Group_range_incl(MPI_Group group, int n, int ranges[][3], MPI_Group *newgroup);",
            "int MPI_Pcontrol(const int level, ...);",
            "#define MPI_COMM_WORLD ((MPI_Comm)0x101)",
            "#define MPI_IN_PLACE ((void *)1)",
            "#define MPI_PROC_NULL (-3)",
        ] {
            assert!(header.contains(line), "{line}");
        }
    }
}
