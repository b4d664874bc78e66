//! Makes forecasts in threads, and tells how far it is. What is found does not depend on the number of threads.

use std::cell::Cell;
use std::collections::BTreeMap;
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

/// What has come of the forecasts that were asked for, in their order.
pub(super) struct Made {
    /// `None` where it was stopped before, or has failed.
    pub found: Vec<Option<Forecast>>,
    /// Which have failed, and why. Those that were not finished by then were stopped.
    pub failed: BTreeMap<usize, Failure>,
}

impl Crew<'_> {
    /// Makes the forecasts.
    pub fn run(self, name: &str, forecasts: &[&Prepared]) -> Made {
        self.make(name, forecasts, |forecast| forecast.options.weight(), |forecast, running| make(forecast, running))
    }

    fn make<T: Sync>(
        self,
        name: &str,
        forecasts: &[T],
        weight: impl Fn(&T) -> f64,
        make: impl Fn(&T, Running) -> Result<Forecast, Failure> + Sync,
    ) -> Made {
        let Crew { threads, running, share } = self;
        let weights: Vec<f64> = forecasts.iter().map(weight).collect();
        let whole: f64 = weights.iter().sum();
        // The longest first, so that no thread is left alone with one at the end.
        let mut order: Vec<usize> = (0..forecasts.len()).collect();
        order.sort_by(|one, other| weights[*other].total_cmp(&weights[*one]).then(one.cmp(other)));
        let shares: Vec<Arc<Share>> = forecasts.iter().map(|_| Arc::default()).collect();
        let next = AtomicUsize::new(0);
        let interrupt = running.interrupt();
        let mut found: Vec<Option<Forecast>> = vec![None; forecasts.len()];
        let mut failed: BTreeMap<usize, Failure> = BTreeMap::new();
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
                let (next, order, shares, make) = (&next, &order, &shares, &make);
                scope.spawn(move || {
                    while let Some(&place) = order.get(next.fetch_add(1, Ordering::Relaxed)) {
                        if interrupt.load(Ordering::Relaxed) {
                            break;
                        }
                        let running = Running::within(interrupt.clone(), shares[place].clone());
                        let result = make(&forecasts[place], running);
                        shares[place].set(1.0);
                        if result.as_ref().is_err_and(|failure| !matches!(failure, Failure::Interrupted)) {
                            // What is wrong with one is likely to be wrong with others.
                            interrupt.store(true, Ordering::Relaxed);
                        }
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
                        failed.insert(place, failure);
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
        Made { found, failed }
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Forecasts 1, 2, ... take so many seconds; this one cannot be made.
    fn make(failing: usize, threads: usize) -> Made {
        let running = Running::within(Arc::default(), Arc::default());
        let crew = Crew { threads, running: &running, share: 0.0..1.0 };
        let forecasts: Vec<usize> = (1..=9).collect();
        crew.make(
            "test",
            &forecasts,
            |number| *number as f64,
            |number, running| match *number == failing {
                true => Err(Failure::Program("a deadlock".into())),
                false if running.interrupt().load(Ordering::Relaxed) => Err(Failure::Interrupted),
                false => Ok(Forecast {
                    seconds: vec![*number as f64],
                    gflops: vec![1.0],
                    uncertainty: 0.0,
                    bias: 0.0,
                    mode: "exact".into(),
                    cpu_seconds: 0.0,
                }),
            },
        )
    }

    #[test]
    fn results_stand_in_the_order_of_the_questions() {
        for threads in [1, 3, 20] {
            let made = make(0, threads);
            assert!(made.failed.is_empty());
            let seconds: Vec<f64> = made.found.iter().flatten().map(|forecast| forecast.seconds[0]).collect();
            assert_eq!(seconds, (1..=9).map(f64::from).collect::<Vec<_>>());
        }
    }

    #[test]
    fn what_is_finished_before_a_failure_is_kept() {
        // The longest come first: 9, 8, 7, and then the one that fails.
        let Made { found, failed } = make(6, 1);
        assert_eq!(failed.keys().copied().collect::<Vec<_>>(), [5]);
        assert_eq!(failed[&5].message(), "a deadlock");
        let kept: Vec<bool> = found.iter().map(Option::is_some).collect();
        assert_eq!(kept, [false, false, false, false, false, false, true, true, true]);
    }
}
