use std::path::{Path, PathBuf};

use proptest::prelude::*;

use super::*;
use crate::interconnect::{Interconnect, Loopback};
use crate::machine::{FactorMeaning, MachineFile, Wiring};
use crate::protocol::PollGrowth;
use crate::topology::{Duplex, Link};

fn read(text: &str) -> Result<Import, Diagnostics> {
    import(&Source::new("test.xml", text), Release::V3_32)
}

fn platform(inside: &str) -> Import {
    read(&format!("<platform version=\"4.1\">{inside}</platform>")).unwrap_or_else(|error| panic!("{error}"))
}

/// The first error: its message, line and column.
fn error(text: &str) -> (String, (usize, usize)) {
    let errors = read(text).err().unwrap_or_else(|| panic!("no error in {text}"));
    let first = errors.iter().next().expect("an error");
    assert!(!first.remedy.is_empty(), "{first:?}");
    (first.message.clone(), first.position().unwrap_or((0, 0)))
}

fn cluster(attributes: &str) -> Import {
    let defaults = [
        ("id", "c"),
        ("prefix", "n"),
        ("suffix", ""),
        ("radical", "0-3"),
        ("speed", "1Gf"),
        ("bw", "1GBps"),
        ("lat", "1us"),
    ];
    let attributes = format!(" {attributes}");
    let missing = defaults.iter().filter(|(key, _)| !attributes.contains(&format!(" {key}=")));
    let rest: String = missing.map(|(key, value)| format!(" {key}=\"{value}\"")).collect();
    platform(&format!("<cluster{attributes}{rest}/>"))
}

fn warnings(import: &Import) -> Vec<String> {
    import.warnings.iter().map(|warning| warning.message.clone()).collect()
}

fn interconnect(import: &Import) -> Interconnect {
    import.machine.build().unwrap_or_else(|error| panic!("{error}")).interconnect
}

/// Latency, narrowest bandwidth and names of the links from one node to another.
fn path(interconnect: &Interconnect, from: u32, to: u32) -> (f64, f64, Vec<String>) {
    let mut path = crate::Path::default();
    interconnect.path(from, to, &mut path);
    let names = path.links.iter().map(|link| interconnect.link_name(*link)).collect();
    ((path.latency * 1e9).round() / 1e9, path.bandwidth, names)
}

fn golden_platforms() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/simgrid/platforms");
    let mut files: Vec<_> =
        std::fs::read_dir(folder).expect("platforms").map(|entry| entry.expect("file").path()).collect();
    files.sort();
    files
}

#[test]
fn golden_platforms_become_machines_that_read_back() {
    let files = golden_platforms();
    assert!(files.len() >= 15);
    for file in files {
        for release in [Release::V3_32, Release::Y2018] {
            let source = Source::read(&file).unwrap();
            let imported = import(&source, release).unwrap_or_else(|error| panic!("{error}"));
            assert!(imported.machine.check().is_empty(), "{}: {:?}", file.display(), imported.machine.check());
            imported.machine.build().unwrap();
            let toml = imported.machine.to_toml([]);
            let mut again = MachineFile::parse(&Source::new("machine.toml", toml), Path::new("")).unwrap();
            again.assumed.clear();
            assert_eq!(again, imported.machine, "{}", file.display());
        }
    }
}

