//! How much work an input makes, in units rather than seconds, and how soon cancelled work ends. Inputs that once
//! took minutes, or had no end, are in `crates/engine/tests/hostile`.

use std::io::{Read as _, Write as _};
use std::path::Path;

use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use serde_json::json;

use crate::support::forge::random::Random;
use crate::support::forge::{Forge, Shape, Size};
use crate::support::{ModuleOptions, Scene, encode_module};
use engine::assemblyscript::InMemory;
use engine::base::frame::Frame;
use engine::outputs::exports::{CallProfile, Export, HeapSnapshotOptions, sampled_blocks};
use engine::questions::{LoadedHeap, Question, SampledBlocks};
use engine::runtime_code::collector_code::CollectorCode;
use engine::wasm::module::Module;
use engine::{Control, Error, Input, Program, Result, Tolerance};

/// Units that are allowed for each byte of a dump or a module. Sound heaps make 0.1 to 10.
const UNITS_PER_BYTE: u64 = 64;

/// Units that the search for the collector may take, whatever the size of the module.
const SEARCH_UNITS: u64 = 64_000_000;

/// Units that cancelled work may still do, on each of two threads. A unit takes some nanoseconds.
const UNITS_AFTER_ABORT: u64 = 1 << 20;

fn hostile(name: &str) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/hostile");
    let compressed = std::fs::read(folder.join(format!("{name}.gz"))).unwrap();
    let mut bytes = Vec::new();
    GzDecoder::new(&compressed[..])
        .read_to_end(&mut bytes)
        .unwrap();
    bytes
}

fn input<Bytes>(name: &str, bytes: Bytes) -> Input<'_, Bytes> {
    Input { name, bytes }
}

fn open(dump: &[u8], wasm: &[u8], tolerance: Tolerance, control: &Control) -> Result<LoadedHeap> {
    let program = Program::read(input("program.wasm", wasm), control)?.tolerating(tolerance);
    let contents = Box::new(InMemory(dump.to_vec()));
    program.open(input("heap.dump", dump), contents, control)
}

/// The units of work in which the collector of a module is looked for.
fn units_of_search(wasm: &[u8]) -> u64 {
    let module = Module::parse(wasm, &Control::default()).unwrap();
    let control = Control::default();
    CollectorCode::find(&module, &control);
    control.work()
}

#[test]
fn functions_without_parameters_do_not_each_visit_all_static_data() {
    for name in [
        "functions_over_data.wasm",
        "functions_over_sparse_data.wasm",
    ] {
        let wasm = hostile(name);
        let units = units_of_search(&wasm);
        // 4,000 functions of three bytes; the data that one byte declares have 4 million places for objects.
        assert!(units < 1000 * wasm.len() as u64, "{name}: {units} units");
    }
}

/// A module with many functions without parameters, each of which reads its own global, and no collector.
fn functions_and_globals(count: u32) -> Vec<u8> {
    use wasm_encoder as enc;
    let mut types = enc::TypeSection::new();
    types.ty().function([], []);
    let mut functions = enc::FunctionSection::new();
    let mut globals = enc::GlobalSection::new();
    let mut code = enc::CodeSection::new();
    let ty = enc::GlobalType {
        val_type: enc::ValType::I32,
        mutable: true,
        shared: false,
    };
    for nth in 0..count {
        functions.function(0);
        globals.global(ty, &enc::ConstExpr::i32_const(0));
        let mut body = enc::Function::new([]);
        body.instructions().global_get(nth).drop().end();
        code.function(&body);
    }
    let mut module = enc::Module::new();
    module
        .section(&types)
        .section(&functions)
        .section(&globals)
        .section(&code);
    module.finish()
}

#[test]
fn functions_do_not_each_copy_all_globals() {
    let wasm = functions_and_globals(20_000);
    let units = units_of_search(&wasm);
    assert!(units < SEARCH_UNITS, "{units} units");
}

#[test]
fn a_search_that_is_cancelled_ends_at_once() {
    let wasm = functions_and_globals(20_000);
    let module = Module::parse(&wasm, &Control::default()).unwrap();
    for units in [1, 5000, 100_000, 2_000_000] {
        let control = Control::cancelling_after(units);
        assert!(CollectorCode::find(&module, &control).is_none());
        let more = control.work() - units;
        assert!(more < UNITS_AFTER_ABORT, "{more} units after the abort");
    }
}

