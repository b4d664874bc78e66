//! Operations of the program, what is reduced with operations, and reductions without communication.

use std::rc::Rc;

use hpcast_objects::datatype::Combiner;
use hpcast_objects::{Basic, Datatype, ErrorClass};

use crate::argument::{At, Buffer, Count, OpAt, OpHandle, TypeHandle, UserFunction};
use crate::call::{Call, mpi};
use crate::fault::Fault;
use crate::reduction::{Op, Reduction};

impl Call<'_> {
    /// A reduction, if the operation goes with the datatype.
    pub(super) fn reduction(
        &self,
        Count(count): Count,
        datatype: TypeHandle,
        op: OpHandle,
    ) -> Result<Reduction, Fault> {
        if count < 0 {
            return Err(Fault::new(ErrorClass::Count, format!("the count is {count}")));
        }
        let op = self.op(op)?;
        let reduction = Reduction { op, datatype: self.me.datatype(datatype.number)?, handle: datatype.number, count };
        if let Op::Predefined(operation) = op {
            let Some(basic) = reducible(&reduction.datatype) else {
                return Err(Fault::new(ErrorClass::Op, format!("{} needs a predefined datatype", operation.name())));
            };
            if !operation.reduces() {
                return Err(Fault::new(ErrorClass::Op, format!("{} is for one-sided calls only", operation.name())));
            }
            operation.kernel(basic).map_err(|error| Fault::new(error.class(), error.to_string()))?;
        }
        Ok(reduction)
    }
}

/// What MPI's own operations take: predefined datatypes, those of a precision and range among them.
fn reducible(datatype: &Datatype) -> Option<Basic> {
    match datatype.combiner() {
        Combiner::F90Integer | Combiner::F90Real | Combiner::F90Complex => datatype.uniform(),
        _ => datatype.as_basic(),
    }
}

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
