//! Changes of parts of a file: all other bytes are copied as they are.

use std::ops::Range;

use wasm_encoder::Encode;
use wasmparser::{Operator, OperatorsReader};

use crate::sections::slice;
use base::error::Result;
use wasm::module::unreadable;

/// Opcodes.
mod opcode {
    pub(super) const BR: u8 = 0x0c;
    pub(super) const CALL: u8 = 0x10;
    pub(super) const CALL_INDIRECT: u8 = 0x11;
    pub(super) const CALL_REF: u8 = 0x14;
}

/// Where new bytes came from: (new offset, original offset), each up to the next; 0 as the original offset
/// stands for bytes that were added.
pub(super) type Offsets = Vec<(u64, u64)>;

/// Notes that bytes from `new` on came from `old` on.
pub(super) fn mark(offsets: &mut Offsets, new: u64, old: u64) {
    if let Some(&(last_new, last_old)) = offsets.last() {
        let same =
            last_old != 0 && old != 0 && new.wrapping_sub(last_new) == old.wrapping_sub(last_old);
        if same || (last_old == 0 && old == 0) {
            return;
        }
    }
    offsets.push((new, old));
}

/// Changes, in the order of the file.
#[derive(Default)]
pub(super) struct Edits {
    list: Vec<Edit>,
}

struct Edit {
    at: usize,
    /// The number of bytes that are replaced; `None` for a LEB128 number.
    length: Option<usize>,
    with: With,
}

enum With {
    /// The new index of a function.
    Function(u32),
    Bytes(Vec<u8>),
}

impl Edits {
    /// The index of a function at an offset.
    pub(super) fn function(&mut self, at: usize, function: u32) {
        self.list.push(Edit {
            at,
            length: None,
            with: With::Function(function),
        });
    }

    /// A LEB128 number at an offset.
    pub(super) fn number(&mut self, at: usize, new: u32) {
        let mut bytes = Vec::new();
        new.encode(&mut bytes);
        self.list.push(Edit {
            at,
            length: None,
            with: With::Bytes(bytes),
        });
    }

    pub(super) fn replace(&mut self, range: Range<usize>, bytes: Vec<u8>) {
        self.list.push(Edit {
            at: range.start,
            length: Some(range.len()),
            with: With::Bytes(bytes),
        });
    }

    /// Adds these after the others.
    pub(super) fn append(&mut self, mut later: Self) {
        self.list.append(&mut later.list);
    }

    /// Puts them in the order of the file. Those at the same place stay as they were added.
    pub(super) fn sort(&mut self) {
        self.list.sort_by_key(|edit| edit.at);
    }

    pub(super) fn insert(&mut self, at: usize, bytes: Vec<u8>) {
        self.replace(at..at, bytes);
    }

    /// The indexes of functions in an expression.
    pub(super) fn expression(&mut self, operators: OperatorsReader<'_>) -> Result<()> {
        for operator in operators.into_iter_with_offsets() {
            let (operator, offset) = operator.map_err(unreadable)?;
            if let Some(function) = referred(&operator) {
                // Each of them is one byte and the index.
                self.function(offset as usize + 1, function);
            }
        }
        Ok(())
    }

    /// The same for code that comes into a block: what leaves the function leaves the block.
    pub(super) fn code_in_block(&mut self, mut operators: OperatorsReader<'_>) -> Result<()> {
        let mut depth = 0u32;
        while !operators.eof() {
            let (operator, offset) = operators.read_with_offset().map_err(unreadable)?;
            let at = offset as usize;
            let called = match operator {
                Operator::ReturnCall { .. } => Some(opcode::CALL),
                Operator::ReturnCallIndirect { .. } => Some(opcode::CALL_INDIRECT),
                Operator::ReturnCallRef { .. } => Some(opcode::CALL_REF),
                _ => None,
            };
            if let Some(called) = called {
                self.replace(at..at + 1, vec![called]);
            }
            if let Some(function) = referred(&operator) {
                self.function(at + 1, function);
            }
            let leaves = |depth: u32| {
                let mut bytes = vec![opcode::BR];
                depth.encode(&mut bytes);
                bytes
            };
            match operator {
                Operator::Block { .. }
                | Operator::Loop { .. }
                | Operator::If { .. }
                | Operator::Try { .. }
                | Operator::TryTable { .. } => depth += 1,
                Operator::End | Operator::Delegate { .. } => depth = depth.saturating_sub(1),
                Operator::Return => self.replace(at..at + 1, leaves(depth)),
                _ if called.is_some() => {
                    self.insert(operators.original_position() as usize, leaves(depth));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Copies a part of the file with these changes, and notes where the new bytes came from.
    ///
    /// # Errors
    /// [`ModuleError::Unreadable`](wasm::ModuleError::Unreadable) if the part is not in the file.
    pub(super) fn apply(
        &self,
        wasm: &[u8],
        range: Range<usize>,
        index: impl Fn(u32) -> u32,
    ) -> Result<(Vec<u8>, Offsets)> {
        let mut out = Vec::with_capacity(range.len());
        let mut offsets = vec![(0, range.start as u64)];
        let mut from = range.start;
        for edit in &self.list {
            out.extend_from_slice(slice(wasm, from..edit.at)?);
            match &edit.with {
                With::Function(function) => index(*function).encode(&mut out),
                With::Bytes(bytes) => {
                    // A number comes from the one before.
                    let from = edit.length.map_or(edit.at, |_| 0);
                    mark(&mut offsets, out.len() as u64, from as u64);
                    out.extend_from_slice(bytes);
                }
            }
            let length = match edit.length {
                Some(length) => length,
                None => leb_length(slice(wasm, edit.at..range.end)?),
            };
            from = edit.at + length;
            mark(&mut offsets, out.len() as u64, from as u64);
        }
        out.extend_from_slice(slice(wasm, from..range.end)?);
        Ok((out, offsets))
    }
}

/// The function that an instruction of one byte refers to.
fn referred(operator: &Operator<'_>) -> Option<u32> {
    match *operator {
        Operator::Call { function_index }
        | Operator::ReturnCall { function_index }
        | Operator::RefFunc { function_index } => Some(function_index),
        _ => None,
    }
}

/// The number of bytes of the LEB128 number at the start.
pub(super) fn leb_length(bytes: &[u8]) -> usize {
    let more = bytes.iter().take_while(|&&byte| byte & 0x80 != 0).count();
    (more + 1).min(bytes.len())
}
