//! Objects as text: one of them, those that were found, and those that one dominates.

use super::names::{
    class, class_and_label, label, line_text, preview, root, size, sizes, with_function,
};
use super::paths::path_lines;
use super::rows::{Left, Right, part, table};
use super::text::{counted, format_count, printable_name};
use base::units::AddressForm;
use heap::{ContainerKind, ContainerPage, HeldValue};
use questions::{
    ConditionResult, DominatorGroups, Dominators, FoundGroups, FoundObjects, ObjectAnswer,
    PossibleReferences, Size, SizeSum,
};

pub(super) fn found_lines(found: &FoundObjects, form: AddressForm) -> Vec<String> {
    // Only the number was asked for, or a page beyond the end, which has a sentence of its own.
    let is_number = found.objects.is_empty() && found.total > found.offset;
    let mut lines = vec![if is_number {
        counted(found.total, "object")
    } else {
        let shown = found.objects.len();
        part(
            found.total,
            found.offset,
            shown,
            noun(found.total, "object", "objects"),
        )
    }];
    lines.extend(found.sum.as_ref().map(sum_line));
    if let Some(condition) = &found.condition {
        lines.extend(left_out_lines(condition));
    }
    if let Some(groups) = &found.groups {
        lines.extend(found_group_lines(groups, found));
    }
    if found.objects.is_empty() {
        return lines;
    }
    let rows: Vec<_> = found
        .objects
        .iter()
        .map(|object| {
            [
                form.of(object.address).to_string(),
                size(object.shallow_size),
                sizes(object.retained_size, object.retained_parts),
                class(&object.class_name),
                preview(object.preview.as_ref()),
            ]
        })
        .collect();
    let heading = [
        ("Address", Right),
        ("Shallow", Right),
        ("Retained", Right),
        ("Class", Left),
        ("Contents", Left),
    ];
    lines.extend(table(heading, &rows));
    lines
}

/// The noun for this number of things.
fn noun(count: u64, one: &'static str, many: &'static str) -> &'static str {
    match count {
        1 => one,
        _ => many,
    }
}

fn sum_line(sum: &SizeSum) -> String {
    match sum.size {
        Size::Shallow => format!("shallow size of all: {}", sizes(sum.bytes, sum.parts)),
        Size::Retained => format!("retained size of all: {}", sizes(sum.bytes, sum.parts)),
    }
}

/// What is said of the objects for which a condition is neither true nor false.
fn left_out_lines(condition: &ConditionResult) -> Vec<String> {
    let mut lines = Vec::new();
    if condition.without_field > 0 {
        lines.push(format!(
            "not counted: {} without a field of the condition",
            counted(condition.without_field, "object")
        ));
    }
    lines.extend(condition.failed.iter().map(|failed| {
        format!(
            "not counted: {} for which the condition has no value, because {}",
            counted(failed.count, "object"),
            failed.reason
        )
    }));
    lines
}

fn found_group_lines(groups: &FoundGroups, found: &FoundObjects) -> Vec<String> {
    let rows: Vec<_> = groups
        .rows
        .iter()
        .map(|group| {
            let bytes = group.bytes.map(|bytes| sizes(bytes, group.parts));
            [
                format_count(group.count),
                bytes.unwrap_or_default(),
                printable_name(&group.text),
            ]
        })
        .collect();
    let heading = [
        ("Count", Right),
        (
            match found.sum.as_ref().map(|sum| sum.size) {
                Some(Size::Shallow) => "Shallow",
                Some(Size::Retained) => "Retained",
                None => "",
            },
            Right,
        ),
        ("Value", Left),
    ];
    let shown = groups.rows.len();
    let mut lines = vec![
        String::new(),
        part(
            groups.total,
            found.offset,
            shown,
            noun(groups.total, "group", "groups"),
        ),
    ];
    lines.extend(table(heading, &rows));
    lines
}

