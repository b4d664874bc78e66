//! A line that says how far a long run has come, on a terminal only.
//!
//! [`Progress`] is told a fraction as often as the run likes; it writes nothing in the first two seconds, and little
//! after that. Its line is wiped when it is dropped.

use std::io::Write;
use std::time::{Duration, Instant};

use hpcast_units::Seconds;

/// What is over sooner needs no line.
const QUIET: Duration = Duration::from_secs(2);
/// Time between two lines.
const PAUSE: Duration = Duration::from_millis(250);
/// Back to the beginning of the line, and wipe it (ECMA-48).
const WIPE: &str = "\r\x1b[2K";

/// The line on a terminal. Trouble with the terminal is no trouble for the run, so errors of the writer are dropped.
pub struct Progress<W: Write> {
    terminal: W,
    /// Characters of a line. One that were longer could not be wiped.
    width: usize,
    label: String,
    clock: Box<dyn FnMut() -> Duration>,
    last: Option<Duration>,
    shown: bool,
}

impl<W: Write> Progress<W> {
    /// A line for something that begins now. `terminal` should be one: ask [`std::io::IsTerminal`] before. So many
    /// characters fit a line of it.
    pub fn new(terminal: W, width: usize, label: impl Into<String>) -> Progress<W> {
        let start = Instant::now();
        Progress::with_clock(terminal, width, label, move || start.elapsed())
    }

    /// The same with another clock, which says how much time has passed since the beginning.
    pub fn with_clock(
        terminal: W,
        width: usize,
        label: impl Into<String>,
        clock: impl FnMut() -> Duration + 'static,
    ) -> Progress<W> {
        Progress { terminal, width, label: label.into(), clock: Box::new(clock), last: None, shown: false }
    }

    /// So much of the work is done, 0 to 1. `details` are asked for when a line is written; those that fit it are shown.
    pub fn update(&mut self, fraction: f64, details: impl FnOnce() -> Vec<String>) {
        let now = (self.clock)();
        if now < QUIET || self.last.is_some_and(|last| now < last + PAUSE) {
            return;
        }
        self.last = Some(now);
        let mut line = line(&self.label, fraction, now.as_secs_f64());
        // A terminal goes on in the next line once the last column is used.
        for detail in details().iter().filter(|detail| !detail.is_empty()) {
            if line.chars().count() + 2 + detail.chars().count() < self.width {
                line = format!("{line}, {detail}");
            }
        }
        self.shown = true;
        let _ = write!(self.terminal, "{WIPE}{line}").and_then(|()| self.terminal.flush());
    }

    /// Makes room for something else on the terminal.
    pub fn wipe(&mut self) {
        if std::mem::take(&mut self.shown) {
            let _ = write!(self.terminal, "{WIPE}").and_then(|()| self.terminal.flush());
        }
    }
}

impl<W: Write> Drop for Progress<W> {
    fn drop(&mut self) {
        self.wipe();
    }
}

fn line(label: &str, fraction: f64, elapsed: f64) -> String {
    // Below one in a thousand an estimate would be a guess.
    if fraction.is_nan() || fraction < 0.001 {
        return format!("{label}: running for {}", duration(elapsed));
    }
    let fraction = fraction.min(1.0);
    let left = elapsed * (1.0 - fraction) / fraction;
    format!("{label}: {:.0} %, about {} left", (fraction * 100.0).floor(), duration(left.ceil()))
}

/// A time as people say it: `820 ms`, `12.5 s`, `3 min 20 s`, `2 h 5 min`.
pub(crate) fn duration(seconds: f64) -> String {
    if seconds.is_nan() || seconds < 59.95 {
        return Seconds::new(seconds).human();
    }
    let whole = seconds.round() as u64;
    if whole < 3600 {
        format!("{} min {} s", whole / 60, whole % 60)
    } else {
        let minutes = (whole + 30) / 60;
        format!("{} h {} min", minutes / 60, minutes % 60)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;
    use std::rc::Rc;

    /// What a run writes that calls `update` at these times.
    fn written(updates: &[(f64, f64)]) -> String {
        let mut terminal = Vec::new();
        let now = Rc::new(Cell::new(0.0));
        let clock = now.clone();
        let mut progress =
            Progress::with_clock(&mut terminal, 80, "allreduce", move || Duration::from_secs_f64(clock.get()));
        for (time, fraction) in updates {
            now.set(*time);
            progress.update(*fraction, Vec::new);
        }
        drop(progress);
        String::from_utf8(terminal).unwrap()
    }

    #[test]
    fn short_runs_are_quiet() {
        assert_eq!(written(&[(0.0, 0.0), (1.0, 0.5), (1.99, 0.99)]), "");
    }

    #[test]
    fn long_runs_say_what_is_left_and_clean_up() {
        let text = written(&[(1.0, 0.1), (2.0, 0.2), (2.1, 0.21), (2.5, 0.25)]);
        assert_eq!(text, "\r\x1b[2Kallreduce: 20 %, about 8 s left\r\x1b[2Kallreduce: 25 %, about 8 s left\r\x1b[2K");
    }

    #[test]
    fn other_output_has_the_terminal_for_itself() {
        let mut terminal = Vec::new();
        let mut progress = Progress::with_clock(&mut terminal, 40, "hpl", || Duration::from_secs(3));
        progress.wipe();
        progress.update(0.5, Vec::new);
        progress.wipe();
        drop(progress);
        assert_eq!(String::from_utf8(terminal).unwrap(), "\r\x1b[2Khpl: 50 %, about 3 s left\r\x1b[2K");
    }

    #[test]
    fn details_are_shown_as_far_as_they_fit() {
        let mut terminal = Vec::new();
        let mut progress = Progress::with_clock(&mut terminal, 46, "hpl", || Duration::from_secs(3));
        let details = ["panel 5 of 10", "much too long to be shown", "7 Gflop/s"];
        progress.update(0.5, || details.map(String::from).into());
        drop(progress);
        let text = String::from_utf8(terminal).unwrap();
        assert_eq!(text, "\r\x1b[2Khpl: 50 %, about 3 s left, panel 5 of 10\r\x1b[2K");
    }

    #[test]
    fn nothing_is_asked_for_while_nothing_is_written() {
        let mut progress = Progress::with_clock(Vec::new(), 80, "hpl", || Duration::from_secs(1));
        progress.update(0.5, || panic!("details cost time"));
    }

    #[test]
    fn nothing_is_estimated_from_nothing() {
        assert_eq!(line("x", 0.0, 75.0), "x: running for 1 min 15 s");
        assert_eq!(line("x", f64::NAN, 5.0), "x: running for 5 s");
        assert_eq!(line("x", 1.5, 5.0), "x: 100 %, about 0 s left");
    }

    #[test]
    fn durations() {
        let said: Vec<String> = [0.0125, 59.9, 60.0, 200.0, 3599.6, 7510.0].map(duration).into();
        assert_eq!(said, ["12.5 ms", "59.9 s", "1 min 0 s", "3 min 20 s", "1 h 0 min", "2 h 5 min"]);
    }
}
