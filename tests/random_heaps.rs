//! The whole engine against the definitions, on random heaps: an object is alive if a root reaches
//! it, and it retains what no root reaches any more without it.

#![allow(clippy::unwrap_used, reason = "in a test, what cannot be is a failure")]

mod support;

use std::collections::BTreeMap;

use proptest::prelude::*;
use support::{ARRAY_BUFFER, Class, Object, STRING, Scene, flags, live, retained, warnings};
use warpo_heap_analyzer::runtime::roots::RootKind;

/// An object to be made. Targets are positions among the planned objects.
#[derive(Clone, Debug)]
struct Plan {
    kind: Kind,
    targets: Vec<prop::sample::Index>,
    /// How it is a root: by a global, the stack, a pin.
    roots: [bool; 3],
    /// What lies in front of it in memory.
    before: Gap,
}

#[derive(Clone, Copy, Debug)]
enum Kind {
    Node,
    StaticNode,
    Text,
    Array,
    StaticArray,
    Map,
    Set,
    Tuple,
}

#[derive(Clone, Copy, Debug)]
enum Gap {
    Nothing,
    Free,
    Raw,
    ForeignPages,
}

fn any_plan() -> impl Strategy<Value = Plan> {
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
    let targets = prop::collection::vec(any::<prop::sample::Index>(), 0..5);
    let roots = [(); 3].map(|()| prop::bool::weighted(0.06));
    (kind, targets, roots, before).prop_map(|(kind, targets, roots, before)| Plan {
        kind,
        targets,
        roots,
        before,
    })
}

struct Classes {
    node: Class,
    array: Class,
    static_array: Class,
    map: Class,
    set: Class,
    tuple: Class,
}

impl Classes {
    fn declare(scene: &mut Scene) -> Self {
        let node = scene.class("assembly/index/Node");
        // The second word is a number, which must not be followed whatever it is.
        scene.field(node, "first", 0, node);
        scene.field(node, "number", 4, "u32");
        scene.field(node, "second", 8, node);
        scene.field(node, "third", 12, support::NeverCompiled);
        let set = scene.undescribed_class(flags::SET | flags::VALUE_MANAGED | flags::value_size(4));
        Self {
            node,
            array: scene.generic("~lib/array/Array<assembly/index/Node>", &[&node]),
            static_array: scene.generic(
                "~lib/staticarray/StaticArray<assembly/index/Node>",
                &[&node],
            ),
            map: scene.generic("~lib/map/Map<assembly/index/Node,f64>", &[&node, &"f64"]),
            set,
            tuple: scene.class("~lib/tuple/SmallTuple"),
        }
    }
}

/// The heap as the test knows it: nothing here was read from a dump.
#[derive(Default)]
struct Truth {
    edges: BTreeMap<Object, Vec<Object>>,
    roots: BTreeMap<Object, RootKind>,
    sizes: BTreeMap<Object, u32>,
}

impl Truth {
    fn add(&mut self, object: Object, targets: Vec<Object>, size: u32) {
        self.edges.insert(object, targets);
        self.sizes.insert(object, size);
    }

    fn reached_without(&self, removed: Option<Object>) -> Vec<Object> {
        let mut pending: Vec<Object> = self.roots.keys().copied().collect();
        let mut reached = std::collections::BTreeSet::new();
        while let Some(object) = pending.pop() {
            if Some(object) != removed && reached.insert(object) {
                pending.extend(&self.edges[&object]);
            }
        }
        reached.into_iter().collect()
    }

    fn size_of(&self, objects: &[Object]) -> u32 {
        objects.iter().map(|object| self.sizes[object]).sum()
    }
}

/// The block of an object of this size.
fn block_size(size: u32) -> u32 {
    (size + 20).next_multiple_of(16)
}

