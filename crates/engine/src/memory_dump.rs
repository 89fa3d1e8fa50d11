//! Heap dumps: the memory of a program, which is read with its module.

use std::sync::Arc;

use base::control::{Control, Phase};
use base::error::{Error, Result};
use base::file_kind::{FileKind, FileStart};
use base::input::Input;
use base::warning::Warning;
use heap::{Heap, Opened};
use v8::SnapshotError;

use crate::containers::Reading;
use crate::format::{FileBytes, Format, Indexing, Inputs, KeepableBytes};
use crate::program::Program;
use crate::{InputError, Schedule};

/// The format of heap dumps, and of files that are of no other format.
pub(crate) struct MemoryDump;

impl Format for MemoryDump {
    fn recognise(&self, head: &[u8]) -> bool {
        FileKind::of(head) == Some(FileKind::HeapDump)
    }

    fn is_memory(&self) -> bool {
        true
    }

    fn analyze(&self, inputs: Inputs<'_, FileBytes<'_>>, control: &Control) -> Result<Heap> {
        let program = read_program(&inputs, control)?;
        let mut heap = program.analyze(inputs.file, control)?;
        heap.warnings.extend(inputs.origin.warnings);
        Ok(heap)
    }

    fn analyze_both(
        &self,
        [before, after]: [Inputs<'_, FileBytes<'_>>; 2],
        schedule: Schedule,
        control: &Control,
    ) -> Result<[Arc<Heap>; 2]> {
        let program = read_program(&before, control)?;
        let names = [before.file.name, after.file.name];
        let origins = [before.origin, after.origin];
        let (before, after) = program.analyze_both(before.file, after.file, schedule, control)?;
        let mut heaps = [before, after];
        for ((heap, dump), origin) in heaps.iter_mut().zip(names).zip(origins) {
            let warnings = origin.warnings.into_iter();
            heap.warnings
                .extend(warnings.map(|warning| Warning::InDump {
                    dump: dump.to_owned(),
                    warning: Box::new(warning),
                }));
        }
        Ok(heaps.map(Arc::new))
    }

    fn open(
        &self,
        inputs: Inputs<'_, KeepableBytes<'_>>,
        indexing: Indexing,
        control: &Control,
    ) -> Result<Opened> {
        let program = read_program(&inputs, control)?;
        let Input { name, bytes } = inputs.file;
        let (bytes, contents) = bytes.0.keep()?;
        program.opened(Input { name, bytes }, contents, indexing, control)
    }
}

/// The program of a dump. Without a module, the error says what the file needs.
fn read_program<'a>(
    inputs: &Inputs<'a, impl AsRef<[u8]>>,
    control: &Control,
) -> Result<Program<'a>> {
    let Reading {
        tolerance,
        host_roots,
        ..
    } = inputs.reading;
    let Some(module) = inputs.module else {
        let found = FileStart::of(inputs.file.bytes.as_ref());
        let error = match found.kind {
            Some(FileKind::HeapDump | FileKind::Coredump) => Error::from(InputError::ModuleMissing),
            _ => Error::from(SnapshotError::NotASnapshot { found }),
        };
        return Err(error.in_file(inputs.file.name));
    };
    let _step = control.begin(Phase::Module, 1);
    let program = Program::read(module, control)?.tolerating(*tolerance);
    Ok(program.with_host_roots(host_roots.clone()))
}
