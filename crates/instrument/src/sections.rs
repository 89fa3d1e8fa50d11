//! A module as a list of raw sections: one section can be replaced without a change to any other byte.
//!
//! Decoding and encoding the whole module would be shorter, but it would also change other things: padded
//! LEB128 numbers, unknown custom sections, their order.

use std::collections::{BTreeMap, HashSet};
use std::ops::Range;

use wasm_encoder::{Encode, RawSection, Section as _};
use wasmparser::{BinaryReader, Parser};

use base::error::{Error, Result};
use wasm::ModuleError;
use wasm::module::unreadable;

const CUSTOM_SECTION: u8 = 0;
const CODE_SECTION: u8 = 10;

/// The section ids that this crate writes.
pub(super) const GLOBAL_SECTION: u8 = 6;
/// See [`GLOBAL_SECTION`].
pub(super) const EXPORT_SECTION: u8 = 7;

/// The sections that the format requires before the export section, in no particular order. The tag section
/// (13) is the only one whose place does not follow from its id; custom sections may be anywhere.
const BEFORE_EXPORTS: [u8; 7] = [1, 2, 3, 4, 5, 13, GLOBAL_SECTION];

/// The size of the magic and the version, which precede the first section.
const PREAMBLE_SIZE: usize = 8;

/// A module, divided into sections.
pub(super) struct Sections<'a> {
    preamble: &'a [u8],
    sections: Vec<Section<'a>>,
}

struct Section<'a> {
    id: u8,
    /// Id, size and contents, as in the file.
    raw: &'a [u8],
    /// Contents that replace those in `raw`.
    replacement: Option<Vec<u8>>,
}

impl<'a> Sections<'a> {
    /// Divides a module into sections.
    ///
    /// # Errors
    /// [`ModuleError::Unreadable`] if a section does not fit into the module.
    pub(super) fn split(wasm: &'a [u8]) -> Result<Self> {
        let mut sections = Vec::new();
        let mut start = PREAMBLE_SIZE;
        for payload in Parser::new(0).parse_all(wasm) {
            if let Some((id, contents)) = payload.map_err(unreadable)?.as_section() {
                let end = contents.end as usize;
                sections.push(Section {
                    id,
                    raw: slice(wasm, start..end)?,
                    replacement: None,
                });
                start = end;
            }
        }
        Ok(Self {
            preamble: slice(wasm, 0..PREAMBLE_SIZE)?,
            sections,
        })
    }

    /// Replaces the contents of the global or the export section; a module that has no such section gets one,
    /// after the last section that must precede it.
    pub(super) fn replace(&mut self, id: u8, contents: Vec<u8>) {
        if let Some(section) = self.sections.iter_mut().find(|section| section.id == id) {
            section.replacement = Some(contents);
            return;
        }
        let position = self
            .sections
            .iter()
            .rposition(|section| section.id != id && BEFORE_EXPORTS.contains(&section.id))
            .map_or(0, |last| last + 1);
        self.sections.insert(
            position,
            Section {
                id,
                raw: &[],
                replacement: Some(contents),
            },
        );
    }

    /// Removes the sections of names that come after the code, so that no offset of code changes, and returns their
    /// subsections by number: of two with one number, the first. `None`, and nothing is removed, if one is damaged.
    pub(super) fn take_names(&mut self) -> Option<BTreeMap<u8, &'a [u8]>> {
        let code = self
            .sections
            .iter()
            .position(|section| section.id == CODE_SECTION);
        let after = code.map_or(0, |code| code + 1);
        let mut found = BTreeMap::new();
        let mut taken = HashSet::new();
        for (nth, section) in self.sections.iter().enumerate().skip(after) {
            if section.id != CUSTOM_SECTION {
                continue;
            }
            let mut reader = BinaryReader::new(section.raw, 0);
            reader.read_u8().ok()?;
            reader.read_var_u32().ok()?;
            if reader.read_string().ok()? != "name" {
                continue;
            }
            while !reader.eof() {
                let kind = reader.read_u8().ok()?;
                let size = reader.read_var_u32().ok()?;
                let contents = reader.read_bytes(size as usize).ok()?;
                found.entry(kind).or_insert(contents);
            }
            taken.insert(nth);
        }
        let mut nth = 0..;
        self.sections
            .retain(|_| nth.next().is_none_or(|nth| !taken.contains(&nth)));
        Some(found)
    }

    /// The module with its replacements.
    pub(super) fn join(&self) -> Vec<u8> {
        let mut wasm = self.preamble.to_vec();
        for section in &self.sections {
            match &section.replacement {
                None => wasm.extend_from_slice(section.raw),
                Some(contents) => RawSection {
                    id: section.id,
                    data: contents,
                }
                .append_to(&mut wasm),
            }
        }
        wasm
    }
}

/// The contents of a section that is a vector: a count, then the entries.
pub(super) fn vector(count: u32, entries: &[u8]) -> Vec<u8> {
    let mut contents = Vec::with_capacity(entries.len() + 5);
    count.encode(&mut contents);
    contents.extend_from_slice(entries);
    contents
}

/// The bytes of `wasm` in `range`.
///
/// # Errors
/// [`ModuleError::Unreadable`] if the module is shorter.
pub(super) fn slice(wasm: &[u8], range: Range<usize>) -> Result<&[u8]> {
    let offset = range.start as u64;
    wasm.get(range).ok_or_else(|| {
        Error::from(ModuleError::Unreadable {
            offset,
            message: "a section lies outside the file".to_owned(),
        })
    })
}
