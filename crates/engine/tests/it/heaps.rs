//! Heaps that real programs rarely have: rare classes, missing or unusual descriptions, wrong contents,
//! memories that are large or full of foreign bytes.
//!
//! For ordinary programs, the runtime's own collector is the judge, in the tests under Node.

use crate::support::{
    ARRAY_BUFFER, ARRAY_BUFFER_VIEW, Class, FIRST_BLOCK, NULL, NeverCompiled, OBJECT, Object, PAGE,
    STRING, Scene, Type, WasmGlobal, analyze, class_name, flags, live, retained, warnings,
};
use engine::Warning;
use engine::heap::Heap;

/// A class with the one field `next`, which can refer to anything that is described.
fn node_class(scene: &mut Scene) -> Class {
    let node = scene.class("assembly/index/Node");
    scene.field(node, "next", 0, node);
    node
}

/// A scene in which an object of `class` is the only root, and the objects of `others` that it keeps alive.
#[track_caller]
fn assert_keeps(scene: &mut Scene, root: Object, others: &[Object]) {
    scene.push_on_stack(root);
    let heap = scene.analyze();
    let mut expected = [&[root], others].concat();
    expected.sort();
    assert_eq!(live(&heap), expected);
}

// Containers that contain the positions of their references.

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

// Wrong counts.

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

