//! Which algorithm a collective call uses: by the rules of an MPI library, or as the user says.

pub mod libnbc;
pub mod mpich;
pub mod mpich_nonblocking;
pub mod openmpi;
mod table;

use std::fmt;
use std::str::FromStr;

use super::algorithm::{Algorithm, ChoiceError};
use super::{
    Allgather, Allgatherv, Allreduce, Alltoall, Alltoallv, Barrier, Bcast, Blocks, Buffer, Exscan, Gather, Gatherv,
    Operator, Reduce, ReduceScatter, ReduceScatterBlock, Scan, Scatter, Scatterv,
};

/// The MPI library whose rules decide.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Library {
    /// Open MPI 4.1.4.
    #[default]
    OpenMpi,
    /// MPICH 4.0.2.
    Mpich,
}

impl Library {
    /// All of them.
    pub const ALL: [Library; 2] = [Library::OpenMpi, Library::Mpich];
}

impl fmt::Display for Library {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Library::OpenMpi => "openmpi",
            Library::Mpich => "mpich",
        })
    }
}

impl FromStr for Library {
    type Err = ChoiceError;

    fn from_str(text: &str) -> Result<Library, ChoiceError> {
        match text.to_ascii_lowercase().as_str() {
            "openmpi" | "open-mpi" | "ompi" => Ok(Library::OpenMpi),
            "mpich" => Ok(Library::Mpich),
            _ => Err(ChoiceError::Library(text.to_owned())),
        }
    }
}

