//! Exports of heaps that are larger than what an export keeps of them in memory, and exports that end early.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use crate::questions::objects::string;
use crate::support::{DumpFile, NULL, Object, STRING, Scene};
use engine::assemblyscript::{DumpBytes, InMemory};
use engine::heap::HeapError;
use engine::outputs::exports::Export;
use engine::questions::LoadedHeap;
use engine::{Control, Error, FileAction, Input, Phase, Program, Result};

/// Strings, and free blocks between them: together they are larger than the 16 MiB of pages that are kept.
const STRINGS: usize = 10_000;
const DISTANCE: u32 = 3000;

/// Coprime to [`STRINGS`], so that references jump through all of the memory.
const JUMP: usize = 7919;

/// A large heap, and what is known of it.
struct Large {
    scene: Scene,
    strings: Vec<Object>,
    array: Object,
    map: Object,
    by_number: Object,
}

fn contents(nth: usize) -> String {
    match nth % 100 {
        0 => format!("\"caf\u{e9}\" {nth}\n"),
        _ => format!("string {nth}"),
    }
}

/// The nth string that a container refers to.
fn jump(nth: usize) -> usize {
    nth * JUMP % STRINGS
}

/// An element is null, or an entry is deleted.
fn is_left_out(nth: usize) -> bool {
    nth % 7 == 3
}

fn large() -> Large {
    let mut scene = Scene::new();
    let array = scene.generic("~lib/array/Array<~lib/string/String>", &[&STRING]);
    let map = scene.generic("~lib/map/Map<~lib/string/String,i32>", &[&STRING, &"i32"]);
    let by_number = scene.generic("~lib/map/Map<i32,~lib/string/String>", &[&"i32", &STRING]);
    let strings: Vec<Object> = (0..STRINGS)
        .map(|nth| {
            scene.free_block(DISTANCE);
            string(&mut scene, &contents(nth))
        })
        .collect();
    let target = |nth| strings[jump(nth)];
    let elements = (0..STRINGS).map(|nth| {
        if is_left_out(nth) {
            Object(NULL)
        } else {
            target(nth)
        }
    });
    let elements: Vec<Object> = elements.collect();
    let array = scene.array(array, &elements);
    let entries = |entry: fn(u32, u32) -> [u32; 2]| {
        let entries = (0..STRINGS).flat_map(|nth| {
            let [key, value] = entry(nth as u32, target(nth).0);
            [key, value, u32::from(is_left_out(nth))]
        });
        entries.collect::<Vec<u32>>()
    };
    let by_text = entries(|nth, string| [string, nth]);
    let numbers = entries(|nth, string| [nth, string]);
    let map = scene.entries(map, STRINGS as u32, &by_text);
    let by_number = scene.entries(by_number, STRINGS as u32, &numbers);
    for root in [array, map, by_number] {
        scene.push_on_stack(root);
    }
    Large {
        scene,
        strings,
        array,
        map,
        by_number,
    }
}

fn snapshot() -> Export {
    serde_json::from_value(json!({ "format": "heapsnapshot" })).unwrap()
}

/// All formats, and whether they compare with an earlier heap.
fn formats() -> Vec<(Export, bool)> {
    let formats = [
        (json!({ "format": "heapsnapshot" }), false),
        (
            json!({ "format": "heapsnapshot", "all": true, "strings": false }),
            false,
        ),
        (json!({ "format": "pprof" }), false),
        (json!({ "format": "heap-diff" }), true),
    ];
    let formats = formats.map(|(format, compares)| {
        let format: Export = serde_json::from_value(format).unwrap();
        (format, compares)
    });
    formats.into()
}

fn number(value: &Value) -> usize {
    value.as_u64().unwrap() as usize
}

/// The names of the nodes by address, and the references of each.
struct Parsed {
    names: BTreeMap<u32, String>,
    references: BTreeMap<u32, Vec<(String, u32)>>,
}

fn parsed(bytes: &[u8]) -> Parsed {
    let snapshot: Value = serde_json::from_slice(bytes).unwrap();
    let column = |name: &str| snapshot[name].as_array().unwrap();
    let text = |nth: &Value| column("strings")[number(nth)].as_str().unwrap().to_owned();
    let mut edges = column("edges").chunks(3);
    let mut parsed = Parsed {
        names: BTreeMap::new(),
        references: BTreeMap::new(),
    };
    let address = |node: &[Value]| number(&node[2]) as u32 & !1;
    for node in column("nodes").chunks(7) {
        parsed.names.insert(address(node), text(&node[1]));
        let references = edges.by_ref().take(number(&node[4])).map(|edge| {
            let name = match number(&edge[0]) {
                1 => edge[1].to_string(),
                _ => text(&edge[1]),
            };
            (name, address(&column("nodes")[number(&edge[2])..]))
        });
        parsed
            .references
            .insert(address(node), references.collect());
    }
    assert!(edges.next().is_none());
    parsed
}

