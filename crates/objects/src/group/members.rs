//! The members of a group: a progression, a few progressions, or a table where there is no order.

use std::rc::Rc;

use super::Group;

/// Processes at equal distances; `rank` is that of the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    first: u32,
    stride: i32,
    count: u32,
    rank: u32,
}

impl Piece {
    pub fn new(first: u32, stride: i32, count: u32) -> Piece {
        Piece { first, stride, count, rank: 0 }
    }

    fn at(&self, index: u32) -> u32 {
        (i64::from(self.first) + i64::from(self.stride) * i64::from(index)) as u32
    }

    fn last(&self) -> u32 {
        self.at(self.count - 1)
    }

    fn lowest(&self) -> u32 {
        self.first.min(self.last())
    }

    fn highest(&self) -> u32 {
        self.first.max(self.last())
    }

    /// The rank of a process, if it is a member.
    fn rank_of(&self, process: u32) -> Option<u32> {
        let way = i64::from(process) - i64::from(self.first);
        if way == 0 {
            return Some(self.rank);
        }
        let stride = i64::from(self.stride);
        if stride == 0 || way % stride != 0 {
            return None;
        }
        let index = way / stride;
        (0..i64::from(self.count)).contains(&index).then(|| self.rank + index as u32)
    }
}

#[derive(Clone, Debug)]
pub(super) enum Members {
    One(Piece),
    /// By rank; few enough to be tried one by one.
    Few(Rc<[Piece]>),
    /// By rank, and their numbers sorted by lowest process: each lies beyond the one before.
    Apart(Rc<[Piece]>, Rc<[u32]>),
    /// Processes by rank, and ranks sorted by process.
    Table(Rc<[u32]>, Rc<[u32]>),
}

/// More pieces than that are not tried one by one.
const FEW: usize = 8;

impl Members {
    pub fn size(&self) -> u32 {
        match self {
            Members::One(piece) => piece.count,
            Members::Few(pieces) | Members::Apart(pieces, _) => {
                pieces.last().map_or(0, |piece| piece.rank + piece.count)
            }
            Members::Table(processes, _) => processes.len() as u32,
        }
    }

    /// The rank must be below the size.
    pub fn process(&self, rank: u32) -> u32 {
        match self {
            Members::One(piece) => piece.at(rank),
            Members::Few(pieces) | Members::Apart(pieces, _) => {
                let piece = &pieces[pieces.partition_point(|piece| piece.rank <= rank) - 1];
                piece.at(rank - piece.rank)
            }
            Members::Table(processes, _) => processes[rank as usize],
        }
    }

    pub fn rank_of(&self, process: u32) -> Option<u32> {
        match self {
            Members::One(piece) if piece.count == 0 => None,
            Members::One(piece) => piece.rank_of(process),
            Members::Few(pieces) => pieces.iter().find_map(|piece| piece.rank_of(process)),
            Members::Apart(pieces, order) => {
                let before = order.partition_point(|&piece| pieces[piece as usize].lowest() <= process);
                pieces[order[before.checked_sub(1)?] as usize].rank_of(process)
            }
            Members::Table(processes, order) => {
                let found = order.binary_search_by_key(&process, |&rank| processes[rank as usize]);
                found.ok().map(|at| order[at])
            }
        }
    }

