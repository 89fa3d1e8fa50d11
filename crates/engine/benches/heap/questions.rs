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

/// What is measured, which fields and classes it suits, and the condition.
type WantedField = (&'static str, fn(&str, &str) -> bool, &'static str);

/// Conditions over the fields of an object: over a number, a reference and a string.
fn conditions(heap: &LoadedHeap, object: u32) -> Result<Vec<(&'static str, String)>, Failure> {
    let question = json!({ "question": "object", "address": object });
    let question: Question = serde_json::from_value(question)?;
    let answer = engine::questions::ask(heap, &question, None, &Control::default())?;
    let answer = serde_json::to_value(answer)?;
    let fields = answer["fields"].as_array().map_or(&[][..], Vec::as_slice);
    let mut conditions = vec![("whereSize", "shallowSize > 20".to_owned())];
    // By the type of a field and the class of the object to which it refers.
    let wanted: [WantedField; 3] = [
        ("whereNumber", |kind, _| kind == "i32", "> 4"),
        (
            "whereReference",
            |kind, class| kind.contains('/') && class != "~lib/string/String",
            "== null",
        ),
        (
            "whereText",
            |_, class| class == "~lib/string/String",
            "== \"no string is this\"",
        ),
    ];
    for (name, is_wanted, condition) in wanted {
        let field = fields.iter().find(|field| {
            let text = |key: &str| field[key].as_str().unwrap_or_default().to_owned();
            is_wanted(&text("type"), &text("className"))
        });
        if let Some(field) = field {
            let field = field["name"].as_str().unwrap_or_default();
            conditions.push((name, format!("this.{field} {condition}")));
        }
    }
    Ok(conditions)
}

fn questions(heap: &LoadedHeap) -> Result<Map<String, Value>, Failure> {
    let objects = &heap.heap().objects;
    let live: Vec<_> = heap.heap().live_heap_objects().collect();
    let middle = live.get(live.len() / 2).ok_or("nothing is alive")?;
    let address = objects.addresses.words()[middle.at()];
    let classes = heap.heap().live_classes.iter().zip(&objects.classes);
    let most = classes.max_by_key(|(live, _)| live.count);
    let class = most.map(|(_, class)| class.name.clone());
    let mut of_class = live.iter().skip(live.len() / 2);
    let one = of_class.find(|&&object| Some(&objects.class_of(object).name) == class.as_ref());
    let one = one.unwrap_or(middle);
    let conditions = conditions(heap, heap.heap().memory_address(*one).0)?;
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
            json!({ "question": "dominators", "by": "class" }),
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
    let by_condition = conditions.iter().map(|(name, condition)| {
        let question = json!({
            "question": "find", "class": class, "where": condition, "count": true,
        });
        (*name, question)
    });
    let group_by = json!({
        "question": "find", "class": class, "groupBy": "shallowSize", "sum": "retained",
    });
    let mut times = Map::new();
    let asked = asked.into_iter().chain(by_condition);
    for (name, question) in asked.chain([("groupBy", group_by)]) {
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
