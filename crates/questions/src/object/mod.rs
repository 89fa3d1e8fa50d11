//! Everything about one object.

mod answer;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::QuestionError;
use crate::loaded_heap::LoadedHeap;
use crate::parts::host::distance;
use crate::parts::joined::{pinned_by, possible_references, retained_parts};
use crate::parts::object_at::find_at;
use crate::parts::object_name::dominator_of;
use crate::parts::path::path_to;
use crate::parts::roots::named_root;
pub use answer::ObjectAnswer;
use base::control::Control;
use base::error::Result;
use base::warning::Warning;
use heap::{Found, WantedEntries};

/// Which object to describe.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ObjectOptions {
    /// The address of the object, or one inside it.
    #[schemars(extend("x-cli" = "<address>", "x-agent" = { "is": "address" }))]
    pub address: u64,
    /// How many entries to list: a whole number from 1 to 1000. Without it, none are.
    #[serde(default)]
    #[schemars(
        range(min = 1, max = 1000),
        extend(
            "x-cli" = "-n, --entries <n>: of an array, a map, a set or an object of a snapshot, list at most n entries (n ≤ 1000)",
            "x-agent" = { "description": "of an array, map or set: how many entries to list" }
        )
    )]
    pub entries: Option<u64>,
    /// How many entries to leave out before the first: a whole number ≥ 0 (default: 0). Needs `entries`.
    #[serde(default)]
    #[schemars(extend(
        "x-cli" = "--offset <n>: leave out the first n entries",
        "x-agent" = { "name": "entriesOffset", "description": "entries to leave out first", "maximum": 4_294_967_296_u64, "default": 0 }
    ))]
    pub offset: u64,
}

/// Everything about one object.
///
/// # Errors
/// [`Error`](base::Error): `NoObject` for an address without an object, `InvalidOption` for a number of entries that
/// is 0 or above 1000, `DumpChanged` and `Io` if the dump cannot
/// be read again, `OutOfMemory`, `Aborted`.
pub fn object(
    loaded: &LoadedHeap,
    options: &ObjectOptions,
    notes: &mut Vec<Warning>,
    control: &Control,
) -> Result<ObjectAnswer> {
    let wanted = wanted_entries(options)?;
    let heap = &loaded.heap;
    let object = match find_at(loaded, options.address, notes, control)? {
        Found::Object(object) => object,
        Found::Block {
            address,
            size,
            state,
        } => {
            return Ok(ObjectAnswer {
                address,
                address_text: heap.address_form.of(address).to_string(),
                class_name: None,
                state,
                shallow_size: size.into(),
                retained_size: 0,
                retained_parts: None,
                dominator: None,
                roots: Vec::new(),
                preview: None,
                allocated_at: None,
                requested_size: None,
                fields: Vec::new(),
                entries: None,
                distance: None,
                referrer_count: 0,
                possible_holders: None,
                pinned_by: None,
                path: None,
            });
        }
    };
    let mut reader = loaded.reader(control);
    Ok(ObjectAnswer {
        address: heap.address(object).0,
        address_text: loaded.shown(object).to_string(),
        class_name: Some(loaded.class_name(object).to_owned()),
        state: heap.state(object),
        shallow_size: heap.shallow_size(object),
        retained_size: heap.retained_size(object),
        retained_parts: retained_parts(loaded, object),
        dominator: dominator_of(loaded, object, control)?,
        roots: loaded
            .roots
            .of(object)
            .map(|slot| named_root(loaded, slot))
            .collect(),
        preview: reader.preview(object)?,
        allocated_at: loaded.allocated_at(object),
        requested_size: loaded.requested_size(object),
        fields: reader.fields(object, notes)?,
        entries: match wanted {
            Some(wanted) => reader.entries(object, wanted)?,
            None => None,
        },
        distance: distance(loaded, object),
        referrer_count: loaded.referrers(control)?.of(object).len() as u64,
        possible_holders: possible_references(loaded, object),
        pinned_by: pinned_by(loaded, object),
        path: path_to(loaded, &mut reader, object, control)?,
    })
}

/// The largest number of entries of a page.
const MOST_ENTRIES: u64 = 1000;

fn wanted_entries(options: &ObjectOptions) -> Result<Option<WantedEntries>> {
    match options.entries {
        None => Ok(None),
        Some(limit @ 1..=MOST_ENTRIES) => Ok(Some(WantedEntries {
            offset: options.offset,
            limit,
        })),
        Some(other) => Err(QuestionError::InvalidOption {
            name: "entries",
            found: other.to_string(),
            expected: "a whole number from 1 to 1000",
        }
        .into()),
    }
}