// Entries of maps and sets.

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
        .map(|column| match column.is_reference {
            true => &node as &dyn Type,
            false => &column.type_name,
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

// Classes that the debug information leaves out, or describes in odd ways.

#[test]
fn the_fixed_classes_need_no_description() {
    let mut scene = Scene::new();
    let view_buffer = scene.object(ARRAY_BUFFER, 8);
    let objects = [
        scene.object(OBJECT, 0),
        scene.object(STRING, 8),
        scene.object_of(ARRAY_BUFFER_VIEW, &[view_buffer.0, view_buffer.0, 8]),
    ];
    for object in objects {
        scene.push_on_stack(object);
    }
    let heap = scene.analyze();
    let names = live(&heap)
        .into_iter()
        .map(|object| class_name(&heap, object));
    assert_eq!(
        names.collect::<Vec<_>>(),
        [
            "~lib/arraybuffer/ArrayBuffer",
            "~lib/object/Object",
            "~lib/string/String",
            "~lib/arraybuffer/ArrayBufferView"
        ]
    );
    assert_eq!(warnings(&heap), [""; 0]);
}

#[test]
fn a_container_without_a_description_is_read_by_its_run_time_flags() {
    let managed = flags::VALUE_MANAGED | flags::value_size(4);
    let mut scene = Scene::new();
    let node = node_class(&mut scene);
    let view = scene.undescribed_class(flags::ARRAY_BUFFER_VIEW);
    let array = scene.undescribed_class(flags::ARRAY | managed);
    let static_array = scene.undescribed_class(flags::STATIC_ARRAY | managed);
    let set = scene.undescribed_class(flags::SET | managed);
    let map = scene.undescribed_class(
        flags::MAP | flags::value_size(8) | flags::KEY_MANAGED | flags::key_size(4),
    );
    let [viewed, b, c, d, e] = [(); 5].map(|()| scene.object(node, 8));
    let roots = [
        scene.object_of(view, &[viewed.0, viewed.0, 8]),
        scene.array(array, &[b]),
        scene.object_of(static_array, &[c.0]),
        scene.entries(set, 1, &[d.0, 0]),
        scene.entries(map, 1, &[e.0, 0, 7, 7, 0, 0]),
    ];
    for root in roots {
        scene.push_on_stack(root);
    }
    let heap = scene.analyze();
    let found = live(&heap);
    for (target, what) in [
        (viewed, "view"),
        (b, "array"),
        (c, "static array"),
        (d, "set"),
        (e, "map"),
    ] {
        assert!(found.contains(&target), "{what}");
    }
    assert_eq!(warnings(&heap), [""; 0]);
    assert_eq!(class_name(&heap, roots[0]), format!("Class#{}", view.id));
}

#[test]
fn numbers_in_a_container_without_a_description_are_no_references() {
    let mut scene = Scene::new();
    let node = node_class(&mut scene);
    let array = scene.undescribed_class(flags::STATIC_ARRAY | flags::value_size(4));
    let not_kept = scene.object(node, 8);
    let root = scene.object_of(array, &[not_kept.0]);
    assert_keeps(&mut scene, root, &[]);
}

#[test]
fn a_pointer_free_class_refers_to_nothing_even_if_its_description_says_so() {
    let mut scene = Scene::new();
    let node = node_class(&mut scene);
    scene.set_flags(node, flags::POINTER_FREE);
    let not_kept = scene.object(node, 8);
    let root = scene.object_of(node, &[not_kept.0]);
    assert_keeps(&mut scene, root, &[]);
}

#[test]
fn a_field_of_a_class_that_was_never_compiled_may_be_a_reference() {
    let mut scene = Scene::new();
    let holder = scene.class("assembly/index/Holder");
    scene.field(holder, "rare", 4, NeverCompiled);
    let kept = scene.object(OBJECT, 0);
    let root = scene.object_of(holder, &[0, kept.0]);
    assert_keeps(&mut scene, root, &[kept]);
}

#[test]
fn a_field_of_an_interface_keeps_an_object_of_any_class() {
    let mut scene = Scene::new();
    let node = node_class(&mut scene);
    let interface = scene.class("assembly/index/Shape");
    let holder = scene.class("assembly/index/Holder");
    scene.field(holder, "shape", 0, interface);
    let kept = scene.object(node, 8);
    let root = scene.object_of(holder, &[kept.0]);
    assert_keeps(&mut scene, root, &[kept]);
}

#[test]
fn a_field_of_an_unmanaged_class_is_no_reference() {
    let mut scene = Scene::new();
    let node = node_class(&mut scene);
    let unmanaged = scene.class_with_id("assembly/index/Vector", Some(0));
    let holder = scene.class("assembly/index/Holder");
    scene.field(holder, "vector", 0, unmanaged);
    let not_kept = scene.object(node, 8);
    let root = scene.object_of(holder, &[not_kept.0]);
    assert_keeps(&mut scene, root, &[]);
}

#[test]
fn an_object_with_id_0_is_an_object_whatever_unmanaged_classes_there_are() {
    let mut scene = Scene::new();
    let unmanaged = scene.class_with_id("assembly/index/Vector", Some(0));
    scene.field(unmanaged, "x", 0, NeverCompiled);
    scene.class_with_id("~lib/object/Object", Some(0));
    let object = scene.object(OBJECT, 4);
    scene.push_on_stack(object);
    assert_eq!(class_name(&scene.analyze(), object), "~lib/object/Object");
}

#[test]
fn a_field_of_type_object_is_a_reference_although_its_id_is_0() {
    let mut scene = Scene::new();
    let object = scene.class_with_id("~lib/object/Object", Some(0));
    let holder = scene.class("assembly/index/Holder");
    scene.field(holder, "any", 0, object);
    let kept = scene.object(OBJECT, 4);
    let root = scene.object_of(holder, &[kept.0]);
    assert_keeps(&mut scene, root, &[kept]);
}

#[test]
fn classes_that_inherit_in_a_circle_have_the_fields_of_all() {
    let mut scene = Scene::new();
    let node = node_class(&mut scene);
    let (first, second) = (scene.class("a/First"), scene.class("a/Second"));
    scene.inherit(first, second);
    scene.inherit(second, first);
    scene.field(first, "own", 0, node);
    scene.field(second, "inherited", 4, node);
    let (own, inherited) = (scene.object(node, 8), scene.object(node, 8));
    let root = scene.object_of(first, &[own.0, inherited.0]);
    assert_keeps(&mut scene, root, &[own, inherited]);
}

#[test]
fn a_class_ten_thousand_levels_deep_has_the_fields_of_the_first() {
    let mut scene = Scene::new();
    let node = node_class(&mut scene);
    let first = scene.class_with_id("a/Level0", None);
    scene.field(first, "inherited", 0, node);
    let mut last = first;
    for level in 1..10_000 {
        let class = scene.class_with_id(&format!("a/Level{level}"), None);
        scene.inherit(class, last);
        last = class;
    }
    let leaf = scene.class("a/Leaf");
    scene.inherit(leaf, last);
    let kept = scene.object(node, 8);
    let root = scene.object_of(leaf, &[kept.0]);
    assert_keeps(&mut scene, root, &[kept]);
}

#[test]
fn of_two_base_classes_with_one_name_the_correct_one_is_inherited() {
    let mut scene = Scene::new();
    let node = node_class(&mut scene);
    let wrong = scene.class("assembly/index/Base");
    let right = scene.class("assembly/index/Base");
    scene.field(wrong, "a", 0, node);
    scene.field(right, "b", 4, node);
    let derived = scene.class("assembly/index/Derived");
    scene.inherit(derived, right);
    let [not_kept, kept] = [(); 2].map(|()| scene.object(node, 8));
    let root = scene.object_of(derived, &[not_kept.0, kept.0]);
    assert_keeps(&mut scene, root, &[kept]);
}

#[test]
fn fields_that_overlap_are_all_followed() {
    let mut scene = Scene::new();
    let node = node_class(&mut scene);
    let overlapping = scene.class("assembly/index/Overlapping");
    scene.field(overlapping, "first", 0, node);
    scene.field(overlapping, "second", 1, node);
    let root = scene.object(overlapping, 5);
    let kept = scene.object(node, 8);
    // The address of the static object is the upper part of the address of a heap object.
    let lower = |address: u32| (0x70..0x100).contains(&address);
    let fixed = loop {
        let fixed = scene.static_object(node, &[0, 0]);
        if lower(fixed.0) {
            break fixed;
        }
    };
    scene.set(fixed, 0, kept);
    let first = loop {
        let object = scene.object(node, 8);
        if object.0 >> 8 == fixed.0 {
            break object;
        }
    };
    scene.set(root, 0, first);
    assert_keeps(&mut scene, root, &[kept, first]);
}

#[test]
fn members_that_an_older_build_repeats_in_subclasses_are_followed_once() {
    let mut scene = Scene::new();
    let node = node_class(&mut scene);
    let flattened = scene.class("assembly/index/Flattened");
    scene.field(flattened, "inherited", 0, node);
    scene.field(flattened, "own", 4, node);
    scene.inherit(flattened, node);
    let kept = scene.object(node, 8);
    let root = scene.object_of(flattened, &[kept.0, kept.0]);
    scene.push_on_stack(root);
    assert_eq!(scene.analyze().edges.len(), 2);
}

// Roots.

#[test]
fn a_variable_without_a_location_is_found_by_its_name() {
    let mut scene = Scene::new();
    let node = node_class(&mut scene);
    let kept = scene.object(node, 8);
    let variable = WasmGlobal::variable("assembly/index/head", kept.0);
    scene.globals.insert(4, variable);
    scene.describe_global("assembly/index/head", node, None);
    assert_eq!(live(&scene.analyze()), [kept]);
}

#[test]
fn imported_globals_and_globals_of_other_types_do_not_shift_the_values() {
    use wasm_encoder::ValType;
    let mut scene = Scene::new();
    let node = node_class(&mut scene);
    let kept = scene.object(node, 8);
    let wide = WasmGlobal {
        ty: ValType::I64,
        ..WasmGlobal::variable("assembly/index/wide", 1)
    };
    let imported = WasmGlobal {
        imported: true,
        ..WasmGlobal::variable("assembly/host/counter", 5)
    };
    scene.globals.insert(0, wide);
    scene.globals.insert(0, imported);
    scene.global("assembly/index/head", node, kept);
    assert_eq!(live(&scene.analyze()), [kept]);
}

#[test]
fn a_static_object_is_followed_but_takes_no_space() {
    let mut scene = Scene::new();
    let node = node_class(&mut scene);
    let kept = scene.object(node, 8);
    let fixed = scene.static_object(node, &[kept.0, 0]);
    scene.global("assembly/index/head", node, fixed);
    let heap = scene.analyze();
    assert_eq!(live(&heap), [kept]);
    assert_eq!(heap.live_size, 32);
}

#[test]
fn a_static_object_that_nothing_refers_to_keeps_nothing() {
    let mut scene = Scene::new();
    let node = node_class(&mut scene);
    let not_kept = scene.object(node, 8);
    scene.static_object(node, &[not_kept.0, 0]);
    assert_eq!(live(&scene.analyze()), []);
}

#[test]
fn the_whole_shadow_stack_is_read_and_nothing_below_it() {
    let mut scene = Scene::new();
    let node = node_class(&mut scene);
    let [outer, inner, popped] = [(); 3].map(|()| scene.object(node, 8));
    scene.push_on_stack(outer);
    scene.push_on_stack(inner);
    scene.write(crate::support::HEAP_BASE - 12, &[popped.0]);
    assert_eq!(live(&scene.analyze()), [outer, inner]);
}

#[test]
fn a_word_into_the_middle_of_an_object_keeps_nothing() {
    let mut scene = Scene::new();
    let node = node_class(&mut scene);
    let object = scene.object(node, 40);
    scene.push_on_stack(object.0 + 16);
    scene.push_on_stack(object.block());
    assert_eq!(live(&scene.analyze()), []);
}

#[test]
fn pinned_objects_are_roots_wherever_they_are_in_their_list() {
    let mut scene = Scene::new();
    let node = node_class(&mut scene);
    let [first, second, other, target] = [(); 4].map(|()| scene.object(node, 8));
    scene.set(second, 0, target);
    scene.pin(first);
    scene.pin(second);
    scene.pin(target);
    assert!(!live(&scene.analyze()).contains(&other));
    assert_eq!(live(&scene.analyze()), [first, second, target]);
}

// Memory.

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
