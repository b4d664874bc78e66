//! MPI_Send, MPI_Recv and their relatives.

use hpcast_mpi::{Mode, Receiving, Request, Sending, Source, Style, Tag};
use hpcast_objects::{Basic, ErrorClass};

use crate::abi::Status;
use crate::argument::{At, Buffer, CommHandle, Count, MessageAt, RequestAt, StatusAt, TypeHandle};
use crate::aside::aside;
use crate::call::{Call, mpi};
use crate::communicator::Peers;
use crate::fault::{Answer, Fault};
use crate::fiber::block_on;
use crate::layout::Layout;
use crate::mail::Place;
use crate::operation::{Active, Operation, Received, Recipe, Then};
use crate::process::Probed;

/// A message as a program describes it.
#[derive(Clone, Copy)]
pub(super) struct Described {
    pub buffer: Buffer,
    pub count: Count,
    pub datatype: TypeHandle,
    /// The other rank, in the program's words.
    pub peer: i32,
    pub tag: i32,
    pub comm: CommHandle,
}

/// What has become of a blocking send.
enum Posted {
    /// It is over.
    Over,
    /// It is over, and the rank is far ahead of the simulation.
    Ahead,
    /// It waits for its receiver.
    Waits(Request),
}

/// The largest tag (MPI_TAG_UB).
pub(crate) const TAG_UB: i32 = i32::MAX;

#[cold]
fn no_count(count: i64) -> Fault {
    Fault::new(ErrorClass::Count, format!("the count is {count}"))
}

#[cold]
fn no_tag(tag: i32) -> Fault {
    Fault::new(ErrorClass::Tag, format!("the tag is {tag}"))
}

#[cold]
fn no_buffer(described: &Described) -> Fault {
    let detail = format!("there is no buffer at {:p}", described.buffer.address());
    Fault::new(ErrorClass::Buffer, detail).of_comm(described.comm.number)
}

