//! The text of a path: its root, class and label of every step, without indexes, keys and repetitions. Paths
//! with the same text are a group, for any addresses and builds.

use sha2::{Digest, Sha256};

use super::labels::after_class;
use super::roots::{origin_root, root_text};
use crate::loaded_heap::LoadedHeap;
use base::control::Control;
use base::error::Result;
use base::units::ObjectIndex;
use heap::{EdgeLabel, GroupStart, Name, PathGroup, RootOrigin};

/// The separator between steps.
pub const SEPARATOR: &str = " > ";

/// The mark for steps that are left out.
pub const LEFT_OUT: &str = "…";

/// The first 12 hexadecimal digits of a hash of a text.
pub fn fingerprint(text: &str) -> String {
    let hash = Sha256::digest(format!("v1\n{text}"));
    let digits = hash.iter().take(6).map(|byte| format!("{byte:02x}"));
    digits.collect()
}

/// A path as text, and whether all its names are from the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathText {
    /// Its steps, joined by [`SEPARATOR`].
    pub text: String,
    /// Whether another build of the program names all its steps the same.
    pub is_stable: bool,
}

impl PathText {
    /// The first 12 hexadecimal digits of a hash of the text.
    pub fn fingerprint(&self) -> String {
        fingerprint(&self.text)
    }

    pub(crate) fn add(&mut self, text: &str) {
        if !self.text.is_empty() {
            self.text.push_str(SEPARATOR);
        }
        self.text.push_str(text);
    }
}

/// The text of the path of a live object.
pub(crate) fn path_text(
    loaded: &LoadedHeap,
    object: ObjectIndex,
    control: &Control,
) -> Result<PathText> {
    let group = loaded.path_tree(control)?.group(object);
    let mut text = group_text(loaded, group, control)?;
    if group == PathGroup::REST {
        text.add(loaded.class_name(object));
    }
    Ok(text)
}

/// The text of the paths of a group.
pub fn group_text(loaded: &LoadedHeap, group: PathGroup, control: &Control) -> Result<PathText> {
    let (mut text, end) = steps_to(loaded, group, control)?;
    if let Some(end) = end {
        let name = loaded.slot_name(end);
        text.is_stable &= loaded.source.is_stable(Name::Class(name));
        text.add(name);
    }
    Ok(text)
}

/// The text of the references with one label from the objects of a group, without what they lead to.
pub(crate) fn reference_text(
    loaded: &LoadedHeap,
    holders: PathGroup,
    label: EdgeLabel,
    control: &Control,
) -> Result<PathText> {
    let (mut text, end) = steps_to(loaded, holders, control)?;
    if let Some(holder) = end {
        let (step, is_stable) = step_text(loaded, holder, label);
        text.is_stable &= is_stable;
        text.add(&step);
    }
    Ok(text)
}

/// The text of the paths of a group without the class of its objects, and the slot of this class; `None` for the group
/// that stands for many.
fn steps_to(
    loaded: &LoadedHeap,
    group: PathGroup,
    control: &Control,
) -> Result<(PathText, Option<u32>)> {
    let groups = loaded.path_tree(control)?.groups();
    let mut chain = Vec::new();
    let mut next = Some(group);
    while let Some(group) = next {
        let info = groups.info(group);
        chain.push(info);
        next = match info.start {
            GroupStart::Step(before, _) => Some(before),
            GroupStart::Root(_) | GroupStart::Rest => None,
        };
    }
    let mut text = PathText {
        text: String::new(),
        is_stable: true,
    };
    let mut holder: Option<u32> = None;
    for info in chain.iter().rev() {
        match info.start {
            GroupStart::Rest => {
                text.is_stable = false;
                text.add(LEFT_OUT);
                return Ok((text, None));
            }
            GroupStart::Root(origin) => {
                text.is_stable &= is_origin_stable(loaded, origin);
                text.add(&origin_text(loaded, origin));
            }
            GroupStart::Step(_, label) => {
                if let Some(holder) = holder {
                    let (step, is_stable) = step_text(loaded, holder, label);
                    text.is_stable &= is_stable;
                    text.add(&step);
                }
            }
        }
        holder = Some(info.class_slot);
    }
    Ok((text, holder))
}

/// The kind and the name of the root that all paths of this origin begin with.
pub fn origin_text(loaded: &LoadedHeap, origin: RootOrigin) -> String {
    let root = origin_root(loaded, origin);
    root_text(root.kind, root.name.as_deref())
}

/// `Class.label`, and whether that is from the source.
pub fn step_text(loaded: &LoadedHeap, class_slot: u32, label: EdgeLabel) -> (String, bool) {
    let name = loaded.slot_name(class_slot);
    let text = loaded.source.class_label(class_slot, label);
    let source = &loaded.source;
    let is_stable =
        source.is_stable(Name::Class(name)) && source.is_stable(Name::Label(label, &text));
    (format!("{name}{}", after_class(&text)), is_stable)
}

pub(crate) fn is_origin_stable(loaded: &LoadedHeap, origin: RootOrigin) -> bool {
    match origin {
        // Names of V8, and those that the caller gave.
        RootOrigin::System(_) | RootOrigin::Host(_) => true,
        RootOrigin::Global(number) => {
            let name = loaded.roots.global_name(number);
            name.is_some_and(|name| !name.starts_with(['#', '(']))
        }
        RootOrigin::Static(_) => false,
        RootOrigin::Stack | RootOrigin::Pinned | RootOrigin::Unreferenced => true,
    }
}
