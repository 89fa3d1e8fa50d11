//! The values of variables of which an optimiser made several, or that it replaced by a shorter one. They are put together
//! again, and read as if they lay after the memory.

use base::columns;
use base::error::Result;
use dumps::Memory;
use gimli::{Encoding, EndianSlice, EvaluationResult, Expression, LittleEndian, Location, Value};

use super::table::{PiecePlace, SplitVariable};

/// The most bytes of a variable, and of all. Optimisers divide only small ones.
const LARGEST: u32 = 1 << 12;
const MOST: usize = 1 << 22;
/// The most operations of an expression.
const MOST_OPERATIONS: u32 = 64;
/// The bytes that nothing lies in, between the memory and the first of these, and between two.
const GAP: u32 = 16;

/// The values of such variables.
pub(super) struct SplitValues {
    /// The address of the first byte.
    start: u32,
    bytes: Vec<u8>,
    /// By byte.
    is_known: Vec<bool>,
}

impl SplitValues {
    /// None, at addresses after a memory.
    pub(super) fn after(memory: Memory<'_>) -> Self {
        let end = u32::try_from(memory.size()).unwrap_or(u32::MAX);
        Self {
            start: end.saturating_add(GAP),
            bytes: Vec::new(),
            is_known: Vec::new(),
        }
    }

    /// Whether an address is after the memory.
    pub(super) fn contains(&self, address: u32) -> bool {
        address >= self.start
    }

    /// The bytes at an address, if all of them are known.
    pub(super) fn bytes(&self, address: u32, size: u32) -> Option<&[u8]> {
        let at = address.checked_sub(self.start)? as usize;
        let end = at.checked_add(size as usize)?;
        let is_known = self.is_known.get(at..end)?.iter().all(|&is_known| is_known);
        self.bytes.get(at..end).filter(|_| is_known)
    }

    /// Adds a variable with its size, and returns its address; `None` if it is too large. Of what lies in the memory,
    /// addresses that `is_read` refuses are not known.
    pub(super) fn add(
        &mut self,
        memory: Memory<'_>,
        (variable, size): (&SplitVariable<'_>, u32),
        is_read: impl Fn(u32) -> bool,
    ) -> Result<Option<u32>> {
        let (at, last) = (self.bytes.len(), u32::MAX - self.start);
        if size == 0 || size > LARGEST || at > MOST.min(last as usize / 2) {
            return Ok(None);
        }
        let room = (size.next_multiple_of(4) + GAP) as usize;
        columns::make_room(&mut self.bytes, room)?;
        columns::make_room(&mut self.is_known, room)?;
        self.bytes.resize(at + room, 0);
        self.is_known.resize(at + room, false);
        for piece in &variable.pieces {
            let length = piece.size.min(size.saturating_sub(piece.offset)) as usize;
            if length == 0 {
                // It lies after the variable: damaged debug information.
                continue;
            }
            let word;
            let value = match piece.place {
                PiecePlace::At(address) if is_read(address) => {
                    let start = address as usize;
                    memory.as_bytes().get(start..start.saturating_add(length))
                }
                PiecePlace::At(_) => None,
                PiecePlace::Computed(expression, encoding) => {
                    word = computed(memory, expression, encoding);
                    word.as_ref().and_then(|word| word.get(..length))
                }
            };
            if let Some(value) = value {
                let start = at + piece.offset as usize;
                self.bytes[start..start + length].copy_from_slice(value);
                self.is_known[start..start + length].fill(true);
            }
        }
        Ok(Some(self.start + at as u32))
    }
}

/// The value of an expression, if it needs only the memory.
fn computed(
    memory: Memory<'_>,
    expression: Expression<EndianSlice<'_, LittleEndian>>,
    encoding: Encoding,
) -> Option<[u8; 8]> {
    let mut evaluation = expression.evaluation(encoding);
    evaluation.set_max_iterations(MOST_OPERATIONS);
    let mut state = evaluation.evaluate().ok()?;
    loop {
        state = match state {
            EvaluationResult::Complete => break,
            EvaluationResult::RequiresRelocatedAddress(address) => {
                evaluation.resume_with_relocated_address(address).ok()?
            }
            EvaluationResult::RequiresMemory { address, size, .. } => {
                let start = usize::try_from(address).ok()?;
                let end = start.checked_add(size.into())?;
                let bytes = memory.as_bytes().get(start..end)?;
                let mut word = [0; 8];
                word.get_mut(..bytes.len())?.copy_from_slice(bytes);
                let value = Value::Generic(u64::from_le_bytes(word));
                evaluation.resume_with_memory(value).ok()?
            }
            _ => return None,
        };
    }
    match evaluation.as_result() {
        [part] => match part.location {
            Location::Value { value } => Some(value.to_u64(u64::MAX).ok()?.to_le_bytes()),
            _ => None,
        },
        _ => None,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "in a test, what cannot be is a failure")]
mod tests {
    use super::super::table::{TypeId, VariablePiece};
    use super::*;

    fn piece(offset: u32, size: u32, address: u32) -> VariablePiece<'static> {
        VariablePiece {
            offset,
            size,
            place: PiecePlace::At(address),
        }
    }

    /// The bytes of a variable of 8 bytes, by word.
    fn words(pieces: Vec<VariablePiece<'_>>) -> [Option<u32>; 2] {
        let mut bytes = vec![0; 1 << 16];
        bytes[64..72].copy_from_slice(&[1, 0, 0, 0, 2, 0, 0, 0]);
        let memory = Memory::new(&bytes);
        let variable = SplitVariable {
            name: "variable",
            scope: 0,
            type_id: TypeId(0),
            pieces,
        };
        let mut values = SplitValues::after(memory);
        let is_read = |address| address != 128;
        let at = values
            .add(memory, (&variable, 8), is_read)
            .unwrap()
            .unwrap();
        [at, at + 4].map(|at| {
            let word = values.bytes(at, 4)?.first_chunk()?;
            Some(u32::from_le_bytes(*word))
        })
    }

    #[test]
    fn what_no_piece_has_is_not_known() {
        assert_eq!(words(vec![piece(0, u32::MAX, 64)]), [Some(1), Some(2)]);
        assert_eq!(words(vec![piece(4, 4, 64)]), [None, Some(1)]);
        assert_eq!(
            words(vec![piece(0, 4, 68), piece(4, 4, 128)]),
            [Some(2), None]
        );
    }

    #[test]
    fn a_piece_after_the_end_of_the_variable_is_left_out() {
        assert_eq!(words(vec![piece(1000, 4, 64)]), [None, None]);
        assert_eq!(
            words(vec![piece(6, 4, 64), piece(0, 4, 64)]),
            [Some(1), None]
        );
        assert_eq!(words(vec![piece(u32::MAX, 4, 64)]), [None, None]);
    }
}
