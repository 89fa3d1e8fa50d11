//! The nodes of the objects.

use std::ops::Range;

use super::super::output::Line;
use super::contents::{self, ContentNames};
use super::passes::{Sequence, WorkPiece};
use super::pieces::ObjectPieces;
use super::recent::Texts;
use super::schema::NodeType;
use super::writer::Writer;
use base::columns;
use base::error::Result;
use base::units::ObjectIndex;
use heap::ContentReader;

/// Some of the nodes.
#[derive(Default)]
pub(super) struct NodePiece {
    objects: Range<u32>,
    /// The objects that are named by what they contain, this, and its numbers.
    strings: Vec<ObjectIndex>,
    texts: Texts,
    numbers: Vec<u32>,
    written: u64,
}

impl WorkPiece for NodePiece {
    type Pass<'p> = Writer<'p>;

    fn read(&mut self, writer: &Writer<'_>, memory: &mut dyn ContentReader) -> Result<()> {
        self.strings.clear();
        self.texts.clear();
        memory.begin(self.objects.clone());
        let objects = writer.chosen.objects.iter_in(self.objects.clone());
        for object in objects.filter(|&object| writer.shows_contents(object)) {
            columns::push(&mut self.strings, object)?;
        }
        contents::add_texts(&mut self.texts, writer.heap.heap(), &self.strings, memory)
    }

    fn write(
        &mut self,
        writer: &Writer<'_>,
        _: &mut dyn ContentReader,
        text: &mut Vec<u8>,
    ) -> Result<()> {
        let heap = writer.heap.heap();
        let mut numbers = self.numbers.iter();
        let mut line = Line::new();
        self.written = 0;
        for object in writer.chosen.objects.iter_in(self.objects.clone()) {
            let number = if writer.shows_contents(object) {
                numbers.next().copied()
            } else {
                None
            };
            let slot = heap.objects.class_slots[object.at()] as usize;
            let is_text = writer.naming(object).is_text;
            let node_type = match (heap.objects.is_on_heap(object), is_text) {
                (false, _) => NodeType::Synthetic,
                (true, true) => NodeType::Text,
                (true, false) => NodeType::Object,
            };
            writer.node(
                &mut line,
                node_type,
                number.unwrap_or_else(|| writer.names.class(slot)),
                writer.ids.of_object(heap, object),
                heap.block_size(object),
                writer.chosen.written_references(heap, object),
            );
            line.character(b',');
            line.character(b'\n');
            line.append_to(text)?;
            self.written += 1;
        }
        Ok(())
    }

    fn units(&self) -> u64 {
        self.written
    }
}

/// Divides and numbers the nodes.
pub(super) struct Nodes<'h, 'n> {
    pub(super) pieces: ObjectPieces<'h>,
    pub(super) contents: &'n mut ContentNames,
}

impl Sequence<NodePiece> for Nodes<'_, '_> {
    fn next_part(&mut self, piece: &mut NodePiece, _: &mut dyn ContentReader) -> Result<bool> {
        piece.objects = self.pieces.next();
        Ok(!piece.objects.is_empty())
    }

    fn number(&mut self, piece: &mut NodePiece) -> Result<()> {
        piece.numbers.clear();
        for (&object, (hash, text)) in piece.strings.iter().zip(piece.texts.iter()) {
            let number = self.contents.number(object, hash, text)?;
            columns::push(&mut piece.numbers, number)?;
        }
        Ok(())
    }
}
