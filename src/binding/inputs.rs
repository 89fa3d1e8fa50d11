//! Where the bytes of an analysis come from: the caller's memory, a copy of it, or a mapped file.

use std::fs::File;
use std::io::{self, Read};

use crate::dump;
use crate::error::{Error, Result};

/// The bytes of a dump or a module. To drop it is to give its memory back.
pub(super) enum Source<'a> {
    /// Memory of a caller who waits.
    Borrowed(&'a [u8]),
    /// A copy, for work that runs while the caller goes on; or what came through a pipe.
    Copied(Vec<u8>),
    /// A file.
    Mapped(memmap2::Mmap),
}

impl Source<'_> {
    /// The contents of a file: mapped, or read if it is a pipe.
    pub(super) fn open(path: &str) -> Result<Self> {
        let open = || {
            let failed = |action| move |source| Error::Io { action, source };
            let file = File::open(path).map_err(failed("cannot open the file"))?;
            let kind = file.metadata().map_err(failed("cannot look at the file"))?;
            if kind.is_dir() {
                let source = std::io::ErrorKind::IsADirectory.into();
                return Err(Error::Io {
                    action: "cannot read the file",
                    source,
                });
            }
            if kind.is_file() && kind.len() > 0 {
                // SAFETY: the mapping is read-only and private to us. Another process that cuts
                // the file short meanwhile makes reads beyond its new end fail with a signal; the
                // documentation of the `…File` functions asks the caller not to.
                let map = unsafe { memmap2::Mmap::map(&file) };
                return Ok(Self::Mapped(map.map_err(failed("cannot map the file"))?));
            }
            let bytes = read_stream(file).map_err(failed("cannot read the file"))?;
            Ok(Self::Copied(bytes))
        };
        open().map_err(|error| error.in_file(path))
    }
}

impl AsRef<[u8]> for Source<'_> {
    fn as_ref(&self) -> &[u8] {
        match self {
            Self::Borrowed(bytes) => bytes,
            Self::Copied(bytes) => bytes,
            Self::Mapped(map) => map,
        }
    }
}

/// All that comes out of a pipe or a device, which may never end: nothing beyond a wrong magic, and
/// not much more than an input of its kind can have.
fn read_stream(mut stream: impl Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut start = stream.by_ref().take(dump::MAGIC.len() as u64);
    start.read_to_end(&mut bytes)?;
    let is_module = bytes == *b"\0asm";
    if !is_module && bytes != dump::MAGIC {
        // The reader of the input says what is wrong with it.
        return Ok(bytes);
    }
    let largest = if is_module {
        LARGEST_MODULE
    } else {
        LARGEST_DUMP
    };
    stream.take(largest).read_to_end(&mut bytes)?;
    if is_module && bytes.len() as u64 > LARGEST_MODULE {
        return Err(io::Error::other(
            "it goes on after 1 GiB, and no engine takes a larger module",
        ));
    }
    Ok(bytes)
}

/// A header, a value for each of the at most 1,000,000 globals that engines allow, and 4 GiB of memory.
/// What is read beyond makes the memory too large.
const LARGEST_DUMP: u64 = dump::HEADER_SIZE as u64 + 4_000_000 + (1 << 32);

/// What engines allow.
const LARGEST_MODULE: u64 = 1 << 30;
