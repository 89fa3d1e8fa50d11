//! The orders and the sums of both views, ties included.

use std::sync::Arc;

use crate::support::{Class, NeverCompiled, Object, Scene};
use engine::Control;
use engine::heap::views::{
    ChangeKind, ComparisonSort, ComparisonView, ConstructorSort, ConstructorView, Instances,
    Selection,
};

/// A class whose objects may own one other object.
fn owner_class(scene: &mut Scene, name: &str) -> Class {
    let class = scene.class(name);
    scene.field(class, "owned", 0, NeverCompiled);
    class
}

/// An object that takes this number of bytes of heap.
fn object_taking(scene: &mut Scene, class: Class, bytes: u32) -> Object {
    assert!(
        bytes >= 32 && bytes.is_multiple_of(16),
        "no block is like that"
    );
    scene.object(class, bytes - 20)
}

fn rooted(scene: &mut Scene, class: Class, bytes: u32) -> Object {
    let object = object_taking(scene, class, bytes);
    scene.push_on_stack(object);
    object
}

/// The view of a heap with these numbers per class:
///
/// | class | retained | shallow | count |
/// |---|---|---|---|
/// | big | 128 | 32 | 1 |
/// | v | 48 | 48 | 1 |
/// | w | 96 | 48 | 1 |
/// | x | 96 | 96 | 1 |
/// | y, z | 96 | 96 | 3 |
fn constructors(sort: ConstructorSort, top: Option<usize>) -> ConstructorView {
    let mut scene = Scene::new();
    let [z, y, x, w, v, big] =
        ["z", "y", "x", "w", "v", "big"].map(|name| owner_class(&mut scene, name));
    for (owner, size, owned, owned_size) in [(big, 32, x, 96), (w, 48, v, 48)] {
        let root = rooted(&mut scene, owner, size);
        let inner = object_taking(&mut scene, owned, owned_size);
        scene.set(root, 0, inner);
    }
    for _ in 0..3 {
        rooted(&mut scene, z, 32);
        rooted(&mut scene, y, 32);
    }
    let wanted = Selection {
        sort,
        top,
        instances: None,
    };
    ConstructorView::new(Arc::new(scene.analyze()), wanted, &Control::default()).unwrap()
}

fn names(view: &ConstructorView) -> Vec<&str> {
    view.rows()
        .iter()
        .map(|row| row.class_name.as_str())
        .collect()
}

#[test]
fn rows_are_ordered_by_retained_size_then_shallow_size_then_count_then_name() {
    let view = constructors(ConstructorSort::Retained, None);
    assert_eq!(names(&view), ["big", "y", "z", "x", "w", "v"]);
}

#[test]
fn rows_are_ordered_by_shallow_size_then_as_by_default() {
    let view = constructors(ConstructorSort::Shallow, None);
    assert_eq!(names(&view), ["y", "z", "x", "w", "v", "big"]);
}

#[test]
fn rows_are_ordered_by_count_then_as_by_default() {
    let view = constructors(ConstructorSort::Count, None);
    assert_eq!(names(&view), ["y", "z", "big", "x", "w", "v"]);
}

#[test]
fn the_default_order_is_by_retained_size() {
    assert_eq!(ConstructorSort::default(), ConstructorSort::Retained);
    assert_eq!(ComparisonSort::default(), ComparisonSort::Delta);
}

#[test]
fn a_row_sums_its_objects() {
    let view = constructors(ConstructorSort::Retained, None);
    let sums = |name: &str| {
        let row = view
            .rows()
            .iter()
            .find(|row| row.class_name == name)
            .unwrap();
        (row.total_retained_size, row.total_shallow_size, row.count)
    };
    assert_eq!(sums("big"), (128, 32, 1));
    assert_eq!(sums("w"), (96, 48, 1));
    assert_eq!(sums("z"), (96, 96, 3));
}

#[test]
fn the_first_rows_are_kept_and_the_totals_stay_whole() {
    let all = constructors(ConstructorSort::Count, None);
    let two = constructors(ConstructorSort::Count, Some(2));
    assert_eq!(names(&two), ["y", "z"]);
    assert_eq!(two.heap().live_size, all.heap().live_size);
    assert_eq!(two.instances(1).unwrap().unwrap().len(), 3);
}

