//! The dominator tree as a bounded number of cells that add up exactly: what a cell retains is its own
//! shallow size and what the cells below it retain. The cell of the whole heap retains the live bytes.
//!
//! The largest objects get cells of their own. An object whose largest part is an object of the same
//! class, as in a list, shares the cell of that object: a list is one cell, and not a tree as deep as
//! the list is long. All other objects are summed by class: below each cell by the classes of the objects
//! that it dominates directly, below each of these classes by the classes that its objects dominate
//! directly, and so on. Classes that are too small for a cell share one.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use serde::{Serialize, Serializer};

use crate::loaded_heap::LoadedHeap;
use crate::parts::joined::{retained_parts, shallow_parts};
use crate::parts::object_name::{ObjectName, object_name};
use base::columns;
use base::control::{CHECK_INTERVAL, Control, Phase, Step};
use base::error::Result;
use base::units::ObjectIndex;
use heap::{ClassUse, DominatorIndex};

/// Cells of single objects and of chains.
const OBJECT_CELLS: usize = 1499;

/// Cells of the objects of a class that have no cells of their own, beyond one below each cell.
const CLASS_CELLS: usize = 1000;

/// Cells of single objects below one cell.
const CHILDREN: usize = 100;

/// How many of these are there whatever their size.
const SMALL_CHILDREN: usize = 10;

/// Any other retains at least its parent's retained size divided by this.
const LEAST_PART: u64 = 100;

/// Cells on top of each other, without the cell of small classes.
const DEPTH: u32 = 40;

/// Classes below cells that are counted separately, in all.
const CLASSES: usize = 1 << 16;

/// Stands for the slots of all other classes.
const OTHER_CLASSES: u32 = u32::MAX;

/// Stands for no number.
const NONE: u32 = u32::MAX;

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
pub(super) struct ReportCell {
    pub(super) parent: u32,
    pub(super) kind: CellKind,
    /// The object; of a chain the first, of a class one of them.
    pub(super) object: Option<ObjectIndex>,
    pub(super) count: u64,
    pub(super) shallow_size: u64,
    pub(super) retained_size: u64,
    /// Of heaps that were joined: the bytes of the memory among these.
    wasm_size: Option<u64>,
}

/// All cells: the heap first, every other one after the one that it is a part of, the largest first.
pub(super) struct Cells {
    pub(super) all: Vec<ReportCell>,
    /// Each cell's object.
    names: Vec<Option<ObjectName>>,
    /// What the class of each cell's object is used for.
    uses: Vec<Option<ClassUse>>,
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
            class_use: &'c [Option<ClassUse>],
            address: Vec<Option<u64>>,
            address_text: Vec<Option<&'c str>>,
            count: Vec<u64>,
            shallow_size: Vec<u64>,
            retained_size: Vec<u64>,
            /// Of heaps that were joined: the bytes of the memory among the retained size.
            #[serde(skip_serializing_if = "Option::is_none")]
            wasm_size: Option<Vec<u64>>,
        }
        let cells = || self.all.iter();
        let names = || self.names.iter().map(Option::as_ref);
        Columns {
            parent: cells().map(|cell| cell.parent).collect(),
            kind: cells().map(|cell| cell.kind).collect(),
            class_name: names()
                .map(|name| name.map(|name| name.class_name.as_str()))
                .collect(),
            class_use: &self.uses,
            address: names().map(|name| name.map(|name| name.address)).collect(),
            address_text: names()
                .map(|name| name.map(|name| name.address_text.as_str()))
                .collect(),
            count: cells().map(|cell| cell.count).collect(),
            shallow_size: cells().map(|cell| cell.shallow_size).collect(),
            retained_size: cells().map(|cell| cell.retained_size).collect(),
            wasm_size: cells().map(|cell| cell.wasm_size).collect(),
        }
        .serialize(serializer)
    }
}

/// An object that may get a cell: the larger first, then by position.
type Candidate = (u64, Reverse<u32>);

