//! The table of Rust's `HashMap`: a control byte for each bucket, and before these the buckets, in reverse order. The
//! highest bit of a control byte is clear if its bucket is used.

use super::super::spread::{BlockType, Spread};
use super::super::table::TypeId;
use base::error::Result;
use heap::TypeEvidence;

/// The most bytes between the start of the block and the first bucket, and after the control bytes.
const MOST_PADDING: u32 = 16;
const IS_UNUSED: u8 = 0x80;

impl Spread<'_, '_> {
    /// `None` if the members are other ones than those of the versions that are known.
    pub(super) fn hash_table(&mut self, address: u32, id: TypeId) -> Result<Option<()>> {
        let part = |name: &str| self.part_word(address, id, &["table", name]);
        let (Some(control), Some(mask), Some(element)) = (
            part("ctrl"),
            part("bucket_mask"),
            self.types.argument(id, "T"),
        ) else {
            return Ok(None);
        };
        // The control bytes of an empty table are static.
        let Some((block, start, usable)) = self.block(control) else {
            return Ok(Some(()));
        };
        let size = self.types.size(element);
        let buckets = mask.checked_add(1);
        let bytes = buckets.and_then(|buckets| buckets.checked_mul(size));
        let (Some(buckets), Some(bytes)) = (buckets.filter(|&count| count > 0), bytes) else {
            return Ok(Some(()));
        };
        let first = control.checked_sub(bytes).filter(|&first| first >= start);
        let Some(first) = first.filter(|first| first - start < MOST_PADDING) else {
            return Ok(Some(()));
        };
        let end = u64::from(control) + u64::from(buckets);
        if size == 0 || end > u64::from(start) + u64::from(usable) {
            return Ok(Some(()));
        }
        self.assign_type(
            block,
            BlockType {
                type_id: self.types.resolved(element),
                is_array: true,
                evidence: TypeEvidence::Container,
                base: first - start,
            },
        )?;
        let mut used = 0;
        for nth in 0..buckets {
            let is_used = self
                .byte(control + nth)
                .is_some_and(|byte| byte & IS_UNUSED == 0);
            if is_used {
                used += 1;
                self.place(control - (nth + 1) * size, element, 1)?;
            }
        }
        self.add_use(address, block, used, size)?;
        Ok(Some(()))
    }
}
