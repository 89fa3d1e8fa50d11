//! The files that are inputs: where they are, whether they are pipes, and how they are read.

use std::borrow::Cow;
use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use napi::bindgen_prelude::{Buffer, Either};
use napi_derive::napi;

use super::contents::{UnchangedFile, read_exact_at};
use super::input_bytes::InputBytes;
use crate::error::AddonError;
use base::columns;
use base::control::Control;
use base::error::{Error, Result};
use base::file_action::FileAction;
use base::file_kind::{COREDUMP_BYTES, DUMP_MAGIC, FileKind};
use engine::dumps::DumpError;
use engine::wasm::ModuleError;
use engine::wasm::module;
use workers::guard::{guarded, internal_error};
use workers::threads::cores;
use workers::work_queue::while_reading;

/// How it is known what a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Expected {
    /// By its first bytes.
    ByStart,
    /// By the caller, who says that it is raw memory.
    RawMemory,
}

/// A path, and the text by which errors name it.
pub(super) struct NamedPath {
    path: PathBuf,
    name: String,
    /// The open file that is read instead of what is at the path now.
    descriptor: Option<i32>,
    expected: Expected,
}

impl NamedPath {
    /// JavaScript passes a path as text, or as bytes that need not be UTF-8.
    pub(super) fn new(
        path: Either<String, Buffer>,
        descriptor: Option<i32>,
        expected: Expected,
    ) -> Self {
        let (path, name) = match path {
            Either::A(text) => (PathBuf::from(&text), text),
            Either::B(bytes) => (
                path_of(&bytes),
                String::from_utf8_lossy(&bytes).into_owned(),
            ),
        };
        Self {
            path,
            name,
            descriptor,
            expected,
        }
    }

    /// The path as errors name it.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Where the system finds the file.
    fn place(&self) -> Cow<'_, Path> {
        match self.descriptor {
            Some(descriptor) if cfg!(unix) => PathBuf::from(format!("/dev/fd/{descriptor}")).into(),
            _ => Cow::Borrowed(&self.path),
        }
    }

    fn metadata(&self) -> Result<Metadata> {
        let metadata = std::fs::metadata(self.place()).map_err(failed(FileAction::Open));
        metadata.map_err(|error| error.in_file(&self.name))
    }

    /// Whether this is neither a file nor a folder.
    ///
    /// # Errors
    /// [`Error::Io`] if it does not exist.
    pub(super) fn is_stream(&self) -> Result<bool> {
        Ok(is_stream(&self.metadata()?))
    }

    /// The contents of the file: read, or mapped if it is a large one of the command line.
    ///
    /// # Errors
    /// [`Error::Io`], [`Error::OutOfMemory`], [`Error::Aborted`].
    pub(super) fn open(&self, control: &Control) -> Result<InputBytes<'static>> {
        let bytes = opened(&self.place(), &self.path, self.expected, control);
        bytes.map_err(|error| error.in_file(&self.name))
    }
}

#[cfg(unix)]
fn path_of(bytes: &[u8]) -> PathBuf {
    use std::os::unix::ffi::OsStrExt;
    PathBuf::from(std::ffi::OsStr::from_bytes(bytes))
}

#[cfg(not(unix))]
fn path_of(bytes: &[u8]) -> PathBuf {
    PathBuf::from(String::from_utf8_lossy(bytes).into_owned())
}

/// Inspects files without opening them. Returns whether any of them is a pipe or a device; reading these may
/// block for an unlimited time.
///
/// # Errors
/// [`Error::Io`] if a file does not exist, [`AddonError::SamePipe`].
pub(super) fn find_pipes<'f>(files: impl Iterator<Item = &'f NamedPath>) -> Result<bool> {
    let mut pipes: Vec<(&NamedPath, Metadata)> = Vec::new();
    let mut found = false;
    for file in files {
        let kind = file.metadata()?;
        found |= is_stream(&kind);
        if !is_pipe(&kind) {
            continue;
        }
        let same = pipes.iter().find(|(_, other)| is_same(other, &kind));
        if let Some((other, _)) = same {
            let other = other.name.clone();
            return Err(Error::from(AddonError::SamePipe { other }).in_file(&file.name));
        }
        pipes.push((file, kind));
    }
    Ok(found)
}

/// Whether this is neither a file nor a folder.
fn is_stream(kind: &Metadata) -> bool {
    !kind.is_file() && !kind.is_dir()
}

