//! Two heaps that were joined, and what is known of both together.

use std::sync::Arc;

use crate::extra::{Extra, Extras, OwnLabels};
use crate::graph::LeftOut;
use crate::judged::Possible;
use crate::pins::{PinState, Pins};
use base::units::ObjectIndex;
use heap::{
    Facts, Heap, HolderEvidence, JoinedHeaps, JoinedSums, PossibleHolder, PossibleHolders,
    SizeParts, Source,
};

/// One of the two heaps, with its source.
pub(crate) struct Half {
    pub(crate) heap: Arc<Heap>,
    pub(crate) source: Box<dyn Source>,
}

/// Two heaps that were joined. The objects, and the classes, of the memory come first.
pub(crate) struct JoinedSource {
    pub(crate) facts: Facts,
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

impl JoinedHeaps for JoinedSource {
    fn sums(&self) -> &JoinedSums {
        &self.sums
    }

    fn wasm_objects(&self) -> u32 {
        self.first_js()
    }

    fn retained_parts(&self, object: ObjectIndex) -> SizeParts {
        let wasm = u64::from(self.wasm_retained[object.at()]);
        SizeParts {
            javascript: self.heap.retained_size(object).saturating_sub(wasm),
            wasm,
        }
    }

    fn evidence(&self, holder: ObjectIndex, target: ObjectIndex) -> Option<HolderEvidence> {
        let mut between = self.extras.between(holder, target);
        between.next().and_then(|extra| extra.evidence)
    }

    fn pin_note(&self, object: ObjectIndex) -> Option<String> {
        let Own::Wasm(object) = self.own(object) else {
            return None;
        };
        match self.pins.state(object) {
            PinState::Possible => {
                let count = self.possible_of(object).len();
                let noun = if count == 1 { "slot" } else { "slots" };
                Some(format!("(possible: {count} {noun})"))
            }
            PinState::AwaitingRelease => {
                Some("(its wrapper was collected, and the release has not run)".to_owned())
            }
            PinState::Unseen if self.sums.numbers_read && self.sums.closures_read => {
                Some("(no JavaScript number seen)".to_owned())
            }
            _ => None,
        }
    }

    fn pinned_by(&self, object: ObjectIndex) -> Option<&[String]> {
        match self.own(object) {
            Own::Wasm(object) => self.pins.stack(object),
            Own::Js(_) => None,
        }
    }

    fn possible_holders(&self, object: ObjectIndex, most: usize) -> PossibleHolders {
        let Own::Wasm(object) = self.own(object) else {
            return PossibleHolders::default();
        };
        let slots = self.possible_of(object);
        let holders = slots.iter().take(most).map(|slot| PossibleHolder {
            holder: self.of_js(slot.holder),
            label: self.label_of_possible(slot),
            hits: slot.hits,
            values: slot.values,
        });
        PossibleHolders {
            total: slots.len() as u64,
            holders: holders.collect(),
        }
    }
}

impl JoinedSource {
    fn possible_of(&self, object: ObjectIndex) -> &[Possible] {
        let slots = &self.possible;
        let first = slots.partition_point(|slot| slot.target < object);
        let end = slots.partition_point(|slot| slot.target <= object);
        &slots[first..end]
    }

    fn label_of_possible(&self, slot: &Possible) -> String {
        let mut labels = OwnLabels::default();
        match labels.of_slot(&slot.name) {
            Ok((_, Some(exact))) => exact,
            Ok((label, None)) => match labels.text(label.label()) {
                Some(text) => text.to_owned(),
                None => {
                    let class_slot = self.js.heap.objects.class_slots[slot.holder.at()];
                    self.js.source.class_label(class_slot, label.label())
                }
            },
            Err(_) => String::new(),
        }
    }
}
