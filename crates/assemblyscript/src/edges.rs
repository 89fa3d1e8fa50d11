//! Finds the references in objects.
//!
//! Every read is checked against the size of the object or of the buffer that holds the data; contents that do not
//! fit are counted.

use std::ops::Range;
use std::sync::atomic::AtomicU64;

use super::containers::{Elements, EntryTable, is_deleted, tuple_elements};
use super::edge_run::{EdgeRun, SharedByTasks};
use super::lookahead::{BATCH, Lookahead};
use super::own_visits::{OwnVisits, follow_visited};
use super::reference_types::{ANY, ReferenceTypes, TypeNumber};
use super::scanned_class::{ReferenceWord, ScannedClass};
use crate::runtime::layout::{ContentReferences, EntryLayout};
use crate::runtime::objects::{ObjectHeader, block_of};
use base::columns;
use base::control::{Control, Phase};
use base::error::Result;
use base::units::{Address, ObjectIndex};
use dumps::Memory;
use heap::{EdgeLabel, ObjectTable};
use runtime_code::std_library::ARRAY_BUFFER;

/// The number of fields that are read without counting the words. Classes that people write have fewer.
const MANY_FIELDS: usize = 256;

/// The number of references of an object that are prefetched.
const FIELDS_PREFETCHED: usize = 8;

/// Reads references out of memory.
pub(super) struct Scanner<'a> {
    memory: Memory<'a>,
    /// By class slot.
    classes: Vec<ScannedClass<'a>>,
    visits: &'a OwnVisits,
    pub(super) shared: SharedByTasks<'a>,
}

impl<'a> Scanner<'a> {
    pub(super) fn new(
        memory: Memory<'a>,
        objects: &'a ObjectTable,
        classes: Vec<ScannedClass<'a>>,
        visits: &'a OwnVisits,
        types: ReferenceTypes,
        control: &'a Control,
    ) -> Self {
        Self {
            memory,
            classes,
            visits,
            shared: SharedByTasks {
                objects,
                types,
                limit: memory.size() / 4,
                words_read: AtomicU64::new(0),
                targets_found: AtomicU64::new(0),
                step: control.begin(Phase::References, objects.len() as u64),
            },
        }
    }

    /// Scans a run of objects.
    #[inline(never)]
    pub(super) fn scan_all<const LABELLED: bool>(
        &self,
        range: Range<usize>,
        run: &mut EdgeRun,
    ) -> Result<()> {
        run.clear();
        let mut ends = std::mem::take(&mut run.ends);
        ends.resize(range.len(), 0);
        let mut lookahead = Lookahead::new();
        for (first, ends) in range.step_by(BATCH).zip(ends.chunks_mut(BATCH)) {
            let batch = first..first + ends.len();
            if lookahead.is_worth_it() {
                self.prefetch(batch.clone(), &mut lookahead);
            }
            self.scan_batch::<LABELLED>(batch, ends, run)?;
        }
        run.ends = ends;
        Ok(())
    }

    /// Asks for what the fields of these objects refer to, all at the same time.
    fn prefetch(&self, batch: Range<usize>, lookahead: &mut Lookahead) {
        let ObjectTable {
            addresses,
            class_slots,
            index,
            ..
        } = self.shared.objects;
        lookahead.begin();
        for (&slot, &address) in class_slots[batch.clone()]
            .iter()
            .zip(&addresses.words()[batch])
        {
            let fields = &self.classes[slot as usize].fields;
            let payload = self
                .payload(Address(address))
                .filter(|_| !fields.is_empty());
            let Some((payload, _)) = payload else {
                continue;
            };
            for field in fields.iter().take(FIELDS_PREFETCHED) {
                let word = payload.word(Address(field.offset)).unwrap_or_default();
                if lookahead.add(address, word) {
                    index.prefetch(Address(word));
                }
            }
        }
        for &word in lookahead.end() {
            if let Some(target) = index.get(Address(word)) {
                self.shared.types.prefetch(target, self.shared.objects);
            }
        }
    }

    #[inline]
    fn scan_batch<const LABELLED: bool>(
        &self,
        batch: Range<usize>,
        ends: &mut [u32],
        run: &mut EdgeRun,
    ) -> Result<()> {
        let ObjectTable {
            addresses,
            class_slots,
            ..
        } = self.shared.objects;
        let objects = (batch.start as u32..).map(ObjectIndex).zip(ends);
        let found = class_slots[batch.clone()]
            .iter()
            .zip(&addresses.words()[batch]);
        for ((object, end), (&slot, &address)) in objects.zip(found) {
            let class = &self.classes[slot as usize];
            if !class.is_pointer_free {
                run.has_false_reference = false;
                if !self.scan::<LABELLED>(class, object, Address(address), run)? {
                    columns::push(&mut run.anomalies.misfits, object)?;
                }
                if run.has_false_reference && class.is_certain {
                    columns::push(&mut run.anomalies.with_false_references, object)?;
                }
            }
            *end = run.end();
        }
        Ok(())
    }

