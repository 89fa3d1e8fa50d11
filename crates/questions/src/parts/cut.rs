//! The reference to cut, and what that frees.

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

/// A reference to cut, and the bytes that this frees.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Cut {
    /// The class of the object that has the reference; `None` for a root.
    pub class_name: Option<String>,
    /// The label of the reference; `None` for a root.
    pub label: Option<String>,
    /// The label as it follows the name of a class: `.next`, `[3]`, ` key`.
    pub label_text: Option<String>,
    /// The root that has the reference.
    pub root: Option<Root>,
    /// Bytes that cutting it frees.
    pub freed: u64,
    /// Of heaps that were joined: these bytes by heap.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub freed_parts: Option<SizeParts>,
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

/// The path of an object, and the nearest cut on it.
pub(crate) fn path_and_cut(
    loaded: &LoadedHeap,
    object: ObjectIndex,
    control: &Control,
) -> Result<(Option<Path>, Option<Cut>)> {
    let mut reader = loaded.reader(control);
    let path = path_to(loaded, &mut reader, object, control)?;
    let dominators = loaded.dominator_index(control)?;
    let cut = match loaded.cuts(control)?.nearest(dominators, object) {
        Some(nearest) => cut_of(loaded, &mut reader, nearest, control)?,
        None => None,
    };
    Ok((path, cut))
}
