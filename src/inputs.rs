//! Where the bytes of an analysis come from: the caller's memory, a copy of it, or a file.

use std::borrow::Cow;
use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use napi::bindgen_prelude::{Buffer, Either};
use napi_derive::napi;
use rayon::prelude::*;

use super::contents::{UnchangedFile, read_exact_at};
use base::control::Control;
use base::error::{Error, FileAction, Result};
use base::file_kind::{DUMP_MAGIC, FileKind, MODULE_MAGIC};
use base::{Input, columns};
use engine::wasm::module;
use engine::{Contents, InMemory};
use workers::guard::guarded;

/// The bytes of a dump or a module. Dropping it releases the memory.
pub(super) enum Source<'a> {
    /// The caller's memory, for a synchronous call.
    Borrowed(&'a [u8]),
    /// A copy of the caller's memory, for an asynchronous call, or the contents of a pipe.
    Copied(Vec<u8>),
    /// A copy that a loaded heap keeps.
    Kept(Arc<Vec<u8>>),
    /// A file that was read.
    Read(Vec<u8>, Arc<UnchangedFile>),
    /// A large file of the command line.
    Mapped(memmap2::Mmap, Arc<UnchangedFile>),
    /// The module that a heap snapshot does not have.
    Absent,
}

/// A path, and the text by which errors name it.
pub(super) struct NamedPath {
    path: PathBuf,
    name: String,
    /// The open file that is read instead of what is at the path now.
    descriptor: Option<i32>,
}

/// JavaScript passes a path as text, or as bytes that need not be UTF-8.
impl From<Either<String, Buffer>> for NamedPath {
    fn from(argument: Either<String, Buffer>) -> Self {
        match argument {
            Either::A(text) => Self {
                path: PathBuf::from(&text),
                name: text,
                descriptor: None,
            },
            Either::B(bytes) => Self {
                path: path_of(&bytes),
                name: String::from_utf8_lossy(&bytes).into_owned(),
                descriptor: None,
            },
        }
    }
}

impl NamedPath {
    /// A path, if it was given.
    pub(super) fn of(argument: Option<Either<String, Buffer>>) -> Option<Self> {
        argument.map(Self::from)
    }

    /// The same path, with the descriptor of the file if it is open already.
    pub(super) fn with_descriptor(self, descriptor: Option<i32>) -> Self {
        Self { descriptor, ..self }
    }

    /// Where the system finds the file.
    fn place(&self) -> Cow<'_, Path> {
        match self.descriptor {
            Some(descriptor) if cfg!(unix) => PathBuf::from(format!("/dev/fd/{descriptor}")).into(),
            _ => Cow::Borrowed(&self.path),
        }
    }
}

/// The name of an input that was not given.
const ABSENT: &str = "wasm";

#[cfg(unix)]
fn path_of(bytes: &[u8]) -> PathBuf {
    use std::os::unix::ffi::OsStrExt;
    PathBuf::from(std::ffi::OsStr::from_bytes(bytes))
}

#[cfg(not(unix))]
fn path_of(bytes: &[u8]) -> PathBuf {
    PathBuf::from(String::from_utf8_lossy(bytes).into_owned())
}

/// The name of the standard input in errors.
const STANDARD_INPUT: &str = "standard input";

/// Bytes, and their name in errors.
pub(super) type SourceInput<'a> = Input<'a, Source<'a>>;

/// An input that was not given.
pub(super) fn absent<'a>() -> SourceInput<'a> {
    Input {
        name: ABSENT,
        bytes: Source::Absent,
    }
}

/// An input, if it was given.
pub(super) fn given<'a, 's>(input: &'a SourceInput<'s>) -> Option<&'a SourceInput<'s>> {
    (!input.bytes.is_absent()).then_some(input)
}

/// The caller's memory, for a synchronous call.
pub(super) fn borrowed<'a>(name: &'a str, bytes: &'a [u8]) -> SourceInput<'a> {
    Input {
        name,
        bytes: Source::Borrowed(bytes),
    }
}

