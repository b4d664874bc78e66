//! Keys and attributes of communicators and datatypes, and the functions that MPI has for them.

use std::rc::Rc;

use hpcast_objects::ErrorClass;

use crate::abi::{FIRST_OWN, Kind};
use crate::argument::{
    At, CommCopy, CommDelete, CommHandle, CopyFunction, DeleteFunction, OldWord, OldWordAt, TypeCopy, TypeDelete,
    TypeHandle, WinCopy, WinDelete, WinHandle, Word, WordAt,
};
use crate::attributes::{Attributes, Value};
use crate::call::{Address, Call, mpi};
use crate::fault::{Answer, Concern, Fault};

impl Call<'_> {
    fn comm_attributes(&self, comm: CommHandle) -> Result<Rc<Attributes>, Fault> {
        Ok(self.me.comm(comm.number)?.attributes.clone())
    }

    /// The attributes of a datatype.
    pub(super) fn type_attributes(&self, number: u32) -> Result<Rc<Attributes>, Fault> {
        self.me.datatype(number)?;
        if number < FIRST_OWN {
            return Ok(self.me.type_attributes.borrow_mut().entry(number).or_default().clone());
        }
        let found = self.me.objects.types.with(number, |own| own.attributes.clone());
        found.ok_or_else(|| Fault::new(ErrorClass::Type, "no such datatype"))
    }

    fn set_comm_attribute(&self, comm: CommHandle, key: i32, word: i64) -> Answer {
        let attributes = self.comm_attributes(comm)?;
        if self.me.own_attributes.get(self, key).is_some() {
            return Err(Fault::new(ErrorClass::Keyval, "attributes of MPI's own cannot be set").of_comm(comm.number));
        }
        let keyval = self.keyval(Kind::Comm, key).map_err(|fault| fault.of_comm(comm.number))?;
        let value = Value::new(word, self.language);
        attributes.set(self, (Kind::Comm, comm.number), &keyval, value).map_err(|fault| fault.of_comm(comm.number))
    }

    fn comm_attribute(&self, comm: CommHandle, key: i32) -> Result<Option<i64>, Fault> {
        let attributes = self.comm_attributes(comm)?;
        if let Some(word) = self.me.own_attributes.get(self, key) {
            return Ok(Some(word));
        }
        let keyval = self.keyval(Kind::Comm, key).map_err(|fault| fault.of_comm(comm.number))?;
        Ok(attributes.get(&keyval).map(|value| value.seen_by(self.language)))
    }

    fn delete_comm_attribute(&self, comm: CommHandle, key: i32) -> Answer {
        let attributes = self.comm_attributes(comm)?;
        let keyval = self.keyval(Kind::Comm, key).map_err(|fault| fault.of_comm(comm.number))?;
        attributes.delete(self, (Kind::Comm, comm.number), &keyval).map_err(|fault| fault.of_comm(comm.number))
    }
}