impl Call<'_> {
    /// How items of a datatype lie.
    #[inline(always)]
    pub(crate) fn layout(&self, Count(count): Count, datatype: TypeHandle) -> Result<Layout, Fault> {
        if count < 0 {
            return Err(no_count(count));
        }
        // Most data is of predefined datatypes, which need no object.
        if let Some(size) = Basic::size_side_by_side((datatype.number as usize).wrapping_sub(1)) {
            return Ok(Layout::Bytes((size * count) as u64));
        }
        Ok(Layout::new(&self.me.datatype(datatype.number)?, count))
    }

    #[inline(always)]
    fn described_layout(&self, described: &Described) -> Result<Layout, Fault> {
        let &Described { count, datatype, comm, .. } = described;
        self.layout(count, datatype).map_err(|fault| fault.of_comm(comm.number))
    }

    /// A buffer at the very beginning of memory is a mistake, and better told here than when somebody touches it.
    #[inline(always)]
    fn check_buffer(&self, described: &Described, layout: &Layout) -> Answer {
        let is_run = matches!(layout, Layout::Bytes(bytes) if *bytes > 0);
        if is_run && (described.buffer.address() as usize) < 4096 {
            return Err(no_buffer(described));
        }
        Ok(())
    }

    /// A send, apart from its data; none to MPI_PROC_NULL.
    #[inline(always)]
    pub(super) fn sending(&self, described: &Described, mode: Mode) -> Result<Option<(Sending, Layout)>, Fault> {
        let &Described { peer, tag, comm: handle, .. } = described;
        let peers = self.me.peers(handle.number)?;
        let layout = self.described_layout(described)?;
        if peer == self.abi.proc_null {
            return Ok(None);
        }
        let to = peers.peer(peer).map_err(|fault| fault.of_comm(handle.number))?;
        if tag < 0 {
            return Err(no_tag(tag).of_comm(handle.number));
        }
        self.check_buffer(described, &layout)?;
        let parcel = hpcast_mpi::Parcel::NONE;
        Ok(Some((Sending { comm: peers.comm, to, tag, bytes: layout.bytes(), mode, parcel }, layout)))
    }

    /// A receive, apart from its data; none from MPI_PROC_NULL.
    #[inline(always)]
    pub(super) fn receiving(&self, described: &Described) -> Result<Option<(Receiving, Layout, Peers)>, Fault> {
        let &Described { peer, tag, comm: handle, .. } = described;
        let peers = self.me.peers(handle.number)?;
        let layout = self.described_layout(described)?;
        if peer == self.abi.proc_null {
            return Ok(None);
        }
        let (source, tag) = self.pattern(&peers, peer, tag).map_err(|fault| fault.of_comm(handle.number))?;
        self.check_buffer(described, &layout)?;
        let parcel = hpcast_mpi::Parcel::NONE;
        Ok(Some((Receiving { comm: peers.comm, source, tag, parcel }, layout, peers)))
    }

    /// What a receive or probe accepts.
    #[inline(always)]
    fn pattern(&self, peers: &Peers, source: i32, tag: i32) -> Result<(Option<u32>, Option<i32>), Fault> {
        let source = if source == self.abi.any_source { None } else { Some(peers.peer(source)?) };
        let tag = if tag == self.abi.any_tag { None } else { Some(tag) };
        if let Some(tag) = tag.filter(|&tag| tag < 0) {
            return Err(no_tag(tag));
        }
        Ok((source, tag))
    }

    /// What a receive from MPI_PROC_NULL gives.
    pub(crate) fn proc_null_status(&self) -> Status {
        Status { source: self.abi.proc_null, ..self.abi.empty_status() }
    }

    /// A send from the program's buffer.
    #[inline(always)]
    fn outgoing(&self, described: &Described, mode: Mode) -> Result<Option<Sending>, Fault> {
        let Some((sending, layout)) = self.sending(described, mode)? else { return Ok(None) };
        let parcel = self.me.world.mail.send(Place { address: described.buffer.address(), layout });
        Ok(Some(Sending { parcel, ..sending }))
    }

    /// A send of a copy: something else will be received where the data was.
    fn outgoing_copy(&self, described: &Described) -> Result<Option<Sending>, Fault> {
        let Some((sending, layout)) = self.sending(described, Mode::Standard)? else { return Ok(None) };
        // SAFETY: the program's buffer.
        let copy = unsafe { layout.pack_written(described.buffer.address()) };
        Ok(Some(Sending { parcel: self.me.world.mail.send_packed(copy), ..sending }))
    }

    /// Whether two buffers have memory in common. They must not, but where a library sends at once nobody notices.
    fn overlap(&self, send: &Described, receive: &Described) -> Result<bool, Fault> {
        let span = |described: &Described| -> Result<(usize, usize), Fault> {
            Ok(self.described_layout(described)?.span(described.buffer.address() as usize))
        };
        let (sent, received) = (span(send)?, span(receive)?);
        Ok(sent.0 < received.1 && received.0 < sent.1)
    }

    /// A blocking send.
    #[inline]
    fn send(&self, described: Described, mode: Mode) -> Answer {
        let posted = aside(|| Ok(self.post_send(self.outgoing(&described, mode)?)));
        posted.map(|posted| self.finish_send(posted))
    }

    #[inline]
    fn finish_send(&self, posted: Posted) {
        match posted {
            Posted::Over => {}
            Posted::Ahead => block_on(self.me.rank.catch_up()),
            Posted::Waits(request) => {
                self.wait_until_done(std::slice::from_ref(&request));
                self.me.rank.end(request);
            }
        }
    }

    #[inline]
    fn post_send(&self, sending: Option<Sending>) -> Posted {
        let Some(sending) = sending else { return Posted::Over };
        let rank = &self.me.rank;
        let request = rank.start_send(sending, Style::Blocking);
        match request.is_done_at_once() {
            false => Posted::Waits(request),
            true if rank.is_far_ahead() => Posted::Ahead,
            true => Posted::Over,
        }
    }

    /// Waits until requests are done. Little lies on the stack meanwhile: with many ranks it is fetched anew when this one goes on.
    #[inline]
    pub(super) fn wait_until_done(&self, requests: &[Request]) {
        while !self.me.rank.poll_all(requests) {
            self.me.suspend();
        }
    }

    /// Whoever receives must not be ahead of the simulation where the order of messages matters.
    #[inline]
    fn catch_up_to_receive(&self, described: &Described) {
        if self.me.rank.must_catch_up(described.peer == self.abi.any_source) {
            block_on(self.me.rank.catch_up());
        }
    }

    /// A non-blocking receive.
    pub(super) fn start_receive(&self, described: Described) -> Result<Active, Fault> {
        let Some((receiving, layout, peers)) = self.receiving(&described)? else {
            return Ok(Active::done(self.proc_null_status()));
        };
        let address = described.buffer.address() as usize;
        Recipe::Receive { receiving, address, layout, peers }.start(self)
    }

    fn begin(&self, request: RequestAt, active: Result<Active, Fault>) -> Answer {
        request.set(self, self.me.new_request(Operation::once(active?)));
        Ok(())
    }

    #[inline]
    fn begin_send(&self, request: RequestAt, described: Described, mode: Mode) -> Answer {
        aside(|| self.begin_send_aside(request, &described, mode))
    }

    fn begin_send_aside(&self, request: RequestAt, described: &Described, mode: Mode) -> Answer {
        let Some(sending) = self.outgoing(described, mode)? else {
            return self.begin(request, Ok(Active::done(self.abi.empty_status())));
        };
        let (sent, in_place) = self.me.rank.start_send_in_place(sending);
        if let Some(message) = in_place {
            self.me.leave_in_place(message);
        }
        request.set(self, self.me.new_send(sent));
        Ok(())
    }

    #[inline]
    fn begin_receive(&self, request: RequestAt, described: Described) -> Answer {
        self.catch_up_to_receive(&described);
        aside(|| self.begin_receive_aside(request, &described))
    }

    fn begin_receive_aside(&self, request: RequestAt, described: &Described) -> Answer {
        let Some((posted, received)) = self.post_receive(described)? else {
            return self.begin(request, Ok(Active::done(self.proc_null_status())));
        };
        request.set(self, self.me.new_receive(posted, received));
        Ok(())
    }

    fn prepare_send(&self, request: RequestAt, described: Described, mode: Mode) -> Answer {
        let recipe = match self.sending(&described, mode)? {
            None => Recipe::Nothing(self.abi.empty_status()),
            Some((sending, layout)) => Recipe::Send { sending, address: described.buffer.address() as usize, layout },
        };
        request.set(self, self.me.new_request(Operation::persistent(recipe)));
        Ok(())
    }

    /// A send and a receive that both end before the program goes on.
    fn both(&self, sending: Option<Sending>, receive: Described, at: StatusAt) -> Answer {
        let receiving = self.receiving(&receive)?;
        let (mut found, mut answer) = (self.proc_null_status(), Ok(()));
        match (sending, receiving) {
            (_, None) => self.finish_send(self.post_send(sending)),
            (None, Some(_)) => return self.receive(receive, at),
            (Some(sending), Some((receiving, room, peers))) => {
                let capacity = room.bytes();
                let parcel = self.me.world.mail.receive(Place { address: receive.buffer.address(), layout: room });
                let receiving = Receiving { parcel, ..receiving };
                let done = block_on(self.me.rank.sendrecv_parcels(sending, receiving));
                (found, answer) = Received { parcel, first: peers.first(), capacity }.end(self, done);
            }
        }
        at.set(self, &found);
        answer.map_err(|fault| fault.of_comm(receive.comm.number))
    }

    /// A receive and a send under way that end as one.
    fn start_both(&self, sending: Option<Sending>, receive: Described) -> Result<Active, Fault> {
        let received = self.start_receive(receive)?;
        let sent = sending.map(|sending| self.me.rank.start_send(sending, Style::Nonblocking));
        Ok(match (received, sent) {
            (received, None) => received,
            (Active { request: None, .. }, sent) => {
                Active { request: sent, then: Then::Passed(Box::new(self.proc_null_status())) }
            }
            (Active { request, then }, Some(sent)) => Active { request, then: Then::Both(Box::new((then, sent))) },
        })
    }

    /// A blocking receive.
    #[inline]
    fn receive(&self, described: Described, at: StatusAt) -> Answer {
        self.catch_up_to_receive(&described);
        let posted = aside(|| self.post_receive(&described));
        let Some((request, received)) = posted? else {
            at.set(self, &self.proc_null_status());
            return Ok(());
        };
        self.wait_until_done(std::slice::from_ref(&request));
        let mut request = Some(request);
        let answer = aside(|| {
            let done = request.take().map(|request| self.me.rank.end(request)).unwrap_or_default();
            let (status, answer) = received.end(self, done);
            at.set(self, &status);
            answer
        });
        answer.map_err(|fault| fault.of_comm(described.comm.number))
    }

    #[inline(always)]
    fn post_receive(&self, described: &Described) -> Result<Option<(Request, Received)>, Fault> {
        let Some((receiving, layout, peers)) = self.receiving(described)? else { return Ok(None) };
        let capacity = layout.bytes();
        let parcel = self.me.world.mail.receive(Place { address: described.buffer.address(), layout });
        let request = self.me.rank.post_receive(Receiving { parcel, ..receiving });
        Ok(Some((request, Received { parcel, first: peers.first(), capacity })))
    }

    fn probe_pattern(&self, peers: &Peers, source: i32, tag: i32) -> Result<(Source, Tag), Fault> {
        let (source, tag) = self.pattern(peers, source, tag)?;
        Ok((source.map_or(Source::Any, Source::Rank), tag.map_or(Tag::Any, Tag::Is)))
    }
}

