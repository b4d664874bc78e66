//! Which allocations share memory.

use super::PAGE;

/// Which allocations are treated apart.
#[derive(Clone, Debug, Default)]
pub struct Folding {
    /// Those from that size on.
    pub threshold: Option<usize>,
    /// But only where more than so much address space would be taken for them.
    pub limit: Option<usize>,
    /// Those that are smaller than a quarter of the largest are private; otherwise all are, but what the program itself wants
    /// to be folded.
    pub largest: bool,
    /// Those that a function asks for, or what it calls: folded whatever their size is, or never.
    pub sites: Vec<(String, bool)>,
}

impl Folding {
    /// With modelled kernels: what no longer fits in half of the memory that is free here.
    pub fn by_need() -> Folding {
        let limit = available().map_or(usize::MAX, |bytes| bytes / 2);
        Folding { threshold: Some(1 << 20), limit: Some(limit), largest: true, sites: Vec::new() }
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

/// What was asked for, and what is known of the process.
pub(super) struct Choice {
    folding: Folding,
    /// Address space that was taken before the first allocation.
    before: Option<usize>,
}

impl From<Folding> for Choice {
    fn from(folding: Folding) -> Choice {
        Choice { folding, before: None }
    }
}

/// What becomes of an allocation.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Ordinary,
    Folded,
    /// Folded if it is among the largest, otherwise private.
    BySize,
}

impl Choice {
    /// Whether what is folded is folded for lack of memory.
    pub fn is_by_need(&self) -> bool {
        self.folding.limit.is_some()
    }

    /// Whether large allocations are folded without being asked for.
    pub fn folds_largest(&self) -> bool {
        self.folding.largest
    }

    /// What becomes of an allocation.
    pub fn kind(
        &mut self,
        size: usize,
        alignment: usize,
        site: impl FnOnce(&[(String, bool)]) -> Option<bool>,
    ) -> Kind {
        if size < PAGE || alignment > PAGE {
            return Kind::Ordinary;
        }
        if !self.folding.sites.is_empty() {
            match site(&self.folding.sites) {
                Some(true) => return Kind::Folded,
                Some(false) => return Kind::Ordinary,
                None => {}
            }
        }
        if self.folding.threshold.is_none_or(|threshold| size < threshold) {
            return Kind::Ordinary;
        }
        if let Some(limit) = self.folding.limit {
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

    fn nobody(_: &[(String, bool)]) -> Option<bool> {
        None
    }

    #[test]
    fn size_and_site_decide() {
        let sites = vec![("table".into(), false), ("matrix".into(), true)];
        let mut choice = Choice::from(Folding { threshold: Some(MIB), sites, ..Folding::default() });
        assert_eq!(choice.kind(2 * MIB, 16, nobody), Kind::BySize);
        assert_eq!(choice.kind(MIB / 2, 16, nobody), Kind::Ordinary);
        assert_eq!(choice.kind(2 * MIB, 16, |sites| Some(sites[0].1)), Kind::Ordinary);
        assert_eq!(choice.kind(MIB / 2, 16, |sites| Some(sites[1].1)), Kind::Folded);
        assert_eq!(choice.kind(100, 16, |sites| Some(sites[1].1)), Kind::Ordinary, "less than a page");
    }

    #[test]
    fn memory_is_folded_when_there_is_too_little() {
        let mut choice = Choice::from(Folding { limit: Some(64 * MIB), ..Folding::by_need() });
        assert_eq!(choice.kind(2 * MIB, 16, nobody), Kind::Ordinary);
        assert_eq!(choice.kind(100 * MIB, 16, nobody), Kind::BySize);
        assert!(Folding::by_need().limit.is_some_and(|limit| limit > MIB));
    }
}
