//! Chrome's heap snapshot: JSON of three flat arrays, the nodes, the edges and the strings that both are
//! named by.
//!
//! The strings come last, but nodes and edges need their numbers. Names that belong to the program or to a
//! class are numbered before anything is written. What a string of the program contains, and the keys of
//! maps, are numbered where nodes and edges are written. The first labels with keys are kept until the strings
//! are written; all others, and what strings contain, are read again in the same order.
//!
//! What DevTools and memlab understand in the same way is less than the format allows: no weak edges, no
//! shortcuts, no nodes of other types than these, nothing but synthetic nodes below the first.

mod contents;
mod cuts;
mod edges;
mod garbage;
mod names;
mod nodes;
mod passes;
mod recent;

use std::io::Write;

use rayon::prelude::*;
use serde::Deserialize;

use super::object_set::ObjectSet;
use super::output::{Line, Output};
use base::control::{Control, Phase, Step};
use base::error::Result;
use base::units::ObjectIndex;
use contents::{ContentNames, ContentPass, ContentPiece};
use cuts::{EdgeCuts, ObjectCuts};
use edges::{EdgePiece, Edges, LabelNames, LabelPass, LabelPiece};
use heap::RootKind;
use heap::{ClassNaming, Heap, LabelKind, NamedBy};
use names::Names;
use nodes::{NodePiece, Nodes};
use passes::Memories;
use questions::LoadedHeap;

/// What a heap snapshot shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct HeapSnapshotOptions {
    /// What strings contain, and the keys of maps.
    pub strings: bool,
    /// Garbage too, in a group of its own.
    pub all: bool,
    /// Whether the file of the dump may be mapped. That takes less time; if another process truncates the file
    /// during the export, a signal ends this process.
    pub may_map: bool,
}

impl Default for HeapSnapshotOptions {
    fn default() -> Self {
        Self {
            strings: true,
            all: false,
            may_map: false,
        }
    }
}

/// Numbers of a node.
const NODE_FIELDS: u32 = 7;

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
        classes: class_namings(heap, options),
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
        let mut live = ObjectSet::of(count, |object| heap.is_live_on_heap(object), control)?;
        // Static objects come first.
        let all = (0..count as u32).map(ObjectIndex);
        let statics = all.take_while(|&object| !heap.objects.is_on_heap(object));
        let end = ObjectIndex(statics.count() as u32);
        let reached = heap.dominators.live().iter().copied();
        for object in reached.filter(|&object| object < end) {
            live.insert(object);
        }
        control.check()?;
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
        let is_chosen =
            |object| live.contains(object) || options.all && heap.objects.is_on_heap(object);
        let mut objects = ObjectSet::of(count, is_chosen, control)?;
        let mut chosen = Self {
            live,
            object_count: objects.number()?,
            objects,
            garbage,
            reference_count: 0,
            last_word: None,
        };
        let written = (0..count as u32).into_par_iter().map(ObjectIndex);
        let written = written.filter(|&object| chosen.objects.contains(object));
        let of_objects = written.map(|object| {
            let references = u64::from(chosen.written_references(heap, object));
            (references, last_word(heap, object))
        });
        let (reference_count, last_word) = of_objects.reduce(
            || (0, None),
            |one, other| (one.0 + other.0, one.1.max(other.1)),
        );
        (chosen.reference_count, chosen.last_word) = (reference_count, last_word);
        control.check()?;
        Ok(chosen)
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

/// The highest offset that is the label of a reference of an object.
fn last_word(heap: &Heap, object: ObjectIndex) -> Option<u32> {
    let labels = heap.edges.range(object);
    let labels = labels.filter_map(|place| heap.edges.label(place));
    let words = labels.filter_map(|label| match label.kind() {
        LabelKind::Word(offset) => Some(offset),
        _ => None,
    });
    words.max()
}

/// How references are named, by class slot. Keys are named only with what strings contain.
fn class_namings(heap: &LoadedHeap, options: HeapSnapshotOptions) -> Vec<ClassNaming> {
    let slots = 0..heap.heap().objects.classes.len() as u32;
    let namings = slots.map(|slot| {
        let naming = heap.source().class_naming(slot);
        match naming.by {
            NamedBy::Key if !options.strings => ClassNaming {
                by: NamedBy::Label,
                ..naming
            },
            _ => naming,
        }
    });
    namings.collect()
}

struct Writer<'h> {
    heap: &'h LoadedHeap,
    /// By class slot.
    classes: Vec<ClassNaming>,
    options: HeapSnapshotOptions,
    names: Names,
    chosen: &'h Chosen,
    step: Step<'h>,
}

