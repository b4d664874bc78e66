//! What every rank did, as a trace for <https://ui.perfetto.dev> or Chrome's `chrome://tracing`.
//!
//! The format is the Trace Event Format in its JSON object form (document "Trace Event Format" of the Chromium project):
//! activities are complete events (`ph` X), messages flow events (`ph` s and f), times are in microseconds. Events are
//! written as they come; only a few numbers a rank are kept.
//!
//! Each rank is a thread. What happens in its background (non-blocking collectives) would overlap with its own work,
//! which the format does not allow: it goes to a thread of the same name in a second process.

use std::io::{self, BufWriter, Write};

use hpcast_mpi::{Activity, Delivered, Observer};
use hpcast_units::Time;

use crate::lanes::Lanes;

/// An observer that writes a trace.
pub struct TraceWriter<W: Write> {
    /// Taken away when the trace is finished.
    out: Option<BufWriter<W>>,
    with_messages: bool,
    lanes: Lanes,
    /// For each process the threads that have a name.
    named: Vec<Vec<bool>>,
    messages: u64,
    first: bool,
    /// What went wrong first; nothing is written after that.
    error: Option<io::Error>,
}

impl<W: Write> TraceWriter<W> {
    /// A trace of the activities, and of the messages if that is wanted.
    pub fn new(out: W, with_messages: bool) -> TraceWriter<W> {
        let mut trace = TraceWriter {
            out: Some(BufWriter::with_capacity(1 << 16, out)),
            with_messages,
            lanes: Lanes::default(),
            named: Vec::new(),
            messages: 0,
            first: true,
            error: None,
        };
        trace.write(format_args!("{{\"displayTimeUnit\":\"ns\",\"traceEvents\":["));
        trace
    }

    /// Ends the trace and gives back what was written to; tells of the first error of the whole run. What comes after
    /// that is ignored.
    pub fn finish(&mut self) -> io::Result<W> {
        self.write(format_args!("\n]}}\n"));
        let out = self.out.take();
        match (self.error.take(), out) {
            (Some(error), _) => Err(error),
            (None, Some(out)) => out.into_inner().map_err(io::IntoInnerError::into_error),
            (None, None) => Err(io::Error::other("the trace is finished already")),
        }
    }

    fn write(&mut self, text: std::fmt::Arguments<'_>) {
        if let (None, Some(out)) = (&self.error, &mut self.out) {
            self.error = out.write_fmt(text).err();
        }
    }

    fn event(&mut self, event: std::fmt::Arguments<'_>) {
        let separator = if std::mem::take(&mut self.first) { "\n" } else { ",\n" };
        self.write(format_args!("{separator}{event}"));
    }

    /// Names the thread the first time that it does something.
    fn name_thread(&mut self, lane: usize, rank: u32) {
        let (pid, tid) = (lane + 1, rank + 1);
        if self.named.len() <= lane {
            self.named.resize_with(pid, Vec::new);
            let name = if lane == 0 { "ranks".into() } else { format!("ranks, background {lane}") };
            self.event(format_args!(r#"{{"ph":"M","name":"process_name","pid":{pid},"args":{{"name":"{name}"}}}}"#));
        }
        let threads = &mut self.named[lane];
        if threads.len() <= rank as usize {
            threads.resize(rank as usize + 1, false);
        }
        if !std::mem::replace(&mut threads[rank as usize], true) {
            self.event(format_args!(
                r#"{{"ph":"M","name":"thread_name","pid":{pid},"tid":{tid},"args":{{"name":"rank {rank}"}}}}"#
            ));
            self.event(format_args!(
                r#"{{"ph":"M","name":"thread_sort_index","pid":{pid},"tid":{tid},"args":{{"sort_index":{rank}}}}}"#
            ));
        }
    }
}

/// Microseconds with all digits of a picosecond: a double would lose the last ones of a long run.
struct Micros(Time);

impl std::fmt::Display for Micros {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let ps = self.0.as_ps();
        write!(f, "{}.{:06}", ps / 1_000_000, ps % 1_000_000)
    }
}

// Numbers of processes and threads begin with 1, because viewers take 0 for the idle task of the system.
impl<W: Write> Observer for TraceWriter<W> {
    fn spent(&mut self, rank: u32, activity: Activity, from: Time, until: Time) {
        let lane = self.lanes.place(rank, from, until);
        self.name_thread(lane, rank);
        let (pid, tid, name) = (lane + 1, rank + 1, activity.name());
        let (ts, dur) = (Micros(from), Micros(until.since(from)));
        self.event(format_args!(
            r#"{{"ph":"X","name":"{name}","cat":"{name}","pid":{pid},"tid":{tid},"ts":{ts},"dur":{dur}}}"#
        ));
    }

