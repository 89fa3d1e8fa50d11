//! The totals of a heap.

use std::collections::BTreeSet;

use super::LoadedHeap;
use super::accounting::AccountingJson;
use super::answer::{ObjectCounts, RootCounts, Summary};
use crate::runtime::roots::RootKind;

impl LoadedHeap {
    pub(super) fn summary(&self) -> Summary {
        let heap = &self.heap;
        let classes = heap.objects.classes.iter().zip(&heap.live_classes);
        let live_names: BTreeSet<&str> = classes
            .filter(|(_, live)| live.count > 0)
            .map(|(class, _)| class.class.name.as_str())
            .collect();
        let live = heap.live_classes.iter().map(|class| class.count).sum();
        let sizes = &heap.objects.shallow_sizes;
        // Static objects come first.
        let statics = sizes.partition_point(|&size| size == 0) as u64;
        let mut roots = RootCounts {
            system: heap.is_snapshot.then_some(0),
            ..RootCounts::default()
        };
        for slot in self.names.roots.all() {
            *match slot.kind {
                RootKind::Global => &mut roots.global,
                RootKind::Stack => &mut roots.stack,
                RootKind::Pinned => &mut roots.pinned,
                RootKind::System => roots.system.get_or_insert(0),
            } += 1;
        }
        Summary {
            total_heap_size: (!heap.is_snapshot).then_some(heap.total_size),
            total_live_size: heap.live_size,
            accounting: heap.known_accounting().map(AccountingJson::from),
            objects: ObjectCounts {
                live,
                garbage: (!heap.is_snapshot).then(|| sizes.len() as u64 - statics - live),
                statics: (!heap.is_snapshot).then_some(statics),
            },
            classes: live_names.len() as u64,
            roots,
        }
    }
}
