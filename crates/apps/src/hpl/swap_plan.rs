//! Which rows a panel exchanges, as far as sizes of messages go: the index arrays of HPL_pdlaswp.
//!
//! Step i of a panel exchanges row ia + i with the pivot's row. Rows of the panel's block stay with the process row that
//! owns it; every row from outside ends inside. All processes agree on these counts, so they are found once a panel.

use std::cell::OnceCell;
use std::collections::HashMap;
use std::rc::Rc;

use hpcast_engine::{Key, Stream};
use hpcast_mpi::Round;

use super::broadcast::roll;
use super::grid::Deal;

/// Where pivots come from.
#[derive(Clone, Debug)]
pub enum Pivots {
    /// Each column's pivot is any of the rows that are left (T. Cornebize's thesis, section 4.1.2).
    Random(Stream),
    /// All candidates are equal, as in a matrix of zeros: of these HPL takes one of the first process row that has any.
    Equal(Stream),
    /// All candidates are equal, and each process offers its first row, as where `idamax` is left out of a simulation
    /// (T. Cornebize's master thesis, section 4.3).
    First,
    /// The row of each column's pivot, as a real run has found them.
    Listed(Rc<[u64]>),
}

impl Pivots {
    /// Drawn by this seed.
    pub fn random(seed: u64) -> Pivots {
        Pivots::Random(Key::new(seed).purpose("hpl pivots"))
    }

    /// Drawn by this seed, in a matrix of zeros.
    pub fn equal(seed: u64) -> Pivots {
        Pivots::Equal(Key::new(seed).purpose("hpl pivots"))
    }

    /// The row of each column's pivot, in a matrix of that order whose rows are dealt to so many process rows by blocks.
    pub fn list(&self, n: u64, nb: u64, process_rows: u32) -> Vec<u64> {
        let deal = Deal { block: nb, processes: process_rows };
        (0..n).map(|column| self.row(deal, column, n)).collect()
    }

    /// Whether all candidates for a pivot are equal.
    pub fn are_equal(&self) -> bool {
        matches!(self, Pivots::Equal(_) | Pivots::First)
    }

    fn row(&self, deal: Deal, column: u64, rows: u64) -> u64 {
        match self {
            Pivots::Random(stream) => column + stream.below(rows - column, 0, column),
            Pivots::Equal(stream) => {
                let process = first_with_rows(deal, column, rows);
                let count = deal.count(rows - column, column, process);
                deal.nth(deal.count(column, 0, process) + stream.below(count, 0, column), process)
            }
            Pivots::First => {
                let process = first_with_rows(deal, column, rows);
                deal.nth(deal.count(column, 0, process), process)
            }
            Pivots::Listed(list) => list[column as usize],
        }
    }
}

/// The process row whose candidate wins where all are equal (HPL_pdmxswp).
fn first_with_rows(deal: Deal, column: u64, rows: u64) -> u32 {
    let has_rows = |process: &u32| deal.count(rows - column, column, *process) > 0;
    (0..deal.processes).find(has_rows).unwrap_or_else(|| deal.owner(column))
}

/// Counts of rows by process row, for one panel.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct SwapPlan {
    /// For each stage of the binary exchange, what each process row sends: at first the rows from outside that it owns,
    /// then also what it was sent. Nothing for the owner of the panel.
    pub exchanged: Vec<Box<[u64]>>,
    /// Rows that the panel's owner moves.
    pub moved_by_owner: u64,
    /// The long swap's places.
    pub long: LongPlan,
}

/// How the long swap deals the rows of U to process rows.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct LongPlan {
    /// The process row at each place; the panel's owner comes first.
    pub rows: Box<[u32]>,
    /// The place of each process row.
    pub places: Box<[u32]>,
    /// Rows of U before each place, and all of them at the end, as the swap finds them.
    pub starts: Box<[u64]>,
    /// What equilibration spreads: which way, from which place, and the rows of U before each place.
    pub levelling: Vec<(Side, u32, Box<[u64]>)>,
    /// As `starts`, after equilibration.
    pub levelled: Box<[u64]>,
    /// The exchanges of each process row, found when the first process of that row asks for them.
    exchanges: Box<[OnceCell<Exchanges>]>,
}

