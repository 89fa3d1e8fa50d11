//! Releases the pages of a mapped dump after they were read, so that they do not count as memory of this process while the
//! graph is made.

use base::input::Release;

/// The pages of a linear memory, from an address on.
#[derive(Clone, Copy)]
pub(super) struct MemoryPages<'a> {
    release: Release<'a>,
    /// The first address that was not released.
    start: usize,
}

impl<'a> MemoryPages<'a> {
    /// All pages. `release` takes addresses.
    pub(super) fn new(release: Release<'a>) -> Self {
        Self { release, start: 0 }
    }

    /// Releases the pages before an address. They can still be read, but that takes longer.
    pub(super) fn release_to(&mut self, address: u32) {
        let end = address as usize;
        if end > self.start {
            (self.release)(self.start..end);
            self.start = end;
        }
    }
}
