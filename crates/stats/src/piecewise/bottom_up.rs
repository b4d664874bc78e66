//! Neighbouring segments become one, those first that lose least by it (thesis, section 5.3.3, algorithm 6).

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use super::misfit::Misfit;
use super::search::{Piece, Search, total};

/// Two neighbours that could become one.
struct Merger {
    loss: f64,
    left: usize,
    right: usize,
    whole: Piece,
}

/// Pieces in a row from which some are taken out.
struct Row {
    pieces: Vec<Option<Piece>>,
    left: Vec<usize>,
    right: Vec<usize>,
}

impl<M: Misfit> Search<'_, M> {
    /// Of all numbers of pieces on the way from these to a single one, the best by the criterion.
    pub(super) fn bottom_up(&self, pieces: Vec<Piece>) -> Vec<Piece> {
        let mut misfit = total(&pieces);
        let mut count = pieces.len();
        let mut best = (self.bic(count, misfit), pieces.clone());
        let mut row = Row::new(pieces);
        let mut mergers: BinaryHeap<Merger> = (0..count - 1).filter_map(|left| self.merger(&row, left)).collect();
        while let Some(merger) = mergers.pop() {
            if !row.holds(&merger) {
                continue;
            }
            misfit += merger.loss;
            count -= 1;
            let (before, here) = (row.left[merger.left], merger.left);
            row.merge(merger);
            mergers.extend([before, here].into_iter().filter_map(|left| self.merger(&row, left)));
            let bic = self.bic(count, misfit);
            if bic < best.0 {
                best = (bic, row.pieces.iter().flatten().cloned().collect());
            }
        }
        best.1
    }

    fn merger(&self, row: &Row, left: usize) -> Option<Merger> {
        let right = *row.right.get(left)?;
        let (first, second) = (row.pieces.get(left)?.as_ref()?, row.pieces.get(right)?.as_ref()?);
        let whole = self.piece(first.groups.start..second.groups.end);
        Some(Merger { loss: whole.misfit - (first.misfit + second.misfit), left, right, whole })
    }
}

impl Row {
    fn new(pieces: Vec<Piece>) -> Row {
        let count = pieces.len();
        Row {
            pieces: pieces.into_iter().map(Some).collect(),
            left: (0..count).map(|i| i.wrapping_sub(1)).collect(),
            right: (1..=count).collect(),
        }
    }

    /// Whether both pieces still are what they were.
    fn holds(&self, merger: &Merger) -> bool {
        let groups = |at: usize| self.pieces[at].as_ref().map(|piece| &piece.groups);
        match (groups(merger.left), groups(merger.right)) {
            (Some(left), Some(right)) => {
                left.start == merger.whole.groups.start && right.end == merger.whole.groups.end
            }
            _ => false,
        }
    }

    fn merge(&mut self, merger: Merger) {
        let beyond = self.right[merger.right];
        self.right[merger.left] = beyond;
        if beyond < self.pieces.len() {
            self.left[beyond] = merger.left;
        }
        self.pieces[merger.right] = None;
        self.pieces[merger.left] = Some(merger.whole);
    }
}

/// The heap gives the smallest loss first, and of equal ones the leftmost.
impl Ord for Merger {
    fn cmp(&self, other: &Merger) -> Ordering {
        other.loss.total_cmp(&self.loss).then(other.left.cmp(&self.left))
    }
}

impl PartialOrd for Merger {
    fn partial_cmp(&self, other: &Merger) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Merger {
    fn eq(&self, other: &Merger) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Merger {}

#[cfg(test)]
mod tests {
    use super::super::Objective;
    use super::super::least_squares::{LeastSquares, Weight};
    use super::super::sample::Sample;
    use super::*;

    #[test]
    fn short_pieces_become_the_lines_they_were_cut_from() {
        // Shreds are four points long, and both breakpoints are multiples of four.
        let y = |i: i32| if (40..64).contains(&i) { 50.0 } else { 0.3 * f64::from(i) };
        let points: Vec<(f64, f64)> = (0..100).map(|i| (f64::from(i), y(i))).collect();
        let sample = Sample::new(&points, Objective::Ordinary).expect("good points");
        let misfit = LeastSquares::new(&sample, Weight::One);
        let search = Search::new(&misfit);
        let shreds = search.shredded();
        assert_eq!(shreds.len(), 25);
        let found: Vec<_> = search.bottom_up(shreds).into_iter().map(|piece| piece.groups).collect();
        assert_eq!(found, [0..40, 40..64, 64..100]);
    }
}
