//! Reads the parts of a WebAssembly module that an analysis needs: its globals with their names, exports and
//! initial values, its functions, and the custom sections with debug information.

mod functions;
mod globals;
mod memory_manager;
mod table;
mod unreadable;

pub use functions::{Functions, Signature};
pub use globals::{Global, Globals, TLSF_ROOT};
pub use memory_manager::MemoryManager;
pub use table::FunctionTable;
pub use unreadable::unreadable;

use std::collections::HashMap;

use wasmparser::{
    DataKind, ExternalKind, KnownCustom, MemoryType, Name, NameSectionReader, Parser, Payload,
};

use crate::ModuleError;
use base::control::Control;
use base::error::Result;
use base::file_kind::{FileKind, FileStart};
use base::units::Address;

/// The pages of a full 32-bit memory.
const MOST_PAGES: u64 = 1 << 16;

/// The most bytes that engines accept.
pub const MAX_SIZE: u64 = 1 << 30;

/// Checks that these bytes can be a module, before memory is allocated in proportion to their number.
///
/// # Errors
/// [`ModuleError::NotAModule`], [`ModuleError::TooLarge`].
pub fn check_start(wasm: &[u8]) -> Result<()> {
    if FileKind::of(wasm) != Some(FileKind::Module) {
        return Err(ModuleError::NotAModule {
            found: FileStart::of(wasm),
        }
        .into());
    }
    let size = wasm.len() as u64;
    if size > MAX_SIZE {
        return Err(ModuleError::TooLarge { size }.into());
    }
    Ok(())
}

/// Where a module is that is placed in memory when it is loaded.
#[derive(Clone, Copy, Debug, Default)]
pub struct Relocation {
    /// The address of its static data: what [`Module::parse_placed`] was told, otherwise 0.
    pub memory_base: u32,
    /// The bytes of its static data.
    pub static_size: u32,
    /// Whether it is the main module, which has the allocator: it asks where the heap begins.
    pub is_main: bool,
    /// Whether it asks where its static data is.
    has_base: bool,
    /// The position in a dump of the global that has the end of the stack.
    stack_end: Option<(StackEnd, u32)>,
}

/// What says where the stack ends, the best last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum StackEnd {
    /// Before emscripten 3.1.27, the heap begins there.
    HeapBase,
    StackHigh,
}

impl Relocation {
    /// The position in a dump of the global that has the end of the stack.
    pub fn stack_end(&self) -> Option<u32> {
        self.stack_end.map(|(_, position)| position)
    }
}

/// A data segment: initial bytes of the memory.
#[derive(Clone, Copy, Debug)]
pub struct DataSegment<'a> {
    /// Their address.
    pub start: Address,
    /// The bytes.
    pub bytes: &'a [u8],
}

/// The parts of a module that an analysis needs. It borrows the module's bytes.
#[derive(Debug, Default)]
pub struct Module<'a> {
    /// All globals, imported ones first.
    pub globals: Globals<'a>,
    /// Whether there is a memory, imported or not.
    pub has_memory: bool,
    /// The least and the most pages that the first memory may have, if it is the module's own.
    pub memory_limits: Option<(u64, u64)>,
    /// All functions, imported ones first.
    pub functions: Functions<'a>,
    /// The functions that code can call by an index.
    pub table: FunctionTable,
    /// Of a module that is placed in memory when it is loaded: its addresses are not in it.
    pub relocation: Option<Relocation>,
    /// Data that is copied into memory at instantiation, if its address is known.
    pub data: Vec<DataSegment<'a>>,
    /// The custom sections whose names begin with `debug_` or `.debug_`, under the dotted name.
    debug_sections: HashMap<String, &'a [u8]>,
}

impl<'a> Module<'a> {
    /// Reads a module.
    ///
    /// # Errors
    /// [`ModuleError::NotAModule`], [`ModuleError::TooLarge`]; [`ModuleError::Unreadable`] if a section is broken;
    /// [`ModuleError::Kind`] for a component or a 64-bit memory; [`Error::Aborted`](base::Error::Aborted).
    pub fn parse(wasm: &'a [u8], control: &Control) -> Result<Self> {
        Self::parse_placed(wasm, 0, control)
    }

