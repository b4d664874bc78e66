//! Error handlers, and error classes, codes and texts.

use hpcast_objects::ErrorClass;

use crate::argument::{
    At, Callback, CommErrhandler, CommHandle, ErrhandlerAt, ErrhandlerHandle, FileErrhandler, FileHandle,
    OldErrhandler, SessionErrhandler, SessionHandle, Text, TextAt, WinErrhandler, WinHandle,
};
use crate::call::{Call, mpi};
use crate::fault::{self, Answer, Code, Concern, Fault, Handler};
use crate::process::OwnHandler;

/// Numbers of the predefined handlers.
const FATAL: u32 = 1;
const RETURN: u32 = 2;
const ABORT: u32 = 3;
const THROW: u32 = 4;

impl Call<'_> {
    /// The largest code that is the library's own.
    fn last_code(&self) -> i32 {
        self.abi.constant("MPI_ERR_LASTCODE")
    }

    /// A handle for a function of the program: the same function has the same handle.
    fn add_handler(&self, handler: Handler) -> u32 {
        let handlers = &self.me.objects.handlers;
        for number in handlers.numbers() {
            let add = |own: &mut OwnHandler| {
                let same = own.handler == handler;
                own.references += u32::from(same);
                same
            };
            if handlers.with(number, add) == Some(true) {
                return number;
            }
        }
        handlers.insert(OwnHandler { handler, references: 1 })
    }

    /// What a handle of the program stands for.
    pub(super) fn handler(&self, handle: ErrhandlerHandle) -> Result<Handler, Fault> {
        match handle.number {
            FATAL | ABORT => Ok(Handler::Fatal),
            RETURN => Ok(Handler::Return),
            THROW => Ok(Handler::Throw),
            number => {
                let found = self.me.objects.handlers.with(number, |own| own.handler);
                found.ok_or_else(|| Fault::new(ErrorClass::Errhandler, "no such error handler"))
            }
        }
    }

    fn handler_number(&self, handler: Handler) -> u32 {
        match handler {
            Handler::Fatal => FATAL,
            Handler::Return => RETURN,
            Handler::Throw => THROW,
            Handler::Own(_) => self.add_handler(handler),
        }
    }

    fn create_handler(&self, function: Callback, at: ErrhandlerAt) -> Answer {
        at.set(self, self.add_handler(Handler::Own(function)));
        Ok(())
    }

    /// Calls the handler of an object, as the program asks for it.
    fn call_handler_of(&self, name: &str, concerns: Concern, code: i32) -> Answer {
        let class = self.abi.error_class(code).map_or(Code::Own(code), Code::Class);
        let fault = Fault::from(ErrorClass::Other).of_class(class).of(concerns);
        fault::raise(self, name, &fault);
        Ok(())
    }

    fn remove_error(&self, code: i32) -> Answer {
        match self.me.own_errors.borrow_mut().remove(self.last_code(), code) {
            true => Ok(()),
            false => {
                let detail = format!("{code} is no error code of the program's own, or a class that codes are of");
                Err(Fault::new(ErrorClass::Arg, detail))
            }
        }
    }

    /// Class and text of a code.
    fn meaning_of(&self, code: i32) -> Result<(i32, String), Fault> {
        if let Some(class) = self.abi.error_class(code) {
            return Ok((code, format!("{}: {}", class.name(), class.text())));
        }
        let errors = self.me.own_errors.borrow();
        let found = errors.get(self.last_code(), code).map(|(class, text)| (class, text.to_owned()));
        found.ok_or_else(|| Fault::new(ErrorClass::Arg, format!("{code} is no error code")))
    }
}