macro_rules! selection {
    ($( $(#[$doc:meta])* $field:ident: $type:ident; )+) => {
        /// Gives the algorithm of each collective call: a library's rule, unless the user chose.
        #[derive(Clone, Debug, Default, PartialEq, Eq)]
        pub struct Selection {
            library: Library,
            /// Whether it decides for the non-blocking forms.
            nonblocking: bool,
            $( $(#[$doc])* $field: Option<$type>, )+
        }

        impl Selection {
            /// Takes a choice of the user: `allreduce=ring`, `bcast=chain:segment=64KiB,chains=2`.
            ///
            /// On communicators of a size that the algorithm does not support the library's rule decides.
            pub fn choose(&mut self, choice: &str) -> Result<(), ChoiceError> {
                let (operation, algorithm) =
                    choice.split_once('=').ok_or_else(|| ChoiceError::NoEquals(choice.to_owned()))?;
                let asked = operation.trim().replace('_', "-");
                $(
                    if asked == $type::OPERATION {
                        self.$field = Some(algorithm.parse()?);
                        return Ok(());
                    }
                )+
                let valid = vec![$( $type::OPERATION ),+];
                Err(ChoiceError::Operation { asked: operation.to_owned(), valid })
            }

            /// Whether every choice works on so many ranks.
            pub fn check(&self, ranks: u32) -> Result<(), ChoiceError> {
                $(
                    if let Some(algorithm) = self.$field.filter(|algorithm| !algorithm.supports(ranks)) {
                        let (operation, algorithm) = ($type::OPERATION, algorithm.name());
                        return Err(ChoiceError::Ranks { operation, algorithm, ranks });
                    }
                )+
                Ok(())
            }

            /// Every operation with the names of its algorithms.
            pub fn catalogue() -> Vec<(&'static str, Vec<&'static str>)> {
                vec![$( ($type::OPERATION, $type::ALL.iter().map(|algorithm| algorithm.name()).collect()) ),+]
            }

            /// The user's choices, as [`Selection::choose`] reads them.
            pub fn choices(&self) -> Vec<String> {
                let mut choices = Vec::new();
                $( choices.extend(self.$field.map(|algorithm| format!("{}={algorithm}", $type::OPERATION))); )+
                choices
            }
        }
    };
}

selection! {
    barrier: Barrier;
    bcast: Bcast;
    reduce: Reduce;
    allreduce: Allreduce;
    gather: Gather;
    gatherv: Gatherv;
    scatter: Scatter;
    scatterv: Scatterv;
    allgather: Allgather;
    allgatherv: Allgatherv;
    alltoall: Alltoall;
    alltoallv: Alltoallv;
    reduce_scatter: ReduceScatter;
    reduce_scatter_block: ReduceScatterBlock;
    scan: Scan;
    exscan: Exscan;
}

/// The user's choice where it works on so many ranks.
fn chosen<A: Algorithm>(choice: Option<A>, ranks: u32) -> Option<A> {
    choice.filter(|algorithm| algorithm.supports(ranks))
}

impl Selection {
    /// The rules of a library.
    pub fn of(library: Library) -> Selection {
        Selection { library, ..Selection::default() }
    }

    /// The same choices and library for the non-blocking forms (MPI_Ibcast, ...), which have rules of their own.
    pub fn for_nonblocking(&self) -> Selection {
        Selection { nonblocking: true, ..self.clone() }
    }

    /// The library whose rules decide.
    pub fn library(&self) -> Library {
        self.library
    }

    /// The algorithm of MPI_Barrier.
    pub fn barrier(&self, ranks: u32) -> Barrier {
        chosen(self.barrier, ranks).unwrap_or_else(|| match (self.library, self.nonblocking) {
            (Library::OpenMpi, false) => openmpi::barrier(ranks),
            (Library::OpenMpi, true) => libnbc::BARRIER,
            (Library::Mpich, _) => mpich::BARRIER,
        })
    }

    /// The algorithm of MPI_Bcast.
    pub fn bcast(&self, ranks: u32, buffer: Buffer) -> Bcast {
        chosen(self.bcast, ranks).unwrap_or_else(|| match (self.library, self.nonblocking) {
            (Library::OpenMpi, false) => openmpi::bcast(ranks, buffer.total()),
            (Library::OpenMpi, true) => libnbc::bcast(ranks),
            (Library::Mpich, false) => mpich::bcast(ranks, buffer.total()),
            (Library::Mpich, true) => mpich_nonblocking::bcast(ranks, buffer.total()),
        })
    }

    /// The algorithm of MPI_Reduce.
    pub fn reduce(&self, ranks: u32, buffer: Buffer, operator: Operator) -> Reduce {
        chosen(self.reduce, ranks).unwrap_or_else(|| match (self.library, self.nonblocking) {
            (Library::OpenMpi, false) => openmpi::reduce(ranks, buffer.total(), operator),
            (Library::OpenMpi, true) => libnbc::reduce(ranks, buffer, operator),
            (Library::Mpich, false) => mpich::reduce(ranks, buffer, operator),
            (Library::Mpich, true) => mpich_nonblocking::reduce(ranks, buffer, operator),
        })
    }

    /// The algorithm of MPI_Allreduce.
    pub fn allreduce(&self, ranks: u32, buffer: Buffer, operator: Operator) -> Allreduce {
        chosen(self.allreduce, ranks).unwrap_or_else(|| match (self.library, self.nonblocking) {
            (Library::OpenMpi, false) => openmpi::allreduce(ranks, buffer.total(), operator),
            (Library::OpenMpi, true) => libnbc::allreduce(ranks, buffer, operator),
            (Library::Mpich, false) => mpich::allreduce(ranks, buffer, operator),
            (Library::Mpich, true) => mpich_nonblocking::allreduce(ranks, buffer, operator),
        })
    }

    /// The algorithm of MPI_Gather; `block` is what each rank contributes.
    pub fn gather(&self, ranks: u32, block: Buffer) -> Gather {
        chosen(self.gather, ranks).unwrap_or_else(|| match (self.library, self.nonblocking) {
            (Library::OpenMpi, false) => openmpi::gather(ranks, block.total()),
            (Library::OpenMpi, true) => libnbc::GATHER,
            (Library::Mpich, _) => mpich::GATHER,
        })
    }

    /// The algorithm of MPI_Gatherv.
    pub fn gatherv(&self, ranks: u32) -> Gatherv {
        chosen(self.gatherv, ranks).unwrap_or(match (self.library, self.nonblocking) {
            (Library::OpenMpi, false) => openmpi::GATHERV,
            (Library::OpenMpi, true) => libnbc::GATHERV,
            (Library::Mpich, _) => mpich::GATHERV,
        })
    }

    /// The algorithm of MPI_Scatter; `block` is what each rank gets.
    pub fn scatter(&self, ranks: u32, block: Buffer) -> Scatter {
        chosen(self.scatter, ranks).unwrap_or_else(|| match (self.library, self.nonblocking) {
            (Library::OpenMpi, false) => openmpi::scatter(ranks, block.total()),
            (Library::OpenMpi, true) => libnbc::SCATTER,
            (Library::Mpich, _) => mpich::SCATTER,
        })
    }

    /// The algorithm of MPI_Scatterv.
    pub fn scatterv(&self, ranks: u32) -> Scatterv {
        chosen(self.scatterv, ranks).unwrap_or(match (self.library, self.nonblocking) {
            (Library::OpenMpi, false) => openmpi::SCATTERV,
            (Library::OpenMpi, true) => libnbc::SCATTERV,
            (Library::Mpich, _) => mpich::SCATTERV,
        })
    }

    /// The algorithm of MPI_Allgather; `block` is what each rank contributes.
    pub fn allgather(&self, ranks: u32, block: Buffer) -> Allgather {
        chosen(self.allgather, ranks).unwrap_or_else(|| match (self.library, self.nonblocking) {
            (Library::OpenMpi, false) => openmpi::allgather(ranks, block.total()),
            (Library::OpenMpi, true) => libnbc::ALLGATHER,
            (Library::Mpich, _) => mpich::allgather(ranks, block.total() * u64::from(ranks)),
        })
    }

    /// The algorithm of MPI_Allgatherv; `blocks` is what each rank contributes.
    pub fn allgatherv(&self, ranks: u32, blocks: &Blocks<'_>) -> Allgatherv {
        chosen(self.allgatherv, ranks).unwrap_or_else(|| {
            let total = blocks.together(ranks).total();
            match (self.library, self.nonblocking) {
                (Library::OpenMpi, false) => openmpi::allgatherv(ranks, total / u64::from(ranks)),
                (Library::OpenMpi, true) => libnbc::ALLGATHERV,
                (Library::Mpich, false) => mpich::allgatherv(ranks, total),
                (Library::Mpich, true) => mpich_nonblocking::allgatherv(ranks, blocks),
            }
        })
    }

    /// The algorithm of MPI_Alltoall; `block` is what each rank sends to each other.
    pub fn alltoall(&self, ranks: u32, block: Buffer) -> Alltoall {
        chosen(self.alltoall, ranks).unwrap_or_else(|| match (self.library, self.nonblocking) {
            (Library::OpenMpi, false) => openmpi::alltoall(ranks, block.total()),
            (Library::OpenMpi, true) => libnbc::ALLTOALL,
            (Library::Mpich, false) => mpich::alltoall(ranks, block.total()),
            (Library::Mpich, true) => mpich_nonblocking::alltoall(ranks, block.total()),
        })
    }

    /// The algorithm of MPI_Alltoallv.
    pub fn alltoallv(&self, ranks: u32) -> Alltoallv {
        chosen(self.alltoallv, ranks).unwrap_or_else(|| match (self.library, self.nonblocking) {
            (Library::OpenMpi, false) => openmpi::alltoallv(ranks),
            (Library::OpenMpi, true) => libnbc::ALLTOALLV,
            (Library::Mpich, _) => mpich::ALLTOALLV,
        })
    }

    /// The algorithm of MPI_Reduce_scatter; `blocks` is the part of the result that each rank gets.
    pub fn reduce_scatter(&self, ranks: u32, blocks: &Blocks<'_>, operator: Operator) -> ReduceScatter {
        chosen(self.reduce_scatter, ranks).unwrap_or_else(|| {
            let total = blocks.together(ranks).total();
            match (self.library, self.nonblocking) {
                (Library::OpenMpi, false) => openmpi::reduce_scatter(ranks, total, operator),
                (Library::OpenMpi, true) => libnbc::REDUCE_SCATTER,
                (Library::Mpich, _) => mpich::reduce_scatter(ranks, total, blocks.regular(ranks), operator),
            }
        })
    }

    /// The algorithm of MPI_Reduce_scatter_block; `block` is the part of the result that each rank gets.
    pub fn reduce_scatter_block(&self, ranks: u32, block: Buffer, operator: Operator) -> ReduceScatterBlock {
        chosen(self.reduce_scatter_block, ranks).unwrap_or_else(|| match (self.library, self.nonblocking) {
            (Library::OpenMpi, false) => openmpi::reduce_scatter_block(ranks, block.total(), operator),
            (Library::OpenMpi, true) => libnbc::REDUCE_SCATTER_BLOCK,
            (Library::Mpich, false) => mpich::reduce_scatter_block(ranks, block.total() * u64::from(ranks), operator),
            // MPICH takes elements for bytes here.
            (Library::Mpich, true) => mpich::reduce_scatter_block(ranks, block.count * u64::from(ranks), operator),
        })
    }

    /// The algorithm of MPI_Scan.
    pub fn scan(&self, ranks: u32) -> Scan {
        chosen(self.scan, ranks).unwrap_or(match (self.library, self.nonblocking) {
            (Library::OpenMpi, false) => openmpi::SCAN,
            (Library::OpenMpi, true) => libnbc::SCAN,
            (Library::Mpich, _) => mpich::SCAN,
        })
    }

    /// The algorithm of MPI_Exscan.
    pub fn exscan(&self, ranks: u32) -> Exscan {
        chosen(self.exscan, ranks).unwrap_or(match (self.library, self.nonblocking) {
            (Library::OpenMpi, false) => openmpi::EXSCAN,
            (Library::OpenMpi, true) => libnbc::EXSCAN,
            (Library::Mpich, _) => mpich::EXSCAN,
        })
    }
}
