//! Answers as typed values. Serialized, they are the JSON of the command line and the API: keys in this
//! order, sizes in bytes, addresses as numbers.

use serde::{Serialize, Serializer};

use crate::runtime::roots::RootKind;
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
}

/// A warning with its stable name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WarningText {
    /// `WARN_…`.
    pub code: &'static str,
    /// A sentence.
    pub message: String,
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

/// What a part of the memory is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ObjectState {
    /// A heap object that a root reaches.
    Live,
    /// A heap object that the collector has not freed yet.
    Garbage,
    /// An object below the heap.
    Static,
    /// A block in use that holds no object.
    Raw,
    /// A block that is not in use.
    Free,
}

impl ObjectState {
    /// One word.
    pub fn name(self) -> &'static str {
        match self {
            Self::Live => "live",
            Self::Garbage => "garbage",
            Self::Static => "static",
            Self::Raw => "raw",
            Self::Free => "free",
        }
    }
}

/// The value of a field. 64-bit integers and what is no finite number are strings.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Value {
    /// A null reference, or a field that cannot be read.
    Null,
    /// A boolean.
    Bool(bool),
    /// An integer of at most 32 bits.
    Integer(i64),
    /// A finite f32.
    Single(f32),
    /// A finite f64.
    Double(f64),
    /// Anything else.
    Text(String),
}

impl std::fmt::Display for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Null => f.write_str("null"),
            Self::Bool(value) => value.fmt(f),
            Self::Integer(value) => value.fmt(f),
            // Debug writes large numbers with an exponent.
            Self::Single(value) => write!(f, "{value:?}"),
            Self::Double(value) => write!(f, "{value:?}"),
            Self::Text(value) => f.write_str(value),
        }
    }
}

/// A field of an object.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FieldValue {
    /// Its name in the source, or its offset (`+8`).
    pub name: String,
    /// Its declared type; `?` if that is not known.
    #[serde(rename = "type")]
    pub type_name: String,
    /// Its value; of a reference the preview of what it refers to.
    pub value: Value,
    /// What it refers to.
    pub address: Option<u32>,
    /// The class of that.
    pub class_name: Option<String>,
}

/// Everything about one object.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ObjectAnswer {
    /// Its payload; of a raw or free block what follows the block's size.
    pub address: u32,
    /// Its class; `None` for raw and free blocks.
    pub class_name: Option<String>,
    /// What it is.
    pub state: ObjectState,
    /// Its block.
    pub shallow_size: u32,
    /// What it keeps alive; 0 if it is not alive.
    pub retained_size: u32,
    /// The nearest object on every path to it.
    pub dominator: Option<ObjectName>,
    /// The roots that refer to it.
    pub roots: Vec<Root>,
    /// Its contents in a few words.
    pub preview: Option<String>,
    /// Its fields, by offset.
    pub fields: Vec<FieldValue>,
    /// How many live references lead to it, roots not counted.
    pub referrer_count: u64,
    /// How a root reaches it; `None` if none does.
    pub path: Option<Path>,
}

/// The totals of a heap.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Summary {
    /// Memory size − first block.
    pub total_heap_size: u64,
    /// All live heap objects.
    pub total_live_size: u64,
    /// Where every byte is, and what the collector was doing.
    pub accounting: super::accounting::AccountingJson,
    /// How many objects there are.
    pub objects: ObjectCounts,
    /// How many class names live heap objects have.
    pub classes: u64,
    /// How many roots of each kind there are.
    pub roots: RootCounts,
}

/// Numbers of objects.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ObjectCounts {
    /// Heap objects that a root reaches.
    pub live: u64,
    /// Heap objects that no root reaches.
    pub garbage: u64,
    /// Objects below the heap, reachable or not.
    #[serde(rename = "static")]
    pub statics: u64,
}

/// Numbers of roots. Every global, stack word and pin that holds an object counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RootCounts {
    /// Global variables and static fields.
    pub global: u64,
    /// Words of the shadow stack.
    pub stack: u64,
    /// Pinned objects.
    pub pinned: u64,
}

/// Objects that were looked for: retained size ↓, shallow size ↓, address ↑.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FoundObjects {
    /// How many there are.
    pub total: u64,
    /// How many are left out before the first.
    pub offset: u64,
    /// How many are listed at most.
    pub limit: u64,
    /// Some of them.
    pub objects: Vec<FoundObject>,
}

/// An object that was looked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FoundObject {
    /// Its payload.
    pub address: u32,
    /// Its class.
    pub class_name: String,
    /// Its block.
    pub shallow_size: u32,
    /// What it keeps alive.
    pub retained_size: u32,
    /// Its contents in a few words.
    pub preview: Option<String>,
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

