//! A source that is neither a dump of AssemblyScript nor a snapshot of V8: objects in multiples of 8 bytes, to whose
//! inner addresses questions refer, with garbage and without accounting. Every question, format and export takes it.

use std::collections::BTreeSet;
use std::sync::Arc;

use engine::heap::views::{ConstructorView, Selection};
use engine::heap::{
    Addresses, BlockSizes, Blocks, EdgeLabel, Edges, Facts, FieldValue, Found, FoundSlots, Heap,
    HeapClass, Lacks, MemoryContents, ObjectGraph, ObjectReader, ObjectTable, Opened, PathTree,
    ReadOrder, RootKind, SearchOrder, Source, TextFilter,
};
use engine::outputs::exports::{Export, export};
use engine::outputs::formats::{TableOptions, render_json, render_text};
use engine::questions::{GrowthOptions, LoadedHeap, Question, ask, growth, place_table};
use engine::{Control, ObjectAddress, ObjectIndex, Result, Step, Warning};
use parquet::file::metadata::ParquetMetaDataReader;
use parquet::file::statistics::Statistics;
use serde_json::{Value, json};

const HEADER: u32 = 8;
const GRANULE: u32 = 8;
const NODE: u32 = 0;
const TEXT: u32 = 1;

/// The class, the size of the block, and the targets of each object. The third and the fourth refer to each other, and
/// nothing refers to them.
const OBJECTS: [(u32, u32, &[u32]); 5] = [
    (NODE, 24, &[1, 4]),
    (NODE, 16, &[4]),
    (NODE, 40, &[3]),
    (NODE, 8, &[2]),
    (TEXT, 32, &[]),
];

struct Granules {
    heap: Arc<Heap>,
    facts: Facts,
}

struct Reader<'h>(&'h Granules);

impl Source for Granules {
    fn facts(&self) -> &Facts {
        &self.facts
    }

    fn memory_size(&self) -> u64 {
        0
    }

    fn class_label(&self, _: u32, _: EdgeLabel) -> String {
        "field".to_owned()
    }

    fn label_at(&self, class_slot: u32, _: u32) -> String {
        self.class_label(class_slot, EdgeLabel::default())
    }

    fn around(&self, address: u64, notes: &mut Vec<Warning>, _: &Control) -> Result<Option<Found>> {
        let addresses = &self.heap.objects.addresses;
        let after = addresses.first_from(ObjectAddress(address + 1), 0..addresses.len());
        let Some(nth) = after.checked_sub(1) else {
            return Ok(None);
        };
        let object = ObjectIndex(nth as u32);
        let start = addresses.get(nth);
        let end = start.0 - u64::from(HEADER) + self.heap.shallow_size(object);
        if address >= end {
            return Ok(None);
        }
        notes.push(Warning::AddressInside {
            address: ObjectAddress(address),
            what: "object",
            start,
        });
        Ok(Some(Found::Object(object)))
    }

    fn reader(&self, _: ReadOrder, _: &Control) -> Box<dyn ObjectReader + '_> {
        Box::new(Reader(self))
    }

    fn text_filter(&self, text: &str, _: &Control) -> Result<Box<dyn TextFilter + '_>> {
        Ok(Box::new(Texts {
            source: self,
            matches: "a text".contains(text),
        }))
    }

    fn memory(&self) -> Option<&dyn MemoryContents> {
        Some(self)
    }
}

impl MemoryContents for Granules {
    fn blocks(&self) -> Blocks {
        Blocks {
            header: HEADER,
            sizes: BlockSizes::MultiplesOf(GRANULE),
            overhead: None,
        }
    }

    fn content_sizes(&self, _: &PathTree, _: &Step<'_>) -> Result<Vec<u32>> {
        Ok(OBJECTS.iter().map(|&(_, size, _)| size - HEADER).collect())
    }
}

