//! Warnings about debug information that is incomplete, or that the code contradicts.

use super::{assert_warns, small_scene};
use crate::support::{Class, CollectorCode, ModuleOptions, Object, Scene, analyze, live, warnings};
use engine::assemblyscript::ManagedWarning;
use engine::wasm::debug_info::Producer;
use engine::{ClassId, Warning};

#[test]
fn words_in_front_of_a_classs_own_fields_may_be_inherited_if_no_class_has_a_base() {
    let (mut scene, node, head) = small_scene();
    for global in &mut scene.description.globals {
        global.global_index = None;
    }
    let derived = scene.class("assembly/index/Derived");
    scene.field(derived, "own", 8, node);
    let inherited = scene.object(node, 8);
    let object = scene.object_of(derived, &[inherited.0, 0, 0]);
    scene.set(head, 0, object);
    let heap = scene.analyze();
    assert!(live(&heap).contains(&inherited));
    assert_eq!(heap.warnings.len(), 1);
    assert_eq!(heap.warnings[0].code(), "WARN_BASES_UNKNOWN");
}

#[test]
fn additional_fields_in_the_code_are_not_a_dispute_if_no_class_has_a_base() {
    let (mut scene, node, head) = small_scene();
    for global in &mut scene.description.globals {
        global.global_index = None;
    }
    let index = scene.globals.len() as u32 - 1;
    let derived = scene.class("assembly/index/Derived");
    scene.field(derived, "own", 8, node);
    let [inherited, number] = [(); 2].map(|()| scene.object(node, 8));
    let object = scene.object_of(derived, &[inherited.0, number.0, 0]);
    scene.set(head, 0, object);
    let mut members = vec![vec![]; derived.id as usize + 1];
    members[3] = vec![0];
    members[node.id as usize] = vec![0];
    members[derived.id as usize] = vec![0, 8];
    let module = scene.module_with(&ModuleOptions {
        collector: Some(CollectorCode {
            globals: vec![index],
            members,
            ..CollectorCode::default()
        }),
        ..ModuleOptions::default()
    });
    let heap = analyze(&scene.dump(), &module).unwrap();
    assert!(live(&heap).contains(&inherited));
    assert!(!live(&heap).contains(&number));
    assert_eq!(warnings(&heap), [""; 0]);
}

#[test]
fn a_tuple_without_debug_information_is_known_by_the_bitmap_that_its_visitor_follows() {
    let (mut scene, node, head) = small_scene();
    let tuple = Class::undescribed(scene.undescribed_class(0).id);
    let [kept, number] = [(); 2].map(|()| scene.object(node, 8));
    let object = scene.object_of(tuple, &[number.0, kept.0, 0b10, 0]);
    scene.set(head, 0, object);
    let mut members = vec![vec![]; tuple.id as usize + 1];
    members[3] = vec![0];
    members[node.id as usize] = vec![0];
    let module = scene.module_with(&ModuleOptions {
        collector: Some(CollectorCode {
            globals: vec![scene.globals.len() as u32 - 1],
            members,
            tuples: vec![tuple.id],
            ..CollectorCode::default()
        }),
        ..ModuleOptions::default()
    });
    let heap = analyze(&scene.dump(), &module).unwrap();
    assert_eq!(live(&heap), [head, kept, object]);
    assert_eq!(warnings(&heap), [""; 0]);
}

#[test]
fn collector_code_that_agrees_with_the_debug_information_gives_no_warning() {
    let (scene, node, head) = small_scene();
    let module = scene.module_with_collector(&[(node, &[0])]);
    let heap = analyze(&scene.dump(), &module).unwrap();
    assert_eq!(warnings(&heap), [""; 0]);
    assert_eq!(live(&heap), [head]);
}

#[test]
fn a_global_that_only_the_debug_information_has_is_disputed() {
    let (mut scene, node, head) = small_scene();
    let unvisited = scene.object(node, 8);
    scene.global("assembly/index/other", node, unvisited);
    let members = vec![vec![], vec![], vec![], vec![0], vec![0]];
    let module = scene.module_with(&ModuleOptions {
        collector: Some(CollectorCode {
            globals: vec![scene.globals.len() as u32 - 2],
            members,
            ..CollectorCode::default()
        }),
        ..ModuleOptions::default()
    });
    let heap = analyze(&scene.dump(), &module).unwrap();
    assert_eq!(
        warnings(&heap),
        [
            "the debug information and the collector's code disagree about global assembly/index/other: it counts as a root, so too many objects may count as live; compile the module again if it was changed after compilation"
        ]
    );
    assert_eq!(heap.warnings[0].code(), "WARN_GLOBAL_DISPUTED");
    assert_eq!(live(&heap), [head, unvisited]);
}

#[test]
fn a_class_whose_fields_the_collectors_code_does_not_visit_is_disputed() {
    let (mut scene, node, head) = small_scene();
    let [unvisited, visited] = [(); 2].map(|()| scene.object(node, 8));
    scene.set(head, 0, unvisited);
    scene.set(head, 4, visited);
    let module = scene.module_with_collector(&[(node, &[4])]);
    let heap = analyze(&scene.dump(), &module).unwrap();
    assert_eq!(
        warnings(&heap),
        [
            "the debug information and the collector's code name different reference fields of assembly/index/Node: all of them were followed, so too many objects may count as live; compile the module again if it was changed after compilation"
        ]
    );
    assert_eq!(heap.warnings[0].code(), "WARN_CLASS_DISPUTED");
    assert_eq!(live(&heap), [head, unvisited, visited]);
}

