//! Makes the place table of a loaded heap.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

use super::PlaceSum;
use super::count::{Counts, SizedSubject, Subject};
use super::finder::{FieldKey, PlaceKey};
use super::table::{
    ClassPlaceRow, ClassTotals, FieldRow, PathNode, PathStart, PlaceRow, PlaceTable, VERSION,
};
use crate::loaded_heap::LoadedHeap;
use crate::parts::path_text::is_origin_stable;
use crate::parts::roots::origin_root;
use crate::warnings::WarningText;
use base::columns;
use base::control::{Control, Phase, Step};
use base::error::Result;
use base::side_by_side::side_by_side;
use base::units::ObjectIndex;
use heap::{
    EdgeLabel, GroupStart, Name, PathGroup, PathTree, RawTable, RootOrigin, SourceLocation,
};

/// Groups of paths, and places, that a table keeps: the largest.
const MOST_ROWS: usize = 100_000;

/// The position of a group that has no node so far.
const NO_NODE: u32 = u32::MAX;

/// Counts what each place of the program holds. The table is small, and stays usable without the heap.
///
/// # Errors
/// [`HeapError::DumpChanged`](heap::HeapError::DumpChanged) and [`Error::Io`](base::Error::Io) if the dump
/// cannot be read again, [`Error::OutOfMemory`](base::Error::OutOfMemory),
/// [`Error::Aborted`](base::Error::Aborted).
pub fn place_table(loaded: &LoadedHeap, control: &Control) -> Result<PlaceTable> {
    control.check()?;
    let (tree, dominators) = side_by_side(
        || loaded.path_tree(control),
        || loaded.dominator_index(control),
    )?;
    let step = control.begin(Phase::View, 2 * loaded.heap.objects.len() as u64);
    let first_slots = loaded.heap.objects.first_slots();
    let subject = Subject::new(loaded, tree, dominators, &first_slots);
    let (content_sizes, finder) = side_by_side(
        || content_sizes(loaded, tree, &step),
        || subject.find_places(&step),
    )?;
    let sized = SizedSubject {
        subject,
        content_sizes: &content_sizes,
    };
    let mut counts = sized.count(&finder, &step)?;
    let rooted = rooted_sums(loaded, &sized)?;
    drop((content_sizes, finder));
    let memory = loaded.source.memory();
    let raw = match memory {
        Some(memory) => memory.raw_blocks(control)?,
        None => RawTable::default(),
    };

    let mut is_cut = counts.groups[PathGroup::REST.0 as usize] != PlaceSum::default();
    let groups = largest_groups(&counts.groups, &mut is_cut);
    let sizes = columns::collected(groups.iter().map(|&group| counts.sizes[group.0 as usize]))?;
    let places = largest_places(std::mem::take(&mut counts.places), &mut is_cut);
    let mut maker = Maker {
        heap: loaded,
        tree,
        names: NameTable::default(),
        nodes: columns::repeated(NO_NODE, tree.groups().len())?,
        paths: Vec::new(),
    };
    let groups = groups
        .into_iter()
        .map(|group| {
            let sum = counts.groups[group.0 as usize];
            Ok((maker.node(group)?, sum))
        })
        .collect::<Result<_>>()?;
    let rooted = rooted
        .into_iter()
        .map(|((origin, class), sum)| {
            let node = maker.root(origin, class);
            Ok((maker.add(node)?, sum))
        })
        .collect::<Result<_>>()?;
    let places = places
        .into_iter()
        .map(|(place, sum)| maker.place(place, sum))
        .collect::<Result<_>>()?;
    let fields = counts
        .fields
        .iter()
        .map(|(field, sum)| maker.field(field, *sum))
        .collect();
    let classes = maker.classes(&counts, &first_slots);
    let class_places = maker.class_places(&first_slots);
    let facts = loaded.source.facts();
    let text_classes = facts
        .classes
        .texts
        .iter()
        .filter_map(|&(name, character)| {
            let number = maker.names.numbers.get(name)?;
            Some((*number, character))
        })
        .collect();
    let engine_classes = maker.names.known(facts.classes.engine);
    let plain_classes = maker.names.known(facts.classes.plain);
    Ok(PlaceTable {
        version: VERSION,
        dump_name: loaded.dump_name.clone(),
        module_hash: facts.program,
        total_live_size: loaded.heap.total_live_size(),
        total_size: loaded.heap.total_size.unwrap_or_default(),
        newest: loaded.newest_object(),
        stack: memory.map_or(0, |memory| memory.stack_size()),
        is_partial: loaded.heap.is_partial,
        is_joined: loaded.source.joined().is_some(),
        is_cut,
        warnings: loaded.warnings().iter().map(WarningText::from).collect(),
        names: maker.names.names,
        text_classes,
        engine_classes,
        plain_classes,
        class_places,
        paths: maker.paths,
        groups,
        sizes,
        rooted,
        places,
        fields,
        classes,
        raw: PlaceSum {
            count: raw.len() as u64,
            bytes: raw.total_size(),
            retained: raw.total_size(),
            objects: 0,
        },
    })
}

