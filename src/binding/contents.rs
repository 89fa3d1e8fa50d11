//! A dump that is read again later, piece by piece, when a question needs contents.
//!
//! The file is not mapped: the mapping would have to outlive the call, and if another program truncated the
//! file, a signal would end the process. The file is not kept open either: hundreds of heaps would take as
//! many descriptors.

use std::fs::{File, Metadata};
use std::io;
use std::path::{Path, PathBuf};

use crate::error::{Error, FileAction, Result};
use crate::questions::Contents;

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
        let error = Error::DumpChanged {
            found: found.to_string(),
        };
        error.in_file(self.path.to_string_lossy())
    }
}

impl Contents for UnchangedFile {
    fn read_at(&self, offset: u64, into: &mut [u8]) -> Result<()> {
        let failed = |source: io::Error| match source.kind() {
            io::ErrorKind::NotFound => self.changed("no file"),
            _ => Error::Io {
                action: FileAction::Read,
                source,
            }
            .in_file(self.path.to_string_lossy()),
        };
        let file = File::open(&self.path).map_err(failed)?;
        let read = read_exact_at(&file, into, offset);
        // Compared after the bytes were read, so that every earlier change is detected.
        let now = Identity::of(&file.metadata().map_err(failed)?);
        if now != self.identity {
            return Err(self.changed(now.difference_from(&self.identity)));
        }
        match read {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                Err(self.changed("a shorter file"))
            }
            read => read.map_err(failed),
        }
    }
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

#[cfg(unix)]
fn read_exact_at(file: &File, into: &mut [u8], offset: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, into, offset)
}

#[cfg(windows)]
fn read_exact_at(file: &File, mut into: &mut [u8], mut offset: u64) -> io::Result<()> {
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
