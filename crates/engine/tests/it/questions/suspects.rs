//! Suspects of known leaks.

use serde_json::{Value, json};

use crate::support::{ARRAY_BUFFER, Class, Object, Scene, ask, ask_with};

fn suspects(scene: &Scene) -> Vec<Value> {
    let answer = ask(&scene.open(), json!({ "question": "suspects" }));
    answer["suspects"].as_array().unwrap().clone()
}

fn addresses(suspects: &[Value]) -> Vec<u64> {
    let suspects = suspects.iter();
    suspects
        .filter_map(|suspect| suspect["address"].as_u64())
        .collect()
}

/// A global that holds a feed, which holds an array with the given number of listeners.
fn feed(scene: &mut Scene, name: &str, count: usize) -> Object {
    let listener = scene.class(&format!("assembly/{name}/Listener"));
    let listeners = scene.generic(
        &format!("~lib/array/Array<assembly/{name}/Listener>"),
        &[&listener],
    );
    let feed = scene.class(&format!("assembly/{name}/Feed"));
    scene.field(feed, "listeners", 0, listeners);
    let objects: Vec<Object> = (0..count).map(|_| scene.object(listener, 44)).collect();
    let array = scene.array(listeners, &objects);
    scene.object_of(feed, &[array.0])
}

#[test]
fn a_leak_is_named_by_the_field_where_it_accumulates() {
    let mut scene = Scene::new();
    let leak = feed(&mut scene, "server", 200);
    scene.global("assembly/server/prices", Class::undescribed(4), leak);
    let suspects = suspects(&scene);
    assert_eq!(addresses(&suspects), [u64::from(leak.0)]);
    let accumulation = &suspects[0]["accumulation"];
    assert_eq!(accumulation["owner"], "assembly/server/Feed.listeners");
    assert_eq!(
        accumulation["children"][0]["className"],
        "assembly/server/Listener"
    );
    assert_eq!(accumulation["children"][0]["count"], 200);
    let text = suspects[0]["text"].as_str().unwrap();
    assert!(
        text.contains(
            "It accumulates in assembly/server/Feed.listeners: 200 assembly/server/Listener"
        ),
        "{text}"
    );
    assert!(
        text.contains("Cutting assembly/server/Feed.listeners frees"),
        "{text}"
    );
}

#[test]
fn a_list_is_one_step_however_long_it_is() {
    let mut scene = Scene::new();
    let node = scene.class("assembly/index/Node");
    scene.field(node, "next", 0, node);
    scene.field(node, "previous", 4, node);
    scene.field(node, "data", 8, ARRAY_BUFFER);
    let nodes: Vec<Object> = (0..300).map(|_| scene.object(node, 12)).collect();
    for (nth, &object) in nodes.iter().enumerate() {
        let data = scene.object(ARRAY_BUFFER, 100);
        scene.set(object, 8, data);
        if let Some(&next) = nodes.get(nth + 1) {
            scene.set(object, 0, next);
            scene.set(next, 4, object);
        }
    }
    scene.global("assembly/index/head", node, nodes[0]);
    let suspects = suspects(&scene);
    assert_eq!(addresses(&suspects), [u64::from(nodes[0].0)]);
    let accumulation = &suspects[0]["accumulation"];
    assert_eq!(accumulation["address"], nodes[0].0);
    let counts = accumulation["children"].as_array().unwrap().iter();
    let counts: Vec<_> = counts
        .map(|class| class["count"].as_u64().unwrap())
        .collect();
    assert_eq!(counts, [300, 300], "{accumulation}");
}

#[test]
fn an_app_with_two_leaks_names_both() {
    let mut scene = Scene::new();
    let [first, second] = [feed(&mut scene, "a", 100), feed(&mut scene, "b", 80)];
    let app = scene.class("assembly/index/App");
    scene.field(app, "first", 0, app);
    scene.field(app, "second", 4, app);
    let object = scene.object_of(app, &[first.0, second.0]);
    scene.global("assembly/index/app", app, object);
    let suspects = suspects(&scene);
    let expected = [object, first, second].map(|object| u64::from(object.0));
    assert_eq!(addresses(&suspects), expected);
    assert_eq!(
        suspects[1]["accumulation"]["owner"],
        "assembly/a/Feed.listeners"
    );
    assert_eq!(
        suspects[2]["accumulation"]["owner"],
        "assembly/b/Feed.listeners"
    );
}

