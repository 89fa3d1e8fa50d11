//! Finds objects with the same contents: by hashes, and then by comparing the contents.
//!
//! The compared objects may be anywhere in the memory. Therefore the contents of the originals are read
//! first, in address order, up to the size of a bounded buffer, and then the contents of the others, in
//! address order.

use rayon::prelude::*;

use super::Context;
use super::bits::Bits;
use super::read_ahead::read_ahead;
use crate::columns;
use crate::control::Step;
use crate::error::Result;
use crate::questions::memory::{LONG_WINDOW, Reader};
use crate::units::ObjectIndex;

/// The number of bytes of contents that are kept at a time.
const KEPT: u64 = 64 << 20;
/// Larger contents are compared piece by piece, and not kept.
const LARGEST_KEPT: u32 = LONG_WINDOW;
/// The number of originals whose contents one task reads.
const ORIGINALS: usize = 1 << 10;
/// Pairs that one task compares.
const PAIRS: usize = 1 << 12;

/// Objects with the same contents.
#[derive(Clone, Copy, Debug)]
pub(super) struct CopyGroup {
    /// The original: a static one, otherwise the one with the lowest address.
    pub(super) original: ObjectIndex,
    /// The start of the copies in the column of all copies.
    start: u32,
    end: u32,
    /// The bytes of the copies.
    pub(super) savings: u64,
}

impl CopyGroup {
    /// The number of copies, without the original.
    pub(super) fn count(&self) -> u64 {
        u64::from(self.end - self.start)
    }
}

/// All groups.
#[derive(Default)]
pub(super) struct Copies {
    pub(super) groups: Vec<CopyGroup>,
    objects: Vec<ObjectIndex>,
}

impl Copies {
    /// The copies of a group, ascending, without the original.
    pub(super) fn of(&self, group: &CopyGroup) -> &[ObjectIndex] {
        &self.objects[group.start as usize..group.end as usize]
    }

    /// All copies of all groups.
    pub(super) fn all(&self) -> &[ObjectIndex] {
        &self.objects
    }
}

/// Objects whose hashes are equal: a range of entries. The first is the original.
#[derive(Clone, Copy)]
struct Candidates {
    original: ObjectIndex,
    start: u32,
    end: u32,
}

fn object_of(entry: u64) -> ObjectIndex {
    ObjectIndex(entry as u32)
}

