//! Where libraries are found, as the dynamic linker does (ld.so(8)).

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use crate::elf::Elf;

/// Where libraries are if nobody says more.
const STANDARD: [&str; 6] =
    ["/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/lib64", "/usr/lib64", "/lib", "/usr/lib"];

/// Finds a library that is needed by an object, which is needed by others up to the program. Returns the folders that it
/// has searched if there is none.
pub fn find(library: &str, needed_by: &[(&Elf, &Path)]) -> Result<PathBuf, Vec<String>> {
    if library.contains('/') {
        let path = PathBuf::from(library);
        return if path.is_file() { Ok(path) } else { Err(vec![library.into()]) };
    }
    let mut searched = Vec::new();
    let mut look = |folder: PathBuf| {
        let path = folder.join(library);
        searched.push(folder.display().to_string());
        is_for_us(&path).then_some(path)
    };
    let folders = |list: &Option<String>, origin: &Path| -> Vec<PathBuf> {
        let folder = origin.parent().unwrap_or(Path::new("/")).display().to_string();
        let list = list.iter().flat_map(|list| list.split(':')).filter(|folder| !folder.is_empty());
        list.map(|one| one.replace("${ORIGIN}", &folder).replace("$ORIGIN", &folder).into()).collect()
    };
    // A RUNPATH replaces the RPATHs of all who need the object.
    let has_runpath = needed_by.first().is_some_and(|(elf, _)| elf.runpath.is_some());
    let rpaths = needed_by.iter().filter(|(elf, _)| !has_runpath && elf.runpath.is_none());
    let rpaths = rpaths.flat_map(|(elf, origin)| folders(&elf.rpath, origin));
    let variable = env::var_os("LD_LIBRARY_PATH");
    let variable = variable.iter().flat_map(env::split_paths);
    let variable = variable.map(|folder| if folder.as_os_str().is_empty() { ".".into() } else { folder });
    let runpath = needed_by.iter().take(1).flat_map(|(elf, origin)| folders(&elf.runpath, origin));
    for folder in rpaths.chain(variable).chain(runpath) {
        if let Some(path) = look(folder) {
            return Ok(path);
        }
    }
    let cached = from_cache(cache(), library);
    if let Some(path) = cached.map(PathBuf::from).filter(|path| is_for_us(path)) {
        return Ok(path);
    }
    STANDARD.iter().find_map(|folder| look(folder.into())).ok_or(searched)
}

/// Where a library is if the program that needs it says nothing.
pub fn find_usual(library: &str) -> Option<PathBuf> {
    find(library, &[]).ok()
}

/// Libraries for other machines are passed over.
fn is_for_us(path: &Path) -> bool {
    use std::io::Read;
    let mut start = [0; 20];
    let read = fs::File::open(path).and_then(|mut file| file.read_exact(&mut start));
    read.is_ok() && start[..6] == [0x7f, b'E', b'L', b'F', 2, 1] && start[18..20] == [62, 0]
}

fn cache() -> &'static [u8] {
    static CACHE: OnceLock<Vec<u8>> = OnceLock::new();
    CACHE.get_or_init(|| fs::read("/etc/ld.so.cache").unwrap_or_default())
}

/// Looks a library up in the cache that ldconfig writes: a header of 48 bytes, then 24 bytes an entry, then texts.
fn from_cache<'a>(cache: &'a [u8], library: &str) -> Option<&'a str> {
    const MAGIC: &[u8] = b"glibc-ld.so.cache1.1";
    /// `FLAG_ELF_LIBC6` and `FLAG_X8664_LIB64`.
    const KIND: u32 = 0x0303;
    // Files for older systems have another table before it.
    let start = cache.windows(MAGIC.len()).position(|window| window == MAGIC)?;
    let cache = &cache[start..];
    let word = |place: usize| Some(u32::from_le_bytes(cache.get(place..place.checked_add(4)?)?.try_into().ok()?));
    let text = |place: u32| {
        let rest = cache.get(place as usize..)?;
        str::from_utf8(&rest[..rest.iter().position(|&byte| byte == 0)?]).ok()
    };
    let entries = (0..word(20)? as usize).map(|number| 48 + number * 24).take_while(|entry| entry + 24 <= cache.len());
    entries
        .filter(|&entry| word(entry) == Some(KIND))
        // Libraries for certain processors only.
        .filter(|&entry| word(entry + 16) == Some(0) && word(entry + 20) == Some(0))
        .find(|&entry| word(entry + 4).and_then(text) == Some(library))
        .and_then(|entry| text(word(entry + 8)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A cache with one entry.
    fn small_cache() -> Vec<u8> {
        let mut cache = b"glibc-ld.so.cache1.1".to_vec();
        cache.extend(1u32.to_le_bytes());
        cache.resize(48, 0);
        for word in [0x0303u32, 72, 80, 0, 0, 0] {
            cache.extend(word.to_le_bytes());
        }
        cache.extend(b"liba.so\0/opt/liba.so\0");
        cache
    }

    #[test]
    fn the_cache_is_read() {
        let mut cache = small_cache();
        cache[48 + 8] = 80;
        assert_eq!(from_cache(&cache, "liba.so"), Some("/opt/liba.so"));
        assert_eq!(from_cache(&cache, "libb.so"), None);
        let old = [b"ld.so-1.7.0".to_vec(), cache].concat();
        assert_eq!(from_cache(&old, "liba.so"), Some("/opt/liba.so"));
    }

    #[test]
    fn damaged_caches_find_nothing_or_something() {
        let cache = small_cache();
        for cut in 0..cache.len() {
            from_cache(&cache[..cut], "liba.so");
            for byte in [0, 0x7f, 0xff] {
                let mut other = cache.clone();
                other[cut] = byte;
                from_cache(&other, "liba.so");
            }
        }
    }
}
