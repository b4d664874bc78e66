//! What goes wrong, and the exit code that says so.

use std::io::IsTerminal;

use hpcast_mpi::RunError;
use hpcast_platform::diagnostic::{Diagnostic, Diagnostics};
use hpcast_report::OutputError;
use hpcast_study::store::{ConditionError, StoreError};

/// The command could not do what it was asked.
pub(crate) enum Failure {
    /// The input is wrong: exit code 2.
    Input(String),
    /// Files are wrong in places that can be shown: exit code 2.
    Files(Diagnostics),
    /// The simulated program is wrong: exit code 1.
    Program(String),
    /// The user has stopped it after it had kept what was finished: exit code 130, as shells have it.
    Interrupted,
}

impl Failure {
    pub fn input(message: impl Into<String>) -> Failure {
        Failure::Input(message.into())
    }

    /// What is wrong, in words.
    pub fn message(&self) -> String {
        match self {
            Failure::Input(message) | Failure::Program(message) => message.clone(),
            Failure::Files(diagnostics) => diagnostics.render(false).trim_end().to_owned(),
            Failure::Interrupted => "interrupted".into(),
        }
    }

    /// The same, and what it happened to.
    pub fn of(self, what: &str) -> Failure {
        match self {
            Failure::Program(message) => Failure::Program(format!("{what}: {message}")),
            Failure::Interrupted => Failure::Interrupted,
            wrong => Failure::Input(format!("{what}: {}", wrong.message())),
        }
    }

    pub fn report_and_exit(self) -> ! {
        let colour = std::io::stderr().is_terminal();
        let code = match self {
            Failure::Input(message) => {
                eprintln!("error: {message}");
                2
            }
            Failure::Files(diagnostics) => {
                eprintln!("{}", diagnostics.render(colour).trim_end());
                2
            }
            Failure::Program(message) => {
                eprintln!("error: {message}");
                1
            }
            Failure::Interrupted => {
                eprintln!("interrupted");
                130
            }
        };
        std::process::exit(code)
    }
}

impl From<Diagnostics> for Failure {
    fn from(diagnostics: Diagnostics) -> Failure {
        Failure::Files(diagnostics)
    }
}

impl From<Diagnostic> for Failure {
    fn from(diagnostic: Diagnostic) -> Failure {
        let mut diagnostics = Diagnostics::new();
        diagnostics.push(diagnostic);
        Failure::Files(diagnostics)
    }
}

impl From<OutputError> for Failure {
    fn from(error: OutputError) -> Failure {
        Failure::Input(error.to_string())
    }
}

impl From<RunError> for Failure {
    fn from(error: RunError) -> Failure {
        match error {
            RunError::Deadlock(deadlock) => Failure::Program(deadlock.to_string()),
            RunError::TooLong => {
                Failure::input(format!("{error}; give a smaller problem, or check the speeds of the machine"))
            }
            RunError::Interrupted => Failure::Interrupted,
        }
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Failure {
        Failure::input(error.to_string())
    }
}

impl From<ConditionError> for Failure {
    fn from(error: ConditionError) -> Failure {
        Failure::input(error.to_string())
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message())
    }
}
