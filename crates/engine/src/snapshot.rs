//! Heap snapshots of V8.

use std::sync::Arc;

use base::control::Control;
use base::error::Result;
use base::file_kind::FileKind;
use base::input::{Input, ReadBytes};
use base::tolerance::Tolerance;
use heap::{Heap, Opened};
use questions::LoadedHeap;
use v8::{ModuleNames, SnapshotError, TypeNames};
use wasm::ModuleError;
use wasm::gc_names::GcNames;

use crate::Schedule;
use crate::format::{FileBytes, Format, Indexing, Inputs, KeepableBytes};

/// The names that a module of WasmGC gives to its types, fields and globals.
///
/// # Errors
/// [`SnapshotError::OtherModule`] around the file that is not such a module,
/// [`Error::Aborted`](base::Error::Aborted).
fn module_names(module: &Input<'_>, control: &Control) -> Result<ModuleNames> {
    let names = match GcNames::read(module.bytes, control) {
        Err(error) if matches!(error.own(), Some(ModuleError::Unreadable { .. })) => {
            GcNames::default()
        }
        read => read?,
    };
    if !names.has_objects {
        return Err(SnapshotError::OtherModule.into());
    }
    let owned = |name: &str| name.to_owned();
    let types = names.types.iter().map(|ty| TypeNames {
        name: ty.name.map(owned),
        fields: ty
            .fields
            .iter()
            .map(|(&nth, name)| (nth, owned(name)))
            .collect(),
    });
    Ok(ModuleNames {
        types: types.collect(),
        globals: names.globals.iter().map(|name| name.map(owned)).collect(),
    })
}

/// Analyzes a snapshot. The bytes are dropped as soon as they are read.
///
/// # Errors
/// [`Error::InFile`](base::Error::InFile) around every error of the snapshot;
/// [`Error::OutOfMemory`](base::Error::OutOfMemory) and [`Error::Aborted`](base::Error::Aborted) without it.
pub fn analyze_snapshot(snapshot: Input<'_, impl ReadBytes>, control: &Control) -> Result<Heap> {
    v8::analyze(snapshot, None, Tolerance::default(), control)
}

/// Opens a snapshot for questions. The bytes are dropped as soon as they are read.
///
/// # Errors
/// As [`analyze_snapshot`].
pub fn open_snapshot(snapshot: Input<'_, impl ReadBytes>, control: &Control) -> Result<LoadedHeap> {
    open_named(snapshot, None, Tolerance::default(), control)
}

/// The format of heap snapshots.
pub(crate) struct HeapSnapshot;

impl Format for HeapSnapshot {
    fn recognise(&self, head: &[u8]) -> bool {
        FileKind::of(head) == Some(FileKind::Json)
    }

    fn is_memory(&self) -> bool {
        false
    }

    fn analyze(&self, inputs: Inputs<'_, FileBytes<'_>>, control: &Control) -> Result<Heap> {
        let names = names_for(&inputs, control)?;
        let tolerance = inputs.reading.tolerance;
        v8::analyze(inputs.file, names.as_ref(), tolerance, control)
    }

    /// One after the other. The names of a module are those of both.
    fn analyze_both(
        &self,
        [before, after]: [Inputs<'_, FileBytes<'_>>; 2],
        _: Schedule,
        control: &Control,
    ) -> Result<[Arc<Heap>; 2]> {
        let names = names_for(&before, control)?;
        let tolerance = before.reading.tolerance;
        let before = open_named(before.file, names.as_ref(), tolerance, control)?;
        let after = open_named(after.file, names.as_ref(), tolerance, control)?;
        before.check_same_module(&after)?;
        let earlier = after.earlier_heap(&before, control)?;
        Ok([earlier, Arc::clone(after.heap())])
    }

    /// No question reads a snapshot again.
    fn open(
        &self,
        inputs: Inputs<'_, KeepableBytes<'_>>,
        _: Indexing,
        control: &Control,
    ) -> Result<Opened> {
        let names = names_for(&inputs, control)?;
        let tolerance = inputs.reading.tolerance;
        Ok(v8::open(inputs.file, names.as_ref(), tolerance, control)?.opened)
    }
}

/// The names for the objects of WasmGC in a snapshot, if there is a module.
fn names_for<Bytes>(inputs: &Inputs<'_, Bytes>, control: &Control) -> Result<Option<ModuleNames>> {
    let names = inputs.module.map(|module| module_names(&module, control));
    names
        .transpose()
        .map_err(|error| error.in_file(inputs.file.name))
}

/// The same with the names of [`module_names`].
fn open_named(
    snapshot: Input<'_, impl ReadBytes>,
    names: Option<&ModuleNames>,
    tolerance: Tolerance,
    control: &Control,
) -> Result<LoadedHeap> {
    let name = snapshot.name;
    let snapshot = v8::open(snapshot, names, tolerance, control)?;
    Ok(LoadedHeap::new(snapshot.opened, name))
}
