//! An input of an analysis. An error about an input begins with the input's name.

use std::ops::Range;

/// Bytes, and their name in errors.
#[derive(Clone, Copy, Debug)]
pub struct Input<'a, Bytes = &'a [u8]> {
    /// A path, or the name of an argument.
    pub name: &'a str,
    /// The contents: borrowed, or anything that owns them, such as a mapped file.
    pub bytes: Bytes,
}

impl<Bytes: AsRef<[u8]>> Input<'_, Bytes> {
    /// The same input by its bytes.
    pub fn borrowed(&self) -> Input<'_> {
        Input {
            name: self.name,
            bytes: self.bytes.as_ref(),
        }
    }
}

/// Bytes of an input. Those of a mapped file need not stay in memory after they were read.
pub trait ReadBytes: AsRef<[u8]> + Sync {
    /// Lets go of the memory of these bytes, where they can be read again without it: they keep their values.
    fn release(&self, _range: Range<usize>) {}
}

impl ReadBytes for &[u8] {}
impl ReadBytes for Vec<u8> {}
impl ReadBytes for &Vec<u8> {}
impl<const N: usize> ReadBytes for &[u8; N] {}

/// A mapped file: the system reads its pages again when they are needed.
impl ReadBytes for memmap2::Mmap {
    #[cfg(unix)]
    fn release(&self, range: Range<usize>) {
        let end = range.end.min(self.len());
        if range.start >= end {
            return;
        }
        let advice = memmap2::UncheckedAdvice::DontNeed;
        // SAFETY: the mappings of this project are of files, shared and read-only, so no change is lost. If it fails, the
        // pages stay.
        _ = unsafe { self.unchecked_advise_range(advice, range.start, end - range.start) };
    }
}

/// What lets go of the memory of a range of an input.
pub type Release<'a> = &'a (dyn Fn(Range<usize>) + Sync);
