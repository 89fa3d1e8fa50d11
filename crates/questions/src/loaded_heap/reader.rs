//! Reads objects for an answer.

use std::ops::{Deref, DerefMut};

use heap::{ObjectReader, ReferenceSearch};

/// Reads objects, and remembers where it found the last reference, so that the next of many equal ones is not searched
/// from the start.
pub(crate) struct ReferenceReader<'h> {
    objects: Box<dyn ObjectReader + 'h>,
    pub(crate) references: ReferenceSearch,
}

impl<'h> ReferenceReader<'h> {
    pub(crate) fn new(objects: Box<dyn ObjectReader + 'h>) -> Self {
        Self {
            objects,
            references: ReferenceSearch::default(),
        }
    }
}

impl<'h> Deref for ReferenceReader<'h> {
    type Target = dyn ObjectReader + 'h;

    fn deref(&self) -> &Self::Target {
        &*self.objects
    }
}

impl DerefMut for ReferenceReader<'_> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut *self.objects
    }
}
