//! A suspect as a paragraph for a ticket.

use super::answer::{AccumulatedClass, Accumulation, Suspect, SuspectKind, Together};
use crate::parts::cut::Cut;
use crate::parts::labels::after_class;
use crate::parts::path::Path;
use crate::parts::pattern::{Grown, pattern};
use crate::parts::roots::root_text;
use base::units::AddressForm;
use heap::SizeParts;

/// The bytes of a slice, without the text that it keeps.
const SLICE: u64 = 32;

/// The suspect, its retained size, what accumulates, and the reference to cut.
pub(crate) fn paragraph(suspect: &Suspect, form: AddressForm) -> String {
    let variable = suspect.path.as_ref().and_then(variable_of);
    let mut text = subject(suspect, variable.as_ref(), form);
    if let Some(accumulation) = &suspect.accumulation {
        let place = place(accumulation, suspect.kind, form);
        let is_growth = suspect.kind == SuspectKind::Growth;
        match accumulation.children.first() {
            Some(class) => {
                let what = accumulated(class, is_growth);
                text += &format!(" It accumulates in {place}: {what}.");
            }
            None => text += &format!(" It is in {place}."),
        }
        if let Some(Together {
            count,
            retained_size,
        }) = accumulation.together
        {
            let size = bytes(retained_size);
            text += &format!(" Letting go of all {count} frees at least {size}.");
        }
    }
    if let Some(NamedVariable { name, scope }) =
        variable.filter(|_| suspect.kind != SuspectKind::Growth)
    {
        text += &format!(" It is in the variable {name} of {scope}.");
    }
    if let Some(sentence) = suspect_pattern(suspect) {
        text += &format!(" Known: {sentence}.");
    }
    if let Some(path) = &suspect.path {
        let accumulation = suspect.accumulation.as_ref();
        let has_several = accumulation.is_some_and(|place| place.together.is_some());
        text += match suspect.kind {
            SuspectKind::Object | SuspectKind::Growth if !has_several => " Path: ",
            _ => " The path of the largest: ",
        };
        text += &format!("{} (fingerprint {}).", path.text, path.fingerprint);
    }
    // What V8 refers to by itself, no program cuts.
    let is_own = |cut: &&Cut| {
        !cut.label
            .as_deref()
            .is_some_and(|label| label.starts_with('{'))
    };
    if let Some(cut) = suspect.cut.as_ref().filter(is_own) {
        text += &format!(" Cutting {} frees {}.", reference(cut), freed(cut));
    }
    text
}

/// A variable, and the scope in which it is.
#[derive(Clone, Copy)]
struct NamedVariable<'p> {
    name: &'p str,
    scope: &'p str,
}

/// The last variable on a path.
fn variable_of(path: &Path) -> Option<NamedVariable<'_>> {
    path.steps.windows(2).rev().find_map(|pair| {
        let name = pair[1].label.as_deref()?.strip_prefix("->")?;
        let scope = &pair[0].class_name;
        Some(NamedVariable { name, scope })
    })
}

/// What is known of growth of this kind.
fn suspect_pattern(suspect: &Suspect) -> Option<String> {
    let path = suspect.path.as_ref()?;
    let accumulation = suspect.accumulation.as_ref()?;
    let child = accumulation.children.first();
    if suspect.kind != SuspectKind::Growth {
        return None;
    }
    let of_children = pattern(Grown {
        path: &path.text,
        class_name: child.map_or(&accumulation.class_name, |child| &child.class_name),
        is_more: child.is_some_and(|child| child.count > 0),
        count: child.map_or(0, |child| child.count),
        bytes: child.map_or(0, |child| child.count * SLICE),
        retained: child.map_or(0, |child| child.retained_size),
        file: None,
    });
    let together = accumulation.together.as_ref();
    let of_place = || {
        pattern(Grown {
            path: &path.text,
            class_name: &accumulation.class_name,
            is_more: together.is_some(),
            count: together.map_or(1, |all| all.count),
            bytes: together.map_or(0, |all| all.count * SLICE),
            retained: suspect.retained_size,
            file: None,
        })
    };
    of_children.or_else(of_place)
}

