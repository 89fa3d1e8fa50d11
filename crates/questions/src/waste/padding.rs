//! Padding: the bytes of a block that are no part of its object.

use super::claims::Claims;
use super::context::Context;
use super::sums::GroupSums;
use base::control::{CHECK_INTERVAL, Step};
use base::error::Result;
use base::units::ObjectIndex;

/// The padding of all live heap objects of which nothing else is claimed.
pub(super) fn padding(
    context: &Context<'_>,
    claims: &Claims,
    sizes: &[u32],
    step: &Step<'_>,
) -> Result<GroupSums> {
    let heap = &context.heap.heap;
    let (mut all, _) = GroupSums::in_parallel(context, sizes, |first, sizes, sums| {
        let objects = (first as u32..).map(ObjectIndex);
        for (object, &size) in objects.zip(sizes) {
            if object.at().is_multiple_of(CHECK_INTERVAL) {
                step.advance(0)?;
            }
            // Most live objects have a payload.
            let is_live = size != 0 || context.is_live(object);
            if is_live && heap.objects.is_on_heap(object) && !claims.has_all_of(object) {
                let used = context.blocks.not_contents() + u64::from(size);
                let padding = u64::from(heap.block_size(object)).saturating_sub(used);
                sums.add(context, object, padding)?;
            }
        }
        Ok(())
    })?;
    for &(buffer, padding) in claims.padding_left() {
        all.add(context, buffer, padding.into())?;
    }
    Ok(all)
}
