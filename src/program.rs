//! The two inputs of an analysis, by name: what is wrong with one is said with its name.

use crate::control::Control;
use crate::dump::Dump;
use crate::error::Result;
use crate::heap::{Heap, ObjectGraph};
use crate::module::Module;
use crate::runtime::Runtime;
use crate::runtime::evidence::Evidence;
use crate::tolerance::Tolerance;

/// Bytes with the name that errors call them by.
#[derive(Clone, Copy, Debug)]
pub struct Input<'a> {
    /// A path, or what an argument is called.
    pub name: &'a str,
    /// The contents.
    pub bytes: &'a [u8],
}

/// What a module tells about every heap of the program: read once, used for each dump.
#[derive(Debug)]
pub struct Program<'a> {
    module: Module<'a>,
    evidence: Evidence,
    tolerance: Tolerance,
}

impl<'a> Program<'a> {
    /// Reads a module and all that it tells about classes and roots.
    ///
    /// # Errors
    /// [`Error::InFile`](crate::Error::InFile) around whatever is wrong with the module.
    pub fn read(wasm: Input<'a>) -> Result<Self> {
        let read = || -> Result<Self> {
            let module = Module::parse(wasm.bytes)?;
            let evidence = Evidence::read(&module)?;
            Ok(Self {
                module,
                evidence,
                tolerance: Tolerance::default(),
            })
        };
        read().map_err(|error| error.in_file(wasm.name))
    }

    /// The same program, for analyses that tolerate more.
    pub fn tolerating(self, tolerance: Tolerance) -> Self {
        Self { tolerance, ..self }
    }

    /// Analyzes a dump of this program.
    ///
    /// # Errors
    /// [`Error::InFile`](crate::Error::InFile) around whatever is wrong with the dump;
    /// [`Error::OutOfMemory`](crate::Error::OutOfMemory) and
    /// [`Error::Aborted`](crate::Error::Aborted) as they are.
    pub fn analyze(&self, dump: Input<'_>, control: &Control) -> Result<Heap> {
        self.analyze_part(dump, &control.part(dump.bytes.len() as u64))
    }

    fn analyze_part(&self, dump: Input<'_>, part: &Control) -> Result<Heap> {
        self.read_graph(dump, part)?.solve(part)
    }

    /// The first half of [`analyze`](Self::analyze): all that the dump is needed for. `part` is what
    /// [`Control::part`] returned for this dump.
    ///
    /// # Errors
    /// As [`analyze`](Self::analyze).
    pub fn read_graph(&self, dump: Input<'_>, part: &Control) -> Result<ObjectGraph> {
        let read = || {
            let parsed = Dump::parse(dump.bytes)?;
            let mut warnings = Vec::new();
            let runtime = Runtime::read(
                &parsed,
                &self.module,
                &self.evidence,
                self.tolerance,
                &mut warnings,
            )?;
            ObjectGraph::read(&runtime, self.tolerance, warnings, part)
        };
        read().map_err(|error| error.in_file(dump.name))
    }

    /// Analyzes two dumps of this program, side by side. The warnings say which one they are of.
    ///
    /// # Errors
    /// As [`analyze`](Self::analyze); if both dumps are wrong, what is wrong with the first.
    pub fn analyze_both(
        &self,
        before: Input<'_>,
        after: Input<'_>,
        control: &Control,
    ) -> Result<(Heap, Heap)> {
        let parts = [before, after].map(|dump| control.part(dump.bytes.len() as u64));
        let analyze = |dump: Input<'_>, part| -> Result<Heap> {
            let mut heap = self.analyze_part(dump, part)?;
            heap.name_warnings(dump.name);
            Ok(heap)
        };
        let (before, after) =
            rayon::join(|| analyze(before, &parts[0]), || analyze(after, &parts[1]));
        Ok((before?, after?))
    }
}
