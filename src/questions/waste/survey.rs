//! One pass over the memory in address order: it finds the size of every object, the hash of its contents,
//! and the used part of a container's storage.

use std::hash::{BuildHasher, Hasher, RandomState};

use rayon::prelude::*;

use super::Context;
use crate::columns;
use crate::control::Step;
use crate::error::Result;
use crate::heap::LabelKind;
use crate::questions::memory::{LONG_WINDOW, Payload, Reader, word_at};
use crate::questions::roles::{ARRAY_SIZE, Role, TABLE_SIZE, VIEW_SIZE};
use crate::runtime::objects::HEADER_SIZE;
use crate::side_by_side::side_by_side;
use crate::std_library::{
    ARRAY_BUFFER, BUCKETS, BUFFER, DATA_START, ENTRIES, ENTRIES_CAPACITY, ENTRIES_OFFSET, LENGTH,
    VIEW_LENGTH,
};
use crate::units::{Address, ObjectIndex};

/// Objects that one task reads.
const CHUNK: usize = 1 << 15;

/// An array, and the bytes of its buffer that it uses.
#[derive(Clone, Copy, Debug)]
pub(super) struct ArrayUse {
    pub(super) array: ObjectIndex,
    pub(super) buffer: ObjectIndex,
    /// Up to the last element. The part before the first element counts as used.
    pub(super) used: u64,
    /// Whether it has no elements and no additional fields.
    pub(super) is_empty: bool,
}

/// A view, and the bytes of its buffer that it covers.
#[derive(Clone, Copy, Debug)]
pub(super) struct ViewUse {
    pub(super) buffer: ObjectIndex,
    pub(super) start: u64,
    pub(super) end: u64,
    pub(super) view: ObjectIndex,
    /// Whether it covers nothing and has no additional fields.
    pub(super) is_empty: bool,
}

/// A map or a set, and its entries.
#[derive(Clone, Copy, Debug)]
pub(super) struct TableUse {
    pub(super) table: ObjectIndex,
    pub(super) buckets: ObjectIndex,
    pub(super) entries: ObjectIndex,
    pub(super) capacity: u32,
    /// The entries that were ever used, deleted ones included.
    pub(super) used: u32,
    /// Whether it has no additional fields.
    pub(super) is_plain: bool,
}

/// The results for the live objects.
#[derive(Default)]
pub(super) struct Survey {
    /// By object: the size of its payload; 0 for objects that are neither alive nor static strings.
    pub(super) sizes: Vec<u32>,
    /// Strings: a part of the hash of the contents in the upper bits, the object in the lower bits.
    pub(super) texts: Vec<u64>,
    /// The same for static arrays, and for buffers that do not belong to a container.
    pub(super) buffers: Vec<u64>,
    pub(super) arrays: Vec<ArrayUse>,
    pub(super) views: Vec<ViewUse>,
    pub(super) tables: Vec<TableUse>,
    pub(super) empty_static_arrays: Vec<ObjectIndex>,
    /// The number of live objects of unknown classes.
    pub(super) unknown: u64,
}

impl Survey {
    /// Adds what was found in each run of objects.
    fn append(&mut self, runs: &[Self]) -> Result<()> {
        fn all<T: Copy>(runs: &[Survey], of: impl Fn(&Survey) -> &Vec<T>) -> Result<Vec<T>> {
            let mut all = columns::with_capacity(runs.iter().map(|run| of(run).len()).sum())?;
            runs.iter().for_each(|run| all.extend_from_slice(of(run)));
            Ok(all)
        }
        let ((texts, buffers), (arrays, views, tables)) = side_by_side(
            || Ok((all(runs, |run| &run.texts)?, all(runs, |run| &run.buffers)?)),
            || {
                Ok((
                    all(runs, |run| &run.arrays)?,
                    all(runs, |run| &run.views)?,
                    all(runs, |run| &run.tables)?,
                ))
            },
        )?;
        (self.texts, self.buffers) = (texts, buffers);
        (self.arrays, self.views, self.tables) = (arrays, views, tables);
        self.empty_static_arrays = all(runs, |run| &run.empty_static_arrays)?;
        self.unknown = runs.iter().map(|run| run.unknown).sum();
        Ok(())
    }
}

