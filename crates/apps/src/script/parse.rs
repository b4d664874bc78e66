//! Reads a script.

use hpcast_mpi::Mode;

use super::{Message, Requests, Step, WaitFor};
use crate::collective::Operation;

/// More ranks than this is a mistake in a script.
const MOST_RANKS: u32 = 1 << 16;

/// A script, read and checked.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Script {
    /// The platform file that it is meant for.
    pub platform: String,
    /// Number of ranks.
    pub ranks: u32,
    /// Node of each rank.
    pub nodes: Vec<u32>,
    /// Algorithms asked for: operation and the algorithm's name.
    pub collectives: Vec<(String, String)>,
    pub(super) steps: Vec<Vec<Step>>,
}

/// What is wrong with a script.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {problem}")]
pub struct ScriptError {
    /// Where.
    pub line: usize,
    /// What, and what to write instead.
    pub problem: String,
}

impl Script {
    /// Reads the text of a script.
    pub fn parse(text: &str) -> Result<Script, ScriptError> {
        let mut script = Script::default();
        for (number, line) in (1..).zip(text.lines()) {
            let line = line.split('#').next().unwrap_or_default().trim();
            if !line.is_empty() {
                script.read_line(line).map_err(|problem| ScriptError { line: number, problem })?;
            }
        }
        if script.ranks == 0 {
            return Err(ScriptError { line: 1, problem: "no ranks; write a line such as `ranks 4`".to_owned() });
        }
        Ok(script)
    }

    fn read_line(&mut self, line: &str) -> Result<(), String> {
        match line.split_once(':') {
            Some((ranks, statement)) => {
                if self.ranks == 0 {
                    return Err("a statement before `ranks N`; write the header first".to_owned());
                }
                for rank in self.read_ranks(ranks.trim())? {
                    let reader = Reader { rank, ranks: self.ranks };
                    reader.statement(statement.trim(), &mut self.steps[rank as usize])?;
                }
                Ok(())
            }
            None => self.read_header(&line.split_whitespace().collect::<Vec<_>>()),
        }
    }

    fn read_header(&mut self, words: &[&str]) -> Result<(), String> {
        match *words {
            ["platform", file] => self.platform = file.to_owned(),
            ["ranks", count] => {
                self.ranks = number(count)?;
                if self.ranks == 0 || self.ranks > MOST_RANKS {
                    return Err(format!("{count} ranks; a script has 1 to {MOST_RANKS}"));
                }
                self.nodes = (0..self.ranks).collect();
                self.steps = vec![Vec::new(); self.ranks as usize];
            }
            ["place", "block", per_node] => {
                let per_node: u32 = number(per_node)?;
                if per_node == 0 {
                    return Err("no ranks on a node; write at least `place block 1`".to_owned());
                }
                self.nodes = (0..self.ranks).map(|rank| rank / per_node).collect();
            }
            ["place", ref nodes @ ..] => {
                self.nodes = nodes.iter().map(|node| number(node)).collect::<Result<_, _>>()?;
                if self.nodes.len() != self.ranks as usize {
                    return Err(format!("{} places for {} ranks; write one node a rank", nodes.len(), self.ranks));
                }
            }
            ["collective", operation, algorithm] => {
                self.collectives.push((operation.to_owned(), algorithm.to_owned()));
            }
            _ => return Err(format!("`{}` is no header and has no `RANKS:`", words.join(" "))),
        }
        Ok(())
    }

    /// `*`, `3`, `0-7`, `0-15/5`, or a list of these.
    fn read_ranks(&self, text: &str) -> Result<Vec<u32>, String> {
        if text == "*" {
            return Ok((0..self.ranks).collect());
        }
        let mut chosen = vec![false; self.ranks as usize];
        for part in text.split(',') {
            let (range, step) = part.split_once('/').unwrap_or((part, "1"));
            let (first, last) = range.split_once('-').unwrap_or((range, range));
            let (first, last, step) = (number::<u32>(first)?, number::<u32>(last)?, number::<u32>(step)?);
            if last >= self.ranks || step == 0 {
                return Err(format!("`{part}` is no set of ranks 0 to {}", self.ranks - 1));
            }
            for rank in (first..=last).step_by(step as usize) {
                chosen[rank as usize] = true;
            }
        }
        Ok((0..self.ranks).filter(|&rank| chosen[rank as usize]).collect())
    }
}

