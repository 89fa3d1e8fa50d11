//! The path from a root to an object.

use schemars::JsonSchema;
use serde::Serialize;

use super::joined::{evidence, retained_parts};
use super::labels::after_class;
use super::path_text::{LEFT_OUT, path_text};
use super::roots::{Root, named_root};
use crate::loaded_heap::{LoadedHeap, ReferenceReader};
use base::control::Control;
use base::error::Result;
use base::frame::Frame;
use base::units::ObjectIndex;
use heap::{HolderEvidence, PathPiece, SizeParts};

/// One step of a path: a reference, and the object to which it leads.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Step")]
pub struct PathStep {
    /// The reference: a field (`listeners`), an array element (`[42]`), a map value by its key (`["user:17"]`), the
    /// buffer of a container (`(buffer)`); without debug information the offset (`+8`). Null for the first step.
    pub label: Option<String>,
    /// The label as it follows the name of a class: `.listeners`, `[42]`, ` key`. Null where the label is.
    pub label_text: Option<String>,
    /// The object; for a repeated step, the last one.
    pub address: u64,
    /// The address as text: `0x9540`; of a heap snapshot of V8 the id of the object, `@38208`.
    pub address_text: String,
    /// The full name of its class, such as `assembly/game/Player`.
    pub class_name: String,
    /// The function that the object stands for, as in `FieldValue.functionName`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub function_name: Option<String>,
    /// The line that allocated it: only if the heap was opened with a profile.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-agent" = { "hidden": true }))]
    pub allocated_at: Option<Frame>,
    /// The bytes that the program asked for: only if the heap was opened with a profile.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-agent" = { "hidden": true }))]
    pub requested_size: Option<u32>,
    /// The size of its block.
    pub shallow_size: u64,
    /// Bytes that it keeps alive, with its own.
    pub retained_size: u64,
    /// Of heaps that were joined: the retained size by heap. Absent for one heap.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retained_parts: Option<SizeParts>,
    /// What speaks for the reference, if it leads from one of two joined heaps to the other. Absent for others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evidence: Option<HolderEvidence>,
    /// The number of consecutive references of this kind, as in a linked list; at least 1.
    pub repeat: u32,
}

/// The shortest path from a root to an object: from a global if one reaches it, else from the stack, else from a
/// pinned object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Path {
    /// The root.
    pub root: Root,
    /// From the root's object to the object in question.
    pub steps: Vec<PathStep>,
    /// The path without indexes and keys. For example, all elements of one array have the same text.
    pub text: String,
    /// The first 12 hexadecimal digits of a SHA-256 of the text.
    pub fingerprint: String,
    /// Whether all names in the text are from the source. Only then can fingerprints of two builds be compared.
    pub stable: bool,
}

/// The largest number of references within a piece of a path that are shown one by one.
const SHOWN_STEPS: u32 = 64;

/// The path of an object; `None` if no root reaches it.
pub fn path_of(
    loaded: &LoadedHeap,
    object: ObjectIndex,
    control: &Control,
) -> Result<Option<Path>> {
    path_to(loaded, &mut loaded.reader(control), object, control)
}

pub(crate) fn path_to(
    loaded: &LoadedHeap,
    reader: &mut ReferenceReader<'_>,
    object: ObjectIndex,
    control: &Control,
) -> Result<Option<Path>> {
    let tree = loaded.path_tree(control)?;
    if !tree.is_reached(object) {
        return Ok(None);
    }
    let pieces = tree.pieces(object);
    let Some(slot) = pieces
        .first()
        .and_then(|piece| loaded.roots.start(piece.first))
    else {
        return Ok(None);
    };
    let mut steps = Vec::new();
    for piece in &pieces {
        let label = match tree.parent(piece.first) {
            Some((parent, label)) => Some(reader.label(parent, piece.first, label, 0)?),
            None => None,
        };
        let holder = tree.parent(piece.first).map(|(parent, _)| parent);
        steps.push(PathStep {
            evidence: holder.and_then(|holder| evidence(loaded, holder, piece.first)),
            ..path_step(loaded, reader, label, (piece.first, 1))?
        });
        add_repeated(loaded, reader, *piece, &mut steps, control)?;
    }
    let text = path_text(loaded, object, control)?;
    Ok(Some(Path {
        root: named_root(loaded, slot),
        steps,
        fingerprint: text.fingerprint(),
        stable: text.is_stable,
        text: text.text,
    }))
}

/// A step of a path to an object. `repeat` is how many equal steps it stands for; the object is that of the last one.
fn path_step(
    loaded: &LoadedHeap,
    reader: &mut ReferenceReader<'_>,
    label: Option<String>,
    (object, repeat): (ObjectIndex, u32),
) -> Result<PathStep> {
    Ok(PathStep {
        label_text: label.as_deref().map(after_class),
        label,
        address: loaded.heap.address(object).0,
        address_text: loaded.shown(object).to_string(),
        class_name: loaded.place_name(object).to_owned(),
        function_name: reader.function_name(object)?,
        allocated_at: loaded.allocated_at(object),
        requested_size: loaded.requested_size(object),
        shallow_size: loaded.heap.shallow_size(object),
        retained_size: loaded.heap.retained_size(object),
        retained_parts: retained_parts(loaded, object),
        evidence: None,
        repeat,
    })
}

/// The steps of a piece after its first object: one by one if they are few, equal ones as one.
fn add_repeated(
    loaded: &LoadedHeap,
    reader: &mut ReferenceReader<'_>,
    piece: PathPiece,
    steps: &mut Vec<PathStep>,
    control: &Control,
) -> Result<()> {
    if piece.repeat == 0 {
        return Ok(());
    }
    let tree = loaded.path_tree(control)?;
    if piece.is_uniform && piece.repeat > SHOWN_STEPS {
        if let Some((parent, label)) = tree.parent(piece.last) {
            let slot = loaded.heap.objects.class_slots[parent.at()];
            let label = loaded.source.class_label(slot, label);
            let repeated = (piece.last, piece.repeat);
            steps.push(path_step(loaded, reader, Some(label), repeated)?);
        }
        return Ok(());
    }
    let mut last = Vec::new();
    let mut object = piece.last;
    for _ in 0..piece.repeat.min(SHOWN_STEPS) {
        let Some((parent, label)) = tree.parent(object) else {
            break;
        };
        last.push((parent, object, label));
        object = parent;
    }
    if piece.repeat > SHOWN_STEPS {
        let left_out = (object, piece.repeat - SHOWN_STEPS);
        steps.push(path_step(
            loaded,
            reader,
            Some(LEFT_OUT.to_owned()),
            left_out,
        )?);
    }
    let slots = &loaded.heap.objects.class_slots;
    let mut before = None;
    for (parent, object, label) in last.into_iter().rev() {
        let exact = reader.label(parent, object, label, 0)?;
        let now = Some((slots[parent.at()], label, slots[object.at()]));
        let step = path_step(loaded, reader, Some(exact), (object, 1))?;
        match steps.last_mut() {
            Some(last) if before == now && last.label == step.label => {
                let repeat = last.repeat + 1;
                *last = PathStep { repeat, ..step };
            }
            _ => steps.push(step),
        }
        before = now;
    }
    Ok(())
}
