//! Says who waits for whom.

use std::collections::BTreeMap;

use hpcast_emulate::{Finding, Waiting, Whereabouts, circle};
use hpcast_mpi::{Awaited, Deadlock};
use hpcast_units::count;

/// So many ranks get a line of their own.
const LINES: usize = 12;

/// Ranks of a circle, those that wait for other reasons, and the rest in groups.
pub(super) fn text(deadlock: &Deadlock, finding: &Finding) -> String {
    let waits = &finding.waits;
    let at = deadlock.at.as_secs();
    let all = if deadlock.count == 1 {
        "1 rank waits".into()
    } else {
        format!("{} ranks wait", count(deadlock.count as u64))
    };
    let mut text = format!("deadlock after {at:.9} s: {all} for something that never comes");
    let circle = circle(waits);
    let find = |rank: &u32| waits.iter().find(|wait| wait.rank == *rank && wait.awaited.peer().is_some());
    if !circle.is_empty() {
        let who = if circle.len() == 1 {
            "a rank waits for itself".into()
        } else {
            format!("{} ranks wait for each other", count(circle.len() as u64))
        };
        text += &format!("\n{who}, in a circle:");
        for wait in circle.iter().take(LINES).filter_map(find) {
            text += &line(wait, finding);
        }
        text += &more(circle.len().saturating_sub(LINES), "in the circle");
    }
    // Other threads of a rank may wait for something else.
    let is_of_circle = |wait: &Waiting| circle.contains(&wait.rank) && find(&wait.rank) == Some(wait);
    let others = waits.iter().filter(|wait| !is_of_circle(wait));
    text += &groups(others, finding);
    let ended: Vec<u32> = (0..)
        .zip(&finding.whereabouts)
        .filter(|(_, place)| **place == Whereabouts::Ended)
        .map(|(rank, _)| rank)
        .collect();
    if !ended.is_empty() {
        text += &format!("\n{} ended before", ranks(ended));
    }
    text + "\ncheck that every send has its receive, with the same communicator and tag, and that all ranks of a communicator make the \
            same collective calls"
}

fn more(number: usize, what: &str) -> String {
    if number == 0 { String::new() } else { format!("\n  and {} more {what}", count(number as u64)) }
}

/// Ranks that are in the same call of the same communicator: each of a few, or all of many.
fn groups<'w>(waits: impl Iterator<Item = &'w Waiting>, finding: &Finding) -> String {
    let mut groups: BTreeMap<(&str, Option<&str>), Vec<&Waiting>> = BTreeMap::new();
    for wait in waits {
        groups.entry((wait.call, wait.communicator.as_deref())).or_default().push(wait);
    }
    let mut groups: Vec<_> = groups.into_iter().collect();
    groups.sort_by_key(|(_, waits)| waits[0].rank);
    let mut text = String::new();
    for ((call, communicator), waits) in groups.iter().take(LINES) {
        if waits.len() <= 3 {
            text += &waits.iter().map(|wait| line(wait, finding)).collect::<String>();
            continue;
        }
        let place = communicator.map(|name| format!(" ({name})")).unwrap_or_default();
        text += &format!("\n  {} wait in {call}{place}, such as", ranks(waits.iter().map(|wait| wait.rank).collect()));
        text += &line(waits[0], finding).replacen("\n  ", "\n    ", 1);
    }
    let left: usize = groups.iter().skip(LINES).map(|(_, waits)| waits.len()).sum();
    text + &more(left, "ranks in other calls")
}

/// What one rank waits for.
fn line(wait: &Waiting, finding: &Finding) -> String {
    let Waiting { rank, call, awaited, communicator } = wait;
    let place = communicator.as_ref().map(|name| format!(" ({name})")).unwrap_or_default();
    let name = |peer: u32| match finding.whereabouts.get(peer as usize) {
        Some(Whereabouts::Ended) => format!("rank {peer}, which has ended"),
        _ => format!("rank {peer}"),
    };
    let what = match *awaited {
        Awaited::Message { from: Some(from), channel, .. } if channel.is_hidden => name(from),
        Awaited::Receiver { to, channel, .. } if channel.is_hidden => name(to),
        Awaited::Message { from, tag, .. } => {
            let tag = tag.map_or("any tag".to_owned(), |tag| format!("tag {tag}"));
            format!("a message with {tag} from {}", from.map_or("any rank".to_owned(), name))
        }
        Awaited::Receiver { to, tag, bytes, .. } => {
            format!("its {} B with tag {tag} to be received by {}", count(bytes), name(to))
        }
        Awaited::Probed => "a message".into(),
        Awaited::Background(operation) => format!("its non-blocking {operation}"),
    };
    format!("\n  rank {rank} waits in {call} for {what}{place}{}", instead(wait, finding))
}

/// A message that is there, but not the one that is waited for.
fn instead(wait: &Waiting, finding: &Finding) -> String {
    let Awaited::Message { from, tag: Some(wanted), channel } = wait.awaited else { return String::new() };
    let left = finding.so_far.iter().flat_map(|outcome| &outcome.first_unreceived);
    let mut others = left.filter(|message| message.to == wait.rank && from.is_none_or(|from| from == message.from));
    match others.find(|message| message.channel.context == channel.context && message.tag != wanted) {
        Some(message) => format!("\n    rank {} has sent it one with tag {} instead", message.from, message.tag),
        None => String::new(),
    }
}

/// Ranks in a few words: `rank 3`, `ranks 0, 4-7`, `1,021 ranks (3-1023)`.
pub(super) fn ranks(mut ranks: Vec<u32>) -> String {
    const SPANS: usize = 4;
    ranks.sort_unstable();
    if let [rank] = ranks[..] {
        return format!("rank {rank}");
    }
    let spans: Vec<&[u32]> = ranks.chunk_by(|a, b| a + 1 == *b).collect();
    let span = |span: &&[u32]| match span {
        [rank] => rank.to_string(),
        [first, .., last] => format!("{first}-{last}"),
        [] => String::new(),
    };
    let mut list: Vec<String> = spans.iter().take(SPANS).map(span).collect();
    if spans.len() > SPANS {
        list.push("…".into());
    }
    if ranks.len() > 4 {
        return format!("{} ranks ({})", count(ranks.len() as u64), list.join(", "));
    }
    format!("ranks {}", list.join(", "))
}

#[cfg(test)]
mod tests {
    use super::ranks;

    #[test]
    fn ranks_are_told_in_a_few_words() {
        assert_eq!(ranks(vec![3]), "rank 3");
        assert_eq!(ranks(vec![5, 3, 4, 0]), "ranks 0, 3-5");
        assert_eq!(ranks((3..1024).collect()), "1,021 ranks (3-1023)");
        assert_eq!(ranks((0..20).map(|rank| 2 * rank).collect()), "20 ranks (0, 2, 4, 6, …)");
    }
}
