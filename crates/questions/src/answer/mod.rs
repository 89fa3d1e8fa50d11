//! Answers as typed values. Serialized, they are the JSON of the command line and the API: keys in this
//! order, sizes in bytes, addresses as numbers.

mod growth;
mod objects;
mod report;
mod sets;
mod unreachable;
mod waste;

pub use growth::*;
pub use objects::*;
pub use report::*;
pub use sets::*;
pub use unreachable::*;
pub use waste::*;

use std::borrow::Cow;

use serde::{Deserialize, Serialize, Serializer};

use base::shown::Shown;
use base::units::AddressForm;
use base::warning::Warning;
use heap::RootKind;

/// The version of the types in this file.
const SCHEMA_VERSION: u32 = 1;

/// An answer with its warnings.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Answer {
    schema_version: u32,
    /// The answer itself.
    #[serde(flatten)]
    pub body: AnswerBody,
    /// Whether the heap is damaged and only a part of it was read.
    pub partial: bool,
    /// The reasons why numbers may be wrong.
    pub warnings: Vec<WarningText>,
    /// The form of addresses in text.
    #[serde(skip)]
    pub address_form: AddressForm,
}

impl Answer {
    pub(super) fn new(body: AnswerBody, partial: bool, warnings: Vec<WarningText>) -> Self {
        Self {
            schema_version: SCHEMA_VERSION,
            body,
            partial,
            warnings,
            address_form: AddressForm::default(),
        }
    }

    /// The same with addresses of another form.
    pub(super) fn with_addresses(self, address_form: AddressForm) -> Self {
        Self {
            address_form,
            ..self
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
    /// To `growth`.
    Growth(Growth),
    /// To `check`.
    Check(Check),
    /// To `report`.
    Report(Box<Report>),
}

/// A warning with its stable name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WarningText {
    /// `WARN_…`.
    pub code: Cow<'static, str>,
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
            code: warning.code().into(),
            message: warning.to_string(),
        }
    }
}

/// A root of the collector.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Root {
    /// Its kind.
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
        RootKind::System => "system",
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
    /// The object; for a repeated step, the last one.
    pub address: u32,
    /// Its class.
    pub class_name: String,
    /// The size of its block.
    pub shallow_size: u64,
    /// Its retained size.
    pub retained_size: u64,
    /// The number of consecutive references of this kind.
    pub repeat: u32,
}

/// The path from a root to an object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Path {
    /// The root.
    pub root: Root,
    /// From the first object to the object in question.
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
    /// The object that has the reference; `None` for a root.
    pub address: Option<u32>,
    /// Its class.
    pub class_name: Option<String>,
    /// The label of the reference; `None` for a root.
    pub label: Option<String>,
    /// The root that has the reference.
    pub root: Option<Root>,
    /// Whether the target stays reachable through this reference when all other references to it are cut.
    pub independent: bool,
    /// Whether it is a weak reference of V8, which keeps nothing alive.
    #[serde(skip_serializing_if = "is_false")]
    pub weak: bool,
}

fn is_false(value: &bool) -> bool {
    !value
}

/// A reference to cut, and the bytes that this frees.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Cut {
    /// The class of the object that has the reference; `None` for a root.
    pub class_name: Option<String>,
    /// The label of the reference; `None` for a root.
    pub label: Option<String>,
    /// The root that has the reference.
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

/// The references to an object: roots first, then by address and label.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Referrers {
    /// The object.
    pub address: u32,
    /// The number of references, roots included.
    pub total: u64,
    /// The number of entries before the first listed one.
    pub offset: u64,
    /// The largest number of listed entries.
    pub limit: u64,
    /// The listed entries.
    pub referrers: Vec<Edge>,
}

/// The beginning of a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Edges {
    /// Their number.
    pub total: u64,
    /// The first of them.
    pub edges: Vec<Edge>,
}

/// Why an object is alive, and which cuts would free it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PathAnswer {
    /// The object.
    pub address: u32,
    /// Its class; `None` for raw and free blocks.
    pub class_name: Option<String>,
    /// Its kind.
    pub state: ObjectState,
    /// The size of its block.
    pub shallow_size: u64,
    /// Its retained size.
    pub retained_size: u64,
    /// The path from a root; `None` if no root reaches it.
    pub path: Option<Path>,
    /// The references of which each keeps it alive without the others.
    pub independent_referrers: Edges,
    /// The bytes that cutting the one independent reference frees; `None` if there are several.
    pub freed_by_cutting: Option<u64>,
    /// The bytes that cutting all independent references together frees.
    pub freed_by_cutting_all: u64,
    /// The independent reference to the nearest dominator that has only one, and the bytes that cutting it
    /// frees.
    pub cut: Option<Cut>,
    /// The bytes that the same cut frees after the running functions have returned; `None` if the stack does
    /// not keep the object alive.
    pub freed_after_return: Option<u64>,
    /// Its immediate dominator: the nearest object that is on every path to it.
    pub dominator: Option<ObjectName>,
}
