//! Heaps of programs that are joined with the heap of JavaScript around them.

mod border;
mod noise;
mod pointers;
mod random;
mod samples;
mod sums;

use engine::questions::{LoadedHeap, Question};
use engine::{Control, Error, HostFiles, InMemory, Input, Reading, open_joined};
use serde_json::{Value, json};

use crate::snapshots::Snapshot;
use crate::support::Scene;

/// The files of one moment.
struct Files {
    dump: Vec<u8>,
    wasm: Vec<u8>,
    snapshot: Vec<u8>,
    numbers: Option<Vec<u8>>,
    handles: Option<Vec<u8>>,
    slots: Vec<String>,
}

impl Files {
    fn open(&self) -> Result<LoadedHeap, Error> {
        self.open_with(&Reading::default())
    }

    fn open_with(&self, reading: &Reading) -> Result<LoadedHeap, Error> {
        let input = |name: &'static str, bytes: &[u8]| Input {
            name,
            bytes: bytes.to_vec(),
        };
        let numbers = self.numbers.as_ref();
        let handles = self.handles.as_ref();
        let host = HostFiles {
            snapshot: input("app.heapsnapshot", &self.snapshot),
            numbers: numbers.map(|numbers| input("app.numbers.json", numbers)),
            handles: handles.map(|handles| input("app.handles.json", handles)),
            slots: self.slots.clone(),
        };
        let keep = |bytes: Vec<u8>| {
            let contents: Box<dyn engine::DumpBytes> = Box::new(InMemory(bytes.clone()));
            Ok((bytes, contents))
        };
        let module = input("app.wasm", &self.wasm);
        open_joined(
            input("app.dump", &self.dump),
            Some(&module),
            host,
            reading,
            keep,
            &Control::default(),
        )
    }

    /// Adds the hash of the dump to the numbers.
    fn with_numbers(mut self, objects: Value) -> Self {
        let numbers = numbers_of(&self.dump, objects);
        self.numbers = Some(numbers.to_string().into_bytes());
        self
    }
}

/// A file of numbers for a dump.
fn numbers_of(dump: &[u8], objects: Value) -> Value {
    use sha2::Digest;
    let hash = sha2::Sha256::digest(dump);
    let hash: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
    json!({
        "format": "warpo-heap-analyzer numbers 1",
        "dumpSize": dump.len(),
        "dumpSha256": hash,
        "lo": 0,
        "hi": dump.len(),
        "read": { "containers": 1, "cutContainers": 0, "unknownObjects": 0, "functions": 1, "cutFunctions": 0 },
        "objects": objects,
    })
}

fn files(scene: &Scene, snapshot: &Snapshot) -> Files {
    Files {
        dump: scene.dump().bytes.clone(),
        wasm: scene.module(),
        snapshot: snapshot.text().into_bytes(),
        numbers: None,
        handles: None,
        slots: Vec::new(),
    }
}

fn ask(heap: &LoadedHeap, question: Value) -> Value {
    let question: Question = serde_json::from_value(question).unwrap();
    let answer = engine::questions::ask(heap, &question, None, &Control::default()).unwrap();
    serde_json::to_value(&answer).unwrap()
}

/// A number that a property has for its value.
fn add_number(snapshot: &mut Snapshot, holder: usize, name: &str, value: f64) {
    let number = snapshot.node("number", "smi number", 0);
    let text = snapshot.node("string", &value.to_string(), 0);
    snapshot.edge(holder, "property", name, number);
    snapshot.edge(number, "internal", "value", text);
}

/// The id that the snapshot gives to a node.
fn id_of(node: usize) -> u32 {
    2 * node as u32 + 1
}

/// The address of a node in the joined heap.
fn address_of(node: usize) -> u32 {
    (1 << 31) + id_of(node)
}
