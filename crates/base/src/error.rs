//! Everything that can stop an analysis: one variant per failure, with the offset, what was found
//! and what was expected, and a stable [`code`](Error::code) for programs.
//!
//! Findings that do not stop the analysis, but may make a number wrong, are a [`Warning`](crate::Warning).

use crate::file_action::FileAction;
use crate::file_kind::{FileStart, not_a_dump, not_a_module, not_a_snapshot};
use crate::mismatch::Mismatch;
use crate::shown::Shown;
use crate::units::{Address, ShownAddress};

/// The result of everything in this crate that can fail.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why an analysis could not be made.
///
/// The text is for people: what was being read, where, what was found, what was expected, and what to
/// do next. The engine sees bytes, not files; [`Error::in_file`] adds the name of the input.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Another error, with the name of the input that caused it.
    #[error("{}: {source}", Shown(file))]
    InFile {
        /// A path, or the name of an argument.
        file: String,
        /// The error in it.
        source: Box<Error>,
    },
    /// The file ends before something that must be there.
    #[error(
        "the dump ends at byte {length}, but {what} needs bytes {offset} to {end}: the file is truncated; capture the dump again",
        end = offset + needed
    )]
    DumpTruncated {
        /// What was being read.
        what: &'static str,
        /// Its offset in the file.
        offset: u64,
        /// Its size in bytes.
        needed: u64,
        /// The length of the file.
        length: u64,
    },
    /// Not a dump file.
    #[error("{}", not_a_dump(found))]
    DumpMagic {
        /// Its first bytes.
        found: FileStart,
    },
    /// A dump format that this version does not read.
    #[error(
        "dump format version {found} at offset 4: expected version 2; write the dump with a version 2 writer"
    )]
    DumpVersion {
        /// The version found.
        found: u32,
    },
    /// A boundary in the header that lies outside the memory.
    #[error(
        "{name} at offset {offset} is {value}, but the memory in this dump has {memory_size} bytes: expected {name} inside it; the dump is damaged or truncated"
    )]
    DumpBoundary {
        /// The field's name.
        name: &'static str,
        /// The field's offset in the file.
        offset: u64,
        /// Its value.
        value: Address,
        /// The size of the memory in bytes.
        memory_size: u64,
    },
    /// Boundaries in the header that contradict each other.
    #[error(
        "{name} at offset {offset} is {value}, which is above __heap_base at offset 12, {heap_base}: expected {name} at or below it, because static data and the shadow stack are below the heap; the dump is damaged, or its writer swapped the fields"
    )]
    DumpBoundaryOrder {
        /// The field's name.
        name: &'static str,
        /// The field's offset in the file.
        offset: u64,
        /// Its value.
        value: Address,
        /// The heap base.
        heap_base: Address,
    },
    /// More memory than a 32-bit module can have.
    #[error(
        "the memory in this dump has {memory_size} bytes: expected at most 4 GiB, the most that a wasm32 memory can hold; capture the dump again"
    )]
    DumpTooLarge {
        /// The size of the memory in bytes.
        memory_size: u64,
    },
    /// Not a module.
    #[error("{}", not_a_module(found))]
    NotAModule {
        /// Its first bytes.
        found: FileStart,
    },
    /// A module that no engine accepts.
    #[error(
        "the module has at least {size} bytes: expected at most 1 GiB, the most that engines accept; pass the .wasm file that the dump was taken from"
    )]
    ModuleTooLarge {
        /// How many bytes there are; a pipe may have more.
        size: u64,
    },
    /// A module with a part that cannot be read.
    #[error(
        "cannot read the WebAssembly module at offset {offset}: {message}; pass the .wasm file that the dump was taken from"
    )]
    Module {
        /// The offset in the file.
        offset: u64,
        /// What the parser found.
        message: String,
    },
    /// A module of a kind that the AssemblyScript runtime does not use.
    #[error(
        "the module has {found}: expected {expected}; pass the .wasm file that the AssemblyScript or WARPO compiler wrote"
    )]
    ModuleKind {
        /// What was found.
        found: &'static str,
        /// What is supported.
        expected: &'static str,
    },
    /// A global that is needed is neither exported nor named.
    #[error(
        "the module neither exports nor names {name}: expected an AssemblyScript or WARPO program with the incremental runtime, compiled with --debug"
    )]
    GlobalMissing {
        /// The global's exported name.
        name: &'static str,
    },
    /// The allocator of a module is not found, or not all of it.
    #[error("cannot profile the allocations of this module: found {found}: expected {expected}")]
    AllocatorMissing {
        /// What was found.
        found: String,
        /// The names that were looked for, and what to do.
        expected: &'static str,
    },
    /// No allocator whose blocks can be read.
    #[error(
        "found no allocator in this memory: found {found}: expected that of AssemblyScript or WARPO or, in a module with names, dlmalloc, as in wasi-libc, emscripten and Rust"
    )]
    AllocatorUnknown {
        /// What was found.
        found: String,
    },
    /// A source map that cannot be read.
    #[error(
        "cannot read the source map: {message}; pass the .wasm.map file that the compiler wrote with this module"
    )]
    SourceMap {
        /// What is wrong with it.
        message: String,
    },
    /// A file with names of functions that cannot be used.
    #[error(
        "cannot use the names of functions: {message}; pass the .symbols file or the JavaScript that Emscripten wrote \
         with this module"
    )]
    Symbols {
        /// What is wrong with it.
        message: String,
    },
    /// A profile that cannot be used.
    #[error("cannot use the profile: {message}")]
    Profile {
        /// What is wrong with it, and what to do.
        message: String,
    },
    /// The debug information cannot be read.
    #[error(
        "cannot read the debug information at offset {offset:#x} of section debug_info: {message}; compile the module again"
    )]
    DebugInfo {
        /// The offset in the section.
        offset: u64,
        /// What gimli found.
        message: String,
    },
    /// The dump is not of this module.
    #[error(
        "the dump was taken from another module, or from another build of it: {mismatch}; pass the module that was running, or continue with --force (force: true in the API), which may make every number wrong"
    )]
    ModuleMismatch {
        /// What differs.
        mismatch: Mismatch,
    },
    /// Not a heap snapshot.
    #[error("{}", not_a_snapshot(found))]
    NotASnapshot {
        /// Its first bytes.
        found: FileStart,
    },
    /// A heap snapshot that cannot be read.
    #[error(
        "cannot read the heap snapshot at offset {offset}: {}; take the snapshot again",
        Shown(message)
    )]
    Snapshot {
        /// The offset in the file.
        offset: u64,
        /// What was found and expected.
        message: String,
    },
    /// A heap snapshot that ends too early.
    #[error(
        "the heap snapshot ends at byte {length}, but expected {expected}: the file is truncated, or still being written; take the snapshot again"
    )]
    SnapshotTruncated {
        /// The length of the file.
        length: u64,
        /// What should follow.
        expected: String,
    },
    /// A heap snapshot together with a module.
    #[error(
        "this is a heap snapshot of V8, which has no module: leave out --wasm (the argument wasm in the API)"
    )]
    SnapshotWithModule,
    /// A heap dump without a module.
    #[error(
        "a heap dump can be read only with the module that it was taken from: pass it with --wasm (the argument wasm in the API); only heap snapshots of V8 have none"
    )]
    ModuleMissing,
    /// A heap dump compared with a heap snapshot.
    #[error(
        "{dump} is a heap dump and {snapshot} is a heap snapshot of V8: only two dumps, or two snapshots, can be compared"
    )]
    DumpWithSnapshot {
        /// The dump.
        dump: String,
        /// The snapshot.
        snapshot: String,
    },
    /// A question about memory, which a snapshot does not contain.
    #[error("a heap snapshot of V8 cannot answer {question}: {reason}")]
    NotInSnapshot {
        /// The question.
        question: &'static str,
        /// What is not in a snapshot, and what to use instead.
        reason: &'static str,
    },
    /// A question about types or garbage, which a heap of blocks does not have.
    #[error("a heap of a native program cannot answer {question}: {reason}")]
    NotInNativeHeap {
        /// The question.
        question: &'static str,
        /// What is not known.
        reason: &'static str,
    },
    /// Two heaps that were opened with different modules.
    #[error(
        "{before} and {after} were opened with different modules, so their addresses cannot be compared: open both with the .wasm file that was running"
    )]
    DifferentModules {
        /// The earlier dump.
        before: String,
        /// The later dump.
        after: String,
    },
    /// A block header that contradicts the allocator's rules.
    #[error(
        "the heap is corrupt at address {address}: found {found}, expected {expected}; capture the dump again; if the error remains, look for code that writes outside its objects"
    )]
    HeapCorrupt {
        /// The block.
        address: Address,
        /// What was found there.
        found: String,
        /// What would be right.
        expected: &'static str,
    },
    /// More references than the memory has words: containers that overlap.
    #[error(
        "more than {limit} references, which is more than the memory has words: several containers refer to the same buffer, so the heap is corrupt or the dump is of another module; capture the dump again and pass the .wasm file that was running"
    )]
    TooManyReferences {
        /// The number of words in the memory.
        limit: u64,
    },
    /// An option that has no such value.
    #[error("option {name}: found {}; expected {expected}", Shown(found))]
    InvalidOption {
        /// The option's name.
        name: &'static str,
        /// What was passed.
        found: String,
        /// What can be passed.
        expected: &'static str,
    },
    /// No object at the address of a question.
    #[error("there is no object at address {address}{}", nearest_objects(nearest))]
    NoObject {
        /// The address.
        address: ShownAddress,
        /// The nearest objects below and above it, with their classes.
        nearest: Vec<(ShownAddress, String)>,
    },
    /// No class with the name of a question.
    #[error(
        "there is no live object of a class \"{}\"{}; class names begin with their module (assembly/index/Node), and * stands for any text",
        Shown(pattern),
        nearest_names(nearest)
    )]
    UnknownClass {
        /// The name or pattern in the question.
        pattern: String,
        /// The classes whose names are most like it.
        nearest: Vec<String>,
    },
    /// The dump was changed or replaced after it was opened.
    #[error(
        "the dump was changed or replaced after it was opened: found {found}; open it again, and do not change the file while the heap is open"
    )]
    DumpChanged {
        /// What is there now.
        found: String,
    },
    /// Bytes that are not a place table of this version.
    #[error(
        "the place table cannot be read: {}; expected the bytes that a place table of this version was written as",
        Shown(found)
    )]
    PlaceTable {
        /// What is wrong.
        found: String,
    },
    /// Too few dumps for the rules of a check.
    #[error(
        "{found} dump(s) after the warm-up: without a budget, a check needs {needed} or more (--min-dumps), because a few steady numbers rise by chance; take more dumps, or set a budget"
    )]
    TooFewDumps {
        /// How many there are.
        found: u64,
        /// How many it takes.
        needed: u64,
    },
    /// A bug in this crate: a caught panic.
    #[error(
        "internal error: {message}; this is a bug in the heap analyzer: please report it, with the dump and the module if you may share them, at {}/issues",
        env!("CARGO_PKG_REPOSITORY")
    )]
    Internal {
        /// The message of the panic.
        message: String,
    },
    /// The system refused memory.
    #[error(
        "out of memory: cannot allocate {bytes} bytes for {purpose}; free some memory, raise the memory limit of the process or its container, or use a larger machine"
    )]
    OutOfMemory {
        /// The size of the allocation.
        bytes: u64,
        /// What it was for.
        purpose: &'static str,
    },
    /// The system refused a thread.
    #[error(
        "cannot start a thread: {source}; the process or its container is at its limit of threads or memory: raise the limit, or run fewer threads"
    )]
    Threads {
        /// The system's error.
        source: std::io::Error,
    },
    /// The caller asked to stop.
    #[error("the analysis was aborted")]
    Aborted,
    /// A file could not be read.
    #[error("{action}: {source}")]
    Io {
        /// What was being done.
        action: FileAction,
        /// The system's error.
        source: std::io::Error,
    },
    /// One pipe for two inputs. A pipe can be read only once.
    #[error(
        "it is the same pipe as {}: a pipe can be read only once; write one of the two inputs to a file, or use two pipes",
        Shown(other)
    )]
    SamePipe {
        /// The name of the other input.
        other: String,
    },
}

