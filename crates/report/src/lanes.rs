//! Keeps what a rank does at the same time apart: a collective in the background overlaps with the rank's own work, and
//! neither charts nor traces can show two things in one place.

use hpcast_units::Time;

/// For each rank the end of what was last placed in each of its lanes.
#[derive(Debug, Default)]
pub(crate) struct Lanes {
    ends: Vec<Vec<Time>>,
}

impl Lanes {
    /// A lane of the rank that is free from `from` on: the one whose last interval ends just then, or else the first.
    pub fn place(&mut self, rank: u32, from: Time, until: Time) -> usize {
        let rank = rank as usize;
        if self.ends.len() <= rank {
            self.ends.resize_with(rank + 1, Vec::new);
        }
        let ends = &mut self.ends[rank];
        let lane = ends.iter().position(|end| *end == from).or_else(|| ends.iter().position(|end| *end < from));
        match lane {
            Some(lane) => {
                ends[lane] = until;
                lane
            }
            None => {
                ends.push(until);
                ends.len() - 1
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_overlaps_is_kept_apart() {
        let mut lanes = Lanes::default();
        let mut place = |from, until| lanes.place(3, Time::from_ps(from), Time::from_ps(until));
        assert_eq!(place(0, 5), 0);
        assert_eq!(place(5, 7), 0);
        assert_eq!(place(0, 10), 1);
        assert_eq!(place(10, 12), 1, "goes on where it was");
        assert_eq!(place(12, 13), 1);
        assert_eq!(place(14, 15), 0);
    }
}