/// What a process row exchanges in a long swap, in rows of U.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Exchanges {
    /// To spread them.
    pub spread: Rc<[Round]>,
    /// Then, to even them out and to let them go round.
    pub rolled: Rc<[Round]>,
}

/// Which way the long swap spreads rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Left,
    Right,
}

impl SwapPlan {
    /// For the panel of `jb` columns that starts at `ia`, of a matrix of order `n`.
    pub fn new(pivots: &Pivots, deal: Deal, n: u64, ia: u64, jb: u64) -> SwapPlan {
        let owner = deal.owner(ia) as usize;
        let mut outside: Vec<u64> =
            (ia..ia + jb).map(|column| pivots.row(deal, column, n)).filter(|&row| row >= ia + jb).collect();
        outside.sort_unstable();
        outside.dedup();
        let mut owned = vec![0; deal.processes as usize];
        for &row in &outside {
            owned[deal.owner(row) as usize] += 1;
        }
        let moved_by_owner = jb + owned[owner];
        owned[owner] = 0;
        let inside = jb - owned.iter().sum::<u64>();
        SwapPlan { long: LongPlan::new(&owned, owner, inside), exchanged: exchanged(owned, owner), moved_by_owner }
    }
}

/// What each process row sends in each stage of the binary exchange (HPL_pdlaswp00).
fn exchanged(mut owned: Vec<u64>, owner: usize) -> Vec<Box<[u64]>> {
    let rows = owned.len();
    let row = |distance: usize| (owner + distance) % rows;
    let cube = power_below(rows as u64) as usize;
    let mut stages = vec![owned.clone().into_boxed_slice()];
    for distance in 1..rows - cube {
        owned[row(distance)] += owned[row(distance + cube)];
    }
    let mut bit = 1;
    while bit < cube {
        stages.push(owned.clone().into_boxed_slice());
        for distance in (0..cube).filter(|distance| distance & bit == 0) {
            let (one, other) = (row(distance), row(distance | bit));
            let sum = owned[one] + owned[other];
            (owned[one], owned[other]) = (sum, sum);
        }
        bit *= 2;
    }
    stages
}

/// The largest power of two that is at most `n`.
pub(super) fn power_below(n: u64) -> u64 {
    1 << n.max(1).ilog2()
}

impl LongPlan {
    /// `owned` counts the rows from outside; `inside` rows come from the owner of the panel.
    fn new(owned: &[u64], owner: usize, inside: u64) -> LongPlan {
        let rows = owned.len();
        let mut order: Vec<usize> = (0..rows).map(|distance| (owner + distance) % rows).collect();
        let mut counts: Vec<u64> = order.iter().map(|&row| if row == owner { inside } else { owned[row] }).collect();
        sort_by_hops(&mut order, &mut counts);
        let starts = sums(&counts);
        let mut places = vec![0; rows];
        for (place, &row) in order.iter().enumerate() {
            places[row] = place as u32;
        }
        let (levelling, levelled) = level(&starts);
        LongPlan {
            rows: order.iter().map(|&row| row as u32).collect(),
            places: places.into(),
            starts,
            levelling,
            levelled,
            exchanges: vec![OnceCell::new(); rows].into(),
        }
    }

    /// How many rows of U a process row has.
    pub fn count(&self, row: u32) -> u64 {
        let place = self.places[row as usize] as usize;
        self.starts[place + 1] - self.starts[place]
    }

    /// What a process row exchanges.
    pub fn exchanges(&self, row: u32, equilibration: bool) -> &Exchanges {
        self.exchanges[row as usize].get_or_init(|| {
            let (mut spread, mut rolled) = (Vec::new(), Vec::new());
            self.spread(row, (Side::Right, 0), &self.starts, &mut spread);
            let mut starts = &self.starts;
            if equilibration {
                for (side, source, cuts) in &self.levelling {
                    self.spread(row, (*side, *source), cuts, &mut rolled);
                }
                starts = &self.levelled;
            }
            let (place, places) = (self.places[row as usize], self.rows.len() as u32);
            let count = |place: u32| starts[place as usize + 1] - starts[place as usize];
            rolled.extend((0..places - 1).map(|step| {
                let (partner, sent, received) = roll(place, step, places);
                Round { peer: self.rows[partner as usize], sent: count(sent), received: count(received) }
            }));
            Exchanges { spread: spread.into(), rolled: rolled.into() }
        })
    }

