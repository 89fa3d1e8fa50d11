//! One pass over the memory in address order: it finds the size of every object, the hash of its contents,
//! and the used part of a container's storage.
//!
//! Contents are compared by 96 bits of a keyed hash (SipHash-1-3) of class, size and contents. The keys are random, so
//! that an attacker cannot choose contents with equal hashes. For ten million different strings, the probability that
//! any two of them have equal hashes is below 10⁻¹⁵.

use std::hash::{BuildHasher, Hasher, RandomState};

use rayon::prelude::*;
use siphasher::sip128::{Hasher128, SipHasher13};

use super::DumpSource;
use super::containers::{Elements, EntryTable};
use super::memory::{LONG_WINDOW, MemoryReader, PayloadReader, word_at};
use super::roles::{ARRAY_SIZE, Role, TABLE_SIZE, VIEW_SIZE};
use crate::runtime::objects::HEADER_SIZE;
use crate::warning::ManagedWarning;
use base::bits::Bits;
use base::columns;
use base::control::Step;
use base::error::Result;
use base::units::{Address, ObjectIndex};
use heap::DominatorIndex;
use heap::survey::{
    ArrayUse, ContainerLayout, Containers, HashedObject, MemorySurvey, Survey, TableUse, ViewUse,
    taken,
};
use runtime_code::std_library::ARRAY_BUFFER;

/// Objects that one task reads.
const CHUNK: usize = 1 << 15;

/// What a task found in a run of objects.
#[derive(Default)]
struct Surveyed {
    texts: Vec<HashedObject>,
    static_arrays: Vec<HashedObject>,
    containers: Containers,
    unknown: u64,
}

impl Surveyed {
    /// Takes what was found, each list in memory of exactly its size. The room for the next run stays.
    fn take(&mut self) -> Result<Self> {
        Ok(Self {
            texts: taken(&mut self.texts)?,
            static_arrays: taken(&mut self.static_arrays)?,
            containers: self.containers.take()?,
            unknown: std::mem::take(&mut self.unknown),
        })
    }
}

/// The keys of the hashes.
struct Keys(u64, u64);

impl Keys {
    fn random() -> Self {
        let random = RandomState::new();
        Self(random.hash_one(0), random.hash_one(1))
    }
}

impl DumpSource {
    pub(super) fn survey_memory(&self, live: &DominatorIndex, step: &Step<'_>) -> Result<Survey> {
        let surveyor = Surveyor {
            heap: self,
            live,
            roles: self.roles(),
        };
        surveyor.survey(step)
    }
}

/// What all tasks need.
struct Surveyor<'h> {
    heap: &'h DumpSource,
    live: &'h DominatorIndex,
    /// By class slot.
    roles: Vec<Role>,
}

