//! Counts what the references of each place lead to: every object once for a place, however many references of
//! it lead there. A place is a group of paths, which its holders have, a label and a class.
//!
//! Most objects have one reference, so the first place of each object is kept in a column, and only what other
//! places lead to is collected, sorted, and counted afterwards.

use super::PlaceSum;
use super::finder::{FieldKey, Finder, NO_PLACE, PlaceKey, high_half};
use crate::loaded_heap::LoadedHeap;
use base::columns;
use base::control::{CHECK_INTERVAL, Step};
use base::error::Result;
use base::side_by_side::side_by_side;
use base::units::ObjectIndex;
use heap::{DominatorIndex, EdgeLabel, Heap, LabelKind, PathGroup, PathTree, Source, prefetch};

/// How many references in advance the memory of their targets is prefetched.
const AHEAD: u32 = 16;

/// What the references of a heap lead to.
#[derive(Default)]
pub(super) struct Counts {
    /// References from a class to itself included.
    pub(super) places: Vec<(PlaceKey, PlaceSum)>,
    pub(super) fields: Vec<(FieldKey, PlaceSum)>,
    /// By group of paths.
    pub(super) groups: Vec<PlaceSum>,
    /// By group of paths: the bytes of the blocks of its objects on the heap.
    pub(super) sizes: Vec<u64>,
    /// By class slot; of classes of one name the first.
    pub(super) classes: Vec<PlaceSum>,
}

/// What one place, field, group or class has, while live objects are looked at in preorder of the dominator tree: what
/// an object dominates follows it.
#[derive(Clone, Copy, Debug, Default)]
struct Counted {
    sum: PlaceSum,
    /// The end of what the last object that counted as retaining dominates, as a position.
    end: u32,
}

/// An object that is counted.
#[derive(Clone, Copy)]
struct Seen {
    position: u32,
    /// The end of what it dominates.
    end: u32,
    content_size: u64,
    retained_size: u64,
    /// A hash of the position: the sum of several says which objects they are.
    hash: u64,
}

/// A number whose bits all depend on all bits of another one (the finaliser of MurmurHash3).
fn mixed(number: u32) -> u64 {
    let mut bits = u64::from(number) + 1;
    for factor in [0xff51_afd7_ed55_8ccd, 0xc4ce_b9fe_1a85_ec53_u64] {
        bits = (bits ^ (bits >> 33)).wrapping_mul(factor);
    }
    bits ^ (bits >> 33)
}

impl Counted {
    #[inline]
    fn add(&mut self, seen: Seen) {
        self.sum.count += 1;
        self.sum.objects = self.sum.objects.wrapping_add(seen.hash);
        self.sum.bytes += seen.content_size;
        if seen.position >= self.end {
            self.sum.retained += seen.retained_size;
            self.end = seen.end;
        }
    }

    /// Adds an object that is the storage of one that counts. What its owner does not dominate, others share.
    #[inline]
    fn add_storage(&mut self, seen: Seen) {
        if seen.position < self.end {
            self.sum.bytes += seen.content_size;
        }
    }
}

/// What is looked at.
#[derive(Clone, Copy)]
pub(super) struct Subject<'h> {
    pub(super) heap: &'h Heap,
    pub(super) source: &'h dyn Source,
    pub(super) tree: &'h PathTree,
    pub(super) dominators: &'h DominatorIndex,
    /// By class slot: the first slot of that name.
    pub(super) first_slots: &'h [u32],
}

/// The same, with the bytes of each object's contents.
pub(super) struct SizedSubject<'h> {
    pub(super) subject: Subject<'h>,
    /// By object.
    pub(super) content_sizes: &'h [u32],
}

impl<'h> Subject<'h> {
    pub(super) fn new(
        loaded: &'h LoadedHeap,
        tree: &'h PathTree,
        dominators: &'h DominatorIndex,
        first_slots: &'h [u32],
    ) -> Self {
        Self {
            heap: &loaded.heap,
            source: loaded.source(),
            tree,
            dominators,
            first_slots,
        }
    }

    #[inline]
    pub(super) fn class(&self, object: ObjectIndex) -> u32 {
        self.first_slots[self.heap.objects.place_slot(object) as usize]
    }

