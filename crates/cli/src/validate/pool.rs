//! Makes forecasts in threads, and tells how far it is. What is found does not depend on the number of threads.

use std::cell::Cell;
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::Duration;

use hpcast_report::thread_cpu_seconds;
use hpcast_units::{Time, count};

use super::cases::Prepared;
use crate::failure::Failure;
use crate::hpl;
use crate::running::{Running, Share};

/// Time between two looks at how far it is.
const PAUSE: Duration = Duration::from_millis(200);

/// What a forecast has found.
#[derive(Clone)]
pub(super) struct Forecast {
    /// One a seed.
    pub seconds: Vec<f64>,
    pub gflops: Vec<f64>,
    /// The largest, as a share.
    pub uncertainty: f64,
    /// The part of it that other seeds do not show, on the mean.
    pub bias: f64,
    pub mode: String,
    pub cpu_seconds: f64,
}

/// Threads that make the forecasts of a part.
pub(super) struct Crew<'r> {
    pub threads: usize,
    pub running: &'r Running,
    /// What the part is of the whole, 0 to 1.
    pub share: Range<f64>,
}

impl Crew<'_> {
    /// The forecasts in the order in which they were asked for; `None` where somebody has stopped it before.
    pub fn run(self, name: &str, forecasts: &[&Prepared]) -> Result<Vec<Option<Forecast>>, Failure> {
        let Crew { threads, running, share } = self;
        let weights: Vec<f64> = forecasts.iter().map(|forecast| forecast.options.weight()).collect();
        let whole: f64 = weights.iter().sum();
        // The longest first, so that no thread is left alone with one at the end.
        let mut order: Vec<usize> = (0..forecasts.len()).collect();
        order.sort_by(|one, other| weights[*other].total_cmp(&weights[*one]).then(one.cmp(other)));
        let shares: Vec<Arc<Share>> = forecasts.iter().map(|_| Arc::default()).collect();
        let next = AtomicUsize::new(0);
        let interrupt = running.interrupt();
        let mut found: Vec<Option<Forecast>> = vec![None; forecasts.len()];
        let mut failed: Vec<(usize, Failure)> = Vec::new();
        let finished = Rc::new(Cell::new(0));
        let (told, total, label) = (finished.clone(), forecasts.len(), name.to_owned());
        let details = move |_: f64, _: Time| {
            vec![format!("{label}: {} of {} forecasts", count(told.get() as u64), count(total as u64))]
        };
        let mut tell = running.progress(share, details);
        std::thread::scope(|scope| {
            let (sender, results) = mpsc::channel();
            for _ in 0..threads.clamp(1, forecasts.len().max(1)) {
                let (sender, interrupt) = (sender.clone(), interrupt.clone());
                let (next, order, shares) = (&next, &order, &shares);
                scope.spawn(move || {
                    while let Some(&place) = order.get(next.fetch_add(1, Ordering::Relaxed)) {
                        if interrupt.load(Ordering::Relaxed) {
                            break;
                        }
                        let running = Running::within(interrupt.clone(), shares[place].clone());
                        let result = make(forecasts[place], running);
                        shares[place].set(1.0);
                        if sender.send((place, result)).is_err() {
                            break;
                        }
                    }
                });
            }
            drop(sender);
            loop {
                match results.recv_timeout(PAUSE) {
                    Ok((place, Ok(forecast))) => {
                        found[place] = Some(forecast);
                        finished.set(finished.get() + 1);
                    }
                    Ok((_, Err(Failure::Interrupted))) => {}
                    Ok((place, Err(failure))) => {
                        // What is wrong with one is likely to be wrong with others.
                        interrupt.store(true, Ordering::Relaxed);
                        failed.push((place, failure));
                    }
                    Err(mpsc::RecvTimeoutError::Timeout) => {}
                    Err(mpsc::RecvTimeoutError::Disconnected) => break,
                }
                if let Some(tell) = &mut tell {
                    let done: f64 = weights.iter().zip(&shares).map(|(weight, share)| weight * share.get()).sum();
                    tell(done / whole, Time::ZERO);
                }
            }
        });
        failed.sort_by_key(|(place, _)| *place);
        match failed.into_iter().next() {
            Some((_, failure)) => Err(failure),
            None => Ok(found),
        }
    }
}

fn make(prepared: &Prepared, running: Running) -> Result<Forecast, Failure> {
    let start = thread_cpu_seconds();
    let machine = prepared.machine.build()?;
    let found = hpl::forecast(&prepared.options, machine, prepared.models.as_deref().cloned(), running)?;
    let runs = || found.runs.iter().filter(|run| run.redrawn.is_none());
    Ok(Forecast {
        seconds: runs().map(|run| run.seconds).collect(),
        gflops: runs().map(|run| run.gflops).collect(),
        uncertainty: runs().map(|run| run.uncertainty / run.seconds).fold(0.0, f64::max),
        bias: runs().map(|run| run.bias / run.seconds).sum::<f64>() / runs().count() as f64,
        mode: found.shortcuts.mode(),
        cpu_seconds: thread_cpu_seconds() - start,
    })
}
