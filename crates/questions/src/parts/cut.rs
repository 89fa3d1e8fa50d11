//! The reference to cut, and what that frees.

use schemars::JsonSchema;
use serde::Serialize;

use super::joined::retained_parts;
use super::labels::after_class;
use super::path::{Path, path_to};
use super::references::{Reference, independent_references, reference_label};
use super::roots::{Root, named_root};
use crate::loaded_heap::{LoadedHeap, ReferenceReader};
use crate::parts::host::{is_root_part, other_label};
use base::control::Control;
use base::error::Result;
use base::units::ObjectIndex;
use heap::SizeParts;

/// A reference to cut.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Cut {
    /// The class of the object that has the reference; null for a root.
    pub class_name: Option<String>,
    /// The reference; null for a root.
    pub label: Option<String>,
    /// The label as it follows the name of a class: `.listeners`, `[42]`, ` key`. Null where the label is.
    pub label_text: Option<String>,
    /// The root that has the reference; null for an object.
    pub root: Option<Root>,
    /// The bytes that cutting it frees.
    pub freed: u64,
    /// Of heaps that were joined: these bytes by heap. Absent for one heap.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub freed_parts: Option<SizeParts>,
}

impl Cut {
    /// The class of an object whose reference is a slot of the engine, such as `[[PrimitiveValue]]`: a program cannot cut
    /// it, but let go of the object.
    pub fn engine_slot_of(&self) -> Option<&str> {
        let label = self.label.as_deref()?;
        let class_name = self.class_name.as_deref()?;
        label.starts_with("[[").then_some(class_name)
    }
}

/// The bytes that cutting a reference frees, if it is the only independent one.
pub(crate) fn named_cut(
    loaded: &LoadedHeap,
    reader: &mut ReferenceReader<'_>,
    target: ObjectIndex,
    reference: Reference,
    freed: u64,
) -> Result<Cut> {
    let (class_name, label, root): (_, _, Option<Root>) = match reference {
        Reference::Root(slot) => (None, None, Some(named_root(loaded, slot))),
        Reference::Object(source, skipped) => (
            Some(loaded.place_name(source).to_owned()),
            Some(reference_label(loaded, reader, source, target, skipped)?),
            None,
        ),
        Reference::Other(edge) => (
            Some(loaded.class_name(edge.source).to_owned()),
            other_label(loaded, edge),
            None,
        ),
    };
    Ok(Cut {
        class_name,
        label_text: label.as_deref().map(after_class),
        label,
        root,
        freed,
        freed_parts: None,
    })
}

/// The only independent reference to an object, and the bytes that cutting it frees.
pub(crate) fn cut_of(
    loaded: &LoadedHeap,
    reader: &mut ReferenceReader<'_>,
    object: ObjectIndex,
    control: &Control,
) -> Result<Option<Cut>> {
    if is_root_part(loaded, object) {
        return Ok(None);
    }
    let (_, references) = independent_references(loaded, object, 1, control)?;
    let freed = loaded.heap.retained_size(object);
    let Some(&reference) = references.first() else {
        return Ok(None);
    };
    Ok(Some(Cut {
        freed_parts: retained_parts(loaded, object),
        ..named_cut(loaded, reader, object, reference, freed)?
    }))
}

/// The nearest cut on the way to an object, if it frees little more than these bytes: what frees the whole program is no
/// advice about a small object.
pub(crate) fn nearest_cut(
    loaded: &LoadedHeap,
    reader: &mut ReferenceReader<'_>,
    object: ObjectIndex,
    wanted: u64,
    control: &Control,
) -> Result<Option<Cut>> {
    let dominators = loaded.dominator_index(control)?;
    let nearest = loaded.cuts(control)?.nearest(dominators, object);
    let is_wanted =
        |&nearest: &ObjectIndex| loaded.heap.retained_size(nearest) <= wanted + wanted / 2;
    match nearest.filter(is_wanted) {
        Some(nearest) => cut_of(loaded, reader, nearest, control),
        None => Ok(None),
    }
}

/// The path of an object, and the nearest cut on it, if that frees little more than these bytes.
pub(crate) fn path_and_cut(
    loaded: &LoadedHeap,
    object: ObjectIndex,
    wanted: u64,
    control: &Control,
) -> Result<(Option<Path>, Option<Cut>)> {
    let mut reader = loaded.reader(control);
    let path = path_to(loaded, &mut reader, object, control)?;
    let cut = nearest_cut(loaded, &mut reader, object, wanted, control)?;
    Ok((path, cut))
}