    /// The class of an object itself, as views count it.
    #[inline]
    fn own_class(&self, object: ObjectIndex) -> u32 {
        self.first_slots[self.heap.objects.class_slots[object.at()] as usize]
    }

    /// The class of the objects of a group; `None` for the group that stands for many.
    fn group_class(&self, group: PathGroup) -> Option<u32> {
        let class_slot = self.tree.groups().info(group).class_slot;
        (group != PathGroup::REST).then(|| self.first_slots[class_slot as usize])
    }

    /// Whether an object is the storage of another one, and no object of its group by itself.
    pub(super) fn is_storage(&self, object: ObjectIndex) -> bool {
        self.tree.has_storage()
            && self
                .group_class(self.tree.group(object))
                .is_some_and(|class| class != self.class(object))
    }

    /// The places of all references, and what these lead to.
    pub(super) fn find_places(&self, step: &Step<'_>) -> Result<Finder> {
        let object_count = self.heap.objects.len();
        let mut finder = Finder::new(object_count, step)?;
        let edges = &self.heap.edges;
        let root_holders = match self.source.host_names() {
            Some(names) => names.root_holders()?,
            None => None,
        };
        let holds_roots = |object: ObjectIndex| {
            root_holders
                .as_ref()
                .is_some_and(|holders| holders.contains(object.0))
        };
        for source in (0..object_count as u32).map(ObjectIndex) {
            if source.at().is_multiple_of(CHECK_INTERVAL) {
                step.advance(CHECK_INTERVAL as u64)?;
            }
            if !self.tree.is_reached(source) || holds_roots(source) {
                continue;
            }
            let holders = self.tree.group(source);
            // Storage is in the group of its owner, which may refer to its elements as well.
            let class = self.class(source);
            let holder = self.group_class(holders).unwrap_or(class);
            let is_storage = self.tree.has_storage() && holder != class;
            for edge in edges.range(source) {
                if let Some(ahead) = edges.get_target(edge + AHEAD) {
                    prefetch(&self.heap.objects.class_slots, ahead.0);
                    prefetch(&finder.first, ahead.0);
                }
                let target = edges.target(edge);
                let mut label = edges.label(edge).unwrap_or_default();
                let class = self.class(target);
                if self.tree.is_storage(label) || self.tree.is_storage_class(class) {
                    continue;
                }
                if is_storage && label.kind() == LabelKind::Hidden {
                    label = EdgeLabel::ELEMENT;
                }
                let place = finder.place(PlaceKey {
                    holders,
                    holder,
                    label,
                    class,
                })?;
                finder.add(target, place)?;
            }
        }
        finder.finish(self.dominators);
        Ok(finder)
    }
}

