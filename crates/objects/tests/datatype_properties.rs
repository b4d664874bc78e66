//! Random nested datatypes against a reference that expands the type map element by element, as the standard defines it.

use std::collections::HashSet;

use hpcast_objects::datatype::{Distribution, Order, Signature};
use hpcast_objects::{Basic, Datatype, Operation};
use proptest::prelude::*;

/// A datatype twice: ours, and its type map in full.
#[derive(Clone, Debug)]
struct Twin {
    ours: Datatype,
    map: Map,
}

/// Elements and bounds, in the words of the standard.
#[derive(Clone, Debug)]
struct Map {
    elements: Vec<(Basic, i64)>,
    lb: i64,
    ub: i64,
    lb_marked: bool,
    ub_marked: bool,
    alignment: i64,
    empty: bool,
}

impl Map {
    fn of(basic: Basic) -> Map {
        Map {
            elements: if basic.size() > 0 { vec![(basic, 0)] } else { vec![] },
            lb: 0,
            ub: basic.extent(),
            lb_marked: basic == Basic::Lb,
            ub_marked: basic == Basic::Ub,
            alignment: basic.alignment(),
            empty: false,
        }
    }

    fn extent(&self) -> i64 {
        self.ub - self.lb
    }

    /// Items at displacements, one by one.
    fn placed<'a>(items: impl IntoIterator<Item = (i64, &'a Map)>) -> Map {
        let items: Vec<_> = items.into_iter().filter(|(_, map)| !map.empty).collect();
        let elements = items.iter().flat_map(|(at, map)| map.elements.iter().map(move |(basic, d)| (*basic, d + at)));
        let lb_marked = items.iter().any(|(_, map)| map.lb_marked);
        let ub_marked = items.iter().any(|(_, map)| map.ub_marked);
        let lbs = items.iter().filter(|(_, map)| map.lb_marked == lb_marked).map(|(at, map)| at + map.lb);
        let ubs = items.iter().filter(|(_, map)| map.ub_marked == ub_marked).map(|(at, map)| at + map.ub);
        let (lb, mut ub) = (lbs.min().unwrap_or(0), ubs.max().unwrap_or(0));
        let alignment = items.iter().map(|(_, map)| map.alignment).max().unwrap_or(1);
        while !ub_marked && (ub - lb) % alignment != 0 {
            ub += 1;
        }
        Map { elements: elements.collect(), lb, ub, lb_marked, ub_marked, alignment, empty: items.is_empty() }
    }

    /// A block of items one after the other.
    fn block(&self, at: i64, length: i64) -> impl Iterator<Item = (i64, &Map)> {
        (0..length).map(move |i| (at + i * self.extent(), self))
    }

    fn resized(mut self, lb: i64, extent: i64) -> Map {
        (self.lb, self.ub, self.lb_marked, self.ub_marked, self.empty) = (lb, lb + extent, true, true, false);
        self
    }

    /// The data of an item, byte by byte.
    fn bytes(&self) -> Vec<i64> {
        self.elements.iter().flat_map(|&(basic, at)| bytes_of(basic).into_iter().map(move |byte| at + byte)).collect()
    }

    fn items(&self, count: i64) -> Map {
        Map::placed((0..count).map(|i| (i * self.extent(), self)))
    }
}

fn bytes_of(basic: Basic) -> Vec<i64> {
    match basic.pair() {
        Some((first, second)) => {
            let at = basic.second_offset();
            (0..first.size()).chain(at..at + second.size()).collect()
        }
        None => (0..basic.size()).collect(),
    }
}

const BASICS: &[Basic] = &[
    Basic::Char,
    Basic::Short,
    Basic::Int,
    Basic::Double,
    Basic::Float,
    Basic::LongDouble,
    Basic::ShortInt,
    Basic::DoubleInt,
    Basic::FloatInt,
    Basic::DoubleComplex,
];

fn leaf() -> impl Strategy<Value = Twin> {
    prop::sample::select(BASICS).prop_map(|basic| Twin { ours: Datatype::basic(basic), map: Map::of(basic) })
}

