//! Why objects are alive: one, several, those of a class, or those that are new.

mod after_return;
mod answer;
mod group_tree;
mod merged;
mod one_object;
mod sets;

use crate::answer::AnswerBody;
use crate::loaded_heap::LoadedHeap;
pub use answer::{Branch, Edges, HeldBy, MergedPaths, More, PathAnswer};
use base::control::Control;
use base::error::{Error, Result};
use base::warning::Warning;
pub(crate) use merged::merged_paths;
use one_object::path_answer;
pub(crate) use sets::set_of_new;
use sets::{set_of_addresses, set_of_class};

/// The objects of a question about paths.
pub(crate) enum PathTarget<'q> {
    /// One object.
    Object(u32),
    /// These objects.
    Objects(&'q [u32]),
    /// A class name with wildcards.
    Class(&'q str),
    /// The objects that are not in another heap, of all classes or of those whose names match.
    NewSince(Option<&'q str>),
}

impl<'q> PathTarget<'q> {
    pub(crate) fn of(
        objects: Option<&'q [u32]>,
        class: Option<&'q str>,
        new_since: bool,
    ) -> Result<Self> {
        match (objects, class, new_since) {
            (Some(&[object]), None, false) => Ok(Self::Object(object)),
            (Some(objects @ [_, ..]), None, false) => Ok(Self::Objects(objects)),
            (None, Some(class), false) => Ok(Self::Class(class)),
            (None, class, true) => Ok(Self::NewSince(class)),
            _ => Err(Error::InvalidOption {
                name: "paths",
                found: format!(
                    "{} objects, {} class, newSince {new_since}",
                    objects.map_or(0, <[u32]>::len),
                    if class.is_some() { "a" } else { "no" }
                ),
                expected: "objects (at least one address), class, newSince, or class and newSince",
            }),
        }
    }
}

pub(crate) fn paths_of(
    loaded: &LoadedHeap,
    target: &PathTarget<'_>,
    before: Option<&LoadedHeap>,
    limit: usize,
    notes: &mut Vec<Warning>,
    control: &Control,
) -> Result<AnswerBody> {
    let set = match *target {
        PathTarget::Object(address) => {
            let path = path_answer(loaded, address, limit, notes, control)?;
            return Ok(AnswerBody::Path(Box::new(path)));
        }
        PathTarget::Objects(addresses) => set_of_addresses(loaded, addresses, notes, control)?,
        PathTarget::Class(pattern) => set_of_class(loaded, pattern, control)?,
        PathTarget::NewSince(class) => match before {
            Some(before) => set_of_new(loaded, before, class, control)?,
            None => {
                return Err(Error::InvalidOption {
                    name: "newSince",
                    found: "no earlier heap".to_owned(),
                    expected: "an earlier heap of the same module beside the question",
                });
            }
        },
    };
    let paths = merged_paths(loaded, set, limit, control)?;
    Ok(AnswerBody::MergedPaths(paths))
}
