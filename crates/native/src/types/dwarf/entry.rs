//! One entry of the debug information, and the context for reading its attributes.

use gimli::{AttributeValue, Operation};

use super::budget::{DwarfBudget, DwarfFailure, DwarfSlice};

/// The offset of an entry in `debug_info`; `NO_ENTRY` for none.
pub(super) type EntryOffset = u32;
pub(super) const NO_ENTRY: EntryOffset = u32::MAX;

pub(super) struct TypeEntry<'r, 'a> {
    pub(super) dwarf: &'r gimli::Dwarf<DwarfSlice<'a>>,
    pub(super) unit: &'r gimli::Unit<DwarfSlice<'a>>,
    pub(super) unit_offset: usize,
    pub(super) entry: &'r gimli::DebuggingInformationEntry<DwarfSlice<'a>>,
}

impl<'a> TypeEntry<'_, 'a> {
    pub(super) fn offset(&self) -> EntryOffset {
        narrow(self.unit_offset.checked_add(self.entry.offset().0))
    }

    /// The name; empty if there is none, or if it is no text.
    pub(super) fn name(&self, budget: &mut DwarfBudget) -> Result<&'a str, DwarfFailure> {
        let Some(value) = self.entry.attr_value(gimli::DW_AT_name) else {
            return Ok("");
        };
        // The string may be in a section that is missing, which affects nothing else.
        let Ok(name) = self.dwarf.attr_string(self.unit, value) else {
            return Ok("");
        };
        budget.spend(name.slice().len())?;
        Ok(std::str::from_utf8(name.slice()).unwrap_or_default())
    }

    pub(super) fn unsigned(&self, attribute: gimli::DwAt) -> Option<u64> {
        let value = self.entry.attr(attribute)?;
        value.udata_value().or_else(|| {
            // A small number may have a signed form.
            value.sdata_value().map(|value| value as u64)
        })
    }

    pub(super) fn small(&self, attribute: gimli::DwAt) -> Option<u32> {
        u32::try_from(self.unsigned(attribute)?).ok()
    }

    pub(super) fn is_set(&self, attribute: gimli::DwAt) -> bool {
        let value = self.entry.attr_value(attribute);
        matches!(value, Some(AttributeValue::Flag(true)))
    }

    /// The entry that an attribute refers to.
    pub(super) fn reference(&self, attribute: gimli::DwAt) -> EntryOffset {
        narrow(match self.entry.attr_value(attribute) {
            Some(AttributeValue::UnitRef(offset)) => self.unit_offset.checked_add(offset.0),
            Some(AttributeValue::DebugInfoRef(offset)) => Some(offset.0),
            _ => None,
        })
    }

    /// The bytes from the start of the type to a member; `None` if they are computed.
    pub(super) fn member_offset(&self) -> Option<u32> {
        match self.entry.attr_value(gimli::DW_AT_data_member_location) {
            None => Some(0),
            Some(AttributeValue::Exprloc(expression)) => {
                let mut operations = expression.operations(self.unit.encoding());
                match operations.next().ok()?? {
                    Operation::PlusConstant { value } => u32::try_from(value).ok(),
                    _ => None,
                }
            }
            Some(_) => self.small(gimli::DW_AT_data_member_location),
        }
    }

    /// The address of a variable, if it has one that never changes.
    pub(super) fn address(&self) -> Option<u32> {
        let Some(AttributeValue::Exprloc(expression)) =
            self.entry.attr_value(gimli::DW_AT_location)
        else {
            return None;
        };
        let mut operations = expression.operations(self.unit.encoding());
        let address = match operations.next().ok()?? {
            Operation::Address { address } => address,
            Operation::AddressIndex { index } => self.dwarf.address(self.unit, index).ok()?,
            _ => return None,
        };
        let address = match operations.next().ok()? {
            None => address,
            // A variable that the compiler put into a larger one.
            Some(Operation::PlusConstant { value }) => address.checked_add(value)?,
            Some(_) => return None,
        };
        let is_whole = matches!(operations.next(), Ok(None));
        u32::try_from(address).ok().filter(|_| is_whole)
    }
}

fn narrow(offset: Option<usize>) -> EntryOffset {
    offset.map_or(NO_ENTRY, |offset| u32::try_from(offset).unwrap_or(NO_ENTRY))
}
