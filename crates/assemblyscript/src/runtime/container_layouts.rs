//! The layouts of the standard library's containers, from type flags, from the collector's code, or from the
//! class's name.

use super::layout::{ContentReferences, EntryLayout, EntrySlot, ReferenceLayout};
use super::runtime_class::Doubt;
use super::type_flags::TypeFlags;
use runtime_code::collector_code::VisitedMembers;
use runtime_code::std_library::{BUCKETS, BUFFER, ENTRIES, FUNCTION_ENVIRONMENT};
use wasm::debug_info::{Class, TypeRef};

/// The layout of a class whose inherited fields are missing in the debug information. The type flags say
/// whether it is a container.
pub(super) fn with_inherited(
    class: &Class,
    layout: ReferenceLayout,
    flags: Option<TypeFlags>,
) -> (ReferenceLayout, Doubt) {
    /// The largest number of words before the first own field that are examined.
    const MOST_INHERITED: u32 = 1 << 10;
    let ReferenceLayout {
        mut offsets,
        contents,
    } = layout;
    if let Some(inherited) = flags.and_then(layout_from_flags) {
        offsets.extend(inherited.offsets);
        let contents = match contents {
            ContentReferences::Fixed => inherited.contents,
            contents => contents,
        };
        return (ReferenceLayout::new(offsets, contents), Doubt::None);
    }
    match class.members.iter().map(|member| member.offset).min() {
        Some(0..4) => (ReferenceLayout { offsets, contents }, Doubt::None),
        Some(first) => {
            offsets.extend((0..first.min(4 * MOST_INHERITED)).step_by(4));
            (ReferenceLayout::new(offsets, contents), Doubt::UnknownBases)
        }
        // Of the library's containers, only a static array of numbers has no reference.
        None if contents == ContentReferences::Fixed
            && offsets.is_empty()
            && !class.name.starts_with("~lib/staticarray/StaticArray<") =>
        {
            (ReferenceLayout::unknown(), Doubt::UnknownBases)
        }
        None => (ReferenceLayout { offsets, contents }, Doubt::None),
    }
}

/// A layout of the debug information, with what the type flags know of containers, and whether the two disagree. The
/// debug information alone neither takes contents away nor makes a class a container. What it adds stays.
///
/// `is_resolved` says that all types of the class are described. Of others, the debug information cannot say whether they
/// are references.
pub(super) fn with_flags(
    layout: ReferenceLayout,
    flags: Option<TypeFlags>,
    is_resolved: bool,
) -> (ReferenceLayout, bool) {
    let Some(flags) = flags else {
        return (layout, false);
    };
    let by_flags = layout_from_flags(flags).unwrap_or_default();
    let lacks_fields = by_flags
        .offsets
        .iter()
        .any(|offset| layout.offsets.binary_search(offset).is_err());
    let lacks_contents = !has_contents_of(&layout.contents, &by_flags.contents);
    let is_disputed = lacks_fields
        || lacks_contents
        || (is_resolved && !has_contents_of(&by_flags.contents, &layout.contents));
    let contents = if lacks_contents {
        by_flags.contents
    } else {
        layout.contents
    };
    let offsets = [layout.offsets, by_flags.offsets].concat();
    (ReferenceLayout::new(offsets, contents), is_disputed)
}

/// Whether the first contents have all references of the second.
fn has_contents_of(contents: &ContentReferences, others: &ContentReferences) -> bool {
    match (contents, others) {
        (
            _,
            ContentReferences::Fixed
            | ContentReferences::Tuple
            | ContentReferences::Visited
            | ContentReferences::Unknown,
        ) => true,
        (ContentReferences::Entries(contents), ContentReferences::Entries(others)) => {
            let has = |own: Option<u32>, other: Option<u32>| other.is_none() || own == other;
            (contents.stride, contents.tagged_next) == (others.stride, others.tagged_next)
                && has(contents.key, others.key)
                && has(contents.value, others.value)
        }
        (contents, others) => contents == others,
    }
}

/// Fields from the code, contents from the flags. `None` if the code visits more than fields and the flags do
/// not describe it.
pub(super) fn layout_from_code(
    members: VisitedMembers,
    flags: Option<TypeFlags>,
) -> Option<ReferenceLayout> {
    let container = flags.and_then(layout_from_flags);
    let contents = match &container {
        Some(container) => container.contents.clone(),
        None if members.by_bitmap => ContentReferences::Tuple,
        None if members.and_more => return None,
        None => ContentReferences::Fixed,
    };
    let own = container.map_or(Vec::new(), |container| container.offsets);
    let offsets = members.offsets.into_iter().chain(own).collect();
    Some(ReferenceLayout::new(offsets, contents))
}