/// Opens all files of a synchronous call.
///
/// # Errors
/// [`Error::Io`], [`Error::SamePipe`], [`Error::OutOfMemory`].
pub(super) fn open_all<const N: usize>(
    files: &[Option<NamedPath>; N],
) -> Result<[SourceInput<'_>; N]> {
    find_pipes(files.iter().flatten())?;
    let control = Control::default();
    let mut sources = Vec::with_capacity(N);
    for file in files {
        sources.push(match file {
            Some(file) => file.open(&control)?,
            None => Source::Absent,
        });
    }
    let mut sources = sources.into_iter();
    Ok(files.each_ref().map(|file| Input {
        name: file.as_ref().map_or(ABSENT, |file| &file.name[..]),
        bytes: sources.next().unwrap_or(Source::Borrowed(&[])),
    }))
}

/// Inspects files without opening them. Returns whether any of them is a pipe or a device; reading these may
/// block for an unlimited time.
///
/// # Errors
/// [`Error::Io`] if a file does not exist, [`Error::SamePipe`].
fn find_pipes<'f>(files: impl Iterator<Item = &'f NamedPath>) -> Result<bool> {
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
            return Err(Error::SamePipe { other }.in_file(&file.name));
        }
        pipes.push((file, kind));
    }
    Ok(found)
}

impl NamedPath {
    fn metadata(&self) -> Result<Metadata> {
        let metadata = std::fs::metadata(self.place()).map_err(failed(FileAction::Open));
        metadata.map_err(|error| error.in_file(&self.name))
    }

    /// The contents of the file: read, or mapped if it is a large one of the command line.
    fn open(&self, control: &Control) -> Result<Source<'static>> {
        let source = Source::open(&self.place(), &self.path, control);
        source.map_err(|error| error.in_file(&self.name))
    }
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

/// An input of work that begins later.
pub(super) enum Pending {
    /// Bytes that are there already.
    Bytes(String, Source<'static>),
    /// A file that is not open yet.
    File(NamedPath),
    /// The standard input of the process, which is not read yet.
    StandardInput,
}

impl Pending {
    /// A copy of a caller's memory.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub(super) fn copied(name: &str, bytes: &[u8]) -> Result<Self> {
        let copy = columns::collected(bytes.iter().copied())?;
        Ok(Self::Bytes(name.to_owned(), Source::Copied(copy)))
    }

