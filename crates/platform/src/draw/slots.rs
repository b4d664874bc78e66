//! Which of many equal things are drawn: all of few; of many the first ones, a gap, and the last one.

/// A place in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slot {
    /// The thing with this number.
    One(u32),
    /// So many that are not drawn.
    More(u32),
}

/// The places for `count` things, of which at most `limit` (at least 3) are drawn.
pub fn slots(count: u32, limit: u32) -> Vec<Slot> {
    let limit = limit.max(3);
    if count <= limit {
        return (0..count).map(Slot::One).collect();
    }
    let mut slots: Vec<Slot> = (0..limit - 1).map(Slot::One).collect();
    slots.extend([Slot::More(count - limit), Slot::One(count - 1)]);
    slots
}

/// The numbers that are drawn.
pub fn ones(slots: &[Slot]) -> impl Iterator<Item = u32> + '_ {
    slots.iter().filter_map(|slot| match slot {
        Slot::One(number) => Some(*number),
        Slot::More(_) => None,
    })
}

#[cfg(test)]
mod tests {
    use super::Slot::{More, One};
    use super::*;

    #[test]
    fn nothing_is_lost() {
        assert_eq!(slots(4, 4), [One(0), One(1), One(2), One(3)]);
        assert_eq!(slots(9, 4), [One(0), One(1), One(2), More(5), One(8)]);
        assert_eq!(slots(5, 0), [One(0), One(1), More(2), One(4)]);
    }
}
