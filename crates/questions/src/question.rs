//! Questions, in the form in which the command line and the API ask them.

use serde::Deserialize;

use base::error::{Error, Result};
use heap::Category;

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
        /// Of a snapshot of V8: only what objects of this category alone keep alive, and these themselves.
        #[serde(default)]
        category: Option<Category>,
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

pub(super) const fn default_limit() -> u64 {
    20
}

/// The objects of a question about paths.
pub(super) enum PathTarget<'q> {
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
    pub(super) fn of(
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

/// A part of a list.
#[derive(Clone, Copy, Debug)]
pub(super) struct Page {
    pub(super) offset: u64,
    pub(super) limit: u64,
}

impl Page {
    /// The part of these values, which are in order.
    pub(super) fn of<T>(self, values: impl IntoIterator<Item = T>) -> impl Iterator<Item = T> {
        let [offset, limit] = [self.offset, self.limit].map(|number| number.min(1 << 40) as usize);
        values.into_iter().skip(offset).take(limit)
    }

    /// The number of values that must be sorted, from the first.
    pub(super) fn end(self) -> usize {
        self.offset.saturating_add(self.limit).min(1 << 40) as usize
    }
}
