//! A second, naive analysis: one region, one thread, maps and sets, every word read from the file. It knows
//! the classes, and uses no code of the engine.

use std::collections::{BTreeMap, BTreeSet};

use crate::support::random_heap::{Kind, Truth};
use crate::support::{ALLOCATOR, DATA_END, DumpFile, FIRST_BLOCK, HEAP_BASE, Scene, TAIL_POINTER};

/// The references of each object, by address.
type Graph = BTreeMap<u32, Vec<u32>>;

/// The shallow size and the retained size of each live object, by address.
pub type Live = BTreeMap<u32, (u32, u32)>;

/// The live objects, or `None` if the heap is not one plain region in order.
pub fn live(dump: &DumpFile, scene: &Scene, truth: &Truth) -> Option<Live> {
    let memory = Memory(dump.bytes.get(dump.memory_start()..)?);
    let sizes = memory.objects()?;
    let all: BTreeSet<u32> = memory.statics().chain(sizes.keys().copied()).collect();
    let graph: Graph = all
        .iter()
        .map(|&object| (object, memory.references(object, &all, truth)))
        .collect();
    let roots = memory.roots(dump, scene, &all)?;
    let size_of = |objects: &BTreeSet<u32>| -> u32 {
        objects
            .iter()
            .map(|object| sizes.get(object).copied().unwrap_or(0))
            .sum()
    };
    let live = reached(&graph, &roots, None);
    let on_heap = live.iter().filter_map(|object| {
        let rest = reached(&graph, &roots, Some(*object));
        let retained = size_of(&live) - size_of(&rest);
        Some((*object, (*sizes.get(object)?, retained)))
    });
    Some(on_heap.collect())
}

fn reached(graph: &Graph, roots: &[u32], removed: Option<u32>) -> BTreeSet<u32> {
    let mut pending = roots.to_vec();
    let mut reached = BTreeSet::new();
    while let Some(object) = pending.pop() {
        if Some(object) != removed && reached.insert(object) {
            pending.extend(&graph[&object]);
        }
    }
    reached
}

struct Memory<'a>(&'a [u8]);

