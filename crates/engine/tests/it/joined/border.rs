//! What is said of holders, of pins without them, and of what crosses the border in other ways.

use serde_json::{Value, json};

use super::{Files, add_number, address_of, ask, files, id_of};
use crate::snapshots::Snapshot;
use crate::support::{Object, Scene};

/// A program with pinned objects, among many others that are not pinned.
fn pinned(count: usize) -> (Scene, Vec<Object>) {
    let mut scene = Scene::new();
    let class = scene.class("Node");
    let mut pinned = Vec::new();
    for nth in 0..20 * count {
        let object = scene.object(class, 48);
        if nth % 20 == 7 {
            scene.pin(object);
            pinned.push(object);
        }
    }
    (scene, pinned)
}

fn path_of(files: &Files, object: Object) -> Value {
    let loaded = files.open().unwrap();
    let question = json!({ "question": "object", "address": object.0 });
    ask(&loaded, question)
}

#[test]
fn a_path_goes_from_a_global_of_javascript_through_a_handle_to_the_object() {
    let (scene, objects) = pinned(10);
    let mut snapshot = Snapshot::new();
    let map = snapshot.node("object", "Map", 16);
    snapshot.edge(1, "property", "tickets", map);
    for (nth, object) in objects.iter().enumerate() {
        let ticket = snapshot.node("object", "Ticket", 16);
        snapshot.edge(map, "element", nth as u64, ticket);
        add_number(&mut snapshot, ticket, "handle", f64::from(object.0));
    }
    let answer = path_of(&files(&scene, &snapshot), objects[3]);
    assert_eq!(
        answer["path"]["text"],
        "global global > global.tickets > Map[*] > Ticket.handle > Node"
    );
    let steps = answer["path"]["steps"].as_array().unwrap();
    assert_eq!(
        steps.last().unwrap()["evidence"],
        json!({ "kind": "derived", "hits": 10, "values": 10 })
    );
    assert_eq!(answer["roots"], json!([]));
    assert_eq!(answer.get("possibleHolders"), None);
}

#[test]
fn a_single_number_is_possible_and_not_followed() {
    let (scene, objects) = pinned(10);
    let mut snapshot = Snapshot::new();
    let holder = snapshot.node("object", "Config", 16);
    snapshot.edge(1, "property", "config", holder);
    add_number(&mut snapshot, holder, "port", f64::from(objects[0].0));
    let files = files(&scene, &snapshot).with_numbers(json!([]));
    let answer = path_of(&files, objects[0]);
    assert_eq!(
        answer["roots"],
        json!([{ "kind": "pinned", "name": "(possible: 1 slot)" }])
    );
    let slot = &answer["possibleHolders"]["slots"][0];
    assert_eq!(slot["addressText"], format!("@{}", id_of(holder)));
    assert_eq!(
        (&slot["labelText"], &slot["hits"]),
        (&json!(".port"), &json!(1))
    );
    // The others have no number anywhere.
    assert_eq!(
        path_of(&files, objects[1])["roots"],
        json!([{ "kind": "pinned", "name": "(no JavaScript number seen)" }])
    );
}

#[test]
fn nothing_is_said_of_numbers_that_were_not_read() {
    let (scene, objects) = pinned(4);
    let answer = path_of(&files(&scene, &Snapshot::new()), objects[1]);
    assert_eq!(answer["roots"], json!([{ "kind": "pinned", "name": null }]));
    let warnings = answer["warnings"].as_array().unwrap();
    assert!(
        warnings.iter().any(|one| one["code"] == "WARN_HOST_MOMENT"),
        "{answer}"
    );
    // A file of numbers beside a snapshot that was written without numbers.
    let without = files(&scene, &Snapshot::new()).with_numbers(json!([]));
    let answer = path_of(&without, objects[1]);
    assert_eq!(answer["roots"], json!([{ "kind": "pinned", "name": null }]));
}

/// Other numbers from an index on, counted by index modulo 2, 3, … 8.
fn steps(first: u64, count: u64) -> Value {
    let of_step = |step: u64| {
        let at = |remainder: u64| {
            (first..first + count)
                .filter(|nth| nth % step == remainder)
                .count()
        };
        (0..step).map(at).collect::<Vec<_>>()
    };
    json!((2..=8).map(of_step).collect::<Vec<_>>())
}

/// Arrays that one slot of a class holds. Each has one of these rows, followed by `others` numbers that are no addresses.
fn small_arrays(rows: &[Vec<u32>], others: u64) -> (Snapshot, Value) {
    let mut snapshot = Snapshot::new();
    let mut numbers = Vec::new();
    for (nth, row) in rows.iter().enumerate() {
        let owner = snapshot.node("object", "Owner", 16);
        let array = snapshot.node("object", "Array", 16);
        snapshot.edge(1, "element", nth as u64, owner);
        snapshot.edge(owner, "property", "pair", array);
        let slots: Vec<Value> = row
            .iter()
            .enumerate()
            .map(|(index, value)| json!([index, value]))
            .collect();
        let mut object = json!({ "id": id_of(array), "kind": "Array", "slots": slots });
        if others > 0 {
            object["other"] = json!({ "i": others });
            object["steps"] = steps(row.len() as u64, others);
        }
        numbers.push(object);
    }
    (snapshot, json!(numbers))
}

