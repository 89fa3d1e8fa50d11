//! Containers with references in unusual places, and with wrong counts.

use super::{assert_keeps, node_class};
use crate::support::{ARRAY_BUFFER, NeverCompiled, STRING, Scene, Type, analyze, live, warnings};
use engine::Warning;

#[test]
fn a_small_tuple_refers_to_the_words_of_its_bitmap() {
    let mut scene = Scene::new();
    let node = node_class(&mut scene);
    let tuple = scene.class("~lib/tuple/SmallTuple");
    let nodes = [(); 4].map(|()| scene.object(node, 8));
    let [a, b, c, d] = nodes.map(u32::from);
    let root = scene.object_of(tuple, &[a, b, c, d, 0b1010, 0]);
    assert_keeps(&mut scene, root, &[nodes[1], nodes[3]]);
}

#[test]
fn a_small_tuple_uses_all_64_bits_of_its_bitmap() {
    let mut scene = Scene::new();
    let node = node_class(&mut scene);
    let tuple = scene.class("~lib/tuple/SmallTuple");
    let (first, last) = (scene.object(node, 8), scene.object(node, 8));
    let mut words = [0; 66];
    words[31] = first.0;
    words[63] = last.0;
    words[64] = 1 << 31;
    words[65] = 1 << 31;
    let root = scene.object_of(tuple, &words);
    assert_keeps(&mut scene, root, &[first, last]);
}

#[test]
fn a_small_tuple_whose_bitmap_reaches_beyond_it_is_a_warning() {
    let mut scene = Scene::new();
    let node = node_class(&mut scene);
    let tuple = scene.class("~lib/tuple/SmallTuple");
    let kept = scene.object(node, 8);
    // Bit 1 would be the bitmap itself.
    let root = scene.object_of(tuple, &[kept.0, 0b11, 0]);
    scene.push_on_stack(root);
    let heap = scene.analyze();
    assert_eq!(live(&heap), [kept, root]);
    assert_eq!(heap.warnings[0].code(), "WARN_CONTENTS_DO_NOT_FIT");
}

#[test]
fn a_function_refers_to_its_environment_and_not_to_its_index() {
    let mut scene = Scene::new();
    let node = node_class(&mut scene);
    let function = scene.class("~lib/function/Function<(i32)=>i32>");
    scene.field(function, "_index", 0, "u32");
    scene.field(function, "_env", 4, "usize");
    let (index, environment) = (scene.object(node, 8), scene.object(node, 8));
    let root = scene.object_of(function, &[index.0, environment.0]);
    assert_keeps(&mut scene, root, &[environment]);
}

#[test]
fn a_subclass_of_an_array_is_an_array_with_any_name() {
    let mut scene = Scene::new();
    let node = node_class(&mut scene);
    let array = scene.generic("~lib/array/Array<assembly/index/Node>", &[&node]);
    let stack = scene.class("assembly/index/NodeStack");
    scene.inherit(stack, array);
    scene.field(stack, "label", 16, STRING_FIELD);
    let (element, label) = (scene.object(node, 8), scene.object(STRING, 8));
    let buffer = scene.object_of(ARRAY_BUFFER, &[element.0]);
    let root = scene.object_of(stack, &[buffer.0, buffer.0, 4, 1, label.0]);
    assert_keeps(&mut scene, root, &[element, label, buffer]);
}

/// Strings are not described in these scenes, which is just another unresolved type.
const STRING_FIELD: NeverCompiled = NeverCompiled;

#[test]
fn an_array_that_was_shifted_refers_to_the_remaining_elements() {
    let mut scene = Scene::new();
    let node = node_class(&mut scene);
    let array = scene.generic("~lib/array/Array<assembly/index/Node>", &[&node]);
    let (gone, left) = (scene.object(node, 8), scene.object(node, 8));
    let buffer = scene.object_of(ARRAY_BUFFER, &[gone.0, left.0]);
    let root = scene.object_of(array, &[buffer.0, buffer.0 + 4, 4, 1]);
    assert_keeps(&mut scene, root, &[left, buffer]);
}

#[test]
fn an_array_of_two_billion_elements_in_a_small_buffer_is_a_warning_and_no_wait() {
    let mut scene = Scene::new();
    let node = node_class(&mut scene);
    let array = scene.generic("~lib/array/Array<assembly/index/Node>", &[&node]);
    let element = scene.object(node, 8);
    let buffer = scene.object_of(ARRAY_BUFFER, &[element.0; 4]);
    let root = scene.array_over(array, buffer, i32::MAX as u32);
    scene.push_on_stack(root);
    let heap = scene.analyze();
    assert_eq!(live(&heap), [element, buffer, root]);
    assert_eq!(heap.warnings[0].code(), "WARN_CONTENTS_DO_NOT_FIT");
}