impl Surveyor<'_> {
    fn survey(&self, step: &Step<'_>) -> Result<Survey> {
        let objects = &self.heap.heap.objects;
        let keys = &Keys::random();
        let mut sizes = columns::repeated_in_parallel(0, objects.len())?;
        // There are few static objects, and one thread finds out which of them overlap.
        let statics = objects.statics.unwrap_or_default() as usize;
        let (static_sizes, heap_sizes) = sizes.split_at_mut(statics);
        let start = || SurveyTask {
            surveyor: self,
            keys,
            reader: MemoryReader::sequential(self.heap, step.control()),
            statics_end: 0,
            found: Surveyed::default(),
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
        let notes = match unknown {
            0 => Vec::new(),
            count => vec![ManagedWarning::ContentsUnknown { count }.into()],
        };
        Ok(Survey {
            texts,
            memory: Some(MemorySurvey {
                sizes,
                buffers,
                containers,
                layout: self.layout(),
            }),
            notes,
        })
    }

    fn layout(&self) -> ContainerLayout {
        let stride = |role: &Role| match role {
            Role::Table(entries) => entries.stride,
            _ => 0,
        };
        ContainerLayout {
            array: ARRAY_SIZE,
            view: VIEW_SIZE,
            table: TABLE_SIZE,
            strides: self.roles.iter().map(stride).collect(),
        }
    }

    #[inline]
    fn role(&self, object: ObjectIndex) -> Role {
        self.roles[self.heap.heap.objects.class_slots[object.at()] as usize]
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
        for buffer in containers.iter().flat_map(Containers::storage) {
            is_storage.insert(buffer.0);
        }
        let chunks = objects.class_slots.par_chunks(CHUNK).enumerate();
        let found = chunks.map(|(nth, slots)| {
            let first = (nth * CHUNK) as u32;
            let mut reader = MemoryReader::sequential(self.heap, step.control());
            reader.stop_after(ObjectIndex(first + slots.len() as u32 - 1));
            let mut found = Vec::new();
            for (object, &slot) in (first..).map(ObjectIndex).zip(slots) {
                let is_wanted = self.roles[slot as usize] == Role::Buffer
                    && !is_storage.contains(object.0)
                    && self.is_live(object);
                if is_wanted {
                    let payload = reader.payload(self.heap.heap.memory_address(object).0)?;
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
    fn buffer(&self, word: u32) -> Option<ObjectIndex> {
        let objects = &self.heap.heap.objects;
        let buffer = objects.index.get(Address(word))?;
        (self.heap.class_id(buffer) == ARRAY_BUFFER).then_some(buffer)
    }

    fn is_live(&self, object: ObjectIndex) -> bool {
        if self.heap.heap.objects.is_on_heap(object) {
            self.heap.heap.retained_size(object) != 0
        } else {
            self.live.position(object).is_some()
        }
    }

    fn hashed(
        &self,
        object: ObjectIndex,
        payload: PayloadReader,
        reader: &mut MemoryReader<'_>,
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
        Ok(HashedObject::new(hash, object))
    }
}

/// The state of one task.
struct SurveyTask<'c> {
    surveyor: &'c Surveyor<'c>,
    keys: &'c Keys,
    reader: MemoryReader<'c>,
    /// The end of the last static object whose contents were read.
    statics_end: u64,
    found: Surveyed,
}

impl SurveyTask<'_> {
    /// Adds the facts about an object, and returns the size of its payload.
    fn visit(&mut self, object: ObjectIndex) -> Result<u32> {
        let surveyor = self.surveyor;
        let heap = &surveyor.heap.heap;
        let role = surveyor.role(object);
        let is_static = !heap.objects.is_on_heap(object);
        // Code may refer to a static string although no object does.
        let is_literal = is_static && role == Role::Text;
        if !is_literal && !surveyor.is_live(object) {
            return Ok(0);
        }
        let payload = self.reader.payload(heap.memory_address(object).0)?;
        if is_static && !self.starts_after_last(payload) {
            return Ok(0);
        }
        match role {
            Role::Text => {
                let text = surveyor.hashed(object, payload, &mut self.reader, self.keys)?;
                columns::push(&mut self.found.texts, text)?;
            }
            Role::StaticArray => {
                let array = surveyor.hashed(object, payload, &mut self.reader, self.keys)?;
                columns::push(&mut self.found.static_arrays, array)?;
                if payload.size == 0 && !is_static {
                    columns::push(&mut self.found.containers.empty_static_arrays, object)?;
                }
            }
            Role::Array(element) => self.visit_array(object, payload, element)?,
            Role::View => self.visit_view(object, payload)?,
            Role::Table(_) => self.visit_table(object, payload)?,
            Role::OwnVisitor | Role::Unknown => {
                self.found.unknown += u64::from(role == Role::Unknown);
                let edges = &heap.edges;
                for position in edges.range(object) {
                    let storage = &mut self.found.containers.other_storage;
                    columns::push(storage, edges.target(position))?;
                }
            }
            Role::Buffer | Role::Other => {}
        }
        Ok(payload.size)
    }

    /// Whether a static object begins at the end of the last one, or later. Data that looks like a static
    /// object by chance may overlap others, and its contents are not read a second time.
    fn starts_after_last(&mut self, payload: PayloadReader) -> bool {
        let start = u64::from(payload.address - HEADER_SIZE);
        let is_after = start >= self.statics_end;
        if is_after {
            self.statics_end = u64::from(payload.address) + u64::from(payload.size);
        }
        is_after
    }

    /// The buffer of these elements, and the offset in it of the first. A buffer of which the object does not say the
    /// first element is listed as other storage.
    fn storage(&mut self, elements: Elements) -> Result<Option<(ObjectIndex, u32)>> {
        let Some(buffer) = self.surveyor.buffer(elements.buffer) else {
            return Ok(None);
        };
        let Some(start) = elements.start else {
            columns::push(&mut self.found.containers.other_storage, buffer)?;
            return Ok(None);
        };
        Ok(Some((buffer, start)))
    }

    fn visit_array(
        &mut self,
        array: ObjectIndex,
        payload: PayloadReader,
        element: u32,
    ) -> Result<()> {
        let fields = self.reader.part(payload, 0, ARRAY_SIZE)?;
        let elements = Elements::of_array(|offset| Ok(word_at(fields, offset as usize)))?;
        let Some(elements) = elements else {
            return Ok(());
        };
        let Some((buffer, start)) = self.storage(elements)? else {
            return Ok(());
        };
        let used = match elements.length {
            0 => 0,
            length => start.saturating_add(length.saturating_mul(element)),
        };
        columns::push(
            &mut self.found.containers.arrays,
            ArrayUse {
                array,
                buffer,
                used,
                references: 1,
                roots: 0,
            },
        )
    }

    fn visit_view(&mut self, view: ObjectIndex, payload: PayloadReader) -> Result<()> {
        let fields = self.reader.part(payload, 0, VIEW_SIZE)?;
        let elements = Elements::of_view(|offset| Ok(word_at(fields, offset as usize)))?;
        let Some(elements) = elements else {
            return Ok(());
        };
        let Some((buffer, start)) = self.storage(elements)? else {
            return Ok(());
        };
        columns::push(
            &mut self.found.containers.views,
            ViewUse {
                buffer,
                start,
                length: elements.length,
                view,
            },
        )
    }

    fn visit_table(&mut self, table: ObjectIndex, payload: PayloadReader) -> Result<()> {
        let fields = self.reader.part(payload, 0, TABLE_SIZE)?;
        let Some(read) = EntryTable::read(|offset| Ok(word_at(fields, offset as usize)))? else {
            return Ok(());
        };
        let found = &mut self.found.containers;
        match [read.buckets, read.entries].map(|word| self.surveyor.buffer(word)) {
            [Some(buckets), Some(entries)]
                if read.count <= read.used && read.used <= read.capacity =>
            {
                let table = TableUse {
                    table,
                    buckets,
                    entries,
                    capacity: read.capacity,
                    count: read.count,
                };
                columns::push(&mut found.tables, table)
            }
            buffers => buffers
                .into_iter()
                .flatten()
                .try_for_each(|buffer| columns::push(&mut found.other_storage, buffer)),
        }
    }
}
