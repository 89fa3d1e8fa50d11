//! Finds the references between objects.
//!
//! Each thread scans a run of objects into a separate buffer. The buffers are then appended in address order,
//! and reused. Every read is checked against the size of the object or of the buffer that holds the data;
//! contents that do not fit are counted. Scanning everything twice, first to count and then to fill, would
//! need no such buffers, but would read the dump from memory twice.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;

use super::class_slots::DescribedClass;
use super::reference_types::{ANY, ClassTypes, ReferenceTypes, TypeNumber};
use crate::runtime::classes::Classes;
use crate::runtime::layout::{Contents, EntryLayout, ReferenceLayout};
use crate::runtime::objects::{ObjectHeader, block_of};
use crate::runtime::shapes::ClassShape;
use base::columns;
use base::control::{Control, Phase, Step};
use base::error::{Error, Result};
use base::units::{Address, ObjectIndex};
use dumps::Memory;
use heap::{EdgeLabel, Edges, ObjectTable};
use runtime_code::std_library::{
    ARRAY_BUFFER, BUFFER, DATA_START, ENTRIES, ENTRIES_OFFSET, LENGTH,
};

/// Objects that one task scans.
const CHUNK: usize = 1 << 12;

/// The number of runs that a thread scans before the results are appended.
const CHUNKS_PER_THREAD: usize = 8;

/// How often every word of memory may be read. Once is enough for an undamaged heap, in which every buffer
/// belongs to one container; objects of unknown classes may share buffers.
const READS_PER_WORD: u64 = 16;

/// The number of fields that are read without counting the words. Classes that people write have fewer.
const MANY_FIELDS: usize = 256;

/// The columns of the graph, as far as objects were scanned.
#[derive(Debug, Default)]
pub(super) struct Extraction {
    offsets: Vec<u32>,
    targets: Vec<ObjectIndex>,
    /// The label of each reference, in the order of the targets; empty if labels were not asked for.
    labels: Vec<u16>,
}

impl Extraction {
    /// Scans all objects. Returns the graph, and the anomalies of objects. With the shapes of the classes,
    /// the references of an object are in the order of their labels, and the labels are stored.
    ///
    /// # Errors
    /// [`Error::TooManyReferences`] if there are more references than the memory has words, or if far more
    /// words would have to be read, which is only possible if containers refer to the same buffers;
    /// [`Error::OutOfMemory`]; [`Error::Aborted`].
    pub(super) fn extract(
        memory: Memory<'_>,
        objects: &ObjectTable,
        classes: &[DescribedClass],
        known: &Classes<'_>,
        shapes: Option<&[ClassShape]>,
        control: &Control,
    ) -> Result<(Edges, Anomalies)> {
        let types = ReferenceTypes::new(classes, known, &objects.class_slots)?;
        let shapes_or_none = shapes.unwrap_or_default();
        let scanner = Scanner::new(memory, objects, classes, types, shapes_or_none, control);
        let (found, anomalies) = match shapes {
            Some(_) => Self::scan::<true>(&scanner),
            None => Self::scan::<false>(&scanner),
        }?;
        let Self {
            offsets,
            targets,
            labels,
        } = found;
        let edges = Edges::with_narrow_labels(offsets, targets, labels);
        Ok((edges, anomalies))
    }

    fn scan<const LABELLED: bool>(scanner: &Scanner<'_>) -> Result<(Self, Anomalies)> {
        let count = scanner.objects.len();
        let mut edges = Self::default();
        columns::reserve(&mut edges.offsets, count + 1)?;
        edges.offsets.push(0);
        let mut anomalies = Anomalies::default();
        let mut runs: Vec<Run> = Vec::new();
        runs.resize_with(
            rayon::current_num_threads() * CHUNKS_PER_THREAD,
            Run::default,
        );
        for first in (0..count).step_by(CHUNK * runs.len()) {
            runs.par_iter_mut().enumerate().try_for_each(|(nth, run)| {
                let start = (first + nth * CHUNK).min(count);
                let end = (start + CHUNK).min(count);
                run.scan::<LABELLED>(scanner, start as u32..end as u32)?;
                scanner.step.advance((end - start) as u64)
            })?;
            for run in &runs {
                edges.append(run, scanner.limit)?;
                anomalies.append(&run.anomalies)?;
            }
        }
        edges.targets.shrink_to_fit();
        edges.labels.shrink_to_fit();
        Ok((edges, anomalies))
    }