    fn delivered(&mut self, message: Delivered) {
        if !self.with_messages {
            return;
        }
        self.messages += 1;
        let Delivered { from, to, bytes, sent, arrived } = message;
        let (id, sender, receiver, sent, arrived) = (self.messages, from + 1, to + 1, Micros(sent), Micros(arrived));
        self.event(format_args!(
            r#"{{"ph":"s","name":"message","cat":"message","id":{id},"pid":1,"tid":{sender},"ts":{sent},"args":{{"from":{from},"to":{to},"bytes":{bytes}}}}}"#
        ));
        self.event(format_args!(
            r#"{{"ph":"f","bp":"e","name":"message","cat":"message","id":{id},"pid":1,"tid":{receiver},"ts":{arrived}}}"#
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    fn us(us: u64) -> Time {
        Time::from_ps(us * 1_000_000)
    }

    fn parse(mut trace: TraceWriter<Vec<u8>>) -> Vec<Value> {
        let json: Value = serde_json::from_slice(&trace.finish().unwrap()).unwrap();
        json["traceEvents"].as_array().unwrap().clone()
    }

    #[test]
    fn a_trace_is_json_with_monotone_times_per_thread() {
        let mut trace = TraceWriter::new(Vec::new(), true);
        for rank in [1, 0] {
            trace.spent(rank, Activity::Compute, us(0), us(2));
            trace.spent(rank, Activity::Send, us(2), us(3));
            trace.spent(rank, Activity::Wait, us(3), us(5));
            // Background work of an earlier time, told later.
            trace.spent(rank, Activity::Wait, us(1), us(4));
        }
        trace.delivered(Delivered { from: 0, to: 1, bytes: 8, sent: us(3), arrived: us(5) });
        let events = parse(trace);
        let mut ends = std::collections::BTreeMap::new();
        let mut complete = 0;
        for event in events.iter().filter(|event| event["ph"] == "X") {
            let thread = (event["pid"].as_u64().unwrap(), event["tid"].as_u64().unwrap());
            let (start, length) = (event["ts"].as_f64().unwrap(), event["dur"].as_f64().unwrap());
            let end = ends.insert(thread, start + length);
            assert!(end.is_none_or(|end| end <= start), "{event}");
            complete += 1;
        }
        assert_eq!((complete, ends.len()), (8, 4));
        let flows: Vec<&Value> = events.iter().filter(|event| event["cat"] == "message").collect();
        assert_eq!((flows[0]["ph"].as_str(), flows[0]["tid"].as_u64()), (Some("s"), Some(1)));
        assert_eq!((flows[1]["ph"].as_str(), flows[1]["ts"].as_f64()), (Some("f"), Some(5.0)));
        assert_eq!(flows[0]["id"], flows[1]["id"]);
        let names = events.iter().filter(|event| event["name"] == "thread_name");
        assert_eq!(
            names.map(|event| event["args"]["name"].as_str().unwrap()).collect::<Vec<_>>(),
            ["rank 1", "rank 1", "rank 0", "rank 0"]
        );
    }

    #[test]
    fn no_picosecond_is_lost() {
        let mut trace = TraceWriter::new(Vec::new(), false);
        trace.spent(0, Activity::Compute, Time::from_ps(86_400_000_000_000_001), Time::from_ps(86_400_000_000_000_003));
        trace.delivered(Delivered { from: 0, to: 1, bytes: 8, sent: us(3), arrived: us(5) });
        let text = String::from_utf8(trace.finish().unwrap()).unwrap();
        assert!(text.contains(r#""ts":86400000000.000001,"dur":0.000002"#), "{text}");
        assert!(!text.contains("message"));
    }

    #[test]
    fn a_trace_of_nothing_is_valid() {
        assert!(parse(TraceWriter::new(Vec::new(), true)).is_empty());
    }

    #[test]
    fn the_first_error_is_told_at_the_end() {
        struct Full;
        impl Write for Full {
            fn write(&mut self, _: &[u8]) -> io::Result<usize> {
                Err(io::ErrorKind::StorageFull.into())
            }
            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let mut trace = TraceWriter::new(Full, false);
        for step in 0..10_000 {
            trace.spent(0, Activity::Compute, us(step), us(step + 1));
        }
        assert_eq!(trace.finish().err().unwrap().kind(), io::ErrorKind::StorageFull);
        let mut short = TraceWriter::new(Full, false);
        assert!(short.finish().is_err(), "also when all of it was in the buffer");
    }
}
