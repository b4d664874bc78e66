//! Files of MPI-IO: files of this computer, seen through views, in simulated time.
//!
//! Data is read and written when the rank's call comes in simulated time, one rank after the other. How long that takes is what the
//! machine file says of the file system.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::rc::Rc;

use hpcast_objects::{Datatype, ErrorClass, Info};
use hpcast_platform::machine::Io;
use hpcast_units::Time;

use crate::communicator::Communicator;
use crate::fault::Handler;
use crate::operation::Active;

/// The file system that all nodes share: it serves requests in the order in which they come, each with all that it has, and so
/// does the way of each node to it.
pub struct FileSystem {
    io: Io,
    /// When all requests so far are served.
    busy: Cell<Time>,
    /// The same for each node.
    nodes: RefCell<BTreeMap<u32, Time>>,
    used: Cell<bool>,
}

impl FileSystem {
    /// One that nobody has used.
    pub fn new(io: &Io) -> FileSystem {
        FileSystem { io: *io, busy: Cell::new(Time::ZERO), nodes: RefCell::default(), used: Cell::new(false) }
    }

    /// When an operation ends that comes at `now` from a node and moves so many bytes.
    pub fn serve(&self, now: Time, node: u32, bytes: u64) -> Time {
        self.used.set(true);
        let begun = now + Time::from_secs(self.io.latency.map_or(0.0, |latency| latency.get()));
        let mut end = begun;
        if let Some(rate) = self.io.bandwidth {
            let served = self.busy.get().max(begun) + Time::from_secs(bytes as f64 / rate.get());
            self.busy.set(served);
            end = end.max(served);
        }
        if let Some(rate) = self.io.node_bandwidth {
            let mut nodes = self.nodes.borrow_mut();
            let busy = nodes.entry(node).or_default();
            *busy = (*busy).max(begun) + Time::from_secs(bytes as f64 / rate.get());
            end = end.max(*busy);
        }
        end
    }

    /// Whether it was used and cost nothing.
    pub fn was_free(&self) -> bool {
        self.used.get() && self.io.is_free()
    }
}

/// How data looks in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Representation {
    /// As in memory.
    Native,
    /// As in memory, too.
    Internal,
    /// Big-endian, with sizes that the standard fixes.
    External32,
}

impl Representation {
    /// By its name.
    pub fn of(name: &str) -> Option<Representation> {
        match name {
            "native" => Some(Representation::Native),
            "internal" => Some(Representation::Internal),
            "external32" => Some(Representation::External32),
            _ => None,
        }
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Representation::Native => "native",
            Representation::Internal => "internal",
            Representation::External32 => "external32",
        }
    }
}

/// Which parts of a file a rank sees.
#[derive(Clone)]
pub struct View {
    /// Where it begins.
    pub displacement: i64,
    /// What positions count.
    pub etype: Datatype,
    /// What is seen, over and over.
    pub filetype: Datatype,
    /// How data looks.
    pub representation: Representation,
}

impl View {
    /// Bytes of an element.
    pub fn unit(&self) -> i64 {
        self.etype.size().max(1)
    }

    /// Where the bytes from `begin` to `begin + length` of what is seen lie in the file: offsets and lengths.
    pub fn ranges(&self, begin: i64, length: i64) -> Vec<(i64, i64)> {
        let filetype = &self.filetype;
        let size = filetype.size();
        if length <= 0 || size <= 0 {
            return Vec::new();
        }
        if filetype.is_contiguous() && filetype.true_lb() == 0 {
            return vec![(self.displacement + begin, length)];
        }
        let mut rest = length;
        let items = (begin + length) / size + 1;
        let mut found = Vec::new();
        for (offset, bytes) in filetype.ranges_from(begin, items) {
            let bytes = bytes.min(rest);
            found.push((self.displacement + offset, bytes));
            rest -= bytes;
            if rest == 0 {
                break;
            }
        }
        found
    }

    /// Where in the file an element begins.
    pub fn byte_of(&self, element: i64) -> i64 {
        let at = self.ranges(element * self.unit(), 1);
        at.first().map_or(self.displacement, |&(offset, _)| offset)
    }

    /// How many elements begin before byte `end` of the file.
    pub fn elements_before(&self, end: i64) -> i64 {
        let room = end - self.displacement;
        let (size, extent) = (self.filetype.size(), self.filetype.extent());
        if room <= 0 || size <= 0 || extent <= 0 {
            return 0;
        }
        let (whole, part) = (room / extent, room % extent);
        let inside = |(offset, bytes): (i64, i64)| (part - offset).clamp(0, bytes);
        let bytes = whole * size + self.filetype.ranges(1).map(inside).sum::<i64>();
        (bytes + self.unit() - 1) / self.unit()
    }
}

/// An open file, as one rank sees it.
pub struct File {
    /// What is done about faults.
    pub handler: Cell<Handler>,
    /// Those who have opened it together, with a context of their own.
    pub comm: Communicator,
    /// How it was opened.
    pub amode: i32,
    /// What all of them share.
    pub shared: Rc<SharedFile>,
    /// What I see of it.
    pub view: RefCell<View>,
    /// My position in elements of the view.
    pub position: Cell<i64>,
    /// MPI_File_set_info.
    pub info: RefCell<Info>,
    /// MPI_File_set_atomicity; accesses are atomic anyway.
    pub atomic: Cell<bool>,
    /// A split collective operation that has begun.
    pub split: RefCell<Option<Active>>,
}

