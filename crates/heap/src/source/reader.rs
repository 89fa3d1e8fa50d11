//! Reads single objects: their labels, previews, fields and entries.

use schemars::JsonSchema;
use serde::Serialize;

use crate::EdgeLabel;
use crate::container_page::{ContainerPage, WantedEntries};
use crate::value::ShownValue;
use base::error::Result;
use base::units::ObjectIndex;
use base::warning::Warning;

/// The order in which objects are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadOrder {
    /// Single ones.
    Any,
    /// Many, by address.
    Ascending,
}

/// Reads objects.
pub trait ObjectReader {
    /// The label of a reference, with its index or key. If `source` refers to `target` more than once under such
    /// labels, it is the reference after `skipped` of them.
    ///
    /// # Errors
    /// [`HeapError::DumpChanged`](crate::HeapError::DumpChanged), [`Error::Io`](base::Error::Io),
    /// [`Error::OutOfMemory`](base::Error::OutOfMemory).
    fn label(
        &mut self,
        source: ObjectIndex,
        target: ObjectIndex,
        label: EdgeLabel,
        skipped: usize,
    ) -> Result<String>;

    /// A short form of the contents of an object; `None` if nothing is known of them.
    ///
    /// # Errors
    /// As [`label`](Self::label).
    fn preview(&mut self, object: ObjectIndex) -> Result<Option<String>>;

    /// The fields of an object. `notes` say if there are too many.
    ///
    /// # Errors
    /// As [`label`](Self::label).
    fn fields(&mut self, object: ObjectIndex, notes: &mut Vec<Warning>) -> Result<Vec<FieldValue>>;

    /// A page of what a container holds; `None` for objects that are no containers.
    ///
    /// # Errors
    /// As [`label`](Self::label).
    fn entries(
        &mut self,
        _object: ObjectIndex,
        _wanted: WantedEntries,
    ) -> Result<Option<ContainerPage>> {
        Ok(None)
    }

    /// A string with its quotes, shortened to some characters; `None` for other objects, and for strings whose
    /// contents are not known.
    ///
    /// # Errors
    /// As [`label`](Self::label).
    fn literal(&mut self, object: ObjectIndex) -> Result<Option<String>>;

    /// What objects with equal contents have in common: the literal of a string, otherwise the class and the
    /// first elements.
    ///
    /// # Errors
    /// As [`label`](Self::label).
    fn shared_contents(&mut self, object: ObjectIndex) -> Result<String>;

    /// The name of the function that an object stands for; `None` for objects that are no functions, and for functions
    /// whose names are not known.
    ///
    /// # Errors
    /// As [`label`](Self::label).
    fn function_name(&mut self, _object: ObjectIndex) -> Result<Option<String>> {
        Ok(None)
    }

    /// The label of the reference at this position of the graph, with its index or key: the one after `skipped`
    /// references from `source` to the same target that have the same label without them.
    ///
    /// # Errors
    /// As [`label`](Self::label).
    fn label_at(&mut self, source: ObjectIndex, position: u32, skipped: usize) -> Result<String>;
}

/// Finds strings that contain a text.
pub trait TextFilter {
    /// Keeps these of some objects, which ascend from call to call.
    ///
    /// # Errors
    /// As [`ObjectReader::label`].
    fn keep(&mut self, objects: &mut Vec<ObjectIndex>) -> Result<()>;
}

/// A field of an object.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FieldValue {
    /// The name in the source, or the offset (`+8`).
    pub name: String,
    /// The declared type; `?` if it is not known.
    #[serde(rename = "type")]
    pub type_name: String,
    /// 64-bit integers, NaN and infinities are strings. For a reference: a preview of the object.
    pub value: ShownValue,
    /// The object to which the field refers; null if it refers to none.
    pub address: Option<u64>,
    /// The class of that object.
    pub class_name: Option<String>,
    /// Of the field `_index` of a function object: the function that a call of the object runs, by its name in the
    /// module. If an optimiser merged equal functions, it is the name of the one that is left. Absent if the module
    /// has no names, and if the host or the program can put another function there: if the function table is exported
    /// or imported, or if code changes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub function_name: Option<String>,
}
