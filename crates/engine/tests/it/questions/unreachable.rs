//! Garbage, its cycles, and raw blocks, against their definitions on random heaps and on known ones.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use serde_json::{Value, json};

use crate::strategies::any_plan;
use crate::support::random_heap::{Truth, build};
use crate::support::{Class, Object, Scene, ask, class_name, open};
use engine::questions::LoadedHeap;

/// More entries than any list of these tests has.
const ALL: u64 = 1 << 20;

fn unreachable(heap: &LoadedHeap) -> Value {
    ask(heap, json!({ "question": "unreachable", "limit": ALL }))
}

fn codes(answer: &Value) -> Vec<&str> {
    let warnings = answer["warnings"].as_array().unwrap().iter();
    let codes = warnings.map(|warning| warning["code"].as_str().unwrap());
    codes.collect()
}

/// The objects of the heap that no root reaches.
fn garbage(truth: &Truth) -> BTreeSet<Object> {
    let live = truth.reached(|_| true);
    let on_heap = truth.sizes.iter().filter(|&(_, &size)| size > 0);
    let objects = on_heap.map(|(&object, _)| object);
    objects.filter(|object| !live.contains(object)).collect()
}

/// The objects that are reachable from an object through one or more references within a set.
fn reached_from(truth: &Truth, start: Object, within: &BTreeSet<Object>) -> BTreeSet<Object> {
    let mut pending = vec![start];
    let mut reached = BTreeSet::new();
    while let Some(object) = pending.pop() {
        for target in &truth.edges[&object] {
            if within.contains(target) && reached.insert(*target) {
                pending.push(*target);
            }
        }
    }
    reached
}

/// The cycles, by definition: objects that reach each other, and themselves.
fn cycles(truth: &Truth) -> BTreeSet<BTreeSet<Object>> {
    let garbage = garbage(truth);
    let reached: BTreeMap<Object, BTreeSet<Object>> = garbage
        .iter()
        .map(|&object| (object, reached_from(truth, object, &garbage)))
        .collect();
    let circular = garbage
        .iter()
        .filter(|object| reached[object].contains(object));
    let cycle = |object: &Object| {
        let reached_back = reached[object].iter().copied();
        reached_back
            .filter(|other| reached[other].contains(object))
            .collect()
    };
    circular.map(cycle).collect()
}

fn size(truth: &Truth, objects: &BTreeSet<Object>) -> u64 {
    objects
        .iter()
        .map(|object| u64::from(truth.sizes[object]))
        .sum()
}

/// The objects by class: the given numbers of each class that two lists agree on.
fn by_class(heap: &LoadedHeap, objects: &BTreeSet<Object>) -> BTreeMap<String, u64> {
    let mut classes = BTreeMap::new();
    for &object in objects {
        *classes.entry(class_name(heap.heap(), object)).or_default() += 1;
    }
    classes
}

