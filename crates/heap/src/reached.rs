//! What objects reach.

use super::Heap;
use base::columns;
use base::control::{CHECK_INTERVAL, Control};
use base::error::Result;
use base::units::ObjectIndex;

/// One bit per object: whether these objects reach it without passing through `removed`. The bits of
/// `removed` are set too.
///
/// # Errors
/// [`Error::OutOfMemory`](base::Error::OutOfMemory), [`Error::Aborted`](base::Error::Aborted).
pub fn reached_from(
    heap: &Heap,
    starts: impl Iterator<Item = ObjectIndex>,
    removed: &[ObjectIndex],
    control: &Control,
) -> Result<Vec<u64>> {
    let edges = &heap.edges;
    let mut reached = columns::repeated(0u64, heap.objects.len().div_ceil(64))?;
    let mut visit = |object: ObjectIndex| {
        let word = &mut reached[object.at() / 64];
        let bit = 1 << (object.at() % 64);
        let is_new = *word & bit == 0;
        *word |= bit;
        is_new
    };
    for &object in removed {
        visit(object);
    }
    let mut pending = Vec::new();
    for start in starts {
        if visit(start) {
            columns::push(&mut pending, start)?;
        }
    }
    let mut followed = 0usize;
    while let Some(object) = pending.pop() {
        followed += 1;
        if followed.is_multiple_of(CHECK_INTERVAL) {
            control.check()?;
        }
        for &target in edges.targets(object) {
            if visit(target) {
                columns::push(&mut pending, target)?;
            }
        }
    }
    Ok(reached)
}
