//! Raw blocks, regions with foreign pages between them, and large memories.

use super::{assert_keeps, node_class};
use crate::support::{
    ARRAY_BUFFER, FIRST_BLOCK, NULL, NeverCompiled, PAGE, Scene, analyze, live, retained, warnings,
};
use engine::heap::Heap;

#[test]
fn a_heap_that_was_never_used_has_no_objects() {
    let heap = Scene::new().analyze();
    assert_eq!(heap.objects.len(), 0);
    assert_eq!(heap.total_size, Some(u64::from(PAGE - FIRST_BLOCK)));
}

#[test]
fn raw_memory_that_looks_like_an_object_is_not_an_object() {
    let mut scene = Scene::new();
    let node = node_class(&mut scene);
    let object = scene.object(node, 8);
    // A copy of a header: its neighbours do not point back.
    let imitation = scene.raw(&[object.block() | 3, object.block(), node.id, 8, object.0, 0]);
    scene.push_on_stack(imitation + 20);
    assert_eq!(live(&scene.analyze()), []);
}

#[test]
fn raw_blocks_that_point_at_each_other_are_in_no_list() {
    let mut scene = Scene::new();
    let node = node_class(&mut scene);
    let object = scene.object(node, 8);
    let first = scene.raw(&[0; 7]);
    let second = scene.raw(&[0; 7]);
    scene.write(first + 4, &[second | 3, second, node.id, 8, object.0]);
    scene.write(second + 4, &[first | 3, first, node.id, 8, object.0]);
    let heap = scene.analyze();
    assert_eq!(live(&heap), []);
    assert_eq!(warnings(&heap), [""; 0]);
}

/// Two objects in two regions with foreign pages between them, filled by `fill`, which gets the
/// address of the first page that could begin a region.
#[track_caller]
fn assert_second_region_is_found(pages: u32, fill: impl FnOnce(&mut Scene, u32)) {
    let mut scene = Scene::new();
    let node = node_class(&mut scene);
    let first = scene.object(node, 8);
    let foreign = scene.foreign_pages(pages);
    fill(&mut scene, foreign + PAGE);
    let second = scene.object(node, 8);
    scene.set(first, 0, second);
    scene.push_on_stack(first);
    let heap = scene.analyze();
    assert_eq!(live(&heap), [first, second]);
    assert_eq!(warnings(&heap), [""; 0]);

    // The lists distinguish foreign bytes from blocks. If they are damaged or not known, only the rules for
    // blocks are used.
    for global in &mut scene.globals {
        global.name = global.name.replace("itcms", "unknown");
    }
    let mut dump = scene.dump();
    dump.poke(FIRST_FREE_LIST, PAGE - 4);
    let heap = analyze(&dump, &scene.module()).unwrap();
    assert_eq!(live(&heap), [first, second]);
    // A forged region may hold no object, but it would not be a gap.
    assert_eq!(
        heap.accounting.as_ref().unwrap().gaps,
        u64::from(pages * PAGE)
    );
}

/// The head of the list of the smallest free blocks.
const FIRST_FREE_LIST: u32 = crate::support::ALLOCATOR + 96;

/// A block that fills a region of one page, and where such a region ends.
const WHOLE_PAGE: u32 = PAGE - 20;

const FIRST_IN_PAGE: u32 = 12;

const LAST_IN_PAGE: u32 = PAGE - 4;

#[test]
fn a_region_after_a_single_foreign_page_is_found() {
    assert_second_region_is_found(1, |_, _| {});
}

#[test]
fn a_region_after_many_foreign_pages_is_found() {
    assert_second_region_is_found(500, |_, _| {});
}

#[test]
fn foreign_bytes_whose_free_block_does_not_point_back_are_not_a_region() {
    assert_second_region_is_found(3, |scene, page| {
        scene.write(page + FIRST_IN_PAGE, &[WHOLE_PAGE | 1]);
        scene.write(page + LAST_IN_PAGE, &[2]);
    });
}

#[test]
fn foreign_bytes_whose_block_does_not_know_its_free_neighbour_are_not_a_region() {
    assert_second_region_is_found(3, |scene, page| {
        scene.write(page + FIRST_IN_PAGE, &[WHOLE_PAGE | 1]);
        scene.write(page + LAST_IN_PAGE - 4, &[page + FIRST_IN_PAGE, 0]);
    });
}

