//! Questions about a loaded heap: why an object is alive, what it keeps alive, which reference to cut.
//!
//! A [`LoadedHeap`] is opened once. It [answers](ask)
//! any [`Question`], from several threads at a time, as a typed [`Answer`]. Indexes that several questions
//! need are built by the first of them, and kept.

mod accounting;
mod after_return;
mod allocation_sites;
mod answer;
mod dominators;
mod find;
mod glob;
mod growth;
mod labels;
mod loaded_heap;
mod merged;
mod object;
mod object_at;
mod path_text;
mod paths;
mod place_table;
mod question;
mod reader;
mod referrers;
mod report;
mod roots;
mod summary;
mod suspect_growth;
mod suspect_parts;
mod suspect_text;
mod suspects;
mod unreachable;
mod waste;

use crate::dominators::dominated;
use crate::find::find_objects;
use crate::merged::{merged_paths, set_of_addresses, set_of_class, set_of_new};
use crate::object::object_answer;
use crate::paths::path_answer;
use crate::referrers::referrers_of;
use crate::report::report;
use crate::summary::summarize;
use crate::suspects::suspects;
use crate::unreachable::unreachable;
use crate::waste::waste;
pub use accounting::{AccountingJson, FreeJson, LiveJson, PinnedJson};
pub use allocation_sites::{
    AllocationSite, AllocationSites, SampledBlocks, SiteChange, SiteGrowth, allocation_sites,
    site_growth,
};
pub use answer::*;
pub use growth::{Accepted, CheckOptions, GrowthOptions, MaxGrowth, MaxObjects, check, growth};
pub use labels::after_class;
pub use loaded_heap::LoadedHeap;
pub use path_text::{
    LEFT_OUT, PathText, SEPARATOR, fingerprint, group_text, origin_text, step_text,
};
pub use paths::path_of;
pub use place_table::{PlaceTable, place_table};
pub use question::Question;
pub use roots::origin_root;

use question::{Page, PathTarget};

use base::control::Control;
use base::error::{Error, Result};
use base::warning::Warning;
use heap::Need;

/// Answers a question. Some compare with an earlier heap, `before`: `paths` to new objects, `suspects` of
/// growth, and `report`.
///
/// # Errors
/// [`Error::NoObject`] for an address without an object, [`Error::UnknownClass`] for a class that no live
/// object has, [`Error::InvalidOption`] for an invalid question, [`Error::DifferentModules`] for a report
/// that compares two programs, [`Error::DumpChanged`] and [`Error::Io`] if the dump cannot be read again,
/// [`Error::OutOfMemory`], [`Error::Aborted`].
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

/// The warnings of an earlier heap and of this one. Each names its dump.
pub fn warnings_beside(loaded: &LoadedHeap, before: &LoadedHeap) -> Vec<WarningText> {
    let names = match before.dump_name == loaded.dump_name {
        true => ["before", "after"],
        false => [before, loaded].map(|heap| heap.dump_name.as_str()),
    };
    let heaps = names.into_iter().zip([before, loaded]);
    let warnings = heaps.flat_map(|(dump, heap)| {
        let warnings = heap.warnings().iter();
        warnings.map(|warning| WarningText::from(warning).in_dump(dump))
    });
    let mut warnings: Vec<WarningText> = warnings.collect();
    if loaded.is_same_module(before)
        && let [Some(earlier_size), Some(size)] = [before, loaded].map(|heap| heap.heap.total_size)
        && size < earlier_size
    {
        let shrank = Warning::MemoryShrank {
            before: earlier_size,
            after: size,
        };
        warnings.push(WarningText::from(&shrank));
    }
    warnings
}

fn paths_of(
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

fn page(offset: u64, limit: u64) -> Result<Page> {
    match limit {
        0 => Err(Error::InvalidOption {
            name: "limit",
            found: "0".to_owned(),
            expected: "a whole number of at least 1",
        }),
        limit => Ok(Page { offset, limit }),
    }
}
