//! Finds out what the module's collector does: from which globals it starts, which words of each class's
//! objects it visits, and which names the functions give to the classes.
//!
//! The collector's code is **executed** on test objects (`probes`) in a separate memory (`machine`). The
//! objects that it marks show which words it visits. Optimisers inline, merge, rename and reorder the code,
//! but they do not change its effects, so this works for any build of any compiler, with or without names.
//! Matching patterns of instructions does not work, because each optimiser generates other patterns.
//!
//! - The program's start function is executed up to its first write to the heap. The collector's variables
//!   then have the values from before the first allocation.
//! - A **global** is a root if the collector marks the probe that is stored in it. All globals that a
//!   collection reads and does not write are tried, in one run.
//! - A static object is a root if the collector marks it while all roots in globals are null: then its address is a
//!   **constant** in the code. Meanwhile all static objects are of a class without references.
//! - The **stack pointer** is the global from which the collector scans words up to what the global starts with.
//! - For the **fields** of a class, an object of the class is put where the collector finds it. Each of its
//!   words refers to a probe.
//!
//! This is the most direct evidence of what the collector does. It cannot show the contents of containers,
//! which are visited in loops; for these, the type flags of the runtime are used.

mod call;
mod code;
mod decoded;
mod dump_memory;
mod entry;
mod find;
mod initial;
mod lists;
mod machine;
mod memory;
mod memory_access;
mod names;
mod numbering;
mod numeric;
mod object_visits;
mod observer;
mod probes;
mod reader;
mod search;
mod start;
mod visited;

pub use code::CollectorCode;
pub use lists::KnownLists;
pub use numbering::Numbering;
pub use object_visits::{IsObject, KnownGlobals, ObjectVisits};
pub use probes::Storage;
pub use reader::CodeReader;
pub use visited::{VisitedGlobal, VisitedMembers};
