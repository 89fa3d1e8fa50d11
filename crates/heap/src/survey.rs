//! What objects contain, as far as `waste` compares it: equal contents, and the used part of a container's storage.
//! A [`Source`](super::Source) fills it in.

use base::columns;
use base::error::Result;
use base::units::ObjectIndex;
use base::warning::Warning;

/// The results for the live objects.
#[derive(Default)]
pub struct Survey {
    /// Strings.
    pub texts: Vec<HashedObject>,
    /// What else the memory shows; `None` for a heap without memory.
    pub memory: Option<MemorySurvey>,
    /// What the results lack.
    pub notes: Vec<Warning>,
}

/// The results that need the memory of the heap.
#[derive(Default)]
pub struct MemorySurvey {
    /// By object: the size of its payload; 0 for objects that are neither alive nor static strings.
    pub sizes: Vec<u32>,
    /// Static arrays, and buffers that do not belong to a container.
    pub buffers: Vec<HashedObject>,
    /// The containers in each run of objects.
    pub containers: Vec<Containers>,
    /// The sizes of containers.
    pub layout: ContainerLayout,
}

/// The sizes of containers without additional fields, and those of entries.
#[derive(Default)]
pub struct ContainerLayout {
    /// Of the fields of an array.
    pub array: u32,
    /// Of the fields of a view.
    pub view: u32,
    /// Of the fields of a map or a set.
    pub table: u32,
    /// By class slot: the bytes from one entry to the next; 0 for classes that are no maps or sets.
    pub strides: Vec<u32>,
}

/// The containers in a run of objects.
#[derive(Default)]
pub struct Containers {
    /// Arrays.
    pub arrays: Vec<ArrayUse>,
    /// Views.
    pub views: Vec<ViewUse>,
    /// Maps and sets.
    pub tables: Vec<TableUse>,
    /// Static arrays without elements.
    pub empty_static_arrays: Vec<ObjectIndex>,
    /// Objects in which other containers, or objects of unknown classes, may store their contents.
    pub other_storage: Vec<ObjectIndex>,
}

impl Containers {
    /// Takes all, each list in memory of exactly its size. The room for others stays.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`](base::Error::OutOfMemory).
    pub fn take(&mut self) -> Result<Self> {
        Ok(Self {
            arrays: taken(&mut self.arrays)?,
            views: taken(&mut self.views)?,
            tables: taken(&mut self.tables)?,
            empty_static_arrays: taken(&mut self.empty_static_arrays)?,
            other_storage: taken(&mut self.other_storage)?,
        })
    }

    /// The objects in which containers store their contents.
    pub fn storage(&self) -> impl Iterator<Item = ObjectIndex> {
        let arrays = self.arrays.iter().map(|array| array.buffer);
        let views = self.views.iter().map(|view| view.buffer);
        let tables = self
            .tables
            .iter()
            .flat_map(|table| [table.buckets, table.entries]);
        let others = self.other_storage.iter().copied();
        arrays.chain(views).chain(tables).chain(others)
    }
}

/// Takes the values of a list, in memory of exactly their size. The room of the list stays.
///
/// # Errors
/// [`Error::OutOfMemory`](base::Error::OutOfMemory).
pub fn taken<T: Copy>(list: &mut Vec<T>) -> Result<Vec<T>> {
    let taken = columns::collected(list.iter().copied())?;
    list.clear();
    Ok(taken)
}

/// An array, and the bytes of its buffer that it uses.
#[derive(Clone, Copy, Debug)]
pub struct ArrayUse {
    /// The array; its buffer, if the array is a variable and no object.
    pub array: ObjectIndex,
    /// Its buffer.
    pub buffer: ObjectIndex,
    /// Up to the last element; 0 if there is none. The part before the first element counts as used.
    pub used: u32,
    /// The references to the buffer that are the array's own.
    pub references: u32,
    /// The roots that are the array's own: 1 if it is a variable.
    pub roots: u32,
}

impl ArrayUse {
    /// Whether it has no elements and no additional fields.
    pub fn is_empty(&self, survey: &MemorySurvey) -> bool {
        self.used == 0 && survey.sizes[self.array.at()] <= survey.layout.array
    }
}

/// A view, and the bytes of its buffer that it covers.
#[derive(Clone, Copy, Debug)]
pub struct ViewUse {
    /// Its buffer.
    pub buffer: ObjectIndex,
    /// Where the bytes begin in the buffer.
    pub start: u32,
    /// Their number.
    pub length: u32,
    /// The view.
    pub view: ObjectIndex,
}

impl ViewUse {
    /// The end of the bytes that it covers.
    pub fn end(&self) -> u64 {
        u64::from(self.start) + u64::from(self.length)
    }

    /// Whether it covers nothing and has no additional fields.
    pub fn is_empty(&self, survey: &MemorySurvey) -> bool {
        self.length == 0 && survey.sizes[self.view.at()] <= survey.layout.view
    }
}

/// A map or a set, and its entries.
#[derive(Clone, Copy, Debug)]
pub struct TableUse {
    /// The map or the set.
    pub table: ObjectIndex,
    /// Its buckets.
    pub buckets: ObjectIndex,
    /// The buffer with its entries.
    pub entries: ObjectIndex,
    /// The entries for which there is room.
    pub capacity: u32,
    /// The entries that are not deleted.
    pub count: u32,
}

impl TableUse {
    /// The bytes of the entries that are deleted or were never used; `None` if the entries do not fit their
    /// buffer. `class_slot` is that of the table.
    pub fn unused(&self, class_slot: u32, survey: &MemorySurvey) -> Option<u64> {
        let strides = &survey.layout.strides;
        let stride = u64::from(strides.get(class_slot as usize).copied()?);
        let room = u64::from(survey.sizes[self.entries.at()]);
        let fits = u64::from(self.capacity) * stride <= room;
        (fits && stride > 0).then(|| u64::from(self.capacity - self.count) * stride)
    }

    /// Whether it has no entries and no additional fields.
    pub fn is_empty(&self, survey: &MemorySurvey) -> bool {
        self.count == 0 && survey.sizes[self.table.at()] <= survey.layout.table
    }
}

/// What stands for an object's contents in the upper bits, the object in the lower 32 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct HashedObject(u128);

impl HashedObject {
    /// An object whose contents the upper 96 bits of `contents` stand for.
    pub fn new(contents: u128, object: ObjectIndex) -> Self {
        Self(contents >> 32 << 32 | u128::from(object.0))
    }

    /// The object.
    pub fn object(self) -> ObjectIndex {
        ObjectIndex(self.0 as u32)
    }

    /// Whether the contents are the same.
    pub fn is_copy_of(self, other: Self) -> bool {
        self.0 >> 32 == other.0 >> 32
    }
}
