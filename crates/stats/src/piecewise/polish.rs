//! What greedy steps got wrong: breakpoints move, come and go as long as the criterion falls.

use super::misfit::Misfit;
use super::search::{Piece, Search, total};

/// A step must lower the criterion by more than rounding does.
const GAIN: f64 = 1e-6;

/// Breakpoints that are taken out one by one to see whether the others then do better.
const MOST_THINNED: usize = 16;

/// A piece, and what the search found out about it.
#[derive(Clone)]
struct Known {
    piece: Piece,
    /// Its best halves, once somebody asked for them.
    halves: Option<Option<(Piece, Piece)>>,
    /// It and its right neighbour as one, when it was last asked for.
    joined: Option<Piece>,
    /// Whether the breakpoint at its right end may have a better place.
    loose: bool,
}

impl<M: Misfit> Search<'_, M> {
    /// Pieces whose criterion no single step lowers.
    pub(super) fn polished(&self, pieces: Vec<Piece>) -> Vec<Piece> {
        let mut known = self.thinned(pieces.into_iter().map(Known::new).collect());
        while self.merge_or_cut(&mut known) {
            self.settle(&mut known);
        }
        known.into_iter().map(|known| known.piece).collect()
    }

    /// Merges like the bottom-up step, but after each merger the other breakpoints may move. Two that were put to the left
    /// and the right of a true one become that one.
    fn thinned(&self, mut known: Vec<Known>) -> Vec<Known> {
        let fewest = known.len().saturating_sub(MOST_THINNED).max(1);
        self.settle(&mut known);
        let mut best = (self.bic(known.len(), total_of(&known)), known.clone());
        while known.len() > fewest {
            self.merge_cheapest(&mut known);
            self.settle(&mut known);
            let bic = self.bic(known.len(), total_of(&known));
            if bic < best.0 {
                best = (bic, known.clone());
            }
        }
        best.1
    }

    fn merge_cheapest(&self, known: &mut Vec<Known>) {
        let mut cheapest = (f64::INFINITY, 0);
        for left in 0..known.len() - 1 {
            let whole = self.joined(known, left);
            let loss = whole.misfit - known[left].piece.misfit - known[left + 1].piece.misfit;
            if loss < cheapest.0 {
                cheapest = (loss, left);
            }
        }
        let whole = self.joined(known, cheapest.1);
        self.replace(known, cheapest.1, 2, vec![whole]);
    }

    fn joined(&self, known: &mut [Known], left: usize) -> Piece {
        let groups = known[left].piece.groups.start..known[left + 1].piece.groups.end;
        match &known[left].joined {
            Some(whole) if whole.groups == groups => whole.clone(),
            _ => known[left].joined.insert(self.piece(groups)).clone(),
        }
    }

    /// Puts pieces in the place of others; the breakpoints around them may then move.
    fn replace(&self, known: &mut Vec<Known>, at: usize, taken: usize, pieces: Vec<Piece>) {
        known.splice(at..at + taken, pieces.into_iter().map(Known::new));
        if at > 0 {
            known[at - 1].loose = true;
        }
    }

    /// Moves each breakpoint to the best place between its neighbours, until all stay.
    fn settle(&self, known: &mut [Known]) {
        while let Some(left) = known.iter().position(|known| known.loose) {
            known[left].loose = false;
            if left + 1 < known.len() {
                self.relocate(known, left);
            }
        }
    }

    fn relocate(&self, known: &mut [Known], left: usize) {
        let (first, second) = (&known[left].piece, &known[left + 1].piece);
        let Some(halves) = self.halves(first.groups.start..second.groups.end) else { return };
        let misfit = total_of(known);
        let moved = misfit - first.misfit - second.misfit + halves.0.misfit + halves.1.misfit;
        if self.bic(known.len(), moved) < self.bic(known.len(), misfit) - GAIN {
            known[left] = Known { loose: false, ..Known::new(halves.0) };
            known[left + 1] = Known::new(halves.1);
            if left > 0 {
                known[left - 1].loose = true;
            }
        }
    }

    /// Takes out or adds the breakpoint that lowers the criterion most, if there is one.
    fn merge_or_cut(&self, known: &mut Vec<Known>) -> bool {
        let misfit = total_of(known);
        let mut lowest = self.bic(known.len(), misfit) - GAIN;
        let mut best = None;
        for at in 0..known.len() {
            for (taken, pieces) in [(2, self.merged(known, at)), (1, self.cut(&mut known[at]))] {
                let Some(pieces) = pieces else { continue };
                let rest = misfit - known[at..at + taken].iter().map(|known| known.piece.misfit).sum::<f64>();
                let bic = self.bic(known.len() - taken + pieces.len(), rest + total(&pieces));
                if bic < lowest {
                    (lowest, best) = (bic, Some((at, taken, pieces)));
                }
            }
        }
        let Some((at, taken, pieces)) = best else { return false };
        self.replace(known, at, taken, pieces);
        true
    }

    fn merged(&self, known: &mut [Known], left: usize) -> Option<Vec<Piece>> {
        (left + 1 < known.len()).then(|| vec![self.joined(known, left)])
    }

    fn cut(&self, known: &mut Known) -> Option<Vec<Piece>> {
        let halves = known.halves.get_or_insert_with(|| self.halves(known.piece.groups.clone()));
        halves.clone().map(|(left, right)| vec![left, right])
    }
}

impl Known {
    fn new(piece: Piece) -> Known {
        Known { piece, halves: None, joined: None, loose: true }
    }
}

fn total_of(known: &[Known]) -> f64 {
    known.iter().map(|known| known.piece.misfit).sum()
}
