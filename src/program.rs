//! The two inputs of an analysis, by name: what is wrong with one is said with its name.

use crate::control::Control;
use crate::dump::Dump;
use crate::error::{Error, Result};
use crate::heap::Heap;
use crate::module::Module;
use crate::runtime::Runtime;
use crate::runtime::evidence::Evidence;
use crate::tolerance::Tolerance;
use crate::warning::Warning;

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
    /// [`Error::Aborted`](crate::Error::Aborted) as it is.
    pub fn analyze(&self, dump: Input<'_>, control: &Control) -> Result<Heap> {
        let analyze = || {
            let parsed = Dump::parse(dump.bytes)?;
            let mut warnings = Vec::new();
            let runtime = Runtime::read(
                &parsed,
                &self.module,
                &self.evidence,
                self.tolerance,
                &mut warnings,
            )?;
            Heap::analyze(&runtime, self.tolerance, warnings, control)
        };
        analyze().map_err(|error: Error| error.in_file(dump.name))
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
        let analyze = |dump: Input<'_>| -> Result<Heap> {
            let mut heap = self.analyze(dump, control)?;
            let warnings = heap.warnings.drain(..).map(|warning| Warning::InDump {
                dump: dump.name.to_owned(),
                warning: Box::new(warning),
            });
            heap.warnings = warnings.collect();
            Ok(heap)
        };
        let (before, after) = rayon::join(|| analyze(before), || analyze(after));
        Ok((before?, after?))
    }
}
