//! Strategies of proptest. They are not in `support`, which the fuzz targets use without proptest.

use proptest::prelude::*;

use crate::support::random_heap::{Gap, Kind, Plan};

/// Any object.
pub fn any_plan() -> impl Strategy<Value = Plan> {
    let kind = prop_oneof![
        4 => Just(Kind::Node),
        1 => Just(Kind::StaticNode),
        1 => Just(Kind::Text),
        2 => Just(Kind::Array),
        1 => Just(Kind::StaticArray),
        1 => Just(Kind::Map),
        1 => Just(Kind::Set),
        1 => Just(Kind::Tuple),
    ];
    let before = prop_oneof![
        20 => Just(Gap::Nothing),
        5 => Just(Gap::Free),
        5 => Just(Gap::Raw),
        1 => Just(Gap::ForeignPages),
    ];
    let targets = prop::collection::vec(any::<usize>(), 0..5);
    let roots = [(); 3].map(|()| prop::bool::weighted(0.06));
    (kind, targets, roots, before).prop_map(|(kind, targets, roots, before)| Plan {
        kind,
        targets,
        roots,
        before,
    })
}