fn twin(depth: u32) -> BoxedStrategy<Twin> {
    if depth == 0 {
        return leaf().boxed();
    }
    let old = twin(depth - 1);
    let lists = prop::collection::vec((0..4_i64, -9..9_i64), 0..5);
    prop_oneof![
        1 => leaf(),
        2 => (0..5_i64, old.clone()).prop_map(|(count, old)| Twin {
            ours: Datatype::contiguous(count, &old.ours).unwrap(),
            map: Map::placed(old.map.block(0, count)),
        }),
        3 => (0..4_i64, 0..4_i64, -6..6_i64, any::<bool>(), old.clone()).prop_map(vector),
        3 => (lists.clone(), any::<bool>(), old.clone()).prop_map(indexed),
        2 => (prop::collection::vec(-9..9_i64, 0..5), 0..3_i64, any::<bool>(), old.clone()).prop_map(indexed_block),
        3 => prop::collection::vec((0..3_i64, -40..40_i64, member(depth - 1)), 0..4).prop_map(structure),
        2 => (prop::collection::vec((1..5_i64, 0..5_i64, 0..5_i64), 1..4), any::<bool>(), old.clone()).prop_map(subarray),
        1 => (prop::collection::vec((1..7_i64, 0..3_u8, 1..4_i64, 0..4_i64), 1..3), 0..99_i64, any::<bool>(), old.clone())
            .prop_map(darray),
        2 => (-20..20_i64, -40..60_i64, old.clone()).prop_map(|(lb, extent, old)| Twin {
            ours: Datatype::resized(&old.ours, lb, extent).unwrap(),
            map: old.map.resized(lb, extent),
        }),
        1 => old.prop_map(|old| Twin { ours: old.ours.dup(), map: old.map }),
    ]
    .boxed()
}

/// What a structure may hold: marks too.
fn member(depth: u32) -> impl Strategy<Value = Twin> {
    let mark = |basic| Just(Twin { ours: Datatype::basic(basic), map: Map::of(basic) });
    prop_oneof![8 => twin(depth), 1 => mark(Basic::Lb), 1 => mark(Basic::Ub)]
}

fn vector((count, length, stride, in_bytes, old): (i64, i64, i64, bool, Twin)) -> Twin {
    let bytes = if in_bytes { stride * 5 } else { stride * old.map.extent() };
    let ours = if in_bytes {
        Datatype::hvector(count, length, bytes, &old.ours)
    } else {
        Datatype::vector(count, length, stride, &old.ours)
    };
    Twin { ours: ours.unwrap(), map: Map::placed((0..count).flat_map(|i| old.map.block(i * bytes, length))) }
}

fn indexed((blocks, in_bytes, old): (Vec<(i64, i64)>, bool, Twin)) -> Twin {
    let (lengths, displacements): (Vec<i64>, Vec<i64>) = blocks.iter().copied().unzip();
    let unit = if in_bytes { 1 } else { old.map.extent() };
    let make = if in_bytes { Datatype::hindexed } else { Datatype::indexed };
    let map = Map::placed(blocks.iter().flat_map(|&(length, at)| old.map.block(at * unit, length)));
    Twin { ours: make(&lengths, &displacements, &old.ours).unwrap(), map }
}

fn indexed_block((displacements, length, in_bytes, old): (Vec<i64>, i64, bool, Twin)) -> Twin {
    let unit = if in_bytes { 1 } else { old.map.extent() };
    let make = if in_bytes { Datatype::hindexed_block } else { Datatype::indexed_block };
    let map = Map::placed(displacements.iter().flat_map(|&at| old.map.block(at * unit, length)));
    Twin { ours: make(length, &displacements, &old.ours).unwrap(), map }
}

fn structure(members: Vec<(i64, i64, Twin)>) -> Twin {
    let lengths: Vec<i64> = members.iter().map(|member| member.0).collect();
    let displacements: Vec<i64> = members.iter().map(|member| member.1).collect();
    let types: Vec<Datatype> = members.iter().map(|member| member.2.ours.clone()).collect();
    let map = Map::placed(members.iter().flat_map(|(length, at, old)| old.map.block(*at, *length)));
    Twin { ours: Datatype::structure(&lengths, &displacements, &types).unwrap(), map }
}

