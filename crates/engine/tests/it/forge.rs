//! The forge against the engine: an analysis must find the facts about a heap that are known by construction.

use std::collections::{BTreeMap, BTreeSet};

use crate::support::forge::random::{Permutation, Random};
use crate::support::forge::{Forge, Shape, Size, Truth};
use crate::support::{ALLOCATOR, DumpFile, FIRST_BLOCK, LIST_HEADS, Object, PAGE, TAIL_POINTER};
use crate::support::{analyze, live, retained, warnings};
use engine::heap::Heap;

fn forge(shape: &str, size: Size, seed: u64) -> Forge {
    Forge::new(Shape::named(shape).unwrap(), size, seed)
}

/// The results of the engine must be the facts that the forge knows.
fn assert_true(name: &str, heap: &Heap, truth: &Truth) {
    assert_eq!(warnings(heap), [""; 0], "{name}");
    let live = heap.live_heap_objects().count() as u64;
    assert_eq!(live, truth.live.count, "{name}");
    let on_heap = heap.objects.shallow_sizes.iter().filter(|&&size| size > 0);
    let managed = truth.live.count + truth.garbage.count;
    assert_eq!(on_heap.count() as u64, managed, "{name}");

    let parts = heap.accounting.as_ref().unwrap();
    assert_eq!(parts.live.global, truth.live.bytes, "{name}");
    assert_eq!(parts.garbage, truth.garbage.bytes, "{name}");
    assert_eq!(parts.raw, truth.raw.bytes, "{name}");
    assert_eq!(parts.free.bytes, truth.free.bytes, "{name}");
    assert_eq!(parts.free.blocks, truth.free.count, "{name}");
    assert_eq!(parts.overhead, truth.overhead, "{name}");
    assert_eq!(parts.gaps, truth.gaps, "{name}");
    let used = heap.live_size + parts.garbage + parts.raw;
    let rest = parts.free.bytes + parts.overhead + parts.gaps;
    assert_eq!(Some(used + rest), heap.total_size, "{name}");

    assert!(!truth.retained.is_empty(), "{name}");
    for &(object, bytes) in &truth.retained {
        let found = u64::from(retained(heap, object));
        assert_eq!(found, bytes, "{name} {object:?}");
    }
}

fn assert_analysis_is_true(shape: Shape, size: Size) {
    let forge = Forge::new(shape, size, 1);
    let (dump, truth) = forge.dump();
    let heap = analyze(&dump, &forge.module()).unwrap();
    assert_true(shape.name, &heap, &truth);
}

#[test]
fn an_analysis_finds_the_facts_of_a_forged_heap() {
    for shape in Shape::ALL {
        assert_analysis_is_true(*shape, Size::Objects(5_000));
    }
}

#[test]
fn a_chain_of_a_million_objects_is_an_ordinary_heap() {
    let shape = Shape::named("chain").unwrap();
    assert_analysis_is_true(shape, Size::Objects(1_000_000));
}

#[test]
fn ten_thousand_classes_are_an_ordinary_program() {
    let shape = Shape::named("classes").unwrap();
    assert_analysis_is_true(shape, Size::Objects(10_100));
}

#[test]
fn a_class_with_ten_thousand_bases_is_an_ordinary_class() {
    let shape = Shape::named("hierarchy").unwrap();
    assert_analysis_is_true(shape, Size::Objects(10_100));
}

#[test]
fn retained_sizes_are_those_of_the_definition_in_every_shape() {
    for shape in Shape::ALL {
        let forge = Forge::new(*shape, Size::Objects(150), 1);
        let (dump, truth) = forge.dump_with_references();
        let heap = analyze(&dump, &forge.module()).unwrap();
        let objects = live(&heap);
        let root = Object(heap.memory_address(heap.roots[0].0).0);
        let graph = Graph::new(root, &truth.references);
        let reached = graph.reached_without(None);
        assert!(objects.iter().eq(&reached), "{}", shape.name);
        // Of shapes that come in large units only, some objects will do.
        for &object in objects.iter().step_by(objects.len().div_ceil(150)) {
            let rest = graph.reached_without(Some(object));
            let lost = reached.difference(&rest).map(|&object| size(&dump, object));
            let found = retained(&heap, object);
            assert_eq!(found, lost.sum::<u32>(), "{} {object:?}", shape.name);
        }
    }
}

struct Graph {
    root: Object,
    references: BTreeMap<Object, Vec<Object>>,
}

impl Graph {
    fn new(root: Object, references: &[(Object, Object)]) -> Self {
        let mut graph = Self {
            root,
            references: BTreeMap::new(),
        };
        for &(from, to) in references {
            graph.references.entry(from).or_default().push(to);
        }
        graph
    }

