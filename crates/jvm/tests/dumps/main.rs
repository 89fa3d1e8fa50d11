//! Dumps that a writer of the test makes: what their heaps are is known.

#![allow(clippy::unwrap_used, reason = "in a test, what cannot be is a failure")]
#![allow(clippy::panic, reason = "in a test, what cannot be is a failure")]

mod hostile;
mod meaning;
mod random;
mod writer;

use base::{Control, Input, Result, Tolerance};
use heap::{Heap, InMemory, LabelKind, Opened};

pub(crate) fn analyze(file: &[u8]) -> Result<Heap> {
    let input = Input {
        name: "app.hprof",
        bytes: file,
    };
    jvm::analyze(input, Tolerance::default(), &Control::default())
}

pub(crate) fn open(file: &[u8], tolerance: Tolerance) -> Result<Opened> {
    let input = Input {
        name: "app.hprof",
        bytes: file,
    };
    let contents = Box::new(InMemory(file.to_vec()));
    jvm::open(input, contents, tolerance, &Control::default())
}

/// The references of an object: labels and addresses.
pub(crate) fn references(opened: &Opened, address: u64) -> Vec<(String, u64)> {
    let heap = &opened.heap;
    let object = heap
        .objects
        .at(base::units::ObjectAddress(address))
        .unwrap();
    let slot = heap.objects.class_slots[object.at()];
    let edges = heap.edges.range(object);
    let references = edges.map(|position| {
        let label = heap.edges.label(position).unwrap_or_default();
        assert_ne!(label.kind(), LabelKind::Folded);
        let text = opened.source.label_at(slot, position);
        (text, heap.address(heap.edges.target(position)).0)
    });
    references.collect()
}

/// Whether an object is alive.
pub(crate) fn is_live(heap: &Heap, address: u64) -> bool {
    let object = heap
        .objects
        .at(base::units::ObjectAddress(address))
        .unwrap();
    heap.retained_size(object) > 0
}
