//! placeholder
use std::collections::BTreeMap;
use warpo_heap_analyzer::*;
#[test]
fn town() {
    let wasm = std::fs::read("/tmp/town/town.wasm").unwrap();
    let program = Program::read(Input {
        name: "town.wasm",
        bytes: &wasm,
    })
    .unwrap();
    let truth: BTreeMap<String, BTreeMap<String, (u32, u32)>> =
        serde_json::from_slice(&std::fs::read("/tmp/town/truth.json").unwrap()).unwrap();
    for n in 0..4 {
        let dump = std::fs::read(format!("/tmp/town/town.{n}.dump")).unwrap();
        let heap = program
            .analyze(
                Input {
                    name: "d",
                    bytes: &dump,
                },
                &Control::default(),
            )
            .unwrap();
        let live: BTreeMap<u32, (u32, u32)> = heap
            .live_heap_objects()
            .map(|o| {
                (
                    heap.address(o).0,
                    (heap.objects.class_of(o).id.0, heap.shallow_size(o)),
                )
            })
            .collect();
        let t = &truth[&(n / 2 * 2 + 1).to_string()];
        let t: BTreeMap<u32, (u32, u32)> =
            t.iter().map(|(a, v)| (a.parse().unwrap(), *v)).collect();
        println!(
            "{n}: live {} truth {} equal {} {:?}",
            live.len(),
            t.len(),
            live == t,
            heap.warnings
        );
        println!(
            "{:?}",
            heap.objects
                .classes
                .iter()
                .map(|c| format!("{} {} {}", c.class.name, c.count, c.class.is_described))
                .collect::<Vec<_>>()
        );
    }
}
