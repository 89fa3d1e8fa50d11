//! A place table as a value of its own: names instead of numbers of one heap, so that it can be kept after the
//! heap is closed, written to a file, and compared with that of another build.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::PlaceSum;
use crate::QuestionError;
use crate::warnings::WarningText;
use base::error::{Error, Result};
use heap::SourceLocation;

/// The version of the shape of a written table.
pub(super) const VERSION: u32 = 2;

/// The largest count or number of bytes in a written table: what JavaScript's numbers hold exactly.
const MOST: u64 = 1 << 53;

/// How many objects each place of a program holds, in one heap. It does not refer to the heap.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PlaceTable {
    pub(crate) version: u32,
    pub(crate) dump_name: String,
    pub(crate) module_hash: u64,
    pub(crate) total_live_size: u64,
    /// The memory after the static data, in bytes. It never shrinks while a program runs.
    pub(crate) total_size: u64,
    /// The greatest number of an object, where objects keep their numbers and newer ones have greater ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) newest: Option<u64>,
    /// The bytes of the stack in memory that are in use.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub(crate) stack: u64,
    pub(crate) is_partial: bool,
    /// Whether its bytes are those of two heaps that were joined.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) is_joined: bool,
    /// Whether there were more groups or places than are kept: one that is not here may have existed.
    pub(crate) is_cut: bool,
    pub(crate) warnings: Vec<WarningText>,
    /// Names of roots, classes and labels.
    pub(crate) names: Vec<String>,
    /// Classes of texts that have the size of their contents, with the bytes of a character.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) text_classes: Vec<(u32, u64)>,
    /// Classes of what the engine that runs the program makes for itself.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) engine_classes: Vec<u32>,
    /// Classes that are used for everything.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) plain_classes: Vec<u32>,
    /// Where the constructors of classes are, of classes that have only one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) class_places: Vec<ClassPlaceRow>,
    /// Groups of paths, each after the one that it continues.
    pub(crate) paths: Vec<PathNode>,
    /// What has which path, by position in `paths`.
    pub(crate) groups: Vec<(u32, PlaceSum)>,
    /// By position in `groups`: the bytes of the blocks of its objects.
    pub(crate) sizes: Vec<u64>,
    /// What the roots hold, by position in `paths`.
    pub(crate) rooted: Vec<(u32, PlaceSum)>,
    /// What references from objects of one group lead to.
    pub(crate) places: Vec<PlaceRow>,
    /// What references from objects of one class lead to.
    pub(crate) fields: Vec<FieldRow>,
    /// Every class that has objects, alive or not.
    pub(crate) classes: Vec<ClassTotals>,
    /// Blocks of `heap.alloc`, with the bytes of the whole blocks.
    pub(crate) raw: PlaceSum,
}

#[allow(
    clippy::trivially_copy_pass_by_ref,
    reason = "the signature that serde asks for"
)]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// Where the constructor of a class is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ClassPlaceRow {
    /// The name of the class.
    pub(crate) class: u32,
    /// The name of the file.
    pub(crate) file: u32,
    /// From 1.
    pub(crate) line: u32,
    /// From 1.
    pub(crate) column: u32,
}

/// A group of paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PathNode {
    pub(crate) start: PathStart,
    /// The name of the class at its end.
    pub(crate) class: u32,
    /// Whether all names are from the source.
    pub(crate) is_stable: bool,
}

/// How a group of paths begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(crate) enum PathStart {
    /// At a global of this name, or one without.
    Global(Option<u32>),
    /// On the stack.
    Stack,
    /// At a pin.
    Pinned,
    /// It continues a group with a reference of this name.
    Step(u32, u32),
    /// A root of V8, by its name.
    System(u32),
    /// Nothing in the memory.
    Unreferenced,
    /// A pointer of the host, by its name.
    Host(u32),
}

/// What references with one label from objects of one group of paths lead to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PlaceRow {
    /// The position of the group in `paths`.
    pub(crate) holders: u32,
    pub(crate) label: u32,
    pub(crate) class: u32,
    pub(crate) is_stable: bool,
    pub(crate) sum: PlaceSum,
}

/// What references with one label from objects of one class lead to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FieldRow {
    pub(crate) holder: u32,
    pub(crate) label: u32,
    pub(crate) class: u32,
    pub(crate) is_stable: bool,
    pub(crate) sum: PlaceSum,
}

/// A class, and where its constructor is in the source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ClassLine<'a> {
    /// The whole name of the class.
    pub class_name: &'a str,
    /// The file as the heap or the source map names it.
    pub file: &'a str,
    /// From 1.
    pub line: u32,
    /// From 1.
    pub column: u32,
}

/// The live objects of a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ClassTotals {
    pub(crate) class: u32,
    pub(crate) is_stable: bool,
    pub(crate) sum: PlaceSum,
}

