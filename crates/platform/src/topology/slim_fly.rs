//! Slim flies with minimal routing.
//!
//! Besta and Hoefler, "Slim Fly: a cost effective low-diameter network topology" (SC 2014), on the graphs of McKay,
//! Miller and Širáň (1998) as Hafner (2004) describes them. For a power of a prime q = 4 w + delta (delta = 1, 0 or -1),
//! switches are (0, x, y) and (1, m, c) with elements of the field of q elements (for a prime: numbers modulo q):
//!
//! - (0, x, y) and (0, x, y') are joined if y - y' is in the set X,
//! - (1, m, c) and (1, m, c') are joined if c - c' is in the set X',
//! - (0, x, y) and (1, m, c) are joined if y = m x + c.
//!
//! Two switches that are not joined have a neighbour in common, which these equations give: no table of routes is needed,
//! only lists of q numbers.

use super::cabling::{Cabling, answered_by_cabling};
use super::field::{Field, prime_power};
use super::{Duplex, Link, LinkId, Structure, Topology, TopologyError, Vertex, name_by_ends};
use crate::interconnect::Path;

/// 2 q^2 switches, any two of which are joined or have a neighbour in common.
///
/// Switch (s, i, j) has the number q^2 s + q i + j. Cables between switches: those within groups (same s and i) first, by
/// group, then by generator, then by the switch that they start from; then those between (0, x, y) and (1, m, c), by x, y
/// and m. Forward is from j to j plus the generator, and from side 0 to side 1. Where q is even, j plus the generator twice
/// is j again, so that half of the switches of a group start a cable: those without the generator's highest bit.
#[derive(Clone, Debug)]
pub struct SlimFly {
    field: Field,
    /// X and X'.
    generators: [Generators; 2],
    /// The first cable between the sides.
    first_across: u32,
    cabling: Cabling,
    node_link: Link,
    switch_link: Link,
}

/// Differences between joined switches of a group, and how others are made of them.
#[derive(Clone, Debug)]
struct Generators {
    /// Of each and its negative the one with the smaller number.
    half: Vec<u32>,
    /// For each difference: which of `half` it is, or its negative; [`NONE`] if neither.
    number: Vec<u32>,
    /// For each other difference: a generator that leaves a generator.
    first_step: Vec<u32>,
}

/// Not a generator.
const NONE: u32 = u32::MAX;

impl Generators {
    fn new(field: &Field, set: &[u32]) -> Generators {
        let mut half: Vec<u32> = set.iter().copied().filter(|&one| one <= field.negative(one)).collect();
        half.sort();
        let mut number = vec![NONE; field.q() as usize];
        for (at, &generator) in (0..).zip(&half) {
            number[generator as usize] = at;
            number[field.negative(generator) as usize] = at;
        }
        let leaves = |difference: u32, step: u32| number[field.minus(difference, step) as usize] != NONE;
        let step = |difference| set.iter().copied().find(|&step| leaves(difference, step)).unwrap_or(NONE);
        let first_step = (0..field.q()).map(step).collect();
        Generators { half, number, first_step }
    }

    #[inline]
    fn contains(&self, difference: u32) -> bool {
        self.number[difference as usize] != NONE
    }
}

/// A switch: which of the two sides, x or m, y or c.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Place {
    side: u32,
    group: u32,
    member: u32,
}