/// Where it accumulates: an object, or several of which this one is the largest.
fn place(accumulation: &Accumulation, kind: SuspectKind, form: AddressForm) -> String {
    let Accumulation {
        address,
        class_name,
        owner,
        together,
        ..
    } = accumulation;
    let address = form.of(*address);
    let one = match owner {
        // Of an object that is the suspect, the address is known already.
        Some(owner) if kind != SuspectKind::Growth => owner.clone(),
        Some(owner) => format!("{owner} at {address}"),
        None if together.is_some() => format!("the one at {address}"),
        None => format!("{class_name} at {address}"),
    };
    match together {
        Some(Together { count, .. }) => format!("{count} {class_name} such as {one}"),
        None => one,
    }
}

fn subject(suspect: &Suspect, variable: Option<&NamedVariable<'_>>, form: AddressForm) -> String {
    let Suspect {
        class_name,
        count,
        retained_size,
        ..
    } = suspect;
    let (size, of) = match suspect.retained_parts {
        Some(parts) => (in_both(parts), " of both heaps"),
        None => (bytes(*retained_size), ""),
    };
    let share = format!("{:.0} % of the live bytes{of}", suspect.share * 100.0);
    match (suspect.kind, suspect.address) {
        (SuspectKind::Growth, _) => {
            let before = suspect.retained_size_before.unwrap_or(0);
            let grown = bytes(retained_size.saturating_sub(before));
            // The number in front of a suspect would stand beside "1".
            let who = match (*count, variable) {
                (1, Some(variable)) if variable.scope == class_name => {
                    format!(
                        "The variable {} of {class_name} grows: {class_name} retains",
                        variable.name
                    )
                }
                (1, None) => format!("One {class_name} retains"),
                (_, None) => format!("{count} {class_name} retain"),
                (_, Some(NamedVariable { name, scope })) => {
                    let (count, verb) = match count {
                        1 => ("one".to_owned(), "retains"),
                        count => (count.to_string(), "retain"),
                    };
                    format!("The variable {name} of {scope} grows: {count} {class_name} {verb}")
                }
            };
            format!("{who} {size}, which is {grown} more than before and {share}.")
        }
        (SuspectKind::Object, Some(address)) => {
            let address = form.of(address);
            format!("One {class_name} at {address} retains {size}, {share}.")
        }
        _ => format!("{count} {class_name} together retain {size}, {share}."),
    }
}

fn accumulated(class: &AccumulatedClass, is_growth: bool) -> String {
    let AccumulatedClass {
        class_name,
        count,
        retained_size,
        retained_parts,
    } = class;
    let size = match *retained_parts {
        Some(parts) => in_both(parts),
        None => bytes(*retained_size),
    };
    match count {
        // Objects that were there before retain more.
        0 => format!("{size} more in {class_name}"),
        _ if is_growth => format!("{count} more {class_name} with {size}"),
        _ => format!("{count} {class_name} with {size}"),
    }
}

fn reference(cut: &Cut) -> String {
    if let Some(class_name) = cut.engine_slot_of() {
        return format!("what refers to the {class_name}");
    }
    match (&cut.root, &cut.class_name, &cut.label) {
        (Some(root), _, _) => root_text(root.kind, root.name.as_deref()),
        (None, Some(class_name), Some(label)) => format!("{class_name}{}", after_class(label)),
        _ => "the reference".to_owned(),
    }
}

fn freed(cut: &Cut) -> String {
    match cut.freed_parts {
        Some(parts) => in_both(parts),
        None => bytes(cut.freed),
    }
}

fn in_both(SizeParts { javascript, wasm }: SizeParts) -> String {
    let (of_javascript, of_wasm) = (bytes(javascript), bytes(wasm));
    match (javascript, wasm) {
        (0, _) => format!("{of_wasm} of wasm"),
        (_, 0) => format!("{of_javascript} of JavaScript"),
        _ => format!("{of_javascript} of JavaScript and {of_wasm} of wasm"),
    }
}

fn bytes(bytes: u64) -> String {
    base::units::format_size(bytes)
}
