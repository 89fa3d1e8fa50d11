//! The AssemblyScript incremental runtime (TLSF allocator, ITCMS collector) as it lies in memory:
//! blocks, object headers, the collector's lists and globals, static objects, type flags, and
//! what an object of each class refers to.
//!
//! The facts are those of the runtime's sources (`std/assembly/rt/tlsf.ts`, `itcms.ts`,
//! `shared/typeinfo.ts`) and were checked against running programs.

pub mod blocks;
pub mod classes;
pub mod collector;
pub mod evidence;
pub mod known_blocks;
pub mod layout;
pub mod mismatch;
pub mod objects;
pub mod regions;
pub mod roots;
pub mod statics;
pub mod type_flags;
