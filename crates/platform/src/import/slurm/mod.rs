//! Slurm's `topology.conf` becomes a machine: trees of switches (`topology/tree`) and blocks (`topology/block`).
//!
//! Slurm knows which nodes are near each other, not how they are cabled: a switch is joined with each of its nodes and
//! child switches by one cable. Blocks become one switch each, larger blocks (`BlockSizes`) a switch above so many of
//! them, and what is left on top is joined by a switch `network`.
//!
//! `LinkSpeed` has no unit in Slurm, which ignores it. Where it has one that hpcast knows (`LinkSpeed="100 Gbit/s"`), it
//! is that of the cables from the switch down: so each cable of a tree has one.
//!
//! ```
//! use hpcast_platform::diagnostic::Source;
//! use hpcast_platform::import::{Unsaid, slurm};
//! let conf = "SwitchName=s0 Nodes=n[0-3]\nSwitchName=s1 Nodes=n[4-7]\nSwitchName=top Switches=s[0-1]\n";
//! let unsaid = Unsaid { bandwidth: Some("100 Gbit/s".parse()?), ..Unsaid::default() };
//! let imported = slurm::import(&Source::new("topology.conf", conf), &unsaid)?;
//! assert_eq!(imported.machine.nodes.count, 8);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod hosts;
mod statements;

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use hpcast_units::Bandwidth;

use super::fabric::{Cable, Fabric};
use super::{Import, Unsaid};
use crate::diagnostic::{Diagnostic, Diagnostics, Source, nearest};
use crate::topology::Vertex;
use statements::{Pair, statements};

const ORIGIN: &str = "a topology.conf of Slurm";

/// Whether a line begins as those of a `topology.conf` do.
pub(super) fn is_statement(line: &str) -> bool {
    let key = line.trim_start().split(['=', ' ', '\t']).next().unwrap_or_default();
    ["SwitchName", "BlockName", "BlockSizes"].iter().any(|word| word.eq_ignore_ascii_case(key))
}

/// Reads a `topology.conf` and makes a machine of it; `unsaid` is what it does not tell.
pub fn import(source: &Arc<Source>, unsaid: &Unsaid) -> Result<Import, Diagnostics> {
    let mut reader =
        Reader { source, warnings: Diagnostics::new(), node_places: BTreeMap::new(), without_unit: Vec::new() };
    let lines = reader.lines()?;
    let blocks = lines.iter().any(|line| line.kind != Kind::Switch);
    if let Some(switch) = lines.iter().find(|line| blocks && line.kind == Kind::Switch) {
        let remedy = "keep one of them: topology/tree has SwitchName, topology/block has BlockName";
        return Err(Diagnostic::error("switches and blocks in one file", remedy)
            .at(source, switch.place.clone())
            .into());
    }
    let fabric = if blocks { reader.blocks(&lines)? } else { reader.tree(&lines)? };
    fabric.import(source, ORIGIN, unsaid, reader.warnings)
}

/// What a line begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Switch,
    Block,
    Sizes,
}

/// A line: what it names, where, and its other pairs.
struct Line {
    kind: Kind,
    name: String,
    place: Range<usize>,
    rest: BTreeMap<&'static str, Pair>,
}

struct Reader<'s> {
    source: &'s Arc<Source>,
    warnings: Diagnostics,
    /// What has each node already.
    node_places: BTreeMap<String, (u32, String)>,
    /// Speeds of links that cannot be used.
    without_unit: Vec<Pair>,
}