#[test]
fn more_rows_than_there_are_is_all_of_them() {
    assert_eq!(
        constructors(ConstructorSort::Count, Some(usize::MAX))
            .rows()
            .len(),
        6
    );
}

#[test]
fn names_are_ordered_by_code_point() {
    // In the order of a locale, the cases would be mixed; in that of UTF-16, the last two would be swapped.
    let expected = ["A/a", "Z", "[i32]", "a", "b", "é", "～", "\u{fffd}", "😀"];
    let mut scene = Scene::new();
    for name in expected.iter().rev() {
        let class = scene.class(name);
        rooted(&mut scene, class, 32);
    }
    let view = ConstructorView::new(
        Arc::new(scene.analyze()),
        Selection::default(),
        &Control::default(),
    )
    .unwrap();
    assert_eq!(names(&view), expected);
}

#[test]
fn classes_that_share_a_name_share_a_row() {
    let mut scene = Scene::new();
    for size in [32, 48] {
        let class = scene.class("assembly/index/Node");
        rooted(&mut scene, class, size);
    }
    let view = ConstructorView::new(
        Arc::new(scene.analyze()),
        Selection::default(),
        &Control::default(),
    )
    .unwrap();
    assert_eq!(view.rows().len(), 1);
    assert_eq!(
        (view.rows()[0].count, view.rows()[0].total_shallow_size),
        (2, 80)
    );
}

#[test]
fn garbage_and_static_objects_have_no_rows() {
    let mut scene = Scene::new();
    let class = owner_class(&mut scene, "assembly/index/Node");
    object_taking(&mut scene, class, 32);
    let fixed = scene.static_object(class, &[0]);
    scene.push_on_stack(fixed);
    let view = ConstructorView::new(
        Arc::new(scene.analyze()),
        Selection::default(),
        &Control::default(),
    )
    .unwrap();
    assert_eq!(names(&view), [""; 0]);
}

/// Instances as (address, shallow size, retained size).
fn listed(instances: Option<Instances>) -> Vec<(u32, u32, u32)> {
    let instances = instances.unwrap();
    let all = instances.iter();
    all.map(|one| {
        (
            one.address.0 as u32,
            one.shallow_size as u32,
            one.retained_size as u32,
        )
    })
    .collect()
}

/// Five objects of one class and what they own, in the order of memory:
/// (shallow, retained) 32/32, 32/96, 48/96, 48/48, 32/32.
fn owners(scene: &mut Scene, class: Class, leaf: Class) -> Vec<(u32, u32, u32)> {
    let sizes = [(32, 32), (32, 96), (48, 96), (48, 48), (32, 32)];
    let objects = sizes.map(|(shallow, retained)| {
        let object = rooted(scene, class, shallow);
        if retained > shallow {
            let owned = object_taking(scene, leaf, retained - shallow);
            scene.set(object, 0, owned);
        }
        (object.0, shallow, retained)
    });
    objects.to_vec()
}

#[test]
fn instances_are_ordered_by_retained_size_then_shallow_size_then_address() {
    let mut scene = Scene::new();
    let (class, leaf) = (owner_class(&mut scene, "Owner"), scene.class("leaf"));
    let objects = owners(&mut scene, class, leaf);
    let view = ConstructorView::new(
        Arc::new(scene.analyze()),
        Selection::default(),
        &Control::default(),
    )
    .unwrap();
    let expected = [2, 1, 3, 0, 4].map(|nth| objects[nth]);
    assert_eq!(listed(view.instances(0).unwrap()), expected);
}

