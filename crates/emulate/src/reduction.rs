//! Reductions: MPI's own operations and those of the program, on data of all ranks.

use std::rc::Rc;

use hpcast_mpi::collectives::{Order, Part};
use hpcast_objects::{Datatype, ErrorClass, Operation};

use crate::abi::{Kind, Library};
use crate::argument::{Callback, OpHandle};
use crate::call::{Call, Language};
use crate::fault::{Answer, Fault};
use crate::memory;
use crate::processes::gate::call_program;

/// An operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    /// One of MPI's.
    Predefined(Operation),
    /// A function of the program.
    Own {
        /// The function.
        function: Callback,
        /// Whether the order does not matter.
        commutes: bool,
    },
}

impl Op {
    /// Whether the order does not matter.
    pub fn commutes(self) -> bool {
        match self {
            Op::Predefined(operation) => operation.commutes(),
            Op::Own { commutes, .. } => commutes,
        }
    }

    /// What it costs, as the simulation sees it.
    pub fn operator(self) -> hpcast_mpi::collectives::Operator {
        use hpcast_mpi::collectives::Operator;
        match self {
            Op::Predefined(_) => Operator::BuiltIn,
            Op::Own { commutes: true, .. } => Operator::Commutative,
            Op::Own { commutes: false, .. } => Operator::Ordered,
        }
    }
}

/// What is reduced: items of a datatype, known by a handle of the program, by an operation.
#[derive(Clone)]
pub struct Reduction {
    /// The operation.
    pub op: Op,
    /// The datatype.
    pub datatype: Datatype,
    /// Its handle, for the functions of the program.
    pub handle: u32,
    /// How many items.
    pub count: i64,
}

impl Reduction {
    /// Where the data of the items begins and how long the memory is that holds it, gaps included.
    fn span(&self) -> (i64, usize) {
        if self.count == 0 {
            return (0, 0);
        }
        let length = (self.count - 1) * self.datatype.extent() + self.datatype.true_extent();
        (self.datatype.true_lb(), length.max(0) as usize)
    }

    /// A copy of the memory that holds the data, gaps included: functions of the program need it as it lies.
    /// Nothing of what is folded: it has no meaning.
    ///
    /// # Safety
    /// The items must begin at `address`.
    pub unsafe fn image(&self, address: *const u8) -> Vec<u8> {
        let (begin, length) = self.span();
        if length == 0 || memory::is_folded(address.wrapping_offset(begin as isize)) {
            return Vec::new();
        }
        // SAFETY: as above.
        unsafe { std::slice::from_raw_parts(address.wrapping_offset(begin as isize), length).to_vec() }
    }

    /// Puts the data of an image into the program's memory; gaps stay as they are.
    ///
    /// # Safety
    /// The items must begin at `address`.
    pub unsafe fn restore(&self, image: &[u8], address: *mut u8) {
        let (begin, length) = self.span();
        if length == 0 || image.len() < length {
            return;
        }
        let source = image.as_ptr().wrapping_offset(-begin as isize);
        let layout = crate::layout::Layout::new(&self.datatype, self.count);
        // SAFETY: as above; the image holds all that lies between the first byte of the data and the last.
        unsafe { crate::layout::Layout::copy(&layout, source, &layout, address) };
    }

    /// inout = input op inout, on images.
    pub fn apply(&self, call: &Call<'_>, input: &[u8], inout: &mut [u8]) -> Answer {
        let (begin, length) = self.span();
        if length == 0 {
            return Ok(());
        }
        if memory::is_folding() && (input.is_empty() || inout.is_empty()) {
            return Ok(());
        }
        if input.len() < length || inout.len() < length {
            return Err(Fault::new(ErrorClass::Count, "ranks bring different amounts of data to a reduction"));
        }
        let source = input.as_ptr().wrapping_offset(-begin as isize);
        let target = inout.as_mut_ptr().wrapping_offset(-begin as isize);
        // SAFETY: both images hold the data.
        unsafe { self.apply_at(call, source, target) }
    }