impl PlaceTable {
    /// The same table with the places where the constructors of its classes are, as far as `place` knows them, in
    /// place of those that it had.
    pub fn with_class_origins(&self, place: impl Fn(&str) -> Option<SourceLocation>) -> Self {
        let mut table = self.clone();
        let classes: BTreeSet<u32> = self.classes.iter().map(|row| row.class).collect();
        table.class_places.clear();
        for class in classes {
            let name = self.names.get(class as usize);
            if let Some(SourceLocation { file, line, column }) = name.and_then(|name| place(name)) {
                let known = table.names.iter().position(|name| *name == file);
                let number = known.unwrap_or_else(|| {
                    table.names.push(file);
                    table.names.len() - 1
                });
                table.class_places.push(ClassPlaceRow {
                    class,
                    file: number as u32,
                    line,
                    column,
                });
            }
        }
        table
    }

    /// Where the constructors of classes are, of classes that have only one, in the order of the classes.
    pub fn class_lines(&self) -> Vec<ClassLine<'_>> {
        let name = |number: u32| self.names.get(number as usize);
        let lines = self.class_places.iter().filter_map(|row| {
            Some(ClassLine {
                class_name: name(row.class)?,
                file: name(row.file)?,
                line: row.line,
                column: row.column,
            })
        });
        lines.collect()
    }

    /// What the dump is called.
    pub fn dump_name(&self) -> &str {
        &self.dump_name
    }

    /// The bytes of all live heap objects.
    pub fn total_live_size(&self) -> u64 {
        self.total_live_size
    }

    /// About how many bytes of memory the table takes.
    pub fn memory_size(&self) -> u64 {
        let names: usize = self
            .names
            .iter()
            .map(|name| name.len() + size_of::<String>())
            .sum();
        let rows = size_of_val(self.paths.as_slice())
            + size_of_val(self.groups.as_slice())
            + size_of_val(self.sizes.as_slice())
            + size_of_val(self.rooted.as_slice())
            + size_of_val(self.places.as_slice())
            + size_of_val(self.fields.as_slice())
            + size_of_val(self.classes.as_slice());
        (names + rows) as u64
    }

    /// The table as bytes, which [`from_bytes`](Self::from_bytes) of this version reads again.
    pub fn to_bytes(&self) -> Vec<u8> {
        // Numbers, strings and lists of them always serialize.
        serde_json::to_vec(self).unwrap_or_default()
    }

    /// Reads a table that was written by [`to_bytes`](Self::to_bytes).
    ///
    /// # Errors
    /// [`QuestionError::PlaceTable`] if the bytes are none.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let table: Self = serde_json::from_slice(bytes).map_err(|error| {
            Error::from(QuestionError::PlaceTable {
                found: error.to_string(),
            })
        })?;
        if table.is_sound() {
            Ok(table)
        } else {
            Err(QuestionError::PlaceTable {
                found: "numbers outside their ranges, or another version".to_owned(),
            }
            .into())
        }
    }

    /// Whether every number refers to a name or a path, and no sum of counts can overflow.
    fn is_sound(&self) -> bool {
        let is_sum = |sum: PlaceSum| sum.count <= MOST && sum.bytes <= MOST && sum.retained <= MOST;
        let is_name = |name: u32| (name as usize) < self.names.len();
        let is_path = |path: u32| (path as usize) < self.paths.len();
        let starts = (0u32..).zip(&self.paths).all(|(nth, path)| {
            is_name(path.class)
                && match path.start {
                    PathStart::Global(name) => name.is_none_or(is_name),
                    PathStart::System(name) | PathStart::Host(name) => is_name(name),
                    PathStart::Stack | PathStart::Pinned | PathStart::Unreferenced => true,
                    PathStart::Step(before, label) => before < nth && is_name(label),
                }
        });
        let mut groups = self.groups.iter().chain(&self.rooted);
        self.version == VERSION
            && starts
            && self.sizes.len() == self.groups.len()
            && self.sizes.iter().all(|&size| size <= MOST)
            && self.text_classes.iter().all(|&(class, _)| is_name(class))
            && self
                .class_places
                .iter()
                .all(|place| is_name(place.class) && is_name(place.file))
            && self.engine_classes.iter().all(|&class| is_name(class))
            && self.plain_classes.iter().all(|&class| is_name(class))
            && is_sum(self.raw)
            && self.stack <= MOST
            && self.total_live_size <= MOST
            && groups.all(|&(path, sum)| is_path(path) && is_sum(sum))
            && self.places.iter().all(|place| {
                is_path(place.holders)
                    && [place.label, place.class].into_iter().all(is_name)
                    && is_sum(place.sum)
            })
            && self.fields.iter().all(|field| {
                [field.holder, field.label, field.class]
                    .into_iter()
                    .all(is_name)
                    && is_sum(field.sum)
            })
            && self
                .classes
                .iter()
                .all(|class| is_name(class.class) && is_sum(class.sum))
    }
}
