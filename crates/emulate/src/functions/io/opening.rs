//! MPI_File_open, MPI_File_close and MPI_File_delete.

use std::cell::{Cell, RefCell};
use std::fs;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use hpcast_objects::{Basic, Datatype, ErrorClass};

use super::{failed, fault_of};
use crate::argument::{CommHandle, FileAt, InfoHandle, Text};
use crate::call::{Call, mpi};
use crate::communicator::Communicator;
use crate::fault::{Answer, Concern, Fault, Handler};
use crate::fiber::block_on;
use crate::files::{File, Representation, SharedFile, View};
use crate::processes::baton;

/// ROMIO takes a name of the file system before the path.
fn path_of(name: &str) -> PathBuf {
    let known = ["ufs:", "nfs:", "lustre:", "panfs:", "gpfs:"];
    known.iter().find_map(|prefix| name.strip_prefix(prefix)).unwrap_or(name).into()
}

impl Call<'_> {
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
        let (context, shared) = (*made).as_ref().map_err(Fault::clone)?;
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
            let end = shared.size().map_err(failed(shared))?;
            file.position.set(end);
            shared.position.set(end);
        }
        self.pass_time(0);
        Ok(file)
    }
}

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
        done.map_err(|fault| fault.of(Concern::File(0)))
    }
    fn MPI_File_delete(call, filename: Text, _info: InfoHandle) {
        block_on(call.me.rank.take_turn());
        let path = path_of(&filename.0);
        let done = fs::remove_file(&path).map_err(|error| fault_of(&path, &error).of(Concern::File(0)));
        call.pass_time(0);
        done
    }
}
