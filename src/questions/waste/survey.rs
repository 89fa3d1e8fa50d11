//! One pass over the memory in address order: it finds the size of every object, the hash of its contents,
//! and the used part of a container's storage.
//!
//! Contents are compared by 96 bits of a keyed hash (SipHash-1-3) of class, size and contents. The keys are random, so
//! that an attacker cannot choose contents with equal hashes. For ten million different strings, the probability that
//! any two of them have equal hashes is below 10⁻¹⁵.

use std::hash::{BuildHasher, Hasher, RandomState};

use rayon::prelude::*;
use siphasher::sip128::{Hasher128, SipHasher13};

use super::Context;
use crate::bits::Bits;
use crate::columns;
use crate::control::Step;
use crate::error::Result;
use crate::questions::memory::{LONG_WINDOW, Payload, Reader, word_at};
use crate::questions::roles::{ARRAY_SIZE, Role, TABLE_SIZE, VIEW_SIZE};
use crate::runtime::objects::HEADER_SIZE;
use crate::std_library::{
    ARRAY_BUFFER, BUCKETS, BUFFER, DATA_START, ENTRIES, ENTRIES_CAPACITY, ENTRIES_COUNT,
    ENTRIES_OFFSET, LENGTH, VIEW_LENGTH,
};
use crate::units::{Address, ObjectIndex};

/// Objects that one task reads.
const CHUNK: usize = 1 << 15;

/// An array, and the bytes of its buffer that it uses.
#[derive(Clone, Copy, Debug)]
pub(super) struct ArrayUse {
    pub(super) array: ObjectIndex,
    pub(super) buffer: ObjectIndex,
    /// Up to the last element; 0 if there is none. The part before the first element counts as used.
    pub(super) used: u32,
}

impl ArrayUse {
    /// Whether it has no elements and no additional fields.
    pub(super) fn is_empty(&self, sizes: &[u32]) -> bool {
        self.used == 0 && sizes[self.array.at()] <= ARRAY_SIZE
    }
}

/// A view, and the bytes of its buffer that it covers.
#[derive(Clone, Copy, Debug)]
pub(super) struct ViewUse {
    pub(super) buffer: ObjectIndex,
    pub(super) start: u32,
    pub(super) length: u32,
    pub(super) view: ObjectIndex,
}

impl ViewUse {
    /// The end of the bytes that it covers.
    pub(super) fn end(&self) -> u64 {
        u64::from(self.start) + u64::from(self.length)
    }

    /// Whether it covers nothing and has no additional fields.
    pub(super) fn is_empty(&self, sizes: &[u32]) -> bool {
        self.length == 0 && sizes[self.view.at()] <= VIEW_SIZE
    }
}

/// A map or a set, and its entries.
#[derive(Clone, Copy, Debug)]
pub(super) struct TableUse {
    pub(super) table: ObjectIndex,
    pub(super) buckets: ObjectIndex,
    pub(super) entries: ObjectIndex,
    capacity: u32,
    /// The entries that are not deleted.
    count: u32,
}

impl TableUse {
    /// The bytes of the entries that are deleted or were never used; `None` if the entries do not fit their
    /// buffer.
    pub(super) fn unused(&self, context: &Context<'_>, sizes: &[u32]) -> Option<u64> {
        let Role::Table(entries) = context.role(self.table) else {
            return None;
        };
        let stride = u64::from(entries.stride);
        let fits = u64::from(self.capacity) * stride <= sizes[self.entries.at()].into();
        (fits && stride > 0).then(|| u64::from(self.capacity - self.count) * stride)
    }

    /// Whether it has no entries and no additional fields.
    pub(super) fn is_empty(&self, sizes: &[u32]) -> bool {
        self.count == 0 && sizes[self.table.at()] <= TABLE_SIZE
    }
}

/// The hash of an object's contents in the upper bits, the object in the lower 32 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct HashedObject(u128);

impl HashedObject {
    pub(super) fn object(self) -> ObjectIndex {
        ObjectIndex(self.0 as u32)
    }

    pub(super) fn is_copy_of(self, other: Self) -> bool {
        self.0 >> 32 == other.0 >> 32
    }
}

