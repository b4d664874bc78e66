//! Decision tables: an algorithm for each range of ranks and sizes.

/// Rows in order of ranks; a row holds for fewer ranks than its limit, an entry for fewer bytes than its limit.
pub type Table<A> = &'static [(u32, &'static [(u64, A)])];

/// No limit on ranks.
pub const MORE: u32 = u32::MAX;
/// No limit on bytes.
pub const REST: u64 = u64::MAX;

/// The entry for so many ranks and bytes.
///
/// Every table ends with a row without limit, and every row with an entry without limit.
pub fn look_up<A: Copy>(table: Table<A>, ranks: u32, bytes: u64) -> A {
    let (_, row) = table.iter().find(|(limit, _)| ranks < *limit).unwrap_or(&table[table.len() - 1]);
    let (_, algorithm) = row.iter().find(|(limit, _)| bytes < *limit).unwrap_or(&row[row.len() - 1]);
    *algorithm
}
