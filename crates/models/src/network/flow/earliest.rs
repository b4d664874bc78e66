//! The earliest of many times that keep changing: a tree of minima with 16 children a node.
//!
//! Setting a time only marks what depends on it; the tree is mended when somebody asks. Many changes between two
//! questions, the usual case where one change of a flow reaches many links, cost little more than one.

use hpcast_units::Time;

const CHILDREN: usize = 16;

/// Times by slot, and which of them is the earliest.
#[derive(Debug, Default)]
pub(super) struct Earliest {
    /// The times themselves, then the minima of groups of 16, and so on up to a single group.
    levels: Vec<Level>,
    /// The earliest time when the tree was last mended.
    least: Option<u64>,
}

#[derive(Debug, Default)]
struct Level {
    /// A multiple of 16 of them.
    times: Vec<u64>,
    /// Groups of 16 times whose minimum is to be computed anew.
    stale: Vec<u32>,
    is_stale: Vec<bool>,
}

impl Level {
    fn mark(&mut self, slot: usize) {
        let group = slot / CHILDREN;
        if !self.is_stale[group] {
            self.is_stale[group] = true;
            self.stale.push(group as u32);
        }
    }

    fn group(&self, group: usize) -> &[u64; CHILDREN] {
        self.times[group * CHILDREN..].first_chunk().expect("levels are made of whole groups")
    }
}

/// The least of a group, by halves: the comparisons of each step do not wait for each other.
#[inline]
fn least(times: &[u64; CHILDREN]) -> u64 {
    let mut half = [0; CHILDREN / 2];
    for (i, least) in half.iter_mut().enumerate() {
        *least = times[i].min(times[i + CHILDREN / 2]);
    }
    half.into_iter().fold(u64::MAX, u64::min)
}

impl Earliest {
    /// Sets the time of a slot, [`Time::NEVER`] to forget it.
    #[inline]
    pub(super) fn set(&mut self, slot: u32, time: Time) {
        let slot = slot as usize;
        if self.levels.first().is_none_or(|level| slot >= level.times.len()) {
            self.grow(slot);
        }
        let level = &mut self.levels[0];
        if level.times[slot] != time.as_ps() {
            level.times[slot] = time.as_ps();
            level.mark(slot);
            self.least = None;
        }
    }

    #[cold]
    fn grow(&mut self, slot: usize) {
        let mut groups = (slot / CHILDREN + 1).next_power_of_two();
        for depth in 0.. {
            if self.levels.len() == depth {
                self.levels.push(Level::default());
            }
            let level = &mut self.levels[depth];
            level.times.resize(groups * CHILDREN, u64::MAX);
            level.is_stale.resize(groups, false);
            // The level may be new, below it everything may be older.
            for group in 0..groups {
                level.mark(group * CHILDREN);
            }
            if groups == 1 {
                break;
            }
            groups = groups.div_ceil(CHILDREN);
        }
    }

    /// The earliest time.
    #[inline]
    pub(super) fn earliest(&mut self) -> Time {
        let least = match self.least {
            Some(least) => least,
            None => self.mend(),
        };
        Time::from_ps(least)
    }

    fn mend(&mut self) -> u64 {
        for depth in 0..self.levels.len() {
            let (below, above) = self.levels.split_at_mut(depth + 1);
            let level = &mut below[depth];
            for i in 0..level.stale.len() {
                let group = level.stale[i] as usize;
                level.is_stale[group] = false;
                if let Some(above) = above.first_mut() {
                    let least = least(level.group(group));
                    if above.times[group] != least {
                        above.times[group] = least;
                        above.mark(group);
                    }
                }
            }
            level.stale.clear();
        }
        let least = self.levels.last().map_or(u64::MAX, |top| least(top.group(0)));
        self.least = Some(least);
        least
    }

    /// Appends the slots whose time is `now` or before, in the order of their numbers.
    pub(super) fn due(&mut self, now: Time, due: &mut Vec<u32>) {
        if self.earliest() <= now {
            self.descend(self.levels.len() - 1, 0, now.as_ps(), due);
        }
    }

    fn descend(&self, depth: usize, group: usize, now: u64, due: &mut Vec<u32>) {
        for (child, &time) in self.levels[depth].group(group).iter().enumerate() {
            if time <= now {
                let slot = group * CHILDREN + child;
                if depth == 0 {
                    due.push(slot as u32);
                } else {
                    self.descend(depth - 1, slot, now, due);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equals_a_plain_search() {
        let mut tree = Earliest::default();
        let mut plain: Vec<u64> = Vec::new();
        assert_eq!(tree.earliest(), Time::NEVER);
        let mut state = 1u64;
        let mut random = |below: u64| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) % below
        };
        for round in 0..2000 {
            for _ in 0..random(5) {
                let slot = random(1 + round / 2) as usize;
                let time = if random(4) == 0 { u64::MAX } else { random(300) };
                if slot >= plain.len() {
                    plain.resize(slot + 1, u64::MAX);
                }
                plain[slot] = time;
                tree.set(slot as u32, Time::from_ps(time));
            }
            let least = plain.iter().copied().min().unwrap_or(u64::MAX);
            assert_eq!(tree.earliest(), Time::from_ps(least));
            let mut due = Vec::new();
            if least < u64::MAX {
                tree.due(Time::from_ps(least), &mut due);
            }
            let expected: Vec<u32> =
                (0..plain.len()).filter(|&i| plain[i] == least && least < u64::MAX).map(|i| i as u32).collect();
            assert_eq!(due, expected);
        }
    }
}