#[test]
fn an_app_with_one_leak_and_many_sessions_has_the_leak_and_the_sessions_as_suspects() {
    let mut scene = Scene::new();
    let leak = feed(&mut scene, "a", 100);
    let session = scene.class("assembly/index/Session");
    let sessions = scene.generic(
        "~lib/staticarray/StaticArray<assembly/index/Session>",
        &[&session],
    );
    let app = scene.class("assembly/index/App");
    scene.inherit(sessions, app);
    let mut words = vec![leak.0];
    words.extend((0..600).map(|_| scene.object(session, 12).0));
    let object = scene.object_of(sessions, &words);
    scene.global("assembly/index/app", sessions, object);
    let suspects = suspects(&scene);
    assert_eq!(
        addresses(&suspects),
        [object, leak].map(|object| u64::from(object.0))
    );
    let accumulated = &suspects[0]["accumulation"]["children"];
    assert_eq!(accumulated[0]["className"], "assembly/index/Session");
    assert_eq!(accumulated[0]["count"], 600);
}

#[test]
fn many_objects_of_one_class_are_a_suspect_together() {
    let mut scene = Scene::new();
    let session = scene.class("assembly/index/Session");
    for _ in 0..50 {
        let object = scene.object(session, 44);
        scene.pin(object);
    }
    let suspects = suspects(&scene);
    assert_eq!(suspects.len(), 1);
    assert_eq!(suspects[0]["kind"], "class");
    assert_eq!(suspects[0]["count"], 50);
    assert_eq!(suspects[0]["share"], 1.0);
}

#[test]
fn a_chain_of_two_alternating_classes_is_one_structure() {
    let mut scene = Scene::new();
    let [left, right] = ["assembly/a/Left", "assembly/a/Right"].map(|name| scene.class(name));
    scene.field(left, "right", 0, right);
    scene.field(right, "left", 0, left);
    let nodes: Vec<Object> = (0..400)
        .map(|nth| scene.object(if nth % 2 == 0 { left } else { right }, 12))
        .collect();
    for pair in nodes.windows(2) {
        scene.set(pair[0], 0, pair[1]);
    }
    scene.global("assembly/a/head", left, nodes[0]);
    let suspects = suspects(&scene);
    assert_eq!(addresses(&suspects), [u64::from(nodes[0].0)]);
    let accumulation = &suspects[0]["accumulation"];
    assert_eq!(accumulation["address"], nodes[0].0);
    assert_eq!(accumulation["children"][0]["count"], 200);
    assert_eq!(accumulation["children"][1]["count"], 200);
}

#[test]
fn growth_is_found_by_the_text_of_the_path_at_any_address() {
    let scene_with = |before: usize, leaking: usize| {
        let mut scene = Scene::new();
        for _ in 0..before {
            scene.free_block(64);
            scene.raw(&[1]);
        }
        let [still, leak] = [
            feed(&mut scene, "still", 100),
            feed(&mut scene, "server", leaking),
        ];
        scene.global("assembly/still/feed", Class::undescribed(4), still);
        scene.global("assembly/server/prices", Class::undescribed(4), leak);
        scene
    };
    let [before, after] = [scene_with(0, 20), scene_with(3, 60)];
    let (before, after) = (before.open(), after.open());
    let answer = ask_with(&after, Some(&before), json!({ "question": "suspects" }));
    let suspects = answer["suspects"].as_array().unwrap();
    assert_eq!(suspects.len(), 1, "{answer:#}");
    let suspect = &suspects[0];
    assert_eq!(suspect["kind"], "growth");
    assert_eq!(suspect["className"], "assembly/server/Feed");
    let grown =
        suspect["retainedSize"].as_u64().unwrap() - suspect["retainedSizeBefore"].as_u64().unwrap();
    assert_eq!(grown, 40 * 64 + 40 * 4);
    assert_eq!(
        suspect["accumulation"]["owner"],
        "assembly/server/Feed.listeners"
    );
    assert_eq!(
        suspect["accumulation"]["children"][0]["className"],
        "assembly/server/Listener"
    );
    assert_eq!(suspect["accumulation"]["children"][0]["count"], 40);
}

#[test]
fn growth_accumulates_in_the_object_of_its_group_that_retains_the_most() {
    let scene_with = |count: usize| {
        let mut scene = Scene::new();
        let item = scene.class("assembly/index/Item");
        let items = scene.generic("~lib/array/Array<assembly/index/Item>", &[&item]);
        let page = scene.class("assembly/index/Page");
        scene.field(page, "items", 0, items);
        scene.field(page, "next", 4, page);
        let mut page_of = |count: usize, next: u32| {
            let objects: Vec<Object> = (0..count).map(|_| scene.object(item, 44)).collect();
            let array = scene.array(items, &objects);
            (array, scene.object_of(page, &[array.0, next]))
        };
        let (_, last) = page_of(1, 0);
        let (array, first) = page_of(count, last.0);
        scene.global("assembly/index/pages", page, first);
        (scene, array)
    };
    let [(before, _), (after, array)] = [scene_with(10), scene_with(200)];
    let question = json!({ "question": "suspects" });
    let answer = ask_with(&after.open(), Some(&before.open()), question);
    let suspect = &answer["suspects"][0];
    assert_eq!(suspect["accumulation"]["address"], array.0);
    let steps = suspect["path"]["steps"].as_array().unwrap();
    assert_eq!(steps.last().unwrap()["address"], array.0);
}

