//! Finds the referenced raw blocks: a conservative scan of all memory that the program can read. Any word
//! that has the value of an address inside a block counts as a reference.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;

use super::DumpSource;
use super::memory::{MemoryReader, word_at};
use crate::runtime::objects::HEADER_SIZE;
use crate::warning::ManagedWarning;
use base::columns;
use base::control::{CHECK_INTERVAL, Control, Phase};
use base::error::Result;
use base::units::ObjectIndex;
use base::warning::Warning;
use heap::RawTable;

/// Bytes that one task scans.
const WINDOW: u64 = 1 << 20;

/// A word that begins in a window may have this number of bytes after the window, because the stack pointer
/// need not be aligned.
const STRADDLING: u64 = 3;

/// The number of blocks per window above which reading whole windows is faster than reading single blocks.
const DENSE: u64 = 16;

impl DumpSource {
    /// The raw blocks to which nothing refers, ascending; `None` if values that could refer to them are
    /// not in the dump.
    pub(super) fn find_unreferenced(
        &self,
        raw: &RawTable,
        notes: &mut Vec<Warning>,
        control: &Control,
    ) -> Result<Option<Vec<u32>>> {
        let map = &self.memory_map;
        let Some(global_values) = &map.global_values else {
            notes.push(ManagedWarning::RawBlocksNotScanned.into());
            return Ok(None);
        };
        if raw.is_empty() {
            return Ok(Some(Vec::new()));
        }
        let marks = Marks::new(raw)?;
        for &value in global_values {
            marks.mark(value);
        }
        self.scan_live_memory(&marks, control)?;
        self.follow_raw_blocks(&marks, control)?;
        let mut lost = Vec::new();
        for nth in (0..raw.len() as u32).filter(|&nth| !marks.contains(nth)) {
            columns::push(&mut lost, nth)?;
        }
        notes.push(
            ManagedWarning::RawBlocksEstimated {
                wide_globals: map.wide_globals,
            }
            .into(),
        );
        Ok(Some(lost))
    }

    /// Scans all words of live objects, and of memory that is not in a block.
    fn scan_live_memory(&self, marks: &Marks<'_>, control: &Control) -> Result<()> {
        let windows = self.memory_size.div_ceil(WINDOW);
        let step = control.begin(Phase::References, windows);
        (0..windows)
            .into_par_iter()
            .try_for_each_init(Vec::new, |bytes, nth| {
                let start = nth * WINDOW;
                let end = (start + WINDOW).min(self.memory_size);
                self.scan_window(start..end, bytes, marks, control)?;
                step.advance(1)
            })
    }

    fn scan_window(
        &self,
        window: Range<u64>,
        bytes: &mut Vec<u8>,
        marks: &Marks<'_>,
        control: &Control,
    ) -> Result<()> {
        let objects = &self.heap.objects;
        let addresses = objects.addresses.words();
        let first = addresses.partition_point(|&address| u64::from(address) <= window.start);
        let end = addresses.partition_point(|&address| u64::from(address) < window.end);
        let range = (first.saturating_sub(1)..end).map(|nth| ObjectIndex(nth as u32));
        let live = || {
            range
                .clone()
                .filter(|&object| self.heap.is_live_on_heap(object))
        };
        let others = self
            .memory_map
            .others
            .iter()
            .filter_map(|other| within(other, &window));
        if live().next().is_none() && others.clone().next().is_none() {
            return Ok(());
        }
        let end = (window.end + STRADDLING).min(self.memory_size);
        let size = (end - window.start) as usize;
        bytes.clear();
        columns::reserve(bytes, size)?;
        bytes.resize(size, 0);
        self.contents
            .read_at(self.memory_start + window.start, bytes)?;
        for range in others {
            marks.mark_all(&bytes[range]);
        }
        for object in live() {
            let address = u64::from(addresses[object.at()]);
            let room = objects.shallow_sizes[object.at()].saturating_sub(HEADER_SIZE);
            let stated = match (address - 4).checked_sub(window.start) {
                Some(at) => word_at(bytes, at as usize),
                None => MemoryReader::new(self, control).word((address - 4) as u32)?,
            };
            let payload = address..address + u64::from(stated.unwrap_or(0).min(room));
            if let Some(range) = within(&payload, &window) {
                marks.mark_all(&bytes[range]);
            }
        }
        Ok(())
    }

    /// Scans all words of referenced blocks, and of the blocks to which these refer.
    fn follow_raw_blocks(&self, marks: &Marks<'_>, control: &Control) -> Result<()> {
        let raw = marks.raw;
        let step = control.begin(Phase::Search, raw.len() as u64);
        let mut pending = Vec::new();
        for nth in (0..raw.len() as u32).filter(|&nth| marks.contains(nth)) {
            columns::push(&mut pending, nth)?;
        }
        while !pending.is_empty() {
            let is_dense = pending.len() as u64 * (WINDOW / DENSE) >= self.memory_size;
            let mut reader = if is_dense {
                MemoryReader::sequential(self, control)
            } else {
                MemoryReader::new(self, control)
            };
            let mut found = Vec::new();
            for (done, &nth) in pending.iter().enumerate() {
                if done.is_multiple_of(CHECK_INTERVAL) {
                    step.advance(CHECK_INTERVAL as u64)?;
                }
                let mut start = raw.payload(nth);
                let mut left = raw.size(nth).saturating_sub(4);
                while left > 0 {
                    let length = left.min(WINDOW as u32);
                    for word in words(reader.read(start, length)?) {
                        if let Some(new) = marks.mark(word) {
                            columns::push(&mut found, new)?;
                        }
                    }
                    left -= length;
                    start = start.saturating_add(length);
                    step.advance(0)?;
                }
            }
            // Sorted by address, so that the dump is read from the start to the end.
            found.sort_unstable();
            pending = found;
        }
        Ok(())
    }
}

/// The words of a range that begin in a window, from the start of the window on.
fn within(range: &Range<u64>, window: &Range<u64>) -> Option<Range<usize>> {
    let skipped = window.start.saturating_sub(range.start);
    let start = range.start + skipped.next_multiple_of(4);
    let end = range.end.min(window.end + STRADDLING);
    (start < end).then(|| (start - window.start) as usize..(end - window.start) as usize)
}

fn words(bytes: &[u8]) -> impl Iterator<Item = u32> {
    dumps::Memory::new(bytes).words()
}

/// The referenced raw blocks.
struct Marks<'r> {
    raw: &'r RawTable,
    /// One bit per block.
    bits: Vec<AtomicU64>,
}

impl<'r> Marks<'r> {
    fn new(raw: &'r RawTable) -> Result<Self> {
        let words = (0..raw.len().div_ceil(64)).map(|_| AtomicU64::new(0));
        Ok(Self {
            raw,
            bits: columns::collected(words)?,
        })
    }

    fn contains(&self, nth: u32) -> bool {
        self.bits[nth as usize / 64].load(Ordering::Relaxed) & (1 << (nth % 64)) != 0
    }

    /// Marks the block that a word points into; returns it if it was not marked before.
    #[inline]
    fn mark(&self, word: u32) -> Option<u32> {
        let nth = self.raw.containing(word)?;
        if self.contains(nth) {
            return None;
        }
        let bit = 1 << (nth % 64);
        let before = self.bits[nth as usize / 64].fetch_or(bit, Ordering::Relaxed);
        (before & bit == 0).then_some(nth)
    }

    fn mark_all(&self, bytes: &[u8]) {
        for word in words(bytes) {
            self.mark(word);
        }
    }
}