#[test]
fn a_sound_collector_among_many_functions_is_still_found() {
    let mut scene = Scene::new();
    let class = scene.class("assembly/index/Node");
    scene.global("assembly/index/root", class, 0u32);
    let wasm = scene.module_with_collector(&[(class, &[0])]);
    let module = Module::parse(&wasm, &Control::default()).unwrap();
    let control = Control::default();
    assert!(CollectorCode::find(&module, &control).is_some());
    assert!(control.work() < SEARCH_UNITS);
    let empty = encode_module(&[], &[], &ModuleOptions::default());
    assert!(units_of_search(&empty) < 1000);
}

fn partial() -> LoadedHeap {
    let tolerance = Tolerance {
        damage: true,
        ..Tolerance::default()
    };
    let (dump, wasm) = (hostile("size_of_4_gib.dump"), hostile("size_of_4_gib.wasm"));
    open(&dump, &wasm, tolerance, &Control::default()).unwrap()
}

/// The address of the header that damages the heap of `size_of_4_gib.dump`.
const DAMAGE: u32 = 0x1feac;

#[test]
fn no_question_by_address_reads_behind_the_damage_of_a_partial_heap() {
    let heap = partial();
    assert!(heap.heap().accounting.as_ref().unwrap().unread > 0);
    for address in [
        DAMAGE,
        DAMAGE + 4,
        DAMAGE + 20,
        0x30000,
        0xffff_fff0,
        u32::MAX,
    ] {
        for question in [
            json!({ "question": "object", "address": address }),
            json!({ "question": "referrers", "address": address }),
            json!({ "question": "dominators", "address": address }),
            json!({ "question": "paths", "objects": [address] }),
        ] {
            let parsed: Question = serde_json::from_value(question.clone()).unwrap();
            let answer = engine::questions::ask(&heap, &parsed, None, &Control::default());
            assert!(
                answer
                    .as_ref()
                    .is_err_and(|error| error.code() == "ERR_NO_OBJECT"),
                "{question}: {answer:?}"
            );
        }
    }
}

#[test]
fn the_last_object_before_damage_is_found_by_every_address_in_it() {
    let heap = partial();
    let last = heap.heap().objects.addresses.words().iter().copied();
    let last = last.filter(|&address| address < DAMAGE).max().unwrap();
    for address in [last - 20, last, last + 1] {
        let question = json!({ "question": "object", "address": address });
        let answer = crate::support::ask(&heap, question);
        assert_eq!(answer["address"], last);
    }
}

#[test]
fn references_from_one_object_are_named_without_a_new_search_for_each() {
    const COUNT: u32 = 20_000;
    let mut scene = Scene::new();
    let node = scene.class("assembly/index/Node");
    let nodes = scene.generic("~lib/array/Array<assembly/index/Node>", &[&node]);
    let target = scene.object(node, 4);
    let array = scene.array(nodes, &[target; COUNT as usize]);
    scene.global("assembly/index/root", nodes, array);
    let heap = scene.open();
    let question = json!({ "question": "referrers", "address": target.0, "limit": COUNT });
    let question: Question = serde_json::from_value(question).unwrap();
    let control = Control::default();
    let answer = engine::questions::ask(&heap, &question, None, &control).unwrap();
    let answer = serde_json::to_value(answer).unwrap();
    let labels = answer["referrers"].as_array().unwrap().iter();
    let labels: Vec<_> = labels.map(|edge| edge["label"].as_str().unwrap()).collect();
    let expected: Vec<_> = (0..COUNT).map(|nth| format!("[{nth}]")).collect();
    assert_eq!(labels, expected);
    // Each search from the start would read 80,000 bytes.
    let units = control.work();
    assert!(units < 2000 * u64::from(COUNT), "{units} units");
}

/// Everything that can be done with a heap.
fn everything(dump: &[u8], wasm: &[u8], control: &Control) -> Result<()> {
    let heap = open(dump, wasm, Tolerance::default(), control)?;
    let some = heap.heap().live_heap_objects().nth(7);
    let address = some.map_or(0, |object| heap.heap().memory_address(object).0);
    for question in [
        json!({ "question": "summary" }),
        json!({ "question": "find", "contains": "no such text" }),
        json!({ "question": "object", "address": address }),
        json!({ "question": "referrers", "address": address }),
        json!({ "question": "dominators" }),
        json!({ "question": "dominators", "by": "class" }),
        json!({ "question": "suspects" }),
        json!({ "question": "paths", "class": "*" }),
        json!({ "question": "waste" }),
        json!({ "question": "unreachable" }),
        json!({ "question": "report" }),
    ] {
        let question: Question = serde_json::from_value(question).unwrap();
        engine::questions::ask(&heap, &question, None, control)?;
    }
    engine::questions::place_table(&heap, control)?;
    export_all(&heap, true, control)
}

