//! Objects by class, size, contents, and an expression.

mod answer;
mod condition;
mod contains;
mod groups;
mod options;
mod sum;

use std::cmp::Reverse;

use crate::QuestionError;
use crate::loaded_heap::LoadedHeap;
use crate::parts::host::distance;
use crate::parts::joined::retained_parts;
use crate::parts::page::{Page, page};
use crate::paths::set_of_new;
use crate::place_table::objects_at;
pub use answer::{
    ConditionResult, FailedObjects, FoundGroup, FoundGroups, FoundObject, FoundObjects, Size,
    SizeSum,
};
use base::bits::Bits;
use base::columns;
use base::control::{CHECK_INTERVAL, Control, Phase};
use base::error::{Error, Result};
use base::units::ObjectIndex;
use expression::{Compiled, ExpressionOption, ReadBudget, Scope, compile};
pub use options::{FindOptions, FindSort};

/// Live objects by class, size, contents and an expression. `before` is an earlier heap, for `isNew`.
///
/// # Errors
/// [`Error`](base::Error): `UnknownClass` for a class that no live object has, `Where` for an expression that does not
/// compile, `InvalidOption` for a limit of 0, an invalid pattern and a heap of another module, `DumpChanged` and `Io` if
/// the dump cannot be read again, `OutOfMemory`, `Aborted`.
pub fn find(
    loaded: &LoadedHeap,
    options: &FindOptions,
    before: Option<&LoadedHeap>,
    control: &Control,
) -> Result<FoundObjects> {
    let page = page(options.offset, options.limit)?;
    let class_slots = loaded.class_slots(options.class.as_deref(), control)?;
    let budget = ReadBudget::new(control);
    let has_expression = options.condition.is_some() || options.group_by.is_some();
    let new = match before.filter(|_| has_expression) {
        Some(before) => Some(new_objects(loaded, before, control)?),
        None => None,
    };
    let scope = Scope {
        heap: loaded.heap(),
        source: loaded.source(),
        roots: loaded.root_slots(),
        class_slots: &class_slots,
        new: new.as_ref(),
        control,
        budget: &budget,
    };
    // Both are compiled before any object is read.
    let condition = compiled(ExpressionOption::Where, options.condition.as_deref(), scope)?;
    let group_by = compiled(
        ExpressionOption::GroupBy,
        options.group_by.as_deref(),
        scope,
    )?;
    let mut found = candidates(loaded, options, &class_slots, control)?;
    let mut result = None;
    if let Some(condition) = condition {
        let (kept, counts) = condition::keep(&found, &condition, scope)?;
        (found, result) = (kept, Some(counts));
    }
    let sum = match options.sum {
        Some(size) => Some(sum::sum(loaded, size, &found, control)?),
        None => None,
    };
    let groups = match group_by {
        Some(group_by) => Some(groups::grouped(
            loaded, &group_by, scope, &found, options, page,
        )?),
        None => None,
    };
    let total = found.len() as u64;
    let objects = if options.count || groups.is_some() {
        Vec::new()
    } else {
        listed(loaded, found, options.sort, page, control)?
    };
    Ok(FoundObjects {
        total,
        offset: page.offset,
        limit: page.limit,
        objects,
        condition: result,
        sum,
        groups,
    })
}

/// The compiled expression of an option.
fn compiled(
    place: ExpressionOption,
    text: Option<&str>,
    scope: Scope<'_>,
) -> Result<Option<Compiled>> {
    text.map(|text| compile(place, text, scope)).transpose()
}

/// The live objects that meet all conditions but the expression.
fn candidates(
    loaded: &LoadedHeap,
    options: &FindOptions,
    is_wanted_class: &[bool],
    control: &Control,
) -> Result<Vec<ObjectIndex>> {
    let heap = &loaded.heap;
    let step = control.begin(Phase::View, heap.objects.len() as u64);
    let index = loaded.dominator_index(control)?;
    let containing = match &options.contains {
        Some(text) => Some(contains::containing(loaded, text, control)?),
        None => None,
    };
    let members = match options.category {
        Some(category) => {
            let names = loaded.source.host_names().ok_or_else(no_categories)?;
            let members = names.category(category, control)?;
            Some(members.ok_or_else(no_categories)?)
        }
        None => None,
    };
    let at_place = match &options.place {
        Some(place) => Some(at_place(loaded, place, control)?),
        None => None,
    };
    let sets: Vec<&Bits> = containing.iter().chain(&members).chain(&at_place).collect();
    let mut found = Vec::new();
    for (at, &slot) in heap.objects.class_slots.iter().enumerate() {
        if at.is_multiple_of(CHECK_INTERVAL) {
            step.advance(CHECK_INTERVAL as u64)?;
        }
        let object = ObjectIndex(at as u32);
        let is_wanted = is_wanted_class[slot as usize]
            && heap.retained_size(object) >= options.min_size
            && index.position(object).is_some()
            && sets.iter().all(|set| set.contains(object.0));
        if is_wanted {
            columns::push(&mut found, object)?;
        }
    }
    Ok(found)
}

