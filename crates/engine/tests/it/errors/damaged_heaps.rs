//! Heaps whose memory contradicts itself.

use super::*;

const CORRUPT_ADVICE: &str =
    "; capture the dump again; if the error remains, look for code that writes outside its objects";

#[test]
fn a_block_with_an_impossible_size_is_refused() {
    // All ones; not 12 more than a multiple of 16; past the end; 2 GiB and more; back to itself.
    for header in [0xffff_ffff, 0x20, 0x1fffc, 0x8000_000c, 0xffff_fffc, 8, 4] {
        assert_dump_fails(
            |dump| dump.poke(FIRST_BLOCK, header),
            "ERR_HEAP_CORRUPT",
            &format!(
                "heap.dump: the heap is corrupt at address {FIRST_BLOCK:#x}: found a block header of {header:#x} ({} bytes), expected a block whose size is 12 more than a multiple of 16 and that ends inside the heap{CORRUPT_ADVICE}",
                header & !3
            ),
        );
    }
}

#[test]
fn a_tail_pointer_outside_the_heap_is_refused() {
    for tail in [PAGE, PAGE - 3, u32::MAX, FIRST_BLOCK - 16] {
        assert_dump_fails(
            |dump| dump.poke(TAIL_POINTER, tail),
            "ERR_HEAP_CORRUPT",
            &format!(
                "heap.dump: the heap is corrupt at address {tail:#x}: found the allocator's tail pointer there, but the heap reaches from {FIRST_BLOCK:#x} to 0x10000, expected a tail inside the heap (was the dump cut short?){CORRUPT_ADVICE}"
            ),
        );
    }
}

#[test]
fn a_heap_that_looks_unused_but_has_objects_is_refused() {
    let scene = small_scene();
    let total = scene.total();
    assert_dump_fails(
        |dump| dump.poke(TAIL_POINTER, 0),
        "ERR_HEAP_CORRUPT",
        &format!(
            "heap.dump: the heap is corrupt at address {FIRST_BLOCK:#x}: found an allocator that was never used, although the collector counts {total} bytes of objects, expected the allocator's tail pointer{CORRUPT_ADVICE}"
        ),
    );
}

#[test]
fn a_region_that_ends_before_the_tail_without_another_one_is_refused() {
    assert_dump_fails(
        |dump| dump.poke(FIRST_BLOCK, 0),
        "ERR_HEAP_CORRUPT",
        &format!(
            "heap.dump: the heap is corrupt at address {FIRST_BLOCK:#x}: found the end of a region and no further region, expected regions up to the one that the allocator's tail pointer names{CORRUPT_ADVICE}"
        ),
    );
}

#[test]
fn a_missing_region_in_a_memory_full_of_lookalikes_is_refused() {
    let mut scene = small_scene();
    let foreign = scene.foreign_pages(1600);
    // Chains of plausible blocks that start on every page, run into each other and never end well.
    for page in 0..1600 {
        let start = foreign + page * PAGE;
        for block in (start + 12..start + PAGE).step_by(32) {
            scene.write(block, &[28]);
        }
    }
    scene.class("assembly/index/Other");
    let mut dump = scene.dump();
    let tail = dump.peek(TAIL_POINTER);
    dump.poke(tail - 16, 0);
    dump.poke(TAIL_POINTER, tail - 16);
    let address = foreign - 4;
    let text = format!(
        "heap.dump: the heap is corrupt at address {address:#x}: found the end of a region and no further region, expected regions up to the one that the allocator's tail pointer names{CORRUPT_ADVICE}"
    );
    let module = scene.module();
    let error = analyze(&dump, &module).unwrap_err();
    assert_eq!(error.to_string(), text);
}

#[test]
fn arrays_that_share_one_buffer_do_not_fill_the_memory() {
    let mut scene = Scene::new();
    let node = scene.class("assembly/index/Node");
    let nodes = scene.generic("~lib/array/Array<assembly/index/Node>", &[&node]);
    let one = scene.object(node, 8);
    let buffer = scene.object_of(crate::support::ARRAY_BUFFER, &[one.0; 4000]);
    for _ in 0..600 {
        scene.array_over(nodes, buffer, 4000);
    }
    let words = scene.dump().memory_size() / 4;
    assert_fails(
        move || scene.try_analyze(),
        "ERR_TOO_MANY_REFERENCES",
        &format!(
            "heap.dump: more than {words} references, which is more than the memory has words: several containers refer to the same buffer, so the heap is corrupt or the dump is of another module; capture the dump again and pass the .wasm file that was running"
        ),
    );
}