mpi! {
    fn MPI_Comm_create_errhandler(call, comm_errhandler_fn: CommErrhandler, errhandler: ErrhandlerAt) {
        call.create_handler(comm_errhandler_fn.0, errhandler)
    }
    fn MPI_Comm_set_errhandler(call, comm: CommHandle, errhandler: ErrhandlerHandle) {
        let object = call.me.comm(comm.number)?;
        object.handler.set(call.handler(errhandler).map_err(|fault| fault.of_comm(comm.number))?);
        Ok(())
    }
    fn MPI_Comm_get_errhandler(call, comm: CommHandle, errhandler: ErrhandlerAt) {
        let handler = call.me.comm(comm.number)?.handler.get();
        errhandler.set(call, call.handler_number(handler));
        Ok(())
    }
    fn MPI_Comm_call_errhandler(call, comm: CommHandle, errorcode: i32) {
        call.me.comm(comm.number)?;
        call.call_handler_of("MPI_Comm_call_errhandler", Concern::Comm(comm.number), errorcode)
    }
    fn MPI_Errhandler_create(call, handler_fn: OldErrhandler, errhandler: ErrhandlerAt) {
        call.create_handler(handler_fn.0, errhandler)
    }
    fn MPI_Errhandler_set(call, comm: CommHandle, errhandler: ErrhandlerHandle) {
        MPI_Comm_set_errhandler(call, comm, errhandler)
    }
    fn MPI_Errhandler_get(call, comm: CommHandle, errhandler: ErrhandlerAt) {
        MPI_Comm_get_errhandler(call, comm, errhandler)
    }
    fn MPI_Errhandler_free(call, errhandler: ErrhandlerAt) {
        let number = errhandler.get(call);
        let free = |own: &mut OwnHandler| {
            own.references -= 1;
            own.references
        };
        match call.me.objects.handlers.with(number, free) {
            Some(0) => drop(call.me.objects.handlers.remove(number)),
            Some(_) => {}
            None if (FATAL..=THROW).contains(&number) => {}
            None => return Err(Fault::new(ErrorClass::Errhandler, "no such error handler")),
        }
        errhandler.set(call, 0);
        Ok(())
    }
    fn MPI_Win_create_errhandler(call, win_errhandler_fn: WinErrhandler, errhandler: ErrhandlerAt) {
        call.create_handler(win_errhandler_fn.0, errhandler)
    }
    fn MPI_Win_set_errhandler(call, win: WinHandle, errhandler: ErrhandlerHandle) {
        let object = call.me.window(win.number)?;
        object.handler.set(call.handler(errhandler).map_err(|fault| fault.of(Concern::Win(win.number)))?);
        Ok(())
    }
    fn MPI_Win_get_errhandler(call, win: WinHandle, errhandler: ErrhandlerAt) {
        let handler = call.me.window(win.number)?.handler.get();
        errhandler.set(call, call.handler_number(handler));
        Ok(())
    }
    fn MPI_Win_call_errhandler(call, win: WinHandle, errorcode: i32) {
        call.me.window(win.number)?;
        call.call_handler_of("MPI_Win_call_errhandler", Concern::Win(win.number), errorcode)
    }
    fn MPI_File_create_errhandler(call, file_errhandler_fn: FileErrhandler, errhandler: ErrhandlerAt) {
        call.create_handler(file_errhandler_fn.0, errhandler)
    }
    /// That of MPI_FILE_NULL is what files have when they are opened.
    fn MPI_File_set_errhandler(call, file: FileHandle, errhandler: ErrhandlerHandle) {
        let handler = call.handler(errhandler).map_err(|fault| fault.of(Concern::File(file.number)))?;
        match file.number {
            0 => call.me.file_handler.set(handler),
            number => call.me.file(number)?.handler.set(handler),
        }
        Ok(())
    }
    fn MPI_File_get_errhandler(call, file: FileHandle, errhandler: ErrhandlerAt) {
        let handler = match file.number {
            0 => call.me.file_handler.get(),
            number => call.me.file(number)?.handler.get(),
        };
        errhandler.set(call, call.handler_number(handler));
        Ok(())
    }
    fn MPI_File_call_errhandler(call, fh: FileHandle, errorcode: i32) {
        if fh.number != 0 {
            call.me.file(fh.number)?;
        }
        call.call_handler_of("MPI_File_call_errhandler", Concern::File(fh.number), errorcode)
    }
    fn MPI_Session_create_errhandler(call, session_errhandler_fn: SessionErrhandler, errhandler: ErrhandlerAt) {
        call.create_handler(session_errhandler_fn.0, errhandler)
    }
    fn MPI_Session_set_errhandler(call, session: SessionHandle, errhandler: ErrhandlerHandle) {
        let handler = call.handler(errhandler)?;
        let set = call.me.objects.sessions.with(session.number, |of_session| *of_session = handler);
        set.ok_or_else(|| Fault::new(ErrorClass::Session, "no such session"))
    }
    fn MPI_Session_get_errhandler(call, session: SessionHandle, errhandler: ErrhandlerAt) {
        let handler = call.me.objects.sessions.get(session.number);
        let handler = handler.ok_or_else(|| Fault::new(ErrorClass::Session, "no such session"))?;
        errhandler.set(call, call.handler_number(handler));
        Ok(())
    }
    fn MPI_Session_call_errhandler(call, session: SessionHandle, errorcode: i32) {
        call.call_handler_of("MPI_Session_call_errhandler", Concern::Session(session.number), errorcode)
    }
    fn MPI_Error_class(call, errorcode: i32, errorclass: At<i32>) {
        errorclass.set(call.meaning_of(errorcode)?.0);
        Ok(())
    }
    fn MPI_Error_string(call, errorcode: i32, string: TextAt, resultlen: At<i32>) {
        let text = call.meaning_of(errorcode)?.1;
        let room = call.abi.constant("MPI_MAX_ERROR_STRING").max(1) as usize - 1;
        resultlen.set(string.set(&text, room));
        Ok(())
    }
    fn MPI_Add_error_class(call, errorclass: At<i32>) {
        errorclass.set(call.me.own_errors.borrow_mut().add_class(call.last_code()));
        Ok(())
    }
    fn MPI_Add_error_code(call, errorclass: i32, errorcode: At<i32>) {
        call.meaning_of(errorclass)?;
        errorcode.set(call.me.own_errors.borrow_mut().add_code(call.last_code(), errorclass));
        Ok(())
    }
    fn MPI_Add_error_string(call, errorcode: i32, string: Text) {
        if call.me.own_errors.borrow_mut().set_text(call.last_code(), errorcode, &string.0) {
            return Ok(());
        }
        Err(Fault::new(ErrorClass::Arg, format!("{errorcode} is no error code of the program's own")))
    }
    fn MPI_Remove_error_class(call, errorclass: i32) {
        call.remove_error(errorclass)
    }
    fn MPI_Remove_error_code(call, errorcode: i32) {
        call.remove_error(errorcode)
    }
    fn MPI_Remove_error_string(call, errorcode: i32) {
        MPI_Add_error_string(call, errorcode, Text(String::new()))
    }
}