/// What the roots of each origin hold, by class: every object once.
fn rooted_sums(
    loaded: &LoadedHeap,
    sized: &SizedSubject<'_>,
) -> Result<Vec<((RootOrigin, u32), PlaceSum)>> {
    let slots = loaded.roots.all();
    let origin = |slot| loaded.roots.origin(slot);
    let mut held = columns::collected(slots.iter().map(|&slot| (origin(slot), slot.object)))?;
    held.sort_unstable();
    held.dedup();
    let mut objects: HashMap<(RootOrigin, u32), Vec<ObjectIndex>> = HashMap::new();
    for (origin, object) in held {
        let key = (origin, sized.subject.class(object));
        columns::push(objects.entry(key).or_default(), object)?;
    }
    let mut sums: Vec<_> = objects
        .into_iter()
        .map(|(key, objects)| (key, sized.sum(&objects)))
        .collect();
    sums.sort_unstable_by_key(|&(key, sum)| (Reverse((sum.bytes, sum.count)), key));
    sums.truncate(MOST_ROWS);
    Ok(sums)
}

/// The groups that have objects, but not the one that stands for many; the largest of them, in order.
fn largest_groups(sums: &[PlaceSum], is_cut: &mut bool) -> Vec<PathGroup> {
    let mut groups: Vec<PathGroup> = (1..sums.len() as u32)
        .map(PathGroup)
        .filter(|group| sums[group.0 as usize].count > 0)
        .collect();
    if groups.len() > MOST_ROWS {
        *is_cut = true;
        groups.sort_unstable_by_key(|&group| {
            let sum = sums[group.0 as usize];
            (Reverse((sum.bytes, sum.count)), group)
        });
        groups.truncate(MOST_ROWS);
        groups.sort_unstable();
    }
    groups
}

/// The largest places, without references from a class to itself: what these lead to is of the same group.
fn largest_places(
    mut places: Vec<(PlaceKey, PlaceSum)>,
    is_cut: &mut bool,
) -> Vec<(PlaceKey, PlaceSum)> {
    places.retain(|(place, _)| place.holder != place.class && place.holders != PathGroup::REST);
    if places.len() > MOST_ROWS {
        *is_cut = true;
        places.sort_by_key(|&(place, sum)| {
            let order = (place.holders, place.label, place.class);
            (Reverse((sum.bytes, sum.count)), order)
        });
        places.truncate(MOST_ROWS);
    }
    places
}

/// Names by number.
#[derive(Default)]
struct NameTable {
    names: Vec<String>,
    numbers: HashMap<String, u32>,
}

impl NameTable {
    /// The numbers of those names that occur.
    fn known(&self, names: &[&str]) -> Vec<u32> {
        let numbers = names.iter().filter_map(|&name| self.numbers.get(name));
        numbers.copied().collect()
    }

    fn number(&mut self, name: &str) -> u32 {
        if let Some(&number) = self.numbers.get(name) {
            return number;
        }
        let number = self.names.len() as u32;
        self.names.push(name.to_owned());
        self.numbers.insert(name.to_owned(), number);
        number
    }
}

/// Names what was counted.
struct Maker<'h> {
    heap: &'h LoadedHeap,
    tree: &'h PathTree,
    names: NameTable,
    /// By group: its position in `paths`.
    nodes: Vec<u32>,
    paths: Vec<PathNode>,
}