#[test]
fn a_cluster_of_an_old_file() {
    let imported = read(
        r#"<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "http://simgrid.gforge.inria.fr/simgrid.dtd">
<platform version="3">
<!-- a comment -->
<config id="General">
 <prop id="smpi/os" value="0:2e-06:3e-10;1420:4e-6:1e-10;4e+05:0:0"/>
 <prop id="smpi/async-small-thres" value="65536"/>
 <prop id="smpi/send-is-detached-thres" value="320000"/>
 <prop id="smpi/wtime" value="3e-08"/>
</config>
<AS id="AS0" routing="Full">
  <cluster id="acme" prefix="node-" suffix=".acme.org" radical="0-9,20,30-39" power="1Gf" bw="40GBps" lat="10us"
           bb_bw="100GBps" bb_lat="100us" core="2"><prop id="watt_off" value="10"/></cluster>
</AS>
</platform>"#,
    )
    .unwrap();
    let MachineFile { nodes, network, mpi, sharing, name, .. } = &imported.machine;
    assert_eq!((name.as_str(), nodes.count, nodes.cores(), nodes.flops.map(|f| f.get())), ("test", 21, 2, Some(2e9)));
    let backbone = Some(Link { bandwidth: 100e9, latency: 100e-6 });
    assert_eq!(network.wiring, Wiring::Crossbar { link: Link { bandwidth: 40e9, latency: 10e-6 }, backbone });
    assert_eq!((network.duplex, network.loopback, network.limiter), (Duplex::Split, Loopback::ThroughNetwork, None));
    assert_eq!((mpi.eager_below, mpi.detached_below, mpi.envelope), (65_536, 320_000, 16));
    assert_eq!(mpi.between.send.at(1421), Some(4e-6 + 1e-10 * 1421.0));
    assert_eq!(mpi.between.send.at(400_001), Some(0.0));
    assert_eq!((mpi.probe, mpi.test, mpi.poll_growth), (1e-4, 1e-4, PollGrowth::Global));
    assert_eq!((sharing.cross_traffic, sharing.weight_s, sharing.window), (0.05, Some(8775.0), Some(4_194_304.0)));
    assert_eq!(sharing.factor, FactorMeaning::Share);
    assert_eq!(
        warnings(&imported),
        [
            "the threshold `4e+05` of smpi/os is taken as 400000 bytes",
            "the setting `smpi/wtime` = `3e-08` is not converted",
            "the property `watt_off` of a <cluster> is not converted",
        ]
    );
}

#[test]
fn factors_that_simgrid_assumes() {
    let protocol = cluster("core=\"1\"").machine.mpi.between;
    assert_eq!(protocol.bandwidth_factor.at(16), Some(0.812084));
    assert_eq!(protocol.bandwidth_factor.at(257), Some(0.812084));
    assert_eq!(protocol.bandwidth_factor.at(258), Some(0.338112));
    assert_eq!(protocol.latency_factor.at(65_473), Some(11.6436));
    assert_eq!(protocol.send.at(100), None);
}

#[test]
fn a_factor_is_one_below_its_first_threshold() {
    let settings = r#"<config id=""><prop id="smpi/lat-factor" value="100:2"/><prop id="network/crosstraffic" value="off"/>
        <prop id="smpi/loopback-bw-factor" value="0:0.5"/><prop id="smpi/grow-injected-times" value="no"/></config>"#;
    let cluster = r#"<cluster id="c" prefix="" suffix="" radical="0-1" speed="1f" bw="1Gbps" lat="0"/>"#;
    let text = format!("<platform version=\"4\">{settings}{cluster}</platform>");
    let machine = import(&Source::new("f", text), Release::Y2018).unwrap().machine;
    assert_eq!(
        (machine.mpi.between.latency_factor.at(100), machine.mpi.between.latency_factor.at(101)),
        (Some(1.0), Some(2.0))
    );
    assert_eq!(machine.mpi.inside.bandwidth_factor.at(5), Some(0.5));
    assert_eq!(machine.mpi.between.bandwidth_factor.at(5), Some(0.812084));
    assert_eq!((machine.mpi.envelope, machine.mpi.poll_growth), (0, PollGrowth::Off));
    assert_eq!((machine.sharing.factor, machine.sharing.cross_traffic), (FactorMeaning::Bound, 0.0));
    assert_eq!(machine.nodes.flops, None);
}