fn listed_classes(classes: &Value) -> BTreeMap<String, u64> {
    let classes = classes.as_array().unwrap().iter();
    let entry = |class: &Value| {
        let name = class["className"].as_str().unwrap().to_owned();
        (name, class["count"].as_u64().unwrap())
    };
    classes.map(entry).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn garbage_and_its_cycles_are_as_defined(plans in prop::collection::vec(any_plan(), 1..25)) {
        let (scene, truth) = build(&plans);
        let heap = scene.open();
        let answer = unreachable(&heap);
        let expected = garbage(&truth);
        let found = &answer["garbage"];
        prop_assert_eq!(&found["count"], expected.len());
        prop_assert_eq!(&found["shallowSize"], size(&truth, &expected));
        prop_assert_eq!(listed_classes(&found["classes"]), by_class(&heap, &expected));

        let expected = cycles(&truth);
        let all: BTreeSet<Object> = expected.iter().flatten().copied().collect();
        let found = &found["cycles"];
        prop_assert_eq!(&found["total"], expected.len());
        prop_assert_eq!(&found["count"], all.len());
        prop_assert_eq!(&found["shallowSize"], size(&truth, &all));
        let mut groups: BTreeMap<Vec<String>, Vec<&BTreeSet<Object>>> = BTreeMap::new();
        for cycle in &expected {
            let names = by_class(&heap, cycle).into_keys().collect();
            groups.entry(names).or_default().push(cycle);
        }
        let found = found["groups"].as_array().unwrap();
        prop_assert_eq!(found.len(), groups.len());
        let mut order = Vec::new();
        for group in found {
            let names: Vec<String> = listed_classes(&group["classes"]).into_keys().collect();
            let mut cycles = groups.remove(&names).unwrap();
            let objects: BTreeSet<Object> = cycles.iter().copied().flatten().copied().collect();
            prop_assert_eq!(&group["cycles"], cycles.len());
            prop_assert_eq!(&group["count"], objects.len());
            prop_assert_eq!(&group["shallowSize"], size(&truth, &objects));
            prop_assert_eq!(listed_classes(&group["classes"]), by_class(&heap, &objects));
            cycles.sort_by_key(|cycle| {
                (std::cmp::Reverse((size(&truth, cycle), cycle.len())), cycle.first().copied())
            });
            let first = cycles.iter().map(|cycle| cycle.first().unwrap().0);
            prop_assert_eq!(&group["addresses"], &json!(first.collect::<Vec<u32>>()));
            let sizes = (group["shallowSize"].as_u64(), group["count"].as_u64());
            order.push((std::cmp::Reverse(sizes), names));
        }
        prop_assert!(order.is_sorted());
    }

    #[test]
    fn the_graph_has_the_largest_objects_and_all_references_between_them(
        plans in prop::collection::vec(any_plan(), 1..25),
        most in 1usize..40,
    ) {
        let (scene, truth) = build(&plans);
        let heap = scene.open();
        let answer = ask(&heap, json!({ "question": "unreachable", "maxNodes": most }));
        let nodes = answer["nodes"].as_array().unwrap();
        prop_assert!(nodes.len() <= most);
        let object = |node: &Value| Object(node["address"].as_u64().unwrap() as u32);
        let state = |node: &Value| node["state"].as_str().unwrap().to_owned();

        let garbage = garbage(&truth);
        let lost = answer["raw"]["unreferenced"]["count"].as_u64().unwrap() as usize;
        let is_unreachable = |node: &Value| ["garbage", "raw"].contains(&state(node).as_str());
        let unreachable = nodes.iter().filter(|node| is_unreachable(node));
        prop_assert_eq!(unreachable.clone().count(), most.min(garbage.len() + lost));
        prop_assert!(nodes.is_sorted_by_key(|node| !is_unreachable(node)));
        let sizes = unreachable.map(|node| std::cmp::Reverse(node["shallowSize"].as_u64()));
        prop_assert!(sizes.clone().is_sorted());

        let places: BTreeMap<Object, usize> = nodes
            .iter()
            .enumerate()
            .filter(|(_, node)| state(node) != "raw")
            .map(|(at, node)| (object(node), at))
            .collect();
        let mut edges = Vec::new();
        for node in nodes.iter().filter(|node| state(node) != "raw") {
            let source = object(node);
            prop_assert_eq!(garbage.contains(&source), state(node) == "garbage");
            for target in &truth.edges[&source] {
                edges.extend(places.get(target).map(|&to| (places[&source], to)));
            }
        }
        let found = answer["edges"].as_array().unwrap().iter();
        let mut found: Vec<(usize, usize)> = found
            .map(|edge| ["from", "to"].map(|end| edge[end].as_u64().unwrap() as usize))
            .map(|[from, to]| (from, to))
            .collect();
        found.sort_unstable();
        edges.sort_unstable();
        prop_assert_eq!(found, edges);

        // Nodes have the same cycle number exactly if they are in one cycle.
        let mut numbers = BTreeSet::new();
        for cycle in cycles(&truth) {
            let members = nodes.iter().filter(|node| cycle.contains(&object(node)));
            let found: BTreeSet<Option<u64>> = members.map(|node| node["cycle"].as_u64()).collect();
            prop_assert!(found.len() <= 1);
            if let Some(number) = found.into_iter().next() {
                prop_assert!(number.is_some() && numbers.insert(number));
            }
        }
        let without = nodes.iter().filter(|node| node["cycle"].is_null()).count();
        let all = cycles(&truth).into_iter().flatten().collect::<BTreeSet<_>>();
        let in_cycles = places.keys().filter(|object| all.contains(object)).count();
        prop_assert_eq!(without + in_cycles, nodes.len());
    }
}

