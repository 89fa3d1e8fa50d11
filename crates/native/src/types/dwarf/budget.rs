//! What reading debug information may take, and tables of abbreviations within that.
//!
//! In DWARF, a few bytes can describe a large amount of data: many units can share a table of abbreviations, many
//! entries can share a name, and an attribute can take no bytes. The output of compilers is far below these limits.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use gimli::{EndianSlice, LittleEndian, Reader};

pub(super) type DwarfSlice<'a> = EndianSlice<'a, LittleEndian>;

/// The remaining budget of a reader.
pub(super) struct DwarfBudget {
    /// Bytes of names, attributes, and bytes of tables of abbreviations.
    steps: u64,
    /// Types, members and variables, which are kept.
    kept: u64,
}

/// Why reading stops.
pub(super) enum DwarfFailure {
    Gimli(gimli::Error),
    LimitExceeded,
}

impl From<gimli::Error> for DwarfFailure {
    fn from(error: gimli::Error) -> Self {
        Self::Gimli(error)
    }
}

impl fmt::Display for DwarfFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Gimli(error) => error.fmt(f),
            Self::LimitExceeded => f.write_str(
                "found much more in it than its size explains, expected what a compiler writes",
            ),
        }
    }
}

impl DwarfBudget {
    const STEPS_PER_BYTE: u64 = 64;
    const MORE_STEPS: u64 = 16 << 20;
    /// The smallest entry that is kept takes two bytes.
    const BYTES_PER_KEPT: u64 = 2;
    const MOST_KEPT: u64 = 8 << 20;

    /// For sections with this number of bytes.
    pub(super) fn of_bytes(bytes: u64) -> Self {
        Self {
            steps: bytes * Self::STEPS_PER_BYTE + Self::MORE_STEPS,
            kept: (bytes / Self::BYTES_PER_KEPT).min(Self::MOST_KEPT),
        }
    }

    pub(super) fn spend(&mut self, steps: usize) -> Result<(), DwarfFailure> {
        let left = self.steps.checked_sub(steps as u64);
        self.steps = left.ok_or(DwarfFailure::LimitExceeded)?;
        Ok(())
    }

    pub(super) fn keep(&mut self) -> Result<(), DwarfFailure> {
        self.kept = self
            .kept
            .checked_sub(1)
            .ok_or(DwarfFailure::LimitExceeded)?;
        Ok(())
    }
}

/// Tables of abbreviations by their offsets. Units of one compilation share one, in any order.
#[derive(Default)]
pub(super) struct AbbreviationTables(HashMap<usize, Arc<gimli::Abbreviations>>);

impl AbbreviationTables {
    pub(super) fn read(
        &mut self,
        dwarf: &gimli::Dwarf<DwarfSlice<'_>>,
        offset: gimli::DebugAbbrevOffset,
        budget: &mut DwarfBudget,
    ) -> Result<Arc<gimli::Abbreviations>, DwarfFailure> {
        if let Some(table) = self.0.get(&offset.0) {
            return Ok(Arc::clone(table));
        }
        let section = *gimli::Section::reader(&dwarf.debug_abbrev);
        // A table takes memory in proportion to its bytes, and tables may overlap.
        budget.spend(table_length(section, offset.0)? * 8)?;
        let table = Arc::new(dwarf.debug_abbrev.abbreviations(offset)?);
        self.0.insert(offset.0, Arc::clone(&table));
        Ok(table)
    }
}

/// The bytes of the table that begins at an offset, up to its last entry.
fn table_length(section: DwarfSlice<'_>, offset: usize) -> gimli::Result<usize> {
    let mut rest = section;
    rest.skip(offset)?;
    let whole = rest.len();
    while rest.read_uleb128()? != 0 {
        rest.read_uleb128()?;
        rest.read_u8()?;
        loop {
            let (name, form) = (rest.read_uleb128()?, rest.read_uleb128()?);
            if form == u64::from(gimli::DW_FORM_implicit_const.0) {
                rest.read_sleb128()?;
            }
            if name == 0 && form == 0 {
                break;
            }
        }
    }
    Ok(whole - rest.len())
}
