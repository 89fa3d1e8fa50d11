//! Slices and `ArrayList` of Zig.

use super::super::container_use::ContainerElements;
use super::super::spread::Spread;
use super::super::table::TypeId;
use base::error::Result;

impl Spread<'_, '_> {
    /// `None` if the members are other ones than those of the versions that are known.
    pub(super) fn zig_slice(&mut self, address: u32, id: TypeId) -> Result<Option<()>> {
        let length = self.part_word(address, id, &["len"]);
        self.zig_elements((address, id), &[], (length, length))
    }

    /// `None` if the members are other ones than those of the versions that are known.
    pub(super) fn zig_list(&mut self, address: u32, id: TypeId) -> Result<Option<()>> {
        let length = self.part_word(address, id, &["items", "len"]);
        let capacity = self.part_word(address, id, &["capacity"]);
        self.zig_elements((address, id), &["items"], (length, capacity))
    }

    /// The elements of a slice, which is a member of the container or the container itself.
    fn zig_elements(
        &mut self,
        (address, id): (u32, TypeId),
        slice: &[&'static str],
        (length, capacity): (Option<u32>, Option<u32>),
    ) -> Result<Option<()>> {
        let path = [slice, &["ptr"]].concat();
        let start = self.part_word(address, id, &path);
        let pointer = self.parts.part_at(id, &path);
        let element = pointer.and_then(|pointer| self.types.pointee(pointer.type_id));
        let (Some(start), Some(element), Some(used), Some(capacity)) =
            (start, element, length, capacity)
        else {
            return Ok(None);
        };
        // The address of a slice without elements is none.
        if used > capacity || capacity == 0 {
            return Ok(Some(()));
        }
        let elements = ContainerElements {
            holder: self.container(address, id),
            start,
            element,
            capacity,
            used,
        };
        if self.type_buffer(&elements)?.is_some() {
            self.refer_to_elements(elements)?;
        } else if let Some((_, first, usable)) = self.block(start) {
            // A part of a block.
            let bytes = u64::from(used) * u64::from(self.types.size(element));
            if u64::from(start - first) + bytes <= u64::from(usable) {
                self.place(start, element, used)?;
            }
        }
        Ok(Some(()))
    }
}
