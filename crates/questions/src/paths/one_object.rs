//! Why one object is alive: its path, and which reference to cut.

use super::after_return::freed_after_return;
use super::answer::{FirstEdges, PathAnswer};
use crate::loaded_heap::LoadedHeap;
use crate::parts::cut::nearest_cut;
use crate::parts::joined::retained_parts;
use crate::parts::object_at::find_at;
use crate::parts::object_name::dominator_of;
use crate::parts::path::path_to;
use crate::parts::references::{independent_references, named_edge};
use base::control::Control;
use base::error::Result;
use base::warning::Warning;
use heap::Found;

pub(crate) fn path_answer(
    loaded: &LoadedHeap,
    address: u64,
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
                address_text: loaded.heap.address_form.of(address).to_string(),
                class_name: None,
                state,
                shallow_size: size.into(),
                retained_size: 0,
                retained_parts: None,
                path: None,
                independent_referrers: FirstEdges {
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
    let cut = nearest_cut(loaded, &mut reader, object, retained_size, control)?;
    // It is about the same cut, or about one that there is only then.
    let dominators = loaded.dominator_index(control)?;
    let nearest = loaded.cuts(control)?.nearest(dominators, object);
    let freed_after_return = match (nearest, &cut) {
        (Some(_), None) => None,
        _ => freed_after_return(loaded, object, control)?,
    };
    Ok(PathAnswer {
        address: heap.address(object).0,
        address_text: loaded.shown(object).to_string(),
        class_name: Some(loaded.class_name(object).to_owned()),
        state: heap.state(object),
        shallow_size: heap.shallow_size(object),
        retained_size,
        retained_parts: retained_parts(loaded, object),
        path,
        independent_referrers: FirstEdges { total, edges },
        freed_by_cutting: (total == 1).then_some(retained_size),
        freed_by_cutting_all: retained_size,
        cut,
        freed_after_return,
        dominator: dominator_of(loaded, object, control)?,
    })
}
