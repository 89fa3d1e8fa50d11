//! The dominator tree as a bounded number of cells that add up exactly: what a cell retains is its own
//! shallow size and what the cells below it retain. The cell of the whole heap retains the live bytes.
//!
//! The largest objects get cells of their own. An object whose largest part is an object of the same
//! class, as in a list, shares the cell of that object: a list is one cell, and not a tree as deep as
//! the list is long. What has no cell of its own is summed: the largest classes below a cell by class, all
//! others in one cell.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use serde::{Serialize, Serializer};

use super::super::LoadedHeap;
use crate::columns;
use crate::control::{Control, Phase, Step};
use crate::error::Result;
use crate::heap::DominatorIndex;
use crate::units::ObjectIndex;

/// Cells of single objects and of chains.
const OBJECT_CELLS: usize = 1999;
/// Cells of the objects of a class that have no cells of their own, beyond one below each cell.
const CLASS_CELLS: usize = 1000;
/// Cells of single objects below one cell.
const CHILDREN: usize = 100;
/// How many of these are there whatever their size.
const SMALL_CHILDREN: usize = 10;
/// Any other retains at least its parent's retained size divided by this.
const LEAST_PART: u64 = 100;
/// Cells on top of each other.
const DEPTH: u32 = 40;
/// Classes below a cell that are told apart.
const GROUPS: usize = 32;
/// Stands for the slots of all other classes.
const OTHER_CLASSES: u32 = u32::MAX;
/// Objects between two looks at whether to stop.
const CHECK_INTERVAL: u64 = 1 << 16;

/// What a cell shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum CellKind {
    /// The live objects.
    Heap,
    /// One object.
    Object,
    /// An object and what follows it: objects of the same class, each the largest part of the one before.
    Chain,
    /// Objects of a class.
    Class,
    /// Objects of several classes.
    Rest,
}

/// A part of the heap.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cell {
    pub(super) parent: u32,
    pub(super) kind: CellKind,
    /// The object; of a chain the first, of a class one of them.
    pub(super) object: Option<ObjectIndex>,
    pub(super) count: u64,
    pub(super) shallow_size: u64,
    pub(super) retained_size: u64,
}

/// All cells: the heap first, every other one after the one that it is a part of, the largest first.
pub(super) struct Cells {
    pub(super) all: Vec<Cell>,
    /// The class and the address of each cell's object.
    names: Vec<Option<(String, u32)>>,
}

impl Serialize for Cells {
    /// As columns.
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        #[serde(rename_all = "camelCase")]
        struct Columns<'c> {
            parent: Vec<u32>,
            kind: Vec<CellKind>,
            class_name: Vec<Option<&'c str>>,
            address: Vec<Option<u32>>,
            count: Vec<u64>,
            shallow_size: Vec<u64>,
            retained_size: Vec<u64>,
        }
        let cells = || self.all.iter();
        let names = || self.names.iter().map(Option::as_ref);
        Columns {
            parent: cells().map(|cell| cell.parent).collect(),
            kind: cells().map(|cell| cell.kind).collect(),
            class_name: names()
                .map(|name| name.map(|(class, _)| class.as_str()))
                .collect(),
            address: names()
                .map(|name| name.map(|&(_, address)| address))
                .collect(),
            count: cells().map(|cell| cell.count).collect(),
            shallow_size: cells().map(|cell| cell.shallow_size).collect(),
            retained_size: cells().map(|cell| cell.retained_size).collect(),
        }
        .serialize(serializer)
    }
}

/// An object that may get a cell: the larger first, then by position.
type Candidate = (u32, Reverse<u32>);

/// Sums over the objects below a cell that are of one class.
#[derive(Clone, Copy, Default)]
struct Group {
    count: u64,
    shallow_size: u64,
    retained_size: u64,
    /// The smallest: if it has a cell of its own, all have.
    last: Option<Candidate>,
}

/// A cell, and what is below it.
struct Opened {
    cell: Cell,
    groups: Vec<(u32, Group)>,
}

/// Walks over the tree.
struct Walk<'h> {
    heap: &'h LoadedHeap,
    index: &'h DominatorIndex,
    step: Step<'h>,
    visited: u64,
    /// Class slot → the first slot of that name.
    slots: Vec<u32>,
    /// The number of each such slot in the groups of the cell that is being opened, plus one.
    numbers: Vec<u32>,
}

