//! What can be asked, in the form in which the command line and the API ask it.

use serde::Deserialize;

use crate::error::{Error, Result};

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
        /// What an object retains at least, in bytes.
        #[serde(default)]
        min_size: u64,
        /// Only strings that contain this text.
        #[serde(default)]
        contains: Option<String>,
        /// How many to list.
        #[serde(default = "default_limit")]
        limit: u64,
        /// How many to leave out before the first.
        #[serde(default)]
        offset: u64,
    },
    /// Everything about one object.
    Object {
        /// Its address, or one inside it.
        address: u32,
    },
    /// What refers to an object.
    Referrers {
        /// Its address, or one inside it.
        address: u32,
        /// How many to list.
        #[serde(default = "default_limit")]
        limit: u64,
        /// How many to leave out before the first.
        #[serde(default)]
        offset: u64,
    },
    /// Why objects are alive: these, those of a class, or those that another heap does not have.
    Paths {
        /// Their addresses. For one object the answer is everything about its path, for several the
        /// paths are merged.
        #[serde(default)]
        objects: Option<Vec<u32>>,
        /// The live objects of a class, with `*` and `?` as in `find`; with `newSince` the new ones of
        /// these.
        #[serde(default)]
        class: Option<String>,
        /// The live objects that the other heap does not have.
        #[serde(default)]
        new_since: bool,
        /// How many branches, or independent references, to list.
        #[serde(default = "default_limit")]
        limit: u64,
    },
    /// What an object dominates immediately.
    Dominators {
        /// Its address; the whole heap if `None`.
        #[serde(default)]
        address: Option<u32>,
        /// Whether to group the objects by class.
        #[serde(default)]
        by_class: bool,
        /// How many to list.
        #[serde(default = "default_limit")]
        limit: u64,
        /// How many to leave out before the first.
        #[serde(default)]
        offset: u64,
    },
    /// What retains the most; with another heap what grew the most since.
    Suspects {
        /// What a suspect retains at least, as a part of the live bytes: above 0, at most 1. The
        /// default is 0.1; with another heap it is what a suspect has grown by, and the default 0.02.
        #[serde(default)]
        threshold: Option<f64>,
        /// How many to list.
        #[serde(default = "default_limit")]
        limit: u64,
    },
    /// What could be saved: duplicates, empty containers, unused room.
    Waste {
        /// How many groups of each kind to list, and how many holders of each.
        #[serde(default = "default_limit")]
        limit: u64,
        /// How many groups of each kind to leave out before the first.
        #[serde(default)]
        offset: u64,
    },
    /// What no root reaches: garbage, its cycles, and raw blocks to which nothing refers.
    Unreachable {
        /// How many nodes the graph has at most; no graph if `None`.
        #[serde(default)]
        max_nodes: Option<u64>,
        /// How many entries to list of each kind.
        #[serde(default = "default_limit")]
        limit: u64,
    },
    /// What the pages of a report show; with an earlier heap of the same module a comparison as well.
    Report {},
}

const fn default_limit() -> u64 {
    20
}

/// Which objects a question about paths is about.
pub(super) enum PathTarget<'q> {
    /// One object.
    Object(u32),
    /// These objects.
    Objects(&'q [u32]),
    /// A class name with wildcards.
    Class(&'q str),
    /// What another heap does not have, of all classes or of those with such a name.
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

    /// How many values from the first on must be in order.
    pub(super) fn end(self) -> usize {
        self.offset.saturating_add(self.limit).min(1 << 40) as usize
    }
}