impl SlimFly {
    /// A slim fly for this q with so many nodes on each switch.
    pub fn new(
        q: u32,
        nodes_per_switch: u32,
        node_link: Link,
        switch_link: Link,
        duplex: Duplex,
    ) -> Result<SlimFly, TopologyError> {
        if nodes_per_switch == 0 {
            return Err(TopologyError::Zero("the number of nodes a switch"));
        }
        // Beyond, q^3 cables are too many; and looking for primes would take long.
        if q > 1 << 11 {
            return Err(TopologyError::TooLarge(describe(q, nodes_per_switch)));
        }
        let is_right = |q: u32| q > 2 && prime_power(q).is_some();
        let Some(field) = Field::new(q).filter(|_| is_right(q)) else {
            let next = (q + 1..).find(|&next| is_right(next)).unwrap_or(3);
            let last = (0..q).rev().find(|&last| is_right(last)).unwrap_or(3);
            return Err(TopologyError::NotAPrime { q, last, next });
        };
        let [ours, theirs] = generating_sets(&field);
        let generators = [Generators::new(&field, &ours), Generators::new(&field, &theirs)];
        let within = q as u64 * q as u64 * ours.len() as u64;
        let between = within + (q as u64).pow(3);
        let switches = 2 * (q as u64).pow(2);
        let cabling = Cabling::new(switches, nodes_per_switch, between, duplex, &describe(q, nodes_per_switch))?;
        let first_across = cabling.nodes() + within as u32;
        Ok(SlimFly { field, generators, first_across, cabling, node_link, switch_link })
    }

    #[inline]
    fn place(&self, switch: u32) -> Place {
        let (line, member) = self.field.divide(switch);
        let side = (line >= self.field.q()) as u32;
        Place { side, group: line - side * self.field.q(), member }
    }

    fn switch(&self, place: Place) -> u32 {
        (place.side * self.field.q() + place.group) * self.field.q() + place.member
    }

    /// Cables of one generator in a group.
    #[inline]
    fn cables_of_generator(&self) -> u32 {
        if self.field.is_even() { self.field.q() / 2 } else { self.field.q() }
    }

    /// The neighbour that two different switches have in common, unless they are joined.
    #[inline]
    fn between(&self, from: Place, to: Place) -> Option<Place> {
        if from.side != to.side {
            let (zero, one) = if from.side == 0 { (from, to) } else { (to, from) };
            // Where the line of `one` meets the group of `zero`.
            let met = self.field.plus(self.field.times(one.group, zero.group), one.member);
            let off = self.field.minus(zero.member, met);
            return match off {
                0 => None,
                _ if self.generators[0].contains(off) => Some(Place { member: met, ..zero }),
                // Every difference is in one of the sets.
                _ => Some(Place { member: self.field.plus(one.member, off), ..one }),
            };
        }
        let difference = self.field.minus(to.member, from.member);
        if from.group == to.group {
            let generators = &self.generators[from.side as usize];
            let step = || generators.first_step[difference as usize];
            return (!generators.contains(difference))
                .then(|| Place { member: self.field.plus(from.member, step()), ..from });
        }
        // Side 0: the line through both points, m = (y' - y) / (x' - x), c = y - m x.
        // Side 1: the point where both lines meet, x = (c' - c) / (m - m'), y = m x + c.
        let apart = if from.side == 0 {
            self.field.minus(to.group, from.group)
        } else {
            self.field.minus(from.group, to.group)
        };
        let group = self.field.over(difference, apart);
        let product = self.field.times(group, from.group);
        let member =
            if from.side == 0 { self.field.minus(from.member, product) } else { self.field.plus(product, from.member) };
        Some(Place { side: 1 - from.side, group, member })
    }

    /// The link between two switches that are joined.
    #[inline]
    fn step(&self, from: Place, to: Place) -> LinkId {
        let q = self.field.q();
        if from.side != to.side {
            let (zero, one) = if from.side == 0 { (from, to) } else { (to, from) };
            let cable = self.first_across + (zero.group * q + zero.member) * q + one.group;
            return self.cabling.directed(cable, from.side == 0);
        }
        let generators = &self.generators[from.side as usize];
        let difference = self.field.minus(to.member, from.member);
        let number = generators.number[difference as usize];
        let generator = generators.half[number as usize];
        let (forward, start) = if self.field.is_even() {
            let highest = generator.ilog2();
            let forward = from.member >> highest & 1 == 0;
            (forward, without_bit(if forward { from.member } else { to.member }, highest))
        } else {
            let forward = difference == generator;
            (forward, if forward { from.member } else { to.member })
        };
        let group = from.side * q + from.group;
        let number = group * generators.half.len() as u32 + number;
        self.cabling.directed(self.cabling.nodes() + number * self.cables_of_generator() + start, forward)
    }

