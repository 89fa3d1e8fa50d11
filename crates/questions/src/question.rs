//! Questions, in the form in which the command line and the API ask them.

use serde::Deserialize;

use crate::answer::{Answer, AnswerBody};
use crate::dominators::dominated;
use crate::find;
use crate::find::find_objects;
use crate::loaded_heap::LoadedHeap;
use crate::object::object_answer;
use crate::parts::page::{default_limit, page};
use crate::paths::{PathTarget, paths_of};
use crate::referrers::referrers_of;
use crate::report::report;
use crate::summary::summarize;
use crate::suspects::suspects;
use crate::unreachable::unreachable;
use crate::warnings::{WarningText, warnings_beside};
use crate::waste::waste;
use base::control::Control;
use base::error::Result;
use heap::Need;

/// A question about a loaded heap.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(
    tag = "question",
    rename_all = "kebab-case",
    rename_all_fields = "camelCase",
    deny_unknown_fields
)]
pub enum Question {
    /// The totals of the heap.
    Summary {},
    /// Live objects by class, size and contents: retained size ↓, shallow size ↓, address ↑.
    Find {
        /// A class name, in which `*` stands for any text and `?` for one character; all classes if
        /// `None`.
        #[serde(default)]
        class: Option<String>,
        /// The least retained size in bytes.
        #[serde(default)]
        min_size: u64,
        /// Only strings that contain this text.
        #[serde(default)]
        contains: Option<String>,
        /// The number of entries to list.
        #[serde(default = "default_limit")]
        limit: u64,
        /// The number of entries to leave out before the first.
        #[serde(default)]
        offset: u64,
    },
    /// Everything about one object.
    Object {
        /// Its address, or one inside it.
        address: u32,
    },
    /// The references to an object.
    Referrers {
        /// Its address, or one inside it.
        address: u32,
        /// The number of entries to list.
        #[serde(default = "default_limit")]
        limit: u64,
        /// The number of entries to leave out before the first.
        #[serde(default)]
        offset: u64,
    },
    /// Why objects are alive: these objects, those of a class, or those that are not in another heap.
    Paths {
        /// Their addresses. One object gives the answer about its path; the paths of several are merged.
        #[serde(default)]
        objects: Option<Vec<u32>>,
        /// The live objects of a class, with `*` and `?` as in `find`; with `newSince` the new ones of
        /// these.
        #[serde(default)]
        class: Option<String>,
        /// The live objects that are not in the other heap.
        #[serde(default)]
        new_since: bool,
        /// The number of branches, or independent references, to list.
        #[serde(default = "default_limit")]
        limit: u64,
    },
    /// The objects that an object immediately dominates.
    Dominators {
        /// Its address; the whole heap if `None`.
        #[serde(default)]
        address: Option<u32>,
        /// Whether to group the objects by class.
        #[serde(default)]
        by_class: bool,
        /// The number of entries to list.
        #[serde(default = "default_limit")]
        limit: u64,
        /// The number of entries to leave out before the first.
        #[serde(default)]
        offset: u64,
    },
    /// The objects and classes that retain the most; with an earlier heap, those that grew the most.
    Suspects {
        /// The least part of the live bytes that a suspect retains: above 0, at most 1; by default 0.1. With
        /// an earlier heap, the least part by which it has grown; by default 0.02.
        #[serde(default)]
        threshold: Option<f64>,
        /// The number of entries to list.
        #[serde(default = "default_limit")]
        limit: u64,
    },
    /// Memory that could be saved: duplicates, empty containers, unused room.
    Waste {
        /// The number of groups of each kind to list, and the number of holders of each group.
        #[serde(default = "default_limit")]
        limit: u64,
        /// The number of groups of each kind to leave out before the first.
        #[serde(default)]
        offset: u64,
    },
    /// Unreachable memory: garbage, its cycles, and raw blocks to which nothing refers.
    Unreachable {
        /// The largest number of nodes of the graph; no graph if `None`.
        #[serde(default)]
        max_nodes: Option<u64>,
        /// The number of entries of each kind to list.
        #[serde(default = "default_limit")]
        limit: u64,
    },
    /// What the pages of a report show; with an earlier heap of the same module a comparison as well.
    Report {},
}

/// Answers a question. Some compare with an earlier heap, `before`: `paths` to new objects, `suspects` of
/// growth, and `report`.
///
/// # Errors
/// [`Error`](base::Error): `NoObject` for an address without an object, `UnknownClass` for a class that no live
/// object has, `InvalidOption` for an invalid question, `DifferentModules` for a report that compares two
/// programs, `DumpChanged` and `Io` if the dump cannot be read again, `OutOfMemory`, `Aborted`.
pub fn ask(
    loaded: &LoadedHeap,
    question: &Question,
    before: Option<&LoadedHeap>,
    control: &Control,
) -> Result<Answer> {
    control.check()?;
    let mut notes = Vec::new();
    let body = match question {
        Question::Summary {} => AnswerBody::Summary(summarize(loaded)),
        Question::Find {
            class,
            min_size,
            contains,
            limit,
            offset,
        } => AnswerBody::Find(find_objects(
            loaded,
            find::Wanted {
                class: class.as_deref(),
                min_size: *min_size,
                contains: contains.as_deref(),
            },
            page(*offset, *limit)?,
            control,
        )?),
        Question::Object { address } => AnswerBody::Object(Box::new(object_answer(
            loaded, *address, &mut notes, control,
        )?)),
        Question::Dominators {
            address,
            by_class,
            limit,
            offset,
        } => {
            let page = page(*offset, *limit)?;
            dominated(loaded, *address, *by_class, page, &mut notes, control)?
        }
        Question::Referrers {
            address,
            limit,
            offset,
        } => {
            let page = page(*offset, *limit)?;
            AnswerBody::Referrers(referrers_of(loaded, *address, page, &mut notes, control)?)
        }
        Question::Suspects { threshold, limit } => {
            let limit = page(0, *limit)?.end();
            AnswerBody::Suspects(suspects(loaded, *threshold, before, limit, control)?)
        }
        Question::Waste { limit, offset } => {
            let page = page(*offset, *limit)?;
            AnswerBody::Waste(waste(loaded, page, &mut notes, control)?)
        }
        Question::Unreachable { max_nodes, limit } => {
            loaded.source.check(Need::Garbage)?;
            let limit = page(0, *limit)?.end();
            AnswerBody::Unreachable(unreachable(loaded, *max_nodes, limit, &mut notes, control)?)
        }
        Question::Report {} => {
            AnswerBody::Report(Box::new(report(loaded, before, &mut notes, control)?))
        }
        Question::Paths {
            objects,
            class,
            new_since,
            limit,
        } => {
            let target = PathTarget::of(objects.as_deref(), class.as_deref(), *new_since)?;
            let limit = page(0, *limit)?.end();
            paths_of(loaded, &target, before, limit, &mut notes, control)?
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
