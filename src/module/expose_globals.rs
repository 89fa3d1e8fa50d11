//! Makes a module show a host what a complete dump needs: the values of its mutable i32 globals,
//! the boundaries of its memory, and the memory.
//!
//! A host sees nothing of an instance but its exports, so the module is changed before it is
//! compiled: the same program, with more exports.

use wasm_encoder::{ConstExpr, Encode, GlobalType, ValType};
use wasmparser::{ExternalKind, Parser, Payload};

use super::boundaries::{Boundaries, Boundary};
use super::exports::{
    DATA_END, Exports, GLOBAL_PREFIX, HEAP_BASE, MEMORY, NewExport, STACK_POINTER,
};
use super::sections::{EXPORT_SECTION, GLOBAL_SECTION, Sections, slice, vector};
use super::{Globals, Module};
use crate::control::Control;
use crate::error::{Error, Result};
use crate::units::GlobalIndex;

/// Returns the same module with more exports:
///
/// | export | what |
/// |---|---|
/// | `__warpo_heap_analyzer:global:<index>` | every mutable i32 global, imported ones too, by wasm global index |
/// | `__warpo_heap_analyzer:data_end`, `…:heap_base`, `…:stack_pointer` | the boundaries in a dump's header |
/// | `__warpo_heap_analyzer:memory` | the memory, under a name that is the same in every module |
///
/// The program's own exports keep their bytes and their order, and so does every other section:
/// names and debug information still fit, no index moves. In optimised stock builds, where the
/// compiler has folded `__data_end` and `__heap_base` away, immutable globals that hold them are
/// appended behind the last global.
///
/// A second application changes nothing. Reserved exports that no longer fit, because another tool
/// renumbered the globals in between, are replaced.
///
/// Source maps count bytes from the start of the file, so their positions are off by what the
/// export section grew; DWARF counts from the start of the code and is not affected.
///
/// # Errors
/// [`Error::Module`] if the bytes are no module, [`Error::ModuleKind`] for a component, a 64-bit
/// memory or none, [`Error::GlobalMissing`] if the program has no shadow stack that can be found,
/// as it is without the incremental runtime.
pub fn expose_globals(wasm: &[u8]) -> Result<Vec<u8>> {
    let module = Module::parse(wasm, &Control::default())?;
    if !module.has_memory {
        return Err(Error::ModuleKind {
            found: "no memory",
            expected: "a memory, whose contents a dump is made of",
        });
    }
    let globals = &module.globals;
    let exports = Exports::read(wasm)?;
    let boundaries = Boundaries::find(&module, &exports)?;

    let mut folded = Vec::new();
    let first_new_index = globals.iter().len() as u32;
    let mut place = |boundary| match boundary {
        Boundary::Global(index) => index,
        Boundary::Folded(value) => {
            folded.push(value);
            GlobalIndex(first_new_index + folded.len() as u32 - 1)
        }
    };
    let mut wanted = vec![
        NewExport::global(DATA_END, place(boundaries.data_end)),
        NewExport::global(HEAP_BASE, place(boundaries.heap_base)),
        NewExport::global(STACK_POINTER, boundaries.stack_pointer),
        NewExport {
            name: MEMORY.to_owned(),
            kind: ExternalKind::Memory,
            index: 0,
        },
    ];
    wanted.extend(mutable_i32_exports(globals));
    if exports.reserves(&wanted) {
        return Ok(wasm.to_vec());
    }

    let mut sections = Sections::split(wasm)?;
    if !folded.is_empty() {
        sections.replace(GLOBAL_SECTION, with_constants(wasm, &folded)?);
    }
    let (count, entries) = exports.with_reserved(&wanted);
    sections.replace(EXPORT_SECTION, vector(count, &entries));
    Ok(sections.join())
}

fn mutable_i32_exports(globals: &Globals<'_>) -> impl Iterator<Item = NewExport> {
    globals
        .iter()
        .filter(|global| global.dump_position.is_some())
        .map(|global| NewExport::global(format!("{GLOBAL_PREFIX}{}", global.index), global.index))
}

/// The contents of the global section with immutable i32 globals appended.
fn with_constants(wasm: &[u8], values: &[u32]) -> Result<Vec<u8>> {
    let mut count = values.len() as u32;
    let mut entries = Vec::new();
    for payload in Parser::new(0).parse_all(wasm) {
        if let Payload::GlobalSection(section) = payload? {
            count += section.count();
            let end = section.range().end as usize;
            if let Some(first) = section.into_iter_with_offsets().next() {
                entries.extend_from_slice(slice(wasm, first?.0 as usize..end)?);
            }
        }
    }
    for &value in values {
        GlobalType {
            val_type: ValType::I32,
            mutable: false,
            shared: false,
        }
        .encode(&mut entries);
        ConstExpr::i32_const(value as i32).encode(&mut entries);
    }
    Ok(vector(count, &entries))
}