impl SizedSubject<'_> {
    /// What the live object at a position adds.
    #[inline]
    fn seen(&self, position: u32) -> Seen {
        let Subject {
            heap, dominators, ..
        } = self.subject;
        let object = dominators.object(position);
        Seen {
            position,
            end: dominators.end(position),
            content_size: self.content_sizes[object.at()].into(),
            retained_size: heap.retained_size(object),
            hash: mixed(position),
        }
    }

    /// What live objects have together.
    pub(super) fn sum(&self, objects: &[ObjectIndex]) -> PlaceSum {
        let position = |object: &ObjectIndex| self.subject.dominators.position(*object);
        let mut positions: Vec<u32> = objects.iter().filter_map(position).collect();
        positions.sort_unstable();
        let mut counted = Counted::default();
        for position in positions {
            counted.add(self.seen(position));
        }
        counted.sum
    }

    /// The live objects in preorder of the dominator tree, with what each adds. The memory of the next ones is asked for,
    /// and `ask` asks for what else will be read of them.
    fn live(&self, ask: impl Fn(ObjectIndex)) -> impl Iterator<Item = (ObjectIndex, Seen)> {
        let Subject {
            heap, dominators, ..
        } = self.subject;
        let objects = dominators.objects();
        (0..objects.len() as u32).map(move |position| {
            if let Some(&ahead) = objects.get((position + AHEAD) as usize) {
                prefetch(self.content_sizes, ahead.0);
                prefetch(&heap.retained_sizes, ahead.0);
                ask(ahead);
            }
            (objects[position as usize], self.seen(position))
        })
    }

    pub(super) fn count(&self, finder: &Finder, step: &Step<'_>) -> Result<Counts> {
        let ((groups, sizes, classes), (places, fields)) = side_by_side(
            || self.groups_and_classes(step),
            || self.places_and_fields(finder, step),
        )?;
        Ok(Counts {
            places,
            fields,
            groups,
            sizes,
            classes,
        })
    }

    /// The sums of all groups of paths, with the bytes of their blocks, and of all classes.
    #[allow(clippy::type_complexity, reason = "three lists of what is counted")]
    fn groups_and_classes(
        &self,
        step: &Step<'_>,
    ) -> Result<(Vec<PlaceSum>, Vec<u64>, Vec<PlaceSum>)> {
        let Subject {
            heap,
            tree,
            first_slots,
            ..
        } = self.subject;
        let mut groups = columns::repeated(Counted::default(), tree.groups().len())?;
        let mut sizes = columns::repeated(0u64, tree.groups().len())?;
        let mut classes = columns::repeated(Counted::default(), first_slots.len())?;
        let ask = |ahead: ObjectIndex| {
            tree.prefetch(ahead);
            prefetch(&heap.objects.class_slots, ahead.0);
            prefetch(&heap.objects.shallow_sizes, ahead.0);
        };
        for (object, seen) in self.live(ask) {
            if (seen.position as usize).is_multiple_of(CHECK_INTERVAL) {
                step.advance(0)?;
            }
            let group = tree.group(object).0 as usize;
            if self.subject.is_storage(object) {
                groups[group].add_storage(seen);
            } else {
                groups[group].add(seen);
            }
            if heap.objects.is_on_heap(object) {
                sizes[group] += heap.shallow_size(object);
            }
            classes[self.subject.own_class(object) as usize].add(seen);
        }
        Ok((sums(groups)?, sizes, sums(classes)?))
    }

    /// The sums of all places, and of all fields.
    #[allow(clippy::type_complexity, reason = "two lists of what is counted")]
    fn places_and_fields(
        &self,
        finder: &Finder,
        step: &Step<'_>,
    ) -> Result<(Vec<(PlaceKey, PlaceSum)>, Vec<(FieldKey, PlaceSum)>)> {
        let mut places = columns::repeated(Counted::default(), finder.places.len())?;
        let (fields, field_of) = finder.fields()?;
        let mut counted = columns::repeated(Counted::default(), fields.len())?;
        let mut further = finder.further.iter().copied().peekable();
        let mut its_fields: Vec<u32> = Vec::new();
        for (object, seen) in self.live(|ahead| prefetch(&finder.first, ahead.0)) {
            let position = seen.position;
            if (position as usize).is_multiple_of(CHECK_INTERVAL) {
                step.advance(0)?;
            }
            let first = finder.first[object.at()];
            if first == NO_PLACE {
                continue;
            }
            places[first as usize].add(seen);
            let field = field_of[first as usize];
            counted[field as usize].add(seen);
            if further
                .peek()
                .is_none_or(|&next| high_half(next) != position)
            {
                continue;
            }
            its_fields.clear();
            its_fields.push(field);
            while let Some(next) = further.next_if(|&next| high_half(next) == position) {
                let place = next as u32;
                places[place as usize].add(seen);
                its_fields.push(field_of[place as usize]);
            }
            its_fields.sort_unstable();
            its_fields.dedup();
            for &other in its_fields.iter().filter(|&&other| other != field) {
                counted[other as usize].add(seen);
            }
        }
        let places = finder.places.iter().copied().zip(places);
        let fields = fields.into_iter().zip(counted);
        Ok((
            columns::collected(places.map(|(place, counted)| (place, counted.sum)))?,
            columns::collected(fields.map(|(field, counted)| (field, counted.sum)))?,
        ))
    }
}

fn sums(counted: Vec<Counted>) -> Result<Vec<PlaceSum>> {
    columns::collected(counted.into_iter().map(|one| one.sum))
}
