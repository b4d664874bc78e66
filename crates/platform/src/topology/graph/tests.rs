use super::super::{Damaged, PlaneChoice, Planes};
use super::*;

const SMALL: &str = "
node   n[0-3] gpu                      # compute nodes
switch left right
link   n[0-1] -- left  12.5 GB/s 100 ns
link   n[2-3] -- right 12.5 GB/s 100 ns
link   gpu    -- right 25GB/s   100ns
link   left   -- right 100 Gbit/s 1 us shared
link   fast : n0 -> n3 50 GB/s 50 ns
link   bus  : 10 GB/s 0 s
route  n0 n3 : fast
route  n2 n3 : bus
";

fn graph(text: &str) -> Graph {
    Graph::parse(text).unwrap()
}

fn error(text: &str) -> String {
    Graph::parse(text).unwrap_err().to_string()
}

fn route(graph: &Graph, from: u32, to: u32) -> Vec<String> {
    let mut path = Path::default();
    path.clear();
    graph.route(from, to, &mut path);
    path.links.iter().map(|&id| graph.link_name(id)).collect()
}

#[test]
fn the_example_of_the_documentation() {
    let graph = graph(SMALL);
    assert_eq!((graph.nodes(), graph.switches(), graph.links(), graph.cables()), (5, 2, 13, 8));
    assert_eq!(route(&graph, 1, 4), ["n1 -> left", "left <-> right", "right -> gpu"]);
    assert_eq!(route(&graph, 4, 1), ["gpu -> right", "left <-> right", "left -> n1"]);
    assert_eq!(route(&graph, 0, 3), ["fast"]);
    assert_eq!(route(&graph, 2, 3), ["bus"]);
    assert_eq!(route(&graph, 3, 2), ["n3 -> right", "right -> n2"]);
    assert_eq!(route(&graph, 0, 0), ["n0 -> left", "left -> n0"], "to the switch and back");
    assert_eq!(graph.diameter(), 3);
    assert_eq!(graph.link(4), Link { bandwidth: 12.5e9, latency: 1e-7 });
    assert_eq!(graph.ends(graph.links() - 1), (Vertex::Node(2), Vertex::Node(3)), "the bus");
}

#[test]
fn fewest_links_then_least_latency_then_first_in_the_file() {
    let square = "node a b\nswitch s t u\nlink a -- s 1 GB/s 1 us\nlink a -- t 1 GB/s 1 us\nlink a -- u 1 GB/s 1 us\n";
    let ends = |s: &str, t: &str, u: &str| {
        graph(&format!("{square}link s -- b 1 GB/s {s}\nlink t -- b 1 GB/s {t}\nlink u -- b 1 GB/s {u}"))
    };
    assert_eq!(route(&ends("1 us", "1 us", "1 us"), 0, 1), ["a -> s", "s -> b"]);
    assert_eq!(route(&ends("1 us", "1 us", "1 us"), 1, 0), ["b -> s", "s -> a"]);
    assert_eq!(route(&ends("3 us", "2 us", "2 us"), 0, 1), ["a -> t", "t -> b"]);
    let detour = graph(&format!("{square}link s -- t 1 GB/s 0 s\nlink t -- b 1 GB/s 9 s"));
    assert_eq!(route(&detour, 0, 1), ["a -> t", "t -> b"]);
    assert_eq!(route(&detour, 0, 0), ["a -> s", "s -> a"]);
}

#[test]
fn routes_of_links_without_ends_as_simgrid_gives_them() {
    let text = "node a b c
        link a_up : 10 Gbit/s 24 us
        link a_down : 10 Gbit/s 24 us
        link b : 10 Gbit/s 24 us
        link c : 10 Gbit/s 24 us
        link lo : 5120 MiB/s 1.5 ns
        route a b : a_up b
        route b a : b a_down
        route a c : a_up c
        route c a : c a_down
        route b c : b c
        route c b : c b
        route a a : lo";
    let graph = graph(text);
    assert_eq!(route(&graph, 2, 0), ["c", "a_down"]);
    assert_eq!(route(&graph, 0, 0), ["lo"]);
    assert!(route(&graph, 1, 1).is_empty());
    let network = Vertex::Switch(0);
    assert_eq!(graph.vertex_name(network), "network");
    let ends: Vec<_> = (0..4).map(|id| (graph.ends(id), graph.is_shared(id))).collect();
    let node = Vertex::Node;
    assert_eq!(ends[..2], [((node(0), network), false), ((network, node(0)), false)]);
    assert_eq!(ends[2..], [((node(1), network), true), ((node(2), network), true)]);
    assert_eq!((graph.cables(), graph.diameter()), (3, 2));
}