/// The objects at a place, named by its fingerprint.
fn at_place(loaded: &LoadedHeap, fingerprint: &str, control: &Control) -> Result<Bits> {
    let objects = objects_at(loaded, fingerprint, control)?;
    objects.ok_or_else(|| {
        Error::from(QuestionError::InvalidOption {
            name: "place",
            found: fingerprint.to_owned(),
            expected: "the fingerprint of a place at which this heap has objects",
        })
    })
}

/// The objects that an earlier heap does not have.
fn new_objects(loaded: &LoadedHeap, before: &LoadedHeap, control: &Control) -> Result<Bits> {
    let mut new = Bits::new(loaded.heap.objects.len())?;
    for object in set_of_new(loaded, before, "before", None, control)? {
        new.insert(object.0);
    }
    Ok(new)
}

/// The objects of a page.
fn listed(
    loaded: &LoadedHeap,
    mut found: Vec<ObjectIndex>,
    sort: Option<FindSort>,
    page: Page,
    control: &Control,
) -> Result<Vec<FoundObject>> {
    let heap = &loaded.heap;
    let ranks = match sort {
        Some(FindSort::Count) => class_ranks(loaded, &found)?,
        Some(FindSort::Name) => class_ranks(loaded, &[])?,
        Some(FindSort::Shallow | FindSort::Retained) | None => Vec::new(),
    };
    sort_page(&mut found, page, |&object| {
        let slot = heap.objects.class_slots[object.at()];
        let rank = ranks.get(slot as usize).copied().unwrap_or_default();
        let [shallow, retained] = [heap.shallow_size(object), heap.retained_size(object)];
        let sizes = match sort {
            Some(FindSort::Shallow) => (shallow, retained),
            Some(FindSort::Retained | FindSort::Count | FindSort::Name) | None => {
                (retained, shallow)
            }
        };
        (rank, Reverse(sizes), object)
    });
    let mut reader = loaded.reader(control);
    let mut objects = Vec::new();
    for object in page.of(found) {
        objects.push(FoundObject {
            address: heap.address(object).0,
            address_text: loaded.shown(object).to_string(),
            class_name: loaded.class_name(object).to_owned(),
            shallow_size: heap.shallow_size(object),
            retained_size: heap.retained_size(object),
            retained_parts: retained_parts(loaded, object),
            preview: reader.preview(object)?,
            distance: distance(loaded, object),
        });
    }
    Ok(objects)
}

fn no_categories() -> Error {
    Error::from(QuestionError::InvalidOption {
        name: "category",
        found: "a heap dump of WebAssembly".to_owned(),
        expected: "a heap snapshot of V8: only that has such objects",
    })
}

/// By class the place of its name among all: with objects by their number ↓, then by name ↑.
fn class_ranks(loaded: &LoadedHeap, counted: &[ObjectIndex]) -> Result<Vec<u32>> {
    let objects = &loaded.heap.objects;
    let name = |slot: usize| &objects.classes[slot].name;
    let mut slots = columns::collected(0..objects.classes.len())?;
    slots.sort_by_key(|&slot| name(slot));
    // Classes of one name have one place.
    let mut ranks = columns::zeros::<u32>(slots.len())?;
    for pair in slots.windows(2) {
        ranks[pair[1]] = ranks[pair[0]] + u32::from(name(pair[0]) != name(pair[1]));
    }
    let mut counts = columns::zeros::<u64>(slots.len())?;
    for object in counted {
        counts[ranks[objects.class_slots[object.at()] as usize] as usize] += 1;
    }
    let mut by_count = columns::collected(0..counts.len())?;
    by_count.sort_by_key(|&rank| Reverse(counts[rank]));
    let mut places = columns::zeros::<u32>(counts.len())?;
    for (place, rank) in by_count.into_iter().enumerate() {
        places[rank] = place as u32;
    }
    for rank in &mut ranks {
        *rank = places[*rank as usize];
    }
    Ok(ranks)
}

/// Sorts the entries up to the end of a page, and leaves out the others.
fn sort_page<K: Ord>(objects: &mut Vec<ObjectIndex>, page: Page, key: impl Fn(&ObjectIndex) -> K) {
    let end = page.end();
    if end < objects.len() {
        objects.select_nth_unstable_by_key(end, &key);
        objects.truncate(end);
    }
    objects.sort_unstable_by_key(key);
}