fn derived(files: Files) -> u64 {
    let loaded = files.open().unwrap();
    let summary = ask(&loaded, json!({ "question": "summary" }));
    summary["joined"]["pinned"]["derived"].as_u64().unwrap()
}

#[test]
fn small_arrays_are_judged_with_the_others_that_the_same_slot_holds() {
    let (scene, objects) = pinned(12);
    let rows: Vec<Vec<u32>> = objects.iter().map(|object| vec![object.0]).collect();
    let (snapshot, numbers) = small_arrays(&rows, 0);
    assert_eq!(derived(files(&scene, &snapshot).with_numbers(numbers)), 12);
    // Three of them are too few.
    let (snapshot, numbers) = small_arrays(&rows[..3], 0);
    assert_eq!(derived(files(&scene, &snapshot).with_numbers(numbers)), 0);
}

#[test]
fn an_element_is_judged_with_those_at_its_index() {
    let (scene, objects) = pinned(12);
    let rows: Vec<Vec<u32>> = objects.iter().map(|object| vec![object.0]).collect();
    // In each array, a number that is no address follows the handle.
    let (snapshot, numbers) = small_arrays(&rows, 1);
    assert_eq!(derived(files(&scene, &snapshot).with_numbers(numbers)), 12);
    // Half of the arrays have another number in its place.
    let mut mixed = rows.clone();
    mixed.extend((0..12).map(|_| Vec::new()));
    let (snapshot, numbers) = small_arrays(&mixed, 2);
    assert_eq!(derived(files(&scene, &snapshot).with_numbers(numbers)), 0);
}

#[test]
fn elements_of_an_array_are_judged_by_their_index_modulo_a_step() {
    let (scene, objects) = pinned(12);
    let array = |step: usize| {
        let mut snapshot = Snapshot::new();
        let array = snapshot.node("object", "Array", 16);
        snapshot.edge(1, "property", "flat", array);
        let slots: Vec<Value> = objects
            .iter()
            .enumerate()
            .map(|(nth, object)| json!([step * nth, object.0]))
            .collect();
        let others: Vec<usize> = (0..step * 12).filter(|nth| nth % step != 0).collect();
        let of_step = |step: usize| {
            let at = |remainder| others.iter().filter(|&nth| nth % step == remainder).count();
            (0..step).map(at).collect::<Vec<_>>()
        };
        let object = json!({
            "id": id_of(array), "kind": "Array", "slots": slots,
            "other": { "i": others.len() },
            "steps": (2..=8).map(of_step).collect::<Vec<_>>(),
        });
        files(&scene, &snapshot).with_numbers(json!([object]))
    };
    assert_eq!(derived(array(2)), 12);
    assert_eq!(derived(array(5)), 12);
    assert_eq!(derived(array(11)), 0);
}

#[test]
fn an_object_with_many_numbers_is_judged_as_a_map() {
    let (scene, objects) = pinned(12);
    let of_numbers = |others: usize| {
        let mut snapshot = Snapshot::new();
        let fonts = snapshot.node("object", "Object", 16);
        snapshot.edge(1, "property", "fonts", fonts);
        for (nth, object) in objects.iter().enumerate() {
            add_number(
                &mut snapshot,
                fonts,
                &format!("font-{nth}"),
                f64::from(object.0),
            );
        }
        for nth in 0..others {
            add_number(
                &mut snapshot,
                fonts,
                &format!("size-{nth}"),
                nth as f64 + 0.5,
            );
        }
        derived(files(&scene, &snapshot))
    };
    assert_eq!(of_numbers(1), 12);
    assert_eq!(of_numbers(12), 0);
}

#[test]
fn variables_are_those_of_the_context_of_a_scope() {
    let (scene, objects) = pinned(12);
    let mut snapshot = Snapshot::new();
    let mut numbers = Vec::new();
    for (nth, object) in objects.iter().enumerate() {
        let function = snapshot.node("closure", "release", 32);
        let inner = snapshot.node("object", "system / Context", 24);
        let outer = snapshot.node("object", "system / Context", 24);
        snapshot.edge(1, "element", nth as u64, function);
        snapshot.edge(function, "internal", "context", inner);
        snapshot.edge(inner, "internal", "previous", outer);
        numbers.push(json!({
            "id": id_of(function), "kind": "Closure", "scope": 1, "slots": [["handle", object.0]],
        }));
    }
    let files = files(&scene, &snapshot).with_numbers(json!(numbers));
    let text = path_of(&files, objects[0])["path"]["text"].clone();
    let text = text.as_str().unwrap();
    assert!(
        text.ends_with("system / Context{previous} > system / Context->handle > Node"),
        "{text}"
    );
}