#[test]
fn prescribed_routes_follow_their_links() {
    let text = "node a b\nswitch s t\nlink x : a -- s 1 GB/s 1 us\nlink y : s -- b 1 GB/s 1 us
        link u : a -- t 1 GB/s 1 us shared\nlink v : t -- b 1 GB/s 1 us\n";
    let graph = graph(&format!("{text}route b a : v u"));
    assert_eq!(route(&graph, 1, 0), ["v: b -> t", "u"]);
    assert_eq!(route(&graph, 0, 1), ["x: a -> s", "y: s -> b"]);
    assert!(error(&format!("{text}route a b : y x")).contains("line 7, column 13: the route is at `a` here"));
    assert!(error(&format!("{text}route a b : x")).contains("ends at `s`, not at `b`"));
    assert!(error(&format!("{text}route a s : x")).contains("`s` is not a node"));
    assert!(error(&format!("{text}route a b : z")).contains("`z` is not the name of a link"));
    assert!(error(&format!("{text}route a b x y")).contains("line 7, column 11: a colon expected"));
    assert!(error(&format!("{text}route a b : x y\nroute a b : x y")).contains("line 8, column 7: there is a route"));
    assert!(error(&format!("{text}link e : 1 GB/s 0 s\nroute a b : e y")).contains("in which direction"));
}

#[test]
fn mistakes_have_a_place_and_a_remedy() {
    assert!(error("").contains("no nodes"));
    assert!(error("nodes a").contains("line 1, column 1: `nodes` begins no line"));
    assert!(error("node a a").contains("line 1, column 8: `a` is declared twice"));
    assert!(error("node a b\nlink a -- c 1 GB/s 1 us").contains("line 2, column 11: `c` is neither"));
    assert!(error("node a b\nlink a -- b 1 1 us").contains("line 2, column 13: "));
    assert!(error("node a b\nlink a -- b 0 GB/s 1 us").contains("greater than 0"));
    assert!(error("node a b\nlink a -- b 1 GB/s -1 us").contains("line 2, column 20: a latency cannot be negative"));
    assert!(error("node a b\nlink a -- b 1 GB/s").contains("line 2, column 19: a latency expected"));
    assert!(error("node a b\nlink a -- b 1 GB/s 1 us share").contains("`share` is too much"));
    assert!(error("node a b\nlink a -> b 1 GB/s 1 us shared").contains("nothing to share"));
    assert!(error("node a b\nlink a b 1 GB/s 1 us").contains("line 2, column 8: `--` or `->` expected"));
    assert!(error("node a b\nlink a -- a 1 GB/s 1 us").contains("with itself"));
    assert!(error("node a[0-2] b[0-1]\nlink a[0-2] -- b[0-1] 1 GB/s 1 us").contains("3 names here, 2 there"));
    assert!(error("node a b\nlink x : 1 GB/s 1 us\nlink a -- b 1 GB/s 1 us").contains("`x` has no ends"));
    assert!(error("node a b").contains("no way from node `b` to node `a`"));
    assert!(error("node a b\nlink a -> b 1 GB/s 1 us").contains("no way from node `b` to node `a`"));
}

#[test]
fn links_may_come_before_what_they_join() {
    assert_eq!(graph("link a -- b 1 GB/s 1 us\nnode a b").links(), 2);
}

mod properties {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// No text makes the reader panic.
        #[test]
        fn survives_any_text(text in "((node|switch|link|route|a|b|\\[0-3\\]|--|->|:|1 GB/s|1 us|shared|#|é)[ \n]?){0,40}") {
            let _ = Graph::parse(&text);
        }

        /// On random graphs, all routes are as short as a search from every node finds, and are connected.
        #[test]
        fn shortest(
            nodes in 1u32..8,
            switches in 1u32..6,
            cables in proptest::collection::vec((any::<u32>(), any::<u32>(), 0u8..3, 1u32..4), 0..20),
        ) {
            let name = |v: u32| if v < nodes { format!("n{v}") } else { format!("s{}", v - nodes) };
            let mut text = format!("node n[0-{}]\nswitch s[0-{}]\n", nodes - 1, switches - 1);
            // A ring of switches with the nodes on it makes it connected.
            for v in 0..nodes {
                text += &format!("link {} -- {} 1 GB/s 1 us\n", name(v), name(nodes + v % switches));
            }
            for s in 1..switches {
                text += &format!("link {} -- {} 1 GB/s 1 us\n", name(nodes + s - 1), name(nodes + s));
            }
            for (a, b, kind, latency) in cables {
                let (a, b) = (a % (nodes + switches), b % (nodes + switches));
                if a != b {
                    let (arrow, shared) = [("--", ""), ("--", "shared"), ("->", "")][kind as usize];
                    text += &format!("link {} {arrow} {} 1 GB/s {latency} us {shared}\n", name(a), name(b));
                }
            }
            let graph = graph(&text);
            crate::topology::properties::check_routes(&graph, true)?;
        }
    }
}

