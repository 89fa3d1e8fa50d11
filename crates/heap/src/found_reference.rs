//! Finds references between two objects, one after the other.

use std::collections::HashMap;
use std::ops::Range;

use super::{EdgeLabel, Edges};
use base::units::ObjectIndex;

/// The position of a reference, and how many references between the same objects before it have the same label.
pub type FoundReference = (u32, usize);

/// A reference that was found, and where the next one between the same objects is searched.
#[derive(Debug, Default)]
pub struct ReferenceSearch {
    between: Option<(ObjectIndex, ObjectIndex)>,
    /// The number of references up to this one.
    passed: usize,
    /// The positions that were not looked at yet.
    positions: Range<u32>,
    /// How many references have each label, up to this one.
    alike: HashMap<EdgeLabel, usize>,
}

impl ReferenceSearch {
    /// The reference from `source` to `target` that follows `skipped` others.
    pub fn find(
        &mut self,
        edges: &Edges,
        source: ObjectIndex,
        target: ObjectIndex,
        skipped: usize,
    ) -> Option<FoundReference> {
        if self.between != Some((source, target)) || self.passed > skipped {
            *self = Self {
                between: Some((source, target)),
                positions: edges.range(source),
                ..Self::default()
            };
        }
        for position in self.positions.by_ref() {
            if edges.target(position) != target {
                continue;
            }
            let label = edges.label(position).unwrap_or_default();
            let alike = self.alike.entry(label).or_default();
            *alike += 1;
            self.passed += 1;
            if self.passed > skipped {
                return Some((position, *alike - 1));
            }
        }
        None
    }
}