impl ObjectReader for Reader<'_> {
    fn label(
        &mut self,
        source: ObjectIndex,
        _: ObjectIndex,
        label: EdgeLabel,
        _: usize,
    ) -> Result<String> {
        let slot = self.0.heap.objects.class_slots[source.at()];
        Ok(self.0.class_label(slot, label))
    }

    fn label_at(&mut self, source: ObjectIndex, place: u32, _: usize) -> Result<String> {
        let slot = self.0.heap.objects.class_slots[source.at()];
        Ok(self.0.label_at(slot, place))
    }

    fn preview(&mut self, _: ObjectIndex) -> Result<Option<String>> {
        Ok(None)
    }

    fn fields(&mut self, _: ObjectIndex, _: &mut Vec<Warning>) -> Result<Vec<FieldValue>> {
        Ok(Vec::new())
    }

    fn literal(&mut self, _: ObjectIndex) -> Result<Option<String>> {
        Ok(None)
    }

    fn shared_contents(&mut self, _: ObjectIndex) -> Result<String> {
        Ok(String::new())
    }
}

struct Texts<'h> {
    source: &'h Granules,
    matches: bool,
}

impl TextFilter for Texts<'_> {
    fn keep(&mut self, objects: &mut Vec<ObjectIndex>) -> Result<()> {
        let slots = &self.source.heap.objects.class_slots;
        objects.retain(|object| self.matches && slots[object.at()] == TEXT);
        Ok(())
    }
}

fn open() -> LoadedHeap {
    open_at(0x1000)
}

/// The heap with its first block at this address.
fn open_at(base: u64) -> LoadedHeap {
    let mut next = base + u64::from(HEADER);
    let mut addresses = Vec::new();
    for (_, size, _) in OBJECTS {
        addresses.push(next);
        next += u64::from(size);
    }
    let class = |name: &str, slot: u32| HeapClass {
        name: name.to_owned(),
        origin: None,
        evidence: None,
        count: OBJECTS.iter().filter(|object| object.0 == slot).count() as u64,
    };
    let rows = OBJECTS.map(|(.., targets)| targets.iter().map(|&at| ObjectIndex(at)).collect());
    let rows: Vec<Vec<ObjectIndex>> = rows.into();
    let graph = ObjectGraph {
        objects: ObjectTable {
            addresses: Addresses::of_wide(addresses).unwrap(),
            class_slots: OBJECTS.iter().map(|object| object.0).collect(),
            shallow_sizes: OBJECTS.iter().map(|object| object.1).collect(),
            statics: None,
            classes: vec![class("Node", NODE), class("Text", TEXT)],
            ..ObjectTable::default()
        },
        edges: Edges::from_rows(rows.iter().map(Vec::as_slice)),
        roots: vec![(ObjectIndex(0), RootKind::Global)],
    };
    let solution = graph
        .find_dominators(SearchOrder::Deep, &Control::default())
        .unwrap();
    let heap = Arc::new(Heap {
        root_kinds: &[RootKind::Global],
        ..graph.into_heap(solution)
    });
    let mut roots = FoundSlots::default();
    roots.add_global("first", ObjectIndex(0)).unwrap();
    let source = Box::new(Granules {
        heap: Arc::clone(&heap),
        facts: Facts {
            program: 3,
            storage_references: 1,
            lacks: Lacks {
                code: "ERR_NOT_IN_GRANULES",
                heap: "a heap of granules",
                ..Lacks::default()
            },
            ..Facts::default()
        },
    });
    let opened = Opened {
        heap,
        roots: roots.into_slots().unwrap(),
        source,
        indexes: None,
    };
    LoadedHeap::new(opened, "granules")
}

fn answer(heap: &LoadedHeap, question: Value) -> Value {
    let question: Question = serde_json::from_value(question).unwrap();
    let control = Control::default();
    let answer = ask(heap, &question, Some(heap), &control).unwrap();
    render_text(&answer, TableOptions::default());
    serde_json::from_str(&render_json(&answer)).unwrap()
}

