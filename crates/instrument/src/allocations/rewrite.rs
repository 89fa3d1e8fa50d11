//! Writes the instrumented module. Sections are copied with their bytes; only indexes of functions change.

use std::ops::Range;

use wasm_encoder::{CustomSection, Encode, RawSection, Section as _};
use wasmparser::{
    ElementItems, ElementKind, ElementSectionReader, ExportSectionReader, ExternalKind,
    KnownCustom, Parser, Payload, TableInit, TableSectionReader,
};

use super::added::{Added, Entries};
use super::code::CodeWriter;
use super::edits::{Edits, leb_length};
use super::hooks::Hooks;
use super::names;
use super::types::Types;
use crate::sections::{slice, vector};
use base::error::Result;
use wasm::allocation_table::{AllocationTable, SECTION};
use wasm::module::{Module, unreadable};

/// The ids of sections that this crate writes or adds.
mod id {
    pub(super) const CUSTOM: u8 = 0;
    pub(super) const IMPORT: u8 = 2;
    pub(super) const GLOBAL: u8 = 6;
    pub(super) const EXPORT: u8 = 7;
    pub(super) const CODE: u8 = 10;
}

/// The order of sections in a module; their ids are not in this order.
const ORDER: [u8; 13] = [1, 2, 3, 4, 5, 13, 6, 7, 8, 9, 12, 10, 11];

/// Instruments a module.
pub(super) fn rewrite(
    wasm: &[u8],
    module: &Module<'_>,
    types: &Types,
    hooks: &Hooks,
) -> Result<(Vec<u8>, AllocationTable)> {
    let added = &Added::new(module, types, hooks);
    let mut sections: Vec<(u8, Vec<u8>)> = Vec::new();
    let mut bodies = Vec::new();
    let mut code_start = 0;
    for payload in Parser::new(0).parse_all(wasm) {
        let payload = payload.map_err(unreadable)?;
        let section = payload.as_section();
        let raw = |range: &Range<u64>| slice(wasm, place(range));
        match payload {
            Payload::CodeSectionEntry(body) => {
                bodies.push(body);
                continue;
            }
            Payload::CustomSection(ref custom) => {
                if custom.name().starts_with("metadata.code.") {
                    // Hints for engines, by index and offset of code.
                    continue;
                }
                let names = match custom.as_known() {
                    KnownCustom::Name(names) => names::renumbered(added, names),
                    _ => None,
                };
                let contents = match names {
                    Some(contents) => contents,
                    None => raw(&custom.range())?.to_vec(),
                };
                sections.push((id::CUSTOM, contents));
                continue;
            }
            _ => {}
        }
        let Some((number, range)) = section else {
            continue;
        };
        let extended = |edits: &Edits, count: u32, new: Entries| -> Result<Vec<u8>> {
            let (mut contents, _) = edits.apply(wasm, place(&range), |f| added.outer(f))?;
            // The number of entries.
            contents.drain(..leb_length(&contents));
            contents.extend(new.1);
            Ok(vector(count + new.0, &contents))
        };
        let unchanged = Edits::default();
        let contents = match payload {
            // A group counts as one entry.
            Payload::TypeSection(section) => extended(&unchanged, section.count(), added.types())?,
            Payload::ImportSection(section) => {
                extended(&unchanged, section.count(), added.imports())?
            }
            Payload::FunctionSection(section) => {
                extended(&unchanged, section.count(), added.functions(module))?
            }
            Payload::GlobalSection(section) => {
                let count = section.count();
                let mut edits = Edits::default();
                for global in section {
                    edits
                        .expression(global.map_err(unreadable)?.init_expr.get_operators_reader())?;
                }
                extended(&edits, count, added.globals())?
            }
            Payload::TableSection(section) => {
                let count = section.count();
                extended(&tables(section)?, count, Entries::default())?
            }
            Payload::ExportSection(section) => {
                let count = section.count();
                extended(&exports(wasm, section)?, count, added.exports())?
            }
            Payload::StartSection { func, .. } => {
                let mut contents = Vec::new();
                added.outer(func).encode(&mut contents);
                contents
            }
            Payload::ElementSection(section) => {
                let count = section.count();
                extended(&elements(section)?, count, Entries::default())?
            }
            Payload::CodeSectionStart { .. } => {
                code_start = range.start;
                Vec::new()
            }
            _ => raw(&range)?.to_vec(),
        };
        sections.push((number, contents));
    }
    let writer = CodeWriter {
        wasm,
        module,
        types,
        hooks,
        added,
    };
    let code = writer.write(&bodies)?;
    for (number, (count, entries)) in [
        (id::IMPORT, added.imports()),
        (id::GLOBAL, added.globals()),
        (id::EXPORT, added.exports()),
    ] {
        insert_if_missing(&mut sections, number, vector(count, &entries));
    }

    let mut out = slice(wasm, 0..8)?.to_vec();
    let mut new_code_start = 0;
    for (number, contents) in &sections {
        let contents = match *number {
            id::CODE => &code.contents,
            _ => contents,
        };
        let section = RawSection {
            id: *number,
            data: contents,
        };
        section.append_to(&mut out);
        if *number == id::CODE {
            new_code_start = (out.len() - contents.len()) as u64;
        }
    }
    let offsets = code.offsets.iter();
    let table = AllocationTable {
        family: hooks.family,
        frees: hooks.frees(),
        code_start,
        new_code_start,
        allocators: hooks.list.iter().map(|hook| hook.name.to_owned()).collect(),
        call: new_code_start + code.call,
        offsets: offsets
            .map(|&(new, old)| (new + new_code_start, old))
            .collect(),
    };
    let written = serde_json::to_vec(&table).map_err(|error| base::Error::Internal {
        message: error.to_string(),
    })?;
    CustomSection {
        name: SECTION.into(),
        data: written.into(),
    }
    .append_to(&mut out);
    Ok((out, table))
}

