//! Names functions, files and lines for offsets in a module's code, for profiles.
//!
//! The best source that knows an offset is used: lines of DWARF, with the functions that were inlined there;
//! a source map; the `name` section; the name of an export; or else the index of the function and the offset in it.

mod declarations;
mod go;
mod source_map;

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::Range;

use addr2line::{Context, gimli};
use gimli::{EndianSlice, LittleEndian};

pub use go::GoTable;
pub use source_map::Place;

use crate::ModuleError;
use crate::allocation_table::AllocationTable;
use crate::module::{Module, unreadable};
use base::control::Control;
use base::error::{Error, Result};
use base::frame::Frame;
use source_map::{FunctionCode, SourceMap};

/// Symbols of a module, instrumented or not.
pub struct Symbols<'a> {
    module: Module<'a>,
    table: Option<AllocationTable>,
    /// Where each function's body begins, in the order of the functions.
    starts: Vec<u64>,
    /// The end of the last body.
    end: u64,
    code_start: u64,
    lines: Option<Context<EndianSlice<'a, LittleEndian>>>,
    source_map: Option<SourceMap>,
    /// The exported functions by index, for those without another name.
    exports: HashMap<u32, &'a str>,
}

impl<'a> Symbols<'a> {
    /// Reads the symbols of a module, and its source map as JSON.
    ///
    /// # Errors
    /// [`ModuleError::Unreadable`], [`ModuleError::Kind`]; [`ModuleError::SourceMap`] if the source map cannot be read.
    pub fn read(wasm: &'a [u8], source_map: Option<&str>) -> Result<Self> {
        let module = Module::parse(wasm, &Control::default())?;
        let table = AllocationTable::read(wasm)?;
        let bodies = module.functions.defined().map(|(_, body)| body.range());
        let ranges: Vec<_> = bodies.collect();
        let code_start = match &table {
            Some(table) => table.code_start,
            None => code_start(wasm)?,
        };
        let section = |id: gimli::SectionId| -> Result<_, gimli::Error> {
            Ok(EndianSlice::new(
                module.debug_section(id.name()),
                LittleEndian,
            ))
        };
        // Damaged debug information names nothing; the other sources remain.
        let lines = (!module.debug_section(".debug_line").is_empty())
            .then(|| {
                gimli::Dwarf::load(section)
                    .and_then(Context::from_dwarf)
                    .ok()
            })
            .flatten();
        Ok(Self {
            starts: ranges.iter().map(|range| range.start).collect(),
            end: ranges.last().map_or(0, |range| range.end),
            code_start,
            lines,
            source_map: source_map.map(SourceMap::parse).transpose()?,
            exports: exports(&module),
            module,
            table,
        })
    }

    /// The functions at an offset in the file, the innermost first. Never empty.
    pub fn frames(&self, offset: u64) -> Vec<Frame> {
        let name = self.name(offset);
        let original = match &self.table {
            Some(table) => table.original(offset),
            None => Some(offset),
        };
        let Some(original) = original else {
            return vec![name];
        };
        if let Some(mut frames) = self.inlined(original, &name) {
            if let [first, _, ..] = frames.as_mut_slice()
                && self.is_entry(offset, first)
            {
                first.line = 0;
            }
            return frames;
        }
        let found = self.source_map.as_ref().and_then(|map| {
            let (function, body) = self.body(offset)?;
            // The map has the offsets in the original module.
            let code = match &self.table {
                Some(table) => table.original_code(body)?,
                None => body,
            };
            let name = self.module.functions.name(function);
            map.find(&FunctionCode { code, name }, original)
        });
        match found {
            Some(place) => vec![Frame {
                file: place.file.to_owned(),
                line: place.line,
                ..name
            }],
            None => vec![name],
        }
    }

    /// A place in each constructor `Class#constructor` whose code is mostly from its own file, by the name of the class.
    /// An optimiser can put constructors into other functions; those are not there.
    pub fn constructors(&self) -> HashMap<&'a str, Place<'_>> {
        let mut found = HashMap::new();
        let Some(map) = self.source_map.as_ref() else {
            return found;
        };
        for (function, body) in self.module.functions.defined() {
            let name = self.module.functions.name(function);
            let class = name.and_then(|name| name.strip_suffix("#constructor"));
            let code = body.range();
            if let (Some(class), Some(place)) = (class, map.place_of(&FunctionCode { code, name }))
            {
                found.insert(class, place);
            }
        }
        found
    }