#[test]
fn foreign_bytes_whose_first_block_has_a_free_neighbour_are_not_a_region() {
    assert_second_region_is_found(3, |scene, page| {
        scene.write(page + FIRST_IN_PAGE, &[WHOLE_PAGE | 2]);
    });
}

#[test]
fn foreign_bytes_with_two_free_blocks_in_a_row_are_no_region() {
    assert_second_region_is_found(3, |scene, page| {
        let (first, second) = (page + FIRST_IN_PAGE, page + FIRST_IN_PAGE + 16);
        scene.write(first, &[12 | 1, 0, 0, first]);
        scene.write(second, &[(WHOLE_PAGE - 16) | 3]);
        scene.write(page + LAST_IN_PAGE - 4, &[second, 2]);
    });
}

#[test]
fn foreign_bytes_that_end_in_the_middle_of_a_page_are_no_region() {
    assert_second_region_is_found(3, |scene, page| {
        scene.write(page + FIRST_IN_PAGE, &[28]);
    });
}

#[test]
fn foreign_bytes_whose_block_is_not_aligned_are_not_a_region() {
    assert_second_region_is_found(3, |scene, page| {
        scene.write(page + FIRST_IN_PAGE, &[WHOLE_PAGE + 4]);
    });
}

#[test]
fn objects_in_many_regions_are_found() {
    let mut scene = Scene::new();
    let node = node_class(&mut scene);
    let mut all = vec![scene.object(node, 8)];
    for region in 1..20 {
        scene.foreign_pages(1 + region % 3);
        scene.raw(&vec![0; region as usize * 10_000]);
        let object = scene.object(node, 8);
        scene.set(all[all.len() - 1], 0, object);
        all.push(object);
    }
    scene.push_on_stack(all[0]);
    let heap = scene.analyze();
    assert_eq!(live(&heap), all);
    assert_eq!(warnings(&heap), [""; 0]);
}

#[test]
fn a_free_block_of_more_than_two_gibibytes_is_walked_over() {
    let mut scene = Scene::new();
    let node = node_class(&mut scene);
    scene.free_block(0x9000_0000);
    let behind = scene.object(node, 8);
    scene.push_on_stack(behind);
    let heap = scene.analyze();
    assert_eq!(live(&heap), [behind]);
    assert!(behind.0 > 0x9000_0000);
}

#[test]
fn sums_are_exact_past_two_gibibytes() {
    const GIBIBYTE: u32 = 1 << 30;
    let mut scene = Scene::new();
    let node = scene.class("assembly/index/Owner");
    for nth in 0..3 {
        scene.field(node, &format!("buffer{nth}"), nth * 4, NeverCompiled);
    }
    let buffers = [(); 3].map(|()| scene.object(ARRAY_BUFFER, GIBIBYTE - 20));
    let owner = scene.object_of(node, &buffers.map(u32::from));
    scene.push_on_stack(owner);
    let heap = scene.analyze();
    let expected = 3 * u64::from(GIBIBYTE) + 32;
    assert_eq!(heap.live_size, expected);
    assert_eq!(u64::from(retained(&heap, owner)), expected);
    assert_eq!(warnings(&heap), [""; 0]);
}

/// Every byte of the heap belongs to the allocator: the walk visited each block once.
#[test]
fn a_full_memory_up_to_its_last_byte_is_walked() {
    let mut scene = Scene::new();
    let node = node_class(&mut scene);
    let room = PAGE - 4 - FIRST_BLOCK;
    let object = scene.object(node, room - 20);
    scene.push_on_stack(object);
    let heap: Heap = scene.analyze();
    assert_eq!(Some(heap.live_size + 4), heap.total_size);
    assert_eq!(scene.dump().memory_size(), u64::from(PAGE));
}

#[test]
fn a_null_reference_keeps_nothing() {
    let mut scene = Scene::new();
    let node = node_class(&mut scene);
    let root = scene.object_of(node, &[NULL]);
    assert_keeps(&mut scene, root, &[]);
}
