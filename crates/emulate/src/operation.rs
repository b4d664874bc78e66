//! What a request of the program stands for, and how it ends.

use std::rc::Rc;

use hpcast_mpi::{Mode, Parcel, Receiving, Request, Sending, Style};
use hpcast_objects::ErrorClass;

use crate::abi::Status;
use crate::argument::{Callback, ExtraAt};
use crate::call::{Call, Language};
use crate::communicator::Peers;
use crate::fault::{Answer, Fault};
use crate::fiber::block_on;
use crate::functions::Parts;
use crate::processes::gate::call_program;

/// What is done with data when a collective operation has ended.
pub type Finish = Box<dyn FnOnce(&Call<'_>) -> Answer>;

/// A request of the program.
pub struct Operation {
    /// What is under way.
    pub active: Option<Active>,
    /// How it is started again, if it is persistent.
    pub recipe: Option<Box<Recipe>>,
}

/// Something under way.
pub struct Active {
    /// What is waited for; none: it is done already.
    pub request: Option<Request>,
    /// What is done then.
    pub then: Then,
}

/// What is done when an operation ends.
pub enum Then {
    /// A send: nothing.
    Sent,
    /// A receive.
    Received(Received),
    /// A receive of a message with parts, whose tag in the program is another than that of the message.
    Assembled(Box<(Received, i32)>),
    /// A collective operation.
    Finish(Finish),
    /// It ended as it began.
    Done(Box<Status>),
    /// A generalised request.
    General(Rc<General>),
    /// A message with parts that are not ready yet.
    Parts(Rc<Parts>),
    /// A receive, and a send that ends with it.
    Both(Box<(Then, Request)>),
    /// A send, with this status.
    Passed(Box<Status>),
}

/// A receive under way.
#[derive(Clone, Copy)]
pub struct Received {
    /// Where the data goes.
    pub parcel: Parcel,
    /// The rank of the first peer, for [`status`].
    pub first: u32,
    /// How much room there is.
    pub capacity: u64,
}

/// A request whose operation is the program's own.
pub struct General {
    /// Says what its status is.
    pub query: Callback,
    /// Frees what it has.
    pub free: Callback,
    /// Cancels it.
    pub cancel: Callback,
    /// What these get.
    pub extra: ExtraAt,
    /// Whether MPI_Grequest_complete was called.
    pub complete: std::cell::Cell<bool>,
}

/// Starts an operation.
pub type Starter = dyn Fn(&Call<'_>) -> Result<Active, Fault>;

/// How a persistent request is started.
#[derive(Clone)]
pub enum Recipe {
    /// A message to nobody, or from nobody.
    Nothing(Status),
    /// A send.
    Send {
        /// Of what, apart from its data.
        sending: Sending,
        /// Where the data is.
        address: usize,
        /// How it lies.
        layout: crate::layout::Layout,
    },
    /// A receive.
    Receive {
        /// Of what, apart from its data.
        receiving: Receiving,
        /// Where the data goes.
        address: usize,
        /// How it lies.
        layout: crate::layout::Layout,
        /// Where.
        peers: Peers,
    },
    /// A collective operation, or another one that knows how it is started.
    Own(Rc<Starter>),
}

impl Operation {
    /// Something under way that ends once.
    pub fn once(active: Active) -> Operation {
        Operation { active: Some(active), recipe: None }
    }

    /// One that can be started again and again.
    pub fn persistent(recipe: Recipe) -> Operation {
        Operation { active: None, recipe: Some(Box::new(recipe)) }
    }
}

impl Active {
    /// Done already.
    pub fn done(status: Status) -> Active {
        Active { request: None, then: Then::Done(Box::new(status)) }
    }

    /// Whether it is done without waiting for anything.
    pub fn is_done_at_once(&self) -> bool {
        match &self.then {
            Then::General(general) => general.complete.get(),
            Then::Parts(_) => false,
            _ => self.request.is_none(),
        }
    }

    /// Ends it: what the simulation has found becomes a status of the program.
    pub fn end(self, call: &Call<'_>, found: hpcast_mpi::Status) -> (Status, Answer) {
        match self.then {
            Then::Sent => (call.abi.empty_status(), Ok(())),
            Then::Done(status) => (*status, Ok(())),
            Then::Passed(status) => (*status, Ok(())),
            Then::Both(both) => {
                let (received, sent) = *both;
                block_on(call.me.rank.wait(sent));
                Active { request: None, then: received }.end(call, found)
            }
            // Who waits for parts that are not ready is told so before.
            Then::Parts(_) => (call.abi.empty_status(), Ok(())),
            Then::Received(received) => received.end(call, found),
            Then::Assembled(assembled) => {
                let (received, tag) = *assembled;
                let (status, answer) = received.end(call, found);
                (Status { tag, ..status }, answer)
            }
            Then::Finish(finish) => (call.abi.empty_status(), finish(call)),
            Then::General(general) => general.end(call),
        }
    }
}

impl Received {
    /// Ends the receive.
    pub fn end(self, call: &Call<'_>, found: hpcast_mpi::Status) -> (Status, Answer) {
        call.me.world.mail.received(self.parcel);
        if found.is_cancelled() {
            return (call.cancelled_status(), Ok(()));
        }
        let mut status = status(self.first, found);
        let mut answer = Ok(());
        if found.bytes > self.capacity {
            status.bytes = self.capacity;
            status.error = call.abi.error_code(ErrorClass::Truncate);
            let detail = format!("a message of {} B came to a buffer of {} B", found.bytes, self.capacity);
            answer = Err(Fault::new(ErrorClass::Truncate, detail));
        }
        (status, answer)
    }
}

impl General {
    /// Calls one of the functions, with its second argument, if it has one.
    ///
    /// # Safety
    /// The program has said that this is such a function.
    pub unsafe fn call(&self, function: Callback, second: Option<*mut i32>) -> i32 {
        let extra = self.extra.0;
        let mut code = 0i32;
        let at_code = &raw mut code as usize;
        // SAFETY: as above. A C function that takes one argument ignores the second.
        unsafe {
            match (function.language, second) {
                (Language::C, _) => {
                    call_program(function.address, &[extra, second.unwrap_or_default() as usize]) as i32
                }
                (Language::Fortran, Some(second)) => {
                    call_program(function.address, &[extra, second as usize, at_code]);
                    code
                }
                (Language::Fortran, None) => {
                    call_program(function.address, &[extra, at_code]);
                    code
                }
            }
        }
    }

    fn end(&self, call: &Call<'_>) -> (Status, Answer) {
        let mut memory = [0i32; 8];
        let status_at = memory.as_mut_ptr();
        // SAFETY: the memory is a status, and the functions are the program's.
        let code = unsafe {
            call.abi.write_status(status_at, &call.abi.empty_status(), true);
            let code = self.call(self.query, Some(status_at));
            self.call(self.free, None);
            code
        };
        // SAFETY: the memory is a status.
        let mut status = unsafe { call.abi.read_status(status_at) };
        status.error = code;
        let fault = Fault::from(ErrorClass::Other).of_class(crate::fault::Code::Own(code));
        (status, if code == 0 { Ok(()) } else { Err(fault) })
    }
}

/// What the simulation has found, in the program's words, where peers are counted from `first`.
pub fn status(first: u32, found: hpcast_mpi::Status) -> Status {
    let source = (found.source - first) as i32;
    Status { source, tag: found.tag, error: 0, bytes: found.bytes, cancelled: false }
}

impl Recipe {
    /// Starts the operation.
    pub fn start(&self, call: &Call<'_>) -> Result<Active, Fault> {
        let mail = &call.me.world.mail;
        Ok(match self {
            Recipe::Nothing(status) => Active::done(*status),
            Recipe::Send { sending, address, layout } => {
                let place = crate::mail::Place { address: *address as *mut u8, layout: layout.clone() };
                let sending = Sending { parcel: mail.send(place), ..*sending };
                // What was prepared once costs as much as a blocking send.
                let style = if sending.mode == Mode::Standard { Style::Blocking } else { Style::Nonblocking };
                Active { request: Some(call.me.rank.start_send(sending, style)), then: Then::Sent }
            }
            Recipe::Receive { receiving, address, layout, peers } => {
                let capacity = layout.bytes();
                let place = crate::mail::Place { address: *address as *mut u8, layout: layout.clone() };
                let parcel = mail.receive(place);
                let request = block_on(call.me.rank.start_receive(Receiving { parcel, ..*receiving }));
                let then = Then::Received(Received { parcel, first: peers.first(), capacity });
                Active { request: Some(request), then }
            }
            Recipe::Own(start) => start(call)?,
        })
    }
}