    /// Whether the line of an inlined function is the one at which the function around it begins: clang gives that line to
    /// the first instructions, of whichever function they are.
    fn is_entry(&self, offset: u64, frame: &Frame) -> bool {
        let entry = || {
            let (_, body) = self.body(offset)?;
            let code = match &self.table {
                Some(table) => table.original_code(body)?,
                None => body,
            };
            let address = code.start.checked_sub(self.code_start)?;
            self.lines.as_ref()?.find_location(address).ok()?
        };
        entry().is_some_and(|entry| {
            entry.line == Some(frame.line) && entry.file == Some(frame.file.as_str())
        })
    }

    fn inlined(&self, original: u64, name: &Frame) -> Option<Vec<Frame>> {
        let address = original.checked_sub(self.code_start)?;
        let mut found = self
            .lines
            .as_ref()?
            .find_frames(address)
            .skip_all_loads()
            .ok()?;
        let mut frames = Vec::new();
        while let Ok(Some(frame)) = found.next() {
            let function = frame.function.as_ref().and_then(|function| {
                let name = function.demangle().ok()?;
                Some(name.into_owned())
            });
            let location = frame.location.as_ref();
            frames.push(Frame {
                function: function.unwrap_or_else(|| name.function.clone()),
                file: location
                    .and_then(|at| at.file)
                    .unwrap_or_default()
                    .to_owned(),
                line: location.and_then(|at| at.line).unwrap_or(0),
            });
        }
        let known = frames.iter().any(|frame| frame.line != 0);
        known.then_some(frames)
    }

    /// The function at an offset, and its code.
    fn body(&self, offset: u64) -> Option<(u32, Range<u64>)> {
        let after = self.starts.partition_point(|&start| start <= offset);
        let nth = after.checked_sub(1).filter(|_| offset < self.end)?;
        let end = self.starts.get(after).copied().unwrap_or(self.end);
        let function = nth as u32 + self.module.functions.imported();
        Some((function, self.starts[nth]..end))
    }

    /// The name of the function at an offset.
    fn name(&self, offset: u64) -> Frame {
        let Some((function, Range { start, .. })) = self.body(offset) else {
            return Frame {
                function: format!("wasm+{offset:#x}"),
                ..Frame::default()
            };
        };
        let name = self
            .module
            .functions
            .name(function)
            .or_else(|| self.exports.get(&function).copied());
        // The index and the offset in the original module.
        let table = self.table.as_ref();
        let added = table.map_or(0, AllocationTable::added_imports);
        let original = function.saturating_sub(added);
        let inside = table
            .and_then(|table| table.original(offset)?.checked_sub(table.original(start)?))
            .unwrap_or(offset - start);
        Frame {
            function: match name {
                Some(name) => demangled(name).into_owned(),
                None => format!("wasm-function[{original}]+{inside:#x}"),
            },
            ..Frame::default()
        }
    }
}

/// The exported functions by index. Of two names of a function, the first in the alphabet is taken.
fn exports<'a>(module: &Module<'a>) -> HashMap<u32, &'a str> {
    let mut exports: HashMap<u32, &str> = HashMap::new();
    for (name, function) in module.functions.exports() {
        let known = exports.entry(function).or_insert(name);
        *known = name.min(known);
    }
    exports
}

/// The name as the source has it, of a symbol of C++ or Rust; other names as they are.
pub fn demangled(name: &str) -> Cow<'_, str> {
    addr2line::demangle_auto(Cow::Borrowed(name), None)
}

fn code_start(wasm: &[u8]) -> Result<u64> {
    for payload in wasmparser::Parser::new(0).parse_all(wasm) {
        let payload = payload.map_err(unreadable)?;
        if let (wasmparser::Payload::CodeSectionStart { .. }, Some((_, range))) =
            (&payload, payload.as_section())
        {
            return Ok(range.start);
        }
    }
    Ok(0)
}

impl SourceMap {
    fn parse(text: &str) -> Result<Self> {
        Self::read(text).map_err(|message| Error::from(ModuleError::SourceMap { message }))
    }
}
