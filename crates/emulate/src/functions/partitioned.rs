//! Partitioned communication: a message whose parts are ready at different times.
//!
//! As in MPICH 4.0, the message leaves when its last part is ready, and all parts arrive together. Parts meet only those of other
//! partitioned messages, so they go through the hidden side of the communicator, with tags of their own (`channels.rs`).

use std::cell::RefCell;
use std::rc::Rc;

use hpcast_mpi::{Mode, Parcel, Receiving, Sending, Style};
use hpcast_objects::ErrorClass;

use super::point_to_point::Described;
use crate::argument::{At, Buffer, CommHandle, Count, InfoHandle, RequestAt, RequestHandle, TypeHandle};
use crate::call::{Call, mpi};
use crate::channels::{Route, Side};
use crate::fault::{Answer, Fault};
use crate::fiber::block_on;
use crate::layout::Layout;
use crate::mail::Place;
use crate::operation::{Active, Operation, Recipe, Then};

/// Parts of a message that is not sent yet.
pub struct Parts {
    is_ready: RefCell<Vec<bool>>,
    sending: Sending,
    address: usize,
    layout: Layout,
}

impl Parts {
    fn send(&self, call: &Call<'_>) -> Active {
        let place = Place { address: self.address as *mut u8, layout: self.layout.clone() };
        let sending = Sending { parcel: call.me.world.mail.send(place), ..self.sending };
        Active { request: Some(call.me.rank.start_send(sending, Style::Nonblocking)), then: Then::Sent }
    }
}

impl Call<'_> {
    /// All parts together.
    fn whole(
        &self,
        buffer: Buffer,
        partitions: i32,
        count: i64,
        datatype: TypeHandle,
        (peer, tag, comm): (i32, i32, CommHandle),
    ) -> Result<Described, Fault> {
        if partitions < 0 {
            let fault = Fault::new(ErrorClass::Count, format!("{partitions} partitions"));
            return Err(fault.of_comm(comm.number));
        }
        Ok(Described { buffer, count: Count(count.saturating_mul(partitions.into())), datatype, peer, tag, comm })
    }

    fn persistent(&self, request: RequestAt, start: impl Fn(&Call<'_>) -> Result<Active, Fault> + 'static) -> Answer {
        request.set(self, self.me.new_request(Operation::persistent(Recipe::Own(Rc::new(start)))));
        Ok(())
    }

    /// Some parts are ready.
    fn make_ready(&self, request: RequestHandle, mut partitions: impl Iterator<Item = i32>) -> Answer {
        let wrong = |what: &str| Err(Fault::new(ErrorClass::Request, what));
        let Some(mut operation) = self.me.take_request(request.number) else {
            return wrong("no such request");
        };
        let answer = match &operation.active {
            Some(Active { then: Then::Parts(parts), .. }) => {
                let mut is_ready = parts.is_ready.borrow_mut();
                let mut mark = |partition: i32| match is_ready.get_mut(partition as usize) {
                    Some(ready) if !*ready => {
                        *ready = true;
                        Ok(())
                    }
                    Some(_) => Err(Fault::new(ErrorClass::Arg, format!("partition {partition} is ready already"))),
                    None => Err(Fault::new(ErrorClass::Arg, format!("there is no partition {partition}"))),
                };
                partitions.try_for_each(&mut mark)
            }
            _ => wrong("no partitioned send that was started and has partitions left"),
        };
        let complete = match &operation.active {
            Some(Active { then: Then::Parts(parts), .. }) => {
                parts.is_ready.borrow().iter().all(|&ready| ready).then(|| parts.clone())
            }
            _ => None,
        };
        if let Some(parts) = complete {
            operation.active = Some(parts.send(self));
        }
        self.me.put_request_back(request.number, operation);
        self.tell_threads();
        answer
    }
}

mpi! {
    fn MPI_Psend_init(
        call, buf: Buffer, partitions: i32, count: i64, datatype: TypeHandle, dest: i32, tag: i32, comm: CommHandle,
        _info: InfoHandle, request: RequestAt,
    ) {
        let whole = call.whole(buf, partitions, count, datatype, (dest, tag, comm))?;
        let Some((sending, layout)) = call.sending(&whole, Mode::Standard)? else {
            let status = call.abi.empty_status();
            return call.persistent(request, move |_| Ok(Active::done(status)));
        };
        let (from, to) = (sending.comm.rank(), sending.to);
        let route = Route { context: sending.comm.apart(), from, to, tag };
        let channel = call.me.world.channels.join(route, Side::Send);
        let sending = Sending { comm: sending.comm.hidden(), tag: channel, ..sending };
        let address = buf.address() as usize;
        call.persistent(request, move |call| {
            let is_ready = RefCell::new(vec![false; partitions as usize]);
            let parts = Parts { is_ready, sending, address, layout: layout.clone() };
            if partitions == 0 {
                return Ok(parts.send(call));
            }
            Ok(Active { request: None, then: Then::Parts(Rc::new(parts)) })
        })
    }
    fn MPI_Precv_init(
        call, buf: Buffer, partitions: i32, count: i64, datatype: TypeHandle, dest: i32, tag: i32, comm: CommHandle,
        _info: InfoHandle, request: RequestAt,
    ) {
        let whole = call.whole(buf, partitions, count, datatype, (dest, tag, comm))?;
        let Some((receiving, layout, peers)) = call.receiving(&whole)? else {
            let status = call.proc_null_status();
            return call.persistent(request, move |_| Ok(Active::done(status)));
        };
        let Some(from) = receiving.source else {
            let fault = Fault::new(ErrorClass::Rank, "partitioned messages do not come from any source");
            return Err(fault.of_comm(comm.number));
        };
        if receiving.tag.is_none() {
            let fault = Fault::new(ErrorClass::Tag, "partitioned messages do not come with any tag");
            return Err(fault.of_comm(comm.number));
        }
        let route = Route { context: receiving.comm.apart(), from, to: receiving.comm.rank(), tag };
        let channel = call.me.world.channels.join(route, Side::Receive);
        let receiving =
            Receiving { comm: receiving.comm.hidden(), tag: Some(channel), parcel: Parcel::NONE, ..receiving };
        let address = buf.address() as usize;
        let recipe = Recipe::Receive { receiving, address, layout, peers };
        call.persistent(request, move |call| {
            let mut active = recipe.start(call)?;
            if let Then::Received(received) = active.then {
                active.then = Then::Assembled(Box::new((received, tag)));
            }
            Ok(active)
        })
    }
    fn MPI_Pready(call, partition: i32, request: RequestHandle) {
        call.make_ready(request, std::iter::once(partition))
    }
    fn MPI_Pready_range(call, partition_low: i32, partition_high: i32, request: RequestHandle) {
        call.make_ready(request, partition_low..=partition_high)
    }
    fn MPI_Pready_list(call, length: i32, array_of_partitions: At<i32>, request: RequestHandle) {
        call.make_ready(request, array_of_partitions.list(length.max(0) as usize).into_iter())
    }
    fn MPI_Parrived(call, request: RequestHandle, partition: i32, flag: At<i32>) {
        let _ = partition;
        let Some(operation) = call.me.take_request(request.number) else {
            return Err(Fault::new(ErrorClass::Request, "no such request"));
        };
        let has_arrived = match &operation.active {
            Some(Active { request: Some(pending), .. }) => block_on(call.me.rank.peek(pending)).is_some(),
            _ => true,
        };
        call.me.put_request_back(request.number, operation);
        flag.set(i32::from(has_arrived));
        Ok(())
    }
}
