//! Roots, references and paths, which many answers have.

use serde::{Serialize, Serializer};

use heap::RootKind;

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
    /// The function that it stands for, if it is a function object.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub function_name: Option<String>,
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

/// The beginning of a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Edges {
    /// Their number.
    pub total: u64,
    /// The first of them.
    pub edges: Vec<Edge>,
}