impl Memory<'_> {
    fn word(&self, address: u32) -> Option<u32> {
        let bytes = self.0.get(address as usize..)?.get(..4)?;
        Some(u32::from_le_bytes(bytes.try_into().unwrap()))
    }

    /// The managed objects of the heap with the sizes of their blocks.
    fn objects(&self) -> Option<BTreeMap<u32, u32>> {
        let tail = self.word(TAIL_POINTER).filter(|&tail| tail != 0)?;
        let mut objects = BTreeMap::new();
        let mut block = FIRST_BLOCK;
        while block < tail {
            let size = self.word(block)? & !3;
            if size == 0 {
                return None;
            }
            if self.word(block)? & 1 == 0 && self.is_linked(block) {
                objects.insert(block + 20, size + 4);
            }
            block = block.checked_add(size)?.checked_add(4)?;
        }
        (block == tail && ALLOCATOR < block).then_some(objects)
    }

    fn is_linked(&self, block: u32) -> bool {
        let links = || {
            let next = self.word(block + 4)? & !3;
            let previous = self.word(block + 8)?;
            let back = self.word(next.checked_add(8)?)?;
            let forth = self.word(previous.checked_add(4)?)? & !3;
            // The header must be in memory.
            self.word(block + 16)?;
            Some(back == block && forth == block)
        };
        links() == Some(true)
    }

    /// Everything below the heap that looks like an object.
    fn statics(&self) -> impl Iterator<Item = u32> {
        let class_count = self.word(crate::support::RTTI_BASE).unwrap_or(0);
        (32..=DATA_END).step_by(16).filter(move |&payload| {
            let looks = || {
                let block = payload - 20;
                let size = self.word(payload - 4)?;
                let fits = payload.checked_add(size)? <= DATA_END;
                let block_size = size.checked_add(20)?.checked_next_multiple_of(16)? - 4;
                let is_unlinked = self.word(block + 4)? == 0 && self.word(block + 8)? == 0;
                Some(
                    fits && self.word(block)? == block_size
                        && (is_unlinked || self.is_linked(block))
                        && self.word(payload - 8)? < class_count,
                )
            };
            looks() == Some(true)
        })
    }

    fn roots(&self, dump: &DumpFile, scene: &Scene, all: &BTreeSet<u32>) -> Option<Vec<u32>> {
        let mut words = Vec::new();
        let variables = scene.globals.iter().filter(|global| global.is_in_dump());
        for (nth, global) in (0..).zip(variables) {
            if global.name == "assembly/index/root" {
                let at = 24 + 4 * nth;
                let bytes = dump.bytes.get(at..at + 4)?;
                words.push(u32::from_le_bytes(bytes.try_into().unwrap()));
            }
        }
        let top = u32::from_le_bytes(dump.bytes.get(16..20)?.try_into().unwrap());
        words.extend(
            (top..HEAP_BASE.saturating_sub(3))
                .step_by(4)
                .filter_map(|at| self.word(at)),
        );
        let pinned = all
            .iter()
            .copied()
            .filter(|&object| self.word(object - 16).is_some_and(|next| next & 3 == 3));
        words.extend(pinned);
        words.retain(|word| all.contains(word));
        Some(words)
    }

    /// The payload's start and length, cut where the block ends.
    fn payload(&self, object: u32) -> (u32, u32) {
        let word = |address| self.word(address).unwrap_or(0);
        let room = (word(object - 20) & !3).saturating_sub(16);
        (object, word(object - 4).min(room))
    }

    fn references(&self, object: u32, all: &BTreeSet<u32>, truth: &Truth) -> Vec<u32> {
        const VIEW: u32 = 3;
        let id = self.word(object - 8);
        let kind = id.and_then(|id| truth.kinds.get(&id));
        let (start, size) = self.payload(object);
        let at = |offset: u32| {
            let is_inside = offset.checked_add(4).is_some_and(|end| end <= size);
            is_inside.then(|| self.word(start + offset)).flatten()
        };
        let is_object = |word: &u32| all.contains(word);
        // The contents of a container, within its buffer.
        let buffer = |field: u32| {
            at(field)
                .filter(is_object)
                .map(|buffer| self.payload(buffer))
        };
        let word_in = |(start, size): (u32, u32), offset: u32| {
            let is_inside = offset.checked_add(4).is_some_and(|end| end <= size);
            is_inside.then(|| self.word(start + offset)).flatten()
        };
        let mut words: Vec<Option<u32>> = Vec::new();
        let Some(kind) = kind else {
            // A class that every program has.
            words.extend((id == Some(VIEW)).then(|| at(0)));
            return words.into_iter().flatten().filter(is_object).collect();
        };
        match kind {
            Kind::Node | Kind::StaticNode => words.extend([at(0), at(8), at(12)]),
            Kind::Text => {}
            Kind::StaticArray => words.extend((0..size / 4).map(|nth| at(4 * nth))),
            Kind::Array => {
                words.push(at(0));
                if let (Some(buffer), Some(data), Some(length)) = (buffer(0), at(4), at(12))
                    && let Some(skipped) = data.checked_sub(buffer.0)
                {
                    let room = buffer.1.saturating_sub(skipped) / 4;
                    let elements = 0..length.min(room);
                    words.extend(elements.map(|nth| word_in(buffer, skipped + 4 * nth)));
                }
            }
            Kind::Map | Kind::Set => {
                words.extend([at(0), at(8)]);
                let (stride, tag) = if matches!(kind, Kind::Map) {
                    (24, 16)
                } else {
                    (8, 4)
                };
                if let (Some(buffer), Some(count)) = (buffer(8), at(16)) {
                    let entries = (0..count.min(buffer.1 / stride)).map(|nth| nth * stride);
                    let left = entries.filter(|&entry| {
                        word_in(buffer, entry + tag).is_some_and(|tag| tag & 1 == 0)
                    });
                    words.extend(left.map(|entry| word_in(buffer, entry)));
                }
            }
            Kind::Tuple => {
                let Some(bitmap) = size.checked_sub(8) else {
                    return Vec::new();
                };
                for bit in 0..64 {
                    let half = at(bitmap + bit / 32 * 4).unwrap_or(0);
                    if half >> (bit % 32) & 1 == 1 && 4 * bit < bitmap {
                        words.push(at(4 * bit));
                    }
                }
            }
        }
        words.into_iter().flatten().filter(is_object).collect()
    }
}
