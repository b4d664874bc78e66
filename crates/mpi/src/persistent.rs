//! Persistent requests: the same message again and again (MPI_Send_init, MPI_Recv_init, MPI_Start).

use crate::group::Comm;
use crate::post::Parcel;
use crate::rank::{Rank, Source, Tag};
use crate::request::Request;
use crate::state::{Mode, Sending, Style};

/// A message that can be started again and again.
#[derive(Clone, Copy, Debug)]
pub struct Persistent {
    comm: Comm,
    kind: Kind,
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    Send { to: u32, tag: i32, bytes: u64 },
    Receive { from: Source, tag: Tag },
}

impl Persistent {
    /// A standard send.
    pub fn send(comm: Comm, to: u32, tag: i32, bytes: u64) -> Persistent {
        Persistent { comm, kind: Kind::Send { to, tag, bytes } }
    }

    /// A receive.
    pub fn receive(comm: Comm, from: impl Into<Source>, tag: impl Into<Tag>) -> Persistent {
        Persistent { comm, kind: Kind::Receive { from: from.into(), tag: tag.into() } }
    }
}

impl Rank {
    /// Starts a persistent request. Its send costs as much as a blocking one: what is prepared once needs not be again.
    pub async fn start(&self, persistent: &Persistent) -> Request {
        let comm = persistent.comm;
        match persistent.kind {
            Kind::Send { to, tag, bytes } => {
                let sending = Sending { comm, to, tag, bytes, mode: Mode::Standard, parcel: Parcel::NONE };
                self.state().send(self.task(), sending, Style::Blocking)
            }
            Kind::Receive { from, tag } => self.irecv(comm, from, tag).await,
        }
    }
}
