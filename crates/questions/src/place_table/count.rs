//! Counts what the references of each place lead to: every object once for a place, however many references of
//! it lead there. A place is a group of paths, which its holders have, a label and a class.
//!
//! Most objects have one reference, so the first place of each object is kept in a column, and only what other
//! places lead to is collected, sorted, and counted afterwards.

use std::collections::HashMap;

use rayon::prelude::*;

use super::PlaceSum;
use crate::loaded_heap::LoadedHeap;
use base::columns;
use base::control::{CHECK_INTERVAL, Step};
use base::error::Result;
use base::side_by_side::side_by_side;
use base::units::ObjectIndex;
use heap::{DominatorIndex, EdgeLabel, Heap, LabelKind, PathGroup, PathTree, Source, prefetch};

/// The most places that are told apart. Heaps with as many have classes that refer to one another in every way.
const MOST_PLACES: usize = 1 << 22;

/// The place of objects that no reference leads to so far, and of references beyond [`MOST_PLACES`].
const NO_PLACE: u32 = u32::MAX;

/// The size of two small tables that are asked before the large ones: which number a place has, and which further
/// reference of an object was seen lately. A new entry displaces the one with the same hash.
const RECENT: usize = 1 << 12;

/// How many references in advance the memory of their targets is prefetched.
const AHEAD: u32 = 16;

/// The list of further references is sorted, and its equal entries are removed, when it has this length; after that,
/// each time it is twice as long as what then remains.
const COMPACTED: usize = 1 << 24;

/// The references with one label from objects of one group to objects of one class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct PlaceKey {
    pub(super) holders: PathGroup,
    /// The class of the holders: the first slot of that name.
    pub(super) holder: u32,
    pub(super) label: EdgeLabel,
    /// The first slot of that name.
    pub(super) class: u32,
}

/// The same, whatever the paths of the holders.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct FieldKey {
    /// The first slot of that name.
    pub(super) holder: u32,
    pub(super) label: EdgeLabel,
    /// The first slot of that name.
    pub(super) class: u32,
}

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
}

impl Counted {
    #[inline]
    fn add(&mut self, seen: Seen) {
        self.sum.count += 1;
        self.add_storage(seen);
    }

