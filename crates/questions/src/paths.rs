//! The path of an object: from a root to the object, as text, and which reference to cut.

use super::LoadedHeap;
use super::answer::{Cut, Edges, Path, PathAnswer, Step};
use super::path_text::LEFT_OUT;
use crate::after_return::freed_after_return;
use crate::dominators::dominator_of;
use crate::object_at::find_at;
use crate::path_text::path_text;
use crate::reader::Reader;
use crate::referrers::{independent_references, named_cut, named_edge};
use crate::roots::named_root;
use base::control::Control;
use base::error::Result;
use base::units::ObjectIndex;
use base::warning::Warning;
use heap::{Found, PathPiece};

/// The largest number of references within a piece of a path that are shown one by one.
const SHOWN_STEPS: u32 = 64;

pub(super) fn path_answer(
    loaded: &LoadedHeap,
    address: u32,
    limit: usize,
    notes: &mut Vec<Warning>,
    control: &Control,
) -> Result<PathAnswer> {
    let object = match find_at(loaded, address, notes, control)? {
        Found::Object(object) => object,
        Found::Block {
            address,
            size,
            state,
        } => {
            return Ok(PathAnswer {
                address,
                class_name: None,
                state,
                shallow_size: size.into(),
                retained_size: 0,
                path: None,
                independent_referrers: Edges {
                    total: 0,
                    edges: Vec::new(),
                },
                freed_by_cutting: None,
                freed_by_cutting_all: 0,
                cut: None,
                freed_after_return: None,
                dominator: None,
            });
        }
    };
    let heap = &loaded.heap;
    let dominators = loaded.dominator_index(control)?;
    let mut reader = loaded.reader(control);
    let path = path_to(loaded, &mut reader, object, control)?;
    let retained_size = heap.retained_size(object);
    let (total, references) = match path {
        Some(_) => independent_references(loaded, object, limit, control)?,
        None => (0, Vec::new()),
    };
    let mut edges = Vec::new();
    for reference in references {
        edges.push(named_edge(loaded, &mut reader, object, reference, control)?);
    }
    let cut = match loaded.cuts(control)?.nearest(dominators, object) {
        Some(nearest) => cut_of(loaded, &mut reader, nearest, control)?,
        None => None,
    };
    Ok(PathAnswer {
        address: heap.address(object).0,
        class_name: Some(loaded.class_name(object).to_owned()),
        state: heap.state(object),
        shallow_size: heap.shallow_size(object),
        retained_size,
        path,
        independent_referrers: Edges { total, edges },
        freed_by_cutting: (total == 1).then_some(retained_size),
        freed_by_cutting_all: retained_size,
        cut,
        freed_after_return: freed_after_return(loaded, object, control)?,
        dominator: dominator_of(loaded, object, control)?,
    })
}

/// The only independent reference to an object, and the bytes that cutting it frees.
pub(super) fn cut_of(
    loaded: &LoadedHeap,
    reader: &mut Reader<'_>,
    object: ObjectIndex,
    control: &Control,
) -> Result<Option<Cut>> {
    if loaded.source.is_root_part(object) {
        return Ok(None);
    }
    let (_, references) = independent_references(loaded, object, 1, control)?;
    let freed = loaded.heap.retained_size(object);
    let reference = references.first();
    reference
        .map(|&reference| named_cut(loaded, reader, object, reference, freed))
        .transpose()
}

/// The path of an object; `None` if no root reaches it.
pub fn path_of(
    loaded: &LoadedHeap,
    object: ObjectIndex,
    control: &Control,
) -> Result<Option<Path>> {
    path_to(loaded, &mut loaded.reader(control), object, control)
}

pub(super) fn path_to(
    loaded: &LoadedHeap,
    reader: &mut Reader<'_>,
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
        .and_then(|piece| loaded.roots.of(piece.first).next())
    else {
        return Ok(None);
    };
    let mut steps = Vec::new();
    for piece in &pieces {
        let label = match tree.parent(piece.first) {
            Some((parent, label)) => Some(reader.label(parent, piece.first, label, 0)?),
            None => None,
        };
        steps.push(path_step(loaded, label, piece.first, 1));
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

fn path_step(loaded: &LoadedHeap, label: Option<String>, object: ObjectIndex, repeat: u32) -> Step {
    Step {
        label,
        address: loaded.heap.address(object).0,
        class_name: loaded.class_name(object).to_owned(),
        shallow_size: loaded.heap.shallow_size(object),
        retained_size: loaded.heap.retained_size(object),
        repeat,
    }
}

/// The steps of a piece after its first object: one by one if they are few, equal ones as one.
fn add_repeated(
    loaded: &LoadedHeap,
    reader: &mut Reader<'_>,
    piece: PathPiece,
    steps: &mut Vec<Step>,
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
            steps.push(path_step(loaded, Some(label), piece.last, piece.repeat));
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
        steps.push(path_step(
            loaded,
            Some(LEFT_OUT.to_owned()),
            object,
            piece.repeat - SHOWN_STEPS,
        ));
    }
    let slots = &loaded.heap.objects.class_slots;
    let mut before = None;
    for (parent, object, label) in last.into_iter().rev() {
        let exact = reader.label(parent, object, label, 0)?;
        let now = Some((slots[parent.at()], label, slots[object.at()]));
        let step = path_step(loaded, Some(exact), object, 1);
        match steps.last_mut() {
            Some(last) if before == now && last.label == step.label => {
                let repeat = last.repeat + 1;
                *last = Step { repeat, ..step };
            }
            _ => steps.push(step),
        }
        before = now;
    }
    Ok(())
}
