//! Operations of the program, and reductions without communication.

use std::rc::Rc;

use hpcast_objects::ErrorClass;

use crate::argument::{At, Buffer, Count, OpAt, OpHandle, TypeHandle, UserFunction};
use crate::call::mpi;
use crate::fault::Fault;
use crate::reduction::Op;

mpi! {
    fn MPI_Op_create[_c](call, user_fn: UserFunction, commute: i32, op: OpAt) {
        let own = Op::Own { function: user_fn.0, commutes: commute != 0 };
        op.set(call, call.me.objects.ops.insert(Rc::new(own)));
        Ok(())
    }
    fn MPI_Op_free(call, op: OpAt) {
        if call.me.objects.ops.remove(op.get(call)).is_none() {
            return Err(Fault::new(ErrorClass::Op, "no operation that can be freed"));
        }
        op.set(call, 0);
        Ok(())
    }
    fn MPI_Op_commutative(call, op: OpHandle, commute: At<i32>) {
        commute.set(i32::from(call.op(op)?.commutes()));
        Ok(())
    }
    fn MPI_Reduce_local[_c](
        call, inbuf: Buffer, inoutbuf: Buffer, count: Count, datatype: TypeHandle, op: OpHandle,
    ) {
        let reduction = call.reduction(count, datatype, op)?;
        // SAFETY: the program says that the items are there.
        unsafe { reduction.apply_at(call, inbuf.address(), inoutbuf.address()) }
    }
}
