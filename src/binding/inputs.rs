//! Where the bytes of an analysis come from: the caller's memory, a copy of it, or a file.

use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;

use super::contents::UnchangedFile;
use crate::columns;
use crate::control::Control;
use crate::dump;
use crate::error::{Error, Result};
use crate::program::Input;
use crate::questions::{Contents, InMemory};

/// The bytes of a dump or a module. To drop it is to give its memory back.
pub(super) enum Source<'a> {
    /// Memory of a caller who waits.
    Borrowed(&'a [u8]),
    /// A copy, for work that runs while the caller goes on; or what came through a pipe.
    Copied(Vec<u8>),
    /// A copy that a loaded heap keeps.
    Kept(Arc<Vec<u8>>),
    /// A file.
    Mapped(memmap2::Mmap, Arc<UnchangedFile>),
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
    /// `None` if it was not opened yet.
    source: Option<Source<'static>>,
    is_standard_input: bool,
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
            is_standard_input: false,
        })
    }

    /// A file, to be opened when the work begins.
    pub(super) fn file(path: String) -> Self {
        Self {
            name: path,
            source: None,
            is_standard_input: false,
        }
    }

    /// The standard input of the process if the path is the one that stands for it, otherwise a file.
    pub(super) fn file_or_standard_input(path: String, standard_input: Option<&str>) -> Self {
        match standard_input {
            Some(name) if name == path => Self {
                name: "standard input".to_owned(),
                source: None,
                is_standard_input: true,
            },
            _ => Self::file(path),
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
        if self.is_standard_input {
            return Ok(true);
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
            let source = match self.is_standard_input {
                true => read_stream(io::stdin().lock(), control).map(Source::Copied),
                false => Source::open(&self.name, control),
            };
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
            let map = map.map_err(|error| out_of_memory(error, kind.len()))?;
            let unchanged = UnchangedFile::new(Path::new(path), &kind);
            let unchanged = unchanged.map_err(failed("cannot find the working directory"))?;
            return Ok(Self::Mapped(map, Arc::new(unchanged)));
        }
        read_stream(file, control).map(Self::Copied)
    }

    /// The same bytes, with where a loaded heap can read them again, and how much memory that takes.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub(super) fn kept(self) -> Result<(Self, Box<dyn Contents>, u64)> {
        let bytes = match self {
            Self::Mapped(map, file) => {
                let contents = Box::new(Arc::clone(&file));
                return Ok((Self::Mapped(map, file), contents, 0));
            }
            Self::Borrowed(bytes) => Arc::new(columns::collected(bytes.iter().copied())?),
            Self::Copied(bytes) => Arc::new(bytes),
            Self::Kept(bytes) => bytes,
        };
        let size = bytes.capacity() as u64;
        let contents = InMemory(SharedBytes(Arc::clone(&bytes)));
        Ok((Self::Kept(bytes), Box::new(contents), size))
    }
}

/// Bytes that a heap and its reader share.
struct SharedBytes(Arc<Vec<u8>>);

impl AsRef<[u8]> for SharedBytes {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

fn is_mappable(kind: &Metadata) -> bool {
    kind.is_file() && kind.len() > 0
}

/// All that comes out of a pipe or a device, which may never end: nothing beyond a wrong magic, and
/// not much more than an input of its kind can have.
fn read_stream(mut stream: impl Read, control: &Control) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    read_more(&mut stream, dump::MAGIC.len() as u64, &mut bytes)?;
    let is_module = bytes == *b"\0asm";
    if !is_module && bytes != dump::MAGIC {
        // The reader of the input says what is wrong with it.
        return Ok(bytes);
    }
    let largest = match is_module {
        true => LARGEST_MODULE,
        false => LARGEST_DUMP,
    };
    while bytes.len() as u64 <= largest {
        control.check()?;
        if read_more(&mut stream, 1 << 16, &mut bytes)? == 0 {
            return Ok(bytes);
        }
    }
    match is_module {
        true => Err(failed("cannot read the file")(io::Error::other(
            "it goes on after 1 GiB, and no engine takes a larger module",
        ))),
        // What was read beyond makes the memory too large.
        false => Ok(bytes),
    }
}

/// Reads up to so many bytes more. Returns how many; 0 at the end.
fn read_more(stream: impl Read, most: u64, bytes: &mut Vec<u8>) -> Result<usize> {
    if bytes.capacity() - bytes.len() < most as usize {
        let more = bytes.len().max(most as usize);
        columns::reserve(bytes, more)?;
    }
    let read = stream.take(most).read_to_end(bytes);
    read.map_err(failed("cannot read the file"))
}

fn failed(action: &'static str) -> impl Fn(io::Error) -> Error {
    move |source| Error::Io { action, source }
}

/// A file that cannot be mapped for lack of memory is no fault of the file.
fn out_of_memory(error: io::Error, bytes: u64) -> Error {
    match error.kind() {
        io::ErrorKind::OutOfMemory => Error::OutOfMemory {
            bytes,
            purpose: "mapping the file",
        },
        _ => failed("cannot map the file")(error),
    }
}

impl AsRef<[u8]> for Source<'_> {
    fn as_ref(&self) -> &[u8] {
        match self {
            Self::Borrowed(bytes) => bytes,
            Self::Copied(bytes) => bytes,
            Self::Kept(bytes) => bytes,
            Self::Mapped(map, _) => map,
        }
    }
}

/// A header, a value for each of the at most 1,000,000 globals that engines allow, and 4 GiB of memory.
/// What is read beyond it makes the memory too large.
const LARGEST_DUMP: u64 = dump::HEADER_SIZE as u64 + 4_000_000 + (1 << 32);

/// What engines allow.
const LARGEST_MODULE: u64 = 1 << 30;