/// Objects of one class that the objects of one cell, or of one other such sum, dominate directly. Objects
/// of the same class that these dominate directly are added.
struct ClassSum {
    /// The cell or, beyond the number of cells, the sum above.
    parent: u32,
    /// The class, or [`OTHER_CLASSES`]: then everything that these objects dominate is added, too.
    slot: u32,
    depth: u32,
    /// The first of them.
    object: ObjectIndex,
    count: u64,
    shallow_size: u64,
    retained_size: u64,
    /// Of heaps that were joined: the bytes of the memory among the retained size.
    wasm_size: Option<u64>,
}

/// Walks over the tree.
struct TreeWalk<'h> {
    heap: &'h LoadedHeap,
    index: &'h DominatorIndex,
    step: Step<'h>,
    visited: u64,
    /// Class slot → the first slot of that name.
    slots: Vec<u32>,
}

pub(super) fn make_cells(loaded: &LoadedHeap, control: &Control) -> Result<Cells> {
    let index = loaded.dominator_index(control)?;
    let mut walk = TreeWalk {
        heap: loaded,
        index,
        step: control.begin(Phase::View, index.len() as u64),
        visited: 0,
        slots: loaded.heap.objects.first_slots(),
    };
    let mut all: Vec<ReportCell> = Vec::new();
    // The positions of the objects that begin cells, and their cells.
    let mut starts: Vec<(u32, u32)> = Vec::new();
    let mut depths = Vec::new();
    let mut pending: BinaryHeap<(Candidate, Reverse<u32>, u32)> = BinaryHeap::new();
    let whole = ReportCell {
        parent: 0,
        kind: CellKind::Heap,
        object: None,
        count: loaded
            .heap
            .live_classes
            .iter()
            .map(|class| class.count)
            .sum(),
        shallow_size: 0,
        retained_size: loaded.heap.live_size,
        wasm_size: loaded
            .source
            .joined()
            .map(|heaps| heaps.sums().wasm.live_size),
    };
    let mut next = Some((None, whole, 0));
    while let Some((position, cell, depth)) = next {
        let number = all.len() as u32;
        let mut offered = BinaryHeap::new();
        let cell = walk.open(position, cell, &mut offered)?;
        let retained_size = cell.retained_size;
        all.push(cell);
        depths.push(depth);
        starts.extend(position.map(|position| (position, number)));
        if depth < DEPTH {
            let mut offered: Vec<Candidate> = offered
                .into_iter()
                .map(|Reverse(candidate)| candidate)
                .collect();
            offered.sort_unstable_by_key(|&candidate| Reverse(candidate));
            let large = |&(nth, (size, _)): &(usize, Candidate)| {
                nth < SMALL_CHILDREN || size * LEAST_PART >= retained_size
            };
            let offered = offered.into_iter().enumerate().take_while(large);
            pending.extend(offered.map(|(_, candidate)| (candidate, Reverse(number), depth + 1)));
        }
        if all.len() > OBJECT_CELLS {
            break;
        }
        next = pending
            .pop()
            .map(|((size, Reverse(position)), Reverse(parent), depth)| {
                let object = index.object(position);
                let cell = ReportCell {
                    parent,
                    kind: CellKind::Object,
                    object: Some(object),
                    count: 1,
                    shallow_size: loaded.heap.shallow_size(object),
                    retained_size: size,
                    wasm_size: retained_parts(loaded, object).map(|parts| parts.wasm),
                };
                (Some(position), cell, depth)
            });
    }
    starts.sort_unstable();
    let sums = walk.class_sums(&all, &starts, &depths)?;
    add_class_cells(&mut all, &sums);
    let names: Vec<Option<ObjectName>> = all
        .iter()
        .map(|cell| cell.object.map(|object| object_name(loaded, object)))
        .collect();
    let classes = &loaded.source.facts().classes;
    let uses = names.iter().map(|name| {
        let name = name.as_ref()?;
        Some(classes.class_use(&name.class_name))
    });
    Ok(Cells {
        uses: uses.collect(),
        names,
        all,
    })
}