/// A node whose field `other`, at offset 4, has this class. The collector visits only the field at 0. Beside it,
/// the object to which `other` refers.
fn unvisited_field(scene: &mut Scene, node: Class, head: Object, other: Class) -> Object {
    let held = scene.object(node, 8);
    scene.field(node, "other", 4, other);
    scene.set(head, 4, held);
    held
}

#[test]
fn an_unvisited_field_of_a_class_without_an_id_is_followed_and_no_dispute() {
    let (mut scene, node, head) = small_scene();
    let never_created = scene.class_with_id("assembly/index/NeverCreated", None);
    let held = unvisited_field(&mut scene, node, head, never_created);
    let module = scene.module_with_collector(&[(node, &[0])]);
    let heap = analyze(&scene.dump(), &module).unwrap();
    assert_eq!(warnings(&heap), [""; 0]);
    assert_eq!(live(&heap), [head, held]);
}

#[test]
fn an_unvisited_field_of_an_unmanaged_class_is_neither_followed_nor_a_dispute() {
    let (mut scene, node, head) = small_scene();
    let unmanaged = scene.class_with_id("assembly/index/Vector", Some(0));
    unvisited_field(&mut scene, node, head, unmanaged);
    let module = scene.module_with_collector(&[(node, &[0])]);
    let heap = analyze(&scene.dump(), &module).unwrap();
    assert_eq!(warnings(&heap), [""; 0]);
    assert_eq!(live(&heap), [head]);
}

#[test]
fn an_unvisited_field_of_a_tuple_is_followed_and_disputed_although_tuples_have_no_id() {
    let (mut scene, node, head) = small_scene();
    let tuple = scene.class_with_id("[assembly/index/Node,i32]", None);
    let held = unvisited_field(&mut scene, node, head, tuple);
    let module = scene.module_with_collector(&[(node, &[0])]);
    let heap = analyze(&scene.dump(), &module).unwrap();
    assert_eq!(heap.warnings[0].code(), "WARN_CLASS_DISPUTED");
    assert_eq!(live(&heap), [head, held]);
}

#[test]
fn an_id_of_several_classes_has_the_references_of_all_and_is_ambiguous() {
    let (mut scene, node, head) = small_scene();
    let rival = scene.class_with_id("assembly/index/Rival", Some(node.id));
    scene.field(rival, "other", 4, node);
    let [by_node, by_rival] = [(); 2].map(|()| scene.object(node, 8));
    scene.set(head, 0, by_node);
    scene.set(head, 4, by_rival);
    let id = node.id;
    let text = format!(
        "the debug information gives runtime id {id} to several classes: its objects are shown as assembly/index/Node, but may be assembly/index/Rival; the references of all these classes were followed, so too many objects may count as live"
    );
    assert_warns(&scene, "WARN_CLASS_AMBIGUOUS", &text);
    assert_eq!(live(&scene.analyze()), [head, by_node, by_rival]);
}

#[test]
fn a_class_that_nothing_describes_is_counted() {
    let (mut scene, _, head) = small_scene();
    let unknown = Class::undescribed(77);
    let objects = [(); 2].map(|()| scene.object(unknown, 8));
    scene.set(head, 0, objects[0]);
    scene.set(objects[0], 4, objects[1]);
    assert_warns(
        &scene,
        "WARN_CLASS_UNKNOWN",
        "the module does not describe the class with runtime id 77 (2 object(s)): every word of them counts as a possible reference, so too many objects may count as live",
    );
}

#[test]
fn classes_that_nothing_describes_are_listed_by_id() {
    let (mut scene, ..) = small_scene();
    for id in [300, 99, 200] {
        let object = scene.object(Class::undescribed(id), 8);
        scene.push_on_stack(object);
    }
    let heap = scene.analyze();
    let of = |id| Warning::from(ManagedWarning::ClassUnknown { id, count: 1 });
    assert_eq!(heap.warnings, [99, 200, 300].map(ClassId).map(of));
}

/// The text about two classes without names, by who wrote the debug information.
fn names_incomplete(debug_info_by: Producer) -> String {
    let class_name = "Class#7".to_owned();
    let warning = ManagedWarning::NamesIncomplete {
        class_name,
        count: 2,
        debug_info_by,
    };
    warning.to_string()
}

#[test]
fn without_debug_information_the_warning_about_names_advises_asc_to_add_it() {
    assert_eq!(
        names_incomplete(Producer::Nobody),
        "2 class(es) have no name, such as Class#7: no name of a function contains theirs, and the module has no debug information; no number is affected"
    );
}

#[test]
fn for_warpo_the_warning_about_names_says_which_classes_it_leaves_out_and_advises_no_option() {
    assert_eq!(
        names_incomplete(Producer::Warpo),
        "2 class(es) have no name, such as Class#7: WARPO left them out of the debug information, as it does with classes that are the type of no variable or field, and no name of a function contains theirs; no number is affected"
    );
}

#[test]
fn with_other_debug_information_the_warning_about_names_says_only_that_they_are_not_in_it() {
    for producer in [Producer::Transform, Producer::Other] {
        assert_eq!(
            names_incomplete(producer),
            "2 class(es) have no name, such as Class#7: the debug information does not describe them, and no name of a function contains theirs; no number is affected"
        );
    }
}
