//! Files: MPI_File_open and what is done with open files.

use std::cell::{Cell, RefCell};
use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use hpcast_mpi::{Activity, Collective};
use hpcast_objects::{Basic, Datatype, ErrorClass};

use crate::abi::Status;
use crate::argument::{
    At, Buffer, CommHandle, Count, DatarepConversion, DatarepExtent, Extra, FileAt, FileHandle, GroupAt, InfoAt,
    InfoHandle, Offset, RequestAt, StatusAt, Text, TextAt, TypeAt, TypeHandle,
};
use crate::call::{Call, mpi};
use crate::communicator::Communicator;
use crate::fault::{Answer, Concern, Fault, Handler};
use crate::fiber::block_on;
use crate::files::{File, Representation, SharedFile, View, class_of};
use crate::layout::Layout;
use crate::operation::{Active, Operation, Then};
use crate::process::OwnType;
use crate::processes::baton;

/// The position that an access starts from.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Start {
    /// One that the call gives.
    Here(Offset),
    /// The rank's own.
    Own,
    /// That of all.
    Shared,
    /// That of all, one rank after the other.
    Ordered,
}

/// Which way data goes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Read,
    Write,
}

/// Who takes part.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Who {
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
struct Access {
    file: FileHandle,
    way: Way,
    from: Start,
    who: Who,
    data: Data,
}

/// Whom a fault concerns.
fn of(file: FileHandle) -> impl Fn(Fault) -> Fault {
    move |fault| fault.of(Concern::File(file.number))
}

/// ROMIO takes a name of the file system before the path.
fn path_of(name: &str) -> PathBuf {
    let known = ["ufs:", "nfs:", "lustre:", "panfs:", "gpfs:"];
    known.iter().find_map(|prefix| name.strip_prefix(prefix)).unwrap_or(name).into()
}

fn fault_of(path: &Path, error: &std::io::Error) -> Fault {
    Fault::new(class_of(error), format!("{}: {error}", path.display()))
}

/// A fault that many ranks get.
fn again(fault: &Fault) -> Fault {
    fault.clone()
}

