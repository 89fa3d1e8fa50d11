//! Writes the instrumented module. Sections are copied with their bytes; only indexes of functions change.

use std::collections::BTreeSet;
use std::ops::Range;

use wasm_encoder::{CustomSection, Encode, RawSection, Section as _};
use wasmparser::{
    CustomSectionReader, ElementItems, ElementKind, ElementSectionReader, ExportSectionReader,
    ExternalKind, GlobalSectionReader, KnownCustom, Parser, Payload, TableInit, TableSectionReader,
};

use super::added::{Added, CountedEntries};
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

/// A section of the new module: its id, and its contents.
type NewSection = (u8, Vec<u8>);

/// Instruments a module. `leading` are the functions that may lead to an allocation, if it is to know the way of calls.
pub(super) fn rewrite(
    wasm: &[u8],
    module: &Module<'_>,
    types: &Types,
    hooks: &Hooks,
    leading: Option<BTreeSet<u32>>,
) -> Result<(Vec<u8>, AllocationTable)> {
    let added = &Added::new(module, types, hooks, leading);
    let mut sections: Vec<NewSection> = Vec::new();
    let mut bodies = Vec::new();
    let mut code_start = 0;
    for payload in Parser::new(0).parse_all(wasm) {
        let payload = payload.map_err(unreadable)?;
        match payload {
            Payload::CodeSectionEntry(body) => bodies.push(body),
            Payload::CustomSection(custom) => {
                let contents = custom_section(wasm, added, &custom)?;
                sections.extend(contents.map(|contents| (id::CUSTOM, contents)));
            }
            payload => {
                let Some((number, range)) = payload.as_section() else {
                    continue;
                };
                if let Payload::CodeSectionStart { .. } = payload {
                    code_start = range.start;
                }
                let contents = section(wasm, module, added, payload, &range)?;
                sections.push((number, contents));
            }
        }
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
    let (mut out, new_code_start) = joined(wasm, &sections, &code.contents)?;
    let offsets = code.offsets.iter();
    let table = AllocationTable {
        family: hooks.family,
        frees: hooks.frees(),
        contexts: added.contexts.is_some(),
        code_start,
        new_code_start,
        allocators: hooks.list.iter().map(|hook| hook.name.to_owned()).collect(),
        call: new_code_start + code.call,
        offsets: offsets
            .map(|&(new, old)| (new + new_code_start, old))
            .collect(),
    };
    let written = serde_json::to_vec(&table).map_err(|error| base::Error::Internal {
        message: error.to_string().into(),
    })?;
    CustomSection {
        name: SECTION.into(),
        data: written.into(),
    }
    .append_to(&mut out);
    Ok((out, table))
}

/// A custom section with new indexes of functions; `None` for hints for engines, which are by index and offset of
/// code.
fn custom_section(
    wasm: &[u8],
    added: &Added,
    custom: &CustomSectionReader<'_>,
) -> Result<Option<Vec<u8>>> {
    if custom.name().starts_with("metadata.code.") {
        return Ok(None);
    }
    let names = match custom.as_known() {
        KnownCustom::Name(names) => names::renumbered(added, names),
        _ => None,
    };
    Ok(Some(match names {
        Some(contents) => contents,
        None => slice(wasm, bytes_of(&custom.range()))?.to_vec(),
    }))
}

/// A section with new indexes of functions and with what is added. The code is written afterwards.
fn section(
    wasm: &[u8],
    module: &Module<'_>,
    added: &Added,
    payload: Payload<'_>,
    range: &Range<u64>,
) -> Result<Vec<u8>> {
    let extended = |edits: &Edits, count: u32, new: CountedEntries| -> Result<Vec<u8>> {
        let (mut contents, _) = edits.apply(wasm, bytes_of(range), |f| added.outer(f))?;
        // The number of entries.
        contents.drain(..leb_length(&contents));
        contents.extend(new.1);
        Ok(vector(count + new.0, &contents))
    };
    let unchanged = Edits::default();
    match payload {
        // A group counts as one entry.
        Payload::TypeSection(section) => extended(&unchanged, section.count(), added.types()),
        Payload::ImportSection(section) => extended(&unchanged, section.count(), added.imports()),
        Payload::FunctionSection(section) => {
            extended(&unchanged, section.count(), added.functions(module))
        }
        Payload::GlobalSection(section) => {
            let count = section.count();
            extended(&globals(section)?, count, added.globals())
        }
        Payload::TableSection(section) => {
            let count = section.count();
            extended(&tables(section)?, count, CountedEntries::default())
        }
        Payload::ExportSection(section) => {
            let count = section.count();
            extended(&exports(wasm, section)?, count, added.exports())
        }
        Payload::StartSection { func, .. } => {
            let mut contents = Vec::new();
            added.outer(func).encode(&mut contents);
            Ok(contents)
        }
        Payload::ElementSection(section) => {
            let count = section.count();
            extended(&elements(section)?, count, CountedEntries::default())
        }
        Payload::CodeSectionStart { .. } => Ok(Vec::new()),
        _ => Ok(slice(wasm, bytes_of(range))?.to_vec()),
    }
}

/// The module of these sections, and where its code begins.
fn joined(wasm: &[u8], sections: &[NewSection], code: &[u8]) -> Result<(Vec<u8>, u64)> {
    let mut out = slice(wasm, 0..8)?.to_vec();
    let mut code_start = 0;
    for (number, contents) in sections {
        let data = match *number {
            id::CODE => code,
            _ => contents,
        };
        let section = RawSection { id: *number, data };
        section.append_to(&mut out);
        if *number == id::CODE {
            code_start = (out.len() - data.len()) as u64;
        }
    }
    Ok((out, code_start))
}

fn insert_if_missing(sections: &mut Vec<NewSection>, number: u8, contents: Vec<u8>) {
    if sections.iter().any(|section| section.0 == number) {
        return;
    }
    let rank = |id: u8| ORDER.iter().position(|&other| other == id);
    let before = |section: &NewSection| section.0 != id::CUSTOM && rank(section.0) < rank(number);
    let at = sections.iter().rposition(before).map_or(0, |last| last + 1);
    sections.insert(at, (number, contents));
}

fn bytes_of(range: &Range<u64>) -> Range<usize> {
    range.start as usize..range.end as usize
}

fn globals(section: GlobalSectionReader<'_>) -> Result<Edits> {
    let mut edits = Edits::default();
    for global in section {
        edits.expression(global.map_err(unreadable)?.init_expr.get_operators_reader())?;
    }
    Ok(edits)
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
