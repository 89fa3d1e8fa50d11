//! The references of the objects, and the labels of these that contain keys.

use super::super::output::{Line, json_text};
use super::passes::{Sequence, WorkPiece};
use super::pieces::{EdgePieces, PiecePart};
use super::recent::{RecentTexts, Texts};
use super::schema::EdgeType;
use super::writer::Writer;
use base::bits::Bits;
use base::columns;
use base::error::Result;
use base::units::ObjectIndex;
use heap::{ContentReader, EntryLabel, EntryPart, NamedBy, ReferenceName};

/// Labels, and bytes of these, that are looked through for an equal one.
const REMEMBERED: (usize, usize) = (1 << 16, 1 << 21);

/// Bytes of labels that are kept until they are written. Those of the other labels are read again. Few in debug
/// builds, so that tests do both.
const KEPT: usize = if cfg!(debug_assertions) {
    1 << 8
} else {
    3 << 23
};

/// Keys whose labels are found without their text: many maps have the same few static strings as keys.
const REMEMBERED_KEYS: usize = 1 << 10;

/// References of an object with keys that are named at once. What names them stays in the processor's caches.
const AT_ONCE: usize = 64;

/// What was found for keys lately. Each object has one line, by the lower bits of its number.
type ByKey = Vec<Option<(NamingKey, u32)>>;

type NamingKey = (ObjectIndex, EntryPart);

fn line_of((object, _): NamingKey) -> usize {
    object.at() % REMEMBERED_KEYS
}

fn known(by_key: &ByKey, key: NamingKey) -> Option<u32> {
    by_key[line_of(key)]
        .filter(|&(known, _)| known == key)
        .map(|(_, found)| found)
}

/// The numbers of labels with keys.
pub(super) struct LabelNames {
    next: u32,
    recent: RecentTexts,
    by_key: ByKey,
    /// The first labels that got a number of their own, as they are written.
    kept: Vec<u8>,
    /// The references of all other labels that got one, in the order of these.
    firsts: Bits,
    is_all_kept: bool,
}

impl LabelNames {
    /// Numbers from `first` on, for this number of references.
    pub(super) fn new(first: u32, references: usize) -> Result<Self> {
        Ok(Self {
            next: first,
            recent: RecentTexts::new(REMEMBERED.0, REMEMBERED.1),
            by_key: vec![None; REMEMBERED_KEYS],
            kept: Vec::new(),
            firsts: Bits::new(references)?,
            is_all_kept: true,
        })
    }

    /// The first labels, as they are written.
    pub(super) fn kept(&self) -> &[u8] {
        &self.kept
    }

    /// Whether there are no other labels.
    pub(super) fn is_all_kept(&self) -> bool {
        self.is_all_kept
    }

    fn number(&mut self, label: &UnnumberedLabel, texts: &Texts) -> Result<u32> {
        if let Some(key) = label.key
            && let Some(number) = known(&self.by_key, key)
        {
            return Ok(number);
        }
        let (hash, text) = texts.get(label.text);
        let number = match self.recent.find_or_add(hash, text, self.next)? {
            Some(number) => number,
            None => {
                self.keep(label.position, text)?;
                self.next += 1;
                self.next - 1
            }
        };
        if let Some(key) = label.key {
            self.by_key[line_of(key)] = Some((key, number));
        }
        Ok(number)
    }

    /// Keeps the text of a new label, or where it is read again.
    fn keep(&mut self, position: u32, text: &[u8]) -> Result<()> {
        self.is_all_kept &= self.kept.len() + text.len() <= KEPT;
        if !self.is_all_kept {
            self.firsts.insert(position);
            return Ok(());
        }
        if self.kept.is_empty() {
            self.kept = columns::with_capacity(KEPT)?;
        }
        self.kept.extend_from_slice(text);
        Ok(())
    }
}

/// The text of a label, from which its line in the strings is made.
#[derive(Default)]
struct LabelText(String);

impl LabelText {
    /// Adds the line of a label to a text.
    fn add_line(
        &mut self,
        text: &mut Vec<u8>,
        source: ObjectIndex,
        label: EntryLabel,
        memory: &mut dyn ContentReader,
    ) -> Result<()> {
        self.0.clear();
        memory.add_label(source, label, &mut self.0)?;
        text.extend_from_slice(b"\n,\"");
        json_text(text, &self.0);
        text.push(b'"');
        Ok(())
    }
}

