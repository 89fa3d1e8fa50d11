//! Random small heaps on both sides of the border, compared with the definition of retained sizes: an object retains what
//! is not reached any more without it.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{add_number, address_of, ask, files};
use crate::snapshots::Snapshot;
use crate::support::Scene;

/// The objects of each heap.
const OBJECTS: usize = 8;

#[derive(Clone, Debug)]
struct Heaps {
    /// References within the memory.
    wasm: Vec<(usize, usize)>,
    pinned: Vec<bool>,
    /// References within JavaScript, beside one from each object to the next.
    js: Vec<(usize, usize)>,
    /// From JavaScript to the memory.
    handles: Vec<(usize, usize)>,
    /// The object of the memory that a global refers to.
    global: usize,
}

fn heaps() -> impl Strategy<Value = Heaps> {
    let pairs = |most: usize| prop::collection::vec((0..OBJECTS, 0..OBJECTS), 0..most);
    (
        pairs(12),
        prop::collection::vec(any::<bool>(), OBJECTS),
        pairs(8),
        pairs(6),
        0..OBJECTS,
    )
        .prop_map(|(wasm, pinned, js, handles, global)| Heaps {
            wasm,
            pinned,
            js,
            handles,
            global,
        })
}

/// What is reached without one of the nodes, which are those of the memory and then those of the snapshot.
fn reached(edges: &[(usize, usize)], roots: &[usize], nodes: usize, without: usize) -> Vec<bool> {
    let mut found = vec![false; nodes];
    let mut pending: Vec<usize> = roots.to_vec();
    while let Some(node) = pending.pop() {
        if node == without || std::mem::replace(&mut found[node], true) {
            continue;
        }
        let next = edges.iter().filter(|edge| edge.0 == node);
        pending.extend(next.map(|edge| edge.1));
    }
    found
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    #[test]
    fn retained_sizes_of_both_heaps_are_what_is_not_reached_without_the_object(heaps in heaps()) {
        let mut scene = Scene::new();
        let class = scene.class("Node");
        for field in 0..12 {
            scene.field(class, &format!("f{field}"), 4 * field, class);
        }
        let objects: Vec<_> = (0..OBJECTS).map(|_| scene.object(class, 48)).collect();
        for (nth, &(from, to)) in heaps.wasm.iter().enumerate() {
            scene.set(objects[from], 4 * nth as u32, objects[to]);
        }
        scene.global("app/first", class, objects[heaps.global]);
        for (&object, _) in objects.iter().zip(&heaps.pinned).filter(|(_, is)| **is) {
            scene.pin(object);
        }
        let mut snapshot = Snapshot::new();
        let holders: Vec<usize> = (0..OBJECTS)
            .map(|nth| snapshot.node("object", "Holder", 16 + 8 * nth as u64))
            .collect();
        snapshot.edge(1, "property", "first", holders[0]);
        for pair in holders.windows(2) {
            snapshot.edge(pair[0], "property", "next", pair[1]);
        }
        for &(from, to) in &heaps.js {
            snapshot.edge(holders[from], "property", "other", holders[to]);
        }
        for &(from, to) in &heaps.handles {
            let address: u32 = objects[to].into();
            add_number(&mut snapshot, holders[from], "__wbg_ptr", f64::from(address));
        }
        let loaded = files(&scene, &snapshot).open().unwrap();

        let js = |node: usize| OBJECTS + node;
        let is_held = |object: usize| {
            heaps.pinned[object] && heaps.handles.iter().any(|handle| handle.1 == object)
        };
        let mut edges = heaps.wasm.clone();
        edges.extend(snapshot.edges.iter().map(|&(from, _, _, to)| (js(from), js(to))));
        // Such a pointer refers to its block, whether that is pinned or not.
        let handles = heaps.handles.iter();
        edges.extend(handles.map(|&(from, to)| (js(holders[from]), to)));
        let mut roots = vec![js(1), heaps.global];
        roots.extend((0..OBJECTS).filter(|&object| heaps.pinned[object] && !is_held(object)));
        let nodes = OBJECTS + snapshot.nodes.len();
        let block = scene.total() / OBJECTS as u64;
        let size = |node: usize| match node.checked_sub(OBJECTS) {
            None => (0, block),
            Some(node) => (snapshot.nodes[node].2, 0),
        };
        let sums = |found: &[bool]| {
            let found = (0..nodes).filter(|&node| found[node]).map(size);
            found.fold((0, 0), |sum, size| (sum.0 + size.0, sum.1 + size.1))
        };
        let all = reached(&edges, &roots, nodes, usize::MAX);
        let total = sums(&all);
        let is_compared = |node: &usize| *node < OBJECTS || holders.contains(&(node - OBJECTS));
        for node in (0..nodes).filter(is_compared) {
            let address = match node.checked_sub(OBJECTS) {
                None => objects[node].into(),
                Some(node) => address_of(node),
            };
            let answer = ask(&loaded, json!({ "question": "object", "address": address }));
            let left = sums(&reached(&edges, &roots, nodes, node));
            let expected = if all[node] {
                json!({ "javascript": total.0 - left.0, "wasm": total.1 - left.1 })
            } else {
                json!({ "javascript": 0, "wasm": 0 })
            };
            prop_assert_eq!(&answer["retainedParts"], &expected, "{} {:?}", node, heaps);
            let sum = total.0 - left.0 + total.1 - left.1;
            prop_assert_eq!(&answer["retainedSize"], &json!(if all[node] { sum } else { 0 }));
        }
    }
}

#[test]
fn the_memory_is_not_counted_again_as_a_buffer_of_javascript() {
    let mut scene = Scene::new();
    let class = scene.class("Node");
    let object = scene.object(class, 48);
    scene.pin(object);
    let memory = scene.dump().memory_size();
    let mut snapshot = Snapshot::new();
    let holder = snapshot.node("object", "Memory", 16);
    let buffer = snapshot.node("object", "ArrayBuffer", 16);
    let data = snapshot.node("native", "system / JSArrayBufferData", memory);
    let other = snapshot.node("native", "system / JSArrayBufferData", memory);
    snapshot.edge(1, "property", "memory", holder);
    snapshot.edge(holder, "internal", "array_buffer", buffer);
    snapshot.edge(buffer, "internal", "backing_store", data);
    snapshot.edge(1, "property", "other", other);
    let loaded = files(&scene, &snapshot).open().unwrap();
    let size = |node| {
        let question = json!({ "question": "object", "address": address_of(node) });
        ask(&loaded, question)["shallowSize"].clone()
    };
    assert_eq!(size(data), json!(0));
    // Another buffer of the same size is one of JavaScript.
    assert_eq!(size(other), json!(memory));
    let summary: Value = ask(&loaded, json!({ "question": "summary" }));
    assert_eq!(summary["joined"]["wasm"]["liveSize"], scene.total());
}
