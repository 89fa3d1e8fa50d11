//! The references to an object.

mod answer;

use crate::loaded_heap::LoadedHeap;
use crate::parts::object_at::object_at;
use crate::parts::page::Page;
use crate::parts::references::{Reference, named_edge, nth_reference};
pub use answer::Referrers;
use base::control::Control;
use base::error::Result;
use base::warning::Warning;
use heap::RootSlot;

pub(crate) fn referrers_of(
    loaded: &LoadedHeap,
    address: u32,
    page: Page,
    notes: &mut Vec<Warning>,
    control: &Control,
) -> Result<Referrers> {
    let object = object_at(loaded, address, notes, control)?;
    let roots: Vec<RootSlot> = loaded.roots.of(object).collect();
    let sources = loaded.referrers(control)?.of(object);
    // As in DevTools, what keeps the object alive comes first.
    let others = loaded.source.other_edges_to(object);
    let strong = roots.len() + sources.len();
    let references = 0..strong + others.len();
    let mut reader = loaded.reader(control);
    let mut referrers = Vec::new();
    for nth in page.of(references.clone()) {
        let reference = match (roots.get(nth), nth.checked_sub(strong)) {
            (Some(&slot), _) => Reference::Root(slot),
            (None, Some(nth)) => Reference::Other(others[nth]),
            (None, None) => nth_reference(sources, nth - roots.len()),
        };
        referrers.push(named_edge(loaded, &mut reader, object, reference, control)?);
    }
    Ok(Referrers {
        address: loaded.heap.address(object).0,
        total: references.len() as u64,
        offset: page.offset,
        limit: page.limit,
        referrers,
    })
}