impl Error {
    /// A stable name for programs: `ERR_DUMP_TRUNCATED`, …
    pub fn code(&self) -> &'static str {
        match self {
            Self::InFile { source, .. } => source.code(),
            Self::DumpTruncated { .. } => "ERR_DUMP_TRUNCATED",
            Self::DumpMagic { .. } => "ERR_DUMP_MAGIC",
            Self::DumpVersion { .. } => "ERR_DUMP_VERSION",
            Self::DumpBoundary { .. } => "ERR_DUMP_BOUNDARY",
            Self::DumpBoundaryOrder { .. } => "ERR_DUMP_BOUNDARY_ORDER",
            Self::DumpTooLarge { .. } => "ERR_DUMP_TOO_LARGE",
            Self::Module { .. } | Self::NotAModule { .. } => "ERR_MODULE",
            Self::ModuleTooLarge { .. } => "ERR_MODULE_TOO_LARGE",
            Self::ModuleKind { .. } => "ERR_MODULE_KIND",
            Self::GlobalMissing { .. } => "ERR_GLOBAL_MISSING",
            Self::AllocatorMissing { .. } => "ERR_ALLOCATOR_MISSING",
            Self::AllocatorUnknown { .. } => "ERR_ALLOCATOR_UNKNOWN",
            Self::SourceMap { .. } => "ERR_SOURCE_MAP",
            Self::Symbols { .. } => "ERR_SYMBOLS",
            Self::Profile { .. } => "ERR_PROFILE",
            Self::DebugInfo { .. } => "ERR_DEBUG_INFO",
            Self::ModuleMismatch { .. } => "ERR_MODULE_MISMATCH",
            Self::NotASnapshot { .. } | Self::Snapshot { .. } => "ERR_SNAPSHOT",
            Self::SnapshotTruncated { .. } => "ERR_SNAPSHOT_TRUNCATED",
            Self::SnapshotWithModule => "ERR_SNAPSHOT_WITH_MODULE",
            Self::ModuleMissing => "ERR_MODULE_MISSING",
            Self::DumpWithSnapshot { .. } => "ERR_DUMP_WITH_SNAPSHOT",
            Self::NotInSnapshot { .. } => "ERR_NOT_IN_SNAPSHOT",
            Self::NotInNativeHeap { .. } => "ERR_NOT_IN_NATIVE_HEAP",
            Self::DifferentModules { .. } => "ERR_MODULE_MISMATCH",
            Self::HeapCorrupt { .. } => "ERR_HEAP_CORRUPT",
            Self::TooManyReferences { .. } => "ERR_TOO_MANY_REFERENCES",
            Self::InvalidOption { .. } => "ERR_INVALID_OPTION",
            Self::NoObject { .. } => "ERR_NO_OBJECT",
            Self::UnknownClass { .. } => "ERR_UNKNOWN_CLASS",
            Self::DumpChanged { .. } => "ERR_DUMP_CHANGED",
            Self::PlaceTable { .. } => "ERR_PLACE_TABLE",
            Self::TooFewDumps { .. } => "ERR_TOO_FEW_DUMPS",
            Self::Internal { .. } => "ERR_INTERNAL",
            Self::OutOfMemory { .. } => "ERR_OUT_OF_MEMORY",
            Self::Threads { .. } => "ERR_NO_THREADS",
            Self::Aborted => "ABORT_ERR",
            Self::Io { .. } => "ERR_IO",
            Self::SamePipe { .. } => "ERR_SAME_PIPE",
        }
    }

    /// The same error, preceded by the name of the input if the input caused it.
    pub fn in_file(self, file: impl Into<String>) -> Self {
        match self {
            Self::Aborted
            | Self::OutOfMemory { .. }
            | Self::Threads { .. }
            | Self::InFile { .. } => self,
            other => Self::InFile {
                file: file.into(),
                source: Box::new(other),
            },
        }
    }
}

fn nearest_objects(nearest: &[(ShownAddress, String)]) -> String {
    let objects = nearest
        .iter()
        .map(|(address, class_name)| format!("{address} ({})", Shown(class_name)));
    match objects.collect::<Vec<_>>().join(" and ") {
        none if none.is_empty() => ": the heap has no objects".to_owned(),
        objects => format!("; the nearest objects are at {objects}"),
    }
}

fn nearest_names(nearest: &[String]) -> String {
    let names = nearest.iter().map(|name| Shown(name).to_string());
    match names.collect::<Vec<_>>().join(", ") {
        none if none.is_empty() => String::new(),
        names => format!("; the most similar names are {names}"),
    }
}
