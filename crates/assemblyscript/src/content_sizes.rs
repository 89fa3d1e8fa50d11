//! How much objects contain: the length of a string, the elements of an array, the entries of a map, the
//! fields of a class. Not their blocks: those of containers grow in jumps.

use rayon::prelude::*;

use super::DumpSource;
use super::labels::is_own_storage;
use super::memory::{MemoryReader, word_at};
use super::roles::{ARRAY_SIZE, Role, TABLE_SIZE};
use crate::runtime::shapes::EntryShape;
use base::columns;
use base::control::Step;
use base::error::Result;
use base::units::ObjectIndex;
use heap::PathTree;
use runtime_code::std_library::{ENTRIES_COUNT, LENGTH};

/// Objects that one task reads.
const CHUNK: usize = 1 << 15;

/// How the contents of the objects of a class are measured.
#[derive(Clone, Copy)]
enum SizeRule {
    /// All have fields of this many bytes.
    Fields(u32),
    /// Their payload.
    Payload,
    /// Their payload, unless it is an array's, a map's or a set's own storage.
    Buffer,
    /// Their fields, and elements of this many bytes.
    Array(u32),
    /// Their fields, and entries of this many bytes.
    Table(u32),
}

impl DumpSource {
    /// By object: the bytes of its contents; 0 for what is not alive.
    pub(super) fn measure_contents(&self, tree: &PathTree, step: &Step<'_>) -> Result<Vec<u32>> {
        let roles = self.roles();
        let classes = self.classes.iter().zip(&roles);
        let measures: Vec<SizeRule> = classes
            .map(|(class, role)| match *role {
                Role::Array(element) => SizeRule::Array(element),
                Role::Table(entries) => SizeRule::Table(entry_size(entries)),
                Role::Buffer => SizeRule::Buffer,
                Role::Other => class
                    .class
                    .declared_size
                    .map_or(SizeRule::Payload, SizeRule::Fields),
                Role::Text | Role::StaticArray | Role::View | Role::OwnVisitor | Role::Unknown => {
                    SizeRule::Payload
                }
            })
            .collect();
        let survey = ContentSurvey {
            heap: self,
            tree,
            roles,
            measures,
        };
        let mut sizes = columns::repeated(0, self.heap.objects.len())?;
        sizes.par_chunks_mut(CHUNK).enumerate().try_for_each_init(
            || MemoryReader::sequential(self, step.control()),
            |reader, (nth, sizes)| {
                let first = (nth * CHUNK) as u32;
                reader.stop_after(ObjectIndex(first + sizes.len() as u32 - 1));
                for (object, size) in (first..).map(ObjectIndex).zip(&mut *sizes) {
                    *size = survey.content_size(object, reader)?;
                }
                step.advance(sizes.len() as u64)
            },
        )?;
        Ok(sizes)
    }
}

/// What is measured, and how.
struct ContentSurvey<'h> {
    heap: &'h DumpSource,
    tree: &'h PathTree,
    /// By class slot.
    roles: Vec<Role>,
    /// By class slot.
    measures: Vec<SizeRule>,
}

impl ContentSurvey<'_> {
    fn slot(&self, object: ObjectIndex) -> usize {
        self.heap.heap.objects.class_slots[object.at()] as usize
    }

    fn content_size(&self, object: ObjectIndex, reader: &mut MemoryReader<'_>) -> Result<u32> {
        if !self.tree.is_reached(object) {
            return Ok(0);
        }
        let measure = self.measures[self.slot(object)];
        if let SizeRule::Fields(size) = measure {
            return Ok(size);
        }
        if matches!(measure, SizeRule::Buffer) && self.is_storage(object) {
            return Ok(0);
        }
        let payload = reader.payload(self.heap.heap.memory_address(object).0)?;
        let (length_at, size, element) = match measure {
            SizeRule::Fields(_) | SizeRule::Payload | SizeRule::Buffer => return Ok(payload.size),
            SizeRule::Array(element) => (LENGTH, ARRAY_SIZE, element),
            SizeRule::Table(entry) => (ENTRIES_COUNT, TABLE_SIZE, entry),
        };
        let fields = reader.part(payload, 0, size)?;
        let length = word_at(fields, length_at as usize).unwrap_or_default();
        Ok(payload.size.saturating_add(length.saturating_mul(element)))
    }

    /// Whether a buffer's path leads through a container whose own storage it is. Views do not count: their
    /// buffers do not grow.
    fn is_storage(&self, buffer: ObjectIndex) -> bool {
        let Some((holder, label)) = self.tree.parent(buffer) else {
            return false;
        };
        matches!(
            self.roles[self.slot(holder)],
            Role::Array(_) | Role::Table(_)
        ) && is_own_storage(&self.heap.shapes[self.slot(holder)], label)
    }
}

/// What a map or a set keeps of an entry: its key and its value.
fn entry_size(entries: EntryShape) -> u32 {
    let value = entries.value.map_or(0, |(holds, _)| holds.size());
    entries.key.size() + value
}
