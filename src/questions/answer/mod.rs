//! Answers as typed values. Serialized, they are the JSON of the command line and the API: keys in this
//! order, sizes in bytes, addresses as numbers.

mod objects;
mod report;
mod sets;
mod unreachable;
mod waste;

pub use objects::*;
pub use report::*;
pub use sets::*;
pub use unreachable::*;
pub use waste::*;

use serde::{Serialize, Serializer};

use crate::runtime::roots::RootKind;
use crate::shown::Shown;
use crate::warning::Warning;

/// The version of the shapes on this page.
const SCHEMA_VERSION: u32 = 1;

/// An answer, with what may make it wrong.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Answer {
    schema_version: u32,
    /// What was asked for.
    #[serde(flatten)]
    pub body: AnswerBody,
    /// Whether the heap is damaged and only a part of it was read.
    pub partial: bool,
    /// What may make a number wrong.
    pub warnings: Vec<WarningText>,
}

impl Answer {
    pub(super) fn new(body: AnswerBody, partial: bool, warnings: Vec<WarningText>) -> Self {
        Self {
            schema_version: SCHEMA_VERSION,
            body,
            partial,
            warnings,
        }
    }
}

/// The answer to each question.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum AnswerBody {
    /// To `summary`.
    Summary(Summary),
    /// To `find`.
    Find(FoundObjects),
    /// To `object`.
    Object(Box<ObjectAnswer>),
    /// To `referrers`.
    Referrers(Referrers),
    /// To `paths` of one object.
    Path(Box<PathAnswer>),
    /// To `paths` of several objects.
    MergedPaths(MergedPaths),
    /// To `dominators`.
    Dominators(Dominators),
    /// To `dominators` by class.
    DominatorGroups(DominatorGroups),
    /// To `suspects`.
    Suspects(Suspects),
    /// To `waste`.
    Waste(Waste),
    /// To `unreachable`.
    Unreachable(Unreachable),
    /// To `report`.
    Report(Box<Report>),
}

/// A warning with its stable name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WarningText {
    /// `WARN_…`.
    pub code: &'static str,
    /// A sentence.
    pub message: String,
}

impl WarningText {
    /// The same, with a message that names the dump.
    pub(crate) fn in_dump(self, dump: &str) -> Self {
        let warning = self.message;
        Self {
            message: format!("{}: {warning}", Shown(dump)),
            ..self
        }
    }
}

impl From<&Warning> for WarningText {
    fn from(warning: &Warning) -> Self {
        Self {
            code: warning.code(),
            message: warning.to_string(),
        }
    }
}

/// What the collector starts from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Root {
    /// What kind of place it is.
    #[serde(serialize_with = "root_kind")]
    pub kind: RootKind,
    /// The name of a global, the distance of a stack word from the stack pointer (`+16`), or the address
    /// of a static object that no known global refers to.
    pub name: Option<String>,
}

/// The name of a kind of root.
pub fn root_kind_name(kind: RootKind) -> &'static str {
    match kind {
        RootKind::Global => "global",
        RootKind::Stack => "stack",
        RootKind::Pinned => "pinned",
    }
}

fn root_kind<S: Serializer>(kind: &RootKind, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(root_kind_name(*kind))
}

/// One step of a path: a reference and the object that it leads to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Step {
    /// What the reference to the object is called; `None` for the first.
    pub label: Option<String>,
    /// The object; of a repeated step the last one.
    pub address: u32,
    /// Its class.
    pub class_name: String,
    /// Its block.
    pub shallow_size: u32,
    /// What it keeps alive.
    pub retained_size: u32,
    /// How many such references follow one another.
    pub repeat: u32,
}

/// How a root reaches an object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Path {
    /// Where it begins.
    pub root: Root,
    /// From the first object to the one that was asked for.
    pub steps: Vec<Step>,
    /// The path without indexes, keys and repetitions.
    pub text: String,
    /// The first 12 hexadecimal digits of a hash of the text.
    pub fingerprint: String,
    /// Whether all names in the text are those of the source.
    pub stable: bool,
}

/// A reference to an object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Edge {
    /// The object that refers; `None` for a root.
    pub address: Option<u32>,
    /// Its class.
    pub class_name: Option<String>,
    /// What the reference is called; `None` for a root.
    pub label: Option<String>,
    /// The root that refers.
    pub root: Option<Root>,
    /// Whether the target stays reachable over it when all other references to it are cut.
    pub independent: bool,
}

/// A reference to cut, and what that frees.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Cut {
    /// The class of the object that refers; `None` for a root.
    pub class_name: Option<String>,
    /// What the reference is called; `None` for a root.
    pub label: Option<String>,
    /// The root that refers.
    pub root: Option<Root>,
    /// Bytes that cutting it frees.
    pub freed: u64,
}

/// An object, named.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ObjectName {
    /// Its payload.
    pub address: u32,
    /// Its class.
    pub class_name: String,
}

/// What refers to an object: roots first, then by address and label.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Referrers {
    /// The object.
    pub address: u32,
    /// How many references there are, roots included.
    pub total: u64,
    /// How many are left out before the first.
    pub offset: u64,
    /// How many are listed at most.
    pub limit: u64,
    /// Some of them.
    pub referrers: Vec<Edge>,
}

/// A list of which only the beginning is here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Edges {
    /// How many there are.
    pub total: u64,
    /// The first of them.
    pub edges: Vec<Edge>,
}

/// Why an object is alive, and what would free it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PathAnswer {
    /// The object.
    pub address: u32,
    /// Its class; `None` for raw and free blocks.
    pub class_name: Option<String>,
    /// What it is.
    pub state: ObjectState,
    /// Its block.
    pub shallow_size: u32,
    /// What it keeps alive.
    pub retained_size: u32,
    /// How a root reaches it; `None` if none does.
    pub path: Option<Path>,
    /// The references that each keep it alive without the others.
    pub independent_referrers: Edges,
    /// What cutting the one independent reference frees; `None` if there are several.
    pub freed_by_cutting: Option<u64>,
    /// What cutting all independent references together frees.
    pub freed_by_cutting_all: u64,
    /// The nearest dominator with exactly one independent reference, and what cutting that frees.
    pub cut: Option<Cut>,
    /// What the same cut frees once the running functions have returned; `None` if the stack does not
    /// hold the object.
    pub freed_after_return: Option<u64>,
    /// The nearest object on every path to it.
    pub dominator: Option<ObjectName>,
}
