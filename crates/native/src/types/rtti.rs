//! The class of an object of C++ by its table of functions: the word before the table refers to a description of the
//! class, and this to its name. Both are constants, which are read from the module and not from the memory.

use std::collections::HashMap;
use std::ops::Range;

use base::control::CHECK_INTERVAL;
use base::error::Result;
use base::units::ObjectIndex;
use heap::TypeEvidence;
use wasm::module::{DataSegment, Module};

use super::spread::{BlockType, Spread};
use super::table::TypeId;

/// The longest name of a class in a module.
const LONGEST: usize = 4096;

/// The constants of a module.
pub(super) struct Constants<'m, 'a> {
    /// By address.
    segments: Vec<&'m DataSegment<'a>>,
    /// Their addresses, with those between them.
    range: Range<u64>,
}

impl<'m, 'a> Constants<'m, 'a> {
    pub(super) fn new(module: &'m Module<'a>) -> Self {
        let mut segments: Vec<_> = module.data.iter().collect();
        segments.sort_by_key(|segment| segment.start);
        let start = segments.first().map_or(0, |segment| segment.start.0.into());
        let end =
            |segment: &&DataSegment<'_>| u64::from(segment.start.0) + segment.bytes.len() as u64;
        let ends = segments.iter().map(end);
        let range = start..ends.max().unwrap_or(0);
        Self { segments, range }
    }

    /// The bytes from an address on, up to the end of their segment.
    fn bytes(&self, address: u32) -> Option<&'a [u8]> {
        let after = self
            .segments
            .partition_point(|segment| segment.start.0 <= address);
        let segment = self.segments.get(after.checked_sub(1)?)?;
        segment.bytes.get((address - segment.start.0) as usize..)
    }

    /// A word, of which at least one byte is there: an optimiser leaves out zeros between and after segments.
    fn word(&self, address: u32) -> Option<u32> {
        if let Some(word) = self.bytes(address)?.first_chunk() {
            return Some(u32::from_le_bytes(*word));
        }
        let mut word = [0; 4];
        for (nth, byte) in (0..).zip(&mut word) {
            let bytes = address.checked_add(nth).and_then(|at| self.bytes(at));
            *byte = bytes.and_then(|bytes| bytes.first().copied()).unwrap_or(0);
        }
        Some(u32::from_le_bytes(word))
    }

    /// The name of the class whose objects begin with this word.
    fn class(&self, table: u32) -> Option<String> {
        if !table.is_multiple_of(4) {
            return None;
        }
        // What comes before the table of the class itself, not of a base class, is 0.
        let to_top = self.word(table.checked_sub(8)?).unwrap_or(0);
        let info = self.word(table.checked_sub(4)?)?;
        if to_top != 0 || !info.is_multiple_of(4) {
            return None;
        }
        // The description is an object of C++ itself.
        self.word(self.word(info)?.checked_sub(4)?)?;
        let name = self.bytes(self.word(info.checked_add(4)?)?)?;
        let length = name.iter().take(LONGEST).position(|&byte| byte == 0)?;
        let name = std::str::from_utf8(&name[..length]).ok()?;
        // A name that is local to a unit begins with a star.
        let name = name.strip_prefix('*').unwrap_or(name);
        let is_mangled =
            name.starts_with(|first: char| first.is_ascii_digit() || "NSI".contains(first));
        let demangled = wasm::symbols::demangled(&format!("_ZTS{name}")).into_owned();
        let class = demangled.strip_prefix("typeinfo name for ")?;
        is_mangled.then(|| class.to_owned())
    }
}

/// A class of C++ that the memory names.
#[derive(Clone, Debug)]
pub(super) struct DynamicClass {
    /// The name, demangled.
    pub(super) name: String,
    /// What the debug information says of it.
    pub(super) type_id: Option<TypeId>,
}

/// The classes of blocks.
#[derive(Default)]
pub(super) struct DynamicClasses {
    /// By table of functions.
    by_table: HashMap<u32, Option<usize>>,
    pub(super) all: Vec<DynamicClass>,
    /// Blocks of classes that are not described, with the position of their class.
    pub(super) undescribed: HashMap<u32, usize>,
}

impl Spread<'_, '_> {
    /// Finds the blocks that begin with a table of functions.
    pub(super) fn find_dynamic_classes(
        &mut self,
        constants: &Constants<'_, '_>,
        addresses: &[u32],
    ) -> Result<DynamicClasses> {
        let mut classes = DynamicClasses::default();
        for (nth, &address) in addresses.iter().enumerate() {
            if nth.is_multiple_of(CHECK_INTERVAL) {
                self.control.count(CHECK_INTERVAL as u64)?;
            }
            // What lies outside of the constants is no table, and most words do.
            let table = self.word(address);
            let table = table.filter(|&table| constants.range.contains(&table.into()));
            let Some(table) = table else {
                continue;
            };
            let class = match classes.by_table.get(&table) {
                Some(&known) => known,
                None => {
                    let class = constants.class(table).map(|name| {
                        let type_id = self.described(&name);
                        classes.all.push(DynamicClass { name, type_id });
                        classes.all.len() - 1
                    });
                    if constants.bytes(table).is_some() {
                        classes.by_table.insert(table, class);
                    }
                    class
                }
            };
            let Some(class) = class else {
                continue;
            };
            let block = ObjectIndex(nth as u32);
            let type_id = classes.all[class].type_id;
            let usable = self.block(address).map_or(0, |(_, _, usable)| usable);
            match type_id.filter(|&id| self.types.size(id) <= usable) {
                Some(type_id) => {
                    // More of them in a block are an array.
                    let is_array = !self.fits_once(type_id, usable);
                    self.assign(
                        block,
                        BlockType {
                            type_id,
                            is_array,
                            evidence: TypeEvidence::Dynamic,
                            base: 0,
                        },
                    )?;
                }
                None => {
                    classes.undescribed.insert(block.0, class);
                }
            }
        }
        Ok(classes)
    }
}