#[test]
fn the_table_in_which_the_bindings_count_pins_holds_nothing() {
    let (scene, objects) = pinned(10);
    let table = |name: &str| {
        let mut snapshot = Snapshot::new();
        let context = snapshot.node("object", "system / Context", 16);
        let map = snapshot.node("object", "Map", 16);
        let registry = snapshot.node("object", "FinalizationRegistry", 16);
        snapshot.edge(1, "internal", "context", context);
        snapshot.edge(context, "context", name, map);
        snapshot.edge(context, "context", "registry", registry);
        let slots: Vec<Value> = objects
            .iter()
            .map(|object| json!(["key", object.0]))
            .collect();
        let object = json!({ "id": id_of(map), "kind": "Map", "slots": slots });
        files(&scene, &snapshot).with_numbers(json!([object]))
    };
    let answer = path_of(&table("refcounts"), objects[2]);
    assert_eq!(
        answer["roots"],
        json!([{
            "kind": "pinned", "name": "(its wrapper was collected, and the release has not run)",
        }])
    );
    // A map of another name is one of the program.
    let answer = path_of(&table("handles"), objects[2]);
    assert_eq!(answer["roots"], json!([]));
    assert_eq!(
        answer["path"]["text"],
        "global global > global{context} > system / Context->handles > Map key [*] > Node"
    );
}

#[test]
fn what_the_globals_of_the_instance_hold_is_below_the_instance() {
    let mut scene = Scene::new();
    let class = scene.class("Node");
    let object = scene.object(class, 48);
    scene.global("app/first", class, object);
    let memory = scene.dump().memory_size();
    let mut snapshot = Snapshot::new();
    let instance = snapshot.node("hidden", "system / WasmTrustedInstanceData", 64);
    let memories = snapshot.node("array", "", 16);
    let holder = snapshot.node("object", "Memory", 16);
    let buffer = snapshot.node("object", "ArrayBuffer", 16);
    let data = snapshot.node("native", "system / JSArrayBufferData", memory);
    snapshot.edge(1, "internal", "instance", instance);
    snapshot.edge(instance, "internal", "memory_objects", memories);
    snapshot.edge(memories, "hidden", 1, holder);
    snapshot.edge(holder, "internal", "array_buffer", buffer);
    snapshot.edge(buffer, "internal", "backing_store", data);
    let loaded = files(&scene, &snapshot).open().unwrap();
    let answer = ask(
        &loaded,
        json!({ "question": "object", "address": object.0 }),
    );
    assert_eq!(answer["roots"], json!([]));
    assert_eq!(answer["dominator"]["address"], address_of(instance));
    let text = answer["path"]["text"].as_str().unwrap();
    assert!(text.ends_with("(system) global app/first > Node"), "{text}");
    let question = json!({ "question": "dominators", "address": address_of(instance) });
    let children = ask(&loaded, question);
    let block = scene.total();
    assert_eq!(
        children["children"][0]["retainedParts"],
        json!({ "javascript": 0, "wasm": block })
    );
}

#[test]
fn a_declared_slot_that_is_not_there_is_an_error() {
    let (scene, _) = pinned(1);
    for slot in [
        "Node",
        "Node.id=host",
        "Other.id=host",
        "Node.id=global.none",
        "=.=",
    ] {
        let mut files = files(&scene, &Snapshot::new());
        files.slots = vec![slot.to_owned()];
        let error = files.open().unwrap_err();
        assert_eq!(error.code(), "ERR_HOST_SLOT", "{slot}: {error}");
    }
}

#[test]
fn files_that_do_not_belong_together_are_errors() {
    let (scene, _) = pinned(1);
    let code = |change: &dyn Fn(&mut Files)| {
        let mut files = files(&scene, &Snapshot::new());
        change(&mut files);
        files.open().unwrap_err().code()
    };
    assert_eq!(
        code(&|files| files.dump = files.snapshot.clone()),
        "ERR_HOST_KIND"
    );
    assert_eq!(
        code(&|files| files.snapshot = files.dump.clone()),
        "ERR_SNAPSHOT"
    );
    assert_eq!(
        code(&|files| files.numbers = Some(b"{".to_vec())),
        "ERR_NUMBERS"
    );
    let later = br#"{"format":"warpo-heap-analyzer numbers 2","dumpSize":1,"dumpSha256":"","lo":0,"hi":1,"objects":[]}"#;
    assert_eq!(
        code(&|files| files.numbers = Some(later.to_vec())),
        "ERR_NUMBERS"
    );
}
