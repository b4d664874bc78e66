//! What every command that simulates does beside: it measures itself, says how far it is, and can be stopped.

use std::cell::RefCell;
use std::io::{IsTerminal, Stderr};
use std::ops::Range;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use hpcast_report::{Build, Progress, Provenance, RunReport, Stopwatch, Used};
use hpcast_units::Time;

use crate::failure::Failure;

/// The version of hpcast and the commit it was built from.
pub(crate) const BUILD: Build = Build { version: env!("CARGO_PKG_VERSION"), commit: option_env!("HPCAST_COMMIT") };

/// Signals that come together are one: `timeout` and batch systems send them to a process and to its group.
const ONE_INTERRUPT: Duration = Duration::from_millis(300);

/// A command that has begun.
pub(crate) struct Running {
    stopwatch: Stopwatch,
    provenance: Provenance,
    interrupt: Arc<AtomicBool>,
    teller: Teller,
}

/// Who is told how far it is.
enum Teller {
    /// A line on the terminal for what takes long.
    Line(Rc<RefCell<Progress<Stderr>>>),
    /// Another thread.
    Thread(Arc<Share>),
    Nobody,
}

/// How much of its work a thread has done, 0 to 1.
#[derive(Default)]
pub(crate) struct Share(AtomicU64);

impl Share {
    pub fn set(&self, share: f64) {
        self.0.store(share.to_bits(), Ordering::Relaxed);
    }

    pub fn get(&self) -> f64 {
        f64::from_bits(self.0.load(Ordering::Relaxed))
    }
}

impl Running {
    /// `label` is how the line on the terminal begins.
    pub fn begin(label: String) -> Running {
        Running::stopped_by(stop_on_interrupt(), label)
    }

    /// The same, if somebody else sees to it that the flag is set.
    pub fn stopped_by(interrupt: Arc<AtomicBool>, label: String) -> Running {
        let stderr = std::io::stderr();
        Running {
            stopwatch: Stopwatch::start(),
            provenance: Provenance::now(BUILD, std::env::args(), 1),
            interrupt,
            teller: match stderr.is_terminal() {
                true => Teller::Line(Rc::new(RefCell::new(Progress::new(stderr, terminal_width(), label)))),
                false => Teller::Nobody,
            },
        }
    }

    /// A part of a command, in a thread of its own: it prints nothing, but shares how far it is. The flag stops it.
    pub fn within(interrupt: Arc<AtomicBool>, share: Arc<Share>) -> Running {
        let provenance = Provenance::now(BUILD, std::env::args(), 1);
        Running { stopwatch: Stopwatch::start(), provenance, interrupt, teller: Teller::Thread(share) }
    }

    /// Notes a file that was read.
    pub fn add_input(&mut self, path: &Path) {
        self.provenance.add_input(path, &std::fs::read(path).unwrap_or_default());
    }

    /// A flag that Ctrl-C sets.
    pub fn interrupt(&self) -> Arc<AtomicBool> {
        self.interrupt.clone()
    }

    /// Takes note of how far a simulation has come that is this part of the whole, 0 to 1. `details` say more, from the
    /// fraction of the simulation that is done and its time.
    pub fn progress(
        &self,
        part: Range<f64>,
        details: impl Fn(f64, Time) -> Vec<String> + 'static,
    ) -> Option<Box<dyn FnMut(f64, Time)>> {
        let whole = move |done: f64| part.start + done * (part.end - part.start);
        match &self.teller {
            Teller::Line(line) => {
                let line = line.clone();
                Some(Box::new(move |done, simulated| {
                    line.borrow_mut().update(whole(done), || details(done, simulated));
                }))
            }
            Teller::Thread(share) => {
                let share = share.clone();
                Some(Box::new(move |done, _| share.set(whole(done))))
            }
            Teller::Nobody => None,
        }
    }

    /// Makes room on the terminal whenever it is called.
    pub fn wiper(&self) -> impl Fn() + 'static {
        let line = match &self.teller {
            Teller::Line(line) => Some(line.clone()),
            Teller::Thread(_) | Teller::Nobody => None,
        };
        move || line.iter().for_each(|line| line.borrow_mut().wipe())
    }

    /// Prints a part of the results while others are still to come.
    pub fn print(&self, text: &str) -> Result<(), Failure> {
        match &self.teller {
            Teller::Thread(_) => return Ok(()),
            Teller::Line(line) => line.borrow_mut().wipe(),
            Teller::Nobody => {}
        }
        crate::print(text)
    }

    /// Wipes the line and tells the report what was used.
    pub fn finish(self, report: &mut RunReport) {
        (report.provenance, report.used) = self.end();
    }

    /// Wipes the line and tells what was used.
    pub fn end(self) -> (Provenance, Used) {
        drop(self.teller);
        (self.provenance, self.stopwatch.read())
    }
}

/// Characters of a line, or what every terminal has.
fn terminal_width() -> usize {
    terminal_size::terminal_size_of(std::io::stderr()).map_or(80, |(width, _)| width.0.into())
}

/// A flag that Ctrl-C sets, so that what is finished can be kept. A second Ctrl-C ends the program.
fn stop_on_interrupt() -> Arc<AtomicBool> {
    let flag = Arc::new(AtomicBool::new(false));
    let setter = flag.clone();
    let mut first: Option<Instant> = None;
    // Without the handler Ctrl-C ends the program at once, which is no reason not to run.
    let _ = ctrlc::set_handler(move || {
        setter.store(true, Ordering::Relaxed);
        if first.get_or_insert_with(Instant::now).elapsed() > ONE_INTERRUPT {
            std::process::exit(130);
        }
    });
    flag
}
