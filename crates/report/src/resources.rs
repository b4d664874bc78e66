//! What this process has used: wall time, CPU time, memory at its peak.

use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};
use serde::Serialize;

/// Started with a run, read at its end.
#[derive(Clone, Copy, Debug)]
pub struct Stopwatch {
    wall: Instant,
    cpu: Duration,
}

/// What a run has used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Used {
    /// CPU time of all threads of this process, kernel included.
    pub cpu_seconds: f64,
    /// Time on the clock on the wall.
    pub wall_seconds: f64,
    /// The most memory that was resident at a time, since the process began; `None` where the system does not tell.
    pub peak_memory_bytes: Option<u64>,
}

impl Stopwatch {
    /// Begins to count.
    pub fn start() -> Stopwatch {
        Stopwatch { wall: Instant::now(), cpu: cpu_time() }
    }

    /// What was used since the start.
    pub fn read(&self) -> Used {
        Used {
            cpu_seconds: cpu_time().saturating_sub(self.cpu).as_secs_f64(),
            wall_seconds: self.wall.elapsed().as_secs_f64(),
            peak_memory_bytes: peak_memory(),
        }
    }
}

/// CPU time of this thread so far, in seconds.
pub fn thread_cpu_seconds() -> f64 {
    clock(ClockId::ThreadCPUTime).as_secs_f64()
}

fn cpu_time() -> Duration {
    clock(ClockId::ProcessCPUTime)
}

fn clock(id: ClockId) -> Duration {
    let time = clock_gettime(id);
    Duration::new(time.tv_sec.try_into().unwrap_or(0), time.tv_nsec.try_into().unwrap_or(0))
}

fn peak_memory() -> Option<u64> {
    peak_in(&std::fs::read_to_string("/proc/self/status").ok()?)
}

/// `VmHWM`, the high-water mark of resident memory (proc(5)).
fn peak_in(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_costs_time_and_memory() {
        let stopwatch = Stopwatch::start();
        let memory = std::hint::black_box(vec![1u8; 32 << 20]);
        let sum: u64 = memory.iter().map(|byte| u64::from(std::hint::black_box(*byte))).sum();
        let used = stopwatch.read();
        assert_eq!(sum, 32 << 20);
        assert!(used.cpu_seconds > 0.0 && used.wall_seconds > 0.0);
        assert!(used.peak_memory_bytes.is_none_or(|peak| peak >= 32 << 20));
    }

    #[test]
    fn the_kernel_says_kb_and_means_kib() {
        assert_eq!(peak_in("VmPeak:\t  99 kB\nVmHWM:\t    5120 kB\nVmRSS:\t 1 kB\n"), Some(5 << 20));
        assert_eq!(peak_in("Name:\tx\n"), None);
    }
}