    /// Spreads rows of U from one place over those to its right or left (HPL_spread), halving distances. Where a process row
    /// has nothing to do, it has an empty exchange: it looks for the next panel after each.
    fn spread(&self, row: u32, (side, source): (Side, u32), starts: &[u64], list: &mut Vec<Round>) {
        let place = self.places[row as usize];
        let (count, me) = match side {
            Side::Right => (self.rows.len() as u32 - source, place.checked_sub(source)),
            Side::Left => (source + 1, source.checked_sub(place)),
        };
        let Some(me) = me.filter(|_| count > 1) else { return };
        let at = |distance: u32| match side {
            Side::Right => self.rows[(source + distance) as usize],
            Side::Left => self.rows[(source - distance) as usize],
        };
        let rows = |receiver: u32, bit: u32| match side {
            Side::Right => {
                let end = (receiver + bit).min(count);
                starts[(source + end) as usize] - starts[(source + receiver) as usize]
            }
            // HPL takes one place more than it needs.
            Side::Left => {
                let receiver = source - receiver;
                starts[receiver as usize + 1] - starts[receiver.saturating_sub(bit) as usize]
            }
        };
        let mut bit = power_below(u64::from(count - 1)) as u32;
        while bit > 0 {
            let takes_part = me & (bit - 1) == 0;
            list.push(match me {
                _ if takes_part && me & bit != 0 => Round { peer: at(me ^ bit), sent: 0, received: rows(me, bit) },
                _ if takes_part && me + bit < count => {
                    Round { peer: at(me + bit), sent: rows(me + bit, bit), received: 0 }
                }
                _ => Round { peer: row, sent: 0, received: 0 },
            });
            bit /= 2;
        }
    }
}

/// Puts what is much at places that few hops of the spread lead to (HPL_logsort).
fn sort_by_hops(order: &mut [usize], counts: &mut [u64]) {
    let hops = |place: usize| place.count_ones();
    let most = (0..order.len()).map(hops).max().unwrap_or(0);
    for k in 1..=most {
        for place in (1..order.len()).filter(|&place| hops(place) == k) {
            for other in (2..order.len()).filter(|&other| hops(other) > k) {
                if counts[place] < counts[other] {
                    counts.swap(place, other);
                    order.swap(place, other);
                }
            }
        }
    }
}

/// 0, then the sums of the first, the first two, and so on.
fn sums(counts: &[u64]) -> Box<[u64]> {
    let mut sum = 0;
    std::iter::once(0)
        .chain(counts.iter().map(|count| {
            sum += count;
            sum
        }))
        .collect()
}

type Levelling = Vec<(Side, u32, Box<[u64]>)>;

/// The spreads that even out what the places hold (HPL_equil), and how it is afterwards.
fn level(starts: &[u64]) -> (Levelling, Box<[u64]>) {
    let places = starts.len() - 1;
    let total = starts[places];
    let (low, rest) = (total / places as u64, total % places as u64);
    let high = low + u64::from(rest > 0);
    let held = |place: usize| starts[place + 1] - starts[place];
    // HPL also returns when only the last place is out of balance.
    let mut checked = 0;
    loop {
        let even = held(checked) == low || held(checked) == high;
        checked += 1;
        if checked == places || !even {
            break;
        }
    }
    if places <= 2 || checked == places {
        return (Vec::new(), starts.into());
    }
    let start = |place: usize| if (place as u64) < rest { place as u64 * high } else { place as u64 * low + rest };
    let end = |place: usize| start(place) + if (place as u64) < rest { high } else { low };
    let mut spreads = Vec::new();
    for place in 0..places {
        let left = starts[place] < start(place);
        let right = end(place) < starts[place + 1];
        if held(place) == 0 || !(left || right) {
            continue;
        }
        // The rows held here, cut at the places where they belong.
        let (mut at, mut remaining) = (starts[place], held(place));
        let mut cuts = vec![at];
        for other in 0..places {
            let taken = if end(other) > at { remaining.min(end(other) - at) } else { 0 };
            remaining -= taken;
            at += taken;
            cuts.push(at);
        }
        let cuts: Box<[u64]> = cuts.into();
        if left {
            spreads.push((Side::Left, place as u32, cuts.clone()));
        }
        if right {
            spreads.push((Side::Right, place as u32, cuts));
        }
    }
    let levelled = (0..places).map(start).chain([total]).collect();
    (spreads, levelled)
}

