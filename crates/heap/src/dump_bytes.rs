//! Where the bytes of a dump are, which are read again when a question needs contents.

use std::sync::Arc;

use super::HeapError;
use base::error::Result;

/// A source from which the bytes of a dump can be read again.
pub trait DumpBytes: Send + Sync {
    /// Fills `into` with the bytes of the dump from `offset` on.
    ///
    /// # Errors
    /// [`HeapError::DumpChanged`] if the dump was changed or replaced after it was opened, [`Error::Io`](base::Error::Io).
    fn read_at(&self, offset: u64, into: &mut [u8]) -> Result<()>;

    /// The same source for many reads in a row; `None` if that makes no difference.
    ///
    /// # Errors
    /// As [`read_at`](Self::read_at).
    fn open(&self) -> Result<Option<Box<dyn DumpBytes + '_>>> {
        Ok(None)
    }

    /// All bytes of the dump, if they can be read without copying them. A file is mapped if `may_map`: if
    /// another process truncates it then, a signal ends this process; [`check`](Self::check) finds other changes.
    ///
    /// # Errors
    /// As [`read_at`](Self::read_at).
    fn bytes(&self, _may_map: bool) -> Result<Option<&[u8]>> {
        Ok(None)
    }

    /// Whether [`bytes`](Self::bytes) are still those of the dump.
    ///
    /// # Errors
    /// As [`read_at`](Self::read_at).
    fn check(&self) -> Result<()> {
        Ok(())
    }

    /// Lets go of the pages of [`bytes`](Self::bytes) that were read, if they are many. They are mapped again when
    /// they are read again.
    fn release_pages(&self) {}
}

/// A dump in memory.
pub struct InMemory<Bytes>(pub Bytes);

impl<Bytes: AsRef<[u8]> + Send + Sync> DumpBytes for InMemory<Bytes> {
    fn read_at(&self, offset: u64, into: &mut [u8]) -> Result<()> {
        let bytes = self.0.as_ref();
        let range = usize::try_from(offset)
            .ok()
            .and_then(|start| Some(start..start.checked_add(into.len())?));
        match range.and_then(|range| bytes.get(range)) {
            Some(bytes) => into.copy_from_slice(bytes),
            None => {
                return Err(HeapError::DumpChanged {
                    found: format!("{} bytes", bytes.len()),
                }
                .into());
            }
        }
        Ok(())
    }

    fn bytes(&self, _: bool) -> Result<Option<&[u8]>> {
        Ok(Some(self.0.as_ref()))
    }
}

impl<C: DumpBytes + ?Sized> DumpBytes for Arc<C> {
    fn read_at(&self, offset: u64, into: &mut [u8]) -> Result<()> {
        (**self).read_at(offset, into)
    }

    fn open(&self) -> Result<Option<Box<dyn DumpBytes + '_>>> {
        (**self).open()
    }

    fn bytes(&self, may_map: bool) -> Result<Option<&[u8]>> {
        (**self).bytes(may_map)
    }

    fn check(&self) -> Result<()> {
        (**self).check()
    }

    fn release_pages(&self) {
        (**self).release_pages();
    }
}
