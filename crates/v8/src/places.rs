//! What paths and places call the objects that a program writes down without a class, and where paths begin.

use std::collections::HashMap;

use super::order::{NO_OBJECT, Order};
use super::raw::RawSnapshot;
use base::bits::Bits;
use base::columns;
use base::error::Result;
use base::units::ObjectIndex;
use heap::{EdgeLabel, HeapClass, NameKind, NamedStarts, WideLabel};

/// References from an owner to its storage.
const STORAGE: [&[u8]; 4] = [b"elements", b"table", b"properties", b"internal_hash"];

/// The names of places, and where paths begin.
#[derive(Default)]
pub(super) struct Places {
    /// By node: the position of its name, and 0 for those that have none.
    pub(super) names_of: Vec<u32>,
    pub(super) names: Vec<String>,
    pub(super) program: Vec<(String, u32)>,
    pub(super) engine: Vec<(String, u32)>,
    pub(super) is_engine: Vec<u32>,
    /// Labels of references to an object's own storage.
    pub(super) storage: Vec<EdgeLabel>,
}

impl Places {
    /// Where paths begin, by object.
    pub(super) fn starts(&self, raw: &RawSnapshot, order: &Order) -> Result<NamedStarts> {
        // No context is the root of the snapshot.
        let objects = |nodes: &[(String, u32)]| {
            let object = |node| ObjectIndex(order.object_of(node));
            let named = nodes.iter();
            columns::collected(named.map(|(name, node)| (name.clone(), object(*node))))
        };
        let mut is_engine = Bits::new(raw.len())?;
        for &node in &self.is_engine {
            let object = order.object_of(node);
            if object != NO_OBJECT {
                is_engine.insert(object);
            }
        }
        Ok(NamedStarts {
            program: objects(&self.program)?,
            engine: objects(&self.engine)?,
            is_engine,
            storage: self.storage.clone(),
        })
    }

    /// Adds the names to the classes, and says which of them each object has.
    pub(super) fn slots(
        self,
        order: &Order,
        class_slots: &[u32],
        classes: &mut Vec<HeapClass>,
    ) -> Result<Vec<u32>> {
        if self.names.is_empty() {
            return Ok(Vec::new());
        }
        let first = classes.len() as u32;
        classes.extend(self.names.into_iter().map(|name| HeapClass {
            name,
            origin: None,
            evidence: None,
            count: 0,
        }));
        let names_of = order.column(self.names_of)?;
        let slots = names_of.iter().zip(class_slots);
        columns::collected(slots.map(|(&name, &class)| match name.checked_sub(1) {
            Some(name) => first + name,
            None => class,
        }))
    }

    pub(super) fn set(&mut self, numbers: &mut HashMap<String, u32>, node: u32, name: String) {
        let next = self.names.len() as u32 + 1;
        let number = *numbers.entry(name).or_insert_with_key(|name| {
            self.names.push(name.clone());
            next
        });
        self.names_of[node as usize] = number;
    }
}

/// The labels of references to an object's own storage.
pub(super) fn storage_labels(raw: &RawSnapshot) -> Vec<EdgeLabel> {
    let names = raw.internal_names.iter();
    let storage = names.filter(|&&name| STORAGE.contains(&raw.strings.bytes(name)));
    let label = |&name: &u32| WideLabel::named(NameKind::Internal, name).label();
    storage.map(label).collect()
}
