//! Versions of symbols.

use object::elf;

use super::{Elf, Problem, wrong};

impl Elf {
    /// Versions of symbols: the names of those that this object defines and of those that it needs, by number.
    pub(super) fn read_versions(
        &mut self,
        numbers: Option<u64>,
        defined: Option<(u64, u64)>,
        needed: Option<(u64, u64)>,
    ) -> Result<(), Problem> {
        let Some(numbers) = numbers else { return Ok(()) };
        let place = self.at(numbers, self.symbols.len() as u64 * 2, "versions")?;
        let mut names: Vec<Option<u32>> = Vec::new();
        let mut name = |number: u16, place: u32| {
            let number = usize::from(number & elf::VERSYM_VERSION);
            names.resize(names.len().max(number + 1), None);
            names[number] = Some(place);
        };
        let half = |address: u64| -> Result<u16, Problem> {
            let place = self.at(address, 2, "versions")?;
            Ok(u16::from_le_bytes(self.bytes()[place].try_into().expect("two bytes")))
        };
        // Entries may lie anywhere, even in a circle; numbers of versions have 15 bits.
        let mut left = 1u32 << 15;
        let mut next = |entry: u64, distance: u32| {
            left = left.checked_sub(1).ok_or_else(|| wrong("it has too many versions"))?;
            Ok::<u64, Problem>(entry + u64::from(distance))
        };
        if let Some((mut entry, count)) = defined {
            for _ in 0..count {
                // The first auxiliary entry has the version's own name, the others those of its parents.
                let first = self.word(entry + 12)?;
                name(half(entry + 4)?, self.word(entry + u64::from(first))?);
                entry = next(entry, self.word(entry + 16)?)?;
            }
        }
        if let Some((mut entry, count)) = needed {
            for _ in 0..count {
                let mut version = entry + u64::from(self.word(entry + 8)?);
                for _ in 0..half(entry + 2)? {
                    name(half(version + 6)?, self.word(version + 8)?);
                    version = next(version, self.word(version + 12)?)?;
                }
                entry = next(entry, self.word(entry + 12)?)?;
            }
        }
        let numbers = self.bytes()[place].chunks_exact(2).map(|one| u16::from_le_bytes([one[0], one[1]]));
        let versions: Vec<_> = numbers
            .map(|number| {
                let index = usize::from(number & elf::VERSYM_VERSION);
                // 0 and 1 stand for none.
                let name = names.get(index).copied().flatten().filter(|_| index > 1)?;
                Some((name, number & elf::VERSYM_HIDDEN.0 == 0))
            })
            .collect();
        for (symbol, version) in self.symbols.iter_mut().zip(versions) {
            symbol.version = version;
        }
        Ok(())
    }
}
