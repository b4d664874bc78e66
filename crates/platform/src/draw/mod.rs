//! Pictures of a network: its structure, or the load of its links, as one self-contained SVG file.
//!
//! What a picture leaves out for lack of room it says: gaps carry counts, and the legend names what is not drawn.

mod canvas;
mod colour;
mod cube;
mod force;
mod free;
mod grid;
mod groups;
mod levels;
mod paint;
mod slots;
mod stages;
mod star;

pub use colour::of_load as colour_of_load;

use std::collections::BTreeMap;
use std::fmt::Write;

use hpcast_units::{Bandwidth, Seconds, count};

use crate::topology::{Structure, Topology};
pub use canvas::escape;
use canvas::{Canvas, Point, Style, text_width};
use paint::Paint;

/// Small text in the middle of what it belongs to.
const LABEL: Style = Style { anchor: "middle", size: 12.0, colour: colour::MUTED, bold: false };
const FACT_NAME: Style = Style { anchor: "start", size: 11.0, colour: colour::MUTED, bold: false };
const FACT: Style = Style { anchor: "start", size: 15.0, colour: colour::INK, bold: true };
const NOTE: Style = Style { anchor: "start", size: 12.0, colour: colour::MUTED, bold: false };

/// Room around everything.
const MARGIN: f64 = 36.0;
/// Kinds of links that the legend lists.
const KINDS: usize = 4;
/// The legend needs this much.
const LEAST_WIDTH: f64 = 700.0;

/// A drawing and what must be said about it.
struct Picture {
    canvas: Canvas,
    width: f64,
    height: f64,
    notes: Vec<String>,
}

/// Draws a network under a title. `load` is the share of its capacity that each link carried (0 to 1, by link id): then
/// colours show it; links that are missing at the end of the list carried nothing.
pub fn svg(topology: &dyn Topology, title: &str, load: Option<&[f64]>) -> String {
    let (shown, planes) = topology.plane().unwrap_or((topology, 1));
    let highest = load.filter(|_| planes > 1).map(|load| highest_of_planes(load, shown.links()));
    let mut paint = Paint::new(failed_in_any(topology, planes), highest.as_deref().or(load));
    let mut picture = match shown.structure() {
        Structure::Star { backbone } => star::draw(shown, backbone, &mut paint),
        Structure::Levels(shape) => levels::draw(shown, &shape, &mut paint),
        Structure::Grid { dims, wrap } => grid::draw(shown, &dims, wrap, &mut paint),
        Structure::Cube { dimension } => cube::draw(shown, dimension, &mut paint),
        Structure::Groups { size, inner } => groups::draw(shown, size, inner, &mut paint),
        Structure::Stages(stages) => stages::draw(shown, &stages, &mut paint),
        Structure::Free => free::draw(shown, &mut paint),
    };
    if planes > 1 {
        let load = if paint.shows_load() { ", with the highest load of all" } else { "" };
        picture.notes.push(format!("One of {planes} equal planes is drawn{load}."));
    }
    if paint.failed() > 0 {
        let (failed, links) = (count(paint.failed() as u64), count(shown.links() as u64));
        let place = if planes > 1 { ", in one plane or another" } else { "" };
        picture.notes.push(format!("Dashed in red: {failed} of {links} links have failed or are missing{place}."));
    }
    let (hidden, highest) = paint.hidden();
    if hidden > 0 {
        let load = if paint.shows_load() {
            format!("; the highest load among them is {}", percent(highest))
        } else {
            String::new()
        };
        picture.notes.push(format!(
            "{} of {} links are not drawn{load}.",
            count(hidden as u64),
            count(shown.links() as u64)
        ));
    }

    let mut page = Canvas::default();
    page.text((MARGIN, MARGIN + 16.0), Style { anchor: "start", size: 22.0, colour: colour::INK, bold: true }, title);
    page.text((MARGIN, MARGIN + 38.0), Style { size: 14.0, ..NOTE }, &topology.describe());
    let width = picture.width.max(LEAST_WIDTH).max(text_width(title, 22.0)) + 2.0 * MARGIN;
    let top = MARGIN + 64.0;
    page.place(((width - picture.width) / 2.0, top), picture.canvas);
    let mut y = top + picture.height + 30.0;
    page.lines(&[((MARGIN, y), (width - MARGIN, y))], colour::MORE, 1.0, 0.6);
    y += 24.0;
    y = facts(topology, &mut page, (MARGIN, y));
    if paint.shows_load() {
        y = scale(shown, &paint, &mut page, (MARGIN, y));
    }
    for note in &picture.notes {
        y += 18.0;
        page.text((MARGIN, y), NOTE, note);
    }
    let height = y + MARGIN;

    let (width, height) = (width.ceil(), height.ceil());
    let mut svg = String::new();
    let _ = writeln!(
        svg,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" role=\"img\" fill=\"none\" stroke-linecap=\"round\" \
         font-family=\"'Helvetica Neue', Arial, 'DejaVu Sans', sans-serif\">"
    );
    let _ = writeln!(svg, "<title>{}</title>", escape(title));
    let _ = writeln!(svg, "<desc>{}</desc>", escape(&topology.describe()));
    let _ = writeln!(svg, "<rect width=\"{width}\" height=\"{height}\" fill=\"#fff\"/>");
    svg += &page.into_svg();
    svg += "</svg>\n";
    svg
}