    /// The switches that a cable joins.
    fn joined(&self, cable: u32) -> (u32, u32) {
        let q = self.field.q();
        if cable >= self.first_across {
            let (zero, group) = self.field.divide(cable - self.first_across);
            let Place { group: x, member: y, .. } = self.place(zero);
            let member = self.field.minus(y, self.field.times(group, x));
            return (zero, self.switch(Place { side: 1, group, member }));
        }
        let cable = cable - self.cabling.nodes();
        let (rest, start) = (cable / self.cables_of_generator(), cable % self.cables_of_generator());
        let generators = self.generators[0].half.len() as u32;
        let (line, number) = (rest / generators, rest % generators);
        let side = line / q;
        let generator = self.generators[side as usize].half[number as usize];
        let start = if self.field.is_even() { with_bit(start, generator.ilog2()) } else { start };
        let from = Place { side, group: line % q, member: start };
        let member = self.field.plus(start, generator);
        (self.switch(from), self.switch(Place { member, ..from }))
    }
}

/// The number with a bit left out, so that the bits above it move down.
#[inline]
fn without_bit(number: u32, bit: u32) -> u32 {
    let low = (1 << bit) - 1;
    number >> 1 & !low | number & low
}

/// The number with a bit that is 0 put in.
fn with_bit(number: u32, bit: u32) -> u32 {
    let low = (1 << bit) - 1;
    (number & !low) << 1 | number & low
}

fn describe(q: u32, nodes_per_switch: u32) -> String {
    format!("slim fly, q = {q}, {nodes_per_switch} nodes a switch")
}

/// X and X' by Hafner's formulas, where the powers are those of a primitive element:
/// for q = 4 w + 1 and q = 4 w the even and the odd ones (the latter up to q - 1); for q = 4 w - 1 the even ones up to
/// 2 w - 2 with the odd ones from 2 w - 1 on, and those odd ones up to 2 w - 1 with the even ones from 2 w on.
fn generating_sets(field: &Field) -> [Vec<u32>; 2] {
    let (powers, q) = (field.powers(), field.q() as usize);
    let w = q.div_ceil(4);
    let (low, high) = if q % 4 == 3 { (2 * w - 1, 2 * w) } else { (q, q) };
    let choose = |first: usize, turn: usize| {
        let exponents = first..first + powers.len();
        let chosen = exponents.filter(|exponent| (exponent % 2 == first) == (*exponent < turn));
        chosen.map(|exponent| powers[exponent % powers.len()]).collect()
    };
    [choose(0, low), choose(1, high)]
}

impl Topology for SlimFly {
    answered_by_cabling!();

    fn describe(&self) -> String {
        describe(self.field.q(), self.cabling.per_switch())
    }

    fn switches(&self) -> u32 {
        2 * self.field.q() * self.field.q()
    }

    fn link(&self, id: LinkId) -> Link {
        if self.cabling.cable(id) < self.cabling.nodes() { self.node_link } else { self.switch_link }
    }

    fn link_name(&self, id: LinkId) -> String {
        name_by_ends(self, id)
    }

    fn ends(&self, id: LinkId) -> (Vertex, Vertex) {
        self.cabling.ends(id, |switch| switch, |cable| self.joined(cable))
    }

    #[inline]
    fn route(&self, from: u32, to: u32, path: &mut Path) {
        path.push(self.cabling.directed(from, true), &self.node_link);
        let (start, goal) = (self.place(self.cabling.switch_of(from)), self.place(self.cabling.switch_of(to)));
        if start != goal {
            let mut at = start;
            if let Some(between) = self.between(start, goal) {
                path.push(self.step(start, between), &self.switch_link);
                at = between;
            }
            path.push(self.step(at, goal), &self.switch_link);
        }
        path.push(self.cabling.directed(to, false), &self.node_link);
    }

    /// Two steps, and the links of the nodes.
    fn diameter(&self) -> u32 {
        4
    }

    fn link_kind(&self, id: LinkId) -> String {
        self.cabling.kind(id)
    }