    /// Adds the objects to which an object refers to the results of `run`: in the order of their references, or
    /// with labels and in the order of the labels. Returns whether all contents of the object fit.
    #[inline]
    fn scan<const LABELLED: bool>(
        &self,
        class: &ScannedClass<'a>,
        object: ObjectIndex,
        address: Address,
        run: &mut EdgeRun,
    ) -> Result<bool> {
        let Some((payload, mut fits)) = self.payload(address) else {
            return Ok(false);
        };
        if fits
            && class
                .declared_size
                .is_some_and(|size| self.contradicts(payload, size))
        {
            columns::push(&mut run.anomalies.with_other_fields, object)?;
        }
        if !class.is_fixed && *class.contents == ContentReferences::Visited {
            self.visited::<LABELLED>(class, object, payload, run)?;
            return Ok(fits);
        }
        let (fields, size) = (class.fields.len(), payload.size() as usize);
        // Static objects may overlap.
        if fields > MANY_FIELDS {
            run.will_read(&self.shared, fields.min(size) as u64)?;
        }
        // Only in a real program are the fields apart from each other.
        run.make_room::<LABELLED>(fields.min(size))?;
        if LABELLED && let Some(shape) = class.shape {
            let own_storage = shape.own_storage;
            fits &= self.references(class, 0..own_storage, payload, run)?;
            fits &= self.contents::<true>(class, payload, run)?;
            run.make_room::<LABELLED>(shape.references.len() - own_storage)?;
            fits &= self.references(class, own_storage..shape.references.len(), payload, run)?;
            return Ok(fits);
        }
        for &ReferenceWord { offset, declared } in &class.fields {
            match payload.word(Address(offset)) {
                Some(word) => {
                    run.follow::<false>(&self.shared, word, EdgeLabel::ELEMENT, declared);
                }
                // The other fields do not fit either, because offsets ascend.
                None => {
                    fits = false;
                    break;
                }
            }
        }
        // Most objects have nothing but fields.
        if !class.is_fixed {
            fits &= self.contents::<false>(class, payload, run)?;
        }
        Ok(fits)
    }

    /// Follows what the visitor of the class found in an object, or every word if it could not be run.
    fn visited<const LABELLED: bool>(
        &self,
        class: &ScannedClass<'a>,
        object: ObjectIndex,
        payload: Memory<'a>,
        run: &mut EdgeRun,
    ) -> Result<()> {
        let Some(targets) = self.visits.of(object) else {
            columns::push(&mut run.anomalies.not_visited, object)?;
            return self.every_word::<LABELLED>(payload, run);
        };
        let fields = class.shape.map_or(&[][..], |shape| &shape.references);
        follow_visited::<LABELLED>(targets, payload, fields, &self.shared, run)
    }

    /// Follows references at fixed offsets of a class; returns whether the object has room for all of them.
    fn references(
        &self,
        class: &ScannedClass<'a>,
        range: Range<usize>,
        payload: Memory<'_>,
        run: &mut EdgeRun,
    ) -> Result<bool> {
        let Some(shape) = class.shape else {
            return Ok(true);
        };
        let mut fits = true;
        for nth in range {
            let offset = shape.references[nth].offset;
            let field = class
                .fields
                .binary_search_by_key(&offset, |field| field.offset);
            let declared = field.map_or(ANY, |field| class.fields[field].declared);
            match payload.word(Address(offset)) {
                Some(word) => {
                    run.follow::<true>(&self.shared, word, EdgeLabel::field(nth), declared);
                }
                None => fits = false,
            }
        }
        Ok(fits)
    }

    /// Follows the contents after the references at fixed offsets of a class.
    fn contents<const LABELLED: bool>(
        &self,
        class: &ScannedClass<'a>,
        payload: Memory<'a>,
        run: &mut EdgeRun,
    ) -> Result<bool> {
        let &ScannedClass { first, second, .. } = class;
        match class.contents {
            ContentReferences::Fixed => Ok(true),
            ContentReferences::StaticArray => {
                run.follow_all::<LABELLED>(&self.shared, payload, EdgeLabel::ELEMENT, first)?;
                Ok(payload.size().is_multiple_of(4))
            }
            ContentReferences::Visited | ContentReferences::Unknown => {
                self.every_word::<LABELLED>(payload, run)?;
                Ok(true)
            }
            ContentReferences::Array => self.array_elements::<LABELLED>(payload, first, run),
            ContentReferences::Entries(entry) => {
                self.entries::<LABELLED>(payload, *entry, [first, second], run)
            }
            ContentReferences::Tuple => {
                run.make_room::<LABELLED>(u64::BITS as usize)?;
                Ok(tuple_elements(payload, |word, nth| {
                    run.follow::<LABELLED>(&self.shared, word, EdgeLabel::tuple_element(nth), ANY);
                }))
            }
        }
    }