    fn append(&mut self, run: &Run, limit: u64) -> Result<()> {
        let needed = self.targets.len() + run.targets.len();
        if needed as u64 > limit {
            return Err(Error::TooManyReferences { limit });
        }
        if needed > self.targets.capacity() {
            columns::reserve(&mut self.targets, needed)?;
        }
        let base = self.targets.len() as u32;
        self.targets.extend_from_slice(&run.targets);
        if !run.labels.is_empty() {
            columns::extend(&mut self.labels, &run.labels)?;
        }
        self.offsets.extend(run.ends.iter().map(|&end| base + end));
        Ok(())
    }
}

/// Objects that do not fit the descriptions of their classes, each list ascending.
#[derive(Debug, Default)]
pub(super) struct Anomalies {
    /// Objects whose contents are partly outside their buffers.
    pub(super) misfits: Vec<ObjectIndex>,
    /// Objects that cannot have exactly the fields of their class.
    pub(super) with_other_fields: Vec<ObjectIndex>,
    /// Objects with a reference that is neither null nor to an object that can be there.
    pub(super) with_false_references: Vec<ObjectIndex>,
}

impl Anomalies {
    /// Appends the lists of later objects.
    fn append(&mut self, later: &Self) -> Result<()> {
        columns::extend(&mut self.misfits, &later.misfits)?;
        columns::extend(&mut self.with_other_fields, &later.with_other_fields)?;
        columns::extend(
            &mut self.with_false_references,
            &later.with_false_references,
        )
    }

    fn clear(&mut self) {
        self.misfits.clear();
        self.with_other_fields.clear();
        self.with_false_references.clear();
    }
}

/// The results of a task, object by object.
#[derive(Default)]
struct Run {
    targets: Vec<ObjectIndex>,
    /// As long as `targets`, if labels are wanted.
    labels: Vec<u16>,
    /// The end of each object's targets in `targets`.
    ends: Vec<u32>,
    anomalies: Anomalies,
    /// Whether a followed word is neither 0 nor the address of an object, since this was last reset.
    has_false_reference: bool,
    /// The words that it read in buffers since its last report.
    words_read: u64,
    /// The length of `targets` at the last report.
    reported_targets: usize,
}

impl Run {
    /// Words after which to report.
    const REPORT: usize = 1 << 14;

    fn scan<const LABELLED: bool>(
        &mut self,
        scanner: &Scanner<'_>,
        objects: Range<u32>,
    ) -> Result<()> {
        self.targets.clear();
        self.labels.clear();
        self.ends.clear();
        self.anomalies.clear();
        self.reported_targets = 0;
        for object in objects.map(ObjectIndex) {
            self.has_false_reference = false;
            if !scanner.scan::<LABELLED>(object, self)? {
                columns::push(&mut self.anomalies.misfits, object)?;
            }
            if self.has_false_reference && scanner.class_of(object).class.is_certain {
                columns::push(&mut self.anomalies.with_false_references, object)?;
            }
            self.ends.push(self.targets.len() as u32);
        }
        Ok(())
    }

    /// Must be called before this number of words is followed. Reserves memory for their targets, which can
    /// fail.
    #[inline]
    fn make_room<const LABELLED: bool>(&mut self, words: usize) -> Result<()> {
        if self.targets.capacity() - self.targets.len() < words {
            let more = words.max(self.targets.len());
            columns::reserve(&mut self.targets, more)?;
        }
        if LABELLED && self.labels.capacity() - self.labels.len() < words {
            let more = words.max(self.labels.len());
            columns::reserve(&mut self.labels, more)?;
        }
        Ok(())
    }

