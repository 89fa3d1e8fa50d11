//! Recognises what a file is, and analyzes or opens it with the source that reads it; a container of memory becomes a
//! heap dump first. Who calls these functions need
//! not know which kinds of heaps there are.

use std::sync::Arc;

use assemblyscript::{DumpBytes, Schedule};
use base::control::{Control, Phase};
use base::error::{Error, Result};
use base::file_kind::{FileKind, FileStart};
use base::input::{Input, ReadBytes};
use base::warning::Warning;
use heap::Heap;
use heap::views::{ComparisonSort, ComparisonView, Selection};
use joined::JoinError;
use questions::{LoadedHeap, QuestionError};
use v8::{ModuleNames, SnapshotError};

use crate::InputError;
use crate::containers::{Origin, Reading, unpacked};
use crate::host_roots::refuse_host_roots;
use crate::program::Program;
use crate::snapshot::{module_names, open_named};

/// Analyzes a heap dump or another container of memory with its module, or a heap snapshot, which needs none. With a
/// module of WasmGC, its objects in a snapshot have the names of the module.
///
/// # Errors
/// [`SnapshotError::OtherModule`], [`InputError::ModuleMissing`], [`SnapshotError::NotASnapshot`] if the file and the
/// module do not belong together; [`ContainerError`](dumps::ContainerError); otherwise as [`Program::analyze`] and
/// [`analyze_snapshot`](crate::analyze_snapshot).
pub fn analyze(
    file: Input<'_, impl ReadBytes + From<Vec<u8>>>,
    module: Option<&Input<'_, impl AsRef<[u8]>>>,
    reading: &Reading,
    control: &Control,
) -> Result<Heap> {
    let (file, origin) = unpacked(file, module, reading, control)?;
    if is_snapshot(&file) {
        refuse_host_roots(&reading.host_roots).map_err(|error| error.in_file(file.name))?;
        let names = names_for(&file, module, control)?;
        return v8::analyze(file, names.as_ref(), control);
    }
    let program = read_program(module, &file, reading, control)?;
    let mut heap = program.analyze(file, control)?;
    heap.warnings.extend(origin.warnings);
    Ok(heap)
}