/// Messages that MPI_Mprobe found; number 1 is MPI_MESSAGE_NO_PROC.
const NO_PROC: u32 = 1;

mpi! {
    fn MPI_Send[_c](call, buf: Buffer, count: Count, datatype: TypeHandle, dest: i32, tag: i32, comm: CommHandle) {
        call.send(Described { buffer: buf, count, datatype, peer: dest, tag, comm }, Mode::Standard)
    }
    fn MPI_Ssend[_c](call, buf: Buffer, count: Count, datatype: TypeHandle, dest: i32, tag: i32, comm: CommHandle) {
        call.send(Described { buffer: buf, count, datatype, peer: dest, tag, comm }, Mode::Synchronous)
    }
    fn MPI_Bsend[_c](call, buf: Buffer, count: Count, datatype: TypeHandle, dest: i32, tag: i32, comm: CommHandle) {
        call.send(Described { buffer: buf, count, datatype, peer: dest, tag, comm }, Mode::Buffered)
    }
    fn MPI_Rsend[_c](call, buf: Buffer, count: Count, datatype: TypeHandle, dest: i32, tag: i32, comm: CommHandle) {
        call.send(Described { buffer: buf, count, datatype, peer: dest, tag, comm }, Mode::Ready)
    }
    fn MPI_Recv[_c](
        call, buf: Buffer, count: Count, datatype: TypeHandle, source: i32, tag: i32, comm: CommHandle, status: StatusAt,
    ) {
        call.receive(Described { buffer: buf, count, datatype, peer: source, tag, comm }, status)
    }
    fn MPI_Isend[_c](
        call, buf: Buffer, count: Count, datatype: TypeHandle, dest: i32, tag: i32, comm: CommHandle, request: RequestAt,
    ) {
        let described = Described { buffer: buf, count, datatype, peer: dest, tag, comm };
        call.begin_send(request, described, Mode::Standard)
    }
    fn MPI_Issend[_c](
        call, buf: Buffer, count: Count, datatype: TypeHandle, dest: i32, tag: i32, comm: CommHandle, request: RequestAt,
    ) {
        let described = Described { buffer: buf, count, datatype, peer: dest, tag, comm };
        call.begin_send(request, described, Mode::Synchronous)
    }
    fn MPI_Ibsend[_c](
        call, buf: Buffer, count: Count, datatype: TypeHandle, dest: i32, tag: i32, comm: CommHandle, request: RequestAt,
    ) {
        let described = Described { buffer: buf, count, datatype, peer: dest, tag, comm };
        call.begin_send(request, described, Mode::Buffered)
    }
    fn MPI_Irsend[_c](
        call, buf: Buffer, count: Count, datatype: TypeHandle, dest: i32, tag: i32, comm: CommHandle, request: RequestAt,
    ) {
        let described = Described { buffer: buf, count, datatype, peer: dest, tag, comm };
        call.begin_send(request, described, Mode::Ready)
    }
    fn MPI_Irecv[_c](
        call, buf: Buffer, count: Count, datatype: TypeHandle, source: i32, tag: i32, comm: CommHandle, request: RequestAt,
    ) {
        let described = Described { buffer: buf, count, datatype, peer: source, tag, comm };
        call.begin_receive(request, described)
    }
    fn MPI_Send_init[_c](
        call, buf: Buffer, count: Count, datatype: TypeHandle, dest: i32, tag: i32, comm: CommHandle, request: RequestAt,
    ) {
        let described = Described { buffer: buf, count, datatype, peer: dest, tag, comm };
        call.prepare_send(request, described, Mode::Standard)
    }
    fn MPI_Ssend_init[_c](
        call, buf: Buffer, count: Count, datatype: TypeHandle, dest: i32, tag: i32, comm: CommHandle, request: RequestAt,
    ) {
        let described = Described { buffer: buf, count, datatype, peer: dest, tag, comm };
        call.prepare_send(request, described, Mode::Synchronous)
    }
    fn MPI_Bsend_init[_c](
        call, buf: Buffer, count: Count, datatype: TypeHandle, dest: i32, tag: i32, comm: CommHandle, request: RequestAt,
    ) {
        let described = Described { buffer: buf, count, datatype, peer: dest, tag, comm };
        call.prepare_send(request, described, Mode::Buffered)
    }
    fn MPI_Rsend_init[_c](
        call, buf: Buffer, count: Count, datatype: TypeHandle, dest: i32, tag: i32, comm: CommHandle, request: RequestAt,
    ) {
        let described = Described { buffer: buf, count, datatype, peer: dest, tag, comm };
        call.prepare_send(request, described, Mode::Ready)
    }
    fn MPI_Recv_init[_c](
        call, buf: Buffer, count: Count, datatype: TypeHandle, source: i32, tag: i32, comm: CommHandle, request: RequestAt,
    ) {
        let recipe = match call.receiving(&Described { buffer: buf, count, datatype, peer: source, tag, comm })? {
            None => Recipe::Nothing(call.proc_null_status()),
            Some((receiving, layout, peers)) => {
                Recipe::Receive { receiving, address: buf.address() as usize, layout, peers }
            }
        };
        request.set(call, call.me.new_request(Operation::persistent(recipe)));
        Ok(())
    }
    fn MPI_Sendrecv[_c](
        call, sendbuf: Buffer, sendcount: Count, sendtype: TypeHandle, dest: i32, sendtag: i32,
        recvbuf: Buffer, recvcount: Count, recvtype: TypeHandle, source: i32, recvtag: i32,
        comm: CommHandle, status: StatusAt,
    ) {
        let send = Described { buffer: sendbuf, count: sendcount, datatype: sendtype, peer: dest, tag: sendtag, comm };
        let receive = Described { buffer: recvbuf, count: recvcount, datatype: recvtype, peer: source, tag: recvtag, comm };
        let sending = if call.overlap(&send, &receive)? { call.outgoing_copy(&send)? } else { call.outgoing(&send, Mode::Standard)? };
        call.both(sending, receive, status)
    }
    fn MPI_Sendrecv_replace[_c](
        call, buf: Buffer, count: Count, datatype: TypeHandle, dest: i32, sendtag: i32, source: i32, recvtag: i32,
        comm: CommHandle, status: StatusAt,
    ) {
        let send = Described { buffer: buf, count, datatype, peer: dest, tag: sendtag, comm };
        let receive = Described { buffer: buf, count, datatype, peer: source, tag: recvtag, comm };
        call.both(call.outgoing_copy(&send)?, receive, status)
    }
    fn MPI_Probe(call, source: i32, tag: i32, comm: CommHandle, status: StatusAt) {
        let peers = call.me.peers(comm.number)?;
        if source == call.abi.proc_null {
            status.set(call, &call.proc_null_status());
            return Ok(());
        }
        let (source, tag) = call.probe_pattern(&peers, source, tag).map_err(|fault| fault.of_comm(comm.number))?;
        let found = block_on(call.me.rank.probe(peers.comm, source, tag));
        status.set(call, &crate::operation::status(peers.first(), found));
        Ok(())
    }
    fn MPI_Iprobe(call, source: i32, tag: i32, comm: CommHandle, flag: At<i32>, status: StatusAt) {
        let peers = call.me.peers(comm.number)?;
        if source == call.abi.proc_null {
            status.set(call, &call.proc_null_status());
            flag.set(1);
            return Ok(());
        }
        let (source, tag) = call.probe_pattern(&peers, source, tag).map_err(|fault| fault.of_comm(comm.number))?;
        if call.me.polls_on.take() {
            block_on(call.me.rank.skip_probes(peers.comm, source, tag));
        }
        let found = block_on(call.me.rank.iprobe(peers.comm, source, tag));
        flag.set(i32::from(found.is_some()));
        if let Some(found) = found {
            status.set(call, &crate::operation::status(peers.first(), found));
        }
        Ok(())
    }
    fn MPI_Mprobe(call, source: i32, tag: i32, comm: CommHandle, message: MessageAt, status: StatusAt) {
        let peers = call.me.peers(comm.number)?;
        if source == call.abi.proc_null {
            status.set(call, &call.proc_null_status());
            message.set(call, NO_PROC);
            return Ok(());
        }
        let (source, tag) = call.probe_pattern(&peers, source, tag).map_err(|fault| fault.of_comm(comm.number))?;
        let (taken, found) = block_on(call.me.rank.mprobe(peers.comm, source, tag));
        status.set(call, &crate::operation::status(peers.first(), found));
        message.set(call, call.me.objects.messages.insert(Probed { message: taken, peers }));
        Ok(())
    }
    fn MPI_Improbe(call, source: i32, tag: i32, comm: CommHandle, flag: At<i32>, message: MessageAt, status: StatusAt) {
        let peers = call.me.peers(comm.number)?;
        if source == call.abi.proc_null {
            status.set(call, &call.proc_null_status());
            message.set(call, NO_PROC);
            flag.set(1);
            return Ok(());
        }
        let (source, tag) = call.probe_pattern(&peers, source, tag).map_err(|fault| fault.of_comm(comm.number))?;
        let found = block_on(call.me.rank.improbe(peers.comm, source, tag));
        flag.set(i32::from(found.is_some()));
        match found {
            Some((taken, found)) => {
                status.set(call, &crate::operation::status(peers.first(), found));
                message.set(call, call.me.objects.messages.insert(Probed { message: taken, peers }));
            }
            None => message.set(call, 0),
        }
        Ok(())
    }
    fn MPI_Mrecv[_c](call, buf: Buffer, count: Count, datatype: TypeHandle, message: MessageAt, status: StatusAt) {
        let active = call.receive_probed(buf, count, datatype, message)?;
        let (found, answer) = call.wait_for(active);
        status.set(call, &found);
        answer
    }
    fn MPI_Imrecv[_c](
        call, buf: Buffer, count: Count, datatype: TypeHandle, message: MessageAt, request: RequestAt,
    ) {
        call.begin(request, call.receive_probed(buf, count, datatype, message))
    }
    fn MPI_Isendrecv[_c](
        call, sendbuf: Buffer, sendcount: Count, sendtype: TypeHandle, dest: i32, sendtag: i32,
        recvbuf: Buffer, recvcount: Count, recvtype: TypeHandle, source: i32, recvtag: i32,
        comm: CommHandle, request: RequestAt,
    ) {
        let send = Described { buffer: sendbuf, count: sendcount, datatype: sendtype, peer: dest, tag: sendtag, comm };
        let receive = Described { buffer: recvbuf, count: recvcount, datatype: recvtype, peer: source, tag: recvtag, comm };
        let sending = call.outgoing(&send, Mode::Standard)?;
        call.begin(request, call.start_both(sending, receive))
    }
    fn MPI_Isendrecv_replace[_c](
        call, buf: Buffer, count: Count, datatype: TypeHandle, dest: i32, sendtag: i32, source: i32, recvtag: i32,
        comm: CommHandle, request: RequestAt,
    ) {
        let send = Described { buffer: buf, count, datatype, peer: dest, tag: sendtag, comm };
        let receive = Described { buffer: buf, count, datatype, peer: source, tag: recvtag, comm };
        call.begin(request, call.outgoing_copy(&send).and_then(|sending| call.start_both(sending, receive)))
    }
}

impl Call<'_> {
    fn receive_probed(
        &self,
        buffer: Buffer,
        count: Count,
        datatype: TypeHandle,
        at: MessageAt,
    ) -> Result<Active, Fault> {
        let number = at.get(self);
        if number == NO_PROC {
            at.set(self, 0);
            return Ok(Active::done(self.proc_null_status()));
        }
        let layout = self.layout(count, datatype)?;
        let Some(Probed { message, peers }) = self.me.objects.messages.remove(number) else {
            return Err(Fault::new(ErrorClass::Request, "no such message"));
        };
        at.set(self, 0);
        let capacity = layout.bytes();
        let parcel = self.me.world.mail.receive(Place { address: buffer.address(), layout });
        let request = self.me.rank.receive_taken(message, parcel);
        Ok(Active { request: Some(request), then: Then::Received(Received { parcel, first: peers.first(), capacity }) })
    }

    /// Waits for something under way.
    pub(crate) fn wait_for(&self, mut active: Active) -> (Status, Answer) {
        let found = match active.request.take() {
            Some(request) => block_on(self.me.rank.wait(request)),
            None => hpcast_mpi::Status::default(),
        };
        active.end(self, found)
    }
}