/// Adds cells for the largest sums, and below each cell one for the others.
fn add_class_cells(cells: &mut Vec<ReportCell>, sums: &[ClassSum]) {
    let object_cells = cells.len();
    let mut largest: Vec<u32> = (0..sums.len() as u32)
        .filter(|&sum| {
            let sum = &sums[sum as usize];
            sum.slot != OTHER_CLASSES && sum.retained_size > 0
        })
        .collect();
    // A sum is no larger than the one above it, which comes before it.
    largest.sort_unstable_by_key(|&sum| (Reverse(sums[sum as usize].retained_size), sum));
    largest.truncate(CLASS_CELLS);
    largest.sort_unstable();
    let class_cell = |parent: u32, sum: &ClassSum| ReportCell {
        parent,
        kind: match sum.count {
            1 => CellKind::Object,
            _ => CellKind::Class,
        },
        object: Some(sum.object),
        count: sum.count,
        shallow_size: sum.shallow_size,
        retained_size: sum.retained_size,
        wasm_size: sum.wasm_size,
    };
    // Sum → its cell.
    let mut numbers = vec![NONE; sums.len()];
    let cell_of = |numbers: &[u32], parent: u32| match (parent as usize).checked_sub(object_cells) {
        Some(sum) => numbers[sum],
        None => parent,
    };
    for sum in largest {
        let parent = cell_of(&numbers, sums[sum as usize].parent);
        numbers[sum as usize] = cells.len() as u32;
        cells.push(class_cell(parent, &sums[sum as usize]));
    }
    // By cell: the sums below it that have none.
    let mut rest: Vec<Option<ReportCell>> = vec![None; cells.len()];
    for (nth, sum) in sums.iter().enumerate() {
        let parent = cell_of(&numbers, sum.parent);
        if numbers[nth] != NONE || parent == NONE || sum.retained_size == 0 {
            continue;
        }
        let cell = &mut rest[parent as usize];
        *cell = Some(match cell.take() {
            None if sum.slot != OTHER_CLASSES => class_cell(parent, sum),
            earlier => {
                let of = |number: fn(&ReportCell) -> u64| earlier.as_ref().map_or(0, number);
                ReportCell {
                    parent,
                    kind: CellKind::Rest,
                    object: None,
                    count: of(|cell| cell.count) + sum.count,
                    shallow_size: of(|cell| cell.shallow_size) + sum.shallow_size,
                    retained_size: of(|cell| cell.retained_size) + sum.retained_size,
                    wasm_size: sum
                        .wasm_size
                        .map(|size| of(|cell| cell.wasm_size.unwrap_or(0)) + size),
                }
            }
        });
    }
    cells.extend(rest.into_iter().flatten());
}