    /// A copy of a caller's memory, if there is any.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub(super) fn copied_if_given(name: &str, bytes: Option<&[u8]>) -> Result<Self> {
        match bytes {
            Some(bytes) => Self::copied(name, bytes),
            None => Ok(Self::Bytes(ABSENT.to_owned(), Source::Absent)),
        }
    }

    /// The standard input of the process if the path is the one that stands for it, otherwise a file.
    pub(super) fn file_or_standard_input(
        path: Option<Either<String, Buffer>>,
        standard_input: Option<&str>,
    ) -> Self {
        let Some(path) = path else {
            return Self::Bytes(ABSENT.to_owned(), Source::Absent);
        };
        match (path, standard_input) {
            (Either::A(path), Some(name)) if path == name => Self::StandardInput,
            (path, _) => Self::File(path.into()),
        }
    }

    /// The same input, with the descriptor of its file if that is open already.
    pub(super) fn with_descriptor(self, descriptor: Option<i32>) -> Self {
        match self {
            Self::File(file) => Self::File(file.with_descriptor(descriptor)),
            other => other,
        }
    }

    /// Whether any of these inputs is a pipe or a device that is not read yet.
    ///
    /// # Errors
    /// [`Error::Io`] if a file does not exist, [`Error::SamePipe`].
    pub(super) fn have_pipe(inputs: &[Self]) -> Result<bool> {
        let has_pipe = find_pipes(inputs.iter().filter_map(|input| match input {
            Self::File(file) => Some(file),
            Self::Bytes(..) | Self::StandardInput => None,
        }))?;
        Ok(has_pipe
            || inputs
                .iter()
                .any(|input| matches!(input, Self::StandardInput)))
    }

    /// Reads the input to its end, if it is a pipe or a device.
    ///
    /// # Errors
    /// [`Error::Io`], [`Error::OutOfMemory`], [`Error::Aborted`].
    pub(super) fn read_if_pipe(&mut self, control: &Control) -> Result<()> {
        match self {
            Self::File(file) if is_stream(&file.metadata()?) => self.open(control),
            Self::StandardInput => self.open(control),
            _ => Ok(()),
        }
    }

    /// Reads or maps the input, if it is a file that is not open yet.
    ///
    /// # Errors
    /// [`Error::Io`], [`Error::OutOfMemory`], [`Error::Aborted`].
    pub(super) fn open(&mut self, control: &Control) -> Result<()> {
        match self {
            Self::Bytes(..) => {}
            Self::File(file) => {
                let source = file.open(control)?;
                *self = Self::Bytes(std::mem::take(&mut file.name), source);
            }
            Self::StandardInput => {
                let bytes = read_stream(io::stdin().lock(), control);
                let bytes = bytes.map_err(|error| error.in_file(STANDARD_INPUT))?;
                *self = Self::Bytes(STANDARD_INPUT.to_owned(), Source::Copied(bytes));
            }
        }
        Ok(())
    }

    /// The bytes, once the input is open.
    pub(super) fn input(&mut self) -> SourceInput<'_> {
        match self {
            Self::Bytes(name, source) => Input {
                name,
                bytes: std::mem::replace(source, Source::Borrowed(&[])),
            },
            Self::File(file) => borrowed(&file.name, &[]),
            Self::StandardInput => borrowed(STANDARD_INPUT, &[]),
        }
    }
}

impl Source<'_> {
    /// Opens the file at `place`. What is read later is read from `path`, if it is the same file then.
    fn open(place: &Path, path: &Path, control: &Control) -> Result<Self> {
        let file = File::open(place).map_err(failed(FileAction::Open))?;
        let kind = file.metadata().map_err(failed(FileAction::Inspect))?;
        if kind.is_dir() {
            let directory = io::ErrorKind::IsADirectory.into();
            return Err(failed(FileAction::Read)(directory));
        }
        if !kind.is_file() || kind.len() == 0 {
            return read_stream(file, control).map(Self::Copied);
        }
        let unchanged = UnchangedFile::new(path, &kind);
        let unchanged = unchanged.map_err(failed(FileAction::Inspect))?;
        if kind.len() > LARGEST_ALWAYS_READ && MAPS_LARGE_FILES.load(Ordering::Relaxed) {
            // SAFETY: the mapping is read-only. If another process truncates the file meanwhile, a
            // read beyond its new end ends this process with a signal. The process is the command line,
            // whose documentation says so.
            let map = unsafe { memmap2::Mmap::map(&file) };
            let map = map.map_err(|error| out_of_memory(error, kind.len()))?;
            return Ok(Self::Mapped(map, Arc::new(unchanged)));
        }
        let bytes = read_file(&file, kind.len(), control);
        // If it changed, that is the reason of every other error.
        unchanged.check(&file)?;
        Ok(Self::Read(bytes?, Arc::new(unchanged)))
    }

    /// Whether this input was not given.
    pub(super) fn is_absent(&self) -> bool {
        matches!(self, Self::Absent)
    }

    /// The same bytes; the source from which a loaded heap can read them again; and the memory that this
    /// source takes.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`].
    pub(super) fn kept(self) -> Result<(Self, Box<dyn Contents>, u64)> {
        let bytes = match self {
            Self::Mapped(map, file) => {
                let contents = Box::new(Arc::clone(&file));
                return Ok((Self::Mapped(map, file), contents, 0));
            }
            Self::Read(bytes, file) => {
                let contents = Box::new(Arc::clone(&file));
                return Ok((Self::Read(bytes, file), contents, 0));
            }
            Self::Borrowed(bytes) => Arc::new(columns::collected(bytes.iter().copied())?),
            Self::Copied(bytes) => Arc::new(bytes),
            Self::Kept(bytes) => bytes,
            Self::Absent => Arc::default(),
        };
        let size = bytes.capacity() as u64;
        let contents = InMemory(SharedBytes(Arc::clone(&bytes)));
        Ok((Self::Kept(bytes), Box::new(contents), size))
    }
}