/// The results for the live objects.
pub(super) struct Survey {
    /// By object: the size of its payload; 0 for objects that are neither alive nor static strings.
    pub(super) sizes: Vec<u32>,
    /// Strings.
    pub(super) texts: Vec<HashedObject>,
    /// Static arrays, and buffers that do not belong to a container.
    pub(super) buffers: Vec<HashedObject>,
    /// The containers in each run of objects.
    pub(super) containers: Vec<Containers>,
    /// The number of live objects of unknown classes.
    pub(super) unknown: u64,
}

/// The containers in a run of objects.
#[derive(Default)]
pub(super) struct Containers {
    pub(super) arrays: Vec<ArrayUse>,
    pub(super) views: Vec<ViewUse>,
    pub(super) tables: Vec<TableUse>,
    pub(super) empty_static_arrays: Vec<ObjectIndex>,
    /// Objects in which other containers, or objects of unknown classes, may store their contents.
    other_storage: Vec<ObjectIndex>,
}

/// What a task found in a run of objects.
#[derive(Default)]
struct Found {
    texts: Vec<HashedObject>,
    static_arrays: Vec<HashedObject>,
    containers: Containers,
    unknown: u64,
}

impl Found {
    /// Takes what was found, each list in memory of exactly its size. The room for the next run stays.
    fn take(&mut self) -> Result<Self> {
        let Self {
            texts,
            static_arrays,
            containers,
            unknown,
        } = self;
        Ok(Self {
            texts: taken(texts)?,
            static_arrays: taken(static_arrays)?,
            containers: Containers {
                arrays: taken(&mut containers.arrays)?,
                views: taken(&mut containers.views)?,
                tables: taken(&mut containers.tables)?,
                empty_static_arrays: taken(&mut containers.empty_static_arrays)?,
                other_storage: taken(&mut containers.other_storage)?,
            },
            unknown: std::mem::take(unknown),
        })
    }
}

fn taken<T: Copy>(list: &mut Vec<T>) -> Result<Vec<T>> {
    let taken = columns::collected(list.iter().copied())?;
    list.clear();
    Ok(taken)
}

/// The keys of the hashes.
struct Keys(u64, u64);

impl Keys {
    fn random() -> Self {
        let random = RandomState::new();
        Self(random.hash_one(0), random.hash_one(1))
    }
}

