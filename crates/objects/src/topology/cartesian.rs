//! Grids of processes: ranks in the order of C, dimensions that may wrap around.

use super::TopologyError;

/// A grid. Ranks are never reordered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cartesian {
    lengths: Vec<i32>,
    periodic: Vec<bool>,
    size: i32,
}

impl Cartesian {
    /// A grid among `processes`; those whose rank is not below its size have no place in it. A grid without dimensions has
    /// one place.
    pub fn new(processes: i32, lengths: &[i32], periodic: &[bool]) -> Result<Cartesian, TopologyError> {
        if lengths.len() != periodic.len() {
            return Err(TopologyError::Dimensions { given: periodic.len(), dimensions: lengths.len() });
        }
        let mut size = 1_i32;
        for (dimension, &length) in lengths.iter().enumerate() {
            if length < 1 {
                return Err(TopologyError::Length { dimension, length });
            }
            size = size.checked_mul(length).ok_or(TopologyError::TooLarge { processes })?;
        }
        if size > processes {
            return Err(TopologyError::TooLarge { processes });
        }
        Ok(Cartesian { lengths: lengths.to_vec(), periodic: periodic.to_vec(), size })
    }

    /// Places in the grid.
    pub fn size(&self) -> i32 {
        self.size
    }

    /// The length of each dimension.
    pub fn lengths(&self) -> &[i32] {
        &self.lengths
    }

    /// Which dimensions wrap around.
    pub fn periodic(&self) -> &[bool] {
        &self.periodic
    }

    /// Where a rank stands (`MPI_Cart_coords`).
    pub fn coords(&self, rank: i32) -> Result<Vec<i32>, TopologyError> {
        self.check(rank)?;
        let mut coords = vec![0; self.lengths.len()];
        let mut rest = rank;
        for (coordinate, length) in coords.iter_mut().zip(&self.lengths).rev() {
            *coordinate = rest % length;
            rest /= length;
        }
        Ok(coords)
    }

    /// Who stands there (`MPI_Cart_rank`); coordinates of periodic dimensions wrap around.
    pub fn rank(&self, coords: &[i32]) -> Result<i32, TopologyError> {
        if coords.len() != self.lengths.len() {
            return Err(TopologyError::Dimensions { given: coords.len(), dimensions: self.lengths.len() });
        }
        let mut rank = 0;
        for (dimension, (&coordinate, &length)) in coords.iter().zip(&self.lengths).enumerate() {
            let inside = if self.periodic[dimension] { coordinate.rem_euclid(length) } else { coordinate };
            if !(0..length).contains(&inside) {
                return Err(TopologyError::Coordinate { dimension, coordinate, length });
            }
            rank = rank * length + inside;
        }
        Ok(rank)
    }

    /// From whom and to whom data go that are shifted along a dimension (`MPI_Cart_shift`); `None` beyond a border.
    pub fn shift(
        &self,
        rank: i32,
        dimension: i32,
        displacement: i32,
    ) -> Result<(Option<i32>, Option<i32>), TopologyError> {
        self.check(rank)?;
        let dimensions = self.lengths.len();
        let axis = usize::try_from(dimension)
            .ok()
            .filter(|&axis| axis < dimensions)
            .ok_or(TopologyError::Direction { dimension, dimensions })?;
        let by = i64::from(displacement);
        Ok((self.along(rank, axis, -by), self.along(rank, axis, by)))
    }

    /// The neighbours of a rank in the order of neighbourhood collectives: for each dimension the one before and the one
    /// behind; `None` beyond a border.
    pub fn neighbours(&self, rank: i32) -> Result<Vec<Option<i32>>, TopologyError> {
        self.check(rank)?;
        let axes = 0..self.lengths.len();
        Ok(axes.flat_map(|axis| [self.along(rank, axis, -1), self.along(rank, axis, 1)]).collect())
    }

    /// The grid of the dimensions that remain (`MPI_Cart_sub`).
    pub fn sub(&self, remain: &[bool]) -> Result<Cartesian, TopologyError> {
        let dimensions = self.lengths.len();
        if remain.len() != dimensions {
            return Err(TopologyError::Dimensions { given: remain.len(), dimensions });
        }
        let kept = |axis: &usize| remain[*axis];
        let lengths: Vec<i32> = (0..dimensions).filter(kept).map(|axis| self.lengths[axis]).collect();
        let periodic: Vec<bool> = (0..dimensions).filter(kept).map(|axis| self.periodic[axis]).collect();
        Cartesian::new(self.size, &lengths, &periodic)
    }

    /// Which of the grids of [`Cartesian::sub`] a rank belongs to, and its rank there: colour and key of a split.
    pub fn sub_place(&self, rank: i32, remain: &[bool]) -> Result<(i32, i32), TopologyError> {
        let coords = self.coords(rank)?;
        if remain.len() != coords.len() {
            return Err(TopologyError::Dimensions { given: remain.len(), dimensions: coords.len() });
        }
        let (mut colour, mut key) = (0, 0);
        for ((coordinate, length), &remains) in coords.iter().zip(&self.lengths).zip(remain) {
            let number = if remains { &mut key } else { &mut colour };
            *number = *number * length + coordinate;
        }
        Ok((colour, key))
    }

