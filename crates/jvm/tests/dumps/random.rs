//! Random heaps: the live set by a walk, retained sizes by deletion.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;

use crate::analyze;
use crate::writer::{Class, OBJECT, Writer};
use base::ObjectIndex;

const OBJECT_CLASS: u64 = 0x1000;
const NODE: u64 = 0x1100;
const WEAK: u64 = 0x1200;
const ARRAY: u64 = 0x1300;

/// An object: whether it is a weak reference, an array or a node, and what it refers to.
type Shape = (u8, Vec<usize>);

fn address(nth: usize) -> u64 {
    0x8000 + nth as u64 * 64
}

fn dump(shapes: &[Shape], roots: &BTreeSet<usize>, wide: bool, cuts: usize) -> Vec<u8> {
    let mut writer = Writer::new(wide);
    writer.class(&Class {
        id: OBJECT_CLASS,
        name: "java/lang/Object",
        ..Class::default()
    });
    writer.class(&Class {
        id: 0x1050,
        name: "java/lang/ref/Reference",
        superclass: OBJECT_CLASS,
        fields: &[("referent", OBJECT)],
        ..Class::default()
    });
    writer.class(&Class {
        id: WEAK,
        name: "java/lang/ref/WeakReference",
        superclass: 0x1050,
        ..Class::default()
    });
    writer.class(&Class {
        id: NODE,
        name: "Node",
        superclass: OBJECT_CLASS,
        fields: &[("left", OBJECT), ("right", OBJECT)],
        ..Class::default()
    });
    writer.class(&Class {
        id: ARRAY,
        name: "[LNode;",
        superclass: OBJECT_CLASS,
        ..Class::default()
    });
    for (nth, (kind, targets)) in shapes.iter().enumerate() {
        let targets: Vec<u64> = targets.iter().map(|&target| address(target)).collect();
        let field = |nth: usize| targets.get(nth).copied().unwrap_or(0);
        match kind {
            0 => writer.array(address(nth), ARRAY, &targets),
            1 => {
                let contents = writer.id_bytes(field(0));
                writer.instance(address(nth), WEAK, &contents);
            }
            _ => {
                let contents = [field(0), field(1)].map(|id| writer.id_bytes(id)).concat();
                writer.instance(address(nth), NODE, &contents);
            }
        }
        if cuts > 0 && nth.is_multiple_of(cuts) {
            writer.next_segment();
        }
    }
    for &root in roots {
        writer.root(address(root));
    }
    writer.finish()
}

fn strong(shape: &Shape) -> &[usize] {
    match shape {
        (0, targets) => targets,
        (1, _) => &[],
        (_, targets) => &targets[..targets.len().min(2)],
    }
}

/// What roots reach without one object.
fn reached(shapes: &[Shape], roots: &BTreeSet<usize>, without: Option<usize>) -> BTreeSet<usize> {
    let mut found = BTreeSet::new();
    let mut next: Vec<usize> = roots.iter().copied().collect();
    while let Some(nth) = next.pop() {
        if Some(nth) != without && found.insert(nth) {
            next.extend(strong(&shapes[nth]));
        }
    }
    found
}

fn shapes() -> impl Strategy<Value = Vec<Shape>> {
    (1usize..40).prop_flat_map(|count| {
        let targets = prop::collection::vec(0..count, 0..5);
        prop::collection::vec((0u8..4, targets), count)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn the_live_set_and_retained_sizes_are_those_of_deletion(
        shapes in shapes(),
        roots in prop::collection::btree_set(0usize..40, 0..5),
        wide in any::<bool>(),
        cuts in 0usize..4,
    ) {
        let roots: BTreeSet<usize> = roots.into_iter().filter(|&root| root < shapes.len()).collect();
        let heap = analyze(&dump(&shapes, &roots, wide, cuts)).unwrap();
        let objects: BTreeMap<usize, ObjectIndex> = (0..shapes.len())
            .map(|nth| (nth, heap.objects.at(base::units::ObjectAddress(address(nth))).unwrap()))
            .collect();
        let all = reached(&shapes, &roots, None);
        for (nth, &object) in &objects {
            let kept = reached(&shapes, &roots, Some(*nth));
            let expected: u64 = all.difference(&kept).map(|nth| heap.shallow_size(objects[nth])).sum();
            prop_assert_eq!(heap.retained_size(object), expected, "object {}", nth);
        }
    }
}