    /// Reads a module whose static data is at this address, if it is one that is placed when it is loaded.
    ///
    /// # Errors
    /// As [`parse`](Self::parse).
    pub fn parse_placed(wasm: &'a [u8], memory_base: u32, control: &Control) -> Result<Self> {
        check_start(wasm)?;
        let mut module = Self::default();
        for payload in Parser::new(0).parse_all(wasm) {
            control.check()?;
            match payload.map_err(unreadable)? {
                Payload::Version { encoding, .. } if encoding != wasmparser::Encoding::Module => {
                    return Err(ModuleError::Kind {
                        found: "the component encoding",
                        expected: "a core module",
                        advice: "pass the .wasm file from which a tool made this component, such as the input of wasm-tools component new",
                    }
                    .into());
                }
                Payload::ImportSection(section) => {
                    for import in section.into_imports() {
                        control.count(1)?;
                        let import = import.map_err(unreadable)?;
                        match import.ty {
                            wasmparser::TypeRef::Global(ty) => {
                                module.add_imported_global(import.name, ty, memory_base);
                            }
                            wasmparser::TypeRef::Memory(ty) => module.add_memory(ty)?,
                            wasmparser::TypeRef::Func(ty) => {
                                module
                                    .functions
                                    .add_imported(import.module, import.name, ty);
                            }
                            wasmparser::TypeRef::Table(_) => module.table.add_imported(),
                            _ => {}
                        }
                    }
                }
                Payload::TypeSection(section) => module.functions.read_types(section, control)?,
                Payload::FunctionSection(section) => {
                    for ty in section {
                        control.count(1)?;
                        module.functions.add_defined(ty.map_err(unreadable)?);
                    }
                }
                Payload::DataSection(section) => {
                    for segment in section {
                        control.count(1)?;
                        let segment = segment.map_err(unreadable)?;
                        // In merged programs, each program has a memory; the dump is of the first.
                        if let DataKind::Active {
                            memory_index: 0,
                            offset_expr,
                        } = segment.kind
                            && let Some(start) = module.globals.evaluate(&offset_expr)
                        {
                            module.data.push(DataSegment {
                                start: Address(start),
                                bytes: segment.data,
                            });
                        }
                    }
                }
                Payload::TableSection(section) => module.table.read_tables(section, control)?,
                Payload::ElementSection(section) => {
                    module
                        .table
                        .read_segments(section, &module.globals, control)?;
                }
                Payload::StartSection { func, .. } => module.functions.set_start(func),
                Payload::CodeSectionEntry(body) => module.functions.add_body(body),
                Payload::MemorySection(section) => {
                    for memory in section {
                        let memory = memory.map_err(unreadable)?;
                        if !module.has_memory && memory.page_size_log2.is_none() {
                            let maximum = memory.maximum.unwrap_or(MOST_PAGES);
                            module.memory_limits = Some((memory.initial, maximum));
                        }
                        module.add_memory(memory)?;
                    }
                }
                Payload::GlobalSection(section) => {
                    for global in section {
                        control.count(1)?;
                        module.globals.add_defined(&global.map_err(unreadable)?);
                    }
                }
                Payload::ExportSection(section) => {
                    for export in section {
                        control.count(1)?;
                        module.add_export(export.map_err(unreadable)?);
                    }
                }
                Payload::CustomSection(section) => {
                    if let KnownCustom::Name(names) = section.as_known() {
                        // A module with damaged names is still a valid module: the readable names are used.
                        let _ = module.read_names(names, control);
                        control.count(1)?;
                    } else if let KnownCustom::Dylink0(parts) = section.as_known() {
                        // As with names.
                        let size = static_size(parts, control)?;
                        module.relocation.get_or_insert_default().static_size = size;
                    } else if let Some(name) = dotted_debug_name(section.name()) {
                        module.debug_sections.entry(name).or_insert(section.data());
                    }
                }
                _ => {}
            }
        }
        module.relocation = module.relocation.filter(|found| found.has_base);
        Ok(module)
    }