#[test]
fn limited_instances_are_the_first_ones_and_the_sums_stay_whole() {
    let mut scene = Scene::new();
    let (class, leaf) = (owner_class(&mut scene, "Owner"), scene.class("leaf"));
    owners(&mut scene, class, leaf);
    let heap = Arc::new(scene.analyze());
    let all =
        ConstructorView::new(Arc::clone(&heap), Selection::default(), &Control::default()).unwrap();
    for limit in 0..7 {
        let some = ConstructorView::new(
            Arc::clone(&heap),
            Selection::default().instances(limit),
            &Control::default(),
        )
        .unwrap();
        assert_eq!(some.rows(), all.rows());
        let mut expected = listed(all.instances(0).unwrap());
        expected.truncate(limit);
        assert_eq!(listed(some.instances(0).unwrap()), expected);
    }
}

#[test]
fn beyond_the_last_row_there_are_no_instances() {
    let view = constructors(ConstructorSort::Retained, Some(2));
    assert!(view.instances(1).unwrap().is_some());
    assert!(view.instances(2).unwrap().is_none());
}

/// The objects of each class of a comparison: the new ones and the deleted ones, by size.
const CHANGES: [(&str, &[u32], &[u32]); 9] = [
    ("a", &[96], &[]),
    ("b", &[32, 32, 32], &[]),
    ("c", &[128], &[32]),
    ("d", &[32, 32, 32], &[]),
    ("e", &[], &[64]),
    ("f", &[], &[32, 32]),
    ("g", &[32], &[64]),
    ("h", &[32], &[32]),
    ("i", &[160], &[160]),
];

/// Two states of one program. New objects are at addresses that were unused before.
fn comparison(sort: ComparisonSort, top: Option<usize>) -> ComparisonView {
    let mut before = Scene::new();
    // In reverse, so that the order is not correct by chance.
    let classes = CHANGES
        .iter()
        .rev()
        .map(|change| (change, before.class(change.0)));
    let classes: Vec<_> = classes.collect();
    let unchanged = before.class("unchanged");
    rooted(&mut before, unchanged, 1024);
    let mut after = before.clone();
    after.raw(&[0; 1000]);
    for ((_, created, deleted), class) in classes {
        for &size in *deleted {
            rooted(&mut before, class, size);
        }
        for &size in *created {
            rooted(&mut after, class, size);
        }
    }
    let heaps = [before, after].map(|scene| Arc::new(scene.analyze()));
    let [before, after] = heaps;
    let wanted = Selection {
        sort,
        top,
        instances: None,
    };
    ComparisonView::new(before, after, wanted, &Control::default()).unwrap()
}

fn changed(sort: ComparisonSort) -> String {
    let view = comparison(sort, None);
    view.rows()
        .iter()
        .map(|row| row.class_name.as_str())
        .collect()
}

#[test]
fn changes_are_ordered_by_size_delta_then_allocated_size_then_count_delta_then_name() {
    assert_eq!(changed(ComparisonSort::Delta), "cbdaihgef");
}

#[test]
fn changes_are_ordered_by_allocated_size_then_size_delta_then_count_delta_then_name() {
    assert_eq!(changed(ComparisonSort::Alloc), "icbdahgef");
}

#[test]
fn changes_are_ordered_by_freed_size_then_smallest_size_delta_then_name() {
    assert_eq!(changed(ComparisonSort::Freed), "iefghcabd");
}

#[test]
fn changes_are_ordered_by_count_delta_then_size_delta_then_name() {
    assert_eq!(changed(ComparisonSort::Count), "bdachigef");
}

#[test]
fn a_changed_row_counts_and_sums_new_and_deleted_objects() {
    let view = comparison(ComparisonSort::Delta, None);
    for row in view.rows() {
        let (_, created, deleted) = CHANGES
            .iter()
            .find(|change| change.0 == row.class_name)
            .unwrap();
        let sum = |sizes: &[u32]| sizes.iter().map(|&size| i64::from(size)).sum::<i64>();
        let counts = (created.len() as i64, deleted.len() as i64);
        assert_eq!((row.new_count as i64, row.deleted_count as i64), counts);
        assert_eq!(row.count_delta(), counts.0 - counts.1);
        assert_eq!(
            (row.allocated_size as i64, row.freed_size as i64),
            (sum(created), sum(deleted))
        );
        assert_eq!(row.size_delta(), sum(created) - sum(deleted));
    }
}