impl Call<'_> {
    fn mode(&self, amode: i32, name: &str) -> bool {
        amode & self.abi.constant(name) != 0
    }

    fn check_mode(&self, amode: i32) -> Answer {
        let wrong = |detail: &str| Err(Fault::new(ErrorClass::Amode, detail));
        let ways = ["MPI_MODE_RDONLY", "MPI_MODE_WRONLY", "MPI_MODE_RDWR"];
        if ways.iter().filter(|way| self.mode(amode, way)).count() != 1 {
            return wrong("exactly one of MPI_MODE_RDONLY, MPI_MODE_WRONLY and MPI_MODE_RDWR is needed");
        }
        if self.mode(amode, "MPI_MODE_RDONLY")
            && (self.mode(amode, "MPI_MODE_CREATE") || self.mode(amode, "MPI_MODE_EXCL"))
        {
            return wrong("MPI_MODE_CREATE and MPI_MODE_EXCL do not go with MPI_MODE_RDONLY");
        }
        if self.mode(amode, "MPI_MODE_RDWR") && self.mode(amode, "MPI_MODE_SEQUENTIAL") {
            return wrong("MPI_MODE_SEQUENTIAL does not go with MPI_MODE_RDWR");
        }
        Ok(())
    }

    fn open_here(&self, path: &Path, amode: i32) -> Result<SharedFile, Fault> {
        if path.is_dir() {
            return Err(Fault::new(ErrorClass::BadFile, format!("{} is a folder", path.display())));
        }
        let writes = !self.mode(amode, "MPI_MODE_RDONLY");
        let creates = self.mode(amode, "MPI_MODE_CREATE");
        let mut options = fs::OpenOptions::new();
        options.read(!self.mode(amode, "MPI_MODE_WRONLY")).write(writes);
        let exclusive = creates && self.mode(amode, "MPI_MODE_EXCL");
        let opened = options.clone().create(creates).create_new(exclusive).truncate(false).open(path);
        let file = opened.map_err(|error| fault_of(path, &error))?;
        let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let file = baton::ranks().is_none().then_some(file);
        Ok(SharedFile { file, options, path, position: Cell::new(0) })
    }

    /// Opens a file: the first rank to leave does it for all.
    fn open_file(&self, comm: &Communicator, name: &str, amode: i32, info: InfoHandle) -> Result<File, Fault> {
        comm.require_intra()?;
        let info = self.hints(info)?;
        let made = self.agree(comm, vec![i64::from(amode)], |board| {
            let mode = |rank| board.deposit(rank).and_then(|deposit| deposit.words.first().copied());
            if (0..comm.size()).any(|rank| mode(rank) != Some(i64::from(amode))) {
                return Err(Fault::new(ErrorClass::NotSame, "ranks open a file with different modes"));
            }
            self.check_mode(amode)?;
            let context = self.me.rank.new_context(comm.group.iter().collect());
            Ok((context, Rc::new(self.open_here(&path_of(name), amode)?)))
        })?;
        let (context, shared) = (*made).as_ref().map_err(again)?;
        let own = hpcast_mpi::Comm::new(*context, comm.rank(), comm.size());
        let byte = Datatype::basic(Basic::Byte);
        let view =
            View { displacement: 0, etype: byte.clone(), filetype: byte, representation: Representation::Native };
        let file = File {
            handler: Cell::new(self.me.file_handler.get()),
            comm: Communicator::new(own, comm.group.clone(), Handler::Return),
            amode,
            shared: shared.clone(),
            view: RefCell::new(view),
            position: Cell::new(0),
            info: RefCell::new(info),
            atomic: Cell::new(false),
            split: RefCell::default(),
        };
        if self.mode(amode, "MPI_MODE_APPEND") {
            let end = shared.size().map_err(|error| fault_of(&shared.path, &error))?;
            file.position.set(end);
            shared.position.set(end);
        }
        self.pass_time(0);
        Ok(file)
    }

    /// The node that I run on.
    fn node(&self) -> u32 {
        self.me.world.processor(self.me.number()).0
    }

    /// The file system moves so many bytes for me.
    fn pass_time(&self, bytes: u64) {
        let now = self.me.read_clock();
        let end = self.me.world.file_system.serve(now, self.node(), bytes);
        self.me.rank.spend(Activity::Wait, end.since(now));
    }

    fn barrier_of(&self, file: &File) {
        block_on(self.me.rank.collective(file.comm.comm, &Collective::Barrier));
    }

    /// The first rank to leave does something for all.
    fn once_for_all<T: 'static>(
        &self,
        file: &File,
        act: impl FnOnce() -> Result<T, Fault>,
    ) -> Result<Rc<Result<T, Fault>>, Fault> {
        self.agree(&file.comm, vec![0], |_| act())
    }

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

    /// Where an access begins, in elements; the position moves on.
    fn place(&self, file: &File, from: Start, elements: i64) -> Result<i64, Fault> {
        match from {
            Start::Here(Offset(at)) if at < 0 => Err(Fault::new(ErrorClass::Arg, format!("the offset is {at}"))),
            Start::Here(Offset(at)) => Ok(at),
            Start::Own => Ok(file.position.get()),
            Start::Shared => Ok(file.shared.position.replace(file.shared.position.get() + elements)),
            Start::Ordered => {
                let starts = self.agree(&file.comm, vec![elements], |board| {
                    let mut next = file.shared.position.get();
                    let mut starts = Vec::with_capacity(file.comm.size() as usize);
                    for rank in 0..file.comm.size() {
                        starts.push(next);
                        next += board.deposit(rank).and_then(|deposit| deposit.words.first().copied()).unwrap_or(0);
                    }
                    file.shared.position.set(next);
                    starts
                })?;
                Ok(starts[file.comm.rank() as usize])
            }
        }
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
        let failed = |error: std::io::Error| fault_of(&file.shared.path, &error);
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
    fn access(&self, access: Access, at: StatusAt) -> Answer {
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
    fn start_access(&self, access: Access) -> Result<Active, Fault> {
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

    fn start_requested(&self, access: Access, request: RequestAt) -> Answer {
        let active = self.start_access(access)?;
        request.set(self, self.me.new_request(Operation::once(active)));
        Ok(())
    }

    fn begin_split(&self, access: Access) -> Answer {
        let file = self.me.file(access.file.number)?;
        if file.split.borrow().is_some() {
            let detail = "another split collective operation has begun";
            return Err(of(access.file)(Fault::new(ErrorClass::UnsupportedOperation, detail)));
        }
        let active = self.start_access(access)?;
        *file.split.borrow_mut() = Some(active);
        Ok(())
    }

    fn end_split(&self, fh: FileHandle, at: StatusAt) -> Answer {
        let file = self.me.file(fh.number)?;
        let Some(active) = file.split.take() else {
            return Err(of(fh)(Fault::new(
                ErrorClass::UnsupportedOperation,
                "no split collective operation has begun",
            )));
        };
        let (status, answer) = self.wait_for(active);
        at.set(self, &status);
        answer.map_err(of(fh))
    }

    /// A position that MPI_File_seek asks for.
    fn sought(&self, file: &File, offset: i64, whence: i32, current: i64) -> Result<i64, Fault> {
        let base = match self.abi.name_of(whence, &["MPI_SEEK_SET", "MPI_SEEK_CUR", "MPI_SEEK_END"]) {
            Some("MPI_SEEK_SET") => 0,
            Some("MPI_SEEK_CUR") => current,
            Some(_) => {
                let end = file.shared.size().map_err(|error| fault_of(&file.shared.path, &error))?;
                file.view.borrow().elements_before(end)
            }
            None => return Err(Fault::new(ErrorClass::Arg, format!("{whence} says no place to seek from"))),
        };
        match base.checked_add(offset) {
            Some(position) if position >= 0 => Ok(position),
            _ => Err(Fault::new(ErrorClass::Arg, "the position would be before the beginning of the file")),
        }
    }

    /// A handle of a datatype that a view is made of.
    fn type_handle(&self, datatype: &Datatype) -> u32 {
        if let Some(basic) = datatype.as_basic() {
            return basic as u32 + 1;
        }
        let own = OwnType {
            datatype: datatype.clone(),
            name: RefCell::default(),
            attributes: Rc::default(),
            committed: Cell::new(true),
            is_large: false,
        };
        self.me.objects.types.insert(Rc::new(own))
    }

    fn set_view(&self, file: &File, displacement: i64, etype: TypeHandle, filetype: TypeHandle, name: &str) -> Answer {
        let Some(representation) = Representation::of(name) else {
            return Err(Fault::new(ErrorClass::UnsupportedDatarep, format!("no data representation {name}")));
        };
        let (etype, filetype) = (self.me.datatype(etype.number)?, self.me.datatype(filetype.number)?);
        if etype.size() > 0 && filetype.size() % etype.size() != 0 {
            return Err(Fault::new(ErrorClass::Arg, "the file type is not made of the element type"));
        }
        let current = displacement == i64::from(self.abi.constant("MPI_DISPLACEMENT_CURRENT"));
        let displacement = if current && self.mode(file.amode, "MPI_MODE_SEQUENTIAL") {
            let view = file.view.borrow();
            let at = view.ranges(file.shared.position.get() * view.unit(), 1);
            at.first().map_or(view.displacement, |&(offset, _)| offset)
        } else if displacement < 0 {
            return Err(Fault::new(ErrorClass::Arg, format!("the displacement is {displacement}")));
        } else {
            displacement
        };
        *file.view.borrow_mut() = View { displacement, etype, filetype, representation };
        file.position.set(0);
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

/// Shorthand for what most functions describe.
fn access(file: FileHandle, way: Way, from: Start, who: Who, data: (Buffer, Count, TypeHandle)) -> Access {
    Access { file, way, from, who, data: Data { buffer: data.0, count: data.1, datatype: data.2 } }
}

use Start::{Here, Ordered, Own, Shared};
use Way::{Read, Write};
use Who::{Alone, Together};

mpi! {
    fn MPI_File_open(call, comm: CommHandle, filename: Text, amode: i32, info: InfoHandle, fh: FileAt) {
        let object = call.me.comm(comm.number)?;
        let file = call.open_file(&object, &filename.0, amode, info).map_err(|fault| fault.of(Concern::File(0)))?;
        fh.set(call, call.me.objects.files.insert(Rc::new(file)));
        Ok(())
    }
    fn MPI_File_close(call, fh: FileAt) {
        let number = fh.get(call);
        let file = call.me.file(number)?;
        let removes = call.mode(file.amode, "MPI_MODE_DELETE_ON_CLOSE");
        let path = file.shared.path.clone();
        let done = call.once_for_all(&file, || match removes {
            true => fs::remove_file(&path).map_err(|error| fault_of(&path, &error)),
            false => Ok(()),
        })?;
        call.me.objects.files.remove(number);
        fh.set(call, 0);
        (*done).as_ref().map(|_| ()).map_err(|fault| again(fault).of(Concern::File(0)))
    }
    fn MPI_File_delete(call, filename: Text, _info: InfoHandle) {
        block_on(call.me.rank.take_turn());
        let path = path_of(&filename.0);
        let done = fs::remove_file(&path).map_err(|error| fault_of(&path, &error).of(Concern::File(0)));
        call.pass_time(0);
        done
    }
    fn MPI_File_set_size(call, fh: FileHandle, size: Offset) {
        let file = call.me.file(fh.number)?;
        let done = call.once_for_all(&file, || {
            if size.0 < 0 {
                return Err(Fault::new(ErrorClass::Arg, format!("a size of {}", size.0)));
            }
            file.shared.set_size(size.0 as u64).map_err(|error| fault_of(&file.shared.path, &error))
        })?;
        (*done).as_ref().map(|_| ()).map_err(|fault| of(fh)(again(fault)))
    }
    fn MPI_File_preallocate(call, fh: FileHandle, size: Offset) {
        let file = call.me.file(fh.number)?;
        let done = call.once_for_all(&file, || {
            let failed = |error| fault_of(&file.shared.path, &error);
            if size.0 > file.shared.size().map_err(failed)? {
                file.shared.set_size(size.0 as u64).map_err(failed)?;
            }
            Ok(())
        })?;
        (*done).as_ref().map(|_| ()).map_err(|fault| of(fh)(again(fault)))
    }
    fn MPI_File_get_size(call, fh: FileHandle, size: At<Offset>) {
        let file = call.me.file(fh.number)?;
        block_on(call.me.rank.take_turn());
        size.set(Offset(file.shared.size().map_err(|error| of(fh)(fault_of(&file.shared.path, &error)))?));
        Ok(())
    }
    fn MPI_File_get_group(call, fh: FileHandle, group: GroupAt) {
        let found = call.me.file(fh.number)?.comm.group.clone();
        group.set(call, call.me.objects.groups.insert(found));
        Ok(())
    }
    fn MPI_File_get_amode(call, fh: FileHandle, amode: At<i32>) {
        amode.set(call.me.file(fh.number)?.amode);
        Ok(())
    }
    fn MPI_File_set_info(call, fh: FileHandle, info: InfoHandle) {
        let file = call.me.file(fh.number)?;
        *file.info.borrow_mut() = call.hints(info).map_err(of(fh))?;
        Ok(())
    }
    fn MPI_File_get_info(call, fh: FileHandle, info_used: InfoAt) {
        let info = call.me.file(fh.number)?.info.borrow().clone();
        info_used.set(call, call.add_info(info));
        Ok(())
    }
    fn MPI_File_set_view(
        call, fh: FileHandle, disp: Offset, etype: TypeHandle, filetype: TypeHandle, datarep: Text, info: InfoHandle,
    ) {
        let file = call.me.file(fh.number)?;
        let _ = info;
        let set = call.set_view(&file, disp.0, etype, filetype, &datarep.0);
        let shared = file.shared.clone();
        call.once_for_all(&file, || {
            shared.position.set(0);
            Ok(())
        })?;
        set.map_err(of(fh))
    }
    fn MPI_File_get_view(
        call, fh: FileHandle, disp: At<Offset>, etype: TypeAt, filetype: TypeAt, datarep: TextAt,
    ) {
        let file = call.me.file(fh.number)?;
        let view = file.view.borrow();
        disp.set(Offset(view.displacement));
        etype.set(call, call.type_handle(&view.etype));
        filetype.set(call, call.type_handle(&view.filetype));
        datarep.set(view.representation.name(), call.abi.constant("MPI_MAX_DATAREP_STRING").max(1) as usize - 1);
        Ok(())
    }
    fn MPI_File_get_type_extent[_c](call, fh: FileHandle, datatype: TypeHandle, extent: At<i64>) {
        let file = call.me.file(fh.number)?;
        let datatype = call.me.datatype(datatype.number).map_err(of(fh))?;
        let is_external = file.view.borrow().representation == Representation::External32;
        extent.set(if is_external { datatype.external32_size(1) } else { datatype.extent() });
        Ok(())
    }
    fn MPI_Register_datarep[_c](
        _call, datarep: Text, _read_conversion_fn: DatarepConversion, _write_conversion_fn: DatarepConversion,
        _dtype_file_extent_fn: DatarepExtent, _extra_state: Extra,
    ) {
        let class = match Representation::of(&datarep.0) {
            Some(_) => ErrorClass::DupDatarep,
            None => ErrorClass::UnsupportedOperation,
        };
        let detail = "data representations are native, internal and external32, and none can be added";
        Err(Fault::new(class, detail).of(Concern::File(0)))
    }
    fn MPI_File_set_atomicity(call, fh: FileHandle, flag: i32) {
        let file = call.me.file(fh.number)?;
        call.barrier_of(&file);
        file.atomic.set(flag != 0);
        Ok(())
    }
    fn MPI_File_get_atomicity(call, fh: FileHandle, flag: At<i32>) {
        flag.set(i32::from(call.me.file(fh.number)?.atomic.get()));
        Ok(())
    }
    fn MPI_File_sync(call, fh: FileHandle) {
        let file = call.me.file(fh.number)?;
        call.barrier_of(&file);
        call.pass_time(0);
        Ok(())
    }
    fn MPI_File_seek(call, fh: FileHandle, offset: Offset, whence: i32) {
        let file = call.me.file(fh.number)?;
        block_on(call.me.rank.take_turn());
        file.position.set(call.sought(&file, offset.0, whence, file.position.get()).map_err(of(fh))?);
        Ok(())
    }
    fn MPI_File_get_position(call, fh: FileHandle, offset: At<Offset>) {
        offset.set(Offset(call.me.file(fh.number)?.position.get()));
        Ok(())
    }
    fn MPI_File_get_byte_offset(call, fh: FileHandle, offset: Offset, disp: At<Offset>) {
        let file = call.me.file(fh.number)?;
        let view = file.view.borrow();
        let at = view.ranges(offset.0.max(0) * view.unit(), 1);
        disp.set(Offset(at.first().map_or(view.displacement, |&(offset, _)| offset)));
        Ok(())
    }
    fn MPI_File_seek_shared(call, fh: FileHandle, offset: Offset, whence: i32) {
        let file = call.me.file(fh.number)?;
        let done = call.once_for_all(&file, || {
            let position = call.sought(&file, offset.0, whence, file.shared.position.get())?;
            file.shared.position.set(position);
            Ok(())
        })?;
        (*done).as_ref().map(|_| ()).map_err(|fault| of(fh)(again(fault)))
    }
    fn MPI_File_get_position_shared(call, fh: FileHandle, offset: At<Offset>) {
        let file = call.me.file(fh.number)?;
        block_on(call.me.rank.take_turn());
        offset.set(Offset(file.shared.position.get()));
        Ok(())
    }
    fn MPI_File_read_at[_c](call, fh: FileHandle, offset: Offset, buf: Buffer, count: Count, datatype: TypeHandle, status: StatusAt) {
        call.access(access(fh, Read, Here(offset), Alone, (buf, count, datatype)), status)
    }
    fn MPI_File_read_at_all[_c](call, fh: FileHandle, offset: Offset, buf: Buffer, count: Count, datatype: TypeHandle, status: StatusAt) {
        call.access(access(fh, Read, Here(offset), Together, (buf, count, datatype)), status)
    }
    fn MPI_File_write_at[_c](call, fh: FileHandle, offset: Offset, buf: Buffer, count: Count, datatype: TypeHandle, status: StatusAt) {
        call.access(access(fh, Write, Here(offset), Alone, (buf, count, datatype)), status)
    }
    fn MPI_File_write_at_all[_c](call, fh: FileHandle, offset: Offset, buf: Buffer, count: Count, datatype: TypeHandle, status: StatusAt) {
        call.access(access(fh, Write, Here(offset), Together, (buf, count, datatype)), status)
    }
    fn MPI_File_iread_at[_c](call, fh: FileHandle, offset: Offset, buf: Buffer, count: Count, datatype: TypeHandle, request: RequestAt) {
        call.start_requested(access(fh, Read, Here(offset), Alone, (buf, count, datatype)), request)
    }
    fn MPI_File_iread_at_all[_c](call, fh: FileHandle, offset: Offset, buf: Buffer, count: Count, datatype: TypeHandle, request: RequestAt) {
        call.start_requested(access(fh, Read, Here(offset), Together, (buf, count, datatype)), request)
    }
    fn MPI_File_iwrite_at[_c](call, fh: FileHandle, offset: Offset, buf: Buffer, count: Count, datatype: TypeHandle, request: RequestAt) {
        call.start_requested(access(fh, Write, Here(offset), Alone, (buf, count, datatype)), request)
    }
    fn MPI_File_iwrite_at_all[_c](call, fh: FileHandle, offset: Offset, buf: Buffer, count: Count, datatype: TypeHandle, request: RequestAt) {
        call.start_requested(access(fh, Write, Here(offset), Together, (buf, count, datatype)), request)
    }
    fn MPI_File_read[_c](call, fh: FileHandle, buf: Buffer, count: Count, datatype: TypeHandle, status: StatusAt) {
        call.access(access(fh, Read, Own, Alone, (buf, count, datatype)), status)
    }
    fn MPI_File_read_all[_c](call, fh: FileHandle, buf: Buffer, count: Count, datatype: TypeHandle, status: StatusAt) {
        call.access(access(fh, Read, Own, Together, (buf, count, datatype)), status)
    }
    fn MPI_File_write[_c](call, fh: FileHandle, buf: Buffer, count: Count, datatype: TypeHandle, status: StatusAt) {
        call.access(access(fh, Write, Own, Alone, (buf, count, datatype)), status)
    }
    fn MPI_File_write_all[_c](call, fh: FileHandle, buf: Buffer, count: Count, datatype: TypeHandle, status: StatusAt) {
        call.access(access(fh, Write, Own, Together, (buf, count, datatype)), status)
    }
    fn MPI_File_iread[_c](call, fh: FileHandle, buf: Buffer, count: Count, datatype: TypeHandle, request: RequestAt) {
        call.start_requested(access(fh, Read, Own, Alone, (buf, count, datatype)), request)
    }
    fn MPI_File_iread_all[_c](call, fh: FileHandle, buf: Buffer, count: Count, datatype: TypeHandle, request: RequestAt) {
        call.start_requested(access(fh, Read, Own, Together, (buf, count, datatype)), request)
    }
    fn MPI_File_iwrite[_c](call, fh: FileHandle, buf: Buffer, count: Count, datatype: TypeHandle, request: RequestAt) {
        call.start_requested(access(fh, Write, Own, Alone, (buf, count, datatype)), request)
    }
    fn MPI_File_iwrite_all[_c](call, fh: FileHandle, buf: Buffer, count: Count, datatype: TypeHandle, request: RequestAt) {
        call.start_requested(access(fh, Write, Own, Together, (buf, count, datatype)), request)
    }
    fn MPI_File_read_shared[_c](call, fh: FileHandle, buf: Buffer, count: Count, datatype: TypeHandle, status: StatusAt) {
        call.access(access(fh, Read, Shared, Alone, (buf, count, datatype)), status)
    }
    fn MPI_File_write_shared[_c](call, fh: FileHandle, buf: Buffer, count: Count, datatype: TypeHandle, status: StatusAt) {
        call.access(access(fh, Write, Shared, Alone, (buf, count, datatype)), status)
    }
    fn MPI_File_iread_shared[_c](call, fh: FileHandle, buf: Buffer, count: Count, datatype: TypeHandle, request: RequestAt) {
        call.start_requested(access(fh, Read, Shared, Alone, (buf, count, datatype)), request)
    }
    fn MPI_File_iwrite_shared[_c](call, fh: FileHandle, buf: Buffer, count: Count, datatype: TypeHandle, request: RequestAt) {
        call.start_requested(access(fh, Write, Shared, Alone, (buf, count, datatype)), request)
    }
    fn MPI_File_read_ordered[_c](call, fh: FileHandle, buf: Buffer, count: Count, datatype: TypeHandle, status: StatusAt) {
        call.access(access(fh, Read, Ordered, Together, (buf, count, datatype)), status)
    }
    fn MPI_File_write_ordered[_c](call, fh: FileHandle, buf: Buffer, count: Count, datatype: TypeHandle, status: StatusAt) {
        call.access(access(fh, Write, Ordered, Together, (buf, count, datatype)), status)
    }
    fn MPI_File_read_at_all_begin[_c](call, fh: FileHandle, offset: Offset, buf: Buffer, count: Count, datatype: TypeHandle) {
        call.begin_split(access(fh, Read, Here(offset), Together, (buf, count, datatype)))
    }
    fn MPI_File_read_at_all_end(call, fh: FileHandle, _buf: Buffer, status: StatusAt) {
        call.end_split(fh, status)
    }
    fn MPI_File_write_at_all_begin[_c](call, fh: FileHandle, offset: Offset, buf: Buffer, count: Count, datatype: TypeHandle) {
        call.begin_split(access(fh, Write, Here(offset), Together, (buf, count, datatype)))
    }
    fn MPI_File_write_at_all_end(call, fh: FileHandle, _buf: Buffer, status: StatusAt) {
        call.end_split(fh, status)
    }
    fn MPI_File_read_all_begin[_c](call, fh: FileHandle, buf: Buffer, count: Count, datatype: TypeHandle) {
        call.begin_split(access(fh, Read, Own, Together, (buf, count, datatype)))
    }
    fn MPI_File_read_all_end(call, fh: FileHandle, _buf: Buffer, status: StatusAt) {
        call.end_split(fh, status)
    }
    fn MPI_File_write_all_begin[_c](call, fh: FileHandle, buf: Buffer, count: Count, datatype: TypeHandle) {
        call.begin_split(access(fh, Write, Own, Together, (buf, count, datatype)))
    }
    fn MPI_File_write_all_end(call, fh: FileHandle, _buf: Buffer, status: StatusAt) {
        call.end_split(fh, status)
    }
    fn MPI_File_read_ordered_begin[_c](call, fh: FileHandle, buf: Buffer, count: Count, datatype: TypeHandle) {
        call.begin_split(access(fh, Read, Ordered, Together, (buf, count, datatype)))
    }
    fn MPI_File_read_ordered_end(call, fh: FileHandle, _buf: Buffer, status: StatusAt) {
        call.end_split(fh, status)
    }
    fn MPI_File_write_ordered_begin[_c](call, fh: FileHandle, buf: Buffer, count: Count, datatype: TypeHandle) {
        call.begin_split(access(fh, Write, Ordered, Together, (buf, count, datatype)))
    }
    fn MPI_File_write_ordered_end(call, fh: FileHandle, _buf: Buffer, status: StatusAt) {
        call.end_split(fh, status)
    }
}
