//! Vectors, strings and trees of libc++. Its other containers need no rules: pointers and base classes say what their
//! nodes are.

use super::super::container_use::{ContainerElements, UsedBytes};
use super::super::spread::{BlockType, Spread};
use super::super::table::TypeId;
use base::error::Result;
use heap::TypeEvidence;

/// In the last byte of a string whose pointer comes first, and in the first byte of others: whether there is a block.
const IS_LONG_AT_END: u8 = 0x80;
const IS_LONG_AT_START: u8 = 1;
/// The size of a string's buffer is a multiple of this in old versions of libc++, and of a smaller number in newer ones.
const STRING_GRANULE: u64 = 16;

impl Spread<'_, '_> {
    /// `None` if the members are other ones than those of the versions that are known.
    pub(super) fn cpp_vector(&mut self, address: u32, id: TypeId) -> Result<Option<()>> {
        let read = |name: &'static str| self.part_word(address, id, &[name]);
        let element = self.parts.part(id, "__begin_");
        let element = element.and_then(|begin| self.types.pointee(begin.type_id));
        // The end of the buffer is in a pair with the allocator, which is empty; since version 20 it is not.
        let limit = read("__end_cap_").or_else(|| read("__cap_"));
        let (Some(start), Some(end), Some(limit), Some(element)) =
            (read("__begin_"), read("__end_"), limit, element)
        else {
            return Ok(None);
        };
        let size = self.types.size(element);
        let used = end.checked_sub(start);
        let capacity = limit.checked_sub(start);
        if let (Some(used), Some(capacity)) = (used, capacity)
            && used <= capacity
            && size > 0
        {
            self.refer_to_elements(ContainerElements {
                holder: self.container(address, id),
                start,
                element,
                capacity: capacity / size,
                used: used / size,
            })?;
        }
        Ok(Some(()))
    }

    /// `None` if the members are other ones than those of the versions that are known.
    pub(super) fn cpp_string(&mut self, address: u32, id: TypeId) -> Result<Option<()>> {
        let types = self.types;
        let Some(long) = self.parts.part(id, "__l") else {
            return Ok(None);
        };
        let Some(data) = self.parts.part(long.type_id, "__data_") else {
            return Ok(None);
        };
        let Some(length) = self.parts.part(long.type_id, "__size_") else {
            return Ok(None);
        };
        let Some(character) = types.pointee(data.type_id) else {
            return Ok(None);
        };
        let size = types.size(id);
        let Some(at) = address.checked_add(long.offset) else {
            return Ok(Some(()));
        };
        let is_long = if data.offset == 0 {
            let last = at.checked_add(size.saturating_sub(1));
            last.and_then(|last| self.byte(last)).unwrap_or(0) & IS_LONG_AT_END
        } else {
            self.byte(at).unwrap_or(0) & IS_LONG_AT_START
        } != 0;
        let start = at.checked_add(data.offset).and_then(|at| self.word(at));
        let length = at.checked_add(length.offset).and_then(|at| self.word(at));
        let (Some(start), Some(length), true) = (start, length, is_long) else {
            return Ok(Some(()));
        };
        let width = types.size(character);
        let bytes = u64::from(length).saturating_add(1) * u64::from(width);
        if let Some((block, first, usable)) = self.block(start)
            && first == start
            && width > 0
            && bytes <= u64::from(usable)
        {
            self.assign_type(
                block,
                BlockType {
                    type_id: character,
                    is_array: true,
                    evidence: TypeEvidence::Container,
                    base: 0,
                },
            )?;
            let used = (bytes.next_multiple_of(STRING_GRANULE)).min(u64::from(usable));
            self.add_use(
                self.container(address, id),
                block,
                UsedBytes::First(used as u32),
            )?;
        }
        Ok(Some(()))
    }

    /// `None` if the members are other ones than those of the versions that are known.
    pub(super) fn cpp_tree(&mut self, address: u32, id: TypeId) -> Result<Option<()>> {
        let types = self.types;
        let root = self.parts.part_at(id, &["__pair1_", "__left_"]);
        let root = root.or_else(|| self.parts.part_at(id, &["__end_node_", "__left_"]));
        let Some(value) = types.argument(id, "_Tp") else {
            return Ok(None);
        };
        let name = types.full_name(value, super::super::table::DEEPEST);
        let node = self.described(&format!("std::__tree_node<{name}, void *>"));
        let (Some(root), Some(node)) = (root, node) else {
            return Ok(None);
        };
        let parts = ["__left_", "__right_", "__value_"].map(|name| self.parts.part(node, name));
        let [Some(left), Some(right), Some(value)] = parts else {
            return Ok(None);
        };
        let root = address
            .checked_add(root.offset)
            .and_then(|at| self.word(at));
        let mut open = Vec::from_iter(root);
        while let Some(at) = open.pop() {
            let Some((block, start, usable)) = self.block(at) else {
                continue;
            };
            let is_new = start == at && self.fits_once(node, usable) && self.see(at, node)?;
            if !is_new {
                continue;
            }
            self.assign_type(block, BlockType::one(node, TypeEvidence::Container))?;
            self.place(at.wrapping_add(value.offset), value.type_id, 1)?;
            open.extend(
                [left, right]
                    .iter()
                    .filter_map(|side| self.word(at.wrapping_add(side.offset))),
            );
        }
        Ok(Some(()))
    }
}
