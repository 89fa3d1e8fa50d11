//! A set of objects.

use crate::columns;
use crate::error::Result;
use crate::units::ObjectIndex;

/// One bit per object.
pub(super) struct Bits(Vec<u64>);

impl Bits {
    /// The empty set of objects below `count`.
    pub(super) fn new(count: usize) -> Result<Self> {
        Ok(Self(columns::repeated(0, count.div_ceil(64))?))
    }

    #[inline]
    pub(super) fn has(&self, object: ObjectIndex) -> bool {
        self.0[object.at() / 64] >> (object.at() % 64) & 1 != 0
    }

    /// Adds an object; returns whether it is new.
    #[inline]
    pub(super) fn add(&mut self, object: ObjectIndex) -> bool {
        let is_new = !self.has(object);
        self.0[object.at() / 64] |= 1 << (object.at() % 64);
        is_new
    }
}
