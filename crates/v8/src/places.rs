//! What paths and places call the objects that a program writes down without a class, and where paths begin.

use std::collections::HashMap;

use super::order::{NO_OBJECT, Order};
use super::raw::RawSnapshot;
use base::bits::Bits;
use base::columns;
use base::error::{Error, Result};
use base::units::ObjectIndex;
use heap::{ClassOrigin, EdgeLabel, HeapClass, Location, NameKind, NamedStarts, WideLabel};

/// References from an owner to its storage.
const STORAGE: [&[u8]; 5] = [
    b"elements",
    b"table",
    b"properties",
    b"internal_hash",
    b"backing_store",
];
/// Classes that V8 makes parts of other objects of, such as the reactions of a promise. Paths have them and their owner as
/// one step. Scopes with a name are none.
const STORAGE_CLASSES: [&str; 3] = ["(array)", "(system)", "system / Context"];

/// The names of places, and where paths begin.
#[derive(Default)]
pub(super) struct Places {
    /// By node: the position of its name, and 0 for those that have none.
    pub(super) names_of: Vec<u32>,
    pub(super) names: Vec<String>,
    /// By name: where the code is that it names; `None` if that is not known, or if there are several.
    pub(super) locations: Vec<Option<Location>>,
    pub(super) program: Vec<(String, u32)>,
    pub(super) engine: Vec<(String, u32)>,
    pub(super) is_engine: Vec<u32>,
    /// What all code of a page or of a process shares. Paths lead through it only if nothing else reaches an object.
    pub(super) realms: Vec<u32>,
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
        let bits = |nodes: &[u32]| {
            let mut bits = Bits::new(raw.len())?;
            let objects = nodes.iter().map(|&node| order.object_of(node));
            for object in objects.filter(|&object| object != NO_OBJECT) {
                bits.insert(object);
            }
            Ok::<Bits, Error>(bits)
        };
        Ok(NamedStarts {
            program: objects(&self.program)?,
            engine: objects(&self.engine)?,
            is_engine: bits(&[self.is_engine.as_slice(), &self.realms].concat())?,
            realms: bits(&self.realms)?,
            storage: self.storage.clone(),
            storage_classes: STORAGE_CLASSES.to_vec(),
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
        let named = self.names.into_iter().zip(self.locations);
        classes.extend(named.map(|(name, location)| HeapClass {
            name,
            origin: location.map(ClassOrigin::Constructor),
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

    /// Gives a node a name, of code at this location.
    pub(super) fn set(
        &mut self,
        numbers: &mut HashMap<String, u32>,
        node: u32,
        name: String,
        location: Option<Location>,
    ) {
        let next = self.names.len() as u32 + 1;
        let number = *numbers.entry(name).or_insert_with_key(|name| {
            self.names.push(name.clone());
            self.locations.push(location);
            next
        });
        let known = &mut self.locations[number as usize - 1];
        *known = known.filter(|&known| Some(known) == location);
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
