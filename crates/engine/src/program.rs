//! Programs, and the heaps of their dumps. The names in a module say which language it is of; where there are none, the
//! memory says which allocator it has.

use std::sync::OnceLock;

use assemblyscript::{self, DumpBytes, Schedule};
use base::control::Control;
use base::error::{Error, Result};
use base::input::{Input, ReadBytes};
use base::tolerance::Tolerance;
use dumps::{Dump, HostRoot};
use heap::{Heap, Opened};
use questions::LoadedHeap;
use wasm::ModuleError;

use crate::format::Indexing;
use crate::host_roots::refuse_host_roots;

/// The facts in the module about every heap of the program: read once, used for each dump.
#[derive(Debug)]
pub struct Program<'a> {
    kind: ProgramKind<'a>,
    /// Only for dumps of C, C++, Rust and Zig.
    host_roots: Vec<HostRoot>,
}

#[derive(Debug)]
enum ProgramKind<'a> {
    AssemblyScript(Box<assemblyscript::Program<'a>>),
    Native(Box<native::Program<'a>>),
    Unnamed(Box<Unnamed<'a>>),
}

/// A module that has neither the names of a language nor a collector that can be read.
#[derive(Debug)]
struct Unnamed<'a> {
    wasm: Input<'a>,
    tolerance: Tolerance,
    host_roots: Vec<HostRoot>,
    assemblyscript: assemblyscript::Program<'a>,
    /// Whether the allocator of AssemblyScript is in the module.
    is_assemblyscript: bool,
    /// Read for the first dump that has such an allocator.
    native: OnceLock<native::Program<'a>>,
}

/// The program that reads a dump.
enum ProgramOfDump<'p, 'a> {
    AssemblyScript(&'p assemblyscript::Program<'a>),
    Native(&'p native::Program<'a>),
}

impl<'a> Unnamed<'a> {
    /// By the allocator: that of AssemblyScript is in its code, and of others the memory says more. A dump that cannot be
    /// read is left to AssemblyScript's rules.
    fn reader(&self, dump: &[u8], control: &Control) -> Result<ProgramOfDump<'_, 'a>> {
        let Ok(dump) = Dump::parse(dump) else {
            return Ok(ProgramOfDump::AssemblyScript(&self.assemblyscript));
        };
        let is_assemblyscript = self.is_assemblyscript
            || assemblyscript::has_allocator(&dump) && !native::has_allocator(&dump, control)?;
        if is_assemblyscript {
            return Ok(ProgramOfDump::AssemblyScript(&self.assemblyscript));
        }
        if let Some(known) = self.native.get() {
            return Ok(ProgramOfDump::Native(known));
        }
        let module = assemblyscript::read_module(self.wasm, control)?;
        let program = native::Program::new(self.wasm.bytes, module)
            .tolerating(self.tolerance)
            .with_host_roots(self.host_roots.clone());
        Ok(ProgramOfDump::Native(self.native.get_or_init(|| program)))
    }
}

impl<'a> Program<'a> {
    /// Reads a module, and from it the classes and the roots.
    ///
    /// # Errors
    /// [`Error::InFile`](base::Error::InFile) around every error of the module;
    /// [`Error::Aborted`](base::Error::Aborted) without it.
    pub fn read(wasm: Input<'a>, control: &Control) -> Result<Self> {
        let module = assemblyscript::read_module(wasm, control)?;
        if module.relocation.is_some_and(|found| !found.is_main) {
            return Err(Error::from(ModuleError::Side).in_file(wasm.name));
        }
        if module.relocation.is_some() || native::is_native(&module) {
            let program = native::Program::new(wasm.bytes, module);
            return Ok(Self::of_kind(ProgramKind::Native(Box::new(program))));
        }
        let is_assemblyscript = assemblyscript::is_allocator_in(&module, control)?;
        let program = assemblyscript::Program::of_module(wasm, module, control)?;
        if program.has_collector() {
            return Ok(Self::of_kind(ProgramKind::AssemblyScript(Box::new(
                program,
            ))));
        }
        Ok(Self::of_kind(ProgramKind::Unnamed(Box::new(Unnamed {
            wasm,
            tolerance: Tolerance::default(),
            host_roots: Vec::new(),
            assemblyscript: program,
            is_assemblyscript,
            native: OnceLock::new(),
        }))))
    }

    fn of_kind(kind: ProgramKind<'a>) -> Self {
        Self {
            kind,
            host_roots: Vec::new(),
        }
    }

    /// The same program, for dumps of a host that holds these pointers. Only dumps of C, C++, Rust and Zig are then read.
    pub fn with_host_roots(self, host_roots: Vec<HostRoot>) -> Self {
        let roots = host_roots.clone();
        let kind = match self.kind {
            ProgramKind::Native(program) => {
                ProgramKind::Native(Box::new(program.with_host_roots(roots)))
            }
            ProgramKind::Unnamed(mut program) => {
                program.host_roots = roots;
                ProgramKind::Unnamed(program)
            }
            kind => kind,
        };
        Self { kind, host_roots }
    }

    /// The same program, for analyses that tolerate these problems.
    pub fn tolerating(self, tolerance: Tolerance) -> Self {
        let kind = match self.kind {
            ProgramKind::AssemblyScript(program) => {
                ProgramKind::AssemblyScript(Box::new(program.tolerating(tolerance)))
            }
            ProgramKind::Native(program) => {
                ProgramKind::Native(Box::new(program.tolerating(tolerance)))
            }
            ProgramKind::Unnamed(program) => ProgramKind::Unnamed(Box::new(Unnamed {
                wasm: program.wasm,
                tolerance,
                host_roots: program.host_roots,
                assemblyscript: program.assemblyscript.tolerating(tolerance),
                is_assemblyscript: program.is_assemblyscript,
                native: OnceLock::new(),
            })),
        };
        Self { kind, ..self }
    }

    fn reader(
        &self,
        dump: &Input<'_, impl AsRef<[u8]>>,
        control: &Control,
    ) -> Result<ProgramOfDump<'_, 'a>> {
        let reader = match &self.kind {
            ProgramKind::AssemblyScript(program) => ProgramOfDump::AssemblyScript(program),
            ProgramKind::Native(program) => ProgramOfDump::Native(program),
            ProgramKind::Unnamed(program) => program.reader(dump.bytes.as_ref(), control)?,
        };
        if matches!(reader, ProgramOfDump::AssemblyScript(_)) {
            refuse_host_roots(&self.host_roots).map_err(|error| error.in_file(dump.name))?;
        }
        Ok(reader)
    }

    /// Analyzes a dump of this program. The dump is dropped as soon as it is read, so that the rest of
    /// the work can use its memory.
    ///
    /// # Errors
    /// [`Error::InFile`](base::Error::InFile) around every error of the dump;
    /// [`Error::OutOfMemory`](base::Error::OutOfMemory) and
    /// [`Error::Aborted`](base::Error::Aborted) without it.
    pub fn analyze(&self, dump: Input<'_, impl ReadBytes>, control: &Control) -> Result<Heap> {
        match self.reader(&dump, control)? {
            ProgramOfDump::AssemblyScript(program) => program.analyze(dump, control),
            ProgramOfDump::Native(program) => program.analyze(dump, control),
        }
    }

    /// Analyzes two dumps of this program. Each warning names its dump.
    ///
    /// # Errors
    /// As [`analyze`](Self::analyze); if both dumps fail, the error of the first.
    pub fn analyze_both<Bytes: ReadBytes + Send>(
        &self,
        before: Input<'_, Bytes>,
        after: Input<'_, Bytes>,
        schedule: Schedule,
        control: &Control,
    ) -> Result<(Heap, Heap)> {
        match self.reader(&before, control)? {
            ProgramOfDump::AssemblyScript(program) => {
                program.analyze_both(before, after, schedule, control)
            }
            ProgramOfDump::Native(program) => {
                let names = [before.name, after.name];
                let mut heaps = (
                    program.analyze(before, control)?,
                    program.analyze(after, control)?,
                );
                heaps.0.name_warnings(names[0]);
                heaps.1.name_warnings(names[1]);
                Ok(heaps)
            }
        }
    }

    /// Opens a dump of this program for questions. These read the dump again through `contents`. The bytes
    /// are dropped as soon as the dump is read.
    ///
    /// # Errors
    /// As [`analyze`](Self::analyze).
    pub fn open(
        &self,
        dump: Input<'_, impl ReadBytes>,
        contents: Box<dyn DumpBytes>,
        control: &Control,
    ) -> Result<LoadedHeap> {
        let name = dump.name;
        let opened = self.opened(dump, contents, Indexing::WhenAsked, control)?;
        Ok(LoadedHeap::new(opened, name))
    }

    /// The heap of a dump with its source.
    pub(crate) fn opened(
        &self,
        dump: Input<'_, impl ReadBytes>,
        contents: Box<dyn DumpBytes>,
        indexing: Indexing,
        control: &Control,
    ) -> Result<Opened> {
        match (self.reader(&dump, control)?, indexing) {
            (ProgramOfDump::AssemblyScript(program), Indexing::WhenAsked) => {
                program.open(dump, contents, control)
            }
            (ProgramOfDump::AssemblyScript(program), Indexing::Beside) => {
                program.open_with_indexes(dump, contents, control)
            }
            (ProgramOfDump::Native(program), _) => program.open(dump, contents, control),
        }
    }

    /// As [`open`](Self::open), with all indexes. This takes less time than
    /// [`prepare`](LoadedHeap::prepare) afterwards, because some indexes are built beside the analysis.
    ///
    /// # Errors
    /// As [`analyze`](Self::analyze).
    pub fn open_prepared(
        &self,
        dump: Input<'_, impl ReadBytes>,
        contents: Box<dyn DumpBytes>,
        control: &Control,
    ) -> Result<LoadedHeap> {
        let name = dump.name;
        let opened = self.opened(dump, contents, Indexing::Beside, control)?;
        let heap = LoadedHeap::new(opened, name);
        heap.prepare(control)?;
        Ok(heap)
    }
}
