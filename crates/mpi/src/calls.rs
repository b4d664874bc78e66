//! Collective calls of a rank, blocking and in the background.

use std::rc::Rc;

use hpcast_units::Time;

use crate::collectives::{self as c, Blocks, Buffer, Operator, Selection, Sizes};
use crate::group::Comm;
use crate::peers::Peers;
use crate::post::Parcel;
use crate::rank::Rank;
use crate::request::Request;

/// Something that each rank has so much of.
pub type ByRank = Rc<dyn Fn(u32) -> u64>;

/// Messages that a rank receives and sends at the same time. Those between the same two ranks meet in their order.
#[derive(Clone, Default)]
pub struct Exchange {
    /// From whom, and where the data goes.
    pub received: Vec<(u32, Parcel)>,
    /// To whom, how many bytes, and their data.
    pub sent: Vec<(u32, u64, Parcel)>,
}

/// A collective call with its arguments.
#[derive(Clone)]
pub enum Collective {
    /// MPI_Barrier.
    Barrier,
    /// MPI_Bcast of a buffer from the root.
    Bcast(Buffer, u32),
    /// MPI_Reduce of a buffer to the root.
    Reduce(Buffer, Operator, u32),
    /// MPI_Allreduce of a buffer.
    Allreduce(Buffer, Operator),
    /// MPI_Gather of a block from each rank to the root.
    Gather(Buffer, u32),
    /// MPI_Gatherv of so many bytes from each rank to the root.
    Gatherv(ByRank, u32),
    /// MPI_Scatter of a block to each rank from the root.
    Scatter(Buffer, u32),
    /// MPI_Scatterv of so many bytes to each rank from the root.
    Scatterv(ByRank, u32),
    /// MPI_Allgather of a block from each rank.
    Allgather(Buffer),
    /// MPI_Allgatherv of so many bytes from each rank.
    Allgatherv(ByRank),
    /// MPI_Alltoall of a block from each rank to each other.
    Alltoall(Buffer),
    /// MPI_Alltoallv: bytes that I send to each rank, bytes that I receive from each.
    Alltoallv(ByRank, ByRank),
    /// MPI_Reduce_scatter, of which each rank gets so many bytes.
    ReduceScatter(ByRank, Operator),
    /// MPI_Reduce_scatter_block, of which each rank gets a block.
    ReduceScatterBlock(Buffer, Operator),
    /// MPI_Scan.
    Scan(Buffer),
    /// MPI_Exscan.
    Exscan(Buffer),
    /// A message to each of some ranks and from each of others, all at once: what libraries do for the neighbours of a
    /// topology. Each rank names its own.
    Exchange(Rc<Exchange>),
    /// Collective operations one after the other, each among the ranks of a communicator that nobody else uses: what
    /// libraries do for inter-communicators.
    Stages(Rc<[(Comm, Collective)]>),
}

impl Collective {
    /// The operation's name: `allreduce`.
    pub fn name(&self) -> &'static str {
        match self {
            Collective::Barrier => "barrier",
            Collective::Bcast(..) => "bcast",
            Collective::Reduce(..) => "reduce",
            Collective::Allreduce(..) => "allreduce",
            Collective::Gather(..) => "gather",
            Collective::Gatherv(..) => "gatherv",
            Collective::Scatter(..) => "scatter",
            Collective::Scatterv(..) => "scatterv",
            Collective::Allgather(_) => "allgather",
            Collective::Allgatherv(_) => "allgatherv",
            Collective::Alltoall(_) => "alltoall",
            Collective::Alltoallv(..) => "alltoallv",
            Collective::ReduceScatter(..) => "reduce-scatter",
            Collective::ReduceScatterBlock(..) => "reduce-scatter-block",
            Collective::Scan(_) => "scan",
            Collective::Exscan(_) => "exscan",
            Collective::Exchange(_) => "exchange",
            Collective::Stages(_) => "inter-communicator",
        }
    }

    async fn run(&self, peers: &Peers<'_>, selection: &Selection) {
        match self {
            Collective::Barrier => c::barrier(peers, selection).await,
            &Collective::Bcast(buffer, root) => c::bcast(peers, selection, buffer, root).await,
            &Collective::Reduce(buffer, operator, root) => c::reduce(peers, selection, buffer, operator, root).await,
            &Collective::Allreduce(buffer, operator) => c::allreduce(peers, selection, buffer, operator).await,
            &Collective::Gather(block, root) => c::gather(peers, selection, block, root).await,
            Collective::Gatherv(bytes, root) => c::gatherv(peers, selection, &**bytes, *root).await,
            &Collective::Scatter(block, root) => c::scatter(peers, selection, block, root).await,
            Collective::Scatterv(bytes, root) => c::scatterv(peers, selection, &**bytes, *root).await,
            &Collective::Allgather(block) => c::allgather(peers, selection, block).await,
            Collective::Allgatherv(bytes) => c::allgatherv(peers, selection, &Blocks::each(&**bytes, 1)).await,
            &Collective::Alltoall(block) => c::alltoall(peers, selection, block).await,
            Collective::Alltoallv(sent, received) => {
                c::alltoallv(peers, selection, &Sizes { sent: &**sent, received: &**received }).await;
            }
            Collective::ReduceScatter(bytes, operator) => {
                c::reduce_scatter(peers, selection, &Blocks::each(&**bytes, 1), *operator).await;
            }
            &Collective::ReduceScatterBlock(block, operator) => {
                c::reduce_scatter_block(peers, selection, block, operator).await;
            }
            &Collective::Scan(buffer) => c::scan(peers, selection, buffer).await,
            &Collective::Exscan(buffer) => c::exscan(peers, selection, buffer).await,
            Collective::Exchange(exchange) => Box::pin(peers.exchange_all(exchange)).await,
            Collective::Stages(stages) => {
                for (comm, stage) in stages.iter() {
                    Box::pin(stage.run(&peers.of(*comm), selection)).await;
                }
            }
        }
    }
}

