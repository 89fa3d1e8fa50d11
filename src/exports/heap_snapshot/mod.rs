//! Chrome's heap snapshot: JSON of three flat arrays, the nodes, the edges and the strings that both are
//! named by.
//!
//! The strings come last, but nodes and edges need their numbers. Names that belong to the program or to a
//! class are numbered before anything is written. What a string of the program contains, and the keys of
//! maps, are numbered where nodes and edges are written, and read again in the same order when the strings
//! are written.
//!
//! What DevTools and memlab understand in the same way is less than the format allows: no weak edges, no
//! shortcuts, no nodes of other types than these, nothing but synthetic nodes below the first.

mod contents;
mod edge_names;
mod garbage;
mod names;
mod recent;

use std::io::Write;

use serde::Deserialize;

use super::memory::PagedMemory;
use super::object_set::ObjectSet;
use super::output::Output;
use crate::control::{Control, Phase, Step};
use crate::error::Result;
use crate::heap::Heap;
use crate::questions::LoadedHeap;
use crate::runtime::roots::RootKind;
use crate::runtime::shapes::Kind;
use crate::units::ObjectIndex;
use contents::ContentNames;
use edge_names::{EdgeName, EdgeNames, LabelNames};
use names::Names;

/// What a heap snapshot shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct HeapSnapshotOptions {
    /// What strings contain, and the keys of maps.
    pub strings: bool,
    /// Garbage too, in a group of its own.
    pub all: bool,
}

impl Default for HeapSnapshotOptions {
    fn default() -> Self {
        Self {
            strings: true,
            all: false,
        }
    }
}

/// Numbers of a node.
const NODE_FIELDS: u64 = 7;

/// Objects, or strings, between two reports.
const REPORT: u64 = 1 << 12;

const META: &str = concat!(
    r#"{"node_fields":["type","name","id","self_size","edge_count","trace_node_id","detachedness"],"#,
    r#""node_types":[["hidden","array","string","object","code","closure","regexp","number","native","#,
    r#""synthetic","concatenated string","sliced string","symbol","bigint","object shape"],"#,
    r#""string","number","number","number","number","number"],"#,
    r#""edge_fields":["type","name_or_index","to_node"],"#,
    r#""edge_types":[["context","element","property","internal","hidden","shortcut","weak"],"#,
    r#""string_or_number","node"],"#,
    r#""trace_function_info_fields":["function_id","name","script_name","script_id","line","column"],"#,
    r#""trace_node_fields":["id","function_info_index","count","size","children"],"#,
    r#""sample_fields":["timestamp_us","last_assigned_id"],"#,
    r#""location_fields":["object_index","script_id","line","column"]}"#,
);

/// A type of node, by its place in [`META`].
#[derive(Clone, Copy)]
enum NodeType {
    Text = 2,
    Object = 3,
    Synthetic = 9,
}

/// A type of edge, by its place in [`META`].
#[derive(Clone, Copy)]
enum EdgeType {
    Element = 1,
    Property = 2,
}

/// The kinds of roots, in the order of their nodes.
const ROOT_KINDS: [RootKind; 3] = [RootKind::Global, RootKind::Stack, RootKind::Pinned];

/// Nodes in front of the objects: the root, the roots of the collector, and those of each kind. With garbage
/// there is one more.
const FIXED_NODES: u32 = 2 + ROOT_KINDS.len() as u32;

/// Writes a heap.
///
/// # Errors
/// As [`LoadedHeap::export`].
pub(super) fn write(
    heap: &LoadedHeap,
    options: HeapSnapshotOptions,
    out: &mut dyn Write,
    control: &Control,
) -> Result<()> {
    let chosen = Chosen::new(heap.heap(), options, control)?;
    let step = control.begin(Phase::Export, chosen.work());
    let writer = Writer {
        heap,
        options,
        names: Names::new(heap, chosen.last_word)?,
        chosen: &chosen,
        step,
    };
    let mut output = Output::new(out)?;
    writer.write(&mut output)?;
    output.flush()
}

