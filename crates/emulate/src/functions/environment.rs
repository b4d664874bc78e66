//! MPI_Init, MPI_Finalize, MPI_Wtime and what else concerns the run as a whole.

use hpcast_objects::ErrorClass;

use crate::argument::{At, Buffer, CommHandle, InfoAt, InfoHandle, TextAt};
use crate::call::{Address, Call, Language, Named, make, mpi};
use crate::fault::{Answer, Fault};
use crate::process::{Ending, Process, Stage};
use crate::processes::gate;

/// What MPI_Get_library_version says.
fn library_version() -> String {
    format!("hpcast {}: a simulated machine", env!("CARGO_PKG_VERSION"))
}

pub(super) fn initialise(call: &Call<'_>) -> Answer {
    if call.me.stage.get() != Stage::Before {
        return Err(Fault::new(ErrorClass::Other, "MPI_Init may be called once only"));
    }
    call.me.stage.set(Stage::During);
    call.me.main_thread.set(gate::thread());
    Ok(())
}

pub(super) fn initialise_thread(call: &Call<'_>, required: i32, provided: At<i32>) -> Answer {
    initialise(call)?;
    // A copy has one thread, so any level holds; programs that ask for several and start none are common.
    let most = call.abi.constant("MPI_THREAD_MULTIPLE");
    call.me.thread_level.set(required.min(most));
    provided.set(required.min(most));
    if let Some(threads) = call.me.threads.get().filter(|_| required >= most) {
        threads.allow_many(call.me);
    }
    Ok(())
}

/// Bytes of the types of Fortran.
const FORTRAN: [(&str, usize); 4] =
    [("mpi_logical_size", 4), ("mpi_integer_size", 4), ("mpi_real_size", 4), ("mpi_double_precision_size", 8)];

impl Call<'_> {
    fn tell_sizes(&self, at: InfoAt, sizes: &[(&str, usize)]) -> Answer {
        let mut info = self.new_info();
        for (key, size) in sizes {
            // Keys and numbers are short.
            let _ = info.set(key.as_bytes(), size.to_string().as_bytes());
        }
        at.set(self, self.add_info(info));
        Ok(())
    }
}