impl Reader<'_> {
    fn error(&self, place: &Range<usize>, message: impl Into<String>, remedy: impl Into<String>) -> Diagnostic {
        Diagnostic::error(message, remedy).at(self.source, place.clone())
    }

    fn lines(&self) -> Result<Vec<Line>, Diagnostic> {
        let mut lines = Vec::new();
        for pairs in statements(self.source)? {
            let mut pairs = pairs.into_iter();
            let Some(first) = pairs.next() else { continue };
            let kinds: [(&str, Kind, &[&'static str]); 3] = [
                ("SwitchName", Kind::Switch, &["Nodes", "Switches", "LinkSpeed"]),
                ("BlockName", Kind::Block, &["Nodes"]),
                ("BlockSizes", Kind::Sizes, &[]),
            ];
            let Some((_, kind, keys)) = kinds.into_iter().find(|(word, ..)| word.eq_ignore_ascii_case(&first.key))
            else {
                let message = format!("`{}` begins no line of a topology.conf that hpcast knows", first.key);
                let remedy = match nearest_key(&first.key, &kinds.map(|(word, ..)| word)) {
                    Some(word) => format!("did you mean `{word}`?"),
                    None => "lines begin with SwitchName, BlockName or BlockSizes".into(),
                };
                return Err(self.error(&first.key_place, message, remedy));
            };
            let mut rest = BTreeMap::new();
            for pair in pairs {
                let Some(key) = keys.iter().find(|key| key.eq_ignore_ascii_case(&pair.key)) else {
                    let message = format!("unknown key `{}`", pair.key);
                    let remedy = match nearest_key(&pair.key, keys) {
                        Some(word) => format!("did you mean `{word}`?"),
                        None if keys.is_empty() => "remove it".into(),
                        None => format!("this line may have {}", keys.join(", ")),
                    };
                    return Err(self.error(&pair.key_place, message, remedy));
                };
                let place = pair.key_place.clone();
                if rest.insert(*key, pair).is_some() {
                    return Err(self.error(&place, format!("`{key}` is there twice"), "keep one"));
                }
            }
            lines.push(Line { kind, name: first.value, place: first.value_place, rest });
        }
        Ok(lines)
    }

    fn hosts(&self, pair: &Pair) -> Result<Vec<String>, Diagnostic> {
        hosts::expand(&pair.value).map_err(|bad| {
            let start = (pair.value_place.start + bad.at).min(pair.value_place.end);
            // A list that goes on on the next line has no one place for each piece.
            let end = (start + bad.piece.len()).min(pair.value_place.end);
            if bad.too_many {
                let message = format!("`{}` stands for more than a million names", bad.piece);
                return self.error(&(start..end), message, "correct the range");
            }
            let remedy = "write for instance `node[0-15]`, `node[01-04,9]` or `rack[0-1]node[0-3]`";
            self.error(&(start..end), format!("`{}` is not a list of names", bad.piece), remedy)
        })
    }

    /// The lines by the names that they define.
    fn names<'l>(&self, lines: impl Iterator<Item = &'l Line>) -> Result<BTreeMap<&'l str, u32>, Diagnostic> {
        let mut names = BTreeMap::new();
        for (number, line) in (0..).zip(lines) {
            if names.insert(line.name.as_str(), number).is_some() {
                let noun = if line.kind == Kind::Switch { "switch" } else { "block" };
                let message = format!("{noun} `{}` is defined twice", line.name);
                return Err(self.error(&line.place, message, "give one of them another name, or remove it"));
            }
        }
        Ok(names)
    }

    /// Joins the nodes of a switch or block with it.
    fn nodes(
        &mut self,
        fabric: &mut Fabric,
        switch: u32,
        line: &Line,
        speed: Option<Bandwidth>,
    ) -> Result<(), Diagnostic> {
        let Some(pair) = line.rest.get("Nodes") else { return Ok(()) };
        for name in self.hosts(pair)? {
            let node = fabric.nodes.len() as u32;
            if let Some((_, other)) = self.node_places.insert(name.clone(), (node, line.name.clone())) {
                let message = if other == line.name {
                    format!("node `{name}` is listed twice")
                } else {
                    format!("node `{name}` is on `{other}` already")
                };
                return Err(self.error(&pair.value_place, message, "a node is on one switch or in one block"));
            }
            fabric.nodes.push(name);
            fabric.cables.push(Cable { ends: (Vertex::Node(node), Vertex::Switch(switch)), bandwidth: speed });
        }
        Ok(())
    }

    fn tree(&mut self, lines: &[Line]) -> Result<Fabric, Diagnostic> {
        let names = self.names(lines.iter())?;
        let mut fabric = Fabric { switches: lines.iter().map(|line| line.name.clone()).collect(), ..Fabric::default() };
        let mut children: Vec<Vec<u32>> = Vec::new();
        for (switch, line) in (0..).zip(lines) {
            match (line.rest.get("Nodes"), line.rest.get("Switches")) {
                (None, None) => {
                    let message = format!("switch `{}` has neither nodes nor switches below it", line.name);
                    return Err(self.error(&line.place, message, "add `Nodes=...` or `Switches=...`"));
                }
                (Some(_), Some(_)) => {
                    let message = format!("switch `{}` has both nodes and switches below it", line.name);
                    let remedy = "Slurm allows one of them: give the nodes a switch of their own";
                    return Err(self.error(&line.place, message, remedy));
                }
                _ => {}
            }
            let speed = self.speed(line);
            self.nodes(&mut fabric, switch, line, speed)?;
            let mut below = Vec::new();
            if let Some(pair) = line.rest.get("Switches") {
                for name in self.hosts(pair)? {
                    let Some(&child) = names.get(name.as_str()) else {
                        let remedy = match nearest(&name, names.keys().copied()) {
                            Some(known) => format!("did you mean `{known}`?"),
                            None => format!("add a line `SwitchName={name} ...`"),
                        };
                        return Err(self.error(&pair.value_place, format!("there is no switch `{name}`"), remedy));
                    };
                    below.push(child);
                    let ends = (Vertex::Switch(child), Vertex::Switch(switch));
                    fabric.cables.push(Cable { ends, bandwidth: speed });
                }
            }
            children.push(below);
        }
        if let Some(switch) = loop_among(&children) {
            let line = &lines[switch as usize];
            let message = format!("switch `{}` is below itself", line.name);
            return Err(self.error(&line.place, message, "remove the loop: levels of switches lead upwards only"));
        }
        self.warn_of_speeds_without_unit();
        if lines.len() > 1 {
            self.warnings.push(
                Diagnostic::warning(
                    "the file does not tell how many cables join two switches: one is assumed",
                    "correct the bandwidths in the graph file, or describe the machine as a fat tree",
                )
                .within(self.source),
            );
        }
        Ok(fabric)
    }

    /// The speed of the cables down from a switch, if it has a unit.
    fn speed(&mut self, line: &Line) -> Option<Bandwidth> {
        let pair = line.rest.get("LinkSpeed")?;
        match pair.value.parse::<Bandwidth>() {
            Ok(speed) if speed.get() > 0.0 => Some(speed),
            _ => {
                self.without_unit.push(pair.clone());
                None
            }
        }
    }

    /// Real files have such speeds in every line: one warning for all of them.
    fn warn_of_speeds_without_unit(&mut self) {
        let Some((first, others)) = self.without_unit.split_first() else { return };
        let others = match others.len() {
            0 => String::new(),
            1 => ", nor that of another line".into(),
            count => format!(", nor those of {count} other lines"),
        };
        let message = format!("LinkSpeed `{}` is not used{others}: Slurm gives it no unit", first.value);
        let remedy = "write one, such as `LinkSpeed=100Gbit/s`, or give --bandwidth";
        self.warnings.push(Diagnostic::warning(message, remedy).at(self.source, first.value_place.clone()));
    }

    fn blocks(&mut self, lines: &[Line]) -> Result<Fabric, Diagnostic> {
        let blocks = || lines.iter().filter(|line| line.kind == Kind::Block);
        self.names(blocks())?;
        let mut fabric = Fabric::default();
        for (number, line) in (0..).zip(blocks()) {
            if !line.rest.contains_key("Nodes") {
                let message = format!("block `{}` has no nodes", line.name);
                return Err(self.error(&line.place, message, "add `Nodes=...`"));
            }
            fabric.switches.push(line.name.clone());
            self.nodes(&mut fabric, number, line, None)?;
        }
        let join = |fabric: &mut Fabric, below: &[u32], name: String| {
            let above = fabric.switches.len() as u32;
            fabric.switches.push(name);
            let cable = |&child| Cable { ends: (Vertex::Switch(child), Vertex::Switch(above)), bandwidth: None };
            fabric.cables.extend(below.iter().map(cable));
            above
        };
        let mut level: Vec<u32> = (0..fabric.switches.len() as u32).collect();
        let mut together = 1;
        for (size, factor) in self.block_sizes(lines)? {
            let groups = level.chunks((factor / together).max(1) as usize);
            let named =
                |(number, group): (usize, &[u32])| join(&mut fabric, group, format!("block-of-{size}-{number}"));
            level = groups.enumerate().map(named).collect();
            together = factor;
        }
        if level.len() > 1 {
            join(&mut fabric, &level, "network".into());
        }
        if fabric.switches.len() > 1 {
            let message = "the file tells which blocks are near, not how they are cabled: a switch a block is assumed";
            let remedy = "correct the graph file, or describe the network itself";
            self.warnings.push(Diagnostic::warning(message, remedy).within(self.source));
        }
        Ok(fabric)
    }

    /// The sizes of larger blocks, and how many base blocks each has.
    fn block_sizes(&self, lines: &[Line]) -> Result<Vec<(u32, u32)>, Diagnostic> {
        let mut given = lines.iter().filter(|line| line.kind == Kind::Sizes);
        let Some(line) = given.next() else { return Ok(Vec::new()) };
        if let Some(second) = given.next() {
            return Err(self.error(&second.place, "BlockSizes is there twice", "keep one"));
        }
        let wrong = |message: String| {
            let remedy = "each size is the one before times a power of two, such as `BlockSizes=16,32,128`";
            self.error(&line.place, message, remedy)
        };
        let mut sizes = Vec::new();
        for word in line.name.split(',') {
            let size = word.trim().parse::<u32>().ok().filter(|size| *size > 0);
            sizes.push(size.ok_or_else(|| wrong(format!("`{word}` is not a size of a block")))?);
        }
        for pair in sizes.windows(2) {
            if pair[1] <= pair[0] || pair[1] % pair[0] != 0 || !(pair[1] / pair[0]).is_power_of_two() {
                return Err(wrong(format!("{} nodes cannot be made of blocks of {}", pair[1], pair[0])));
            }
        }
        Ok(sizes[1..].iter().map(|&size| (size, size / sizes[0])).collect())
    }
}

