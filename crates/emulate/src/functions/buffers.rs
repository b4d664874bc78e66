//! Buffers for buffered sends: of the process, of a communicator, of a session.
//!
//! Buffered messages are on their way when the call returns, whatever there is for them, so buffers are only kept and given back.

use crate::abi::Kind;
use crate::argument::{At, Buffer, CommHandle, Count, CountAt, RequestAt, SessionHandle};
use crate::call::{Call, Language, mpi};
use crate::fault::Answer;
use crate::operation::{Active, Operation};

/// Whose buffer it is; none: the process'.
type Owner = Option<(Kind, u32)>;

impl Call<'_> {
    fn attach_buffer(&self, owner: Owner, buffer: Buffer, Count(size): Count) -> Answer {
        self.me.buffers.borrow_mut().insert(owner, (buffer.address() as usize, size));
        Ok(())
    }

    fn detach_buffer(&self, owner: Owner, address_at: At<usize>, size_at: CountAt) -> Answer {
        let (address, size) = self.me.buffers.borrow_mut().remove(&owner).unwrap_or_default();
        if self.language == Language::C {
            address_at.set(address);
        }
        size_at.set(self, size);
        Ok(())
    }

    /// Nothing waits in a buffer.
    fn flush_buffer(&self, request: RequestAt) -> Answer {
        request.set(self, self.me.new_request(Operation::once(Active::done(self.abi.empty_status()))));
        Ok(())
    }

    fn buffer_of(&self, comm: CommHandle) -> Result<Owner, crate::fault::Fault> {
        self.me.comm(comm.number)?;
        Ok(Some((Kind::Comm, comm.number)))
    }

    fn session_buffer(&self, session: SessionHandle) -> Result<Owner, crate::fault::Fault> {
        self.require_session(session)?;
        Ok(Some((Kind::Session, session.number)))
    }
}

mpi! {
    fn MPI_Buffer_attach[_c](call, buffer: Buffer, size: Count) {
        call.attach_buffer(None, buffer, size)
    }
    fn MPI_Buffer_detach[_c](call, buffer_addr: At<usize>, size: CountAt) {
        call.detach_buffer(None, buffer_addr, size)
    }
    fn MPI_Buffer_flush(_call) {
        Ok(())
    }
    fn MPI_Buffer_iflush(call, request: RequestAt) {
        call.flush_buffer(request)
    }
    fn MPI_Comm_attach_buffer[_c](call, comm: CommHandle, buffer: Buffer, size: Count) {
        call.attach_buffer(call.buffer_of(comm)?, buffer, size)
    }
    fn MPI_Comm_detach_buffer[_c](call, comm: CommHandle, buffer_addr: At<usize>, size: CountAt) {
        call.detach_buffer(call.buffer_of(comm)?, buffer_addr, size)
    }
    fn MPI_Comm_flush_buffer(call, comm: CommHandle) {
        call.buffer_of(comm).map(|_| ())
    }
    fn MPI_Comm_iflush_buffer(call, comm: CommHandle, request: RequestAt) {
        call.buffer_of(comm)?;
        call.flush_buffer(request)
    }
    fn MPI_Session_attach_buffer[_c](call, session: SessionHandle, buffer: Buffer, size: Count) {
        call.attach_buffer(call.session_buffer(session)?, buffer, size)
    }
    fn MPI_Session_detach_buffer[_c](call, session: SessionHandle, buffer_addr: At<usize>, size: CountAt) {
        call.detach_buffer(call.session_buffer(session)?, buffer_addr, size)
    }
    fn MPI_Session_flush_buffer(call, session: SessionHandle) {
        call.require_session(session)
    }
    fn MPI_Session_iflush_buffer(call, session: SessionHandle, request: RequestAt) {
        call.require_session(session)?;
        call.flush_buffer(request)
    }
}
