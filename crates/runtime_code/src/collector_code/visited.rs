//! What the collector visits.

use std::collections::BTreeSet;

use base::units::{Address, GlobalIndex};

/// The words that the collector visits in every object of a class.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VisitedMembers {
    /// Offsets of the fields, ascending.
    pub offsets: BTreeSet<u32>,
    /// A bitmap in the last 8 bytes of an object says which words it visits.
    pub by_bitmap: bool,
    /// It visits more words, which depend on the object.
    pub and_more: bool,
    /// Its code decides by the values of other words, or follows other memory: what it visits in an object is seen
    /// only if it is run on this object.
    pub by_values: bool,
}

/// A root of the collector.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum VisitedGlobal {
    /// The value of a global.
    Global(GlobalIndex),
    /// An object whose address is in the code: the global was optimised away.
    Constant(Address),
}