fn insert_if_missing(sections: &mut Vec<(u8, Vec<u8>)>, number: u8, contents: Vec<u8>) {
    if sections.iter().any(|section| section.0 == number) {
        return;
    }
    let rank = |id: u8| ORDER.iter().position(|&other| other == id);
    let before =
        |section: &(u8, Vec<u8>)| section.0 != id::CUSTOM && rank(section.0) < rank(number);
    let at = sections.iter().rposition(before).map_or(0, |last| last + 1);
    sections.insert(at, (number, contents));
}

fn place(range: &Range<u64>) -> Range<usize> {
    range.start as usize..range.end as usize
}

fn tables(section: TableSectionReader<'_>) -> Result<Edits> {
    let mut edits = Edits::default();
    for table in section {
        if let TableInit::Expr(expression) = table.map_err(unreadable)?.init {
            edits.expression(expression.get_operators_reader())?;
        }
    }
    Ok(edits)
}

fn elements(section: ElementSectionReader<'_>) -> Result<Edits> {
    let mut edits = Edits::default();
    for element in section {
        let element = element.map_err(unreadable)?;
        if let ElementKind::Active { offset_expr, .. } = element.kind {
            edits.expression(offset_expr.get_operators_reader())?;
        }
        match element.items {
            ElementItems::Functions(functions) => {
                for function in functions.into_iter_with_offsets() {
                    let (offset, function) = function.map_err(unreadable)?;
                    edits.function(offset as usize, function);
                }
            }
            ElementItems::Expressions(_, expressions) => {
                for expression in expressions {
                    edits.expression(expression.map_err(unreadable)?.get_operators_reader())?;
                }
            }
        }
    }
    Ok(edits)
}

fn exports(wasm: &[u8], section: ExportSectionReader<'_>) -> Result<Edits> {
    let mut edits = Edits::default();
    let end = section.range().end as usize;
    for export in section.into_iter_with_offsets() {
        let (offset, export) = export.map_err(unreadable)?;
        if matches!(export.kind, ExternalKind::Func | ExternalKind::FuncExact) {
            let at = offset as usize;
            let name = leb_length(slice(wasm, at..end)?) + export.name.len();
            edits.function(at + name + 1, export.index);
        }
    }
    Ok(edits)
}
