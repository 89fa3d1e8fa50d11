//! `HashMap` of Zig: a block with a header, a byte for each slot, all keys, and all values. The highest bit of a byte is set
//! if its slot is used.

use super::super::spread::{BlockType, Spread};
use super::super::table::TypeId;
use base::error::Result;
use heap::TypeEvidence;

const IS_USED: u8 = 0x80;

impl Spread<'_, '_> {
    /// `None` if the members are other ones than those of the versions that are known.
    pub(super) fn zig_hash_map(&mut self, address: u32, id: TypeId) -> Result<Option<()>> {
        let types = self.types;
        let header = types.named(&format!("{}.Header", types.get(id).name));
        let (Some(&header), Some(bytes)) =
            (header.first(), self.part_word(address, id, &["metadata"]))
        else {
            return Ok(None);
        };
        let Some(start) = bytes.checked_sub(types.size(header)) else {
            return Ok(Some(()));
        };
        let lists = ["keys", "values"].map(|name| {
            let pointer = self.parts.part(header, name)?;
            let element = types.pointee(pointer.type_id)?;
            let first = self.word(start.checked_add(pointer.offset)?)?;
            Some((first, element))
        });
        let capacity = self.part_word(start, header, &["capacity"]);
        let (Some(capacity), Some((block, first, usable))) = (capacity, self.block(start)) else {
            return Ok(Some(()));
        };
        let end = |first: u32, size: u32| u64::from(first) + u64::from(capacity) * u64::from(size);
        let ends = lists.iter().flatten();
        let ends = ends.map(|&(first, element)| end(first, types.size(element)));
        let last = ends.max().unwrap_or(0).max(end(bytes, 1));
        let block_end = u64::from(first) + u64::from(usable);
        let takes_block =
            first == start && last <= block_end && last + u64::from(self.slack(usable)) > block_end;
        if !takes_block || !self.see(start, header)? {
            return Ok(Some(()));
        }
        self.assign_type(block, BlockType::one(header, TypeEvidence::Container))?;
        if !self.spend(capacity.into())? {
            return Ok(Some(()));
        }
        for nth in 0..capacity {
            let is_used = self
                .byte(bytes + nth)
                .is_some_and(|byte| byte & IS_USED != 0);
            for &(first, element) in lists.iter().flatten().filter(|_| is_used) {
                // The lists end in the block.
                self.place(first + nth * types.size(element), element, 1)?;
            }
        }
        Ok(Some(()))
    }
}
