//! The points that a search may ask for.

use std::collections::BTreeSet;

use hpcast_engine::random::{Key, Stream};

use crate::design::{DesignError, Domain, Plan, Setting};

/// Spaces with more points are not gone through: some are drawn.
const FEW: u128 = 4000;
/// How many are drawn.
const DRAWN: u64 = 1500;
/// How many are drawn close to the best ones.
const CLOSE: u64 = 500;

/// What tells points apart.
pub(super) type Identity = Vec<u64>;

/// What tells a point from others.
pub(super) fn identity(point: &[Setting]) -> Identity {
    let word = |setting: &Setting| match *setting {
        Setting::Level(level) => level as u64,
        Setting::Coordinate(place) => place.to_bits(),
    };
    point.iter().map(word).collect()
}

#[derive(Clone, Debug)]
pub(super) struct Space {
    domains: Vec<Domain>,
    ordered: Vec<bool>,
    seed: u64,
}

impl Space {
    pub fn new(domains: &[Domain], ordered: &[bool], seed: u64) -> Result<Space, DesignError> {
        Plan::LatinHypercube { points: 1 }.count(domains)?;
        // Of two levels none lies in between.
        let has_between = |factor: usize| domains[factor].levels().is_none_or(|count| count > 2);
        let is_ordered = |factor: usize| ordered.get(factor).copied().unwrap_or(false) && has_between(factor);
        let ordered = (0..domains.len()).map(is_ordered).collect();
        Ok(Space { domains: domains.into(), ordered, seed })
    }

    /// How many points there are; as good as infinitely many with ranges.
    pub fn points(&self) -> u128 {
        Plan::Full.count(&self.domains).unwrap_or(u128::MAX)
    }

    /// How many main effects there are; a range counts as a parabola.
    pub fn effects(&self) -> usize {
        self.domains.iter().map(|domain| domain.levels().map_or(2, |count| count - 1)).sum::<usize>() + 1
    }

    /// How many factors there are.
    pub fn factors(&self) -> usize {
        self.domains.len()
    }

    /// Whether settings of a factor that are close to each other are alike.
    pub fn is_ordered(&self, factor: usize) -> bool {
        self.domains[factor] == Domain::Range || self.ordered[factor]
    }

    /// How far two settings of a factor are apart, from 0 to 1.
    pub fn distance(&self, factor: usize, a: Setting, b: Setting) -> f64 {
        match (a, b, self.domains[factor]) {
            (Setting::Coordinate(a), Setting::Coordinate(b), _) => (a - b).powi(2),
            (Setting::Level(a), Setting::Level(b), Domain::Levels { count, .. })
                if self.ordered[factor] && count > 1 =>
            {
                (a.abs_diff(b) as f64 / (count - 1) as f64).powi(2)
            }
            _ => f64::from(a != b),
        }
    }

    /// Different points to begin with: a Latin hypercube, whose equal points others by chance replace.
    pub fn first(&self, count: usize) -> Result<Vec<Vec<Setting>>, DesignError> {
        let hypercube = Plan::LatinHypercube { points: count }.make(&self.domains, self.seed)?.points;
        let mut known = BTreeSet::new();
        let mut points: Vec<Vec<Setting>> =
            hypercube.into_iter().filter(|point| known.insert(identity(point))).collect();
        let all = usize::try_from(self.points()).unwrap_or(usize::MAX);
        if points.len() < count.min(all) {
            // Twice as many as are wanted, or all: enough, even if as many as are wanted are known.
            let more = Plan::Random { points: all.min(2 * count) }.make(&self.domains, self.seed)?.points;
            points.extend(more.into_iter().filter(|point| known.insert(identity(point))));
        }
        points.truncate(count);
        Ok(points)
    }

    /// Points that were not tried: all of a small space, otherwise some by chance and some close to the best. `step` keeps
    /// draws of one step apart from those of others.
    pub fn candidates(&self, tried: &[Identity], best: &[Vec<Setting>], step: usize) -> Vec<Vec<Setting>> {
        let mut known: BTreeSet<Identity> = tried.iter().cloned().collect();
        let points = if self.points() <= FEW {
            Plan::Full.make(&self.domains, self.seed).map(|design| design.points).unwrap_or_default()
        } else {
            self.drawn(best, step)
        };
        points.into_iter().filter(|point| known.insert(identity(point))).collect()
    }

    fn drawn(&self, best: &[Vec<Setting>], step: usize) -> Vec<Vec<Setting>> {
        let draws = Key::new(self.seed).purpose("tuning");
        let entity = |factor: usize| (step as u32) << 12 | (factor as u32 & 0xfff);
        let anywhere = (0..DRAWN).map(|index| {
            let at = |(factor, domain): (usize, &Domain)| domain.at(draws.uniform(entity(factor), index));
            self.domains.iter().enumerate().map(at).collect()
        });
        let close = best.iter().flat_map(|point| (0..CLOSE).map(|index| self.close_to(point, &draws, &entity, index)));
        let neighbours = best.iter().flat_map(|point| self.neighbours(point));
        anywhere.chain(close).chain(neighbours).collect()
    }

    /// A point of which each setting is changed with even chance, ranges a little.
    fn close_to(&self, point: &[Setting], draws: &Stream, entity: &impl Fn(usize) -> u32, index: u64) -> Vec<Setting> {
        let draw = |factor: usize, number: u64| draws.uniform(entity(factor), DRAWN + 3 * index + number);
        let near = |(factor, (setting, domain)): (usize, (&Setting, &Domain))| {
            if draw(factor, 0) < 0.5 {
                return *setting;
            }
            match setting {
                Setting::Level(_) => domain.at(draw(factor, 1)),
                Setting::Coordinate(place) => {
                    // Steps of all sizes, from a thousandth to a tenth.
                    let size = 0.1 * 1e-2f64.powf(draw(factor, 2));
                    Setting::Coordinate((place + size * (2.0 * draw(factor, 1) - 1.0)).clamp(0.0, 1.0))
                }
            }
        };
        point.iter().zip(&self.domains).enumerate().map(near).collect()
    }

    /// All points that differ in the level of one factor.
    fn neighbours<'a>(&'a self, point: &'a [Setting]) -> impl Iterator<Item = Vec<Setting>> + 'a {
        self.domains.iter().enumerate().flat_map(move |(factor, domain)| {
            (0..domain.levels().unwrap_or(0)).map(move |level| {
                let mut point = point.to_vec();
                point[factor] = Setting::Level(level);
                point
            })
        })
    }
}
