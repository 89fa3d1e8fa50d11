//! The objects that an object immediately dominates, or the top level of the whole heap: one by one, or by
//! class.

mod answer;
mod by_class;

use std::sync::Arc;

use crate::answer::AnswerBody;
use crate::loaded_heap::LoadedHeap;
use crate::parts::object_at::object_at;
use crate::parts::page::Page;
pub use answer::{DominatorChild, DominatorGroup, DominatorGroups, Dominators};
use base::control::Control;
use base::error::Result;
use base::units::ObjectIndex;
use base::warning::Warning;
pub(crate) use by_class::group_by_class;

pub(crate) fn dominated(
    loaded: &LoadedHeap,
    address: Option<u32>,
    by_class: bool,
    page: Page,
    notes: &mut Vec<Warning>,
    control: &Control,
) -> Result<AnswerBody> {
    let object = match address {
        Some(address) => Some(object_at(loaded, address, notes, control)?),
        None => None,
    };
    let index = loaded.dominator_index(control)?;
    let children = match object.map(|object| index.position(object)) {
        // An object that is not alive dominates nothing.
        Some(None) => Arc::default(),
        Some(parent @ Some(_)) => loaded.children_by_size(parent, control)?,
        None => loaded.children_by_size(None, control)?,
    };
    let address = object.map(|object| loaded.heap.address(object).0);
    Ok(match by_class {
        true => AnswerBody::DominatorGroups(dominated_groups(loaded, address, &children, page)),
        false => AnswerBody::Dominators(dominated_objects(loaded, address, &children, page)),
    })
}

fn dominated_objects(
    loaded: &LoadedHeap,
    address: Option<u32>,
    children: &[ObjectIndex],
    page: Page,
) -> Dominators {
    let heap = &loaded.heap;
    let shown = page.of(children).map(|&object| DominatorChild {
        address: heap.address(object).0,
        class_name: loaded.class_name(object).to_owned(),
        shallow_size: heap.shallow_size(object),
        retained_size: heap.retained_size(object),
    });
    Dominators {
        address,
        total: children.len() as u64,
        offset: page.offset,
        limit: page.limit,
        children: shown.collect(),
    }
}

fn dominated_groups(
    loaded: &LoadedHeap,
    address: Option<u32>,
    children: &[ObjectIndex],
    page: Page,
) -> DominatorGroups {
    let groups = group_by_class(loaded, children);
    DominatorGroups {
        address,
        total: groups.len() as u64,
        offset: page.offset,
        limit: page.limit,
        groups: page.of(groups).collect(),
    }
}