/// Bytes that a heap and its reader share.
struct SharedBytes(Arc<Vec<u8>>);

impl AsRef<[u8]> for SharedBytes {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

/// Larger files are mapped, if this process is the command line.
const LARGEST_ALWAYS_READ: u64 = 64 << 20;

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

/// All bytes of a file of this length, which all threads read by positions.
fn read_file(file: &File, length: u64, control: &Control) -> Result<Vec<u8>> {
    let mut bytes = columns::zeros::<u8>(bytes_to_read(file, length)?)?;
    let pieces = bytes.par_chunks_mut(PIECE).enumerate();
    pieces.try_for_each(|(nth, piece)| {
        control.check()?;
        let read = read_exact_at(file, piece, (nth * PIECE) as u64);
        read.map_err(failed(FileAction::Read))
    })?;
    Ok(bytes)
}

/// How much of a file is read: of one that is no input, only what an error shows of it.
fn bytes_to_read(file: &File, length: u64) -> Result<usize> {
    const LEAST: u64 = 1 << 20;
    let mut header = [0; engine::dumps::HEADER_SIZE];
    let present = length.min(engine::dumps::HEADER_SIZE as u64) as usize;
    read_exact_at(file, &mut header[..present], 0).map_err(failed(FileAction::Read))?;
    let [m0, m1, m2, m3, .., g0, g1, g2, g3] = header;
    let bytes = match [m0, m1, m2, m3] {
        DUMP_MAGIC if length > LARGEST_DUMP => {
            let globals = u64::from(u32::from_le_bytes([g0, g1, g2, g3])) * 4;
            let memory_size = (length - engine::dumps::HEADER_SIZE as u64).saturating_sub(globals);
            return Err(Error::DumpTooLarge { memory_size });
        }
        MODULE_MAGIC if length > module::MAX_SIZE => {
            return Err(Error::ModuleTooLarge { size: length });
        }
        DUMP_MAGIC | MODULE_MAGIC => length,
        _ if FileKind::of(&header[..present]) == Some(FileKind::Json) => length,
        _ => length.min(LEAST),
    };
    usize::try_from(bytes).map_err(|_| Error::OutOfMemory {
        bytes,
        purpose: "reading the file",
    })
}

/// All bytes of a pipe or a device, which may have no end: nothing more after a wrong magic, and not
/// much more than an input of its kind can have.
fn read_stream(mut stream: impl Read, control: &Control) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    read_more(&mut stream, DUMP_MAGIC.len() as u64, &mut bytes)?;
    let largest = match bytes.first_chunk::<4>() {
        Some(&DUMP_MAGIC) => LARGEST_DUMP,
        Some(&MODULE_MAGIC) => module::MAX_SIZE,
        _ if FileKind::of(&bytes) == Some(FileKind::Json) => LARGEST_SNAPSHOT,
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
            bytes,
            purpose: "mapping the file",
        },
        _ => failed(FileAction::Map)(error),
    }
}

impl AsRef<[u8]> for Source<'_> {
    fn as_ref(&self) -> &[u8] {
        match self {
            Self::Borrowed(bytes) => bytes,
            Self::Copied(bytes) => bytes,
            Self::Kept(bytes) => bytes,
            Self::Read(bytes, _) => bytes,
            Self::Mapped(map, _) => map,
            Self::Absent => &[],
        }
    }
}

/// A header, a value for each of the at most 1,000,000 globals that engines allow, and 4 GiB of memory.
const LARGEST_DUMP: u64 = engine::dumps::HEADER_SIZE as u64 + 4_000_000 + (1 << 32);

/// More than a snapshot of the largest number of nodes has.
const LARGEST_SNAPSHOT: u64 = 1 << 40;
