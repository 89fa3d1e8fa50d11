//! The references of an object, as plain offsets and rules for containers. The scan of the heap uses this
//! form.

/// Where the references of an object of some class are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReferenceLayout {
    /// Offsets in the payload of words that are references, ascending, each once.
    pub offsets: Vec<u32>,
    /// Other references.
    pub contents: ContentReferences,
}

/// References whose offset depends on the object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ContentReferences {
    /// None: the offsets are complete.
    #[default]
    Fixed,
    /// `Array<T>`: `length_` (at 12) words from `dataStart` (at 4), inside the buffer at 0.
    Array,
    /// `StaticArray<T>`: every word of the payload.
    StaticArray,
    /// `Map<K,V>` and `Set<K>`: `entriesOffset` (at 16) entries in the buffer at 8.
    Entries(EntryLayout),
    /// `~lib/tuple/SmallTuple`: a bitmap in the last 8 bytes says which words are references.
    Tuple,
    /// The visitor of the class decides by values, or follows other memory: it was run on each object. The offsets are
    /// those of fields that it may visit.
    Visited,
    /// Nothing is known: every word of the object and of its buffers may be a reference.
    Unknown,
}

/// How a map or a set lays out one entry in its entries buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EntryLayout {
    /// Bytes from one entry to the next.
    pub stride: u32,
    /// Offset of `taggedNext`, whose bit 0 marks a deleted entry.
    pub tagged_next: u32,
    /// Offset of the key, if it is a reference.
    pub key: Option<u32>,
    /// Offset of the value, if it is a reference.
    pub value: Option<u32>,
    /// Whether the entries are those of a set.
    pub is_set: bool,
}

/// A key or a value: its size, and whether it is a reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EntrySlot {
    /// Bytes; fields are aligned to their size.
    pub size: u32,
    /// Whether it refers to a managed object.
    pub is_reference: bool,
}

impl EntryLayout {
    /// The layout of `MapEntry<K,V>` (with a value) or `SetEntry<K>` (without).
    ///
    /// The entry is laid out as a class, then its extent is rounded up to the widest of key,
    /// value and pointer: `taggedNext` is not always at the end of the stride.
    ///
    /// ```
    /// use assemblyscript::runtime::layout::{EntryLayout, EntrySlot};
    ///
    /// // Map<Ref, i64>: key at 0, value at 8, taggedNext at 16, the next entry at 24.
    /// let reference = EntrySlot { size: 4, is_reference: true };
    /// let wide = EntrySlot { size: 8, is_reference: false };
    /// let layout = EntryLayout::new(reference, Some(wide));
    /// assert_eq!((layout.tagged_next, layout.stride), (16, 24));
    /// assert_eq!((layout.key, layout.value), (Some(0), None));
    /// ```
    pub fn new(key: EntrySlot, value: Option<EntrySlot>) -> Self {
        const POINTER: u32 = 4;
        let mut end = key.size;
        let mut widest = key.size.max(POINTER);
        let value_offset = value.map(|value| {
            let offset = end.next_multiple_of(value.size.max(1));
            end = offset + value.size;
            widest = widest.max(value.size);
            offset
        });
        let tagged_next = end.next_multiple_of(POINTER);
        Self {
            stride: (tagged_next + POINTER).next_multiple_of(widest),
            tagged_next,
            key: key.is_reference.then_some(0),
            is_set: value.is_none(),
            value: value_offset.filter(|_| value.is_some_and(|value| value.is_reference)),
        }
    }
}

impl ReferenceLayout {
    /// A class whose objects refer to nothing.
    pub fn pointer_free() -> Self {
        Self::default()
    }

    /// A class of which nothing is known.
    pub fn unknown() -> Self {
        Self::new(Vec::new(), ContentReferences::Unknown)
    }

    /// A layout from offsets in any order and number.
    pub fn new(mut offsets: Vec<u32>, contents: ContentReferences) -> Self {
        offsets.sort_unstable();
        offsets.dedup();
        Self { offsets, contents }
    }

    /// The possible references of an object that is of one class or another.
    pub fn or(self, other: Self) -> Self {
        let contents = if self.contents == other.contents {
            self.contents
        } else {
            ContentReferences::Unknown
        };
        Self::new([self.offsets, other.offsets].concat(), contents)
    }

    /// Whether objects of this class never refer to anything.
    pub fn is_pointer_free(&self) -> bool {
        self.offsets.is_empty() && self.contents == ContentReferences::Fixed
    }
}
