//! The name section of the instrumented module.

use std::collections::BTreeMap;

use wasm_encoder::{Encode, IndirectNameMap, NameMap};
use wasmparser::{Name, NameSectionReader};

use super::added::Added;
use super::edits::leb_length;

/// The name section with the new indexes; `None` if it is damaged.
pub(super) fn renumbered(added: &Added, names: NameSectionReader<'_>) -> Option<Vec<u8>> {
    let mut section = wasm_encoder::NameSection::new();
    for subsection in names {
        match subsection.ok()? {
            Name::Function(map) => {
                let mut new: BTreeMap<u32, &str> = BTreeMap::new();
                for naming in map {
                    let naming = naming.ok()?;
                    new.insert(added.outer(naming.index), naming.name);
                    if let Some(&inner) = added.inner.get(&naming.index) {
                        new.insert(inner, naming.name);
                    }
                }
                for (index, name) in added.names() {
                    new.insert(index, name);
                }
                let mut map = NameMap::new();
                for (index, name) in new {
                    map.append(index, name);
                }
                section.functions(&map);
            }
            Name::Local(map) => section.locals(&indirect(added, map)?),
            Name::Module { name, .. } => section.module(name),
            Name::Type(map) => section.types(&direct(map)?),
            Name::Table(map) => section.tables(&direct(map)?),
            Name::Memory(map) => section.memories(&direct(map)?),
            Name::Global(map) => section.globals(&direct(map)?),
            Name::Element(map) => section.elements(&direct(map)?),
            Name::Data(map) => section.data(&direct(map)?),
            Name::Tag(map) => section.tags(&direct(map)?),
            // The code of some functions is in one more block.
            Name::Label(_)
            | Name::Field(_)
            | Name::Parameter(_)
            | Name::TagParameter(_)
            | Name::Unknown { .. } => {}
        }
    }
    let mut encoded = Vec::new();
    section.encode(&mut encoded);
    // The section has its size before its contents.
    encoded.drain(..leb_length(&encoded));
    Some(encoded)
}

fn indirect(added: &Added, map: wasmparser::IndirectNameMap<'_>) -> Option<IndirectNameMap> {
    let mut new = IndirectNameMap::new();
    for function in map {
        let function = function.ok()?;
        new.append(added.outer(function.index), &direct(function.names)?);
    }
    Some(new)
}

fn direct(map: wasmparser::NameMap<'_>) -> Option<NameMap> {
    let mut new = NameMap::new();
    for naming in map {
        let naming = naming.ok()?;
        new.append(naming.index, naming.name);
    }
    Some(new)
}
