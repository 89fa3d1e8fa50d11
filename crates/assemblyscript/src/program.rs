//! A program, and the heaps of its dumps.

use std::hash::{DefaultHasher, Hasher};
use std::ops::Range;
use std::sync::{Arc, OnceLock};

use super::dump_source::{DumpSource, FunctionNames};
use super::graph::DumpGraph;
use crate::runtime::Runtime;
use crate::runtime::blocks::{ALIGNMENT, AllocatorData};
use crate::runtime::collector::Collector;
use crate::runtime::evidence::Evidence;
use crate::warning::ManagedWarning;
use base::columns;
use base::control::Control;
use base::error::{Error, Result};
use base::input::{Input, ReadBytes};
use base::side_by_side::side_by_side;
use base::tolerance::Tolerance;
use base::units::Address;
use base::warning::Warning;
use dumps::Dump;
use heap::{DumpBytes, Heap, Opened, SearchOrder};
use runtime_code::code_facts::CodeFacts;
use wasm::module::{self, Module, TLSF_ROOT};

/// The memory that must be free before a module is read, per byte of the module. Reading makes many
/// small allocations. Modules of the compilers need far less; a hostile module can need more, and then
/// a failed allocation ends the process.
const ROOM_PER_MODULE_BYTE: u64 = 16;

/// The facts in the module about every heap of the program: read once, used for each dump.
#[derive(Debug)]
pub struct Program<'a> {
    wasm: &'a [u8],
    module: Module<'a>,
    evidence: Evidence,
    tolerance: Tolerance,
    /// Read when the first dump is opened.
    functions: OnceLock<FunctionNames>,
}

impl<'a> Program<'a> {
    /// Reads a module, and from it the classes and the roots.
    ///
    /// # Errors
    /// [`Error::InFile`](base::Error::InFile) around every error of the module;
    /// [`Error::Aborted`](base::Error::Aborted) without it.
    pub fn read(wasm: Input<'a>, control: &Control) -> Result<Self> {
        let module = read_module(wasm, control)?;
        Self::of_module(wasm, module, control)
    }

    /// As [`read`](Self::read), of a module that [`read_module`] has read.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn of_module(wasm: Input<'a>, module: Module<'a>, control: &Control) -> Result<Self> {
        let read = || -> Result<Self> {
            let evidence = Evidence::read(&module, control)?;
            Ok(Self {
                wasm: wasm.bytes,
                module,
                evidence,
                tolerance: Tolerance::default(),
                functions: OnceLock::new(),
            })
        };
        read().map_err(|error| error.in_file(wasm.name))
    }

    /// Whether the module has the collector of AssemblyScript, by its names or its code.
    pub fn has_collector(&self) -> bool {
        self.evidence.code.is_some() || Collector::is_named(&self.module)
    }

    /// The same program, for analyses that tolerate these problems.
    pub fn tolerating(self, tolerance: Tolerance) -> Self {
        Self { tolerance, ..self }
    }

    /// Analyzes a dump of this program. The dump is dropped as soon as it is read, so that the rest of
    /// the work can use its memory.
    ///
    /// # Errors
    /// [`Error::InFile`](base::Error::InFile) around every error of the dump;
    /// [`Error::OutOfMemory`](base::Error::OutOfMemory) and
    /// [`Error::Aborted`](base::Error::Aborted) without it.
    pub fn analyze(&self, dump: Input<'_, impl ReadBytes>, control: &Control) -> Result<Heap> {
        let part = control.part(dump.bytes.as_ref().len() as u64);
        self.analyze_part(dump, &part)
    }

    fn analyze_part(&self, dump: Input<'_, impl ReadBytes>, part: &Control) -> Result<Heap> {
        let graph = self
            .read_graph(&dump.bytes, part)
            .map_err(|error| error.in_file(dump.name))?;
        drop(dump);
        graph.solve(SearchOrder::Any, part)
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
    ) -> Result<Opened> {
        self.open_heap(dump, contents, false, control)
    }

    /// As [`open`](Self::open), with the indexes that are built beside the analysis.
    ///
    /// # Errors
    /// As [`analyze`](Self::analyze).
    pub fn open_with_indexes(
        &self,
        dump: Input<'_, impl ReadBytes>,
        contents: Box<dyn DumpBytes>,
        control: &Control,
    ) -> Result<Opened> {
        self.open_heap(dump, contents, true, control)
    }

    fn open_heap(
        &self,
        dump: Input<'_, impl ReadBytes>,
        contents: Box<dyn DumpBytes>,
        with_indexes: bool,
        control: &Control,
    ) -> Result<Opened> {
        let part = control.part(dump.bytes.as_ref().len() as u64);
        let read = || {
            let bytes = Dump::parse(dump.bytes.as_ref())?;
            let file_size = dump.bytes.as_ref().len() as u64;
            let memory = file_size - bytes.memory.size()..file_size;
            let mut warnings = Vec::new();
            let runtime = self.runtime(&bytes, &mut warnings, &part)?;
            let release = |range| release_memory(&dump.bytes, &bytes, range);
            let (graph, names, roots) =
                DumpGraph::read_with_names(&runtime, self.tolerance, warnings, &release, &part)?;
            Ok((graph, names, roots, memory))
        };
        let read = read().map_err(|error: Error| error.in_file(dump.name));
        // The bytes may be a mapping, which is not needed any more.
        drop(dump);
        let (graph, names, roots, memory) = read?;
        let (heap, indexes) = if with_indexes {
            let (heap, indexes) = graph.solve_with_indexes(&roots, &part)?;
            (heap, Some(indexes))
        } else {
            (graph.solve(SearchOrder::Deep, &part)?, None)
        };
        let mut hasher = DefaultHasher::new();
        hasher.write(self.wasm);
        let module_hash = hasher.finish();
        let mut heap = heap;
        heap.warnings.extend(self.field_names_missing(&heap));
        let heap = Arc::new(heap);
        let program = (module_hash, self.function_names(&part)?);
        let source = DumpSource::new(Arc::clone(&heap), names, program, contents, memory);
        Ok(Opened {
            heap,
            roots,
            source: Box::new(source),
            indexes,
        })
    }

    /// The warning that fields have no names, unless another one says that names are missing. Views show no fields.
    fn field_names_missing(&self, heap: &Heap) -> Option<Warning> {
        let said = [
            "WARN_NAMES_MISSING",
            "WARN_ROOTS_UNKNOWN",
            "WARN_NAMES_INCOMPLETE",
        ];
        let is_said = |warning: &Warning| said.contains(&warning.code());
        let is_silent = !heap.warnings.iter().any(is_said);
        (!self.evidence.has_debug_info && is_silent)
            .then_some(ManagedWarning::FieldNamesMissing.into())
    }

    fn function_names(&self, control: &Control) -> Result<FunctionNames> {
        if let Some(known) = self.functions.get() {
            return Ok(Arc::clone(known));
        }
        let names = self.module.table.names(&self.module.functions, control)?;
        Ok(Arc::clone(self.functions.get_or_init(|| Arc::new(names))))
    }

    fn read_graph(&self, bytes: &impl ReadBytes, part: &Control) -> Result<DumpGraph> {
        let dump = Dump::parse(bytes.as_ref())?;
        let mut warnings = Vec::new();
        let runtime = self.runtime(&dump, &mut warnings, part)?;
        let release = |range| release_memory(bytes, &dump, range);
        DumpGraph::read(&runtime, self.tolerance, warnings, &release, part)
    }

    fn runtime<'d>(
        &'d self,
        dump: &Dump<'d>,
        warnings: &mut Vec<Warning>,
        part: &Control,
    ) -> Result<Runtime<'d>> {
        let (module, evidence) = (&self.module, &self.evidence);
        Runtime::read(dump, module, evidence, self.tolerance, warnings, part)
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
        let part = |dump: &Input<'_, Bytes>| control.part(dump.bytes.as_ref().len() as u64);
        let (before_part, after_part) = (part(&before), part(&after));
        let analyze = |dump: Input<'_, Bytes>, part| -> Result<Heap> {
            let name = dump.name;
            let mut heap = self.analyze_part(dump, part)?;
            heap.name_warnings(name);
            Ok(heap)
        };
        let before = || analyze(before, &before_part);
        let after = || analyze(after, &after_part);
        let (before, mut after) = match schedule {
            Schedule::SideBySide => side_by_side(before, after)?,
            Schedule::OneByOne => (before()?, after()?),
        };
        if let (Some(earlier), Some(later)) = (before.total_size, after.total_size)
            && later < earlier
        {
            after.warnings.push(Warning::MemoryShrank {
                before: earlier,
                after: later,
            });
        }
        Ok((before, after))
    }
}

