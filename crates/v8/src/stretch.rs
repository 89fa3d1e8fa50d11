//! A fast reader of rows as V8 writes them: short numbers with a comma between them, and a line feed after a row.
//!
//! It first finds the ends of all numbers in a stretch of bytes, and then reads the numbers of a row side by side. Rows
//! that look different are left to a slower reader.

use bytemuck::cast;
use wide::{i8x16, i16x8, i32x4, u8x16, u16x8};

use super::meta::MOST_FIELDS;

/// The numbers of a row, which may be fewer.
pub(super) type NumberRow = [u64; MOST_FIELDS];

/// The number of bytes whose kinds are found at once.
const BLOCK: usize = 64;
/// The number of blocks in a stretch.
const BLOCKS: usize = 32;
/// The number of bytes in a stretch.
const LENGTH: usize = BLOCKS * BLOCK;
/// The most digits of a number.
const DIGITS: usize = 16;

/// The bytes of a stretch, and those before it which are read with its first number.
type Area = [u8; DIGITS + LENGTH];

/// A part of the text that begins with a row.
pub(super) struct Stretch {
    start: usize,
    /// How many blocks are searched.
    blocks: usize,
    /// The positions of the bytes that are no digits.
    ends: [u16; LENGTH],
    /// How many of them there are, and how many were read.
    found: usize,
    read: usize,
    /// Where the next row begins in the stretch.
    next: u16,
}

impl Default for Stretch {
    fn default() -> Self {
        Self {
            start: usize::MAX,
            blocks: 0,
            ends: [0; LENGTH],
            found: 0,
            read: 0,
            next: 0,
        }
    }
}

impl Stretch {
    /// Begins at this position, where a row begins. The result is `false` if it did so before, and if there are too few
    /// bytes before or after it.
    #[inline(never)]
    pub(super) fn find_ends(&mut self, bytes: &[u8], at: usize) -> bool {
        if self.start == at {
            return false;
        }
        let Some(area) = area(bytes, at) else {
            return false;
        };
        // Text that is not as expected is searched in short stretches.
        self.blocks = match self.next {
            0 => 2,
            _ => BLOCKS.min(2 * self.blocks),
        };
        self.start = at;
        (self.next, self.read, self.found) = (0, 0, 0);
        // Before the first number is a comma, or what may as well be one.
        let mut before = Kinds {
            digits: 0,
            commas: !0,
            zeros: 0,
        };
        let mut zeros_before = 0;
        let blocks = area[DIGITS..].as_chunks().0;
        for (nth, block) in (0..self.blocks as u16).zip(blocks) {
            let kinds = Kinds::of(block);
            let ends = !kinds.digits;
            let after_others = shifted(ends & !kinds.commas, !before.digits & !before.commas);
            let first_zeros = kinds.zeros & shifted(kinds.commas, before.commas);
            let after_zeros = shifted(first_zeros, zeros_before);
            // Other bytes than digits and commas come before a comma, and a zero that begins a number is all of it.
            if after_others & !kinds.commas | after_zeros & kinds.digits != 0 {
                break;
            }
            let Some(into) = self.ends[self.found..].first_chunk_mut::<BLOCK>() else {
                break;
            };
            let mut left = ends;
            for four in into.as_chunks_mut::<4>().0 {
                for end in four {
                    *end = nth * BLOCK as u16 + left.trailing_zeros() as u16;
                    left &= left.wrapping_sub(1);
                }
                if left == 0 {
                    break;
                }
            }
            self.found += ends.count_ones() as usize;
            (before, zeros_before) = (kinds, first_zeros);
        }
        true
    }

    /// The position after the rows that were read.
    pub(super) fn end(&self) -> usize {
        self.start + usize::from(self.next)
    }

