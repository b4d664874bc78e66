//! `hpcast mpi`: what there is of MPI for real programs.

use clap::Subcommand;
use hpcast_emulate::interface::{self, Coverage};

use crate::compile::Home;
use crate::failure::Failure;
use crate::print;

#[derive(Subcommand)]
pub(crate) enum Command {
    /// List the functions of MPI 5.0, and whether real programs can call them
    Coverage {
        /// Only those that are missing
        #[arg(long)]
        missing: bool,
    },
    /// Print the folder of mpicc, mpicxx, mpifort and mpiexec, for builds that look for files of that name
    Wrappers,
}

pub(crate) fn run(command: &Command) -> Result<(), Failure> {
    match command {
        Command::Coverage { missing } => print(&table(&interface::coverage(), *missing)),
        Command::Wrappers => print(&format!("{}\n", Home::get()?.commands()?.display())),
    }
}

fn table(functions: &[Coverage], only_missing: bool) -> String {
    let word = |is_there: bool| if is_there { "yes" } else { "-" };
    let mut text = format!("{:<36} {:>3} {:>7}\n", "function", "C", "Fortran");
    for function in functions {
        let is_missing = !function.in_c || function.in_fortran == Some(false);
        if is_missing || !only_missing {
            let in_fortran = function.in_fortran.map_or("", word);
            text += format!("{:<36} {:>3} {in_fortran:>7}", function.name, word(function.in_c)).trim_end();
            text.push('\n');
        }
    }
    let in_c = functions.iter().filter(|function| function.in_c).count();
    let of_fortran = functions.iter().filter_map(|function| function.in_fortran);
    let in_fortran = of_fortran.clone().filter(|&is_there| is_there).count();
    text + &format!("\n{in_c} of {} in C, {in_fortran} of {} in Fortran\n", functions.len(), of_fortran.count())
}