/// Compares two dumps of one module, or two snapshots of one process.
///
/// # Errors
/// [`QuestionError::DumpWithSnapshot`]; otherwise as [`analyze`].
pub fn compare<Bytes: ReadBytes + From<Vec<u8>> + Send>(
    [before, after]: [Input<'_, Bytes>; 2],
    module: Option<&Input<'_, impl AsRef<[u8]>>>,
    reading: &Reading,
    schedule: Schedule,
    selection: Selection<ComparisonSort>,
    control: &Control,
) -> Result<ComparisonView> {
    let (before, earlier) = unpacked(before, module, reading, control)?;
    let (after, later) = unpacked(after, module, reading, control)?;
    let is_before = is_snapshot(&before);
    let is_after = is_snapshot(&after);
    if is_before != is_after {
        let (dump, snapshot) = if is_before {
            (after.name, before.name)
        } else {
            (before.name, after.name)
        };
        return Err(QuestionError::DumpWithSnapshot {
            dump: dump.to_owned(),
            snapshot: snapshot.to_owned(),
        }
        .into());
    }
    if is_before {
        refuse_host_roots(&reading.host_roots).map_err(|error| error.in_file(before.name))?;
        let names = names_for(&before, module, control)?;
        let before = open_named(before, names.as_ref(), control)?;
        let after = open_named(after, names.as_ref(), control)?;
        return after.compared_with(&before, selection, control);
    }
    let program = read_program(module, &before, reading, control)?;
    let names = [before.name, after.name].map(str::to_owned);
    let (mut before, mut after) = program.analyze_both(before, after, schedule, control)?;
    let heaps = [&mut before, &mut after].into_iter();
    for ((heap, dump), origin) in heaps.zip(names).zip([earlier, later]) {
        let warnings = origin.warnings.into_iter();
        heap.warnings
            .extend(warnings.map(|warning| Warning::InDump {
                dump: dump.clone(),
                warning: Box::new(warning),
            }));
    }
    ComparisonView::new(Arc::new(before), Arc::new(after), selection, control)
}

/// Opens a heap dump with its module, or a heap snapshot, for questions; with `prepare`, with all indexes.
///
/// Questions read a dump again, but not a snapshot: `keep` gives the bytes of a dump and where they are read again.
///
/// # Errors
/// As [`analyze`], and the errors of `keep`.
pub fn open<Bytes: ReadBytes + From<Vec<u8>>, Kept: ReadBytes>(
    file: Input<'_, Bytes>,
    module: Option<&Input<'_, impl AsRef<[u8]>>>,
    reading: &Reading,
    prepare: bool,
    keep: impl FnOnce(Bytes) -> Result<(Kept, Box<dyn DumpBytes>)>,
    control: &Control,
) -> Result<LoadedHeap> {
    let (file, Origin { trap, warnings }) = unpacked(file, module, reading, control)?;
    if is_snapshot(&file) {
        refuse_host_roots(&reading.host_roots).map_err(|error| error.in_file(file.name))?;
        let names = names_for(&file, module, control)?;
        let loaded = open_named(file, names.as_ref(), control)?;
        if prepare {
            loaded.prepare(control)?;
        }
        return Ok(loaded);
    }
    let program = read_program(module, &file, reading, control)?;
    let name = file.name;
    let (bytes, contents) = keep(file.bytes)?;
    let dump = Input { name, bytes };
    let loaded = if prepare {
        program.open_prepared(dump, contents, control)
    } else {
        program.open(dump, contents, control)
    }?;
    let loaded = loaded.with_origin(trap, warnings);
    match &reading.profile {
        Some(profile) => loaded.with_profile(profile, control),
        None => Ok(loaded),
    }
}

/// Whether a file is a snapshot, judged by its first bytes.
fn is_snapshot(file: &Input<'_, impl AsRef<[u8]>>) -> bool {
    FileKind::of(file.bytes.as_ref()) == Some(FileKind::Json)
}

/// Refuses a snapshot where a dump is expected, to be joined with a snapshot.
///
/// # Errors
/// [`JoinError::WrongKinds`].
pub(crate) fn require_dump(file: &Input<'_, impl AsRef<[u8]>>) -> Result<()> {
    if !is_snapshot(file) {
        return Ok(());
    }
    let what = "the first file is a heap snapshot";
    Err(Error::from(JoinError::WrongKinds { what }).in_file(file.name))
}

/// The names for the objects of WasmGC in a snapshot, if there is a module.
fn names_for(
    snapshot: &Input<'_, impl AsRef<[u8]>>,
    module: Option<&Input<'_, impl AsRef<[u8]>>>,
    control: &Control,
) -> Result<Option<ModuleNames>> {
    let names = module.map(|module| module_names(module, control));
    names
        .transpose()
        .map_err(|error| error.in_file(snapshot.name))
}

/// The program of a dump. Without a module, the error says what the file needs.
pub(crate) fn read_program<'a>(
    module: Option<&'a Input<'_, impl AsRef<[u8]>>>,
    dump: &Input<'_, impl AsRef<[u8]>>,
    reading: &Reading,
    control: &Control,
) -> Result<Program<'a>> {
    let Some(module) = module else {
        let found = FileStart::of(dump.bytes.as_ref());
        let error = match found.kind {
            Some(FileKind::HeapDump | FileKind::Coredump) => Error::from(InputError::ModuleMissing),
            _ => Error::from(SnapshotError::NotASnapshot { found }),
        };
        return Err(error.in_file(dump.name));
    };
    let _step = control.begin(Phase::Module, 1);
    let module = Input {
        name: module.name,
        bytes: module.bytes.as_ref(),
    };
    let program = Program::read(module, control)?.tolerating(reading.tolerance);
    Ok(program.with_host_roots(reading.host_roots.clone()))
}