#[test]
fn a_snapshot_of_a_heap_larger_than_the_kept_pages_has_every_content_and_key() {
    let large = large();
    let dump = large.scene.dump();
    assert!(dump.memory_size() > 16 << 20);
    let reads = Arc::new(AtomicUsize::new(MANY));
    let [bytes, in_place] = [false, true].map(|is_in_place| {
        let heap = open_vanishing(dump.clone(), &large.scene.module(), &reads, is_in_place);
        let mut bytes = Vec::new();
        let control = Control::default();
        engine::outputs::exports::export(&heap, &snapshot(), None, &mut bytes, &control).unwrap();
        bytes
    });
    assert!(bytes == in_place);
    let parsed = parsed(&bytes);
    // The other strings are garbage.
    for nth in (0..STRINGS).filter(|&nth| !is_left_out(nth)).map(jump) {
        assert_eq!(parsed.names[&large.strings[nth].0], contents(nth));
    }
    // The references to strings; the others are to own buffers.
    let strings = &large.strings;
    let addresses: BTreeSet<u32> = strings.iter().map(|string| string.0).collect();
    let references = |object: Object| {
        let references = parsed.references[&object.0].iter().cloned();
        references.filter(|(_, target)| addresses.contains(target))
    };
    let expected = |label: fn(usize) -> String| {
        let written = (0..STRINGS).filter(|&nth| !is_left_out(nth));
        written.map(move |nth| (label(nth), strings[jump(nth)].0))
    };
    assert!(references(large.array).eq(expected(|nth| nth.to_string())));
    assert!(references(large.by_number).eq(expected(|nth| nth.to_string())));
    assert!(references(large.map).eq(expected(|nth| {
        // As in a string literal.
        let text = contents(jump(nth)).replace('"', "\\\"");
        format!("key [\"{}\"]", text.replace('\n', "\\n"))
    })));
}

/// A writer that does something instead of writing, after some writes.
struct After<F> {
    writes: usize,
    bytes: usize,
    then: F,
}

impl<F: FnMut() -> io::Result<()>> Write for After<F> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.writes.checked_sub(1) {
            Some(rest) => self.writes = rest,
            None => (self.then)()?,
        }
        self.bytes += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// How many times an export writes.
fn writes(heap: &LoadedHeap, before: Option<&LoadedHeap>, format: &Export) -> usize {
    let writes = AtomicUsize::new(0);
    let mut out = After {
        writes: 0,
        bytes: 0,
        then: || {
            writes.fetch_add(1, Ordering::Relaxed);
            Ok(())
        },
    };
    engine::outputs::exports::export(heap, format, before, &mut out, &Control::default()).unwrap();
    writes.into_inner()
}

#[test]
fn a_writer_that_fails_ends_every_export_with_its_error() {
    let heap = large().scene.open();
    for (format, compares) in formats() {
        let before = compares.then_some(&heap);
        let count = writes(&heap, before, &format);
        for writes in [0, count / 2, count - 1] {
            let mut failures = 0;
            let mut out = After {
                writes,
                bytes: 0,
                then: || {
                    failures += 1;
                    Err(io::ErrorKind::StorageFull.into())
                },
            };
            let result = engine::outputs::exports::export(
                &heap,
                &format,
                before,
                &mut out,
                &Control::default(),
            );
            let Err(Error::Io { action, source }) = result else {
                panic!("{format:?} after {writes} writes: {result:?}");
            };
            assert_eq!(action, FileAction::Write);
            assert_eq!(source.kind(), io::ErrorKind::StorageFull);
            assert!(failures > 0);
        }
    }
}