    #[inline]
    fn follow<const LABELLED: bool>(
        &mut self,
        scanner: &Scanner<'_>,
        word: u32,
        label: EdgeLabel,
        declared: TypeNumber,
    ) {
        if let Some(target) = scanner.objects.index.get(Address(word)) {
            if declared != ANY {
                self.has_false_reference |=
                    !scanner.types.allows(declared, target, scanner.objects);
            }
            self.targets.push(target);
            if LABELLED {
                self.labels.push(label.narrow());
            }
        } else if word != 0 {
            self.has_false_reference = true;
        }
    }

    /// Follows all words of a buffer.
    fn follow_all<const LABELLED: bool>(
        &mut self,
        scanner: &Scanner<'_>,
        buffer: Memory<'_>,
        label: EdgeLabel,
        declared: TypeNumber,
    ) -> Result<()> {
        for piece in buffer.pieces(4 * Self::REPORT) {
            self.will_read(scanner, piece.size() / 4)?;
            self.make_room::<LABELLED>(piece.size() as usize / 4)?;
            for word in piece.words() {
                self.follow::<LABELLED>(scanner, word, label, declared);
            }
        }
        Ok(())
    }

    /// Must be called before this number of words of a buffer is read. The number must be small.
    #[inline]
    fn will_read(&mut self, scanner: &Scanner<'_>, words: u64) -> Result<()> {
        self.words_read += words;
        match self.words_read >= Self::REPORT as u64 {
            true => self.report(scanner),
            false => Ok(()),
        }
    }

    fn report(&mut self, scanner: &Scanner<'_>) -> Result<()> {
        let add = |total: &AtomicU64, more: u64| total.fetch_add(more, Ordering::Relaxed) + more;
        let words = add(&scanner.words_read, std::mem::take(&mut self.words_read));
        let new_targets = self.targets.len() - self.reported_targets;
        self.reported_targets = self.targets.len();
        let targets = add(&scanner.targets_found, new_targets as u64);
        let limit = scanner.limit;
        if words > limit * READS_PER_WORD || targets > limit {
            return Err(Error::TooManyReferences { limit });
        }
        scanner.step.advance(0)
    }
}

/// Reads references out of memory.
struct Scanner<'a> {
    memory: Memory<'a>,
    objects: &'a ObjectTable,
    /// By class slot: the layout and, if it is known, the size that all objects have.
    layouts: Vec<(&'a ReferenceLayout, Option<u32>)>,
    /// By class slot.
    classes: &'a [DescribedClass],
    /// The declared types of the references.
    types: ReferenceTypes,
    /// By class slot, if labels are wanted.
    shapes: &'a [ClassShape],
    /// The largest possible number of references.
    limit: u64,
    /// Words of buffers that were read, as far as reported.
    words_read: AtomicU64,
    /// References in buffers, as far as reported.
    targets_found: AtomicU64,
    step: Step<'a>,
}

impl<'a> Scanner<'a> {
    fn new(
        memory: Memory<'a>,
        objects: &'a ObjectTable,
        classes: &'a [DescribedClass],
        types: ReferenceTypes,
        shapes: &'a [ClassShape],
        control: &'a Control,
    ) -> Self {
        Self {
            memory,
            objects,
            classes,
            layouts: classes
                .iter()
                .map(|DescribedClass { class, .. }| (&class.layout, class.declared_size))
                .collect(),
            types,
            shapes,
            limit: memory.size() / 4,
            words_read: AtomicU64::new(0),
            targets_found: AtomicU64::new(0),
            step: control.begin(Phase::References, objects.len() as u64),
        }
    }

