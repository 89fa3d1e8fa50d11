//! The whole snapshot, part by part.

use std::io::Write;

use super::super::output::{Line, Output};
use super::chosen::Chosen;
use super::contents::{ContentNames, ContentPass, ContentPiece};
use super::edges::{EdgePiece, EdgeWriter, LabelNames, LabelPass, LabelPiece};
use super::names::NumberedNames;
use super::nodes::{NodePiece, Nodes};
use super::object_ids::ObjectIds;
use super::options::HeapSnapshotOptions;
use super::passes::{self, Memories};
use super::pieces::{EdgePieces, ObjectPieces};
use super::schema::{EdgeType, FIXED_NODES, META, NodeType, ROOT_KINDS, fixed_id};
use super::writer::{Writer, class_namings};
use base::control::{Control, Phase};
use base::error::Result;
use heap::{NoContents, RootKind};
use questions::LoadedHeap;

/// Writes a heap.
///
/// # Errors
/// As [`LoadedHeap::export`].
pub(in crate::exports) fn write(
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
        ids: ObjectIds::of(heap.heap()),
        options,
        names: NumberedNames::new(heap, chosen.last_word)?,
        chosen: &chosen,
        step,
    };
    let mut output = Output::new(out)?;
    write_parts(&writer, &mut output)?;
    output.flush()
}

/// Writes the nodes, the edges and the strings, in the order of the file.
fn write_parts(writer: &Writer<'_>, output: &mut Output<'_>) -> Result<()> {
    let heap = writer.heap.heap();
    let opened = match writer.heap.source().all_contents() {
        Some(contents) => contents.open(writer.options.may_map)?,
        None => Box::new(NoContents),
    };
    let mut memories = Memories::new(&*opened)?;
    let roots = writer.heap.root_slots().all().len() as u64;
    let garbage = writer.chosen.garbage.as_ref();
    let fixed_edges = 1
        + ROOT_KINDS.len() as u64
        + roots
        + garbage.map_or(0, |garbage| 1 + u64::from(garbage.entry_count));
    output.text(r#"{"snapshot":{"meta":"#);
    output.text(META);
    output.text(r#","node_count":"#);
    output.number(writer.chosen.fixed_nodes() + writer.chosen.object_count);
    output.text(r#","edge_count":"#);
    output.number(fixed_edges + writer.chosen.reference_count);
    output.text(",\"trace_function_count\":0},\n\"nodes\":[");
    write_fixed_nodes(writer, output)?;
    let mut contents = ContentNames::new(heap, writer.names.len())?;
    let mut nodes = Nodes {
        pieces: ObjectPieces::new(heap),
        contents: &mut contents,
    };
    passes::run::<NodePiece>(writer, &mut nodes, &mut memories, output, &writer.step)?;
    output.text("],\n\"edges\":[");
    write_fixed_edges(writer, output)?;
    let references = if writer.options.strings {
        heap.edges.len()
    } else {
        0
    };
    let mut labels = LabelNames::new(contents.end(), references)?;
    let pieces = || EdgePieces::new(heap, writer.chosen);
    let mut edges = EdgeWriter {
        pieces: pieces(),
        labels: &mut labels,
    };
    passes::run::<EdgePiece>(writer, &mut edges, &mut memories, output, &writer.step)?;
    output.text(
        "],\n\"trace_function_infos\":[],\n\"trace_tree\":[],\n\"samples\":[],\n\"locations\":[],\n\"strings\":[",
    );
    writer.names.write(output)?;
    if writer.options.strings {
        let pass = ContentPass {
            heap,
            names: &contents,
        };
        let mut object_pieces = ObjectPieces::new(heap);
        passes::run::<ContentPiece>(
            &pass,
            &mut object_pieces,
            &mut memories,
            output,
            &writer.step,
        )?;
        output.append(labels.kept())?;
        if !labels.is_all_kept() {
            let pass = LabelPass {
                writer,
                names: &labels,
            };
            passes::run::<LabelPiece>(&pass, &mut pieces(), &mut memories, output, &writer.step)?;
        }
    }
    output.text("]}\n");
    Ok(())
}

/// Writes the nodes in front of the objects.
fn write_fixed_nodes(writer: &Writer<'_>, output: &mut Output<'_>) -> Result<()> {
    let slots = writer.heap.root_slots().all();
    let of_kind = |kind| slots.iter().filter(|slot| slot.kind == kind).count() as u32;
    let garbage = writer.chosen.garbage.as_ref();
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
        // The first names are those of these nodes.
        writer.node(&mut line, NodeType::Synthetic, nth, fixed_id(nth), 0, edges);
        output.line(&mut line, nth > 0)?;
    }
    Ok(())
}

/// Writes the references of the nodes in front of the objects.
fn write_fixed_edges(writer: &Writer<'_>, output: &mut Output<'_>) -> Result<()> {
    let garbage = writer.chosen.garbage.as_ref();
    let mut line = Line::new();
    writer.edge(&mut line, EdgeType::Element, 1, 1);
    output.line(&mut line, false)?;
    if garbage.is_some() {
        writer.edge(&mut line, EdgeType::Element, 2, FIXED_NODES);
        output.line(&mut line, true)?;
    }
    for nth in 0..ROOT_KINDS.len() as u32 {
        writer.edge(&mut line, EdgeType::Element, nth + 1, nth + 2);
        output.line(&mut line, true)?;
    }
    let roots = writer.heap.root_slots();
    for kind in ROOT_KINDS {
        let slots = roots.all().iter().filter(|slot| slot.kind == kind);
        for (slot, nth) in slots.zip(0u32..) {
            let (edge_type, name) = match writer.names.root(roots, *slot) {
                Some(name) => (EdgeType::Property, name),
                None => (EdgeType::Element, roots.stack_word(*slot).unwrap_or(nth)),
            };
            writer.edge(&mut line, edge_type, name, writer.chosen.node(slot.object));
            output.line(&mut line, true)?;
        }
    }
    let entries = garbage.iter().flat_map(|found| found.entries.iter());
    for (entry, nth) in entries.zip(0u32..) {
        writer.edge(&mut line, EdgeType::Element, nth, writer.chosen.node(entry));
        output.line(&mut line, true)?;
    }
    Ok(())
}