/// Where a raw block is referred to from.
#[derive(Clone, Copy, Debug)]
enum Holder {
    Global,
    Stack,
    Static,
    Object,
    Garbage,
    /// Another raw block, modulo their number.
    Raw(usize),
    ForeignPages,
    FreeBlock,
}

fn any_holder() -> impl Strategy<Value = Holder> {
    prop_oneof![
        1 => Just(Holder::Global),
        1 => Just(Holder::Stack),
        1 => Just(Holder::Static),
        1 => Just(Holder::Object),
        2 => Just(Holder::Garbage),
        8 => (0usize..100).prop_map(Holder::Raw),
        1 => Just(Holder::ForeignPages),
        2 => Just(Holder::FreeBlock),
    ]
}

/// The bytes of a raw block of this scene.
const RAW: u32 = 44;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn unreferenced_raw_blocks_are_those_that_no_chain_of_words_leads_to(
        holders in prop::collection::vec((prop::collection::vec(any_holder(), 0..3), 0..=RAW), 1..20),
    ) {
        let mut scene = Scene::new();
        let node = scene.class("assembly/index/Node");
        let live = scene.object(node, 400);
        scene.push_on_stack(live);
        let garbage = scene.object(node, 400);
        let fixed = scene.static_object(node, &[0; 100]);
        let free = scene.raw(&[]) + 16;
        scene.free_block(1004);
        let blocks: Vec<u32> = holders.iter().map(|_| scene.raw(&[0; RAW as usize / 4])).collect();
        let foreign = scene.foreign_pages(1);
        let mut words = [live.0, garbage.0, fixed.0, free + 64, foreign].map(|start| (start..).step_by(4));
        let mut held: BTreeSet<usize> = BTreeSet::new();
        let mut follows: Vec<(usize, usize)> = Vec::new();
        for (nth, (holders, offset)) in holders.iter().enumerate() {
            let word = blocks[nth] + offset;
            for (way, &holder) in holders.iter().enumerate() {
                let mut at = |place: usize| words[place].next().unwrap();
                let place = match holder {
                    Holder::Global => {
                        scene.global(&format!("assembly/index/block{nth}{way}"), "usize", word);
                        None
                    }
                    Holder::Stack => {
                        scene.push_on_stack(word);
                        None
                    }
                    Holder::Raw(other) => {
                        let other = other % blocks.len();
                        follows.push((other, nth));
                        // A block has one word for this: the last written value remains.
                        follows.retain(|&(from, to)| from != other || to == nth);
                        Some(blocks[other] + 4)
                    }
                    Holder::Object => Some(at(0)),
                    Holder::Garbage => Some(at(1)),
                    Holder::Static => Some(at(2)),
                    Holder::FreeBlock => Some(at(3)),
                    Holder::ForeignPages => Some(at(4)),
                };
                if let Some(place) = place {
                    scene.write(place, &[word]);
                }
                if !matches!(holder, Holder::Raw(_) | Holder::Garbage | Holder::FreeBlock) {
                    held.insert(nth);
                }
            }
        }
        while let Some(&(_, to)) = follows.iter().find(|(from, to)| held.contains(from) && !held.contains(to)) {
            held.insert(to);
        }

        let answer = unreachable(&scene.open());
        let raw = &answer["raw"];
        prop_assert_eq!(&raw["count"], blocks.len() + 1);
        let first = std::iter::once(free - 16);
        let lost = (0..blocks.len()).filter(|nth| !held.contains(nth)).map(|nth| blocks[nth]);
        let lost: BTreeSet<u32> = lost.chain(first).map(|block| block + 4).collect();
        let found = raw["unreferenced"]["blocks"].as_array().unwrap().iter();
        let found: BTreeSet<u32> = found.map(|block| block["address"].as_u64().unwrap() as u32).collect();
        prop_assert_eq!(&raw["unreferenced"]["count"], lost.len());
        prop_assert_eq!(found, lost);
        prop_assert!(codes(&answer).contains(&"WARN_RAW_BLOCKS_ESTIMATED"));
    }
}