#[test]
fn an_inner_address_is_that_of_its_object() {
    let heap = open();
    let object = answer(
        &heap,
        json!({ "question": "object", "address": 0x1008 + 12 }),
    );
    assert_eq!(object["address"], 0x1008);
    assert_eq!(object["retainedSize"], 24 + 16 + 32);
    assert_eq!(object["warnings"][0]["code"], "WARN_ADDRESS_INSIDE");
    // The address after the last block.
    let question = json!({ "question": "object", "address": 0x1008 + 120 });
    let question: Question = serde_json::from_value(question).unwrap();
    let error = ask(&heap, &question, None, &Control::default()).unwrap_err();
    assert_eq!(error.code(), "ERR_NO_OBJECT", "{error}");
}

#[test]
fn objects_of_a_process_of_64_bits_have_its_addresses() {
    let base = 0x7f12_3456_7000u64;
    let heap = open_at(base);
    let first = base + u64::from(HEADER);
    let object = answer(
        &heap,
        json!({ "question": "object", "address": first + 12 }),
    );
    assert_eq!(object["address"], first);
    assert_eq!(object["addressText"], "0x7f1234567008");
    let found = answer(
        &heap,
        json!({ "question": "find", "where": format!("address == {first}") }),
    );
    assert_eq!(found["total"], 1);
    let path = answer(
        &heap,
        json!({ "question": "paths", "objects": [first + 88] }),
    );
    assert_eq!(path["path"]["text"], "global first > Node.field > Text");
    let unreachable = answer(&heap, json!({ "question": "unreachable", "maxNodes": 9 }));
    assert_eq!(unreachable["nodes"][0]["address"], first + 40);
    // An object of the same number in 32 bits is not there.
    let question = json!({ "question": "object", "address": first & 0xffff_ffff });
    let question: Question = serde_json::from_value(question).unwrap();
    let error = ask(&heap, &question, None, &Control::default()).unwrap_err();
    assert_eq!(error.code(), "ERR_NO_OBJECT", "{error}");
}

/// The ids of the nodes of a heap snapshot of the heap, with garbage.
fn ids_of_nodes(heap: &LoadedHeap) -> Vec<u64> {
    let format: Export =
        serde_json::from_value(json!({ "format": "heapsnapshot", "all": true })).unwrap();
    let mut bytes = Vec::new();
    export(heap, &format, None, &mut bytes, &Control::default()).unwrap();
    let snapshot: Value = serde_json::from_slice(&bytes).unwrap();
    let meta = &snapshot["snapshot"]["meta"]["node_fields"];
    let fields = meta.as_array().unwrap();
    let id = fields.iter().position(|field| field == "id").unwrap();
    let nodes = snapshot["nodes"].as_array().unwrap();
    let ids = nodes
        .chunks(fields.len())
        .map(|node| node[id].as_u64().unwrap());
    ids.collect()
}

#[test]
fn no_two_nodes_have_the_same_id() {
    // Of 64 bits; and those of the first objects are also those of the nodes in front of them.
    for base in [0x7f12_3456_7000, 0] {
        let ids = ids_of_nodes(&open_at(base));
        let different: BTreeSet<u64> = ids.iter().copied().collect();
        assert_eq!(different.len(), ids.len(), "{ids:?}");
    }
}

#[test]
fn ids_of_nodes_are_addresses_where_they_can_be() {
    assert!(ids_of_nodes(&open()).contains(&0x1009));
}

/// The least and the greatest value of a column of the objects' table.
fn statistics(heap: &LoadedHeap, column: &str) -> Statistics {
    let dump = json!({
        "dumpId": "1", "capturedAt": 0, "dumpSize": 1, "source": "granules", "labels": {},
    });
    let request = json!({ "format": "parquet", "table": "object", "dump": dump, "strings": true });
    let format: Export = serde_json::from_value(request).unwrap();
    let mut bytes = Vec::new();
    export(heap, &format, None, &mut bytes, &Control::default()).unwrap();
    // The metadata, its size, and the mark of the format.
    let end = bytes.len() - 8;
    let size = u32::from_le_bytes(bytes[end..end + 4].try_into().unwrap()) as usize;
    let metadata = ParquetMetaDataReader::decode_metadata(&bytes[end - size..end]).unwrap();
    let columns = metadata.row_group(0).columns().iter();
    let mut columns = columns.filter(|found| found.column_descr().name() == column);
    columns.next().unwrap().statistics().unwrap().clone()
}

