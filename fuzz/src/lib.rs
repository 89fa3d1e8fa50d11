//! The code of every fuzz target, without libFuzzer. The tests in `tests/` run the same code on the kept
//! corpus and on random inputs.
//!
//! - [`targets`]: one function per target. It panics if something is wrong.
//! - [`corpus`]: the inputs that are kept.
//! - [`choices`]: decisions that an input makes byte by byte. [`recipe`]: a heap, a module and damage, made
//!   by choices. [`module_edits`] and [`dwarf_edits`]: damage that respects the structure.
//! - [`allocators`]: modules with functions that are named as those of allocators.
//! - [`programs`]: real modules and their dumps.
//! - [`invariants`]: checks of every result. [`questions`]: checks of every answer. [`mod@reference`]: the same
//!   result, computed naively. [`expressions`]: checks of what `find` says of an expression.
//! - [`native`]: memories of programs of C. [`native_types`]: their types and containers.
//! - [`limits`]: memory and time in proportion to the input.

#[path = "../../crates/engine/tests/it/support/mod.rs"]
pub mod support;

pub mod allocators;
pub mod choices;
pub mod containers;
pub mod corpus;
pub mod dwarf_edits;
pub mod expressions;
pub mod invariants;
pub mod jvm;
pub mod leb128;
pub mod limits;
pub mod module_edits;
pub mod native;
pub mod native_types;
pub mod programs;
pub mod questions;
pub mod recipe;
pub mod reference;
pub mod targets;
