//! Changes a module so that a host can read everything that a complete dump needs: the values of its mutable
//! i32 globals, the boundaries of its memory, and the memory.
//!
//! A host can read only the exports of an instance, so the module is changed before it is compiled: it is the
//! same program with more exports.

use wasm_encoder::{ConstExpr, Encode, GlobalType, ValType};
use wasmparser::{ExternalKind, Parser, Payload};

use super::InstrumentError;
use super::boundaries::{Boundaries, Boundary};
use super::exports::{
    DATA_END, Exports, GLOBAL_PREFIX, HEAP_BASE, MEMORY, NewExport, STACK_POINTER,
};
use super::sections::{EXPORT_SECTION, GLOBAL_SECTION, Sections, slice, vector};
use base::control::Control;
use base::error::Result;
use base::units::GlobalIndex;
use wasm::module::{Globals, Module, unreadable};

/// Returns the same module with more exports:
///
/// | export | what |
/// |---|---|
/// | `__warpo_heap_analyzer:global:<index>` | every mutable i32 global, imported ones too, by wasm global index |
/// | `__warpo_heap_analyzer:data_end`, `…:heap_base`, `…:stack_pointer` | the boundaries in a dump's header |
/// | `__warpo_heap_analyzer:memory` | the memory, under a name that is the same in every module |
///
/// The program's own exports and all other sections keep their bytes and their order: names, debug
/// information and indexes do not change. In optimised builds, where the compiler has removed `__data_end`
/// and `__heap_base`, immutable globals with their values are appended after the last global. A program that
/// never pushes a stack frame has no stack pointer: its stack is empty, so the heap base is exported in its
/// place.
///
/// Applying it twice changes nothing more. Reserved exports that no longer fit, because another tool
/// renumbered the globals in between, are replaced.
///
/// Source maps count bytes from the start of the file, so their positions are wrong by the number of bytes
/// that were added; DWARF counts from the start of the code and is not affected.
///
/// # Errors
/// [`ModuleError::Unreadable`](wasm::ModuleError::Unreadable) if the bytes are no module,
/// [`ModuleError::Kind`](wasm::ModuleError::Kind) for a component or a 64-bit memory,
/// [`InstrumentError::GlobalMissing`](crate::InstrumentError::GlobalMissing) if the program allocates, but its heap cannot be found,
/// as without the AssemblyScript runtime; [`InstrumentError::HeapUnknown`] for a program of Go or TinyGo.
pub fn expose_globals(wasm: &[u8]) -> Result<Vec<u8>> {
    let module = Module::parse(wasm, &Control::default())?;
    if let Some(language) = module.functions.foreign_allocator() {
        return Err(InstrumentError::HeapUnknown { language }.into());
    }
    let globals = &module.globals;
    let exports = Exports::read(wasm)?;
    let boundaries = Boundaries::find(&module, &exports)?;

    let mut folded = Vec::new();
    let first_new_index = globals.iter().len() as u32;
    let mut index_of = |boundary| match boundary {
        Boundary::Global(index) => index,
        Boundary::Folded(value) => {
            // Equal boundaries share one global.
            let known = folded.iter().position(|&known| known == value);
            let nth = known.unwrap_or_else(|| {
                folded.push(value);
                folded.len() - 1
            });
            GlobalIndex(first_new_index + nth as u32)
        }
    };
    let mut wanted = vec![
        NewExport::global(DATA_END, index_of(boundaries.data_end)),
        NewExport::global(HEAP_BASE, index_of(boundaries.heap_base)),
        NewExport::global(STACK_POINTER, index_of(boundaries.stack_pointer)),
    ];
    if module.has_memory {
        wanted.push(NewExport {
            name: MEMORY.to_owned(),
            kind: ExternalKind::Memory,
            index: 0,
        });
    }
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
        if let Payload::GlobalSection(section) = payload.map_err(unreadable)? {
            count += section.count();
            let end = section.range().end as usize;
            if let Some(first) = section.into_iter_with_offsets().next() {
                entries.extend_from_slice(slice(wasm, first.map_err(unreadable)?.0 as usize..end)?);
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
