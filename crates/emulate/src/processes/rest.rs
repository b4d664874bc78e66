//! Whether the threads of a process are at rest: the kernel knows.

use std::fs;
use std::os::unix::fs::MetadataExt;

/// So often one looks whether a thread that is known to wait does so: it is about to.
const TRIES: usize = 10;

/// How many threads this process has.
pub fn count() -> usize {
    // A folder has two links, and one more for each folder in it.
    fs::metadata("/proc/self/task").map_or(0, |folder| folder.nlink().saturating_sub(2) as usize)
}

/// Whether all threads of a process sleep, but for those that do not count. Those with the first numbers are known to wait.
pub fn of(process: i32, waiting: &[i32], but: &[i32]) -> bool {
    // One that waits may just have begun to, and in a process that is being killed none waits any more.
    let does_wait = |&number: &i32| (0..TRIES).any(|_| sleep(process, number).is_some());
    of_others(process, &[waiting, but].concat()) && waiting.iter().all(does_wait)
}

/// Whether all threads of a process sleep but for those with these numbers.
///
/// One is looked at after the other, and one may wake the next while we look elsewhere. So all are looked at twice: who was asleep both times, and
/// has not run in between, was asleep all the time. There is a moment, between the two rounds, when all were.
pub fn of_others(process: i32, but: &[i32]) -> bool {
    let look = || {
        let numbers = numbers(process)?;
        let others = numbers.into_iter().filter(|number| !but.contains(number));
        others.map(|number| Some((number, sleep(process, number)?))).collect::<Option<Vec<(i32, Runs)>>>()
    };
    look().is_some_and(|first| Some(first) == look())
}

/// The threads of a process that do not sleep, but for those with these numbers.
pub fn awake(process: i32, but: &[i32]) -> Vec<i32> {
    let others = numbers(process).unwrap_or_default().into_iter().filter(|number| !but.contains(number));
    others.filter(|&number| sleep(process, number).is_none()).collect()
}

/// The threads of a process.
fn numbers(process: i32) -> Option<Vec<i32>> {
    let threads = fs::read_dir(format!("/proc/{process}/task")).ok()?;
    Some(threads.filter_map(|thread| thread.ok()?.file_name().to_str()?.parse().ok()).collect())
}

/// How often a thread has stopped to run.
type Runs = [u64; 2];

/// How often a thread that sleeps has run; none if it does not sleep, or is no more. A first thread that is over sleeps for ever while others
/// go on.
fn sleep(process: i32, thread: i32) -> Option<Runs> {
    let status = fs::read_to_string(format!("/proc/{process}/task/{thread}/status")).ok()?;
    asleep(&status, process == thread)
}

fn asleep(status: &str, is_first: bool) -> Option<Runs> {
    let value = |name: &str| status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(":\t"));
    let state = value("State")?;
    let sleeps = state.starts_with('S') || is_first && state.starts_with('Z');
    let number = |name| value(name)?.parse().ok();
    sleeps.then_some([number("voluntary_ctxt_switches")?, number("nonvoluntary_ctxt_switches")?])
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::sync::mpsc;

    #[test]
    fn who_sleeps_is_told_by_the_kernel() {
        let status = |state: &str| {
            format!("Name:\ta\nState:\t{state}\nvoluntary_ctxt_switches:\t7\nnonvoluntary_ctxt_switches:\t2\n")
        };
        assert_eq!(asleep(&status("S (sleeping)"), false), Some([7, 2]));
        assert_eq!(asleep(&status("R (running)"), false), None);
        assert_eq!(asleep(&status("D (disk sleep)"), false), None);
        assert_eq!(asleep(&status("Z (zombie)"), true), Some([7, 2]));
    }

    #[test]
    fn a_thread_that_waits_for_another_is_at_rest() {
        static STOP: AtomicBool = AtomicBool::new(false);
        // SAFETY: gives a number.
        let number = || unsafe { libc::gettid() };
        let (sender, receiver) = mpsc::channel();
        let (wake, woken) = mpsc::channel::<()>();
        let sleeper = std::thread::spawn(move || {
            sender.send(number()).unwrap();
            woken.recv().unwrap_err();
            while !STOP.load(Ordering::Relaxed) {
                std::hint::spin_loop();
            }
        });
        let thread = receiver.recv().unwrap();
        let process = std::process::id() as i32;
        let is_at_rest = || {
            let others = numbers(process).unwrap().into_iter().filter(|&other| other != thread);
            of_others(process, &others.collect::<Vec<i32>>())
        };
        while !is_at_rest() {
            std::thread::yield_now();
        }
        drop(wake);
        while is_at_rest() {
            std::thread::yield_now();
        }
        assert!(!is_at_rest() && count() >= 2);
        assert_eq!(awake(process, &numbers(process).unwrap()), [0; 0]);
        STOP.store(true, Ordering::Relaxed);
        sleeper.join().unwrap();
    }
}