mpi! {
    fn MPI_Init(call, _argc: At<i32>, _argv: At<usize>) {
        initialise(call)
    }
    fn MPI_Init_thread(call, _argc: At<i32>, _argv: At<usize>, required: i32, provided: At<i32>) {
        initialise_thread(call, required, provided)
    }
    fn MPI_Query_thread(call, provided: At<i32>) {
        provided.set(call.me.thread_level.get());
        Ok(())
    }
    fn MPI_Is_thread_main(call, flag: At<i32>) {
        flag.set(i32::from(call.me.main_thread.get() == gate::thread()));
        Ok(())
    }
    fn MPI_Initialized(call, flag: At<i32>) {
        flag.set(i32::from(call.me.stage.get() != Stage::Before));
        Ok(())
    }
    fn MPI_Finalized(call, flag: At<i32>) {
        flag.set(i32::from(call.me.stage.get() == Stage::After));
        Ok(())
    }
    fn MPI_Finalize(call) {
        if call.me.stage.get() != Stage::During {
            return Err(Fault::new(ErrorClass::Other, "MPI_Finalize without MPI_Init, or called twice"));
        }
        // The standard (section 11.4.1) has the attributes of MPI_COMM_SELF deleted before all else.
        call.me.comm(2)?.attributes.clear(call, (crate::abi::Kind::Comm, 2))?;
        call.me.stage.set(Stage::After);
        Ok(())
    }
    fn MPI_Abort(call, comm: CommHandle, errorcode: i32) {
        let _ = comm;
        call.me.end(Ending::Abort(errorcode))
    }
    /// That of the header which the program was compiled with.
    fn MPI_Get_version(call, version: At<i32>, subversion: At<i32>) {
        version.set(call.abi.constant("MPI_VERSION"));
        subversion.set(call.abi.constant("MPI_SUBVERSION"));
        Ok(())
    }
    fn MPI_Abi_get_version(_call, abi_major: At<i32>, abi_minor: At<i32>) {
        abi_major.set(1);
        abi_minor.set(0);
        Ok(())
    }
    fn MPI_Abi_get_info(call, info: InfoAt) {
        call.tell_sizes(info, &[("mpi_aint_size", 8), ("mpi_count_size", 8), ("mpi_offset_size", 8)])
    }
    fn MPI_Abi_get_fortran_info(call, info: InfoAt) {
        call.tell_sizes(info, &FORTRAN)
    }
    /// Fortran is as gfortran has it, and known from the beginning.
    fn MPI_Abi_set_fortran_info(_call, _info: InfoHandle) {
        Err(Fault::new(ErrorClass::Arg, "what Fortran's types are is known already"))
    }
    fn MPI_Abi_get_fortran_booleans(
        _call, logical_size: i32, logical_true: Buffer, logical_false: Buffer, is_set: At<i32>,
    ) {
        for (at, value) in [(logical_true, 1u8), (logical_false, 0)] {
            // SAFETY: the program says that there is room for a LOGICAL of that size.
            unsafe {
                at.address().write_bytes(0, logical_size.clamp(1, 16) as usize);
                at.address().write(value);
            }
        }
        is_set.set(1);
        Ok(())
    }
    fn MPI_Abi_set_fortran_booleans(_call, _logical_size: i32, _logical_true: Buffer, _logical_false: Buffer) {
        Err(Fault::new(ErrorClass::Arg, "what Fortran's types are is known already"))
    }
    fn MPI_Get_library_version(call, version: TextAt, resultlen: At<i32>) {
        let room = call.abi.constant("MPI_MAX_LIBRARY_VERSION_STRING").max(1) as usize - 1;
        resultlen.set(version.set(&library_version(), room));
        Ok(())
    }
    fn MPI_Get_processor_name(call, name: TextAt, resultlen: At<i32>) {
        let (node, _) = call.me.world.processor(call.me.number());
        let room = call.abi.constant("MPI_MAX_PROCESSOR_NAME").max(1) as usize - 1;
        resultlen.set(name.set(&format!("node{node}"), room));
        Ok(())
    }
    /// A region begins, if the user has listed one with that level, and the one before ends.
    fn MPI_Pcontrol(call, level: i32) {
        call.me.meter.set_charging(call.me.world.charging_at(level));
        Ok(())
    }
    fn MPI_Alloc_mem(call, size: i64, info: InfoHandle, baseptr: At<usize>) {
        let _ = (info, call);
        let memory = gate::allocate(size.max(1) as usize);
        if memory.is_null() {
            return Err(Fault::new(ErrorClass::NoMem, format!("{size} bytes")));
        }
        baseptr.set(memory as usize);
        Ok(())
    }
    fn MPI_Free_mem(_call, base: Buffer) {
        // SAFETY: the program says that MPI_Alloc_mem gave it.
        unsafe { gate::free(base.address().cast()) };
        Ok(())
    }
    fn MPI_Get_address(call, location: Buffer, address: At<i64>) {
        let _ = call;
        address.set(location.address() as i64);
        Ok(())
    }
    fn MPI_Get_hw_resource_info(call, hw_info: crate::argument::InfoAt) {
        hw_info.set(call, 0);
        Ok(())
    }
}

extern "C" fn wtime() -> f64 {
    let me = Process::current();
    let outer = me.begin_call("MPI_Wtime");
    let now = me.read_clock().as_secs();
    me.end_call(outer);
    now
}

extern "C" fn wtick() -> f64 {
    1e-9
}

extern "C" fn aint_add(base: i64, displacement: i64) -> i64 {
    base.wrapping_add(displacement)
}

extern "C" fn aint_diff(first: i64, second: i64) -> i64 {
    first.wrapping_sub(second)
}

unsafe extern "C" fn aint_add_fortran(base: *const i64, displacement: *const i64) -> i64 {
    // SAFETY: Fortran passes addresses of long integers.
    unsafe { (*base).wrapping_add(*displacement) }
}

unsafe extern "C" fn aint_diff_fortran(first: *const i64, second: *const i64) -> i64 {
    // SAFETY: as above.
    unsafe { (*first).wrapping_sub(*second) }
}

/// MPI_Pcontrol of Fortran has no place for an error code.
unsafe extern "C" fn pcontrol_fortran(level: *const i32) {
    make(Named::new("MPI_Pcontrol", false), Language::Fortran, |call| {
        // SAFETY: Fortran passes the address of an integer.
        MPI_Pcontrol(call, unsafe { *level })
    });
}

/// Functions that give no error code.
pub(super) fn others() -> Vec<(&'static str, Address)> {
    vec![
        ("MPI_Wtime", Address(wtime as *const ())),
        ("MPI_Wtick", Address(wtick as *const ())),
        ("mpi_wtime_", Address(wtime as *const ())),
        ("mpi_wtick_", Address(wtick as *const ())),
        ("MPI_Aint_add", Address(aint_add as *const ())),
        ("MPI_Aint_diff", Address(aint_diff as *const ())),
        ("mpi_aint_add_", Address(aint_add_fortran as *const ())),
        ("mpi_aint_diff_", Address(aint_diff_fortran as *const ())),
        ("mpi_pcontrol_", Address(pcontrol_fortran as *const ())),
    ]
}
