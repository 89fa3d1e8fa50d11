//! Questions, in the form in which the command line and the API ask them.

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
use crate::warnings::{WarningText, warnings_beside};
use crate::waste::{WasteOptions, waste};
use base::control::Control;
use base::error::Result;

/// A question about a loaded heap, with its options.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(tag = "question", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Question {
    /// The totals of the heap.
    Summary {},
    /// Live objects by class, size, contents and an expression.
    Find(FindOptions),
    /// Everything about one object.
    Object(ObjectOptions),
    /// The references to an object.
    Referrers(ReferrerOptions),
    /// Why objects are alive.
    Paths(PathOptions),
    /// The objects that an object immediately dominates.
    Dominators(DominatorOptions),
    /// The objects and classes that retain the most; with an earlier heap, those that grew the most.
    Suspects(SuspectOptions),
    /// Memory that could be saved.
    Waste(WasteOptions),
    /// Unreachable memory.
    Unreachable(UnreachableOptions),
    /// What the pages of a report show; with an earlier heap of the same module a comparison as well.
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
    let mut warnings = match before {
        Some(before) => warnings_beside(loaded, before),
        None => loaded.warnings().iter().map(Into::into).collect(),
    };
    warnings.extend(notes.iter().map(WarningText::from));
    let is_partial = loaded.heap.is_partial || before.is_some_and(|before| before.heap.is_partial);
    Ok(Answer::new(body, is_partial, warnings).with_addresses(loaded.heap.address_form))
}
