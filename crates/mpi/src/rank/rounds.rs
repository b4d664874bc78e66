//! Rounds: exchanges one after the other.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use super::Rank;
use crate::group::Comm;
use crate::matching::Pattern;
use crate::state::Rounds;

impl Rank {
    /// Makes the exchanges that are not done yet, one after the other, as MPI_Irecv, MPI_Send and MPI_Wait would. Where a
    /// message is looked for, by communicator, source and tag, there is an MPI_Iprobe after each exchange; true as soon as
    /// one has seen it.
    ///
    /// The simulation goes from one exchange to the next by itself, without resuming the rank.
    #[inline]
    pub fn follow<'r>(
        &'r self,
        rounds: &'r mut Rounds,
        look: Option<(Comm, u32, i32)>,
    ) -> impl Future<Output = bool> + 'r {
        let look = look.map(|(comm, source, tag)| Pattern::new(comm.context(), Some(source), Some(tag)));
        Follow { rank: self, rounds, look, began: false }
    }
}

struct Follow<'r> {
    rank: &'r Rank,
    rounds: &'r mut Rounds,
    look: Option<Pattern>,
    began: bool,
}

impl Future for Follow<'_> {
    type Output = bool;
    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<bool> {
        let Follow { rank, rounds, look, began } = &mut *self;
        let task = rank.task.get();
        let mut state = rank.state();
        if !*began {
            *began = true;
            state.begin_rounds(task, rounds, *look);
            if !state.drive(task) {
                return Poll::Pending;
            }
        }
        Poll::Ready(state.end_rounds(task, rounds))
    }
}