/// A heap snapshot of V8 with this many objects: chains of 100, each with a string that only it has.
fn snapshot(objects: usize) -> Vec<u8> {
    let fields = json!({
        "node_fields": ["type", "name", "id", "self_size", "edge_count"],
        "node_types": [["object", "string", "synthetic"], "string", "number", "number", "number"],
        "edge_fields": ["type", "name_or_index", "to_node"],
        "edge_types": [["property", "shortcut"], "string_or_number", "node"],
    });
    let (mut nodes, mut edges) = (vec![], vec![]);
    let mut strings = vec![
        String::new(),
        "Node".to_owned(),
        "next".to_owned(),
        "text".to_owned(),
    ];
    let first = |nth: usize| 5 * (2 + 2 * nth);
    let heads = (0..objects).step_by(100);
    nodes.extend([2, 0, 1, 0, 1, 0, 1, 3, 16, heads.len()]);
    edges.extend([1, 0, 5]);
    edges.extend(heads.flat_map(|head| [0, 2, first(head)]));
    for nth in 0..objects {
        let has_next = (nth + 1) % 100 != 0 && nth + 1 < objects;
        nodes.extend([0, 1, 4 * nth + 5, 32, 1 + usize::from(has_next)]);
        edges.extend([0, 3, first(nth) + 5]);
        if has_next {
            edges.extend([0, 2, first(nth + 1)]);
        }
        nodes.extend([1, strings.len(), 4 * nth + 7, 24, 0]);
        strings.push(format!("text {nth}"));
    }
    let counts = [nodes.len() / 5, edges.len() / 3];
    let head = json!({ "meta": fields, "node_count": counts[0], "edge_count": counts[1] });
    // V8 begins with this part.
    format!(
        "{{\"snapshot\":{head},\"nodes\":{},\"edges\":{},\"strings\":{}}}",
        json!(nodes),
        json!(edges),
        json!(strings)
    )
    .into_bytes()
}

/// Everything that can be done with a heap snapshot.
fn everything_of_snapshot(bytes: &[u8], control: &Control) -> Result<()> {
    let heap = engine::open_snapshot(input("app.heapsnapshot", bytes), control)?;
    for question in [
        json!({ "question": "find", "contains": "no such text" }),
        json!({ "question": "object", "address": 5 }),
        json!({ "question": "referrers", "address": 5 }),
        json!({ "question": "dominators", "by": "class" }),
        json!({ "question": "suspects" }),
        json!({ "question": "paths", "class": "*" }),
        json!({ "question": "waste" }),
        json!({ "question": "report" }),
    ] {
        let question: Question = serde_json::from_value(question).unwrap();
        engine::questions::ask(&heap, &question, None, control)?;
    }
    engine::questions::place_table(&heap, control)?;
    export_all(&heap, false, control)
}

/// Every format in which a heap is written.
fn export_all(heap: &LoadedHeap, has_module: bool, control: &Control) -> Result<()> {
    let dump = json!({
        "dumpId": "1",
        "moduleId": has_module.then_some("2"),
        "capturedAt": 0,
        "dumpSize": 1,
        "source": "",
        "labels": {},
    });
    let tables = [
        "dump", "class", "path", "suspect", "waste", "object", "edge",
    ];
    let tables = tables
        .map(|table| json!({ "format": "parquet", "table": table, "dump": dump, "strings": true }));
    let exports = tables.map(|table| serde_json::from_value::<Export>(table).unwrap());
    for export in exports.into_iter().chain([Export::Pprof {}]) {
        engine::outputs::exports::export(heap, &export, None, &mut std::io::sink(), control)?;
    }
    if has_module {
        let options = HeapSnapshotOptions {
            strings: true,
            all: true,
            may_map: false,
        };
        let export = Export::HeapSnapshot(options);
        engine::outputs::exports::export(heap, &export, None, &mut std::io::sink(), control)?;
    }
    Ok(())
}

