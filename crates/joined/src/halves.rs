//! Two heaps that were joined, and which object is of which.

use std::sync::Arc;

use crate::extra::{Extra, Extras, OwnLabels};
use crate::graph::LeftOut;
use crate::judged::Possible;
use crate::pins::Pins;
use base::units::ObjectIndex;
use heap::{Heap, JoinedSums, Source};

/// One of the two heaps, with its source.
pub(crate) struct Half {
    pub(crate) heap: Arc<Heap>,
    pub(crate) source: Box<dyn Source>,
}

/// Two heaps that were joined. The objects, and the classes, of the memory come first.
pub(crate) struct JoinedSource {
    pub(crate) heap: Arc<Heap>,
    pub(crate) wasm: Half,
    pub(crate) js: Half,
    pub(crate) labels: OwnLabels,
    pub(crate) extras: Extras,
    pub(crate) left_out: LeftOut,
    pub(crate) pins: Pins,
    pub(crate) possible: Vec<Possible>,
    /// By object: the bytes of the memory among its retained size.
    pub(crate) wasm_retained: Vec<u32>,
    pub(crate) sums: JoinedSums,
}

/// An object of one of the heaps, by its number there.
#[derive(Clone, Copy)]
pub(crate) enum Own {
    /// Of the memory.
    Wasm(ObjectIndex),
    /// Of the snapshot.
    Js(ObjectIndex),
}

impl JoinedSource {
    /// The number of the first object of the snapshot.
    pub(crate) fn first_js(&self) -> u32 {
        self.wasm.heap.objects.len() as u32
    }

    pub(crate) fn first_js_class(&self) -> u32 {
        self.wasm.heap.objects.classes.len() as u32
    }

    /// The heap that an object is of.
    pub(crate) fn own(&self, object: ObjectIndex) -> Own {
        match object.0.checked_sub(self.first_js()) {
            Some(object) => Own::Js(ObjectIndex(object)),
            None => Own::Wasm(object),
        }
    }

    /// The number in the joined heap of an object of the snapshot.
    pub(crate) fn of_js(&self, object: ObjectIndex) -> ObjectIndex {
        ObjectIndex(self.first_js() + object.0)
    }

    pub(crate) fn js_object(&self, object: ObjectIndex) -> Option<ObjectIndex> {
        object.0.checked_sub(self.first_js()).map(ObjectIndex)
    }

    /// The position in its own heap of a reference of the joined graph that is none between the heaps.
    pub(crate) fn own_position(&self, source: ObjectIndex, position: u32) -> u32 {
        let nth = position - self.heap.edges.range(source).start;
        match self.own(source) {
            Own::Wasm(object) => self.wasm.heap.edges.range(object).start + nth,
            Own::Js(object) => {
                let start = self.js.heap.edges.range(object).start;
                self.left_out.nth(object, start, nth)
            }
        }
    }

    /// The label of a reference between the heaps, with its key.
    pub(crate) fn label_of_extra(&self, extra: &Extra) -> String {
        match &extra.exact {
            Some(exact) => exact.clone(),
            None => {
                let slot = self.heap.objects.class_slots[extra.source.at()];
                self.class_label(slot, extra.label.label())
            }
        }
    }

    /// These class slots of the memory, and of the snapshot.
    pub(crate) fn split<'s>(&self, class_slots: &'s [bool]) -> (&'s [bool], &'s [bool]) {
        class_slots.split_at((self.first_js_class() as usize).min(class_slots.len()))
    }
}