mpi! {
    fn MPI_Comm_create_keyval(
        call, comm_copy_attr_fn: CommCopy, comm_delete_attr_fn: CommDelete, comm_keyval: At<i32>, extra_state: Word,
    ) {
        let (copy, delete) = (comm_copy_attr_fn.0, comm_delete_attr_fn.0);
        comm_keyval.set(call.new_keyval(Kind::Comm, copy, delete, extra_state.0, false));
        Ok(())
    }
    fn MPI_Comm_free_keyval(call, comm_keyval: At<i32>) {
        comm_keyval.set(call.free_keyval(Kind::Comm, comm_keyval.get())?);
        Ok(())
    }
    fn MPI_Comm_set_attr(call, comm: CommHandle, comm_keyval: i32, attribute_val: Word) {
        call.set_comm_attribute(comm, comm_keyval, attribute_val.0)
    }
    fn MPI_Comm_get_attr(call, comm: CommHandle, comm_keyval: i32, attribute_val: WordAt, flag: At<i32>) {
        let found = call.comm_attribute(comm, comm_keyval)?;
        flag.set(i32::from(found.is_some()));
        found.into_iter().for_each(|word| attribute_val.set(word));
        Ok(())
    }
    fn MPI_Comm_delete_attr(call, comm: CommHandle, comm_keyval: i32) {
        call.delete_comm_attribute(comm, comm_keyval)
    }
    fn MPI_Keyval_create(
        call, copy_fn: CopyFunction, delete_fn: DeleteFunction, keyval: At<i32>, extra_state: OldWord,
    ) {
        keyval.set(call.new_keyval(Kind::Comm, copy_fn.0, delete_fn.0, extra_state.0, true));
        Ok(())
    }
    fn MPI_Keyval_free(call, keyval: At<i32>) {
        keyval.set(call.free_keyval(Kind::Comm, keyval.get())?);
        Ok(())
    }
    fn MPI_Attr_put(call, comm: CommHandle, keyval: i32, attribute_val: OldWord) {
        call.set_comm_attribute(comm, keyval, attribute_val.0)
    }
    fn MPI_Attr_get(call, comm: CommHandle, keyval: i32, attribute_val: OldWordAt, flag: At<i32>) {
        let found = call.comm_attribute(comm, keyval)?;
        flag.set(i32::from(found.is_some()));
        found.into_iter().for_each(|word| attribute_val.set(word));
        Ok(())
    }
    fn MPI_Attr_delete(call, comm: CommHandle, keyval: i32) {
        call.delete_comm_attribute(comm, keyval)
    }
    fn MPI_Type_create_keyval(
        call, type_copy_attr_fn: TypeCopy, type_delete_attr_fn: TypeDelete, type_keyval: At<i32>, extra_state: Word,
    ) {
        let (copy, delete) = (type_copy_attr_fn.0, type_delete_attr_fn.0);
        type_keyval.set(call.new_keyval(Kind::Datatype, copy, delete, extra_state.0, false));
        Ok(())
    }
    fn MPI_Type_free_keyval(call, type_keyval: At<i32>) {
        type_keyval.set(call.free_keyval(Kind::Datatype, type_keyval.get())?);
        Ok(())
    }
    fn MPI_Type_set_attr(call, datatype: TypeHandle, type_keyval: i32, attribute_val: Word) {
        let attributes = call.type_attributes(datatype.number)?;
        let keyval = call.keyval(Kind::Datatype, type_keyval)?;
        let value = Value::new(attribute_val.0, call.language);
        attributes.set(call, (Kind::Datatype, datatype.number), &keyval, value)
    }
    fn MPI_Type_get_attr(call, datatype: TypeHandle, type_keyval: i32, attribute_val: WordAt, flag: At<i32>) {
        let attributes = call.type_attributes(datatype.number)?;
        let found = attributes.get(&call.keyval(Kind::Datatype, type_keyval)?);
        flag.set(i32::from(found.is_some()));
        found.into_iter().for_each(|value| attribute_val.set(value.seen_by(call.language)));
        Ok(())
    }
    fn MPI_Type_delete_attr(call, datatype: TypeHandle, type_keyval: i32) {
        let attributes = call.type_attributes(datatype.number)?;
        let keyval = call.keyval(Kind::Datatype, type_keyval)?;
        attributes.delete(call, (Kind::Datatype, datatype.number), &keyval)
    }
    fn MPI_Win_create_keyval(
        call, win_copy_attr_fn: WinCopy, win_delete_attr_fn: WinDelete, win_keyval: At<i32>, extra_state: Word,
    ) {
        let (copy, delete) = (win_copy_attr_fn.0, win_delete_attr_fn.0);
        win_keyval.set(call.new_keyval(Kind::Win, copy, delete, extra_state.0, false));
        Ok(())
    }
    fn MPI_Win_free_keyval(call, win_keyval: At<i32>) {
        win_keyval.set(call.free_keyval(Kind::Win, win_keyval.get())?);
        Ok(())
    }
    fn MPI_Win_set_attr(call, win: WinHandle, win_keyval: i32, attribute_val: Word) {
        let window = call.me.window(win.number)?;
        let of = |fault: Fault| fault.of(Concern::Win(win.number));
        let keyval = call.keyval(Kind::Win, win_keyval).map_err(of)?;
        let value = Value::new(attribute_val.0, call.language);
        window.attributes.set(call, (Kind::Win, win.number), &keyval, value).map_err(of)
    }
    fn MPI_Win_get_attr(call, win: WinHandle, win_keyval: i32, attribute_val: WordAt, flag: At<i32>) {
        let window = call.me.window(win.number)?;
        let found = match window.predefined(call, win_keyval) {
            Some(own) => Some(own),
            None => {
                let keyval = call.keyval(Kind::Win, win_keyval).map_err(|fault| fault.of(Concern::Win(win.number)))?;
                window.attributes.get(&keyval).map(|value| value.seen_by(call.language))
            }
        };
        flag.set(i32::from(found.is_some()));
        found.into_iter().for_each(|value| attribute_val.set(value));
        Ok(())
    }
    fn MPI_Win_delete_attr(call, win: WinHandle, win_keyval: i32) {
        let window = call.me.window(win.number)?;
        let of = |fault: Fault| fault.of(Concern::Win(win.number));
        let keyval = call.keyval(Kind::Win, win_keyval).map_err(of)?;
        window.attributes.delete(call, (Kind::Win, win.number), &keyval).map_err(of)
    }
}

