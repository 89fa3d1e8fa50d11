//! Dumps and modules given to the engine.

use super::{DumpFile, Object};
use engine::assemblyscript::InMemory;
use engine::heap::Heap;
use engine::questions::{LoadedHeap, Question};
use engine::{Control, Error, Input, Program, Tolerance};

/// Opens a dump for questions.
pub fn open(dump: &DumpFile, module: &[u8]) -> Result<LoadedHeap, Error> {
    let control = Control::default();
    let program = Program::read(
        Input {
            name: "program.wasm",
            bytes: module,
        },
        &control,
    )?;
    let dump_input = Input {
        name: "heap.dump",
        bytes: &dump.bytes,
    };
    program.open(dump_input, Box::new(InMemory(dump.bytes.clone())), &control)
}

/// Asks a question and returns the JSON of the answer.
pub fn ask(heap: &LoadedHeap, question: serde_json::Value) -> serde_json::Value {
    ask_with(heap, None, question)
}

/// Asks a question about two heaps and returns the JSON of the answer.
pub fn ask_with(
    heap: &LoadedHeap,
    before: Option<&LoadedHeap>,
    question: serde_json::Value,
) -> serde_json::Value {
    let question: Question = serde_json::from_value(question).unwrap();
    let answer = engine::questions::ask(heap, &question, before, &Control::default()).unwrap();
    serde_json::to_value(answer).unwrap()
}

/// Analyzes a dump with a module, under the names `heap.dump` and `program.wasm`.
pub fn analyze(dump: &DumpFile, module: &[u8]) -> Result<Heap, Error> {
    analyze_bytes(&dump.bytes, module)
}

/// As [`analyze`], with any bytes.
pub fn analyze_bytes(dump: &[u8], module: &[u8]) -> Result<Heap, Error> {
    analyze_tolerating(dump, module, Tolerance::default())
}

/// As [`analyze`], with any bytes and a tolerance.
pub fn analyze_tolerating(dump: &[u8], module: &[u8], tolerance: Tolerance) -> Result<Heap, Error> {
    let program = Program::read(
        Input {
            name: "program.wasm",
            bytes: module,
        },
        &Control::default(),
    )?;
    let program = program.tolerating(tolerance);
    let dump = Input {
        name: "heap.dump",
        bytes: dump,
    };
    program.analyze(dump, &Control::default())
}

/// The live heap objects, in address order.
pub fn live(heap: &Heap) -> Vec<Object> {
    heap.live_heap_objects()
        .map(|object| Object(heap.memory_address(object).0))
        .collect()
}

/// The retained size of an object in bytes; 0 if it is not live.
pub fn retained(heap: &Heap, object: Object) -> u32 {
    let index = heap.objects.index.get(engine::Address(object.0));
    index.map_or(0, |index| heap.retained_sizes[index.at()])
}

/// The class name of an object.
pub fn class_name(heap: &Heap, object: Object) -> String {
    let index = heap.objects.index.get(engine::Address(object.0));
    heap.objects.class_of(index.unwrap()).name.clone()
}

/// The texts of the warnings.
pub fn warnings(heap: &Heap) -> Vec<String> {
    heap.warnings.iter().map(ToString::to_string).collect()
}
