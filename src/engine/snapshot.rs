//! Heap snapshots of V8.

use crate::control::Control;
use crate::error::Result;
use crate::file_kind::FileKind;
use crate::heap::Heap;
use crate::input::Input;
use crate::questions::LoadedHeap;
use crate::snapshots;

/// Whether a file is a snapshot, judged by its first bytes.
pub fn is_snapshot(bytes: &[u8]) -> bool {
    FileKind::of(bytes) == Some(FileKind::Json)
}

/// Analyzes a snapshot. The bytes are dropped as soon as they are read.
///
/// # Errors
/// [`Error::InFile`](crate::Error::InFile) around every error of the snapshot;
/// [`Error::OutOfMemory`](crate::Error::OutOfMemory) and [`Error::Aborted`](crate::Error::Aborted) without it.
pub fn analyze_snapshot(snapshot: Input<'_, impl AsRef<[u8]>>, control: &Control) -> Result<Heap> {
    snapshots::analyze(snapshot, control)
}

/// Opens a snapshot for questions. The bytes are dropped as soon as they are read.
///
/// # Errors
/// As [`analyze_snapshot`].
pub fn open_snapshot(
    snapshot: Input<'_, impl AsRef<[u8]>>,
    control: &Control,
) -> Result<LoadedHeap> {
    let name = snapshot.name;
    Ok(LoadedHeap::new(snapshots::open(snapshot, control)?, name))
}
