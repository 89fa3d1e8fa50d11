//! Questions, in the form in which the command line and the API ask them.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::answer::{Answer, AnswerBody};
use crate::dominators::{Dominated, DominatorOptions, dominators};
use crate::find::{FindOptions, find};
use crate::loaded_heap::LoadedHeap;
use crate::object::{ObjectOptions, object};
use crate::paths::{PathOptions, Paths, paths};
use crate::referrers::{ReferrerOptions, referrers};
use crate::report::report;
use crate::summary::summary;
use crate::suspects::{SuspectOptions, suspects};
use crate::unreachable::{UnreachableOptions, unreachable};
use crate::warnings::{WarningText, refuse_other_build, warnings_beside};
use crate::waste::{WasteOptions, waste};
use base::control::Control;
use base::error::Result;

/// A question about a loaded heap, with its options.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(tag = "question", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Question {
    /// Totals: bytes, objects, classes, roots.
    #[schemars(extend("x-command" = { "about": "totals: bytes, objects, classes, roots", "takes": ["host"] }))]
    Summary {},
    /// The live objects to find. An object must meet all conditions.
    #[schemars(extend("x-command" = {
        "about": "live objects by class, contents and an expression, largest first",
        "takes": ["host"],
        "earlier": {
            "name": "before",
            "behind": "groupBy",
            "description": "An earlier heap of the same module, for `isNew` in expressions.",
            "cli": "--before <dump>: an earlier dump of the same build, for isNew",
            "agent": "an earlier heap of the same module, for isNew"
        }
    }))]
    Find(FindOptions),
    /// The page of a container's entries that `Heap.object` lists.
    #[schemars(extend("x-command" = {
        "about": "one object: class, sizes, fields, contents, path",
        "takes": ["profile", "host"]
    }))]
    Object(ObjectOptions),
    /// The part of the references that `Heap.referrers` lists.
    #[schemars(extend("x-command" = {
        "about": "the references to an object, and which of them alone keep the object alive",
        "takes": ["host"]
    }))]
    Referrers(ReferrerOptions),
    /// The length of the lists in an answer about paths.
    #[schemars(extend("x-command" = {
        "about": "why an object, a class or all new objects are alive, and which reference to cut",
        "takes": ["profile", "host"]
    }))]
    Paths(PathOptions),
    /// The objects whose dominated objects are wanted.
    #[schemars(extend("x-command" = {
        "about": "the objects that one object alone keeps alive: one level of the dominator tree",
        "takes": ["host"]
    }))]
    Dominators(DominatorOptions),
    /// Which objects and classes are suspects.
    #[schemars(extend("x-command" = {
        "about": "what retains the most memory, or grew the most, with a text for a ticket",
        "takes": ["host"],
        "modules": "one or two",
        "earlier": {
            "name": "before",
            "description": "An earlier heap, of the same build or another. With it, suspects are objects and classes that grew.",
            "cli": "--before <dump>: an earlier dump, of this build or another; suspects are then what grew",
            "agent": "the handle of an earlier dump, to compare with"
        }
    }))]
    Suspects(SuspectOptions),
    /// The part of the groups of each kind that `Heap.waste` lists.
    #[schemars(extend("x-command" = {
        "about": "memory that could be saved: duplicates, empty containers, unused room",
        "takes": []
    }))]
    Waste(WasteOptions),
    /// The length of the lists in an answer about unreachable memory.
    #[schemars(extend("x-command" = {
        "about": "garbage by class, its cycles, and raw blocks to which nothing refers; of C, C++, Rust and Zig what is unreferenced",
        "takes": ["profile"]
    }))]
    Unreachable(UnreachableOptions),
    /// What the pages of a report show; with an earlier heap of the same module a comparison as well.
    #[schemars(skip)]
    Report {},
}

/// Answers a question. Some compare with an earlier heap, `before`: `paths` to new objects, `suspects` of
/// growth, `find` with `isNew`, and `report`.
///
/// # Errors
/// [`Error`](base::Error): `NoObject` for an address without an object, `UnknownClass` for a class that no live
/// object has, `InvalidOption` for an invalid question, `DifferentModules` for a report that compares two
/// programs, `ERR_NOT_IN_JOINED` for comparisons of heaps that were joined, `DumpChanged` and `Io` if the dump cannot be read again, `OutOfMemory`, `Aborted`.
pub fn ask(
    loaded: &LoadedHeap,
    question: &Question,
    before: Option<&LoadedHeap>,
    control: &Control,
) -> Result<Answer> {
    control.check()?;
    if let Some(before) = before {
        before.check_comparable(loaded)?;
    }
    let mut notes = Vec::new();
    let body = match question {
        Question::Summary {} => AnswerBody::Summary(Box::new(summary(loaded, control)?)),
        Question::Find(options) => AnswerBody::Find(find(loaded, options, before, control)?),
        Question::Object(options) => {
            AnswerBody::Object(Box::new(object(loaded, options, &mut notes, control)?))
        }
        Question::Referrers(options) => {
            AnswerBody::Referrers(referrers(loaded, options, &mut notes, control)?)
        }
        Question::Paths(options) => match paths(loaded, options, before, &mut notes, control)? {
            Paths::Object(path) => AnswerBody::Path(path),
            Paths::Objects(paths) => AnswerBody::MergedPaths(*paths),
        },
        Question::Dominators(options) => match dominators(loaded, options, &mut notes, control)? {
            Dominated::Objects(objects) => AnswerBody::Dominators(objects),
            Dominated::Classes(classes) => AnswerBody::DominatorGroups(classes),
        },
        Question::Suspects(options) => {
            let warnings = warnings_of(loaded, before);
            refuse_other_build(&warnings)?;
            AnswerBody::Suspects(suspects(loaded, options, before, control)?)
        }
        Question::Waste(options) => AnswerBody::Waste(waste(loaded, options, &mut notes, control)?),
        Question::Unreachable(options) => {
            AnswerBody::Unreachable(unreachable(loaded, options, &mut notes, control)?)
        }
        Question::Report {} => {
            AnswerBody::Report(Box::new(report(loaded, before, &mut notes, control)?))
        }
    };
    let mut warnings = warnings_of(loaded, before);
    warnings.extend(notes.iter().map(WarningText::from));
    let is_partial = loaded.heap.is_partial || before.is_some_and(|before| before.heap.is_partial);
    Ok(Answer::new(body, is_partial, warnings).with_addresses(loaded.heap.address_form))
}

fn warnings_of(loaded: &LoadedHeap, before: Option<&LoadedHeap>) -> Vec<WarningText> {
    match before {
        Some(before) => warnings_beside(loaded, before),
        None => loaded.warnings().iter().map(Into::into).collect(),
    }
}
