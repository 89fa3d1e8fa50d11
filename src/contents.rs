//! A dump that is read again later, piece by piece, when a question needs contents.
//!
//! The file is not mapped, except for exports of the command line: the mapping would have to outlive the call, and
//! if another program truncated the file, a signal would end the process. The file is kept open only during a
//! question or an export: hundreds of heaps would take as many descriptors.

use std::fs::{File, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

#[cfg(target_os = "linux")]
use memmap2::Advice;
use memmap2::Mmap;

use base::error::{Error, Result};
use base::file_action::FileAction;
#[cfg(unix)]
use base::input::ReadBytes;
use engine::DumpBytes;
use engine::heap::HeapError;
#[cfg(unix)]
use workers::work_queue::while_reading;

/// A file that must not change after the dump was opened.
#[derive(Debug)]
pub(super) struct UnchangedFile {
    path: PathBuf,
    identity: Identity,
}

impl UnchangedFile {
    /// Stores the identity of an open file.
    ///
    /// # Errors
    /// The system's error, if the path is relative and the working directory does not exist any more.
    pub(super) fn new(path: &Path, metadata: &Metadata) -> io::Result<Self> {
        Ok(Self {
            // The process may change its working directory.
            path: std::path::absolute(path)?,
            identity: Identity::of(metadata),
        })
    }

    fn changed(&self, found: impl ToString) -> Error {
        let error = Error::from(HeapError::DumpChanged {
            found: found.to_string(),
        });
        error.in_file(self.path.to_string_lossy())
    }

    fn failed(&self, source: io::Error) -> Error {
        match source.kind() {
            io::ErrorKind::NotFound => self.changed("no file"),
            _ => Error::Io {
                action: FileAction::Read,
                source,
            }
            .in_file(self.path.to_string_lossy()),
        }
    }

    /// Compares an open file with this one.
    ///
    /// # Errors
    /// [`HeapError::DumpChanged`], [`Error::Io`].
    pub(super) fn check(&self, file: &File) -> Result<()> {
        let now = Identity::of(&file.metadata().map_err(|source| self.failed(source))?);
        if now == self.identity {
            Ok(())
        } else {
            Err(self.changed(now.difference_from(&self.identity)))
        }
    }

    fn opened(&self) -> Result<OpenFile<'_>> {
        let file = open_without_waiting(&self.path).map_err(|source| self.failed(source))?;
        Ok(OpenFile {
            file,
            unchanged: self,
            map: OnceLock::new(),
            before: OnceLock::new(),
        })
    }
}

impl DumpBytes for UnchangedFile {
    fn read_at(&self, offset: u64, into: &mut [u8]) -> Result<()> {
        self.opened()?.read_at(offset, into)
    }

    fn open(&self) -> Result<Option<Box<dyn DumpBytes + '_>>> {
        Ok(Some(Box::new(self.opened()?)))
    }
}

/// Bytes of mapped pages that are kept.
const KEPT: u64 = 64 << 20;

/// The file while it is open.
struct OpenFile<'f> {
    file: File,
    unchanged: &'f UnchangedFile,
    map: OnceLock<Mmap>,
    /// Bytes of all files that were in the memory of this process before the mapping.
    before: OnceLock<Option<u64>>,
}

impl DumpBytes for OpenFile<'_> {
    fn read_at(&self, offset: u64, into: &mut [u8]) -> Result<()> {
        let Self {
            file, unchanged, ..
        } = self;
        let read = read_exact_at(file, into, offset);
        // Compared after the bytes were read, so that every earlier change is detected.
        self.check()?;
        match read {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                Err(unchanged.changed("a shorter file"))
            }
            read => read.map_err(|source| unchanged.failed(source)),
        }
    }

    fn bytes(&self, may_map: bool) -> Result<Option<&[u8]>> {
        if !may_map {
            return Ok(None);
        }
        if self.map.get().is_none() {
            // SAFETY: the mapping is read-only, and `may_map` accepts the signal for a truncated file.
            let map =
                unsafe { Mmap::map(&self.file) }.map_err(|source| self.unchanged.failed(source))?;
            // A scattered batch would otherwise map the whole dump, 2 MiB for each page that it reads.
            #[cfg(target_os = "linux")]
            {
                _ = map.advise(Advice::NoHugePage);
            }
            // Another thread may have been faster.
            _ = self.before.set(bytes_of_files());
            _ = self.map.set(map);
            // A file that is shorter already must not be read.
            self.check()?;
        }
        Ok(self.map.get().map(|map| &**map))
    }

    fn check(&self) -> Result<()> {
        self.unchanged.check(&self.file)
    }

    #[cfg(unix)]
    fn release_pages(&self) {
        let before = self.before.get().copied().flatten();
        let sizes = bytes_of_files().zip(before);
        if sizes.is_some_and(|(now, before)| now.saturating_sub(before) < KEPT) {
            return;
        }
        if let Some(map) = self.map.get() {
            map.release(0..map.len());
        }
    }
}

/// The bytes of files that are in the memory of this process; `None` where the system does not say.
fn bytes_of_files() -> Option<u64> {
    let sizes = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = sizes.split(' ').nth(2)?.parse().ok()?;
    // The least that a system has.
    Some(pages * 4096)
}

/// Properties that differ between two files, and between two versions of a file.
#[derive(Debug, PartialEq, Eq)]
struct Identity {
    /// Device and file number, if the system has them; otherwise the time of creation.
    file: (u64, u64),
    size: u64,
    /// The time of the last change, in a unit of the system.
    modified: (i64, i64),
}

impl Identity {
    #[cfg(unix)]
    fn of(metadata: &Metadata) -> Self {
        use std::os::unix::fs::MetadataExt;
        Self {
            file: (metadata.dev(), metadata.ino()),
            size: metadata.size(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
        }
    }

    #[cfg(windows)]
    fn of(metadata: &Metadata) -> Self {
        use std::os::windows::fs::MetadataExt;
        Self {
            file: (metadata.creation_time(), 0),
            size: metadata.file_size(),
            modified: (metadata.last_write_time() as i64, 0),
        }
    }

    fn difference_from(&self, earlier: &Self) -> String {
        if self.size != earlier.size {
            format!("{} bytes instead of {}", self.size, earlier.size)
        } else if self.file != earlier.file {
            "another file at its path".to_owned()
        } else {
            "a later time of modification".to_owned()
        }
    }
}

/// Opens a file. If a pipe is at its place now, nothing waits for the other end of it.
#[cfg(unix)]
fn open_without_waiting(path: &Path) -> io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;
    let flags = rustix::fs::OFlags::NONBLOCK.bits() as i32;
    File::options().read(true).custom_flags(flags).open(path)
}

#[cfg(not(unix))]
fn open_without_waiting(path: &Path) -> io::Result<File> {
    File::open(path)
}

/// Fills the buffer with the bytes at an offset.
#[cfg(unix)]
pub(super) fn read_exact_at(file: &File, into: &mut [u8], offset: u64) -> io::Result<()> {
    while_reading(|| std::os::unix::fs::FileExt::read_exact_at(file, into, offset))
}

/// Fills the buffer with the bytes at an offset.
#[cfg(windows)]
pub(super) fn read_exact_at(file: &File, mut into: &mut [u8], mut offset: u64) -> io::Result<()> {
    use std::os::windows::fs::FileExt;
    while !into.is_empty() {
        match file.seek_read(into, offset) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(length) => {
                into = &mut into[length..];
                offset += length as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