#[test]
fn unshared_links_limit_without_being_crossed() {
    let graph = graph(
        "node a b\nlink a -- b 5 GB/s 1 us\nlink memory : 2 GB/s 3 us unshared\nroute a a : memory\nroute a b : memory",
    );
    let mut path = Path::default();
    path.clear();
    graph.route(0, 1, &mut path);
    assert_eq!((path.links.len(), path.bandwidth, path.latency), (0, 2e9, 3e-6));
    assert_eq!(route(&graph, 1, 0).len(), 1);
    assert!(error("node a b\nlink a -- b 5 GB/s 1 us shared unshared").contains("`unshared` is too much"));
}

/// A way over `t0`, and a slower one over `t1`; in the middle no two messages share a link.
const UNSHARED: &str = "
node a b
switch s0 s1 t0 t1
link a -- s0 12.5 GB/s 100 ns
link b -- s1 12.5 GB/s 100 ns
link s0 -- t0 12.5 GB/s 100 ns unshared
link t0 -- s1 12.5 GB/s 100 ns unshared
link s0 -- t1 12.5 GB/s 10 us unshared
link t1 -- s1 12.5 GB/s 10 us unshared
";

fn damaged(text: &str, name: &str) -> Damaged {
    let whole = graph(text);
    let nodes = whole.nodes();
    Damaged::new(Box::new(whole), &[name.to_string()], nodes).unwrap()
}

/// The latency of a way in nanoseconds, the links that others may cross, and those that nobody shares.
fn way(topology: &dyn Topology, from: u32, to: u32) -> (f64, Vec<LinkId>, Vec<LinkId>) {
    let mut path = Path::default();
    path.clear();
    topology.route(from, to, &mut path);
    ((path.latency * 1e9).round(), path.links, path.unshared)
}

#[test]
fn unshared_links_fail_like_others() {
    assert_eq!(way(&graph(UNSHARED), 0, 1), (400.0, vec![0, 3], vec![4, 6]));
    for name in ["t0", "s0 -> t0", "t0 -> s1"] {
        assert_eq!(way(&damaged(UNSHARED, name), 0, 1), (20_200.0, vec![0, 3], vec![8, 10]), "{name}");
    }
}

/// What messages do not share they do not share either where they had to look for another way.
#[test]
fn unshared_links_stay_unshared_on_the_way_around() {
    let text = "
node a b c d
switch s0 s1 t0
link a -- s0 12.5 GB/s 100 ns
link b -- s0 12.5 GB/s 100 ns
link c -- s1 12.5 GB/s 100 ns
link d -- s1 12.5 GB/s 100 ns
link s0 -- s1 100 GB/s 100 ns
link s0 -- t0 12.5 GB/s 100 ns unshared
link t0 -- s1 12.5 GB/s 100 ns unshared
";
    let (latency, links, unshared) = way(&damaged(text, "s0 -> s1"), 0, 2);
    assert_eq!((latency, links.len(), unshared.len()), (400.0, 2, 2));
    let planes = Planes::new(Box::new(damaged(text, "s0 -> s1")), 2, PlaneChoice::Destination).unwrap();
    let (_, links, unshared) = way(&planes, 0, 2);
    assert!(links.iter().chain(&unshared).all(|&id| id >= planes.links() / 2), "all in the second plane");
}

#[test]
fn a_failure_elsewhere_cuts_nothing_where_nodes_pass_messages_on() {
    let text = "
node a b r
switch s0 s1 s2
link a -- s0 12.5 GB/s 100 ns
link b -- s1 12.5 GB/s 100 ns
link r -- s0 12.5 GB/s 100 ns
link r -- s1 12.5 GB/s 100 ns
link r -- s2 12.5 GB/s 100 ns
";
    assert_eq!(way(&damaged(text, "s2"), 0, 1), way(&graph(text), 0, 1));
    let cut = Damaged::new(Box::new(graph(text)), &["s1".to_string()], 3).unwrap_err();
    assert!(cut.to_string().contains("`b` is one of them"), "{cut}");
}

/// Detours make sense where there are circles.
#[test]
fn trees_have_no_detours() {
    let choice = |links: &str| graph(&format!("node a b\nswitch s t\nlink a -- s 1 GB/s 1 us\n{links}")).choice();
    assert_eq!(choice("link s -- t 1 GB/s 1 us\nlink t -- b 1 GB/s 1 us"), Choice::Shortest);
    assert_eq!(choice("link s -- t 1 GB/s 1 us\nlink s -- t 1 GB/s 1 us\nlink t -- b 1 GB/s 1 us"), Choice::Shortest);
    assert_eq!(choice("link s -- t 1 GB/s 1 us\nlink t -- b 1 GB/s 1 us\nlink s -- b 1 GB/s 1 us"), Choice::Detours);
}
