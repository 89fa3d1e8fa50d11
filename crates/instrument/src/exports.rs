//! The export section as entries that can be kept byte for byte, and the names in it that this
//! crate reserves.

use wasm_encoder::Encode;
use wasmparser::{ExternalKind, Parser, Payload};

use super::sections::slice;
use base::error::Result;
use base::units::GlobalIndex;
use wasm::module::unreadable;

/// The start of every reserved name. Names of compilers and people are identifiers or paths; a name with a
/// colon after such a prefix is neither.
pub const RESERVED_PREFIX: &str = "__warpo_heap_analyzer:";
/// The prefix before the index of a mutable i32 global.
pub const GLOBAL_PREFIX: &str = "__warpo_heap_analyzer:global:";
/// The end of static data.
pub const DATA_END: &str = "__warpo_heap_analyzer:data_end";
/// The start of the heap.
pub const HEAP_BASE: &str = "__warpo_heap_analyzer:heap_base";
/// The top of the shadow stack.
pub const STACK_POINTER: &str = "__warpo_heap_analyzer:stack_pointer";
/// The memory. Programs with an imported memory may not export it themselves.
pub const MEMORY: &str = "__warpo_heap_analyzer:memory";

/// An export to add.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct NewExport {
    pub(super) name: String,
    pub(super) kind: ExternalKind,
    pub(super) index: u32,
}

impl NewExport {
    pub(super) fn global(name: impl Into<String>, index: GlobalIndex) -> Self {
        Self {
            name: name.into(),
            kind: ExternalKind::Global,
            index: index.0,
        }
    }

    fn encode(&self, entries: &mut Vec<u8>) {
        self.name.as_str().encode(entries);
        entries.push(match self.kind {
            ExternalKind::Memory => 2,
            _ => 3,
        });
        self.index.encode(entries);
    }
}

/// All exports of a module.
#[derive(Debug, Default)]
pub(super) struct Exports<'a> {
    entries: Vec<ExportEntry<'a>>,
}

#[derive(Debug)]
struct ExportEntry<'a> {
    export: wasmparser::Export<'a>,
    raw: &'a [u8],
}

impl<'a> Exports<'a> {
    /// Reads the export section, if there is one.
    ///
    /// # Errors
    /// [`ModuleError::Unreadable`](wasm::ModuleError::Unreadable) if it is broken.
    pub(super) fn read(wasm: &'a [u8]) -> Result<Self> {
        let mut entries = Vec::new();
        for payload in Parser::new(0).parse_all(wasm) {
            if let Payload::ExportSection(section) = payload.map_err(unreadable)? {
                let mut end = section.range().end as usize;
                let found = section
                    .into_iter_with_offsets()
                    .collect::<Result<Vec<_>, _>>()
                    .map_err(unreadable)?;
                // Backwards, because an entry ends where the next one begins.
                for (offset, export) in found.into_iter().rev() {
                    let raw = slice(wasm, offset as usize..end)?;
                    entries.push(ExportEntry { export, raw });
                    end = offset as usize;
                }
                entries.reverse();
            }
        }
        Ok(Self { entries })
    }

    /// The global that is exported under this name.
    pub(super) fn global(&self, name: &str) -> Option<GlobalIndex> {
        self.entries
            .iter()
            .find(|entry| entry.export.kind == ExternalKind::Global && entry.export.name == name)
            .map(|entry| GlobalIndex(entry.export.index))
    }

    /// Whether the reserved exports are exactly these.
    pub(super) fn reserves(&self, wanted: &[NewExport]) -> bool {
        let mut present: Vec<_> = self
            .entries
            .iter()
            .filter(|entry| is_reserved(entry))
            .map(|entry| NewExport {
                name: entry.export.name.to_owned(),
                kind: entry.export.kind,
                index: entry.export.index,
            })
            .collect();
        present.sort_by(|left, right| left.name.cmp(&right.name));
        let mut wanted = wanted.to_vec();
        wanted.sort_by(|left, right| left.name.cmp(&right.name));
        present == wanted
    }

    /// The contents of the export section: the program's exports, unchanged, then these in place of the
    /// reserved ones. Returns (count, entries).
    pub(super) fn with_reserved(&self, wanted: &[NewExport]) -> (u32, Vec<u8>) {
        let mut entries = Vec::new();
        let mut count = wanted.len() as u32;
        for own in self.entries.iter().filter(|entry| !is_reserved(entry)) {
            entries.extend_from_slice(own.raw);
            count += 1;
        }
        for export in wanted {
            export.encode(&mut entries);
        }
        (count, entries)
    }
}

fn is_reserved(entry: &ExportEntry<'_>) -> bool {
    entry.export.name.starts_with(RESERVED_PREFIX)
}
