//! The whole engine against the definitions, on random heaps: an object is alive if a root reaches
//! it, and it retains what no root reaches any more without it.

use std::collections::BTreeMap;

use crate::strategies::any_plan;
use crate::support::random_heap::build;
use crate::support::{Object, live, retained, warnings};
use proptest::prelude::*;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn everything_is_as_the_definitions_say(plans in prop::collection::vec(any_plan(), 1..40)) {
        let (scene, truth) = build(&plans);
        let heap = scene.analyze();
        prop_assert_eq!(warnings(&heap), [""; 0]);

        let reached = truth.reached_without(None);
        let on_heap: Vec<Object> = reached.iter().copied().filter(|object| truth.sizes[object] > 0).collect();
        prop_assert_eq!(live(&heap), on_heap);
        prop_assert_eq!(heap.live_size, u64::from(truth.size_of(&reached)));

        let roots = heap.roots.iter().map(|&(object, kind)| (Object(heap.address(object).0), kind));
        prop_assert_eq!(roots.collect::<BTreeMap<_, _>>(), truth.roots.clone());

        let parts = &heap.accounting;
        prop_assert_eq!(parts.live.global + parts.live.stack + parts.live.pinned, heap.live_size);
        let garbage = scene.total() - heap.live_size;
        prop_assert_eq!(parts.garbage, garbage);
        let rest = parts.raw + parts.free.bytes + parts.overhead + parts.gaps;
        prop_assert_eq!(heap.live_size + garbage + rest, heap.total_size);

        for &object in &reached {
            let rest = truth.reached_without(Some(object));
            let expected = truth.size_of(&reached) - truth.size_of(&rest);
            prop_assert_eq!(retained(&heap, object), expected, "{:?}", object);
        }
    }
}