    fn vertex_name(&self, vertex: Vertex) -> String {
        match vertex {
            Vertex::Node(node) => format!("node {node}"),
            Vertex::Switch(switch) => {
                let Place { side, group, member } = self.place(switch);
                format!("switch ({side},{group},{member})")
            }
        }
    }

    fn structure(&self) -> Structure {
        Structure::Groups { size: self.field.q(), inner: 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINK: Link = Link { bandwidth: 1e9, latency: 1e-6 };

    fn slim_fly(q: u32, nodes: u32) -> SlimFly {
        SlimFly::new(q, nodes, LINK, LINK, Duplex::Split).unwrap()
    }

    /// Besta and Hoefler give these for q = 5; those for q = 7 follow from Hafner's formulas with the element 3.
    #[test]
    fn generating_sets_as_published() {
        let sorted = |q| {
            generating_sets(&Field::new(q).unwrap()).map(|mut set| {
                set.sort();
                set
            })
        };
        assert_eq!(sorted(5), [vec![1, 4], vec![2, 3]]);
        assert_eq!(sorted(7), [vec![1, 2, 5, 6], vec![1, 3, 4, 6]]);
    }

    #[test]
    fn sets_are_symmetric_and_cover_everything() {
        for q in (3..130).filter(|&q| prime_power(q).is_some()) {
            let field = Field::new(q).unwrap();
            let delta = [0, 1, 0, -1][q as usize % 4];
            let [ours, theirs] = generating_sets(&field);
            for set in [&ours, &theirs] {
                assert_eq!(set.len() as i32, (q as i32 - delta) / 2, "q = {q}");
                assert!(set.iter().all(|&generator| set.contains(&field.negative(generator))), "q = {q}");
                let generators = Generators::new(&field, set);
                assert!((1..q).all(|d| generators.contains(d) || generators.first_step[d as usize] != NONE));
            }
            assert!((1..q).all(|d| ours.contains(&d) || theirs.contains(&d)), "q = {q}");
        }
    }

    #[test]
    fn bits_go_and_come_back() {
        for bit in 0..4 {
            let numbers: Vec<u32> = (0..16).filter(|number| number >> bit & 1 == 0).collect();
            assert!(numbers.iter().enumerate().all(|(at, &number)| without_bit(number, bit) as usize == at));
            assert!(numbers.iter().all(|&number| with_bit(without_bit(number, bit), bit) == number));
        }
    }

    #[test]
    fn known_figures() {
        // The Hoffman-Singleton graph: 50 switches with 7 neighbours each.
        let topology = slim_fly(5, 4);
        assert_eq!((topology.switches(), topology.nodes(), topology.cables()), (50, 200, 200 + 50 * 7 / 2));
        // Besta and Hoefler's example: q = 19, 722 switches of degree 29, 10,830 nodes.
        let topology = slim_fly(19, 15);
        assert_eq!((topology.switches(), topology.nodes()), (722, 10_830));
        assert_eq!(topology.cables(), 10_830 + 722 * 29 / 2);
    }

    #[test]
    fn by_a_neighbour_in_common() {
        let topology = slim_fly(5, 1);
        let mut path = Path::default();
        path.clear();
        topology.route(0, 49, &mut path);
        let names: Vec<String> = path.links.iter().map(|&id| topology.link_name(id)).collect();
        let way = ["node 0 -> switch (0,0,0)", "switch (0,0,0) -> switch (0,0,4)", "switch (0,0,4) -> switch (1,4,4)"];
        assert_eq!(names[..3], way);
    }

    #[test]
    fn impossible_figures() {
        let error = |q, nodes| SlimFly::new(q, nodes, LINK, LINK, Duplex::Split).unwrap_err().to_string();
        assert!(error(15, 1).contains("15 is not a power of a prime: write 13 or 16"), "{}", error(15, 1));
        assert!(error(1, 1).contains("write 3"));
        assert!(error(2, 1).contains("write 3"));
        assert!(error(5, 0).contains("at least 1"));
        assert!(error(1999, 1).contains("make it smaller"));
        assert!(error(u32::MAX, 1).contains("make it smaller"));
        assert!(error(5, u32::MAX).contains("make it smaller"));
    }
}