impl LoadedHeap {
    pub(super) fn cells(&self, control: &Control) -> Result<Cells> {
        let index = self.dominator_index(control)?;
        let mut walk = Walk {
            heap: self,
            index,
            step: control.begin(Phase::View, index.len() as u64),
            visited: 0,
            slots: self.first_slots(),
            numbers: columns::repeated(0, self.heap.objects.classes.len())?,
        };
        let mut opened: Vec<Opened> = Vec::new();
        let mut pending: BinaryHeap<(Candidate, Reverse<u32>, u32)> = BinaryHeap::new();
        let whole = Cell {
            parent: 0,
            kind: CellKind::Heap,
            object: None,
            count: self.heap.live_classes.iter().map(|class| class.count).sum(),
            shallow_size: 0,
            retained_size: self.heap.live_size,
        };
        let mut next = Some((None, whole, 0));
        while let Some((position, cell, depth)) = next {
            let number = opened.len() as u32;
            let mut offered = BinaryHeap::new();
            let cell_and_groups = walk.open(position, cell, &mut offered)?;
            let retained_size = cell_and_groups.cell.retained_size;
            opened.push(cell_and_groups);
            if depth < DEPTH {
                let mut offered: Vec<Candidate> = offered
                    .into_iter()
                    .map(|Reverse(candidate)| candidate)
                    .collect();
                offered.sort_unstable_by_key(|&candidate| Reverse(candidate));
                let large = |&(nth, (size, _)): &(usize, Candidate)| {
                    nth < SMALL_CHILDREN || u64::from(size) * LEAST_PART >= retained_size
                };
                let offered = offered.into_iter().enumerate().take_while(large);
                pending
                    .extend(offered.map(|(_, candidate)| (candidate, Reverse(number), depth + 1)));
            }
            if opened.len() > OBJECT_CELLS {
                break;
            }
            next = pending
                .pop()
                .map(|((size, Reverse(position)), Reverse(parent), depth)| {
                    let object = index.object(position);
                    let cell = Cell {
                        parent,
                        kind: CellKind::Object,
                        object: Some(object),
                        count: 1,
                        shallow_size: self.heap.shallow_size(object).into(),
                        retained_size: size.into(),
                    };
                    (Some(position), cell, depth)
                });
        }
        let all = self.with_sums(&walk, opened);
        let names = all.iter().map(|cell| {
            let object = cell.object?;
            Some((
                self.class_name(object).to_owned(),
                self.heap.address(object).0,
            ))
        });
        Ok(Cells {
            names: names.collect(),
            all,
        })
    }

    /// The first class slot with the same name, of each.
    fn first_slots(&self) -> Vec<u32> {
        let mut first: HashMap<&str, u32> = HashMap::new();
        let classes = self.heap.objects.classes.iter().zip(0..);
        classes
            .map(|(class, slot)| *first.entry(class.class.name.as_str()).or_insert(slot))
            .collect()
    }

    /// The cells, and cells for what is below them and has none.
    fn with_sums(&self, walk: &Walk<'_>, mut opened: Vec<Opened>) -> Vec<Cell> {
        let mut selected: Vec<(u32, Candidate)> = Vec::new();
        for nth in 1..opened.len() {
            let cell = opened[nth].cell;
            let Some((object, position)) = cell
                .object
                .and_then(|object| Some((object, walk.index.position(object)?)))
            else {
                continue;
            };
            selected.push((position, (cell.retained_size as u32, Reverse(position))));
            let slot = walk.slot(object);
            let groups = &mut opened[cell.parent as usize].groups;
            let at = groups.iter().position(|&(of, _)| of == slot);
            let at = at.or_else(|| groups.iter().position(|&(of, _)| of == OTHER_CLASSES));
            if let Some((_, group)) = at.map(|at| &mut groups[at]) {
                group.count -= 1;
                group.shallow_size -= u64::from(self.heap.shallow_size(object));
                group.retained_size -= cell.retained_size;
            }
        }
        // The largest groups get cells of their own.
        let mut sums: Vec<(u64, u32, u32)> = Vec::new();
        for (opened, parent) in opened.iter_mut().zip(0u32..) {
            opened.groups.retain(|(_, group)| group.retained_size > 0);
            let groups = opened
                .groups
                .iter()
                .filter(|&&(slot, _)| slot != OTHER_CLASSES);
            sums.extend(groups.map(|&(slot, group)| (group.retained_size, parent, slot)));
        }
        sums.sort_unstable_by_key(|&(size, parent, slot)| (Reverse(size), parent, slot));
        sums.truncate(CLASS_CELLS);
        let mut cells: Vec<Cell> = opened.iter().map(|opened| opened.cell).collect();
        let class_cell = |parent: u32, group: Group| {
            let object = group
                .last
                .map(|(_, Reverse(position))| walk.index.object(position));
            Cell {
                parent,
                kind: match group.count {
                    1 => CellKind::Object,
                    _ => CellKind::Class,
                },
                object,
                count: group.count,
                shallow_size: group.shallow_size,
                retained_size: group.retained_size,
            }
        };
        sums.sort_unstable_by_key(|&(size, parent, slot)| (parent, Reverse(size), slot));
        let mut sums = sums.into_iter().peekable();
        for (opened, parent) in opened.iter().zip(0u32..) {
            let mut rest = opened.groups.clone();
            while let Some((_, _, slot)) = sums.next_if(|&(_, of, _)| of == parent) {
                if let Some(at) = rest.iter().position(|(of, _)| *of == slot) {
                    let (_, group) = rest.swap_remove(at);
                    cells.push(class_cell(parent, group));
                }
            }
            match rest[..] {
                [] => {}
                [(slot, group)] if slot != OTHER_CLASSES => cells.push(class_cell(parent, group)),
                _ => {
                    let sum = |of: fn(&Group) -> u64| rest.iter().map(|(_, group)| of(group)).sum();
                    cells.push(Cell {
                        parent,
                        kind: CellKind::Rest,
                        object: None,
                        count: sum(|group| group.count),
                        shallow_size: sum(|group| group.shallow_size),
                        retained_size: sum(|group| group.retained_size),
                    });
                }
            }
        }
        cells
    }
}