#[cfg(unix)]
fn is_pipe(kind: &Metadata) -> bool {
    use std::os::unix::fs::FileTypeExt;
    kind.file_type().is_fifo() || kind.file_type().is_socket()
}

#[cfg(unix)]
fn is_same(one: &Metadata, other: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt;
    (one.dev(), one.ino()) == (other.dev(), other.ino())
}

/// Other systems do not say which pipe it is.
#[cfg(not(unix))]
fn is_pipe(_: &Metadata) -> bool {
    false
}

#[cfg(not(unix))]
fn is_same(_: &Metadata, _: &Metadata) -> bool {
    false
}

/// Opens the file at `place`. What is read later is read from `path`, if it is the same file then.
fn opened(
    place: &Path,
    path: &Path,
    expected: Expected,
    control: &Control,
) -> Result<InputBytes<'static>> {
    let file = File::open(place).map_err(failed(FileAction::Open))?;
    let kind = file.metadata().map_err(failed(FileAction::Inspect))?;
    if kind.is_dir() {
        let directory = io::ErrorKind::IsADirectory.into();
        return Err(failed(FileAction::Read)(directory));
    }
    if !kind.is_file() || kind.len() == 0 {
        return read_stream(file, expected, control).map(InputBytes::Copied);
    }
    let unchanged = UnchangedFile::new(path, &kind).map_err(failed(FileAction::Inspect))?;
    if kind.len() > LARGEST_ALWAYS_READ && MAPS_LARGE_FILES.load(Ordering::Relaxed) {
        // SAFETY: the mapping is read-only. If another process truncates the file meanwhile, a
        // read beyond its new end ends this process with a signal. The process is the command line,
        // whose documentation says so.
        let map = unsafe { memmap2::Mmap::map(&file) }
            .map_err(|error| out_of_memory(error, kind.len()))?;
        return Ok(InputBytes::Mapped(map, Arc::new(unchanged)));
    }
    let bytes = read_file(&file, kind.len(), expected, control);
    // If it changed, that is the reason of every other error.
    unchanged.check(&file)?;
    Ok(InputBytes::Read(bytes?, Arc::new(unchanged)))
}

/// Larger files are mapped, if this process is the command line.
const LARGEST_ALWAYS_READ: u64 = 64 << 20;

/// Threads that read one file.
const MOST_READERS: usize = 4;

/// The bytes that one thread reads at a time.
const PIECE: usize = 4 << 20;

/// Whether large files are mapped. A program that loads this package must not end because a file was truncated.
static MAPS_LARGE_FILES: AtomicBool = AtomicBool::new(false);

/// From now on, this process maps large files. For the command line, which is a process of its own.
#[napi]
pub fn map_large_files() -> super::error::Result<()> {
    guarded(|| {
        MAPS_LARGE_FILES.store(true, Ordering::Relaxed);
        Ok(())
    })
}

/// All bytes of a file of this length, which several threads read by positions. They are threads of their own: a read
/// that hangs would take one from the parallel work of all others.
fn read_file(file: &File, length: u64, expected: Expected, control: &Control) -> Result<Vec<u8>> {
    let mut bytes = columns::zeros::<u8>(bytes_to_read(file, length, expected)?)?;
    let pieces = bytes.len().div_ceil(PIECE);
    let left = Mutex::new(bytes.chunks_mut(PIECE).enumerate());
    let read_pieces = || -> Result<()> {
        loop {
            let next = left.lock().unwrap_or_else(PoisonError::into_inner).next();
            let Some((nth, piece)) = next else {
                return Ok(());
            };
            control.check()?;
            let read = read_exact_at(file, piece, (nth * PIECE) as u64);
            read.map_err(failed(FileAction::Read))?;
        }
    };
    thread::scope(|scope| {
        // If the system starts no more threads, this one reads all.
        let started = (1..pieces.min(cores()).min(MOST_READERS))
            .map_while(|_| thread::Builder::new().spawn_scoped(scope, read_pieces).ok())
            .collect::<Vec<_>>();
        let own = read_pieces();
        let others = started
            .into_iter()
            .map(|reader| while_reading(|| reader.join()));
        others.fold(own, |before, joined| {
            before.and(joined.unwrap_or_else(|panic| Err(internal_error(&*panic))))
        })
    })?;
    Ok(bytes)
}