    /// The place of a process (`MPI_Cart_map`): its own rank, if the grid has that many.
    pub fn map(&self, rank: i32) -> Option<i32> {
        (0..self.size).contains(&rank).then_some(rank)
    }

    fn check(&self, rank: i32) -> Result<(), TopologyError> {
        if (0..self.size).contains(&rank) { Ok(()) } else { Err(TopologyError::Rank { rank, size: self.size }) }
    }

    /// Who stands some steps away along an axis.
    fn along(&self, rank: i32, axis: usize, steps: i64) -> Option<i32> {
        let stride: i32 = self.lengths[axis + 1..].iter().product();
        let length = self.lengths[axis];
        let here = rank / stride % length;
        let there = i64::from(here) + steps;
        let there = if self.periodic[axis] { there.rem_euclid(i64::from(length)) } else { there };
        let inside = (0..i64::from(length)).contains(&there);
        inside.then(|| rank + (there as i32 - here) * stride)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grid() -> Cartesian {
        Cartesian::new(30, &[2, 3, 4], &[false, true, false]).unwrap()
    }

    #[test]
    fn coordinates_and_ranks_lead_to_each_other() {
        let grid = grid();
        assert_eq!((grid.size(), grid.coords(23).unwrap()), (24, vec![1, 2, 3]));
        for rank in 0..24 {
            assert_eq!(grid.rank(&grid.coords(rank).unwrap()), Ok(rank));
        }
        assert_eq!(grid.rank(&[0, -1, 0]), grid.rank(&[0, 2, 0]));
        assert_eq!(grid.rank(&[0, 7, 0]), grid.rank(&[0, 1, 0]));
        let outside = TopologyError::Coordinate { dimension: 0, coordinate: 2, length: 2 };
        assert_eq!(grid.rank(&[2, 0, 0]), Err(outside));
        assert_eq!(grid.coords(24), Err(TopologyError::Rank { rank: 24, size: 24 }));
        assert_eq!((grid.map(23), grid.map(24)), (Some(23), None));
    }

    #[test]
    fn shifts_end_at_borders_and_wrap_around() {
        let grid = grid();
        let at = |coords: &[i32]| Some(grid.rank(coords).unwrap());
        let middle = grid.rank(&[0, 0, 1]).unwrap();
        assert_eq!(grid.shift(middle, 0, 1), Ok((None, at(&[1, 0, 1]))));
        assert_eq!(grid.shift(middle, 1, 1), Ok((at(&[0, 2, 1]), at(&[0, 1, 1]))));
        assert_eq!(grid.shift(middle, 1, -4), Ok((at(&[0, 1, 1]), at(&[0, 2, 1]))));
        assert_eq!(grid.shift(middle, 2, 2), Ok((None, at(&[0, 0, 3]))));
        assert_eq!(grid.shift(middle, 2, 0), Ok((Some(middle), Some(middle))));
        assert_eq!(grid.shift(middle, 2, i32::MIN), Ok((None, None)));
        assert_eq!(grid.shift(middle, 3, 1), Err(TopologyError::Direction { dimension: 3, dimensions: 3 }));
        let expected = [None, at(&[1, 0, 1]), at(&[0, 2, 1]), at(&[0, 1, 1]), at(&[0, 0, 0]), at(&[0, 0, 2])];
        assert_eq!(grid.neighbours(middle).unwrap(), expected);
    }

    #[test]
    fn grids_of_some_dimensions() {
        let grid = grid();
        let planes = grid.sub(&[true, false, true]).unwrap();
        assert_eq!((planes.lengths(), planes.periodic()), (&[2, 4][..], &[false, false][..]));
        for rank in 0..24 {
            let coords = grid.coords(rank).unwrap();
            let (colour, key) = grid.sub_place(rank, &[true, false, true]).unwrap();
            assert_eq!((colour, planes.coords(key).unwrap()), (coords[1], vec![coords[0], coords[2]]));
        }
        let point = grid.sub(&[false; 3]).unwrap();
        assert_eq!((point.size(), point.coords(0), point.neighbours(0)), (1, Ok(vec![]), Ok(vec![])));
        assert_eq!(grid.sub_place(17, &[false; 3]), Ok((17, 0)));
    }

    #[test]
    fn wrong_grids_are_refused() {
        assert_eq!(Cartesian::new(5, &[2, 3], &[true, true]), Err(TopologyError::TooLarge { processes: 5 }));
        let zero = TopologyError::Length { dimension: 1, length: 0 };
        assert_eq!(Cartesian::new(5, &[2, 0], &[true, true]), Err(zero));
        assert_eq!(Cartesian::new(5, &[2], &[]), Err(TopologyError::Dimensions { given: 0, dimensions: 1 }));
        assert!(Cartesian::new(i32::MAX, &[1 << 20, 1 << 20], &[true, true]).is_err());
    }
}