#[test]
fn the_first_changed_rows_are_kept() {
    let view = comparison(ComparisonSort::Delta, Some(3));
    let names: String = view
        .rows()
        .iter()
        .map(|row| row.class_name.as_str())
        .collect();
    assert_eq!(names, "cbd");
}

#[test]
fn new_instances_go_before_deleted_ones_each_by_shallow_size_then_retained_size_then_address() {
    let mut before = Scene::new();
    let (class, leaf) = (owner_class(&mut before, "Owner"), before.class("leaf"));
    let mut after = before.clone();
    after.raw(&[0; 1000]);
    let deleted = owners(&mut before, class, leaf);
    let created = owners(&mut after, class, leaf);
    let view = ComparisonView::new(
        Arc::new(before.analyze()),
        Arc::new(after.analyze()),
        Selection::default(),
        &Control::default(),
    )
    .unwrap();
    let row = view
        .rows()
        .iter()
        .position(|row| row.class_name == "Owner")
        .unwrap();
    let order = [2, 3, 1, 0, 4];
    let expected = [order.map(|nth| created[nth]), order.map(|nth| deleted[nth])].concat();
    assert_eq!(listed(view.instances(row).unwrap()), expected);
}

#[test]
fn limited_changes_are_the_first_ones_whether_new_or_deleted() {
    let mut before = Scene::new();
    let class = before.class("Node");
    let mut after = before.clone();
    after.raw(&[0; 1000]);
    for _ in 0..3 {
        rooted(&mut before, class, 32);
        rooted(&mut after, class, 48);
    }
    let heaps = [before, after].map(|scene| Arc::new(scene.analyze()));
    for limit in 0..8 {
        let [before, after] = heaps.clone();
        let wanted = Selection::default().instances(limit);
        let view = ComparisonView::new(before, after, wanted, &Control::default()).unwrap();
        assert_eq!(
            (view.rows()[0].new_count, view.rows()[0].deleted_count),
            (3, 3)
        );
        let changes = view.instances(0).unwrap().unwrap();
        let kinds: Vec<_> = changes.iter().filter_map(|one| one.change).collect();
        let mut expected = [[ChangeKind::New; 3], [ChangeKind::Deleted; 3]].concat();
        expected.truncate(limit);
        assert_eq!(kinds, expected);
        assert_eq!(changes.new_count(), Some(limit.min(3)));
    }
}

/// The rows of a comparison of two scenes, as (name, new, deleted).
fn rows(before: &Scene, after: &Scene) -> Vec<(String, u64, u64)> {
    let heaps = [before, after].map(|scene| Arc::new(scene.analyze()));
    let [before, after] = heaps;
    let wanted = Selection::sorted(ComparisonSort::Count);
    let view = ComparisonView::new(before, after, wanted, &Control::default()).unwrap();
    let rows = view.rows().iter();
    rows.map(|row| (row.class_name.clone(), row.new_count, row.deleted_count))
        .collect()
}

#[test]
fn another_class_at_the_same_address_is_another_object() {
    let mut before = Scene::new();
    let (old, new) = (before.class("Old"), before.class("New"));
    let mut after = before.clone();
    rooted(&mut before, old, 32);
    rooted(&mut after, new, 32);
    assert_eq!(
        rows(&before, &after),
        [("New".to_owned(), 1, 0), ("Old".to_owned(), 0, 1)]
    );
}

#[test]
fn another_class_of_the_same_name_at_the_same_address_is_the_same_object() {
    let mut before = Scene::new();
    let (old, new) = (before.class("Node"), before.class("Node"));
    let mut after = before.clone();
    rooted(&mut before, old, 32);
    rooted(&mut after, new, 32);
    assert_eq!(rows(&before, &after), []);
}

#[test]
fn an_object_that_is_garbage_now_was_deleted() {
    let mut before = Scene::new();
    let class = before.class("Node");
    let mut after = before.clone();
    rooted(&mut before, class, 32);
    object_taking(&mut after, class, 32);
    assert_eq!(rows(&before, &after), [("Node".to_owned(), 0, 1)]);
}
