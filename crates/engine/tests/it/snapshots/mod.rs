//! Heap snapshots of V8: small ones with known numbers, and damaged ones. Real ones are compared with DevTools in
//! `__test__/devtools/snapshots.test.ts`.

mod answers;
mod damage;
mod order;
mod other_writers;

use std::sync::Arc;

use engine::heap::views::{ConstructorSort, ConstructorView, Selection};
use engine::outputs::exports::Export;
use engine::questions::{LoadedHeap, Question};
use engine::{Control, Input, Result, analyze_snapshot as analyze, open_snapshot as open};
use serde_json::{Value, json};

const NODE_TYPES: [&str; 12] = [
    "hidden",
    "array",
    "string",
    "object",
    "code",
    "closure",
    "regexp",
    "number",
    "native",
    "synthetic",
    "concatenated string",
    "sliced string",
];

const EDGE_TYPES: [&str; 7] = [
    "context", "element", "property", "internal", "hidden", "shortcut", "weak",
];

/// A snapshot while it is made: nodes by type, name and size, and edges in the order of their sources.
#[derive(Default)]
pub(crate) struct Snapshot {
    pub(crate) nodes: Vec<(u64, String, u64)>,
    pub(crate) edges: Vec<(usize, u64, Value, usize)>,
}

impl Snapshot {
    /// A snapshot whose only user root is an object `global`, node 1.
    pub(crate) fn new() -> Self {
        let mut snapshot = Self::default();
        snapshot.node("synthetic", "", 0);
        snapshot.node("object", "global", 16);
        snapshot.edge(0, "shortcut", "1", 1);
        snapshot
    }

    pub(crate) fn node(&mut self, node_type: &str, name: &str, size: u64) -> usize {
        let node_type = NODE_TYPES
            .iter()
            .position(|name| *name == node_type)
            .unwrap();
        self.nodes.push((node_type as u64, name.to_owned(), size));
        self.nodes.len() - 1
    }

    pub(crate) fn edge(&mut self, from: usize, edge_type: &str, name: impl Into<Value>, to: usize) {
        let edge_type = EDGE_TYPES
            .iter()
            .position(|name| *name == edge_type)
            .unwrap();
        self.edges.push((from, edge_type as u64, name.into(), to));
    }

    fn json(&self) -> Value {
        let mut strings: Vec<String> = Vec::new();
        let mut number = |text: &str| {
            let found = strings.iter().position(|string| string == text);
            found.unwrap_or_else(|| {
                strings.push(text.to_owned());
                strings.len() - 1
            })
        };
        let mut by_source = vec![Vec::new(); self.nodes.len()];
        for edge in &self.edges {
            by_source[edge.0].push(edge);
        }
        let mut nodes = Vec::new();
        let mut edges = Vec::new();
        for (nth, (node_type, name, size)) in self.nodes.iter().enumerate() {
            let own = &by_source[nth];
            nodes.extend([*node_type, number(name) as u64, 2 * nth as u64 + 1, *size]);
            nodes.extend([own.len() as u64, 0]);
            for (_, edge_type, name, to) in own {
                let name = match name {
                    Value::String(name) => number(name) as u64,
                    index => index.as_u64().unwrap(),
                };
                edges.extend([*edge_type, name, 6 * *to as u64]);
            }
        }
        json!({
            "snapshot": {
                "meta": {
                    "node_fields": ["type", "name", "id", "self_size", "edge_count", "trace_node_id"],
                    "node_types": [NODE_TYPES, "string", "number", "number", "number", "number"],
                    "edge_fields": ["type", "name_or_index", "to_node"],
                    "edge_types": [EDGE_TYPES, "string_or_number", "node"],
                    "location_fields": ["object_index", "script_id", "line", "column"],
                },
                "node_count": self.nodes.len(),
                "edge_count": self.edges.len(),
            },
            "nodes": nodes,
            "edges": edges,
            "locations": [],
            "strings": strings,
        })
    }

    fn open(&self) -> LoadedHeap {
        opened(self.text().as_bytes()).unwrap()
    }

    /// In the order of V8: the part `snapshot` comes first.
    pub(crate) fn text(&self) -> String {
        text(&self.json())
    }
}

fn text(snapshot: &Value) -> String {
    let part = |key: &str| format!("{:?}:{}", key, snapshot[key]);
    let keys = ["snapshot", "nodes", "edges", "locations", "strings"];
    format!("{{{}}}", keys.map(part).join(",\n"))
}

fn opened(bytes: &[u8]) -> Result<LoadedHeap> {
    open(
        Input {
            name: "app.heapsnapshot",
            bytes,
        },
        &Control::default(),
    )
}

fn ask(heap: &LoadedHeap, question: Value) -> Value {
    let question: Question = serde_json::from_value(question).unwrap();
    let answer = engine::questions::ask(heap, &question, None, &Control::default()).unwrap();
    serde_json::to_value(&answer).unwrap()
}

/// By class: the count, and the sums of the shallow and the retained sizes.
fn classes(bytes: &[u8]) -> Vec<(String, u64, u64, u64)> {
    let heap = analyze(Input { name: "app", bytes }, &Control::default()).unwrap();
    let view = ConstructorView::new(
        Arc::new(heap),
        Selection::sorted(ConstructorSort::Retained),
        &Control::default(),
    )
    .unwrap();
    let rows = view.rows().iter();
    rows.map(|row| {
        let sums = (row.total_shallow_size, row.total_retained_size);
        (row.class_name.clone(), row.count, sums.0, sums.1)
    })
    .collect()
}

fn export(heap: &LoadedHeap, export: Value) -> Result<Vec<u8>> {
    let export: Export = serde_json::from_value(export).unwrap();
    let mut bytes = Vec::new();
    engine::outputs::exports::export(heap, &export, None, &mut bytes, &Control::default())?;
    Ok(bytes)
}

fn table(name: &str) -> Value {
    let dump = json!({
        "dumpId": "1", "capturedAt": 0, "dumpSize": 1, "source": "app.heapsnapshot", "labels": {},
    });
    json!({ "format": "parquet", "table": name, "dump": dump, "strings": true })
}

/// A snapshot with nodes and edges of all types.
fn everything() -> Snapshot {
    let mut snapshot = Snapshot::new();
    for (nth, node_type) in NODE_TYPES.iter().enumerate() {
        let node = snapshot.node(
            node_type,
            ["Object", "text", "Node"][nth % 3],
            16 + nth as u64,
        );
        for (other, edge_type) in EDGE_TYPES.iter().enumerate() {
            let from = 1 + (nth * 7 + other * 3) % node;
            match *edge_type {
                "element" | "hidden" => snapshot.edge(from, edge_type, nth as u64, node),
                "internal" => snapshot.edge(from, edge_type, ["first", "second"][nth % 2], node),
                _ => snapshot.edge(from, edge_type, ["a", "b, c"][nth % 2], node),
            }
        }
    }
    let pair = "1 / part of key (Node @3) -> value (Node @5) pair in WeakMap (table @7)";
    snapshot.edge(1, "internal", pair, 2);
    snapshot.edge(3, "internal", pair, 2);
    snapshot
}
