//! Opens a heap dump together with the heap snapshot of its host.

use base::control::Control;
use base::error::{Error, Result};
use base::input::{Input, ReadBytes};
use dumps::Dump;
use joined::{DumpIdentity, Handles, JoinError, JoinOptions, Numbers};
use questions::LoadedHeap;

use heap::DumpBytes;

use crate::containers::{Origin, Reading, unpacked};
use crate::format::{Boxed, Indexing, Inputs, Keepable};
use crate::formats::format_of;

/// What surrounds a program: the heap of JavaScript that was captured with its dump.
#[derive(Clone, Debug)]
pub struct HostFiles<'a, Bytes> {
    /// The heap snapshot.
    pub snapshot: Input<'a, Bytes>,
    /// The numbers that the snapshot does not show, if they were captured.
    pub numbers: Option<Input<'a, Bytes>>,
    /// Who pinned what, if that was captured.
    pub handles: Option<Input<'a, Bytes>>,
    /// Fields that have an index into an array of JavaScript: `assembly/index/Item.id=host.slots`.
    pub slots: Vec<String>,
}

/// Stands for no module, where a file needs none.
const NO_MODULE: Option<&Input<'static>> = None;

/// As [`open`](crate::open), joined with the heap of the host. Both files, and the numbers, are of one moment.
///
/// # Errors
/// [`joined::JoinError`]; otherwise as [`open`](crate::open).
pub fn open_joined<Bytes: ReadBytes + From<Vec<u8>>, Kept: ReadBytes>(
    file: Input<'_, Bytes>,
    module: Option<&Input<'_, impl AsRef<[u8]>>>,
    host: HostFiles<'_, Bytes>,
    reading: &Reading,
    keep: impl FnOnce(Bytes) -> Result<(Kept, Box<dyn DumpBytes>)> + Sync,
    control: &Control,
) -> Result<LoadedHeap> {
    let (file, Origin { trap, warnings }) = unpacked(file, module, reading, control)?;
    let name = file.name;
    let format = format_of(file.bytes.as_ref());
    if !format.is_memory() {
        let what = "the first file is a heap snapshot";
        return Err(Error::from(JoinError::WrongKinds { what }).in_file(name));
    }
    let dump = file.bytes.as_ref();
    let memory_size = Dump::parse(dump)
        .map_err(|error| error.in_file(name))?
        .memory
        .size();
    // The limit is for all files together.
    let mut beside = Reading {
        largest: reading.largest,
        ..Reading::default()
    };
    take(&mut beside, dump.len());
    let identity = DumpIdentity::of(dump);
    let numbers = read_beside(host.numbers, &mut beside, control, |bytes| {
        Numbers::read(bytes, &identity)
    })?;
    let handles = read_beside(host.handles, &mut beside, control, |bytes| {
        Handles::read(bytes, &identity)
    })?;
    let bytes = file.bytes;
    let inputs = Inputs {
        file: Input {
            name,
            bytes: Boxed(Box::new(Keepable { bytes, keep }) as _),
        },
        module: module.map(Input::borrowed),
        reading,
        origin: Origin::default(),
    };
    let wasm = format.open(inputs, Indexing::WhenAsked, control)?;
    let (snapshot, _) = unpacked(host.snapshot, NO_MODULE, &beside, control)?;
    let js = v8::open(snapshot, None, reading.tolerance, control)?;
    let options = JoinOptions {
        memory_size,
        slots: host.slots,
        numbers,
        handles,
    };
    let joined = joined::join(wasm, js, &options, control)?;
    Ok(LoadedHeap::new(joined, name).with_origin(trap, warnings))
}

/// What a file says that was captured with the dump.
fn read_beside<Bytes: AsRef<[u8]> + From<Vec<u8>>, T>(
    file: Option<Input<'_, Bytes>>,
    reading: &mut Reading,
    control: &Control,
    read: impl FnOnce(&[u8]) -> Result<T>,
) -> Result<Option<T>> {
    let Some(file) = file else {
        return Ok(None);
    };
    let (file, _) = unpacked(file, NO_MODULE, reading, control)?;
    take(reading, file.bytes.as_ref().len());
    let found = read(file.bytes.as_ref());
    found.map(Some).map_err(|error| error.in_file(file.name))
}

/// What was read leaves less for the other files.
fn take(reading: &mut Reading, bytes: usize) {
    if let Some(left) = &mut reading.largest {
        *left = left.saturating_sub(bytes as u64);
    }
}