#[test]
fn a_group_that_did_not_grow_is_not_a_suspect() {
    let mut scene = Scene::new();
    let still = feed(&mut scene, "still", 100);
    scene.global("assembly/still/feed", Class::undescribed(4), still);
    let (before, after) = (scene.open(), scene.open());
    let answer = ask_with(&after, Some(&before), json!({ "question": "suspects" }));
    assert_eq!(answer["suspects"], json!([]));
}

#[test]
fn objects_that_accumulate_below_a_grown_suspect_are_not_another_suspect() {
    let scene_with = |count: usize| {
        let mut scene = Scene::new();
        let leak = feed(&mut scene, "server", count);
        scene.global("assembly/server/prices", Class::undescribed(4), leak);
        scene.open()
    };
    // The buffer alone has grown by more than the threshold.
    let (before, after) = (scene_with(10), scene_with(500));
    let answer = ask_with(&after, Some(&before), json!({ "question": "suspects" }));
    let suspects = answer["suspects"].as_array().unwrap();
    assert_eq!(suspects.len(), 1, "{answer:#}");
    assert_eq!(suspects[0]["className"], "assembly/server/Feed");
}

#[test]
fn two_leaks_below_one_owner_are_two_suspects_of_growth() {
    let scene_with = |first: usize, second: usize| {
        let mut scene = Scene::new();
        let leaks = [feed(&mut scene, "a", first), feed(&mut scene, "b", second)];
        let app = scene.class("assembly/index/App");
        scene.field(app, "first", 0, app);
        scene.field(app, "second", 4, app);
        let object = scene.object_of(app, &leaks.map(|leak| leak.0));
        scene.global("assembly/index/app", app, object);
        scene.open()
    };
    let (before, after) = (scene_with(10, 10), scene_with(100, 80));
    let answer = ask_with(&after, Some(&before), json!({ "question": "suspects" }));
    let suspects = answer["suspects"].as_array().unwrap().iter();
    let owners = suspects.map(|suspect| suspect["className"].as_str().unwrap());
    let expected = ["assembly/index/App", "assembly/a/Feed", "assembly/b/Feed"];
    assert_eq!(owners.collect::<Vec<_>>(), expected);
}

#[test]
fn growth_ends_in_the_containers_that_were_there_before_and_hold_the_new_objects() {
    let scene_with = |counts: [usize; 3]| {
        let mut scene = Scene::new();
        let listener = scene.class("assembly/index/Listener");
        let channel = scene.generic("~lib/array/Array<assembly/index/Listener>", &[&listener]);
        let channels = scene.generic(
            "~lib/array/Array<~lib/array/Array<assembly/index/Listener>>",
            &[&channel],
        );
        let bus = scene.class("assembly/index/EventBus");
        scene.field(bus, "channels", 0, channels);
        let arrays: Vec<Object> = counts
            .iter()
            .map(|&count| {
                let objects: Vec<Object> = (0..count).map(|_| scene.object(listener, 44)).collect();
                scene.array(channel, &objects)
            })
            .collect();
        let array = scene.array(channels, &arrays);
        let object = scene.object_of(bus, &[array.0]);
        scene.global("assembly/index/bus", bus, object);
        (scene, arrays[1])
    };
    let [(before, _), (after, largest)] = [scene_with([10, 10, 10]), scene_with([12, 400, 11])];
    let question = json!({ "question": "suspects" });
    let (before, after) = (before.open(), after.open());
    let answer = ask_with(&after, Some(&before), question);
    let suspects = answer["suspects"].as_array().unwrap();
    assert_eq!(suspects.len(), 1, "{answer:#}");
    let accumulation = &suspects[0]["accumulation"];
    assert_eq!(accumulation["owner"], "assembly/index/EventBus.channels[*]");
    assert_eq!(accumulation["address"], largest.0);
    assert_eq!(
        accumulation["children"][0]["className"],
        "assembly/index/Listener"
    );
    assert_eq!(accumulation["children"][0]["count"], 393);
    let text = suspects[0]["text"].as_str().unwrap();
    let place = format!(
        "It accumulates in 3 ~lib/array/Array<assembly/index/Listener> such as \
         assembly/index/EventBus.channels[*] at 0x{:x}: 393 more assembly/index/Listener",
        largest.0
    );
    assert!(text.contains(&place), "{text}");
    // What is said of all of them is not what one of them has.
    let freed = &accumulation["together"]["retainedSize"];
    let of_one = ask(
        &after,
        json!({ "question": "object", "address": largest.0 }),
    );
    assert!(freed.as_u64() > of_one["retainedSize"].as_u64(), "{text}");
    assert!(
        text.contains("Letting go of all 3 frees at least"),
        "{text}"
    );
    assert_eq!(suspects[0]["cut"], Value::Null, "{text}");
}