#[test]
fn every_export_can_be_cancelled_in_each_of_its_phases() {
    let heap = large().scene.open();
    for (format, compares) in formats() {
        let before = compares.then_some(&heap);
        let seen = Arc::new(Mutex::new(Vec::new()));
        let all = Arc::clone(&seen);
        let control = Control::observing(move |phase| all.lock().unwrap().push(phase));
        engine::outputs::exports::export(&heap, &format, before, &mut Vec::new(), &control)
            .unwrap();
        let phases = seen.lock().unwrap().clone();
        assert!(phases.contains(&Phase::Export));
        for last in phases {
            let handle = Arc::new(Mutex::new(None::<Control>));
            let own = Arc::clone(&handle);
            let control = Control::observing(move |phase| {
                if phase == last {
                    own.lock().unwrap().as_ref().unwrap().cancel();
                }
            });
            *handle.lock().unwrap() = Some(control.clone());
            let result =
                engine::outputs::exports::export(&heap, &format, before, &mut Vec::new(), &control);
            let Err(Error::Aborted) = result else {
                panic!("{format:?} in {last:?}: {result:?}");
            };
            handle.lock().unwrap().take();
        }
    }
}

#[test]
fn a_snapshot_that_is_cancelled_while_it_is_written_writes_little_more() {
    let heap = large().scene.open();
    let count = writes(&heap, None, &snapshot());
    let mut whole = Vec::new();
    engine::outputs::exports::export(&heap, &snapshot(), None, &mut whole, &Control::default())
        .unwrap();
    for writes in [0, count / 2] {
        let control = Control::default();
        let mut out = After {
            writes,
            bytes: 0,
            then: || {
                control.cancel();
                Ok(())
            },
        };
        let result = engine::outputs::exports::export(&heap, &snapshot(), None, &mut out, &control);
        assert!(matches!(result, Err(Error::Aborted)), "{result:?}");
        assert!(out.bytes < whole.len(), "after {writes} writes");
    }
}

/// Reads before a dump vanishes.
const MANY: usize = usize::MAX / 2;

/// A dump that cannot be read any more after it was read, or checked, some times.
struct Vanishes {
    dump: InMemory<Vec<u8>>,
    reads: Arc<AtomicUsize>,
    /// Whether it is read without copying.
    is_in_place: bool,
}

impl DumpBytes for Vanishes {
    fn read_at(&self, offset: u64, into: &mut [u8]) -> Result<()> {
        self.check()?;
        self.dump.read_at(offset, into)
    }

    fn bytes(&self, may_map: bool) -> Result<Option<&[u8]>> {
        if self.is_in_place {
            self.dump.bytes(may_map)
        } else {
            Ok(None)
        }
    }

    fn check(&self) -> Result<()> {
        let one_less = |reads: usize| reads.checked_sub(1);
        let reads = &self.reads;
        match reads.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_less) {
            Ok(_) => Ok(()),
            Err(_) => Err(HeapError::DumpChanged {
                found: "no file".to_owned(),
            }
            .into()),
        }
    }
}

fn open_vanishing(
    dump: DumpFile,
    module: &[u8],
    reads: &Arc<AtomicUsize>,
    is_in_place: bool,
) -> LoadedHeap {
    let control = Control::default();
    let module = Input {
        name: "program.wasm",
        bytes: module,
    };
    let program = Program::read(module, &control).unwrap();
    let input = Input {
        name: "heap.dump",
        bytes: dump.bytes.clone(),
    };
    let contents = Vanishes {
        dump: InMemory(dump.bytes),
        reads: Arc::clone(reads),
        is_in_place,
    };
    program.open(input, Box::new(contents), &control).unwrap()
}

fn expect_change_during_snapshot(is_in_place: bool) {
    let scene = large().scene;
    let reads = Arc::new(AtomicUsize::new(MANY));
    let heap = open_vanishing(scene.dump(), &scene.module(), &reads, is_in_place);
    let export = |after: usize| {
        reads.store(after, Ordering::Relaxed);
        engine::outputs::exports::export(
            &heap,
            &snapshot(),
            None,
            &mut io::sink(),
            &Control::default(),
        )
    };
    export(MANY).unwrap();
    let all = MANY - reads.load(Ordering::Relaxed);
    assert!(all > 20, "{all} reads");
    for after in [0, 1, all / 4, all / 2, all * 3 / 4, all - 1] {
        let error = export(after).unwrap_err();
        assert_eq!(
            error.code(),
            "ERR_DUMP_CHANGED",
            "after {after} of {all} reads"
        );
    }
    export(MANY).unwrap();
}

#[test]
fn a_dump_that_cannot_be_read_any_more_ends_a_snapshot_with_the_error() {
    expect_change_during_snapshot(false);
}

#[test]
fn a_dump_that_changes_while_it_is_read_in_place_ends_a_snapshot_with_the_error() {
    expect_change_during_snapshot(true);
}
