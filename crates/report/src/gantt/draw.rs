//! Draws a Gantt chart: a lane a rank, colours by activity, arrows for messages, a time axis.

use hpcast_mpi::{Activity, Delivered};
use hpcast_units::{Bytes, count};

use super::{GanttRecorder, Interval};
use crate::plot::Quantity;
use crate::scale::Scale;
use crate::svg::{Element, text_width, wrap};
use crate::totals::seconds;

const WIDTH: f64 = 1000.0;
const MARGIN: f64 = 16.0;
const TITLE: f64 = 16.0;
const SMALL: f64 = 12.0;
/// More arrows hide what is below them.
const MOST_ARROWS: usize = 300;

/// Told apart by people with any kind of colour vision, and in grey: waiting is pale because nothing happens.
fn colour(activity: Activity) -> &'static str {
    match activity {
        Activity::Compute => "#3b7db8",
        Activity::Send => "#e08a00",
        Activity::Receive => "#1f9e77",
        Activity::Wait => "#dedede",
    }
}

/// Where things are on the page.
struct Layout {
    left: f64,
    right: f64,
    top: f64,
    lane: f64,
    time: Scale,
}

impl Layout {
    fn x(&self, seconds: f64) -> f64 {
        self.left + self.time.position(seconds).unwrap_or(0.0) * (self.right - self.left)
    }

    /// Top of a rank's lane.
    fn y(&self, rank: u32) -> f64 {
        self.top + f64::from(rank) * self.lane
    }
}

/// The chart as an SVG file. Intervals and messages say what they are when the mouse is over them.
pub fn svg(recording: &GanttRecorder, title: &str) -> String {
    let ranks = recording.ranks;
    let end = seconds(recording.end());
    let heading = wrap(title, TITLE, WIDTH - 2.0 * MARGIN);
    let lane = (720.0 / f64::from(ranks.max(1))).clamp(12.0, 30.0);
    let label_size = SMALL.min(0.75 * lane);
    let left = MARGIN + text_width(&format!("rank {}", ranks.saturating_sub(1)), label_size) + 8.0;
    let (right, top) = (WIDTH - MARGIN - 8.0, MARGIN + heading.len() as f64 * 1.3 * TITLE + 34.0);
    let layout = Layout { left, right, top, lane, time: Scale::linear(Quantity::Seconds, 0.0, end, 12) };
    let bottom = layout.y(ranks);
    let messages = shown_messages(recording);
    let notes = notes(recording, messages.is_none());
    let height = bottom + 48.0 + notes.len() as f64 * 1.3 * SMALL + MARGIN / 2.0;

    let mut page = Element::page(WIDTH, height, title).with(arrow_head());
    for (line, text) in heading.iter().enumerate() {
        let y = MARGIN + (line as f64 * 1.3 + 1.0) * TITLE;
        page.push(Element::label(MARGIN, y, TITLE, "start", text).set("font-weight", "bold").set("fill", "#222"));
    }
    page.push(legend(left, top - 24.0, messages.is_some()));
    page.push(grid(&layout, ranks, label_size));
    page.push(intervals(&layout, recording, end));
    page.push(arrows(&layout, messages.unwrap_or_default(), end));
    for (line, text) in notes.iter().enumerate() {
        let y = bottom + 54.0 + line as f64 * 1.3 * SMALL;
        page.push(Element::label(MARGIN, y, SMALL - 1.0, "start", text).set("fill", "#666"));
    }
    page.document()
}

/// Messages between different ranks, unless they are too many to be seen.
fn shown_messages(recording: &GanttRecorder) -> Option<Vec<&Delivered>> {
    let messages: Vec<&Delivered> = recording.messages.iter().filter(|message| message.from != message.to).collect();
    (messages.len() <= MOST_ARROWS).then_some(messages)
}

fn notes(recording: &GanttRecorder, without_arrows: bool) -> Vec<String> {
    let mut notes = Vec::new();
    if recording.is_cut() {
        notes.push(format!(
            "Only the first {} are shown: the run does more than a chart can hold. Use --trace for all of it.",
            recording.end().human()
        ));
    }
    if without_arrows {
        notes.push(format!(
            "Messages are not drawn: {} are too many to be told apart.",
            count(recording.messages.len() as u64)
        ));
    }
    notes
}

