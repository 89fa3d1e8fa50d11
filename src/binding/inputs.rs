//! Where the bytes of an analysis come from: the caller's memory, a copy of it, or a file.

use std::fs::{File, Metadata};
use std::io::{self, Read};

use crate::columns;
use crate::control::Control;
use crate::dump;
use crate::error::{Error, Result};
use crate::program::Input;

/// The bytes of a dump or a module. To drop it is to give its memory back.
pub(super) enum Source<'a> {
    /// Memory of a caller who waits.
    Borrowed(&'a [u8]),
    /// A copy, for work that runs while the caller goes on; or what came through a pipe.
    Copied(Vec<u8>),
    /// A file.
    Mapped(memmap2::Mmap),
}

/// Bytes with the name that errors call them by.
pub(super) type SourceInput<'a> = Input<'a, Source<'a>>;

impl<'a> SourceInput<'a> {
    /// Memory of a caller who waits.
    pub(super) fn borrowed(name: &'a str, bytes: &'a [u8]) -> Self {
        Input {
            name,
            bytes: Source::Borrowed(bytes),
        }
    }

    /// The contents of a file: mapped, or read if it is a pipe.
    pub(super) fn opened(path: &'a str) -> Result<Self> {
        Ok(Input {
            name: path,
            bytes: Source::open(path, &Control::default()).map_err(|error| error.in_file(path))?,
        })
    }
}

/// An input of work that begins later.
pub(super) struct Pending {
    /// A path, or what an argument is called.
    name: String,
    /// `None` if it is a file that nobody has opened yet.
    source: Option<Source<'static>>,
}

impl Pending {
    /// A copy of a caller's memory.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub(super) fn copied(name: &str, bytes: &[u8]) -> Result<Self> {
        let copy = columns::collected(bytes.iter().copied())?;
        Ok(Self {
            name: name.to_owned(),
            source: Some(Source::Copied(copy)),
        })
    }

    /// A file, to be opened when the work begins.
    pub(super) fn file(path: String) -> Self {
        Self {
            name: path,
            source: None,
        }
    }

    /// Whether it is to be read, and that may take for ever.
    ///
    /// # Errors
    /// [`Error::Io`] if there is no such file.
    pub(super) fn is_pipe(&self) -> Result<bool> {
        if self.source.is_some() {
            return Ok(false);
        }
        let kind = std::fs::metadata(&self.name).map_err(failed("cannot open the file"));
        let kind = kind.map_err(|error| error.in_file(&self.name))?;
        Ok(!kind.is_file() && !kind.is_dir())
    }

    /// Reads the file to its end, if it is one.
    ///
    /// # Errors
    /// [`Error::Io`], [`Error::OutOfMemory`], [`Error::Aborted`].
    pub(super) fn open(&mut self, control: &Control) -> Result<()> {
        if self.source.is_none() {
            let source = Source::open(&self.name, control);
            self.source = Some(source.map_err(|error| error.in_file(&self.name))?);
        }
        Ok(())
    }

    /// The bytes, once it is open.
    pub(super) fn input(&mut self) -> SourceInput<'_> {
        let source = self.source.take();
        Input {
            name: &self.name,
            bytes: source.unwrap_or(Source::Borrowed(&[])),
        }
    }
}

impl Source<'_> {
    fn open(path: &str, control: &Control) -> Result<Self> {
        let file = File::open(path).map_err(failed("cannot open the file"))?;
        let kind = file.metadata().map_err(failed("cannot look at the file"))?;
        if kind.is_dir() {
            let directory = io::ErrorKind::IsADirectory.into();
            return Err(failed("cannot read the file")(directory));
        }
        if is_mappable(&kind) {
            // SAFETY: the mapping is read-only and private to us. Another process that cuts
            // the file short meanwhile makes reads beyond its new end fail with a signal; the
            // documentation of the `…File` functions asks the caller not to.
            let map = unsafe { memmap2::Mmap::map(&file) };
            return Ok(Self::Mapped(
                map.map_err(|error| out_of_memory(error, kind.len()))?,
            ));
        }
        read_to_end(file, control).map(Self::Copied)
    }
}

fn is_mappable(kind: &Metadata) -> bool {
    kind.is_file() && kind.len() > 0
}

/// Reads what has no length beforehand.
fn read_to_end(mut file: File, control: &Control) -> Result<Vec<u8>> {
    const PIECE: u64 = 1 << 16;
    let mut bytes = Vec::new();
    loop {
        control.check()?;
        if bytes.capacity() - bytes.len() < PIECE as usize {
            let more = bytes.len().max(PIECE as usize);
            columns::reserve(&mut bytes, more)?;
        }
        let read = (&mut file).take(PIECE).read_to_end(&mut bytes);
        let read = read.map_err(failed("cannot read the file"))?;
        if read == 0 || bytes.len() as u64 >= LARGEST_INPUT {
            return Ok(bytes);
        }
    }
}

fn failed(action: &'static str) -> impl Fn(io::Error) -> Error {
    move |source| Error::Io { action, source }
}

/// A file that cannot be mapped for lack of memory is no fault of the file.
fn out_of_memory(error: io::Error, bytes: u64) -> Error {
    match error.kind() {
        io::ErrorKind::OutOfMemory => Error::OutOfMemory { bytes },
        _ => failed("cannot map the file")(error),
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

/// A pipe may never end. No dump is longer than this: a header, a value for each of the at most
/// 1,000,000 globals that engines allow, and 4 GiB of memory.
const LARGEST_INPUT: u64 = dump::HEADER_SIZE as u64 + 4_000_000 + (1 << 32) + 1;
