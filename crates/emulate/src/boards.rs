//! The data of collective operations.
//!
//! When and how long a collective operation takes is simulated message by message, without data. The data goes another way:
//! each rank pins what it brings to a board when it enters, and takes what it gets when it leaves. Whoever leaves has, in the
//! simulated algorithm, had a message from everybody whose data it needs; so that data is on the board.

use std::any::Any;
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use hpcast_mpi::Context;

/// Which operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Key {
    /// The communicator.
    pub context: Context,
    /// The number of the call in it; of a persistent operation, that of its initialisation.
    pub number: u32,
    /// How often a persistent operation was started before.
    pub turn: u32,
}

/// What a rank brings.
#[derive(Clone, Debug, Default)]
pub struct Deposit {
    /// Its data.
    pub data: Rc<Vec<u8>>,
    /// Where the pieces for each rank end, if there are several.
    pub ends: Rc<Vec<usize>>,
    /// Numbers, for operations that make objects.
    pub words: Rc<Vec<i64>>,
}

impl Deposit {
    /// One piece of data.
    pub fn of_data(data: Vec<u8>) -> Deposit {
        Deposit { data: Rc::new(data), ..Deposit::default() }
    }

    /// A piece for each rank.
    pub fn of_pieces(data: Vec<u8>, ends: Vec<usize>) -> Deposit {
        Deposit { data: Rc::new(data), ends: Rc::new(ends), ..Deposit::default() }
    }

    /// Numbers.
    pub fn of_words(words: Vec<i64>) -> Deposit {
        Deposit { words: Rc::new(words), ..Deposit::default() }
    }

    /// The piece for a rank.
    pub fn piece(&self, rank: usize) -> &[u8] {
        let begin = if rank == 0 { 0 } else { self.ends.get(rank - 1).copied().unwrap_or_default() };
        let end = self.ends.get(rank).copied().unwrap_or_default();
        self.data.get(begin..end).unwrap_or_default()
    }
}

/// What the ranks of one operation share.
#[derive(Default)]
pub struct Board {
    deposits: Vec<Option<Deposit>>,
    left: usize,
    /// Whether the operation goes on in the background of its ranks.
    pub is_in_background: bool,
    /// What was worked out once for all: results of a reduction up to a rank, or of all ranks.
    pub results: HashMap<u32, Rc<Vec<u8>>>,
    /// Objects that were made once for all.
    pub made: Option<Rc<dyn Any>>,
}

impl Board {
    /// What a rank brought.
    pub fn deposit(&self, rank: u32) -> Option<&Deposit> {
        self.deposits.get(rank as usize)?.as_ref()
    }

    /// The data of all ranks, which is not needed any more; none if some have not brought theirs.
    pub fn take_data(&mut self) -> Option<Vec<Vec<u8>>> {
        let take = |deposit: &mut Option<Deposit>| Some(std::mem::take(&mut deposit.as_mut()?.data));
        self.deposits.iter_mut().map(|deposit| take(deposit).map(Rc::unwrap_or_clone)).collect()
    }
}

/// The boards of all operations under way.
#[derive(Default)]
pub struct Boards {
    boards: RefCell<HashMap<Key, Board>>,
}

impl Boards {
    /// Rank `rank` of `members` enters an operation.
    pub fn enter(&self, key: Key, members: u32, rank: u32, deposit: Deposit) {
        let mut boards = self.boards.borrow_mut();
        let board = boards.entry(key).or_default();
        board.deposits.resize(members as usize, None);
        board.deposits[rank as usize] = Some(deposit);
    }

    /// Looks at the board of an operation.
    pub fn look<T>(&self, key: Key, look: impl FnOnce(&mut Board) -> T) -> T {
        look(self.boards.borrow_mut().entry(key).or_default())
    }

    /// A rank leaves; the last one takes the board away.
    pub fn leave(&self, key: Key) {
        let mut boards = self.boards.borrow_mut();
        if let Some(board) = boards.get_mut(&key) {
            board.left += 1;
            if board.left == board.deposits.len() {
                boards.remove(&key);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_lie_one_after_the_other() {
        let deposit = Deposit::of_pieces(vec![1, 2, 3, 4], vec![1, 1, 4]);
        assert_eq!(deposit.piece(0), [1]);
        assert!(deposit.piece(1).is_empty());
        assert_eq!(deposit.piece(2), [2, 3, 4]);
        assert!(deposit.piece(3).is_empty());
    }
}