fn build(plans: &[Plan]) -> (Scene, Truth) {
    let mut scene = Scene::new();
    let classes = Classes::declare(&mut scene);
    let mut truth = Truth::default();
    // Every target must have an address before anything can refer to it.
    let objects: Vec<Object> = plans
        .iter()
        .enumerate()
        .map(|(nth, plan)| {
            match plan.before {
                Gap::Free => scene.free_block(16 * nth as u32),
                Gap::Raw => _ = scene.raw(&[4, 4, 4, classes.node.id, 16]),
                Gap::ForeignPages if nth > 0 => _ = scene.foreign_pages(1),
                _ => {}
            }
            let count = plan.targets.len() as u32;
            match plan.kind {
                Kind::Node => scene.object(classes.node, 16),
                Kind::StaticNode => scene.static_object(classes.node, &[0; 4]),
                Kind::Text => scene.object(STRING, 16),
                Kind::Array => scene.object(classes.array, 16),
                Kind::StaticArray => scene.object(classes.static_array, count * 4),
                Kind::Map => scene.object(classes.map, 24),
                Kind::Set => scene.object(classes.set, 24),
                Kind::Tuple => scene.object(classes.tuple, count * 4 + 8),
            }
        })
        .collect();
    for (plan, &object) in plans.iter().zip(&objects) {
        let targets: Vec<Object> = plan
            .targets
            .iter()
            .map(|target| *target.get(&objects))
            .collect();
        connect(&mut scene, &mut truth, plan.kind, object, &targets);
        let kinds = [RootKind::Global, RootKind::Stack, RootKind::Pinned];
        for (kind, _) in kinds
            .into_iter()
            .zip(plan.roots)
            .filter(|&(_, is_root)| is_root)
        {
            match kind {
                RootKind::Global => scene.global("assembly/index/root", classes.node, object),
                RootKind::Stack => scene.push_on_stack(object),
                // Static objects are never pinned: they need not be.
                RootKind::Pinned if matches!(plan.kind, Kind::StaticNode) => continue,
                RootKind::Pinned => scene.pin(object),
            }
            truth.roots.entry(object).or_insert(kind);
        }
    }
    (scene, truth)
}

/// Writes the references of an object, and into the truth what was written.
fn connect(scene: &mut Scene, truth: &mut Truth, kind: Kind, object: Object, targets: &[Object]) {
    let count = targets.len() as u32;
    let words: Vec<u32> = targets.iter().map(|&target| target.0).collect();
    // Marks every other entry of a container as deleted.
    let is_deleted = |nth: usize| nth % 2 == 1;
    let left = || {
        let left = targets.iter().enumerate();
        left.filter(move |&(nth, _)| !is_deleted(nth))
            .map(|(_, &target)| target)
    };
    match kind {
        Kind::Node | Kind::StaticNode => {
            let numbers = words.get(3..).unwrap_or_default();
            scene.write(object.0 + 4, numbers.get(..1).unwrap_or_default());
            let followed = &targets[..targets.len().min(3)];
            for (&target, offset) in followed.iter().zip([0, 8, 12]) {
                scene.set(object, offset, target);
            }
            let size = if matches!(kind, Kind::Node) {
                block_size(16)
            } else {
                0
            };
            truth.add(object, followed.to_vec(), size);
        }
        Kind::Text => {
            scene.write(object.0, &words[..words.len().min(4)]);
            truth.add(object, Vec::new(), block_size(16));
        }
        Kind::Array => {
            let buffer = scene.object_of(ARRAY_BUFFER, &[&words[..], &words[..]].concat());
            truth.add(buffer, Vec::new(), block_size(count * 8));
            // The buffer has room for twice as many elements: what is beyond `length` is old.
            scene.write(object.0, &[buffer.0, buffer.0, count * 8, count]);
            truth.add(object, [targets, &[buffer]].concat(), block_size(16));
        }
        Kind::StaticArray => {
            scene.write(object.0, &words);
            truth.add(object, targets.to_vec(), block_size(count * 4));
        }
        Kind::Map | Kind::Set => {
            let deleted = |nth: usize| u32::from(is_deleted(nth));
            let entries: Vec<u32> = words
                .iter()
                .enumerate()
                .flat_map(|(nth, &word)| match kind {
                    Kind::Map => vec![word, 0, word, word, deleted(nth), word],
                    _ => vec![word, deleted(nth)],
                })
                .collect();
            let buckets = scene.object(ARRAY_BUFFER, 16);
            let buffer = scene.object_of(ARRAY_BUFFER, &entries);
            truth.add(buckets, Vec::new(), block_size(16));
            truth.add(buffer, Vec::new(), block_size(entries.len() as u32 * 4));
            scene.write(object.0, &[buckets.0, 3, buffer.0, count, count, count]);
            truth.add(
                object,
                left().chain([buckets, buffer]).collect(),
                block_size(24),
            );
        }
        Kind::Tuple => {
            scene.write(object.0, &words);
            let marks = (0..words.len())
                .filter(|&nth| !is_deleted(nth))
                .map(|nth| 1 << nth);
            scene.write(object.0 + count * 4, &[marks.sum(), 0]);
            truth.add(object, left().collect(), block_size(count * 4 + 8));
        }
    }
}

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