    pub fn iter(&self) -> Box<dyn Iterator<Item = u32> + '_> {
        match self {
            Members::One(piece) => Box::new((0..piece.count).map(|index| piece.at(index))),
            Members::Few(pieces) | Members::Apart(pieces, _) => {
                Box::new(pieces.iter().flat_map(|piece| (0..piece.count).map(|index| piece.at(index))))
            }
            Members::Table(processes, _) => Box::new(processes.iter().copied()),
        }
    }

    /// Whether they are surely the same; looks only at what is quick to see.
    pub fn same(&self, other: &Members) -> bool {
        match (self, other) {
            (Members::One(one), Members::One(other)) => one == other,
            (Members::Few(one), Members::Few(other)) => one == other,
            (Members::Apart(one, _), Members::Apart(other, _)) => Rc::ptr_eq(one, other),
            (Members::Table(one, _), Members::Table(other, _)) => Rc::ptr_eq(one, other),
            _ => false,
        }
    }

    /// A builder that has the members from one rank to before another.
    pub fn builder(&self, from: u32, to: u32) -> Builder {
        let mut builder = Builder::new();
        self.append(from, to, &mut builder);
        builder
    }

    /// Appends the members from one rank to before another.
    pub fn append(&self, from: u32, to: u32, builder: &mut Builder) {
        let pieces = match self {
            Members::One(piece) => std::slice::from_ref(piece),
            Members::Few(pieces) | Members::Apart(pieces, _) => pieces,
            Members::Table(processes, _) => {
                let span = processes.get(from as usize..to as usize).unwrap_or(&[]);
                return span.iter().for_each(|&process| builder.push_one(process));
            }
        };
        let begin = pieces.partition_point(|piece| piece.rank + piece.count <= from);
        for piece in pieces[begin..].iter().take_while(|piece| piece.rank < to) {
            let (first, end) = (from.max(piece.rank), to.min(piece.rank + piece.count));
            if first < end {
                builder.push(Piece::new(piece.at(first - piece.rank), piece.stride, end - first));
            }
        }
    }

    /// Appends the members of `count` ranks, `stride` apart.
    pub fn take(&self, first: u32, stride: i32, count: u32, builder: &mut Builder) {
        let rank = |index: u32| (i64::from(first) + i64::from(stride) * i64::from(index)) as u32;
        match self {
            Members::One(piece) => {
                let distance = i64::from(piece.stride) * i64::from(stride);
                // Farther apart than 32 bits tell, there is only one.
                builder.push(Piece::new(piece.at(first), i32::try_from(distance).unwrap_or(0), count));
            }
            _ if stride == 1 => self.append(first, first + count, builder),
            _ => (0..count).for_each(|index| builder.push_one(self.process(rank(index)))),
        }
    }
}

/// Puts members together; those that continue a progression need no room.
pub(super) struct Builder {
    pieces: Vec<Piece>,
    size: u32,
}

impl Builder {
    pub fn new() -> Builder {
        Builder { pieces: Vec::new(), size: 0 }
    }

    pub fn push_one(&mut self, process: u32) {
        self.push(Piece::new(process, 0, 1));
    }

    pub fn push(&mut self, mut piece: Piece) {
        if piece.count == 0 {
            return;
        }
        piece.rank = self.size;
        self.size += piece.count;
        if let Some(last) = self.pieces.last_mut() {
            let step = i64::from(piece.first) - i64::from(last.last());
            let fits = |part: &Piece| part.count == 1 || i64::from(part.stride) == step;
            if fits(last) && fits(&piece) && i32::try_from(step).is_ok() {
                last.stride = step as i32;
                last.count += piece.count;
                return;
            }
        }
        self.pieces.push(piece);
    }

    pub fn finish(self) -> Group {
        Group { members: self.members() }
    }

    fn members(self) -> Members {
        let Builder { pieces, size } = self;
        match pieces.as_slice() {
            [] => return Members::One(Piece::new(0, 1, 0)),
            // The stride of a single process says nothing: one way to write it.
            [piece] if piece.count == 1 => return Members::One(Piece { stride: 1, ..*piece }),
            [piece] => return Members::One(*piece),
            _ if pieces.len() <= FEW => return Members::Few(pieces.into()),
            _ => {}
        }
        let mut order: Vec<u32> = (0..pieces.len() as u32).collect();
        order.sort_unstable_by_key(|&piece| pieces[piece as usize].lowest());
        let apart = order.windows(2).all(|pair| pieces[pair[0] as usize].highest() < pieces[pair[1] as usize].lowest());
        // A piece and its number take 20 bytes, an entry of the table 8.
        if apart && 20 * pieces.len() < 8 * size as usize {
            return Members::Apart(pieces.into(), order.into());
        }
        let processes: Vec<u32> =
            pieces.iter().flat_map(|piece| (0..piece.count).map(|index| piece.at(index))).collect();
        let mut order: Vec<u32> = (0..size).collect();
        order.sort_unstable_by_key(|&rank| processes[rank as usize]);
        Members::Table(processes.into(), order.into())
    }
}
