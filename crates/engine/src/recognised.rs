//! Recognises what a file is, and analyzes or opens it with the format that reads it; a container of memory becomes a
//! heap dump first. Who calls these functions need not know which kinds of heaps there are.

use base::control::Control;
use base::error::{Error, Result};
use base::input::{Input, ReadBytes};
use heap::views::{ComparisonSort, ComparisonView, Selection};
use heap::{DumpBytes, Heap};
use questions::{LoadedHeap, QuestionError};

use crate::Schedule;
use crate::containers::{Origin, Reading, unpacked};
use crate::format::{Boxed, FileBytes, Format, Indexing, Inputs, Keepable};
use crate::formats::format_of;
use crate::host_roots::refuse_host_roots;

/// Analyzes a heap dump or another container of memory with its module, or a heap snapshot, which needs none. With a
/// module of WasmGC, its objects in a snapshot have the names of the module.
///
/// # Errors
/// [`SnapshotError::OtherModule`](v8::SnapshotError::OtherModule),
/// [`InputError::ModuleMissing`](crate::InputError::ModuleMissing),
/// [`SnapshotError::NotASnapshot`](v8::SnapshotError::NotASnapshot) if the file and the module do not belong together;
/// [`ContainerError`](dumps::ContainerError); otherwise as [`Program::analyze`](crate::Program::analyze) and
/// [`analyze_snapshot`](crate::analyze_snapshot).
pub fn analyze(
    file: Input<'_, impl ReadBytes + From<Vec<u8>> + Send>,
    module: Option<&Input<'_, impl AsRef<[u8]>>>,
    reading: &Reading,
    control: &Control,
) -> Result<Heap> {
    let (format, inputs) = read_once(file, module, reading, control)?;
    check_host_roots(format, &inputs)?;
    format.analyze(inputs, control)
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
    let (format, before) = read_once(before, module, reading, control)?;
    let (other, after) = read_once(after, module, reading, control)?;
    if format.is_memory() != other.is_memory() {
        let names = [before.file.name, after.file.name].map(str::to_owned);
        let [dump, snapshot] = names;
        let (dump, snapshot) = if format.is_memory() {
            (dump, snapshot)
        } else {
            (snapshot, dump)
        };
        return Err(QuestionError::DumpWithSnapshot { dump, snapshot }.into());
    }
    check_host_roots(format, &before)?;
    let [before, after] = format.analyze_both([before, after], schedule, control)?;
    ComparisonView::new(before, after, selection, control)
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
    keep: impl FnOnce(Bytes) -> Result<(Kept, Box<dyn DumpBytes>)> + Sync,
    control: &Control,
) -> Result<LoadedHeap> {
    let (file, mut origin) = unpacked(file, module, reading, control)?;
    let format = format_of(file.bytes.as_ref());
    let Input { name, bytes } = file;
    let inputs = Inputs {
        file: Input {
            name,
            bytes: Boxed(Box::new(Keepable { bytes, keep }) as _),
        },
        module: module.map(Input::borrowed),
        reading,
        origin: Origin::default(),
    };
    check_host_roots(format, &inputs)?;
    let indexing = if prepare {
        Indexing::Beside
    } else {
        Indexing::WhenAsked
    };
    let opened = format.open(inputs, indexing, control)?;
    let loaded = LoadedHeap::new(opened, name);
    if prepare {
        loaded.prepare(control)?;
    }
    let trap = origin.trap.take();
    let loaded = loaded.with_origin(trap, origin.warnings);
    match &reading.profile {
        // A profile is of the memory of a program.
        Some(profile) if format.is_memory() => loaded.with_profile(profile, control),
        _ => Ok(loaded),
    }
}

/// The format of a file, and what it is read from.
fn read_once<'a, Bytes: ReadBytes + From<Vec<u8>> + Send + 'a>(
    file: Input<'a, Bytes>,
    module: Option<&'a Input<'_, impl AsRef<[u8]>>>,
    reading: &'a Reading,
    control: &Control,
) -> Result<(&'static dyn Format, Inputs<'a, FileBytes<'a>>)> {
    let (Input { name, bytes }, origin) = unpacked(file, module, reading, control)?;
    let format = format_of(bytes.as_ref());
    let bytes: FileBytes<'a> = Boxed(Box::new(bytes));
    let inputs = Inputs {
        file: Input { name, bytes },
        module: module.map(Input::borrowed),
        reading,
        origin,
    };
    Ok((format, inputs))
}

/// Refuses pointers of a host into a file that is not the memory of a program.
fn check_host_roots<Bytes>(format: &dyn Format, inputs: &Inputs<'_, Bytes>) -> Result<()> {
    if format.is_memory() {
        return Ok(());
    }
    let refused = refuse_host_roots(&inputs.reading.host_roots);
    refused.map_err(|error: Error| error.in_file(inputs.file.name))
}