/// A label that needs a number.
struct UnnumberedLabel {
    position: u32,
    key: Option<NamingKey>,
    /// Its text, by number.
    text: u32,
    /// The reference, by its position in [`EdgePiece::names`].
    name: u32,
}

/// Some of the references.
#[derive(Default)]
pub(super) struct EdgePiece {
    part: PiecePart,
    /// Of the references that may be named by keys.
    names: Vec<(EdgeType, u32)>,
    labels: Vec<UnnumberedLabel>,
    /// The lines of labels in the strings.
    texts: Texts,
    label: LabelText,
    /// The line of one label.
    line: Vec<u8>,
    /// The texts of keys in this piece.
    by_key: ByKey,
    /// The names of some references.
    found: Vec<ReferenceName>,
    references: u64,
}

impl EdgePiece {
    /// Where the text of a label is.
    fn text(
        &mut self,
        source: ObjectIndex,
        label: EntryLabel,
        memory: &mut dyn ContentReader,
    ) -> Result<u32> {
        let key = label.key_object();
        if let Some(text) = key.and_then(|key| known(&self.by_key, key)) {
            return Ok(text);
        }
        self.line.clear();
        self.label.add_line(&mut self.line, source, label, memory)?;
        let text = self.texts.add([&self.line, &[]])?;
        if let Some(key) = key {
            self.by_key[line_of(key)] = Some((key, text));
        }
        Ok(text)
    }
}

impl EdgePiece {
    /// Adds a name that may depend on a key.
    fn add(
        &mut self,
        writer: &Writer<'_>,
        source: ObjectIndex,
        class_slot: usize,
        position: u32,
        name: ReferenceName,
        memory: &mut dyn ContentReader,
    ) -> Result<()> {
        let name = match known_name(writer, class_slot, position, name) {
            Ok(name) => name,
            Err(label) => {
                let label = UnnumberedLabel {
                    position,
                    key: label.key_object(),
                    text: self.text(source, label, memory)?,
                    name: self.names.len() as u32,
                };
                columns::push(&mut self.labels, label)?;
                // The number follows.
                (EdgeType::Property, 0)
            }
        };
        columns::push(&mut self.names, name)
    }
}

impl WorkPiece for EdgePiece {
    type Pass<'p> = Writer<'p>;

    fn read(&mut self, writer: &Writer<'_>, memory: &mut dyn ContentReader) -> Result<()> {
        let heap = writer.heap.heap();
        self.names.clear();
        self.labels.clear();
        self.texts.clear();
        self.by_key.clear();
        self.by_key.resize(REMEMBERED_KEYS, None);
        let part = std::mem::take(&mut self.part);
        part.each(writer, memory, |source, positions, mut cursor, memory| {
            if writer.naming(source).by != NamedBy::Key {
                return Ok(());
            }
            let slot = heap.objects.class_slots[source.at()] as usize;
            let end = positions.end;
            for start in positions.step_by(AT_ONCE) {
                let positions = start..end.min(start + AT_ONCE as u32);
                let mut found = std::mem::take(&mut self.found);
                found.clear();
                memory.names(source, positions.clone(), &mut cursor, &mut found)?;
                for (position, &name) in positions.zip(&found) {
                    if writer
                        .chosen
                        .is_written(heap, source, heap.edges.target(position))
                    {
                        self.add(writer, source, slot, position, name, memory)?;
                    }
                }
                self.found = found;
            }
            Ok(())
        })?;
        self.part = part;
        Ok(())
    }

