//! Finds all objects and roots: a parallel walk over the segments.

use rayon::prelude::*;

use crate::HprofError;
use crate::bytes::IdSize;
use crate::heap_records::{ObjectRecord, RecordSink, RootRecord, SegmentEnd, walk};
use crate::outline::{HeapSegment, Outline};
use base::columns;
use base::control::{CHECK_INTERVAL, Control, Phase, Step};
use base::error::Result;
use base::input::Release;

/// The bytes of segments that are one piece of work, about.
const PIECE: u64 = 4 << 20;

/// An object: its id, and the offset of its record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ObjectPlace {
    pub(crate) id: u64,
    pub(crate) at: u64,
}

/// All objects and roots of a file.
#[derive(Debug, Default)]
pub(crate) struct FoundRecords {
    /// Ascending by id; no id twice.
    pub(crate) objects: Vec<ObjectPlace>,
    pub(crate) roots: Vec<RootRecord>,
    /// Offsets of the records of classes.
    pub(crate) classes: Vec<u64>,
    /// Where the file is cut: at most the length of the file.
    pub(crate) cut: Option<u64>,
}

/// The file while it is read.
#[derive(Clone, Copy)]
pub(crate) struct HprofReading<'a> {
    pub(crate) file: &'a [u8],
    pub(crate) release: Release<'a>,
    pub(crate) ids: IdSize,
    /// Whether what comes before damage is read.
    pub(crate) is_partial: bool,
}

struct Sink<'s, 'c> {
    found: FoundRecords,
    unreported: usize,
    step: &'s Step<'c>,
}

impl RecordSink for Sink<'_, '_> {
    fn root(&mut self, root: RootRecord) -> Result<()> {
        columns::push(&mut self.found.roots, root)
    }

    #[inline]
    fn object(&mut self, object: ObjectRecord, at: u64) -> Result<()> {
        self.unreported += 1;
        if self.unreported == CHECK_INTERVAL {
            self.unreported = 0;
            self.step.control().count(CHECK_INTERVAL as u64)?;
        }
        if let ObjectRecord::Class { .. } = object {
            columns::push(&mut self.found.classes, at)?;
        }
        columns::push(
            &mut self.found.objects,
            ObjectPlace {
                id: object.id(),
                at,
            },
        )
    }
}

/// Walks over all segments.
///
/// # Errors
/// [`HprofError`], [`Error::OutOfMemory`](base::Error::OutOfMemory), [`Error::Aborted`](base::Error::Aborted).
pub(crate) fn scan(
    outline: &Outline,
    reading: HprofReading<'_>,
    control: &Control,
) -> Result<FoundRecords> {
    let bytes: u64 = outline.segments.iter().map(length).sum();
    let step = control.begin(Phase::Blocks, bytes);
    let pieces = pieces(&outline.segments);
    let found: Vec<Result<FoundRecords>> = pieces
        .par_iter()
        .map(|&piece| scan_piece(piece, outline.is_cut, reading, &step))
        .collect();
    let mut all = FoundRecords::default();
    for piece in found {
        let piece = piece?;
        columns::extend(&mut all.objects, &piece.objects)?;
        columns::extend(&mut all.roots, &piece.roots)?;
        columns::extend(&mut all.classes, &piece.classes)?;
        all.cut = all.cut.or(piece.cut);
    }
    if outline.is_cut {
        all.cut = all.cut.or(Some(reading.file.len() as u64));
    }
    all.order(reading.is_partial)?;
    Ok(all)
}

fn length(segment: &HeapSegment) -> u64 {
    segment.range.end - segment.range.start
}

/// Neighbours that are read together.
fn pieces(segments: &[HeapSegment]) -> Vec<&[HeapSegment]> {
    let mut pieces = Vec::new();
    let mut first = 0;
    let mut bytes = 0;
    for (nth, segment) in segments.iter().enumerate() {
        bytes += length(segment);
        if bytes >= PIECE || nth + 1 == segments.len() {
            pieces.push(&segments[first..=nth]);
            (first, bytes) = (nth + 1, 0);
        }
    }
    pieces
}

fn scan_piece(
    segments: &[HeapSegment],
    is_cut: bool,
    reading: HprofReading<'_>,
    step: &Step<'_>,
) -> Result<FoundRecords> {
    let mut sink = Sink {
        found: FoundRecords::default(),
        unreported: 0,
        step,
    };
    let length = reading.file.len() as u64;
    for segment in segments {
        let range = segment.range.clone();
        step.advance(range.end - range.start)?;
        match walk(reading.file, range.clone(), reading.ids, &mut sink)? {
            SegmentEnd::Complete => {}
            SegmentEnd::Cut(at) if range.end == length && (is_cut || segment.is_open) => {
                sink.found.cut = Some(at);
            }
            SegmentEnd::Cut(at) => {
                let message = format!(
                    "the record does not end before its segment does, at offset {}",
                    range.end
                );
                return Err(HprofError::at(at, message).into());
            }
        }
        (reading.release)(range.start as usize..range.end as usize);
    }
    if let (Some(length), false) = (sink.found.cut, reading.is_partial) {
        let expected = "a record of the heap";
        return Err(HprofError::Truncated { length, expected }.into());
    }
    Ok(sink.found)
}

impl FoundRecords {
    /// Puts objects in the order of their ids. Of two with one id, the first counts if the file is damaged anyway.
    fn order(&mut self, is_partial: bool) -> Result<()> {
        self.objects.par_sort_unstable();
        let twice = self
            .objects
            .par_windows(2)
            .find_first(|pair| pair[0].id == pair[1].id)
            .map(|pair| pair[1]);
        if let Some(second) = twice {
            if !is_partial {
                let message = format!("two objects have the id {:#x}", second.id);
                return Err(HprofError::at(second.at, message).into());
            }
            self.objects.dedup_by_key(|object| object.id);
        }
        let null = self.objects.first().filter(|object| object.id == 0);
        if let Some(null) = null {
            return Err(HprofError::at(null.at, "an object has the id 0").into());
        }
        if self.objects.len() >= MOST_OBJECTS {
            let message = format!("{} objects: expected fewer than 2²⁸", self.objects.len());
            return Err(HprofError::at(0, message).into());
        }
        self.roots.sort_unstable();
        self.roots.dedup();
        self.classes.sort_unstable();
        Ok(())
    }
}

/// Paths count at most this many objects.
const MOST_OBJECTS: usize = (1 << 28) - 1;
