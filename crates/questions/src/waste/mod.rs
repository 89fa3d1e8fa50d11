//! Memory that could be saved: duplicates, empty containers, unused room. Every byte of a live object belongs
//! to the first kind of waste that claims it.

mod answer;
mod claims;
mod context;
mod copies;
mod headers;
mod holders;
mod padding;
mod shown_copies;
mod sum;
mod sums;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::lacking::require;
use crate::loaded_heap::LoadedHeap;
use crate::parts::page::{default_limit, limit_schema, offset_schema, page};
pub use answer::{
    HeaderClass, Waste, WasteGroup, WasteHeaders, WasteHolder, WasteKind, WasteKindName,
};
use base::control::{Control, Phase};
use base::error::Result;
use base::side_by_side::side_by_side;
use base::warning::Warning;
use claims::Claims;
use context::Context;
use heap::Survey;
use padding::padding;
use sums::GroupSums;

/// Which groups of waste to list.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct WasteOptions {
    /// How many entries to list: a whole number ≥ 1 (default: 20).
    #[serde(default = "default_limit")]
    #[schemars(schema_with = "limit_schema")]
    pub limit: u64,
    /// How many entries to leave out before the first (default: 0).
    #[serde(default)]
    #[schemars(schema_with = "offset_schema")]
    pub offset: u64,
}

/// Memory that could be saved: duplicates, empty containers, unused room.
///
/// # Errors
/// [`Error`](base::Error): `InvalidOption` for a limit of 0, `DumpChanged` and `Io` if the dump cannot be read
/// again, `OutOfMemory`, `Aborted`.
pub fn waste(
    loaded: &LoadedHeap,
    options: &WasteOptions,
    notes: &mut Vec<Warning>,
    control: &Control,
) -> Result<Waste> {
    let source = &*loaded.source;
    require(source, "waste", source.facts().lacks.contents)?;
    let page = page(options.offset, options.limit)?;
    let context = &Context::new(loaded, control)?;
    let object_count = loaded.heap.objects.len();
    let step = &control.begin(Phase::View, object_count as u64);
    let Survey {
        texts,
        memory,
        notes: mut found,
    } = loaded.source.survey(context.live, step)?;
    notes.append(&mut found);
    let Some(mut memory) = memory else {
        let copies = context.copies(texts, step)?;
        let strings = context.shown_copies(&copies, WasteKindName::DuplicateStrings, page)?;
        return Ok(Waste {
            total_live_size: loaded.heap.total_live_size(),
            total_savings: strings.savings,
            kinds: vec![strings],
            headers: None,
        });
    };
    let buffers = std::mem::take(&mut memory.buffers);
    let (strings, buffers) = side_by_side(
        || context.copies(texts, step),
        || context.copies(buffers, step),
    )?;
    let mut claims = Claims::new(object_count)?;
    for &copy in strings.all().iter().chain(buffers.all()) {
        claims.take(copy);
    }
    let empty = claims.take_empty(context, &memory)?;
    let unviewed = claims.take_unviewed(context, &memory)?;
    step.advance(0)?;
    let capacity = claims.take_capacity(context, &memory)?;
    let entries = claims.entries(context, &memory)?;
    let padding = padding(context, &claims, &memory.sizes, step)?;

    let by_class = |sums: GroupSums, kind| sums.into_kind(context, kind, page);
    let kinds = vec![
        context.shown_copies(&strings, WasteKindName::DuplicateStrings, page)?,
        context.shown_copies(&buffers, WasteKindName::DuplicateBuffers, page)?,
        by_class(empty, WasteKindName::EmptyContainers),
        by_class(unviewed, WasteKindName::Views),
        by_class(capacity, WasteKindName::ArrayCapacity),
        by_class(entries, WasteKindName::Entries),
        by_class(padding, WasteKindName::Padding),
    ];
    Ok(Waste {
        total_live_size: loaded.heap.total_live_size(),
        total_savings: kinds.iter().map(|kind| kind.savings).sum(),
        kinds,
        headers: Some(context.headers(page)),
    })
}