/// All index vectors of an array, those of the order's slowest dimension first.
fn indices(sizes: &[i64], order: Order) -> Vec<Vec<i64>> {
    let mut all = vec![vec![]];
    let dimensions: Vec<usize> = match order {
        Order::C => (0..sizes.len()).collect(),
        Order::Fortran => (0..sizes.len()).rev().collect(),
    };
    for &dimension in &dimensions {
        all = all
            .into_iter()
            .flat_map(|index: Vec<i64>| {
                (0..sizes[dimension]).map(move |i| {
                    let mut longer = index.clone();
                    longer.push(i);
                    longer
                })
            })
            .collect();
    }
    if order == Order::Fortran {
        all.iter_mut().for_each(|index| index.reverse());
    }
    all
}

/// The items of an array whose index is wanted.
fn part(sizes: &[i64], order: Order, old: &Map, wanted: impl Fn(&[i64]) -> bool) -> Map {
    let all = indices(sizes, order);
    let items = all.iter().enumerate().filter(|(_, index)| wanted(index));
    let extent = old.extent();
    Map::placed(items.map(|(i, _)| (i as i64 * extent, old))).resized(0, all.len() as i64 * extent)
}

fn order(fortran: bool) -> Order {
    if fortran { Order::Fortran } else { Order::C }
}

fn subarray((dimensions, fortran, old): (Vec<(i64, i64, i64)>, bool, Twin)) -> Twin {
    let sizes: Vec<i64> = dimensions.iter().map(|dimension| dimension.0).collect();
    let lengths: Vec<i64> = dimensions.iter().map(|dimension| dimension.1.min(dimension.0)).collect();
    let starts: Vec<i64> = (0..sizes.len()).map(|d| dimensions[d].2.min(sizes[d] - lengths[d])).collect();
    let wanted = |index: &[i64]| (0..sizes.len()).all(|d| (starts[d]..starts[d] + lengths[d]).contains(&index[d]));
    let map = part(&sizes, order(fortran), &old.map, wanted);
    Twin { ours: Datatype::subarray(&sizes, &lengths, &starts, order(fortran), &old.ours).unwrap(), map }
}

/// Size, kind of distribution, processes and block of a dimension.
type Dimension = (i64, u8, i64, i64);

fn darray((dimensions, rank, fortran, old): (Vec<Dimension>, i64, bool, Twin)) -> Twin {
    let sizes: Vec<i64> = dimensions.iter().map(|dimension| dimension.0).collect();
    let mut grid: Vec<i64> = dimensions.iter().map(|dimension| dimension.2).collect();
    let mut distributions = Vec::new();
    let mut blocks = Vec::new();
    for (d, &(size, kind, processes, argument)) in dimensions.iter().enumerate() {
        let smallest = (size + processes - 1) / processes;
        let given = (argument > 0).then_some(argument);
        let (distribution, block) = match kind {
            0 => (Distribution::Block(given.map(|argument| smallest + argument - 1)), smallest + (argument - 1).max(0)),
            1 => (Distribution::Cyclic(given), given.unwrap_or(1)),
            _ => {
                grid[d] = 1;
                (Distribution::None, size)
            }
        };
        distributions.push(distribution);
        blocks.push(block);
    }
    let size: i64 = grid.iter().product();
    let rank = rank % size;
    let place = indices(&grid, Order::C)[rank as usize].clone();
    let wanted = |index: &[i64]| (0..sizes.len()).all(|d| index[d] / blocks[d] % grid[d] == place[d]);
    let map = part(&sizes, order(fortran), &old.map, wanted);
    let ours = Datatype::darray(size, rank, &sizes, &distributions, &grid, order(fortran), &old.ours);
    Twin { ours: ours.unwrap(), map }
}

/// Memory that some items fit into, with different bytes, and where their address is in it.
fn memory(bytes: &[i64], seed: u8) -> (Vec<u8>, usize) {
    let low = bytes.iter().copied().min().unwrap_or(0).min(0) - 16;
    let high = bytes.iter().copied().max().unwrap_or(0).max(0) + 16;
    let memory = (low..high).map(|i| (i * 31 + i64::from(seed)) as u8 ^ (i >> 7) as u8).collect();
    (memory, (-low) as usize)
}

