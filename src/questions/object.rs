//! Everything about one object.

use super::LoadedHeap;
use super::answer::{ObjectAnswer, ObjectName, Root};
use crate::control::Control;
use crate::error::Result;
use crate::heap::{Found, RootSlot};
use crate::units::ObjectIndex;
use crate::warning::Warning;

impl LoadedHeap {
    pub(super) fn object(
        &self,
        address: u32,
        notes: &mut Vec<Warning>,
        control: &Control,
    ) -> Result<ObjectAnswer> {
        let heap = &self.heap;
        let object = match self.find_at(address, notes)? {
            Found::Object(object) => object,
            Found::Block {
                address,
                size,
                state,
            } => {
                return Ok(ObjectAnswer {
                    address,
                    class_name: None,
                    state,
                    shallow_size: size.into(),
                    retained_size: 0,
                    dominator: None,
                    roots: Vec::new(),
                    preview: None,
                    fields: Vec::new(),
                    distance: None,
                    referrer_count: 0,
                    path: None,
                });
            }
        };
        let mut reader = self.reader();
        Ok(ObjectAnswer {
            address: heap.address(object).0,
            class_name: Some(self.class_name(object).to_owned()),
            state: heap.state(object),
            shallow_size: heap.shallow_size(object),
            retained_size: heap.retained_size(object),
            dominator: self.dominator_of(object, control)?,
            roots: self.roots.of(object).map(|slot| self.root(slot)).collect(),
            preview: reader.preview(object)?,
            fields: reader.fields(object, notes)?,
            distance: self.source.distance(object),
            referrer_count: self.referrers(control)?.of(object).len() as u64,
            path: self.path(&mut *reader, object, control)?,
        })
    }

    pub(super) fn dominator_of(
        &self,
        object: ObjectIndex,
        control: &Control,
    ) -> Result<Option<ObjectName>> {
        let index = self.dominator_index(control)?;
        let dominator = index
            .position(object)
            .and_then(|position| index.dominator(position));
        Ok(dominator.map(|position| self.object_name(index.object(position))))
    }

    pub(super) fn root(&self, slot: RootSlot) -> Root {
        let address = || {
            let is_static = self.heap.objects.is_static(slot.object);
            is_static.then(|| self.heap.address(slot.object).to_string())
        };
        Root {
            kind: slot.kind,
            name: self.roots.name(slot).or_else(address),
        }
    }
}
