//! A loaded heap in the formats of other tools.
//!
//! An export is written to any [`Write`] while it is made: what it needs beside the heap does not grow
//! with the output. Equal heaps give equal bytes.

mod heap_diff;
mod heap_snapshot;
mod object_set;
mod output;
mod parquet;
mod path_sums;
mod pprof;
mod profile;
mod profile_writer;

use std::io::Write;

use schemars::JsonSchema;
use serde::Deserialize;

pub use heap_diff::HeapDiffOptions;
pub use heap_snapshot::HeapSnapshotOptions;
pub use parquet::{DumpFacts, ParquetOptions, ParquetTable, Unreadable, unreadable_dump};
pub use profile::{CallFrame, CallProfile, CallSample, sampled_blocks};

use base::control::Control;
use base::error::{Error, Result};
use questions::LoadedHeap;
use questions::QuestionError;
use questions::not_in_heap;

/// A format with its options, in the form in which the command line and the API name them.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(tag = "format", rename_all = "kebab-case")]
pub enum Export {
    /// Chrome's heap snapshot, which DevTools and memlab read.
    #[serde(rename = "heapsnapshot")]
    HeapSnapshot(HeapSnapshotOptions),
    /// The live objects by path as a profile, which pprof and speedscope read.
    Pprof {},
    /// What grew since an earlier heap, as a line of JSON each.
    HeapDiff(HeapDiffOptions),
    /// A table of Apache Parquet, for questions about many dumps.
    Parquet(Box<ParquetOptions>),
}

impl Export {
    /// Whether the format compares with an earlier heap.
    fn needs_earlier_heap(&self) -> bool {
        match self {
            Self::HeapSnapshot(_) | Self::Pprof {} | Self::Parquet(_) => false,
            Self::HeapDiff(_) => true,
        }
    }

    /// Checks that an earlier heap is given if and only if the format compares with one.
    ///
    /// # Errors
    /// [`QuestionError::InvalidOption`].
    pub fn check_earlier_heap(&self, is_given: bool) -> Result<()> {
        if self.needs_earlier_heap() == is_given {
            Ok(())
        } else {
            Err(self.wrong_earlier_heap())
        }
    }

    /// Checks that tables name a module if and only if the heap is that of a dump.
    ///
    /// # Errors
    /// [`QuestionError::InvalidOption`].
    pub fn check_module(&self, heap: &LoadedHeap) -> Result<()> {
        let Self::Parquet(options) = self else {
            return Ok(());
        };
        let (found, expected) = match (&options.dump.module_id, heap.source().facts().has_module) {
            (None, true) => ("none", "the SHA-256 of the module of the dump"),
            (Some(id), false) => (id.as_str(), "none: a heap snapshot of V8 has no module"),
            _ => return Ok(()),
        };
        Err(QuestionError::InvalidOption {
            name: "moduleId",
            found: found.to_owned(),
            expected,
        }
        .into())
    }

    fn wrong_earlier_heap(&self) -> Error {
        let (found, expected) = if self.needs_earlier_heap() {
            ("none", "an earlier heap, which this format compares with")
        } else {
            ("an earlier heap", "none: this format shows one heap")
        };
        Error::from(QuestionError::InvalidOption {
            name: "before",
            found: found.to_owned(),
            expected,
        })
    }
}

/// Writes the heap in a format. Formats that compare need an earlier heap, `before`; others take none.
///
/// # Errors
/// [`QuestionError::InvalidOption`] if an earlier heap or the id of a module is missing or given in vain,
/// `ERR_NOT_IN_SNAPSHOT` for a heap snapshot of a heap snapshot, `ERR_NOT_IN_JOINED` for heaps that were joined, [`Error::Io`] if `out` fails;
/// [`HeapError::DumpChanged`](heap::HeapError::DumpChanged) and [`Error::Io`] if the dump cannot be read again,
/// [`Error::OutOfMemory`], [`Error::Aborted`].
pub fn export(
    loaded: &LoadedHeap,
    export: &Export,
    before: Option<&LoadedHeap>,
    out: &mut dyn Write,
    control: &Control,
) -> Result<()> {
    for heap in [Some(loaded), before].into_iter().flatten() {
        if heap.source().joined().is_some() {
            const REASON: &str =
                "no format has sizes of two heaps; ask it without the heap of the host";
            return Err(not_in_heap(heap.source(), "export", REASON));
        }
    }
    if let Export::HeapSnapshot(_) = export
        && loaded.source().facts().format == Some("heapsnapshot")
    {
        const REASON: &str = "it is one already: open the file itself in DevTools or memlab";
        return Err(not_in_heap(loaded.source(), "export heapsnapshot", REASON));
    }
    export.check_module(loaded)?;
    let contents = loaded.source().all_contents();
    let control = control.part(contents.map_or(0, |contents| contents.size()));
    match (export, before) {
        (Export::HeapSnapshot(options), None) => {
            heap_snapshot::write(loaded, *options, out, &control)
        }
        (Export::Pprof {}, None) => pprof::write(loaded, out, &control),
        (Export::Parquet(options), None) => parquet::write(loaded, options, out, &control),
        (Export::HeapDiff(options), Some(before)) => {
            heap_diff::write(before, loaded, options, out, &control)
        }
        _ => Err(export.wrong_earlier_heap()),
    }
}
