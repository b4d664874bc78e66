//! Which flows cross each link: lists, most of them short.
//!
//! Up to two members lie in the link itself, so that a large machine with little traffic costs no more memory than its
//! links; longer lists lie in blocks of one shared pool, whose sizes are powers of two.

use super::path::MOST_FLOWS;

/// Members that fit in the roster itself.
const INLINE: usize = 2;
/// Members in the smallest block.
const SMALLEST: usize = 4;

/// A flow that crosses the link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Member {
    pub flow: u32,
    /// Number of its hop over the link, which knows the position in the roster.
    pub hop: u32,
}

/// The flows of one link.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Roster {
    len: u32,
    /// The members; or, in the place of the first one, where their block starts and of which class it is.
    cells: [Member; INLINE],
}

/// The blocks of all rosters that are too long for themselves.
#[derive(Debug, Default)]
pub(super) struct Pool {
    members: Vec<Member>,
    /// Free blocks by class: class `c` has `SMALLEST << c` members.
    free: Vec<Vec<u32>>,
}

impl Pool {
    fn take(&mut self, class: usize) -> u32 {
        if self.free.len() <= class {
            self.free.resize(class + 1, Vec::new());
        }
        self.free[class].pop().unwrap_or_else(|| {
            let start = self.members.len();
            self.members.resize(start + (SMALLEST << class), Member::default());
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

    /// Where its block starts, and of which class it is, if it has one.
    #[inline]
    fn block(&self) -> (usize, usize) {
        (self.cells[0].flow as usize, self.cells[0].hop as usize)
    }

    fn set_block(&mut self, start: u32, class: usize) {
        self.cells[0] = Member { flow: start, hop: class as u32 };
    }

    /// The flows.
    #[inline]
    pub(super) fn members<'a>(&'a self, pool: &'a Pool) -> &'a [Member] {
        let len = self.len as usize;
        if len <= INLINE { &self.cells[..len] } else { &pool.members[self.block().0..][..len] }
    }

    /// The flows, to be reordered.
    #[inline]
    pub(super) fn members_mut<'a>(&'a mut self, pool: &'a mut Pool) -> &'a mut [Member] {
        let len = self.len as usize;
        if len <= INLINE { &mut self.cells[..len] } else { &mut pool.members[self.block().0..][..len] }
    }

    /// Appends a flow.
    #[inline]
    pub(super) fn push(&mut self, member: Member, pool: &mut Pool) {
        match self.cells.get_mut(self.len as usize) {
            Some(cell) => *cell = member,
            None => self.push_to_block(member, pool),
        }
        self.len += 1;
    }

    fn push_to_block(&mut self, member: Member, pool: &mut Pool) {
        let len = self.len as usize;
        if len == INLINE {
            let start = pool.take(0);
            pool.members[start as usize..][..INLINE].copy_from_slice(&self.cells);
            self.set_block(start, 0);
        } else if len == SMALLEST << self.block().1 {
            assert!(len < MOST_FLOWS, "fewer than {MOST_FLOWS} flows cross a link at a time");
            let (old, class) = self.block();
            let start = pool.take(class + 1);
            pool.members.copy_within(old..old + len, start as usize);
            pool.free[class].push(old as u32);
            self.set_block(start, class + 1);
        }
        pool.members[self.block().0 + len] = member;
    }

    /// Takes all flows out.
    #[inline]
    pub(super) fn clear(&mut self, pool: &mut Pool) {
        if self.len as usize > INLINE {
            let (start, class) = self.block();
            pool.free[class].push(start as u32);
        }
        self.len = 0;
    }

    /// Takes a flow out. The last one takes its place: it is returned, if it is another.
    #[inline]
    pub(super) fn remove(&mut self, position: usize, pool: &mut Pool) -> Option<Member> {
        let members = self.members_mut(pool);
        let last = members.len() - 1;
        let moved = members[last];
        members[position] = moved;
        self.len = last as u32;
        if last == INLINE {
            let (start, class) = self.block();
            self.cells.copy_from_slice(&pool.members[start..][..INLINE]);
            pool.free[class].push(start as u32);
        }
        (position != last).then_some(moved)
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
            let mut vectors: [Vec<Member>; 3] = Default::default();
            for i in 0..300 {
                let (which, member) = ((i % 3) as usize, Member { flow: i * 7 + round, hop: i });
                vectors[which].push(member);
                rosters[which].push(member, &mut pool);
                assert_eq!(rosters[which].members(&pool), vectors[which]);
            }
            let members = pool.members.len();
            for i in 0..300 {
                let which = i % 3;
                let position = i * 31 % vectors[which].len();
                let moved = rosters[which].remove(position, &mut pool);
                vectors[which].swap_remove(position);
                assert_eq!(moved, vectors[which].get(position).copied());
                assert_eq!(rosters[which].members(&pool), vectors[which]);
            }
            assert_eq!(pool.members.len(), members);
            assert!(members < 3 * 512, "{members}");
        }
    }
}
