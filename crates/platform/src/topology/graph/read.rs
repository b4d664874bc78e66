//! Reads a graph file into names, links and routes, all checked.

use std::collections::BTreeMap;

use super::super::{Link, LinkId};
use super::error::{GraphError, GraphProblem};
use super::words::{Word, Words};

const VERTICES: &str = "node n[0-15]";
const LINK: &str = "link n0 -- s0 12.5 GB/s 100 ns";
const ROUTE: &str = "route n0 n1 : up0 down1";

/// A link as the file gives it; vertices are numbered, nodes first, then switches, in the order of the file.
#[derive(Clone, Debug, PartialEq)]
pub struct GraphLink {
    /// Its name, and its direction where that has several links.
    pub name: Option<String>,
    pub link: Link,
    /// From where to where; `None` if only routes say where it is used.
    pub ends: Option<(u32, u32)>,
    /// Whether both directions are this link.
    pub shared: bool,
    /// Whether it limits each message for itself, however many there are.
    pub unshared: bool,
}

/// A route that the file prescribes.
#[derive(Clone, Debug, PartialEq)]
pub struct Prescribed {
    pub from: u32,
    pub to: u32,
    pub links: Vec<LinkId>,
}

/// All that the file says.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Description {
    pub nodes: Vec<String>,
    pub switches: Vec<String>,
    pub links: Vec<GraphLink>,
    /// Sorted by `from`, then `to`.
    pub routes: Vec<Prescribed>,
}

/// What a link's name stands for.
#[derive(Clone, Copy)]
enum Named {
    One(LinkId),
    /// Both directions of a cable, forward first.
    Cable(LinkId, LinkId),
}

#[derive(Default)]
struct Reader {
    description: Description,
    /// A vertex as it is declared: whether it is a switch, and its number among those.
    vertices: BTreeMap<String, (bool, u32)>,
    links: BTreeMap<String, Named>,
    routes: BTreeMap<(u32, u32), Vec<LinkId>>,
}

/// Reads a whole file: vertices first, as links may come before the nodes that they join.
pub fn read(text: &str) -> Result<Description, GraphError> {
    let mut reader = Reader::default();
    let lines: Vec<(Word, Words)> = (1..)
        .zip(text.lines())
        .map(|(number, line)| Words::of(number, line))
        .filter_map(|mut words| words.next().map(|first| (first, words)))
        .collect();
    for (keyword, words) in &lines {
        match keyword.text {
            "node" | "switch" => reader.vertices(keyword.text == "switch", words.clone())?,
            "link" | "route" => {}
            other => return Err(keyword.error(GraphProblem::UnknownLine(other.into()))),
        }
    }
    let end = Word { text: "", line: text.lines().count().max(1) as u32, column: 1 };
    if reader.description.nodes.is_empty() {
        return Err(end.error(GraphProblem::NoNodes));
    }
    for (_, words) in lines.iter().filter(|(keyword, _)| keyword.text == "link") {
        reader.link(words.clone())?;
    }
    for (_, words) in lines.iter().filter(|(keyword, _)| keyword.text == "route") {
        reader.route(words.clone())?;
    }
    let Reader { mut description, routes, .. } = reader;
    description.routes = routes.into_iter().map(|((from, to), links)| Prescribed { from, to, links }).collect();
    Ok(description)
}

impl Reader {
    /// `node NAME ...` or `switch NAME ...`
    fn vertices(&mut self, switch: bool, mut words: Words) -> Result<(), GraphError> {
        let list = if switch { &mut self.description.switches } else { &mut self.description.nodes };
        let mut word = words.expect("a name", VERTICES)?;
        loop {
            for name in word.names()? {
                if self.vertices.insert(name.clone(), (switch, list.len() as u32)).is_some() {
                    return Err(word.error(GraphProblem::Twice(name)));
                }
                list.push(name);
            }
            match words.next() {
                Some(next) => word = next,
                None => return Ok(()),
            }
        }
    }

    /// `link [NAME :] [FROM --|-> TO] BANDWIDTH LATENCY [shared|unshared]`
    fn link(&mut self, mut words: Words) -> Result<(), GraphError> {
        let named = words.peek_second().is_some_and(|word| word.text == ":");
        let name = if named { words.next() } else { None };
        if named {
            words.next();
        }
        let mut names = name.map(|name| name.names()).transpose()?.unwrap_or_default();
        let joins = words.peek_second().map_or("", |word| word.text);
        let one_way = joins == "->";
        let ends = if one_way || joins == "--" {
            let from = words.expect("where the link starts", LINK)?;
            words.next();
            let to = words.expect("where the link ends", LINK)?;
            self.ends(from, to)?.into_iter().map(Some).collect()
        } else if name.is_some() {
            vec![None; names.len()]
        } else {
            let missing = "`--` or `->`";
            words.expect("where the link starts", LINK)?;
            return Err(words.expect(missing, LINK)?.error(GraphProblem::Missing { missing, example: LINK }));
        };
        let link = words.link(LINK)?;
        let shared = words.peek().filter(|word| word.text == "shared");
        if let Some(word) = shared {
            words.next();
            if one_way {
                return Err(word.error(GraphProblem::OneWayShared));
            }
        }
        let unshared = shared.is_none() && words.peek().is_some_and(|word| word.text == "unshared");
        if unshared {
            words.next();
        }
        words.finish()?;
        if let Some(word) = name
            && names.len() != ends.len()
        {
            return Err(word.error(GraphProblem::UnequalRanges(names.len(), ends.len())));
        }
        names.reverse();
        let first = self.description.links.len();
        for ends in ends {
            let both = !one_way && shared.is_none() && ends.is_some();
            self.add(link, ends, both, shared.is_some(), name.zip(names.pop()))?;
        }
        self.description.links[first..].iter_mut().for_each(|link| link.unshared = unshared);
        Ok(())
    }

