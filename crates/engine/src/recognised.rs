//! Recognises what a file is, and analyzes or opens it with the source that reads it. Who calls these functions need
//! not know which kinds of heaps there are.

use std::sync::Arc;

use crate::InputError;
use assemblyscript::{DumpBytes, Schedule};
use base::control::{Control, Phase};
use base::error::{Error, Result};
use base::file_kind::{FileKind, FileStart};
use base::input::Input;
use base::tolerance::Tolerance;
use heap::Heap;
use heap::HeapError;
use heap::views::{ComparisonSort, ComparisonView, Selection};
use questions::LoadedHeap;
use v8::SnapshotError;

use crate::program::Program;
use crate::snapshot::{analyze_snapshot, open_snapshot};

/// Analyzes a heap dump with its module, or a heap snapshot, which has none.
///
/// # Errors
/// [`InputError::SnapshotWithModule`], [`InputError::ModuleMissing`], [`SnapshotError::NotASnapshot`] if the file and the module do not
/// belong together; otherwise as [`Program::analyze`] and [`analyze_snapshot`].
pub fn analyze(
    file: Input<'_, impl AsRef<[u8]>>,
    module: Option<&Input<'_, impl AsRef<[u8]>>>,
    tolerance: Tolerance,
    control: &Control,
) -> Result<Heap> {
    if is_snapshot(&file, module.is_some())? {
        return analyze_snapshot(file, control);
    }
    let program = read_program(module, &file, control)?.tolerating(tolerance);
    program.analyze(file, control)
}

/// Compares two dumps of one module, or two snapshots of one process.
///
/// # Errors
/// [`HeapError::DumpWithSnapshot`]; otherwise as [`analyze`].
pub fn compare<Bytes: AsRef<[u8]> + Send>(
    [before, after]: [Input<'_, Bytes>; 2],
    module: Option<&Input<'_, impl AsRef<[u8]>>>,
    tolerance: Tolerance,
    schedule: Schedule,
    selection: Selection<ComparisonSort>,
    control: &Control,
) -> Result<ComparisonView> {
    let has_module = module.is_some();
    let is_before = is_snapshot(&before, has_module)?;
    let is_after = is_snapshot(&after, has_module)?;
    if is_before != is_after {
        let (dump, snapshot) = if is_before {
            (after.name, before.name)
        } else {
            (before.name, after.name)
        };
        return Err(HeapError::DumpWithSnapshot {
            dump: dump.to_owned(),
            snapshot: snapshot.to_owned(),
        }
        .into());
    }
    if is_before {
        let before = open_snapshot(before, control)?;
        let after = open_snapshot(after, control)?;
        return after.compared_with(&before, selection, control);
    }
    let program = read_program(module, &before, control)?.tolerating(tolerance);
    let (before, after) = program.analyze_both(before, after, schedule, control)?;
    ComparisonView::new(Arc::new(before), Arc::new(after), selection, control)
}

/// Opens a heap dump with its module, or a heap snapshot, for questions; with `prepare`, with all indexes.
///
/// Questions read a dump again, but not a snapshot: `keep` gives the bytes of a dump and where they are read again.
///
/// # Errors
/// As [`analyze`], and the errors of `keep`.
pub fn open<Bytes: AsRef<[u8]>, Kept: AsRef<[u8]>>(
    file: Input<'_, Bytes>,
    module: Option<&Input<'_, impl AsRef<[u8]>>>,
    tolerance: Tolerance,
    prepare: bool,
    keep: impl FnOnce(Bytes) -> Result<(Kept, Box<dyn DumpBytes>)>,
    control: &Control,
) -> Result<LoadedHeap> {
    if is_snapshot(&file, module.is_some())? {
        let loaded = open_snapshot(file, control)?;
        if prepare {
            loaded.prepare(control)?;
        }
        return Ok(loaded);
    }
    let program = read_program(module, &file, control)?.tolerating(tolerance);
    let name = file.name;
    let (bytes, contents) = keep(file.bytes)?;
    let dump = Input { name, bytes };
    if prepare {
        program.open_prepared(dump, contents, control)
    } else {
        program.open(dump, contents, control)
    }
}

/// Whether a file is a snapshot, judged by its first bytes. A snapshot has no module.
fn is_snapshot(file: &Input<'_, impl AsRef<[u8]>>, has_module: bool) -> Result<bool> {
    let is_snapshot = FileKind::of(file.bytes.as_ref()) == Some(FileKind::Json);
    if is_snapshot && has_module {
        return Err(Error::from(InputError::SnapshotWithModule).in_file(file.name));
    }
    Ok(is_snapshot)
}

/// The program of a dump. Without a module, the error says what the file needs.
fn read_program<'a>(
    module: Option<&'a Input<'_, impl AsRef<[u8]>>>,
    dump: &Input<'_, impl AsRef<[u8]>>,
    control: &Control,
) -> Result<Program<'a>> {
    let Some(module) = module else {
        let found = FileStart::of(dump.bytes.as_ref());
        let error = match found.kind {
            Some(FileKind::HeapDump) => Error::from(InputError::ModuleMissing),
            _ => Error::from(SnapshotError::NotASnapshot { found }),
        };
        return Err(error.in_file(dump.name));
    };
    let _step = control.begin(Phase::Module, 1);
    let module = Input {
        name: module.name,
        bytes: module.bytes.as_ref(),
    };
    Program::read(module, control)
}