pub(super) fn object_lines(object: &ObjectAnswer, form: AddressForm) -> Vec<String> {
    let name = object
        .class_name
        .as_ref()
        .map_or("block".to_owned(), |name| class(name));
    let mut lines = vec![
        format!("{name} at {}", form.of(object.address)),
        format!(
            "{}, {}, retains {}, referred to by {}",
            object.state.name(),
            size(object.shallow_size),
            sizes(object.retained_size, object.retained_parts),
            format_count(object.referrer_count)
        ),
    ];
    if let Some(dominator) = &object.dominator {
        lines.push(format!(
            "dominated by {} at {}",
            class(&dominator.class_name),
            form.of(dominator.address)
        ));
    }
    for of in &object.roots {
        lines.push(format!("root: {}", root(of)));
    }
    if let Some(possible) = &object.possible_holders {
        lines.extend(possible_lines(possible));
    }
    if let Some(stack) = &object.pinned_by {
        lines.push("pinned by".to_owned());
        let frames = stack.iter().map(|frame| printable_name(frame));
        lines.extend(frames.map(|frame| format!("  at {frame}")));
    }
    if let (Some(line), Some(requested)) = (&object.allocated_at, object.requested_size) {
        let bytes = counted(requested.into(), "byte");
        lines.push(format!(
            "allocated by {}, which asked for {bytes}",
            line_text(line)
        ));
    }
    if object.preview.is_some() {
        lines.push(preview(object.preview.as_ref()));
    }
    let rows: Vec<_> = object
        .fields
        .iter()
        .map(|field| {
            [
                label(&field.name),
                class(&field.type_name),
                with_function(
                    printable_name(&field.value.to_string()),
                    field.function_name.as_ref(),
                ),
            ]
        })
        .collect();
    lines.extend(table([("", Left), ("", Left), ("", Left)], &rows));
    if let Some(page) = &object.entries {
        lines.extend(entry_lines(page));
    }
    if let Some(path) = &object.path {
        lines.push(String::new());
        lines.extend(path_lines(path));
        lines.push(format!("fingerprint {}", path.fingerprint));
    }
    lines
}

/// The slots of JavaScript that may refer to an object.
fn possible_lines(possible: &PossibleReferences) -> Vec<String> {
    let shown = possible.slots.len();
    let what = noun(possible.total, "possible holder", "possible holders");
    let mut lines = vec![part(possible.total, 0, shown, what)];
    let rows: Vec<_> = possible
        .slots
        .iter()
        .map(|slot| {
            [
                slot.address_text.clone(),
                format!(
                    "~ {}",
                    class_and_label(Some(&slot.class_name), Some(&slot.label))
                ),
                format!("{} of {} values", slot.hits, slot.values),
            ]
        })
        .collect();
    lines.extend(table([("", Right), ("", Left), ("", Left)], &rows));
    lines
}

fn entry_lines(page: &ContainerPage) -> Vec<String> {
    let ContainerPage {
        kind,
        total,
        offset,
        entries,
        ..
    } = page;
    let what = match kind {
        ContainerKind::Elements => "elements",
        ContainerKind::Map => "entries",
        ContainerKind::Set => "values",
        ContainerKind::Properties => "elements and properties",
    };
    let held = |held: &HeldValue| {
        with_function(
            printable_name(&held.value.to_string()),
            held.function_name.as_ref(),
        )
    };
    let rows: Vec<_> = entries
        .iter()
        .map(|entry| {
            let key = match (&entry.name, &entry.key) {
                (Some(name), _) => label(name),
                (None, Some(key)) => held(key),
                (None, None) => String::new(),
            };
            let address = entry.value.address_text.clone().unwrap_or_default();
            [format_count(entry.index), key, held(&entry.value), address]
        })
        .collect();
    let heading = [
        ("Index", Right),
        ("Key", Left),
        ("Value", Left),
        ("Address", Right),
    ];
    let mut lines = vec![String::new(), part(*total, *offset, entries.len(), what)];
    lines.extend(table(heading, &rows));
    lines
}

pub(super) fn dominator_lines(dominators: &Dominators, form: AddressForm) -> Vec<String> {
    let Dominators {
        total,
        offset,
        children,
        ..
    } = dominators;
    let mut lines = vec![part(
        *total,
        *offset,
        children.len(),
        noun(*total, "object", "objects"),
    )];
    let rows: Vec<_> = children
        .iter()
        .map(|child| {
            [
                form.of(child.address).to_string(),
                size(child.shallow_size),
                sizes(child.retained_size, child.retained_parts),
                class(&child.class_name),
            ]
        })
        .collect();
    let heading = [
        ("Address", Right),
        ("Shallow", Right),
        ("Retained", Right),
        ("Class", Left),
    ];
    lines.extend(table(heading, &rows));
    lines
}

pub(super) fn group_lines(groups: &DominatorGroups) -> Vec<String> {
    let DominatorGroups {
        total,
        offset,
        groups: shown,
        ..
    } = groups;
    let mut lines = vec![part(
        *total,
        *offset,
        shown.len(),
        noun(*total, "class", "classes"),
    )];
    let rows: Vec<_> = shown
        .iter()
        .map(|group| {
            [
                format_count(group.count),
                size(group.shallow_size),
                sizes(group.retained_size, group.retained_parts),
                class(&group.class_name),
            ]
        })
        .collect();
    let heading = [
        ("Count", Right),
        ("Shallow", Right),
        ("Retained", Right),
        ("Class", Left),
    ];
    lines.extend(table(heading, &rows));
    lines
}
