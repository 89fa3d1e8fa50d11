//! Coredumps and raw memory. The judge is the dump that Node wrote at the same trap of the same module,
//! byte for byte.
//!
//! The coredumps are of a host with the crate wasmtime 48, which ran `step(200)` and then `fail(3)` of
//! `__test__/programs/coredump/prog.ts`, or called its `abort`.

use std::fs;
use std::io::Read as _;
use std::path::Path;

use engine::dumps::{ContainerError, Coredump, Dump};
use engine::outputs::formats::render_json;
use engine::questions::{LoadedHeap, Question, ask};
use engine::{Control, Error, InMemory, Input, Reading, Tolerance};
use wasm_encoder::{
    ConstExpr, CoreDumpInstancesSection, CoreDumpSection, CoreDumpStackSection, DataSection,
    GlobalSection, GlobalType, MemorySection, MemoryType, Module, ValType,
};

pub(crate) fn file(name: &str) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../__test__/programs/coredump");
    let bytes = fs::read(folder.join(name)).unwrap();
    if !name.ends_with(".gz") {
        return bytes;
    }
    let mut contents = Vec::new();
    let mut decoder = flate2::read::GzDecoder::new(&bytes[..]);
    decoder.read_to_end(&mut contents).unwrap();
    contents
}

/// A heap, and the dump that the file became.
pub(crate) fn open_as(
    file: &[u8],
    wasm: &[u8],
    reading: &Reading,
) -> engine::Result<(LoadedHeap, Vec<u8>)> {
    let mut dump = Vec::new();
    let loaded = engine::open(
        Input {
            name: "file",
            bytes: file.to_vec(),
        },
        Some(&Input {
            name: "module",
            bytes: wasm,
        }),
        reading,
        false,
        |bytes| {
            dump.clone_from(&bytes);
            Ok((bytes.clone(), Box::new(InMemory(bytes)) as _))
        },
        &Control::default(),
    )?;
    Ok((loaded, dump))
}

pub(crate) fn refused(file: &[u8], wasm: &[u8], reading: &Reading) -> Error {
    match open_as(file, wasm, reading) {
        Ok(_) => panic!("the file was read"),
        Err(Error::InFile(in_file)) => in_file.source,
        Err(error) => error,
    }
}

fn answer(loaded: &LoadedHeap, question: &str) -> String {
    let question: Question = serde_json::from_str(question).unwrap();
    let answer = ask(loaded, &question, None, &Control::default()).unwrap();
    render_json(&answer)
}