unsafe extern "C" fn dup(_: usize, _: i32, _: usize, value: usize, out: *mut usize, flag: *mut i32) -> i32 {
    // SAFETY: whoever copies an attribute passes places for the results.
    unsafe {
        out.write(value);
        flag.write(1);
    }
    0
}

unsafe extern "C" fn null_copy(_: usize, _: i32, _: usize, _: usize, _: *mut usize, flag: *mut i32) -> i32 {
    // SAFETY: as above.
    unsafe { flag.write(0) };
    0
}

extern "C" fn null_delete(_: usize, _: i32, _: usize, _: usize) -> i32 {
    0
}

/// Object, key, extra state, value, new value, whether it is copied, error code.
unsafe extern "C" fn fortran_dup(
    _: usize,
    _: usize,
    _: usize,
    value: *const i64,
    out: *mut i64,
    flag: *mut i32,
    error: *mut i32,
) {
    // SAFETY: as above.
    unsafe {
        out.write_unaligned(value.read_unaligned());
        flag.write(1);
        error.write(0);
    }
}

unsafe extern "C" fn old_fortran_dup(
    _: usize,
    _: usize,
    _: usize,
    value: *const i32,
    out: *mut i32,
    flag: *mut i32,
    error: *mut i32,
) {
    // SAFETY: as above.
    unsafe {
        out.write(value.read());
        flag.write(1);
        error.write(0);
    }
}

unsafe extern "C" fn fortran_null_copy(
    _: usize,
    _: usize,
    _: usize,
    _: usize,
    _: usize,
    flag: *mut i32,
    error: *mut i32,
) {
    // SAFETY: as above.
    unsafe {
        flag.write(0);
        error.write(0);
    }
}

unsafe extern "C" fn fortran_null_delete(_: usize, _: usize, _: usize, _: usize, error: *mut i32) {
    // SAFETY: as above.
    unsafe { error.write(0) };
}

/// The functions that MPI has for attributes, by the names that the libraries give them.
pub(super) fn others() -> Vec<(&'static str, Address)> {
    let (dup, null_copy, null_delete) = (dup as *const (), null_copy as *const (), null_delete as *const ());
    let fortran_dup = fortran_dup as *const ();
    let (fortran_null_copy, fortran_null_delete) = (fortran_null_copy as *const (), fortran_null_delete as *const ());
    let all = [
        ("MPIR_Dup_fn", dup),
        ("OMPI_C_MPI_DUP_FN", dup),
        ("OMPI_C_MPI_COMM_DUP_FN", dup),
        ("OMPI_C_MPI_TYPE_DUP_FN", dup),
        ("OMPI_C_MPI_WIN_DUP_FN", dup),
        ("OMPI_C_MPI_NULL_COPY_FN", null_copy),
        ("OMPI_C_MPI_COMM_NULL_COPY_FN", null_copy),
        ("OMPI_C_MPI_TYPE_NULL_COPY_FN", null_copy),
        ("OMPI_C_MPI_WIN_NULL_COPY_FN", null_copy),
        ("OMPI_C_MPI_NULL_DELETE_FN", null_delete),
        ("OMPI_C_MPI_COMM_NULL_DELETE_FN", null_delete),
        ("OMPI_C_MPI_TYPE_NULL_DELETE_FN", null_delete),
        ("OMPI_C_MPI_WIN_NULL_DELETE_FN", null_delete),
        ("mpi_dup_fn_", old_fortran_dup as *const ()),
        ("mpi_comm_dup_fn_", fortran_dup),
        ("mpi_type_dup_fn_", fortran_dup),
        ("mpi_win_dup_fn_", fortran_dup),
        ("mpi_null_copy_fn_", fortran_null_copy),
        ("mpi_comm_null_copy_fn_", fortran_null_copy),
        ("mpi_type_null_copy_fn_", fortran_null_copy),
        ("mpi_win_null_copy_fn_", fortran_null_copy),
        ("mpi_null_delete_fn_", fortran_null_delete),
        ("mpi_comm_null_delete_fn_", fortran_null_delete),
        ("mpi_type_null_delete_fn_", fortran_null_delete),
        ("mpi_win_null_delete_fn_", fortran_null_delete),
    ];
    all.map(|(name, address)| (name, Address(address))).to_vec()
}
