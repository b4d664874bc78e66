//! Which allocations are given no memory of their own: by their size, by who asks for them, or by need.

use crate::memory::PAGE;

/// Which allocations are treated apart.
#[derive(Clone, Debug, Default)]
pub struct Folding {
    /// Those from that size on.
    pub threshold: Option<usize>,
    /// But only where more than so much address space would be taken for them.
    pub limit: Option<usize>,
    /// Those that a function asks for, or what it calls: folded whatever their size is, or never.
    pub sites: Vec<(String, bool)>,
    /// Address space that was taken before the first of them.
    before: Option<usize>,
}

impl From<usize> for Folding {
    /// All from that size on.
    fn from(threshold: usize) -> Folding {
        Folding { threshold: Some(threshold), ..Folding::default() }
    }
}

impl Folding {
    /// With modelled kernels: what no longer fits in half of the memory that is free here.
    pub fn by_need() -> Folding {
        let limit = available().map_or(usize::MAX, |bytes| bytes / 2);
        Folding { limit: Some(limit), ..Folding::from(1 << 20) }
    }
}

/// Memory that is free, as the kernel says.
fn available() -> Option<usize> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    Some(line.split_whitespace().next()?.parse::<usize>().ok()? << 10)
}

/// Address space that this process takes.
fn taken() -> usize {
    let text = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    text.split_whitespace().next().and_then(|pages| pages.parse::<usize>().ok()).unwrap_or(0) * PAGE
}

/// What becomes of an allocation.
#[derive(Debug, PartialEq, Eq)]
pub enum Kind {
    /// Ordinary memory.
    Ordinary,
    /// No memory of its own.
    Folded,
    /// Folded if it is among the largest, otherwise private.
    BySize,
}

impl Folding {
    /// What becomes of one; `site` says what was said about those who ask for it.
    pub fn kind(
        &mut self,
        size: usize,
        alignment: usize,
        site: impl FnOnce(&[(String, bool)]) -> Option<bool>,
    ) -> Kind {
        if size < PAGE || alignment > PAGE {
            return Kind::Ordinary;
        }
        if !self.sites.is_empty() {
            match site(&self.sites) {
                Some(true) => return Kind::Folded,
                Some(false) => return Kind::Ordinary,
                None => {}
            }
        }
        if self.threshold.is_none_or(|threshold| size < threshold) {
            return Kind::Ordinary;
        }
        if let Some(limit) = self.limit {
            let now = taken();
            let before = *self.before.get_or_insert(now);
            if (now + size).saturating_sub(before) < limit {
                return Kind::Ordinary;
            }
        }
        Kind::BySize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: usize = 1 << 20;

    #[test]
    fn size_and_site_decide() {
        let mut folding = Folding { sites: vec![("table".into(), false), ("matrix".into(), true)], ..MIB.into() };
        let nobody = |_: &[(String, bool)]| None;
        assert_eq!(folding.kind(2 * MIB, 16, nobody), Kind::BySize);
        assert_eq!(folding.kind(MIB / 2, 16, nobody), Kind::Ordinary);
        assert_eq!(folding.kind(2 * MIB, 16, |sites| Some(sites[0].1)), Kind::Ordinary);
        assert_eq!(folding.kind(MIB / 2, 16, |sites| Some(sites[1].1)), Kind::Folded);
        assert_eq!(folding.kind(100, 16, |sites| Some(sites[1].1)), Kind::Ordinary, "less than a page");
    }

    #[test]
    fn memory_is_folded_when_there_is_too_little() {
        let mut folding = Folding { limit: Some(64 * MIB), ..MIB.into() };
        let nobody = |_: &[(String, bool)]| None;
        assert_eq!(folding.kind(2 * MIB, 16, nobody), Kind::Ordinary);
        assert_eq!(folding.kind(100 * MIB, 16, nobody), Kind::BySize);
        assert!(Folding::by_need().limit.is_some_and(|limit| limit > MIB));
    }
}