#[test]
fn topologies_of_clusters() {
    let tree = cluster(r#"radical="0-15" topology="FAT_TREE" topo_parameters="2;4,4;1,2;1,2" sharing_policy="SHARED""#);
    assert!(matches!(&tree.machine.network.wiring, Wiring::FatTree { shape, levels, .. }
        if shape.to_string() == "2;4,4;1,2;1,2" && levels.len() == 2));
    assert_eq!(tree.machine.network.duplex, Duplex::Shared);

    let torus = cluster(r#"radical="0-23" topology="TORUS" topo_parameters="4,3,2" limiter_link="2GBps""#);
    let inside = Loopback::Unshared(Link { bandwidth: 10e9, latency: 0.0 });
    assert_eq!((torus.machine.network.loopback, torus.machine.network.limiter), (inside, Some(2e9)));
    assert_eq!(torus.warnings.iter().count(), 2);

    let loopback = cluster(r#"loopback_bw="5GBps" loopback_lat="" sharing_policy="FATPIPE""#);
    assert_eq!(loopback.machine.network.loopback, Loopback::Unshared(Link { bandwidth: 5e9, latency: 0.0 }));
    assert_eq!(loopback.machine.network.duplex, Duplex::Shared);
    assert_eq!(loopback.warnings.iter().count(), 1);

    let wide = cluster(r#"bb_bw="10GBps" bb_lat="4us" bb_sharing_policy="FATPIPE""#);
    let link = Link { bandwidth: 1e9, latency: 3e-6 };
    assert_eq!(wide.machine.network.wiring, Wiring::Crossbar { link, backbone: None });
}

#[test]
fn a_narrow_unshared_backbone_becomes_a_graph() {
    let narrow = cluster(r#"bb_bw="500MBps" bb_lat="4us" bb_sharing_policy="FATPIPE" limiter_link="3GBps""#);
    let interconnect = interconnect(&narrow);
    let (latency, bandwidth, links) = path(&interconnect, 0, 2);
    assert_eq!((latency, bandwidth), (6e-6, 500e6));
    assert_eq!(links, ["c_link_0_limiter", "c_link_0_UP", "c_link_2_DOWN", "c_link_2_limiter"]);
    assert_eq!(path(&interconnect, 1, 1).2, ["c_link_1_limiter", "c_link_1_UP", "c_link_1_DOWN"]);
}

const STAR: &str = r#"
    <host id="a" speed="1Gf" core="2"/><host id="b" speed="2Gf" core="2"/><host id="c" speed="1Gf" core="4"/>
    <router id="r"/><router id="s"/>
    <link id="ra" bandwidth="1GBps" latency="1us" sharing_policy="SPLITDUPLEX"/>
    <link id="rs" bandwidth="2GBps" latency="2us" sharing_policy="FATPIPE"/>
    <link id="sb" bandwidth="3GBps" latency="4us"/>
    <link id="sc" bandwidth="4GBps" latency="8us"/>
    <route src="a" dst="r"><link_ctn id="ra" direction="UP"/></route>
    <route src="r" dst="s"><link_ctn id="rs"/></route>
    <route src="s" dst="b"><link_ctn id="sb"/></route>
    <route src="s" dst="c"><link_ctn id="sc"/></route>"#;

#[test]
fn shortest_paths_over_routers() {
    for routing in ["Floyd", "Dijkstra", "DijkstraCache"] {
        let imported = platform(&format!("<zone id=\"z\" routing=\"{routing}\">{STAR}</zone>"));
        let interconnect = interconnect(&imported);
        assert_eq!(path(&interconnect, 0, 1), (7e-6, 1e9, vec!["ra_UP".into(), "sb".into()]));
        assert_eq!(path(&interconnect, 2, 0), (11e-6, 1e9, vec!["sc".into(), "ra_DOWN".into()]));
        assert_eq!(path(&interconnect, 1, 1), (0.0, 10e9, vec![]));
        assert_eq!(imported.machine.nodes.cores(), 2);
        assert_eq!(imported.warnings.iter().count(), 2, "cores and speeds differ");
    }
}

#[test]
fn full_routing_with_ways_of_hosts_to_themselves() {
    let imported = platform(
        r#"<AS id="z" routing="Full">
        <host id="a" speed="1Gf"/><host id="b b" speed="1Gf"/>
        <link id="la" bandwidth="5GBps" latency="1ns"/><link id="lb" bandwidth="6GBps"/><link id="ab" bandwidth="1GBps"/>
        <route src="a" dst="a"><link_ctn id="la"/></route>
        <route src="b b" dst="b b" symmetrical="NO"><link_ctn id="lb"/></route>
        <route src="a" dst="b b"><link_ctn id="la"/><link_ctn id="ab"/></route></AS>"#,
    );
    let interconnect = interconnect(&imported);
    assert_eq!(interconnect.loopback(), Loopback::ThroughNetwork);
    assert_eq!(path(&interconnect, 0, 0).2, ["la"]);
    assert_eq!(path(&interconnect, 1, 1).1, 6e9);
    assert_eq!(path(&interconnect, 1, 0).2, ["ab", "la"]);
    let files = imported.files("out/machine.toml");
    assert_eq!(
        files.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(),
        ["out/machine.toml", "out/machine.graph"]
    );
    assert!(files[0].1.contains("file = \"machine.graph\"") && files[1].1.contains("node b_b"));
}

#[test]
fn zones_within_zones() {
    let imported = platform(
        r#"<zone id="world" routing="Floyd">
        <cluster id="l" prefix="l" suffix="" radical="0-1" speed="1Gf" bw="1GBps" lat="1us" router_id="gate"/>
        <zone id="m" routing="Full"><zone id="n" routing="Cluster">
          <host id="h" speed="1Gf"/><link id="u" bandwidth="1GBps" latency="10us"/><link id="d" bandwidth="1GBps" latency="20us"/>
          <host_link id="h" up="u" down="d"/><router id="edge"/>
          <cabinet id="k" prefix="k" suffix="" radical="7" speed="1Gf" bw="1GBps" lat="5us"/>
          <backbone id="bb" bandwidth="9GBps" latency="100us"/>
        </zone></zone>
        <cluster id="r" prefix="r" suffix="" radical="0" speed="1Gf" bw="1GBps" lat="2us" bb_bw="5GBps" bb_lat="50us"/>
        <link id="lm" bandwidth="1GBps" latency="1ms"/><link id="mr" bandwidth="1GBps" latency="2ms"/>
        <zoneRoute src="l" dst="m" gw_src="gate" gw_dst="edge"><link_ctn id="lm"/></zoneRoute>
        <ASroute src="m" dst="r" gw_src="h" gw_dst="rr_router"><link_ctn id="mr"/></ASroute></zone>"#,
    );
    let interconnect = interconnect(&imported);
    assert_eq!(path(&interconnect, 0, 2).2, ["l_link_0_UP", "lm", "bb", "d"]);
    assert_eq!(path(&interconnect, 3, 2).2, ["link_k7_UP", "bb", "d"]);
    // Between the gateways of m the way leads through m: from its edge to h.
    assert_eq!(path(&interconnect, 1, 4).2, ["l_link_1_UP", "lm", "bb", "d", "mr", "r_backbone", "r_link_0_DOWN"]);
    assert_eq!(path(&interconnect, 4, 1).2, ["r_link_0_UP", "r_backbone", "mr", "u", "bb", "lm", "l_link_1_DOWN"]);
}

#[test]
fn mistakes_are_shown_where_they_are() {
    let good = r#"<cluster id="c" prefix="n" suffix="" radical="0-3" speed="1Gf" bw="1GBps" lat="1us"/>"#;
    let wrong = |from: &str, to: &str| {
        assert!(good.contains(from));
        error(&format!("<platform version=\"4.1\">\n{}\n</platform>", good.replace(from, to)))
    };
    assert_eq!(wrong("lat=\"1us\"", "lat=\"-1us\""), ("`-1us` is negative".into(), (2, 80)));
    assert_eq!(wrong("lat=\"1us\"", ""), ("<cluster> lacks the attribute `lat`".into(), (2, 1)));
    assert_eq!(wrong("lat=", "latt="), ("<cluster> has no attribute `latt`".into(), (2, 75)));
    assert!(wrong("1GBps", "1KBps").0.contains("`KBps` is not a unit"));
    assert!(wrong("1GBps", "0Bps").0.contains("a bandwidth of 0"));
    assert!(wrong("0-3", "3-0").0.contains("`3-0` is not a range"));
    assert!(wrong("0-3", "0-4294967295").0.contains("more than 16777216 hosts"));
    assert!(wrong("0-3", "0-16777215,1").0.contains("more than 16777216 hosts"));
    assert!(wrong("/>", " topology=\"DRAGONFLY\" topo_parameters=\"1\"/>").0.contains("DRAGONFLY"));
    assert!(wrong("/>", " topology=\"FAT_TREE\" topo_parameters=\"1;5;1;1\"/>").0.contains("room for 5 hosts"));
    assert!(wrong("/>", " topology=\"TORUS\" topo_parameters=\"2,x\"/>").0.contains("sizes of a torus"));
    assert!(wrong("/>", "/><cluster id=\"d\"/>").0.contains("lacks the attribute"));
    assert!(wrong(good, &format!("{good}{good}")).0.contains("a second zone"));
    assert!(wrong(good, "").0.contains("no hosts"));
    assert!(wrong("cluster", "clutter").0.contains("<clutter> is not an element"));
    assert!(wrong(good, "<peer id=\"p\"/>").0.contains("<peer> cannot be converted"));
    assert!(wrong(good, "<zone id=\"z\" routing=\"Vivaldi\"/>").0.contains("routing `Vivaldi`"));
    assert_eq!(error("<platform version=\"4.2\"/>").0, "version 4.2 of platform files cannot be read");
    assert!(error("<html/>").0.contains("not a SimGrid platform file"));
    assert_eq!(error("<platform version=\"4\">\n<zone>\n</platform>").1.0, 3);
    assert!(error("<!DOCTYPE p [<!ENTITY a \"b\">]><platform version=\"4\"/>").0.contains("entities"));
    let deep = format!("<platform version=\"4\">{}", "<zone id=\"z\" routing=\"Full\">".repeat(100_000));
    assert!(error(&format!("{deep}{}</platform>", "</zone>".repeat(100_000))).0.contains("nested more than 64 deep"));
    let two =
        |settings: &str| error(&format!("<platform version=\"4\"><config>{settings}</config>{good}</platform>")).0;
    assert!(two(r#"<prop id="smpi/os" value="x:1"/>"#).contains("not a value of smpi/os"));
    assert!(two(r#"<prop id="smpi/bw-factor" value="0:0"/>"#).contains("not a value of smpi/bw-factor"));
    assert!(two(r#"<prop id="smpi/async-small-thresh" value="100000"/>"#).contains("stop to be detached"));
    assert!(
        two(r#"<prop id="network/crosstraffic" value="perhaps"/>"#).contains("not a value of network/crosstraffic")
    );
}

#[test]
fn mistakes_in_routes() {
    let wrong = |from: &str, to: &str| {
        assert!(STAR.contains(from), "{from}");
        error(&format!(
            "<platform version=\"4\"><zone id=\"z\" routing=\"Floyd\">{}</zone></platform>",
            STAR.replace(from, to)
        ))
        .0
    };
    assert!(wrong(" direction=\"UP\"", "").contains("in which direction"));
    assert!(wrong("<link_ctn id=\"sb\"/>", "<link_ctn id=\"sd\"/>").contains("no link `sd`"));
    assert!(wrong("<link_ctn id=\"sb\"/>", "").contains("a route without links"));
    assert!(wrong("src=\"s\" dst=\"b\"", "src=\"s\" dst=\"q\"").contains("no host, router or zone `q`"));
    assert!(wrong("src=\"s\" dst=\"b\"", "src=\"s\" dst=\"z\"").contains("`z` is not directly inside"));
    assert!(wrong("src=\"s\" dst=\"b\"", "src=\"s\" dst=\"c\"").contains("a second route"));
    assert!(wrong("<route src=\"s\" dst=\"b\"><link_ctn id=\"sb\"/></route>", "").contains("no route from `a` to `b`"));
    assert!(wrong("<router id=\"r\"/>", "<router id=\"a\"/>").contains("called `a`"));
    assert!(wrong("<link id=\"sb\"", "<link id=\"sc\"").contains("two links called `sc`"));
}

#[test]
fn releases_have_names() {
    for name in ["3.32", "2018"] {
        assert_eq!(name.parse::<Release>().unwrap().to_string(), name);
    }
    assert!("3.4".parse::<Release>().is_err());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Whatever was done to a good file, it is read or refused, and what is read makes sense.
    #[test]
    fn damaged_files_never_panic(
        which in 0usize..3,
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), 0u8..4), 1..6),
    ) {
        let star = format!("<platform version=\"4\"><zone id=\"z\" routing=\"Dijkstra\">{STAR}</zone></platform>");
        let texts = [star.as_str(), include_str!("../../../../../tests/simgrid/platforms/two-clusters.xml"),
            include_str!("../../../../../tests/simgrid/platforms/fat-tree-3-levels.xml")];
        let mut bytes = texts[which].as_bytes().to_vec();
        for (at, other, kind) in changes {
            let (at, other) = (at.index(bytes.len()), other.index(bytes.len()));
            match kind {
                0 => bytes[at] = bytes[other],
                1 => bytes[at] = b"09-.,:;<>/\"&eE "[other % 15],
                2 => drop(bytes.drain(at..(at + other % 40).min(bytes.len() - 1))),
                _ => { let piece = bytes[other..(other + 60).min(bytes.len())].to_vec(); bytes.splice(at..at, piece); }
            }
        }
        if let Ok(imported) = read(&String::from_utf8_lossy(&bytes))
            && imported.machine.check().is_empty()
        {
            imported.machine.build().unwrap();
        }
    }
}
