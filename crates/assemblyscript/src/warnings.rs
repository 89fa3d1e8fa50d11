//! The reasons why the numbers of a heap may be wrong.

use super::class_slots::DescribedClass;
use super::edge_run::Anomalies;
use crate::runtime::classes::Doubt;
use crate::warning::ManagedWarning;
use base::mismatch::Mismatch;
use base::tolerance::Tolerance;
use base::units::ObjectIndex;
use base::warning::Warning;
use heap::Heap;

/// Warns of live objects that do not fit the descriptions of their classes.
pub(super) fn warn_of(
    heap: &mut Heap,
    anomalies: &Anomalies,
    classes: &[DescribedClass],
    tolerance: Tolerance,
) {
    let class_of = |object: ObjectIndex| {
        let slot = heap.objects.class_slots[object.at()];
        &classes[slot as usize].class
    };
    if let Some((first, count)) = live_of(heap, &anomalies.with_other_fields) {
        let class = class_of(first);
        let address = heap.memory_address(first);
        let class_name = class.name.clone();
        let declared = class.declared_size.unwrap_or_default();
        // Who asks for the dump of another module is told what differs; all others get no conclusion from it.
        heap.warnings.push(if tolerance.mismatch {
            let mismatch = Mismatch::Fields {
                address,
                class_name,
                declared,
                count,
            };
            Warning::ModuleMismatch { mismatch }
        } else {
            ManagedWarning::FieldsDiffer {
                address,
                class_name,
                declared,
                count,
            }
            .into()
        });
    }
    if let Some((first, count)) = live_of(heap, &anomalies.not_visited) {
        heap.warnings.push(
            ManagedWarning::VisitorNotRun {
                class_name: class_of(first).name.clone(),
                count,
            }
            .into(),
        );
    }
    if knows_what_is_live(heap, anomalies, classes)
        && let Some((first, count)) = live_of(heap, &anomalies.with_false_references)
    {
        heap.warnings.push(ManagedWarning::HeapInconsistent {
            problem: "live objects with a reference that is not to an object of the declared class",
            address: heap.memory_address(first),
            count,
        }.into());
    }
    if let Some((first, count)) = live_of(heap, &anomalies.misfits) {
        heap.warnings.push(
            ManagedWarning::ContentsDoNotFit {
                address: heap.memory_address(first),
                class_name: class_of(first).name.clone(),
                count,
            }
            .into(),
        );
    }
}

/// Whether only live objects count as live. If roots or classes are not known, garbage counts as live, and its references
/// may lead to memory that was reused: they do not prove that the heap was damaged.
fn knows_what_is_live(heap: &Heap, anomalies: &Anomalies, classes: &[DescribedClass]) -> bool {
    let are_roots_known = !heap
        .warnings
        .iter()
        .any(|warning| ["WARN_ROOTS_UNKNOWN", "WARN_ROOTS_INCOMPLETE"].contains(&warning.code()));
    let mut live = classes.iter().zip(&heap.live_classes);
    are_roots_known
        && anomalies.not_visited.is_empty()
        && live.all(|(class, live)| live.count == 0 || class.class.is_described)
}

/// The first live one of these objects, and the number of live ones; `objects` ascend. Garbage is
/// ignored, because it may refer to memory that was reused.
fn live_of(heap: &Heap, objects: &[ObjectIndex]) -> Option<(ObjectIndex, u64)> {
    if objects.is_empty() {
        return None;
    }
    let mut live = heap
        .dominators
        .live()
        .iter()
        .copied()
        .filter(|object| objects.binary_search(object).is_ok());
    let any = live.next()?;
    Some(live.fold((any, 1), |(first, count), object| {
        (object.min(first), count + 1)
    }))
}

/// Warns of what is not known of classes with live objects.
pub(super) fn warn_of_classes(heap: &mut Heap, classes: &[DescribedClass]) {
    let classes = classes.iter().zip(&heap.live_classes);
    let live: Vec<_> = classes.filter(|(_, live)| live.count > 0).collect();
    let doubtful = live
        .iter()
        .filter_map(|(class, live)| class_warning(class, live.count));
    heap.warnings.extend(doubtful);
    let classes = live.iter().map(|(class, _)| &class.class);
    let mut nameless = classes
        .filter(|class| class.is_described)
        .filter_map(|class| Some((class, class.lacks_name?)));
    if let Some((first, debug_info_by)) = nameless.next() {
        heap.warnings.push(
            ManagedWarning::NamesIncomplete {
                debug_info_by,
                class_name: first.name.clone(),
                count: 1 + nameless.count() as u64,
            }
            .into(),
        );
    }
}

/// The warning for a class with live objects, if there is one.
fn class_warning(class: &DescribedClass, count: u64) -> Option<Warning> {
    let DescribedClass { id, class, .. } = class;
    if class.doubt == Doubt::VisitorNotRun {
        return Some(
            ManagedWarning::VisitorNotRun {
                class_name: class.name.clone(),
                count,
            }
            .into(),
        );
    }
    if !class.is_described {
        return Some(ManagedWarning::ClassUnknown { id: *id, count }.into());
    }
    if !class.rivals.is_empty() {
        return Some(
            ManagedWarning::ClassAmbiguous {
                id: *id,
                class_name: class.name.clone(),
                rivals: class.rivals.clone(),
            }
            .into(),
        );
    }
    let class_name = class.name.clone();
    match class.doubt {
        Doubt::None | Doubt::VisitorNotRun => None,
        Doubt::Disputed => Some(ManagedWarning::ClassDisputed { class_name }.into()),
        Doubt::UnknownBases => Some(ManagedWarning::BasesUnknown { class_name }.into()),
    }
}
