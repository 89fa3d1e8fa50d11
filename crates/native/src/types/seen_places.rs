//! Places of typed values that were queued, so that none is followed twice.

use std::collections::HashSet;

use foldhash::fast::RandomState;

use base::columns;
use base::error::Result;
use base::units::ObjectIndex;

use super::table::TypeId;

/// No type has this number.
const NONE: TypeId = TypeId(u32::MAX);

/// Addresses of values with their types. Most blocks have one value that is followed, at their start: these lie in a
/// column, because most of the time would go into a set of them.
pub(super) struct SeenPlaces {
    /// By block: the first type that was seen at its start.
    starts: Vec<TypeId>,
    others: HashSet<(u32, TypeId), RandomState>,
}

impl SeenPlaces {
    /// None yet, for this number of blocks.
    pub(super) fn none(blocks: usize) -> Result<Self> {
        Ok(Self {
            starts: columns::repeated(NONE, blocks)?,
            others: HashSet::default(),
        })
    }

    /// Adds a place, with the block that begins there. Whether it is new.
    pub(super) fn add(
        &mut self,
        (address, block): (u32, Option<ObjectIndex>),
        type_id: TypeId,
    ) -> Result<bool> {
        if let Some(first) = block.and_then(|block| self.starts.get_mut(block.at())) {
            if *first == NONE {
                *first = type_id;
                return Ok(true);
            }
            if *first == type_id {
                return Ok(false);
            }
        }
        // To ask for each place would take most of the time.
        if self.others.len() == self.others.capacity() {
            let grown = (self.others.len() as u64 + 1024) * 32;
            columns::check_room(grown, "the places of typed values")?;
        }
        Ok(self.others.insert((address, type_id)))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "in a test, what cannot be is a failure")]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_new_once_for_each_type_whether_a_block_begins_there_or_not() {
        let mut seen = SeenPlaces::none(2).unwrap();
        for (address, block) in [
            (64, Some(ObjectIndex(0))),
            (80, Some(ObjectIndex(1))),
            (68, None),
        ] {
            for type_id in [TypeId(3), TypeId(0), TypeId(7)] {
                assert!(seen.add((address, block), type_id).unwrap(), "{address}");
            }
            for type_id in [TypeId(7), TypeId(3), TypeId(0)] {
                assert!(!seen.add((address, block), type_id).unwrap(), "{address}");
            }
        }
    }
}