/// Releases the bytes of these addresses.
fn release_memory(bytes: &impl ReadBytes, dump: &Dump<'_>, addresses: Range<usize>) {
    let memory = dump.memory.size() as usize;
    // The memory is at the end of a dump.
    let start = bytes.as_ref().len().saturating_sub(memory);
    bytes.release(start + addresses.start..start + addresses.end);
}

/// Whether a memory has an allocator of AssemblyScript that was used, at the heap base of the dump or where a global of
/// it says.
pub fn has_allocator(dump: &Dump<'_>) -> bool {
    let base = dump.heap_base.0.checked_next_multiple_of(ALIGNMENT);
    let mut roots = base.into_iter().chain(dump.globals.iter());
    roots.any(|root| AllocatorData::is_root(dump.memory, Address(root)))
}

/// Whether the allocator of AssemblyScript is in a module: by its names, its exports or its code. Of code that cannot be
/// read, it is not known, and its rules say what is wrong.
///
/// # Errors
/// [`Error::Aborted`].
pub fn is_allocator_in(module: &Module<'_>, control: &Control) -> Result<bool> {
    let mut exports = ["__new", "__pin", "__collect"].into_iter();
    let is_named = module.globals.named(TLSF_ROOT).is_some()
        || exports.any(|name| module.functions.exported(name).is_some());
    if is_named {
        return Ok(true);
    }
    match CodeFacts::of(module, control) {
        Err(Error::Aborted) => Err(Error::Aborted),
        found => Ok(found.map_or(true, |code| code.has_allocator())),
    }
}

/// Reads the parts of a module, whatever its language.
///
/// # Errors
/// As [`Program::read`].
pub fn read_module<'a>(wasm: Input<'a>, control: &Control) -> Result<Module<'a>> {
    let read = || {
        module::check_start(wasm.bytes)?;
        let room = (wasm.bytes.len() as u64).saturating_mul(ROOM_PER_MODULE_BYTE);
        columns::check_room(room, "reading the module")?;
        Module::parse(wasm.bytes, control)
    };
    read().map_err(|error| error.in_file(wasm.name))
}

/// The order in which two dumps are analyzed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Schedule {
    /// At the same time, which is faster: parts of the work run on one thread only.
    #[default]
    SideBySide,
    /// One after the other, which needs less memory.
    OneByOne,
}