/// The layout of a standard container, or of a view. `None` if the flags are those of neither.
pub(super) fn layout_from_flags(flags: TypeFlags) -> Option<ReferenceLayout> {
    let value = |flags: TypeFlags| {
        Some(EntrySlot {
            size: flags.value_size()?,
            is_reference: flags.has_managed_values(),
        })
    };
    if flags.is_array_buffer_view() {
        Some(ReferenceLayout::new(vec![BUFFER], ContentReferences::Fixed))
    } else if flags.is_array() {
        Some(array_layout(flags.has_managed_values()))
    } else if flags.is_static_array() {
        Some(static_array_layout(flags.has_managed_values()))
    } else if flags.is_set() {
        Some(entries_layout(value(flags)?, None))
    } else if flags.is_map() {
        let key = EntrySlot {
            size: flags.key_size()?,
            is_reference: flags.has_managed_keys(),
        };
        Some(entries_layout(key, Some(value(flags)?)))
    } else {
        None
    }
}

fn array_layout(elements_are_references: bool) -> ReferenceLayout {
    let contents = if elements_are_references {
        ContentReferences::Array
    } else {
        ContentReferences::Fixed
    };
    ReferenceLayout::new(vec![BUFFER], contents)
}

/// The layout of a `StaticArray`.
fn static_array_layout(elements_are_references: bool) -> ReferenceLayout {
    let contents = if elements_are_references {
        ContentReferences::StaticArray
    } else {
        ContentReferences::Fixed
    };
    ReferenceLayout::new(Vec::new(), contents)
}

/// The layout of a `Map`, or of a `Set` without a value.
fn entries_layout(key: EntrySlot, value: Option<EntrySlot>) -> ReferenceLayout {
    let entry = EntryLayout::new(key, value);
    let contents = if entry.key.is_some() || entry.value.is_some() {
        ContentReferences::Entries(entry)
    } else {
        ContentReferences::Fixed
    };
    ReferenceLayout::new(vec![BUCKETS, ENTRIES], contents)
}

/// The layout of a `Function`. `_env` is declared as a number, but the collector visits it.
fn function_layout(class: &Class) -> ReferenceLayout {
    let env = class.members.iter().find(|member| member.name == "_env");
    ReferenceLayout::new(
        vec![env.map_or(FUNCTION_ENVIRONMENT, |member| member.offset)],
        ContentReferences::Fixed,
    )
}

/// What a class adds as a standard container.
pub(super) enum AddedContents {
    /// It is not a container.
    Nothing,
    /// It is a container whose contents are not known.
    Unknown,
    /// These references.
    Layout(ReferenceLayout),
}

/// The contents that a class adds as a standard container.
pub(super) fn standard_container(
    class: &Class,
    flags: Option<TypeFlags>,
    slot: impl Fn(TypeRef) -> EntrySlot,
) -> AddedContents {
    let name = class.name.as_str();
    // Most classes are the program's own, and a chain may be ten thousand of them long.
    if !name.starts_with("~lib/") {
        return AddedContents::Nothing;
    }
    let argument = |nth: usize| {
        class
            .type_arguments
            .get(nth)
            .map(|&type_ref| slot(type_ref))
    };
    let from_flags = || flags.and_then(layout_from_flags);
    // Elements of an unknown type are followed: a word that is exactly an object's address is rarely a
    // number.
    let element_is_reference = argument(0).map(|element| element.is_reference);
    let layout = if name == "~lib/tuple/SmallTuple" {
        Some(ReferenceLayout::new(Vec::new(), ContentReferences::Tuple))
    } else if name.starts_with("~lib/function/Function<") {
        Some(function_layout(class))
    } else if name.starts_with("~lib/array/Array<") {
        Some(array_layout(element_is_reference.unwrap_or(true)))
    } else if name.starts_with("~lib/staticarray/StaticArray<") {
        Some(static_array_layout(element_is_reference.unwrap_or(true)))
    } else if name.starts_with("~lib/set/Set<") {
        argument(0).map_or_else(from_flags, |key| Some(entries_layout(key, None)))
    } else if name.starts_with("~lib/map/Map<") {
        match (argument(0), argument(1)) {
            (Some(key), Some(value)) => Some(entries_layout(key, Some(value))),
            _ => from_flags(),
        }
    } else {
        return AddedContents::Nothing;
    };
    layout.map_or(AddedContents::Unknown, AddedContents::Layout)
}

/// Whether objects of a class with this name are those of the standard library, without fields of a program.
pub(super) fn is_standard_container(name: &str) -> bool {
    [
        "~lib/array/Array<",
        "~lib/map/Map<",
        "~lib/set/Set<",
        "~lib/typedarray/",
    ]
    .iter()
    .any(|start| name.starts_with(start))
}
