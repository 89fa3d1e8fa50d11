//! The views of dumps as the API has them: what the engine says, with the rows that JavaScript makes of its columns.
#![expect(dead_code, reason = "only their schemas are used")]

use heap::SizeParts;
use questions::{AccountingJson, WarningText};
use schemars::JsonSchema;

/// One live object.
#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Instance {
    /// The address of its payload in linear memory.
    address: u64,
    /// The size of its allocator block: payload, object header and block header.
    shallow_size: u64,
    /// What would be freed if this object went away: the shallow sizes of the object and of all objects that it
    /// dominates.
    retained_size: u64,
}

/// The live objects of one class.
#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ConstructorRow {
    /// Source-level name with its module path, such as `assembly/index/Node`.
    class_name: String,
    /// Only for programs of C, C++ and Rust: how the type of these blocks was found, and of several ways the worst.
    /// From a table of functions in the block (`dynamic`), from the container that holds it, from the variable or
    /// field that refers to it, because it is the only type that fits (`fit`), or not at all.
    #[serde(skip_serializing_if = "Option::is_none")]
    type_evidence: Option<TypeEvidence>,
    /// Number of live objects.
    count: u64,
    /// Sum of the instances' shallow sizes.
    total_shallow_size: u64,
    /// Sum of the instances' retained sizes. Retained sizes overlap, so the sum may exceed the live size.
    total_retained_size: u64,
    /// The bytes that at least one of the instances retains, each counted once: an instance inside what another
    /// instance of the class retains adds nothing. Removing all instances frees at least that much. The sum never
    /// exceeds the live size. Present in the views of a loaded heap, and with the option `retainedSet`. Not
    /// enumerable, so JSON leaves it out.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-readonly" = true))]
    retained_set_size: Option<u64>,
    /// Of heaps that were joined: `totalShallowSize`, `totalRetainedSize` and `retainedSetSize` by heap. Absent for
    /// one heap.
    #[serde(skip_serializing_if = "Option::is_none")]
    total_shallow_parts: Option<SizeParts>,
    #[serde(skip_serializing_if = "Option::is_none")]
    total_retained_parts: Option<SizeParts>,
    /// Not enumerable, so JSON leaves it out.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-readonly" = true))]
    retained_set_parts: Option<SizeParts>,
    /// Order: retained size ↓, shallow size ↓, address ↑. Created when first read.
    #[schemars(extend("x-readonly" = true))]
    instances: Vec<Instance>,
    /// The same instances in the same order as columns: read these when there are millions. Not enumerable, so JSON
    /// and clones leave them out.
    #[schemars(extend("x-readonly" = true))]
    instance_columns: InstanceColumns,
}

/// Instances as columns of equal length.
#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct InstanceColumns {
    /// A Float64Array if an address needs more than 32 bits.
    #[schemars(extend("x-ts" = "Uint32Array | Float64Array"))]
    addresses: (),
    /// A Float64Array if a size needs more than 32 bits, which happens only in heap snapshots of V8.
    #[schemars(extend("x-ts" = "Uint32Array | Float64Array"))]
    shallow_sizes: (),
    #[schemars(extend("x-ts" = "Uint32Array | Float64Array"))]
    retained_sizes: (),
}

/// The live objects of one dump, by class.
#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ConstructorView {
    /// The allocator's space: the size of the memory minus the address of the first block. Absent for a heap
    /// snapshot of V8.
    #[serde(skip_serializing_if = "Option::is_none")]
    total_heap_size: Option<u64>,
    /// Sum of the shallow sizes of all live heap objects.
    total_live_size: u64,
    /// Of heaps that were joined: the same by heap. Absent for one heap.
    #[serde(skip_serializing_if = "Option::is_none")]
    total_live_parts: Option<SizeParts>,
    /// Of a program of C, C++, Rust or Zig: the part of it to which nothing in the memory leads. Absent for other
    /// heaps.
    #[serde(skip_serializing_if = "Option::is_none")]
    total_unreferenced_size: Option<u64>,
    /// Rows in the requested order.
    constructors: Vec<ConstructorRow>,
    /// Whether the heap is damaged and the view covers only the part before the damage (`AnalysisOptions.partial`).
    partial: bool,
    /// The reasons why numbers may be wrong; empty if there are none.
    warnings: Vec<WarningText>,
    /// What every byte of the heap is used for. Null for a heap snapshot of V8, which does not say it.
    accounting: Option<AccountingJson>,
}

/// One object that was created or deleted between two dumps.
#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ChangedInstance {
    /// `new`: only in the after dump, with its sizes there. `delete`: only in the before dump, with its sizes
    /// there.
    change_kind: ChangeKind,
}

/// What changed in one class.
#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ComparisonRow {
    /// Source-level name with its module path.
    class_name: String,
    /// Objects only in the after dump.
    new_count: u64,
    /// Objects only in the before dump.
    deleted_count: u64,
    /// newCount − deletedCount.
    count_delta: i64,
    /// Sum of the shallow sizes of the new objects.
    allocated_size: u64,
    /// Sum of the shallow sizes of the deleted objects.
    freed_size: u64,
    /// allocatedSize − freedSize.
    size_delta: i64,
    /// Order: new before deleted, then shallow size ↓, retained size ↓, address ↑. Created when first read.
    #[schemars(extend("x-readonly" = true))]
    instances: Vec<ChangedInstance>,
    /// The same instances in the same order as columns. Not enumerable, so JSON and clones leave them out.
    #[schemars(extend("x-readonly" = true))]
    instance_columns: ChangedInstanceColumns,
}

/// Changed instances as columns of equal length: the first `newCount` are new, the others deleted.
#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ChangedInstanceColumns {
    new_count: u64,
}

/// What changed between two dumps. Two objects are the same if their class name and address are the same.
#[derive(JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ComparisonView {
    /// The sizes of the heaps are absent for heap snapshots of V8.
    #[serde(skip_serializing_if = "Option::is_none")]
    before_total_heap_size: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    after_total_heap_size: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    total_heap_size_delta: Option<i64>,
    before_total_live_size: u64,
    after_total_live_size: u64,
    total_live_size_delta: i64,
    /// Of a program of C, C++, Rust or Zig: to what nothing in the memory leads. Absent for other heaps.
    #[serde(skip_serializing_if = "Option::is_none")]
    before_total_unreferenced_size: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    after_total_unreferenced_size: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    total_unreferenced_size_delta: Option<i64>,
    /// Rows in the requested order; classes without a change are left out.
    constructors: Vec<ComparisonRow>,
    /// Whether a heap is damaged and the view covers only the part before the damage (`AnalysisOptions.partial`).
    partial: bool,
    /// The warnings of both dumps. Each message begins with the name of the dump.
    warnings: Vec<WarningText>,
}

#[derive(JsonSchema)]
#[schemars(inline)]
#[serde(rename_all = "camelCase")]
enum TypeEvidence {
    Dynamic,
    Container,
    Field,
    Fit,
    None,
}

#[derive(JsonSchema)]
#[schemars(inline)]
#[serde(rename_all = "camelCase")]
enum ChangeKind {
    New,
    Delete,
}