    /// Reads a row. The result is `false` if it is not as expected, or not in the stretch.
    #[inline(always)]
    pub(super) fn read_row<const FIELDS: usize>(
        &mut self,
        bytes: &[u8],
        row: &mut NumberRow,
    ) -> bool {
        let ends = self.ends[..self.found].get(self.read..self.read + FIELDS + 1);
        let Some((ends, &[after])) = ends.and_then(|ends| ends.split_first_chunk::<FIELDS>())
        else {
            return false;
        };
        let Some(area) = area(bytes, self.start) else {
            return false;
        };
        // The digits of each number, as four numbers below 10,000.
        let mut parts = [i32x4::ZERO; MOST_FIELDS];
        let mut start = self.next;
        let mut lengths = 0;
        for (parts, &end) in parts.iter_mut().zip(ends) {
            let length = end.wrapping_sub(start).wrapping_sub(1);
            lengths |= length;
            *parts = parts_of(area, end, length);
            start = end + 1;
        }
        if usize::from(lengths) >= DIGITS {
            return false;
        }
        let mut read = FIELDS;
        let after_last = area[DIGITS + usize::from(start - 1) % LENGTH];
        if after_last != b',' {
            if after_last != b'\n' || after != start {
                return false;
            }
            read += 1;
            start += 1;
        }
        let pairs = parts[..FIELDS.next_multiple_of(2)].as_chunks::<2>().0;
        for (two, numbers) in pairs.iter().zip(row.as_chunks_mut::<2>().0) {
            *numbers = numbers_of(*two);
        }
        self.read += read;
        self.next = start;
        true
    }
}

#[inline(always)]
fn area(bytes: &[u8], start: usize) -> Option<&Area> {
    bytes.get(start.checked_sub(DIGITS)?..)?.first_chunk()
}

/// Which bytes of a block are of each kind, a bit for each.
struct Kinds {
    digits: u64,
    commas: u64,
    zeros: u64,
}

impl Kinds {
    #[inline(always)]
    fn of(block: &[u8; BLOCK]) -> Self {
        let mut kinds = Self {
            digits: 0,
            commas: 0,
            zeros: 0,
        };
        for (nth, &lane) in block.as_chunks::<16>().0.iter().enumerate() {
            let lane: i8x16 = cast(lane);
            // Digits become the greatest of the signed numbers.
            let digits = (lane + i8x16::splat(0x7f - b'9' as i8)).simd_gt(i8x16::splat(0x7f - 10));
            let commas = lane.simd_eq(i8x16::splat(b',' as i8));
            let zeros = lane.simd_eq(i8x16::splat(b'0' as i8));
            let bits = |kind: i8x16| u64::from(kind.to_bitmask()) << (16 * nth);
            kinds.digits |= bits(digits);
            kinds.commas |= bits(commas);
            kinds.zeros |= bits(zeros);
        }
        kinds
    }
}

/// The bits of the bytes that follow those of a block.
#[inline(always)]
fn shifted(bits: u64, before: u64) -> u64 {
    bits << 1 | before >> 63
}

/// By one less than the number of digits: the bits of these digits among those of as many bytes.
static MASKS: [u128; DIGITS] = {
    let mut masks = [u128::from_ne_bytes([0x0f; 16]); DIGITS];
    let mut nth = 0;
    while nth < DIGITS {
        masks[nth] <<= 8 * (DIGITS - 1 - nth);
        nth += 1;
    }
    masks
};

/// The number that ends at a position, as four numbers below 10,000. It has one digit more than `length`.
#[inline(always)]
fn parts_of(area: &Area, end: u16, length: u16) -> i32x4 {
    let end = usize::from(end) % LENGTH;
    let mask: u8x16 = cast(MASKS[usize::from(length) % DIGITS].to_le_bytes());
    let text = area[end..end + DIGITS].first_chunk().copied();
    let digits: u16x8 = cast(u8x16::new(text.unwrap_or_default()) & mask);
    // The first digit is in the lower byte.
    let pairs: i16x8 = cast((digits * u16x8::splat(1 + (10 << 8))) >> 8);
    pairs.dot(i16x8::new([100, 1, 100, 1, 100, 1, 100, 1]))
}

/// The two numbers of these parts.
#[inline(always)]
fn numbers_of(two: [i32x4; 2]) -> [u64; 2] {
    let parts = i16x8::from_i32x8_saturate(cast(two));
    let halves = parts.dot(i16x8::new([10_000, 1, 10_000, 1, 10_000, 1, 10_000, 1]));
    let [one, one_low, other, other_low] = cast::<_, [u32; 4]>(halves).map(u64::from);
    const BOTH: u64 = 100_000_000;
    [one * BOTH + one_low, other * BOTH + other_low]
}
