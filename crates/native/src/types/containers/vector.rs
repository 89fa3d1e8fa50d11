//! `Vec` of Rust: a pointer, a capacity and a length. `String` has one inside.

use super::super::container_use::ContainerElements;
use super::super::spread::Spread;
use super::super::table::TypeId;
use base::error::Result;

impl Spread<'_, '_> {
    /// `None` if the members are other ones than those of the versions that are known.
    pub(super) fn vec(&mut self, address: u32, id: TypeId) -> Result<Option<()>> {
        let Some((start, capacity)) = self.raw_vec(address, id) else {
            return Ok(None);
        };
        let (Some(element), Some(length)) = (
            self.types.argument(id, "T"),
            self.part_word(address, id, &["len"]),
        ) else {
            return Ok(None);
        };
        if length <= capacity {
            self.refer_to_elements(ContainerElements {
                holder: self.container(address, id),
                start,
                element,
                capacity,
                used: length,
            })?;
        }
        Ok(Some(()))
    }

    /// The buffer of a vector, and the elements for which it has room.
    pub(super) fn raw_vec(&self, address: u32, id: TypeId) -> Option<(u32, u32)> {
        let start = self.part_word(address, id, &["buf", "ptr"])?;
        let capacity = self.part_word(address, id, &["buf", "cap"])?;
        Some((start, capacity))
    }
}
