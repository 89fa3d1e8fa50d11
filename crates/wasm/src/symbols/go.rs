//! Stacks of Go programs. Their frames are in memory, because goroutines are suspended and resumed; the table
//! of functions that Go's own runtime reads from memory says how large each frame is, and which line it is.
//!
//! The layout is that of Go 1.18 and later: `runtime/symtab.go`. Since Go 1.25, offsets of code in it are numbers of
//! functions and not addresses.

use crate::module::Module;
use base::frame::Frame;

/// The first bytes of the table: the magic of Go 1.18 and of Go 1.20, two zeros, an instruction size of 1 and
/// a pointer size of 8.
const HEADERS: [[u8; 8]; 2] = [
    [0xf0, 0xff, 0xff, 0xff, 0, 0, 1, 8],
    [0xf1, 0xff, 0xff, 0xff, 0, 0, 1, 8],
];
/// The most bytes of data in a module that are read.
const MAX_IMAGE: u64 = 1 << 28;
const WORD: usize = 8;
/// An address of code is the number of a function, shifted by this, plus the number of a block.
const FUNCTION_SHIFT: u32 = 16;

/// Offsets of fields of a function in the table.
mod field {
    pub(super) const NAME: usize = 4;
    pub(super) const FRAME_SIZES: usize = 16;
    pub(super) const FILES: usize = 20;
    pub(super) const LINES: usize = 24;
    pub(super) const UNIT: usize = 32;
}

/// The table of functions of a Go program.
#[derive(Debug)]
pub struct GoTable {
    /// The initial memory.
    image: Vec<u8>,
    function_count: usize,
    text_start: u64,
    /// How far an offset of code in the table is to be shifted for its distance from the start.
    shift: u32,
    names: usize,
    units: usize,
    files: usize,
    values: usize,
    functions: usize,
}

impl GoTable {
    /// Finds the table in the data of a module; `None` if there is none.
    pub fn find(module: &Module<'_>) -> Option<Self> {
        let ends = module
            .data
            .iter()
            .map(|segment| u64::from(segment.start.0) + segment.bytes.len() as u64);
        let size = ends.max().filter(|&size| size <= MAX_IMAGE)?;
        // The linker leaves out zeros, so the table may be in several segments.
        let mut image = base::columns::repeated(0u8, size as usize).ok()?;
        for segment in &module.data {
            let start = segment.start.0 as usize;
            image[start..start + segment.bytes.len()].copy_from_slice(segment.bytes);
        }
        let header = (0..image.len() / WORD)
            .map(|nth| nth * WORD)
            .find(|&at| HEADERS.iter().any(|header| image[at..].starts_with(header)))?;
        let word = |nth: usize| number(&image, header + WORD * nth, WORD);
        let offset = |nth: usize| Some(header + usize::try_from(word(nth)?).ok()?);
        let (names, functions) = (offset(4)?, offset(8)?);
        // The second function: its number, or its distance.
        let second = number(&image, functions + 8, 4)?;
        Some(Self {
            function_count: usize::try_from(word(1)?).ok()?,
            text_start: word(3)?,
            shift: if second >> FUNCTION_SHIFT == 0 {
                FUNCTION_SHIFT
            } else {
                0
            },
            names,
            units: offset(5)?,
            files: offset(6)?,
            values: offset(7)?,
            functions,
            image,
        })
    }

    /// The return addresses on a stack in memory, the innermost first, given the stack pointer at the entry of
    /// a function.
    pub fn stack(&self, memory: &[u8], stack_pointer: u32, depth: usize) -> Vec<u64> {
        let mut stack = Vec::new();
        let mut at = stack_pointer as usize;
        while stack.len() < depth {
            let Some(pc) = number(memory, at, WORD).filter(|&pc| pc != 0) else {
                break;
            };
            let Some((function, entry)) = self.function(pc) else {
                break;
            };
            stack.push(pc);
            let size = self.value(function, field::FRAME_SIZES, entry, pc);
            let Some(size) = size.and_then(|size| usize::try_from(size).ok()) else {
                break;
            };
            at += WORD + size;
        }
        stack
    }

    /// The function and the line of a return address.
    pub fn frame(&self, pc: u64) -> Option<Frame> {
        // The call is before the address to which it returns.
        let call = pc.checked_sub(1)?;
        let (function, entry) = self.function(call)?;
        let name = self.field(function, field::NAME)?;
        let file_number = self.value(function, field::FILES, entry, call);
        let file = file_number.and_then(|number_in_unit| {
            let unit = self.field(function, field::UNIT)? as usize;
            let at = self.units + 4 * (unit + usize::try_from(number_in_unit).ok()?);
            self.text(self.files + number(&self.image, at, 4)? as usize)
        });
        let line = self.value(function, field::LINES, entry, call);
        Some(Frame {
            function: self.text(self.names + name as usize)?,
            file: file.unwrap_or_default(),
            line: line.and_then(|line| u32::try_from(line).ok()).unwrap_or(0),
        })
    }

    /// Where the function of an address is in the table, and its first address.
    fn function(&self, pc: u64) -> Option<(usize, u64)> {
        let offset = pc.checked_sub(self.text_start)?;
        let entry = |nth: usize| {
            let offset = number(&self.image, self.functions + 8 * nth, 4)?;
            Some(offset << self.shift)
        };
        let (mut low, mut high) = (0, self.function_count);
        while low < high {
            let middle = low + (high - low) / 2;
            if entry(middle)? <= offset {
                low = middle + 1
            } else {
                high = middle
            }
        }
        let nth = low.checked_sub(1)?;
        // The last entry is the end of the code.
        if offset >= entry(self.function_count)? {
            return None;
        }
        let at = number(&self.image, self.functions + 8 * nth + 4, 4)?;
        Some((self.functions + at as usize, self.text_start + entry(nth)?))
    }

    fn field(&self, function: usize, field: usize) -> Option<u32> {
        Some(number(&self.image, function + field, 4)? as u32)
    }

    /// The value of a function's table at an address: pairs of differences, of the value and of the address.
    fn value(&self, function: usize, table: usize, entry: u64, pc: u64) -> Option<i64> {
        let mut at = self.values + self.field(function, table)? as usize;
        let (mut value, mut end) = (-1i64, entry);
        for first in std::iter::once(true).chain(std::iter::repeat(false)) {
            let difference = self.varint(&mut at)?;
            if difference == 0 && !first {
                return None;
            }
            let magnitude = i64::from(difference >> 1);
            value += match difference & 1 {
                0 => magnitude,
                _ => !magnitude,
            };
            end += u64::from(self.varint(&mut at)?);
            if pc < end {
                return Some(value);
            }
        }
        None
    }

    fn varint(&self, at: &mut usize) -> Option<u32> {
        let (mut value, mut shift) = (0u32, 0);
        loop {
            let byte = *self.image.get(*at)?;
            *at += 1;
            value |= u32::from(byte & 0x7f).checked_shl(shift)?;
            if byte & 0x80 == 0 {
                return Some(value);
            }
            shift += 7;
        }
    }

    fn text(&self, at: usize) -> Option<String> {
        let bytes = self.image.get(at..)?;
        let end = bytes.iter().position(|&byte| byte == 0)?;
        Some(String::from_utf8_lossy(&bytes[..end]).into_owned())
    }
}

/// A little-endian number of `size` bytes.
fn number(bytes: &[u8], at: usize, size: usize) -> Option<u64> {
    let bytes = bytes.get(at..at.checked_add(size)?)?;
    let folded = bytes.iter().rev();
    Some(folded.fold(0, |value, &byte| value << 8 | u64::from(byte)))
}
