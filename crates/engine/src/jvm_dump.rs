//! Heap dumps of a JVM, which need no module.

use std::sync::Arc;

use base::control::Control;
use base::error::{Error, Result};
use base::input::Input;
use heap::{Heap, Opened};
use jvm::HprofError;

use crate::Schedule;
use crate::format::{FileBytes, Format, Indexing, Inputs, KeepableBytes};

/// The format of heap dumps of a JVM: HPROF.
pub(crate) struct JvmDump;

impl Format for JvmDump {
    fn recognise(&self, head: &[u8]) -> bool {
        jvm::begins(head)
    }

    fn is_memory(&self) -> bool {
        false
    }

    fn analyze(&self, inputs: Inputs<'_, FileBytes<'_>>, control: &Control) -> Result<Heap> {
        check_alone(&inputs)?;
        jvm::analyze(inputs.file, inputs.reading.tolerance, control)
    }

    /// One after the other: each takes all threads.
    fn analyze_both(
        &self,
        [before, after]: [Inputs<'_, FileBytes<'_>>; 2],
        _: Schedule,
        control: &Control,
    ) -> Result<[Arc<Heap>; 2]> {
        let names = [before.file.name, after.file.name];
        let mut before = self.analyze(before, control)?;
        let mut after = self.analyze(after, control)?;
        before.name_warnings(names[0]);
        after.name_warnings(names[1]);
        after.warnings.push(jvm::objects_move());
        Ok([Arc::new(before), Arc::new(after)])
    }

    fn open(
        &self,
        inputs: Inputs<'_, KeepableBytes<'_>>,
        _: Indexing,
        control: &Control,
    ) -> Result<Opened> {
        check_alone(&inputs)?;
        let tolerance = inputs.reading.tolerance;
        let Input { name, bytes } = inputs.file;
        let (bytes, contents) = bytes.0.keep()?;
        jvm::open(Input { name, bytes }, contents, tolerance, control)
    }
}

/// Refuses a module: a JVM has none.
fn check_alone<Bytes>(inputs: &Inputs<'_, Bytes>) -> Result<()> {
    match inputs.module {
        Some(_) => Err(Error::from(HprofError::WithModule).in_file(inputs.file.name)),
        None => Ok(()),
    }
}
