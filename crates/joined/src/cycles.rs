//! What only cycles across the border keep.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use base::control::{CHECK_INTERVAL, Step};
use base::error::Result;
use base::units::ObjectIndex;
use heap::{Heap, KeptByCycles, KeptClass, SizeParts};

/// The largest number of classes that are named.
const MOST_CLASSES: usize = 20;

/// The objects that are alive in their own heap, those of the memory or those of the snapshot, and not in both together.
/// Those that take no space do not count.
///
/// # Errors
/// [`Error::Aborted`](base::Error::Aborted).
pub(crate) fn kept_by_cycles(
    both: &Heap,
    [wasm, js]: [&Heap; 2],
    step: &Step<'_>,
) -> Result<Option<KeptByCycles>> {
    let first_js = wasm.objects.len() as u32;
    let mut found = KeptByCycles::default();
    let mut classes: BTreeMap<&str, KeptClass> = BTreeMap::new();
    for object in (0..both.objects.len() as u32).map(ObjectIndex) {
        if object.at().is_multiple_of(CHECK_INTERVAL) {
            step.advance(0)?;
        }
        let (was_live, is_wasm) = match object.0.checked_sub(first_js) {
            None => (wasm.is_live_on_heap(object), true),
            Some(own) => (js.is_live_on_heap(ObjectIndex(own)), false),
        };
        let size = both.shallow_size(object);
        if !was_live || size == 0 || both.is_live_on_heap(object) {
            continue;
        }
        let parts = SizeParts {
            javascript: if is_wasm { 0 } else { size },
            wasm: if is_wasm { size } else { 0 },
        };
        found.count += 1;
        found.shallow_parts.add(parts);
        let class = classes
            .entry(both.objects.class_of(object).name.as_str())
            .or_default();
        class.count += 1;
        class.shallow_parts.add(parts);
    }
    if found.count == 0 {
        return Ok(None);
    }
    found.classes = classes
        .into_iter()
        .map(|(name, class)| KeptClass {
            class_name: name.to_owned(),
            ..class
        })
        .collect();
    // Stable: of as many objects, in the order of their names.
    found.classes.sort_by_key(|class| Reverse(class.count));
    found.classes.truncate(MOST_CLASSES);
    Ok(Some(found))
}
