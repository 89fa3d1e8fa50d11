//! Synthetic programs: a heap as the AssemblyScript runtime would leave it, built object by
//! object, and the module that goes with it.
//!
//! A test builds a [`Scene`]: it declares classes, creates objects, connects them, and declares roots. Then
//! it takes the dump, the module, or the analysis. Everything has the same layout as in real programs. A test
//! of damage changes words of the dump at the end.
//!
//! ```ignore
//! let mut scene = Scene::new();
//! let node = scene.class("assembly/index/Node");
//! scene.field(node, "next", 0, node);
//! let (first, second) = (scene.object(node, 8), scene.object(node, 8));
//! scene.set(first, 0, second);
//! scene.global("assembly/index/head", node, first);
//! assert_eq!(live(&scene.analyze()), [first, second]);
//! ```

#![allow(
    dead_code,
    unused_imports,
    reason = "every test file uses its own part of this"
)]
#![allow(clippy::unwrap_used, reason = "in a test, what cannot be is a failure")]

mod analysis;
mod dump_file;
pub mod forge;
mod module;
pub mod random_heap;
mod region;
mod scene;

pub use analysis::{
    analyze, analyze_bytes, analyze_tolerating, ask, ask_with, class_name, live, open, retained,
    warnings,
};
pub use dump_file::DumpFile;
pub use module::{CollectorCode, ModuleOptions, WasmGlobal, encode_module};
pub use scene::Scene;

use engine::wasm::debug_info::writer::TypeReference;

/// Where static objects begin.
const FIRST_STATIC_PAYLOAD: u32 = 32;
/// The heads of fromSpace, toSpace and pinSpace.
pub const LIST_HEADS: [u32; 3] = [0x2000, 0x2020, 0x2040];
/// Where the run-time type flags are.
pub const RTTI_BASE: u32 = 0x2100;
/// Where static data ends and the shadow stack begins.
pub const DATA_END: u32 = 0x4000;
/// Not a multiple of 16, so that a missing rounding is detected.
pub const HEAP_BASE: u32 = DATA_END + SHADOW_STACK;
/// The address of the allocator's state.
pub const ALLOCATOR: u32 = allocator_behind(HEAP_BASE);
/// The word with the address of the end of the last region.
pub const TAIL_POINTER: u32 = ALLOCATOR + TAIL_OFFSET;
/// The first block of the heap.
pub const FIRST_BLOCK: u32 = first_block_behind(ALLOCATOR);
/// The size of a page of memory.
pub const PAGE: u32 = 1 << 16;

const SHADOW_STACK: u32 = 0x2008;
const TAIL_OFFSET: u32 = 1568;

const fn allocator_behind(heap_base: u32) -> u32 {
    heap_base.next_multiple_of(16)
}

const fn first_block_behind(allocator: u32) -> u32 {
    first_block_of_region(allocator + TAIL_OFFSET + 4)
}

/// Payloads are aligned to 16.
const fn first_block_of_region(start: u32) -> u32 {
    (start + 4).next_multiple_of(16) - 4
}

/// The size that the allocator gives a block for a payload: 12 more than a multiple of 16, at least 12.
const fn block_payload(size: u32) -> u32 {
    let size = if size < 12 { 12 } else { size };
    (size + 4).next_multiple_of(16) - 4
}

/// Bytes from a block to the payload of the object in it.
const OBJECT_HEADER: u32 = 20;
const FREE: u32 = 1;
const LEFT_FREE: u32 = 2;
const PINNED_COLOR: u32 = 3;

/// Run-time type flags.
pub mod flags {
    use super::TypeReference;

    pub const ARRAY_BUFFER_VIEW: u32 = 1;
    pub const ARRAY: u32 = 2;
    pub const STATIC_ARRAY: u32 = 4;
    pub const SET: u32 = 8;
    pub const MAP: u32 = 16;
    pub const POINTER_FREE: u32 = 32;
    pub const VALUE_MANAGED: u32 = 1 << 14;
    pub const KEY_MANAGED: u32 = 1 << 23;

    /// The flag for values of this many bytes.
    pub fn value_size(bytes: u32) -> u32 {
        bytes << 6
    }

    /// The flag for keys of this many bytes.
    pub fn key_size(bytes: u32) -> u32 {
        bytes << 15
    }

    /// The type flags of what a container of this kind holds.
    pub fn of_contents(kind: u32, arguments: &[TypeReference]) -> u32 {
        let size = |argument: &TypeReference| match argument {
            TypeReference::Base(name) => match name.as_str() {
                "bool" | "i8" | "u8" => 1,
                "i16" | "u16" => 2,
                "i64" | "u64" | "f64" => 8,
                "v128" => 16,
                _ => 4,
            },
            _ => 4,
        };
        let is_managed = |argument: &TypeReference| !matches!(argument, TypeReference::Base(_));
        let value = |argument: &TypeReference| {
            let managed = if is_managed(argument) {
                VALUE_MANAGED
            } else {
                0
            };
            value_size(size(argument)) | managed
        };
        let key = |argument: &TypeReference| {
            let managed = if is_managed(argument) { KEY_MANAGED } else { 0 };
            key_size(size(argument)) | managed
        };
        match (kind, arguments) {
            (MAP, [first, second]) => key(first) | value(second),
            (ARRAY | STATIC_ARRAY | SET, [first]) => value(first),
            _ => 0,
        }
    }
}

/// A class of the scene.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Class {
    /// Its position in the debug information; `None` for a class that is left out.
    position: Option<usize>,
    /// Its runtime id.
    pub id: u32,
}

/// Classes with fixed ids, which exist in every program, described or not.
pub const OBJECT: Class = Class::undescribed(0);
pub const ARRAY_BUFFER: Class = Class::undescribed(1);
pub const STRING: Class = Class::undescribed(2);
pub const ARRAY_BUFFER_VIEW: Class = Class::undescribed(3);
const FIRST_FREE_ID: u32 = 4;

impl Class {
    /// A class of which only the id is known.
    pub const fn undescribed(id: u32) -> Self {
        Self { position: None, id }
    }
}

/// A type of a field, a type argument or a variable.
pub trait Type {
    fn reference(&self) -> TypeReference;
}

impl Type for Class {
    fn reference(&self) -> TypeReference {
        self.position
            .map_or(TypeReference::NeverCompiled, TypeReference::Class)
    }
}

/// A number or a boolean, by its name.
impl Type for &str {
    fn reference(&self) -> TypeReference {
        TypeReference::Base((*self).to_owned())
    }
}

/// A type that the debug information does not resolve.
#[derive(Clone, Copy, Debug)]
pub struct NeverCompiled;

impl Type for NeverCompiled {
    fn reference(&self) -> TypeReference {
        TypeReference::NeverCompiled
    }
}

/// A managed object, by its address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Object(pub u32);

impl Object {
    /// The block that the object is in.
    pub fn block(self) -> u32 {
        self.0 - OBJECT_HEADER
    }
}

impl From<Object> for u32 {
    fn from(object: Object) -> Self {
        object.0
    }
}

/// No object.
pub const NULL: u32 = 0;
