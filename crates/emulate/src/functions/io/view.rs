//! What a rank sees of a file: MPI_File_set_view, and how data is represented.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use hpcast_objects::{Datatype, ErrorClass};

use super::of;
use crate::argument::{
    At, DatarepConversion, DatarepExtent, Extra, FileHandle, InfoHandle, Offset, Text, TextAt, TypeAt, TypeHandle,
};
use crate::call::{Call, mpi};
use crate::fault::{Answer, Concern, Fault};
use crate::files::{File, Representation, View};
use crate::process::OwnType;

impl Call<'_> {
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
            file.view.borrow().byte_of(file.shared.position.get())
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

mpi! {
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
        })??;
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
}
