//! References between objects, in compressed sparse rows: the targets of object `i` are
//! `targets[offsets[i]..offsets[i + 1]]`.
//!
//! Objects are scanned in parallel, twice: to count, and to fill. Every read is checked against
//! the object's own size or the buffer that holds the data; what does not fit is counted.

use rayon::prelude::*;

use super::objects::ObjectTable;
use crate::control::Control;
use crate::dump::Memory;
use crate::error::{Error, Result};
use crate::runtime::layout::{Contents, EntryLayout};
use crate::runtime::objects::{ObjectHeader, block_of};
use crate::units::{Address, ClassId, ObjectIndex};

const ARRAY_BUFFER: ClassId = ClassId(1);

/// Objects that one task scans.
const CHUNK: usize = 1 << 14;

/// The reference graph over the object table.
#[derive(Debug, Default)]
pub struct Edges {
    offsets: Vec<u32>,
    targets: Vec<ObjectIndex>,
}

impl Edges {
    /// A graph from rows of targets.
    pub fn from_rows<'r>(rows: impl IntoIterator<Item = &'r [ObjectIndex]>) -> Self {
        let mut edges = Self {
            offsets: vec![0],
            targets: Vec::new(),
        };
        for row in rows {
            edges.targets.extend_from_slice(row);
            edges.offsets.push(edges.targets.len() as u32);
        }
        edges
    }

    /// Scans all objects. Returns the graph, and the objects whose contents reach out of their
    /// buffers, ascending.
    ///
    /// # Errors
    /// [`Error::TooManyReferences`] if there are more references than the memory has words, which
    /// is only possible if containers claim each other's buffers.
    pub fn extract(
        memory: Memory<'_>,
        objects: &ObjectTable,
        control: &Control,
    ) -> Result<(Self, Vec<ObjectIndex>)> {
        let count = objects.len();
        let scanner = Scanner { memory, objects };
        let mut counts = vec![0u32; count];
        let misfits: Vec<Vec<ObjectIndex>> = counts
            .par_chunks_mut(CHUNK)
            .enumerate()
            .map(|(chunk, counts)| {
                control.check()?;
                let mut misfits = Vec::new();
                for (nth, count) in counts.iter_mut().enumerate() {
                    let object = ObjectIndex((chunk * CHUNK + nth) as u32);
                    let fits = scanner.targets(object, |_| *count = count.saturating_add(1));
                    if !fits {
                        misfits.push(object);
                    }
                }
                Ok(misfits)
            })
            .collect::<Result<_>>()?;

        let limit = memory.size() / 4;
        let mut offsets = Vec::with_capacity(count + 1);
        let mut end = 0u64;
        offsets.push(0);
        for count in counts {
            end += u64::from(count);
            if end > limit {
                return Err(Error::TooManyReferences { limit });
            }
            offsets.push(end as u32);
        }

        let mut targets = vec![ObjectIndex(0); end as usize];
        let mut rest = targets.as_mut_slice();
        let mut chunks = Vec::with_capacity(count.div_ceil(CHUNK));
        for first in (0..count).step_by(CHUNK) {
            let last = (first + CHUNK).min(count);
            let (chunk, tail) = rest.split_at_mut((offsets[last] - offsets[first]) as usize);
            chunks.push((first..last, chunk));
            rest = tail;
        }
        chunks.into_par_iter().try_for_each(|(range, chunk)| {
            control.check()?;
            let mut free = chunk.iter_mut();
            for object in range {
                scanner.targets(ObjectIndex(object as u32), |target| {
                    if let Some(place) = free.next() {
                        *place = target;
                    }
                });
            }
            Ok::<_, Error>(())
        })?;
        Ok((Self { offsets, targets }, misfits.concat()))
    }

    /// What an object refers to: itself and the same object twice are possible.
    #[inline]
    pub fn targets(&self, object: ObjectIndex) -> &[ObjectIndex] {
        let start = self.offsets[object.at()] as usize;
        let end = self.offsets[object.at() + 1] as usize;
        &self.targets[start..end]
    }

    /// How many references there are.
    pub fn len(&self) -> usize {
        self.targets.len()
    }

    /// Whether nothing refers to anything.
    pub fn is_empty(&self) -> bool {
        self.targets.is_empty()
    }
}

/// Reads references out of memory.
#[derive(Clone, Copy)]
struct Scanner<'a> {
    memory: Memory<'a>,
    objects: &'a ObjectTable,
}