    /// Adds an object that is the storage of one that counts.
    #[inline]
    fn add_storage(&mut self, seen: Seen) {
        self.sum.bytes += seen.content_size;
        if seen.position >= self.end {
            self.sum.retained += seen.retained_size;
            self.end = seen.end;
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
                if self.tree.is_storage(label) {
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

/// Places, and what their references lead to.
pub(super) struct Finder {
    places: Vec<PlaceKey>,
    numbers: HashMap<PlaceKey, u32>,
    /// What was last asked of `numbers`, by a hash of the question.
    recent: Vec<(PlaceKey, u32)>,
    last: (PlaceKey, u32),
    /// By object: the place of the first reference to it.
    first: Vec<u32>,
    /// The other places that lead to an object: the object above the place; in the end its position in preorder of the
    /// dominator tree.
    further: Vec<u64>,
    recent_further: Vec<u64>,
    compact_at: usize,
}

fn high_half(further: u64) -> u32 {
    (further >> 32) as u32
}

impl Finder {
    fn new(object_count: usize, step: &Step<'_>) -> Result<Self> {
        let none = PlaceKey {
            holders: PathGroup::REST,
            holder: u32::MAX,
            label: EdgeLabel::default(),
            class: u32::MAX,
        };
        let mut first = Vec::new();
        columns::fill(&mut first, NO_PLACE, object_count, step)?;
        Ok(Self {
            places: Vec::new(),
            numbers: HashMap::new(),
            recent: vec![(none, NO_PLACE); RECENT],
            last: (none, NO_PLACE),
            first,
            further: Vec::new(),
            recent_further: vec![u64::MAX; RECENT],
            compact_at: COMPACTED,
        })
    }

    /// The number of a place.
    #[inline]
    fn place(&mut self, place: PlaceKey) -> Result<u32> {
        if self.last.0 == place {
            return Ok(self.last.1);
        }
        let hash = place.holders.0.wrapping_mul(0x9e37_79b1)
            ^ place.label.hash()
            ^ place.class.wrapping_mul(0x85eb_ca6b);
        let slot = (hash >> 16) as usize % RECENT;
        if self.recent[slot].0 != place {
            self.recent[slot] = (place, self.number(place)?);
        }
        self.last = self.recent[slot];
        Ok(self.last.1)
    }

    fn number(&mut self, place: PlaceKey) -> Result<u32> {
        if let Some(&number) = self.numbers.get(&place) {
            return Ok(number);
        }
        if self.places.len() >= MOST_PLACES {
            return Ok(NO_PLACE);
        }
        let number = self.places.len() as u32;
        columns::push(&mut self.places, place)?;
        self.numbers.insert(place, number);
        Ok(number)
    }

    /// Writes down that a reference of a place leads to an object.
    #[inline]
    fn add(&mut self, object: ObjectIndex, place: u32) -> Result<()> {
        let first = &mut self.first[object.at()];
        if *first == place || place == NO_PLACE {
            return Ok(());
        }
        if *first == NO_PLACE {
            *first = place;
            return Ok(());
        }
        let further = u64::from(object.0) << 32 | u64::from(place);
        // Many references of one place often lead to the same few objects.
        let hash = (object.0 ^ place.wrapping_mul(0x85eb_ca6b)).wrapping_mul(0x9e37_79b1);
        let recent = &mut self.recent_further[(hash >> 16) as usize % RECENT];
        if *recent == further {
            return Ok(());
        }
        *recent = further;
        columns::push(&mut self.further, further)?;
        if self.further.len() >= self.compact_at {
            self.compact();
            self.compact_at = COMPACTED.max(self.further.len() * 2);
        }
        Ok(())
    }

    /// Sorts the further references, and leaves out equal ones.
    fn compact(&mut self) {
        self.further.par_sort_unstable();
        self.further.dedup();
    }

    /// Sorts the further references by the positions of their objects. Only live objects have any.
    fn finish(&mut self, dominators: &DominatorIndex) {
        self.further.par_iter_mut().for_each(|further| {
            let object = ObjectIndex(high_half(*further));
            let position = dominators.position(object).unwrap_or_default();
            *further = u64::from(position) << 32 | (*further & u64::from(u32::MAX));
        });
        self.compact();
    }

    /// The places, by number.
    pub(super) fn places(&self) -> &[PlaceKey] {
        &self.places
    }

    /// What the references of these places lead to; an object of several of them more than once.
    pub(super) fn targets(
        &self,
        is_wanted: &[bool],
        subject: Subject<'_>,
    ) -> impl Iterator<Item = ObjectIndex> {
        let is_wanted = |place: u32| is_wanted.get(place as usize) == Some(&true);
        let firsts = (0..)
            .map(ObjectIndex)
            .zip(&self.first)
            .filter(move |&(_, &place)| is_wanted(place));
        let further = self
            .further
            .iter()
            .filter(move |&&packed| is_wanted(packed as u32))
            .map(move |&packed| subject.dominators.object(high_half(packed)));
        firsts.map(|(object, _)| object).chain(further)
    }

    /// The fields of all places, and by place the number of its field.
    fn fields(&self) -> Result<(Vec<FieldKey>, Vec<u32>)> {
        let mut numbers: HashMap<FieldKey, u32> = HashMap::new();
        let mut fields = Vec::new();
        let mut field_of = columns::with_capacity(self.places.len())?;
        for place in &self.places {
            let field = FieldKey {
                holder: place.holder,
                label: place.label,
                class: place.class,
            };
            let number = *numbers.entry(field).or_insert(fields.len() as u32);
            if number as usize == fields.len() {
                columns::push(&mut fields, field)?;
            }
            field_of.push(number);
        }
        Ok((fields, field_of))
    }
}
