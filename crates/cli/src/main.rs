//! The command `hpcast`: the only part of the project that prints or exits.

mod call_table;
mod cluster;
mod compile;
mod failure;
mod fit;
mod hpl;
mod jobs;
mod launch;
mod lists;
mod machine;
mod machine_options;
mod map;
mod model;
mod mpi;
mod mpiexec;
mod network;
mod outputs;
mod plot;
mod run;
mod running;
mod runs;
mod serve;
mod sizes;
mod study;
mod tune;
mod validate;
mod verify;
mod words;

use clap::{Parser, Subcommand};

use failure::Failure;

/// Real programs may need ranks that are processes, which share this memory.
#[global_allocator]
static HEAP: hpcast_emulate::OwnHeap = hpcast_emulate::OwnHeap;

/// Forecasts how fast a parallel program will run on a supercomputer, by simulating it on a description of the machine.
#[derive(Parser)]
#[command(name = "hpcast", version, max_term_width = 100)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Simulate a program on a machine and report how fast it runs
    Run(Box<run::Options>),
    /// `run` with a program that is a file
    #[command(hide = true, name = "run-program")]
    RunProgram(Box<launch::Options>),
    /// Forecast High Performance Linpack (HPL) on a machine
    Hpl(Box<hpl::Options>),
    /// Simulate several jobs that share a machine, and say how much they slow each other down
    Jobs(Box<jobs::Options>),
    /// Find an order of ranks that sends less over the upper levels of the network
    ///
    /// What that gains is predicted from sums over links, and then simulated: in rounds, every rank posts a message to and from
    /// each of its partners, all at once, and waits for them; messages of a pair are equally large, and where a pair has sent more
    /// than 10, or all more than 200,000, all pairs send the same share of their messages.
    Map(Box<map::Options>),
    /// Check, show, draw, price or import a machine file
    #[command(subcommand)]
    Machine(machine::Command),
    /// Study a machine's network with made-up traffic
    #[command(subcommand)]
    Network(Box<network::Command>),
    /// Fit models to measurements
    #[command(subcommand)]
    Fit(fit::Command),
    /// Generate a cluster whose processors differ
    #[command(subcommand)]
    Cluster(cluster::Command),
    /// Import, show or compare model files: how long kernels take
    #[command(subcommand)]
    Model(model::Command),
    /// Compare forecasts with published measurements and simulations
    Validate(validate::Options),
    /// Do many forecasts that differ in a few factors, and say what follows
    #[command(subcommand)]
    Study(study::Command),
    /// Search the factors of a study for the best combination, with as few runs as can be
    Tune(Box<tune::Options>),
    /// List, show, compare or export what the runs of studies have found
    #[command(subcommand)]
    Runs(Box<runs::Command>),
    /// Show studies and runs in the browser, and follow those that are running
    ///
    /// Only this computer can connect, unless another address is given with --listen; then a token is asked for. Ctrl-C ends it.
    Serve(serve::Options),
    /// Draw columns of a table, such as the results of several runs
    Plot(plot::Options),
    /// Compile a C program for `hpcast run`: as the system's compiler, with MPI
    #[command(disable_help_flag = true)]
    Cc,
    /// The same for C++
    #[command(disable_help_flag = true)]
    Cxx,
    /// The same for Fortran
    #[command(disable_help_flag = true)]
    F90,
    /// Say what there is of MPI for real programs
    #[command(subcommand)]
    Mpi(mpi::Command),
    /// List the programs that can be run
    Programs,
    /// List the algorithms of each collective operation, for --coll
    Collectives,
}

fn main() {
    // clap ends with code 2 and its own message where the command line is wrong.
    let is_built_in = |name: &str| name.parse::<hpcast_apps::Program>().is_ok();
    let arguments: Vec<_> = std::env::args_os().collect();
    let wrapper = mpiexec::if_asked(&arguments).or_else(|| compile::if_asked(&arguments));
    let result = wrapper.unwrap_or_else(|| command(launch::rewritten(arguments, is_built_in)));
    if let Err(failure) = result {
        failure.report_and_exit();
    }
}

fn command(arguments: Vec<std::ffi::OsString>) -> Result<(), Failure> {
    match Arguments::parse_from(arguments).command {
        Command::Run(options) => run::run(&options),
        Command::RunProgram(options) => launch::run(&options),
        Command::Hpl(options) => hpl::run(&options),
        Command::Jobs(options) => jobs::run(&options),
        Command::Map(options) => map::run(&options),
        Command::Machine(command) => machine::run(&command),
        Command::Network(command) => network::run(&command),
        Command::Fit(command) => fit::run(&command),
        Command::Cluster(command) => cluster::run(&command),
        Command::Model(command) => model::run(&command),
        Command::Validate(options) => validate::run(&options),
        Command::Study(command) => study::run(&command),
        Command::Tune(options) => tune::run(&options),
        Command::Runs(command) => runs::run(&command),
        Command::Serve(options) => serve::run(&options),
        Command::Plot(options) => plot::run(&options),
        // All their arguments are the compiler's, so they were not left to clap.
        Command::Cc | Command::Cxx | Command::F90 => Ok(()),
        Command::Mpi(command) => mpi::run(&command),
        Command::Programs => lists::programs(),
        Command::Collectives => lists::collectives(),
    }
}

/// Prints to standard output, at once. A reader that has gone away (`| head`) is no error.
fn print(text: &str) -> Result<(), Failure> {
    use std::io::Write;
    let mut output = std::io::stdout();
    match output.write_all(text.as_bytes()).and_then(|()| output.flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(Failure::input(format!("cannot print: {error}")))
        }
        _ => Ok(()),
    }
}
