//! Heap snapshots of V8.

use base::control::Control;
use base::error::Result;
use base::input::{Input, ReadBytes};
use heap::Heap;
use questions::LoadedHeap;
use v8::{ModuleNames, SnapshotError, TypeNames};
use wasm::ModuleError;
use wasm::gc_names::GcNames;

/// The names that a module of WasmGC gives to its types, fields and globals.
///
/// # Errors
/// [`SnapshotError::OtherModule`] around the file that is not such a module,
/// [`Error::Aborted`](base::Error::Aborted).
pub(crate) fn module_names(
    module: &Input<'_, impl AsRef<[u8]>>,
    control: &Control,
) -> Result<ModuleNames> {
    let names = match GcNames::read(module.bytes.as_ref(), control) {
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
    v8::analyze(snapshot, None, control)
}

/// Opens a snapshot for questions. The bytes are dropped as soon as they are read.
///
/// # Errors
/// As [`analyze_snapshot`].
pub fn open_snapshot(snapshot: Input<'_, impl ReadBytes>, control: &Control) -> Result<LoadedHeap> {
    open_named(snapshot, None, control)
}

/// The same with the names of [`module_names`].
pub(crate) fn open_named(
    snapshot: Input<'_, impl ReadBytes>,
    names: Option<&ModuleNames>,
    control: &Control,
) -> Result<LoadedHeap> {
    let name = snapshot.name;
    let snapshot = v8::open(snapshot, names, control)?;
    Ok(LoadedHeap::new(snapshot.opened, name))
}
