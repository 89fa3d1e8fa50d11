//! The answer to `report`.

use serde::Serialize;
use serde_json::Value;

/// What the pages of a report show, of bounded size whatever the heap.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    /// Every text of the body, once. Long ones are cut in the middle.
    pub strings: Vec<String>,
    /// The short forms of those texts that contain names of classes with the modules of the standard library, by
    /// the number of the text, ascending.
    pub short_names: Vec<(usize, String)>,
    /// Answers to other questions, the dominator tree as cells, and a comparison if there is an earlier heap.
    /// Each string in it is the decimal number of a text in `strings`.
    pub body: Value,
}
