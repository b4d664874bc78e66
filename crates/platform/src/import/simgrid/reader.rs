//! Reads the XML of a platform file into plain data, and notes all that has no counterpart in hpcast.
//!
//! The format is the one of `simgrid.dtd` (SimGrid 3.32), versions 3, 4 and 4.1.

mod cluster;

use std::collections::BTreeMap;
use std::sync::Arc;

use roxmltree::{Document, Node, ParsingOptions};

use super::description::{
    Child, Host, HostLink, Link, Platform, Policy, Route, RouteLink, Routing, Setting, Span, Zone,
};
use super::units::{self, Kind};
use crate::diagnostic::{Diagnostic, Diagnostics, Source, nearest};

/// More elements than this are refused; the largest published platform files have a few hundred thousand.
const MOST_ELEMENTS: u32 = 10_000_000;
/// Zones nested deeper than this are refused; published files have three levels.
const DEEPEST: usize = 64;
/// More hosts than this are refused, 2^24: the largest simulation that hpcast promises.
const MOST_HOSTS: u64 = 1 << 24;

/// Reads a platform; warnings are added to `notes`.
pub(super) fn read(source: &Arc<Source>, notes: &mut Diagnostics) -> Result<Platform, Diagnostic> {
    if let Some(at) = source.text.find("<!ENTITY") {
        let problem = "this file declares XML entities, which platform files do not need";
        return Err(Diagnostic::error(problem, "write their values in their place").at(source, at..at + 8));
    }
    let options = ParsingOptions { allow_dtd: true, nodes_limit: MOST_ELEMENTS, ..ParsingOptions::default() };
    let document = Document::parse_with_options(&source.text, options).map_err(|error| {
        let position = error.pos();
        let place = source.word(position.row as usize, position.col as usize);
        Diagnostic::error(format!("this is not well-formed XML: {error}"), "correct it").at(source, place)
    })?;
    let mut reader = Reader { source, hosts: 0, properties: BTreeMap::new(), notes };
    let platform = reader.platform(document.root_element())?;
    reader.note_properties();
    Ok(platform)
}

struct Reader<'a> {
    source: &'a Arc<Source>,
    /// Hosts so far.
    hosts: u64,
    /// Properties that are not converted: element and key, with the place of the first and how many there are.
    properties: BTreeMap<(String, String), (Span, usize)>,
    notes: &'a mut Diagnostics,
}

/// An attribute's value and its place.
struct Text<'a> {
    value: &'a str,
    span: Span,
}

fn text<'a>(node: Node<'a, '_>, name: &str) -> Option<Text<'a>> {
    let attribute = node.attribute_node(name)?;
    Some(Text { value: attribute.value(), span: attribute.range_value() }).filter(|text| !text.value.is_empty())
}

/// An element's opening tag.
fn tag(node: Node) -> Span {
    let range = node.range();
    let end = node.document().input_text()[range.clone()].find('>').map_or(range.end, |at| range.start + at + 1);
    range.start..end
}