    fn reached_without(&self, removed: Option<Object>) -> BTreeSet<Object> {
        let mut pending = vec![self.root];
        let mut reached = BTreeSet::new();
        while let Some(object) = pending.pop() {
            if Some(object) != removed && reached.insert(object) {
                pending.extend(self.references.get(&object).into_iter().flatten());
            }
        }
        reached
    }
}

/// The size of an object's block.
fn size(dump: &DumpFile, object: Object) -> u32 {
    (dump.peek(object.block()) & !3) + 4
}

#[test]
fn the_collectors_list_has_every_object_once_in_both_directions() {
    for name in ["mix", "shuffled", "regions"] {
        let (dump, truth) = forge(name, Size::Objects(5_000), 1).dump();
        let head = LIST_HEADS[0];
        let mut members = BTreeSet::new();
        let (mut previous, mut block) = (head, dump.peek(head + 4));
        while block != head {
            assert_eq!(dump.peek(block + 8), previous, "{name}");
            assert!(members.insert(block), "{name}");
            (previous, block) = (block, dump.peek(block + 4));
        }
        assert_eq!(dump.peek(head + 8), previous, "{name}");
        let managed = truth.live.count + truth.garbage.count;
        assert_eq!(members.len() as u64, managed, "{name}");
    }
}

#[test]
fn the_allocators_lists_have_every_free_block_in_the_class_of_its_size() {
    let (dump, truth) = forge("regions", Size::Objects(5_000), 1).dump();
    let mut found = 0;
    for (nth, head) in (ALLOCATOR + 96..TAIL_POINTER).step_by(4).enumerate() {
        let (first, second) = (nth / 16, nth % 16);
        let mut block = dump.peek(head);
        let is_marked = dump.peek(ALLOCATOR + 4 + 4 * first as u32) >> second & 1 == 1;
        assert_eq!(is_marked, block != 0);
        while block != 0 {
            let payload = dump.peek(block) & !3;
            // Below 256 bytes by 16, above that 16 classes to each power of two.
            let smallest = match first {
                0 => 16 * second as u32,
                _ => (16 + second as u32) << (first + 3),
            };
            let step = if first == 0 { 16 } else { 1 << (first + 3) };
            assert!((smallest..smallest + step).contains(&payload));
            assert_eq!(dump.peek(block + payload), block);
            found += 1;
            block = dump.peek(block + 8);
        }
    }
    assert_eq!(found, truth.free.count);
}

#[test]
fn the_same_seed_forges_the_same_bytes_and_another_seed_others() {
    for shape in Shape::ALL {
        let bytes = |seed| {
            let forge = Forge::new(*shape, Size::Objects(1_000), seed);
            forge.dump().0.bytes
        };
        assert!(bytes(1) == bytes(1), "{}", shape.name);
        // A tree and a chain have nothing to choose.
        let is_fixed = ["tree", "chain"].contains(&shape.name);
        assert_eq!(bytes(1) == bytes(2), is_fixed, "{}", shape.name);
    }
}

#[test]
fn a_memory_is_as_large_as_asked_and_as_full_as_can_be() {
    for shape in Shape::ALL.iter().filter(|shape| shape.name != "regions") {
        let size = 40 * u64::from(PAGE);
        let (dump, truth) = Forge::new(*shape, Size::Memory(size), 1).dump();
        assert_eq!(dump.memory_size(), size, "{}", shape.name);
        // The rest is smaller than the largest unit, a thousand objects and their array.
        assert!(truth.free.bytes < u64::from(PAGE), "{}", shape.name);
    }
}

#[test]
fn a_heap_in_a_file_is_the_heap_in_memory() {
    let forge = forge("mix", Size::Objects(2_000), 1);
    let (dump, truth) = forge.dump();
    let name = format!("warpo-forge-{}.dump", std::process::id());
    let path = std::env::temp_dir().join(name);
    let written = forge.write_to(&path);
    let read = std::fs::read(&path);
    std::fs::remove_file(&path).unwrap();
    assert_eq!(written.unwrap(), truth);
    assert!(read.unwrap() == dump.bytes);
}

#[test]
fn two_regions_have_foreign_pages_between_them() {
    let (dump, truth) = forge("regions", Size::Objects(5_000), 1).dump();
    assert!(truth.gaps >= 2 * u64::from(PAGE));
    let mut block = FIRST_BLOCK;
    while dump.peek(block) & !3 != 0 {
        block += (dump.peek(block) & !3) + 4;
    }
    assert!(block < dump.peek(TAIL_POINTER));
}

#[test]
fn a_permutation_has_every_number_once_and_finds_it_again() {
    for count in [1, 2, 3, 16, 17, 1000, 4095] {
        let order = Permutation::new(count, &mut Random::new(count.into()));
        let mut numbers: Vec<u32> = (0..count).map(|position| order.at(position)).collect();
        assert!((0..count).all(|position| order.position_of(order.at(position)) == position));
        numbers.sort_unstable();
        assert!(numbers.into_iter().eq(0..count));
    }
}