impl Context<'_> {
    pub(super) fn survey(&self, step: &Step<'_>) -> Result<Survey> {
        let objects = &self.heap.heap.objects;
        let keys = &Keys::random();
        let mut sizes = columns::repeated_in_parallel(0, objects.len())?;
        // Static objects come first. There are few of them, and one thread finds out which of them overlap.
        let statics = objects.shallow_sizes.partition_point(|&size| size == 0);
        let (static_sizes, heap_sizes) = sizes.split_at_mut(statics);
        let start = || Run {
            context: self,
            keys,
            reader: Reader::sequential(self.heap),
            statics_end: 0,
            found: Found::default(),
        };
        let mut run = start();
        for (nth, size) in static_sizes.iter_mut().enumerate() {
            if nth.is_multiple_of(CHUNK) {
                step.advance(0)?;
            }
            *size = run.visit(ObjectIndex(nth as u32))?;
        }
        let mut runs = vec![run.found];
        let of_heap = heap_sizes
            .par_chunks_mut(CHUNK)
            .enumerate()
            .map_init(start, |run, (nth, sizes)| {
                let first = (statics + nth * CHUNK) as u32;
                let last = first + sizes.len() as u32 - 1;
                run.reader.stop_after(ObjectIndex(last));
                for (object, size) in (first..).map(ObjectIndex).zip(&mut *sizes) {
                    *size = run.visit(object)?;
                }
                step.advance(sizes.len() as u64)?;
                run.found.take()
            })
            .collect::<Result<Vec<_>>>()?;
        runs.extend(of_heap);
        let mut texts = columns::with_capacity(runs.iter().map(|run| run.texts.len()).sum())?;
        let mut buffers = Vec::new();
        for run in &mut runs {
            texts.append(&mut run.texts);
            columns::extend(&mut buffers, &run.static_arrays)?;
        }
        let unknown = runs.iter().map(|run| run.unknown).sum();
        let containers: Vec<_> = runs.into_iter().map(|run| run.containers).collect();
        self.add_buffers(&mut buffers, &containers, &sizes, keys, step)?;
        Ok(Survey {
            sizes,
            texts,
            buffers,
            containers,
            unknown,
        })
    }

    /// Adds the live buffers in which no container stores its contents.
    fn add_buffers(
        &self,
        buffers: &mut Vec<HashedObject>,
        containers: &[Containers],
        sizes: &[u32],
        keys: &Keys,
        step: &Step<'_>,
    ) -> Result<()> {
        let objects = &self.heap.heap.objects;
        let mut is_storage = Bits::new(objects.len())?;
        for of in containers {
            let arrays = of.arrays.iter().map(|of| of.buffer);
            let views = of.views.iter().map(|of| of.buffer);
            let tables = of.tables.iter().flat_map(|of| [of.buckets, of.entries]);
            let others = of.other_storage.iter().copied();
            for buffer in arrays.chain(views).chain(tables).chain(others) {
                is_storage.insert(buffer.0);
            }
        }
        let found = objects.class_slots.par_chunks(CHUNK).enumerate();
        let found = found.map(|(nth, slots)| {
            let first = (nth * CHUNK) as u32;
            let mut reader = Reader::sequential(self.heap);
            reader.stop_after(ObjectIndex(first + slots.len() as u32 - 1));
            let mut found = Vec::new();
            for (object, &slot) in (first..).map(ObjectIndex).zip(slots) {
                let is_wanted = self.roles[slot as usize] == Role::Buffer
                    && !is_storage.contains(object.0)
                    && self.is_live(object);
                if is_wanted {
                    let payload = reader.payload(self.heap.heap.address(object).0)?;
                    // The sizes of static objects that overlap others are 0.
                    if payload.size == sizes[object.at()] {
                        let buffer = self.hashed(object, payload, &mut reader, keys)?;
                        columns::push(&mut found, buffer)?;
                    }
                }
            }
            step.advance(0)?;
            Ok(found)
        });
        for found in found.collect::<Result<Vec<_>>>()? {
            columns::extend(buffers, &found)?;
        }
        Ok(())
    }

    /// The buffer to which a word refers.
    fn buffer(&self, word: Option<u32>) -> Option<ObjectIndex> {
        let objects = &self.heap.heap.objects;
        let buffer = objects.index.get(Address(word?))?;
        (self.heap.class_id(buffer) == Some(ARRAY_BUFFER)).then_some(buffer)
    }

    pub(super) fn is_live(&self, object: ObjectIndex) -> bool {
        match self.heap.heap.objects.is_on_heap(object) {
            true => self.heap.heap.retained_size(object) != 0,
            false => self.live.position(object).is_some(),
        }
    }

    fn hashed(
        &self,
        object: ObjectIndex,
        payload: Payload,
        reader: &mut Reader<'_>,
        keys: &Keys,
    ) -> Result<HashedObject> {
        let mut hasher = SipHasher13::new_with_keys(keys.0, keys.1);
        let class = self.heap.heap.objects.class_slots[object.at()];
        hasher.write_u64(u64::from(class) << 32 | u64::from(payload.size));
        let mut offset = 0;
        while offset < payload.size {
            hasher.write(reader.part(payload, offset, LONG_WINDOW)?);
            offset = offset.saturating_add(LONG_WINDOW);
        }
        let hash = hasher.finish128().as_u128();
        Ok(HashedObject(hash >> 32 << 32 | u128::from(object.0)))
    }
}

/// The state of one task.
struct Run<'c> {
    context: &'c Context<'c>,
    keys: &'c Keys,
    reader: Reader<'c>,
    /// The end of the last static object whose contents were read.
    statics_end: u64,
    found: Found,
}

