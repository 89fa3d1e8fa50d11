//! Pointers of Rust with a number of values beside them: `&[T]`, `Box<[T]>`, `Rc<[T]>`, `Arc<[T]>`.

use base::error::Result;
use heap::TypeEvidence;

use super::container_use::{ContainerElements, ContainerPlace};
use super::spread::{BlockType, Spread};
use super::table::TypeId;

/// The bytes of such a pointer.
const SIZE: u32 = 8;

impl Spread<'_, '_> {
    /// The word at an address refers to values of a type, and the next word says how many.
    pub(super) fn follow_slice(
        &mut self,
        address: u32,
        target: TypeId,
        is_guess: bool,
    ) -> Result<()> {
        let length = address.checked_add(4).and_then(|at| self.word(at));
        let (Some(start), Some(length)) = (self.word(address), length) else {
            return Ok(());
        };
        if is_guess {
            return self.refer(start, target, true);
        }
        if self.counted(target).is_some() {
            return self.counted_slice(start, length, target);
        }
        let elements = ContainerElements {
            holder: ContainerPlace {
                address,
                size: SIZE,
            },
            start,
            element: target,
            capacity: length,
            used: length,
        };
        if self.type_buffer(&elements)?.is_some() {
            return self.refer_to_elements(elements);
        }
        // A part of a block.
        let bytes = u64::from(length) * u64::from(self.types.size(target));
        if let Some((block, first, usable)) = self.block(start)
            && bytes > 0
            && u64::from(start - first) + bytes <= u64::from(usable)
        {
            let whole = self.at_start(target, usable).filter(|_| start == first);
            if let Some(found) = whole {
                self.assign_type(block, found)?;
            }
            self.place(start, target, length)?;
        }
        Ok(())
    }

    /// What `Rc` and `Arc` allocate for a slice: counters, and the values, while an owner is there.
    fn counted_slice(&mut self, start: u32, length: u32, target: TypeId) -> Result<()> {
        // The debug information has the first of the values, after what it says is all of the type.
        let member = |name| self.types.member(target, name);
        let value = member("value").or_else(|| member("data"));
        let Some((value, (block, first, usable))) = value.zip(self.block(start)) else {
            return Ok(());
        };
        let size = self.types.size(value.type_id);
        let bytes = u64::from(value.offset) + u64::from(length) * u64::from(size);
        let takes_block = first == start
            && bytes <= u64::from(usable)
            && bytes + u64::from(self.slack(usable)) > u64::from(usable);
        if !takes_block {
            return Ok(());
        }
        self.assign_type(block, BlockType::one(target, TypeEvidence::Container))?;
        // The strong counter comes first.
        if self.word(start).is_some_and(|strong| strong != 0) {
            self.place(start + value.offset, value.type_id, length)?;
        }
        Ok(())
    }
}
