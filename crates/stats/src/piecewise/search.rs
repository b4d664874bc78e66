//! Where the breakpoints are: greedy steps down and up, and a polish.

use std::ops::Range;

use super::criterion::bic;
use super::misfit::Misfit;
use super::sample::Sample;

/// Pieces that merging begins with, at most: their losses are worked out one by one.
const MOST_SHREDS: usize = 2048;

/// Groups that share a line.
#[derive(Clone, Debug)]
pub(super) struct Piece {
    pub(super) groups: Range<usize>,
    pub(super) misfit: f64,
}

/// What all steps of the search need.
pub(super) struct Search<'a, M> {
    sample: &'a Sample,
    misfit: &'a M,
    floor: f64,
}

impl<'a, M: Misfit> Search<'a, M> {
    pub(super) fn new(misfit: &'a M) -> Search<'a, M> {
        let sample = misfit.sample();
        Search { sample, misfit, floor: misfit.floor(0..sample.groups()) }
    }

    pub(super) fn piece(&self, groups: Range<usize>) -> Piece {
        Piece { misfit: self.misfit.of(groups.clone()), groups }
    }

    /// The criterion for all points in so many pieces.
    pub(super) fn bic(&self, pieces: usize, misfit: f64) -> f64 {
        let points = self.sample.count(&(0..self.sample.groups()));
        bic(points, pieces, misfit, self.floor)
    }

    /// Cuts greedily as long as it pays (thesis, algorithm 5): each piece by its own criterion, so that the noise of one
    /// end does not hide what happens at the other.
    pub(super) fn top_down(&self) -> Vec<Piece> {
        let mut open = vec![self.piece(0..self.sample.groups())];
        let mut done = Vec::new();
        while let Some(piece) = open.pop() {
            match self.worthwhile_halves(&piece) {
                Some((left, right)) => open.extend([right, left]),
                None => done.push(piece),
            }
        }
        done
    }

    fn worthwhile_halves(&self, piece: &Piece) -> Option<(Piece, Piece)> {
        let points = self.sample.count(&piece.groups);
        let floor = self.misfit.floor(piece.groups.clone());
        if piece.misfit <= floor {
            return None;
        }
        let (left, right) = self.halves(piece.groups.clone())?;
        let halved = bic(points, 2, left.misfit + right.misfit, floor);
        (halved < bic(points, 1, piece.misfit, floor)).then_some((left, right))
    }

    /// These groups, cut at the best place, if they can be cut.
    pub(super) fn halves(&self, groups: Range<usize>) -> Option<(Piece, Piece)> {
        let at = self.misfit.best_cut(groups.clone())?;
        Some((self.piece(groups.start..at), self.piece(at..groups.end)))
    }

    /// As many short pieces of like length as can be.
    pub(super) fn shredded(&self) -> Vec<Piece> {
        let groups = self.sample.groups();
        let step = groups.div_ceil(MOST_SHREDS).max(4);
        let mut cuts = vec![0];
        let mut next = step;
        while let Some(at) = self.sample.cuts(&(cuts[cuts.len() - 1]..groups)).find(|&cut| cut >= next) {
            cuts.push(at);
            next = at + step;
        }
        cuts.push(groups);
        cuts.windows(2).map(|pair| self.piece(pair[0]..pair[1])).collect()
    }
}

pub(super) fn total(pieces: &[Piece]) -> f64 {
    pieces.iter().map(|piece| piece.misfit).sum()
}
