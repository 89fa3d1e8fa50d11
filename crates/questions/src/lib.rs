//! Questions about a loaded heap: why an object is alive, what it keeps alive, which reference to cut.
//!
//! A [`LoadedHeap`] is opened once. It [answers](ask)
//! any [`Question`], from several threads at a time, as a typed [`Answer`]. Indexes that several questions
//! need are built by the first of them, and kept.

mod allocation_sites;
mod answer;
mod dominators;
mod error;
mod find;
mod glob;
mod growth;
mod lacking;
mod loaded_heap;
mod object;
mod parts;
mod paths;
mod place_table;
mod question;
mod referrers;
mod report;
mod summary;
mod suspects;
mod unreachable;
mod warning;
mod warnings;
mod waste;

pub use allocation_sites::*;
pub use answer::{Answer, AnswerBody};
pub use dominators::*;
pub use error::QuestionError;
pub use find::*;
pub use growth::*;
pub use heap::{
    EvidenceKind, HeapTotals, HolderEvidence, JoinedSums, KeptByCycles, KeptClass, PinCounts,
    SizeParts,
};
pub use heap::{FieldValue, ObjectState, ShownValue};
pub use lacking::not_in_heap;
pub use loaded_heap::LoadedHeap;
pub use object::*;
pub use parts::class_parts::{ClassParts, class_parts};
pub use parts::cut::Cut;
pub use parts::joined::{PossibleReference, PossibleReferences, live_parts};
pub use parts::labels::after_class;
pub use parts::object_name::ObjectName;
pub use parts::path::{Path, PathStep, path_of};
pub use parts::path_text::{
    LEFT_OUT, PathText, SEPARATOR, fingerprint, group_text, origin_text, step_text,
};
pub use parts::references::Edge;
pub use parts::roots::{Root, origin_root, root_kind_name};
pub use parts::short_names::short_class;
pub use paths::*;
pub use place_table::{ClassLine, PlaceTable, place_table};
pub use question::{Question, ask};
pub use referrers::*;
pub use report::*;
pub use summary::*;
pub use suspects::*;
pub use unreachable::*;
pub use warnings::{WarningText, warnings_beside};
pub use waste::*;
