//! Properties of every successful analysis, for any input.

use std::collections::BTreeSet;
use std::io::Read;
use std::sync::{Arc, LazyLock};

use engine::heap::Heap;
use engine::heap::views::{ComparisonView, ConstructorView, Instances, Selection};
use engine::outputs::formats::{Document, JsonStream, TableOptions, render_table};
use engine::{Control, ObjectIndex};
use rayon::ThreadPool;

/// Heaps up to this size are compared with the definition of retained size.
const FEW: usize = 64;

/// Checks all properties.
pub fn check(heap: Heap) {
    accounting(&heap);
    let live = reachability(&heap);
    retained_sizes(&heap, &live);
    let heap = Arc::new(heap);
    let all = Selection::default();
    let view = Arc::new(ConstructorView::new(Arc::clone(&heap), all, &Control::default()).unwrap());
    rows(&heap, &view);
    let itself = ComparisonView::new(
        Arc::clone(&heap),
        Arc::clone(&heap),
        Selection::default(),
        &Control::default(),
    );
    assert!(
        itself.unwrap().rows().is_empty(),
        "a heap differs from itself"
    );
    for warning in &heap.warnings {
        assert!(
            warning.to_string().len() < 4096,
            "a warning as long as a book"
        );
    }
}

fn accounting(heap: &Heap) {
    // A snapshot does not say it.
    let Some(parts) = &heap.accounting else {
        return;
    };
    let live = parts.live.global + parts.live.stack + parts.live.pinned;
    assert_eq!(live, heap.live_size);
    let all = [
        live,
        parts.garbage,
        parts.raw,
        parts.free.bytes,
        parts.overhead,
        parts.gaps,
        parts.unread,
    ];
    assert_eq!(Some(all.iter().sum::<u64>()), heap.total_size, "{parts:?}");
    assert_eq!(heap.is_partial, parts.unread > 0);
    assert!(parts.free.largest <= parts.free.bytes);
}

/// Exactly the live objects have a path from a root. Returns the live objects.
fn reachability(heap: &Heap) -> BTreeSet<ObjectIndex> {
    let addresses = heap.objects.addresses.iter();
    assert!(addresses.is_sorted_by(|left, right| left < right));
    let reached = reached_without(heap, None);
    let live: BTreeSet<_> = heap.dominators.live().iter().copied().collect();
    assert_eq!(
        live.len(),
        heap.dominators.live().len(),
        "an object is alive twice"
    );
    assert_eq!(reached, live);
    for object in (0..heap.objects.len() as u32).map(ObjectIndex) {
        let is_live_on_heap = live.contains(&object) && heap.objects.is_on_heap(object);
        assert_eq!(heap.is_live_on_heap(object), is_live_on_heap);
    }
    live
}

fn reached_without(heap: &Heap, removed: Option<ObjectIndex>) -> BTreeSet<ObjectIndex> {
    let mut pending: Vec<_> = heap.roots.iter().map(|&(object, _)| object).collect();
    let mut reached = BTreeSet::new();
    while let Some(object) = pending.pop() {
        if Some(object) != removed && reached.insert(object) {
            pending.extend(heap.edges.targets(object));
        }
    }
    reached
}

fn retained_sizes(heap: &Heap, live: &BTreeSet<ObjectIndex>) {
    let size_of = |objects: &BTreeSet<ObjectIndex>| -> u64 {
        objects
            .iter()
            .map(|&object| heap.shallow_size(object))
            .sum()
    };
    let live_size = size_of(live);
    assert_eq!(live_size, heap.live_size);
    let tops = heap.dominators.trees().flat_map(|(_, tops)| tops);
    let sum: u64 = tops.map(|top| heap.retained_size(top)).sum();
    assert_eq!(sum, live_size, "the sizes of all top-level objects");
    for &object in live {
        assert!(heap.retained_size(object) >= heap.shallow_size(object));
        if live.len() <= FEW {
            let lost = live_size - size_of(&reached_without(heap, Some(object)));
            assert_eq!(heap.retained_size(object), lost);
        }
    }
}

fn rows(heap: &Heap, view: &ConstructorView) {
    let mut count = 0;
    let mut shallow = 0;
    for (nth, row) in view.rows().iter().enumerate() {
        let instances = view.instances(nth).unwrap().unwrap();
        let sum = |size: fn(&_) -> u64| instances.iter().map(|one| size(&one)).sum::<u64>();
        assert_eq!(row.count, instances.len() as u64);
        assert_eq!(
            row.total_shallow_size,
            sum(|one: &engine::heap::views::Instance| one.shallow_size)
        );
        assert_eq!(row.total_retained_size, sum(|one| one.retained_size));
        count += row.count;
        shallow += row.total_shallow_size;
    }
    assert_eq!(count, heap.live_heap_objects().count() as u64);
    assert_eq!(count, view.instance_count());
    assert_eq!(shallow, heap.live_size);
}

/// Checks a comparison against two lists of addresses and class names.
pub fn comparison(before: &Arc<Heap>, after: &Arc<Heap>, view: &ComparisonView) {
    let objects = |heap: &Heap| -> BTreeSet<(String, u64)> {
        let live = heap.live_heap_objects();
        live.map(|object| {
            let class = heap.objects.class_of(object);
            (class.name.clone(), heap.address(object).0)
        })
        .collect()
    };
    let (before, after) = (objects(before), objects(after));
    let listed = |wanted_new: bool| -> BTreeSet<(String, u64)> {
        let rows = view.rows().iter().enumerate();
        rows.flat_map(|(nth, row)| {
            let instances: Instances = view.instances(nth).unwrap().unwrap();
            let new = instances.new_count().unwrap();
            let all: Vec<_> = instances.iter().collect();
            let part = if wanted_new { &all[..new] } else { &all[new..] };
            let part = part
                .iter()
                .map(|one| (row.class_name.clone(), one.address.0));
            part.collect::<Vec<_>>()
        })
        .collect()
    };
    assert_eq!(listed(true), after.difference(&before).cloned().collect());
    assert_eq!(listed(false), before.difference(&after).cloned().collect());
}

/// Checks that one, two and eight threads produce the same text, and returns it.
pub fn with_any_threads(make: impl Fn() -> String + Sync) -> String {
    static POOLS: LazyLock<[ThreadPool; 3]> = LazyLock::new(|| {
        [1, 2, 8].map(|threads| {
            rayon::ThreadPoolBuilder::new()
                .num_threads(threads)
                .build()
                .unwrap()
        })
    });
    let mut texts = POOLS.each_ref().map(|pool| pool.install(&make)).into_iter();
    let first = texts.next().unwrap();
    for other in texts {
        assert_eq!(first, other, "the number of threads shows");
    }
    first
}

/// A document as JSON, which must be valid, and as a table, which must not control a terminal.
pub fn texts<D: Document + Clone>(document: D, table: TableOptions) -> String {
    let table = render_table(&document, table);
    let is_order = |character: char| character.is_control() && character != '\n';
    assert!(!table.contains(is_order), "{table:?}");
    let mut text = String::new();
    JsonStream::new(document)
        .with_accounting()
        .read_to_string(&mut text)
        .unwrap();
    serde_json::from_str::<serde::de::IgnoredAny>(&text).unwrap();
    text + &table
}
