//! One entry of the debug information, and the context for reading its attributes.

use gimli::{AttributeValue, Expression, Operation};

use super::super::table::{PiecePlace, VariablePiece};
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

    /// What says where a variable is.
    fn location(&self) -> Option<Expression<DwarfSlice<'a>>> {
        match self.entry.attr_value(gimli::DW_AT_location)? {
            AttributeValue::Exprloc(expression) => Some(expression),
            _ => None,
        }
    }

    /// The address of a variable, if it has one that never changes.
    pub(super) fn address(&self) -> Option<u32> {
        self.address_of(self.location()?)
    }

    fn address_of(&self, expression: Expression<DwarfSlice<'a>>) -> Option<u32> {
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

    /// The parts of a variable that has no address of its own, as far as memory has them.
    pub(super) fn pieces(
        &self,
        budget: &mut DwarfBudget,
    ) -> Result<Vec<VariablePiece<'a>>, DwarfFailure> {
        let mut pieces = Vec::new();
        let Some(whole) = self.location() else {
            return Ok(pieces);
        };
        budget.spend(whole.0.len())?;
        // Most are local variables.
        if !whole.0.slice().contains(&gimli::DW_OP_addr.0) {
            return Ok(pieces);
        }
        let mut operations = whole.operations(self.unit.encoding());
        let (mut start, mut offset) = (0, 0u32);
        loop {
            let end = operations.offset_from(&whole);
            let Ok(operation) = operations.next() else {
                return Ok(Vec::new());
            };
            let size = match operation {
                Some(Operation::Piece {
                    size_in_bits,
                    bit_offset: None | Some(0),
                }) if size_in_bits % 8 == 0 => u32::try_from(size_in_bits / 8).ok(),
                Some(Operation::Piece { .. }) => None,
                None if start == 0 => Some(u32::MAX),
                None => return Ok(pieces),
                Some(_) => continue,
            };
            let Some(size) = size else {
                return Ok(Vec::new());
            };
            if let Some(place) = self.place(Expression(whole.0.range(start..end))) {
                budget.keep()?;
                pieces.push(VariablePiece {
                    offset,
                    size,
                    place,
                });
            }
            start = operations.offset_from(&whole);
            offset = offset.saturating_add(size);
            if operation.is_none() {
                return Ok(pieces);
            }
        }
    }

    /// Where a part of a variable is; `None` if that is not known.
    fn place(&self, expression: Expression<DwarfSlice<'a>>) -> Option<PiecePlace<'a>> {
        if let Some(address) = self.address_of(expression) {
            return Some(PiecePlace::At(address));
        }
        let encoding = self.unit.encoding();
        let (mut operations, mut last) = (expression.operations(encoding), None);
        while let Some(next) = operations.next().ok()? {
            last = Some(next);
        }
        let is_value = matches!(last, Some(Operation::StackValue));
        is_value.then_some(PiecePlace::Computed(expression, encoding))
    }
}

fn narrow(offset: Option<usize>) -> EntryOffset {
    offset.map_or(NO_ENTRY, |offset| u32::try_from(offset).unwrap_or(NO_ENTRY))
}
