//! The heap of one dump as a value: its objects, their references, the live set, dominators and retained
//! sizes. It is computed once, and all views read it.

mod accounting;
mod address_index;
mod addresses;
mod ancestors;
mod blocks;
mod broad_search;
mod category;
mod class_use;
mod components;
mod container_page;
mod content_reader;
mod cuts;
mod dominator_index;
mod dominators;
mod dump_bytes;
mod edges;
mod error;
mod field_reader;
mod found_reference;
mod graph;
mod group_sets;
mod heap;
mod huge_sizes;
mod joined;
pub mod labels;
pub mod literal;
mod live_class;
mod live_classes;
mod live_search;
mod node_origin;
mod object_state;
mod objects;
mod path_groups;
mod path_tree;
mod prefetch;
mod ranked_bits;
mod raw_blocks;
mod reached;
mod referrers;
mod refinement;
mod retained_sets;
mod retained_sizes;
mod root_kind;
mod root_slots;
mod search;
mod semidominators;
mod source;
pub mod survey;
mod type_evidence;
mod unreferenced;
mod value;
pub mod views;

pub use accounting::{Accounting, CollectorState, FreeBlocks, LiveBytes};
pub use address_index::AddressIndex;
pub use addresses::Addresses;
pub use blocks::{BlockSizes, Blocks};
pub use category::Category;
pub use class_use::ClassUse;
pub use components::{Cycle, Cycles};
pub use container_page::{ContainerEntry, ContainerKind, ContainerPage, HeldValue, WantedEntries};
pub use content_reader::{
    ClassNaming, ContentReader, Cursor, EntryKey, EntryLabel, EntryPart, NamedBy, NoContents,
    OpenedContents, ReferenceName, ShownText, TextSink,
};
pub use cuts::Cuts;
pub use dominator_index::DominatorIndex;
pub use dominators::{DominatorTree, UnsizedTree};
pub use dump_bytes::{DumpBytes, InMemory};
pub use edges::Edges;
pub use error::HeapError;
pub use field_reader::{Cell, ClassFields, FieldReader, FieldType, Member, MemberSink, Membership};
pub use found_reference::{FoundReference, ReferenceSearch};
pub use graph::{Indexes, ObjectGraph, Solution};
pub use heap::Heap;
pub use huge_sizes::HUGE;
pub use joined::{
    EvidenceKind, HeapTotals, HolderEvidence, JoinedHeaps, JoinedSums, KeptByCycles, KeptClass,
    PinCounts, PossibleHolder, PossibleHolders, SizeParts,
};
pub use labels::{EdgeLabel, LabelKind, MOST_NUMBERS, NameKind, WideLabel};
pub use live_class::LiveClass;
pub use live_classes::{class_counts, live_classes};
pub use live_search::SearchOrder;
pub use object_state::ObjectState;
pub use objects::{ClassOrigin, HeapClass, Location, ObjectTable};
pub use path_groups::{GroupInfo, GroupStart, PathGroup, PathGroups};
pub use path_tree::{PathPiece, PathTree};
pub use prefetch::prefetch;
pub use ranked_bits::RankedBits;
pub use raw_blocks::RawTable;
pub use reached::reached_from;
pub use referrers::ReferrerIndex;
pub use root_kind::RootKind;
pub use root_slots::{
    ENGINE_MODULE, FoundSlots, LAST_MATCH, LOADED_MODULE, MODULE, NamedStarts, PATH_STARTS,
    RootOrigin, RootSlot, RootSlots,
};
pub use source::{
    AllContents, AllocationLine, AllocationLines, ClassFacts, ClassPattern, Facts, FieldValue,
    Found, HostNames, Lacks, MemoryContents, NO_ALLOCATION, Name, ObjectReader, Opened, OtherEdge,
    PropertyClass, ReadOrder, Source, SourceLocation, SourceLocations, TextFilter,
};
pub use survey::Survey;
pub use type_evidence::TypeEvidence;
pub use unreferenced::UnreferencedTotals;
pub use value::ShownValue;
