//! What a format of inputs is, and what it reads.

use std::ops::Range;
use std::sync::Arc;

use base::control::Control;
use base::error::Result;
use base::input::{Input, ReadBytes};
use heap::{DumpBytes, Heap, Opened};

use crate::Schedule;
use crate::containers::{Origin, Reading};

/// Reads files of one format, out of their containers.
pub(crate) trait Format: Sync {
    /// Whether a file is of this format, judged by its first bytes.
    fn recognise(&self, head: &[u8]) -> bool;

    /// Whether it is the memory of a program. Only then can a host hold pointers into it, and the heap of the host be
    /// joined with it.
    fn is_memory(&self) -> bool;

    /// Analyzes a file. Its bytes are dropped as soon as they are read.
    ///
    /// # Errors
    /// Those of the file and of the module, around their names.
    fn analyze(&self, inputs: Inputs<'_, FileBytes<'_>>, control: &Control) -> Result<Heap>;

    /// Analyzes two files for a comparison. Each warning names its file.
    ///
    /// # Errors
    /// As [`analyze`](Self::analyze); if both files fail, the error of the first.
    fn analyze_both(
        &self,
        inputs: [Inputs<'_, FileBytes<'_>>; 2],
        schedule: Schedule,
        control: &Control,
    ) -> Result<[Arc<Heap>; 2]>;

    /// Opens a file for questions. Its bytes are dropped as soon as they are read; where questions read it again, they
    /// are kept first.
    ///
    /// # Errors
    /// As [`analyze`](Self::analyze), and those of keeping.
    fn open(
        &self,
        inputs: Inputs<'_, KeepableBytes<'_>>,
        indexing: Indexing,
        control: &Control,
    ) -> Result<Opened>;
}

/// What is read, and how.
pub(crate) struct Inputs<'a, Bytes> {
    pub(crate) file: Input<'a, Bytes>,
    pub(crate) module: Option<Input<'a>>,
    pub(crate) reading: &'a Reading,
    /// What the container of the file said.
    pub(crate) origin: Origin,
}

/// When indexes are built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Indexing {
    /// When a question needs them.
    WhenAsked,
    /// Beside the analysis, as far as they can be.
    Beside,
}

/// Bytes of any type.
pub(crate) struct Boxed<T: ?Sized>(pub(crate) Box<T>);

/// Bytes that are read once.
pub(crate) type FileBytes<'b> = Boxed<dyn ReadBytes + Send + 'b>;

/// Bytes that can be kept for questions.
pub(crate) type KeepableBytes<'b> = Boxed<dyn KeepBytes<'b> + 'b>;

impl<T: ReadBytes + ?Sized> AsRef<[u8]> for Boxed<T> {
    fn as_ref(&self) -> &[u8] {
        (*self.0).as_ref()
    }
}

impl<T: ReadBytes + ?Sized> ReadBytes for Boxed<T> {
    fn release(&self, range: Range<usize>) {
        self.0.release(range);
    }
}

/// Bytes, and how they are kept.
pub(crate) trait KeepBytes<'b>: ReadBytes {
    /// The bytes, and where they are read again.
    fn keep(self: Box<Self>) -> Result<(Boxed<dyn ReadBytes + 'b>, Box<dyn DumpBytes>)>;
}

/// Bytes, with the function of a caller that keeps them.
pub(crate) struct Keepable<Bytes, Keep> {
    pub(crate) bytes: Bytes,
    pub(crate) keep: Keep,
}

impl<Bytes: AsRef<[u8]>, Keep> AsRef<[u8]> for Keepable<Bytes, Keep> {
    fn as_ref(&self) -> &[u8] {
        self.bytes.as_ref()
    }
}

impl<Bytes: ReadBytes, Keep: Sync> ReadBytes for Keepable<Bytes, Keep> {
    fn release(&self, range: Range<usize>) {
        self.bytes.release(range);
    }
}

impl<'b, Bytes, Kept, Keep> KeepBytes<'b> for Keepable<Bytes, Keep>
where
    Bytes: ReadBytes,
    Kept: ReadBytes + 'b,
    Keep: FnOnce(Bytes) -> Result<(Kept, Box<dyn DumpBytes>)> + Sync,
{
    fn keep(self: Box<Self>) -> Result<(Boxed<dyn ReadBytes + 'b>, Box<dyn DumpBytes>)> {
        let (bytes, contents) = (self.keep)(self.bytes)?;
        Ok((Boxed(Box::new(bytes)), contents))
    }
}
