//! How data goes between a file and the memory of the program.

use hpcast_mpi::Collective;
use hpcast_objects::{Datatype, ErrorClass};

use super::position::Start;
use super::{failed, of};
use crate::abi::Status;
use crate::argument::{Buffer, Count, FileHandle, RequestAt, StatusAt, TypeHandle};
use crate::call::Call;
use crate::fault::{Answer, Fault};
use crate::fiber::block_on;
use crate::files::{File, Representation};
use crate::layout::Layout;
use crate::operation::{Active, Operation, Then};

/// Which way data goes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    Read,
    Write,
}

/// Who takes part.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Who {
    Alone,
    Together,
}

/// Data in the program's memory.
#[derive(Clone, Copy)]
struct Data {
    buffer: Buffer,
    count: Count,
    datatype: TypeHandle,
}

/// An access, as a call describes it.
#[derive(Clone, Copy)]
pub(super) struct Access {
    pub file: FileHandle,
    way: Way,
    from: Start,
    who: Who,
    data: Data,
}

impl Access {
    /// What a call describes.
    pub fn new(file: FileHandle, way: Way, from: Start, who: Who, data: (Buffer, Count, TypeHandle)) -> Access {
        Access { file, way, from, who, data: Data { buffer: data.0, count: data.1, datatype: data.2 } }
    }
}

impl Call<'_> {
    fn check_access(&self, file: &File, access: &Access) -> Answer {
        let wrong = |class, detail: &str| Err(Fault::new(class, detail));
        match access.way {
            Way::Write if self.mode(file.amode, "MPI_MODE_RDONLY") => {
                return wrong(ErrorClass::ReadOnly, "the file was opened for reading only");
            }
            Way::Read if self.mode(file.amode, "MPI_MODE_WRONLY") => {
                return wrong(ErrorClass::Access, "the file was opened for writing only");
            }
            _ => {}
        }
        if self.mode(file.amode, "MPI_MODE_SEQUENTIAL") && matches!(access.from, Start::Here(_) | Start::Own) {
            return wrong(ErrorClass::UnsupportedOperation, "a sequential file has the shared position only");
        }
        Ok(())
    }

    /// Moves the data of an access; how many bytes.
    fn move_data(&self, file: &File, access: &Access) -> Result<u64, Fault> {
        self.check_access(file, access)?;
        let Data { buffer, count, datatype } = access.data;
        let layout = self.layout(count, datatype)?;
        let datatype = self.me.datatype(datatype.number)?;
        let view = file.view.borrow().clone();
        let (bytes, unit) = (layout.bytes() as i64, view.unit());
        if bytes % unit != 0 {
            return Err(Fault::new(ErrorClass::Io, "no whole number of elements of the view"));
        }
        let external = view.representation == Representation::External32;
        if external && datatype.external32_size(1) != datatype.size() {
            return Err(Fault::new(ErrorClass::Conversion, "external32 is for datatypes that are as long in memory"));
        }
        block_on(self.me.rank.take_turn());
        let place = self.place(file, access.from, bytes / unit)?;
        let ranges = view.ranges(place * unit, bytes);
        let failed = failed(&file.shared);
        let moved = match access.way {
            Way::Write => {
                // SAFETY: the program's buffer.
                let data = unsafe { packed(&layout, &datatype, count.0, buffer, external) };
                file.shared.write(&ranges, &data).map_err(failed)?;
                data.len() as i64
            }
            Way::Read => {
                let data = file.shared.read(&ranges).map_err(failed)?;
                // SAFETY: the program's buffer.
                unsafe { unpack(&layout, &datatype, count.0, buffer, external, &data) };
                data.len() as i64
            }
        };
        if access.from == Start::Own {
            file.position.set(place + moved / unit);
        }
        Ok(moved as u64)
    }

    fn moved_status(&self, bytes: u64) -> Status {
        Status { bytes, ..self.abi.empty_status() }
    }

    /// A blocking access.
    pub(super) fn access(&self, access: Access, at: StatusAt) -> Answer {
        let file = self.me.file(access.file.number)?;
        if access.who == Who::Together {
            self.barrier_of(&file);
        }
        let moved = self.move_data(&file, &access);
        if let Ok(bytes) = moved {
            self.pass_time(bytes);
            at.set(self, &self.moved_status(bytes));
        }
        if access.who == Who::Together {
            self.barrier_of(&file);
        }
        moved.map(|_| ()).map_err(of(access.file))
    }

    /// An access that goes on while the program does.
    pub(super) fn start_access(&self, access: Access) -> Result<Active, Fault> {
        let file = self.me.file(access.file.number)?;
        let bytes = self.move_data(&file, &access).map_err(of(access.file))?;
        let (system, node) = (self.me.world.file_system.clone(), self.node());
        let request = match access.who {
            Who::Alone => {
                let (request, promise) = self.me.rank.promise("access to a file");
                self.me.rank.keep_at(promise, system.serve(self.me.read_clock(), node, bytes));
                request
            }
            Who::Together => self.me.rank.start_collective_then(file.comm.comm, Collective::Barrier, move |helper| {
                system.serve(helper.now(), node, bytes)
            }),
        };
        Ok(Active { request: Some(request), then: Then::Done(Box::new(self.moved_status(bytes))) })
    }

    /// One that a request stands for.
    pub(super) fn start_requested(&self, access: Access, request: RequestAt) -> Answer {
        let active = self.start_access(access)?;
        request.set(self, self.me.new_request(Operation::once(active)));
        Ok(())
    }
}

/// The data of a buffer as it looks in the file.
///
/// # Safety
/// The items must be there.
unsafe fn packed(layout: &Layout, datatype: &Datatype, count: i64, buffer: Buffer, external: bool) -> Vec<u8> {
    // SAFETY: as above.
    unsafe {
        if !external {
            return layout.pack(buffer.address());
        }
        let mut data = Vec::new();
        datatype.pack_external32(count, buffer.address(), &mut data);
        data
    }
}

/// Puts data of a file into a buffer.
///
/// # Safety
/// There must be room for the items.
unsafe fn unpack(layout: &Layout, datatype: &Datatype, count: i64, buffer: Buffer, external: bool, data: &[u8]) {
    // SAFETY: as above.
    unsafe {
        if external {
            let whole = (data.len() as i64 / datatype.size().max(1)).min(count);
            datatype.unpack_external32(whole, data, buffer.address());
        } else {
            layout.unpack(data, buffer.address());
        }
    }
}

/// Declares functions that differ only in their [`Access`]. First comes what is done with it and the last argument; then, for each
/// function, which way data goes, from which position, and who takes part.
macro_rules! accesses {
    ($act:ident($last:ident: $type:ty) $(fn $name:ident($($offset:ident)?) = $way:ident, $from:expr, $who:ident;)*) => {
        $crate::call::mpi! {
            $(
                fn $name [_c](
                    call, fh: $crate::argument::FileHandle $(, $offset: $crate::argument::Offset)?,
                    buf: $crate::argument::Buffer, count: $crate::argument::Count,
                    datatype: $crate::argument::TypeHandle, $last: $type,
                ) {
                    call.$act(Access::new(fh, $way, $from, $who, (buf, count, datatype)), $last)
                }
            )*
        }
    };
}
pub(super) use accesses;
