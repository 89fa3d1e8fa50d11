//! What the host says of its objects, by their numbers in the joined heap. It says nothing of the memory.

use crate::joined_source::{JoinedSource, Own};
use base::bits::Bits;
use base::control::Control;
use base::error::Result;
use base::units::ObjectIndex;
use heap::{Category, HostNames, OtherEdge};

impl JoinedSource {
    /// Bits for the objects of the snapshot.
    fn js_bits(
        &self,
        bits: impl FnOnce(&dyn HostNames) -> Result<Option<Bits>>,
    ) -> Result<Option<Bits>> {
        match self.js.source.host_names() {
            Some(names) => bits(names),
            None => Ok(None),
        }
    }

    /// The names of the snapshot, and the number of an object there; `None` for an object of the memory.
    fn js_names(&self, object: ObjectIndex) -> Option<(&dyn HostNames, ObjectIndex)> {
        Some((self.js.source.host_names()?, self.js_object(object)?))
    }
}

impl HostNames for JoinedSource {
    fn is_root_part(&self, object: ObjectIndex) -> bool {
        let own = self.js_names(object);
        own.is_some_and(|(names, object)| names.is_root_part(object))
    }

    fn root_holders(&self) -> Result<Option<Bits>> {
        let Some(own) = self.js_bits(|names| names.root_holders())? else {
            return Ok(None);
        };
        let mut holders = Bits::new(self.heap.objects.len())?;
        let objects = 0..self.js.heap.objects.len() as u32;
        for object in objects.filter(|&object| own.contains(object)) {
            holders.insert(self.first_js() + object);
        }
        Ok(Some(holders))
    }

    fn program_name(
        &self,
        holder: ObjectIndex,
        target: ObjectIndex,
        label: &str,
    ) -> Option<String> {
        let (half, holder, target) = match (self.own(holder), self.own(target)) {
            (Own::Js(holder), Own::Js(target)) => (&self.js, holder, target),
            (Own::Wasm(holder), Own::Wasm(target)) => (&self.wasm, holder, target),
            _ => return Some(label.to_owned()),
        };
        match half.source.host_names() {
            Some(names) => names.program_name(holder, target, label),
            None => Some(label.to_owned()),
        }
    }

    fn global(&self, name: &str) -> Option<ObjectIndex> {
        let object = self.js.source.host_names()?.global(name)?;
        Some(self.of_js(object))
    }

    fn category(&self, category: Category, control: &Control) -> Result<Option<Bits>> {
        let Some(members) = self.js_bits(|names| names.category(category, control))? else {
            return Ok(None);
        };
        let first = self.first_js();
        let is_member = |object: u32| {
            let own = object.checked_sub(first);
            own.is_some_and(|own| members.contains(own))
        };
        Bits::of(self.heap.objects.len() as u32, is_member, control).map(Some)
    }

    fn distance(&self, object: ObjectIndex) -> Option<u32> {
        let (names, object) = self.js_names(object)?;
        names.distance(object)
    }

    fn other_edges_to(&self, target: ObjectIndex) -> Vec<OtherEdge> {
        let Some((names, target)) = self.js_names(target) else {
            return Vec::new();
        };
        let edges = names.other_edges_to(target).into_iter();
        edges
            .map(|edge| OtherEdge {
                source: self.of_js(edge.source),
                ..edge
            })
            .collect()
    }

    fn other_label(&self, edge: OtherEdge) -> Option<String> {
        let (names, source) = self.js_names(edge.source)?;
        names.other_label(OtherEdge { source, ..edge })
    }
}