fn number<T: std::str::FromStr>(text: &str) -> Result<T, String> {
    text.trim().parse().map_err(|_| format!("`{text}` is not a number"))
}

/// Reads the statements of one rank.
struct Reader {
    rank: u32,
    ranks: u32,
}

impl Reader {
    fn statement(&self, text: &str, steps: &mut Vec<Step>) -> Result<(), String> {
        let words: Vec<&str> = text.split_whitespace().collect();
        if let ["for", variable, range, ..] = words[..] {
            return self.repeat(text, variable, range, steps);
        }
        steps.push(self.step(&words)?);
        Ok(())
    }

    fn repeat(&self, text: &str, variable: &str, range: &str, steps: &mut Vec<Step>) -> Result<(), String> {
        let (first, last) = range.split_once("..").ok_or("expected `for NAME FIRST..LAST STATEMENT`")?;
        let body: String = text.split_whitespace().skip(3).collect::<Vec<_>>().join(" ");
        for value in number::<u32>(first)?..=number::<u32>(last)? {
            self.statement(&body.replace(&format!("{{{variable}}}"), &value.to_string()), steps)?;
        }
        Ok(())
    }

    fn step(&self, words: &[&str]) -> Result<Step, String> {
        let message = |words: &[&str]| self.message(words);
        let mode = |word: &str| match word {
            "ssend" | "issend" => Mode::Synchronous,
            "bsend" => Mode::Buffered,
            _ => Mode::Standard,
        };
        Ok(match *words {
            ["sleep", seconds] => Step::Sleep(number(seconds)?),
            ["mark", label] => Step::Mark(label.to_owned()),
            [word @ ("send" | "ssend" | "bsend"), ref rest @ ..] => {
                Step::Send { mode: mode(word), message: message(rest)? }
            }
            ["recv", ref rest @ ..] => Step::Receive(message(rest)?),
            [word @ ("isend" | "issend"), ref rest @ .., "->", name] => {
                Step::Isend { mode: mode(word), message: message(rest)?, name: name.to_owned() }
            }
            ["irecv", ref rest @ .., "->", name] => Step::Ireceive { message: message(rest)?, name: name.to_owned() },
            ["send_init", ref rest @ .., "->", name] => {
                Step::SendInit { message: message(rest)?, name: name.to_owned() }
            }
            ["recv_init", ref rest @ .., "->", name] => {
                Step::ReceiveInit { message: message(rest)?, name: name.to_owned() }
            }
            ["start", ref names @ ..] => Step::Start(names.iter().map(|&name| name.to_owned()).collect()),
            ["sendrecv", to, bytes, from, from_bytes, tag] => {
                let to = self.peer(to)?.ok_or("a message goes to one rank, not to `any`")?;
                Step::Sendrecv { to, bytes: number(bytes)?, from: message(&[from, from_bytes, tag])? }
            }
            ["wait", name] => Step::Wait(WaitFor::All, Requests::Named(vec![name.to_owned()])),
            ["waitall", ref names @ ..] => Step::Wait(WaitFor::All, requests(names)),
            ["waitany", ref names @ ..] => Step::Wait(WaitFor::Any, requests(names)),
            ["waitsome", ref names @ ..] => Step::Wait(WaitFor::Some, requests(names)),
            ["test", name] => Step::Test { name: name.to_owned(), until_done: false },
            ["testloop", name] => Step::Test { name: name.to_owned(), until_done: true },
            ["iprobe", peer, tag] => Step::Iprobe { message: message(&[peer, "0", tag])?, until_found: false },
            ["iprobeloop", peer, tag] => Step::Iprobe { message: message(&[peer, "0", tag])?, until_found: true },
            ["probe", peer, tag] => Step::Probe(message(&[peer, "0", tag])?),
            [word, ref rest @ ..] => self.collective(word, rest)?,
            [] => return Err("no statement after the ranks".to_owned()),
        })
    }

