//! The objects that an object immediately dominates, or the top level of the whole heap: one by one, or by
//! class.

mod answer;
mod by_class;

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::loaded_heap::LoadedHeap;
use crate::parts::joined::retained_parts;
use crate::parts::object_at::object_at;
use crate::parts::page::{Page, default_limit, limit_schema, offset_schema, page};
pub use answer::{DominatorChild, DominatorGroup, DominatorGroups, Dominators};
use base::control::Control;
use base::error::Result;
use base::units::ObjectIndex;
use base::warning::Warning;
pub(crate) use by_class::group_by_class;

/// Whose children in the dominator tree to list, and how.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct DominatorOptions {
    /// The address of an object (default: the whole heap).
    #[serde(default)]
    #[schemars(extend("x-cli" = "[address]", "x-agent" = { "is": "address" }))]
    pub address: Option<u64>,
    /// `class` to group the objects by class.
    #[serde(default)]
    #[schemars(extend("x-cli" = "--by <what>: group the objects"))]
    pub by: Option<DominatedBy>,
    /// How many entries to list: a whole number ≥ 1 (default: 20).
    #[serde(default = "default_limit")]
    #[schemars(schema_with = "limit_schema")]
    pub limit: u64,
    /// How many entries to leave out before the first (default: 0).
    #[serde(default)]
    #[schemars(schema_with = "offset_schema")]
    pub offset: u64,
}

/// What the objects are grouped by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[schemars(inline)]
pub enum DominatedBy {
    /// Their classes.
    Class,
}

/// The objects that an object immediately dominates, one by one or by class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Dominated {
    /// One by one.
    Objects(Dominators),
    /// By class.
    Classes(DominatorGroups),
}

/// The objects that an object immediately dominates.
///
/// # Errors
/// [`Error`](base::Error): `NoObject` for an address without an object, `InvalidOption` for a limit of 0,
/// `DumpChanged` and `Io` if the dump cannot be read again, `OutOfMemory`, `Aborted`.
pub fn dominators(
    loaded: &LoadedHeap,
    options: &DominatorOptions,
    notes: &mut Vec<Warning>,
    control: &Control,
) -> Result<Dominated> {
    let page = page(options.offset, options.limit)?;
    let object = match options.address {
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
    Ok(if options.by.is_some() {
        Dominated::Classes(dominated_groups(loaded, object, &children, page))
    } else {
        Dominated::Objects(dominated_objects(loaded, object, &children, page))
    })
}

fn dominated_objects(
    loaded: &LoadedHeap,
    parent: Option<ObjectIndex>,
    children: &[ObjectIndex],
    page: Page,
) -> Dominators {
    let heap = &loaded.heap;
    let shown = page.of(children).map(|&object| DominatorChild {
        address: heap.address(object).0,
        address_text: loaded.shown(object).to_string(),
        class_name: loaded.class_name(object).to_owned(),
        shallow_size: heap.shallow_size(object),
        retained_size: heap.retained_size(object),
        retained_parts: retained_parts(loaded, object),
    });
    Dominators {
        address: parent.map(|parent| loaded.heap.address(parent).0),
        address_text: parent.map(|parent| loaded.shown(parent).to_string()),
        total: children.len() as u64,
        offset: page.offset,
        limit: page.limit,
        children: shown.collect(),
    }
}

fn dominated_groups(
    loaded: &LoadedHeap,
    parent: Option<ObjectIndex>,
    children: &[ObjectIndex],
    page: Page,
) -> DominatorGroups {
    let groups = group_by_class(loaded, children);
    DominatorGroups {
        address: parent.map(|parent| loaded.heap.address(parent).0),
        address_text: parent.map(|parent| loaded.shown(parent).to_string()),
        total: groups.len() as u64,
        offset: page.offset,
        limit: page.limit,
        groups: page.of(groups).collect(),
    }
}