    /// The pairs of vertices that two words name.
    fn ends(&self, from: Word, to: Word) -> Result<Vec<(u32, u32)>, GraphError> {
        let (tails, heads) = (from.names()?, to.names()?);
        if tails.len() != heads.len() && tails.len() != 1 && heads.len() != 1 {
            return Err(to.error(GraphProblem::UnequalRanges(tails.len(), heads.len())));
        }
        let pick = |names: &[String], at: usize| names[if names.len() == 1 { 0 } else { at }].clone();
        let mut ends = Vec::new();
        for at in 0..tails.len().max(heads.len()) {
            let (tail, head) = (pick(&tails, at), pick(&heads, at));
            if tail == head {
                return Err(to.error(GraphProblem::Loop(tail)));
            }
            ends.push((self.vertex(from, &tail)?, self.vertex(to, &head)?));
        }
        Ok(ends)
    }

    fn vertex(&self, word: Word, name: &str) -> Result<u32, GraphError> {
        let nodes = self.description.nodes.len() as u32;
        match self.vertices.get(name) {
            Some(&(switch, number)) => Ok(if switch { nodes + number } else { number }),
            None => Err(word.error(GraphProblem::UnknownVertex(name.into()))),
        }
    }

    fn vertex_name(&self, vertex: u32) -> String {
        let Description { nodes, switches, .. } = &self.description;
        let vertex = vertex as usize;
        nodes.get(vertex).unwrap_or_else(|| &switches[vertex - nodes.len()]).clone()
    }

    /// Adds a link, or both links of a cable.
    fn add(
        &mut self,
        link: Link,
        ends: Option<(u32, u32)>,
        both: bool,
        shared: bool,
        name: Option<(Word, String)>,
    ) -> Result<(), GraphError> {
        let first = self.description.links.len() as LinkId;
        let directed =
            |name: &str, (tail, head)| format!("{name}: {} -> {}", self.vertex_name(tail), self.vertex_name(head));
        let mut links =
            vec![GraphLink { name: name.as_ref().map(|(_, name)| name.clone()), link, ends, shared, unshared: false }];
        if let (true, Some((tail, head))) = (both, ends) {
            links[0].name = name.as_ref().map(|(_, name)| directed(name, (tail, head)));
            let back = name.as_ref().map(|(_, name)| directed(name, (head, tail)));
            links.push(GraphLink { name: back, link, ends: Some((head, tail)), shared, unshared: false });
        }
        if let Some((word, name)) = name {
            let named = if both { Named::Cable(first, first + 1) } else { Named::One(first) };
            if self.links.insert(name.clone(), named).is_some() {
                return Err(word.error(GraphProblem::Twice(name)));
            }
        }
        self.description.links.extend(links);
        Ok(())
    }

    /// `route FROM TO : LINK ...`
    fn route(&mut self, mut words: Words) -> Result<(), GraphError> {
        let from = words.expect("the node that sends", ROUTE)?;
        let to = words.expect("the node that receives", ROUTE)?;
        let colon = words.expect("a colon", ROUTE)?;
        if colon.text != ":" {
            return Err(colon.error(GraphProblem::Missing { missing: "a colon", example: ROUTE }));
        }
        let mut word = words.expect("a link", ROUTE)?;
        let (source, goal) = (self.node(from)?, self.node(to)?);
        let mut links = Vec::new();
        // Where the route has come; unknown after a link without ends.
        let mut at = Some(source);
        loop {
            let (id, next) = self.step(at, word)?;
            links.push(id);
            at = next;
            match words.next() {
                Some(next) => word = next,
                None => break,
            }
        }
        if let Some(at) = at.filter(|&at| at != goal) {
            let (at, goal) = (self.vertex_name(at), to.text.into());
            return Err(word.error(GraphProblem::Astray { at, goal }));
        }
        if self.routes.insert((source, goal), links).is_some() {
            return Err(from.error(GraphProblem::SecondRoute(from.text.into(), to.text.into())));
        }
        Ok(())
    }

    fn node(&self, word: Word) -> Result<u32, GraphError> {
        let vertex = self.vertex(word, word.text)?;
        if vertex < self.description.nodes.len() as u32 {
            Ok(vertex)
        } else {
            Err(word.error(GraphProblem::NotANode(word.text.into())))
        }
    }

    /// The link that the word names, and where it leads from `at`, where that is known.
    fn step(&self, at: Option<u32>, word: Word) -> Result<(LinkId, Option<u32>), GraphError> {
        let unknown = || word.error(GraphProblem::UnknownLink(word.text.into()));
        let named = *self.links.get(word.text).ok_or_else(unknown)?;
        let leads = |id: LinkId| {
            let GraphLink { ends, shared, .. } = self.description.links[id as usize];
            match (at, ends) {
                (_, None) => Some((id, None)),
                (None, Some((_, head))) => Some((id, (!shared).then_some(head))),
                (Some(at), Some((tail, head))) if at == tail => Some((id, Some(head))),
                (Some(at), Some((tail, head))) if shared && at == head => Some((id, Some(tail))),
                _ => None,
            }
        };
        let step = match named {
            Named::One(id) => leads(id),
            Named::Cable(..) if at.is_none() => {
                return Err(word.error(GraphProblem::Direction(word.text.into())));
            }
            Named::Cable(forward, back) => leads(forward).or_else(|| leads(back)),
        };
        step.ok_or_else(|| {
            let at = at.map(|at| self.vertex_name(at)).unwrap_or_default();
            word.error(GraphProblem::Broken { at, link: word.text.into() })
        })
    }
}
