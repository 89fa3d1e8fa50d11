//! The live objects after the running functions have returned: the same heap without the roots of the stack.
//! A stack word of the function that took the dump must not hide the effect of a cut.

use crate::loaded_heap::{AfterReturn, LoadedHeap};
use base::control::Control;
use base::error::Result;
use base::units::ObjectIndex;
use heap::RootKind;

/// The largest number of dominators that are searched for one with exactly one independent reference.
const MOST_DOMINATORS: usize = 10_000;

/// The bytes that the cut of [`paths`](super::PathAnswer) frees after the running functions have
/// returned. The cut is the one for the heap with the stack; if there is none, the one for the heap
/// without it. `None` if the stack does not reach the object.
pub(crate) fn freed_after_return(
    loaded: &LoadedHeap,
    object: ObjectIndex,
    control: &Control,
) -> Result<Option<u64>> {
    let dominators = loaded.dominator_index(control)?;
    let slots = loaded.roots.all();
    let has_stack = slots.iter().any(|slot| slot.kind == RootKind::Stack);
    if !has_stack || dominators.position(object).is_none() {
        return Ok(None);
    }
    let after = loaded.after_return(control)?;
    if !after.is_on_stack(object) {
        return Ok(None);
    }
    let cut = match loaded.cuts(control)?.nearest(dominators, object) {
        Some(cut) => Some(cut),
        None => cut_after_return(loaded, after, object, control)?,
    };
    let freed = cut.map_or(0, |cut| after.retained_sizes[cut.at()]);
    Ok(Some(freed.into()))
}

/// The nearest dominator with exactly one independent reference in the heap without the stack.
fn cut_after_return(
    loaded: &LoadedHeap,
    after: &AfterReturn,
    object: ObjectIndex,
    control: &Control,
) -> Result<Option<ObjectIndex>> {
    let referrers = loaded.referrers(control)?;
    let dominators = &after.dominators;
    let mut position = dominators.position(object);
    for _ in 0..MOST_DOMINATORS {
        let Some(at) = position else {
            break;
        };
        let candidate = dominators.object(at);
        let slots = loaded.roots.of(candidate);
        let roots = slots.filter(|slot| slot.kind != RootKind::Stack).count();
        let sources = referrers.of(candidate).iter().filter(|&&source| {
            dominators.position(source).is_some() && !dominators.dominates(candidate, source)
        });
        if roots + sources.take(2).count() == 1 {
            return Ok(Some(candidate));
        }
        position = dominators.dominator(at);
    }
    Ok(None)
}
