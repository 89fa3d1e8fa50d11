//! The whole engine against the definitions, on random heaps: an object is alive if a root reaches it, and it
//! retains the objects that no root reaches without it.

use std::collections::BTreeMap;

use crate::strategies::any_plan;
use crate::support::random_heap::build;
use crate::support::{Object, live, retained, warnings};
use engine::{Control, ObjectIndex};
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn all_results_follow_the_definitions(plans in prop::collection::vec(any_plan(), 1..40)) {
        let (scene, truth) = build(&plans);
        let heap = scene.analyze();
        prop_assert_eq!(warnings(&heap), [""; 0]);

        let reached = truth.reached_without(None);
        let on_heap: Vec<Object> = reached.iter().copied().filter(|object| truth.sizes[object] > 0).collect();
        prop_assert_eq!(live(&heap), on_heap);
        prop_assert_eq!(heap.live_size, u64::from(truth.size_of(&reached)));

        let roots = heap.roots.iter().map(|&(object, kind)| (Object(heap.memory_address(object).0), kind));
        prop_assert_eq!(roots.collect::<BTreeMap<_, _>>(), truth.roots.clone());

        let parts = heap.accounting.as_ref().unwrap();
        prop_assert_eq!(parts.live.global + parts.live.stack + parts.live.pinned, heap.live_size);
        let garbage = scene.total() - heap.live_size;
        prop_assert_eq!(parts.garbage, garbage);
        let rest = parts.raw + parts.free.bytes + parts.overhead + parts.gaps;
        prop_assert_eq!(Some(heap.live_size + garbage + rest), heap.total_size);

        for &object in &reached {
            let rest = truth.reached_without(Some(object));
            let expected = truth.size_of(&reached) - truth.size_of(&rest);
            prop_assert_eq!(retained(&heap, object), expected, "{:?}", object);
        }
    }

    #[test]
    fn a_class_retains_the_sum_of_its_instances_that_no_other_instance_dominates(
        plans in prop::collection::vec(any_plan(), 1..40),
    ) {
        let (scene, truth) = build(&plans);
        let heap = scene.analyze();
        let slot = |object: ObjectIndex| heap.objects.class_slots[object.0 as usize];
        let address = |object| Object(heap.memory_address(object).0);
        let mut expected = vec![0; heap.objects.classes.len()];
        for object in heap.live_heap_objects() {
            let mut others = heap.live_heap_objects();
            let is_dominated = others.any(|other| {
                let rest = || truth.reached_without(Some(address(other)));
                other != object && slot(other) == slot(object) && !rest().contains(&address(object))
            });
            if !is_dominated {
                expected[slot(object) as usize] += heap.retained_size(object);
            }
        }
        let groups: Vec<u32> = (0..expected.len() as u32).collect();
        let sets = heap.retained_set_sizes(&groups, groups.len(), &Control::default())?;
        prop_assert!(sets.iter().all(|&set| set <= heap.live_size));
        prop_assert_eq!(sets, expected);
    }
}