#[test]
fn tables_have_columns_of_64_bits_only_for_addresses_that_need_them() {
    let Statistics::Int64(wide) = statistics(&open_at(0x7f12_3456_7000), "address") else {
        panic!("addresses of 64 bits");
    };
    assert_eq!(wide.min_opt(), Some(&0x7f12_3456_7008));
    assert_eq!(wide.max_opt(), Some(&(0x7f12_3456_7008 + 88)));
    let Statistics::Int32(narrow) = statistics(&open(), "dominator") else {
        panic!("addresses of 32 bits");
    };
    assert_eq!(narrow.min_opt(), Some(&0x1008));
}

#[test]
fn every_question_is_answered() {
    let heap = open();
    let address = 0x1008;
    let summary = answer(&heap, json!({ "question": "summary" }));
    assert_eq!(summary["totalLiveSize"], 24 + 16 + 32);
    assert_eq!(summary.get("accounting"), None);
    let found = answer(&heap, json!({ "question": "find", "contains": "tex" }));
    assert_eq!(found["total"], 1);
    let path = answer(
        &heap,
        json!({ "question": "paths", "objects": [0x1008 + 88] }),
    );
    assert_eq!(path["path"]["text"], "global first > Node.field > Text");
    let unreachable = answer(&heap, json!({ "question": "unreachable", "maxNodes": 9 }));
    assert_eq!(unreachable["garbage"]["count"], 2);
    assert_eq!(unreachable["garbage"]["shallowSize"], 40 + 8);
    assert_eq!(unreachable["garbage"]["cycles"]["total"], 1);
    for question in [
        json!({ "question": "referrers", "address": address }),
        json!({ "question": "dominators" }),
        json!({ "question": "dominators", "by": "class" }),
        json!({ "question": "paths", "class": "*" }),
        json!({ "question": "paths", "newSince": true }),
        json!({ "question": "suspects" }),
        json!({ "question": "waste" }),
        json!({ "question": "report" }),
    ] {
        answer(&heap, question);
    }
    let table = place_table(&heap, &Control::default()).unwrap();
    let options: GrowthOptions = serde_json::from_value(json!({})).unwrap();
    growth(&[&table, &table], &options, &Control::default()).unwrap();
    let view = ConstructorView::new(
        Arc::clone(heap.heap()),
        Selection::default(),
        &Control::default(),
    )
    .unwrap();
    assert_eq!(view.rows().len(), 2);
}

#[test]
fn every_export_is_written() {
    let heap = open();
    let dump = json!({
        "dumpId": "1", "capturedAt": 0, "dumpSize": 1, "source": "granules", "labels": {},
    });
    let tables = [
        "dump", "class", "path", "suspect", "waste", "object", "edge",
    ];
    let mut exports: Vec<Value> = tables
        .iter()
        .map(|table| json!({ "format": "parquet", "table": table, "dump": dump, "strings": true }))
        .collect();
    exports.push(json!({ "format": "pprof" }));
    exports.push(json!({ "format": "heapsnapshot", "all": true }));
    exports.push(json!({ "format": "heap-diff" }));
    for request in exports {
        let format: Export = serde_json::from_value(request.clone()).unwrap();
        let before = (request["format"] == "heap-diff").then_some(&heap);
        let mut bytes = Vec::new();
        export(&heap, &format, before, &mut bytes, &Control::default()).unwrap();
        assert!(!bytes.is_empty(), "{request}");
        if request["format"] == "heapsnapshot" {
            let snapshot: Value = serde_json::from_slice(&bytes).unwrap();
            // The objects, the nodes above them, and that of the garbage.
            assert_eq!(snapshot["snapshot"]["node_count"], 5 + 6);
        }
    }
}