impl Reader<'_> {
    fn error(&self, span: Span, message: impl Into<String>, remedy: impl Into<String>) -> Diagnostic {
        Diagnostic::error(message, remedy).at(self.source, span)
    }

    fn note(&mut self, span: Span, message: impl Into<String>, remedy: impl Into<String>) {
        self.notes.push(Diagnostic::warning(message, remedy).at(self.source, span));
    }

    /// Refuses attributes that SimGrid does not know; names those that are known but not converted.
    fn attributes(&mut self, node: Node, used: &[&str], unused: &[&str]) -> Result<(), Diagnostic> {
        let element = node.tag_name().name();
        for attribute in node.attributes() {
            let name = attribute.name();
            if unused.contains(&name) {
                let message = format!("the attribute `{name}` of <{element}> is not converted");
                self.note(attribute.range(), message, "hpcast has nothing like it; it is left out");
            } else if !used.contains(&name) {
                let message = format!("<{element}> has no attribute `{name}`");
                let remedy = match nearest(name, used.iter().copied()) {
                    Some(meant) => format!("did you mean `{meant}`?"),
                    None => format!("use one of {}", used.join(", ")),
                };
                return Err(self.error(attribute.range(), message, remedy));
            }
        }
        Ok(())
    }

    fn required<'n>(&self, node: Node<'n, '_>, name: &str) -> Result<Text<'n>, Diagnostic> {
        text(node, name).ok_or_else(|| {
            let message = format!("<{}> lacks the attribute `{name}`", node.tag_name().name());
            self.error(tag(node), message, format!("add {name}=\"...\""))
        })
    }

    fn quantity(&self, text: &Text, kind: Kind) -> Result<f64, Diagnostic> {
        units::parse(text.value, kind)
            .map_err(|problem| self.error(text.span.clone(), problem, "write a number and a unit, as in `12.5GBps`"))
    }

    fn bandwidth(&self, text: &Text) -> Result<f64, Diagnostic> {
        match self.quantity(text, Kind::Bandwidth)? {
            0.0 => Err(self.error(text.span.clone(), "a bandwidth of 0", "write what the link can carry")),
            bandwidth => Ok(bandwidth),
        }
    }

    /// The speed of a host: `speed`, or `power` as it was called in version 3; the first of several.
    fn speed(&mut self, node: Node) -> Result<f64, Diagnostic> {
        let speed = match text(node, "power") {
            Some(power) => power,
            None => self.required(node, "speed")?,
        };
        let mut speeds = speed.value.split(',');
        let first = Text { value: speeds.next().unwrap_or(""), span: speed.span.clone() };
        if speeds.next().is_some() {
            let remedy = "change the speed in the machine file if the hosts run in another state";
            self.note(speed.span.clone(), "only the first of several speeds is converted", remedy);
        }
        self.quantity(&first, Kind::Speed)
    }

    fn cores(&self, node: Node) -> Result<u32, Diagnostic> {
        let Some(text) = text(node, "core") else { return Ok(1) };
        match text.value.trim().parse() {
            Ok(cores) if cores > 0 => Ok(cores),
            _ => {
                Err(self.error(text.span, format!("`{}` is not a number of cores", text.value), "write a whole number"))
            }
        }
    }

    /// One of several words, in any case; the first is the default.
    fn choice<T: Copy>(&self, node: Node, name: &str, choices: &[(&str, T)]) -> Result<T, Diagnostic> {
        let Some(text) = text(node, name) else { return Ok(choices[0].1) };
        let found = choices.iter().find(|(word, _)| word.eq_ignore_ascii_case(text.value));
        found.map(|(_, choice)| *choice).ok_or_else(|| {
            let words: Vec<_> = choices.iter().map(|(word, _)| *word).collect();
            let message = format!("`{}` is not a value of {name}", text.value);
            self.error(text.span, message, format!("use one of {}", words.join(", ")))
        })
    }

    fn add_hosts(&mut self, count: u64, span: Span) -> Result<(), Diagnostic> {
        self.hosts = self.hosts.saturating_add(count);
        match self.hosts > MOST_HOSTS {
            true => Err(self.error(span, format!("more than {MOST_HOSTS} hosts"), "describe fewer of them")),
            false => Ok(()),
        }
    }

    fn platform(&mut self, node: Node) -> Result<Platform, Diagnostic> {
        if node.tag_name().name() != "platform" {
            let message = format!("this is not a SimGrid platform file: it begins with <{}>", node.tag_name().name());
            return Err(self.error(tag(node), message, "name a file that begins with <platform>"));
        }
        self.attributes(node, &["version"], &[])?;
        let version = self.required(node, "version")?;
        if !["3", "3.0", "4", "4.0", "4.1"].contains(&version.value) {
            let message = format!("version {} of platform files cannot be read", version.value);
            return Err(self.error(version.span, message, "versions 3, 4 and 4.1 can: use simgrid_update_xml"));
        }
        let mut settings = Vec::new();
        let mut roots = Vec::new();
        for child in node.children().filter(Node::is_element) {
            match child.tag_name().name() {
                "config" => settings.extend(self.config(child)?),
                "zone" | "AS" => roots.push((Child::Zone(self.zone(child, 0)?), tag(child))),
                "cluster" => roots.push((Child::Cluster(self.cluster(child)?), tag(child))),
                _ => self.unconverted(child)?,
            }
        }
        if let Some((_, second)) = roots.get(1) {
            let remedy = "put all of them into one <zone>, with routes between them";
            return Err(self.error(second.clone(), "a second zone outside of the first", remedy));
        }
        match roots.pop() {
            Some((root, _)) => Ok(Platform { settings, root }),
            None => Err(self.error(tag(node), "this platform has no hosts", "describe a <zone> or a <cluster>")),
        }
    }

    /// Elements that say nothing of the network or the nodes are named; others cannot be left out.
    fn unconverted(&mut self, node: Node) -> Result<(), Diagnostic> {
        let element = node.tag_name().name();
        let what = match element {
            "prop" => {
                let parent = node.parent_element().map_or("", |parent| parent.tag_name().name());
                let key = (parent.to_string(), node.attribute("id").unwrap_or("").to_string());
                self.properties.entry(key).or_insert((tag(node), 0)).1 += 1;
                return Ok(());
            }
            "trace" | "trace_connect" => "changes over time",
            "disk" | "storage" | "storage_type" | "mount" => "storage",
            "process" | "actor" => "the deployment of processes",
            "random" | "model_prop" => "what SimGrid itself ignores",
            "bypassRoute" | "bypassASroute" | "bypassZoneRoute" | "peer" | "include" | "gpu" => {
                let message = format!("<{element}> cannot be converted");
                return Err(self.error(tag(node), message, "describe the network without it"));
            }
            _ => {
                let message = format!("<{element}> is not an element of platform files at this place");
                return Err(self.error(tag(node), message, "see SimGrid's manual, or remove it"));
            }
        };
        self.note(tag(node), format!("<{element}> is not converted"), format!("it describes {what}; it is left out"));
        Ok(())
    }

    fn note_properties(&mut self) {
        for ((element, key), (span, count)) in std::mem::take(&mut self.properties) {
            let whose = if count == 1 { format!("a <{element}>") } else { format!("{count} times <{element}>") };
            let remedy = "hpcast has nothing like it here; it is left out";
            self.note(span, format!("the property `{key}` of {whose} is not converted"), remedy);
        }
    }

    fn config(&mut self, node: Node) -> Result<Vec<Setting>, Diagnostic> {
        self.attributes(node, &["id"], &[])?;
        let mut settings = Vec::new();
        for child in node.children().filter(Node::is_element) {
            if child.tag_name().name() != "prop" {
                self.unconverted(child)?;
                continue;
            }
            self.attributes(child, &["id", "value"], &[])?;
            let key = self.required(child, "id")?.value.to_string();
            let value = self.required(child, "value")?;
            settings.push(Setting { key, value: value.value.to_string(), span: value.span });
        }
        Ok(settings)
    }

    fn zone(&mut self, node: Node, depth: usize) -> Result<Zone, Diagnostic> {
        if depth == DEEPEST {
            let message = format!("zones nested more than {DEEPEST} deep");
            return Err(self.error(tag(node), message, "describe the network with fewer levels"));
        }
        self.attributes(node, &["id", "routing"], &[])?;
        let routing = self.required(node, "routing")?;
        let mut zone = Zone {
            id: self.required(node, "id")?.value.to_string(),
            span: tag(node),
            routing: match routing.value.to_ascii_lowercase().as_str() {
                "full" => Routing::Full,
                "floyd" => Routing::Floyd,
                "dijkstra" | "dijkstracache" => Routing::Dijkstra,
                "cluster" => Routing::Star,
                _ => {
                    let message = format!("the routing `{}` cannot be converted", routing.value);
                    return Err(self.error(routing.span, message, "use Full, Floyd, Dijkstra or Cluster"));
                }
            },
            hosts: Vec::new(),
            routers: Vec::new(),
            links: Vec::new(),
            routes: Vec::new(),
            children: Vec::new(),
            backbone: None,
            host_links: Vec::new(),
        };
        for child in node.children().filter(Node::is_element) {
            match child.tag_name().name() {
                "host" => zone.hosts.push(self.host(child)?),
                "router" => {
                    self.attributes(child, &["id"], &["coordinates"])?;
                    zone.routers.push(self.required(child, "id")?.value.to_string());
                }
                "link" => zone.links.push(self.link(child)?),
                "backbone" if zone.routing == Routing::Star && zone.backbone.is_none() => {
                    zone.backbone = Some(self.link(child)?);
                }
                "host_link" if zone.routing == Routing::Star => zone.host_links.push(self.host_link(child)?),
                "cabinet" if zone.routing == Routing::Star => self.cabinet(child, &mut zone)?,
                "route" | "zoneRoute" | "ASroute" => zone.routes.push(self.route(child)?),
                "zone" | "AS" => zone.children.push(Child::Zone(self.zone(child, depth + 1)?)),
                "cluster" => zone.children.push(Child::Cluster(self.cluster(child)?)),
                _ => self.unconverted(child)?,
            }
        }
        Ok(zone)
    }

    fn host(&mut self, node: Node) -> Result<Host, Diagnostic> {
        let unused =
            ["availability", "availability_file", "speed_file", "state", "state_file", "coordinates", "pstate"];
        self.attributes(node, &["id", "speed", "power", "core"], &unused)?;
        self.add_hosts(1, tag(node))?;
        for child in node.children().filter(Node::is_element) {
            self.unconverted(child)?;
        }
        let id = self.required(node, "id")?.value.to_string();
        Ok(Host { id, speed: self.speed(node)?, cores: self.cores(node)? })
    }

    fn link(&mut self, node: Node) -> Result<Link, Diagnostic> {
        let unused = ["bandwidth_file", "latency_file", "state_file", "state"];
        self.attributes(node, &["id", "bandwidth", "latency", "sharing_policy"], &unused)?;
        for child in node.children().filter(Node::is_element) {
            self.unconverted(child)?;
        }
        let latency = text(node, "latency").map(|text| self.quantity(&text, Kind::Time)).transpose()?;
        Ok(Link {
            id: self.required(node, "id")?.value.to_string(),
            bandwidth: self.bandwidth(&self.required(node, "bandwidth")?)?,
            latency: latency.unwrap_or(0.0),
            policy: self.choice(node, "sharing_policy", &POLICIES)?,
            span: tag(node),
        })
    }

    fn host_link(&mut self, node: Node) -> Result<HostLink, Diagnostic> {
        self.attributes(node, &["id", "up", "down"], &[])?;
        Ok(HostLink {
            host: self.required(node, "id")?.value.to_string(),
            up: self.required(node, "up")?.value.to_string(),
            down: self.required(node, "down")?.value.to_string(),
            span: tag(node),
        })
    }

    /// A cabinet is short for hosts, each with a link up and a link down.
    fn cabinet(&mut self, node: Node, zone: &mut Zone) -> Result<(), Diagnostic> {
        self.attributes(node, &["id", "prefix", "suffix", "radical", "speed", "power", "bw", "lat"], &[])?;
        let prefix = node.attribute("prefix").unwrap_or("");
        let suffix = node.attribute("suffix").unwrap_or("");
        let (speed, span) = (self.speed(node)?, tag(node));
        let bandwidth = self.bandwidth(&self.required(node, "bw")?)?;
        let latency = self.quantity(&self.required(node, "lat")?, Kind::Time)?;
        for number in self.radical(node)?.into_iter().flat_map(|(first, last)| first..=last) {
            let id = format!("{prefix}{number}{suffix}");
            let [up, down] = ["UP", "DOWN"].map(|way| format!("link_{id}_{way}"));
            for id in [&up, &down] {
                let (id, policy, span) = (id.clone(), Policy::Shared, span.clone());
                zone.links.push(Link { id, bandwidth, latency, policy, span });
            }
            zone.host_links.push(HostLink { host: id.clone(), up, down, span: span.clone() });
            zone.hosts.push(Host { id, speed, cores: 1 });
        }
        Ok(())
    }

    fn route(&mut self, node: Node) -> Result<Route, Diagnostic> {
        let gateways = match node.tag_name().name() {
            "route" => {
                self.attributes(node, &["src", "dst", "symmetrical"], &[])?;
                None
            }
            _ => {
                self.attributes(node, &["src", "dst", "gw_src", "gw_dst", "symmetrical"], &[])?;
                Some((self.required(node, "gw_src")?.value.into(), self.required(node, "gw_dst")?.value.into()))
            }
        };
        let mut links = Vec::new();
        for child in node.children().filter(Node::is_element) {
            if child.tag_name().name() != "link_ctn" {
                self.unconverted(child)?;
                continue;
            }
            self.attributes(child, &["id", "direction"], &[])?;
            let directions = [("NONE", None), ("UP", Some(true)), ("DOWN", Some(false))];
            links.push(RouteLink {
                id: self.required(child, "id")?.value.to_string(),
                up: self.choice(child, "direction", &directions)?,
                span: tag(child),
            });
        }
        if links.is_empty() {
            return Err(self.error(tag(node), "a route without links", "add <link_ctn id=\"...\"/>"));
        }
        Ok(Route {
            from: self.required(node, "src")?.value.to_string(),
            to: self.required(node, "dst")?.value.to_string(),
            gateways,
            links,
            symmetrical: self.choice(node, "symmetrical", &[("yes", true), ("no", false)])?,
            span: tag(node),
        })
    }
}

const POLICIES: [(&str, Policy); 4] = [
    ("SHARED", Policy::Shared),
    ("SPLITDUPLEX", Policy::SplitDuplex),
    ("FULLDUPLEX", Policy::SplitDuplex),
    ("FATPIPE", Policy::Fatpipe),
];
