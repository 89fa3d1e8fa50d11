//! The bytes of an input in memory: the caller's, a copy of them, or those of a file.

use std::ops::Range;
use std::sync::Arc;

use super::contents::UnchangedFile;
use base::error::Result;
use base::input::ReadBytes;
use base::{Input, columns};
use engine::{DumpBytes, InMemory};

/// The bytes of a dump or a module. Dropping it releases the memory.
pub(super) enum InputBytes<'a> {
    /// The caller's memory, for a synchronous call.
    Borrowed(&'a [u8]),
    /// A copy of the caller's memory, for an asynchronous call, or the contents of a pipe.
    Copied(Vec<u8>),
    /// A copy that a loaded heap keeps.
    Kept(Arc<Vec<u8>>),
    /// A file that was read.
    Read(Vec<u8>, Arc<UnchangedFile>),
    /// A large file of the command line.
    Mapped(memmap2::Mmap, Arc<UnchangedFile>),
    /// The module that a heap snapshot does not have.
    Absent,
}

/// Bytes, and their name in errors.
pub(super) type NamedBytes<'a> = Input<'a, InputBytes<'a>>;

/// An input, if it was given.
pub(super) fn given<'a, 'b>(input: &'a NamedBytes<'b>) -> Option<&'a NamedBytes<'b>> {
    (!matches!(input.bytes, InputBytes::Absent)).then_some(input)
}

/// The same, for an input that is taken over.
pub(super) fn given_owned(input: NamedBytes<'_>) -> Option<NamedBytes<'_>> {
    (!matches!(input.bytes, InputBytes::Absent)).then_some(input)
}

impl InputBytes<'_> {
    /// The same bytes; that from which a loaded heap can read them again; and the memory that the
    /// bytes take.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub(super) fn kept(self) -> Result<(Self, Box<dyn DumpBytes>, u64)> {
        let bytes = match self {
            Self::Mapped(map, file) => {
                let contents = Box::new(Arc::clone(&file));
                return Ok((Self::Mapped(map, file), contents, 0));
            }
            Self::Read(bytes, file) => {
                let contents = Box::new(Arc::clone(&file));
                return Ok((Self::Read(bytes, file), contents, 0));
            }
            Self::Borrowed(bytes) => Arc::new(columns::collected(bytes.iter().copied())?),
            Self::Copied(bytes) => Arc::new(bytes),
            Self::Kept(bytes) => bytes,
            Self::Absent => Arc::default(),
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

/// What was taken out of a file that is not a dump itself.
impl From<Vec<u8>> for InputBytes<'_> {
    fn from(bytes: Vec<u8>) -> Self {
        Self::Copied(bytes)
    }
}

impl ReadBytes for InputBytes<'_> {
    fn release(&self, range: Range<usize>) {
        if let Self::Mapped(map, _) = self {
            map.release(range);
        }
    }
}

impl AsRef<[u8]> for InputBytes<'_> {
    fn as_ref(&self) -> &[u8] {
        match self {
            Self::Borrowed(bytes) => bytes,
            Self::Copied(bytes) => bytes,
            Self::Kept(bytes) => bytes,
            Self::Read(bytes, _) => bytes,
            Self::Mapped(map, _) => map,
            Self::Absent => &[],
        }
    }
}