fn nearest_key<'k>(word: &str, keys: &[&'k str]) -> Option<&'k str> {
    let lower: Vec<String> = keys.iter().map(|key| key.to_lowercase()).collect();
    let found = nearest(word, lower.iter().map(String::as_str))?;
    keys.iter().find(|key| key.eq_ignore_ascii_case(found)).copied()
}

/// A switch that is below itself, if there is one: what is left when all without parents are taken away, over and over.
fn loop_among(children: &[Vec<u32>]) -> Option<u32> {
    let mut parents = vec![0u32; children.len()];
    children.iter().flatten().for_each(|&child| parents[child as usize] += 1);
    let mut open: Vec<u32> = (0..).zip(&parents).filter(|(_, parents)| **parents == 0).map(|(at, _)| at).collect();
    while let Some(switch) = open.pop() {
        for &child in &children[switch as usize] {
            parents[child as usize] -= 1;
            if parents[child as usize] == 0 {
                open.push(child);
            }
        }
    }
    // A loop may have others below it, which have parents, too: go up until somebody comes twice.
    let mut at = (0..).zip(&parents).find(|(_, parents)| **parents > 0).map(|(at, _)| at)?;
    let mut seen = vec![false; children.len()];
    while !std::mem::replace(&mut seen[at as usize], true) {
        let above = (0..).zip(children).find(|(parent, below)| parents[*parent as usize] > 0 && below.contains(&at));
        match above {
            Some((parent, _)) => at = parent,
            None => break,
        }
    }
    Some(at)
}

#[cfg(test)]
mod tests;