impl Run<'_> {
    /// Adds the facts about an object, and returns the size of its payload.
    fn visit(&mut self, object: ObjectIndex) -> Result<u32> {
        let context = self.context;
        let heap = &context.heap.heap;
        let role = context.role(object);
        let is_static = !heap.objects.is_on_heap(object);
        // Code may refer to a static string although no object does.
        let is_literal = is_static && role == Role::Text;
        if !is_literal && !context.is_live(object) {
            return Ok(0);
        }
        let payload = self.reader.payload(heap.address(object).0)?;
        if is_static && !self.starts_after_last(payload) {
            return Ok(0);
        }
        match role {
            Role::Text => {
                let text = context.hashed(object, payload, &mut self.reader, self.keys)?;
                columns::push(&mut self.found.texts, text)?;
            }
            Role::StaticArray => {
                let array = context.hashed(object, payload, &mut self.reader, self.keys)?;
                columns::push(&mut self.found.static_arrays, array)?;
                if payload.size == 0 && !is_static {
                    columns::push(&mut self.found.containers.empty_static_arrays, object)?;
                }
            }
            Role::Array(element) => self.visit_array(object, payload, element)?,
            Role::View => self.visit_view(object, payload)?,
            Role::Table(_) => self.visit_table(object, payload)?,
            Role::Unknown => {
                self.found.unknown += 1;
                let edges = &heap.edges;
                for place in edges.range(object) {
                    let storage = &mut self.found.containers.other_storage;
                    columns::push(storage, edges.target(place))?;
                }
            }
            Role::Buffer | Role::Other => {}
        }
        Ok(payload.size)
    }

    /// Whether a static object begins at the end of the last one, or later. Data that looks like a static
    /// object by chance may overlap others, and its contents are not read a second time.
    fn starts_after_last(&mut self, payload: Payload) -> bool {
        let start = u64::from(payload.address - HEADER_SIZE);
        let is_after = start >= self.statics_end;
        if is_after {
            self.statics_end = u64::from(payload.address) + u64::from(payload.size);
        }
        is_after
    }

    fn visit_array(&mut self, array: ObjectIndex, payload: Payload, element: u32) -> Result<()> {
        let fields = self.reader.part(payload, 0, ARRAY_SIZE)?;
        let word = |offset| word_at(fields, offset as usize);
        let (Some(address), Some(start), Some(length)) =
            (word(BUFFER), word(DATA_START), word(LENGTH))
        else {
            return Ok(());
        };
        let Some(buffer) = self.context.buffer(Some(address)) else {
            return Ok(());
        };
        let Some(start) = start.checked_sub(address) else {
            return columns::push(&mut self.found.containers.other_storage, buffer);
        };
        columns::push(
            &mut self.found.containers.arrays,
            ArrayUse {
                array,
                buffer,
                used: match length {
                    0 => 0,
                    length => start.saturating_add(length.saturating_mul(element)),
                },
            },
        )
    }

    fn visit_view(&mut self, view: ObjectIndex, payload: Payload) -> Result<()> {
        let fields = self.reader.part(payload, 0, VIEW_SIZE)?;
        let word = |offset| word_at(fields, offset as usize);
        let (Some(address), Some(start), Some(length)) =
            (word(BUFFER), word(DATA_START), word(VIEW_LENGTH))
        else {
            return Ok(());
        };
        let Some(buffer) = self.context.buffer(Some(address)) else {
            return Ok(());
        };
        let Some(start) = start.checked_sub(address) else {
            return columns::push(&mut self.found.containers.other_storage, buffer);
        };
        columns::push(
            &mut self.found.containers.views,
            ViewUse {
                buffer,
                start,
                length,
                view,
            },
        )
    }

    fn visit_table(&mut self, table: ObjectIndex, payload: Payload) -> Result<()> {
        let fields = self.reader.part(payload, 0, TABLE_SIZE)?;
        let word = |offset| word_at(fields, offset as usize);
        let (buckets, entries) = (word(BUCKETS), word(ENTRIES));
        let numbers = [ENTRIES_CAPACITY, ENTRIES_OFFSET, ENTRIES_COUNT].map(word);
        let found = &mut self.found.containers;
        match (
            [buckets, entries].map(|word| self.context.buffer(word)),
            numbers,
        ) {
            ([Some(buckets), Some(entries)], [Some(capacity), Some(used), Some(count)])
                if count <= used && used <= capacity =>
            {
                let table = TableUse {
                    table,
                    buckets,
                    entries,
                    capacity,
                    count,
                };
                columns::push(&mut found.tables, table)
            }
            (buffers, _) => buffers
                .into_iter()
                .flatten()
                .try_for_each(|buffer| columns::push(&mut found.other_storage, buffer)),
        }
    }
}