/// How much of a file is read: of one that is no input, only what an error shows of it.
fn bytes_to_read(file: &File, length: u64, expected: Expected) -> Result<usize> {
    const LEAST: u64 = 1 << 20;
    let mut header = [0; engine::dumps::HEADER_SIZE];
    let present = length.min(engine::dumps::HEADER_SIZE as u64) as usize;
    read_exact_at(file, &mut header[..present], 0).map_err(failed(FileAction::Read))?;
    let [.., g0, g1, g2, g3] = header;
    let kind = FileKind::of(&header[..present]);
    let bytes = match kind {
        Some(FileKind::HeapDump) if length > LARGEST_DUMP => {
            let globals = u64::from(u32::from_le_bytes([g0, g1, g2, g3])) * 4;
            let memory_size = (length - engine::dumps::HEADER_SIZE as u64).saturating_sub(globals);
            return Err(DumpError::TooLarge { memory_size }.into());
        }
        Some(FileKind::Module) if length > module::MAX_SIZE => {
            return Err(ModuleError::TooLarge { size: length }.into());
        }
        Some(FileKind::Json | FileKind::Hprof | FileKind::HeapDump | FileKind::Module) => length,
        _ if may_be_container(kind, expected) && length <= LARGEST_CONTAINER => length,
        _ => length.min(LEAST),
    };
    usize::try_from(bytes).map_err(|_| Error::OutOfMemory {
        bytes: bytes.into(),
        purpose: "reading the file",
    })
}

/// All bytes of a pipe or a device, which may have no end: nothing more after a wrong magic, and not
/// much more than an input of its kind can have.
pub(super) fn read_stream(
    mut stream: impl Read,
    expected: Expected,
    control: &Control,
) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    read_more(&mut stream, DUMP_MAGIC.len() as u64, &mut bytes)?;
    if FileKind::of(&bytes) == Some(FileKind::Module) {
        // It may be a coredump, which is larger than a module can be.
        let more = COREDUMP_BYTES - bytes.len();
        read_more(&mut stream, more as u64, &mut bytes)?;
    }
    let kind = FileKind::of(&bytes);
    let largest = match kind {
        _ if may_be_container(kind, expected) => LARGEST_CONTAINER,
        Some(FileKind::HeapDump) => LARGEST_DUMP,
        Some(FileKind::Module) => module::MAX_SIZE,
        Some(FileKind::Json | FileKind::Hprof) => LARGEST_SNAPSHOT,
        // The reader of the input reports what is wrong.
        _ => return Ok(bytes),
    };
    // The reader of the input also refuses what is too large.
    while bytes.len() as u64 <= largest {
        control.check()?;
        if read_more(&mut stream, 1 << 16, &mut bytes)? == 0 {
            break;
        }
    }
    Ok(bytes)
}

/// Reads up to `most` bytes more. Returns how many; 0 at the end.
fn read_more(stream: impl Read, most: u64, bytes: &mut Vec<u8>) -> Result<usize> {
    if bytes.capacity() - bytes.len() < most as usize {
        let more = bytes.len().max(most as usize);
        columns::reserve(bytes, more)?;
    }
    let read = stream.take(most).read_to_end(bytes);
    read.map_err(failed(FileAction::Read))
}

fn failed(action: FileAction) -> impl Fn(io::Error) -> Error {
    move |source| Error::Io { action, source }
}

/// Distinguishes a lack of memory from an error of the file.
fn out_of_memory(error: io::Error, bytes: u64) -> Error {
    match error.kind() {
        io::ErrorKind::OutOfMemory => Error::OutOfMemory {
            bytes: bytes.into(),
            purpose: "mapping the file",
        },
        _ => failed(FileAction::Map)(error),
    }
}

/// Whether the file can contain memory in another form than a dump.
fn may_be_container(kind: Option<FileKind>, expected: Expected) -> bool {
    let is_known = matches!(
        kind,
        Some(FileKind::Coredump | FileKind::Gzip | FileKind::Zstandard)
    );
    is_known || expected == Expected::RawMemory
}

/// A header, a value for each of the at most 1,000,000 globals that engines allow, and 4 GiB of memory.
const LARGEST_DUMP: u64 = engine::dumps::LARGEST;

/// A full memory with the frames of a trap, or the compressed form of one.
const LARGEST_CONTAINER: u64 = LARGEST_DUMP + (64 << 20);

/// More than a snapshot of the largest number of nodes has.
const LARGEST_SNAPSHOT: u64 = 1 << 40;
