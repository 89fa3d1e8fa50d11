//! The totals of a heap.

mod accounting;
mod answer;

use std::collections::BTreeSet;

use crate::loaded_heap::LoadedHeap;
pub use accounting::{AccountingJson, FreeJson, LiveJson, PinnedJson};
pub use answer::{CategorySum, ObjectCounts, RootCounts, Summary, UnreferencedCounts};
use base::control::Control;
use base::error::Result;
use base::units::ObjectIndex;
use heap::{Category, RootKind};

/// The totals of a heap.
///
/// # Errors
/// [`Error`](base::Error): `OutOfMemory`, `Aborted`.
pub fn summary(loaded: &LoadedHeap, control: &Control) -> Result<Summary> {
    let heap = &loaded.heap;
    let classes = heap.objects.classes.iter().zip(&heap.live_classes);
    let live_names: BTreeSet<&str> = classes
        .filter(|(_, live)| live.count > 0)
        .map(|(class, _)| class.name.as_str())
        .collect();
    let live = heap.live_classes.iter().map(|class| class.count).sum();
    let statics = heap.objects.statics.map(u64::from);
    let mut roots = RootCounts {
        system: heap.has_root_kind(RootKind::System).then_some(0),
        host: heap.has_root_kind(RootKind::Host).then_some(0),
        unreferenced: heap.has_root_kind(RootKind::Unreferenced).then_some(0),
        ..RootCounts::default()
    };
    for slot in loaded.roots.all() {
        *match slot.kind {
            RootKind::Global => &mut roots.global,
            RootKind::Stack => &mut roots.stack,
            RootKind::Pinned => &mut roots.pinned,
            RootKind::System => roots.system.get_or_insert(0),
            RootKind::Host => roots.host.get_or_insert(0),
            RootKind::Unreferenced => roots.unreferenced.get_or_insert(0),
        } += 1;
    }
    Ok(Summary {
        total_heap_size: heap.total_size,
        total_live_size: heap.total_live_size(),
        outside_size: Some(heap.outside_size).filter(|&size| size > 0),
        unreferenced: heap.unreferenced.map(|totals| UnreferencedCounts {
            count: totals.count,
            shallow_size: totals.size,
            entries: totals.entries,
        }),
        accounting: heap.accounting.as_ref().map(AccountingJson::from),
        objects: ObjectCounts {
            live,
            garbage: statics.map(|statics| heap.objects.len() as u64 - statics - live),
            statics,
        },
        classes: live_names.len() as u64,
        roots,
        categories: categories(loaded, control)?,
        joined: loaded
            .source
            .joined()
            .map(|joined| Box::new(joined.sums().clone())),
        trap: loaded.trap.clone(),
    })
}

fn categories(loaded: &LoadedHeap, control: &Control) -> Result<Vec<CategorySum>> {
    let heap = &loaded.heap;
    let mut sums = Vec::new();
    let Some(names) = loaded.source.host_names() else {
        return Ok(sums);
    };
    for category in Category::ALL {
        let Some(members) = names.category(category, control)? else {
            continue;
        };
        let mut sum = CategorySum {
            category,
            count: 0,
            shallow_size: 0,
        };
        for object in members.iter_in(0..heap.objects.len() as u32) {
            let size = heap.shallow_size(ObjectIndex(object));
            // The classes do not count what has no size either.
            sum.count += u64::from(size != 0);
            sum.shallow_size += size;
        }
        sums.push(sum);
    }
    Ok(sums)
}
