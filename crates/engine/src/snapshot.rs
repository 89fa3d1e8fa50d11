//! Heap snapshots of V8.

use base::control::Control;
use base::error::Result;
use base::input::Input;
use heap::Heap;
use questions::LoadedHeap;

/// Analyzes a snapshot. The bytes are dropped as soon as they are read.
///
/// # Errors
/// [`Error::InFile`](base::Error::InFile) around every error of the snapshot;
/// [`Error::OutOfMemory`](base::Error::OutOfMemory) and [`Error::Aborted`](base::Error::Aborted) without it.
pub fn analyze_snapshot(snapshot: Input<'_, impl AsRef<[u8]>>, control: &Control) -> Result<Heap> {
    v8::analyze(snapshot, control)
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
    Ok(LoadedHeap::new(v8::open(snapshot, control)?, name))
}