impl Writer<'_> {
    fn write(&self, output: &mut Output<'_>) -> Result<()> {
        let heap = self.heap.heap();
        let opened = self.heap.source().open_contents(self.options.may_map)?;
        let mut memories = Memories::new(&*opened)?;
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
        self.fixed_nodes(output)?;
        let mut contents = ContentNames::new(heap, self.names.len())?;
        let mut nodes = Nodes {
            cuts: ObjectCuts::new(heap),
            contents: &mut contents,
        };
        passes::run::<NodePiece>(self, &mut nodes, &mut memories, output, &self.step)?;
        output.text("],\n\"edges\":[");
        self.fixed_edges(output)?;
        let references = match self.options.strings {
            true => heap.edges.len(),
            false => 0,
        };
        let mut labels = LabelNames::new(contents.end(), references)?;
        let cuts = || EdgeCuts::new(heap, self.chosen);
        let mut edges = Edges {
            cuts: cuts(),
            labels: &mut labels,
        };
        passes::run::<EdgePiece>(self, &mut edges, &mut memories, output, &self.step)?;
        output.text(
            "],\n\"trace_function_infos\":[],\n\"trace_tree\":[],\n\"samples\":[],\n\"locations\":[],\n\"strings\":[",
        );
        self.names.write(output)?;
        if self.options.strings {
            let pass = ContentPass {
                heap,
                names: &contents,
            };
            let mut cuts_of_objects = ObjectCuts::new(heap);
            passes::run::<ContentPiece>(
                &pass,
                &mut cuts_of_objects,
                &mut memories,
                output,
                &self.step,
            )?;
            output.append(labels.kept())?;
            if !labels.is_all_kept() {
                let pass = LabelPass {
                    writer: self,
                    names: &labels,
                };
                passes::run::<LabelPiece>(&pass, &mut cuts(), &mut memories, output, &self.step)?;
            }
        }
        output.text("]}\n");
        Ok(())
    }

    fn fixed_nodes(&self, output: &mut Output<'_>) -> Result<()> {
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
        let mut line = Line::new();
        for (edges, nth) in fixed.into_iter().flatten().zip(0u32..) {
            // The first names are those of these nodes. Addresses of objects are multiples of 16, above them.
            self.node(&mut line, NodeType::Synthetic, nth, 2 * nth + 1, 0, edges);
            output.line(&mut line, nth > 0)?;
        }
        Ok(())
    }

    /// Whether an object is named by what it contains.
    #[inline]
    fn shows_contents(&self, object: ObjectIndex) -> bool {
        self.options.strings && self.naming(object).is_text
    }

    #[inline]
    fn node(
        &self,
        line: &mut Line,
        node_type: NodeType,
        name: u32,
        id: u32,
        self_size: u32,
        edges: u32,
    ) {
        line.character(b'0');
        line.character(b',');
        line.character(b'0');
        for number in [edges, self_size, id, name, node_type as u32] {
            line.character(b',');
            line.number(number);
        }
    }

    fn fixed_edges(&self, output: &mut Output<'_>) -> Result<()> {
        let garbage = self.chosen.garbage.as_ref();
        let mut line = Line::new();
        self.edge(&mut line, EdgeType::Element, 1, 1);
        output.line(&mut line, false)?;
        if garbage.is_some() {
            self.edge(&mut line, EdgeType::Element, 2, FIXED_NODES);
            output.line(&mut line, true)?;
        }
        for nth in 0..ROOT_KINDS.len() as u32 {
            self.edge(&mut line, EdgeType::Element, nth + 1, nth + 2);
            output.line(&mut line, true)?;
        }
        let roots = self.heap.root_slots();
        for kind in ROOT_KINDS {
            let slots = roots.all().iter().filter(|slot| slot.kind == kind);
            for (slot, nth) in slots.zip(0u32..) {
                let (edge_type, name) = match self.names.root(roots, *slot) {
                    Some(name) => (EdgeType::Property, name),
                    None => (EdgeType::Element, roots.stack_word(*slot).unwrap_or(nth)),
                };
                self.edge(&mut line, edge_type, name, self.chosen.node(slot.object));
                output.line(&mut line, true)?;
            }
        }
        let entries = garbage.iter().flat_map(|found| found.entries.iter());
        for (entry, nth) in entries.zip(0u32..) {
            self.edge(&mut line, EdgeType::Element, nth, self.chosen.node(entry));
            output.line(&mut line, true)?;
        }
        Ok(())
    }

    /// How the references of an object are named.
    #[inline]
    fn naming(&self, object: ObjectIndex) -> ClassNaming {
        self.classes[self.heap.heap().objects.class_slots[object.at()] as usize]
    }

    /// The type and the number of the name that a reference has by its label.
    #[inline]
    fn label_name(&self, class_slot: usize, place: u32) -> (EdgeType, u32) {
        let names = &self.names;
        let label = self.heap.heap().edges.label(place);
        let name = match label.map(|label| label.kind()) {
            Some(LabelKind::TupleElement(nth)) => return (EdgeType::Element, nth),
            Some(LabelKind::Place(nth)) => names.place(class_slot, nth),
            Some(LabelKind::Word(offset)) => names.word(offset),
            Some(LabelKind::FarPlace) => names.far_place,
            Some(LabelKind::Key) => names.any_key,
            Some(LabelKind::Member) => names.any_member,
            _ => names.any_element,
        };
        (EdgeType::Property, name)
    }

    /// There are fewer objects than blocks of 16 bytes, so the numbers of nodes have room.
    #[inline]
    fn edge(&self, line: &mut Line, edge_type: EdgeType, name: u32, node: u32) {
        line.number(node * NODE_FIELDS);
        line.character(b',');
        line.number(name);
        line.character(b',');
        line.number(edge_type as u32);
    }
}