/// The largest groups, and the sum of the others.
fn largest_groups(mut groups: Vec<(u32, Group)>) -> Vec<(u32, Group)> {
    groups.sort_unstable_by_key(|&(slot, group)| (Reverse(group.retained_size), slot));
    let (kept, others) = groups.split_at(GROUPS.min(groups.len()));
    let sum = |of: fn(&Group) -> u64| others.iter().map(|(_, group)| of(group)).sum();
    let others = Group {
        count: sum(|group| group.count),
        shallow_size: sum(|group| group.shallow_size),
        retained_size: sum(|group| group.retained_size),
        last: None,
    };
    let others = (others.count > 0).then_some((OTHER_CLASSES, others));
    kept.iter().copied().chain(others).collect()
}

impl Walk<'_> {
    fn slot(&self, object: ObjectIndex) -> u32 {
        self.slots[self.heap.heap.objects.class_slots[object.at()] as usize]
    }

    /// Follows the chain that a cell begins, sums what is below it by class, and offers the largest.
    fn open(
        &mut self,
        position: Option<u32>,
        mut cell: Cell,
        offered: &mut BinaryHeap<Reverse<Candidate>>,
    ) -> Result<Opened> {
        let heap = &self.heap.heap;
        let mut groups: Vec<(u32, Group)> = Vec::new();
        let mut end = position;
        loop {
            let mut next = None;
            for child in self.index.children(end) {
                self.visited += 1;
                if self.visited.is_multiple_of(CHECK_INTERVAL) {
                    self.step.advance(CHECK_INTERVAL)?;
                }
                let object = self.index.object(child);
                let retained_size = heap.retained_size(object);
                if end.is_some_and(|end| self.continues(end, child)) {
                    next = Some(child);
                    cell.kind = CellKind::Chain;
                    cell.count += 1;
                    cell.shallow_size += u64::from(heap.shallow_size(object));
                    continue;
                }
                let candidate = (retained_size, Reverse(child));
                let slot = self.slot(object);
                let number = &mut self.numbers[slot as usize];
                if *number == 0 {
                    columns::push(&mut groups, (slot, Group::default()))?;
                    *number = groups.len() as u32;
                }
                let (_, group) = &mut groups[*number as usize - 1];
                group.count += 1;
                group.shallow_size += u64::from(heap.shallow_size(object));
                group.retained_size += u64::from(retained_size);
                group.last = match group.last {
                    Some(last) => Some(last.min(candidate)),
                    None => Some(candidate),
                };
                if retained_size > 0 {
                    if offered.len() < CHILDREN {
                        offered.push(Reverse(candidate));
                    } else if let Some(mut least) = offered.peek_mut()
                        && least.0 < candidate
                    {
                        *least = Reverse(candidate);
                    }
                }
            }
            if next.is_none() {
                break;
            }
            end = next;
        }
        for &(slot, _) in &groups {
            self.numbers[slot as usize] = 0;
        }
        Ok(Opened {
            cell,
            groups: largest_groups(groups),
        })
    }

    /// Whether an object is of the same class as its dominator, and more than half of what that retains.
    fn continues(&self, dominator: u32, child: u32) -> bool {
        let [above, below] = [dominator, child].map(|position| self.index.object(position));
        let size = |object| u64::from(self.heap.heap.retained_size(object));
        2 * size(below) > size(above) && self.slot(below) == self.slot(above)
    }
}
