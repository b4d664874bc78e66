//! What the C++ libraries of Open MPI 4 and MPICH 4 ask of the library below them: functions of the program in C++ are called
//! through functions of these libraries, which make objects of handles.

use std::ffi::c_int;
use std::mem::offset_of;
use std::rc::Rc;

use hpcast_objects::ErrorClass;

use crate::abi::{Kind, Library, Object};
use crate::argument::{Argument, At, Callback, ErrhandlerHandle, OpHandle};
use crate::call::{Address, Call, Language, Named, make};
use crate::fault::{Answer, Fault, Handler};
use crate::process::OwnHandler;
use crate::processes::gate::call_program;
use crate::reduction::Op;

/// Open MPI: what was given to MPI_Op_create calls that function of the program.
unsafe extern "C" fn open_mpi_op(op: usize, function: usize) {
    _ = make(Named::new("MPI::Op::Init", false), Language::C, |call| {
        set_op(call, op, |known| Callback { address: function, through: known.address, ..known })
    });
}

/// MPICH: that calls what was given to MPI_Op_create.
unsafe extern "C" fn mpich_op(op: usize, through: usize) {
    _ = make(Named::new("MPI::Op::Init", false), Language::C, |call| {
        set_op(call, op, |known| Callback { through, ..known })
    });
}

fn set_op(call: &Call<'_>, word: usize, change: impl FnOnce(Callback) -> Callback) -> Answer {
    // SAFETY: the library gives the handle that it has made.
    let number = unsafe { OpHandle::from_c(word, call) }.number;
    let set = |known: &mut Rc<Op>| {
        if let Op::Own { function, commutes } = **known {
            *known = Rc::new(Op::Own { function: change(function), commutes });
        }
    };
    call.me.objects.ops.with(number, set).ok_or_else(|| Fault::new(ErrorClass::Op, "no such operation"))
}

/// Open MPI: a key of attributes. The last two arguments are flags, and what is freed with the key.
unsafe extern "C" fn open_mpi_keyval(
    kind: c_int,
    copy: usize,
    delete: usize,
    key: usize,
    extra: usize,
    _: c_int,
    _: usize,
) -> c_int {
    const TYPE: c_int = 2;
    const WIN: c_int = 3;
    make(Named::new("MPI::Comm::Create_keyval", false), Language::C, |call| {
        let kind = match kind {
            TYPE => Kind::Datatype,
            WIN => Kind::Win,
            _ => Kind::Comm,
        };
        // SAFETY: the library gives two functions, and the address of an integer.
        let (copy, delete, key) = unsafe {
            (Callback::from_c(copy, call), Callback::from_c(delete, call), <At<i32> as Argument>::from_c(key, call))
        };
        key.set(call.new_keyval(kind, copy, delete, extra as i64, false));
        Ok(())
    })
}

/// MPICH: these call the functions of a key.
unsafe extern "C" fn mpich_keyval(key: c_int, copy: usize, delete: usize) {
    _ = make(Named::new("MPI::Comm::Create_keyval", false), Language::C, |call| {
        let kinds = [Kind::Comm, Kind::Datatype, Kind::Win];
        if let Some(keyval) = kinds.into_iter().find_map(|kind| call.keyval(kind, key).ok()) {
            keyval.through.set([copy, delete]);
        }
        Ok(())
    });
}

/// An error handler of Open MPI, as its library for C++ knows it.
#[repr(C)]
struct OpenMpiHandler {
    before: [usize; 15],
    /// Calls the function of the program; the library writes it.
    dispatch: usize,
}

const _: () =
    assert!(offset_of!(OpenMpiHandler, dispatch) == 0x78 && size_of::<OpenMpiHandler>() <= size_of::<Object>());

/// Open MPI: an error handler. Gives its handle, with room for what the library writes into it.
unsafe extern "C" fn open_mpi_handler(_: c_int, function: usize, _: c_int) -> usize {
    let mut handle = 0;
    _ = make(Named::new("MPI::Comm::Create_errhandler", false), Language::C, |call| {
        // SAFETY: the library gives a function.
        let function = unsafe { Callback::from_c(function, call) };
        let handlers = &call.me.objects.handlers;
        let number = handlers.insert(OwnHandler { handler: Handler::Own(function), references: 1 });
        // It stays, since handles that are freed may still be in use.
        handle = Box::into_raw(Box::new(Object::new(number))) as usize;
        let handler = Handler::Own(Callback { through: handle, ..function });
        handlers.with(number, |own| own.handler = handler);
        Ok(())
    });
    handle
}

/// MPICH: that calls the function of an error handler.
unsafe extern "C" fn mpich_handler(handler: usize, through: usize) {
    _ = make(Named::new("MPI::Comm::Create_errhandler", false), Language::C, |call| {
        // SAFETY: the library gives the handle that it has made.
        let number = unsafe { ErrhandlerHandle::from_c(handler, call) }.number;
        call.me.objects.handlers.with(number, |own| {
            if let Handler::Own(function) = &mut own.handler {
                function.through = through;
            }
        });
        Ok(())
    });
}

/// Calls an error handler of the program in C++ with the addresses of a handle and of a code.
///
/// # Safety
/// `through` must be what a function above has noted, and `function` an error handler.
pub(crate) unsafe fn call_handler(
    call: &Call<'_>,
    through: usize,
    kind: Kind,
    [handle, code]: [usize; 2],
    function: usize,
) -> usize {
    if call.abi.library == Library::Mpich {
        let kind = match kind {
            Kind::File => 1,
            Kind::Win => 2,
            _ => 0,
        };
        // SAFETY: as above.
        return unsafe { call_program(through, &[kind, handle, code, function]) };
    }
    // SAFETY: as above. The text that comes before the function may be missing.
    unsafe {
        let dispatch = (*(through as *const OpenMpiHandler)).dispatch;
        call_program(dispatch, &[handle, code, c"".as_ptr() as usize, function])
    }
}

/// The functions, by the names that the libraries give them.
pub(super) fn others() -> Vec<(&'static str, Address)> {
    let all = [
        ("ompi_op_set_cxx_callback", open_mpi_op as *const ()),
        ("ompi_attr_create_keyval", open_mpi_keyval as *const ()),
        ("ompi_errhandler_create", open_mpi_handler as *const ()),
        ("MPII_Op_set_cxx", mpich_op as *const ()),
        ("MPII_Keyval_set_proxy", mpich_keyval as *const ()),
        ("MPII_Errhandler_set_cxx", mpich_handler as *const ()),
    ];
    all.map(|(name, address)| (name, Address(address))).to_vec()
}
