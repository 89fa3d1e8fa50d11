//! What the worker can ask for.

use serde::Deserialize;

use engine::questions::{GrowthOptions, Question};

/// A call of the worker. Heaps, views, tables and files are the numbers that earlier calls returned.
#[derive(Debug, Deserialize)]
#[serde(
    tag = "call",
    rename_all = "camelCase",
    rename_all_fields = "camelCase"
)]
pub enum PageCall {
    /// Opens a heap, and takes over its files: [`OpenCall`].
    Open(OpenCall),
    /// Answers a question about a heap, as JSON.
    Ask {
        /// The heap.
        heap: u32,
        /// The question, as the addon reads it.
        question: Box<Question>,
        /// The earlier heap, for a comparison.
        before: Option<u32>,
    },
    /// Groups the live objects of a heap by class; with an earlier heap, compares them.
    View {
        /// The heap.
        heap: u32,
        /// The earlier heap.
        before: Option<u32>,
        /// What the rows are sorted by, as in the options of `constructors` and `compareWith`.
        #[serde(default)]
        sort: String,
    },
    /// The objects of a row of a view, as numbers.
    Instances {
        /// The view.
        view: u32,
        /// The row.
        row: usize,
    },
    /// By row: what its objects retain as a set.
    RetainedSets {
        /// The view.
        view: u32,
    },
    /// Makes the place table of a heap.
    PlaceTable {
        /// The heap.
        heap: u32,
    },
    /// What grows from table to table, as JSON.
    Growth {
        /// The tables, in the order in which their dumps were taken.
        tables: Vec<u32>,
        /// The options, as the addon reads them.
        options: Box<GrowthOptions>,
    },
    /// Where the constructors of classes are, as JSON.
    ClassLines {
        /// The table.
        table: u32,
    },
    /// Releases a heap, a view or a table.
    Close {
        /// Its number.
        number: u32,
    },
}

/// The files of a heap, and how to read them.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct OpenCall {
    /// The dump, or the heap snapshot.
    pub dump: NamedFile,
    /// The module of a dump.
    pub wasm: Option<NamedFile>,
    /// Continue although the dump was not taken from the module.
    #[serde(default)]
    pub force: bool,
    /// Report the part before the damage.
    #[serde(default)]
    pub partial: bool,
}

/// A file in the memory of this module.
#[derive(Debug, Deserialize)]
pub struct NamedFile {
    /// The name of the file, by which errors name it.
    pub name: String,
    /// What [`Session::reserve`] returned.
    pub file: u32,
}