impl Context<'_> {
    pub(super) fn survey(&self, step: &Step<'_>) -> Result<Survey> {
        let objects = &self.heap.heap.objects;
        // The keys are random, so that an attacker cannot choose contents with equal hashes.
        let hashing = RandomState::new();
        let mut survey = Survey {
            sizes: columns::repeated_in_parallel(0, objects.len())?,
            ..Survey::default()
        };
        // Static objects come first. There are few of them, and one thread finds out which of them overlap.
        let statics = objects.shallow_sizes.partition_point(|&size| size == 0);
        let (static_sizes, heap_sizes) = survey.sizes.split_at_mut(statics);
        let mut reader = Reader::sequential(self.heap);
        let mut run = Run {
            context: self,
            hashing: &hashing,
            reader: &mut reader,
            statics_end: 0,
            found: Survey::default(),
        };
        for (nth, size) in static_sizes.iter_mut().enumerate() {
            if nth.is_multiple_of(CHUNK) {
                step.advance(0)?;
            }
            *size = run.visit(ObjectIndex(nth as u32))?;
        }
        let mut runs = vec![run.found];
        let of_heap: Vec<Survey> = heap_sizes
            .par_chunks_mut(CHUNK)
            .enumerate()
            .map_init(
                || Reader::sequential(self.heap),
                |reader, (nth, sizes)| {
                    let first = (statics + nth * CHUNK) as u32;
                    reader.stop_after(ObjectIndex(first + sizes.len() as u32 - 1));
                    let mut run = Run {
                        context: self,
                        hashing: &hashing,
                        reader,
                        statics_end: 0,
                        found: Survey::default(),
                    };
                    for (object, size) in (first..).map(ObjectIndex).zip(&mut *sizes) {
                        *size = run.visit(object)?;
                    }
                    step.advance(sizes.len() as u64)?;
                    Ok(run.found)
                },
            )
            .collect::<Result<_>>()?;
        runs.extend(of_heap);
        survey.append(&runs)?;
        Ok(survey)
    }

    /// Whether a live container stores its contents in this buffer, or may do so.
    fn is_storage(&self, buffer: ObjectIndex) -> bool {
        let holders = self.referrers.of(buffer).iter();
        let mut holders = holders.map(|&holder| (holder, self.role(holder)));
        holders.any(|(holder, role)| match role {
            Role::Unknown => true,
            Role::Array(_) | Role::View => self.keeps(holder, buffer, &[BUFFER]),
            Role::Table(_) => self.keeps(holder, buffer, &[BUCKETS, ENTRIES]),
            Role::Text | Role::Buffer | Role::StaticArray | Role::Other => false,
        })
    }

    /// Whether a container refers to a buffer at one of these offsets. References to its own storage come
    /// last.
    fn keeps(&self, holder: ObjectIndex, buffer: ObjectIndex, offsets: &[u32]) -> bool {
        let edges = &self.heap.heap.edges;
        let places = &self.heap.shape(holder).places;
        let last = edges.range(holder).rev().take(offsets.len());
        let mut last = last.filter(|&place| edges.target(place) == buffer);
        last.any(|place| match edges.label(place).map(|label| label.kind()) {
            Some(LabelKind::Place(nth)) => {
                let place = places.get(nth as usize);
                place.is_some_and(|place| offsets.contains(&place.offset))
            }
            _ => false,
        })
    }
}

/// The state of one task.
struct Run<'c, 'r> {
    context: &'c Context<'c>,
    hashing: &'c RandomState,
    reader: &'r mut Reader<'c>,
    /// The end of the last static object whose contents were read.
    statics_end: u64,
    found: Survey,
}