impl<'a> Scanner<'a> {
    /// Hands every object that `object` refers to to `found`, in the order of their places.
    /// Returns whether all that the object claims to hold fits.
    #[inline]
    fn targets(self, object: ObjectIndex, mut found: impl FnMut(ObjectIndex)) -> bool {
        let layout = &self.objects.class_of(object).class.layout;
        if layout.is_pointer_free() {
            return true;
        }
        let address = Address(self.objects.addresses[object.at()]);
        let Some((payload, mut fits)) = self.payload(address) else {
            return false;
        };
        let mut follow = |word: u32| {
            if let Some(target) = self.objects.index.get(Address(word)) {
                found(target);
            }
        };
        for &offset in &layout.offsets {
            match payload.word(Address(offset)) {
                Some(word) => follow(word),
                None => fits = false,
            }
        }
        fits &= match &layout.contents {
            Contents::Fixed => true,
            Contents::StaticArray => {
                payload.words().for_each(follow);
                true
            }
            Contents::Unknown => {
                self.every_word(payload, follow);
                true
            }
            Contents::Array => self.array_elements(payload, follow),
            Contents::Entries(entry) => self.entries(payload, *entry, follow),
            Contents::Tuple => tuple_elements(payload, follow),
        };
        fits
    }

    /// The payload of the object at `address`, and whether the block has room for all of it.
    fn payload(self, address: Address) -> Option<(Memory<'a>, bool)> {
        let header = ObjectHeader::read(self.memory, block_of(address)?)?;
        let size = header.size.min(header.capacity());
        Some((self.memory.bytes_at(address, size)?, size == header.size))
    }

    /// The payload of the buffer that a container's field refers to.
    fn buffer(self, address: Address) -> Option<Memory<'a>> {
        self.objects.index.get(address)?;
        Some(self.payload(address)?.0)
    }

    /// Everything that an object of an unknown class may refer to. It may be a container, so the
    /// words of its buffers count as well.
    fn every_word(self, payload: Memory<'a>, mut follow: impl FnMut(u32)) {
        for word in payload.words() {
            follow(word);
            let target = self.objects.index.get(Address(word));
            if target.is_some_and(|target| self.objects.class_of(target).id == ARRAY_BUFFER)
                && let Some(buffer) = self.buffer(Address(word))
            {
                buffer.words().for_each(&mut follow);
            }
        }
    }

    fn array_elements(self, array: Memory<'a>, follow: impl FnMut(u32)) -> bool {
        let field = |offset| array.word(Address(offset));
        let (Some(buffer_address), Some(data_start), Some(length)) =
            (field(0), field(4), field(12))
        else {
            return false;
        };
        if length == 0 {
            return true;
        }
        let (Some(buffer), Some(skipped)) = (
            self.buffer(Address(buffer_address)),
            data_start.checked_sub(buffer_address),
        ) else {
            return false;
        };
        let Some(room) = (buffer.size() as u32)
            .checked_sub(skipped)
            .map(|bytes| bytes / 4)
        else {
            return false;
        };
        if let Some(elements) = buffer.words_at(Address(skipped), length.min(room)) {
            elements.for_each(follow);
        }
        length <= room
    }

    fn entries(self, map: Memory<'a>, entry: EntryLayout, mut follow: impl FnMut(u32)) -> bool {
        let (Some(buffer_address), Some(count)) = (map.word(Address(8)), map.word(Address(16)))
        else {
            return false;
        };
        if count == 0 {
            return true;
        }
        let Some(buffer) = self.buffer(Address(buffer_address)) else {
            return false;
        };
        let room = buffer.size() as u32 / entry.stride;
        for nth in 0..count.min(room) {
            let at = |offset| buffer.word(Address(nth * entry.stride + offset));
            let is_deleted = at(entry.tagged_next).is_none_or(|tagged_next| tagged_next & 1 != 0);
            if is_deleted {
                continue;
            }
            let references = [entry.key, entry.value].into_iter().flatten();
            references.filter_map(at).for_each(&mut follow);
        }
        count <= room
    }
}

fn tuple_elements(tuple: Memory<'_>, mut follow: impl FnMut(u32)) -> bool {
    let size = tuple.size() as u32;
    let Some(bitmap_at) = size.checked_sub(8) else {
        return false;
    };
    let half = |offset| tuple.word(Address(bitmap_at + offset)).unwrap_or_default();
    let mut bitmap = u64::from(half(0)) | u64::from(half(4)) << 32;
    let mut fits = true;
    while bitmap != 0 {
        let offset = bitmap.trailing_zeros() * 4;
        bitmap &= bitmap - 1;
        match tuple.word(Address(offset)) {
            Some(word) if offset < bitmap_at => follow(word),
            _ => fits = false,
        }
    }
    fits
}