/// What all ranks share of an open file.
pub struct SharedFile {
    /// The file itself; none where ranks are processes, which have no open files in common.
    pub file: Option<fs::File>,
    /// How it is opened.
    pub options: fs::OpenOptions,
    /// Where it is.
    pub path: PathBuf,
    /// The shared position in elements of the view.
    pub position: Cell<i64>,
}

/// A file for one access.
enum Opened<'f> {
    Kept(&'f fs::File),
    Anew(fs::File),
}

impl std::ops::Deref for Opened<'_> {
    type Target = fs::File;

    fn deref(&self) -> &fs::File {
        match self {
            Opened::Kept(file) => file,
            Opened::Anew(file) => file,
        }
    }
}

impl SharedFile {
    /// Bytes of the file.
    pub fn size(&self) -> io::Result<i64> {
        Ok(self.open()?.metadata()?.len() as i64)
    }

    /// The file, opened.
    fn open(&self) -> io::Result<Opened<'_>> {
        match &self.file {
            Some(file) => Ok(Opened::Kept(file)),
            None => self.options.open(&self.path).map(Opened::Anew),
        }
    }

    /// Makes it so long.
    pub fn set_size(&self, bytes: u64) -> io::Result<()> {
        self.open()?.set_len(bytes)
    }

    /// Writes data into ranges of the file.
    pub fn write(&self, ranges: &[(i64, i64)], mut data: &[u8]) -> io::Result<()> {
        let file = self.open()?;
        for &(offset, length) in ranges {
            let (now, later) = data.split_at((length as usize).min(data.len()));
            file.write_all_at(now, offset as u64)?;
            data = later;
        }
        Ok(())
    }

    /// Reads ranges of the file, as far as it goes.
    pub fn read(&self, ranges: &[(i64, i64)]) -> io::Result<Vec<u8>> {
        let total: i64 = ranges.iter().map(|&(_, length)| length).sum();
        let mut data = vec![0; total as usize];
        let mut filled = 0;
        let file = self.open()?;
        'ranges: for &(offset, length) in ranges {
            let end = filled + length as usize;
            let mut offset = offset as u64;
            while filled < end {
                match file.read_at(&mut data[filled..end], offset) {
                    Ok(0) => break 'ranges,
                    Ok(bytes) => {
                        filled += bytes;
                        offset += bytes as u64;
                    }
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    Err(error) => return Err(error),
                }
            }
        }
        data.truncate(filled);
        Ok(data)
    }
}

/// The class of what went wrong with a file.
pub fn class_of(error: &io::Error) -> ErrorClass {
    match error.kind() {
        io::ErrorKind::NotFound => ErrorClass::NoSuchFile,
        io::ErrorKind::PermissionDenied => ErrorClass::Access,
        io::ErrorKind::AlreadyExists => ErrorClass::FileExists,
        io::ErrorKind::ReadOnlyFilesystem => ErrorClass::ReadOnly,
        io::ErrorKind::StorageFull => ErrorClass::NoSpace,
        io::ErrorKind::QuotaExceeded => ErrorClass::Quota,
        io::ErrorKind::IsADirectory | io::ErrorKind::NotADirectory | io::ErrorKind::InvalidFilename => {
            ErrorClass::BadFile
        }
        _ => ErrorClass::Io,
    }
}

#[cfg(test)]
mod tests {
    use hpcast_objects::Basic;
    use hpcast_units::{Bandwidth, Seconds};

    use super::*;

    fn every_third() -> View {
        let int = Datatype::basic(Basic::Int);
        let filetype = Datatype::resized(&int, 0, 12).unwrap();
        View { displacement: 100, etype: int, filetype, representation: Representation::Native }
    }

    #[test]
    fn a_view_leaves_gaps() {
        let view = every_third();
        assert_eq!(view.ranges(0, 12), [(100, 4), (112, 4), (124, 4)]);
        assert_eq!(view.ranges(6, 4), [(114, 2), (124, 2)]);
        assert!(view.ranges(8, 0).is_empty());
        assert_eq!(view.elements_before(100), 0);
        assert_eq!(view.elements_before(101), 1);
        assert_eq!(view.elements_before(112), 1);
        assert_eq!(view.elements_before(125), 3);
    }

    #[test]
    fn who_comes_later_waits() {
        let rate = |bytes_a_second| Some(Bandwidth::new(bytes_a_second));
        let io = Io { bandwidth: rate(100.0), node_bandwidth: rate(50.0), latency: Some(Seconds::new(1.0)) };
        let system = FileSystem::new(&io);
        let serve = |now, node| system.serve(Time::from_secs(now), node, 100).as_secs();
        assert_eq!(serve(0.0, 0), 3.0);
        // The file system is busy until 2 s, the other node's way is free.
        assert_eq!(serve(0.0, 1), 3.0);
        assert_eq!(serve(0.0, 0), 5.0);
        assert_eq!(serve(10.0, 0), 13.0);
        assert!(!system.was_free());
    }

    #[test]
    fn files_are_free_where_nothing_is_said() {
        let system = FileSystem::new(&Io::default());
        assert!(!system.was_free());
        assert_eq!(system.serve(Time::from_secs(2.0), 0, 1 << 40), Time::from_secs(2.0));
        assert!(system.was_free());
    }
}