impl Run<'_, '_> {
    /// Adds the facts about an object, and returns the size of its payload.
    fn visit(&mut self, object: ObjectIndex) -> Result<u32> {
        let context = self.context;
        let heap = &context.heap.heap;
        let role = context.role(object);
        let is_static = !heap.objects.is_on_heap(object);
        let is_live = match is_static {
            true => context.live.position(object).is_some(),
            false => heap.retained_size(object) != 0,
        };
        // Code may refer to a static string although no object does.
        let is_literal = is_static && role == Role::Text;
        if !is_live && !is_literal {
            return Ok(0);
        }
        let payload = self.reader.payload(heap.address(object).0)?;
        if is_static && !self.starts_after_last(payload) {
            return Ok(0);
        }
        match role {
            Role::Text => {
                let entry = self.entry(object, payload)?;
                columns::push(&mut self.found.texts, entry)?;
            }
            Role::Buffer if !context.is_storage(object) => {
                let entry = self.entry(object, payload)?;
                columns::push(&mut self.found.buffers, entry)?;
            }
            Role::StaticArray => {
                let entry = self.entry(object, payload)?;
                columns::push(&mut self.found.buffers, entry)?;
                if payload.size == 0 && !is_static {
                    columns::push(&mut self.found.empty_static_arrays, object)?;
                }
            }
            Role::Array(element) => self.visit_array(object, payload, element)?,
            Role::View => self.visit_view(object, payload)?,
            Role::Table(_) => self.visit_table(object, payload)?,
            Role::Unknown => self.found.unknown += 1,
            Role::Buffer | Role::Other => {}
        }
        Ok(payload.size)
    }

    /// Whether a static object begins at the end of the last one, or later. Data that looks like a static
    /// object by chance may overlap others, and its contents are not read a second time.
    fn starts_after_last(&mut self, payload: Payload) -> bool {
        let start = u64::from(payload.address - HEADER_SIZE);
        let is_behind = start >= self.statics_end;
        if is_behind {
            self.statics_end = u64::from(payload.address) + u64::from(payload.size);
        }
        is_behind
    }

    /// A part of the hash of an object's class and contents in the upper bits, the object in the lower bits.
    fn entry(&mut self, object: ObjectIndex, payload: Payload) -> Result<u64> {
        let mut hasher = self.hashing.build_hasher();
        let class = self.context.heap.heap.objects.class_slots[object.at()];
        hasher.write_u64(u64::from(class) << 32 | u64::from(payload.size));
        let mut offset = 0;
        while offset < payload.size {
            hasher.write(self.reader.part(payload, offset, LONG_WINDOW)?);
            offset = offset.saturating_add(LONG_WINDOW);
        }
        Ok(hasher.finish() >> 32 << 32 | u64::from(object.0))
    }

    /// The buffer to which a word refers.
    fn buffer(&self, word: Option<u32>) -> Option<ObjectIndex> {
        let objects = &self.context.heap.heap.objects;
        let buffer = objects.index.get(Address(word?))?;
        (objects.class_of(buffer).id == ARRAY_BUFFER).then_some(buffer)
    }

    fn visit_array(&mut self, array: ObjectIndex, payload: Payload, element: u32) -> Result<()> {
        let fields = self.reader.part(payload, 0, ARRAY_SIZE)?;
        let word = |offset| word_at(fields, offset as usize);
        let (Some(address), Some(start), Some(length)) =
            (word(BUFFER), word(DATA_START), word(LENGTH))
        else {
            return Ok(());
        };
        let (Some(buffer), Some(start)) = (self.buffer(Some(address)), start.checked_sub(address))
        else {
            return Ok(());
        };
        columns::push(
            &mut self.found.arrays,
            ArrayUse {
                array,
                buffer,
                used: match length {
                    0 => 0,
                    length => u64::from(start) + u64::from(length) * u64::from(element),
                },
                is_empty: length == 0 && payload.size <= ARRAY_SIZE,
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
        let (Some(buffer), Some(start)) = (self.buffer(Some(address)), start.checked_sub(address))
        else {
            return Ok(());
        };
        columns::push(
            &mut self.found.views,
            ViewUse {
                buffer,
                start: start.into(),
                end: u64::from(start) + u64::from(length),
                view,
                is_empty: length == 0 && payload.size <= VIEW_SIZE,
            },
        )
    }

    fn visit_table(&mut self, table: ObjectIndex, payload: Payload) -> Result<()> {
        let fields = self.reader.part(payload, 0, TABLE_SIZE)?;
        let word = |offset| word_at(fields, offset as usize);
        let (buckets, entries) = (word(BUCKETS), word(ENTRIES));
        let (Some(capacity), Some(used)) = (word(ENTRIES_CAPACITY), word(ENTRIES_OFFSET)) else {
            return Ok(());
        };
        let (Some(buckets), Some(entries)) = (self.buffer(buckets), self.buffer(entries)) else {
            return Ok(());
        };
        columns::push(
            &mut self.found.tables,
            TableUse {
                table,
                buckets,
                entries,
                capacity,
                used,
                is_plain: payload.size <= TABLE_SIZE,
            },
        )
    }
}