    fn collective(&self, word: &str, rest: &[&str]) -> Result<Step, String> {
        let operation: Operation = word.parse().map_err(|_| format!("`{word}` is no statement"))?;
        let bytes = rest.first().map_or(Ok(0), |bytes| number(bytes))?;
        let root = rest.get(1).map_or(Ok(0), |root| number(root))?;
        if root >= self.ranks {
            return Err(format!("root {root} is no rank; ranks are 0 to {}", self.ranks - 1));
        }
        Ok(Step::Collective { operation, bytes, root })
    }

    fn message(&self, words: &[&str]) -> Result<Message, String> {
        let [peer, bytes, tag] = *words else { return Err("expected PEER BYTES TAG".to_owned()) };
        let tag = if tag == "any" { None } else { Some(number(tag)?) };
        Ok(Message { peer: self.peer(peer)?, bytes: number(bytes)?, tag })
    }

    /// A rank, `+1`, `-1`, `^1`, or `any`.
    fn peer(&self, word: &str) -> Result<Option<u32>, String> {
        let ranks = i64::from(self.ranks);
        let me = i64::from(self.rank);
        let peer = match word.split_at_checked(1) {
            _ if word == "any" => return Ok(None),
            Some(("+", by)) => (me + number::<i64>(by)?).rem_euclid(ranks),
            Some(("-", by)) => (me - number::<i64>(by)?).rem_euclid(ranks),
            Some(("^", by)) => me ^ number::<i64>(by)?,
            _ => number(word)?,
        };
        match u32::try_from(peer) {
            Ok(peer) if peer < self.ranks => Ok(Some(peer)),
            _ => Err(format!("`{word}` is no rank; ranks are 0 to {}", ranks - 1)),
        }
    }
}

fn requests(names: &[&str]) -> Requests {
    match names {
        ["all"] => Requests::Every,
        _ => Requests::Named(names.iter().map(|&name| name.to_owned()).collect()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn peers_and_loops_are_worked_out() {
        let script = Script::parse(
            "platform x.xml\nranks 3\nplace 0 0 1\n*: send +1 10 7 # on\n0,2: for k 1..2 irecv {k} 5 any -> r{k}\n2: recv any 1 1",
        )
        .unwrap();
        assert_eq!((script.ranks, &script.nodes[..]), (3, &[0, 0, 1][..]));
        let send =
            |peer| Step::Send { mode: Mode::Standard, message: Message { peer: Some(peer), bytes: 10, tag: Some(7) } };
        assert_eq!(script.steps[1], [send(2)]);
        assert_eq!(script.steps[2].len(), 4);
        assert_eq!(script.steps[2][0], send(0));
        assert_eq!(
            script.steps[2][2],
            Step::Ireceive { message: Message { peer: Some(2), bytes: 5, tag: None }, name: "r2".to_owned() }
        );
        assert_eq!(script.steps[2][3], Step::Receive(Message { peer: None, bytes: 1, tag: Some(1) }));
    }

    #[test]
    fn mistakes_are_named_with_their_line() {
        for (text, line, part) in [
            ("ranks 2\n0: fly 1", 2, "`fly`"),
            ("0: send 1 2 3", 1, "before `ranks N`"),
            ("ranks 2\n\n5: barrier", 3, "no set of ranks"),
            ("ranks 2\n0: send 2 1 1", 2, "no rank"),
            ("ranks 2\n0: send 1 x 1", 2, "`x` is not a number"),
            ("ranks 2\nplace 0", 2, "one node a rank"),
            ("platform x", 1, "no ranks"),
        ] {
            let error = Script::parse(text).unwrap_err();
            assert_eq!(error.line, line, "{text}");
            assert!(error.problem.contains(part), "{text}: {error}");
        }
    }
}