    fn write(
        &mut self,
        writer: &Writer<'_>,
        memory: &mut dyn ContentReader,
        text: &mut Vec<u8>,
    ) -> Result<()> {
        let chosen = writer.chosen;
        let heap = writer.heap.heap();
        let mut known = self.names.iter();
        let mut line = Line::new();
        let Self { part, found, .. } = self;
        let mut references = 0;
        part.each(writer, memory, |source, positions, mut cursor, memory| {
            let by = writer.naming(source).by;
            let slot = heap.objects.class_slots[source.at()] as usize;
            references += positions.len() as u64;
            if by == NamedBy::Index {
                found.clear();
                memory.names(source, positions.clone(), &mut cursor, found)?;
            }
            for (nth, position) in positions.enumerate() {
                let target = heap.edges.target(position);
                if !chosen.is_written(heap, source, target) {
                    continue;
                }
                let own_name = match by {
                    NamedBy::Label => Some(writer.label_name(slot, position)),
                    NamedBy::Index => known_name(writer, slot, position, found[nth]).ok(),
                    NamedBy::Key => None,
                };
                let (edge_type, name) = own_name
                    .or_else(|| known.next().copied())
                    .unwrap_or((EdgeType::Property, 0));
                writer.edge(&mut line, edge_type, name, chosen.node(target));
                line.character(b',');
                line.character(b'\n');
                line.append_to(text)?;
            }
            Ok(())
        })?;
        self.references = references;
        Ok(())
    }

    fn units(&self) -> u64 {
        self.references
    }
}

/// The type and the number of a name, unless it is a label that needs a number.
#[inline]
fn known_name(
    writer: &Writer<'_>,
    class_slot: usize,
    position: u32,
    name: ReferenceName,
) -> std::result::Result<(EdgeType, u32), EntryLabel> {
    match name {
        ReferenceName::Index(index) => Ok((EdgeType::Element, index)),
        ReferenceName::Label => Ok(writer.label_name(class_slot, position)),
        ReferenceName::Entry(label) => Err(label),
    }
}

/// Divides and numbers the references.
pub(super) struct EdgeWriter<'h, 'n> {
    pub(super) pieces: EdgePieces<'h>,
    pub(super) labels: &'n mut LabelNames,
}

impl Sequence<EdgePiece> for EdgeWriter<'_, '_> {
    fn next_part(&mut self, piece: &mut EdgePiece, memory: &mut dyn ContentReader) -> Result<bool> {
        let part = self.pieces.next(memory)?;
        let is_part = part.is_some();
        piece.part = part.unwrap_or_default();
        Ok(is_part)
    }

    fn number(&mut self, piece: &mut EdgePiece) -> Result<()> {
        for label in &piece.labels {
            piece.names[label.name as usize].1 = self.labels.number(label, &piece.texts)?;
        }
        Ok(())
    }
}

/// Writes what the numbers of labels stand for.
pub(super) struct LabelPass<'p> {
    pub(super) writer: &'p Writer<'p>,
    pub(super) names: &'p LabelNames,
}

/// Some of the labels.
#[derive(Default)]
pub(super) struct LabelPiece {
    part: PiecePart,
    label: LabelText,
}

impl WorkPiece for LabelPiece {
    type Pass<'p> = LabelPass<'p>;

    fn write(
        &mut self,
        pass: &Self::Pass<'_>,
        memory: &mut dyn ContentReader,
        text: &mut Vec<u8>,
    ) -> Result<()> {
        let writer = pass.writer;
        let firsts = &pass.names.firsts;
        let Self { part, label: line } = self;
        let mut found = Vec::new();
        part.each(writer, memory, |source, positions, mut cursor, memory| {
            let mut next = positions.start;
            for position in firsts.iter_in(positions) {
                memory.skip(source, next..position, &mut cursor)?;
                next = position + 1;
                found.clear();
                memory.names(source, position..next, &mut cursor, &mut found)?;
                if let Some(&ReferenceName::Entry(label)) = found.first() {
                    line.add_line(text, source, label, memory)?;
                }
            }
            Ok(())
        })
    }

    fn units(&self) -> u64 {
        0
    }
}

impl Sequence<LabelPiece> for EdgePieces<'_> {
    fn next_part(
        &mut self,
        piece: &mut LabelPiece,
        memory: &mut dyn ContentReader,
    ) -> Result<bool> {
        let part = self.next(memory)?;
        let is_part = part.is_some();
        piece.part = part.unwrap_or_default();
        Ok(is_part)
    }

    fn number(&mut self, _: &mut LabelPiece) -> Result<()> {
        Ok(())
    }
}