/// Keeps the messages of a collective operation in the background apart from those of others: the members of a communicator
/// agree on it, since they ask for one in the same order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lane(i32);

impl Rank {
    /// Does a collective operation together with all ranks of the communicator.
    pub async fn collective(&self, comm: Comm, call: &Collective) {
        call.run(&Peers::new(self, comm, 0), &self.sim().selection).await;
    }

    /// In which order MPI_Reduce or MPI_Allreduce combines the data of so many ranks, by itself or in the background; none for
    /// other operations.
    pub fn order_of(&self, ranks: u32, call: &Collective, in_background: bool) -> Option<c::Order> {
        let blocking = &self.sim().selection;
        let selection = if in_background { &blocking.for_nonblocking() } else { blocking };
        match *call {
            Collective::Reduce(buffer, operator, root) => {
                Some(selection.order_of_reduce(ranks, buffer, operator, root))
            }
            Collective::Allreduce(buffer, operator) => Some(selection.order_of_allreduce(ranks, buffer, operator)),
            _ => None,
        }
    }

    /// Starts a collective operation and returns at once (MPI_Iallreduce and so on). It makes progress by itself, as
    /// with a progress thread or in hardware: it takes no time from what the rank does meanwhile.
    pub fn start_collective(&self, comm: Comm, call: Collective) -> Request {
        self.start_collective_then(comm, call, Rank::now)
    }

    /// A lane for a collective operation that will be started again and again (MPI_Allreduce_init and so on).
    pub fn collective_lane(&self, comm: Comm) -> Lane {
        Lane(self.state().groups.background_tag(comm))
    }

    /// Starts a collective operation in its lane, where the one before has ended.
    pub fn start_collective_in(&self, lane: Lane, comm: Comm, call: Collective) -> Request {
        self.start_in_background(lane, comm, call, Rank::now)
    }

    /// The same with more to do when it has ended, which says when that ends.
    pub fn start_collective_then(
        &self,
        comm: Comm,
        call: Collective,
        then: impl FnOnce(&Rank) -> Time + 'static,
    ) -> Request {
        self.start_in_background(self.collective_lane(comm), comm, call, then)
    }

    fn start_in_background(
        &self,
        Lane(tag): Lane,
        comm: Comm,
        call: Collective,
        then: impl FnOnce(&Rank) -> Time + 'static,
    ) -> Request {
        let request = self.state().background_request(self.task(), call.name());
        let number = request.number();
        let sim = self.sim().clone();
        let task = sim.new_task(self.task());
        let helper = Rank::new(sim.clone(), task, self.world());
        sim.start_background(
            task,
            Box::pin(async move {
                let selection = helper.sim().selection.for_nonblocking();
                call.run(&Peers::new(&helper, comm, tag), &selection).await;
                let done = then(&helper);
                helper.state().complete(number, done);
            }),
        );
        request
    }

    /// MPI_Barrier.
    pub async fn barrier(&self, comm: Comm) {
        self.collective(comm, &Collective::Barrier).await;
    }

    /// MPI_Bcast.
    pub async fn bcast(&self, comm: Comm, buffer: Buffer, root: u32) {
        self.collective(comm, &Collective::Bcast(buffer, root)).await;
    }

    /// MPI_Reduce with one of MPI's own operators.
    pub async fn reduce(&self, comm: Comm, buffer: Buffer, root: u32) {
        self.collective(comm, &Collective::Reduce(buffer, Operator::BuiltIn, root)).await;
    }

    /// MPI_Allreduce with one of MPI's own operators.
    pub async fn allreduce(&self, comm: Comm, buffer: Buffer) {
        self.collective(comm, &Collective::Allreduce(buffer, Operator::BuiltIn)).await;
    }

    /// MPI_Allgather.
    pub async fn allgather(&self, comm: Comm, block: Buffer) {
        self.collective(comm, &Collective::Allgather(block)).await;
    }

    /// MPI_Alltoall.
    pub async fn alltoall(&self, comm: Comm, block: Buffer) {
        self.collective(comm, &Collective::Alltoall(block)).await;
    }
}
