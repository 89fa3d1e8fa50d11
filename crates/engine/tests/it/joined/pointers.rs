//! Pointers in the handles of embind and wasm-bindgen, and places in tables.

use serde_json::{Value, json};

use super::{Files, add_number, ask, files};
use crate::snapshots::Snapshot;
use crate::support::{Object, Scene};

/// Objects to which a global refers through each other, so that none of them is pinned.
fn chain(count: usize) -> (Scene, Vec<Object>) {
    let mut scene = Scene::new();
    let class = scene.class("Node");
    scene.field(class, "next", 0, class);
    let objects: Vec<Object> = (0..count).map(|_| scene.object(class, 48)).collect();
    for pair in objects.windows(2) {
        scene.set(pair[0], 0, pair[1]);
    }
    scene.global("app/first", class, objects[0]);
    (scene, objects)
}

/// The labels of the references to an object that cross the border.
fn holders(files: &Files, object: Object) -> Vec<String> {
    let loaded = files.open().unwrap();
    let question = json!({ "question": "referrers", "address": object.0 });
    let answer = ask(&loaded, question);
    let edges = answer["referrers"].as_array().unwrap().iter();
    let crossing = edges.filter(|edge| edge["evidence"] != Value::Null);
    let label = |edge: &Value| edge["labelText"].as_str().unwrap().to_owned();
    crossing.map(label).collect()
}

/// An object with a property that leads to one with a pointer.
fn add_pointer(snapshot: &mut Snapshot, holder: usize, property: &str, address: u32) {
    let inner = snapshot.node("object", "Object", 16);
    snapshot.edge(holder, "property", property, inner);
    add_number(snapshot, inner, "ptr", f64::from(address));
}

#[test]
fn a_pointer_of_embind_leads_into_its_block_and_one_of_the_same_shape_leads_nowhere() {
    let (scene, objects) = chain(6);
    for order in [[0, 1], [1, 0]] {
        let mut snapshot = Snapshot::new();
        let holders_of = ["book", "decoy"].map(|name| {
            let holder = snapshot.node("object", "Book", 16);
            snapshot.edge(1, "property", name, holder);
            holder
        });
        // The first of a shape does not decide about the others.
        for nth in order {
            let property = ["$$", "other"][nth];
            let address = objects[2 + nth].0 + 12;
            add_pointer(&mut snapshot, holders_of[nth], property, address);
        }
        let files = files(&scene, &snapshot);
        assert_eq!(holders(&files, objects[2]), [".ptr"]);
        assert_eq!(holders(&files, objects[3]), [""; 0]);
    }
}

#[test]
fn a_pointer_beyond_a_block_or_to_nothing_is_no_reference() {
    let (scene, objects) = chain(2);
    let last = objects[1].0;
    for (address, expected) in [(last, 1), (last + 47, 1), (last + 128, 0), (0, 0), (8, 0)] {
        let mut snapshot = Snapshot::new();
        let session = snapshot.node("object", "Session", 16);
        snapshot.edge(1, "property", "session", session);
        add_number(&mut snapshot, session, "__wbg_ptr", f64::from(address));
        let files = files(&scene, &snapshot);
        assert_eq!(holders(&files, objects[1]).len(), expected, "{address}");
    }
}

#[test]
fn an_object_of_a_table_is_held_by_what_has_its_place() {
    let mut scene = Scene::new();
    let class = scene.class("Item");
    scene.field(class, "id", 0, "i32");
    let items: Vec<Object> = (0..3)
        .map(|nth| scene.object_of(class, &[nth + 4]))
        .collect();
    for (nth, &item) in items.iter().enumerate() {
        scene.global(&format!("app/item{nth}"), class, item);
    }
    let mut snapshot = Snapshot::new();
    let table = snapshot.node("object", "Table", 16);
    let storage = snapshot.node("array", "", 16);
    snapshot.edge(1, "property", "table", table);
    snapshot.edge(table, "hidden", 3u64, storage);
    // The last one is of no item.
    let callbacks: Vec<usize> = (0..4)
        .map(|nth: u32| {
            let callback = snapshot.node("object", "Callback", 16);
            snapshot.edge(storage, "internal", (nth + 4).to_string(), callback);
            callback
        })
        .collect();
    let mut files = files(&scene, &snapshot);
    files.slots = vec!["Item.id=table".to_owned()];
    let loaded = files.open().unwrap();
    let holder = |callback: usize| {
        let address = super::address_of(callback);
        let answer = ask(
            &loaded,
            json!({ "question": "referrers", "address": address }),
        );
        let [edge] = answer["referrers"].as_array().unwrap().as_slice() else {
            panic!("expected one reference: {answer}");
        };
        format!(
            "{}{}",
            edge["className"].as_str().unwrap(),
            edge["labelText"].as_str().unwrap()
        )
    };
    for callback in &callbacks[..3] {
        assert_eq!(holder(*callback), "Item.id");
    }
    assert_eq!(holder(callbacks[3]), "(array){7}");
}
