//! Recursive halving and its inverse: the engine of Rabenseifner's reduce and allreduce.
//!
//! R. Thakur, R. Rabenseifner, W. Gropp: Optimization of Collective Communication Operations in MPICH, IJHPCA 19(1),
//! 2005. Partners at distance 1, 2, 4, ... exchange halves of what they hold and combine, until each of a power of two
//! of ranks holds one block of the result; then the same steps backwards gather the blocks.

use super::buffer::Buffer;
use super::channel::Channel;
use super::split::{Folded, Shares};

/// The sizes of the messages of the halving steps, as one rank sees them.
pub struct Halving {
    buffer: Buffer,
    /// How many ranks take part: a power of two.
    power: u32,
    /// MPICH divides the data into equal blocks first and halves their number; Open MPI halves the elements.
    blocks: Option<Shares>,
    /// For each step done: elements kept and elements given away.
    steps: Vec<(u64, u64)>,
}

impl Halving {
    /// Nothing done yet: everybody holds everything.
    pub fn new(buffer: Buffer, power: u32, blocks: Option<Shares>) -> Halving {
        Halving { buffer, power, blocks, steps: Vec::with_capacity(power.ilog2() as usize) }
    }

    /// Works out what `number` keeps and gives away in each step. The lower one of two partners keeps the front half.
    fn plan(&mut self, number: u32) {
        self.steps.clear();
        // What is held: a window of elements, or of blocks.
        let (mut start, mut length) = (0, u64::from(self.power));
        let mut held = self.buffer.count;
        let mut mask = 1;
        while mask < self.power {
            let lower = number & mask == 0;
            let (front, back) = match self.blocks {
                Some(shares) => {
                    (shares.count_of(start, start + length / 2), shares.count_of(start + length / 2, start + length))
                }
                None => (held / 2, held - held / 2),
            };
            let (kept, given) = if lower { (front, back) } else { (back, front) };
            self.steps.push((kept, given));
            held = kept;
            length /= 2;
            start += if lower { 0 } else { length };
            mask *= 2;
        }
    }

    /// Takes the part of `number` after the halving, without having done it.
    pub fn pretend(&mut self, number: u32) {
        self.plan(number);
    }

    /// Bytes of the block held in the end.
    pub fn held_bytes(&self) -> u64 {
        self.buffer.bytes(self.steps.last().map_or(self.buffer.count, |&(kept, _)| kept))
    }

    /// log2 p exchanges of n/2, n/4, ... and the combining.
    pub async fn reduce_scatter<C: Channel>(&mut self, channel: &C, folded: &Folded, number: u32) {
        self.plan(number);
        for (step, &(kept, given)) in self.steps.iter().enumerate() {
            channel.swap(folded.rank(number ^ (1 << step)), self.buffer.bytes(given)).await;
            channel.combine(self.buffer.bytes(kept));
        }
    }

    /// log2 p exchanges of n/p, 2 n/p, ...: everybody has everything again.
    pub async fn allgather<C: Channel>(&self, channel: &C, folded: &Folded, number: u32) {
        for (step, &(kept, _)) in self.steps.iter().enumerate().rev() {
            channel.swap(folded.rank(number ^ (1 << step)), self.buffer.bytes(kept)).await;
        }
    }

    /// Binomial gather towards the rank numbered `root`; `substitute` stands in for number 0.
    pub async fn gather<C: Channel>(
        &self,
        channel: &C,
        folded: &Folded,
        number: u32,
        root: u32,
        substitute: Option<u32>,
    ) {
        for (step, &(kept, _)) in self.steps.iter().enumerate().rev() {
            let other = number ^ (1 << step);
            let partner = substitute.filter(|_| other == 0).unwrap_or_else(|| folded.rank(other));
            // The half that holds the root receives.
            if other >> step == root >> step {
                return channel.send(partner, self.buffer.bytes(kept)).await;
            }
            channel.recv(partner).await;
        }
    }
}