impl TreeWalk<'_> {
    fn slot(&self, object: ObjectIndex) -> u32 {
        self.slots[self.heap.heap.objects.class_slots[object.at()] as usize]
    }

    /// Follows the chain that a cell begins, and offers the largest objects below it.
    fn open(
        &mut self,
        position: Option<u32>,
        mut cell: ReportCell,
        offered: &mut BinaryHeap<Reverse<Candidate>>,
    ) -> Result<ReportCell> {
        let heap = &self.heap.heap;
        let mut end = position;
        loop {
            let mut next = None;
            for child in self.index.children(end) {
                self.visited += 1;
                if self.visited.is_multiple_of(CHECK_INTERVAL as u64) {
                    self.step.advance(0)?;
                }
                let object = self.index.object(child);
                let retained_size = heap.retained_size(object);
                if end.is_some_and(|end| self.continues(end, child)) {
                    next = Some(child);
                    cell.kind = CellKind::Chain;
                    cell.count += 1;
                    cell.shallow_size += heap.shallow_size(object);
                } else if retained_size > 0 {
                    let candidate = (retained_size, Reverse(child));
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
        Ok(cell)
    }

    /// Sums the objects that have no cells by class, in the order of the dominator tree. A sum comes after
    /// the one above it.
    fn class_sums(
        &self,
        cells: &[ReportCell],
        starts: &[(u32, u32)],
        depths: &[u32],
    ) -> Result<Vec<ClassSum>> {
        let heap = &self.heap.heap;
        let mut sums: Vec<ClassSum> = Vec::new();
        let mut numbers: HashMap<(u32, u32), u32> = HashMap::new();
        // By cell and sum: the sum below it that was found last.
        let mut last_below = vec![NONE; cells.len()];
        // Position → the number of the cell or, beyond these, of the sum.
        let mut cell_of: Vec<u32> = columns::with_capacity(self.index.len())?;
        let mut starts = starts.iter().peekable();
        for position in 0..self.index.len() as u32 {
            if u64::from(position).is_multiple_of(CHECK_INTERVAL as u64) {
                self.step.advance(CHECK_INTERVAL as u64)?;
            }
            if let Some(&(_, cell)) = starts.next_if(|&&(start, _)| start == position) {
                cell_of.push(cell);
                continue;
            }
            let dominator = self.index.dominator(position);
            let above = dominator.map_or(0, |dominator| cell_of[dominator as usize]);
            let object = self.index.object(position);
            let slot = self.slot(object);
            let size = heap.shallow_size(object);
            let sum_above = (above as usize).checked_sub(cells.len());
            let number = match sum_above.map(|sum| sums[sum].slot) {
                Some(of) if of == slot || of == OTHER_CLASSES => above,
                None if cells[above as usize].kind == CellKind::Chain
                    && dominator.is_some_and(|dominator| self.continues(dominator, position)) =>
                {
                    cell_of.push(above);
                    continue;
                }
                _ => {
                    let last = last_below[above as usize];
                    let is_last = last != NONE && sums[last as usize - cells.len()].slot == slot;
                    let known = if is_last {
                        Some(last)
                    } else {
                        numbers.get(&(above, slot)).copied()
                    };
                    let depth = match sum_above {
                        Some(sum) => sums[sum].depth,
                        None => depths[above as usize],
                    };
                    let slot = if sums.len() < CLASSES && depth < DEPTH {
                        slot
                    } else {
                        OTHER_CLASSES
                    };
                    let new = || {
                        let number = (cells.len() + sums.len()) as u32;
                        sums.push(ClassSum {
                            parent: above,
                            slot,
                            depth: depth + 1,
                            object,
                            count: 0,
                            shallow_size: 0,
                            retained_size: 0,
                            wasm_size: self.heap.source.joined().map(|_| 0),
                        });
                        last_below.push(NONE);
                        number
                    };
                    let number =
                        known.unwrap_or_else(|| *numbers.entry((above, slot)).or_insert_with(new));
                    last_below[above as usize] = number;
                    number
                }
            };
            cell_of.push(number);
            let sum = &mut sums[number as usize - cells.len()];
            sum.retained_size += size;
            if let (Some(sum), Some(parts)) = (&mut sum.wasm_size, shallow_parts(self.heap, object))
            {
                *sum += parts.wasm;
            }
            if sum.slot != OTHER_CLASSES || number != above {
                sum.count += 1;
                sum.shallow_size += size;
            }
        }
        for nth in (0..sums.len()).rev() {
            if let Some(parent) = (sums[nth].parent as usize).checked_sub(cells.len()) {
                sums[parent].retained_size += sums[nth].retained_size;
                sums[parent].wasm_size = sums[parent]
                    .wasm_size
                    .zip(sums[nth].wasm_size)
                    .map(|(own, below)| own + below);
            }
        }
        Ok(sums)
    }

    /// Whether an object is of the same class as its dominator, and more than half of what that retains.
    fn continues(&self, dominator: u32, child: u32) -> bool {
        let [above, below] = [dominator, child].map(|position| self.index.object(position));
        let size = |object| self.heap.heap.retained_size(object);
        2 * size(below) > size(above) && self.slot(below) == self.slot(above)
    }
}