/// The frames of the trap in the summary: name and index.
fn frames(loaded: &LoadedHeap) -> Vec<(String, u64)> {
    let summary: serde_json::Value =
        serde_json::from_str(&answer(loaded, r#"{"question":"summary"}"#)).unwrap();
    let frames = summary["trap"]["frames"].as_array().unwrap();
    let frame = |frame: &serde_json::Value| {
        let function = frame["function"].as_str().unwrap().to_owned();
        (function, frame["index"].as_u64().unwrap())
    };
    frames.iter().map(frame).collect()
}

#[test]
fn a_coredump_is_the_dump_that_node_writes_after_the_same_trap() {
    for build in ["debug", "release"] {
        let wasm = file(&format!("prog.{build}.wasm"));
        let reference = file(&format!("ref.{build}.dump.gz"));
        let core = file(&format!("as.{build}.core"));
        let (loaded, dump) = open_as(&core, &wasm, &Reading::default()).unwrap();
        assert!(dump == reference, "{build}: the dumps differ");
        let (of_node, _) = open_as(&reference, &wasm, &Reading::default()).unwrap();
        for question in ["suspects", "waste", "unreachable"] {
            let question = format!(r#"{{"question":"{question}"}}"#);
            assert_eq!(answer(&loaded, &question), answer(&of_node, &question));
        }
        assert_eq!(loaded.warnings(), of_node.warnings());
        // A dump has no trap.
        let summary = answer(&of_node, r#"{"question":"summary"}"#);
        assert!(!summary.contains("trap"), "{summary}");
    }
}

#[test]
fn the_frames_of_a_trap_have_the_names_of_the_module() {
    let wasm = file("prog.debug.wasm");
    let (loaded, _) = open_as(&file("as.debug.core"), &wasm, &Reading::default()).unwrap();
    let fail = ("prog/fail".to_owned(), 129);
    assert_eq!(frames(&loaded), vec![fail; 4]);
    let wasm = file("prog.release.wasm");
    let (loaded, _) = open_as(&file("as.release.core"), &wasm, &Reading::default()).unwrap();
    // The only name of a function in a release build is that of its export.
    assert!(
        frames(&loaded)
            .iter()
            .all(|(name, _)| name == "fail" || name.starts_with("wasm-function"))
    );
}

#[test]
fn a_trap_in_a_function_of_the_host_names_the_function_that_called_it() {
    let wasm = file("prog.debug.wasm");
    let (loaded, _) = open_as(&file("abort.core"), &wasm, &Reading::default()).unwrap();
    let [(name, 97)] = &frames(&loaded)[..] else {
        panic!("{:?}", frames(&loaded));
    };
    assert_eq!(name, "~lib/rt/itcms/__unpin");
}

#[test]
fn every_truncated_coredump_is_an_error_or_has_less() {
    let wasm = file("prog.debug.wasm");
    let core = file("as.debug.core");
    let (whole, _) = open_as(&core, &wasm, &Reading::default()).unwrap();
    let ends = (0..core.len()).filter(|end| *end < 300 || core.len() - end < 300 || end % 997 == 0);
    for end in ends {
        // Where a section ends, the rest is missing: the frames, which come last.
        if let Ok((loaded, _)) = open_as(&core[..end], &wasm, &Reading::default()) {
            let question = r#"{"question":"summary"}"#;
            assert_ne!(answer(&loaded, question), answer(&whole, question), "{end}");
        }
    }
}

/// The parts of a made coredump, which a test damages.
struct Parts {
    memory: MemoryType,
    has_data: bool,
    segment_at: i32,
    instances: Vec<Vec<u32>>,
    globals: Vec<GlobalType>,
}

impl Default for Parts {
    fn default() -> Self {
        let i32_global = |mutable| GlobalType {
            val_type: ValType::I32,
            mutable,
            shared: false,
        };
        Self {
            memory: MemoryType {
                minimum: 1,
                maximum: None,
                memory64: false,
                shared: false,
                page_size_log2: None,
            },
            has_data: true,
            segment_at: 16,
            instances: vec![vec![0, 1]],
            globals: vec![i32_global(true), i32_global(false)],
        }
    }
}

impl Parts {
    fn encode(&self) -> Vec<u8> {
        let mut module = Module::new();
        module.section(&CoreDumpSection::new("host"));
        let mut memories = MemorySection::new();
        memories.memory(self.memory);
        module.section(&memories);
        let mut globals = GlobalSection::new();
        for &global in &self.globals {
            globals.global(global, &ConstExpr::i32_const(65536));
        }
        module.section(&globals);
        if self.has_data {
            let mut data = DataSection::new();
            data.active(0, &ConstExpr::i32_const(self.segment_at), *b"data");
            module.section(&data);
        }
        let mut instances = CoreDumpInstancesSection::new();
        for globals in &self.instances {
            instances.instance(0, [0], globals.iter().copied());
        }
        module.section(&instances);
        module.section(&CoreDumpStackSection::new("main"));
        module.finish()
    }
}

/// A module with the globals of [`Parts`].
fn small_module() -> Vec<u8> {
    wat::parse_str(
        r#"(module (memory (export "memory") 1)
             (global $~lib/memory/__stack_pointer (mut i32) (i32.const 65536))
             (global $~lib/memory/__heap_base i32 (i32.const 65536)))"#,
    )
    .unwrap()
}

fn container_error(parts: &Parts) -> Error {
    refused(&parts.encode(), &small_module(), &Reading::default())
}

#[test]
fn a_coredump_without_memory_is_refused_in_these_words() {
    let parts = Parts {
        has_data: false,
        ..Parts::default()
    };
    let error = refused(&parts.encode(), &small_module(), &Reading::default());
    assert_eq!(error.code(), "ERR_COREDUMP_WITHOUT_MEMORY");
    let text = error.to_string();
    assert!(
        text.starts_with("the coredump contains no memory"),
        "{text}"
    );
    assert!(text.contains("WasmEdge"), "{text}");
}

#[test]
fn a_coredump_that_does_not_say_whose_its_memory_is_is_refused() {
    let code = |has_data| {
        let parts = Parts {
            has_data,
            instances: Vec::new(),
            ..Parts::default()
        };
        container_error(&parts).code()
    };
    assert_eq!(code(true), "ERR_COREDUMP");
    assert_eq!(code(false), "ERR_COREDUMP_WITHOUT_MEMORY");
}

#[test]
fn a_coredump_of_another_build_is_refused() {
    for (core, wasm) in [("debug", "release"), ("release", "debug")] {
        let core = file(&format!("as.{core}.core"));
        let wasm = file(&format!("prog.{wasm}.wasm"));
        let error = refused(&core, &wasm, &Reading::default());
        assert_eq!(error.code(), "ERR_COREDUMP_MODULE", "{error}");
        let text = error.to_string();
        assert!(text.contains("0 of <anonymous-module-0>"), "{text}");
    }
}

#[test]
fn a_small_coredump_that_declares_4_gib_is_refused_before_it_is_allocated() {
    let mut parts = Parts::default();
    parts.memory.minimum = 1 << 16;
    assert!(parts.encode().len() < 200);
    let error = container_error(&parts);
    let Some(ContainerError::OutOfProportion { at_least, .. }) = error.own() else {
        panic!("{error}");
    };
    assert_eq!(*at_least, 1 << 32);
    // The caller's limit counts too.
    parts.memory.minimum = 2;
    let reading = Reading {
        largest: Some(65536),
        ..Reading::default()
    };
    let error = refused(&parts.encode(), &small_module(), &reading);
    assert_eq!(error.code(), "ERR_OUT_OF_PROPORTION");
}

#[test]
fn damaged_coredumps_are_errors_that_say_where() {
    let beyond = container_error(&Parts {
        segment_at: 65533,
        ..Parts::default()
    });
    let Some(ContainerError::Coredump { offset, message }) = beyond.own() else {
        panic!("{beyond}");
    };
    assert!(*offset > 0);
    assert!(message.contains("ends at address 65537"), "{message}");
    let negative = container_error(&Parts {
        segment_at: -1,
        ..Parts::default()
    });
    assert!(matches!(
        negative.own(),
        Some(ContainerError::Coredump { .. })
    ));
    let missing = container_error(&Parts {
        globals: vec![Parts::default().globals[0]],
        ..Parts::default()
    });
    assert!(matches!(
        missing.own(),
        Some(ContainerError::CoredumpModule { .. })
    ));
    let mut wide = Parts::default();
    wide.memory.memory64 = true;
    assert!(matches!(
        container_error(&wide).own(),
        Some(ContainerError::Coredump { .. })
    ));
}

#[test]
fn one_of_several_instances_is_chosen_by_its_number() {
    let parts = Parts {
        instances: vec![vec![0, 1], vec![1], vec![0, 1]],
        ..Parts::default()
    };
    let text = container_error(&parts).to_string();
    assert!(
        text.contains("2 instance(s)") && text.contains("none was chosen"),
        "{text}"
    );
    assert!(text.contains("0 of  (fits), 1 of , 2 of  (fits)"), "{text}");
    let choose = |instance| Reading {
        instance: Some(instance),
        ..Reading::default()
    };
    for (instance, fits) in [(0, true), (1, false), (2, true), (3, false)] {
        let result = Coredump::parse(&parts.encode(), &Control::default()).map(|_| ());
        assert!(result.is_ok());
        let opened = open_as(&parts.encode(), &small_module(), &choose(instance));
        // Later, the small module is refused as what it is: it has no runtime.
        let refused = opened
            .err()
            .filter(|error| error.code() == "ERR_COREDUMP_INSTANCE");
        assert_eq!(refused.is_none(), fits, "{instance}");
        if let Some(error) = refused {
            let text = error.to_string();
            assert!(
                text.contains(&format!("instance {instance} is not one of them")),
                "{text}"
            );
        }
    }
}

/// The memory of a dump, and the values of its globals by index.
pub(crate) fn raw(dump: &[u8], wasm: &[u8]) -> (Vec<u8>, Vec<(String, u32)>) {
    let parsed = Dump::parse(dump).unwrap();
    let module = engine::wasm::module::Module::parse(wasm, &Control::default()).unwrap();
    let globals = module.globals.iter();
    let mutable = globals.filter(|global| global.dump_position.is_some());
    let values = mutable.zip(parsed.globals.iter());
    let values = values.map(|(global, value)| (global.index.to_string(), value));
    (parsed.memory.as_bytes().to_vec(), values.collect())
}

pub(crate) fn raw_reading(values: &[(String, u32)]) -> Reading {
    Reading {
        raw: Some(values.to_vec()),
        ..Reading::default()
    }
}

#[test]
fn raw_memory_with_all_globals_is_the_dump_of_node() {
    for build in ["debug", "release"] {
        let wasm = file(&format!("prog.{build}.wasm"));
        let reference = file(&format!("ref.{build}.dump.gz"));
        let (memory, values) = raw(&reference, &wasm);
        let (loaded, dump) = open_as(&memory, &wasm, &raw_reading(&values)).unwrap();
        assert!(dump == reference, "{build}: the dumps differ");
        let (of_node, _) = open_as(&reference, &wasm, &Reading::default()).unwrap();
        assert_eq!(loaded.warnings(), of_node.warnings());
    }
}

#[test]
fn missing_globals_of_raw_memory_are_warnings() {
    let wasm = file("prog.debug.wasm");
    let (memory, values) = raw(&file("ref.debug.dump.gz"), &wasm);
    let codes = |values: &[(String, u32)]| {
        let (loaded, _) = open_as(&memory, &wasm, &raw_reading(values)).unwrap();
        let codes = loaded.warnings().iter().map(|warning| warning.code());
        codes.collect::<Vec<_>>()
    };
    let live = |values: &[(String, u32)]| {
        let (loaded, _) = open_as(&memory, &wasm, &raw_reading(values)).unwrap();
        loaded.heap().live_size
    };
    assert_eq!(codes(&values), [""; 0]);
    let none = codes(&[]);
    assert!(none.contains(&"WARN_GLOBALS_MISSING"), "{none:?}");
    assert!(none.contains(&"WARN_RAW_STACK_ASSUMED_EMPTY"), "{none:?}");
    // The variable `registry` is the first that holds objects of the program; without it, less is alive.
    let mut fewest = live(&values);
    let mut warned = 0;
    for left_out in 0..values.len() {
        let mut some = values.clone();
        some.remove(left_out);
        if let Ok((loaded, _)) = open_as(&memory, &wasm, &raw_reading(&some)) {
            let codes: Vec<_> = loaded
                .warnings()
                .iter()
                .map(|warning| warning.code())
                .collect();
            assert!(codes.contains(&"WARN_RAW_GLOBALS_ASSUMED"), "{codes:?}");
            fewest = fewest.min(loaded.heap().live_size);
            warned += 1;
        }
    }
    assert!(warned > 3 && fewest < live(&values));
}

#[test]
fn what_is_no_raw_memory_is_refused() {
    let wasm = file("prog.debug.wasm");
    let (memory, mut values) = raw(&file("ref.debug.dump.gz"), &wasm);
    for part in [&memory[..memory.len() - 1], &memory[..0]] {
        let error = refused(part, &wasm, &raw_reading(&values));
        assert_eq!(error.code(), "ERR_RAW_MEMORY");
    }
    values.push(("no such global".to_owned(), 1));
    let error = refused(&memory, &wasm, &raw_reading(&values));
    assert_eq!(error.code(), "ERR_INVALID_OPTION");
    assert!(error.to_string().contains("no such global"), "{error}");
}

#[test]
fn the_lists_of_a_coredump_are_bounded() {
    // 100 frames are listed, and all are counted.
    let frames = |count: u32| {
        let mut stack = CoreDumpStackSection::new("main");
        for _ in 0..count {
            stack.frame(0, 0, 0, [], []);
        }
        [Parts::default().encode(), section(&stack)].concat()
    };
    let (loaded, _) = open_as(&frames(1000), &small_module(), &Reading::default()).unwrap();
    let summary = answer(&loaded, r#"{"question":"summary"}"#);
    let summary: serde_json::Value = serde_json::from_str(&summary).unwrap();
    assert_eq!(summary["trap"]["total"], 1000);
    assert_eq!(summary["trap"]["frames"].as_array().unwrap().len(), 100);
    // A frame takes six bytes.
    let error = refused(&frames(200_000), &small_module(), &Reading::default());
    assert_eq!(error.code(), "ERR_COREDUMP");
    assert!(
        error.to_string().contains("expected at most 1048576"),
        "{error}"
    );
}

/// The bytes of a section, without the header of a module.
fn section(section: &impl wasm_encoder::Section) -> Vec<u8> {
    let mut bytes = Vec::new();
    section.append_to(&mut bytes);
    bytes
}

#[test]
fn a_coredump_in_place_of_the_module_is_named() {
    let core = file("as.debug.core");
    let reference = file("ref.debug.dump.gz");
    let error = refused(&reference, &core, &Reading::from(Tolerance::default()));
    assert!(
        error.to_string().contains("a coredump of WebAssembly"),
        "{error}"
    );
    let module = file("prog.debug.wasm");
    let error = refused(&module, &module, &Reading::default());
    assert!(error.to_string().contains("swapped"), "{error}");
}