fn forged(shape: &str, objects: u64) -> (Vec<u8>, Vec<u8>) {
    let forge = Forge::new(Shape::named(shape).unwrap(), Size::Objects(objects), 7);
    (forge.dump().0.bytes, forge.module())
}

#[test]
fn everything_that_is_done_with_a_heap_takes_a_bounded_number_of_units_for_each_byte() {
    for shape in Shape::ALL {
        let (dump, wasm) = forged(shape.name, 30_000);
        let control = Control::default();
        everything(&dump, &wasm, &control).unwrap();
        let units = control.work();
        let bytes = (dump.len() + wasm.len()) as u64;
        assert!(
            units < UNITS_PER_BYTE * bytes + SEARCH_UNITS,
            "{}: {units} units for {bytes} bytes",
            shape.name
        );
    }
}

#[test]
fn work_that_is_cancelled_at_any_moment_ends_within_a_bounded_number_of_units() {
    let mut random = Random::new(5);
    let (dump, wasm) = forged("mix", 30_000);
    let whole = Control::default();
    everything(&dump, &wasm, &whole).unwrap();
    let all = u32::try_from(whole.work()).unwrap();
    for _ in 0..100 {
        // The last units may be counted in another order by two threads.
        let units = 1 + u64::from(random.below(all - all / 100));
        let control = Control::cancelling_after(units);
        let done = everything(&dump, &wasm, &control);
        assert!(
            matches!(done, Err(Error::Aborted)),
            "after {units} of {all} units: {done:?}"
        );
        let more = control.work() - units;
        assert!(more < UNITS_AFTER_ABORT, "{more} units after the abort");
    }
}

#[test]
fn a_snapshot_takes_a_bounded_number_of_units_for_each_byte() {
    let bytes = snapshot(20_000);
    let control = Control::default();
    everything_of_snapshot(&bytes, &control).unwrap();
    let units = control.work();
    assert!(
        units > bytes.len() as u64 / 64,
        "only {units} units were counted"
    );
    assert!(
        units < UNITS_PER_BYTE * bytes.len() as u64,
        "{units} units for {} bytes",
        bytes.len()
    );
}

#[test]
fn work_on_a_snapshot_that_is_cancelled_ends_within_a_bounded_number_of_units() {
    let mut random = Random::new(6);
    let bytes = snapshot(20_000);
    let whole = Control::default();
    everything_of_snapshot(&bytes, &whole).unwrap();
    let all = u32::try_from(whole.work()).unwrap();
    for _ in 0..50 {
        let units = 1 + u64::from(random.below(all - all / 100));
        let control = Control::cancelling_after(units);
        let done = everything_of_snapshot(&bytes, &control);
        assert!(
            matches!(done, Err(Error::Aborted)),
            "after {units} of {all} units: {done:?}"
        );
        let more = control.work() - units;
        assert!(more < UNITS_AFTER_ABORT, "{more} units after the abort");
    }
}

/// The size of a profile, and of the same profile without compression.
fn sizes(encoded: &[u8]) -> (usize, usize) {
    let mut bytes = Vec::new();
    GzDecoder::new(encoded).read_to_end(&mut bytes).unwrap();
    (encoded.len(), bytes.len())
}

#[test]
fn a_profile_that_becomes_a_thousand_times_as_large_is_refused() {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    // An empty string is two bytes.
    encoder.write_all(&[0x32, 0].repeat(4 << 20)).unwrap();
    let bomb = encoder.finish().unwrap();
    let (small, large) = sizes(&bomb);
    assert!(large > 200 * small);
    let error = sampled_blocks(&bomb).unwrap_err();
    assert_eq!(error.code(), "ERR_PROFILE");
    let text = error.to_string();
    assert!(text.contains("much more than its size explains"), "{text}");
}

#[test]
fn a_profile_with_many_blocks_of_one_size_is_read() {
    let blocks = SampledBlocks {
        interval: 1,
        places: vec![Frame::default()],
        blocks: (0..200_000u32)
            .flat_map(|nth| [0x10000 + 48 * nth, 44, 0])
            .collect(),
    };
    let profile = CallProfile {
        sampled_blocks: Some(blocks.clone()),
        ..CallProfile::default()
    };
    let encoded = profile.encode().unwrap();
    let (small, large) = sizes(&encoded);
    assert!(large < 16 * small, "{small} bytes become {large}");
    assert_eq!(sampled_blocks(&encoded).unwrap(), blocks);
}