    /// inout = input op inout, in the program's memory.
    ///
    /// # Safety
    /// The items must begin at the addresses.
    pub unsafe fn apply_at(&self, call: &Call<'_>, input: *const u8, inout: *mut u8) -> Answer {
        match self.op {
            Op::Predefined(operation) => {
                // SAFETY: as above.
                let done = unsafe { operation.apply_items(&self.datatype, self.count, input, inout) };
                done.map_err(|error| Fault::new(error.class(), error.to_string()))
            }
            Op::Own { function, .. } => {
                let handles = call.abi.handles();
                // Functions of MPI_Op_create look at the lower half of it.
                let mut length = self.count;
                let mut word = match function.language {
                    Language::C => handles.to_c(Kind::Datatype, self.handle, call.me.base()),
                    Language::Fortran => handles.to_fortran(Kind::Datatype, self.handle) as usize,
                };
                let arguments = [input as usize, inout as usize, &raw mut length as usize, &raw mut word as usize];
                // SAFETY: the program has said that this is an operation; the data is as it expects.
                unsafe {
                    match (function.through, call.abi.library) {
                        (0, _) => call_program(function.address, &arguments),
                        // MPICH gives values, not their addresses.
                        (through, Library::Mpich) => {
                            let [input, inout, ..] = arguments;
                            call_program(through, &[input, inout, length as usize, word, function.address])
                        }
                        (through, _) => call_program(through, &[&arguments[..], &[function.address]].concat()),
                    }
                };
                Ok(())
            }
        }
    }

    /// Whether items lie one after the other.
    pub fn is_in_order(&self) -> bool {
        self.datatype.extent() > 0
    }

    /// The images of all ranks, combined in that order. Items must lie one after the other.
    pub fn combine_in(&self, call: &Call<'_>, mut images: Vec<Vec<u8>>, order: Order) -> Result<Vec<u8>, Fault> {
        let mut result = Vec::new();
        for Part { first, count, steps, result: holder } in order {
            let items = Reduction { count: count as i64, ..self.clone() };
            let offset = first as usize * self.datatype.extent() as usize;
            for (from, into) in steps {
                let pair = images.get_disjoint_mut([from as usize, into as usize]);
                let [input, inout] = pair.expect("an order names two ranks in each step");
                let [input, inout] = [input, inout].map(|image| image.get_mut(offset..).unwrap_or_default());
                items.apply(call, input, inout)?;
            }
            let held = &mut images[holder as usize];
            if count as i64 == self.count {
                return Ok(std::mem::take(held));
            }
            result.resize(held.len(), 0);
            let length = items.span().1.min(held.len().saturating_sub(offset));
            if length > 0 {
                result[offset..offset + length].copy_from_slice(&held[offset..offset + length]);
            }
        }
        Ok(result)
    }

    /// The images of some ranks, combined in the order of ranks.
    pub fn combine(&self, call: &Call<'_>, images: &[Rc<Vec<u8>>]) -> Result<Vec<u8>, Fault> {
        let Some((last, others)) = images.split_last() else { return Ok(Vec::new()) };
        let mut result = last.to_vec();
        for image in others.iter().rev() {
            self.apply(call, image, &mut result)?;
        }
        Ok(result)
    }
}

impl Call<'_> {
    /// An operation of the program.
    pub fn op(&self, handle: OpHandle) -> Result<Op, Fault> {
        if handle.number == 0 {
            return Err(Fault::new(ErrorClass::Op, "MPI_OP_NULL is no operation"));
        }
        if let Some(&operation) = Operation::ALL.get(handle.number as usize - 1) {
            return Ok(Op::Predefined(operation));
        }
        let found = self.me.objects.ops.get(handle.number).map(|op| *op);
        found.ok_or_else(|| Fault::new(ErrorClass::Op, "no such operation"))
    }
}
