//! Reads the contents of all objects, on several threads: for exports, which write all of them.

use std::ops::Range;

use base::error::Result;
use base::units::ObjectIndex;

/// How references from the objects of a class are named, and what their contents are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ClassNaming {
    /// Whether its objects are strings.
    pub is_text: bool,
    /// The number of references at fixed offsets, whose names are their own, which labels count.
    pub fields: u32,
    /// What else names its references.
    pub by: NamedBy,
}

/// What names the references of an object beside their labels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NamedBy {
    /// Nothing.
    #[default]
    Label,
    /// Indexes of elements.
    Index,
    /// Keys of entries.
    Key,
}

/// The name of a reference.
#[derive(Clone, Copy, Debug)]
pub enum ReferenceName {
    /// Its label.
    Label,
    /// An index.
    Index(u32),
    /// The key of an entry.
    Entry(EntryLabel),
}

/// A label with the key of an entry.
#[derive(Clone, Copy, Debug)]
pub struct EntryLabel {
    /// What the reference is in the entry.
    pub part: EntryPart,
    /// The key of the entry.
    pub key: EntryKey,
}

impl EntryLabel {
    /// The object that is the key, and what is named by it. Equal ones have the same text.
    pub fn key_object(self) -> Option<(ObjectIndex, EntryPart)> {
        match self.key {
            EntryKey::Object(object) => Some((object, self.part)),
            EntryKey::Bytes(_) | EntryKey::Number(_) => None,
        }
    }
}

/// What a reference of an entry is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryPart {
    /// A key of a map.
    Key,
    /// A member of a set.
    Member,
    /// A value of a map.
    Value,
}

/// The key of an entry.
#[derive(Clone, Copy, Debug)]
pub enum EntryKey {
    /// An object.
    Object(ObjectIndex),
    /// A value, in the form that the class of the map or set says.
    Bytes([u8; 16]),
    /// The number of a member that has no better name.
    Number(u32),
}

/// How far the contents of an object are read. The default is their start; what else the numbers mean is for the
/// reader.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cursor {
    /// What is being read.
    pub state: u32,
    /// What is next.
    pub next: u64,
    /// Where it begins.
    pub start: u32,
    /// How much it is.
    pub count: u32,
}

/// What is shown of a string.
#[derive(Clone, Copy, Debug)]
pub struct ShownText<'m> {
    /// Its first code units, little-endian.
    pub units: &'m [u8],
    /// The size of all of it in bytes.
    pub size: u32,
}

/// Takes what a string contains.
pub type TextSink<'t> = dyn FnMut(ObjectIndex, ShownText<'_>) -> Result<()> + 't;

/// Contents that are open for reading.
pub trait OpenedContents: Sync {
    /// One of this number of readers, which share the memory for what they keep.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`](base::Error::OutOfMemory).
    fn reader(&self, readers: usize) -> Result<Box<dyn ContentReader + '_>>;

    /// Whether what was read without copying it was the contents. To be asked after it was used.
    ///
    /// # Errors
    /// [`HeapError::DumpChanged`](crate::HeapError::DumpChanged), [`Error::Io`](base::Error::Io).
    fn check(&self) -> Result<()> {
        Ok(())
    }
}

/// Reads contents. Errors are those of [`ObjectReader::label`](super::ObjectReader::label).
pub trait ContentReader: Send {
    /// Begins with a range of objects. Reading ahead ends where it ends: what comes after it is for another
    /// reader.
    fn begin(&mut self, objects: Range<u32>);

    /// Prefetches memory for the names of an object's references.
    fn prefetch(&mut self, object: ObjectIndex);

    /// What these strings contain, each cut after `most` bytes.
    ///
    /// # Errors
    /// Those of reading, and those of `sink`.
    fn texts(&mut self, strings: &[ObjectIndex], most: u32, sink: &mut TextSink<'_>) -> Result<()>;

    /// The names of some references of an object, which follow those up to the cursor.
    ///
    /// # Errors
    /// Those of reading.
    fn names(
        &mut self,
        source: ObjectIndex,
        positions: Range<u32>,
        cursor: &mut Cursor,
        into: &mut Vec<ReferenceName>,
    ) -> Result<()>;

    /// As [`names`](Self::names), without making names.
    ///
    /// # Errors
    /// Those of reading.
    fn skip(
        &mut self,
        source: ObjectIndex,
        positions: Range<u32>,
        cursor: &mut Cursor,
    ) -> Result<()>;

    /// Adds the text of a label of an object's reference.
    ///
    /// # Errors
    /// Those of reading.
    fn add_label(
        &mut self,
        source: ObjectIndex,
        label: EntryLabel,
        text: &mut String,
    ) -> Result<()>;
}

/// For a source whose references have no names beside their labels, and which has no strings.
#[derive(Clone, Copy, Debug)]
pub struct NoContents;

impl OpenedContents for NoContents {
    fn reader(&self, _: usize) -> Result<Box<dyn ContentReader + '_>> {
        Ok(Box::new(Self))
    }
}

impl ContentReader for NoContents {
    fn begin(&mut self, _: Range<u32>) {}

    fn prefetch(&mut self, _: ObjectIndex) {}

    fn texts(&mut self, _: &[ObjectIndex], _: u32, _: &mut TextSink<'_>) -> Result<()> {
        Ok(())
    }

    fn names(
        &mut self,
        _: ObjectIndex,
        positions: Range<u32>,
        _: &mut Cursor,
        into: &mut Vec<ReferenceName>,
    ) -> Result<()> {
        into.extend(positions.map(|_| ReferenceName::Label));
        Ok(())
    }

    fn skip(&mut self, _: ObjectIndex, _: Range<u32>, _: &mut Cursor) -> Result<()> {
        Ok(())
    }

    fn add_label(&mut self, _: ObjectIndex, _: EntryLabel, _: &mut String) -> Result<()> {
        Ok(())
    }
}
