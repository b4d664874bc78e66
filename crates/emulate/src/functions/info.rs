//! Infos: lists of keys and values.

use std::cell::RefCell;
use std::rc::Rc;

use hpcast_objects::info::Limits;
use hpcast_objects::{ErrorClass, Info, InfoError};

use crate::argument::{At, InfoAt, InfoHandle, Text, TextAt};
use crate::call::{Call, mpi};
use crate::fault::Fault;

/// MPI_INFO_ENV.
const ENVIRONMENT: u32 = 1;

fn fault(error: InfoError) -> Fault {
    Fault::new(error.class(), error.to_string())
}

impl Call<'_> {
    fn limits(&self) -> Limits {
        // The constants count the zero that ends a string.
        let room = |name| self.abi.constant(name).max(2) as usize - 1;
        Limits { key: room("MPI_MAX_INFO_KEY"), value: room("MPI_MAX_INFO_VAL") }
    }

    /// A new info of the program.
    pub(super) fn add_info(&self, info: Info) -> u32 {
        self.me.objects.infos.insert(Rc::new(RefCell::new(info)))
    }

    /// An info without keys.
    pub(super) fn new_info(&self) -> Info {
        Info::new(self.limits())
    }

    /// An info of the program.
    pub(super) fn info(&self, handle: InfoHandle) -> Result<Rc<RefCell<Info>>, Fault> {
        if handle.number == ENVIRONMENT {
            return Ok(Rc::new(RefCell::new(self.environment())));
        }
        let found = self.me.objects.infos.get(handle.number);
        found.ok_or_else(|| Fault::new(ErrorClass::Info, "no such info"))
    }

    /// A copy of an info that may be MPI_INFO_NULL.
    pub(super) fn hints(&self, handle: InfoHandle) -> Result<Info, Fault> {
        if handle.number == 0 { Ok(self.new_info()) } else { Ok(self.info(handle)?.borrow().clone()) }
    }

    /// What MPI_INFO_ENV says of how the program was started.
    pub(super) fn environment(&self) -> Info {
        let mut info = self.new_info();
        let folder = std::env::current_dir().map(|folder| folder.display().to_string()).unwrap_or_default();
        let command = &self.me.world.command;
        let levels = ["MPI_THREAD_SINGLE", "MPI_THREAD_FUNNELED", "MPI_THREAD_SERIALIZED", "MPI_THREAD_MULTIPLE"];
        let level = self.abi.name_of(self.me.thread_level.get(), &levels).unwrap_or(levels[0]);
        let size = self.me.world.size.to_string();
        let pairs = [
            ("command", command.as_str()),
            ("maxprocs", &size),
            ("soft", &size),
            ("wdir", &folder),
            ("thread_level", level),
        ];
        for (key, value) in pairs {
            // What is too long for an info is left out.
            let _ = info.set(key.as_bytes(), value.as_bytes());
        }
        info
    }

    /// Writes a value as far as there is room.
    fn set_value(&self, at: TextAt, value: &[u8], room: usize) {
        // Texts of Fortran may have more room than the program asks for.
        at.set(&String::from_utf8_lossy(&value[..value.len().min(room)]), room);
    }
}

mpi! {
    fn MPI_Info_create(call, info: InfoAt) {
        info.set(call, call.add_info(call.new_info()));
        Ok(())
    }
    fn MPI_Info_create_env(call, _argc: i32, _argv: At<usize>, info: InfoAt) {
        info.set(call, call.add_info(call.environment()));
        Ok(())
    }
    fn MPI_Info_set(call, info: InfoHandle, key: Text, value: Text) {
        if info.number == ENVIRONMENT {
            return Err(Fault::new(ErrorClass::Info, "MPI_INFO_ENV cannot be changed"));
        }
        call.info(info)?.borrow_mut().set(key.0.as_bytes(), value.0.as_bytes()).map_err(fault)
    }
    fn MPI_Info_delete(call, info: InfoHandle, key: Text) {
        call.info(info)?.borrow_mut().delete(key.0.as_bytes()).map_err(fault)
    }
    fn MPI_Info_get(call, info: InfoHandle, key: Text, valuelen: i32, value: TextAt, flag: At<i32>) {
        let info = call.info(info)?;
        let info = info.borrow();
        let found = info.get(key.0.as_bytes()).map_err(fault)?;
        flag.set(i32::from(found.is_some()));
        if let Some(found) = found {
            call.set_value(value, found, valuelen.max(0) as usize);
        }
        Ok(())
    }
    /// `buflen` counts the zero of C, and becomes what the whole value needs.
    fn MPI_Info_get_string(call, info: InfoHandle, key: Text, buflen: At<i32>, value: TextAt, flag: At<i32>) {
        let info = call.info(info)?;
        let info = info.borrow();
        let found = info.get(key.0.as_bytes()).map_err(fault)?;
        flag.set(i32::from(found.is_some()));
        if let Some(found) = found {
            let zero = i32::from(call.language == crate::call::Language::C);
            if buflen.get() > 0 {
                call.set_value(value, found, (buflen.get() - zero) as usize);
            }
            buflen.set(found.len() as i32 + zero);
        }
        Ok(())
    }
    fn MPI_Info_get_valuelen(call, info: InfoHandle, key: Text, valuelen: At<i32>, flag: At<i32>) {
        let info = call.info(info)?;
        let info = info.borrow();
        let found = info.get(key.0.as_bytes()).map_err(fault)?;
        flag.set(i32::from(found.is_some()));
        if let Some(found) = found {
            valuelen.set(found.len() as i32);
        }
        Ok(())
    }
    fn MPI_Info_get_nkeys(call, info: InfoHandle, nkeys: At<i32>) {
        nkeys.set(call.info(info)?.borrow().len() as i32);
        Ok(())
    }
    fn MPI_Info_get_nthkey(call, info: InfoHandle, n: i32, key: TextAt) {
        let info = call.info(info)?;
        let info = info.borrow();
        let found = info.nth_key(n as u32 as usize).map_err(fault)?;
        call.set_value(key, found, call.limits().key);
        Ok(())
    }
    fn MPI_Info_dup(call, info: InfoHandle, newinfo: InfoAt) {
        let copy = call.info(info)?.borrow().clone();
        newinfo.set(call, call.add_info(copy));
        Ok(())
    }
    fn MPI_Info_free(call, info: InfoAt) {
        if call.me.objects.infos.remove(info.get(call)).is_none() {
            return Err(Fault::new(ErrorClass::Info, "no info that can be freed"));
        }
        info.set(call, 0);
        Ok(())
    }
}
