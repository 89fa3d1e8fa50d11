//! Heap snapshots of V8 (`.heapsnapshot`), as Node and Chrome write them: a second input for the same heap.
//!
//! The text is read into columns, without a tree of values. The rules by which DevTools reads a snapshot are
//! applied to them: which references keep what alive, the attribution of hidden sizes, the classes and the
//! distances. The result is a [`Heap`], and all views and questions read it like that of a
//! dump. It has no memory: what a snapshot does not say, such as garbage and free blocks, is absent.

mod allocations;
mod attribution;
mod calls;
mod categories;
mod classes;
mod distances;
mod edge_columns;
mod entries;
mod ephemerons;
mod error;
mod fields;
mod graph;
mod host_names;
mod host_view;
mod json;
mod meta;
mod module_names;
mod names;
mod node_columns;
mod numbers;
mod order;
mod other_edges;
mod place_finder;
mod places;
mod program_names;
mod raw;
mod reached;
mod reader;
mod roots;
mod script_path;
mod scripts;
mod shown_object;
mod source;
mod stretch;
mod strings;
mod tables;
mod warning;

pub use error::SnapshotError;
pub use host_view::HostView;
pub use module_names::{ModuleNames, TypeNames};

pub(crate) use strings::{code_units, length};

use std::sync::Arc;

use names::SnapshotNames;
use source::SnapshotSource;

use crate::warning::SnapshotWarning;
use base::control::Control;
use base::error::Result;
use base::file_kind::{FileKind, FileStart};
use base::input::{Input, ReadBytes};
use base::tolerance::Tolerance;
use heap::{Heap, Opened, RootSlots};

/// Analyzes a snapshot. The bytes are dropped as soon as they are read. Objects of WasmGC get the names of their
/// module, if it is given.
///
/// # Errors
/// [`Error::InFile`](base::Error::InFile) around every error of the snapshot, such as [`SnapshotError::OtherModule`] if
/// it has no instance of the module; [`Error::OutOfMemory`](base::Error::OutOfMemory) and
/// [`Error::Aborted`](base::Error::Aborted) without it.
pub fn analyze(
    snapshot: Input<'_, impl ReadBytes>,
    names: Option<&ModuleNames>,
    tolerance: Tolerance,
    control: &Control,
) -> Result<Heap> {
    Ok(solved(snapshot, names, tolerance, false, control)?.0)
}

/// Opens a snapshot for questions. The bytes are dropped as soon as they are read.
///
/// # Errors
/// As [`analyze`].
pub fn open(
    snapshot: Input<'_, impl ReadBytes>,
    names: Option<&ModuleNames>,
    tolerance: Tolerance,
    control: &Control,
) -> Result<Snapshot> {
    let (heap, roots, names) = solved(snapshot, names, tolerance, true, control)?;
    let (heap, names) = (Arc::new(heap), Arc::new(names));
    let source = SnapshotSource::new(Arc::clone(&heap), Arc::clone(&names));
    let opened = Opened {
        heap,
        roots,
        source: Box::new(source),
        indexes: None,
    };
    Ok(Snapshot { opened, names })
}

/// A snapshot that was opened.
pub struct Snapshot {
    /// Its heap, for questions.
    pub opened: Opened,
    names: Arc<SnapshotNames>,
}

impl Snapshot {
    /// What a join reads of it.
    pub fn view(&self) -> HostView<'_> {
        HostView::new(&self.opened.heap, &self.names)
    }
}

fn solved(
    snapshot: Input<'_, impl ReadBytes>,
    names: Option<&ModuleNames>,
    tolerance: Tolerance,
    for_questions: bool,
    control: &Control,
) -> Result<(Heap, RootSlots, SnapshotNames)> {
    let part = control.part(snapshot.bytes.as_ref().len() as u64);
    let bytes = snapshot.bytes.as_ref();
    let read = match FileKind::of(bytes) {
        Some(FileKind::Json) => {
            let release = |range| snapshot.bytes.release(range);
            reader::read(bytes, &release, tolerance.damage, &part)
        }
        _ => Err(SnapshotError::NotASnapshot {
            found: FileStart::of(bytes),
        }
        .into()),
    };
    let name = snapshot.name;
    let length = bytes.len() as u64;
    let mut raw = read.map_err(|error| error.in_file(snapshot.name))?;
    // The bytes may be a mapping, which is not needed any more.
    drop(snapshot);
    if let Some(names) = names {
        let named = raw.name_by_module(names, &part);
        named.map_err(|error| error.in_file(name))?;
    }
    let solved = graph::solve(raw, for_questions, &part);
    let (mut heap, roots, names) = solved.map_err(|error| error.in_file(name))?;
    if heap.is_partial {
        heap.warnings
            .push(SnapshotWarning::TextsCut { length }.into());
    }
    Ok((heap, roots, names))
}
