//! Which flows cross each link: lists of flow numbers, most of them short.
//!
//! Up to two numbers lie in the link itself, so that a large machine with little traffic costs no more memory than its
//! links; longer lists lie in blocks of one shared pool, whose sizes are powers of two.

/// Numbers that fit in the roster itself.
const INLINE: usize = 2;
/// Numbers in the smallest block.
const SMALLEST: usize = 4;

/// The flows of one link.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Roster {
    len: u32,
    /// The numbers, or where their block starts and of which class it is.
    cells: [u32; INLINE],
}

/// The blocks of all rosters that are too long for themselves.
#[derive(Debug, Default)]
pub(super) struct Pool {
    words: Vec<u32>,
    /// Free blocks by class: class `c` has `SMALLEST << c` words.
    free: Vec<Vec<u32>>,
}

impl Pool {
    fn take(&mut self, class: usize) -> u32 {
        if self.free.len() <= class {
            self.free.resize(class + 1, Vec::new());
        }
        self.free[class].pop().unwrap_or_else(|| {
            let start = self.words.len();
            self.words.resize(start + (SMALLEST << class), 0);
            u32::try_from(start).expect("all flows together cross fewer than 2^32 links")
        })
    }
}

impl Roster {
    /// How many flows there are.
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.len as usize
    }

    /// The flows.
    #[inline]
    pub(super) fn flows<'a>(&'a self, pool: &'a Pool) -> &'a [u32] {
        let len = self.len as usize;
        if len <= INLINE {
            &self.cells[..len]
        } else {
            let start = self.cells[0] as usize;
            &pool.words[start..start + len]
        }
    }

    /// The flows, to be reordered.
    #[inline]
    pub(super) fn flows_mut<'a>(&'a mut self, pool: &'a mut Pool) -> &'a mut [u32] {
        let len = self.len as usize;
        if len <= INLINE {
            &mut self.cells[..len]
        } else {
            let start = self.cells[0] as usize;
            &mut pool.words[start..start + len]
        }
    }

    /// Appends a flow.
    #[inline]
    pub(super) fn push(&mut self, flow: u32, pool: &mut Pool) {
        let len = self.len as usize;
        self.len += 1;
        if len < INLINE {
            self.cells[len] = flow;
            return;
        }
        if len == INLINE {
            let start = pool.take(0);
            pool.words[start as usize..][..INLINE].copy_from_slice(&self.cells);
            self.cells = [start, 0];
        } else if len == SMALLEST << self.cells[1] {
            let [old, class] = self.cells;
            let start = pool.take(class as usize + 1);
            pool.words.copy_within(old as usize..old as usize + len, start as usize);
            pool.free[class as usize].push(old);
            self.cells = [start, class + 1];
        }
        pool.words[self.cells[0] as usize + len] = flow;
    }

    /// Takes all flows out.
    #[inline]
    pub(super) fn clear(&mut self, pool: &mut Pool) {
        if self.len as usize > INLINE {
            let [start, class] = self.cells;
            pool.free[class as usize].push(start);
        }
        *self = Roster::default();
    }

    /// Takes the last flow out.
    #[inline]
    pub(super) fn pop(&mut self, pool: &mut Pool) {
        self.len -= 1;
        if self.len as usize == INLINE {
            let [start, class] = self.cells;
            self.cells.copy_from_slice(&pool.words[start as usize..][..INLINE]);
            pool.free[class as usize].push(start);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn grows_and_shrinks_like_a_vector_and_uses_its_blocks_again() {
        let mut pool = Pool::default();
        let mut rosters = [Roster::default(); 3];
        for round in 0..3 {
            let mut vectors: [Vec<u32>; 3] = Default::default();
            for i in 0..300 {
                let which = (i % 3) as usize;
                vectors[which].push(i * 7 + round);
                rosters[which].push(i * 7 + round, &mut pool);
                assert_eq!(rosters[which].flows(&pool), vectors[which]);
            }
            let words = pool.words.len();
            for i in 0..300 {
                let which = i % 3;
                rosters[which].flows_mut(&mut pool)[0] = 5;
                vectors[which][0] = 5;
                rosters[which].pop(&mut pool);
                vectors[which].pop();
                assert_eq!(rosters[which].flows(&pool), vectors[which]);
            }
            assert_eq!(pool.words.len(), words);
            assert!(words < 3 * 512, "{words}");
        }
    }
}
