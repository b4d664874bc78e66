//! The program and all libraries that it needs, breadth first.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};

use crate::elf::Elf;
use crate::error::LoadError;
use crate::host::{Host, Mapped};
use crate::search;
use crate::{Environment, Treatment};

/// A program or a library that is loaded here.
pub struct Object {
    /// What the file says.
    pub elf: Elf,
    /// The name that others need it by; of the program, that of its file.
    pub name: String,
    /// Its file.
    pub path: PathBuf,
    /// All copies share it.
    pub is_shared: bool,
    /// Its definitions come after those of the environment.
    pub is_behind: bool,
    /// Numbers of objects that it needs.
    pub needs: Vec<usize>,
    /// Who needed it first.
    pub parent: Option<usize>,
}

/// The program and its libraries.
pub struct Closure {
    /// The program is first.
    pub objects: Vec<Object>,
    /// Names of all libraries, whatever becomes of them.
    pub needed: Vec<String>,
    /// Those that the process has.
    pub host: Host,
}

impl Closure {
    /// Reads the program and its libraries.
    pub fn read(path: &Path, environment: &dyn Environment) -> Result<Self, LoadError> {
        let program = read(path)?;
        if !program.is_program {
            return Err(LoadError::NotAProgram { file: program.file });
        }
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        // $ORIGIN is the folder of the file itself, not of a link to it.
        let path = path.canonicalize().unwrap_or_else(|_| path.into());
        let (is_shared, is_behind) = (false, false);
        let program = Object { elf: program, name, path, is_shared, is_behind, needs: Vec::new(), parent: None };
        let mut closure = Closure { objects: vec![program], needed: Vec::new(), host: Host::default() };
        let mut waiting = VecDeque::from([0]);
        for library in environment.preloaded() {
            closure.need(&library, 0, environment, &mut waiting)?;
        }
        while let Some(number) = waiting.pop_front() {
            for library in closure.objects[number].elf.needed.clone() {
                closure.need(&library, number, environment, &mut waiting)?;
            }
        }
        Ok(closure)
    }

    fn need(
        &mut self,
        library: &str,
        number: usize,
        environment: &dyn Environment,
        waiting: &mut VecDeque<usize>,
    ) -> Result<(), LoadError> {
        let known =
            self.objects.iter().position(|one| one.name == library || one.elf.soname.as_deref() == Some(library));
        if let Some(known) = known {
            self.objects[number].needs.push(known);
            return Ok(());
        }
        if self.needed.iter().any(|known| known == library) {
            return Ok(());
        }
        self.needed.push(library.into());
        let treatment = environment.treatment(library.rsplit('/').next().unwrap_or(library));
        match treatment {
            Treatment::Replaced => Ok(()),
            Treatment::Host => self.open_host(library, number),
            Treatment::Once | Treatment::Private | Treatment::PrivateBehind => {
                let path = self.find(library, number)?;
                let elf = read(&path)?;
                let (is_shared, is_behind) = (treatment == Treatment::Once, treatment == Treatment::PrivateBehind);
                let (name, needs, parent) = (library.to_string(), Vec::new(), Some(number));
                self.objects.push(Object { elf, name, path, is_shared, is_behind, needs, parent });
                let new = self.objects.len() - 1;
                self.objects[number].needs.push(new);
                waiting.push_back(new);
                Ok(())
            }
        }
    }

    fn find(&self, library: &str, number: usize) -> Result<PathBuf, LoadError> {
        let mut chain = Vec::new();
        let mut next = Some(number);
        while let Some(number) = next {
            let object = &self.objects[number];
            chain.push((&object.elf, object.path.as_path()));
            next = object.parent;
        }
        search::find(library, &chain).map_err(|searched| LoadError::MissingLibrary {
            library: library.into(),
            needed_by: self.objects[number].name.clone(),
            searched,
        })
    }

    fn open_host(&mut self, library: &str, number: usize) -> Result<(), LoadError> {
        // By its name, so that the one that the process has is taken; else where the program would find it.
        let Err(problem) = self.host.open(library) else { return Ok(()) };
        let path = self.find(library, number)?;
        if self.host.open(&path.to_string_lossy()).is_ok() {
            return Ok(());
        }
        let needed_by = self.objects[number].name.clone();
        Err(LoadError::HostLibrary { library: library.into(), needed_by, problem })
    }

    /// Numbers of the objects in the order in which they are initialised: those that an object needs before itself.
    pub fn order(&self) -> Vec<usize> {
        let mut order = Vec::new();
        let mut seen = vec![false; self.objects.len()];
        // Objects with what they still wait for; no recursion, since files may need each other in long chains.
        let mut stack = vec![(0, 0)];
        seen[0] = true;
        while let Some((number, done)) = stack.last_mut() {
            let number = *number;
            if let Some(&next) = self.objects[number].needs.get(*done) {
                *done += 1;
                if !seen[next] {
                    seen[next] = true;
                    stack.push((next, 0));
                }
            } else {
                order.push(number);
                stack.pop();
            }
        }
        order
    }
}

fn read(path: &Path) -> Result<Elf, LoadError> {
    let file = path.display().to_string();
    let bytes = Mapped::open(path).map_err(|error| LoadError::Unreadable { file: file.clone(), error })?;
    Elf::parse(&file, Box::new(bytes))
}
