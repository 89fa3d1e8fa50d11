//! Memory that could be saved: duplicates, empty containers, unused room. Every byte of a live object belongs
//! to the first kind of waste that claims it.

mod claims;
mod copies;
mod headers;
mod holders;
mod shown_copies;
mod sums;

use claims::Claims;

use sums::Sums;

use super::LoadedHeap;
use super::answer::{Waste, WasteKindName};
use super::question::Page;
use base::bits::Bits;
use base::control::{Control, Phase};
use base::error::Result;
use base::side_by_side::side_by_side;
use base::units::ObjectIndex;
use base::warning::Warning;
use heap::{Blocks, DominatorIndex, PathTree, ReferrerIndex, Survey};

/// The data that all parts of the report need.
struct Context<'h> {
    heap: &'h LoadedHeap,
    blocks: Blocks,
    live: &'h DominatorIndex,
    referrers: &'h ReferrerIndex,
    tree: &'h PathTree,
    /// The objects that a root refers to.
    is_rooted: Bits,
    control: &'h Control,
}

impl<'h> Context<'h> {
    fn new(heap: &'h LoadedHeap, control: &'h Control) -> Result<Self> {
        let (referrers, tree) =
            side_by_side(|| heap.referrers(control), || heap.path_tree(control))?;
        let mut is_rooted = Bits::new(heap.heap.objects.len())?;
        for slot in heap.roots.all() {
            is_rooted.insert(slot.object.0);
        }
        Ok(Self {
            heap,
            // Without blocks, there is no memory whose waste would be counted.
            blocks: heap.source.blocks().unwrap_or(Blocks {
                header: 0,
                granule: 1,
            }),
            live: heap.dominator_index(control)?,
            referrers,
            tree,
            is_rooted,
            control,
        })
    }

    /// Whether an object is alive, static or not.
    fn is_live(&self, object: ObjectIndex) -> bool {
        if self.heap.heap.objects.is_on_heap(object) {
            self.heap.heap.retained_size(object) != 0
        } else {
            self.live.position(object).is_some()
        }
    }

    fn class_slot(&self, object: ObjectIndex) -> u32 {
        self.heap.heap.objects.class_slots[object.at()]
    }

    /// Whether there is only one reference to a live object.
    fn has_one_reference(&self, object: ObjectIndex) -> bool {
        self.referrers.of(object).len() == 1 && !self.is_rooted.contains(object.0)
    }
}

pub(super) fn waste(
    loaded: &LoadedHeap,
    page: Page,
    notes: &mut Vec<Warning>,
    control: &Control,
) -> Result<Waste> {
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
        let strings = context.copies(texts, step)?;
        let strings = context.shown_copies(&strings, WasteKindName::DuplicateStrings, page)?;
        return Ok(Waste {
            total_live_size: loaded.heap.live_size,
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
    let padding = Sums::of_padding(context, &claims, &memory.sizes, step)?;

    let by_class = |sums: Sums, kind| sums.into_kind(context, kind, page);
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
        total_live_size: loaded.heap.live_size,
        total_savings: kinds.iter().map(|kind| kind.savings).sum(),
        kinds,
        headers: Some(context.headers(page)),
    })
}