#[test]
fn an_array_whose_data_begins_outside_its_buffer_is_a_warning() {
    for data_start in [0u32, 1 << 31, u32::MAX] {
        let mut scene = Scene::new();
        let node = node_class(&mut scene);
        let array = scene.generic("~lib/array/Array<assembly/index/Node>", &[&node]);
        let buffer = scene.object_of(ARRAY_BUFFER, &[0; 4]);
        let root = scene.object_of(array, &[buffer.0, data_start, 16, 4]);
        scene.push_on_stack(root);
        let heap = scene.analyze();
        assert_eq!(live(&heap), [buffer, root]);
        assert_eq!(heap.warnings[0].code(), "WARN_CONTENTS_DO_NOT_FIT");
    }
}

#[test]
fn a_map_with_more_entries_than_its_buffer_holds_is_a_warning_and_no_wait() {
    let mut scene = Scene::new();
    let node = node_class(&mut scene);
    let map = scene.generic("~lib/map/Map<i32,assembly/index/Node>", &[&"i32", &node]);
    let value = scene.object(node, 8);
    let root = scene.entries(map, u32::MAX, &[1, value.0, 0]);
    scene.push_on_stack(root);
    let heap = scene.analyze();
    assert!(live(&heap).contains(&value));
    assert_eq!(heap.warnings[0].code(), "WARN_CONTENTS_DO_NOT_FIT");
}

#[test]
fn an_object_that_claims_more_than_its_block_is_a_warning_and_no_wait() {
    let mut scene = Scene::new();
    let node = node_class(&mut scene);
    let element = scene.object(node, 8);
    let array = scene.generic(
        "~lib/staticarray/StaticArray<assembly/index/Node>",
        &[&node],
    );
    let root = scene.object_of(array, &[element.0]);
    scene.push_on_stack(root);
    let mut dump = scene.dump();
    dump.poke(root.0 - 4, u32::MAX);
    let heap = analyze(&dump, &scene.module()).unwrap();
    assert_eq!(live(&heap), [element, root]);
    let codes: Vec<_> = heap.warnings.iter().map(Warning::code).collect();
    assert_eq!(
        codes,
        ["WARN_HEAP_INCONSISTENT", "WARN_CONTENTS_DO_NOT_FIT"]
    );
}

/// One column of an entry as the compiler lays it out.
#[derive(Clone, Copy)]
struct Column {
    type_name: &'static str,
    size: u32,
    is_reference: bool,
}

const COLUMNS: [Column; 6] = [
    column("bool", 1),
    column("u16", 2),
    column("f32", 4),
    column("i64", 8),
    column("v128", 16),
    Column {
        is_reference: true,
        ..column("reference", 4)
    },
];

const fn column(type_name: &'static str, size: u32) -> Column {
    Column {
        type_name,
        size,
        is_reference: false,
    }
}

/// Offsets of fields of these sizes in a class, and where the class ends.
fn class_layout(sizes: &[u32]) -> (Vec<u32>, u32) {
    let mut end = 0u32;
    let offsets = sizes.iter().map(|&size| {
        let offset = end.next_multiple_of(size);
        end = offset + size;
        offset
    });
    (offsets.collect(), end)
}

/// Three entries, of which the middle one was deleted; `columns` are the key and maybe the value.
fn assert_entries_are_read(columns: &[Column]) {
    let mut scene = Scene::new();
    let node = node_class(&mut scene);
    let names: Vec<_> = columns.iter().map(|column| column.type_name).collect();
    let types: Vec<&dyn Type> = columns
        .iter()
        .map(|column| {
            if column.is_reference {
                &node as &dyn Type
            } else {
                &column.type_name
            }
        })
        .collect();
    let container = match columns.len() {
        1 => format!("~lib/set/Set<{}>", names.join(",")),
        _ => format!("~lib/map/Map<{}>", names.join(",")),
    };
    let class = scene.generic(&container, &types);

    let sizes: Vec<u32> = columns.iter().map(|column| column.size).collect();
    let (offsets, end) = class_layout(&[sizes.as_slice(), &[4]].concat());
    let widest = sizes.iter().copied().max().unwrap().max(4);
    let stride = end.next_multiple_of(widest);
    let buckets = scene.object(ARRAY_BUFFER, 16);
    let buffer = scene.object(ARRAY_BUFFER, stride * 4);
    let root = scene.object_of(class, &[buckets.0, 3, buffer.0, 4, 3, 2]);
    let mut kept = vec![buckets, buffer, root];
    for nth in 0..3 {
        let is_deleted = nth == 1;
        for (column, &offset) in columns.iter().zip(&offsets) {
            if column.is_reference {
                let target = scene.object(node, 8);
                scene.set(buffer, nth * stride + offset, target);
                if !is_deleted {
                    kept.push(target);
                }
            }
        }
        let tagged_next = nth * stride + offsets[columns.len()];
        scene.set(buffer, tagged_next, u32::from(is_deleted));
    }
    scene.push_on_stack(root);
    let heap = scene.analyze();
    assert_eq!(live(&heap), kept, "{container}");
    assert_eq!(warnings(&heap), [""; 0], "{container}");
}

#[test]
fn sets_of_every_width_keep_their_keys() {
    for key in COLUMNS {
        assert_entries_are_read(&[key]);
    }
}

#[test]
fn maps_of_every_width_keep_their_keys_and_values() {
    for key in COLUMNS {
        for value in COLUMNS {
            assert_entries_are_read(&[key, value]);
        }
    }
}
