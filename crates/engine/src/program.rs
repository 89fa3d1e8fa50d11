//! Programs, and the heaps of their dumps. The module says which language they are of.

use assemblyscript::{self, DumpBytes, Schedule};
use base::control::Control;
use base::error::Result;
use base::input::Input;
use base::tolerance::Tolerance;
use heap::Heap;
use questions::LoadedHeap;

/// The facts in the module about every heap of the program: read once, used for each dump.
#[derive(Debug)]
pub struct Program<'a>(ProgramKind<'a>);

#[derive(Debug)]
enum ProgramKind<'a> {
    AssemblyScript(Box<assemblyscript::Program<'a>>),
    Native(Box<native::Program<'a>>),
}

impl<'a> Program<'a> {
    /// Reads a module, and from it the classes and the roots.
    ///
    /// # Errors
    /// [`Error::InFile`](base::Error::InFile) around every error of the module;
    /// [`Error::Aborted`](base::Error::Aborted) without it.
    pub fn read(wasm: Input<'a>, control: &Control) -> Result<Self> {
        let module = assemblyscript::read_module(wasm, control)?;
        if native::is_native(&module) {
            let program = native::Program::new(wasm.bytes, module);
            return Ok(Self(ProgramKind::Native(Box::new(program))));
        }
        let program = assemblyscript::Program::of_module(wasm, module, control)?;
        Ok(Self(ProgramKind::AssemblyScript(Box::new(program))))
    }

    /// The same program, for analyses that tolerate these problems.
    pub fn tolerating(self, tolerance: Tolerance) -> Self {
        Self(match self.0 {
            ProgramKind::AssemblyScript(program) => {
                ProgramKind::AssemblyScript(Box::new(program.tolerating(tolerance)))
            }
            ProgramKind::Native(program) => {
                ProgramKind::Native(Box::new(program.tolerating(tolerance)))
            }
        })
    }

    /// Analyzes a dump of this program. The dump is dropped as soon as it is read, so that the rest of
    /// the work can use its memory.
    ///
    /// # Errors
    /// [`Error::InFile`](base::Error::InFile) around every error of the dump;
    /// [`Error::OutOfMemory`](base::Error::OutOfMemory) and
    /// [`Error::Aborted`](base::Error::Aborted) without it.
    pub fn analyze(&self, dump: Input<'_, impl AsRef<[u8]>>, control: &Control) -> Result<Heap> {
        match &self.0 {
            ProgramKind::AssemblyScript(program) => program.analyze(dump, control),
            ProgramKind::Native(program) => program.analyze(dump, control),
        }
    }

    /// Analyzes two dumps of this program. Each warning names its dump.
    ///
    /// # Errors
    /// As [`analyze`](Self::analyze); if both dumps fail, the error of the first.
    pub fn analyze_both<Bytes: AsRef<[u8]> + Send>(
        &self,
        before: Input<'_, Bytes>,
        after: Input<'_, Bytes>,
        schedule: Schedule,
        control: &Control,
    ) -> Result<(Heap, Heap)> {
        match &self.0 {
            ProgramKind::AssemblyScript(program) => {
                program.analyze_both(before, after, schedule, control)
            }
            ProgramKind::Native(program) => {
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
        dump: Input<'_, impl AsRef<[u8]>>,
        contents: Box<dyn DumpBytes>,
        control: &Control,
    ) -> Result<LoadedHeap> {
        let name = dump.name;
        let opened = match &self.0 {
            ProgramKind::AssemblyScript(program) => program.open(dump, contents, control)?,
            ProgramKind::Native(program) => program.open(dump, contents, control)?,
        };
        Ok(LoadedHeap::new(opened, name))
    }

    /// As [`open`](Self::open), with all indexes. This takes less time than
    /// [`prepare`](LoadedHeap::prepare) afterwards, because some indexes are built beside the analysis.
    ///
    /// # Errors
    /// As [`analyze`](Self::analyze).
    pub fn open_prepared(
        &self,
        dump: Input<'_, impl AsRef<[u8]>>,
        contents: Box<dyn DumpBytes>,
        control: &Control,
    ) -> Result<LoadedHeap> {
        let name = dump.name;
        let opened = match &self.0 {
            ProgramKind::AssemblyScript(program) => {
                program.open_with_indexes(dump, contents, control)?
            }
            ProgramKind::Native(program) => program.open(dump, contents, control)?,
        };
        let heap = LoadedHeap::new(opened, name);
        heap.prepare(control)?;
        Ok(heap)
    }
}
