//! A program that has been read and linked, ready to be copied.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::Environment;
use crate::closure::Closure;
use crate::error::LoadError;
use crate::image::Image;
use crate::instance::Instance;
use crate::intercept::Replaced;
use crate::names::Location;
use crate::process::Process;

/// A program and its libraries, ready to be copied. Copies keep what they need of it.
#[derive(Clone)]
pub struct Program {
    pub(crate) inner: Arc<Inner>,
}

pub(crate) struct Inner {
    /// What every copy has.
    pub image: Image,
    /// What all copies share.
    pub shared: Option<Shared>,
    /// Functions that have been replaced.
    pub replaced: Replaced,
    needed: Vec<String>,
}

/// Objects that all copies share.
pub(crate) struct Shared {
    pub image: Image,
    /// The only copy.
    pub base: usize,
    pub is_initialised: AtomicBool,
}

impl Drop for Shared {
    fn drop(&mut self) {
        // SAFETY: copies keep the program, so there are none that could use it.
        unsafe { self.image.space.give(self.base) };
    }
}

impl Program {
    /// Reads a program and the libraries that it needs, and finds what all their symbols mean.
    pub fn open(path: &Path, environment: &dyn Environment) -> Result<Self, LoadError> {
        let closure = Closure::read(path, environment)?;
        let sequence = closure.order();
        let Closure { objects, needed, host } = closure;
        let outside = Process { environment, host };
        // For each object whether it is shared, and its number among those that are, or are not.
        let mut scope = Vec::new();
        let (mut own, mut common) = (Vec::new(), Vec::new());
        for object in objects {
            let group = if object.is_shared { &mut common } else { &mut own };
            scope.push((usize::from(object.is_shared), group.len()));
            group.push(object);
        }
        let order =
            |group| sequence.iter().map(|&one| scope[one]).filter(|one| one.0 == group).map(|one| one.1).collect();
        let mut shared = None;
        if !common.is_empty() {
            let among: Vec<(usize, usize)> = (0..common.len()).map(|number| (0, number)).collect();
            let image = Image::new(common, order(1), None, &among, &outside)?;
            let base = image.copy()?;
            shared = Some(Shared { image, base, is_initialised: AtomicBool::new(false) });
        }
        let beside = shared.as_ref().map(|shared| (&shared.image, shared.base));
        let image = Image::new(own, order(0), beside, &scope, &outside)?;
        Ok(Self { inner: Arc::new(Inner { image, shared, replaced: Replaced::default(), needed }) })
    }

    /// Makes a copy. Nothing of it has run yet: see [`Instance::initialise_libraries`].
    pub fn instantiate(&self) -> Result<Instance, LoadError> {
        let base = self.inner.image.copy()?;
        Ok(Instance::new(self.inner.clone(), base))
    }

    /// Names of all libraries that the program or its libraries need, whatever becomes of them.
    pub fn needed(&self) -> &[String] {
        &self.inner.needed
    }

    /// Bytes below the thread pointer that must be exchanged when another copy runs ([`Instance::save_thread_local`]); often 0.
    pub fn thread_local_size(&self) -> usize {
        let zone = &self.inner.image.layout.zone;
        (zone.end - zone.start) as usize
    }

    /// Where they are in this thread.
    pub fn thread_local_zone(&self) -> std::ops::Range<usize> {
        let end = crate::host::thread_pointer();
        end - self.thread_local_size()..end
    }

    /// Addresses that a copy takes, in bytes; most of them without memory.
    pub fn size(&self) -> usize {
        self.inner.image.layout.size as usize
    }

    /// Memory that a new copy takes, in bytes.
    pub fn memory(&self) -> usize {
        self.inner.image.memory()
    }

    /// Mappings that a copy takes.
    pub fn mappings(&self) -> usize {
        self.inner.image.layout.mappings()
    }

    /// Whether the program or its libraries have a symbol, also one that only they know.
    pub fn has(&self, symbol: &str) -> bool {
        self.inner.image.find(symbol).is_some()
    }

    /// Whether the program or its libraries use or have a symbol that others can see.
    pub fn mentions(&self, symbol: &str) -> bool {
        let objects = &self.inner.image.objects;
        objects.iter().any(|object| object.elf.symbols.iter().any(|one| object.elf.name(one) == symbol))
    }

    /// Names of all functions of the program and its libraries, as far as they have names.
    pub fn functions(&self) -> Vec<String> {
        self.inner.image.functions()
    }

    /// What is at an address in any of the copies, or in what they share.
    pub fn describe(&self, address: usize) -> Option<Location> {
        let shared = self.inner.shared.as_ref().map(|shared| &shared.image);
        let mut images = [&self.inner.image].into_iter().chain(shared);
        images.find_map(|image| image.describe(address - image.space.copy_at(address)?))
    }
}
