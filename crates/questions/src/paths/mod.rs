//! Why objects are alive: one, several, those of a class, or those that are new.

mod after_return;
mod answer;
mod group_tree;
mod merged;
mod one_object;
mod sets;

use schemars::JsonSchema;
use serde::Deserialize;

use crate::QuestionError;
use crate::loaded_heap::LoadedHeap;
use crate::parts::page::{default_limit, limit_schema, page};
pub use answer::{Branch, FirstEdges, HeldBy, MergedPaths, More, PathAnswer};
use base::control::Control;
use base::error::Result;
use base::warning::Warning;
pub(crate) use merged::merged_paths;
use one_object::path_answer;
pub(crate) use sets::set_of_new;
use sets::{set_of_addresses, set_of_class};

/// Whose paths to look for: these objects, those of a class, or those that are not in another heap.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PathOptions {
    /// The addresses of the objects. One gives the answer about its path; the paths of several are merged.
    #[serde(default)]
    #[schemars(extend("x-target" = true, "x-cli" = "--object <address...>: these objects"))]
    pub objects: Option<Vec<u64>>,
    /// The live objects of a class, with `*` and `?` as in `find`; with `newSince` the new ones of these.
    #[serde(default)]
    #[schemars(extend(
        "x-target" = true,
        "x-cli" = "-c, --class <glob>: the live objects of a class; * stands for any text",
        "x-agent" = { "is": "glob", "description": "a class name; * and ? are wildcards" }
    ))]
    pub class: Option<String>,
    /// The live objects that an earlier heap of the same module does not have.
    #[serde(default)]
    #[schemars(extend(
        "x-target" = true,
        "x-earlier" = true,
        "x-cli" = "--new-since <dump>: the live objects that are not in this earlier dump",
        "x-agent" = { "is": "heap", "description": "the handle of an earlier dump" }
    ))]
    pub new_since: bool,
    /// How many branches, or independent references, to list: a whole number ≥ 1 (default: 20).
    #[serde(default = "default_limit")]
    #[schemars(schema_with = "limit_schema")]
    pub limit: u64,
}

/// Why one object is alive, or several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Paths {
    /// One object.
    Object(Box<PathAnswer>),
    /// Several objects.
    Objects(Box<MergedPaths>),
}

/// The objects of a question about paths.
enum PathTarget<'q> {
    /// One object.
    Object(u64),
    /// These objects.
    Objects(&'q [u64]),
    /// A class name with wildcards.
    Class(&'q str),
    /// The objects that are not in another heap, of all classes or of those whose names match.
    NewSince(Option<&'q str>),
}

impl<'q> PathTarget<'q> {
    fn of(options: &'q PathOptions) -> Result<Self> {
        let (objects, class) = (options.objects.as_deref(), options.class.as_deref());
        let new_since = options.new_since;
        match (objects, class, new_since) {
            (Some(&[object]), None, false) => Ok(Self::Object(object)),
            (Some(objects @ [_, ..]), None, false) => Ok(Self::Objects(objects)),
            (None, Some(class), false) => Ok(Self::Class(class)),
            (None, class, true) => Ok(Self::NewSince(class)),
            _ => Err(QuestionError::InvalidOption {
                name: "paths",
                found: format!(
                    "{} objects, {} class, newSince {new_since}",
                    objects.map_or(0, <[u64]>::len),
                    if class.is_some() { "a" } else { "no" }
                ),
                expected: "objects (at least one address), class, newSince, or class and newSince",
            }
            .into()),
        }
    }
}

/// Why objects are alive: these objects, those of a class, or those that are not in the heap `before`.
///
/// # Errors
/// [`Error`](base::Error): `NoObject` for an address without an object, `UnknownClass` for a class that no live
/// object has, `InvalidOption` for invalid options, `DumpChanged` and `Io` if the dump cannot be read again,
/// `OutOfMemory`, `Aborted`.
pub fn paths(
    loaded: &LoadedHeap,
    options: &PathOptions,
    before: Option<&LoadedHeap>,
    notes: &mut Vec<Warning>,
    control: &Control,
) -> Result<Paths> {
    let target = PathTarget::of(options)?;
    let limit = page(0, options.limit)?.end();
    let set = match target {
        PathTarget::Object(address) => {
            let path = path_answer(loaded, address, limit, notes, control)?;
            return Ok(Paths::Object(Box::new(path)));
        }
        PathTarget::Objects(addresses) => set_of_addresses(loaded, addresses, notes, control)?,
        PathTarget::Class(pattern) => set_of_class(loaded, pattern, control)?,
        PathTarget::NewSince(class) => match before {
            Some(before) => set_of_new(loaded, before, "newSince", class, control)?,
            None => {
                return Err(QuestionError::InvalidOption {
                    name: "newSince",
                    found: "no earlier heap".to_owned(),
                    expected: "an earlier heap of the same module beside the question",
                }
                .into());
            }
        },
    };
    let paths = merged_paths(loaded, set, limit, control)?;
    Ok(Paths::Objects(Box::new(paths)))
}
