//! Numbers that are no handles, and look like some: none of them may become a reference.

use serde_json::{Value, json};

use super::{ask, files, id_of};
use crate::snapshots::Snapshot;
use crate::support::Scene;

/// Groups of each kind.
const GROUPS: usize = 150;

/// Numbers without a pattern, and the same in each run.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u32) -> u32 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % u64::from(limit.max(1))) as u32
    }
}

#[test]
fn noise_of_seven_kinds_is_no_reference() {
    let mut random = Random(48);
    let mut scene = Scene::new();
    let class = scene.class("Node");
    let mut pinned: Vec<u32> = Vec::new();
    for nth in 0..400 {
        let object = scene.object(class, 16 + 16 * random.below(12));
        if nth % 2 == 0 {
            scene.pin(object);
            pinned.push(object.into());
        }
    }
    let (low, high) = (pinned[0], pinned[pinned.len() - 1]);
    let mut sequences: Vec<Vec<u32>> = Vec::new();
    for _ in 0..GROUPS {
        let count = 3 + random.below(60);
        let in_range = (high - low) / 16;
        let start = pinned[random.below(pinned.len() as u32) as usize];
        sequences.push(
            (0..count)
                .map(|_| low + 16 * random.below(in_range))
                .collect(),
        );
        sequences.push((0..count).map(|_| random.below(high)).collect());
        sequences.push((0..count).map(|_| 16 * random.below(high / 16)).collect());
        for stride in [16, 32, 48, 64] {
            sequences.push((0..count).map(|nth| start + stride * nth).collect());
        }
    }
    let mut snapshot = Snapshot::new();
    let mut objects: Vec<Value> = Vec::new();
    for (nth, values) in sequences.iter().enumerate() {
        let array = snapshot.node("object", "Array", 16);
        // One slot holds many arrays of each kind.
        snapshot.edge(1, "property", format!("noise{}", nth % 50), array);
        let slots: Vec<Value> = values
            .iter()
            .enumerate()
            .map(|(index, value)| json!([index.to_string(), value, null]))
            .collect();
        objects.push(json!({ "id": id_of(array), "kind": "Array", "slots": slots, "other": {} }));
    }
    let loaded = files(&scene, &snapshot)
        .with_numbers(json!(objects))
        .open()
        .unwrap();
    let pins = &ask(&loaded, json!({ "question": "summary" }))["joined"]["pinned"];
    assert_eq!(pins["total"], 200);
    assert_eq!(
        (&pins["exact"], &pins["derived"]),
        (&json!(0), &json!(0)),
        "{pins}"
    );
    assert!(pins["possible"].as_u64().unwrap() > 150, "{pins}");
}
