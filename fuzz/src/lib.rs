//! What every fuzz target does with its input, without libFuzzer: the test in `tests/` runs the same
//! code over the kept corpus and over inputs of its own.
//!
//! - [`targets`]: one function per target, from bytes to a verdict, which is a panic or none.
//! - [`recipe`]: reads bytes as a heap, a module, and the damage to both. [`module_edits`] and
//!   [`dwarf_edits`] are damage that knows the structure.
//! - [`programs`]: real modules and their dumps.
//! - [`invariants`]: what is true of every result. [`reference`]: the same result, made naively.
//! - [`limits`]: memory and time in proportion to the input.

#[path = "../../tests/it/support/mod.rs"]
pub mod support;

pub mod dwarf_edits;
pub mod invariants;
pub mod limits;
pub mod module_edits;
pub mod programs;
pub mod recipe;
pub mod reference;
pub mod targets;
