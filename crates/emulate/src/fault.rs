//! What can go wrong in a call, and who is told.

use std::ffi::c_int;
use std::ops::{Deref, DerefMut};

use hpcast_objects::ErrorClass;

use crate::abi::Kind;
use crate::call::{Call, Language};
use crate::process::Ending;
use crate::processes::gate::call_program;

/// What a call gives: nothing, or a fault.
pub type Answer = Result<(), Fault>;

/// A call that cannot be done. All of it is elsewhere, so that calls that can be done take no room on the stack for it: what is there is kept
/// with each rank that waits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault(Box<What>);

/// What is wrong with a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct What {
    /// What kind of fault it is; the code of the program's own if it has made one.
    pub class: Code,
    /// More about it.
    pub detail: String,
    /// Whose error handler is called.
    pub concerns: Concern,
}

/// An error class of MPI, or a code that the program has added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code {
    /// A class of MPI.
    Class(ErrorClass),
    /// A code as the program knows it.
    Own(c_int),
}

/// The object that a fault concerns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Concern {
    /// None: the handler of MPI_COMM_WORLD is called.
    World,
    /// A communicator.
    Comm(u32),
    /// A window.
    Win(u32),
    /// A file.
    File(u32),
    /// A session.
    Session(u32),
    /// Nothing that has a handler: the caller gets the code.
    Nobody,
}

impl Fault {
    /// A fault of that class.
    #[cold]
    pub fn new(class: ErrorClass, detail: impl Into<String>) -> Fault {
        Fault(Box::new(What { class: Code::Class(class), detail: detail.into(), concerns: Concern::World }))
    }

    /// The same fault, of another class.
    pub fn of_class(mut self, class: Code) -> Fault {
        self.class = class;
        self
    }

    /// The same fault, of a communicator.
    pub fn of_comm(mut self, comm: u32) -> Fault {
        if self.concerns == Concern::World {
            self.concerns = Concern::Comm(comm);
        }
        self
    }

    /// The same fault, of that object.
    pub fn of(mut self, concerns: Concern) -> Fault {
        self.concerns = concerns;
        self
    }

    /// Its code in the program's words.
    pub fn code(&self, call: &Call<'_>) -> c_int {
        match self.class {
            Code::Class(class) => call.abi.error_code(class),
            Code::Own(code) => code,
        }
    }
}

impl Deref for Fault {
    type Target = What;
    fn deref(&self) -> &What {
        &self.0
    }
}

impl DerefMut for Fault {
    fn deref_mut(&mut self) -> &mut What {
        &mut self.0
    }
}

impl From<ErrorClass> for Fault {
    fn from(class: ErrorClass) -> Fault {
        Fault::new(class, "")
    }
}

macro_rules! from_objects {
    ($($error:ident)*) => {$(
        impl From<hpcast_objects::$error> for Fault {
            fn from(error: hpcast_objects::$error) -> Fault {
                Fault::new(error.class(), error.to_string())
            }
        }
    )*};
}
from_objects! { DatatypeError GroupError TopologyError OperationError }

/// Calls the error handler; comes back only if that does, with the code for the program.
#[cold]
pub fn raise(call: &Call<'_>, name: &str, fault: &Fault) -> c_int {
    let code = fault.code(call);
    match call.me.error_handler(fault.concerns) {
        // C++ looks at the code, and throws.
        Handler::Return | Handler::Throw => {}
        Handler::Fatal => {
            let what = match fault.class {
                Code::Class(class) => format!("{} ({})", class.name(), class.text()),
                Code::Own(code) => format!("code {code}"),
            };
            let detail = if fault.detail.is_empty() { String::new() } else { format!(": {}", fault.detail) };
            call.me.end(Ending::Fault { function: name.to_owned(), what: format!("{what}{detail}"), code });
        }
        Handler::Own(handler) => {
            // It may look at what was received, and need not come back.
            call.me.settle_messages();
            call_handler(call, handler, fault, code);
        }
    }
    code
}

/// What happens on a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Handler {
    /// MPI_ERRORS_ARE_FATAL and MPI_ERRORS_ABORT.
    Fatal,
    /// MPI_ERRORS_RETURN.
    Return,
    /// MPI::ERRORS_THROW_EXCEPTIONS.
    Throw,
    /// A function of the program.
    Own(crate::argument::Callback),
}

/// Calls a function of the program with the handle of the object and the code.
pub(crate) fn call_handler(call: &Call<'_>, handler: crate::argument::Callback, fault: &Fault, mut code: c_int) {
    let (kind, number) = match fault.concerns {
        Concern::World | Concern::Nobody => (Kind::Comm, 1),
        Concern::Comm(number) => (Kind::Comm, number),
        Concern::Win(number) => (Kind::Win, number),
        Concern::File(number) => (Kind::File, number),
        Concern::Session(number) => (Kind::Session, number),
    };
    let handles = call.abi.handles();
    let mut word = match handler.language {
        Language::C => handles.to_c(kind, number, call.me.base()),
        Language::Fortran => handles.to_fortran(kind, number) as usize,
    };
    let arguments = [&raw mut word as usize, &raw mut code as usize];
    // SAFETY: the program has said that this is an error handler: it takes the addresses of a handle and of a code.
    unsafe {
        match handler.through {
            0 => call_program(handler.address, &arguments),
            through => crate::functions::call_handler_of_cxx(call, through, kind, arguments, handler.address),
        }
    };
}
