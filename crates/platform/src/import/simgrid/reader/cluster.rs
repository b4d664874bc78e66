//! Reads `<cluster>`.

use roxmltree::Node;

use super::super::description::{Cluster, Link, Policy, Topology};
use super::super::units::Kind;
use super::{Reader, tag, text};
use crate::diagnostic::Diagnostic;

impl Reader<'_> {
    pub(super) fn cluster(&mut self, node: Node) -> Result<Cluster, Diagnostic> {
        self.attributes(node, &CLUSTER, &["availability_file", "state_file"])?;
        for child in node.children().filter(Node::is_element) {
            self.unconverted(child)?;
        }
        let id = self.required(node, "id")?.value.to_string();
        let quantity = |name, kind| text(node, name).map(|text| self.quantity(&text, kind)).transpose();
        let backbone = match (text(node, "bb_bw"), quantity("bb_lat", Kind::Time)?) {
            (Some(bandwidth), latency) => Some(Link {
                id: format!("{id}_backbone"),
                bandwidth: self.bandwidth(&bandwidth)?,
                latency: latency.unwrap_or(0.0),
                policy: self.choice(
                    node,
                    "bb_sharing_policy",
                    &[("SHARED", Policy::Shared), ("FATPIPE", Policy::Fatpipe)],
                )?,
                span: bandwidth.span,
            }),
            (None, Some(latency)) if latency > 0.0 => {
                return Err(self.error(tag(node), "a backbone without a bandwidth", "add bb_bw=\"...\""));
            }
            _ => None,
        };
        let loopback = match (text(node, "loopback_bw"), quantity("loopback_lat", Kind::Time)?) {
            (Some(bandwidth), latency) => Some((self.bandwidth(&bandwidth)?, latency.unwrap_or(0.0))),
            (None, Some(latency)) if latency > 0.0 => {
                return Err(self.error(tag(node), "a loopback without a bandwidth", "add loopback_bw=\"...\""));
            }
            _ => None,
        };
        let limiter = quantity("limiter_link", Kind::Bandwidth)?.filter(|limiter| *limiter > 0.0);
        let router = text(node, "router_id").map(|text| text.value.to_string());
        Ok(Cluster {
            span: tag(node),
            prefix: node.attribute("prefix").unwrap_or("").to_string(),
            suffix: node.attribute("suffix").unwrap_or("").to_string(),
            radical: self.radical(node)?,
            speed: self.speed(node)?,
            cores: self.cores(node)?,
            bandwidth: self.bandwidth(&self.required(node, "bw")?)?,
            latency: self.quantity(&self.required(node, "lat")?, Kind::Time)?,
            policy: self.choice(node, "sharing_policy", &CLUSTER_POLICIES)?,
            topology: self.topology(node)?,
            backbone,
            limiter,
            loopback,
            router,
            id,
        })
    }

    fn topology(&self, node: Node) -> Result<Topology, Diagnostic> {
        let parameters = || self.required(node, "topo_parameters");
        match text(node, "topology").map_or("FLAT", |text| text.value).to_ascii_uppercase().as_str() {
            "FLAT" => Ok(Topology::Flat),
            "FAT_TREE" => parameters().map(|text| Topology::FatTree(text.value.into(), text.span)),
            "TORUS" => {
                let text = parameters()?;
                let size = |word: &str| word.trim().parse().ok().filter(|size| *size > 0);
                match text.value.split(',').map(size).collect::<Option<Vec<u32>>>() {
                    Some(sizes) => Ok(Topology::Torus(sizes, text.span)),
                    None => {
                        let message = format!("`{}` are not the sizes of a torus", text.value);
                        Err(self.error(text.span, message, "write for instance `8,8,8`"))
                    }
                }
            }
            "DRAGONFLY" => {
                let remedy = "use a fat tree or a torus, or describe hosts and links one by one";
                Err(self.error(tag(node), "the topology DRAGONFLY cannot be converted yet", remedy))
            }
            other => {
                let message = format!("`{other}` is not a topology");
                Err(self.error(tag(node), message, "use FLAT, FAT_TREE or TORUS"))
            }
        }
    }

    /// `0-31,40,42-43`: ranges of host numbers.
    pub(super) fn radical(&mut self, node: Node) -> Result<Vec<(u32, u32)>, Diagnostic> {
        let text = self.required(node, "radical")?;
        let mut ranges = Vec::new();
        for part in text.value.split(',') {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            let range = first.trim().parse::<u32>().ok().zip(last.trim().parse::<u32>().ok());
            let Some((first, last)) = range.filter(|(first, last)| first <= last) else {
                let message = format!("`{part}` is not a range of host numbers");
                return Err(self.error(text.span, message, "write for instance `0-31` or `1,3,5-8`"));
            };
            self.add_hosts(u64::from(last - first) + 1, text.span.clone())?;
            ranges.push((first, last));
        }
        Ok(ranges)
    }
}

const CLUSTER_POLICIES: [(&str, Policy); 4] = [
    ("SPLITDUPLEX", Policy::SplitDuplex),
    ("FULLDUPLEX", Policy::SplitDuplex),
    ("SHARED", Policy::Shared),
    ("FATPIPE", Policy::Fatpipe),
];

const CLUSTER: [&str; 19] = [
    "id",
    "prefix",
    "suffix",
    "radical",
    "speed",
    "power",
    "core",
    "bw",
    "lat",
    "sharing_policy",
    "topology",
    "topo_parameters",
    "bb_bw",
    "bb_lat",
    "bb_sharing_policy",
    "router_id",
    "limiter_link",
    "loopback_bw",
    "loopback_lat",
];