    /// The payload of the object at `address`, and whether the block has room for all of it.
    fn payload(&self, address: Address) -> Option<(Memory<'a>, bool)> {
        let header = ObjectHeader::read(self.memory, block_of(address)?)?;
        let size = header.size.min(header.capacity());
        Some((self.memory.bytes_at(address, size)?, size == header.size))
    }

    /// Whether an object cannot have exactly the fields of its class: it is too small for them, or it has a
    /// reference after them. Unused space after them proves nothing.
    fn contradicts(&self, payload: Memory<'_>, declared_size: u32) -> bool {
        /// More fields than a change of a class usually adds.
        const LOOKED_AT: usize = 16;
        let size = payload.size() as u32;
        // What nearly every object has.
        if size == declared_size {
            return false;
        }
        let behind = (declared_size.next_multiple_of(4)..size).step_by(4);
        size < declared_size
            || behind.take(LOOKED_AT).any(|offset| {
                let word = payload.word(Address(offset));
                word.is_some_and(|word| self.shared.objects.index.get(Address(word)).is_some())
            })
    }

    fn is_buffer(&self, object: ObjectIndex) -> bool {
        let slot = self.shared.objects.class_slots[object.at()];
        self.classes[slot as usize].id == ARRAY_BUFFER
    }

    /// The payload of the buffer to which a container's field refers.
    fn buffer(&self, address: Address) -> Option<Memory<'a>> {
        self.shared.objects.index.get(address)?;
        Some(self.payload(address)?.0)
    }

    /// Adds all possible references of an object of an unknown class. It may be a container, so the words of
    /// its buffers count too.
    fn every_word<const LABELLED: bool>(
        &self,
        payload: Memory<'a>,
        run: &mut EdgeRun,
    ) -> Result<()> {
        let shared = &self.shared;
        for (nth, word) in payload.words().enumerate() {
            run.make_room::<LABELLED>(1)?;
            run.follow::<LABELLED>(shared, word, EdgeLabel::word(nth), ANY);
            let target = shared.objects.index.get(Address(word));
            if target.is_some_and(|target| self.is_buffer(target))
                && let Some(buffer) = self.buffer(Address(word))
            {
                run.follow_all::<LABELLED>(shared, buffer, EdgeLabel::BUFFER_WORD, ANY)?;
            }
        }
        Ok(())
    }

    fn array_elements<const LABELLED: bool>(
        &self,
        array: Memory<'a>,
        declared: TypeNumber,
        run: &mut EdgeRun,
    ) -> Result<bool> {
        let Some(Elements {
            buffer,
            start,
            length,
        }) = Elements::of_array(|offset| Ok(array.word(Address(offset))))?
        else {
            return Ok(false);
        };
        if length == 0 {
            return Ok(true);
        }
        let (Some(buffer), Some(start)) = (self.buffer(Address(buffer)), start) else {
            return Ok(false);
        };
        let Some(bytes) = (buffer.size() as u32).checked_sub(start) else {
            return Ok(false);
        };
        let room = bytes / 4;
        if let Some(elements) = buffer.bytes_at(Address(start), length.min(room) * 4) {
            run.follow_all::<LABELLED>(&self.shared, elements, EdgeLabel::ELEMENT, declared)?;
        }
        Ok(length <= room)
    }

    fn entries<const LABELLED: bool>(
        &self,
        map: Memory<'a>,
        entry: EntryLayout,
        [key_type, value_type]: [TypeNumber; 2],
        run: &mut EdgeRun,
    ) -> Result<bool> {
        let Some(EntryTable { entries, used, .. }) =
            EntryTable::read(|offset| Ok(map.word(Address(offset))))?
        else {
            return Ok(false);
        };
        if used == 0 {
            return Ok(true);
        }
        let Some(buffer) = self.buffer(Address(entries)) else {
            return Ok(false);
        };
        let room = buffer.size() as u32 / entry.stride;
        let key_label = if entry.is_set {
            EdgeLabel::MEMBER
        } else {
            EdgeLabel::KEY
        };
        for nth in 0..used.min(room) {
            run.will_read(&self.shared, 1)?;
            run.make_room::<LABELLED>(2)?;
            let at = |offset| buffer.word(Address(nth * entry.stride + offset));
            if is_deleted(at(entry.tagged_next)) {
                continue;
            }
            if let Some(word) = entry.key.and_then(at) {
                run.follow::<LABELLED>(&self.shared, word, key_label, key_type);
            }
            if let Some(word) = entry.value.and_then(at) {
                run.follow::<LABELLED>(&self.shared, word, EdgeLabel::VALUE, value_type);
            }
        }
        Ok(used <= room)
    }
}