/// The paths to a set of objects, merged into a tree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MergedPaths {
    /// The classes of the objects, by name.
    pub classes: Vec<String>,
    /// How many objects there are.
    pub count: u64,
    /// The sum of their blocks.
    pub shallow_size: u64,
    /// What they keep alive, each byte counted once: at least what removing all of them frees.
    pub retained_set_size: u64,
    /// What removing all of them frees.
    pub freed_by_removing_all: u64,
    /// Their bytes by the kind of root that reaches them first.
    pub held_by: HeldBy,
    /// The path groups.
    pub tree: Vec<Branch>,
    /// What is too small for the limit.
    pub more: Option<More>,
}

/// Bytes by kind of root.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct HeldBy {
    /// Reached from a global.
    pub global: u64,
    /// Reached from the stack, but from no global.
    pub stack: u64,
    /// Reached from pins only.
    pub pinned: u64,
}

/// Objects of a set whose paths begin alike.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Branch {
    /// What the reference is called; `None` for the first object of a path.
    pub label: Option<String>,
    /// Where the path begins, if this is its first object.
    pub root: Option<Root>,
    /// The class at this place of the path.
    pub class_name: String,
    /// How many objects of the set are here and below.
    pub count: u64,
    /// Their blocks.
    pub shallow_size: u64,
    /// The fingerprint of the path up to here.
    pub fingerprint: String,
    /// The next places of the paths.
    pub children: Vec<Branch>,
    /// What is too small for the limit.
    pub more: Option<More>,
}

/// What was left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct More {
    /// How many branches.
    pub branches: u64,
    /// How many objects of the set they have.
    pub count: u64,
    /// The blocks of these.
    pub shallow_size: u64,
}

/// What an object dominates immediately: retained size ↓, shallow size ↓, address ↑.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Dominators {
    /// The object; `None` for the whole heap.
    pub address: Option<u32>,
    /// How many there are.
    pub total: u64,
    /// How many are left out before the first.
    pub offset: u64,
    /// How many are listed at most.
    pub limit: u64,
    /// Some of them.
    pub children: Vec<DominatorChild>,
}

/// An object in the dominator tree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DominatorChild {
    /// Its payload.
    pub address: u32,
    /// Its class.
    pub class_name: String,
    /// Its block.
    pub shallow_size: u32,
    /// What it keeps alive.
    pub retained_size: u32,
}

/// What an object dominates immediately, by class: retained size ↓, count ↓, name ↑.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct DominatorGroups {
    /// The object; `None` for the whole heap.
    pub address: Option<u32>,
    /// How many classes there are.
    pub total: u64,
    /// How many are left out before the first.
    pub offset: u64,
    /// How many are listed at most.
    pub limit: u64,
    /// Some of them.
    pub groups: Vec<DominatorGroup>,
}

/// Objects of one class in the dominator tree.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DominatorGroup {
    /// The class.
    pub class_name: String,
    /// How many there are.
    pub count: u64,
    /// Their blocks.
    pub shallow_size: u64,
    /// What they keep alive.
    pub retained_size: u64,
}

/// What retains the most, and where it accumulates.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Suspects {
    /// All live heap objects.
    pub total_live_size: u64,
    /// What a suspect retains, or has grown by, at least.
    pub threshold: u64,
    /// The suspects, largest first.
    pub suspects: Vec<Suspect>,
}

/// What a suspect is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SuspectKind {
    /// One object.
    Object,
    /// All top objects of a class together.
    Class,
    /// A path group that grew.
    Growth,
}

/// Something that retains a large part of the heap, or has grown.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Suspect {
    /// What it is.
    pub kind: SuspectKind,
    /// Its class.
    pub class_name: String,
    /// Its payload, if it is one object.
    pub address: Option<u32>,
    /// How many objects it is.
    pub count: u64,
    /// What it keeps alive.
    pub retained_size: u64,
    /// What it kept alive before; `None` without a heap to compare with.
    pub retained_size_before: Option<u64>,
    /// Its part of the live bytes, from 0 to 1.
    pub share: f64,
    /// Where the bytes are.
    pub accumulation: Option<Accumulation>,
    /// How a root reaches it.
    pub path: Option<Path>,
    /// What to cut.
    pub cut: Option<Cut>,
    /// All that as a paragraph.
    pub text: String,
}

/// The object below which what a suspect retains is spread over many.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Accumulation {
    /// The object.
    pub address: u32,
    /// Its class.
    pub class_name: String,
    /// The place by its owner's field: `assembly/server/PriceFeed.listeners`.
    pub owner: Option<String>,
    /// What it dominates, by class.
    pub children: Vec<AccumulatedClass>,
}

/// Objects of one class that accumulate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AccumulatedClass {
    /// The class.
    pub class_name: String,
    /// How many there are.
    pub count: u64,
    /// What they keep alive.
    pub retained_size: u64,
}
