//! Objects by class, size and contents.

mod answer;

use serde::Deserialize;

use crate::QuestionError;
use crate::loaded_heap::LoadedHeap;
use crate::parts::page::{Page, default_limit, page};
pub use answer::{FoundObject, FoundObjects};
use base::columns;
use base::control::{CHECK_INTERVAL, Control, Phase};
use base::error::{Error, Result};
use base::units::ObjectIndex;
use heap::Category;

/// Which live objects to find, and how many of them to list.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct FindOptions {
    /// A class name, in which `*` stands for any text and `?` for one character; all classes if
    /// `None`.
    #[serde(default)]
    pub class: Option<String>,
    /// The least retained size in bytes.
    #[serde(default)]
    pub min_size: u64,
    /// Only strings that contain this text.
    #[serde(default)]
    pub contains: Option<String>,
    /// Of a snapshot of V8: only what objects of this category alone keep alive, and these themselves.
    #[serde(default)]
    pub category: Option<Category>,
    /// The number of entries to list.
    #[serde(default = "default_limit")]
    pub limit: u64,
    /// The number of entries to leave out before the first.
    #[serde(default)]
    pub offset: u64,
}

/// Live objects by class, size and contents.
///
/// # Errors
/// [`Error`](base::Error): `UnknownClass` for a class that no live object has, `InvalidOption` for a limit of 0
/// and an invalid pattern, `DumpChanged` and `Io` if the dump cannot be read again, `OutOfMemory`, `Aborted`.
pub fn find(loaded: &LoadedHeap, options: &FindOptions, control: &Control) -> Result<FoundObjects> {
    let page = page(options.offset, options.limit)?;
    let heap = &loaded.heap;
    let is_wanted_class = loaded.class_slots(options.class.as_deref(), control)?;
    let step = control.begin(Phase::View, heap.objects.len() as u64);
    let index = loaded.dominator_index(control)?;
    let mut filter = match &options.contains {
        Some(text) => Some(loaded.source.text_filter(text, control)?),
        None => None,
    };
    let members = match options.category {
        Some(category) => match loaded.source.category(category, control)? {
            Some(members) => Some(members),
            None => return Err(no_categories()),
        },
        None => None,
    };
    let mut found = Vec::new();
    let mut candidates = Vec::new();
    let count = heap.objects.len();
    for start in (0..count).step_by(CHECK_INTERVAL) {
        step.advance(CHECK_INTERVAL as u64)?;
        candidates.clear();
        for at in start..count.min(start + CHECK_INTERVAL) {
            let object = ObjectIndex(at as u32);
            let slot = heap.objects.class_slots[at] as usize;
            let is_wanted = is_wanted_class[slot]
                && heap.retained_size(object) >= options.min_size
                && index.position(object).is_some()
                && members
                    .as_ref()
                    .is_none_or(|members| members.contains(object.0));
            if is_wanted {
                columns::push(&mut candidates, object)?;
            }
        }
        if let Some(filter) = &mut filter {
            filter.keep(&mut candidates)?;
        }
        columns::extend(&mut found, &candidates)?;
    }
    let total = found.len() as u64;
    sort_by_retained_size(loaded, &mut found, page);
    let mut reader = loaded.reader(control);
    let mut objects = Vec::new();
    for object in page.of(found) {
        objects.push(FoundObject {
            address: heap.address(object).0,
            address_text: loaded.shown(object).to_string(),
            class_name: loaded.class_name(object).to_owned(),
            shallow_size: heap.shallow_size(object),
            retained_size: heap.retained_size(object),
            preview: reader.preview(object)?,
            distance: loaded.source.distance(object),
        });
    }
    Ok(FoundObjects {
        total,
        offset: page.offset,
        limit: page.limit,
        objects,
    })
}

fn no_categories() -> Error {
    Error::from(QuestionError::InvalidOption {
        name: "category",
        found: "a heap dump of WebAssembly".to_owned(),
        expected: "a heap snapshot of V8: only that has such objects",
    })
}

/// Sorts the entries of a page: retained size ↓, shallow size ↓, address ↑.
pub(crate) fn sort_by_retained_size(
    loaded: &LoadedHeap,
    objects: &mut Vec<ObjectIndex>,
    page: Page,
) {
    let key = |object: &ObjectIndex| {
        let sizes = (
            loaded.heap.retained_size(*object),
            loaded.heap.shallow_size(*object),
        );
        (std::cmp::Reverse(sizes), *object)
    };
    let end = page.end();
    if end < objects.len() {
        objects.select_nth_unstable_by_key(end, key);
        objects.truncate(end);
    }
    objects.sort_unstable_by_key(key);
}
