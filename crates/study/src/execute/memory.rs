//! How much memory runs may use together, and how much a run will need.

use std::path::Path;

/// Of the memory that is free, what is left for others.
const RESERVE: f64 = 0.2;

/// What runs may use together: most of what is free now, or of what this process may use.
pub fn available() -> u64 {
    let system = std::fs::read_to_string("/proc/meminfo").ok().and_then(|text| free(&text));
    let allowed = allowed(Path::new("/sys/fs/cgroup"));
    let bytes = [system, allowed].into_iter().flatten().min().unwrap_or(u64::MAX);
    (bytes as f64 * (1.0 - RESERVE)) as u64
}

/// `MemAvailable` (proc(5)).
fn free(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib * 1024)
}

/// What the control group of this process leaves (the kernel's cgroup v2).
fn allowed(root: &Path) -> Option<u64> {
    let number = |name: &str| std::fs::read_to_string(root.join(name)).ok()?.trim().parse::<u64>().ok();
    Some(number("memory.max")?.saturating_sub(number("memory.current")?))
}

/// Corrects what was thought of the memory of runs by what they have used.
#[derive(Clone, Copy, Debug)]
pub struct Experience {
    ratio: f64,
}

/// Runs that are alike differ by this much.
const MARGIN: f64 = 1.1;

impl Default for Experience {
    fn default() -> Experience {
        Experience { ratio: 1.0 }
    }
}

impl Experience {
    /// What a run will need that was thought to need so much.
    pub fn forecast(self, thought: u64) -> u64 {
        (thought as f64 * self.ratio) as u64
    }

    /// A run has used so much.
    pub fn learn(&mut self, thought: u64, used: u64) {
        self.ratio = self.ratio.max(used as f64 * MARGIN / thought.max(1) as f64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_system_says_what_is_free() {
        assert_eq!(free("MemTotal: 10 kB\nMemAvailable:    2048 kB\n"), Some(2 << 20));
        assert_eq!(free("MemTotal: 10 kB\n"), None);
        assert!(available() > 0);
    }

    #[test]
    fn who_used_more_is_believed() {
        let mut experience = Experience::default();
        experience.learn(100, 50);
        assert_eq!(experience.forecast(200), 200);
        experience.learn(100, 300);
        assert_eq!(experience.forecast(200), 660);
    }
}
