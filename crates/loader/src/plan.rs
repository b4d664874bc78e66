//! What is done with a file before anything is mapped, for tests with damaged files.

use std::path::PathBuf;

use crate::closure::Object;
use crate::elf::Elf;
use crate::error::LoadError;
use crate::layout::Layout;
use crate::link::{Group, Outside, link};
use crate::{Replacement, bridge, intercept};

/// Has everything, and it is all zero.
struct Anything;

impl Outside for Anything {
    fn replacement(&self, _: &str) -> Option<Replacement> {
        None
    }

    fn host(&self, _: &str, _: Option<&str>) -> Option<usize> {
        Some(0)
    }

    fn is_kept_apart(&self, _variable: &str) -> bool {
        false
    }

    fn host_size(&self, _: usize) -> usize {
        64
    }

    fn missing(&self, _: &str) -> Option<usize> {
        None
    }

    fn bytes(&self, _: usize, len: usize) -> Vec<u8> {
        vec![0; len]
    }

    fn thread_pointer(&self) -> usize {
        0
    }
}

/// Reads a program, links it, and looks at all that it has names for. Returns how many bytes a copy would have to
/// be filled with.
#[doc(hidden)]
pub fn plan(bytes: Vec<u8>) -> Result<usize, LoadError> {
    let elf = Elf::parse("program", Box::new(bytes))?;
    let layout = Layout::new([&elf].into_iter(), [])?;
    let object = Object {
        elf,
        name: "program".into(),
        path: PathBuf::new(),
        is_shared: false,
        is_behind: false,
        needs: Vec::new(),
        parent: None,
    };
    let scope = [Group { objects: vec![&object], layout: &layout, base: None }];
    let (template, _) = link(&scope, &[(0, 0)], &Anything)?;
    for (_, symbol) in object.elf.all_symbols() {
        let code = object.elf.contents(symbol.value, symbol.size.min(1 << 12));
        let start = layout.places[0].bias.wrapping_add(symbol.value);
        let body = intercept::decode(code, start);
        let _ = (intercept::movable(&body, start), bridge::results(&body, start));
    }
    let filled = template.finish();
    let is_private = |offset: usize| {
        let runs = layout.places.iter().flat_map(|place| &place.runs).filter(|run| run.is_private);
        runs.map(|run| &run.pages).any(|pages| pages.contains(&(offset as u64)))
            || (offset as u64 >= layout.places[0].extent.end && (offset as u64) < layout.size)
    };
    for (start, bytes) in &filled.parts {
        assert!((*start..start + bytes.len()).step_by(4096).all(is_private), "only private pages are written to");
    }
    assert!(filled.moving.iter().all(|&word| is_private(word) && is_private(word + 7)), "and only words in them");
    Ok(filled.parts.iter().map(|part| part.1.len()).sum())
}