/// For each link of a plane whether one of its copies has failed or is missing.
fn failed_in_any(topology: &dyn Topology, planes: u32) -> Vec<bool> {
    let links = topology.links() / planes;
    let is_lost = |id: u32| topology.is_failed(id) || topology.is_missing(id);
    (0..links).map(|id| (0..planes).any(|plane| is_lost(plane * links + id))).collect()
}

/// For each link of a plane the highest load that its copies have.
fn highest_of_planes(load: &[f64], links: u32) -> Vec<f64> {
    let mut highest = vec![0.0f64; links as usize];
    for (id, &load) in load.iter().enumerate() {
        let place = &mut highest[id % links as usize];
        *place = place.max(load);
    }
    highest
}

/// Writes figures of the network; gives where the next line may be.
fn facts(topology: &dyn Topology, page: &mut Canvas, (left, y): Point) -> f64 {
    let bisection = Bandwidth::new(topology.bisection_bandwidth()).human();
    let bisection = if topology.bisection_is_exact() { bisection } else { format!("at most {bisection}") };
    let diameter = topology.diameter();
    let mut facts = vec![("nodes", count(topology.nodes() as u64))];
    if topology.switches() > 0 {
        facts.push(("switches", count((topology.switches() - topology.missing_switches()) as u64)));
    }
    facts.push(("cables", count(topology.cables())));
    facts.push(("diameter", format!("{diameter} link{}", if diameter == 1 { "" } else { "s" })));
    facts.push(("bisection, one direction", bisection));
    let mut x = left;
    for (name, fact) in &facts {
        page.text((x, y), FACT_NAME, name);
        page.text((x, y + 20.0), FACT, fact);
        x += text_width(name, 11.0).max(text_width(fact, 16.0)) + 34.0;
    }
    let mut y = y + 44.0;
    for kind in kinds(topology) {
        page.text((left, y), NOTE, &kind);
        y += 18.0;
    }
    y
}

/// The kinds of links that there are, the most frequent first.
fn kinds(topology: &dyn Topology) -> Vec<String> {
    let mut kinds: BTreeMap<(u64, u64, bool), (u64, u32)> = BTreeMap::new();
    for id in (0..topology.links()).filter(|&id| !topology.is_missing(id)) {
        let link = topology.link(id);
        let key = (link.bandwidth.to_bits(), link.latency.to_bits(), topology.is_shared(id));
        kinds.entry(key).or_insert((0, id)).0 += 1;
    }
    let mut kinds: Vec<_> = kinds.into_iter().collect();
    kinds.sort_by_key(|&(_, (links, first))| (std::cmp::Reverse(links), first));
    let describe = |&((bandwidth, latency, shared), (links, _)): &((u64, u64, bool), (u64, u32))| {
        let (bandwidth, latency) = (f64::from_bits(bandwidth), f64::from_bits(latency));
        let way = match shared {
            true => "one for both directions",
            false if matches!(topology.structure(), Structure::Stages(_)) => "one way",
            false => "one for each direction",
        };
        let plural = if links == 1 { "" } else { "s" };
        let (bandwidth, latency) = (Bandwidth::new(bandwidth).human(), Seconds::new(latency).human());
        format!("{} link{plural} of {bandwidth}, {latency} ({way})", count(links))
    };
    let mut lines: Vec<String> = kinds.iter().take(KINDS).map(describe).collect();
    if kinds.len() > KINDS {
        lines.push(format!("and {} more kinds of links", kinds.len() - KINDS));
    }
    lines
}

/// Draws the colour scale; gives where the next line may be.
fn scale(topology: &dyn Topology, paint: &Paint, page: &mut Canvas, (left, y): Point) -> f64 {
    const WIDTH: f64 = 300.0;
    page.text((left, y + 6.0), FACT_NAME, "load of a cable in its busier direction, share of its bandwidth");
    let colours: Vec<String> = (0..=20).map(|step| colour::of_load(step as f64 / 20.0)).collect();
    page.gradient((left, y + 16.0), (WIDTH, 12.0), &colours);
    for (quarter, anchor) in (0..).zip(["start", "middle", "middle", "middle", "end"]) {
        let share = quarter as f64 / 4.0;
        page.text((left + share * WIDTH, y + 44.0), Style { anchor, size: 11.0, ..LABEL }, &percent(share));
    }
    if let Some((link, load)) = paint.busiest() {
        let text = format!("busiest: {}, {}", topology.link_name(link), percent(load));
        page.text((left + WIDTH + 34.0, y + 27.0), Style { size: 13.0, colour: colour::INK, ..NOTE }, &text);
    }
    y + 54.0
}

fn percent(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}

#[cfg(test)]
mod tests;