    fn add_imported_global(&mut self, name: &str, ty: wasmparser::GlobalType, memory_base: u32) {
        let is_base = name == "__memory_base";
        self.globals
            .add_imported(ty, is_base.then_some(memory_base));
        let position = self.globals.iter().last();
        let position = position.and_then(|global| global.dump_position);
        let end = match name {
            "__memory_base" => None,
            "__heap_base" => Some(StackEnd::HeapBase),
            "__stack_high" => Some(StackEnd::StackHigh),
            _ => return,
        };
        let relocation = self.relocation.get_or_insert_default();
        relocation.is_main |= end.is_some();
        if is_base {
            relocation.has_base = true;
            relocation.memory_base = memory_base;
        }
        relocation.stack_end = relocation.stack_end.max(end.zip(position));
    }

    fn add_export(&mut self, export: wasmparser::Export<'a>) {
        match export.kind {
            ExternalKind::Global => self.globals.add_export(export.name, export.index),
            ExternalKind::Func => self.functions.add_export(export.name, export.index),
            ExternalKind::Table => self.table.add_export(),
            _ => {}
        }
    }

    fn add_memory(&mut self, memory: MemoryType) -> Result<()> {
        if memory.memory64 {
            return Err(ModuleError::Kind {
                found: "a 64-bit memory",
                expected: "a 32-bit memory",
                advice: "compile for wasm32: clang and Rust without a target wasm64, Emscripten without -sMEMORY64",
            }
            .into());
        }
        self.has_memory = true;
        Ok(())
    }

    fn read_names(&mut self, names: NameSectionReader<'a>, control: &Control) -> Result<()> {
        for subsection in names {
            match subsection.map_err(unreadable)? {
                Name::Global(map) => self.globals.read_names(map, control)?,
                Name::Function(map) => self.functions.read_names(map, control)?,
                _ => {}
            }
        }
        Ok(())
    }

    /// The contents of a debug section by its DWARF name (`.debug_info`); empty if there is none.
    pub fn debug_section(&self, dotted_name: &str) -> &'a [u8] {
        self.debug_sections
            .get(dotted_name)
            .copied()
            .unwrap_or_default()
    }
}

/// The bytes of static data that a module says it has; 0 if that cannot be read.
fn static_size(parts: wasmparser::Dylink0SectionReader<'_>, control: &Control) -> Result<u32> {
    for part in parts {
        control.count(1)?;
        if let Ok(wasmparser::Dylink0Subsection::MemInfo(found)) = part {
            return Ok(found.memory_size);
        }
    }
    Ok(0)
}

/// WARPO writes `debug_info`, other producers `.debug_info`: both become the latter.
fn dotted_debug_name(name: &str) -> Option<String> {
    let bare = name.strip_prefix('.').unwrap_or(name);
    bare.starts_with("debug_").then(|| format!(".{bare}"))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "in a test, what cannot be is a failure")]
mod tests {
    use super::*;

    #[test]
    fn data_of_a_second_memory_does_not_count_for_the_first() {
        use wasm_encoder::{
            ConstExpr, DataSection, MemorySection, MemoryType, Module as WasmModule,
        };
        let memory = MemoryType {
            minimum: 1,
            maximum: None,
            memory64: false,
            shared: false,
            page_size_log2: None,
        };
        let mut memories = MemorySection::new();
        memories.memory(memory).memory(memory);
        let mut data = DataSection::new();
        data.active(0, &ConstExpr::i32_const(16), *b"first");
        data.active(1, &ConstExpr::i32_const(16), *b"other");
        let mut wasm = WasmModule::new();
        wasm.section(&memories).section(&data);
        let wasm = wasm.finish();
        let module = Module::parse(&wasm, &Control::default()).unwrap();
        let bytes: Vec<_> = module.data.iter().map(|segment| segment.bytes).collect();
        assert_eq!(bytes, [b"first"]);
    }
}
