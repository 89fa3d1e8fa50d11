//! The references to an object.

mod answer;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::loaded_heap::LoadedHeap;
use crate::parts::object_at::object_at;
use crate::parts::page::{default_limit, limit_schema, offset_schema, page};
use crate::parts::references::{Reference, named_edge, nth_reference};
pub use answer::Referrers;
use base::control::Control;
use base::error::Result;
use base::warning::Warning;
use heap::RootSlot;

/// Whose references to list, and how many.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ReferrerOptions {
    /// The address of the object, or one inside it.
    #[schemars(extend("x-cli" = "<address>", "x-agent" = { "is": "address" }))]
    pub address: u64,
    /// How many entries to list: a whole number ≥ 1 (default: 20).
    #[serde(default = "default_limit")]
    #[schemars(schema_with = "limit_schema")]
    pub limit: u64,
    /// How many entries to leave out before the first (default: 0).
    #[serde(default)]
    #[schemars(schema_with = "offset_schema")]
    pub offset: u64,
}

/// The references to an object.
///
/// # Errors
/// [`Error`](base::Error): `NoObject` for an address without an object, `InvalidOption` for a limit of 0,
/// `DumpChanged` and `Io` if the dump cannot be read again, `OutOfMemory`, `Aborted`.
pub fn referrers(
    loaded: &LoadedHeap,
    options: &ReferrerOptions,
    notes: &mut Vec<Warning>,
    control: &Control,
) -> Result<Referrers> {
    let page = page(options.offset, options.limit)?;
    let object = object_at(loaded, options.address, notes, control)?;
    let roots: Vec<RootSlot> = loaded.roots.of(object).collect();
    let sources = loaded.referrers(control)?.of(object);
    // As in DevTools, what keeps the object alive comes first.
    let names = loaded.source.host_names();
    let others = names.map_or_else(Vec::new, |names| names.other_edges_to(object));
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
        address_text: loaded.shown(object).to_string(),
        total: references.len() as u64,
        offset: page.offset,
        limit: page.limit,
        referrers,
    })
}
