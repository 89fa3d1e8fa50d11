//! Times opening a heap for questions, and each kind of question.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::time::Instant;

use engine::assemblyscript::DumpBytes;
use engine::questions::{LoadedHeap, Question};
use engine::{Control, Error, FileAction, Input, Program};
use serde_json::{Map, Value, json};

use crate::Failure;
use crate::analysis::map;
use crate::process::{peak_memory, processor_seconds};

/// A file that is read again by positioned reads.
struct DumpFile(File);

impl DumpBytes for DumpFile {
    fn read_at(&self, offset: u64, into: &mut [u8]) -> Result<(), Error> {
        let action = FileAction::Read;
        let read = self.0.read_exact_at(into, offset);
        read.map_err(|source| Error::Io { action, source })
    }
}

/// Opens a dump, builds all indexes, and asks the questions.
pub fn measure(dump: &str, wasm: &str) -> Result<Value, Failure> {
    let wasm_bytes = std::fs::read(wasm)?;
    let control = Control::default();
    let begin = Instant::now();
    let program = Program::read(
        Input {
            name: wasm,
            bytes: &wasm_bytes,
        },
        &control,
    )?;
    let contents = Box::new(DumpFile(File::open(dump)?));
    let input = Input {
        name: dump,
        bytes: map(dump)?,
    };
    let heap = program.open(input, contents, &control)?;
    let opened_processor = processor_seconds();
    let opened = begin.elapsed().as_secs_f64();
    heap.prepare(&control)?;
    let prepared = begin.elapsed().as_secs_f64();
    let prepared_processor = processor_seconds();
    let peak = peak_memory();
    Ok(json!({
        "openSeconds": opened,
        "preparedSeconds": prepared,
        "openProcessorSeconds": opened_processor,
        "preparedProcessorSeconds": prepared_processor,
        "peakBytes": peak,
        "questions": questions(&heap)?,
        "peakBytesWithQuestions": peak_memory(),
    }))
}

fn questions(heap: &LoadedHeap) -> Result<Map<String, Value>, Failure> {
    let objects = &heap.heap().objects;
    let live: Vec<_> = heap.heap().live_heap_objects().collect();
    let middle = live.get(live.len() / 2).ok_or("nothing is alive")?;
    let address = objects.addresses[middle.at()];
    let classes = heap.heap().live_classes.iter().zip(&objects.classes);
    let most = classes.max_by_key(|(live, _)| live.count);
    let class = most.map(|(_, class)| class.name.clone());
    let asked = [
        ("summary", json!({ "question": "summary" })),
        (
            "object",
            json!({ "question": "object", "address": address }),
        ),
        (
            "referrers",
            json!({ "question": "referrers", "address": address }),
        ),
        ("path", json!({ "question": "paths", "objects": [address] })),
        (
            "dominators",
            json!({ "question": "dominators", "address": address }),
        ),
        ("dominatorsOfAll", json!({ "question": "dominators" })),
        (
            "dominatorsByClass",
            json!({ "question": "dominators", "byClass": true }),
        ),
        ("find", json!({ "question": "find", "class": class })),
        (
            "findText",
            json!({ "question": "find", "contains": "no string has this" }),
        ),
        (
            "pathsOfClass",
            json!({ "question": "paths", "class": class }),
        ),
        ("suspects", json!({ "question": "suspects" })),
        ("waste", json!({ "question": "waste" })),
        ("unreachable", json!({ "question": "unreachable" })),
    ];
    let mut times = Map::new();
    for (name, question) in asked {
        let question: Question = serde_json::from_value(question)?;
        let before = processor_seconds();
        let begin = Instant::now();
        let answer = engine::questions::ask(heap, &question, None, &Control::default())?;
        let first = begin.elapsed().as_secs_f64();
        let processor = processor_seconds()
            .zip(before)
            .map(|(now, then)| now - then);
        let begin = Instant::now();
        engine::questions::ask(heap, &question, None, &Control::default())?;
        let again = begin.elapsed().as_secs_f64();
        let bytes = serde_json::to_string(&answer)?.len();
        times.insert(
            name.to_owned(),
            json!({ "first": first, "processor": processor, "again": again, "bytes": bytes }),
        );
    }
    let before = processor_seconds();
    let begin = Instant::now();
    let table = engine::questions::place_table(heap, &Control::default())?;
    let first = begin.elapsed().as_secs_f64();
    let processor = processor_seconds()
        .zip(before)
        .map(|(now, then)| now - then);
    let bytes = table.to_bytes().len();
    times.insert(
        "placeTable".to_owned(),
        json!({ "first": first, "processor": processor, "bytes": bytes }),
    );
    Ok(times)
}
