//! Memory that could be saved: duplicates, empty containers, unused room. Every byte of a live object belongs
//! to the first kind of waste that claims it.

mod claims;
mod copies;
mod headers;
mod holders;
mod shown_copies;
mod snapshot;
mod sums;
mod survey;

use claims::Claims;

use sums::Sums;

use super::LoadedHeap;
use super::answer::{Waste, WasteKindName};
use super::question::Page;
use super::roles::Role;
use crate::bits::Bits;
use crate::control::{Control, Phase};
use crate::error::Result;
use crate::heap::{DominatorIndex, PathTree, ReferrerIndex};
use crate::side_by_side::side_by_side;
use crate::snapshots::SnapshotNames;
use crate::units::ObjectIndex;
use crate::warning::Warning;

/// The data that all parts of the report need.
struct Context<'h> {
    heap: &'h LoadedHeap,
    /// By class slot.
    roles: Vec<Role>,
    live: &'h DominatorIndex,
    referrers: &'h ReferrerIndex,
    tree: &'h PathTree,
    /// The objects that a root refers to.
    is_rooted: Bits,
    control: &'h Control,
}

impl<'h> Context<'h> {
    fn new(heap: &'h LoadedHeap, control: &'h Control) -> Result<Self> {
        let (referrers, tree) =
            side_by_side(|| heap.referrers(control), || heap.path_tree(control))?;
        let mut is_rooted = Bits::new(heap.heap.objects.len())?;
        for slot in heap.names.roots.all() {
            is_rooted.insert(slot.object.0);
        }
        Ok(Self {
            heap,
            roles: heap.roles(),
            live: heap.dominator_index(control)?,
            referrers,
            tree,
            is_rooted,
            control,
        })
    }

    #[inline]
    fn role(&self, object: ObjectIndex) -> Role {
        self.roles[self.heap.heap.objects.class_slots[object.at()] as usize]
    }

    /// Whether there is only one reference to a live object.
    fn has_one_reference(&self, object: ObjectIndex) -> bool {
        self.referrers.of(object).len() == 1 && !self.is_rooted.contains(object.0)
    }
}

impl LoadedHeap {
    pub(super) fn waste(
        &self,
        page: Page,
        notes: &mut Vec<Warning>,
        control: &Control,
    ) -> Result<Waste> {
        if let Some(snapshot) = &self.snapshot {
            return self.snapshot_waste(snapshot, page, notes, control);
        }
        let context = &Context::new(self, control)?;
        let object_count = self.heap.objects.len();
        let step = &control.begin(Phase::View, object_count as u64);
        let survey = context.survey(step)?;
        let (sizes, containers) = (&survey.sizes, &survey.containers);
        let (texts, buffers) = (survey.texts, survey.buffers);
        let (strings, buffers) = side_by_side(
            || context.copies(texts, step),
            || context.copies(buffers, step),
        )?;
        let mut claims = Claims::new(object_count)?;
        for &copy in strings.all().iter().chain(buffers.all()) {
            claims.take(copy);
        }
        let empty = claims.take_empty(context, containers, sizes)?;
        let unviewed = claims.take_unviewed(context, containers, sizes)?;
        step.advance(0)?;
        let capacity = claims.take_capacity(context, containers, sizes)?;
        let entries = claims.entries(context, containers, sizes)?;
        let padding = Sums::of_padding(context, &claims, sizes, step)?;

        if survey.unknown > 0 {
            notes.push(Warning::ContentsUnknown {
                count: survey.unknown,
            });
        }
        let by_class = |sums: Sums, kind| sums.into_kind(context, kind, page);
        let kinds = vec![
            context.shown_copies(&strings, WasteKindName::DuplicateStrings, page)?,
            context.shown_copies(&buffers, WasteKindName::DuplicateBuffers, page)?,
            by_class(empty, WasteKindName::EmptyContainers),
            by_class(unviewed, WasteKindName::Views),
            by_class(capacity, WasteKindName::ArrayCapacity),
            by_class(entries, WasteKindName::Entries),
            by_class(padding, WasteKindName::Padding),
        ];
        Ok(Waste {
            total_live_size: self.heap.live_size,
            total_savings: kinds.iter().map(|kind| kind.savings).sum(),
            kinds,
            headers: Some(context.headers(page)),
        })
    }
}