impl Context<'_> {
    /// Groups objects by contents. An entry has a part of the hash in its upper bits, and the object in its
    /// lower bits.
    pub(super) fn copies(
        &self,
        mut entries: Vec<u64>,
        sizes: &[u32],
        step: &Step<'_>,
    ) -> Result<Copies> {
        let mut copies = Copies::default();
        let mut differing = Bits::new(sizes.len())?;
        // Objects that have the same hash, but differ from the original, are compared again without it.
        while !entries.is_empty() {
            entries.par_sort_unstable();
            step.advance(0)?;
            let candidates = self.candidates(&entries)?;
            self.compare(&candidates, &entries, sizes, &mut differing, step)?;
            let mut rest = Vec::new();
            for group in &candidates {
                let start = copies.objects.len() as u32;
                let mut savings = 0;
                for &entry in &entries[group.start as usize + 1..group.end as usize] {
                    let object = object_of(entry);
                    if differing.has(object) {
                        differing.remove(object);
                        columns::push(&mut rest, entry)?;
                    } else if self.heap.heap.objects.is_on_heap(object) {
                        columns::push(&mut copies.objects, object)?;
                        savings += u64::from(self.heap.heap.shallow_size(object));
                    }
                }
                let end = copies.objects.len() as u32;
                if end > start {
                    let original = group.original;
                    columns::push(
                        &mut copies.groups,
                        CopyGroup {
                            original,
                            start,
                            end,
                            savings,
                        },
                    )?;
                }
            }
            entries = rest;
        }
        Ok(copies)
    }

    /// The runs of equal hashes that have a heap object after the first, by their first object.
    fn candidates(&self, entries: &[u64]) -> Result<Vec<Candidates>> {
        let mut candidates = Vec::new();
        let mut start = 0;
        for run in entries.chunk_by(|left, right| left >> 32 == right >> 32) {
            let end = start + run.len();
            if let [first, .., last] = *run
                && self.heap.heap.objects.is_on_heap(object_of(last))
            {
                columns::push(
                    &mut candidates,
                    Candidates {
                        original: object_of(first),
                        start: start as u32,
                        end: end as u32,
                    },
                )?;
            }
            start = end;
        }
        candidates.par_sort_unstable_by_key(|group| group.original);
        Ok(candidates)
    }

    /// Finds the candidates whose contents differ from those of the first of their run.
    fn compare(
        &self,
        candidates: &[Candidates],
        entries: &[u64],
        sizes: &[u32],
        differing: &mut Bits,
        step: &Step<'_>,
    ) -> Result<()> {
        let classes = &self.heap.heap.objects.class_slots;
        // The object in the upper bits, and the position of the run among the candidates in the lower bits.
        let mut pairs: Vec<u64> = Vec::new();
        for (nth, group) in candidates.iter().enumerate() {
            let original = group.original.at();
            for &entry in &entries[group.start as usize + 1..group.end as usize] {
                let object = object_of(entry);
                let other = object.at();
                if (classes[other], sizes[other]) != (classes[original], sizes[original]) {
                    differing.add(object);
                } else if sizes[other] > 0 {
                    columns::push(&mut pairs, u64::from(object.0) << 32 | nth as u64)?;
                }
            }
        }
        pairs.par_sort_unstable();
        step.advance(0)?;
        let mut first = 0;
        while first < candidates.len() {
            let mut bytes = 0;
            let fitting = candidates[first..].iter().position(|group| {
                bytes += u64::from(kept_size(sizes[group.original.at()]));
                bytes > KEPT
            });
            let end = fitting.map_or(candidates.len(), |count| first + count.max(1));
            let kept = self.keep(&candidates[first..end], sizes)?;
            let differ = match end - first == candidates.len() {
                true => self.compare_with(&kept, first, candidates, &pairs, sizes, step)?,
                false => {
                    let range = first as u64..end as u64;
                    let mut part = Vec::new();
                    for &pair in &pairs {
                        if range.contains(&(pair & u64::from(u32::MAX))) {
                            columns::push(&mut part, pair)?;
                        }
                    }
                    self.compare_with(&kept, first, candidates, &part, sizes, step)?
                }
            };
            for object in differ {
                differing.add(object);
            }
            first = end;
        }
        Ok(())
    }

    fn address_and_size(&self, object: ObjectIndex, sizes: &[u32]) -> (u32, u32) {
        (self.heap.heap.address(object).0, sizes[object.at()])
    }

    /// Reads the contents of the first of each run.
    fn keep(&self, candidates: &[Candidates], sizes: &[u32]) -> Result<Kept> {
        let piece = |group: &Candidates| {
            let (address, size) = self.address_and_size(group.original, sizes);
            (address, kept_size(size))
        };
        let mut ends = columns::with_capacity(candidates.len())?;
        for chunk in candidates.chunks(ORIGINALS) {
            let mut end = 0;
            ends.extend(chunk.iter().map(|group| {
                end += piece(group).1;
                end
            }));
        }
        let chunks = candidates.par_chunks(ORIGINALS);
        let contents = chunks.map_init(
            || Reader::new(self.heap),
            |reader, chunk| {
                let mut contents = Vec::new();
                for nth in 0..chunk.len() {
                    let pieces = chunk[nth..].iter().map(piece);
                    columns::extend(&mut contents, read_ahead(reader, pieces)?)?;
                }
                Ok(contents)
            },
        );
        Ok(Kept {
            ends,
            contents: contents.collect::<Result<_>>()?,
        })
    }

    /// Compares objects with the kept contents of the first of their runs. These are kept from `first` on.
    fn compare_with(
        &self,
        kept: &Kept,
        first: usize,
        candidates: &[Candidates],
        pairs: &[u64],
        sizes: &[u32],
        step: &Step<'_>,
    ) -> Result<Vec<ObjectIndex>> {
        let object = |pair: u64| ObjectIndex((pair >> 32) as u32);
        let differing = pairs.par_chunks(PAIRS);
        let differing = differing.map_init(
            || Reader::new(self.heap),
            |reader, pairs| {
                let mut differing = Vec::new();
                for (nth, &pair) in pairs.iter().enumerate() {
                    let at = (pair as u32) as usize;
                    let other = object(pair);
                    let is_equal = if sizes[other.at()] > LARGEST_KEPT {
                        self.are_equal(candidates[at].original, other, sizes)?
                    } else {
                        let following = pairs[nth..].iter().map(|&pair| {
                            let (address, size) = self.address_and_size(object(pair), sizes);
                            (address, kept_size(size))
                        });
                        read_ahead(reader, following)? == kept.of(at - first)
                    };
                    if !is_equal {
                        columns::push(&mut differing, other)?;
                    }
                }
                step.advance(0)?;
                Ok(differing)
            },
        );
        let differing: Vec<Vec<ObjectIndex>> = differing.collect::<Result<_>>()?;
        Ok(differing.concat())
    }

    /// Compares two large objects of the same size.
    fn are_equal(&self, left: ObjectIndex, right: ObjectIndex, sizes: &[u32]) -> Result<bool> {
        let [left, right] = [left, right].map(|object| self.address_and_size(object, sizes));
        let [mut one, mut other] = [(); 2].map(|()| Reader::new(self.heap));
        for offset in (0..left.1).step_by(LONG_WINDOW as usize) {
            let length = (left.1 - offset).min(LONG_WINDOW);
            if one.read(left.0 + offset, length)? != other.read(right.0 + offset, length)? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// The number of bytes that are kept of an object of this size.
fn kept_size(size: u32) -> u32 {
    match size > LARGEST_KEPT {
        true => 0,
        false => size,
    }
}

/// Contents of objects.
struct Kept {
    /// The end of each object's contents in their chunk.
    ends: Vec<u32>,
    contents: Vec<Vec<u8>>,
}

impl Kept {
    fn of(&self, nth: usize) -> &[u8] {
        let start = match nth % ORIGINALS {
            0 => 0,
            _ => self.ends[nth - 1] as usize,
        };
        &self.contents[nth / ORIGINALS][start..self.ends[nth] as usize]
    }
}