fn at(address: usize, offset: i64) -> usize {
    (address as i64 + offset) as usize
}

proptest! {
    #[test]
    fn bounds_are_those_of_the_type_map(Twin { ours, map } in twin(3)) {
        let bytes = map.bytes();
        prop_assert_eq!(ours.size(), bytes.len() as i64);
        prop_assert_eq!((ours.lb(), ours.ub()), (map.lb, map.ub));
        prop_assert_eq!(ours.true_lb(), bytes.iter().copied().min().unwrap_or(0));
        prop_assert_eq!(ours.true_ub(), bytes.iter().copied().max().map_or(0, |last| last + 1));
        prop_assert_eq!(ours.elements(), map.elements.iter().map(|(basic, _)| basic.elements()).sum::<i64>());
        prop_assert_eq!(ours.alignment(), if map.empty { 1 } else { map.alignment });
    }

    #[test]
    fn packing_takes_the_bytes_of_the_type_map(Twin { ours, map } in twin(3), count in 0..4_i64) {
        let bytes = map.items(count).bytes();
        let (memory, address) = memory(&bytes, 1);
        let expected: Vec<u8> = bytes.iter().map(|&byte| memory[at(address, byte)]).collect();
        let mut packed = vec![];
        // SAFETY: the memory holds all bytes of the items.
        unsafe { ours.pack_to(count, memory.as_ptr().add(address), &mut packed) };
        prop_assert_eq!(packed, expected);
    }

    #[test]
    fn unpacking_fills_as_much_as_there_is(Twin { ours, map } in twin(3), count in 0..4_i64, part in 0.0..1.2_f64) {
        let bytes = map.items(count).bytes();
        let (mut ours_memory, address) = memory(&bytes, 1);
        let mut expected = ours_memory.clone();
        let message: Vec<u8> = (0..(bytes.len() as f64 * part) as u64).map(|i| i as u8 ^ 0x55).collect();
        for (&byte, &value) in bytes.iter().zip(&message) {
            expected[at(address, byte)] = value;
        }
        // SAFETY: the memory holds all bytes of the items.
        let used = unsafe {
            ours.unpack(count, message.as_ptr(), message.len() as i64, ours_memory.as_mut_ptr().add(address))
        };
        prop_assert_eq!(used, bytes.len().min(message.len()) as i64);
        prop_assert_eq!(ours_memory, expected);
    }

    #[test]
    fn accumulating_by_replacing_is_unpacking(Twin { ours, map } in twin(3), count in 0..4_i64) {
        let bytes = map.items(count).bytes();
        let (mut unpacked, address) = memory(&bytes, 1);
        let mut replaced = unpacked.clone();
        let message: Vec<u8> = (0..bytes.len()).map(|i| i as u8 ^ 0x55).collect();
        // SAFETY: the memory holds all bytes of the items.
        unsafe {
            ours.unpack(count, message.as_ptr(), message.len() as i64, unpacked.as_mut_ptr().add(address));
            let target = replaced.as_mut_ptr().add(address);
            prop_assert_eq!(Operation::Replace.apply_packed(&message, &ours, count, target), Ok(()));
        }
        prop_assert_eq!(replaced, unpacked);
    }

    #[test]
    fn copying_is_packing_and_unpacking(
        from in twin(3), from_count in 0..4_i64, to in twin(3), to_count in 0..4_i64, limit in 0..400_i64,
    ) {
        let (from_bytes, to_bytes) = (from.map.items(from_count).bytes(), to.map.items(to_count).bytes());
        let (source, from_address) = memory(&from_bytes, 1);
        let (mut target, to_address) = memory(&to_bytes, 2);
        let mut expected = target.clone();
        for (&from, &to) in from_bytes.iter().zip(&to_bytes).take(limit as usize) {
            expected[at(to_address, to)] = source[at(from_address, from)];
        }
        // SAFETY: both memories hold all bytes of the items.
        let copied = unsafe {
            let (source, target) = (source.as_ptr().add(from_address), target.as_mut_ptr().add(to_address));
            from.ours.copy(from_count, source, &to.ours, to_count, target, limit)
        };
        prop_assert_eq!(copied, (from_bytes.len().min(to_bytes.len()) as i64).min(limit));
        prop_assert_eq!(target, expected);
    }

    #[test]
    fn ranges_are_the_bytes_of_the_type_map(Twin { ours, map } in twin(3), count in 0..4_i64, skip in 0..200_i64) {
        let bytes = map.items(count).bytes();
        let ranges: Vec<_> = ours.ranges(count).collect();
        let touching = ranges.windows(2).any(|pair| pair[0].0 + pair[0].1 == pair[1].0);
        prop_assert!(!touching && ranges.iter().all(|range| range.1 > 0));
        let from_ranges: Vec<i64> = ranges.iter().flat_map(|&(offset, length)| offset..offset + length).collect();
        prop_assert_eq!(&from_ranges, &bytes);
        let rest: Vec<i64> =
            ours.ranges_from(skip, count).flat_map(|(offset, length)| offset..offset + length).collect();
        prop_assert_eq!(rest, bytes.get(skip as usize..).unwrap_or(&[]));
    }

    #[test]
    fn elements_are_those_of_the_type_map(Twin { ours, map } in twin(3), count in 0..4_i64) {
        let mut elements = vec![];
        ours.for_each_element(count, &mut |run| {
            elements.extend((0..run.count).map(|i| (run.basic, run.offset + i * run.stride)));
        });
        prop_assert_eq!(elements, map.items(count).elements);
    }

    #[test]
    fn elements_of_short_messages_are_counted(Twin { ours, map } in twin(3), count in 1..4_i64) {
        let sizes: Vec<i64> = map.items(count).elements.iter().flat_map(|(basic, _)| match basic.pair() {
            Some((first, second)) => vec![first.size(), second.size()],
            None => vec![basic.size()],
        }).collect();
        let mut bytes = 0;
        for (number, size) in sizes.into_iter().enumerate() {
            prop_assert_eq!(ours.elements_in(bytes), Some(number as i64));
            for inside in 1..size {
                prop_assert_eq!(ours.elements_in(bytes + inside), None);
            }
            bytes += size;
        }
    }

    #[test]
    fn signatures_tell_sequences_apart(one in twin(2), other in twin(2), count in 0..3_i64) {
        let sequence = |map: &Map, count: i64| -> Vec<Basic> {
            map.items(count).elements.iter().flat_map(|(basic, _)| match basic.pair() {
                Some((first, second)) => vec![first, second],
                None => vec![*basic],
            }).collect()
        };
        let (a, b) = (sequence(&one.map, count), sequence(&other.map, 1));
        prop_assert_eq!(one.ours.signature(count).matches(other.ours.signature(1)), a == b);
        let plain = a.iter().fold(Signature::EMPTY, |before, &basic| before.then(Signature::of(basic)));
        prop_assert_eq!(one.ours.signature(count), plain);
    }

    #[test]
    fn the_portable_form_can_be_read_again(Twin { ours, map } in twin(2), count in 0..3_i64) {
        // Not every bit pattern is a number of 80 bits; zero is.
        let bytes = map.items(count).bytes();
        if bytes.iter().collect::<HashSet<_>>().len() < bytes.len() {
            // Numbers that lie over each other would have to agree.
            return Ok(());
        }
        let (mut memory, address) = memory(&bytes, 0);
        memory.fill(0);
        for (basic, offset) in map.items(count).elements {
            memory[at(address, offset)] = u8::from(!matches!(basic, Basic::LongDouble));
        }
        let mut portable = vec![];
        let mut back = vec![0; memory.len()];
        // SAFETY: the memories hold all bytes of the items.
        unsafe {
            ours.pack_external32(count, memory.as_ptr().add(address), &mut portable);
            prop_assert_eq!(portable.len() as i64, ours.external32_size(count));
            ours.unpack_external32(count, &portable, back.as_mut_ptr().add(address));
        }
        for byte in bytes {
            prop_assert_eq!(back[at(address, byte)], memory[at(address, byte)]);
        }
    }
}
