//! A type map: bounds, layout and signature, put together by repeating and joining.
//!
//! Every constructor of the standard is made of these two.

use std::rc::Rc;

use super::DatatypeError;
use super::basic::Basic;
use super::bounds::Bounds;
use super::layout::{Layout, List};
use super::signature::Signature;

/// Of which basic elements the bytes of a layout are.
#[derive(Clone, Debug)]
pub(super) enum Typed {
    Nothing,
    /// All the same: the layout of the bytes tells all.
    Uniform(Basic),
    /// A layout of its own, with [`Layout::Elements`] in it.
    Mixed(Layout),
}

impl Typed {
    /// The layout with its elements named.
    pub fn layout(&self, bytes: &Layout) -> Layout {
        match self {
            Typed::Nothing => Layout::Nothing,
            Typed::Uniform(basic) => Layout::Elements { offset: 0, basic: *basic, body: Rc::new(bytes.clone()) },
            Typed::Mixed(layout) => layout.clone(),
        }
    }
}

#[derive(Clone, Debug)]
pub(super) struct TypeMap {
    pub bounds: Bounds,
    pub bytes: Layout,
    pub typed: Typed,
    pub signature: Signature,
}

impl TypeMap {
    pub fn of(basic: Basic) -> TypeMap {
        let (bytes, typed) = if basic.size() == 0 {
            (Layout::Nothing, Typed::Nothing)
        } else if basic.size() == basic.end() {
            (Layout::run(0, basic.size()), Typed::Uniform(basic))
        } else {
            // The gap of MPI_SHORT_INT: its bytes are two runs, but it is one element.
            let first = basic.pair().map_or(0, |(first, _)| first.size());
            let mut bytes = List::new();
            bytes.push(Layout::run(0, first));
            bytes.push(Layout::run(basic.second_offset(), basic.size() - first));
            let element = Rc::new(Layout::run(0, basic.size()));
            (bytes.finish(), Typed::Mixed(Layout::Elements { offset: 0, basic, body: element }))
        };
        TypeMap { bounds: Bounds::of(basic), bytes, typed, signature: Signature::of(basic) }
    }

    pub fn shifted(self, by: i64) -> Result<TypeMap, DatatypeError> {
        let bounds = self.bounds.shifted(by).ok_or(DatatypeError::Overflow)?;
        let typed = match self.typed {
            Typed::Mixed(layout) => Typed::Mixed(layout.shifted(by)),
            typed => typed,
        };
        Ok(TypeMap { bounds, bytes: self.bytes.shifted(by), typed, signature: self.signature })
    }

    /// `count` times, `stride` bytes apart.
    pub fn repeated(&self, count: i64, stride: i64) -> Result<TypeMap, DatatypeError> {
        let bounds = self.bounds.repeated(count, stride).ok_or(DatatypeError::Overflow)?;
        let typed = match &self.typed {
            _ if count == 0 => Typed::Nothing,
            Typed::Mixed(layout) => Typed::Mixed(layout.clone().repeated(count, stride)),
            typed => typed.clone(),
        };
        let bytes = self.bytes.clone().repeated(count, stride);
        Ok(TypeMap { bounds, bytes, typed, signature: self.signature.times(count) })
    }

    pub fn padded(mut self) -> Result<TypeMap, DatatypeError> {
        self.bounds = self.bounds.padded()?;
        Ok(self)
    }

    pub fn resized(mut self, lb: i64, extent: i64) -> Result<TypeMap, DatatypeError> {
        self.bounds = self.bounds.resized(lb, extent)?;
        Ok(self)
    }
}

/// Type maps one after the other.
pub(super) struct Joiner {
    bounds: Bounds,
    bytes: List,
    typed: Elements,
    signature: Signature,
}

enum Elements {
    Nothing,
    Uniform(Basic),
    Mixed(List),
}

impl Joiner {
    pub fn new() -> Joiner {
        Joiner { bounds: Bounds::EMPTY, bytes: List::new(), typed: Elements::Nothing, signature: Signature::EMPTY }
    }

    pub fn push(&mut self, part: TypeMap) -> Result<(), DatatypeError> {
        self.bounds = self.bounds.joined(part.bounds).ok_or(DatatypeError::Overflow)?;
        self.signature = self.signature.then(part.signature);
        match (&mut self.typed, &part.typed) {
            (_, Typed::Nothing) => {}
            (Elements::Nothing, Typed::Uniform(basic)) => self.typed = Elements::Uniform(*basic),
            (Elements::Uniform(one), Typed::Uniform(other)) if one == other => {}
            (Elements::Mixed(list), typed) => list.push(typed.layout(&part.bytes)),
            (before, typed) => {
                let mut list = List::new();
                if let Elements::Uniform(basic) = before {
                    list.push(Typed::Uniform(*basic).layout(&self.bytes.clone().finish()));
                }
                list.push(typed.layout(&part.bytes));
                self.typed = Elements::Mixed(list);
            }
        }
        self.bytes.push(part.bytes);
        Ok(())
    }

    pub fn finish(self) -> TypeMap {
        let typed = match self.typed {
            Elements::Nothing => Typed::Nothing,
            Elements::Uniform(basic) => Typed::Uniform(basic),
            Elements::Mixed(list) => Typed::Mixed(list.finish()),
        };
        TypeMap { bounds: self.bounds, bytes: self.bytes.finish(), typed, signature: self.signature }
    }
}
