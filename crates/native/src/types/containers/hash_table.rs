//! The table of Rust's `HashMap`: a control byte for each bucket, and before these the buckets, in reverse order. The
//! highest bit of a control byte is clear if its bucket is used.

use super::super::container_use::UsedBytes;
use super::super::spread::{BlockType, Spread};
use super::super::table::TypeId;
use base::error::Result;
use heap::TypeEvidence;

/// The most bytes between the start of the block and the first bucket, and after the control bytes.
const MOST_PADDING: u32 = 16;
const IS_UNUSED: u8 = 0x80;

/// The buckets that a table with this number of entries needs: a power of two, of which an eighth stays free.
fn buckets_for(count: u32) -> u32 {
    match count {
        0 => 0,
        1..4 => 4,
        4..8 => 8,
        _ => {
            let buckets = u64::from(count) * 8 / 7;
            buckets.next_power_of_two().min(u32::MAX.into()) as u32
        }
    }
}

impl Spread<'_, '_> {
    /// `None` if the members are other ones than those of the versions that are known.
    pub(super) fn hash_table(&mut self, address: u32, id: TypeId) -> Result<Option<()>> {
        let part = |name: &'static str| self.part_word(address, id, &["table", name]);
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
        if !self.spend(buckets.into())? {
            return Ok(Some(()));
        }
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
        let needed = u64::from(buckets_for(used)) * (u64::from(size) + 1);
        // The control bytes of a group are repeated at the end.
        let needed = needed + u64::from(MOST_PADDING) * 2;
        let used = UsedBytes::Any(needed.min(u64::from(usable)) as u32);
        self.add_use(self.container(address, id), block, used)?;
        Ok(Some(()))
    }
}
