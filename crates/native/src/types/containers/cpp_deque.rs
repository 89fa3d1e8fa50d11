//! `std::deque` of libc++: blocks of equally many elements, and a buffer of pointers to them, of which those in the middle
//! are used.

use super::super::container_use::{ContainerElements, ContainerPlace, UsedBytes};
use super::super::spread::Spread;
use super::super::table::TypeId;
use base::error::Result;

/// The bytes of a block of a deque. If an element has `LARGE` bytes or more, a block has `LARGE_ELEMENTS` elements.
const BLOCK_BYTES: u32 = 4096;
const LARGE: u32 = 256;
const LARGE_ELEMENTS: u32 = 16;

impl Spread<'_, '_> {
    /// `None` if the members are other ones than those of the versions that are known.
    pub(super) fn cpp_deque(&mut self, address: u32, id: TypeId) -> Result<Option<()>> {
        let read = |name: &'static str| self.part_word(address, id, &["__map_", name]);
        let either = |name: &'static str, newer: &'static str| read(name).or_else(|| read(newer));
        let (Some(first), Some(begin), Some(end), Some(limit)) = (
            either("__first_", "__front_cap_"),
            read("__begin_"),
            read("__end_"),
            either("__end_cap_", "__back_cap_"),
        ) else {
            return Ok(None);
        };
        let pointer = self.parts.part_at(id, &["__map_", "__begin_"]);
        let pointer = pointer.and_then(|begin| self.types.pointee(begin.type_id));
        let element = pointer.and_then(|pointer| self.types.pointee(pointer));
        let part = |name: &'static str| self.part_word(address, id, &[name]);
        let (Some(pointer), Some(element), Some(start), Some(length)) =
            (pointer, element, part("__start_"), part("__size_"))
        else {
            return Ok(None);
        };
        let is_sound = first <= begin && begin <= end && end <= limit;
        let size = self.types.size(element);
        if !is_sound || size == 0 {
            return Ok(Some(()));
        }
        let pointers = ContainerElements {
            holder: self.container(address, id),
            start: first,
            element: pointer,
            capacity: (limit - first) / 4,
            used: (end - first) / 4,
        };
        let Some(buffer) = self.type_buffer(&pointers)? else {
            return Ok(Some(()));
        };
        let used = UsedBytes::First(end - first);
        self.add_use(pointers.holder, buffer, used)?;
        if !self.spend(u64::from(end - begin) / 4)? {
            return Ok(Some(()));
        }
        let last = u64::from(start) + u64::from(length);
        let mut offset = 0;
        for at in (begin..end).step_by(4) {
            let capacity = if size < LARGE {
                BLOCK_BYTES / size
            } else {
                LARGE_ELEMENTS
            };
            let from = u64::from(start).clamp(offset, offset + u64::from(capacity)) - offset;
            let to = last.clamp(offset, offset + u64::from(capacity)) - offset;
            offset += u64::from(capacity);
            let elements = ContainerElements {
                holder: ContainerPlace {
                    address: at,
                    size: 4,
                },
                start: self.word(at).unwrap_or(0),
                element,
                capacity,
                used: to as u32,
            };
            if let Some(block) = self.type_buffer(&elements)? {
                let unused_before = from as u32 * size;
                let count = (to as u32).saturating_sub(from as u32);
                self.place(elements.start + unused_before, element, count)?;
                let bytes = if count == 0 { 0 } else { to as u32 * size };
                self.add_use(elements.holder, block, UsedBytes::First(bytes))?;
            }
        }
        Ok(Some(()))
    }
}