/// The plans of the panels that ranks are at now.
#[derive(Debug, Default)]
pub(super) struct SwapPlans {
    /// By first column, with how many ranks have still to ask for it.
    plans: HashMap<u64, (Rc<SwapPlan>, u32)>,
}

impl SwapPlans {
    /// The plan of a panel; each of `ranks` asks for it once.
    pub fn take(&mut self, ia: u64, ranks: u32, make: impl FnOnce() -> SwapPlan) -> Rc<SwapPlan> {
        let (plan, left) = self.plans.entry(ia).or_insert_with(|| (Rc::new(make()), ranks));
        *left -= 1;
        let (plan, left) = (plan.clone(), *left);
        if left == 0 {
            self.plans.remove(&ia);
        }
        plan
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn without_exchanges_nothing_moves() {
        let deal = Deal { block: 2, processes: 3 };
        let pivots = Pivots::Listed((0..12).collect());
        let plan = SwapPlan::new(&pivots, deal, 12, 4, 2);
        assert!(plan.exchanged.iter().all(|stage| stage.iter().all(|&rows| rows == 0)));
        assert_eq!(plan.moved_by_owner, 2);
        assert_eq!(plan.long.rows[0], 2);
        assert_eq!(*plan.long.starts, [0, 2, 2, 2]);
    }

    #[test]
    fn rows_from_outside_count_once() {
        let deal = Deal { block: 2, processes: 2 };
        // Columns 0 and 1 both take row 2, of process row 1; then row 5, of process row 0, does not leave its owner.
        let plan = SwapPlan::new(&Pivots::Listed([2, 2, 5, 7].into()), deal, 8, 0, 2);
        assert_eq!(*plan.exchanged[0], [0, 1]);
        assert_eq!(plan.moved_by_owner, 2);
        assert_eq!(*plan.long.starts, [0, 1, 2]);
        let plan = SwapPlan::new(&Pivots::Listed([4, 5].into()), deal, 8, 0, 2);
        assert_eq!((plan.moved_by_owner, &*plan.exchanged[0]), (4, &[0, 0][..]));
    }

    #[test]
    fn first_pivots_are_the_first_rows_of_the_first_process_row_that_has_any() {
        // Blocks of 10 rows over 2 process rows: 0-9, 20-29, 40-49 of the first, the others of the second.
        let deal = Deal { block: 10, processes: 2 };
        let row = |column| Pivots::First.row(deal, column, 55);
        assert_eq!([row(0), row(7), row(10), row(19), row(23), row(30), row(49)], [0, 7, 20, 20, 23, 40, 49]);
        // Only the second has rows in the last block.
        assert_eq!([row(50), row(54)], [50, 54]);
    }

    #[test]
    fn equal_pivots_are_in_the_first_process_row_that_has_rows() {
        let deal = Deal { block: 3, processes: 4 };
        let pivots = Pivots::equal(7);
        for column in 0..40 {
            let row = pivots.row(deal, column, 40);
            assert!((column..40).contains(&row));
            // The last block, rows 36 to 38, is process row 0's; row 39 is process row 1's.
            assert_eq!(deal.owner(row), u32::from(column == 39));
        }
    }

    proptest! {
        #[test]
        fn every_row_of_u_has_a_place(
            rows in 1..12u32, block in 1..9u64, blocks in 1..6u64, panel in 0..6u64, seed in 0..100u64,
        ) {
            let deal = Deal { block, processes: rows };
            let n = block * u64::from(rows) * blocks;
            let ia = (panel * block).min(n - block);
            let plan = SwapPlan::new(&Pivots::random(seed), deal, n, ia, block);
            let long = &plan.long;
            for starts in [&long.starts, &long.levelled] {
                prop_assert_eq!((starts[0], starts[rows as usize]), (0, block));
                prop_assert!(starts.is_sorted());
            }
            prop_assert_eq!(long.rows[0], deal.owner(ia));
            for row in 0..rows {
                prop_assert_eq!(long.rows[long.places[row as usize] as usize], row);
            }
            for (_, place, cuts) in &long.levelling {
                let held = [long.starts[*place as usize], long.starts[*place as usize + 1]];
                prop_assert_eq!([cuts[0], cuts[rows as usize]], held);
            }
        }
    }
}