/// Which objects and references are written.
struct Chosen {
    live: ObjectSet,
    /// All objects that are written.
    objects: ObjectSet,
    object_count: u32,
    /// One garbage object of each group that nothing outside refers to, so that all garbage is reached.
    garbage: Option<Garbage>,
    reference_count: u64,
    /// The highest offset that is the label of a reference.
    last_word: Option<u32>,
}

struct Garbage {
    entries: ObjectSet,
    entry_count: u32,
}

impl Chosen {
    fn new(heap: &Heap, options: HeapSnapshotOptions, control: &Control) -> Result<Self> {
        let count = heap.objects.len();
        let mut live = ObjectSet::new(count)?;
        for (nth, &object) in heap.dominators.live().iter().enumerate() {
            live.insert(object);
            if nth.is_multiple_of(1 << 16) {
                control.check()?;
            }
        }
        let mut objects = ObjectSet::new(count)?;
        let garbage = match options.all {
            false => None,
            true => {
                let entries = garbage::entries(heap, &live, control)?;
                Some(Garbage {
                    entry_count: entries.iter().count() as u32,
                    entries,
                })
            }
        };
        let mut chosen = Self {
            live,
            objects: ObjectSet::default(),
            object_count: 0,
            garbage,
            reference_count: 0,
            last_word: None,
        };
        for nth in 0..count as u32 {
            let object = ObjectIndex(nth);
            let is_garbage = || heap.objects.is_on_heap(object);
            if chosen.live.contains(object) || options.all && is_garbage() {
                objects.insert(object);
                chosen.count_references(heap, object);
            }
            if nth.is_multiple_of(1 << 16) {
                control.check()?;
            }
        }
        chosen.object_count = objects.number()?;
        chosen.objects = objects;
        Ok(chosen)
    }

    fn count_references(&mut self, heap: &Heap, object: ObjectIndex) {
        self.reference_count += u64::from(self.written_references(heap, object));
        for place in heap.edges.range(object) {
            let label = heap.edges.label(place).map(|label| label.kind());
            if let Some(crate::heap::LabelKind::Word(offset)) = label {
                self.last_word = self.last_word.max(Some(offset));
            }
        }
    }

    /// Whether a reference is written. What is garbage keeps nothing alive, so its references to live
    /// objects would make these look as if it did.
    #[inline]
    fn is_written(&self, heap: &Heap, source: ObjectIndex, target: ObjectIndex) -> bool {
        self.live.contains(source) || !self.live.contains(target) && heap.objects.is_on_heap(target)
    }

    /// How many references of an object are written.
    #[inline]
    fn written_references(&self, heap: &Heap, object: ObjectIndex) -> u32 {
        let range = heap.edges.range(object);
        if self.live.contains(object) {
            return range.len() as u32;
        }
        let targets = heap.edges.targets(object).iter();
        let written = targets.filter(|&&target| self.is_written(heap, object, target));
        written.count() as u32
    }

    /// The work of writing all of it, in units of one object or reference.
    fn work(&self) -> u64 {
        2 * u64::from(self.object_count) + self.reference_count
    }

    fn fixed_nodes(&self) -> u32 {
        FIXED_NODES + u32::from(self.garbage.is_some())
    }

    /// The number of an object's node.
    #[inline]
    fn node(&self, object: ObjectIndex) -> u32 {
        self.fixed_nodes() + self.objects.rank(object)
    }
}

struct Writer<'h> {
    heap: &'h LoadedHeap,
    options: HeapSnapshotOptions,
    names: Names,
    chosen: &'h Chosen,
    step: Step<'h>,
}