    fn class_of(&self, object: ObjectIndex) -> &'a DescribedClass {
        &self.classes[self.objects.class_slots[object.at()] as usize]
    }

    /// Adds the objects to which `object` refers to the results of `run`: in the order of their places, or
    /// with labels and in the order of the labels. Returns whether all contents of the object fit.
    #[inline]
    fn scan<const LABELLED: bool>(&self, object: ObjectIndex, run: &mut Run) -> Result<bool> {
        let slot = self.objects.class_slots[object.at()] as usize;
        let (layout, size) = self.layouts[slot];
        if layout.is_pointer_free() {
            return Ok(true);
        }
        let address = Address(self.objects.addresses[object.at()]);
        let Some((payload, mut fits)) = self.payload(address) else {
            return Ok(false);
        };
        if fits && size.is_some_and(|size| self.contradicts(payload, size)) {
            columns::push(&mut run.anomalies.with_other_fields, object)?;
        }
        // Static objects may overlap.
        if layout.offsets.len() > MANY_FIELDS {
            run.will_read(
                self,
                layout.offsets.len().min(payload.size() as usize) as u64,
            )?;
        }
        run.make_room::<LABELLED>(layout.offsets.len().min(payload.size() as usize / 4))?;
        if LABELLED {
            let shape = &self.shapes[slot];
            let own_storage = shape.own_storage;
            fits &= self.places(slot, 0..own_storage, payload, run)?;
            fits &= self.contents::<true>(slot, payload, run)?;
            run.make_room::<LABELLED>(shape.places.len() - own_storage)?;
            fits &= self.places(slot, own_storage..shape.places.len(), payload, run)?;
            return Ok(fits);
        }
        let types = &self.types.of_class(slot).fields;
        for (&offset, &declared) in layout.offsets.iter().zip(types) {
            match payload.word(Address(offset)) {
                Some(word) => run.follow::<false>(self, word, EdgeLabel::ELEMENT, declared),
                // The other fields do not fit either, because offsets ascend.
                None => {
                    fits = false;
                    break;
                }
            }
        }
        fits &= self.contents::<false>(slot, payload, run)?;
        Ok(fits)
    }

    /// Follows places of a class; returns whether the object has room for all of them.
    fn places(
        &self,
        slot: usize,
        range: Range<usize>,
        payload: Memory<'_>,
        run: &mut Run,
    ) -> Result<bool> {
        let (layout, _) = self.layouts[slot];
        let types = &self.types.of_class(slot).fields;
        let mut fits = true;
        for nth in range {
            let offset = self.shapes[slot].places[nth].offset;
            let field = layout.offsets.binary_search(&offset);
            let declared = field.map_or(ANY, |field| types[field]);
            match payload.word(Address(offset)) {
                Some(word) => run.follow::<true>(self, word, EdgeLabel::place(nth), declared),
                None => fits = false,
            }
        }
        Ok(fits)
    }

    /// Follows the contents after the places of a class.
    #[inline]
    fn contents<const LABELLED: bool>(
        &self,
        slot: usize,
        payload: Memory<'a>,
        run: &mut Run,
    ) -> Result<bool> {
        let types = self.types.of_class(slot);
        match &self.layouts[slot].0.contents {
            Contents::Fixed => Ok(true),
            Contents::StaticArray => {
                run.follow_all::<LABELLED>(self, payload, EdgeLabel::ELEMENT, types.first)?;
                Ok(payload.size().is_multiple_of(4))
            }
            Contents::Unknown => {
                self.every_word::<LABELLED>(payload, run)?;
                Ok(true)
            }
            Contents::Array => self.array_elements::<LABELLED>(payload, types, run),
            Contents::Entries(entry) => self.entries::<LABELLED>(payload, *entry, types, run),
            Contents::Tuple => {
                run.make_room::<LABELLED>(u64::BITS as usize)?;
                Ok(tuple_elements(payload, |word, nth| {
                    run.follow::<LABELLED>(self, word, EdgeLabel::tuple_element(nth), ANY);
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
        let behind = (declared_size.next_multiple_of(4)..size).step_by(4);
        size < declared_size
            || behind.take(LOOKED_AT).any(|offset| {
                let word = payload.word(Address(offset));
                word.is_some_and(|word| self.objects.index.get(Address(word)).is_some())
            })
    }

    /// The payload of the buffer to which a container's field refers.
    fn buffer(&self, address: Address) -> Option<Memory<'a>> {
        self.objects.index.get(address)?;
        Some(self.payload(address)?.0)
    }

    /// Adds all possible references of an object of an unknown class. It may be a container, so the words of
    /// its buffers count too.
    fn every_word<const LABELLED: bool>(&self, payload: Memory<'a>, run: &mut Run) -> Result<()> {
        for (nth, word) in payload.words().enumerate() {
            run.make_room::<LABELLED>(1)?;
            run.follow::<LABELLED>(self, word, EdgeLabel::word(nth), ANY);
            let target = self.objects.index.get(Address(word));
            if target.is_some_and(|target| self.class_of(target).id == ARRAY_BUFFER)
                && let Some(buffer) = self.buffer(Address(word))
            {
                run.follow_all::<LABELLED>(self, buffer, EdgeLabel::BUFFER_WORD, ANY)?;
            }
        }
        Ok(())
    }

    fn array_elements<const LABELLED: bool>(
        &self,
        array: Memory<'a>,
        types: &ClassTypes,
        run: &mut Run,
    ) -> Result<bool> {
        let field = |offset| array.word(Address(offset));
        let (Some(buffer_address), Some(data_start), Some(length)) =
            (field(BUFFER), field(DATA_START), field(LENGTH))
        else {
            return Ok(false);
        };
        if length == 0 {
            return Ok(true);
        }
        let (Some(buffer), Some(skipped)) = (
            self.buffer(Address(buffer_address)),
            data_start.checked_sub(buffer_address),
        ) else {
            return Ok(false);
        };
        let Some(room) = (buffer.size() as u32)
            .checked_sub(skipped)
            .map(|bytes| bytes / 4)
        else {
            return Ok(false);
        };
        if let Some(elements) = buffer.bytes_at(Address(skipped), length.min(room) * 4) {
            run.follow_all::<LABELLED>(self, elements, EdgeLabel::ELEMENT, types.first)?;
        }
        Ok(length <= room)
    }

    fn entries<const LABELLED: bool>(
        &self,
        map: Memory<'a>,
        entry: EntryLayout,
        types: &ClassTypes,
        run: &mut Run,
    ) -> Result<bool> {
        let field = |offset| map.word(Address(offset));
        let (Some(buffer_address), Some(count)) = (field(ENTRIES), field(ENTRIES_OFFSET)) else {
            return Ok(false);
        };
        if count == 0 {
            return Ok(true);
        }
        let Some(buffer) = self.buffer(Address(buffer_address)) else {
            return Ok(false);
        };
        let room = buffer.size() as u32 / entry.stride;
        let key_label = match entry.is_set {
            true => EdgeLabel::MEMBER,
            false => EdgeLabel::KEY,
        };
        for nth in 0..count.min(room) {
            run.will_read(self, 1)?;
            run.make_room::<LABELLED>(2)?;
            let at = |offset| buffer.word(Address(nth * entry.stride + offset));
            let is_deleted = at(entry.tagged_next).is_none_or(|tagged_next| tagged_next & 1 != 0);
            if is_deleted {
                continue;
            }
            if let Some(word) = entry.key.and_then(at) {
                run.follow::<LABELLED>(self, word, key_label, types.first);
            }
            if let Some(word) = entry.value.and_then(at) {
                run.follow::<LABELLED>(self, word, EdgeLabel::VALUE, types.second);
            }
        }
        Ok(count <= room)
    }
}

fn tuple_elements(tuple: Memory<'_>, mut follow: impl FnMut(u32, u32)) -> bool {
    let size = tuple.size() as u32;
    let Some(bitmap_at) = size.checked_sub(8) else {
        return false;
    };
    let half = |offset| tuple.word(Address(bitmap_at + offset)).unwrap_or_default();
    let mut bitmap = u64::from(half(0)) | u64::from(half(4)) << 32;
    let mut fits = true;
    while bitmap != 0 {
        let nth = bitmap.trailing_zeros();
        bitmap &= bitmap - 1;
        match tuple.word(Address(nth * 4)) {
            Some(word) if nth * 4 < bitmap_at => follow(word, nth),
            _ => fits = false,
        }
    }
    fits
}
