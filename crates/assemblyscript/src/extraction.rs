//! The graph of all references, read by all threads.
//!
//! Each thread scans a run of objects into a separate buffer. The buffers are then appended in address order,
//! and reused. Scanning everything twice, first to count and then to fill, would need no such buffers, but would read
//! the dump from memory twice.

use rayon::prelude::*;

use super::class_slots::DescribedClass;
use super::edge_run::{Anomalies, EdgeRun};
use super::edges::Scanner;
use super::memory_pages::MemoryPages;
use super::own_visits::OwnVisits;
use super::reference_types::ReferenceTypes;
use super::scanned_class::ScannedClass;
use crate::AssemblyScriptError;
use crate::runtime::classes::Classes;
use crate::runtime::shapes::ClassShape;
use base::columns;
use base::control::Control;
use base::error::Result;
use base::units::ObjectIndex;
use dumps::Memory;
use heap::{Edges, ObjectTable};

/// Objects that one task scans.
const CHUNK: usize = 1 << 12;

/// The number of runs that a thread scans before the results are appended.
const CHUNKS_PER_THREAD: usize = 8;

/// What is known of the references of objects.
pub(super) struct KnownReferences<'a, 'd> {
    pub(super) classes: &'a [DescribedClass],
    pub(super) known: &'a Classes<'d>,
    /// What visitors of classes visited that were run on the objects.
    pub(super) visits: &'a OwnVisits,
    /// The shapes of the classes, if references get labels.
    pub(super) shapes: Option<&'a [ClassShape]>,
}

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
    /// [`AssemblyScriptError::TooManyReferences`] if there are more references than the memory has words, or if far more
    /// words would have to be read, which is only possible if containers refer to the same buffers;
    /// [`Error::OutOfMemory`](base::Error::OutOfMemory); [`Error::Aborted`](base::Error::Aborted).
    pub(super) fn extract(
        memory: Memory<'_>,
        objects: &ObjectTable,
        references: KnownReferences<'_, '_>,
        pages: MemoryPages<'_>,
        control: &Control,
    ) -> Result<(Edges, Anomalies)> {
        let KnownReferences {
            classes,
            known,
            visits,
            shapes,
        } = references;
        let mut types = ReferenceTypes::new(classes, known, &objects.class_slots)?;
        let shapes_or_none = shapes.unwrap_or_default();
        let classes = ScannedClass::all(classes, types.take_classes(), shapes_or_none);
        let scanner = Scanner::new(memory, objects, classes, visits, types, control);
        let (found, anomalies) = match shapes {
            Some(_) => Self::scan::<true>(&scanner, pages),
            None => Self::scan::<false>(&scanner, pages),
        }?;
        let Self {
            offsets,
            targets,
            labels,
        } = found;
        let edges = Edges::with_narrow_labels(offsets, targets, labels);
        Ok((edges, anomalies))
    }

    fn scan<const LABELLED: bool>(
        scanner: &Scanner<'_>,
        mut pages: MemoryPages<'_>,
    ) -> Result<(Self, Anomalies)> {
        let count = scanner.shared.objects.len();
        let mut edges = Self::default();
        columns::reserve(&mut edges.offsets, count + 1)?;
        edges.offsets.push(0);
        let mut anomalies = Anomalies::default();
        let mut runs: Vec<EdgeRun> = Vec::new();
        runs.resize_with(
            rayon::current_num_threads() * CHUNKS_PER_THREAD,
            EdgeRun::default,
        );
        for first in (0..count).step_by(CHUNK * runs.len()) {
            runs.par_iter_mut().enumerate().try_for_each(|(nth, run)| {
                let start = (first + nth * CHUNK).min(count);
                let end = (start + CHUNK).min(count);
                scanner.scan_all::<LABELLED>(start..end, run)?;
                scanner.shared.step.advance((end - start) as u64)
            })?;
            for run in &runs {
                edges.append(run, scanner.shared.limit)?;
                anomalies.append(&run.anomalies)?;
            }
            let next = first + CHUNK * runs.len();
            if let Some(&payload) = scanner.shared.objects.addresses.words().get(next) {
                pages.release_to(payload);
            }
        }
        edges.targets.shrink_to_fit();
        edges.labels.shrink_to_fit();
        Ok((edges, anomalies))
    }

    fn append(&mut self, run: &EdgeRun, limit: u64) -> Result<()> {
        let needed = self.targets.len() + run.targets().len();
        if needed as u64 > limit {
            return Err(AssemblyScriptError::TooManyReferences { limit }.into());
        }
        if needed > self.targets.capacity() {
            columns::reserve(&mut self.targets, needed)?;
        }
        let base = self.targets.len() as u32;
        self.targets.extend_from_slice(run.targets());
        if !run.labels.is_empty() {
            columns::extend(&mut self.labels, &run.labels)?;
        }
        self.offsets.extend(run.ends.iter().map(|&end| base + end));
        Ok(())
    }
}
