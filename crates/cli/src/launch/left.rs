//! Tells what a program has left behind: a short table, and the same for programs.

use hpcast_emulate::{Kind, LeftBehind, LeftObjects, LeftRequest, Pending};
use hpcast_mpi::Awaited;
use hpcast_report::RunReport;
use hpcast_units::count;
use serde_json::{Value, json};

/// So many lines of each kind are shown.
const LINES: usize = 8;

const HEADER: [&str; 6] = ["left behind", "rank", "peer", "tag", "bytes", "communicator"];

pub(super) fn text(left: &LeftBehind) -> String {
    let mut rows: Vec<[String; 6]> = Vec::new();
    for message in left.messages.iter().take(LINES) {
        rows.push([
            "sent, never received".into(),
            message.from.to_string(),
            message.to.to_string(),
            message.tag.to_string(),
            count(message.bytes),
            message.communicator.clone(),
        ]);
    }
    for request in left.requests.iter().take(LINES) {
        let [peer, tag, bytes] = figures(request).map(|figure| figure.unwrap_or_else(|| "-".into()));
        let communicator = request.communicator.clone().unwrap_or_default();
        rows.push([request_name(request).into(), request.rank.to_string(), peer, tag, bytes, communicator]);
    }
    let mut text = String::new();
    if !rows.is_empty() {
        text += &aligned(&rows);
        text += &more(left.message_count, left.messages.len(), "messages that were never received");
        text += &more(left.request_count, left.requests.len(), "requests that were never completed or freed");
    }
    text += &left.objects.iter().map(objects).collect::<String>();
    if text.is_empty() { text } else { format!("\n{text}") }
}

/// Adds it to the report for programs.
pub(super) fn add_to(left: &LeftBehind, report: &mut RunReport) {
    let messages: Vec<Value> = left
        .messages
        .iter()
        .map(|one| {
            json!({ "from": one.from, "to": one.to, "tag": one.tag, "bytes": one.bytes, "communicator": one.communicator })
        })
        .collect();
    let requests: Vec<Value> = left
        .requests
        .iter()
        .map(|one| json!({ "rank": one.rank, "what": request_name(one), "communicator": one.communicator }))
        .collect();
    let objects: Vec<Value> = left
        .objects
        .iter()
        .map(|one| json!({ "kind": kind(one.kind), "count": one.count, "ranks": one.ranks, "first_rank": one.first }))
        .collect();
    let value = json!({
        "messages": messages, "message_count": left.message_count,
        "requests": requests, "request_count": left.request_count,
        "objects": objects,
    });
    report.more.insert("left_behind".into(), value);
}

fn request_name(request: &LeftRequest) -> &'static str {
    match request.pending {
        Pending::Send => "send, never completed",
        Pending::Receive if request.awaited.is_some() => "receive, never completed",
        Pending::Receive => "receive, never waited for",
        Pending::Other => "operation, never completed",
        Pending::Persistent => "persistent request, not freed",
        Pending::General => "generalised request, never completed",
    }
}

/// Peer, tag and bytes, as far as they are known.
fn figures(request: &LeftRequest) -> [Option<String>; 3] {
    match request.awaited {
        Some(Awaited::Message { from, tag, .. }) => [
            Some(from.map_or("any".into(), |from| from.to_string())),
            Some(tag.map_or("any".into(), |tag| tag.to_string())),
            None,
        ],
        Some(Awaited::Receiver { to, tag, bytes, .. }) => {
            [Some(to.to_string()), Some(tag.to_string()), Some(count(bytes))]
        }
        _ => [None, None, None],
    }
}

fn kind(kind: Kind) -> &'static str {
    match kind {
        Kind::Communicators => "communicators",
        Kind::Datatypes => "datatypes",
        Kind::Windows => "windows",
        Kind::Files => "files",
    }
}

fn objects(left: &LeftObjects) -> String {
    let LeftObjects { count: number, ranks, first, .. } = *left;
    let others = if ranks > 1 { format!(" and {} more", count(u64::from(ranks) - 1)) } else { String::new() };
    let done = if left.kind == Kind::Files { "closed" } else { "freed" };
    format!("not {done}: {} {}, of rank {first}{others}\n", count(number), kind(left.kind))
}

fn more(all: u64, listed: usize, what: &str) -> String {
    let rest = all - (listed.min(LINES) as u64).min(all);
    if rest == 0 { String::new() } else { format!("and {} more {what}\n", count(rest)) }
}

/// Texts to the left, numbers to the right.
fn aligned(rows: &[[String; 6]]) -> String {
    let header = HEADER.map(str::to_owned);
    let all = || std::iter::once(&header).chain(rows);
    let width = |column: usize| all().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: [usize; 6] = std::array::from_fn(width);
    let line = |row: &[String; 6]| {
        let [what, rank, peer, tag, bytes, communicator] = row;
        let [a, b, c, d, e, _] = widths;
        format!("{what:<a$}  {rank:>b$}  {peer:>c$}  {tag:>d$}  {bytes:>e$}  {communicator}").trim_end().to_owned()
            + "\n"
    };
    all().map(line).collect()
}