#[test]
fn without_global_values_unreferenced_raw_blocks_are_not_looked_for() {
    let mut scene = Scene::new();
    scene.raw(&[1, 2, 3]);
    let heap = open(&scene.dump().without_globals(), &scene.module()).unwrap();
    let answer = unreachable(&heap);
    assert_eq!(
        answer["raw"],
        json!({ "count": 1, "size": 16, "unreferenced": null })
    );
    assert!(codes(&answer).contains(&"WARN_RAW_BLOCKS_NOT_SCANNED"));
}

#[test]
fn an_empty_heap_has_nothing_unreachable() {
    let answer = unreachable(&Scene::new().open());
    assert_eq!(
        answer["garbage"],
        json!({
            "count": 0,
            "shallowSize": 0,
            "classes": [],
            "cycles": { "total": 0, "count": 0, "shallowSize": 0, "groups": [] },
        })
    );
    assert_eq!(
        answer["raw"],
        json!({ "count": 0, "size": 0, "unreferenced": { "count": 0, "size": 0, "blocks": [] } })
    );
    assert_eq!(answer.get("nodes"), None);
}

/// A garbage list of nodes, of which the last refers to the first.
fn circle(scene: &mut Scene, node: Class, length: u32) -> Vec<Object> {
    let nodes: Vec<Object> = (0..length).map(|_| scene.object(node, 12)).collect();
    for (nth, &object) in nodes.iter().enumerate() {
        scene.set(object, 0, nodes[(nth + 1) % nodes.len()]);
    }
    nodes
}

#[test]
fn a_cycle_of_a_hundred_thousand_objects_is_found_without_recursion() {
    let mut scene = Scene::new();
    let node = scene.class("assembly/index/Node");
    scene.field(node, "next", 0, node);
    circle(&mut scene, node, 100_000);
    let cycles = &unreachable(&scene.open())["garbage"]["cycles"];
    assert_eq!(
        [&cycles["total"], &cycles["count"]],
        [&json!(1), &json!(100_000)]
    );
}

#[test]
fn entries_that_a_limit_leaves_out_are_still_in_the_sums() {
    let mut scene = Scene::new();
    for (nth, length) in [5, 3, 4].into_iter().enumerate() {
        let node = scene.class(&format!("assembly/index/Node{nth}"));
        scene.field(node, "next", 0, node);
        circle(&mut scene, node, length);
        circle(&mut scene, node, 1);
        scene.raw(&vec![0; length as usize * 4]);
    }
    let answer = ask(
        &scene.open(),
        json!({ "question": "unreachable", "limit": 1 }),
    );
    let garbage = &answer["garbage"];
    assert_eq!(garbage["count"], 15);
    assert_eq!(
        garbage["classes"],
        json!([{ "className": "assembly/index/Node0", "count": 6, "shallowSize": 192 }])
    );
    let cycles = &garbage["cycles"];
    assert_eq!(
        [&cycles["total"], &cycles["count"]],
        [&json!(6), &json!(15)]
    );
    let groups = cycles["groups"].as_array().unwrap();
    assert_eq!(groups.len(), 1);
    assert_eq!(
        [&groups[0]["cycles"], &groups[0]["count"]],
        [&json!(2), &json!(6)]
    );
    assert_eq!(groups[0]["addresses"].as_array().unwrap().len(), 1);
    let lost = &answer["raw"]["unreferenced"];
    assert_eq!([&lost["count"], &lost["size"]], [&json!(3), &json!(240)]);
    assert_eq!(lost["blocks"][0]["size"], 96);
}

#[test]
fn a_graph_with_too_many_references_reports_how_many_it_leaves_out() {
    let mut scene = Scene::new();
    let node = scene.class("assembly/index/Node");
    let list = scene.generic(
        "~lib/staticarray/StaticArray<assembly/index/Node>",
        &[&node],
    );
    let array = scene.object(list, 400);
    for nth in 0..100 {
        scene.set(array, nth * 4, array);
    }
    let heap = scene.open();
    let answer = ask(&heap, json!({ "question": "unreachable", "maxNodes": 1 }));
    let edges = answer["edges"].as_array().unwrap();
    assert_eq!(edges.len(), 16);
    assert_eq!(edges[0], json!({ "from": 0, "to": 0, "label": "[*]" }));
    assert_eq!(codes(&answer), ["WARN_EDGES_LEFT_OUT"]);
    let message = answer["warnings"][0]["message"].as_str().unwrap();
    assert!(message.starts_with("84 references"), "{message}");
}
