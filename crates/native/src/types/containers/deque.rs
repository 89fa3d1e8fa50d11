//! `VecDeque` of Rust: a buffer whose elements begin anywhere, and go on at its start.

use super::super::container_use::{ContainerElements, UsedBytes};
use super::super::spread::Spread;
use super::super::table::TypeId;
use base::error::Result;

impl Spread<'_, '_> {
    /// `None` if the members are other ones than those of the versions that are known.
    pub(super) fn deque(&mut self, address: u32, id: TypeId) -> Result<Option<()>> {
        let part = |path: &[&'static str]| self.part_word(address, id, path);
        let element = self.types.argument(id, "T");
        let (Some((start, capacity)), Some(head), Some(element)) =
            (self.raw_vec(address, id), part(&["head"]), element)
        else {
            return Ok(None);
        };
        // Since 1.67, the position of the first element and their number; before, those of the first element and of the
        // one after the last.
        let (first, length) = match (part(&["len"]), part(&["tail"])) {
            (Some(length), _) => (head, length),
            (None, Some(tail)) if capacity > 0 => {
                let after = u64::from(head) + u64::from(capacity);
                let length = after.saturating_sub(tail.into()) % u64::from(capacity);
                (tail, length as u32)
            }
            _ => return Ok(None),
        };
        let elements = ContainerElements {
            holder: self.container(address, id),
            start,
            element,
            capacity,
            used: length,
        };
        if length > capacity || first > capacity {
            return Ok(Some(()));
        }
        let Some(block) = self.type_buffer(&elements)? else {
            return Ok(Some(()));
        };
        let size = self.types.size(element);
        if !self.spend(length.into())? {
            return Ok(Some(()));
        }
        for nth in 0..length {
            let position = (u64::from(first) + u64::from(nth)) % u64::from(capacity);
            // The buffer lies in a block.
            let at = u64::from(start) + position * u64::from(size);
            self.place(at as u32, element, 1)?;
        }
        // Before 1.67, there is room for a power of two, of which one place stays free.
        let is_of_power = self.part_word(address, id, &["len"]).is_none();
        let needed = u64::from(length) + 1;
        let needed = if is_of_power {
            needed.next_power_of_two().min(capacity.into()) as u32
        } else {
            length
        };
        let bytes = needed.saturating_mul(size);
        let used = if first == 0 {
            UsedBytes::First(bytes)
        } else {
            UsedBytes::Any(bytes)
        };
        self.add_use(elements.holder, block, used)?;
        Ok(Some(()))
    }
}