impl Writer<'_> {
    fn write(&self, output: &mut Output<'_>) -> Result<()> {
        let mut memory = PagedMemory::new(self.heap)?;
        let roots = self.heap.root_slots().all().len() as u64;
        let garbage = self.chosen.garbage.as_ref();
        let fixed_edges = 1
            + ROOT_KINDS.len() as u64
            + roots
            + garbage.map_or(0, |garbage| 1 + u64::from(garbage.entry_count));
        output.text(r#"{"snapshot":{"meta":"#);
        output.text(META);
        output.text(r#","node_count":"#);
        output.number(self.chosen.fixed_nodes() + self.chosen.object_count);
        output.text(r#","edge_count":"#);
        output.number(fixed_edges + self.chosen.reference_count);
        output.text(",\"trace_function_count\":0},\n\"nodes\":[");
        let mut contents = ContentNames::new(self.heap, self.names.len())?;
        self.nodes(output, &mut memory, &mut contents)?;
        output.text("],\n\"edges\":[");
        let first_label = contents.end();
        let mut labels = LabelNames::new(self.heap, first_label);
        self.edges(output, &mut memory, &mut labels)?;
        output.text(
            "],\n\"trace_function_infos\":[],\n\"trace_tree\":[],\n\"samples\":[],\n\"locations\":[],\n\"strings\":[",
        );
        self.names.write(output)?;
        contents.write(output, &mut memory, &self.step)?;
        labels = LabelNames::new(self.heap, first_label);
        self.write_labels(output, &mut memory, &mut labels)?;
        output.text("]}\n");
        Ok(())
    }

    fn nodes(
        &self,
        output: &mut Output<'_>,
        memory: &mut PagedMemory<'_>,
        contents: &mut ContentNames<'_>,
    ) -> Result<()> {
        let heap = self.heap.heap();
        let slots = self.heap.root_slots().all();
        let of_kind = |kind| slots.iter().filter(|slot| slot.kind == kind).count() as u32;
        let garbage = self.chosen.garbage.as_ref();
        let fixed = [
            Some(1 + u32::from(garbage.is_some())),
            Some(ROOT_KINDS.len() as u32),
            Some(of_kind(RootKind::Global)),
            Some(of_kind(RootKind::Stack)),
            Some(of_kind(RootKind::Pinned)),
            garbage.map(|garbage| garbage.entry_count),
        ];
        for (edges, nth) in fixed.into_iter().flatten().zip(0u32..) {
            if nth > 0 {
                output.text("\n,");
            }
            // The first names are those of these nodes. Addresses of objects are multiples of 16, above them.
            self.node(output, NodeType::Synthetic, nth, 2 * nth + 1, 0, edges);
        }
        let mut unreported = (0, 0);
        for object in self.chosen.objects.iter() {
            let slot = heap.objects.class_slots[object.at()] as usize;
            let is_text = self.heap.shape(object).kind == Kind::Text;
            let node_type = match (heap.objects.is_on_heap(object), is_text) {
                (false, _) => NodeType::Synthetic,
                (true, true) => NodeType::Text,
                (true, false) => NodeType::Object,
            };
            let name = match is_text && self.options.strings {
                true => contents.number(object, memory)?,
                false => self.names.class(slot),
            };
            output.text("\n,");
            self.node(
                output,
                node_type,
                name,
                heap.address(object).0 | 1,
                heap.shallow_size(object),
                self.chosen.written_references(heap, object),
            );
            output.flush_if_full()?;
            self.report(&mut unreported, 1)?;
        }
        Ok(())
    }

    #[inline]
    fn node(
        &self,
        output: &mut Output<'_>,
        node_type: NodeType,
        name: u32,
        id: u32,
        self_size: u32,
        edges: u32,
    ) {
        for number in [node_type as u32, name, id, self_size, edges] {
            output.number(number);
            output.text(",");
        }
        output.text("0,0");
    }

    fn edges(
        &self,
        output: &mut Output<'_>,
        memory: &mut PagedMemory<'_>,
        labels: &mut LabelNames<'_>,
    ) -> Result<()> {
        let heap = self.heap.heap();
        let garbage = self.chosen.garbage.as_ref();
        self.edge(output, EdgeType::Element, 1, 1);
        if garbage.is_some() {
            output.text("\n,");
            self.edge(output, EdgeType::Element, 2, FIXED_NODES);
        }
        for nth in 0..ROOT_KINDS.len() as u32 {
            output.text("\n,");
            self.edge(output, EdgeType::Element, nth + 1, nth + 2);
        }
        let roots = self.heap.root_slots();
        for kind in ROOT_KINDS {
            let slots = roots.all().iter().filter(|slot| slot.kind == kind);
            for (slot, nth) in slots.zip(0u32..) {
                let (edge_type, name) = match self.names.root(roots, *slot) {
                    Some(name) => (EdgeType::Property, name),
                    None => (EdgeType::Element, roots.stack_word(*slot).unwrap_or(nth)),
                };
                output.text("\n,");
                self.edge(output, edge_type, name, self.chosen.node(slot.object));
                output.flush_if_full()?;
            }
        }
        for (entry, nth) in garbage
            .iter()
            .flat_map(|found| found.entries.iter())
            .zip(0u32..)
        {
            output.text("\n,");
            self.edge(output, EdgeType::Element, nth, self.chosen.node(entry));
            output.flush_if_full()?;
        }
        let mut unreported = (0, 0);
        let mut names = EdgeNames::new(self.heap, &self.names, self.options.strings);
        for source in self.chosen.objects.iter() {
            names.begin(source);
            let range = heap.edges.range(source);
            self.report(&mut unreported, range.len() as u64)?;
            for place in range {
                let target = heap.edges.target(place);
                let name = names.next(place, memory)?;
                if !self.chosen.is_written(heap, source, target) {
                    continue;
                }
                let (edge_type, name) = match name {
                    EdgeName::Index(index) => (EdgeType::Element, index),
                    EdgeName::Known(name) => (EdgeType::Property, name),
                    EdgeName::Entry(label) => (EdgeType::Property, labels.number(label, memory)?.0),
                };
                output.text("\n,");
                self.edge(output, edge_type, name, self.chosen.node(target));
                output.flush_if_full()?;
            }
        }
        Ok(())
    }

    #[inline]
    fn edge(&self, output: &mut Output<'_>, edge_type: EdgeType, name: u32, node: u32) {
        output.number(edge_type as u32);
        output.text(",");
        output.number(name);
        output.text(",");
        output.number(u64::from(node) * NODE_FIELDS);
    }

    /// Writes the strings that [`edges`](Self::edges) numbered, by numbering them once more.
    fn write_labels(
        &self,
        output: &mut Output<'_>,
        memory: &mut PagedMemory<'_>,
        labels: &mut LabelNames<'_>,
    ) -> Result<()> {
        if !self.options.strings {
            return Ok(());
        }
        let heap = self.heap.heap();
        let mut names = EdgeNames::new(self.heap, &self.names, self.options.strings);
        let mut unreported = (0, 0);
        for source in self.chosen.objects.iter() {
            self.report(&mut unreported, 0)?;
            if !matches!(self.heap.shape(source).kind, Kind::Map(_) | Kind::Set(_)) {
                continue;
            }
            names.begin(source);
            for place in heap.edges.range(source) {
                let target = heap.edges.target(place);
                let name = names.next(place, memory)?;
                let EdgeName::Entry(label) = name else {
                    continue;
                };
                if !self.chosen.is_written(heap, source, target) {
                    continue;
                }
                if let (_, Some(text)) = labels.number(label, memory)? {
                    output.text("\n,\"");
                    output.json_units(text.encode_utf16())?;
                    output.text("\"");
                }
            }
        }
        Ok(())
    }

    /// Reports work once there is enough of it.
    #[inline]
    fn report(&self, unreported: &mut (u64, u64), more: u64) -> Result<()> {
        unreported.0 += more;
        unreported.1 += 1;
        if unreported.0.max(unreported.1) >= REPORT {
            self.step.advance(std::mem::take(unreported).0)?;
        }
        Ok(())
    }
}