fn arrow_head() -> Element {
    let head = Element::new("marker").set("id", "head").set("viewBox", "0 0 10 10").set("orient", "auto");
    let head = head.num("refX", 9.0).num("refY", 5.0).num("markerWidth", 7.0).num("markerHeight", 7.0);
    head.with(Element::new("path").set("d", "M0 1.5L10 5L0 8.5z").set("fill", "#333"))
}

fn arrow(x1: f64, y1: f64, x2: f64, y2: f64) -> Element {
    Element::line(x1, y1, x2, y2).set("marker-end", "url(#head)")
}

fn legend(left: f64, y: f64, with_messages: bool) -> Element {
    let mut legend = Element::new("g").set("fill", "#333");
    let mut x = left;
    for activity in Activity::ALL {
        legend.push(Element::rect(x, y, 14.0, 12.0).set("fill", colour(activity)));
        legend.push(Element::label(x + 20.0, y + 10.5, SMALL, "start", activity.name()));
        x += 20.0 + text_width(activity.name(), SMALL) + 22.0;
    }
    if with_messages {
        legend.push(arrow(x, y + 6.0, x + 24.0, y + 6.0).set("stroke", "#333"));
        legend.push(Element::label(x + 31.0, y + 10.5, SMALL, "start", "message"));
    }
    legend
}

fn grid(layout: &Layout, ranks: u32, label_size: f64) -> Element {
    let mut grid = Element::new("g").set("fill", "#333");
    let bottom = layout.y(ranks);
    for tick in &layout.time.ticks {
        let x = layout.x(tick.value);
        grid.push(Element::line(x, layout.top, x, bottom).set("stroke", "#e8e8e8"));
        grid.push(Element::line(x, bottom, x, bottom + 5.0).set("stroke", "#333"));
        grid.push(Element::label(x, bottom + 18.0, SMALL, "middle", tick.label.as_deref().unwrap_or_default()));
    }
    for rank in 0..ranks {
        let y = layout.y(rank) + 0.5 * layout.lane + 0.35 * label_size;
        grid.push(Element::label(layout.left - 7.0, y, label_size, "end", &format!("rank {rank}")));
    }
    grid.push(Element::line(layout.left, bottom, layout.right, bottom).set("stroke", "#333"));
    let unit = layout.time.unit.unwrap_or("s");
    let middle = (layout.left + layout.right) / 2.0;
    grid.push(Element::label(middle, bottom + 36.0, SMALL + 1.0, "middle", &format!("time ({unit})")));
    grid
}

fn intervals(layout: &Layout, recording: &GanttRecorder, end: f64) -> Element {
    let mut group = Element::new("g");
    let gap = 0.12 * layout.lane;
    // What a rank does at the same time shares the height of its lane.
    let mut lanes = vec![1; recording.ranks as usize];
    for interval in &recording.intervals {
        let lanes = &mut lanes[interval.rank as usize];
        *lanes = interval.lane.max(*lanes - 1) + 1;
    }
    for Interval { rank, lane, activity, from, until } in &recording.intervals {
        if seconds(*from) >= end {
            continue;
        }
        let height = (layout.lane - 2.0 * gap) / lanes[*rank as usize] as f64;
        let y = layout.y(*rank) + gap + *lane as f64 * height;
        let (left, right) = (layout.x(seconds(*from)), layout.x(seconds(*until).min(end)));
        let length = until.since(*from);
        let text = format!("rank {rank}: {} {} from {} on", activity.name(), length.human(), from.human());
        let bar = Element::rect(left, y, right - left, height).set("fill", colour(*activity));
        group.push(bar.with(Element::new("title").text(&text)));
    }
    group
}

fn arrows(layout: &Layout, messages: Vec<&Delivered>, end: f64) -> Element {
    let mut group = Element::new("g").set("stroke", "#333").num("stroke-width", 1.0).num("opacity", 0.75);
    for Delivered { from, to, bytes, sent, arrived } in messages {
        if seconds(*arrived) > end {
            continue;
        }
        let middle = |rank: u32| layout.y(rank) + 0.5 * layout.lane;
        let text = format!("rank {from} to {to}: {} in {}", Bytes::new(*bytes), arrived.since(*sent).human());
        let arrow = arrow(layout.x(seconds(*sent)), middle(*from), layout.x(seconds(*arrived)), middle(*to));
        group.push(arrow.with(Element::new("title").text(&text)));
    }
    group
}