impl Maker<'_> {
    fn add(&mut self, node: PathNode) -> Result<u32> {
        columns::push(&mut self.paths, node)?;
        Ok(self.paths.len() as u32 - 1)
    }

    /// The position of a group, which gets one with all that it continues.
    fn node(&mut self, group: PathGroup) -> Result<u32> {
        let groups = self.tree.groups();
        let mut missing = Vec::new();
        let mut next = Some(group);
        let mut before = NO_NODE;
        while let Some(group) = next {
            before = self.nodes[group.0 as usize];
            if before != NO_NODE {
                break;
            }
            columns::push(&mut missing, group)?;
            next = match groups.info(group).start {
                GroupStart::Step(before, _) => Some(before),
                GroupStart::Root(_) | GroupStart::Rest => None,
            };
        }
        for &group in missing.iter().rev() {
            let info = groups.info(group);
            let node = match info.start {
                GroupStart::Root(origin) => self.root(origin, info.class_slot),
                GroupStart::Step(holder, label) => {
                    let holder = groups.info(holder).class_slot;
                    let (label, is_stable) = self.label(holder, label);
                    let class = self.class(info.class_slot);
                    PathNode {
                        start: PathStart::Step(before, label),
                        class: class.0,
                        is_stable: is_stable && class.1 && self.paths[before as usize].is_stable,
                    }
                }
                // It stands for many, and is never asked about.
                GroupStart::Rest => continue,
            };
            before = self.add(node)?;
            self.nodes[group.0 as usize] = before;
        }
        Ok(before)
    }

    fn root(&mut self, origin: RootOrigin, class: u32) -> PathNode {
        let start = match origin {
            RootOrigin::Global(_) | RootOrigin::Static(_) => {
                let name = origin_root(self.heap, origin).name;
                PathStart::Global(name.map(|name| self.names.number(&name)))
            }
            RootOrigin::Stack => PathStart::Stack,
            RootOrigin::Pinned => PathStart::Pinned,
            RootOrigin::Unreferenced => PathStart::Unreferenced,
            RootOrigin::Host(_) => {
                let name = origin_root(self.heap, origin).name;
                PathStart::Host(self.names.number(&name.unwrap_or_default()))
            }
            RootOrigin::System(_) => {
                let name = origin_root(self.heap, origin).name;
                PathStart::System(self.names.number(&name.unwrap_or_default()))
            }
        };
        let class = self.class(class);
        PathNode {
            start,
            class: class.0,
            is_stable: class.1 && is_origin_stable(self.heap, origin),
        }
    }

    /// The name of a class, and whether it is from the source.
    fn class(&mut self, slot: u32) -> (u32, bool) {
        let name = self.heap.slot_name(slot);
        (
            self.names.number(name),
            self.heap.source().is_stable(Name::Class(name)),
        )
    }

    /// The name of a label, and whether it is from the source.
    fn label(&mut self, holder: u32, label: EdgeLabel) -> (u32, bool) {
        let text = self.heap.source().class_label(holder, label);
        let is_stable = self.heap.source().is_stable(Name::Label(label, &text));
        (self.names.number(&text), is_stable)
    }

    fn place(&mut self, place: PlaceKey, sum: PlaceSum) -> Result<PlaceRow> {
        let holders = self.node(place.holders)?;
        let (label, is_label_stable) = self.label(place.holder, place.label);
        let (class, is_class_stable) = self.class(place.class);
        let is_path_stable = self.paths[holders as usize].is_stable;
        Ok(PlaceRow {
            holders,
            label,
            class,
            is_stable: is_path_stable && is_label_stable && is_class_stable,
            sum,
        })
    }

    fn field(&mut self, field: &FieldKey, sum: PlaceSum) -> FieldRow {
        let (holder, is_holder_stable) = self.class(field.holder);
        let (label, is_label_stable) = self.label(field.holder, field.label);
        let (class, is_class_stable) = self.class(field.class);
        FieldRow {
            holder,
            label,
            class,
            is_stable: is_holder_stable && is_label_stable && is_class_stable,
            sum,
        }
    }

    /// Where constructors are. Of classes of one name that are at several places, none is the right one.
    fn class_places(&mut self, first_slots: &[u32]) -> Vec<ClassPlaceRow> {
        let mut places: BTreeMap<u32, Option<SourceLocation>> = BTreeMap::new();
        let Some(locations) = self.heap.source().locations() else {
            return Vec::new();
        };
        for (slot, &first) in (0u32..).zip(first_slots) {
            if let Some(place) = locations.class_location(slot) {
                let known = places.entry(first).or_insert_with(|| Some(place.clone()));
                if known.as_ref() != Some(&place) {
                    *known = None;
                }
            }
        }
        let rows = places.into_iter().filter_map(|(slot, place)| {
            let SourceLocation { file, line, column } = place?;
            Some(ClassPlaceRow {
                class: self.class(slot).0,
                file: self.names.number(&file),
                line,
                column,
            })
        });
        rows.collect()
    }

    fn classes(&mut self, counts: &Counts, first_slots: &[u32]) -> Vec<ClassTotals> {
        let firsts = (0u32..)
            .zip(first_slots)
            .filter(|&(slot, &first)| slot == first);
        let rows = firsts.map(|(slot, _)| {
            let (class, is_stable) = self.class(slot);
            ClassTotals {
                class,
                is_stable,
                sum: counts.classes[slot as usize],
            }
        });
        rows.collect()
    }
}

/// By object: the bytes of its contents. Where objects do not lie in memory, nothing says how much of a size is in use.
fn content_sizes(loaded: &LoadedHeap, tree: &PathTree, step: &Step<'_>) -> Result<Vec<u32>> {
    if let Some(memory) = loaded.source.memory() {
        return memory.content_sizes(tree, step);
    }
    let heap = &loaded.heap;
    let objects = (0..heap.objects.len() as u32).map(ObjectIndex);
    let size = |object| u32::try_from(heap.shallow_size(object)).unwrap_or(u32::MAX);
    columns::collected(objects.map(size))
}
